// SPDX-License-Identifier: GPL-2.0-only
/* What the NNPU kselftests share; see nnpu_test.h. */
#include <fcntl.h>
#include <glob.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

static int plain_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

int (*nnpu_raw_ioctl)(int fd, unsigned long request, void *arg) = plain_ioctl;

/*
 * A call that fails leaves its structure as it was. Not so: where a program is wrong, how a queue
 * is; and what was being copied when that failed.
 */
static bool keeps_when_it_fails(unsigned long request)
{
	unsigned long nr = _IOC_NR(request);

	return _IOC_TYPE(request) == DRM_IOCTL_BASE && nr >= DRM_COMMAND_BASE &&
	       nr < DRM_COMMAND_END && nr != _IOC_NR(DRM_IOCTL_NNPU_PROGRAM_LOAD) &&
	       nr != _IOC_NR(DRM_IOCTL_NNPU_QUEUE_WAIT);
}

int nnpu_ioctl(int fd, unsigned long request, void *arg)
{
	unsigned char before[256];
	size_t size = _IOC_SIZE(request) < sizeof(before) ? _IOC_SIZE(request) : sizeof(before);
	int ret;

	memcpy(before, arg, size);
	do {
		ret = nnpu_raw_ioctl(fd, request, arg);
	} while (ret == -1 && (errno == EINTR || errno == EAGAIN));
	if (ret != -1)
		return 0;
	if (errno != EFAULT && keeps_when_it_fails(request) && memcmp(before, arg, size)) {
		fprintf(stderr, "ioctl %#lx failed (%s) and changed its structure\n", request,
			strerror(errno));
		return -ENOTRECOVERABLE;
	}
	return -errno;
}

static bool is_nnpu(int fd)
{
	char name[32] = "";
	struct drm_version version = {
		.name = name,
		.name_len = sizeof(name) - 1,
	};

	return nnpu_ioctl(fd, DRM_IOCTL_VERSION, &version) == 0 &&
	       strcmp(name, NNPU_DRIVER_NAME) == 0;
}

int nnpu_open_node(const char *node)
{
	int fd = open(node, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (is_nnpu(fd))
		return fd;
	close(fd);
	return -ENODEV;
}

int nnpu_open(void)
{
	static const char * const patterns[] = { "/dev/accel/accel*", "/dev/dri/renderD*" };
	int ret = -ENOENT;
	size_t p, i;

	for (p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		glob_t g;

		if (glob(patterns[p], 0, NULL, &g))
			continue;
		for (i = 0; i < g.gl_pathc; i++) {
			int fd = nnpu_open_node(g.gl_pathv[i]);

			if (fd >= 0) {
				globfree(&g);
				return fd;
			}
			/* What stands in the way of a device, not of somebody else's. */
			if (fd != -ENODEV)
				ret = fd;
		}
		globfree(&g);
	}
	return ret;
}

bool nnpu_device_required(void)
{
	return getenv("NNPU_REQUIRE_DEVICE");
}

int nnpu_bo_create(int fd, uint64_t size, uint32_t *handle)
{
	struct drm_nnpu_bo_create arg = { .size = size, .handle = NNPU_POISON };
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_CREATE, &arg);

	*handle = arg.handle;
	return ret;
}

int nnpu_bo_mmap(int fd, uint32_t handle, uint64_t size, void **map)
{
	struct drm_nnpu_bo_mmap arg = { .handle = handle, .offset = NNPU_POISON };
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_MMAP, &arg);

	if (ret)
		return ret;
	*map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)arg.offset);
	return *map == MAP_FAILED ? -errno : 0;
}

int nnpu_bo_close(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return nnpu_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

uint32_t nnpu_test_ctx;

int nnpu_context_create(int fd, const struct drm_nnpu_context_create *attrs, uint32_t *ctx)
{
	struct drm_nnpu_context_create arg = *attrs;
	int ret;

	arg.ctx = NNPU_POISON;
	ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_CONTEXT_CREATE, &arg);

	*ctx = arg.ctx;
	return ret;
}

int nnpu_context_destroy(int fd, uint32_t ctx)
{
	struct drm_nnpu_context_destroy arg = { .ctx = ctx };

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_CONTEXT_DESTROY, &arg);
}

