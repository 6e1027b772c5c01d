// SPDX-License-Identifier: MIT
/*
 * File formats of nnrun: images, .npy arrays, raw tensors, output files, lists.
 *
 * Damaged images and arrays are tried at every length and with every bit wrong:
 * the sanitizers see whether a reader leaves its buffer.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nnhal/nnhal.h>
#include <tap.h>

#include "userspace/tools/common/file.h"
#include "userspace/tools/nnrun/best_classes.h"
#include "userspace/tools/nnrun/image_input.h"
#include "userspace/tools/nnrun/input.h"
#include "userspace/tools/nnrun/media/npy.h"

static char directory[64] = "/tmp/nnrun-formats-XXXXXX";
static struct error err;
static volatile sig_atomic_t stop;

static const char *path(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", directory, name);
	return text;
}

static bool refused(bool failed, const char *words, const char *what)
{
	bool good = failed && strstr(err.text, words);

	if (!ok(good, "%s is refused: \"%s\"", what, words))
		tap_note("got '%s'", failed ? err.text : "success");
	err.text[0] = '\0';
	return good;
}

static void put32(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
	p[2] = (uint8_t)(value >> 16);
	p[3] = (uint8_t)(value >> 24);
}

/* A 3 x 2 BMP; pixel (x, y) is red 10x, green 100y, blue 7. Returns its size. */
static size_t make_bmp(uint8_t *out, uint32_t bits, bool top_down)
{
	uint32_t stride = (3 * bits / 8 + 3) & ~3u;
	uint32_t x, y;

	memset(out, 0, 256);
	memcpy(out, "BM", 2);
	put32(out + 2, 54 + 2 * stride);
	put32(out + 10, 54);
	put32(out + 14, 40);
	put32(out + 18, 3);
	put32(out + 22, top_down ? (uint32_t)-2 : 2);
	out[26] = 1;
	out[28] = (uint8_t)bits;
	for (y = 0; y < 2; y++) {
		for (x = 0; x < 3; x++) {
			uint8_t *p = out + 54 + (top_down ? y : 1 - y) * stride + x * bits / 8;

			p[0] = 7;
			p[1] = (uint8_t)(100 * y);
			p[2] = (uint8_t)(10 * x);
		}
	}
	return 54 + 2 * stride;
}

static bool is_sample_picture(const struct image *image)
{
	uint32_t x, y;

	if (image->width != 3 || image->height != 2)
		return false;
	for (y = 0; y < 2; y++) {
		for (x = 0; x < 3; x++) {
			const uint8_t *p = image->pixels + 3 * (3 * y + x);

			if (p[0] != 10 * x || p[1] != 100 * y || p[2] != 7)
				return false;
		}
	}
	return true;
}

static bool decode(const uint8_t *data, size_t size, struct image *image)
{
	/* A copy of exactly this size, so that the sanitizer knows its end. */
	uint8_t *copy = malloc(size ? size : 1);
	bool good;

	memcpy(copy, data, size);
	err.text[0] = '\0';
	good = image_decode(copy, size, image, &err) == 0;
	free(copy);
	return good;
}

/* Every length and every wrong bit: refused or decoded, never a fault. */
static void damage_image(const uint8_t *data, size_t size, const char *what)
{
	uint8_t copy[512];
	struct image image;
	unsigned int taken = 0;
	size_t i, bit;

	for (i = 0; i < size; i++) {
		taken += decode(data, i, &image);
		image_free(&image);
	}
	ok(taken <= 3, "%s cut off at each of %zu places is refused (or lacks padding only)", what,
	   size);
	taken = 0;
	for (i = 0; i < size; i++) {
		for (bit = 0; bit < 8; bit++) {
			memcpy(copy, data, size);
			copy[i] ^= 1u << bit;
			taken += decode(copy, size, &image);
			image_free(&image);
		}
	}
	ok(taken < 8 * size, "%s with one wrong bit: %u of %zu taken", what, taken, 8 * size);
}

