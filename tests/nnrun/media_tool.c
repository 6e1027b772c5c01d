// SPDX-License-Identifier: MIT
/*
 * What the tests of nnrun's formats need beside Python: decoding by nnrun's own readers, and
 * writing JPEG by libjpeg.
 *
 *	media_tool decode FILE                 the picture as PPM
 *	media_tool jpeg FILE.ppm OPTION... >   RGB; gray, cmyk, progressive, quality=N
 *	media_tool model NAME=TYPE:DIMS... >   each input becomes an output: f32 or u8;
 *	                                       relu: f32, without what is below 0
 *	media_tool formats                     what nnrun was built with
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model_writer.h"
#include "userspace/tools/common/file.h"
#include "userspace/tools/nnrun/media/image.h"

#ifdef NNRUN_JPEG
#include <jpeglib.h>
#endif

static int failed(const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	return 1;
}

static int read_image(const char *path, struct image *image, struct error *err)
{
	uint8_t *data = NULL;
	size_t size;
	int fd = open_input(path, err);
	int ret;

	*image = (struct image){ 0, 0, NULL };
	if (fd < 0)
		return -1;
	ret = read_rest(fd, path, NULL, 0, 1 << 30, &data, &size, NULL, err);
	close(fd);
	if (ret)
		return -1;
	ret = image_decode(data, size, image, err);
	free(data);
	if (ret)
		image_free(image);
	return ret;
}

static int decode(const char *path)
{
	struct error err = { "", 0 };
	struct image image;

	if (read_image(path, &image, &err))
		return failed(&err);
	printf("P6\n%u %u\n255\n", image.width, image.height);
	fwrite(image.pixels, 3, (size_t)image.width * image.height, stdout);
	image_free(&image);
	return fflush(stdout) != 0;
}

static int formats(void)
{
#ifdef NNRUN_PNG
	puts("png");
#endif
#ifdef NNRUN_JPEG
	puts("jpeg");
#endif
#ifdef NNRUN_ZLIB
	puts("zlib");
#endif
	return fflush(stdout) != 0;
}

/* Stands for float32 and that operator; beside the numbers of types, which have a byte. */
#define RELU	0x100

/* As the schema of TensorFlow Lite counts them. */
static int type_number(const char *type)
{
	static const struct {
		const char *name;
		int number;
	} types[] = {
		{ "f32", 0 }, { "u8", 3 }, { "i64", 4 }, { "c64", 8 }, { "relu", RELU },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(type, types[i].name) == 0)
			return types[i].number;
	return -1;
}

/* A tensor from "NAME=TYPE:1x2x3"; its text is changed. */
static bool parse_tensor(char *text, struct mw_tensor *t)
{
	char *type = strchr(text, '=');
	char *dims = type ? strchr(type, ':') : NULL;
	char *end;

	if (!dims)
		return false;
	*type++ = '\0';
	*dims++ = '\0';
	t->name = text;
	t->type = type_number(type);
	if (t->type < 0)
		return false;
	if (t->type == 3) {
		t->num_scales = 1;
		t->scales[0] = 1;
	}
	for (t->rank = 0; t->rank < 8; dims = end + 1) {
		t->dims[t->rank++] = (int32_t)strtol(dims, &end, 10);
		if (*end != 'x')
			break;
	}
	return true;
}

/* A model that gives back its inputs: a RESHAPE for each. */
static int model(int count, char **specs)
{
	static uint8_t file[MW_MAX_SIZE];
	static struct mw_model m;
	size_t size;
	int i;

	for (i = 0; i < count && 2 * i + 1 < MW_MAX; i++) {
		struct mw_operator *op = &m.operators[i];

		if (!parse_tensor(specs[i], &m.tensors[2 * i]))
			return 2;
		m.tensors[2 * i + 1] = m.tensors[2 * i];
		op->code = m.tensors[2 * i].type == RELU ? 19 : 22;
		m.tensors[2 * i].type = m.tensors[2 * i + 1].type = m.tensors[2 * i].type & 0xff;
		op->num_inputs = op->num_outputs = 1;
		op->inputs[0] = m.inputs[i] = 2 * i;
		op->outputs[0] = m.outputs[i] = 2 * i + 1;
		op->no_options = true;
	}
	m.num_tensors = 2 * (uint32_t)i;
	m.num_operators = m.num_inputs = m.num_outputs = (uint32_t)i;
	size = mw_write(&m, file);
	return fwrite(file, 1, size, stdout) != size || fflush(stdout) != 0;
}

static int jpeg(int argc, char **argv)
{
#ifdef NNRUN_JPEG
	struct jpeg_compress_struct jpeg;
	struct error err = { "", 0 };
	struct jpeg_error_mgr errors;
	bool gray = false, cmyk = false;
	struct image image;
	int i, quality = 95;
	uint8_t *row;

	if (read_image(argv[0], &image, &err))
		return failed(&err);
	row = malloc(4 * (size_t)image.width);
	if (!row)
		return 1;
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_stdio_dest(&jpeg, stdout);
	for (i = 1; i < argc; i++) {
		gray |= strcmp(argv[i], "gray") == 0;
		cmyk |= strcmp(argv[i], "cmyk") == 0;
		if (strncmp(argv[i], "quality=", 8) == 0)
			quality = atoi(argv[i] + 8);
	}
	jpeg.image_width = image.width;
	jpeg.image_height = image.height;
	jpeg.input_components = gray ? 1 : cmyk ? 4 : 3;
	jpeg.in_color_space = gray ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
	jpeg_set_defaults(&jpeg);
	jpeg_set_quality(&jpeg, quality, TRUE);
	for (i = 1; i < argc; i++)
		if (strcmp(argv[i], "progressive") == 0)
			jpeg_simple_progression(&jpeg);
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < jpeg.image_height) {
		const uint8_t *in = image.pixels + (size_t)jpeg.next_scanline * image.width * 3;
		uint32_t x, c;

		for (x = 0; x < image.width; x++) {
			if (gray)
				row[x] = in[3 * x];
			for (c = 0; c < 3 && cmyk; c++)
				row[4 * x + c] = in[3 * x + c];
			if (cmyk)
				row[4 * x + 3] = 255;
			else if (!gray)
				memcpy(row + 3 * (size_t)x, in + 3 * (size_t)x, 3);
		}
		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	free(row);
	image_free(&image);
	return fflush(stdout) != 0;
#else
	(void)argc;
	(void)argv;
	return 1;
#endif
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "decode") == 0)
		return decode(argv[2]);
	if (argc >= 3 && strcmp(argv[1], "jpeg") == 0)
		return jpeg(argc - 2, argv + 2);
	if (argc >= 3 && strcmp(argv[1], "model") == 0)
		return model(argc - 2, argv + 2);
	if (argc == 2 && strcmp(argv[1], "formats") == 0)
		return formats();
	fprintf(stderr, "media_tool: wrong arguments\n");
	return 2;
}