int nnpu_slot_bind(int fd, uint32_t handle, uint64_t offset, uint64_t size, uint32_t flags,
		   uint32_t *slot)
{
	struct drm_nnpu_slot_bind arg = {
		.handle = handle, .flags = flags, .offset = offset, .size = size,
		.ctx = nnpu_test_ctx, .slot = NNPU_POISON,
	};
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_SLOT_BIND, &arg);

	*slot = arg.slot;
	return ret;
}

int nnpu_slot_unbind(int fd, uint32_t slot)
{
	struct drm_nnpu_slot_unbind arg = { .ctx = nnpu_test_ctx, .slot = slot };

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_SLOT_UNBIND, &arg);
}

int nnpu_query(int fd, uint32_t topic, void *data, uint32_t *size)
{
	struct drm_nnpu_query arg = {
		.topic = topic, .size = *size, .data = (uintptr_t)data,
		.ctx = topic == DRM_NNPU_QUERY_CONTEXT_INFO ? nnpu_test_ctx : 0,
	};
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUERY, &arg);

	*size = arg.size;
	return ret;
}

int nnpu_buf_create(int fd, struct nnpu_buf *buf, uint64_t size, uint32_t slot_flags)
{
	int ret;

	memset(buf, 0, sizeof(*buf));
	buf->size = (size + NNPU_PAGE_SIZE - 1) & ~(uint64_t)(NNPU_PAGE_SIZE - 1);
	ret = nnpu_bo_create(fd, buf->size, &buf->handle);
	if (ret)
		return ret;
	ret = nnpu_bo_mmap(fd, buf->handle, buf->size, &buf->map);
	if (ret)
		goto err_close;
	ret = nnpu_slot_bind(fd, buf->handle, 0, buf->size, slot_flags, &buf->slot);
	if (ret)
		goto err_unmap;
	return 0;

err_unmap:
	munmap(buf->map, buf->size);
err_close:
	nnpu_bo_close(fd, buf->handle);
	return ret;
}

void nnpu_buf_destroy(int fd, struct nnpu_buf *buf)
{
	nnpu_slot_unbind(fd, buf->slot);
	munmap(buf->map, buf->size);
	nnpu_bo_close(fd, buf->handle);
}

int nnpu_syncobj_create(int fd, uint32_t *handle)
{
	struct drm_syncobj_create arg = { 0 };
	int ret = nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg);

	*handle = arg.handle;
	return ret;
}

int nnpu_syncobj_destroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy arg = { .handle = handle };

	return nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &arg);
}

int nnpu_syncobj_wait(int fd, uint32_t handle, unsigned int timeout_ms)
{
	struct drm_syncobj_wait arg = {
		.handles = (uintptr_t)&handle,
		.count_handles = 1,
	};
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	arg.timeout_nsec = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
			   (int64_t)timeout_ms * 1000000;
	return nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &arg);
}

int nnpu_syncobj_status(int fd, uint32_t handle)
{
	struct drm_syncobj_handle arg = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	struct sync_file_info info = { 0 };
	int ret = nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg);

	if (ret)
		return ret;
	ret = nnpu_ioctl(arg.fd, SYNC_IOC_FILE_INFO, &info);
	close(arg.fd);
	return ret ? ret : info.status;
}

int nnpu_syncobj_share(int from, uint32_t handle, int to, uint32_t *shared)
{
	struct drm_syncobj_handle arg = { .handle = handle, .fd = -1 };
	int ret = nnpu_ioctl(from, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg);

	if (ret)
		return ret;
	ret = nnpu_ioctl(to, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arg);
	close(arg.fd);
	*shared = arg.handle;
	return ret;
}

static struct nnpu_tensor_desc *tensor(void *image, unsigned int i)
{
	return (struct nnpu_tensor_desc *)((char *)image + sizeof(struct nnpu_program_header)) + i;
}

