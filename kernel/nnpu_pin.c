// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a process, pinned for the device.
 *
 * The pages stay what they are: the process reads and writes them while the device does. What
 * the process does to its address space after that (munmap, truncate, fork, exit) changes the
 * address space only. The pages stay until they are unpinned.
 *
 * Pinning waits for page faults, which may take for ever (userfaultfd, a file in FUSE). So it is
 * done with no lock held and outside nnpu_device_enter(), in steps, and ends when the process is
 * killed.
 *
 * The pages are charged to the user as locked memory, unless the process has CAP_IPC_LOCK, and
 * counted in pinned_vm of the address space (VmPin). The process may exit before the pages are
 * unpinned, so references of both are held.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/dma-mapping.h>
#include <linux/error-injection.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "nnpu_pin.h"

/* No mapping needs to be synchronised, and those of pages that are pinned twice overlap. */
#define NNPU_PIN_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

/* Pages that are pinned between two checks for a fatal signal; their array is one page. */
#define NNPU_PIN_STEP	512

/**
 * struct nnpu_pin - pinned memory
 * @table: its pages; contiguous ones are one segment
 * @dev: device that they are mapped for; NULL: none
 * @dir: direction of the mapping
 * @mm: address space whose pinned_vm counts the pages, a reference
 * @user: the user that is charged, a reference; NULL: none
 * @num_pages: pages charged
 * @writable: the device may write to them
 * @released: unpinned and uncharged
 */
struct nnpu_pin {
	struct sg_append_table table;
	struct device *dev;
	enum dma_data_direction dir;
	struct mm_struct *mm;
	struct user_struct *user;
	unsigned long num_pages;
	bool writable;
	bool released;
};

static int nnpu_pin_charge_user(struct nnpu_pin *pin)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = current_user();
	long locked = atomic_long_read(&user->locked_vm);

	if (capable(CAP_IPC_LOCK))
		return 0;
	do {
		/* Others may have locked more than our limit allows us. */
		if (pin->num_pages > limit || locked > limit - pin->num_pages)
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &locked, locked + pin->num_pages));
	pin->user = get_uid(user);
	return 0;
}

static int nnpu_pin_charge(struct nnpu_pin *pin)
{
	int ret = nnpu_pin_charge_user(pin);

	if (ret)
		return ret;
	mmgrab(current->mm);
	pin->mm = current->mm;
	atomic64_add(pin->num_pages, &pin->mm->pinned_vm);
	return 0;
}

static void nnpu_pin_uncharge(struct nnpu_pin *pin)
{
	atomic64_sub(pin->num_pages, &pin->mm->pinned_vm);
	mmdrop(pin->mm);
	if (!pin->user)
		return;
	atomic_long_sub(pin->num_pages, &pin->user->locked_vm);
	free_uid(pin->user);
}

static void nnpu_pin_unpin_pages(struct nnpu_pin *pin)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&pin->table.sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg), sg->length >> PAGE_SHIFT,
						 pin->writable);
		cond_resched();
	}
	sg_free_append_table(&pin->table);
}

/* Pins at most as many pages as fit @pages. Their number or a negative errno. */
static int nnpu_pin_step(struct nnpu_pin *pin, unsigned long addr, unsigned long left,
			 struct page **pages, unsigned int max_segment)
{
	unsigned int gup = FOLL_LONGTERM | (pin->writable ? FOLL_WRITE : 0);
	int count, ret;

	if (fatal_signal_pending(current))
		return -EINTR;
	count = pin_user_pages_fast(addr, min(left, NNPU_PIN_STEP), gup, pages);
	/* A poisoned page, or memory of a PCI device: as if it were not mapped. */
	if (!count || count == -EHWPOISON || count == -EREMOTEIO)
		return -EFAULT;
	if (count < 0)
		return count;
	ret = sg_alloc_append_table_from_pages(&pin->table, pages, count, 0,
					       (unsigned long)count << PAGE_SHIFT, max_segment,
					       left - count, GFP_KERNEL_ACCOUNT);
	if (ret)
		unpin_user_pages(pages, count);
	return ret ?: count;
}

