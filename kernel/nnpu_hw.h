/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * NNPU hardware interface: registers, admin commands, slot tables.
 *
 * The driver and the device model both include this file, so that they agree on the
 * layout. What processes share with the device, too, is in uapi/drm: entries of I/O queues in
 * nnpu_rings.h, programs in nnpu_program.h. Documentation/hardware/ describes the same in
 * prose; tests/docs/check-spec compares the two. All fields are little-endian. Reserved fields
 * are zero, and the reader checks that they are.
 */
#ifndef _NNPU_HW_H_
#define _NNPU_HW_H_

#include <drm/nnpu_program.h>
#include <drm/nnpu_rings.h>

/* PCI identity. The vendor id is the one QEMU's own experimental devices use. */
#define NNPU_PCI_VENDOR_ID		0x1234
#define NNPU_PCI_DEVICE_ID		0x4e50
#define NNPU_PCI_CLASS			0x1200	/* processing accelerator */

/*
 * BARs of the PCI function. Queue q owns the doorbell page at q << DB_STRIDE of its BAR;
 * nnpu_rings.h has the offsets in the page.
 */
#define NNPU_PCI_BAR_REGS		0
#define NNPU_PCI_BAR_DOORBELL		2
#define NNPU_PCI_BAR_MSIX		4

/* Vectors of a platform device: bits of IRQ_STATUS and IRQ_MASK. */
#define NNPU_PLATFORM_VECTORS		32

/*
 * Registers (BAR 0, 64 KiB). 32-bit accesses only; 64-bit values are a LO/HI
 * pair, LO first.
 */
#define NNPU_REGS_SIZE			0x10000

#define NNPU_REG_ID			0x000	/* RO NNPU_ID_MAGIC */
#define NNPU_REG_VERSION		0x004	/* RO major << 16 | minor */
#define NNPU_REG_FEATURES_LO		0x008	/* RO NNPU_FEATURE_* */
#define NNPU_REG_FEATURES_HI		0x00c	/* RO */
#define NNPU_REG_LIMITS0		0x010	/* RO NNPU_LIMITS0_* */
#define NNPU_REG_LIMITS1		0x014	/* RO NNPU_LIMITS1_* */
#define NNPU_REG_LIMITS2		0x018	/* RO NNPU_LIMITS2_* */
#define NNPU_REG_TIMEOUT_MS		0x01c	/* RO longest time of a CTRL transition, ms */
#define NNPU_REG_CTRL			0x020	/* RW NNPU_CTRL_* */
#define NNPU_REG_STATUS			0x024	/* RO NNPU_STATUS_REG_* */
#define NNPU_REG_ADMIN_SIZE		0x028	/* RW entries - 1: SQ [15:0], CQ [31:16] */
#define NNPU_REG_DB_STRIDE		0x02c	/* RW log2 of bytes per doorbell page */
#define NNPU_REG_ADMIN_SQ_LO		0x030	/* RW page-aligned DMA address */
#define NNPU_REG_ADMIN_SQ_HI		0x034	/* RW */
#define NNPU_REG_ADMIN_CQ_LO		0x038	/* RW */
#define NNPU_REG_ADMIN_CQ_HI		0x03c	/* RW */
#define NNPU_REG_IRQ_STATUS		0x040	/* RW1C vectors 0-31, platform devices */
#define NNPU_REG_IRQ_MASK		0x044	/* RW vectors masked, platform devices */
#define NNPU_REG_MEM_TOTAL_LO		0x050	/* RO device memory, bytes */
#define NNPU_REG_MEM_TOTAL_HI		0x054	/* RO */
#define NNPU_REG_MEM_USED_LO		0x058	/* RO device memory in use, bytes */
#define NNPU_REG_MEM_USED_HI		0x05c	/* RO */
#define NNPU_REG_CLOCK_LO		0x060	/* RO device clock, ns; LO latches HI */
#define NNPU_REG_CLOCK_HI		0x064	/* RO */
#define NNPU_REG_PERF_LEVEL		0x068	/* RO NNPU_PERF_*, set by SET_PERF */
#define NNPU_REG_PERF_CAPS		0x06c	/* RO bit per NNPU_PERF_* the device has */
#define NNPU_REG_FAULT_STATUS		0x070	/* RO NNPU_FAULT_*, first since reset */
#define NNPU_REG_FAULT_INFO		0x074	/* RO queue [15:0], command id [31:16] */
#define NNPU_REG_FAULT_ADDR_LO		0x078	/* RO reserved for fault reporting */
#define NNPU_REG_FAULT_ADDR_HI		0x07c	/* RO reserved for fault reporting */
#define NNPU_REG_INJECT			0x080	/* WO NNPU_INJECT_* << 16 | count */
#define NNPU_REG_CONTEXTS		0x088	/* RO contexts in use */
#define NNPU_REG_PROGRAMS		0x08c	/* RO programs loaded */
#define NNPU_REG_JOBS_LO		0x090	/* RO jobs ended since power-on */
#define NNPU_REG_JOBS_HI		0x094	/* RO */
#define NNPU_REG_BUSY_LO		0x098	/* RO engine busy time since power-on, ns */
#define NNPU_REG_BUSY_HI		0x09c	/* RO */
#define NNPU_REG_MEM_PEAK_LO		0x0a0	/* RO largest MEM_USED since power-on, bytes */
#define NNPU_REG_MEM_PEAK_HI		0x0a4	/* RO */

