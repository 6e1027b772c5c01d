// SPDX-License-Identifier: MIT
/*
 * The transport to the in-process device: programs, fences and jobs on top of its rings.
 *
 * Each open is a device of its own with threads of its own.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "transport/sim_private.h"
#include "transport/sim_rings.h"
#include "transport/transport.h"

/* errno of a refused command, as the kernel driver returns it. */
static int admin_error(uint32_t status)
{
	switch (status) {
	case NNPU_STATUS_SUCCESS:
		return 0;
	case NNPU_STATUS_PROGRAM_HEADER:
	case NNPU_STATUS_PROGRAM_TENSOR:
	case NNPU_STATUS_PROGRAM_COMMAND:
	case NNPU_STATUS_INVALID_FIELD:
	case NNPU_STATUS_INVALID_SLOT:
	case NNPU_STATUS_SLOT_BOUNDS:
	case NNPU_STATUS_SLOT_RIGHTS:
		return -EINVAL;
	case NNPU_STATUS_PROGRAM_UNSUPPORTED:
		return -EOPNOTSUPP;
	case NNPU_STATUS_NO_RESOURCES:
		return -ENOSPC;
	case NNPU_STATUS_NO_MEMORY:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int sim_health(struct transport *t)
{
	return sim_is_dead(&to_sim(t)->rings) ? -ENODEV : 0;
}

static int sim_read_extensions(struct transport *t, struct nnpu_extension **extensions,
			       uint32_t *count)
{
	uint32_t n = le32toh(t->identify.num_extensions), i;
	struct sim_rings *r = &to_sim(t)->rings;
	struct sim_memory page = { 0 };
	int err;

	*extensions = NULL;
	*count = 0;
	if (!n || !(le64toh(t->identify.features) & NNPU_FEATURE_EXTENSIONS))
		return 0;
	*extensions = calloc(n, sizeof(**extensions));
	if (!*extensions)
		return -ENOMEM;
	err = sim_memory_init(r, &page, sizeof(**extensions));
	for (i = 0; !err && i < n; i++) {
		struct nnpu_sqe_identify sqe = {
			.opcode = NNPU_ADMIN_IDENTIFY, .addr = htole64((uintptr_t)page.map),
			.page = htole32(i + 1),
		};
		struct nnpu_cqe cqe;

		err = sim_admin(r, &sqe, &cqe);
		if (!err && !sim_cqe_status(&cqe))
			memcpy(&(*extensions)[(*count)++], page.map, sizeof(**extensions));
	}
	sim_memory_fini(r, &page);
	return err;
}

/* ---- programs ---- */

static uint32_t program_number(struct sim_transport *s)
{
	uint32_t i;

	pthread_mutex_lock(&s->program_lock);
	for (i = 1; i <= s->max_programs; i++)
		if (!s->programs[i])
			break;
	if (i <= s->max_programs)
		s->programs[i] = true;
	else
		i = 0;
	pthread_mutex_unlock(&s->program_lock);
	return i;
}

static void program_release(struct sim_transport *s, uint32_t number)
{
	pthread_mutex_lock(&s->program_lock);
	s->programs[number] = false;
	pthread_mutex_unlock(&s->program_lock);
}

static int run_load(struct sim_transport *s, uint32_t number, const void *image, uint32_t size,
		    struct nnpu_command_report *reports, uint32_t num_reports,
		    struct transport_load *result)
{
	size_t report_offset = (size_t)round_up_u64(size, NNPU_PAGE_SIZE);
	size_t report_size = num_reports * sizeof(*reports);
	struct sim_memory memory = { 0 };
	struct nnpu_sqe_load_program sqe = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .flags = reports ? NNPU_LOAD_CHECK : 0,
		.ctx = htole32(SIM_CTX), .program = htole32(number),
	};
	struct nnpu_cqe cqe;
	int err;

	err = sim_memory_init(&s->rings, &memory, report_offset + report_size);
	if (err)
		return err;
	memcpy(memory.map, image, size);
	sqe.image.addr = htole64((uintptr_t)memory.map);
	sqe.image.size = htole64(size);
	if (reports) {
		sqe.reports.addr = htole64((uintptr_t)memory.map + report_offset);
		sqe.reports.size = htole64(report_size);
	}
	err = sim_admin(&s->rings, &sqe, &cqe);
	if (!err) {
		result->program = number;
		result->status = sim_cqe_status(&cqe);
		result->reason = cqe.reason;
		result->index = cqe.error;
		result->operand = cqe.operand;
		result->memory = cqe.result;
		err = admin_error(result->status);
		if (reports)
			memcpy(reports, (uint8_t *)memory.map + report_offset, report_size);
	}
	sim_memory_fini(&s->rings, &memory);
	return err;
}

static int sim_program_save(struct transport *t, uint32_t program, void *image, uint64_t *size)
{
	struct sim_transport *s = to_sim(t);
	struct sim_memory memory = { 0 };
	struct nnpu_sqe_save_program sqe = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM, .ctx = htole32(SIM_CTX),
		.program = htole32(program),
	};
	struct nnpu_cqe cqe;
	int err;

	if (image) {
		err = sim_memory_init(&s->rings, &memory, *size);
		if (err)
			return err;
		sqe.image.addr = htole64((uintptr_t)memory.map);
		sqe.image.size = htole64(*size);
	}
	err = sim_admin(&s->rings, &sqe, &cqe);
	if (!err)
		err = admin_error(sim_cqe_status(&cqe));
	if (!err && image && cqe.result <= *size)
		memcpy(image, memory.map, cqe.result);
	if (!err)
		*size = cqe.result;
	if (image)
		sim_memory_fini(&s->rings, &memory);
	return err;
}

