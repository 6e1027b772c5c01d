// SPDX-License-Identifier: MIT
/*
 * Authentication with libcrypto.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/crypto.h"

/* A distribution may have left something out. */
static bool works(const struct crypto *crypto)
{
	static const uint8_t key[CRYPTO_SUM_SIZE];
	uint8_t tag[CRYPTO_TAG_SIZE], sum[CRYPTO_SUM_SIZE];

	return crypto_authenticate(crypto, key, sizeof(key), "", 0, tag) &&
	       crypto_sum(crypto, key, "", 0, sum);
}

bool crypto_open(struct crypto *crypto)
{
	void *mac;

	crypto->library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
	if (!crypto->library)
		return false;
	mac = dlsym(crypto->library, "EVP_Q_mac");
	memcpy(&crypto->mac, &mac, sizeof(mac));
	if (mac && works(crypto))
		return true;
	crypto_close(crypto);
	return false;
}

void crypto_close(struct crypto *crypto)
{
	if (crypto->library)
		dlclose(crypto->library);
	crypto->library = NULL;
}

bool crypto_authenticate(const struct crypto *crypto, const void *key, size_t key_size,
			 const void *data, size_t size, uint8_t tag[CRYPTO_TAG_SIZE])
{
	size_t got = 0;

	return crypto->mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_size, data, size, tag,
			   CRYPTO_TAG_SIZE, &got) && got == CRYPTO_TAG_SIZE;
}

bool crypto_sum(const struct crypto *crypto, const uint8_t key[CRYPTO_SUM_SIZE],
		const void *data, size_t size, uint8_t sum[CRYPTO_SUM_SIZE])
{
	size_t got = 0;

	return crypto->mac(NULL, "SIPHASH", NULL, NULL, NULL, key, CRYPTO_SUM_SIZE, data, size,
			   sum, CRYPTO_SUM_SIZE, &got) && got == CRYPTO_SUM_SIZE;
}

bool crypto_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
	unsigned int differ = 0;
	size_t i;

	for (i = 0; i < size; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}