/* One window of NNPU_QREG_STRIDE bytes per queue, admin queue first. */
#define NNPU_QREG_BASE			0x1000
#define NNPU_QREG_STRIDE		0x20
#define NNPU_QREG_STATE			0x00	/* RO NNPU_QSTATE_* */
#define NNPU_QREG_PROGRESS		0x04	/* RO counts while a job advances */
#define NNPU_QREG_CURRENT		0x08	/* RO [31] running, [15:0] its cid */
#define NNPU_QREG_ERROR			0x0c	/* RO NNPU_STATUS_* that stopped it */
#define NNPU_QREG_BUSY			0x10	/* RO its engine time since power-on, us */

/* One window of NNPU_EREG_STRIDE bytes per engine, NUM_ENGINES of them. */
#define NNPU_EREG_BASE			0x800
#define NNPU_EREG_STRIDE		0x8
#define NNPU_EREG_CURRENT		0x00	/* RO NNPU_EREG_CURRENT_* */
#define NNPU_EREG_PROGRESS		0x04	/* RO counts while the entry of CURRENT advances */

#define NNPU_ID_MAGIC			0x55504e4e	/* "NNPU" */
#define NNPU_HW_VERSION_MAJOR		2
#define NNPU_HW_VERSION_MINOR		0
#define NNPU_HW_VERSION \
	((NNPU_HW_VERSION_MAJOR << 16) | NNPU_HW_VERSION_MINOR)

#define NNPU_LIMITS0_MAX_QUEUES		0x0000ffffu	/* I/O queues: ids 1 .. n */
#define NNPU_LIMITS0_MAX_ENTRIES_LOG2	0x00ff0000u	/* entries of a ring */
#define NNPU_LIMITS0_MAX_DB_STRIDE	0xff000000u	/* largest DB_STRIDE */
#define NNPU_LIMITS1_MAX_CONTEXTS	0x0000ffffu	/* context ids 1 .. n */
#define NNPU_LIMITS1_MAX_SLOTS_LOG2	0x00ff0000u	/* slots of a context */
#define NNPU_LIMITS1_NUM_ENGINES	0xff000000u	/* jobs at the same time */
#define NNPU_LIMITS2_MAX_PROGRAMS	0x0000ffffu	/* programs of a context: ids 1 .. n */
#define NNPU_LIMITS2_MAX_ARGS		0xffff0000u	/* inputs + outputs of a job */

#define NNPU_CTRL_ENABLE		(1u << 0)
#define NNPU_CTRL_RESET			(1u << 1)	/* self-clearing */