/* Header, tensors, commands, indexes and data one behind the other. */
static size_t image_layout(void *image, unsigned int tensors, unsigned int indexes,
			   unsigned int data)
{
	struct nnpu_program_header *h = image;
	size_t pos = sizeof(*h);

	memset(image, 0, NNPU_ADD_IMAGE_SIZE);
	h->magic = NNPU_PROGRAM_MAGIC;
	h->version = NNPU_PROGRAM_VERSION;
	h->header_size = sizeof(*h);
	h->tensor_stride = sizeof(struct nnpu_tensor_desc);
	h->command_stride = sizeof(struct nnpu_command);
	h->tensors_off = pos;
	h->num_tensors = tensors;
	pos += tensors * sizeof(struct nnpu_tensor_desc);
	h->commands_off = pos;
	h->num_commands = 1;
	pos += sizeof(struct nnpu_command);
	h->indexes_off = pos;
	h->num_indexes = indexes;
	pos += (indexes * 4 + 7) & ~7u;
	h->data_off = pos;
	h->data_size = data;
	pos += (data + 7) & ~7u;
	h->size = pos;
	return pos;
}

static void float_tensor(struct nnpu_tensor_desc *t, unsigned int kind, unsigned int rank,
			 const uint32_t *dims)
{
	t->type = NNPU_TYPE_TENSOR_FLOAT32;
	t->kind = kind;
	t->rank = rank;
	memcpy(t->dims, dims, rank * sizeof(*dims));
}

static void int_scalar(void *image, unsigned int i, unsigned int offset, int32_t value)
{
	const struct nnpu_program_header *h = image;
	struct nnpu_tensor_desc *t = tensor(image, i);

	t->type = NNPU_TYPE_INT32;
	t->kind = NNPU_TENSOR_INLINE;
	t->data_off = offset;
	t->data_len = sizeof(value);
	memcpy((char *)image + h->data_off + offset, &value, sizeof(value));
}

size_t nnpu_add_image(void *image, uint32_t count)
{
	static const uint32_t index[] = { 0, 1, 2, 3 };
	struct nnpu_program_header *h = image;
	size_t size = image_layout(image, 4, 4, 8);
	struct nnpu_command *c = (void *)((char *)image + h->commands_off);

	float_tensor(tensor(image, 0), NNPU_TENSOR_INPUT, 1, &count);
	float_tensor(tensor(image, 1), NNPU_TENSOR_INPUT, 1, &count);
	int_scalar(image, 2, 0, 0);
	float_tensor(tensor(image, 3), NNPU_TENSOR_OUTPUT, 1, &count);
	memcpy((char *)image + h->indexes_off, index, sizeof(index));
	h->num_inputs = 2;
	h->inputs_first = 0;
	h->num_outputs = 1;
	h->outputs_first = 3;
	c->opcode = NNPU_OP_ADD;
	c->num_inputs = 3;
	c->num_outputs = 1;
	return size;
}

size_t nnpu_conv_image(void *image, uint32_t size)
{
	/* input, filter, bias, padding, stride w, stride h, activation, output */
	static const uint32_t index[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0, 1 };
	const uint32_t in[] = { 1, size, size, 16 };
	static const uint32_t filter[] = { 16, 3, 3, 16 };
	static const uint32_t channels[] = { 16 };
	struct nnpu_program_header *h = image;
	size_t bytes = image_layout(image, 8, 10, 80);
	struct nnpu_command *c = (void *)((char *)image + h->commands_off);

	float_tensor(tensor(image, 0), NNPU_TENSOR_INPUT, 4, in);
	float_tensor(tensor(image, 1), NNPU_TENSOR_INPUT, 4, filter);
	/* The bias is sixteen zeros behind the scalars. */
	float_tensor(tensor(image, 2), NNPU_TENSOR_INLINE, 1, channels);
	tensor(image, 2)->data_off = 16;
	tensor(image, 2)->data_len = 64;
	int_scalar(image, 3, 0, 1);	/* SAME */
	int_scalar(image, 4, 4, 1);
	int_scalar(image, 5, 8, 1);
	int_scalar(image, 6, 12, 0);
	float_tensor(tensor(image, 7), NNPU_TENSOR_OUTPUT, 4, in);
	memcpy((char *)image + h->indexes_off, index, sizeof(index));
	h->num_inputs = 2;
	h->inputs_first = 8;
	h->num_outputs = 1;
	h->outputs_first = 7;
	c->opcode = NNPU_OP_CONV_2D;
	c->num_inputs = 7;
	c->num_outputs = 1;
	return bytes;
}

