// SPDX-License-Identifier: MIT
/*
 * Seals of programs, by libcrypto of OpenSSL 3.
 */
#include <dlfcn.h>
#include <string.h>

#include "program_seal.h"

#define TAG_SIZE	16

void sealer_init(struct sealer *s)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
}

void sealer_fini(struct sealer *s)
{
	if (s->mac)
		s->free(s->mac);
	if (s->library)
		dlclose(s->library);
	pthread_mutex_destroy(&s->lock);
}

/* @function: a pointer to a function. */
static bool find(void *library, const char *name, void *function)
{
	void *object = dlsym(library, name);

	memcpy(function, &object, sizeof(object));
	return object;
}

static void open_library(struct sealer *s)
{
	void *l = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);

	s->library = l;
	if (l && find(l, "EVP_MAC_fetch", &s->fetch) && find(l, "EVP_MAC_free", &s->free) &&
	    find(l, "EVP_MAC_CTX_new", &s->ctx_new) && find(l, "EVP_MAC_CTX_free", &s->ctx_free) &&
	    find(l, "EVP_MAC_init", &s->init) && find(l, "EVP_MAC_update", &s->update) &&
	    find(l, "EVP_MAC_final", &s->final))
		s->mac = s->fetch(NULL, "POLY1305", NULL);
}

/* The library is opened once: that may take some milliseconds. */
bool sealer_works(struct sealer *s)
{
	bool can;

	pthread_mutex_lock(&s->lock);
	if (!s->looked)
		open_library(s);
	s->looked = true;
	can = s->mac;
	pthread_mutex_unlock(&s->lock);
	return can;
}

bool seal_begin(struct sealer *s, struct seal *seal, const uint8_t key[32])
{
	seal->sealer = NULL;
	seal->ctx = s->ctx_new(s->mac);
	if (!seal->ctx)
		return false;
	seal->sealer = s;
	if (s->init(seal->ctx, key, 32, NULL))
		return true;
	seal_end(seal);
	return false;
}

bool seal_add(struct seal *seal, const void *data, size_t bytes)
{
	return seal->sealer->update(seal->ctx, data, bytes);
}

bool seal_matches(struct seal *seal, const uint8_t tag[TAG_SIZE])
{
	uint8_t got[TAG_SIZE];
	unsigned int differ = 0, i;
	size_t size = 0;

	if (!seal->sealer->final(seal->ctx, got, &size, sizeof(got)) || size != TAG_SIZE)
		return false;
	/* In constant time: how long it takes must not tell how much is right. */
	for (i = 0; i < TAG_SIZE; i++)
		differ |= got[i] ^ tag[i];
	return !differ;
}

void seal_end(struct seal *seal)
{
	if (seal->sealer)
		seal->sealer->ctx_free(seal->ctx);
	seal->sealer = NULL;
}
