// SPDX-License-Identifier: MIT
/*
 * The in-process glue: registered memory as the bus, counters as interrupts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "inproc/inproc.h"
#include "nnpu_hw.h"

#define NS_PER_S	1000000000ll
#define HINT_PAGE	4096u
#define NUM_HINTS	64u

/* A piece of registered memory. Pieces do not overlap; registrations may. */
struct region {
	uintptr_t start;
	size_t len;
	unsigned int access;		/* what one of the registrations allows */
	unsigned int readers;		/* registrations with each access */
	unsigned int writers;
};

/* A file that is registered; under region_lock. */
struct file_region {
	struct file_region *next;
	uintptr_t start;
	size_t len;
	int fd;
	uint64_t offset;
	atomic_uint readers;		/* counted under the lock; they read without it */
};

struct vector {
	uint64_t count;
	int eventfd;			/* -1: none */
};

struct nnpu_inproc {
	struct nnpu_device *dev;
	struct nnpu_inproc_config config;

	/* Held for reading while the device accesses memory. */
	pthread_rwlock_t region_lock;
	struct region *regions;		/* sorted by start */
	size_t num_registered;
	size_t num_regions;
	size_t max_regions;
	struct file_region *files;
	atomic_size_t hints[NUM_HINTS];	/* where region_at() last found a page; may be wrong */

	pthread_mutex_t irq_lock;
	pthread_cond_t irq_cond;
	struct vector *vectors;
};

/* Regions. */

