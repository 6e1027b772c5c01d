// SPDX-License-Identifier: MIT
/*
 * The files of a cache.
 *
 * The model file has a header, the rules for requests, the program image and a sum, which
 * authenticates all of it. The header has the seal of the constants, those in the data file, too:
 * the device compares it while it loads them. The keys of sum and seal are made of a salt, other
 * ones each time, of the caller's key and token, and of all that must be the same where the content
 * is used. So a file that is changed, cut, of another token, device or build has a wrong sum or a
 * wrong seal, and that is all there is to know about it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/build_id.h"
#include "base/diag.h"
#include "cache/cache_files.h"
#include "cache/saved_image.h"

#define MAGIC		UINT64_C(0x324548434143504e)	/* "NPCACHE2" */
#define KEY_MAX		256u
/* No more is read; what is written is smaller. */
#define MODEL_FILE_MAX	(UINT64_C(256) << 20)
#define DATA_FILE_MAX	(UINT64_C(4) << 30)

struct header {
	__le64 magic;
	__le64 rules_size;		/* multiple of 8 */
	__le64 image_size;
	__le64 data_size;
	uint8_t salt[CRYPTO_TAG_SIZE];	/* random, another one each time */
	uint8_t seal[CRYPTO_SEAL_SIZE];	/* see struct nnpu_seal */
};

/* The keys of a file. */
struct file_keys {
	uint8_t sum[CRYPTO_TAG_SIZE];	/* CRYPTO_SUM_SIZE bytes of it */
	uint8_t seal[CRYPTO_SEAL_KEY_SIZE];
};

/* What two programs must have in common to share a cache. */
struct identity {
	uint8_t token[NNHAL_CACHE_TOKEN_SIZE];
	char device[64];
	char version[192];		/* library, driver, firmware */
	uint8_t library[BUILD_ID_MAX];
	uint8_t driver[BUILD_ID_MAX];
	uint8_t firmware[32];
	__le32 hw_version;
	__le32 encodings;
};

bool cache_is_given(const struct nnhal_cache *cache)
{
	static const struct nnhal_cache none = NNHAL_CACHE_INIT;
	struct nnhal_cache c;

	/* One of a wrong size is one: it is refused later. */
	return cache && (!options_read(&c, cache, &none, key_size) ||
			 c.num_model_cache || c.num_data_cache);
}

static bool derive_key(struct cache_files *files, struct nnhal_device *device,
		       const struct nnhal_cache *cache)
{
	struct identity id;

	memset(&id, 0, sizeof(id));
	memcpy(id.token, cache->token, sizeof(id.token));
	memcpy(id.device, device->transport->identify.name, sizeof(id.device));
	memcpy(id.version, device->version, sizeof(id.version));
	build_id_own(id.library);
	memcpy(id.driver, device->transport->build_id, sizeof(id.driver));
	memcpy(id.firmware, device->transport->identify.build, sizeof(id.firmware));
	id.hw_version = device->transport->identify.version;
	id.encodings = device->transport->identify.encodings;
	return crypto_authenticate(files->crypto, cache->key_size ? cache->key : "",
				   cache->key_size, &id, sizeof(id), files->key);
}

/* The key for @use, with the salt of this header. */
static bool derive_file_key(const struct cache_files *files, const struct header *header,
			    uint8_t use, uint8_t key[CRYPTO_TAG_SIZE])
{
	uint8_t text[CRYPTO_TAG_SIZE + 1];

	memcpy(text, header->salt, CRYPTO_TAG_SIZE);
	text[CRYPTO_TAG_SIZE] = use;
	return crypto_authenticate(files->crypto, files->key, sizeof(files->key), text,
				   sizeof(text), key);
}

static bool derive_file_keys(const struct cache_files *files, const struct header *header,
			     struct file_keys *keys)
{
	_Static_assert(CRYPTO_SEAL_KEY_SIZE == CRYPTO_TAG_SIZE, "a tag is a key");
	_Static_assert(CRYPTO_SUM_SIZE <= CRYPTO_TAG_SIZE, "has room");
	return derive_file_key(files, header, 's', keys->sum) &&
	       derive_file_key(files, header, 'c', keys->seal);
}

/* The only descriptor of the only handle, our own copy of it. */
static enum nnhal_status take_handle(const struct nnhal_cache_handle *handles, int *copy,
				     struct nnhal_diag *diag)
{
	struct nnhal_cache_handle handle = handles[0];
	int fd = handle.num_fds == 1 && handle.fds ? handle.fds[0] : -1, mode;

