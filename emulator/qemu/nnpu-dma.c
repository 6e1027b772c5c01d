// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access to guest memory by the threads of a device.
 *
 * Translating an address takes longer than most copies. Nearly all accesses go to one
 * region of RAM, so each thread caches it: its window. The window is valid as long as the
 * address space has the same FlatView. A FlatView never changes; a change of the memory map
 * makes a new one. The window holds a reference to its FlatView, so the new one has another
 * address.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/lockable.h"
#include "qemu/rcu.h"
#include "qemu/sys_membarrier.h"
#include "qemu/units.h"
#include "exec/memory.h"

#include "nnpu-dma.h"

/* A window begins at a multiple of this if possible, and ends where the RAM ends. */
#define WINDOW_ALIGN	(2 * MiB)
#define WINDOW_MAX	(1ull << 40)

static const MemTxAttrs dma_attrs = { .memory = 1 };

static __thread struct {
	MemoryRegionCache cache;	/* no region: no window */
	hwaddr base;
} window;

static __thread NnpuDmaThread self;

static void window_close(void)
{
	address_space_cache_destroy(&window.cache);
	window.cache = MEMORY_REGION_CACHE_INVALID;
}

/* Open a window from @base on. False: it would not cover @addr. */
static bool window_open(AddressSpace *as, hwaddr base, hwaddr addr)
{
	address_space_cache_init(&window.cache, as, base, WINDOW_MAX, true);
	window.base = base;
	if (window.cache.ptr && addr - base < window.cache.len)
		return true;
	window_close();
	return false;
}

/*
 * Guest memory at @addr if the window covers all of it, else NULL. No RCU critical section
 * is needed for this or for the access: the window holds references to its region and
 * FlatView, and the pointer to the current FlatView is only compared.
 */
static inline uint8_t *window_hit(AddressSpace *as, hwaddr addr, hwaddr len)
{
	hwaddr offset = addr - window.base;

	if (unlikely(window.cache.fv != address_space_to_flatview(as) || !window.cache.ptr ||
		     len > window.cache.len || offset > window.cache.len - len))
		return NULL;
	return (uint8_t *)window.cache.ptr + offset;
}

/* Invalidate code that was translated from the written range. This needs RCU. */
static inline void window_written(hwaddr addr, hwaddr len)
{
	RCU_READ_LOCK_GUARD();
	address_space_cache_invalidate(&window.cache, addr - window.base, len);
}

/* Memory at @addr through the window, moved if necessary. *@len is cut. NULL: no RAM. */
static void *window_find(AddressSpace *as, hwaddr addr, hwaddr *len)
{
	if (!window_hit(as, addr, 1)) {
		window_close();
		if (!window_open(as, QEMU_ALIGN_DOWN(addr, WINDOW_ALIGN), addr) &&
		    !window_open(as, addr, addr))
			return NULL;
	}
	*len = MIN(*len, window.cache.len - (addr - window.base));
	return (uint8_t *)window.cache.ptr + (addr - window.base);
}

/*
 * The same for an address that an IOMMU translates, or memory that is not writable: looked
 * up each time. The caller stays in an RCU critical section until the memory is unmapped.
 */
static void *map(AddressSpace *as, hwaddr addr, hwaddr *len, bool is_write)
{
	MemoryRegion *mr;
	hwaddr offset;

	mr = address_space_translate(as, addr, &offset, len, is_write, dma_attrs);
	if (!*len || !memory_access_is_direct(mr, is_write))
		return NULL;
	memory_region_ref(mr);
	return qemu_map_ram_ptr(mr->ram_block, offset);
}

/*
 * A contiguous piece of memory that is accessed. piece_begin() cuts @len to what is
 * contiguous; piece_end() marks what was written as dirty and invalidates translated code.
 */
struct piece {
	AddressSpace *as;
	hwaddr addr;
	hwaddr len;
	bool is_write;
	bool mapped;
	uint8_t *host;
};

static bool piece_begin(struct piece *p)
{
	p->host = window_find(p->as, p->addr, &p->len);
	p->mapped = !p->host;
	if (p->mapped)
		p->host = map(p->as, p->addr, &p->len, p->is_write);
	return p->host;
}

static void piece_end(struct piece *p)
{
	if (p->mapped)
		address_space_unmap(p->as, p->host, p->len, p->is_write, p->len);
	else if (p->is_write)
		window_written(p->addr, p->len);
}

static void dma_end(void)
{
	qatomic_store_release(&self.active, false);
}

/*
 * False: the device is being reset or stands still. The store to @active must be visible before
 * this and the memory map are read: pairs with smp_mb_global() in nnpu_dma_withdraw(). As with
 * RCU the rare side pays for both barriers, because an access takes hardly longer than a barrier.
 */
