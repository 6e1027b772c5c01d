/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * NNPU rings: the entries of I/O queues and their doorbells.
 *
 * A process with a queue of its own (DRM_NNPU_QUEUE_CREATE) writes submission entries, reads
 * completion entries and writes to a doorbell page. The driver does the same for its own
 * queue. Registers and admin commands, which only a driver needs, are not here.
 * Documentation/hardware/ describes the same layout in prose; tests/docs/check-spec
 * compares the two.
 *
 * Rules of change: those of nnpu_program.h. How many entries a ring may have, where it may
 * start and how large a doorbell page is, a process asks the driver
 * (struct drm_nnpu_device_info).
 */
#ifndef _UAPI_NNPU_RINGS_H_
#define _UAPI_NNPU_RINGS_H_

#include "nnpu_program.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Doorbells: offsets in the doorbell page of a queue. 32-bit writes, little-endian. */
#define NNPU_DB_SQ_TAIL			0x00	/* index one past the last entry */
#define NNPU_DB_CQ_HEAD			0x04	/* index of the next entry to read */
#define NNPU_DB_CQ_ARM			0x08	/* interrupt at a completion beyond this head */

/* Bytes of an entry of the submission and of the completion ring. */
#define NNPU_SQE_SIZE			64
#define NNPU_CQE_SIZE			32

/* I/O commands. */
#define NNPU_IO_NOP			0x00
#define NNPU_IO_EXECUTE			0x01
#define NNPU_IO_COPY			0x02	/* from slot to slot */
#define NNPU_IO_NUM			0x03

/**
 * struct nnpu_sqe - submission entry: the part that all commands have
 * @opcode: NNPU_IO_*; in the admin queue an admin command
 * @flags: per command
 * @cid: command id, chosen by software, returned in the completion
 * @ctx: context the command is for; 0 = none. On a queue that belongs to a
 *	context it must be 0
 * @body: per command
 */
struct nnpu_sqe {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	__u8 body[56];
};

/* EXECUTE, COPY flags: args is a DMA address; only on NNPU_QUEUE_KERNEL queues. */
#define NNPU_EXEC_ARGS_DMA		(1u << 0)
/* EXECUTE flags: write struct nnpu_profile records. */
#define NNPU_EXEC_PROFILE		(1u << 1)
/*
 * Reserved, zero without NNPU_FEATURE_PROPAGATE, which no device of this version has: if the entry
 * before this one in the ring of its context ended with an error, this one ends with the same
 * status and does not begin.
 */
#define NNPU_EXEC_PROPAGATE		(1u << 2)
/* EXECUTE flags: NNPU_QUEUE_PRIORITY_* << shift; only in the driver's own queue. */
#define NNPU_EXEC_PRIORITY		0xc0u
#define NNPU_EXEC_PRIORITY_SHIFT	6

/**
 * struct nnpu_sqe_execute - EXECUTE: run a program once; COPY: copy between slots
 * @opcode: as in struct nnpu_sqe
 * @flags: NNPU_EXEC_*
 * @cid: as in struct nnpu_sqe
 * @ctx: context; 0 on a queue that belongs to one
 *
 * The device reads the argument block once, before it checks it. It writes
 * outputs, then profile records, then the result block, then the completion.
 *
 * COPY copies the bytes of input i to output i. There are as many outputs as inputs, each
 * record has slot, offset and length only, and the lengths of both are the same. In all
 * else it is a job like EXECUTE. Bytes are undefined where an output overlaps an input or
 * another output.
 */
struct nnpu_sqe_execute {
	__u8 opcode;
	__u8 flags;
	__le16 cid;
	__le32 ctx;
	/** @program: program number; COPY: zero */
	__le32 program;
	/** @args_slot: slot of the argument block; 0 with NNPU_EXEC_ARGS_DMA */
	__le32 args_slot;
	/** @args: offset in @args_slot, multiple of 8, or DMA address (contiguous) */
	__le64 args;
	/** @args_len: bytes of the argument block */
	__le32 args_len;
	/** @result_slot: slot for the result block, or NNPU_SLOT_NONE */
	__le32 result_slot;
	/** @result_off: offset in @result_slot, multiple of 8 */
	__le64 result_off;
	/** @profile_slot: slot for profile records; 0 without NNPU_EXEC_PROFILE */
	__le32 profile_slot;
	/** @profile_len: bytes of room for profile records */
	__le32 profile_len;
	/** @profile_off: offset in @profile_slot, multiple of 8 */
	__le64 profile_off;
	/** @reserved: zero */
	__le64 reserved;
};

/**
 * struct nnpu_cqe - completion entry, 32 bytes
 * @result: per command: EXECUTE, COPY: time of execution, ns; LOAD_PROGRAM: bytes of
 *	device memory; ABORT: 1 if the job was found
 * @error: index of the tensor, command or argument at fault
 * @reason: NNPU_REASON_*
 * @operand: position of the operand at fault or NNPU_OPERAND_NONE
 * @reserved: zero
 * @qid: queue
 * @sq_head: entries of the submission ring fetched so far, modulo its size
 * @cid: command id
 * @status: NNPU_STATUS_* << 1 | phase. Written last, in one piece
 *
 * The phase bit is 1 on the first pass over the ring and changes with each pass.
 */
struct nnpu_cqe {
	__le64 result;
	__le32 error;
	__le16 reason;
	__le16 operand;
	__le64 reserved;
	__le16 qid;
	__le16 sq_head;
	__le16 cid;
	__le16 status;
};

#define NNPU_CQE_PHASE			0x0001u
#define NNPU_CQE_STATUS_SHIFT		1

NNPU_ASSERT_SIZE(struct nnpu_sqe, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_sqe_execute, NNPU_SQE_SIZE);
NNPU_ASSERT_SIZE(struct nnpu_cqe, NNPU_CQE_SIZE);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_execute, args, 16);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_execute, args_len, 24);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_execute, result_off, 32);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_execute, profile_slot, 40);
NNPU_ASSERT_OFFSET(struct nnpu_sqe_execute, profile_off, 48);
NNPU_ASSERT_OFFSET(struct nnpu_cqe, error, 8);
NNPU_ASSERT_OFFSET(struct nnpu_cqe, qid, 24);
NNPU_ASSERT_OFFSET(struct nnpu_cqe, status, 30);

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_NNPU_RINGS_H_ */
