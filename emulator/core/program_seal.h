/* SPDX-License-Identifier: MIT */
/*
 * Seals of programs: a tag of the values of all constants, taken while they are read.
 *
 * The tags are made by libcrypto, which is loaded with the first seal: devices that see none do
 * without it.
 */
#ifndef NNPU_EMU_PROGRAM_SEAL_H
#define NNPU_EMU_PROGRAM_SEAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What makes tags. Of a device. */
struct sealer {
	pthread_mutex_t lock;
	bool looked;			/* for the library, once */
	void *library;			/* NULL: there is none */
	void *mac;			/* EVP_MAC, NULL: no tags */
	/* EVP_MAC_fetch() and so on. */
	void *(*fetch)(void *context, const char *name, const char *properties);
	void (*free)(void *mac);
	void *(*ctx_new)(void *mac);
	void (*ctx_free)(void *ctx);
	int (*init)(void *ctx, const unsigned char *key, size_t size, const void *parameters);
	int (*update)(void *ctx, const unsigned char *data, size_t size);
	int (*final)(void *ctx, unsigned char *out, size_t *out_size, size_t room);
};

/* A tag in the making. */
struct seal {
	const struct sealer *sealer;	/* NULL: there is none */
	void *ctx;			/* EVP_MAC_CTX */
};

void sealer_init(struct sealer *s);
void sealer_fini(struct sealer *s);

/* False: there is no libcrypto that can do it, or no memory. Then nothing is to be ended. */
bool seal_begin(struct sealer *s, struct seal *seal, const uint8_t key[32]);
/* False: it is no use to go on. */
bool seal_add(struct seal *seal, const void *data, size_t bytes);
/* Is it this tag? */
bool seal_matches(struct seal *seal, const uint8_t tag[16]);
/* In any case, also if there is none. */
void seal_end(struct seal *seal);

#endif /* NNPU_EMU_PROGRAM_SEAL_H */