static int sim_program_load(struct transport *t, const void *image, uint32_t size,
			    struct nnpu_command_report *reports, uint32_t num_reports,
			    struct transport_load *result)
{
	struct sim_transport *s = to_sim(t);
	uint32_t number = 0;
	int err;

	if (!reports) {
		number = program_number(s);
		if (!number) {
			result->status = NNPU_STATUS_NO_RESOURCES;
			return -ENOSPC;
		}
	}
	err = run_load(s, number, image, size, reports, num_reports, result);
	if (err && number)
		program_release(s, number);
	return err;
}

static void sim_program_unload(struct transport *t, uint32_t program)
{
	struct nnpu_sqe_unload_program sqe = {
		.opcode = NNPU_ADMIN_UNLOAD_PROGRAM, .ctx = htole32(SIM_CTX),
		.program = htole32(program),
	};
	struct sim_transport *s = to_sim(t);
	struct nnpu_cqe cqe;

	sim_admin(&s->rings, &sqe, &cqe);
	program_release(s, program);
}

/* ---- jobs ---- */

/* errno of a fence, as the driver gives it. */
static int job_error(uint32_t status)
{
	switch (status) {
	case NNPU_STATUS_SUCCESS:
		return 0;
	case NNPU_STATUS_TIME_LIMIT:
	case NNPU_STATUS_DEADLINE:
	case NNPU_STATUS_LOOP_TIMEOUT:
		return -ETIME;
	case NNPU_STATUS_ABORTED:
	case NNPU_STATUS_RESET:
		return -ECANCELED;
	case NNPU_STATUS_NO_MEMORY:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static void job_done(struct sim_job *job, uint32_t status)
{
	struct sim_transport *s = job->owner;
	struct transport_fence *fence = job->fence;

	/* Signal last: after that the memory of the job may be reused or freed. */
	sim_job_put(&s->rings, job);
	sim_fence_set(s, fence, true, job_error(status));
}

/* The clock of the device in the process is CLOCK_MONOTONIC, from another beginning. */
static int sim_device_time(struct transport *t, uint64_t at_ns, uint64_t *device_ns)
{
	uint64_t behind = to_sim(t)->clock_behind_ns;

	*device_ns = at_ns > behind ? at_ns - behind : 1;
	return 0;
}

void sim_job_set_deadline(struct sim_transport *s, struct sim_job *job, uint64_t deadline_ns)
{
	struct nnpu_args_header *header = job->args.map;
	uint64_t device_ns;

	if (!deadline_ns)
		return;
	sim_device_time(&s->base, deadline_ns, &device_ns);
	header->deadline_ns = htole64(device_ns);
	header->flags = htole32(NNPU_ARGS_DEADLINE_ABSOLUTE | NNPU_ARGS_DEADLINE_ABORT);
}

static int sim_submit_job(struct transport *t, const struct transport_job *from)
{
	struct sim_transport *s = to_sim(t);
	size_t num_args = (size_t)from->num_inputs + from->num_outputs;
	size_t size = sizeof(struct nnpu_args_header) + num_args * sizeof(struct nnpu_arg);
	struct nnpu_args_header *header;
	struct sim_job *job;
	int err;

	job = sim_job_get(&s->rings, size);
	if (!job)
		return -ENOMEM;
	header = job->args.map;
	memset(header, 0, sizeof(*header));
	header->num_inputs = htole16((uint16_t)from->num_inputs);
	header->num_outputs = htole16((uint16_t)from->num_outputs);
	header->loop_timeout_ns = htole64(from->loop_timeout_ns);
	memcpy(header + 1, from->args, num_args * sizeof(*from->args));
	job->sqe.opcode = from->is_copy ? NNPU_IO_COPY : NNPU_IO_EXECUTE;
	job->sqe.flags = (uint8_t)(NNPU_EXEC_ARGS_DMA | (from->profile ? NNPU_EXEC_PROFILE : 0) |
				   from->priority << NNPU_EXEC_PRIORITY_SHIFT);
	job->sqe.ctx = htole32(SIM_CTX);
	job->sqe.program = htole32(from->program);
	job->sqe.args = htole64((uintptr_t)job->args.map);
	job->sqe.args_len = htole32((uint32_t)size);
	job->sqe.result_slot = htole32(from->result_slot);
	job->sqe.result_off = htole64(from->result_offset);
	if (from->profile) {
		job->sqe.profile_slot = htole32(from->profile_slot);
		job->sqe.profile_len = htole32(from->profile_size);
		job->sqe.profile_off = htole64(from->profile_offset);
	}
	job->done = job_done;
	job->owner = s;
	job->fence = from->fence;
	sim_fence_begin(s, from->fence);
	err = sim_submit_behind(s, job, from);
	if (err) {
		sim_fence_set(s, from->fence, false, 0);
		sim_job_put(&s->rings, job);
	}
	return err;
}

/* ---- queues of the process itself ---- */

static int create_queue(struct transport *t, uint32_t priority, struct transport_queue **queue)
{
	struct sim_transport *s = to_sim(t);

	if (!s->has_queues)
		return -EOPNOTSUPP;
	if (!(le64toh(t->identify.features) & NNPU_FEATURE_PRIORITY))
		priority = 0;
	return sim_queue_create(&s->rings, priority, queue);
}

static void stop_queue(struct transport *t, struct transport_queue *queue)
{
	(void)t;
	sim_queue_stop(queue);
}

static void destroy_queue(struct transport *t, struct transport_queue *queue)
{
	(void)t;
	sim_queue_destroy(queue);
}

static int wait_for_queue(struct transport *t, struct transport_queue *queue, uint32_t cq_head,
			  uint64_t until_ns, enum transport_queue_state *state)
{
	(void)t;
	return sim_queue_wait(queue, cq_head, until_ns, state);
}

/* ---- opening ---- */

static void sim_close(struct transport *t)
{
	struct sim_transport *s = to_sim(t);
	uint32_t i;

	for (i = 0; s->slots && i < s->rings.num_slots; i++)
		if (s->slots[i].map)
			sim_unbind(t, i);
	sim_fences_stop(s);
	sim_rings_fini(&s->rings);
	sim_fences_fini(s);
	pthread_mutex_destroy(&s->program_lock);
	pthread_mutex_destroy(&s->slot_lock);
	free(s->programs);
	free(s->slots);
	free(s);
}

/*
 * The threads of the device are those of the parent, and they were in the middle of things. The
 * copy of their memory cannot be taken apart; it ends with the child.
 */
static void sim_close_copy(struct transport *t)
{
	(void)t;
}

/* Likewise. */
static void sim_queue_free_copy(struct transport_queue *queue)
{
	(void)queue;
}

static struct transport *sim_open_another(struct transport *t);

static const struct transport_ops sim_ops = {
	.close = sim_close,
	.close_copy = sim_close_copy,
	.queue_free_copy = sim_queue_free_copy,
	.open_another = sim_open_another,
	.health = sim_health,
	.read_extensions = sim_read_extensions,
	.bo_create = sim_bo_create,
	.bo_destroy = sim_bo_destroy,
	.bo_give = sim_bo_give,
	.bo_take = sim_bo_take,
	.bind_fd = sim_bind_fd,
	.bind_file = sim_bind_file,
	.bind_pointer = sim_bind_pointer,
	.unbind = sim_unbind,
	.storage_create = sim_storage_create,
	.program_load = sim_program_load,
	.program_unload = sim_program_unload,
	.program_save = sim_program_save,
	.fence_create = sim_fence_create,
	.fence_destroy = sim_fence_destroy,
	.submit = sim_submit_job,
	.wait = sim_wait,
	.fence_error = sim_fence_error,
	.fence_export = sim_fence_export,
	.fence_signal = sim_fence_signal,
	.fence_reset = sim_fence_reset,
	.queue_create = create_queue,
	.queue_stop = stop_queue,
	.queue_destroy = destroy_queue,
	.queue_wait = wait_for_queue,
	.device_time = sim_device_time,
};

bool transport_sim_available(void)
{
	return true;
}

static uint64_t read_counter(struct sim_transport *s, uint32_t offset)
{
	uint32_t low = nnpu_inproc_read32(s->rings.ip, offset);

	return (uint64_t)nnpu_inproc_read32(s->rings.ip, offset + 4) << 32 | low;
}

bool transport_sim_inject(struct transport *t, uint32_t kind, uint32_t count)
{
	if (t->ops != &sim_ops)
		return false;
	nnpu_inproc_write32(to_sim(t)->rings.ip, NNPU_REG_INJECT,
			    kind << NNPU_INJECT_KIND_SHIFT | count);
	return true;
}

bool transport_sim_is_running(struct transport *t, struct transport_queue *queue)
{
	return t->ops == &sim_ops && sim_queue_is_running(queue);
}

bool transport_sim_abort(struct transport *t, struct transport_queue *queue)
{
	return t->ops == &sim_ops && sim_queue_abort(queue);
}

uint64_t transport_sim_counter(struct transport *t, uint32_t offset)
{
	return t->ops == &sim_ops ? read_counter(to_sim(t), offset) : 0;
}

static int init(struct sim_transport *s, const struct sim_options *options, char *error,
		size_t error_size)
{
	struct transport *t = &s->base;
	uint32_t limits2;
	int err;

	pthread_mutex_init(&s->slot_lock, NULL);
	pthread_mutex_init(&s->program_lock, NULL);
	sim_fences_init(s);
	t->ops = &sim_ops;
	err = sim_rings_init(&s->rings, options, error, error_size);
	if (err)
		return err;
	limits2 = nnpu_inproc_read32(s->rings.ip, NNPU_REG_LIMITS2);
	s->max_programs = limits2 & NNPU_LIMITS2_MAX_PROGRAMS;
	t->limits.max_args = (limits2 & NNPU_LIMITS2_MAX_ARGS) >> 16;
	t->identify = *s->rings.identify;
	t->limits.max_program_size = NNPU_PROGRAM_MAX_SIZE;
	if (le64toh(t->identify.max_program_size) < NNPU_PROGRAM_MAX_SIZE)
		t->limits.max_program_size = (uint32_t)le64toh(t->identify.max_program_size);
	t->limits.can_profile = le64toh(t->identify.features) & NNPU_FEATURE_PROFILE;
	t->limits.can_copy = le64toh(t->identify.features) & NNPU_FEATURE_COPY;
	t->limits.can_save = !options->no_cache &&
			     le64toh(t->identify.features) & NNPU_FEATURE_SAVE;
	t->limits.has_control_flow =
		le64toh(t->identify.features) & NNPU_FEATURE_CONTROL_FLOW;
	t->limits.has_deadlines = le64toh(t->identify.features) & NNPU_FEATURE_DEADLINE;
	t->limits.fence_kinds = FENCE_SYNC_FILE | FENCE_SOCKET;
	t->limits.max_in_fences = SIM_MAX_IN_FENCES;
	s->clock_behind_ns = monotonic_ns() - read_counter(s, NNPU_REG_CLOCK_LO);
	t->limits.needs_sync = options->bounces;
	s->has_queues = !options->no_queues && !options->bounces &&
			(le64toh(t->identify.features) & NNPU_FEATURE_USER_QUEUES);
	s->slots = calloc(s->rings.num_slots, sizeof(*s->slots));
	s->programs = calloc((size_t)s->max_programs + 1, sizeof(*s->programs));
	if (!s->slots || !s->programs)
		return -ENOMEM;
	snprintf(t->name, sizeof(t->name), "nnpu-sim");
	snprintf(t->driver, sizeof(t->driver), "in-process device%s",
		 options->null_mode ? " without computation" : "");
	return 0;
}

/* "threads=N", @n characters, of which a plain number is wanted. */
static bool parse_threads(const char *word, size_t n, unsigned int *threads)
{
	static const char name[] = "threads=";
	size_t at = sizeof(name) - 1;

	if (n <= at || n > at + 2 || memcmp(word, name, at))
		return false;
	for (*threads = 0; at < n; at++) {
		if (word[at] < '0' || word[at] > '9')
			return false;
		*threads = *threads * 10 + (unsigned int)(word[at] - '0');
	}
	return *threads >= 1 && *threads <= NNPU_DEVICE_MAX_THREADS;
}

#define NAME_AND_TYPE(name, type) { #name, (type) },

/* "refuse=NAME", @n characters: an operation that the device shall not have. */
static bool parse_refused(const char *word, size_t n, uint64_t *refused)
{
	static const struct {
		const char *name;
		uint32_t type;
	} operations[] = { NNHAL_OPERATION_TYPE_LIST(NAME_AND_TYPE) };
	static const char name[] = "refuse=";
	size_t at = sizeof(name) - 1, i;
	uint32_t type;

	if (n <= at || memcmp(word, name, at))
		return false;
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		type = operations[i].type;
		if (type < 128 && strlen(operations[i].name) == n - at &&
		    !memcmp(operations[i].name, word + at, n - at)) {
			refused[type / 64] |= UINT64_C(1) << type % 64;
			return true;
		}
	}
	return false;
}

/* Words of a spec, separated by commas. False if one is not known. */
static bool parse_options(const char *text, struct sim_options *options)
{
	size_t n;

	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (n == 4 && !memcmp(text, "null", n))
			options->null_mode = true;
		else if (n == 8 && !memcmp(text, "noqueues", n))
			options->no_queues = true;
		else if (n == 6 && !memcmp(text, "faults", n))
			options->faults = true;
		else if (n == 8 && !memcmp(text, "examples", n))
			options->examples = true;
		else if (n == 6 && !memcmp(text, "bounce", n))
			options->bounces = true;
		else if (n == 7 && !memcmp(text, "nocache", n))
			options->no_cache = true;
		else if (parse_threads(text, n, &options->threads) ||
			 parse_refused(text, n, options->refused))
			continue;
		else
			return false;
	}
	return true;
}