#define NNPU_STATUS_REG_READY		(1u << 0)	/* follows CTRL.ENABLE */
#define NNPU_STATUS_REG_FATAL		(1u << 1)	/* only a reset helps */
#define NNPU_STATUS_REG_RESETTING	(1u << 2)
#define NNPU_STATUS_REG_DMA		(1u << 3)	/* an access to memory is in progress */
#define NNPU_STATUS_REG_CODE		0x0000ff00u	/* NNPU_STATUS_* behind FATAL */

#define NNPU_QSTATE_ABSENT		0
#define NNPU_QSTATE_IDLE		1
#define NNPU_QSTATE_RUNNING		2
#define NNPU_QSTATE_STOPPED		3	/* QREG_ERROR says why */
#define NNPU_QSTATE_WAITING		4	/* entries wait, none has begun */

#define NNPU_QREG_CURRENT_RUNNING	(1u << 31)
#define NNPU_QREG_CURRENT_CID		0x0000ffffu

#define NNPU_EREG_CURRENT_RUNNING	(1u << 31)
#define NNPU_EREG_CURRENT_QID		0x07ff0000u	/* queue of the entry */
#define NNPU_EREG_CURRENT_CID		0x0000ffffu	/* its command id */

/* FAULT_STATUS. */
#define NNPU_FAULT_NONE			0
#define NNPU_FAULT_DOORBELL		1	/* doorbell of an absent queue or bad value */
#define NNPU_FAULT_SQ_READ		2	/* submission entry not readable */
#define NNPU_FAULT_CQ_WRITE		3	/* completion entry not writable */
#define NNPU_FAULT_CQ_FULL		4	/* completion ring overrun */

/*
 * Fault injection (NNPU_FEATURE_INJECT): the next COUNT events of a kind
 * misbehave; COUNT 0 cancels the injection.
 */
#define NNPU_INJECT_JOB_STALL		1	/* job makes no progress until aborted */
#define NNPU_INJECT_JOB_STUCK		2	/* as above, and ignores abort and queue reset */
#define NNPU_INJECT_LOST_IRQ		3	/* completion without interrupt */
#define NNPU_INJECT_BAD_CID		4	/* extra completion with a wrong command id */
#define NNPU_INJECT_BAD_STATUS		5	/* completion with an unknown status */
#define NNPU_INJECT_DMA_ERROR		6	/* operand access fails */
#define NNPU_INJECT_ADMIN_STALL		7	/* admin command never completes */
#define NNPU_INJECT_FATAL		8	/* device goes FATAL at the next job */
#define NNPU_INJECT_JOB_SLOW		9	/* job takes 1 s longer but makes progress */
#define NNPU_INJECT_ADMIN_STATUS	10	/* admin command ends with an unknown status */
#define NNPU_INJECT_LOAD_STALL		11	/* load makes no progress until aborted */
#define NNPU_INJECT_LOAD_SLOW		12	/* load takes 1 s longer but makes progress */
#define NNPU_INJECT_JOB_DEAF		13	/* job stalls and ignores abort */
#define NNPU_INJECT_LOST_CQE		14	/* job ends without completion */
#define NNPU_INJECT_ADMIN_SLOW		15	/* admin command waits before and after its work */
#define NNPU_INJECT_DMA_SLOW		16	/* first access of a job takes longer */
#define NNPU_INJECT_NUM			17
#define NNPU_INJECT_KIND_SHIFT		16
#define NNPU_INJECT_COUNT_MASK		0xffffu

#define NNPU_PAGE_SHIFT			12
#define NNPU_PAGE_SIZE			(1u << NNPU_PAGE_SHIFT)
#define NNPU_MIN_ENTRIES		2