static void test_bmp(void)
{
	uint8_t data[512];
	struct image image;
	size_t size;
	uint32_t bits;

	for (bits = 24; bits <= 32; bits += 8) {
		size = make_bmp(data, bits, false);
		ok(decode(data, size, &image) && is_sample_picture(&image),
		   "BMP with %u bits, bottom-up", bits);
		image_free(&image);
		size = make_bmp(data, bits, true);
		ok(decode(data, size, &image) && is_sample_picture(&image),
		   "BMP with %u bits, top-down", bits);
		image_free(&image);
		damage_image(data, size, bits == 24 ? "a 24-bit BMP" : "a 32-bit BMP");
	}

	size = make_bmp(data, 24, false);
	data[28] = 8;
	refused(!decode(data, size, &image), "8 bits per pixel", "a BMP with a palette");
	make_bmp(data, 24, false);
	data[30] = 1;
	refused(!decode(data, size, &image), "compression 1", "a compressed BMP");
	make_bmp(data, 24, false);
	put32(data + 18, 0xffffffff);
	refused(!decode(data, size, &image), "width -1", "a BMP of negative width");
	make_bmp(data, 24, false);
	put32(data + 22, 0x80000000);
	refused(!decode(data, size, &image), "not supported", "a BMP of impossible height");
	make_bmp(data, 24, false);
	put32(data + 18, 30000);
	put32(data + 22, 8000);
	refused(!decode(data, size, &image), "too short", "a BMP larger than its file");
	image_free(&image);
	make_bmp(data, 24, false);
	put32(data + 10, 0xfffffff0);
	refused(!decode(data, size, &image), "too short", "a BMP with data beyond its end");
	image_free(&image);
	refused(!decode((const uint8_t *)"GIF89a..........", 16, &image), "neither a BMP",
		"another format");
}

/* Colour masks: the same picture as RGBA instead of BGRA. */
static void test_bmp_masks(void)
{
	uint8_t plain[512], data[512];
	struct image image;
	size_t i;

	make_bmp(plain, 32, false);
	memset(data, 0, sizeof(data));
	memcpy(data, plain, 54);
	put32(data + 10, 66);
	data[30] = 3;
	put32(data + 54, 0x000000ff);
	put32(data + 58, 0x0000ff00);
	put32(data + 62, 0x00ff0000);
	for (i = 0; i < 6; i++) {
		data[66 + 4 * i] = plain[54 + 4 * i + 2];
		data[66 + 4 * i + 1] = plain[54 + 4 * i + 1];
		data[66 + 4 * i + 2] = plain[54 + 4 * i];
	}
	ok(decode(data, 90, &image) && is_sample_picture(&image), "BMP with colour masks");
	image_free(&image);
	put32(data + 54, 0x000003ff);
	refused(!decode(data, 90, &image), "not one whole byte", "a BMP with 10-bit colours");
}

static void test_pnm(void)
{
	uint8_t data[128];
	struct image image;
	size_t head, i;

	head = (size_t)snprintf((char *)data, sizeof(data), "P6\n# comment\n3 2\n255\n");
	for (i = 0; i < 6; i++) {
		data[head + 3 * i] = (uint8_t)(10 * (i % 3));
		data[head + 3 * i + 1] = (uint8_t)(100 * (i / 3));
		data[head + 3 * i + 2] = 7;
	}
	ok(decode(data, head + 18, &image) && is_sample_picture(&image), "PPM with a comment");
	image_free(&image);
	damage_image(data, head + 18, "a PPM");

	ok(decode((const uint8_t *)"P5 2 1 255 \x10\xf0", 13, &image) && image.pixels[0] == 0x10 &&
	   image.pixels[1] == 0x10 && image.pixels[3] == 0xf0, "PGM");
	image_free(&image);
	ok(decode((const uint8_t *)"P5 2 1 65535 \x80\x00\xff\xff", 17, &image) &&
	   image.pixels[0] == 128 && image.pixels[3] == 255, "PGM with 16 bits");
	image_free(&image);
	refused(!decode((const uint8_t *)"P6 3 2 0 xxxxxxxxxxxxxxxxxx", 27, &image),
		"maximum value 0", "a PPM with maximum 0");
	refused(!decode((const uint8_t *)"P6 3 99999999999999 255 x", 25, &image),
		"number too large", "a PPM of astronomic height");
	refused(!decode((const uint8_t *)"P6 0 2 255 xxxxxxxxxxxxxx", 25, &image),
		"not supported", "a PPM of width 0");
}

