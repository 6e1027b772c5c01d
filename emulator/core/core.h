/* SPDX-License-Identifier: MIT */
/*
 * Inside of the device model: objects, locks, and who calls whom.
 *
 *   registers.c	registers, reset state machine, life of the device
 *   queue.c	rings, doorbells, completions
 *   sched.c	which queue is served next
 *   engine.c	engine threads: fetch, execute, complete, sleep
 *   admin.c	control thread: admin commands
 *   slots.c	contexts and access to their slots
 *   dma.c		bus access and page tables
 *   program_image.c	validation of program images
 *   program_load.c	loading: constants, operations
 *   control_flow.c	loading: blocks and the commands that enter them
 *   memory_plan.c	memory plan: placing tensors by lifetime
 *   job.c		one EXECUTE entry: arguments, results
 *   executor.c	running the commands of a program
 *   dynamic_shapes.c	... when shapes are found while they run
 *
 * Locks. dev->lock guards everything that registers, doorbells and several threads
 * see, but for the bell of a queue (queue.c). It is held for a few instructions
 * only, never across an operation, an interrupt, or DMA other than the 32 bytes of a
 * completion. The slots of a context are held by engines during a few accesses to them,
 * and closed by the control thread while cached ones are dropped (slots.c). That
 * thread holds no lock then; engines may take dev->lock while they hold slots.
 *
 * Only the control thread creates and destroys contexts, queues and entries of
 * program tables; it may therefore read them without dev->lock. Engines hold what
 * they use through nnpu_ctx.running and program references.
 */
#ifndef NNPU_INTERNAL_H
#define NNPU_INTERNAL_H

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "nnpu_hw.h"
#include "device_model.h"
#include "prefetch.h"
#include "ops/op.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensor data is little-endian; big-endian hosts are not supported"
#endif

/* Longest piece of a transfer between two looks at abort requests, bytes. */
#define DMA_CHUNK		(1u << 20)
#define TENSOR_ALIGN		64u
/* Blocks of a program inside of each other, at most. */
#define MAX_DEPTH		32u

/* Reserved fields: of a few words, and of a length the compiler knows. */
static inline bool is_zero(const void *p, size_t len)
{
	const uint8_t *bytes = p;
	uint64_t word, all = 0;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		all |= word;
	}
	for (; len; bytes++, len--)
		all |= *bytes;
	return !all;
}

/* How a command ended; what goes into completion and result block. */
struct verdict {
	uint16_t status;
	uint16_t reason;
	uint16_t operand;
	uint32_t error;
};

#define VERDICT_SUCCESS		((struct verdict){ .operand = NNPU_OPERAND_NONE })

static inline int verdict_set(struct verdict *v, unsigned int status, unsigned int reason,
			      uint32_t error, unsigned int operand)
{
	v->status = (uint16_t)status;
	v->reason = (uint16_t)reason;
	v->error = error;
	v->operand = (uint16_t)operand;
	return -1;
}

static inline int verdict_status(struct verdict *v, unsigned int status)
{
	return verdict_set(v, status, NNPU_REASON_NONE, 0, NNPU_OPERAND_NONE);
}

/* Interrupts to raise after dev->lock is dropped. */
struct irqs {
	unsigned int count;
	uint16_t vectors[4];
};

/* What op_progress() looks at; the engine's. */
struct job_progress {
	atomic_uint *counter;		/* QREG_PROGRESS of the queue */
	const atomic_bool *abort;	/* abort of this job asked for */
	const atomic_bool *stop;	/* the device stops */
};

enum dma_dir { DMA_READ, DMA_WRITE };

/* A level 1 node that was read, or NULL; published once by whoever is first. */
struct kept_leaf {
	_Atomic(uint64_t *) node;
};

/* Memory behind a struct nnpu_mem, checked. */
struct mem_map {
	uint64_t addr;
	uint64_t size;
	unsigned int levels;
	/* Level 1 nodes kept, one per 2 MiB; NULL: nothing is kept. */
	struct kept_leaf *leaves;
	size_t num_leaves;
};

/* A slot entry that was read and is good. */
struct slot_map {
	struct mem_map mem;
	uint32_t flags;
};

/* As above for a slot. */
struct kept_slot {
	_Atomic(struct slot_map *) map;
};