/* Admin commands. */
#define NNPU_ADMIN_NOP			0x00
#define NNPU_ADMIN_IDENTIFY		0x01
#define NNPU_ADMIN_CREATE_CTX		0x02
#define NNPU_ADMIN_DESTROY_CTX		0x03
#define NNPU_ADMIN_CREATE_QUEUE		0x04
#define NNPU_ADMIN_DESTROY_QUEUE	0x05
#define NNPU_ADMIN_RESET_QUEUE		0x06
#define NNPU_ADMIN_LOAD_PROGRAM		0x07
#define NNPU_ADMIN_UNLOAD_PROGRAM	0x08
#define NNPU_ADMIN_INVALIDATE_SLOTS	0x09
#define NNPU_ADMIN_ABORT		0x0a
#define NNPU_ADMIN_SET_PERF		0x0b
#define NNPU_ADMIN_SUSPEND_QUEUE	0x0c
#define NNPU_ADMIN_SAVE_PROGRAM		0x0d
#define NNPU_ADMIN_NUM			0x0e

/**
 * struct nnpu_mem - memory by DMA address, for entries only the kernel writes
 * @addr: contiguous memory (levels 0) or the root node of the page table
 * @size: bytes
 * @levels: 0 = contiguous; 1 to 3 = depth of a radix table of 4 KiB nodes with
 *	512 little-endian 64-bit addresses, the leaves being 4 KiB pages
 * @reserved: zero
 */
struct nnpu_mem {
	__le64 addr;
	__le64 size;
	__le32 levels;
	__le32 reserved;
};

#define NNPU_TABLE_ENTRIES		512
#define NNPU_TABLE_SHIFT		9
#define NNPU_TABLE_MAX_LEVELS		3

/**
 * struct nnpu_slot_entry - one slot of a context's table, 32 bytes
 * @mem: page table and size
 * @flags: NNPU_SLOT_*; written last when a slot becomes valid, first when it
 *	stops being so
 * @kind: NNPU_SLOT_KIND_*
 *
 * The device reads an entry with every job that names it. It may cache the entry until
 * INVALIDATE_SLOTS. It never caches invalid entries.
 */
struct nnpu_slot_entry {
	struct nnpu_mem mem;
	__le32 flags;
	__le32 kind;
};

#define NNPU_SLOT_VALID			(1u << 0)
#define NNPU_SLOT_READ			(1u << 1)
#define NNPU_SLOT_WRITE			(1u << 2)

/* Kinds of slots. */
#define NNPU_SLOT_KIND_HOST		0	/* pages of host memory */
#define NNPU_SLOT_KIND_DEVICE		1	/* reserved: memory of the device */

/**
 * struct nnpu_sqe_identify - IDENTIFY: write struct nnpu_identify to @addr
 * @opcode: as in struct nnpu_sqe
 * @flags: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: zero
 *
 * With NNPU_FEATURE_EXTENSIONS and @page above 0: write struct nnpu_extension.
 */
struct nnpu_sqe_identify {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @addr: DMA address of 4096 bytes, page-aligned */
	__le64 addr;
	/** @page: 0, or number of an extension, 1 .. nnpu_identify.num_extensions */
	__le32 page;
	/** @reserved0: zero */
	__le32 reserved0;
	/** @reserved: zero */
	__le64 reserved[5];
};

/*
 * CREATE_CTX weights: shares of the engines relative to those of other contexts of the
 * same class.
 */
#define NNPU_CTX_WEIGHT_DEFAULT		16
#define NNPU_CTX_WEIGHT_MAX		256

/* CREATE_CTX classes: a higher one is served before lower ones. */
#define NNPU_CTX_CLASS_NORMAL		0
#define NNPU_CTX_CLASS_URGENT		1
#define NNPU_CTX_CLASS_NUM		2

/**
 * struct nnpu_sqe_create_ctx - CREATE_CTX: context @ctx with a slot table
 * @opcode: as in struct nnpu_sqe
 * @flags: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: number of the new context
 *
 * @ctx is chosen by software, 1 .. MAX_CONTEXTS, and must be free.
 */
