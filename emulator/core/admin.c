// SPDX-License-Identifier: MIT
/*
 * The control thread: admin commands, one after the other, and resets.
 */
#include <stdio.h>
#include <stdlib.h>

#include "admin.h"
#include "device_state.h"
#include "device_threads.h"
#include "dma.h"
#include "engine.h"
#include "program_load.h"
#include "queue.h"
#include "reset.h"
#include "slots.h"
#include "ops/extension.h"

struct admin {
	struct nnpu_device *dev;
	struct verdict v;
	uint64_t result;
};

static void fail(struct admin *a, unsigned int status)
{
	verdict_status(&a->v, status);
}

/* The context an entry names, or NULL with the verdict. */
static struct nnpu_ctx *get_ctx(struct admin *a, __le32 id_le)
{
	struct nnpu_device *dev = a->dev;
	uint32_t id = le32toh(id_le);

	if (id && id <= dev->props.max_contexts && dev->contexts[id])
		return dev->contexts[id];
	fail(a, NNPU_STATUS_INVALID_CTX);
	return NULL;
}

static struct nnpu_queue *get_queue(struct admin *a, __le16 id_le)
{
	struct nnpu_device *dev = a->dev;
	uint16_t id = le16toh(id_le);

	if (id && id <= dev->props.num_queues && dev->queues[id].exists)
		return &dev->queues[id];
	fail(a, NNPU_STATUS_INVALID_QUEUE);
	return NULL;
}

static void admin_nop(struct admin *a, const struct nnpu_sqe *c)
{
	if (c->flags || c->ctx || !is_zero(c->body, sizeof(c->body)))
		fail(a, NNPU_STATUS_INVALID_FIELD);
}

/* IDENTIFY. */

static __le32 float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return htole32(bits);
}

/*
 * Figures against a host CPU core. The model runs on one, so floating point costs
 * the same; quantized kernels move less memory.
 */
static void set_performance(struct nnpu_performance *p, uint32_t type)
{
	bool quant = type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ||
		     type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED ||
		     type == NNPU_TYPE_TENSOR_QUANT8_SYMM ||
		     type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;

	p->type = htole32(type);
	p->exec_time = float_bits(quant ? 0.5f : 0.9f);
	p->power = float_bits(quant ? 0.4f : 0.8f);
}

static void fill_identify(const struct nnpu_device *dev, struct nnpu_identify *id)
{
	uint32_t i, n = 0;

	id->magic = htole32(NNPU_IDENTIFY_MAGIC);
	id->version = htole32(NNPU_HW_VERSION);
	id->features = htole64(dev_features(dev));
	snprintf(id->name, sizeof(id->name), "%s", NNPU_DEVICE_NAME);
	snprintf(id->firmware, sizeof(id->firmware), "%s", NNPU_DEVICE_FIRMWARE);
	id->device_type = htole32(4);
	id->max_rank = htole32(NNPU_MAX_RANK);
	id->memory_size = htole64(dev->props.memory_size);
	id->max_program_size = htole64(NNPU_PROGRAM_MAX_SIZE);
	id->max_operand_size = htole64(dev->props.max_operand_size);
	id->num_engines = htole32(dev->props.num_engines);
	for (i = 0; i < NNPU_NUM_OPERATIONS; i++)
		if (op_find(i) || i == NNPU_OP_IF || i == NNPU_OP_WHILE)
			id->operations[i / 32] |= htole32(1u << (i % 32));
	for (i = 0; i < sizeof(id->relaxed) / sizeof(id->relaxed[0]); i++)
		set_performance(&id->relaxed[i], 0);
	for (i = 0; i < NNPU_NUM_TYPES; i++)
		if (i != NNPU_TYPE_SUBGRAPH)
			set_performance(&id->performance[n++], i);
	id->num_performance = htole32(n);
	id->max_depth = htole32(MAX_DEPTH);
	id->num_extensions = htole32(extension_count());
}