/* Position of the first region that ends after @addr. */
static size_t region_find(const struct nnpu_inproc *ip, uintptr_t addr)
{
	size_t low = 0, high = ip->num_regions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct region *r = &ip->regions[mid];

		/* Written so that a region up to the last address works. */
		if (addr > r->start && addr - r->start >= r->len)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The same. Jobs use few pages, and these again and again: mostly one look is enough. */
static size_t region_at(struct nnpu_inproc *ip, uintptr_t addr)
{
	atomic_size_t *hint = &ip->hints[addr / HINT_PAGE % NUM_HINTS];
	size_t i = atomic_load_explicit(hint, memory_order_relaxed);

	if (i < ip->num_regions && addr - ip->regions[i].start < ip->regions[i].len)
		return i;
	i = region_find(ip, addr);
	atomic_store_explicit(hint, i, memory_order_relaxed);
	return i;
}

/* Pieces that two cuts add. */
#define CUTS	2

/*
 * Room for the pieces of one registration more. Each registration begins one piece and ends one,
 * so there are at most twice as many; to end a registration needs no memory. If parts were taken
 * back there may be more pieces than that. Then there is room for two cuts and for a new piece in
 * each gap, and for two cuts more.
 */
static bool region_reserve(struct nnpu_inproc *ip)
{
	size_t max = ip->max_regions ? ip->max_regions : 16;
	struct region *regions;

	while (max < 2 * (ip->num_registered + 1) + 1 ||
	       max < 2 * (ip->num_regions + CUTS) + 1 + CUTS)
		max *= 2;
	if (max == ip->max_regions)
		return true;
	regions = realloc(ip->regions, max * sizeof(*regions));
	if (!regions)
		return false;
	ip->regions = regions;
	ip->max_regions = max;
	return true;
}

static void region_insert(struct nnpu_inproc *ip, size_t i, const struct region *region)
{
	memmove(&ip->regions[i + 1], &ip->regions[i], (ip->num_regions - i) * sizeof(*region));
	ip->regions[i] = *region;
	ip->num_regions++;
}

static void region_remove(struct nnpu_inproc *ip, size_t i)
{
	ip->num_regions--;
	memmove(&ip->regions[i], &ip->regions[i + 1],
		(ip->num_regions - i) * sizeof(*ip->regions));
}

/* Let a piece begin at @addr, if one has this address inside it. There is room for it. */
static void region_split(struct nnpu_inproc *ip, uintptr_t addr)
{
	size_t i = region_find(ip, addr), first;
	struct region rest;

	if (i == ip->num_regions || ip->regions[i].start >= addr)
		return;
	first = addr - ip->regions[i].start;
	rest = ip->regions[i];
	rest.start = addr;
	rest.len -= first;
	ip->regions[i].len = first;
	region_insert(ip, i + 1, &rest);
}

/* Count a registration in a piece, or its end. */
static void region_count(struct region *r, unsigned int access, unsigned int n)
{
	if (access & NNPU_INPROC_READ)
		r->readers += n;
	if (access & NNPU_INPROC_WRITE)
		r->writers += n;
	r->access = (r->readers ? NNPU_INPROC_READ : 0) | (r->writers ? NNPU_INPROC_WRITE : 0);
}

/* Merge piece @i and the next one if they are adjacent and have the same registrations. */
static void region_merge(struct nnpu_inproc *ip, size_t i)
{
	struct region *r = &ip->regions[i];

	if (i + 1 >= ip->num_regions || r->start + r->len != r[1].start ||
	    r->readers != r[1].readers || r->writers != r[1].writers)
		return;
	r->len += r[1].len;
	region_remove(ip, i + 1);
}

static bool range_is_valid(uintptr_t start, size_t len, unsigned int access)
{
	return len && start + len >= start && access &&
	       !(access & ~(NNPU_INPROC_READ | NNPU_INPROC_WRITE));
}

int nnpu_inproc_register(struct nnpu_inproc *ip, const void *addr, size_t len,
			 unsigned int access)
{
	uintptr_t pos = (uintptr_t)addr, end = pos + len;
	size_t i;

	if (!range_is_valid(pos, len, access))
		return -EINVAL;
	pthread_rwlock_wrlock(&ip->region_lock);
	if (!region_reserve(ip)) {
		pthread_rwlock_unlock(&ip->region_lock);
		return -ENOMEM;
	}
	ip->num_registered++;
	region_split(ip, pos);
	region_split(ip, end);
	for (i = region_find(ip, pos); pos < end; i++) {
		struct region gap = { .start = pos, .len = end - pos };

		if (i < ip->num_regions && ip->regions[i].start < end)
			gap.len = ip->regions[i].start - pos;
		if (gap.len)
			region_insert(ip, i, &gap);
		region_count(&ip->regions[i], access, 1);
		pos += ip->regions[i].len;
	}
	pthread_rwlock_unlock(&ip->region_lock);
	return 0;
}

/* Is all of the range registered with this access? Region lock held. */
static bool range_is_registered(const struct nnpu_inproc *ip, uintptr_t pos, uintptr_t end,
				unsigned int access)
{
	size_t i;

	for (i = region_find(ip, pos); pos < end; i++) {
		if (i == ip->num_regions || ip->regions[i].start > pos ||
		    (ip->regions[i].access & access) != access)
			return false;
		pos = ip->regions[i].start + ip->regions[i].len;
	}
	return true;
}

int nnpu_inproc_unregister(struct nnpu_inproc *ip, const void *addr, size_t len,
			   unsigned int access)
{
	uintptr_t pos = (uintptr_t)addr, end = pos + len;
	size_t i, first;
	int ret = -ENOENT;

	if (!range_is_valid(pos, len, access))
		return -EINVAL;
	pthread_rwlock_wrlock(&ip->region_lock);
	/* That these are the bounds of a registration is not checked, but that there is room. */
	if (!range_is_registered(ip, pos, end, access) || !ip->num_registered ||
	    ip->num_regions + CUTS > ip->max_regions)
		goto out;
	ret = 0;
	ip->num_registered--;
	region_split(ip, pos);
	region_split(ip, end);
	first = i = region_find(ip, pos);
	while (i < ip->num_regions && ip->regions[i].start < end) {
		region_count(&ip->regions[i], access, -1u);
		if (ip->regions[i].access)
			i++;
		else
			region_remove(ip, i);
	}
	/* Backwards: a merge moves the pieces behind it only. */
	for (i++; i-- > (first ? first - 1 : 0);)
		region_merge(ip, i);
out:
	pthread_rwlock_unlock(&ip->region_lock);
	return ret;
}

/* Are all bytes of the range registered for @access? Region lock held. */
static bool range_ok(struct nnpu_inproc *ip, uint64_t addr, size_t len,
		     unsigned int access)
{
	uintptr_t pos = (uintptr_t)addr;
	size_t i;

	if (pos != addr || pos + len < pos)
		return false;
	for (i = region_at(ip, pos); len; i++) {
		const struct region *r = &ip->regions[i];
		size_t room;

		if (i >= ip->num_regions || r->start > pos || !(r->access & access))
			return false;
		room = r->len - (pos - r->start);
		if (room >= len)
			return true;
		pos += room;
		len -= room;
	}
	return true;
}

/* Files. */

int nnpu_inproc_register_file(struct nnpu_inproc *ip, const void *addr, size_t len, int fd,
			      uint64_t offset)
{
	struct file_region *f;

	if (!range_is_valid((uintptr_t)addr, len, NNPU_INPROC_READ))
		return -EINVAL;
	f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct file_region){
		.start = (uintptr_t)addr, .len = len, .fd = fd, .offset = offset,
	};
	atomic_init(&f->readers, 0);
	pthread_rwlock_wrlock(&ip->region_lock);
	f->next = ip->files;
	ip->files = f;
	pthread_rwlock_unlock(&ip->region_lock);
	return 0;
}

