/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the NNPU kselftests share: finding the device, thin ioctl wrappers that
 * return 0 or -errno, and a small program to run.
 *
 * The tests use the uapi directly, not libnnhal: they test the driver, and they
 * must be able to hand it what a library never would.
 */
#ifndef NNPU_TEST_H
#define NNPU_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/nnpu_accel.h>

/*
 * The harness, included before, ends a test after 30 seconds. On a busy machine that emulates
 * another one that would judge the machine.
 */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	600
#endif

/* Directory of the driver's debugfs files, found by nnpu_debugfs_dir(). */
#define NNPU_DEBUGFS_PATH_MAX	256

/* Returns a descriptor of this device node or -errno (-ENODEV: another driver's). */
int nnpu_open_node(const char *node);

/* Returns a descriptor of the first NNPU device or -errno (-ENOENT: none). */
int nnpu_open(void);

/* NNPU_REQUIRE_DEVICE is set: no device, or one that lacks something, is a failure, not a skip. */
bool nnpu_device_required(void);

/*
 * Skip a test for want of something that a device or a kernel may lack. Where the device is
 * required that is a failure.
 */
#define NNPU_SKIP(statement, fmt, ...) do {		\
	ASSERT_FALSE(nnpu_device_required()) {		\
		TH_LOG("lacks: " fmt, ##__VA_ARGS__);	\
	}						\
	SKIP(statement, fmt, ##__VA_ARGS__);		\
} while (0)

/*
 * ioctl() that restarts on EINTR and EAGAIN; 0 or -errno. -ENOTRECOVERABLE: a call of the driver
 * failed and changed its structure, which it must not.
 */
int nnpu_ioctl(int fd, unsigned long request, void *arg);
/* What nnpu_ioctl() calls, ioctl() if nobody changes it: -1 and errno, or >= 0. */
extern int (*nnpu_raw_ioctl)(int fd, unsigned long request, void *arg);

/* What the wrappers write into fields that a call fills in: no call may take it for something. */
#define NNPU_POISON	0x5a5a5a

/* The context that the wrappers below name; 0 unless a test changes it. */
extern uint32_t nnpu_test_ctx;

/* CONTEXT_CREATE with these attributes; 0 or -errno. */
int nnpu_context_create(int fd, const struct drm_nnpu_context_create *attrs, uint32_t *ctx);
int nnpu_context_destroy(int fd, uint32_t ctx);

/* A buffer, its mapping and its slot. */
struct nnpu_buf {
	uint32_t handle;
	uint32_t slot;
	uint64_t size;
	void *map;
};

/* Create, map and bind a buffer; 0 or -errno. */
int nnpu_buf_create(int fd, struct nnpu_buf *buf, uint64_t size, uint32_t slot_flags);
void nnpu_buf_destroy(int fd, struct nnpu_buf *buf);

int nnpu_bo_create(int fd, uint64_t size, uint32_t *handle);
int nnpu_bo_mmap(int fd, uint32_t handle, uint64_t size, void **map);
int nnpu_bo_close(int fd, uint32_t handle);
int nnpu_slot_bind(int fd, uint32_t handle, uint64_t offset, uint64_t size, uint32_t flags,
		   uint32_t *slot);
int nnpu_slot_unbind(int fd, uint32_t slot);
int nnpu_query(int fd, uint32_t topic, void *data, uint32_t *size);
/* BO_FINI of what the process wrote; BO_PREP to read what a job that has ended wrote. 0 or -errno. */
int nnpu_bo_give(int fd, uint32_t handle, uint64_t offset, uint64_t size);
int nnpu_bo_take(int fd, uint32_t handle, uint64_t offset, uint64_t size);
/* Do they change what the other side sees? */
bool nnpu_needs_sync(int fd);

int nnpu_syncobj_create(int fd, uint32_t *handle);
int nnpu_syncobj_destroy(int fd, uint32_t handle);
/* Waits at most timeout_ms; 0, -ETIME or another -errno. */
int nnpu_syncobj_wait(int fd, uint32_t handle, unsigned int timeout_ms);
/* Status of the fence: 1 signalled, 0 active, -errno of its error. */
int nnpu_syncobj_status(int fd, uint32_t handle);
/* The same syncobj for another file; 0 or -errno. */
int nnpu_syncobj_share(int from, uint32_t handle, int to, uint32_t *shared);

/*
 * An image of ADD over two float tensors of @count elements: out = a + b.
 * Returns the bytes used; the caller owns the memory (room of NNPU_ADD_IMAGE_SIZE).
 */
#define NNPU_ADD_IMAGE_SIZE	1024
size_t nnpu_add_image(void *image, uint32_t count);

/*
 * An image of CONV_2D of a [1,@size,@size,16] float tensor with sixteen 3x3
 * filters that are the tensor's second input: about 2304 * @size * @size
 * multiplications, to keep the device busy. Room as above.
 */
size_t nnpu_conv_image(void *image, uint32_t size);

/* Load an image; 0 or -errno, @load (may be NULL) gets the whole answer. */
int nnpu_program_load(int fd, const void *image, size_t size, uint32_t *program,
		      struct drm_nnpu_program_load *load);
int nnpu_program_unload(int fd, uint32_t program);

/* A job of two inputs and one output in one buffer, its result and its fence. */
struct nnpu_job {
	struct nnpu_buf buf;
	uint32_t program;
	uint32_t syncobj;
	uint32_t count;
	struct nnpu_arg args[3];
	struct drm_nnpu_submit submit;
	struct drm_nnpu_sync out_sync;
};

/* Offsets in the job's buffer. */
#define NNPU_JOB_RESULT_OFFSET	0u
#define NNPU_JOB_DATA_OFFSET	4096u

/* Load ADD over @count elements and prepare everything to submit it. */
int nnpu_job_init(int fd, struct nnpu_job *job, uint32_t count);
/* The same for a convolution that takes a while. */
int nnpu_job_init_slow(int fd, struct nnpu_job *job, uint32_t size);
void nnpu_job_fini(int fd, struct nnpu_job *job);
/* Fill in the inputs from @seed, poison output and result. */
void nnpu_job_fill(struct nnpu_job *job, uint32_t seed);
/* Where it is needed, the buffer of the job is given before and taken after. */
int nnpu_job_submit(int fd, struct nnpu_job *job);
int nnpu_job_wait(int fd, struct nnpu_job *job, unsigned int timeout_ms);
/* True if the output is the sum and the result block says success. */
bool nnpu_job_correct(const struct nnpu_job *job, uint32_t seed);
const struct nnpu_args_header *nnpu_job_result(const struct nnpu_job *job);
/* fill, submit, wait, check: 0, -errno, or -EBADMSG for wrong results. */
int nnpu_job_run(int fd, struct nnpu_job *job, uint32_t seed);
/*
 * Open a file, submit more jobs than the device takes at a time, of each priority, turn
 * @spin times and close it: the scheduler is at the first, the last or in between.
 */
int nnpu_close_busy_file(unsigned int spin);

/* Path of the debugfs directory of the device; 0 or -errno. */
int nnpu_debugfs_dir(int fd, char path[NNPU_DEBUGFS_PATH_MAX]);
/* The value behind "name" in a debugfs file of the device; -1: there is none. */
long nnpu_debugfs_value(int fd, const char *file, const char *name);
/* Write "kind count" to fault_inject; -EOPNOTSUPP if the device has no injection. */
int nnpu_inject(int fd, unsigned int kind, unsigned int count);

/* The kernel was told to copy whatever a device reads or writes; what the driver says is not asked. */
bool nnpu_dma_bounced(void);

/* Does an attribute of the device, such as "power/runtime_status", say @value? */
bool nnpu_sysfs_is(int fd, const char *name, const char *value);
/* Write an attribute; 0 or -errno. */
int nnpu_sysfs_write(int fd, const char *name, const char *value);

/* Write @text to a file in @dir; 0 or -errno. */
int nnpu_write_file(const char *dir, const char *name, const char *text);
/* The driver of PCI functions. */
#define NNPU_DRIVER_DIR	"/sys/bus/pci/drivers/nnpu"
/* Write the name of a device to attribute "bind" or "unbind" of its bus's driver; 0 or -errno. */
int nnpu_driver_write(const char *name, const char *device);

/* Set a parameter of the module, if that is allowed. */
void nnpu_set_parameter(const char *name, unsigned int value);

/*
 * Shorten the driver's timeouts, so that tests of faults do not spend their time waiting.
 * NNPU_TIMEOUTS_DEFAULT: the values at load.
 */
#define NNPU_TIMEOUTS_SHORT	2000, 3000
#define NNPU_TIMEOUTS_DEFAULT	5000, 10000
void nnpu_set_timeouts(unsigned int hang_ms, unsigned int admin_ms);

#endif /* NNPU_TEST_H */