int nnpu_program_load(int fd, const void *image, size_t size, uint32_t *program,
		      struct drm_nnpu_program_load *load)
{
	struct drm_nnpu_program_load arg = {
		.image = (uintptr_t)image,
		.image_size = size,
		.ctx = nnpu_test_ctx,
	};
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg);

	*program = arg.program;
	if (load)
		*load = arg;
	return ret;
}

int nnpu_program_unload(int fd, uint32_t program)
{
	struct drm_nnpu_program_unload arg = { .ctx = nnpu_test_ctx, .program = program };

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_PROGRAM_UNLOAD, &arg);
}

/* One buffer: result block, then both inputs, then the output. */
static int job_setup(int fd, struct nnpu_job *job, const void *image, size_t image_size,
		     uint64_t bytes_a, uint64_t bytes_b, uint64_t bytes_out)
{
	const uint64_t lengths[] = { bytes_a, bytes_b, bytes_out };
	uint64_t pos = NNPU_JOB_DATA_OFFSET;
	unsigned int i;
	int ret;

	memset(job, 0, sizeof(*job));
	for (i = 0; i < 3; i++) {
		job->args[i].offset = pos;
		job->args[i].length = lengths[i];
		pos += (lengths[i] + 63) & ~63ull;
	}
	ret = nnpu_buf_create(fd, &job->buf, pos, DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE);
	if (ret)
		return ret;
	ret = nnpu_program_load(fd, image, image_size, &job->program, NULL);
	if (ret)
		goto err_buf;
	ret = nnpu_syncobj_create(fd, &job->syncobj);
	if (ret)
		goto err_program;
	for (i = 0; i < 3; i++)
		job->args[i].slot = job->buf.slot;
	job->out_sync.handle = job->syncobj;
	job->submit = (struct drm_nnpu_submit) {
		.ctx = nnpu_test_ctx,
		.program = job->program,
		.args = (uintptr_t)job->args,
		.num_inputs = 2,
		.num_outputs = 1,
		.arg_stride = sizeof(struct nnpu_arg),
		.priority = DRM_NNPU_PRIORITY_MEDIUM,
		.result_slot = job->buf.slot,
		.result_offset = NNPU_JOB_RESULT_OFFSET,
		.num_out_syncs = 1,
		.sync_stride = sizeof(struct drm_nnpu_sync),
		.out_syncs = (uintptr_t)&job->out_sync,
	};
	return 0;

err_program:
	nnpu_program_unload(fd, job->program);
err_buf:
	nnpu_buf_destroy(fd, &job->buf);
	return ret;
}

int nnpu_job_init(int fd, struct nnpu_job *job, uint32_t count)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t size = nnpu_add_image(image, count);
	uint64_t bytes = (uint64_t)count * sizeof(float);
	int ret = job_setup(fd, job, image, size, bytes, bytes, bytes);

	job->count = count;
	return ret;
}

int nnpu_job_init_slow(int fd, struct nnpu_job *job, uint32_t size)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t image_size = nnpu_conv_image(image, size);
	uint64_t bytes = (uint64_t)size * size * 16 * sizeof(float);

	return job_setup(fd, job, image, image_size, bytes, 16 * 9 * 16 * sizeof(float), bytes);
}

void nnpu_job_fini(int fd, struct nnpu_job *job)
{
	nnpu_syncobj_destroy(fd, job->syncobj);
	nnpu_program_unload(fd, job->program);
	nnpu_buf_destroy(fd, &job->buf);
}

static float *job_data(const struct nnpu_job *job, unsigned int arg)
{
	return (float *)((char *)job->buf.map + job->args[arg].offset);
}

/* Small integers, so that sums are exact. */
static float value(uint32_t seed, uint32_t i, unsigned int arg)
{
	return (float)((seed * 2654435761u + i * 40503u + arg * 7919u) % 1024u);
}