static int nnpu_pin_pages(struct nnpu_pin *pin, unsigned long addr, unsigned int max_segment)
{
	struct page **pages = kmalloc_array(NNPU_PIN_STEP, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	unsigned long left = pin->num_pages;
	int ret = 0;

	if (!pages)
		return -ENOMEM;
	while (left) {
		ret = nnpu_pin_step(pin, addr, left, pages, max_segment);
		if (ret < 0)
			break;
		addr += (unsigned long)ret << PAGE_SHIFT;
		left -= ret;
		cond_resched();
	}
	kfree(pages);
	return min(ret, 0);
}

/**
 * nnpu_pin_create - pin memory of the calling process
 * @addr: first byte, page-aligned
 * @size: bytes, whole pages, not 0; @addr + @size does not overflow
 * @writable: the device may write
 * @max_segment: most contiguous bytes of a segment
 *
 * The caller holds no lock. May wait for user space, and ends when the process is killed.
 *
 * Return: pinned memory; or ERR_PTR(): -EDQUOT (RLIMIT_MEMLOCK), -EFAULT (not mapped, no write
 * access, or of a kind that cannot be pinned), -EOPNOTSUPP (a file on DAX), -EINTR (killed),
 * -ENOMEM.
 */
struct nnpu_pin *nnpu_pin_create(u64 addr, u64 size, bool writable, unsigned int max_segment)
{
	struct nnpu_pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!pin)
		return ERR_PTR(-ENOMEM);
	pin->num_pages = size >> PAGE_SHIFT;
	pin->writable = writable;
	pin->dir = writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
	ret = nnpu_pin_charge(pin);
	if (ret)
		goto err_free;
	ret = nnpu_pin_pages(pin, addr, max_segment);
	if (ret)
		goto err_unpin;
	return pin;

err_unpin:
	/* The device has not seen them: they are not dirty. */
	pin->writable = false;
	nnpu_pin_unpin_pages(pin);
	nnpu_pin_uncharge(pin);
err_free:
	kfree(pin);
	return ERR_PTR(ret);
}

/*
 * Is all DMA of the device copied, as in a guest with encrypted memory? One page tells: to map all
 * of them would take the bounce buffers from other drivers.
 */
static bool nnpu_pin_bounces(struct nnpu_pin *pin, struct device *dev)
{
	struct page *page = sg_page(pin->table.sgt.sgl);
	dma_addr_t dma;
	bool bounces;

	dma = dma_map_page_attrs(dev, page, 0, PAGE_SIZE, pin->dir, NNPU_PIN_ATTRS);
	if (dma_mapping_error(dev, dma))
		return false;
	bounces = dma_need_sync(dev, dma);
	dma_unmap_page_attrs(dev, dma, PAGE_SIZE, pin->dir, NNPU_PIN_ATTRS);
	return bounces;
}

/* Does the CPU have to copy, or to clean caches, before the device sees what was written? */
static bool nnpu_pin_needs_sync(struct nnpu_pin *pin, struct device *dev)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(&pin->table.sgt, sg, i)
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	return false;
}

/**
 * nnpu_pin_map - map the pages for a device, once
 * @pin: pinned memory
 * @dev: device
 *
 * Jobs of user queues begin and end without the driver, so nobody could synchronise caches or
 * bounce buffers then. Memory that needs it is refused.
 *
 * Return: the pages, valid until nnpu_pin_release(); ERR_PTR(-EOPNOTSUPP): the device cannot reach
 * them, or they need to be synchronised; or another ERR_PTR().
 */
struct sg_table *nnpu_pin_map(struct nnpu_pin *pin, struct device *dev)
{
	int ret;

	if (nnpu_pin_bounces(pin, dev))
		return ERR_PTR(-EOPNOTSUPP);
	ret = dma_map_sgtable(dev, &pin->table.sgt, pin->dir, NNPU_PIN_ATTRS);
	/* Also what is said when a page does not fit the bounce buffers. */
	if (ret == -EIO)
		ret = -EOPNOTSUPP;
	if (ret)
		return ERR_PTR(ret);
	if (nnpu_pin_needs_sync(pin, dev)) {
		dma_unmap_sgtable(dev, &pin->table.sgt, pin->dir, NNPU_PIN_ATTRS);
		return ERR_PTR(-EOPNOTSUPP);
	}
	pin->dev = dev;
	return &pin->table.sgt;
}
ALLOW_ERROR_INJECTION(nnpu_pin_map, ERRNO);

/**
 * nnpu_pin_is_writable - may the device write?
 * @pin: pinned memory, released or not
 *
 * Return: true if it may.
 */
bool nnpu_pin_is_writable(const struct nnpu_pin *pin)
{
	return pin->writable;
}

/**
 * nnpu_pin_size - size of pinned memory
 * @pin: pinned memory, released or not
 *
 * Return: bytes.
 */
u64 nnpu_pin_size(const struct nnpu_pin *pin)
{
	return (u64)pin->num_pages << PAGE_SHIFT;
}

/**
 * nnpu_pin_release - give the pages back
 * @pin: pinned memory, released or not; no device accesses it
 *
 * May sleep. One caller at a time.
 */
void nnpu_pin_release(struct nnpu_pin *pin)
{
	if (pin->released)
		return;
	pin->released = true;
	if (pin->dev)
		dma_unmap_sgtable(pin->dev, &pin->table.sgt, pin->dir, NNPU_PIN_ATTRS);
	nnpu_pin_unpin_pages(pin);
	nnpu_pin_uncharge(pin);
}

/**
 * nnpu_pin_destroy - release and free
 * @pin: pinned memory; no device accesses it
 */
void nnpu_pin_destroy(struct nnpu_pin *pin)
{
	nnpu_pin_release(pin);
	kfree(pin);
}
