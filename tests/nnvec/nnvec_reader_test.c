// SPDX-License-Identifier: MIT
/*
 * The reader of NNTC files, mostly with malformed files.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"
#include "userspace/tools/common/nntc.h"

/*
 * A file with one case of one operation with one input and one output, and where its
 * fields are.
 */
enum {
	AT_VERSION = 4, AT_CASES = 8, AT_NAME_LENGTH = 12, AT_NAME = 14, AT_HAL = 15,
	AT_RELAXED = 16, AT_RESERVED = 18, AT_TOLERANCE = 19, AT_SUBGRAPHS = 23,
	AT_OPERANDS = 27, AT_OPERATIONS = 31, AT_INPUTS = 35, AT_OUTPUTS = 39,
	AT_OPERAND = 43, AT_LIFETIME = 47, AT_IGNORE = 48, AT_RANK = 49, AT_ZERO = 50,
	AT_SCALES = 63, AT_DIM = 67, AT_BYTES = 71, AT_SECOND_OPERAND = 79,
	AT_SECOND_LIFETIME = AT_SECOND_OPERAND + 4, AT_SECOND_DIM = 103, AT_SECOND_BYTES = 107,
	AT_OPERATION = 115, AT_OPERATION_INPUTS = 119, AT_OPERATION_INDEX = 123, AT_INPUT = 131,
	AT_OUTPUT = 135, FILE_SIZE = 139,
};

struct bytes {
	uint8_t at[256];
	size_t size;
};

static void put(struct bytes *b, uint32_t value, unsigned int size)
{
	memcpy(b->at + b->size, &value, size);
	b->size += size;
}

static void put_operand(struct bytes *b, uint8_t lifetime)
{
	put(b, 3, 4);
	put(b, lifetime, 1);
	put(b, 0, 1);
	put(b, 1, 1);
	put(b, 0, 1);
	for (int i = 0; i < 4; i++)
		put(b, 0, 4);
	put(b, 1, 4);
	put(b, 4, 4);
	put(b, 0x3f800000, 4);
}

static struct bytes good_file(void)
{
	struct bytes b = { .size = 0 };

	memcpy(b.at, "NNTC", 4);
	b.size = 4;
	put(&b, 1, 4);
	put(&b, 1, 4);
	put(&b, 1, 2);
	put(&b, 'a', 1);
	put(&b, 0, 4);
	put(&b, 0, 4);
	put(&b, 1, 4);
	put(&b, 2, 4);
	for (int i = 0; i < 3; i++)
		put(&b, 1, 4);
	put_operand(&b, NNTC_INPUT);
	put_operand(&b, NNTC_OUTPUT);
	put(&b, 8, 4);
	put(&b, 1, 2);
	put(&b, 1, 2);
	put(&b, 0, 4);
	put(&b, 1, 4);
	put(&b, 0, 4);
	put(&b, 1, 4);
	return b;
}

/* Read to the end. Returns the text of the failure, "" if there was none. */
static const char *read_all(const void *bytes, size_t size)
{
	static char text[sizeof(((struct nntc_file *)0)->error)];
	/* A copy of the exact size, so that a sanitizer sees reads beyond it. */
	uint8_t *copy = malloc(size + !size);
	struct nntc_file f;
	struct nntc_case nc;
	bool good;

	if (!copy)
		exit(1);
	memcpy(copy, bytes, size);
	good = nntc_open_bytes(&f, copy, size);
	while (good && f.next < f.num_cases) {
		good = nntc_next(&f, &nc);
		if (good)
			nntc_free(&nc);
	}
	snprintf(text, sizeof(text), "%s", good ? "" : f.error);
	if (!good && !f.error[0])
		snprintf(text, sizeof(text), "no text");
	nntc_close(&f);
	free(copy);
	return text;
}

static void refuses(size_t at, uint64_t value, unsigned int size, const char *words)
{
	struct bytes b = good_file();
	const char *text;

	memcpy(b.at + at, &value, size);
	text = read_all(b.at, b.size);
	if (!ok(strstr(text, words), "refused: %s", words))
		tap_note("said: %s", text);
}