void nnpu_inproc_unregister_file(struct nnpu_inproc *ip, const void *addr)
{
	struct file_region **link, *f;

	pthread_rwlock_wrlock(&ip->region_lock);
	link = &ip->files;
	while (*link && (*link)->start != (uintptr_t)addr)
		link = &(*link)->next;
	f = *link;
	if (f)
		*link = f->next;
	pthread_rwlock_unlock(&ip->region_lock);
	/* Acquire: pairs with the end of read_file(). */
	while (f && atomic_load_explicit(&f->readers, memory_order_acquire))
		sched_yield();
	free(f);
}

/* The file that has this range, with a reader more; NULL: there is none. */
static struct file_region *file_at(struct nnpu_inproc *ip, uint64_t addr, size_t len)
{
	struct file_region *f;

	pthread_rwlock_rdlock(&ip->region_lock);
	for (f = ip->files; f; f = f->next)
		if (addr >= f->start && addr - f->start < f->len &&
		    len <= f->len - (addr - f->start))
			break;
	if (f)
		atomic_fetch_add_explicit(&f->readers, 1, memory_order_relaxed);
	pthread_rwlock_unlock(&ip->region_lock);
	return f;
}

/* Not under the lock: a file may take its time. */
static int read_file(struct nnpu_inproc *ip, uint64_t addr, uint8_t *buf, size_t len)
{
	struct file_region *f = file_at(ip, addr, len);
	ssize_t n = 1;

	if (!f)
		return -1;
	while (len && n > 0) {
		n = pread(f->fd, buf, len, (off_t)(f->offset + (addr - f->start)));
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n > 0) {
			addr += (uint64_t)n;
			buf += n;
			len -= (size_t)n;
		}
	}
	atomic_fetch_sub_explicit(&f->readers, 1, memory_order_release);
	return len ? -1 : 0;
}

/* Bus. */

static int bus_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	struct nnpu_inproc *ip = bus;
	bool ok;

	pthread_rwlock_rdlock(&ip->region_lock);
	ok = range_ok(ip, addr, len, NNPU_INPROC_READ);
	if (ok)
		memcpy(buf, (const void *)(uintptr_t)addr, len);
	pthread_rwlock_unlock(&ip->region_lock);
	return ok ? 0 : read_file(ip, addr, buf, len);
}

static int bus_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	struct nnpu_inproc *ip = bus;
	bool ok;

	pthread_rwlock_rdlock(&ip->region_lock);
	ok = range_ok(ip, addr, len, NNPU_INPROC_WRITE);
	if (ok)
		memcpy((void *)(uintptr_t)addr, buf, len);
	pthread_rwlock_unlock(&ip->region_lock);
	return ok ? 0 : -1;
}