struct nnpu_sqe_create_ctx {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @slot_table: DMA address of @num_slots entries, contiguous, page-aligned */
	__le64 slot_table;
	/** @num_slots: entries of the slot table */
	__le32 num_slots;
	/** @weight: 1 .. NNPU_CTX_WEIGHT_MAX; 0: NNPU_CTX_WEIGHT_DEFAULT */
	__le16 weight;
	/** @sched_class: NNPU_CTX_CLASS_* */
	__le16 sched_class;
	/** @mem_limit: most device memory the context may take, bytes, 0 = no limit */
	__le64 mem_limit;
	/** @time_limit_ns: engine time after which a job ends, 0 = no limit */
	__le64 time_limit_ns;
	/** @group: contexts that share device memory and engine time as one; 0 = none */
	__le32 group;
	/** @reserved1: zero */
	__le32 reserved1;
	/** @reserved: zero */
	__le64 reserved[2];
};

/*
 * DESTROY_CTX has no body. The device unloads the programs, aborts the jobs and
 * destroys the queues of the context. The command completes when no job runs.
 */

/* CREATE_QUEUE flags: entries name their context, arguments by DMA address. */
#define NNPU_QUEUE_KERNEL		(1u << 0)
/* CREATE_QUEUE flags: interrupt only when armed through NNPU_DB_CQ_ARM. */
#define NNPU_QUEUE_ARMED_IRQ		(1u << 1)
/* CREATE_QUEUE flags: continue where SUSPEND_QUEUE stopped, as @state says. */
#define NNPU_QUEUE_RESUME		(1u << 2)

/* Priorities of a queue (CREATE_QUEUE), or of an entry of a kernel queue. */
#define NNPU_QUEUE_PRIORITY_LOW		0
#define NNPU_QUEUE_PRIORITY_MEDIUM	1
#define NNPU_QUEUE_PRIORITY_HIGH	2
#define NNPU_QUEUE_PRIORITY_NUM		3

/**
 * struct nnpu_queue_state - state of a suspended queue, 16 bytes
 * @sq_head: next entry to fetch
 * @sq_tail: one past the last entry announced
 * @cq_head: next entry software reads, as the last CQ_HEAD doorbell said
 * @cq_tail: next entry to write
 * @arm_head: head of the last arming, if NNPU_QUEUE_STATE_ARMED
 * @flags: NNPU_QUEUE_STATE_*
 * @reserved: zero
 *
 * Opaque to software, except that sq_head == sq_tail means that no work is left.
 */
struct nnpu_queue_state {
	__le16 sq_head;
	__le16 sq_tail;
	__le16 cq_head;
	__le16 cq_tail;
	__le16 arm_head;
	__le16 flags;
	__le32 reserved;
};

/* The phase bit of the next entry is 1. */
#define NNPU_QUEUE_STATE_PHASE		(1u << 0)
/* A completion at or beyond arm_head raises the vector. */
#define NNPU_QUEUE_STATE_ARMED		(1u << 1)

/**
 * struct nnpu_sqe_create_queue - CREATE_QUEUE: a submission and completion ring
 * @opcode: as in struct nnpu_sqe
 * @flags: NNPU_QUEUE_*
 * @cid: as in struct nnpu_sqe
 * @ctx: owner, 0 with NNPU_QUEUE_KERNEL
 *
 * @ctx is the owner, 0 with NNPU_QUEUE_KERNEL.
 */
struct nnpu_sqe_create_queue {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @qid: queue id, 1 .. MAX_QUEUES, must be free */
	__le16 qid;
	/** @vector: interrupt vector */
	__le16 vector;
	/** @sq_entries: entries of the submission ring, power of two */
	__le32 sq_entries;
	/** @cq_entries: entries of the completion ring, power of two */
	__le32 cq_entries;
	/** @priority: NNPU_QUEUE_PRIORITY_*; zero with QUEUE_KERNEL, without FEATURE_PRIORITY */
	__le32 priority;
	/** @sq_addr: DMA address, page-aligned, contiguous */
	__le64 sq_addr;
	/** @cq_addr: DMA address, page-aligned, contiguous */
	__le64 cq_addr;
	/** @state: with NNPU_QUEUE_RESUME what SUSPEND_QUEUE gave, else zero */
	struct nnpu_queue_state state;
	/** @reserved: zero */
	__le64 reserved;
};

