// SPDX-License-Identifier: MIT
/*
 * Caches of compilations: files in a folder of the caller, named for the device and the token.
 *
 * libnnhal authenticates what is in them. A cache is written under names that nobody else has, and gets its
 * own when it is whole: others see all of a file or none of it. The two files of a cache belong
 * together; if they do not, libnnhal does not take them.
 */
#include <fcntl.h>
#include <nnhal/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/ndk_compilation.h"

#define MAX_FILES	8

/* The files of a cache, open. */
struct files {
	uint32_t num_model, num_data;
	int fds[MAX_FILES];
	char *paths[MAX_FILES];
	char *temporary[MAX_FILES];
};

static uint32_t num_files(const struct files *f)
{
	return f->num_model + f->num_data;
}

static void close_files(struct files *f, bool keep)
{
	for (uint32_t i = 0; i < num_files(f); i++) {
		if (f->fds[i] >= 0)
			close(f->fds[i]);
		if (f->temporary[i] && (!keep || rename(f->temporary[i], f->paths[i])))
			unlink(f->temporary[i]);
		free(f->temporary[i]);
		free(f->paths[i]);
	}
}

/* libnnhal leaves the files empty if it cannot save the model, or not all of it. */
static bool is_written(const struct files *f)
{
	struct stat st;

	return !fstat(f->fds[0], &st) && st.st_size > 0;
}

/* The name of a device may have any byte in it. */
static void append_name(char *to, const char *name)
{
	to += strlen(to);
	for (; *name; name++)
		*to++ = *name == '/' ? '_' : *name;
	*to = '\0';
}

static char *path_of(const ANeuralNetworksCompilation *c, const uint8_t *token,
		     const char *device, uint32_t number)
{
	size_t size = strlen(c->cache_dir) + strlen(device) + 2 * sizeof(c->token) + 32;
	char *path = malloc(size);
	size_t at;

	if (!path)
		return NULL;
	sprintf(path, "%s/", c->cache_dir);
	append_name(path, device);
	at = strlen(path);
	path[at++] = '-';
	for (unsigned int i = 0; i < sizeof(c->token); i++)
		at += (size_t)sprintf(path + at, "%02x", token[i]);
	snprintf(path + at, size - at, ".%u", number);
	return path;
}

/* The files as they are there; false: not all of them are. */
static bool open_files(struct files *f)
{
	for (uint32_t i = 0; i < num_files(f); i++) {
		f->fds[i] = open(f->paths[i], O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (f->fds[i] < 0)
			return false;
	}
	return true;
}

/* New ones; false: the folder does not take them. */
static bool make_files(struct files *f)
{
	for (uint32_t i = 0; i < num_files(f); i++) {
		if (f->fds[i] >= 0)
			close(f->fds[i]);
		f->fds[i] = -1;
		if (asprintf(&f->temporary[i], "%s.XXXXXX", f->paths[i]) < 0) {
			f->temporary[i] = NULL;
			return false;
		}
		f->fds[i] = mkostemp(f->temporary[i], O_CLOEXEC);
		if (f->fds[i] < 0) {
			free(f->temporary[i]);
			f->temporary[i] = NULL;
			return false;
		}
	}
	return true;
}

static bool name_files(struct files *f, const ANeuralNetworksCompilation *c,
		       const struct ndk_cached *what)
{
	const char *name;
	uint32_t i;

	memset(f, 0, sizeof(*f));
	memset(f->fds, 0xff, sizeof(f->fds));
	if (nnhal_device_get_number_of_cache_files_needed(what->open, &f->num_model, &f->num_data) ||
	    !num_files(f) || num_files(f) > MAX_FILES ||
	    ANeuralNetworksDevice_getName(what->device, &name)) {
		f->num_model = 0;
		f->num_data = 0;
		return false;
	}
	for (i = 0; i < num_files(f); i++) {
		f->paths[i] = path_of(c, what->token, name, i);
		if (!f->paths[i])
			return false;
	}
	return true;
}

static void fill_cache(struct nnhal_cache *cache, struct nnhal_cache_handle *handles,
		       const struct files *f, const uint8_t *token)
{
	for (uint32_t i = 0; i < num_files(f); i++)
		handles[i] = (struct nnhal_cache_handle){ &f->fds[i], 1 };
	cache->model_cache = handles;
	cache->num_model_cache = f->num_model;
	cache->data_cache = handles + f->num_model;
	cache->num_data_cache = f->num_data;
	cache->token = token;
}

/* One of four numbers of 64 bits, into which @word was mixed: the finalizer of MurmurHash3. */
static uint64_t mix(uint64_t number, uint64_t word)
{
	number ^= word;
	number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
	number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return number ^ number >> 33;
}

/* Nobody is kept from forging a token: libnnhal authenticates the files. */
void ndk_step_token(const uint8_t *token, const uint32_t *operations, uint32_t count,
		    uint8_t *step_token)
{
	uint64_t numbers[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN / sizeof(uint64_t)];
	uint32_t i, k;

	memcpy(numbers, token, sizeof(numbers));
	for (i = 0; i < count; i++)
		for (k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			numbers[k] = mix(numbers[k], (uint64_t)k << 32 | operations[i]);
	memcpy(step_token, numbers, sizeof(numbers));
}

enum nnhal_status ndk_prepare_cached(const ANeuralNetworksCompilation *compilation,
				     const struct ndk_cached *what,
				     struct nnhal_prepare_options *options,
				     struct nnhal_prepared_model **prepared)
{
	struct nnhal_cache_handle handles[MAX_FILES];
	struct nnhal_cache cache = NNHAL_CACHE_INIT;
	enum nnhal_status status;
	bool named, made = false;
	struct files f;

	named = name_files(&f, compilation, what);
	if (named && open_files(&f)) {
		fill_cache(&cache, handles, &f, what->token);
		status = nnhal_device_prepare_model_from_cache_sync(what->open, &cache, options,
								    prepared);
		if (!status) {
			close_files(&f, false);
			return status;
		}
	}
	made = named && make_files(&f);
	if (made) {
		fill_cache(&cache, handles, &f, what->token);
		options->cache = &cache;
	}
	status = nnhal_device_prepare_model_sync(what->open, what->model, options, prepared);
	options->cache = NULL;
	close_files(&f, made && !status && is_written(&f));
	return status;
}