static int bus_publish(void *bus, uint64_t addr, const void *buf, size_t len)
{
	struct nnpu_inproc *ip = bus;
	uint8_t *p = (uint8_t *)(uintptr_t)addr;
	uint16_t last;
	bool ok;

	pthread_rwlock_rdlock(&ip->region_lock);
	ok = !((addr + len) & 1) && range_ok(ip, addr, len, NNPU_INPROC_WRITE);
	if (ok) {
		len -= sizeof(last);
		memcpy(p, buf, len);
		memcpy(&last, (const uint8_t *)buf + len, sizeof(last));
		__atomic_store_n((uint16_t *)(void *)(p + len), last, __ATOMIC_RELEASE);
	}
	pthread_rwlock_unlock(&ip->region_lock);
	return ok ? 0 : -1;
}

static void bus_raise_irq(void *bus, unsigned int vector)
{
	struct nnpu_inproc *ip = bus;
	uint64_t one = 1;

	pthread_mutex_lock(&ip->irq_lock);
	ip->vectors[vector].count++;
	/* The write does not block. If the counter is full, it is readable anyway. */
	if (ip->vectors[vector].eventfd >= 0 &&
	    write(ip->vectors[vector].eventfd, &one, sizeof(one)) < 0)
		one = 0;
	pthread_cond_broadcast(&ip->irq_cond);
	pthread_mutex_unlock(&ip->irq_lock);
	if (ip->config.irq)
		ip->config.irq(ip->config.opaque, vector);
}