static void test_resize(void)
{
	uint8_t pixels[4 * 3 * 3];
	struct image image = { 4, 3, pixels };
	struct image result;
	size_t i;

	for (i = 0; i < sizeof(pixels); i++)
		pixels[i] = (uint8_t)(i * 7);
	ok(image_resize(&image, 4, 3, &result, &err) == 0 &&
	   memcmp(result.pixels, pixels, sizeof(pixels)) == 0, "resizing to the same size");
	image_free(&result);
	for (i = 0; i < sizeof(pixels); i++)
		pixels[i] = 200;
	ok(image_resize(&image, 17, 1, &result, &err) == 0 && result.pixels[0] == 200 &&
	   result.pixels[50] == 200, "a plain picture stays plain");
	image_free(&result);
	/* Columns 0 0 240 240: half the width has windows of 1 3 3 1 eighths, cut off. */
	for (i = 0; i < sizeof(pixels); i++)
		pixels[i] = i / 3 % 4 < 2 ? 0 : 240;
	ok(image_resize(&image, 2, 3, &result, &err) == 0 && result.pixels[0] == 34 &&
	   result.pixels[3] == 206, "shrinking weighs with a triangle");
	image_free(&result);
}

static struct tensor make_io(uint32_t type, float scale, int32_t zero_point)
{
	return (struct tensor){
		.type = type, .rank = 4, .dims = { 1, 2, 3, 3 }, .elements = 18,
		.bytes = type == NNHAL_OPERAND_TENSOR_FLOAT32 ? 72 : 18, .scale = scale,
		.zero_point = zero_point,
	};
}

static void test_samples(void)
{
	struct image_scaling plain = { .given = false, .std_dev = 1 };
	struct image_scaling given = { .given = true, .mean = 100, .std_dev = 50 };
	struct tensor io = make_io(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, 1, 0);
	struct image image;
	uint8_t data[512];
	float reals[18];
	int8_t sample[18];

	decode(data, make_bmp(data, 24, false), &image);
	image_to_sample(&image, &io, &plain, sample, &err);
	ok(memcmp(sample, image.pixels, 18) == 0, "uint8: pixels as they are");
	io = make_io(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED, 1, 0);
	image_to_sample(&image, &io, &plain, sample, &err);
	ok(sample[0] == -128 && sample[2] == -121 && sample[10] == 100 - 128, "int8: pixel - 128");
	io = make_io(NNHAL_OPERAND_TENSOR_FLOAT32, 0, 0);
	image_to_sample(&image, &io, &plain, reals, &err);
	ok(reals[0] == -1 && reals[10] == (float)(100 / 127.5 - 1), "float: pixel / 127.5 - 1");
	image_to_sample(&image, &io, &given, reals, &err);
	ok(reals[0] == -2 && reals[10] == 0, "float with mean and standard deviation");
	io = make_io(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED, 0.5f, 3);
	image_to_sample(&image, &io, &given, sample, &err);
	ok(sample[0] == -1 && sample[10] == 3, "int8 with mean and standard deviation");
	io = make_io(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, 1, 0);
	io.dims[3] = 1;
	io.elements = 6;
	io.bytes = 6;
	image_to_sample(&image, &io, &plain, sample, &err);
	ok(sample[0] == 1 && sample[5] == ((20 * 299 + 100 * 587 + 7 * 114 + 500) / 1000),
	   "one channel: luminance");
	io.dims[3] = 4;
	ok(!image_fits(&io), "four channels take no image");
	image_free(&image);
}

static bool parse_npy(const uint8_t *data, size_t size, struct npy *npy)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool good;

	memcpy(copy, data, size);
	err.text[0] = '\0';
	good = npy_parse(copy, size, npy, &err) == 0;
	free(copy);
	return good;
}

/* A file with this header text and @bytes bytes of data; returns its size. */
static size_t make_npy(uint8_t *out, int version, const char *text, size_t bytes)
{
	size_t length = strlen(text);
	size_t prefix = version == 1 ? 10 : 12;

	memset(out, 0, 1024);
	memcpy(out, "\x93NUMPY", 6);
	out[6] = (uint8_t)version;
	out[8] = (uint8_t)length;
	memcpy(out + prefix, text, length);
	return prefix + length + bytes;
}

