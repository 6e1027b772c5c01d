/* SPDX-License-Identifier: MIT */
/*
 * What the files of libnnhal share.
 *
 * Locks, outermost first: burst.lock; memory.lock, bind_table.lock; prepared_model.lock,
 * arena.lock; async.lock; the transport's own. No lock is held while a callback runs
 * or while the library waits for the device.
 */
#ifndef NNHAL_INTERNAL_H
#define NNHAL_INTERNAL_H

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

#include "transport/transport.h"

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

static inline uint64_t round_up_u64(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

/* ---- diag.c ---- */

/* Fill in a message; the first one of a call stands. NULL is allowed. */
void diag_set(struct nnhal_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void diag_clear(struct nnhal_diag *diag);
/* Text of an errno, > 0; a constant string. */
const char *errno_text(int err);

/* ---- status.c ---- */

/* The documented table: what a failed system call or ioctl means. Takes errno, > 0. */
enum nnhal_status status_from_errno(int err);
/* What a job means whose fence carries an error before the device wrote a result. */
enum nnhal_status status_from_fence_error(int err, bool has_deadline);
/* What a status of the device means for an execution. */
enum nnhal_status status_from_device(uint32_t device_status);
/* Texts of NNPU_STATUS_* and NNPU_REASON_*. */
const char *device_status_text(uint32_t device_status);
const char *device_reason_text(uint32_t reason);

/* ---- options of calls ---- */

/*
 * The options of a call, which begin with their size: what the caller gives, and
 * @defaults for what he does not, or if that is NULL. False if they are shorter than
 * the first version of the structure, @first bytes.
 */
static inline bool options_read(void *to, const void *from, const void *defaults, size_t size,
				size_t first)
{
	size_t given;

	memcpy(to, defaults, size);
	if (!from)
		return true;
	memcpy(&given, from, sizeof(given));
	if (given < first)
		return false;
	memcpy(to, from, given < size ? given : size);
	return true;
}

/* ---- time ---- */

uint64_t monotonic_ns(void);
/* Is there a deadline, and has it passed? */
bool deadline_passed(bool has_deadline, uint64_t deadline_ns);

/* ---- model_copy.c ---- */

/*
 * A private copy of a model's structure in one allocation. Bytes of constants are
 * not copied: values points into the caller's model and counts only until the call
 * that made the copy returns. Pools are referenced.
 */
struct model_copy {
	struct nnhal_model model;
	void *block;
};

enum nnhal_status model_copy_init(struct model_copy *copy, const struct nnhal_model *model,
				  struct nnhal_diag *diag);
void model_copy_fini(struct model_copy *copy);

/* ---- extensions.c ---- */

/* The vendor extensions of a device. */
struct extensions {
	uint32_t count;
	struct nnpu_extension *device;	/* as the device describes them */
	struct nnhal_extension *list;	/* as callers get them, in the same order */
	struct nnhal_extension_operand_type *types;
};

/* An operand type of an extension on a device. */
struct extension_type {
	uint16_t code;			/* nnpu_tensor_desc.type */
	bool is_tensor;
	uint32_t byte_size;
};

/*
 * Of @count descriptions in allocated memory, which becomes this object's, those that
 * make sense count. False: no memory; extensions_fini() is due all the same.
 */
bool extensions_init(struct extensions *x, struct nnpu_extension *device, uint32_t count);
void extensions_fini(struct extensions *x);
/*
 * What the type of an operand, or an operation, of an extension is on the device; the
 * model is valid, @x may be NULL. NULL, or a constant text that says what is missing.
 */
const char *extensions_find_type(const struct extensions *x, const struct nnhal_model *model,
				 uint32_t type, struct extension_type *found);
const char *extensions_find_operation(const struct extensions *x,
				      const struct nnhal_model *model, uint32_t type,
				      uint32_t *opcode);
/*
 * Name of an operation of a valid model; of an extension's, written to @text:
 * "com.example.fibonacci operation 0".
 */
const char *operation_text(const struct nnhal_model *model, uint32_t type, char *text,
			   size_t size);

/* ---- validate*.c ---- */

/* Normalised version of a model or request, 0 if the number is unknown. */
uint32_t hal_version_of(uint32_t hal_version);
enum nnhal_status validate_model(const struct nnhal_model *model, struct nnhal_diag *diag);
/* What the table of signatures has to know of an operand. */
uint32_t signature_known(const struct nnhal_operand *operand);
/*
 * Operation @i, its operand indexes being in range, fits its signature in @version.
 * @known: signature_known() of the operands; @where: see FAIL() in validate.c.
 */
bool validate_signature(const struct nnhal_subgraph *sg, uint32_t i, const uint32_t *known,
			uint32_t version, const char *where, struct nnhal_diag *diag);
/* Rules for IF and WHILE, for an operation whose operand indexes are in range. */
bool validate_control_flow(const struct nnhal_model *model, const struct nnhal_subgraph *sg,
			   const char *where, uint32_t operation, struct nnhal_diag *diag);
/* No cycle of subgraph references, and each subgraph is referred to. */
enum nnhal_status validate_references(const struct nnhal_model *model, struct nnhal_diag *diag);

/* What request validation needs to know of an input or output of a model. */
struct arg_info {
	uint32_t element_size;		/* 0: not known, of OEM types and unknown extensions */
	uint32_t rank;
	bool rank_known;		/* false: tensor of unknown rank */
	const uint32_t *dims;
};

/* Place of a constant that outputs must not overlap. */
struct const_region {
	dev_t dev;
	ino_t ino;
	uint64_t begin;
	uint64_t end;
};

/* An argument with its shape worked out. */
struct resolved_arg {
	bool omitted;
	bool has_shape;			/* the request gave dimensions */
	uint32_t pool;
	uint32_t offset;
	uint32_t length;
	uint32_t rank;
	uint32_t dims[NNHAL_MAX_RANK];
};

struct request_rules {
	const struct arg_info *inputs;
	const struct arg_info *outputs;
	uint32_t num_inputs;
	uint32_t num_outputs;
	const struct const_region *constants;
	uint32_t num_constants;
	bool allow_unspecified_output;
};

/*
 * Check a request and work out its arguments, inputs first. @num_pools is the
 * request's number of pools, read once by the caller; @pools has room for as many
 * entries, @args for all arguments. Each field of the request is read once.
 */
enum nnhal_status resolve_request(const struct nnhal_request *request, uint32_t num_pools,
				  const struct request_rules *rules,
				  struct nnhal_request_pool *pools,
				  struct resolved_arg *args, struct nnhal_diag *diag);
/* Bytes of an argument of that shape. False above 32 bits, or if element_size is 0. */
bool arg_size(const struct arg_info *info, const uint32_t *dims, uint32_t rank, uint32_t *size);
/*
 * Rules for requests to a valid model; @block holds them and is the caller's to free.
 * @extensions of the device, or NULL.
 */
enum nnhal_status request_rules_init(struct request_rules *rules,
				     const struct nnhal_model *model,
				     const struct extensions *extensions, void **block);

/* ---- program.c ---- */

struct image;

#define MAIN_SUBGRAPH	UINT32_MAX

/* What a command of a program is in the model. */
struct command_origin {
	uint32_t operation;		/* of the main subgraph: the command, or it reaches it */
	uint32_t subgraph;		/* referenced subgraph, or MAIN_SUBGRAPH */
	uint32_t inner;			/* operation of that subgraph; UINT32_MAX: itself */
};

/*
 * Load an image, or check it if @reports is not NULL (one entry per command), with
 * the memory of its constants bound meanwhile. 0 or -errno, -EINVAL and -EOPNOTSUPP
 * being the device's verdict on the program with @result filled in.
 */
int image_load(struct nnhal_device *device, struct image *image,
		 struct nnpu_command_report *reports, struct transport_load *result,
		 struct nnhal_diag *diag);
/*
 * The operation that a command comes from: "subgraph 1 operation 2 (ADD) input 0 (operand
 * 4)". @operand: position among the command's operands or NNPU_OPERAND_NONE.
 */
void command_text(const struct nnhal_model *model, const struct command_origin *origin,
		  uint32_t operand, char *text, size_t size);
/* Why a program was refused, in terms of the model. */
void image_explain(const struct nnhal_model *model, const struct image *image,
		     const struct transport_load *result, struct nnhal_diag *diag);

/* ---- support.c ---- */

/*
 * Have the device judge the operations of a valid model; @support, one entry per
 * operation, may be NULL. INVALID_ARGUMENT if one is malformed.
 */
enum nnhal_status check_operations(struct nnhal_device *device, const struct nnhal_model *model,
				   struct nnhal_ext_operation_support *support,
				   struct nnhal_diag *diag);
/* Status of an image_load() that failed. */
enum nnhal_status load_status(struct nnhal_device *device, int error,
			      const struct transport_load *result);

/* ---- memory.c ---- */

struct bind_table;

/* A memory object in one device's context. */
struct binding {
	struct bind_table *table;
	struct binding *next_in_memory;
	struct binding *next_in_table;
	struct binding **prev_in_table;
	uint32_t slot;
	/* Bounce buffer of memory the device cannot reach, else zero. */
	struct transport_bo bounce;
	bool has_bounce;
};

struct nnhal_memory {
	atomic_uint refs;
	uint32_t kind;
	uint32_t access;
	int fd;
	uint64_t size;
	uint64_t offset;
	dev_t dev;
	ino_t ino;
	/* Whole pages that cannot go away: the device may be given them. */
	bool direct;
	pthread_mutex_t lock;
	void *map;
	size_t map_size;
	size_t map_delta;
	struct binding *bindings;
};

/* The bindings of one device; outlives it as long as memory objects have bindings. */
struct bind_table {
	atomic_uint refs;
	pthread_mutex_t lock;
	struct transport *transport;	/* NULL when the device is closed */
	struct binding *bindings;
};

struct bind_table *bind_table_create(struct transport *transport);
/* The device closes: its bindings end. Drops the device's reference. */
void bind_table_close(struct bind_table *table);
/*
 * Slot of a memory object in a device; made on first use. Memory the device cannot
 * reach gets a bounce buffer if @bounce, else -ENOTSUP. The result stays valid as
 * long as the caller holds references of device and memory. 0 or -errno.
 */
int memory_bind(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		const struct binding **binding);
/* Copy with pread()/pwrite(); -EIO if the file is too short by now. 0 or -errno. */
int memory_read(const struct nnhal_memory *memory, uint64_t offset, void *data, size_t size);
int memory_write(const struct nnhal_memory *memory, uint64_t offset, const void *data,
		 size_t size);
/* The object's size in whole pages of the host: what is bound. */
uint64_t memory_bind_size(const struct nnhal_memory *memory);
/* The memory object goes: its bindings end. */
void memory_unbind_all(struct nnhal_memory *memory);

/*
 * A binding of the caller's own, in no table: the caller keeps memory and device, and
 * ends it with memory_unbind_own(). 0 or -errno.
 */
int memory_bind_own(struct nnhal_memory *memory, struct transport *transport,
		    struct binding **binding);
void memory_unbind_own(struct transport *transport, struct binding *binding);

/* ---- arena.c ---- */

/* A piece of mapped device-visible memory for results and profiles. */
struct arena_chunk {
	uint32_t slot;
	uint32_t size;
	uint64_t offset;
	void *map;
	struct arena_chunk *next;
};

struct arena {
	pthread_mutex_t lock;
	struct transport *transport;
	struct arena_block *blocks;
	struct arena_chunk *free[22];	/* 512 bytes to 1 GiB */
};

void arena_init(struct arena *arena, struct transport *transport);
void arena_fini(struct arena *arena);
int arena_get(struct arena *arena, uint64_t size, struct arena_chunk **chunk);
void arena_put(struct arena *arena, struct arena_chunk *chunk);

/* ---- async.c ---- */

/* Work that ends some time and then calls back. First member of struct execution. */
struct async_job {
	struct async_job *next;
	struct transport_fence *fence;	/* NULL: over already */
	/* Called once from the waiter thread; @error as transport_ops.wait gives it. */
	void (*complete)(struct async_job *job, int error);
};

struct async;

struct async *async_create(struct transport *transport);
/* No job may be pending. May be called from the waiter thread itself. */
void async_destroy(struct async *async);
/* Start the waiter thread if it does not run. 0 or -errno. */
int async_start(struct async *async);
/* Hand over a job; cannot fail after async_start(). */
void async_add(struct async *async, struct async_job *job);

/* ---- device.c ---- */

struct nnhal_device {
	atomic_uint refs;
	struct transport *transport;
	struct bind_table *table;
	struct arena arena;
	struct async *async;
	char name[NNHAL_NAME_SIZE];
	char version[192];
	enum nnhal_device_type type;
	struct nnhal_capabilities capabilities;
	struct extensions extensions;
};

/* Status of a failed transport call: the table, and whether the context is lost. */
enum nnhal_status device_status_from_error(struct nnhal_device *device, int error);

/* ---- prepared_model.c, execute.c ---- */

struct execution;

struct nnhal_prepared_model {
	atomic_uint refs;
	struct nnhal_device *device;
	uint32_t program;
	int32_t priority;
	struct request_rules rules;
	uint32_t num_operations;
	uint32_t num_commands;
	struct command_origin *command_origins;
	bool has_loops;
	int32_t preference;
	uint64_t device_memory;
	uint64_t image_size;
	void *block;			/* arg_info and dims */
	pthread_mutex_t lock;
	struct execution *idle;		/* executions to use again */
	uint32_t num_idle;
};

void executions_free(struct nnhal_prepared_model *model);
/* nnhal_prepared_model_execute() that calls back only after it has returned NONE. */
enum nnhal_status execution_start(struct nnhal_prepared_model *model,
				  const struct nnhal_request *request,
				  const struct nnhal_execute_options *options,
				  nnhal_execution_callback callback, void *context);

/* ---- arguments.c ---- */

/* What a run came to. */
struct outcome {
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_timing timing;
};

#define OUTCOME_FAILED \
	{ NNHAL_STATUS_GENERAL_FAILURE, 0, { NNHAL_NO_TIMING, NNHAL_NO_TIMING } }

/* The options of a call, NULL included, checked; clears what they point to. */
enum nnhal_status execute_options_read(struct nnhal_execute_options *to,
				       const struct nnhal_execute_options *from);
/* The loop timeout of valid options as the device takes it. */
uint64_t args_loop_timeout(const struct nnhal_execute_options *options);
/* Room for @num_pools, what is there being kept. False: no memory. */
bool args_make_room(struct nnhal_request_pool **pools, const struct binding ***bindings,
		    uint32_t *max_pools, uint32_t num_pools);
/* What a failed binding means for an execution. */
enum nnhal_status args_bind_status(struct nnhal_device *device, uint32_t pool, int error,
				   struct nnhal_diag *diag);
/* Memory the device cannot reach goes through its bounce buffer. */
enum nnhal_status args_copy_inputs(const struct request_rules *rules,
				   const struct resolved_arg *args,
				   const struct nnhal_request_pool *pools,
				   const struct binding *const *bindings, struct nnhal_diag *diag);
enum nnhal_status args_copy_outputs(const struct request_rules *rules,
				    const struct resolved_arg *args,
				    const struct nnhal_request_pool *pools,
				    const struct binding *const *bindings,
				    const struct nnhal_output_shape *shapes,
				    struct nnhal_diag *diag);
/* Records as the device takes them. */
void args_build(struct nnpu_arg *records, const struct resolved_arg *args, uint32_t count,
		const struct binding *const *bindings);
/* Actual shapes as the device gave them. False if they make no sense. */
static inline bool args_read_shapes(const struct nnpu_arg *records, uint32_t count,
				    struct nnhal_output_shape *shapes)
{
	uint32_t d;

	_Static_assert(sizeof(shapes->dimensions) == sizeof(records->dims), "same rank");
	/* A model has at least one output. */
	do {
		uint32_t rank = records->rank;

		if (rank > NNHAL_MAX_RANK)
			return false;
		shapes->num_dimensions = rank;
		shapes->is_sufficient = !(le16toh(records->flags) & NNPU_ARG_INSUFFICIENT);
		/* The device says 0 behind the last dimension. */
		memcpy(shapes->dimensions, records->dims, sizeof(shapes->dimensions));
		for (d = 0; d < NNHAL_MAX_RANK && BYTE_ORDER != LITTLE_ENDIAN; d++)
			shapes->dimensions[d] = le32toh(shapes->dimensions[d]);
		records++;
		shapes++;
	} while (--count);
	return true;
}

/* Which argument or operation the device names. */
void args_explain(const struct nnhal_prepared_model *model, uint32_t device_status,
		  uint32_t device_reason, uint32_t index, struct nnhal_diag *diag);
void timing_of(struct nnhal_timing *timing, uint64_t start_ns, uint64_t end_ns, uint64_t exec_ns);
/* What a caller of that version gets to see; @hal_version is normalised. */
void outcome_for_version(struct outcome *out, uint32_t hal_version);
/* Status of a call that did not get as far as an execution. */
enum nnhal_status request_status(enum nnhal_status status, const struct nnhal_request *request);

#endif /* NNHAL_INTERNAL_H */