static uint64_t bus_now_ns(void *bus)
{
	struct timespec now;

	(void)bus;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void bus_log(void *bus, enum nnpu_log_level level, const char *text)
{
	struct nnpu_inproc *ip = bus;

	ip->config.log(ip->config.opaque, level, text);
}

static bool bus_log_wanted(void *bus, enum nnpu_log_level level)
{
	struct nnpu_inproc *ip = bus;

	return ip->config.log && (level == NNPU_LOG_GUEST_ERROR || ip->config.trace);
}

static void bus_thread_begin(void *bus, const char *name)
{
	(void)bus;
	pthread_setname_np(pthread_self(), name);
}

static const struct nnpu_bus_ops bus_ops = {
	.dma_read = bus_read,
	.dma_write = bus_write,
	.dma_publish = bus_publish,
	.raise_irq = bus_raise_irq,
	.now_ns = bus_now_ns,
	.log = bus_log,
	.log_wanted = bus_log_wanted,
	.thread_begin = bus_thread_begin,
};

/* Life. */

void nnpu_inproc_default_config(struct nnpu_inproc_config *config)
{
	*config = (struct nnpu_inproc_config) { 0 };
	nnpu_device_default_props(&config->props);
}

static void inproc_free(struct nnpu_inproc *ip)
{
	struct file_region *f;
	unsigned int i;

	while ((f = ip->files)) {
		ip->files = f->next;
		free(f);
	}
	for (i = 0; ip->vectors && i < ip->config.props.num_vectors; i++)
		if (ip->vectors[i].eventfd >= 0)
			close(ip->vectors[i].eventfd);
	pthread_cond_destroy(&ip->irq_cond);
	pthread_mutex_destroy(&ip->irq_lock);
	pthread_rwlock_destroy(&ip->region_lock);
	free(ip->vectors);
	free(ip->regions);
	free(ip);
}

static struct nnpu_inproc *inproc_alloc(const struct nnpu_inproc_config *config)
{
	struct nnpu_inproc *ip = calloc(1, sizeof(*ip));
	pthread_rwlockattr_t rwattr;
	pthread_condattr_t attr;
	unsigned int i;

	if (!ip)
		return NULL;
	ip->config = *config;
	/* Prefer writers: registration must not starve while the device is busy. */
	pthread_rwlockattr_init(&rwattr);
	pthread_rwlockattr_setkind_np(&rwattr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&ip->region_lock, &rwattr);
	pthread_rwlockattr_destroy(&rwattr);
	pthread_mutex_init(&ip->irq_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ip->irq_cond, &attr);
	pthread_condattr_destroy(&attr);
	ip->vectors = calloc(config->props.num_vectors, sizeof(*ip->vectors));
	if (!ip->vectors) {
		inproc_free(ip);
		return NULL;
	}
	for (i = 0; i < config->props.num_vectors; i++)
		ip->vectors[i].eventfd = -1;
	return ip;
}

struct nnpu_inproc *nnpu_inproc_create(const struct nnpu_inproc_config *config,
				       char *error, size_t size)
{
	struct nnpu_inproc *ip;

	if (nnpu_device_check_props(&config->props, error, size))
		return NULL;
	if (config->props.platform_irq) {
		snprintf(error, size, "platform_irq is set, must be off in-process");
		return NULL;
	}
	ip = inproc_alloc(config);
	if (!ip) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	ip->dev = nnpu_device_create(&config->props, &bus_ops, ip, error, size);
	if (!ip->dev) {
		inproc_free(ip);
		return NULL;
	}
	return ip;
}

void nnpu_inproc_destroy(struct nnpu_inproc *ip)
{
	if (!ip)
		return;
	nnpu_device_destroy(ip->dev);
	inproc_free(ip);
}

struct nnpu_device *nnpu_inproc_device(struct nnpu_inproc *ip)
{
	return ip->dev;
}

/* Registers, doorbells, interrupts. */

uint32_t nnpu_inproc_read32(struct nnpu_inproc *ip, uint32_t offset)
{
	return nnpu_device_reg_read(ip->dev, offset, sizeof(uint32_t));
}

void nnpu_inproc_write32(struct nnpu_inproc *ip, uint32_t offset, uint32_t value)
{
	nnpu_device_reg_write(ip->dev, offset, value, sizeof(uint32_t));
}

void nnpu_inproc_doorbell(struct nnpu_inproc *ip, unsigned int qid, uint32_t offset,
			  uint32_t value)
{
	/* Like writel(): earlier writes are visible to the device first. */
	atomic_thread_fence(memory_order_release);
	nnpu_device_doorbell_write(ip->dev, ((uint64_t)qid << NNPU_PAGE_SHIFT) + offset, value,
				   sizeof(uint32_t));
}

uint64_t nnpu_inproc_irq_count(struct nnpu_inproc *ip, unsigned int vector)
{
	uint64_t count = 0;

	pthread_mutex_lock(&ip->irq_lock);
	if (vector < ip->config.props.num_vectors)
		count = ip->vectors[vector].count;
	pthread_mutex_unlock(&ip->irq_lock);
	return count;
}

int nnpu_inproc_wait_irq(struct nnpu_inproc *ip, unsigned int vector, uint64_t seen,
			 int64_t timeout_ns)
{
	struct timespec until;
	int64_t ns;
	int ret = 0;

	if (vector >= ip->config.props.num_vectors)
		return -EINVAL;
	clock_gettime(CLOCK_MONOTONIC, &until);
	if (timeout_ns > 0) {
		ns = until.tv_nsec + timeout_ns % NS_PER_S;
		until.tv_sec += timeout_ns / NS_PER_S + ns / NS_PER_S;
		until.tv_nsec = ns % NS_PER_S;
	}
	pthread_mutex_lock(&ip->irq_lock);
	while (ip->vectors[vector].count == seen && ret != ETIMEDOUT) {
		if (timeout_ns < 0)
			ret = pthread_cond_wait(&ip->irq_cond, &ip->irq_lock);
		else
			ret = pthread_cond_timedwait(&ip->irq_cond, &ip->irq_lock, &until);
	}
	if (ip->vectors[vector].count != seen)
		ret = 0;
	pthread_mutex_unlock(&ip->irq_lock);
	return -ret;
}

int nnpu_inproc_irq_eventfd(struct nnpu_inproc *ip, unsigned int vector)
{
	int fd;

	if (vector >= ip->config.props.num_vectors)
		return -EINVAL;
	pthread_mutex_lock(&ip->irq_lock);
	if (ip->vectors[vector].eventfd < 0)
		ip->vectors[vector].eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fd = ip->vectors[vector].eventfd;
	if (fd < 0)
		fd = -errno;
	pthread_mutex_unlock(&ip->irq_lock);
	return fd;
}