const struct nnpu_args_header *nnpu_job_result(const struct nnpu_job *job)
{
	return (const void *)((char *)job->buf.map + NNPU_JOB_RESULT_OFFSET);
}

void nnpu_job_fill(struct nnpu_job *job, uint32_t seed)
{
	struct nnpu_args_header *result = (void *)((char *)job->buf.map + NNPU_JOB_RESULT_OFFSET);
	uint32_t i;

	for (i = 0; i < job->count; i++) {
		job_data(job, 0)[i] = value(seed, i, 0);
		job_data(job, 1)[i] = value(seed, i, 1);
	}
	memset(job_data(job, 2), 0xa5, job->args[2].length);
	memset(result, 0, sizeof(*result));
	result->status = NNPU_STATUS_PENDING;
}

int nnpu_job_submit(int fd, struct nnpu_job *job)
{
	int ret = 0;

	if (nnpu_needs_sync(fd))
		ret = nnpu_bo_give(fd, job->buf.handle, 0, job->buf.size);
	/* Who has closed the handle has given the buffer before. */
	return ret && ret != -ENOENT ? ret : nnpu_ioctl(fd, DRM_IOCTL_NNPU_SUBMIT, &job->submit);
}

int nnpu_job_wait(int fd, struct nnpu_job *job, unsigned int timeout_ms)
{
	int ret = nnpu_syncobj_wait(fd, job->syncobj, timeout_ms);

	if (!ret && nnpu_needs_sync(fd))
		ret = nnpu_bo_take(fd, job->buf.handle, 0, job->buf.size);
	return ret;
}

bool nnpu_job_correct(const struct nnpu_job *job, uint32_t seed)
{
	uint32_t i;

	if (nnpu_job_result(job)->status != NNPU_STATUS_SUCCESS)
		return false;
	for (i = 0; i < job->count; i++)
		if (job_data(job, 2)[i] != value(seed, i, 0) + value(seed, i, 1))
			return false;
	return true;
}

int nnpu_job_run(int fd, struct nnpu_job *job, uint32_t seed)
{
	int ret;

	nnpu_job_fill(job, seed);
	ret = nnpu_job_submit(fd, job);
	if (ret)
		return ret;
	ret = nnpu_job_wait(fd, job, 60000);
	if (ret)
		return ret;
	return nnpu_job_correct(job, seed) ? 0 : -EBADMSG;
}

int nnpu_close_busy_file(unsigned int spin)
{
	struct nnpu_job job;
	int fd = nnpu_open(), ret;
	unsigned int i;

	if (fd < 0)
		return fd;
	ret = nnpu_job_init(fd, &job, 1);
	if (ret)
		goto out;
	for (i = 0; !ret && i < 24; i++) {
		job.submit.priority = i % 3;
		ret = nnpu_job_submit(fd, &job);
	}
	while (spin--)
		__asm__ volatile("" : : : "memory");
	/* The mapping would keep the file. */
	munmap(job.buf.map, job.buf.size);
out:
	close(fd);
	return ret;
}

int nnpu_debugfs_dir(int fd, char path[NNPU_DEBUGFS_PATH_MAX])
{
	char link[64], device[NNPU_DEBUGFS_PATH_MAX];
	const char *name;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	/* Named after the parent device; a render node's is below dri/. */
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device", major(st.st_rdev),
		 minor(st.st_rdev));
	n = readlink(link, device, sizeof(device) - 1);
	if (n < 0)
		return -errno;
	device[n] = '\0';
	name = strrchr(device, '/');
	name = name ? name + 1 : device;
	snprintf(path, NNPU_DEBUGFS_PATH_MAX, "/sys/kernel/debug/accel/%.64s", name);
	if (access(path, F_OK) == 0)
		return 0;
	snprintf(path, NNPU_DEBUGFS_PATH_MAX, "/sys/kernel/debug/dri/%.64s", name);
	return access(path, F_OK) ? -errno : 0;
}

long nnpu_debugfs_value(int fd, const char *file, const char *name)
{
	char path[NNPU_DEBUGFS_PATH_MAX + 32], dir[NNPU_DEBUGFS_PATH_MAX], line[256], word[64];
	long value, found = -1;
	FILE *f;

	if (nnpu_debugfs_dir(fd, dir))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %li", word, &value) == 2 && !strcmp(word, name))
			found = value;
	fclose(f);
	return found;
}

