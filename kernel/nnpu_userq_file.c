// SPDX-License-Identifier: GPL-2.0-only
/*
 * The descriptor of a user queue: doorbell mapping, poll(), read().
 *
 * Only the fault handler inserts the doorbell page, and only while the queue has a hardware
 * queue. Before the driver takes the hardware queue away, it zaps the page. The next write to
 * the page faults and waits until the queue has a hardware queue again. The process only
 * notices the delay. Each descriptor has its own inode, so that the zap reaches this one
 * mapping only.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>

#include "nnpu_device.h"
#include "nnpu_userq.h"

/* A fault sleeps at most this long; then the CPU faults again. */
#define NNPU_USERQ_FAULT_MS	100

static vm_fault_t nnpu_userq_file_insert(struct nnpu_userq *uq, u16 qid,
					 struct vm_area_struct *vma)
{
	struct nnpu_device *ndev = uq->ndev;
	phys_addr_t db = ndev->doorbells_phys + ((phys_addr_t)qid << ndev->limits.db_shift);

	return vmf_insert_pfn_prot(vma, vma->vm_start, PHYS_PFN(db),
				   pgprot_noncached(vma->vm_page_prot));
}

/* Wait until the state changes; then the access faults again. */
static vm_fault_t nnpu_userq_file_fault_wait(struct nnpu_userq *uq, struct vm_fault *vmf, int seen)
{
	unsigned long timeout = msecs_to_jiffies(NNPU_USERQ_FAULT_MS);

	/*
	 * The second try keeps the mmap_lock: do not sleep. The access faults again, and the
	 * first try of that fault waits.
	 */
	if (vmf->flags & FAULT_FLAG_TRIED)
		return VM_FAULT_NOPAGE;
	/* The kernel accesses the page for the process and cannot drop the lock at all. */
	if (!fault_flag_allow_retry_first(vmf->flags))
		return VM_FAULT_SIGBUS;
	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;
	/* Without the mmap_lock the mapping and its reference may go away. */
	kref_get(&uq->ref);
	mmap_read_unlock(vmf->vma->vm_mm);
	wait_event_killable_timeout(uq->wait, atomic_read(&uq->events) != seen, timeout);
	nnpu_userq_put(uq);
	return VM_FAULT_RETRY;
}

static vm_fault_t nnpu_userq_file_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct nnpu_userq *uq = vma->vm_private_data;
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	int seen = atomic_read(&uq->events);
	enum nnpu_userq_state state;
	vm_fault_t ret = 0;
	u16 qid;

	/* Code that changes the state zaps afterwards, and waits for this lock. */
	mutex_lock(&uq->map_lock);
	mutex_lock(&uqs->lock);
	if (uq->state == NNPU_USERQ_PARKED)
		nnpu_userq_state_set(uq, NNPU_USERQ_WANTED);
	state = uq->state;
	qid = uq->qid;
	mutex_unlock(&uqs->lock);
	/* To insert a page may allocate memory. */
	if (state == NNPU_USERQ_ACTIVE)
		ret = nnpu_userq_file_insert(uq, qid, vma);
	else if (nnpu_userq_state_ended(state))
		ret = vmf_insert_pfn_prot(vma, vma->vm_start, page_to_pfn(uq->dummy),
					  vma->vm_page_prot);
	mutex_unlock(&uq->map_lock);
	return ret ?: nnpu_userq_file_fault_wait(uq, vmf, seen);
}

static void nnpu_userq_file_vm_open(struct vm_area_struct *vma)
{
	struct nnpu_userq *uq = vma->vm_private_data;

	mutex_lock(&uq->map_lock);
	uq->mappings++;
	mutex_unlock(&uq->map_lock);
}

static void nnpu_userq_file_vm_close(struct vm_area_struct *vma)
{
	struct nnpu_userq *uq = vma->vm_private_data;

	mutex_lock(&uq->map_lock);
	uq->mappings--;
	mutex_unlock(&uq->map_lock);
}