struct nnpu_ctx {
	struct nnpu_device *dev;
	uint32_t id;
	uint64_t serial;		/* unique, for what engines keep */
	uint64_t slot_table;
	uint32_t num_slots;
	uint64_t mem_limit;		/* 0: none */
	uint64_t mem_used;		/* dev->lock */
	unsigned int running;		/* jobs on engines; dev->lock */
	bool dying;			/* dev->lock */
	struct program **programs;	/* by number; dev->lock */
	atomic_bool closed;		/* slots are being dropped: none may be held */
	struct kept_slot *slots;
	atomic_uint kept_leaves;
};

/* Why a tensor has no place of its own in the memory of its block. */
enum tensor_role {
	ROLE_NONE,
	ROLE_BLOCK_INPUT,		/* bytes of a tensor of the command that enters */
	ROLE_BLOCK_OUTPUT,		/* written where the command that enters says */
};

/* A block of a loaded program; number 0 is the main part. */
struct program_block {
	uint32_t header;		/* its BLOCK command */
	uint32_t first;			/* its other commands: [first, end) */
	uint32_t end;
	uint32_t depth;
	bool named;			/* some command enters it */
	uint64_t base;			/* fixed programs: its place in the arena */
};

/* One command of a loaded program. */
struct program_cmd {
	uint32_t opcode;
	const struct op_desc *desc;	/* NULL: control command */
	uint32_t target[2];		/* BRANCH, LOOP: numbers of blocks */
	uint32_t operands;		/* position in program.operands: inputs, outputs */
	uint16_t num_inputs;
	uint16_t num_outputs;
	bool infer;			/* output shapes are found while the job runs */
	uint64_t scratch;		/* fixed programs: bytes the command needs for itself */
	void *prepared;
};

/* A place in memory for a tensor that lives from command @first to @last. */
struct plan_item {
	uint64_t size;
	uint64_t offset;
	uint32_t first;
	uint32_t last;
	uint32_t tensor;		/* or number of tensors + command, for its scratch */
};

struct program {
	unsigned int refs;		/* dev->lock */
	uint64_t serial;
	struct nnpu_ctx *ctx;
	uint64_t memory;		/* bytes accounted */
	bool relaxed;
	bool fixed;			/* all shapes known: @arena_size and @offsets hold */
	uint32_t num_tensors;
	uint32_t num_cmds;
	uint32_t num_operands;
	uint16_t num_inputs;
	uint16_t num_outputs;
	struct tensor *tensors;		/* constants have data; others have none */
	struct program_cmd *cmds;
	struct program_block *blocks;
	uint32_t num_blocks;
	uint8_t *roles;			/* by tensor: enum tensor_role */
	uint32_t *operands;		/* tensor indexes, command by command */
	uint32_t *inputs;		/* tensor indexes */
	uint32_t *outputs;
	uint32_t *last_use;		/* by tensor: last command that needs it */
	uint64_t *offsets;		/* by plan_item.tensor: place in the arena */
	uint64_t arena_size;
	void *constants;
	float *channel_scales;
	uint8_t *params;		/* of extensions' types */
};

struct nnpu_queue {
	uint16_t id;
	bool exists;
	uint8_t flags;
	uint16_t vector;
	struct nnpu_ctx *ctx;		/* owner or NULL */
	uint64_t sq_addr;
	uint64_t cq_addr;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t sq_head;
	uint32_t sq_tail;
	uint32_t cq_head;
	uint32_t cq_tail;		/* next entry to write */
	uint16_t phase;
	bool armed;
	uint32_t arm_head;
	bool stopped;
	uint16_t error;			/* NNPU_STATUS_* that stopped it */
	bool busy;			/* an engine works on it */
	bool running;			/* an entry is executing: @cid */
	uint16_t cid;
	bool dropping;			/* reset or destroyed: no completion any more */
	bool held;			/* to be suspended: nothing is fetched */
	/* sched.c */
	uint8_t priority;
	bool active;			/* has work, waiting or on an engine */
	bool ready;			/* has work that waits: is in the list of its level */
	uint64_t vtime;			/* device time used, ns; what arbitration makes of it */
	uint64_t busy_ns;		/* device time used since power-on, whoever it was for */
	struct nnpu_queue *prev;
	struct nnpu_queue *next;
	atomic_bool abort;
	atomic_uint progress;
	/* queue.c: what doorbell and engine hand over to each other without dev->lock. */
	_Alignas(CACHE_LINE) atomic_uint_least64_t bell;
};