static void test_npy(void)
{
	static const uint64_t dims[3] = { 4, 5, 6 };
	uint8_t data[1024];
	unsigned int taken = 0;
	struct npy npy;
	size_t size, i, bit;

	npy_write_header(data, "<f4", dims, 3);
	memset(data + NPY_HEADER_SIZE, 0, 480);
	size = NPY_HEADER_SIZE + 480;
	ok(parse_npy(data, size, &npy) && npy.rank == 3 && npy.dims[0] == 4 && npy.dims[2] == 6 &&
	   npy.elements == 120 && npy.offset == NPY_HEADER_SIZE && strcmp(npy.descr, "<f4") == 0,
	   "a header that was written can be read");
	ok(data[NPY_HEADER_SIZE - 1] == '\n' && NPY_HEADER_SIZE % 64 == 0,
	   "the header ends with a newline at a multiple of 64");
	for (i = 0; i < size; i++)
		taken += parse_npy(data, i, &npy);
	ok(taken == 0, "an array cut off at each of %zu places is refused", size);
	for (i = 0; i < 100; i++) {
		for (bit = 0; bit < 8; bit++) {
			data[i] ^= 1u << bit;
			taken += parse_npy(data, size, &npy);
			data[i] ^= 1u << bit;
		}
	}
	ok(taken < 100, "an array with one wrong bit in its header: %u of 800 taken", taken);

	size = make_npy(data, 2, "{'shape':(3,),'descr':\"|i1\",'fortran_order':False}\n", 3);
	ok(parse_npy(data, size, &npy) && npy.elements == 3, "version 2, other order and spacing");
	size = make_npy(data, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (), }", 4);
	ok(parse_npy(data, size, &npy) && npy.rank == 0 && npy.elements == 1, "a scalar");
	size = make_npy(data, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 3), }", 3);
	ok(parse_npy(data, size, &npy), "Fortran order of a vector is C order");
	size = make_npy(data, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }", 4);
	refused(!parse_npy(data, size, &npy), "Fortran order", "Fortran order");
	size = make_npy(data, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4);
	refused(!parse_npy(data, size, &npy), "big-endian", "big-endian data");
	size = make_npy(data, 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8);
	refused(!parse_npy(data, size, &npy), "type '|O'", "an array of objects");
	size = make_npy(data, 1, "{'descr': '\x1b[2J', 'fortran_order': False, 'shape': (1,), }", 8);
	refused(!parse_npy(data, size, &npy), "type '?[2J'", "a type that is a command to terminals");
	size = make_npy(data, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': "
			"(4294967296, 4294967296, 16), }", 4);
	refused(!parse_npy(data, size, &npy), "too large", "a shape that overflows");
	size = make_npy(data, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 4);
	refused(!parse_npy(data, size, &npy), "4 bytes of data, its shape takes 3",
		"an array with data left over");
	size = make_npy(data, 1, "{'descr': '|u1', 'shape': (3,), }", 3);
	refused(!parse_npy(data, size, &npy), "malformed header", "a header without order");
	size = make_npy(data, 4, "{}", 0);
	refused(!parse_npy(data, size, &npy), "version 4", "an unknown version");
}

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(path(name), "wb");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
}

static bool open_file(struct input *input, const char *name, const struct tensor *io,
		      enum input_format format)
{
	struct input_options options = {
		.format = format, .scaling = { .std_dev = 1 },
		.sound = { .rate = SOUND_DEFAULT_RATE },
	};
	static char names[4][128];
	static unsigned int turn;
	char *copy = names[turn++ % 4];

	snprintf(copy, sizeof(names[0]), "%s", path(name));
	err.text[0] = '\0';
	return input_open(input, copy, io, 0, &options, &stop, &err) == 0;
}