static enum nnhal_status create(const struct sim_options *options, struct transport **transport,
				struct nnhal_diag *diag)
{
	struct sim_transport *s;
	char error[128] = "";
	int err;

	s = calloc(1, sizeof(*s));
	if (!s) {
		diag_set(diag, "no memory for a device");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	s->options = *options;
	err = init(s, options, error, sizeof(error));
	if (err) {
		diag_set(diag, "in-process device: %s%s%s", errno_text(-err),
			 error[0] ? ": " : "", error);
		sim_close(&s->base);
		return status_from_errno(-err);
	}
	*transport = &s->base;
	return NNHAL_STATUS_NONE;
}

/* A context of the in-process device is a device of its own. */
static struct transport *sim_open_another(struct transport *t)
{
	struct transport *other;

	return create(&to_sim(t)->options, &other, NULL) ? NULL : other;
}

enum nnhal_status transport_sim_open(const char *spec, struct transport **transport,
				     struct nnhal_diag *diag)
{
	struct sim_options options = { 0 };

	if (!parse_options(spec, &options)) {
		diag_set(diag, "device \"sim:%.40s\": expected words of null, noqueues, nocache, "
			 "faults, examples, bounce, threads=1..%d, refuse=OPERATION", spec, NNPU_DEVICE_MAX_THREADS);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return create(&options, transport, diag);
}
