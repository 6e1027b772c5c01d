/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nnpu

#if !defined(_NNPU_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _NNPU_TRACE_H_

#include <linux/tracepoint.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_status.h"

DECLARE_EVENT_CLASS(nnpu_job,
	TP_PROTO(struct nnpu_job *job),
	TP_ARGS(job),
	TP_STRUCT__entry(
		__string(dev, dev_name(job->ctx->ndev->drm.dev))
		__field(u32, ctx)
		__field(u32, program)
		__field(u64, seqno)
		__field(u16, cid)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->ctx = job->ctx->id;
		__entry->program = nnpu_job_program_id(job);
		__entry->seqno = job->seqno;
		__entry->cid = job->cid;
	),
	TP_printk("%s ctx=%u seqno=%llu program=%u cid=%#x", __get_str(dev), __entry->ctx,
		  __entry->seqno, __entry->program, __entry->cid)
);

/* SUBMIT has accepted the job. */
DEFINE_EVENT(nnpu_job, nnpu_job_submit,
	TP_PROTO(struct nnpu_job *job), TP_ARGS(job));

/* The driver gave the job to the device. */
DEFINE_EVENT(nnpu_job, nnpu_job_start,
	TP_PROTO(struct nnpu_job *job), TP_ARGS(job));

/* The job has ended; error is that of its fence. */
TRACE_EVENT(nnpu_job_complete,
	TP_PROTO(struct nnpu_job *job, u16 status, int error),
	TP_ARGS(job, status, error),
	TP_STRUCT__entry(
		__string(dev, dev_name(job->ctx->ndev->drm.dev))
		__field(u32, ctx)
		__field(u64, seqno)
		__field(u16, cid)
		__field(u16, status)
		__field(int, error)
		__field(u64, exec_ns)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->ctx = job->ctx->id;
		__entry->seqno = job->seqno;
		__entry->cid = job->cid;
		__entry->status = status;
		__entry->error = error;
		__entry->exec_ns = job->exec_ns;
	),
	TP_printk("%s ctx=%u seqno=%llu cid=%#x status=%#x error=%d exec_ns=%llu",
		  __get_str(dev), __entry->ctx, __entry->seqno, __entry->cid, __entry->status,
		  __entry->error, __entry->exec_ns)
);

TRACE_EVENT(nnpu_admin,
	TP_PROTO(struct nnpu_device *ndev, u8 opcode, u32 ctx, u16 status),
	TP_ARGS(ndev, opcode, ctx, status),
	TP_STRUCT__entry(
		__string(dev, dev_name(ndev->drm.dev))
		__field(u8, opcode)
		__field(u32, ctx)
		__field(u16, status)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->opcode = opcode;
		__entry->ctx = ctx;
		__entry->status = status;
	),
	TP_printk("%s opcode=%#x ctx=%u status=%#x", __get_str(dev), __entry->opcode,
		  __entry->ctx, __entry->status)
);

/* what: "queue", "user queue" or "device"; cid: job at fault, 0xffff if there is none. */
TRACE_EVENT(nnpu_reset,
	TP_PROTO(struct nnpu_device *ndev, const char *what, const char *why, u16 cid, int result),
	TP_ARGS(ndev, what, why, cid, result),
	TP_STRUCT__entry(
		__string(dev, dev_name(ndev->drm.dev))
		__string(what, what)
		__string(why, why)
		__field(u16, cid)
		__field(int, result)
	),
	TP_fast_assign(
		__assign_str(dev);
		__assign_str(what);
		__assign_str(why);
		__entry->cid = cid;
		__entry->result = result;
	),
	TP_printk("%s %s reset: %s, cid=%#x result=%d", __get_str(dev), __get_str(what),
		  __get_str(why), __entry->cid, __entry->result)
);

TRACE_EVENT(nnpu_userq,
	TP_PROTO(struct nnpu_userq *uq, const char *what, u16 qid, int result),
	TP_ARGS(uq, what, qid, result),
	TP_STRUCT__entry(
		__string(dev, dev_name(uq->ndev->drm.dev))
		__string(what, what)
		__field(u32, ctx)
		__field(u32, id)
		__field(u16, qid)
		__field(int, result)
	),
	TP_fast_assign(
		__assign_str(dev);
		__assign_str(what);
		__entry->ctx = uq->ctx->id;
		__entry->id = uq->id;
		__entry->qid = qid;
		__entry->result = result;
	),
	TP_printk("%s %s ctx=%u queue=%u hardware queue=%u result=%d", __get_str(dev),
		  __get_str(what), __entry->ctx, __entry->id, __entry->qid, __entry->result)
);

#endif /* _NNPU_TRACE_H_ */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE nnpu_trace
#include <trace/define_trace.h>