/* The queues of one priority. */
struct sched_level {
	struct nnpu_queue *first;	/* with work that waits, oldest first */
	struct nnpu_queue *last;
	unsigned int active;		/* queues with work, waiting or on an engine */
	unsigned int passed;		/* jobs of higher levels in a row while work waits */
	uint64_t vtime;			/* where a queue starts that gets work again, ns */
};

/* Memory of an engine for tensors of jobs; kept between jobs. */
struct arena_chunk {
	uint8_t *base;
	size_t size;
	uint64_t owner;			/* serial of the context whose bytes it holds */
	uint64_t charged;		/* bytes of it that this job was charged for */
};

struct arena {
	struct arena_chunk *chunks;
	uint32_t count;
	uint32_t max;
	uint32_t used;			/* chunks below it may be charged for */
};

/* Where an output of a block is to be, when shapes are found while it runs. */
struct home {
	const struct tensor *outer;	/* what it is for; @data has room for its shape */
	uint8_t *data;			/* NULL: a piece of the arena */
	uint32_t chunk;
};

/* What a job did beside its operations. */
struct exec_work {
	uint32_t inferences;		/* commands whose output shapes it found */
	uint32_t allocations;		/* of memory for itself */
	uint32_t copies;		/* of tensors within device memory */
};

/* Buffers of an engine that grow with the largest job. */
struct exec_state {
	struct exec_work work;
	struct arena arena;
	uint64_t charged;		/* bytes charged to the context for this job */
	struct tensor *tensors;
	uint32_t max_tensors;
	struct tensor **operands;
	uint32_t max_operands;
	struct tensor *saved;
	uint32_t max_saved;
	void **scratch;			/* by command, where it needs some */
	uint32_t max_scratch;
	struct home *homes;		/* by tensor: outputs of blocks */
	uint32_t max_homes;
	uint64_t bound;			/* serial of the fixed program the above belong to */
	const uint8_t *bound_base;	/* and the memory they point to */
	bool has_memory;
	uint8_t *args;
	uint32_t max_args_len;
	struct nnpu_profile *profile;
	uint32_t max_profile;
	uint32_t *profile_of;		/* by command: number of its record + 1 */
	uint32_t max_profile_of;
};

struct nnpu_engine {
	struct nnpu_device *dev;
	unsigned int id;
	pthread_t thread;
	bool started;
	bool busy;			/* dev->lock; exec is the thread's while set */
	bool trim;			/* ... and its memory goes back when it is not */
	uint64_t busy_since;		/* ns */
	struct nnpu_ctx *ctx;		/* of the job that runs; dev->lock */
	struct job_progress progress;
	struct exec_state exec;
	/* The context whose slots it holds. The control thread looks: a line of its own. */
	_Alignas(CACHE_LINE) _Atomic(struct nnpu_ctx *) slots_of;
};

struct nnpu_device {
	struct nnpu_device_props props;
	const struct nnpu_bus_ops *ops;
	void *bus;
	struct nnpu_queue *queues;	/* num_queues + 1, admin queue first */

	_Alignas(CACHE_LINE) pthread_mutex_t lock;
	pthread_cond_t work;		/* engines: something to run, stop, exit */
	pthread_cond_t event;		/* control thread and stalled jobs */
	/* Waking a thread costs more than a job: only who sleeps is woken. */
	unsigned int sleeping;		/* engines that wait for @work */
	unsigned int polling;		/* engines that watch @work_seq */
	bool awaiting_jobs;		/* the control thread waits for a job to end */

	/* The device stops (disable, reset, FATAL, exit): let go of memory. */
	atomic_bool stop;
	atomic_uint work_seq;		/* changes with new work, for engines that poll */
	bool exiting;
	bool stopping;			/* control thread has to end everything */
	bool resetting;			/* ... and bring back reset values */
	bool power_on;			/* ... of counters, too */
	bool ready;
	bool fatal;
	uint16_t fatal_code;