/* Page @i + 1: an extension. */
static void fill_extension(uint32_t i, struct nnpu_extension *out)
{
	const struct extension *e = extension_get(i);
	uint32_t k, code = extension_first_code(i);

	out->magic = htole32(NNPU_EXTENSION_MAGIC);
	out->num_types = htole32(e->num_types);
	out->first_operation = htole32(code);
	out->num_operations = htole32(e->num_operations);
	snprintf(out->name, sizeof(out->name), "%s", e->name);
	for (k = 0; k < e->num_types; k++)
		out->types[k] = (struct nnpu_extension_type) {
			.number = htole16((uint16_t)k),
			.code = htole16((uint16_t)(code + k)),
			.byte_size = htole32(e->types[k].byte_size),
			.flags = htole32(e->types[k].is_tensor ? NNPU_EXTENSION_TENSOR : 0),
		};
}

static void admin_identify(struct admin *a, const struct nnpu_sqe_identify *c)
{
	uint32_t number = le32toh(c->page);
	union {
		struct nnpu_identify device;
		struct nnpu_extension extension;
	} *page;

	if (c->flags || c->ctx || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    !page_aligned(le64toh(c->addr)) || number > extension_count()) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	page = calloc(1, sizeof(*page));
	if (!page) {
		fail(a, NNPU_STATUS_INTERNAL);
		return;
	}
	if (number)
		fill_extension(number - 1, &page->extension);
	else
		fill_identify(a->dev, &page->device);
	if (dev_dma_write(a->dev, le64toh(c->addr), page, sizeof(*page)))
		fail(a, NNPU_STATUS_DMA_ERROR);
	free(page);
}

/* Contexts. */

static void admin_create_ctx(struct admin *a, const struct nnpu_sqe_create_ctx *c)
{
	struct nnpu_device *dev = a->dev;
	uint32_t id = le32toh(c->ctx), num_slots = le32toh(c->num_slots);
	struct nnpu_ctx *ctx;

	if (c->flags || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved))) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	if (!id || id > dev->props.max_contexts) {
		fail(a, NNPU_STATUS_INVALID_CTX);
		return;
	}
	if (dev->contexts[id]) {
		fail(a, NNPU_STATUS_BUSY);
		return;
	}
	if (!page_aligned(le64toh(c->slot_table)) || !num_slots ||
	    num_slots > 1u << dev->props.max_slots_log2) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = ctx_create(dev, id, le64toh(c->slot_table), num_slots, le64toh(c->mem_limit));
	if (!ctx) {
		fail(a, NNPU_STATUS_NO_MEMORY);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	ctx->serial = dev->next_serial++;
	dev->contexts[id] = ctx;
	dev->num_contexts++;
	pthread_mutex_unlock(&dev->lock);
}

/* End the job of a queue and wait until it lets go. dev->lock held. */
static void queue_quiesce(struct nnpu_device *dev, struct nnpu_queue *q)
{
	q->dropping = true;
	sched_update(dev, q);
	atomic_store(&q->abort, true);
	pthread_cond_broadcast(&dev->event);
	while (q->busy)
		dev_await_jobs(dev);
}

static void abort_jobs_of(struct nnpu_device *dev, const struct nnpu_ctx *ctx)
{
	unsigned int e, i;

	for (e = 0; e < dev->props.num_engines; e++) {
		if (dev->engines[e].ctx != ctx)
			continue;
		for (i = 1; i <= dev->props.num_queues; i++)
			if (dev->engines[e].progress.abort == &dev->queues[i].abort)
				atomic_store(&dev->queues[i].abort, true);
	}
	pthread_cond_broadcast(&dev->event);
}