static void test_inputs(void)
{
	struct tensor io = make_io(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, 1, 0);
	uint8_t data[2048] = { 0 }, sample[18];
	uint64_t dims[5] = { 3, 2, 3, 3, 0 };
	struct input input;
	unsigned int i;

	for (i = 0; i < 54; i++)
		data[i] = (uint8_t)(i + 1);
	write_file("raw", data, 54);
	ok(open_file(&input, "raw", &io, INPUT_AUTO) && input.count == 3, "three raw samples");
	for (i = 0; input_read(&input, sample, &stop, &err) == 1; i++)
		if (memcmp(sample, data + 18 * i, 18) != 0)
			break;
	ok(i == 3, "they come in order");
	input_close(&input);

	write_file("short", data, 53);
	refused(!open_file(&input, "short", &io, INPUT_AUTO),
		"53 bytes, expected a multiple of 18 (one sample: TENSOR_QUANT8_ASYMM 1x2x3x3)",
		"a byte too few");
	input_close(&input);
	write_file("empty", data, 0);
	refused(!open_file(&input, "empty", &io, INPUT_AUTO), "empty", "an empty file");
	input_close(&input);
	refused(!open_file(&input, ".", &io, INPUT_AUTO), "Is a directory", "a directory");
	input_close(&input);
	refused(!open_file(&input, "missing", &io, INPUT_AUTO), "No such file", "a missing file");
	input_close(&input);

	npy_write_header(data, "|u1", dims, 4);
	write_file("array", data, NPY_HEADER_SIZE + 54);
	ok(open_file(&input, "array", &io, INPUT_AUTO) && input.count == 3 &&
	   input_read(&input, sample, &stop, &err) == 1, "an array of three samples");
	input_close(&input);
	npy_write_header(data, "|i1", dims, 4);
	write_file("array", data, NPY_HEADER_SIZE + 54);
	refused(!open_file(&input, "array", &io, INPUT_AUTO), "type '|i1'",
		"an array of another type");
	input_close(&input);
	dims[1] = 3;
	dims[2] = 2;
	npy_write_header(data, "|u1", dims, 4);
	write_file("array", data, NPY_HEADER_SIZE + 54);
	refused(!open_file(&input, "array", &io, INPUT_AUTO), "shape is not that",
		"an array of another shape");
	input_close(&input);

	write_file("picture", data, make_bmp(data, 24, false));
	ok(open_file(&input, "picture", &io, INPUT_AUTO) && input.count == 1 &&
	   input_read(&input, sample, &stop, &err) == 1 && sample[0] == 0 && sample[2] == 7,
	   "an image is recognised");
	input_close(&input);
	refused(!open_file(&input, "picture", &io, INPUT_RAW), "expected a multiple of 18",
		"an image read as raw tensors");
	input_close(&input);
	io.rank = 2;
	io.dims[1] = 18;
	refused(!open_file(&input, "picture", &io, INPUT_AUTO), "no input for this model",
		"an image for a model without pictures");
	input_close(&input);
}

static size_t size_of(const char *name)
{
	struct stat st;

	return stat(path(name), &st) == 0 ? (size_t)st.st_size : SIZE_MAX;
}

static unsigned int files_in_directory(void)
{
	char command[128];
	unsigned int count = 0;
	FILE *p;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", directory);
	p = popen(command, "r");
	if (!p || fscanf(p, "%u", &count) != 1)
		count = 0;
	if (p)
		pclose(p);
	return count;
}

static void test_outputs(void)
{
	struct out_file out;
	unsigned int before;
	struct stat st;
	char name[128];

	snprintf(name, sizeof(name), "%s", path("out"));
	before = files_in_directory();
	ok(out_open(&out, name, &err) == 0 && out_write(&out, "12345678", 8, &err) == 0 &&
	   out_flush(&out, &err) == 0 && size_of("out") == SIZE_MAX,
	   "an output has no name before it is complete");
	out_abort(&out);
	ok(files_in_directory() == before, "an output that is given up leaves nothing");

	ok(out_open(&out, name, &err) == 0 && out_write(&out, "12345678", 8, &err) == 0 &&
	   out_commit(&out, &err) == 0 && size_of("out") == 8, "a complete output has its name");
	out_abort(&out);
	ok(size_of("out") == 8, "giving up afterwards has no effect");
	chmod(name, 0600);
	out_open(&out, name, &err);
	out_write(&out, "1", 1, &err);
	ok(size_of("out") == 8, "an old file stays until the new one is complete");
	out_commit(&out, &err);
	ok(size_of("out") == 1, "and is replaced then");
	ok(stat(name, &st) == 0 && (st.st_mode & 0777) == 0600, "with the same permissions");

	ok(symlink("out", path("link")) == 0, "a symbolic link");
	snprintf(name, sizeof(name), "%s", path("link"));
	out_open(&out, name, &err);
	out_write(&out, "123", 3, &err);
	out_commit(&out, &err);
	ok(size_of("out") == 3, "is followed, not replaced");

	err.text[0] = '\0';
	refused(out_open(&out, directory, &err) != 0, "Is a directory", "a directory as output");
	out_abort(&out);
	refused(out_open(&out, path("no/such/directory"), &err) != 0, "No such file",
		"an output in a missing directory");
	out_abort(&out);
	ok(out_open(&out, "/dev/full", &err) == 0 && out_write(&out, "1", 1, &err) == 0,
	   "a full device takes nothing until it is flushed");
	refused(out_commit(&out, &err) != 0, "No space left", "a full device");
	out_abort(&out);
}