static int nnpu_userq_file_vm_refuse(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static int nnpu_userq_file_vm_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct nnpu_userq_file_vm_ops = {
	.open = nnpu_userq_file_vm_open,
	.close = nnpu_userq_file_vm_close,
	.may_split = nnpu_userq_file_vm_split,
	.mremap = nnpu_userq_file_vm_refuse,
	.fault = nnpu_userq_file_fault,
};

static int nnpu_userq_file_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct nnpu_userq *uq = filp->private_data;
	int ret = 0;

	if (vma->vm_pgoff || vma_pages(vma) != 1 || !(vma->vm_flags & VM_SHARED) ||
	    !(vma->vm_flags & VM_WRITE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* The descriptor may be passed to other processes, the doorbell may not. */
	if (vma->vm_mm != uq->mm)
		return -EPERM;
	mutex_lock(&uq->map_lock);
	if (uq->mappings)
		ret = -EBUSY;
	else
		uq->mappings++;
	mutex_unlock(&uq->map_lock);
	if (ret)
		return ret;
	vm_flags_mod(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY,
		     VM_MAYEXEC);
	vma->vm_private_data = uq;
	vma->vm_ops = &nnpu_userq_file_vm_ops;
	return 0;
}

static bool nnpu_userq_file_has_ended(struct nnpu_userq *uq)
{
	return nnpu_userq_state_ended(READ_ONCE(uq->state));
}

static __poll_t nnpu_userq_file_poll(struct file *filp, poll_table *wait)
{
	struct nnpu_userq *uq = filp->private_data;

	poll_wait(filp, &uq->wait, wait);
	if (nnpu_userq_file_has_ended(uq))
		return EPOLLIN | EPOLLRDNORM | EPOLLERR | EPOLLHUP;
	if (atomic_read(&uq->events) != atomic_read(&uq->events_read))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

/* As for an eventfd: the number of events since the last read(). */
static ssize_t nnpu_userq_file_read(struct file *filp, char __user *user, size_t len, loff_t *pos)
{
	struct nnpu_userq *uq = filp->private_data;
	int seen, before;
	u64 count;
	int ret;

	if (len < sizeof(count))
		return -EINVAL;
	for (;;) {
		seen = atomic_read(&uq->events);
		before = atomic_read(&uq->events_read);
		if (nnpu_userq_file_has_ended(uq))
			return 0;
		if (seen == before) {
			if (filp->f_flags & O_NONBLOCK)
				return -EAGAIN;
			ret = wait_event_interruptible(uq->wait,
						       atomic_read(&uq->events) != seen);
			if (ret)
				return ret;
			continue;
		}
		if (atomic_try_cmpxchg(&uq->events_read, &before, seen))
			break;
	}
	count = (u32)(seen - before);
	return copy_to_user(user, &count, sizeof(count)) ? -EFAULT : sizeof(count);
}

static int nnpu_userq_file_release(struct inode *inode, struct file *filp)
{
	struct nnpu_userq *uq = filp->private_data;

	/* Descriptor and mapping are closed: no process can ring or poll. */
	nnpu_userq_end(uq, NNPU_USERQ_DESTROYED, 0);
	mutex_lock(&uq->map_lock);
	uq->mapping = NULL;
	mutex_unlock(&uq->map_lock);
	nnpu_userq_put(uq);
	return 0;
}

static const struct file_operations nnpu_userq_file_fops = {
	.owner = THIS_MODULE,
	.release = nnpu_userq_file_release,
	.mmap = nnpu_userq_file_mmap,
	.poll = nnpu_userq_file_poll,
	.read = nnpu_userq_file_read,
	.llseek = noop_llseek,
};

/**
 * nnpu_userq_file_create - create the descriptor's file
 * @uq: queue that nobody else knows yet
 *
 * Return: the file, which holds a reference of the queue, or an ERR_PTR.
 */
struct file *nnpu_userq_file_create(struct nnpu_userq *uq)
{
	struct file *filp;

	/* With an inode of its own: unmap_mapping_range() works on the whole inode. */
	filp = anon_inode_create_getfile("[nnpu-queue]", &nnpu_userq_file_fops, uq,
					 O_RDWR | O_CLOEXEC, NULL);
	if (IS_ERR(filp))
		return filp;
	kref_get(&uq->ref);
	uq->mapping = filp->f_mapping;
	return filp;
}