static void admin_destroy_ctx(struct admin *a, const struct nnpu_sqe *c)
{
	struct nnpu_device *dev = a->dev;
	struct program **programs;
	struct nnpu_ctx *ctx;
	unsigned int i, n = 0;

	if (c->flags || !is_zero(c->body, sizeof(c->body))) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = get_ctx(a, c->ctx);
	if (!ctx)
		return;
	programs = ctx->programs;

	pthread_mutex_lock(&dev->lock);
	ctx->dying = true;
	for (i = 1; i <= dev->props.num_queues; i++)
		if (dev->queues[i].exists && dev->queues[i].ctx == ctx) {
			queue_quiesce(dev, &dev->queues[i]);
			queue_init(dev, &dev->queues[i]);
		}
	abort_jobs_of(dev, ctx);
	while (ctx->running)
		dev_await_jobs(dev);
	dev->contexts[ctx->id] = NULL;
	dev->num_contexts--;
	for (i = 1; i <= dev->props.max_programs; i++)
		n += !!programs[i];
	dev->num_programs -= n;
	/* Engines keep memory for their next job, but not for a client that left. */
	for (i = 0; i < dev->props.num_engines; i++) {
		dev->engines[i].trim = dev->engines[i].busy;
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	}
	pthread_mutex_unlock(&dev->lock);

	for (i = 1; i <= dev->props.max_programs; i++)
		if (programs[i])
			program_put(programs[i]);
	ctx_free(ctx);
}

static void admin_invalidate(struct admin *a, const struct nnpu_sqe_invalidate *c)
{
	uint32_t first = le32toh(c->first), count = le32toh(c->count);
	struct nnpu_ctx *ctx;

	if (c->flags || !is_zero(c->reserved, sizeof(c->reserved))) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!count || (uint64_t)first + count > ctx->num_slots) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx_invalidate(ctx, first, count);
}

/* Queues. */

static bool ring_ok(const struct nnpu_device *dev, __le32 entries_le, __le64 addr)
{
	uint32_t entries = le32toh(entries_le);

	return entries >= NNPU_MIN_ENTRIES && entries <= 1u << dev->props.max_entries_log2 &&
	       !(entries & (entries - 1)) && page_aligned(le64toh(addr));
}

static bool create_queue_fields_ok(const struct nnpu_sqe_create_queue *c)
{
	const unsigned int known = NNPU_QUEUE_KERNEL | NNPU_QUEUE_ARMED_IRQ | NNPU_QUEUE_RESUME;
	uint16_t flags = le16toh(c->state.flags);

	if ((c->flags & ~known) || c->reserved || c->state.reserved)
		return false;
	if (c->flags & NNPU_QUEUE_KERNEL && (c->ctx || c->flags & NNPU_QUEUE_RESUME))
		return false;
	if (!(c->flags & NNPU_QUEUE_RESUME))
		return is_zero(&c->state, sizeof(c->state));
	if (flags & ~(NNPU_QUEUE_STATE_PHASE | NNPU_QUEUE_STATE_ARMED))
		return false;
	if (flags & NNPU_QUEUE_STATE_ARMED)
		return c->flags & NNPU_QUEUE_ARMED_IRQ;
	return !c->state.arm_head;
}

/* Indexes that the rings have; a state comes back through memory of software. */
static bool state_ok(const struct nnpu_sqe_create_queue *c)
{
	uint32_t sq_entries = le32toh(c->sq_entries), cq_entries = le32toh(c->cq_entries);
	const struct nnpu_queue_state *s = &c->state;

	return le16toh(s->sq_head) < sq_entries && le16toh(s->sq_tail) < sq_entries &&
	       le16toh(s->cq_head) < cq_entries && le16toh(s->cq_tail) < cq_entries &&
	       le16toh(s->arm_head) < cq_entries;
}

