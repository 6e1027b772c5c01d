/* SPDX-License-Identifier: MIT */
/*
 * Hashes of libcrypto. It is loaded when the first cache is used, so that programs that use none
 * need it neither to build nor to run.
 */
#ifndef NNHAL_CRYPTO_H
#define NNHAL_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRYPTO_HASH_SIZE	32

struct crypto {
	void *library;			/* NULL: not loaded */
	/* EVP_Q_digest() and EVP_Q_mac() of OpenSSL 3. */
	int (*digest)(void *context, const char *name, const char *properties, const void *data,
		      size_t size, unsigned char *hash, size_t *hash_size);
	unsigned char *(*mac)(void *context, const char *name, const char *properties,
			      const char *hash, const void *parameters, const void *key,
			      size_t key_size, const unsigned char *data, size_t size,
			      unsigned char *out, size_t room, size_t *out_size);
};

/* False: there is no libcrypto 3. */
bool crypto_open(struct crypto *crypto);
void crypto_close(struct crypto *crypto);
/* SHA-256; false after an error. */
bool crypto_hash(const struct crypto *crypto, const void *data, size_t size,
		 uint8_t hash[CRYPTO_HASH_SIZE]);
/* HMAC-SHA-256; false after an error. */
bool crypto_authenticate(const struct crypto *crypto, const void *key, size_t key_size,
			 const void *data, size_t size, uint8_t tag[CRYPTO_HASH_SIZE]);
/* Are they equal? Takes as long wherever they differ. */
bool crypto_equal(const uint8_t a[CRYPTO_HASH_SIZE], const uint8_t b[CRYPTO_HASH_SIZE]);

#endif /* NNHAL_CRYPTO_H */