static void test_good(void)
{
	struct bytes b = good_file();
	struct nntc_file f;
	struct nntc_case nc;

	ok(b.size == FILE_SIZE, "the test knows its file");
	ok(nntc_open_bytes(&f, b.at, b.size) && f.num_cases == 1, "a good file is opened");
	if (!ok(nntc_next(&f, &nc), "its case is read"))
		return;
	ok(!strcmp(nc.name, "a") && nc.main.num_operands == 2 && nc.main.num_operations == 1 &&
	   nc.main.inputs[0] == 0 && nc.main.outputs[0] == 1 &&
	   nc.main.operations[0].operands[1] == 1 && nc.main.operands[0].num_bytes == 4 &&
	   nc.main.operands[1].dims[0] == 1 && !nc.num_referenced, "with all there is in it");
	nntc_free(&nc);
	ok(!nntc_next(&f, &nc) && f.error[0], "there is no second one");
	nntc_close(&f);
}

static void test_fields(void)
{
	refuses(0, 'X', 1, "offset 0: not an NNTC file");
	refuses(AT_VERSION, 2, 4, "offset 4: version 2, expected 1");
	refuses(AT_CASES, 5, 4, "offset 8: 5 cases, but only 127 bytes left");
	refuses(AT_CASES, UINT32_MAX, 4, "4294967295 cases");
	refuses(AT_CASES, 2, 4, "the file ends here");
	refuses(AT_CASES, 0, 4, "offset 12: 127 bytes after the last case");
	refuses(AT_NAME_LENGTH, 256, 2, "offset 12: case 0: name of 256 bytes");
	refuses(AT_NAME_LENGTH, 255, 2, "the file ends here");
	refuses(AT_NAME, 0x1b, 1, "offset 14: case 0: the name is not printable");
	refuses(AT_HAL, 5, 1, "offset 15: case 0 a: HAL version 5");
	refuses(AT_RELAXED, 2, 1, "flags 2 and 0");
	refuses(AT_RELAXED + 1, 2, 1, "flags 0 and 2");
	refuses(AT_RESERVED, 1, 1, "reserved byte 1");
	refuses(AT_TOLERANCE, 0x7fc00000, 4, "tolerance nan");
	refuses(AT_TOLERANCE, 0xbf800000, 4, "tolerance -1");
	refuses(AT_SUBGRAPHS, 0, 4, "offset 23: case 0 a: no subgraph");
	refuses(AT_SUBGRAPHS, 2, 4, "the file ends here");
	refuses(AT_SUBGRAPHS, UINT32_MAX, 4, "4294967295 subgraphs, but only 112 bytes");
	refuses(AT_OPERANDS, UINT32_MAX, 4, "4294967295 operands, but only 96 bytes");
	refuses(AT_OPERANDS, 1, 4, "outputs: operand 1 does not exist, there are 1");
	refuses(AT_OPERATIONS, UINT32_MAX, 4, "4294967295 operations");
	refuses(AT_INPUTS, UINT32_MAX, 4, "4294967295 inputs");
	refuses(AT_OUTPUTS, UINT32_MAX, 4, "4294967295 outputs");
	refuses(AT_LIFETIME, 7, 1, "offset 47: case 0 a: operand 0: lifetime 7");
	refuses(AT_LIFETIME, NNTC_TEMPORARY, 1, "4 bytes of data, expected none");
	refuses(AT_LIFETIME, NNTC_NO_VALUE, 1, "4 bytes of data, expected none");
	refuses(AT_LIFETIME, NNTC_SUBGRAPH, 1, "subgraph 1065353216 does not exist, there are 0");
	refuses(AT_IGNORE, 2, 1, "flag 2");
	refuses(AT_ZERO, 1, 1, "reserved byte 1");
	refuses(AT_RANK, 9, 1, "rank 9, expected at most 8");
	refuses(AT_RANK, 8, 1, "operand 1: 1 byte of data, not what its shape takes");
	refuses(AT_SCALES, UINT32_MAX, 4, "4294967295 channel scales");
	refuses(AT_DIM, 2, 4, "4 bytes of data, not what its shape takes");
	refuses(AT_DIM, 0x40000001, 4, "4 bytes of data, not what its shape takes");
	refuses(AT_BYTES, UINT32_MAX, 4, "4294967295 bytes of data, but only");
	refuses(AT_BYTES, 3, 4, "3 bytes of data, not what its shape takes");
	refuses(AT_OPERAND, 10001, 4, "type 10001, which has no size");
	refuses(AT_SECOND_LIFETIME, NNTC_SUBGRAPH, 1, "operand 1: subgraph");
	refuses(AT_SECOND_DIM, 3, 4, "offset 107: case 0 a: operand 1: 4 bytes of data");
	refuses(AT_OPERATION_INPUTS, 65535, 2, "65536 operands, but only");
	refuses(AT_OPERATION_INDEX, 2, 4,
		"offset 123: case 0 a: operation 0: operands: operand 2 does not exist, there are 2");
	refuses(AT_INPUT, 7, 4, "offset 131: case 0 a: inputs: operand 7");
	refuses(AT_OUTPUT, UINT32_MAX, 4, "outputs: operand 4294967295");
}

