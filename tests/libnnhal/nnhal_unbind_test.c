// SPDX-License-Identifier: MIT
/*
 * The device in the process reads a file that does not answer, as one behind FUSE may. Who unbinds
 * memory meanwhile waits for the end of this access. Who binds memory does not, and does not get
 * the number of the slot that is on its way out.
 */
#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burst_waiter.h"
#include "nnpu_hw.h"
#include "transport/transport.h"

#define LIMIT_SECONDS	60
#define SIZE		4096u

struct nnpu_inproc;

static atomic_bool hangs, is_reading;
static __thread bool counts;
static atomic_uint commands;

ssize_t __real_pread(int fd, void *data, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset)
{
	if (hangs)
		is_reading = true;
	while (hangs)
		usleep(1000);
	return __real_pread(fd, data, size, offset);
}

void __real_nnpu_inproc_doorbell(struct nnpu_inproc *ip, unsigned int qid, uint32_t offset,
				 uint32_t value);
void __wrap_nnpu_inproc_doorbell(struct nnpu_inproc *ip, unsigned int qid, uint32_t offset,
				 uint32_t value);
void __wrap_nnpu_inproc_doorbell(struct nnpu_inproc *ip, unsigned int qid, uint32_t offset,
				 uint32_t value)
{
	__real_nnpu_inproc_doorbell(ip, qid, offset, value);
	if (counts && !qid && offset == NNPU_DB_SQ_TAIL)
		commands++;
}

struct caller {
	struct transport *t;
	struct transport_bo bo;
	int fd;
	uint32_t slot;
	int err;
	atomic_bool done;
	pthread_t thread;
};

static void *unbind(void *data)
{
	struct caller *c = data;

	counts = true;
	c->t->ops->bo_destroy(c->t, &c->bo);
	c->done = true;
	return NULL;
}

static void *bind_memory(void *data)
{
	struct caller *c = data;

	c->err = c->t->ops->bo_create(c->t, SIZE, &c->bo);
	c->slot = c->bo.slot;
	c->done = true;
	return NULL;
}

static void *bind_another_file(void *data)
{
	struct caller *c = data;

	c->err = c->t->ops->bind_file(c->t, c->fd, 0, SIZE, &c->slot);
	c->done = true;
	return NULL;
}

static bool comes(atomic_bool *what)
{
	unsigned int i;

	for (i = 0; i < LIMIT_SECONDS * 1000 && !*what; i++)
		usleep(1000);
	return *what;
}

/* Have the device read the file, and wait until it does. */
static struct transport_fence *read_slowly(struct transport *t, uint32_t from, uint32_t to)
{
	struct nnpu_arg args[2] = {
		{ .slot = htole32(from), .length = htole64(SIZE) },
		{ .slot = htole32(to), .length = htole64(SIZE) },
	};
	struct transport_job job = {
		.is_copy = true, .args = args, .num_inputs = 1, .num_outputs = 1,
		.result_slot = NNPU_SLOT_NONE,
	};

	die_if(t->ops->fence_create(t, &job.fence), "fence");
	hangs = true;
	die_if(t->ops->submit(t, &job), "submit");
	die_if(!comes(&is_reading), "the device reads the file");
	return job.fence;
}

int main(void)
{
	struct caller out = { 0 }, in = { 0 }, file = { 0 };
	struct transport_fence *fence;
	struct transport_bo to;
	struct transport *t;
	uint32_t from, first, slot;
	unsigned int i;
	int fd;

	die_if(transport_sim_open("", &t, NULL), "open");
	fd = memfd_create("slow", MFD_CLOEXEC);
	die_if(fd < 0 || ftruncate(fd, SIZE) || pwrite(fd, "words", 5, 0) != 5, "file");
	die_if(t->ops->bind_file(t, fd, 0, SIZE, &from) || t->ops->bo_create(t, SIZE, &to) ||
	       t->ops->bo_create(t, SIZE, &out.bo), "slots");
	slot = out.bo.slot;
	fence = read_slowly(t, from, to.slot);
	out.t = in.t = file.t = t;
	file.fd = fd;
	pthread_create(&out.thread, NULL, unbind, &out);
	for (i = 0; i < LIMIT_SECONDS * 1000 && !commands; i++)
		usleep(1000);
	ok(commands == 1 && !out.done, "who unbinds a slot waits for who reads another one");
	pthread_create(&in.thread, NULL, bind_memory, &in);
	ok(comes(&in.done) && !in.err, "a buffer is bound meanwhile");
	pthread_create(&file.thread, NULL, bind_another_file, &file);
	ok(comes(&file.done) && !file.err, "a file is bound meanwhile");
	ok(in.done && file.done && in.slot != slot && file.slot != slot && in.slot != file.slot,
	   "neither gets the slot that is on its way out");
	hangs = false;
	pthread_join(out.thread, NULL);
	pthread_join(in.thread, NULL);
	pthread_join(file.thread, NULL);
	ok(out.done, "the slot is unbound when the file has answered");
	ok(!t->ops->wait(t, &fence, 1, -1, &first) && !t->ops->fence_error(t, fence) &&
	   !memcmp(to.map, "words", 5), "what was read is right");
	t->ops->bo_destroy(t, &in.bo);
	t->ops->unbind(t, file.slot);
	die_if(t->ops->bo_create(t, SIZE, &in.bo), "a buffer at last");
	ok(in.bo.slot == slot, "now the slot can be used again");
	t->ops->bo_destroy(t, &in.bo);
	t->ops->bo_destroy(t, &to);
	t->ops->unbind(t, from);
	t->ops->fence_destroy(t, fence);
	t->ops->close(t);
	close(fd);
	return tap_done();
}
