/* SPDX-License-Identifier: MIT */
/*
 * What is behind struct nntflite_file.
 */
#ifndef NNTFLITE_FILE_TFLITE_FILE_H
#define NNTFLITE_FILE_TFLITE_FILE_H

#include "tflite.h"

/**
 * struct nntflite_file - an opened file
 * @tflite: what it says
 * @bytes: its bytes, if nntflite_file_open() read them
 * @description: printable text
 * @signatures: printable keys
 */
struct nntflite_file {
	struct tflite_model tflite;
	void *bytes;
	char *description;
	char **signatures;
};

#endif /* NNTFLITE_FILE_TFLITE_FILE_H */