static void admin_create_queue(struct admin *a, const struct nnpu_sqe_create_queue *c)
{
	struct nnpu_device *dev = a->dev;
	uint16_t id = le16toh(c->qid);
	struct nnpu_ctx *ctx = NULL;
	struct irqs irqs = { 0 };
	struct nnpu_queue *q;

	if (!create_queue_fields_ok(c)) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	if (!(c->flags & NNPU_QUEUE_KERNEL)) {
		ctx = get_ctx(a, c->ctx);
		if (!ctx)
			return;
	}
	if (!id || id > dev->props.num_queues) {
		fail(a, NNPU_STATUS_INVALID_QUEUE);
		return;
	}
	q = &dev->queues[id];
	if (q->exists) {
		fail(a, NNPU_STATUS_BUSY);
		return;
	}
	if (le16toh(c->vector) >= dev->props.num_vectors ||
	    !ring_ok(dev, c->sq_entries, c->sq_addr) || !ring_ok(dev, c->cq_entries, c->cq_addr) ||
	    le32toh(c->priority) >= NNPU_QUEUE_PRIORITY_NUM || !state_ok(c)) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	queue_init(dev, q);
	q->flags = c->flags;
	q->vector = le16toh(c->vector);
	q->priority = (uint8_t)le32toh(c->priority);
	q->ctx = ctx;
	q->sq_addr = le64toh(c->sq_addr);
	q->cq_addr = le64toh(c->cq_addr);
	q->sq_entries = le32toh(c->sq_entries);
	q->cq_entries = le32toh(c->cq_entries);
	if (c->flags & NNPU_QUEUE_RESUME)
		queue_resume(q, &c->state, &irqs);
	q->exists = true;
	sched_update(dev, q);
	sched_wake(dev);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

static void admin_suspend_queue(struct admin *a, const struct nnpu_sqe_suspend_queue *c)
{
	struct nnpu_device *dev = a->dev;
	struct nnpu_queue_state state;
	struct nnpu_queue *q;
	unsigned int status;

	if ((c->flags & ~NNPU_SUSPEND_IDLE) || c->ctx || c->reserved0 || c->reserved1 ||
	    !is_zero(c->reserved, sizeof(c->reserved))) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	q = get_queue(a, c->qid);
	if (!q)
		return;
	if (!q->ctx) {
		fail(a, NNPU_STATUS_INVALID_QUEUE);
		return;
	}
	if (le64toh(c->state_addr) & 7) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	status = queue_suspend(dev, q, c->flags & NNPU_SUSPEND_IDLE, &state);
	pthread_mutex_unlock(&dev->lock);
	if (!status && dev_dma_write(dev, le64toh(c->state_addr), &state, sizeof(state))) {
		pthread_mutex_lock(&dev->lock);
		queue_unsuspend(dev, q);
		pthread_mutex_unlock(&dev->lock);
		status = NNPU_STATUS_DMA_ERROR;
	}
	if (status) {
		fail(a, status);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	queue_init(dev, q);
	pthread_mutex_unlock(&dev->lock);
}

static struct nnpu_queue *check_queue(struct admin *a, const struct nnpu_sqe_queue *c)
{
	if (c->flags || c->ctx || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    (c->opcode != NNPU_ADMIN_ABORT && c->target_cid)) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return NULL;
	}
	return get_queue(a, c->qid);
}

static void admin_destroy_queue(struct admin *a, const struct nnpu_sqe_queue *c)
{
	struct nnpu_queue *q = check_queue(a, c);

	if (!q)
		return;
	pthread_mutex_lock(&a->dev->lock);
	queue_quiesce(a->dev, q);
	queue_init(a->dev, q);
	pthread_mutex_unlock(&a->dev->lock);
}

static void admin_reset_queue(struct admin *a, const struct nnpu_sqe_queue *c)
{
	struct nnpu_queue *q = check_queue(a, c);

	if (!q)
		return;
	pthread_mutex_lock(&a->dev->lock);
	queue_quiesce(a->dev, q);
	q->sq_head = 0;
	q->sq_tail = 0;
	q->cq_head = 0;
	q->cq_tail = 0;
	q->phase = NNPU_CQE_PHASE;
	q->armed = false;
	q->stopped = false;
	q->error = NNPU_STATUS_SUCCESS;
	q->held = false;
	q->dropping = false;
	pthread_mutex_unlock(&a->dev->lock);
}

static void admin_abort(struct admin *a, const struct nnpu_sqe_queue *c)
{
	struct nnpu_queue *q = check_queue(a, c);

	if (!q)
		return;
	/* Entries are not fetched ahead, so a job that is found runs. */
	pthread_mutex_lock(&a->dev->lock);
	if (q->running && q->cid == le16toh(c->target_cid)) {
		atomic_store(&q->abort, true);
		pthread_cond_broadcast(&a->dev->event);
		a->result = 1;
	}
	pthread_mutex_unlock(&a->dev->lock);
}

static void admin_set_perf(struct admin *a, const struct nnpu_sqe_set_perf *c)
{
	if (c->flags || c->ctx || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    le32toh(c->level) >= NNPU_PERF_NUM)
		fail(a, NNPU_STATUS_INVALID_FIELD);
	else
		dev_set_perf(a->dev, le32toh(c->level));
}

/* Programs. */

static void admin_load_reports(struct admin *a, const struct nnpu_sqe_load_program *c,
			       struct load_request *request)
{
	uint64_t addr = le64toh(c->report_addr);
	uint64_t bytes = (uint64_t)request->num_reports * sizeof(*request->reports);

	if (!request->reports)
		return;
	if (dev_dma_write(a->dev, addr, request->reports, bytes))
		fail(a, NNPU_STATUS_DMA_ERROR);
}

static void load_image(struct admin *a, const struct nnpu_sqe_load_program *c,
		       struct nnpu_ctx *ctx, struct mem_map *map)
{
	struct nnpu_device *dev = a->dev;
	uint32_t number = le32toh(c->program);
	struct load_request request = {
		.ctx = ctx,
		.check = c->flags & NNPU_LOAD_CHECK,
		.num_reports = le32toh(c->num_reports),
		.size = map->size,
	};
	struct program *p;
	unsigned int status;
	uint8_t *image;

	/* Sizes that cannot be right are refused before memory is spent on them. */
	if (map->size < sizeof(struct nnpu_program_header) ||
	    map->size > NNPU_PROGRAM_MAX_SIZE) {
		verdict_set(&a->v, NNPU_STATUS_PROGRAM_HEADER, NNPU_REASON_SIZE, 0,
			    NNPU_OPERAND_NONE);
		return;
	}
	image = malloc(map->size);
	if (!image) {
		fail(a, NNPU_STATUS_NO_MEMORY);
		return;
	}
	status = mem_map_access(dev, map, 0, image, map->size, DMA_READ, NULL);
	if (status) {
		fail(a, status);
		free(image);
		return;
	}
	request.image = image;
	p = program_load(&request, &a->v);
	free(image);
	if (request.check) {
		admin_load_reports(a, c, &request);
		free(request.reports);
		return;
	}
	if (!p)
		return;
	a->result = p->memory;
	pthread_mutex_lock(&dev->lock);
	ctx->programs[number] = p;
	dev->num_programs++;
	pthread_mutex_unlock(&dev->lock);
}

static void admin_load_program(struct admin *a, const struct nnpu_sqe_load_program *c)
{
	bool check = c->flags & NNPU_LOAD_CHECK;
	uint32_t number = le32toh(c->program);
	struct nnpu_ctx *ctx;
	struct mem_map map;

	if ((c->flags & ~NNPU_LOAD_CHECK) || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    (check ? number || !c->num_reports || (le64toh(c->report_addr) & 7) :
		     c->num_reports || c->report_addr)) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!check && (!number || number > a->dev->props.max_programs)) {
		fail(a, NNPU_STATUS_INVALID_PROGRAM);
		return;
	}
	if (!check && ctx->programs[number]) {
		fail(a, NNPU_STATUS_BUSY);
		return;
	}
	if (!mem_map_init(&map, &c->image)) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	load_image(a, c, ctx, &map);
}