int nnpu_inject(int fd, unsigned int kind, unsigned int count)
{
	char path[NNPU_DEBUGFS_PATH_MAX + 32], dir[NNPU_DEBUGFS_PATH_MAX], text[32];
	int ret = nnpu_debugfs_dir(fd, dir);
	int file, len;

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/fault_inject", dir);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	len = snprintf(text, sizeof(text), "%u %u\n", kind, count);
	ret = write(file, text, (size_t)len) == len ? 0 : -errno;
	close(file);
	return ret;
}

static int sysfs_open(int fd, const char *name, int flags)
{
	char path[128];
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/%s", major(st.st_rdev),
		 minor(st.st_rdev), name);
	return open(path, flags | O_CLOEXEC);
}

int nnpu_bo_give(int fd, uint32_t handle, uint64_t offset, uint64_t size)
{
	struct drm_nnpu_bo_fini arg = {
		.handle = handle, .flags = DRM_NNPU_BO_WRITE, .offset = offset, .size = size,
	};

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_FINI, &arg);
}

int nnpu_bo_take(int fd, uint32_t handle, uint64_t offset, uint64_t size)
{
	struct drm_nnpu_bo_prep arg = {
		.handle = handle, .flags = DRM_NNPU_BO_READ | DRM_NNPU_BO_NO_WAIT,
		.offset = offset, .size = size,
	};

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_PREP, &arg);
}

bool nnpu_needs_sync(int fd)
{
	static int needs = -1;
	struct drm_nnpu_device_info info = { 0 };
	uint32_t size = sizeof(info);

	/* One machine has devices of one kind. */
	if (needs < 0 && !nnpu_query(fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size))
		needs = info.flags & DRM_NNPU_DEVICE_SYNC;
	return needs > 0;
}

bool nnpu_dma_bounced(void)
{
	FILE *f = fopen("/proc/cmdline", "r");
	char line[4096] = "";
	bool bounced;

	bounced = f && fgets(line, sizeof(line), f) && strstr(line, "swiotlb=force");
	if (f)
		fclose(f);
	return bounced;
}

bool nnpu_sysfs_is(int fd, const char *name, const char *value)
{
	int file = sysfs_open(fd, name, O_RDONLY);
	char text[64] = "";
	ssize_t len;

	if (file < 0)
		return false;
	len = read(file, text, sizeof(text) - 1);
	close(file);
	return len > 0 && (size_t)len == strlen(value) + 1 && !memcmp(text, value, (size_t)len - 1);
}

int nnpu_sysfs_write(int fd, const char *name, const char *value)
{
	int file = sysfs_open(fd, name, O_WRONLY);
	int ret;

	if (file < 0)
		return -errno;
	ret = write(file, value, strlen(value)) < 0 ? -errno : 0;
	close(file);
	return ret;
}

int nnpu_write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	ssize_t written;
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	written = write(fd, text, strlen(text));
	ret = written < 0 ? -errno : written == (ssize_t)strlen(text) ? 0 : -EIO;
	close(fd);
	return ret;
}

int nnpu_driver_write(const char *name, const char *device)
{
	/* The name of a PCI function is its address, DOMAIN:BUS:DEVICE.FUNCTION. */
	bool is_pci = strchr(device, ':');

	return nnpu_write_file(is_pci ? NNPU_DRIVER_DIR : "/sys/bus/platform/drivers/nnpu", name,
			       device);
}

void nnpu_set_parameter(const char *name, unsigned int value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/nnpu/parameters/%s", name);
	f = fopen(path, "w");
	/* Without the right to write them the tests take longer, no more. */
	if (!f)
		return;
	fprintf(f, "%u\n", value);
	fclose(f);
}

void nnpu_set_timeouts(unsigned int hang_ms, unsigned int admin_ms)
{
	nnpu_set_parameter("hang_timeout_ms", hang_ms);
	nnpu_set_parameter("admin_timeout_ms", admin_ms);
}
