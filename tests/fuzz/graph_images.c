// SPDX-License-Identifier: MIT
/*
 * Usage: graph_images FILE.nntc DIRECTORY
 *
 * Write the program images that the library makes of test cases as inputs of
 * fuzz_program: every operation with operands that are right.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal_case.h"
#include "model/lower.h"
#include "model/model_image.h"

/* The slot of the fuzzer that operands are in. */
#define OPERAND_SLOT	1

/* Options of fuzz_program: make it large; every so many graphs. */
#define LARGE		8
#define LARGE_EVERY	4

static void write_image(const struct image *image, const char *directory, uint32_t number)
{
	/* What fuzz_program has in front of an image: options, length of the recipe. */
	const uint8_t head[2] = { number % LARGE_EVERY ? 0 : LARGE };
	struct nnpu_tensor_desc *tensors = image_tensors(image);
	char path[512];
	FILE *f;

	for (uint32_t i = 0; i < image->num_tensors; i++) {
		if (tensors[i].kind == NNPU_TENSOR_SLOT)
			tensors[i].slot = htole32(OPERAND_SLOT);
	}
	snprintf(path, sizeof(path), "%s/graph-%04u", directory, number);
	f = fopen(path, "wb");
	if (!f || fwrite(head, 1, sizeof(head), f) != sizeof(head) ||
	    fwrite(image->data, 1, image->size, f) != image->size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const struct transport_limits limits = {
		.max_args = 256, .max_program_size = 1u << 20,
		.has_control_flow = true,
	};
	struct nntc_file f;

	if (argc != 3) {
		fprintf(stderr, "usage: graph_images FILE.nntc DIRECTORY\n");
		return 2;
	}
	if (!nntc_open(&f, argv[1])) {
		fprintf(stderr, "graph_images: %s is no file of cases\n", argv[1]);
		return 1;
	}
	for (uint32_t i = 0; i < f.num_cases; i++) {
		struct nnhal_diag diag = { "" };
		struct image image = { 0 };
		struct nntc_case c;
		struct hal_case h;

		if (!nntc_next(&f, &c)) {
			fprintf(stderr, "graph_images: case %u is malformed\n", i);
			return 1;
		}
		hal_case_init(&h, &c);
		if (lower_model(&h.model, &limits, NULL, false, &image, &diag)) {
			fprintf(stderr, "graph_images: %s: %s\n", c.name, diag.message);
			return 1;
		}
		write_image(&image, argv[2], i);
		image_fini(&image);
		hal_case_fini(&h);
		nntc_free(&c);
	}
	nntc_close(&f);
	return 0;
}
