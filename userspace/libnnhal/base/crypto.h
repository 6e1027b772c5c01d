/* SPDX-License-Identifier: MIT */
/*
 * Authentication with libcrypto. It is loaded when the first cache is used, so that programs that
 * use none need it neither to build nor to run.
 */
#ifndef NNHAL_CRYPTO_H
#define NNHAL_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRYPTO_TAG_SIZE		32
/* Of crypto_sum(). */
#define CRYPTO_SUM_SIZE		16
/* Of seals. */
#define CRYPTO_SEAL_KEY_SIZE	32
#define CRYPTO_SEAL_SIZE	16

struct crypto {
	void *library;			/* NULL: not loaded */
	/* To look them up takes longer than a short text. */
	void *sealer;			/* EVP_MAC of Poly1305 */
	void *summer;			/* EVP_MAC of SipHash */
	void *hmac;			/* EVP_MAC_CTX of HMAC-SHA-256, to be copied */
	/* EVP_MAC_fetch() and so on, of OpenSSL 3. */
	void *(*mac_fetch)(void *context, const char *name, const char *properties);
	void (*mac_free)(void *mac);
	void *(*ctx_new)(void *mac);
	void *(*ctx_dup)(const void *ctx);
	void (*ctx_free)(void *ctx);
	int (*init)(void *ctx, const unsigned char *key, size_t size, const void *parameters);
	int (*update)(void *ctx, const unsigned char *data, size_t size);
	int (*final)(void *ctx, unsigned char *out, size_t *out_size, size_t room);
};

/* False: there is no libcrypto 3 that can do all of it. */
bool crypto_open(struct crypto *crypto);
void crypto_close(struct crypto *crypto);
/* HMAC-SHA-256. False after an error. */
bool crypto_authenticate(const struct crypto *crypto, const void *key, size_t key_size,
			 const void *data, size_t size, uint8_t tag[CRYPTO_TAG_SIZE]);
/*
 * SipHash-2-4 with 128 bits: for a file, since it is as fast as any on processors without
 * instructions for hashes. The key is secret, and of this data alone. False after an error.
 */
bool crypto_sum(const struct crypto *crypto, const uint8_t key[CRYPTO_SUM_SIZE],
		const void *data, size_t size, uint8_t sum[CRYPTO_SUM_SIZE]);
/*
 * Poly1305, piece by piece, with a secret key of this data alone: what devices do in struct
 * nnpu_seal. Begin returns NULL after an error; end frees @seal in any case.
 */
void *crypto_seal_begin(const struct crypto *crypto, const uint8_t key[CRYPTO_SEAL_KEY_SIZE]);
bool crypto_seal_add(const struct crypto *crypto, void *seal, const void *data, size_t size);
bool crypto_seal_end(const struct crypto *crypto, void *seal, uint8_t tag[CRYPTO_SEAL_SIZE]);
/* Are they equal? Takes as long wherever they differ. */
bool crypto_equal(const uint8_t *a, const uint8_t *b, size_t size);

#endif /* NNHAL_CRYPTO_H */
