// SPDX-License-Identifier: MIT
/*
 * Authentication with libcrypto.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "base/crypto.h"
#include "base/tsan.h"

/* A distribution may have left something out. */
static bool works(const struct crypto *crypto)
{
	static const uint8_t key[CRYPTO_SEAL_KEY_SIZE];
	uint8_t tag[CRYPTO_TAG_SIZE], sum[CRYPTO_SUM_SIZE], seal[CRYPTO_SEAL_SIZE];

	return crypto_authenticate(crypto, key, sizeof(key), "", 0, tag) &&
	       crypto_sum(crypto, key, "", 0, sum) &&
	       crypto_seal_end(crypto, crypto_seal_begin(crypto, key), seal);
}

/* @function: a pointer to a function. */
static bool find(void *library, const char *name, void *function)
{
	void *object = dlsym(library, name);

	memcpy(function, &object, sizeof(object));
	return object;
}

static bool find_all(struct crypto *crypto)
{
	void *l = crypto->library;

	return find(l, "EVP_MAC_fetch", &crypto->mac_fetch) &&
	       find(l, "EVP_MAC_free", &crypto->mac_free) &&
	       find(l, "EVP_MAC_CTX_new", &crypto->ctx_new) &&
	       find(l, "EVP_MAC_CTX_dup", &crypto->ctx_dup) &&
	       find(l, "EVP_MAC_CTX_free", &crypto->ctx_free) &&
	       find(l, "EVP_MAC_init", &crypto->init) &&
	       find(l, "EVP_MAC_update", &crypto->update) &&
	       find(l, "EVP_MAC_final", &crypto->final);
}

static void *fetch_hmac(const struct crypto *crypto)
{
	/* OSSL_PARAM, with OSSL_PARAM_UTF8_STRING. */
	struct {
		const char *key;
		unsigned int type;
		const void *data;
		size_t size, result_size;
	} digest[] = { { "digest", 4, "SHA256", 6, SIZE_MAX }, { 0 } };
	static const uint8_t key[CRYPTO_TAG_SIZE];
	void *mac = crypto->mac_fetch(NULL, "HMAC", NULL), *ctx;

	if (!mac)
		return NULL;
	ctx = crypto->ctx_new(mac);
	/* The context has a reference of its own. */
	crypto->mac_free(mac);
	if (ctx && !crypto->init(ctx, key, sizeof(key), digest)) {
		crypto->ctx_free(ctx);
		return NULL;
	}
	return ctx;
}

bool crypto_open(struct crypto *crypto)
{
	crypto->sealer = NULL;
	crypto->summer = NULL;
	crypto->hmac = NULL;
	crypto->library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
	if (!crypto->library)
		return false;
	if (find_all(crypto)) {
		crypto->sealer = crypto->mac_fetch(NULL, "POLY1305", NULL);
		crypto->summer = crypto->mac_fetch(NULL, "SIPHASH", NULL);
		crypto->hmac = fetch_hmac(crypto);
		if (crypto->sealer && crypto->summer && crypto->hmac && works(crypto))
			return true;
	}
	crypto_close(crypto);
	return false;
}

void crypto_close(struct crypto *crypto)
{
	/*
	 * Devices share the algorithms, and whoever drops the last reference frees them.
	 * libcrypto counts by atomics that ThreadSanitizer does not see.
	 */
	tsan_acquire(crypto->library);
	if (crypto->sealer)
		crypto->mac_free(crypto->sealer);
	if (crypto->summer)
		crypto->mac_free(crypto->summer);
	if (crypto->hmac)
		crypto->ctx_free(crypto->hmac);
	crypto->sealer = NULL;
	crypto->summer = NULL;
	crypto->hmac = NULL;
	tsan_release(crypto->library);
	if (crypto->library)
		dlclose(crypto->library);
	crypto->library = NULL;
}

/* With a context of its own, which it frees. NULL: there is no memory. */
static bool authenticate(const struct crypto *crypto, void *ctx, const void *key, size_t key_size,
			 const void *data, size_t size, uint8_t *tag, size_t tag_size)
{
	size_t got = 0;
	bool ok;

	if (!ctx)
		return false;
	ok = crypto->init(ctx, key, key_size, NULL) && crypto->update(ctx, data, size) &&
	     crypto->final(ctx, tag, &got, tag_size) && got == tag_size;
	crypto->ctx_free(ctx);
	return ok;
}

bool crypto_authenticate(const struct crypto *crypto, const void *key, size_t key_size,
			 const void *data, size_t size, uint8_t tag[CRYPTO_TAG_SIZE])
{
	return authenticate(crypto, crypto->ctx_dup(crypto->hmac), key, key_size, data, size, tag,
			    CRYPTO_TAG_SIZE);
}

bool crypto_sum(const struct crypto *crypto, const uint8_t key[CRYPTO_SUM_SIZE],
		const void *data, size_t size, uint8_t sum[CRYPTO_SUM_SIZE])
{
	return authenticate(crypto, crypto->ctx_new(crypto->summer), key, CRYPTO_SUM_SIZE, data,
			    size, sum, CRYPTO_SUM_SIZE);
}

void *crypto_seal_begin(const struct crypto *crypto, const uint8_t key[CRYPTO_SEAL_KEY_SIZE])
{
	void *seal = crypto->ctx_new(crypto->sealer);

	if (seal && crypto->init(seal, key, CRYPTO_SEAL_KEY_SIZE, NULL))
		return seal;
	if (seal)
		crypto->ctx_free(seal);
	return NULL;
}

bool crypto_seal_add(const struct crypto *crypto, void *seal, const void *data, size_t size)
{
	return crypto->update(seal, data, size);
}

bool crypto_seal_end(const struct crypto *crypto, void *seal, uint8_t tag[CRYPTO_SEAL_SIZE])
{
	size_t got = 0;
	bool ok;

	if (!seal)
		return false;
	ok = crypto->final(seal, tag, &got, CRYPTO_SEAL_SIZE) && got == CRYPTO_SEAL_SIZE;
	crypto->ctx_free(seal);
	return ok;
}

bool crypto_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
	unsigned int differ = 0;
	size_t i;

	for (i = 0; i < size; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}