/* RESET_QUEUE, ABORT flags: of a kernel queue only the entries of context @ctx. */
#define NNPU_QUEUE_CMD_CONTEXT		(1u << 0)
/* ABORT flags: abort nothing, only say whether the entry is there. */
#define NNPU_QUEUE_CMD_PROBE		(1u << 1)

/**
 * struct nnpu_sqe_queue - DESTROY_QUEUE, RESET_QUEUE, ABORT
 * @opcode: as in struct nnpu_sqe
 * @flags: NNPU_QUEUE_CMD_*; DESTROY_QUEUE: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: context with NNPU_QUEUE_CMD_CONTEXT, else zero
 *
 * RESET_QUEUE aborts the running job and drops all other entries. The queue is then as
 * after CREATE_QUEUE (indexes 0, phase 1). The device writes no completion of the queue
 * after that of RESET_QUEUE or DESTROY_QUEUE. With NNPU_QUEUE_CMD_CONTEXT it does so with the
 * entries of the context only: the rings go on.
 *
 * ABORT asks job @target_cid to end with NNPU_STATUS_ABORTED and completes at once, with
 * result 1 if the job has begun or was fetched, else 0. The entries of a kernel queue whose
 * doorbell came before the command have been fetched.
 */
struct nnpu_sqe_queue {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @qid: queue id */
	__le16 qid;
	/** @target_cid: ABORT without NNPU_QUEUE_CMD_CONTEXT: command id; else zero */
	__le16 target_cid;
	/** @reserved0: zero */
	__le32 reserved0;
	/** @reserved: zero */
	__le64 reserved[6];
};

/* SUSPEND_QUEUE flags: suspend the queue only if it has no work. */
#define NNPU_SUSPEND_IDLE		(1u << 0)

/**
 * struct nnpu_sqe_suspend_queue - SUSPEND_QUEUE: remove a queue, keep its state
 * @opcode: as in struct nnpu_sqe
 * @flags: NNPU_SUSPEND_*
 * @cid: as in struct nnpu_sqe
 * @ctx: zero
 *
 * The command never waits for a job. SUCCESS: the queue is absent as after
 * DESTROY_QUEUE, and its state is at @state_addr. BUSY with NNPU_SUSPEND_IDLE: the queue
 * has work and continues. BUSY without it: a job runs, and the queue fetches no further
 * entry from now on; software repeats the command until that job has ended. A stopped
 * queue gives NO_RESOURCES: only RESET_QUEUE and DESTROY_QUEUE help it.
 */
struct nnpu_sqe_suspend_queue {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @qid: queue that belongs to a context */
	__le16 qid;
	/** @reserved0: zero */
	__le16 reserved0;
	/** @reserved1: zero */
	__le32 reserved1;
	/** @state_addr: DMA address for struct nnpu_queue_state, multiple of 8 */
	__le64 state_addr;
	/** @reserved: zero */
	__le64 reserved[5];
};

/* Performance levels. */
#define NNPU_PERF_LOW			0	/* saves power */
#define NNPU_PERF_MEDIUM		1	/* the level after a reset */
#define NNPU_PERF_HIGH			2	/* shortest time to the next job */
#define NNPU_PERF_NUM			3

/**
 * struct nnpu_sqe_set_perf - SET_PERF: change the performance level
 * @opcode: as in struct nnpu_sqe
 * @flags: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: zero
 */
struct nnpu_sqe_set_perf {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @level: NNPU_PERF_*, one of PERF_CAPS */
	__le32 level;
	/** @reserved0: zero */
	__le32 reserved0;
	/** @reserved: zero */
	__le64 reserved[6];
};

