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

/* Of a device: the functions of libcrypto that compute tags. */
struct sealer {
	pthread_mutex_t lock;
	bool looked;			/* open_library() has run */
	void *library;			/* NULL: there is none */
	void *mac;			/* EVP_MAC; NULL: there is no Poly1305 */
	/* EVP_MAC_fetch() and so on. */
	void *(*fetch)(void *context, const char *name, const char *properties);
	void (*free)(void *mac);
	void *(*ctx_new)(void *mac);
	void (*ctx_free)(void *ctx);
	int (*init)(void *ctx, const unsigned char *key, size_t size, const void *parameters);
	int (*update)(void *ctx, const unsigned char *data, size_t size);
	int (*final)(void *ctx, unsigned char *out, size_t *out_size, size_t room);
};

/* A tag that is being computed. */
struct seal {
	const struct sealer *sealer;	/* NULL: there is none */
	void *ctx;			/* EVP_MAC_CTX */
};

void sealer_init(struct sealer *s);
void sealer_fini(struct sealer *s);

/* False: there is no libcrypto with Poly1305. */
bool sealer_works(struct sealer *s);

/* Of a sealer that works. False: there is no memory. Then seal_end() has nothing to do. */
bool seal_begin(struct sealer *s, struct seal *seal, const uint8_t key[32]);
/* False: libcrypto has failed. */
bool seal_add(struct seal *seal, const void *data, size_t bytes);
/* Is @tag the tag of what was added? */
bool seal_matches(struct seal *seal, const uint8_t tag[16]);
/* Free what seal_begin() has allocated. It may be called without, on a zeroed seal. */
void seal_end(struct seal *seal);

#endif /* NNPU_EMU_PROGRAM_SEAL_H */