static void admin_unload_program(struct admin *a, const struct nnpu_sqe_unload_program *c)
{
	struct nnpu_device *dev = a->dev;
	uint32_t number = le32toh(c->program);
	struct nnpu_ctx *ctx;
	struct program *p;

	if (c->flags || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved))) {
		fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!number || number > dev->props.max_programs || !ctx->programs[number]) {
		fail(a, NNPU_STATUS_INVALID_PROGRAM);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	p = ctx->programs[number];
	ctx->programs[number] = NULL;
	dev->num_programs--;
	pthread_mutex_unlock(&dev->lock);
	program_put(p);
}

static void execute(struct admin *a, const struct nnpu_sqe *sqe)
{
	switch (sqe->opcode) {
	case NNPU_ADMIN_NOP:
		admin_nop(a, sqe);
		break;
	case NNPU_ADMIN_IDENTIFY:
		admin_identify(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_CREATE_CTX:
		admin_create_ctx(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_DESTROY_CTX:
		admin_destroy_ctx(a, sqe);
		break;
	case NNPU_ADMIN_CREATE_QUEUE:
		admin_create_queue(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_DESTROY_QUEUE:
		admin_destroy_queue(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_RESET_QUEUE:
		admin_reset_queue(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_LOAD_PROGRAM:
		admin_load_program(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_UNLOAD_PROGRAM:
		admin_unload_program(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_INVALIDATE_SLOTS:
		admin_invalidate(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_ABORT:
		admin_abort(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_SET_PERF:
		admin_set_perf(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_SUSPEND_QUEUE:
		admin_suspend_queue(a, (const void *)sqe);
		break;
	default:
		fail(a, NNPU_STATUS_INVALID_OPCODE);
		break;
	}
}

static void serve_admin(struct nnpu_device *dev)
{
	struct nnpu_queue *q = &dev->queues[0];
	struct admin a = { .dev = dev, .v = VERDICT_SUCCESS };
	struct nnpu_sqe sqe __attribute__((aligned(8)));
	struct irqs irqs = { 0 };
	bool bad_status;
	int ret;

	ret = queue_read_entries(dev, q, q->sq_head, &sqe, 1);
	pthread_mutex_lock(&dev->lock);
	if (queue_entry_read(dev, q, ret, &irqs)) {
		pthread_mutex_unlock(&dev->lock);
		irqs_raise(dev, &irqs);
		return;
	}
	q->running = true;
	q->cid = le16toh(sqe.cid);
	if (dev_inject(dev, NNPU_INJECT_ADMIN_STALL))
		while (!atomic_load(&dev->stop))
			pthread_cond_wait(&dev->event, &dev->lock);
	bad_status = dev_inject(dev, NNPU_INJECT_ADMIN_STATUS);
	pthread_mutex_unlock(&dev->lock);

	execute(&a, &sqe);
	if (bad_status)
		a.v.status = 0x7abc;
	dev_log(dev, NNPU_LOG_TRACE, "admin 0x%02x ctx %u: %s", sqe.opcode, le32toh(sqe.ctx),
		status_name(a.v.status));

	pthread_mutex_lock(&dev->lock);
	queue_complete(dev, q, le16toh(sqe.cid), &a.v, a.result, true, &irqs);
	q->running = false;
	q->cid = 0;
	atomic_fetch_add_explicit(&q->progress, 1, memory_order_relaxed);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

void control_run(struct nnpu_device *dev)
{
	struct nnpu_queue *q = &dev->queues[0];

	pthread_mutex_lock(&dev->lock);
	for (;;) {
		if (dev->stopping) {
			dev_end_everything(dev);
		} else if (dev->exiting) {
			break;
		} else if (dev->ready && q->sq_head != q->sq_tail) {
			pthread_mutex_unlock(&dev->lock);
			serve_admin(dev);
			pthread_mutex_lock(&dev->lock);
		} else {
			pthread_cond_wait(&dev->event, &dev->lock);
		}
	}
	pthread_mutex_unlock(&dev->lock);
}