static void test_lists(void)
{
	static const float values[8] = { 1, 3, NAN, 3, -1, 2, INFINITY, 0 };
	struct tensor io = {
		.type = NNHAL_OPERAND_TENSOR_FLOAT32, .rank = 2, .dims = { 1, 8 }, .elements = 8,
	};
	struct labels labels;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	write_file("labels", "zero\r\none\n\nthree\x1b[m", 19);
	ok(labels_read(&labels, path("labels"), NULL, &err) == 0 && labels.count == 4,
	   "labels with and without carriage return");
	ok(print_top(stream, &io, values, 4, &labels, &err) == 0 && fclose(stream) == 0,
	   "the best four");
	ok(strcmp(text, "         inf      6\n"
			"    3.000000      1  one\n"
			"    3.000000      3  three?[m\n"
			"    2.000000      5\n") == 0,
	   "largest first, equal ones by index, not-a-number last, labels made safe");
	free(text);
	labels_free(&labels);
	write_file("labels", "a\0b", 3);
	refused(labels_read(&labels, path("labels"), NULL, &err) != 0, "not a text file",
		"a binary file as labels");
	labels_free(&labels);
}

/* All elements of a large output, which come in the worst order: quadratic time would not end. */
static void test_long_list(void)
{
	const size_t count = 300000;
	const struct tensor io = {
		.type = NNHAL_OPERAND_TENSOR_INT32, .elements = count, .rank = 1, .dims = { (uint32_t)count },
	};
	int32_t *values = calloc(count, sizeof(*values));
	struct labels none = { NULL, NULL, 0 };
	struct error err = { "", 0 };
	char *text = NULL, *line;
	size_t size, i, wrong = 0;
	FILE *stream = open_memstream(&text, &size);

	for (i = 0; i < count; i++)
		values[i] = (int32_t)(i / 2);
	ok(print_top(stream, &io, values, count, &none, &err) == 0 && fclose(stream) == 0,
	   "a list of all elements");
	line = text;
	for (i = 0; i < count; i++) {
		size_t rank = count - 1 - i;

		strtod(line, &line);
		/* Equal ones come in pairs, in order of their index. */
		wrong += strtoul(line, &line, 10) != (rank ^ 1);
	}
	ok(wrong == 0 && strcmp(line, "\n") == 0, "they are in order: %zu are not", wrong);
	free(text);
	free(values);
}

/* Types that the HAL lacks: each element has its place and its value. */
static void test_wide_types(void)
{
	static const struct { uint32_t type; size_t size; double low, high; } types[] = {
		{ TENSOR_INT64, 8, -0x1p63, 5e9 },
		{ TENSOR_COMPLEX64, 8, -1.5, 2.25 },
		{ TENSOR_FLOAT64, 8, -1e300, 0.1 },
		{ TENSOR_UINT64, 8, 0, 0x1p63 },
		{ TENSOR_UINT32, 4, 0, 4294967295.0 },
		{ TENSOR_UINT16, 2, 0, 65535 },
	};
	uint8_t data[16];
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct tensor io = {
			.type = types[i].type, .rank = 1, .dims = { 2 }, .elements = 2,
			.bytes = 2 * types[i].size,
		};

		memset(data, 0x55, sizeof(data));
		tensor_set(&io, data, 0, types[i].low);
		tensor_set(&io, data, 1, types[i].high);
		ok(tensor_element(&io, data, 0) == types[i].low &&
		   tensor_element(&io, data, 1) == types[i].high &&
		   (io.bytes == sizeof(data) || data[io.bytes] == 0x55),
		   "elements of type %u of TensorFlow Lite", types[i].type & 0xffff);
		if (types[i].type == TENSOR_COMPLEX64 || types[i].type == TENSOR_FLOAT64)
			continue;
		tensor_set(&io, data, 0, NAN);
		tensor_set(&io, data, 1, 1e30);
		ok(tensor_element(&io, data, 0) == 0 && tensor_element(&io, data, 1) >
		   types[i].high - 1, "not-a-number and too large a number of type %u",
		   types[i].type & 0xffff);
	}
}

int main(void)
{
	char command[128];

	if (!mkdtemp(directory)) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	test_bmp();
	test_bmp_masks();
	test_pnm();
	test_resize();
	test_samples();
	test_long_list();
	test_wide_types();
	test_npy();
	test_inputs();
	test_outputs();
	test_lists();
	snprintf(command, sizeof(command), "rm -r %s", directory);
	ok(system(command) == 0, "the temporary directory is removed");
	return tap_done();
}