	uint32_t ctrl;
	uint32_t admin_size;
	uint64_t admin_sq;
	uint64_t admin_cq;
	uint32_t latch_mem;
	uint32_t latch_peak;
	uint32_t latch_clock;
	uint32_t latch_jobs;
	uint32_t latch_busy;
	uint32_t fault_status;
	uint32_t fault_info;
	uint32_t inject[NNPU_INJECT_NUM];
	uint64_t power_on_ns;
	uint64_t jobs;
	uint64_t busy_ns;
	uint64_t mem_used;
	uint64_t mem_peak;		/* since power-on */
	unsigned int num_contexts;
	unsigned int num_programs;
	uint64_t next_serial;
	unsigned int perf_level;	/* NNPU_PERF_* */

	pthread_mutex_t irq_lock;	/* platform devices: status and line */
	uint32_t irq_status;
	uint32_t irq_mask;

	struct sched_level levels[NNPU_QUEUE_PRIORITY_NUM];
	unsigned int num_ready;		/* queues in the lists of the levels */
	struct nnpu_ctx **contexts;	/* max_contexts + 1 */

	pthread_t control;
	bool control_started;
	struct nnpu_engine *engines;
};

/* device_model.c */
uint64_t dev_now(struct nnpu_device *dev);
bool dev_log_wanted(struct nnpu_device *dev, enum nnpu_log_level level);
void dev_log(struct nnpu_device *dev, enum nnpu_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* dev->lock held. */
void dev_fault(struct nnpu_device *dev, unsigned int fault, unsigned int qid, unsigned int cid);
bool dev_inject(struct nnpu_device *dev, unsigned int kind);
uint64_t dev_features(const struct nnpu_device *dev);

/* reset.c; dev->lock held. */
void dev_fatal(struct nnpu_device *dev, unsigned int code, struct irqs *irqs);
/* A write to register CTRL. */
void device_write_ctrl(struct nnpu_device *dev, uint32_t value, struct irqs *irqs);
/* Have the control thread end everything. */
void device_stop(struct nnpu_device *dev);
/* Control thread: wait for the engines, then forget everything. */
void dev_end_everything(struct nnpu_device *dev);

/* threads.c */
/* False: no thread to be had; those that run have to be joined. */
bool threads_start(struct nnpu_device *dev);
void threads_join(struct nnpu_device *dev);
/* Control thread: sleep until something about jobs has changed. dev->lock held. */
void dev_await_jobs(struct nnpu_device *dev);
/* A job has ended. dev->lock held. */
void dev_job_ended(struct nnpu_device *dev);
void dev_set_perf(struct nnpu_device *dev, unsigned int level);

/* interrupts.c */
void irqs_add(struct irqs *irqs, unsigned int vector);
/* dev->lock not held. */
void irqs_raise(struct nnpu_device *dev, const struct irqs *irqs);
/* Platform devices: change status and mask (may be NULL) and the line with them. */
void irq_line_update(struct nnpu_device *dev, uint32_t set, uint32_t clear,
		     const uint32_t *mask);

/* memory_accounting.c */
/* Device memory: false if the device or the context (may be NULL) has too little. */
bool dev_mem_reserve(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes);
void dev_mem_release(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes);

/* queue.c */
/* A write to register @reg of a doorbell page. dev->lock not held. */
void queue_doorbell(struct nnpu_device *dev, unsigned int qid, uint32_t reg, uint32_t value);

/* dev->lock held. */
void queue_init(struct nnpu_device *dev, struct nnpu_queue *q);
void queue_stop(struct nnpu_device *dev, struct nnpu_queue *q, unsigned int fault,
		unsigned int status, struct irqs *irqs);
/* An engine begins or ends to serve the queue, or looks for more entries meanwhile. */
void queue_serve_begin(struct nnpu_queue *q);
/* It will look soon: fetched now, and to be written, it is there by then. */
static inline void queue_expect_tail(const struct nnpu_queue *q)
{
	prefetch_for_write((const void *)&q->bell);
}

void queue_serve_end(struct nnpu_device *dev, struct nnpu_queue *q);
void queue_take_tail(struct nnpu_device *dev, struct nnpu_queue *q);
/* Is there a tail to take? dev->lock need not be held. */
bool queue_is_rung(const struct nnpu_queue *q);
/* Has the queue room for @count completions? */
bool queue_has_room(const struct nnpu_queue *q, uint32_t count);
/*
 * Take a state for SUSPEND_QUEUE: status. With SUCCESS nothing changes the queue any
 * more, until queue_init() or queue_unsuspend().
 */
unsigned int queue_suspend(struct nnpu_device *dev, struct nnpu_queue *q, bool idle,
			   struct nnpu_queue_state *state);
void queue_unsuspend(struct nnpu_device *dev, struct nnpu_queue *q);
/* Go on from a state that was checked; before the queue exists. */
void queue_resume(struct nnpu_queue *q, const struct nnpu_queue_state *state,
		  struct irqs *irqs);

/*
 * Fetching in two steps: read entries of a queue that nobody else serves (without
 * dev->lock), then account for each (with dev->lock): 0 or -1. How many wait that lie
 * side by side; whether any may be fetched.
 */
uint32_t queue_entries_waiting(const struct nnpu_queue *q);
bool queue_has_work(const struct nnpu_queue *q);
int queue_read_entries(struct nnpu_device *dev, const struct nnpu_queue *q, uint32_t first,
		       struct nnpu_sqe *sqe, uint32_t count);
/* A hint: entries from @first on will be read next; the next completion will be written. */
void queue_prefetch(struct nnpu_device *dev, const struct nnpu_queue *q, uint32_t first,
		    uint32_t count);
int queue_entry_read(struct nnpu_device *dev, struct nnpu_queue *q, int ret,
		     struct irqs *irqs);
/* Write a completion, if anybody waits for some of this queue. */
void queue_complete(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		    const struct verdict *v, uint64_t result, bool interrupt,
		    struct irqs *irqs);

/* sched.c; dev->lock held. */
/* Something about the queue has changed that decides whether it has work. */
void sched_update(struct nnpu_device *dev, struct nnpu_queue *q);
/* The queue to serve next, or NULL. */
struct nnpu_queue *sched_pick(struct nnpu_device *dev);
/* The queue, busy still, has used the device. */
void sched_charge(struct nnpu_queue *q, uint64_t ns);
/* Wake an engine if there is more work than engines that look for it. */
void sched_wake(struct nnpu_device *dev);

/* engine.c */
/* The life of an engine's thread. */
void engine_run(struct nnpu_engine *e);

/* admin.c */
/* The life of the control thread. */
void control_run(struct nnpu_device *dev);

/* dma.c: 0 or -1. Fail at once when the device stops. */
int dev_dma_read(struct nnpu_device *dev, uint64_t addr, void *buf, size_t len);
int dev_dma_write(struct nnpu_device *dev, uint64_t addr, const void *buf, size_t len);
int dev_dma_publish(struct nnpu_device *dev, uint64_t addr, const void *buf, size_t len);
/* Can this be the memory of a slot or image? false if malformed. */
bool mem_map_init(struct mem_map *map, const struct nnpu_mem *mem);
/* Status; the range must be inside the map. @kept counts nodes kept, or is NULL. */
unsigned int mem_map_access(struct nnpu_device *dev, struct mem_map *map, uint64_t offset,
			    void *buf, size_t len, enum dma_dir dir, atomic_uint *kept);
/* Have page table nodes kept from now on; false: no memory. */
bool mem_map_keep(struct mem_map *map);
void mem_map_fini(struct mem_map *map);

/* slots.c */
struct nnpu_ctx *ctx_create(struct nnpu_device *dev, uint32_t id, uint64_t slot_table,
			    uint32_t num_slots, uint64_t mem_limit);
void ctx_free(struct nnpu_ctx *ctx);
void ctx_invalidate(struct nnpu_ctx *ctx, uint32_t first, uint32_t count);
/*
 * Copy between @buf and a slot: status. Little at once, and the slots are held afterwards;
 * much piece by piece, and they are not. @progress may be NULL; with it an abort ends the
 * latter with ABORTED. @e: NULL for the control thread, which alone changes slots.
 */
unsigned int slot_access(struct nnpu_ctx *ctx, struct nnpu_engine *e, uint32_t slot,
			 uint64_t offset, void *buf, uint64_t len, enum dma_dir dir,
			 struct job_progress *progress);
/*
 * Several small things in a row: between the first two functions the slots stay as they
 * are, and INVALIDATE_SLOTS waits; what is held already, or not held, is no mistake. Check
 * slot, rights and range; or copy as well. Status.
 */
void slots_hold(struct nnpu_engine *e, struct nnpu_ctx *ctx);
static inline void slots_release(struct nnpu_engine *e)
{
	/* The accesses first. */
	atomic_store_explicit(&e->slots_of, NULL, memory_order_release);
}

unsigned int slot_copy(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, void *buf,
		       size_t len, enum dma_dir dir);
unsigned int slot_check(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, uint64_t len,
			enum dma_dir dir);

/* program_image.c */
/* Read and validate header and tensors; 0 or -1 with the verdict. */
int image_parse_header(const uint8_t *data, uint64_t size, unsigned int max_args,
		       struct nnpu_program_header *header, struct verdict *v);
int image_parse_tensor(const uint8_t *image, const struct nnpu_program_header *header,
		       uint32_t index, uint64_t max_bytes, struct tensor *t,
		       struct nnpu_tensor_desc *desc, struct verdict *v);
int image_parse_interface(const uint8_t *image, const struct nnpu_program_header *header,
			  struct program *p, struct verdict *v);
/*
 * A command of block number @block. @owner (by tensor) gets block number + 1 for what
 * the command gives a value.
 */
int image_parse_command(const uint8_t *image, const struct nnpu_program_header *header,
			uint32_t index, struct program *p, uint32_t block,
			uint32_t *owner, struct nnpu_command *cmd, struct verdict *v);
void image_get_command(const uint8_t *image, const struct nnpu_program_header *header,
		       uint32_t index, struct nnpu_command *cmd);
uint32_t image_get_index(const uint8_t *image, const struct nnpu_program_header *header,
			 uint32_t position);
/* Operands of all commands, and blocks; fails if operands are unreasonably many. */
int image_count(const uint8_t *image, const struct nnpu_program_header *header,
		uint32_t *operands, uint32_t *blocks, struct verdict *v);
/* Number of the block that begins with command @header; 0: none does. */
uint32_t program_find_block(const struct program *p, uint32_t header);
/* Bring shape_known and bytes in line with rank and dims; false: above @max_bytes. */
bool tensor_settle(struct tensor *t, uint64_t max_bytes);

/* program_load.c */
struct load_request {
	struct nnpu_ctx *ctx;
	const uint8_t *image;
	uint64_t size;
	/* Check only: verdicts per command, allocated by program_load(). */
	bool check;
	uint32_t num_reports;
	struct nnpu_command_report *reports;
};

/* The program with one reference, or NULL with the verdict (SUCCESS when checking). */
struct program *program_load(struct load_request *request, struct verdict *v);
void program_put(struct program *p);
/* The last reference is gone already; dev->lock not held. */
void program_free(struct program *p);

/* Work in progress on one program. */
struct loader {
	struct load_request *request;
	struct nnpu_device *dev;
	const uint8_t *image;
	struct nnpu_program_header header;
	struct program *p;
	struct nnpu_tensor_desc *descs;
	uint32_t block;			/* of the command at hand */
	uint32_t *owner;		/* by tensor: number + 1 of the block that writes it */
	struct tensor **operands;	/* of the command at hand */
	uint32_t max_operands;
	struct tensor *saved;		/* its outputs as the records have them */
	uint32_t max_saved;
	struct verdict *v;
};

/* control_flow.c; 0 or -1 with the verdict. */
void control_find_blocks(struct loader *l);
/* BRANCH, LOOP, BLOCK: operands are in l->operands. */
int control_load(struct loader *l, uint32_t index);
/* The block at hand ends before command @end. */
int control_end_block(struct loader *l, uint32_t end);
/* BRANCH, LOOP again, with all that was found out about the blocks. */
int control_recheck(struct loader *l, uint32_t index);
/* Can its blocks be entered without looking at shapes? Then *@scratch is what it needs. */
bool control_is_fixed(const struct program *p, const struct program_cmd *cmd,
		      uint64_t *scratch);
/* Do all dimensions agree that both know? */
bool shapes_compatible(const struct tensor *a, const struct tensor *b);

static inline bool cmd_is_control(const struct program_cmd *cmd)
{
	return cmd->opcode == NNPU_CMD_BRANCH || cmd->opcode == NNPU_CMD_LOOP;
}

static inline uint64_t tensor_round_up(uint64_t bytes)
{
	return (bytes + TENSOR_ALIGN - 1) & ~(uint64_t)(TENSOR_ALIGN - 1);
}

/* memory_plan.c */
/* Fills in the offsets; returns the bytes needed. */
uint64_t plan_place(struct plan_item *items, uint32_t count);
/* The arena of a program whose shapes are all known: 0, -1 if memory is short. */
int plan_program(struct program *p);

/* job.c */
struct job {
	struct nnpu_engine *engine;
	struct nnpu_ctx *ctx;
	struct program *program;
	const struct nnpu_sqe_execute *sqe;
	uint64_t fetched_ns;
	uint64_t start_ns;		/* 0: when job_run() is called */
	bool fail_dma;			/* injected */
	/* Results. */
	struct verdict verdict;
	uint64_t exec_ns;
	uint64_t end_ns;		/* 0: it did not run */
	uint64_t next_ns;		/* end_ns if nothing was written after it, else 0 */
};

/* Checks an entry by itself: 0 or -1 with the verdict. */
int job_check_entry(const struct nnpu_queue *q, const struct nnpu_sqe_execute *sqe,
		    struct verdict *v);
void job_run(struct job *job);

/* executor.c */
/*
 * Ask the operation for the shapes of its outputs; @saved gets what they were before.
 * 0; 1 if a value is needed that is not there; -1 with call->error.
 */
int shapes_infer(const struct op_call *call, struct tensor *saved, uint64_t max_bytes);
/* Do the outputs have every dimension that @declared gives? 0 or -1 with call->error. */
int shapes_agree(const struct op_call *call, const struct tensor *declared);
bool shape_agrees(const struct tensor *declared, const struct tensor *actual);
struct exec_run {
	struct nnpu_engine *engine;
	struct nnpu_ctx *ctx;
	const struct program *program;
	struct nnpu_arg *args;		/* checked, inputs first */
	uint32_t max_profile;		/* records wanted */
	uint32_t num_profile;
	uint64_t start_ns;
	bool fail_dma;
	bool omitted;			/* some input has no value */
	bool shapes_valid;		/* exec.tensors are those of this run */
	bool batches;			/* shapes are found while the commands run */
	struct plan_item *items;	/* room to lay out one batch */
	uint32_t next_chunk;		/* first piece of the arena that is not in use */
	uint64_t loop_timeout_ns;	/* of each loop */
	uint64_t loop_end_ns;		/* of the outermost loop that runs; 0: none */
	struct verdict *verdict;
};

/* Among executor.c and dynamic_shapes.c; 0 or -1 with the verdict. */
int exec_bind(struct exec_run *run);
int exec_read_inputs(struct exec_run *run);
int exec_command(struct exec_run *run, uint32_t index);
int exec_no_memory(struct exec_run *run);
int exec_op_failed(struct exec_run *run, uint32_t index, unsigned int reason,
		   unsigned int operand);
void exec_make_call(struct exec_run *run, uint32_t index, struct op_call *call,
		    struct op_error *error);
/* Piece @index of the arena with at least @size bytes, without bytes of others, or NULL. */
uint8_t *exec_arena(struct exec_run *run, uint32_t index, uint64_t size);
/* Time for a loop begins; true if it is not inside of another one. */
bool exec_loop_begin(struct exec_run *run);
/* Once around: has its time passed? */
int exec_loop_check(struct exec_run *run, uint32_t index);
int batch_run(struct exec_run *run);
int batch_control(struct exec_run *run, uint32_t index);

/*
 * Read inputs, run all commands; 0 or -1 with the verdict. Tensors of the outputs
 * are in exec.tensors afterwards, as far as it came.
 */
int exec_program(struct exec_run *run);
/* Give back what the job was charged for. */
void exec_end(struct nnpu_engine *e, struct nnpu_ctx *ctx);
/* Give memory of an engine that is not busy back; dev->lock held. */
void exec_trim(struct nnpu_engine *e);
void exec_fini(struct nnpu_engine *e);
/* Room for @count objects of @size in *@p; false: no memory. */
bool exec_grow(void **p, uint32_t *max, uint32_t count, size_t size);
/* The same for what a job needs, counted. */
bool exec_room(struct exec_state *x, void **p, uint32_t *max, uint32_t count, size_t size);
/* Copy a tensor that no operation is about, counted. */
void exec_copy(struct exec_state *x, const struct tensor *to, const void *from);

#endif /* NNPU_INTERNAL_H */