/* LOAD_PROGRAM flags: only check, write the reports. */
#define NNPU_LOAD_CHECK			(1u << 0)

/**
 * struct nnpu_sqe_load_program - LOAD_PROGRAM: read, validate and keep a program
 * @opcode: as in struct nnpu_sqe
 * @flags: NNPU_LOAD_*
 * @cid: as in struct nnpu_sqe
 * @ctx: context
 *
 * @ctx owns the program and the slots of its constants. On success nnpu_cqe.result is
 * the device memory that the program takes, in bytes. On failure nnpu_cqe.error is the
 * index of the tensor or command at fault; nnpu_cqe.reason and nnpu_cqe.operand say more.
 */
struct nnpu_sqe_load_program {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @program: number chosen by software, 1 .. MAX_PROGRAMS; 0 with NNPU_LOAD_CHECK */
	__le32 program;
	/** @reserved0: zero */
	__le32 reserved0;
	/** @image: the image */
	struct nnpu_mem image;
	/** @reports: NNPU_LOAD_CHECK: memory for a report for each command; else zero */
	struct nnpu_mem reports;
};

/**
 * struct nnpu_sqe_save_program - SAVE_PROGRAM: write a loaded program as an image
 * @opcode: as in struct nnpu_sqe
 * @flags: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: owner of the program
 *
 * The result is the size of the image in bytes. If @image has less room the device writes
 * nothing. It has the constants in the form in which the device keeps them, and no slots.
 */
struct nnpu_sqe_save_program {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @program: its number */
	__le32 program;
	/** @reserved0: zero */
	__le32 reserved0;
	/** @image: room for the image; all zero: none */
	struct nnpu_mem image;
	/** @reserved: zero */
	__le64 reserved[3];
};

/**
 * struct nnpu_sqe_unload_program - UNLOAD_PROGRAM
 * @opcode: as in struct nnpu_sqe
 * @flags: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: context
 *
 * The number is free at once. Jobs that execute the program continue; the device frees
 * its memory when the last of them has ended.
 */
struct nnpu_sqe_unload_program {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @program: program number */
	__le32 program;
	/** @reserved0: zero */
	__le32 reserved0;
	/** @reserved: zero */
	__le64 reserved[6];
};

/**
 * struct nnpu_sqe_invalidate - INVALIDATE_SLOTS: drop cached entries of slots
 * @opcode: as in struct nnpu_sqe
 * @flags: zero
 * @cid: as in struct nnpu_sqe
 * @ctx: context
 *
 * After the completion the device makes no access through the old entries. A job that
 * still needs one fails with NNPU_STATUS_INVALID_SLOT.
 */
struct nnpu_sqe_invalidate {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @first: first slot */
	__le32 first;
	/** @count: number of slots */
	__le32 count;
	/** @reserved: zero */
	__le64 reserved[6];
};

NNPU_ASSERT_SIZE(struct nnpu_sqe_identify, NNPU_SQE_SIZE);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_identify, page, 16);
NNPU_ASSERT_SIZE(struct nnpu_sqe_create_ctx, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_create_queue, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_queue, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_suspend_queue, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_set_perf, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_queue_state, 16);
NNPU_ASSERT_SIZE(struct nnpu_sqe_load_program, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_save_program, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_unload_program, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_invalidate, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_mem, 24);
NNPU_ASSERT_SIZE(struct nnpu_slot_entry, 32);
NNPU_ASSERT_OFFSET(struct nnpu_slot_entry, flags, 24);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_ctx, num_slots, 16);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_ctx, weight, 20);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_ctx, mem_limit, 24);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_ctx, time_limit_ns, 32);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_ctx, group, 40);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_queue, qid, 8);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_queue, sq_entries, 12);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_queue, sq_addr, 24);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_queue, cq_addr, 32);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_create_queue, state, 40);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_suspend_queue, state_addr, 16);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_queue, target_cid, 10);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_load_program, image, 16);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_load_program, reports, 40);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_save_program, image, 16);

#endif /* _NNPU_HW_H_ */