static bool dma_begin(NnpuDma *dma)
{
	qatomic_set(&self.active, true);
	smp_mb_placeholder();
	if (likely(nnpu_device_may_access(dma->device)))
		return true;
	dma_end();
	return false;
}

void nnpu_dma_withdraw(NnpuDma *dma)
{
	/* What the caller has changed is visible before @active is read: pairs with dma_begin(). */
	smp_mb_global();
}

bool nnpu_dma_is_busy(NnpuDma *dma)
{
	NnpuDmaThread *thread;

	QEMU_LOCK_GUARD(&dma->lock);
	QLIST_FOREACH(thread, &dma->threads, next)
		if (qatomic_load_acquire(&thread->active))
			return true;
	return false;
}

void nnpu_dma_wait_idle(NnpuDma *dma)
{
	NnpuDmaThread *thread;

	nnpu_dma_withdraw(dma);
	QEMU_LOCK_GUARD(&dma->lock);
	QLIST_FOREACH(thread, &dma->threads, next)
		while (qatomic_load_acquire(&thread->active))
			g_thread_yield();
}

static int dma_copy(NnpuDma *dma, uint64_t addr, uint8_t *buf, size_t len, bool is_write)
{
	RCU_READ_LOCK_GUARD();
	while (len) {
		struct piece p = { .as = dma->as, .addr = addr, .len = len, .is_write = is_write };

		if (!piece_begin(&p))
			return -1;
		if (is_write)
			memcpy(p.host, buf, p.len);
		else
			memcpy(buf, p.host, p.len);
		piece_end(&p);
		addr += p.len;
		buf += p.len;
		len -= p.len;
	}
	return 0;
}

int nnpu_dma_read(NnpuDma *dma, uint64_t addr, void *buf, size_t len)
{
	uint8_t *host;
	int ret = 0;

	if (!dma_begin(dma))
		return -1;
	host = window_hit(dma->as, addr, len);
	if (likely(host))
		memcpy(buf, host, len);
	else
		ret = dma_copy(dma, addr, buf, len, false);
	dma_end();
	return ret;
}

int nnpu_dma_write(NnpuDma *dma, uint64_t addr, const void *buf, size_t len)
{
	uint8_t *host;
	int ret = 0;

	if (!dma_begin(dma))
		return -1;
	host = window_hit(dma->as, addr, len);
	if (likely(host)) {
		memcpy(host, buf, len);
		window_written(addr, len);
	} else {
		ret = dma_copy(dma, addr, (uint8_t *)buf, len, true);
	}
	dma_end();
	return ret;
}

static inline void publish(uint8_t *host, const uint8_t *buf, size_t len)
{
	uint16_t last;

	len -= sizeof(last);
	memcpy(host, buf, len);
	memcpy(&last, buf + len, sizeof(last));
	qatomic_store_release((uint16_t *)(host + len), last);
}

static int publish_piece(NnpuDma *dma, uint64_t addr, const uint8_t *buf, size_t len)
{
	struct piece p = { .as = dma->as, .addr = addr, .len = len, .is_write = true };
	int ret = -1;

	RCU_READ_LOCK_GUARD();
	if (!piece_begin(&p))
		return -1;
	if (p.len == len) {
		publish(p.host, buf, len);
		ret = 0;
	}
	piece_end(&p);
	return ret;
}

int nnpu_dma_publish(NnpuDma *dma, uint64_t addr, const void *buf, size_t len)
{
	uint8_t *host;
	int ret = 0;

	if (!dma_begin(dma))
		return -1;
	host = window_hit(dma->as, addr, len);
	if (likely(host)) {
		publish(host, buf, len);
		window_written(addr, len);
	} else {
		ret = publish_piece(dma, addr, buf, len);
	}
	dma_end();
	return ret;
}

void nnpu_dma_thread_begin(NnpuDma *dma)
{
	QEMU_LOCK_GUARD(&dma->lock);
	QLIST_INSERT_HEAD(&dma->threads, &self, next);
}

void nnpu_dma_thread_end(NnpuDma *dma)
{
	window_close();
	QEMU_LOCK_GUARD(&dma->lock);
	QLIST_REMOVE(&self, next);
}

void nnpu_dma_init(NnpuDma *dma, AddressSpace *as)
{
	dma->as = as;
	qemu_mutex_init(&dma->lock);
	QLIST_INIT(&dma->threads);
}

void nnpu_dma_fini(NnpuDma *dma)
{
	qemu_mutex_destroy(&dma->lock);
}
