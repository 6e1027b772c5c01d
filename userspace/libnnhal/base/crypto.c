// SPDX-License-Identifier: MIT
/*
 * Hashes of libcrypto.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/crypto.h"

bool crypto_open(struct crypto *crypto)
{
	void *digest, *mac;

	crypto->library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
	if (!crypto->library)
		return false;
	digest = dlsym(crypto->library, "EVP_Q_digest");
	mac = dlsym(crypto->library, "EVP_Q_mac");
	if (!digest || !mac) {
		crypto_close(crypto);
		return false;
	}
	memcpy(&crypto->digest, &digest, sizeof(digest));
	memcpy(&crypto->mac, &mac, sizeof(mac));
	return true;
}

void crypto_close(struct crypto *crypto)
{
	if (crypto->library)
		dlclose(crypto->library);
	crypto->library = NULL;
}

bool crypto_hash(const struct crypto *crypto, const void *data, size_t size,
		 uint8_t hash[CRYPTO_HASH_SIZE])
{
	size_t got = CRYPTO_HASH_SIZE;

	return crypto->digest(NULL, "SHA256", NULL, data, size, hash, &got) == 1 &&
	       got == CRYPTO_HASH_SIZE;
}

bool crypto_authenticate(const struct crypto *crypto, const void *key, size_t key_size,
			 const void *data, size_t size, uint8_t tag[CRYPTO_HASH_SIZE])
{
	size_t got = 0;

	return crypto->mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_size, data, size, tag,
			   CRYPTO_HASH_SIZE, &got) && got == CRYPTO_HASH_SIZE;
}

bool crypto_equal(const uint8_t a[CRYPTO_HASH_SIZE], const uint8_t b[CRYPTO_HASH_SIZE])
{
	unsigned int i, differ = 0;

	for (i = 0; i < CRYPTO_HASH_SIZE; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}