/* An output of a size that is not known may have any number of elements. */
static void test_open_output(void)
{
	struct bytes b = good_file();

	memset(b.at + AT_SECOND_DIM, 0, 4);
	ok(!read_all(b.at, b.size)[0], "an output of unknown size with data");
	memset(b.at + AT_DIM, 0, 4);
	ok(read_all(b.at, b.size)[0], "but no input");
}

static void test_cut(const char *what, const uint8_t *bytes, size_t size)
{
	size_t silent = 0;

	for (size_t n = 0; n < size; n++)
		silent += !read_all(bytes, n)[0];
	ok(!silent, "%s: each of %zu shorter files is refused", what, size);
}

/* No value of any byte makes the reader misbehave; sanitizers watch. */
static void test_flipped(const char *what, const uint8_t *bytes, size_t size)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff, 0x7f };
	uint8_t *copy = malloc(size);
	size_t refused = 0;

	if (!copy)
		exit(1);
	memcpy(copy, bytes, size);
	for (size_t i = 0; i < size; i++) {
		for (size_t k = 0; k < sizeof(flips); k++) {
			copy[i] ^= flips[k];
			refused += read_all(copy, size)[0] != 0;
			copy[i] = bytes[i];
		}
	}
	ok(refused, "%s: %zu of %zu changed files are refused", what, refused,
	   size * sizeof(flips));
	free(copy);
}

static void test_shipped(const char *path)
{
	FILE *in = fopen(path, "rb");
	uint8_t bytes[16384];
	size_t size = in ? fread(bytes, 1, sizeof(bytes), in) : 0;

	if (in)
		fclose(in);
	if (!ok(size && size < sizeof(bytes) && !read_all(bytes, size)[0], "%s is well-formed",
		path))
		return;
	test_cut(path, bytes, size);
	test_flipped(path, bytes, size);
}

static void open_refuses(const char *path, const char *words)
{
	struct nntc_file f;

	ok(!nntc_open(&f, path) && strstr(f.error, words), "%s: %s", path, words);
}

static void test_files(void)
{
	char path[] = "/tmp/nnvec-reader-XXXXXX";
	struct bytes b = good_file();
	int fd = mkstemp(path);
	struct nntc_file f;

	open_refuses("/does/not/exist", "cannot be opened: No such file or directory");
	open_refuses("/", "cannot be");
	open_refuses("/dev/null", "offset 0: the file ends here, 4 bytes missing");
	if (fd < 0 || write(fd, b.at, b.size) != (ssize_t)b.size)
		exit(1);
	close(fd);
	ok(nntc_open(&f, path) && f.size == FILE_SIZE, "a file is read");
	nntc_close(&f);
	unlink(path);
}

int main(void)
{
	struct bytes b = good_file();

	test_good();
	test_fields();
	test_open_output();
	test_cut("one case", b.at, b.size);
	test_flipped("one case", b.at, b.size);
	test_shipped("tests/nnvec/cases/control.nntc");
	test_shipped("tests/nnvec/cases/shapes.nntc");
	test_files();
	return tap_done();
}