	if (fd < 0) {
		diag_set(diag, "a file of a cache needs one descriptor");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	mode = fcntl(fd, F_GETFL);
	*copy = mode < 0 || (mode & O_ACCMODE) != O_RDWR ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*copy >= 0)
		return NNHAL_STATUS_NONE;
	diag_set(diag, "a file of a cache is not open for reading and writing");
	return NNHAL_STATUS_GENERAL_FAILURE;
}

static enum nnhal_status check_counts(const struct nnhal_cache *cache, struct nnhal_diag *diag)
{
	if (cache->num_model_cache != CACHE_MODEL_FILES ||
	    cache->num_data_cache != CACHE_DATA_FILES) {
		diag_set(diag, "%u and %u files of a cache, expected %u and %u",
			 cache->num_model_cache, cache->num_data_cache, CACHE_MODEL_FILES,
			 CACHE_DATA_FILES);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!cache->model_cache || !cache->data_cache || !cache->token ||
	    cache->key_size > KEY_MAX || (cache->key_size && !cache->key)) {
		diag_set(diag, "cache without files or token, or with a key that is none");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status cache_files_open(struct cache_files *files, struct nnhal_device *device,
				   const struct nnhal_cache *given, struct nnhal_diag *diag)
{
	static const struct nnhal_cache none = NNHAL_CACHE_INIT;
	enum nnhal_status status;
	struct nnhal_cache cache;

	*files = (struct cache_files)CACHE_FILES_NONE;
	if (!given || !options_read(&cache, given, &none, key_size)) {
		diag_set(diag, "no cache, or one of a wrong size");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	files->crypto = device_crypto(device);
	if (!files->crypto) {
		diag_set(diag, "the device saves no programs, or there is no libcrypto");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	status = check_counts(&cache, diag);
	if (!status)
		status = take_handle(cache.model_cache, &files->model, diag);
	if (!status)
		status = take_handle(cache.data_cache, &files->data, diag);
	if (!status && !derive_key(files, device, &cache)) {
		diag_set(diag, "libcrypto fails");
		status = NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (status)
		cache_files_close(files);
	return status;
}

void cache_files_close(struct cache_files *files)
{
	if (files->model >= 0)
		close(files->model);
	if (files->data >= 0)
		close(files->data);
	*files = (struct cache_files)CACHE_FILES_NONE;
}

/* To write beyond the limit of the process would be a signal, which ends it. */
static bool may_write(uint64_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/* At its place, whatever the position of the descriptor is, which others may share. */
static bool write_all(int fd, const void *from, uint64_t size)
{
	const uint8_t *bytes = from;
	uint64_t at = 0;
	ssize_t n;

	while (at < size) {
		n = pwrite(fd, bytes + at, size - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

static bool read_all(int fd, void *to, uint64_t size)
{
	uint8_t *bytes = to;
	uint64_t at = 0;
	ssize_t n;

	while (at < size) {
		n = pread(fd, bytes + at, size - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

/* Size of a file; false: it is no file that has one, or it is too large. */
static bool file_size(int fd, uint64_t max, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > max)
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

/* Into @file of @size, with room for the sum. Of the bytes in memory: the files may change. */
static bool fill_model(const struct cache_files *files, const struct cache_content *content,
		       uint64_t rules, uint8_t *file, uint64_t size)
{
	struct header header = {
		.magic = htole64(MAGIC), .rules_size = htole64(rules),
		.image_size = htole64(content->image_size),
		.data_size = htole64(content->data_size),
	};
	struct file_keys keys;

	memcpy(file + sizeof(header), content->rules, content->rules_size);
	memcpy(file + sizeof(header) + rules, content->image, content->image_size);
	if (getrandom(header.salt, sizeof(header.salt), 0) != sizeof(header.salt) ||
	    !derive_file_keys(files, &header, &keys) ||
	    !saved_image_seal(files->crypto, content, keys.seal, header.seal))
		return false;
	memcpy(file, &header, sizeof(header));
	return crypto_sum(files->crypto, keys.sum, file, size, file + size);
}

void cache_files_write(const struct cache_files *files, const struct cache_content *content)
{
	uint64_t rules = round_up_u64(content->rules_size, 8);
	uint64_t size = sizeof(struct header) + rules + content->image_size;
	uint64_t old;
	uint8_t *file;

	/* First take away what was there: new data does not fit an old model. */
	if (!file_size(files->model, INT64_MAX, &old) || ftruncate(files->model, 0) ||
	    !file_size(files->data, INT64_MAX, &old) || ftruncate(files->data, 0) ||
	    size > MODEL_FILE_MAX || content->data_size > DATA_FILE_MAX ||
	    !may_write(size + CRYPTO_SUM_SIZE) || !may_write(content->data_size))
		return;
	file = calloc(1, size + CRYPTO_SUM_SIZE);
	if (!file)
		return;
	if (fill_model(files, content, rules, file, size) &&
	    write_all(files->data, content->data, content->data_size) &&
	    write_all(files->model, file, size + CRYPTO_SUM_SIZE)) {
		free(file);
		return;
	}
	free(file);
	if (ftruncate(files->model, 0) || ftruncate(files->data, 0))
		return;		/* what is there has no sum */
}

static enum nnhal_status refused(struct nnhal_diag *diag, const char *why)
{
	diag_set(diag, "cache: %s", why);
	return NNHAL_STATUS_GENERAL_FAILURE;
}

static enum nnhal_status no_memory(struct nnhal_diag *diag)
{
	diag_set(diag, "no memory to read a cache");
	return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* The sum of what was read, @size bytes before it; the keys with it. */
static bool sum_matches(const struct cache_files *files, const uint8_t *file, uint64_t size,
			struct cache_content *content, struct header *header)
{
	uint8_t sum[CRYPTO_SUM_SIZE];
	struct file_keys keys;

	memcpy(header, file, sizeof(*header));
	if (!derive_file_keys(files, header, &keys) ||
	    !crypto_sum(files->crypto, keys.sum, file, size, sum) ||
	    !crypto_equal(sum, file + size, sizeof(sum)))
		return false;
	memcpy(content->seal_key, keys.seal, sizeof(keys.seal));
	memcpy(content->seal, header->seal, sizeof(header->seal));
	return true;
}

static enum nnhal_status read_model(const struct cache_files *files,
				    struct cache_content *content, struct header *header,
				    struct nnhal_diag *diag)
{
	uint64_t size, rules, image;

	if (!file_size(files->model, MODEL_FILE_MAX, &size) ||
	    size < sizeof(*header) + CRYPTO_SUM_SIZE)
		return refused(diag, "the model file is none");
	content->block = malloc(size);
	if (!content->block)
		return no_memory(diag);
	if (!read_all(files->model, content->block, size))
		return refused(diag, "the model file cannot be read");
	size -= CRYPTO_SUM_SIZE;
	if (!sum_matches(files, content->block, size, content, header))
		return refused(diag, "the model file is not what was saved here");
	/* It was written by us, or by somebody who knows key and token: look at it all the same. */
	rules = le64toh(header->rules_size);
	image = le64toh(header->image_size);
	size -= sizeof(*header);
	if (le64toh(header->magic) != MAGIC || rules > size || image != size - rules || rules & 7)
		return refused(diag, "the model file is malformed");
	content->rules = content->block + sizeof(*header);
	content->rules_size = rules;
	content->image = content->rules + rules;
	content->image_size = image;
	return NNHAL_STATUS_NONE;
}

/* What is in it the device checks. */
static enum nnhal_status open_data(const struct cache_files *files,
				   struct cache_content *content, const struct header *header,
				   struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .fd = files->data,
		.access = NNHAL_MEMORY_READ,
	};
	enum nnhal_status status;
	uint64_t size;

	if (!file_size(files->data, DATA_FILE_MAX, &size) || size != le64toh(header->data_size))
		return refused(diag, "the data file is not what was saved here");
	content->data_size = size;
	desc.size = size;
	if (!size)
		return NNHAL_STATUS_NONE;
	status = nnhal_memory_import(&desc, &content->data_file, diag);
	/* It has become shorter since. */
	return status == NNHAL_STATUS_INVALID_ARGUMENT ? NNHAL_STATUS_GENERAL_FAILURE : status;
}

enum nnhal_status cache_files_read(const struct cache_files *files,
				   struct cache_content *content, struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct header header;

	memset(content, 0, sizeof(*content));
	status = read_model(files, content, &header, diag);
	if (!status)
		status = open_data(files, content, &header, diag);
	if (status)
		cache_content_fini(content);
	return status;
}

void cache_content_fini(struct cache_content *content)
{
	nnhal_memory_unref(content->data_file);
	free(content->block);
	memset(content, 0, sizeof(*content));
}
