// SPDX-License-Identifier: MIT
/* Usage: label DEVICE MODEL.tflite PICTURE.png <LABELS.txt - say what a picture shows */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <nntflite/session.h>

static void check(int good, const char *what, const char *why)
{
	if (!good && fprintf(stderr, "label: %s: %s\n", what, why))
		exit(1);
}

int main(int argc, char **argv)
{
	png_image png = { .version = PNG_IMAGE_VERSION };
	struct nntflite_value out = NNTFLITE_VALUE_INIT;
	const struct nntflite_io *in, *io;
	/* The end of the process releases these. */
	static struct nnhal_device *device;
	static struct nntflite_file *file;
	static struct nntflite_model *model;
	static struct nntflite_session *session;
	struct nntflite_diag why;
	uint8_t *pixels, *to, sign;
	const uint8_t *scores;
	uint32_t channels, i, y, x, best = 0;
	char label[512] = "\n";

	check(argc == 4, "usage", "label DEVICE MODEL.tflite PICTURE.png <LABELS.txt");
	check(!nnhal_device_open(argv[1], &device, NULL), argv[1], "cannot be opened");
	check(!nntflite_file_open(argv[2], &file, &why) &&
	      !nntflite_model_create(file, NULL, &model, &why) &&
	      !nntflite_session_create(model, device, NULL, &session, &why), argv[2], why.message);
	in = nntflite_model_input(model, 0);
	io = nntflite_model_output(model, 0);
	channels = in->dims[3];
	check(in->rank == 4 && (channels == 1 || channels == 3) && in->bytes == in->elements &&
	      in->type == io->type, argv[2], "does not turn 8-bit pixels into 8-bit scores");
	check(png_image_begin_read_from_file(&png, argv[3]), argv[3], png.message);
	png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
	pixels = malloc(PNG_IMAGE_SIZE(png));
	check(pixels && png_image_finish_read(&png, NULL, pixels, 0, NULL), argv[3], png.message);
	to = nntflite_session_input(session, 0);
	sign = in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED ? 0x80 : 0;
	for (i = 0; i < in->elements; i++) {	/* the nearest pixel of the picture */
		y = i / channels / in->dims[2] * png.height / in->dims[1];
		x = i / channels % in->dims[2] * png.width / in->dims[2];
		to[i] = pixels[(y * png.width + x) * channels + i % channels] ^ sign;
	}
	free(pixels);
	check(!nntflite_session_run(session, NULL, NULL, &why) &&
	      !nntflite_session_output(session, 0, &out), argv[2], why.message);
	scores = out.data;
	for (i = 1; i < out.bytes; i++)
		best = (scores[i] ^ sign) > (scores[best] ^ sign) ? i : best;
	for (i = 0; i <= best && fgets(label, sizeof(label), stdin); i++)
		;
	return printf("%.3f %s", io->scale * (uint8_t)(scores[best] - io->zero_point), label) < 0;
}
