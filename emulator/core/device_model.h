/* SPDX-License-Identifier: MIT */
/*
 * The NNPU device model: its interface to a glue (QEMU, in-process).
 *
 * A device is created with properties and a bus. It is driven like hardware, by register
 * reads and writes and doorbell writes, and answers with DMA and interrupts through the
 * bus. Documentation/hardware/ specifies its behaviour.
 *
 * Threads: one control thread executes admin commands and resets; workers run jobs, at any
 * time as many of them as there are engines. A worker starts when a job is to give way and none
 * is spare: with Q queues and C contexts up to Q + C more than engines. Helpers compute parts of
 * jobs beside the workers; there is one fewer than @num_threads. Loaders load programs,
 * one of them at a time; there are up to C. One thread gives memory back. Register and doorbell
 * accesses may come from any thread at any time. They take a lock for a few instructions,
 * never wait for a job, a command or DMA, and never call dma_*(). They may call raise_irq() and
 * log().
 */
#ifndef NNPU_EMU_DEVICE_MODEL_H
#define NNPU_EMU_DEVICE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds of the properties. */
#define NNPU_DEVICE_MAX_QUEUES		256
#define NNPU_DEVICE_MAX_ENGINES		16
#define NNPU_DEVICE_MAX_THREADS		16
#define NNPU_DEVICE_MAX_CONTEXTS	1024
#define NNPU_DEVICE_MAX_VECTORS		2048
#define NNPU_DEVICE_MAX_OPERANDS	(1u << 22)
#define NNPU_DEVICE_MIN_MEMORY		(1ull << 20)
#define NNPU_DEVICE_MAX_MEMORY		(1ull << 40)

/* Identification of this model, unique per version. */
#define NNPU_DEVICE_NAME		"NNPU emulated accelerator"
#define NNPU_DEVICE_FIRMWARE		"nnpu-emu 1.0.0"

/* Longest change of CTRL, ms (register TIMEOUT_MS). */
#define NNPU_DEVICE_TIMEOUT_MS		5000

/**
 * struct nnpu_device_props - what kind of device this is
 * @num_queues: I/O queues, 1 .. NNPU_DEVICE_MAX_QUEUES
 * @num_engines: jobs at the same time, 1 .. NNPU_DEVICE_MAX_ENGINES
 * @num_threads: threads that compute at the same time, 1 .. NNPU_DEVICE_MAX_THREADS. An engine that
 *	runs is one of them; those that engines leave help with the jobs that run. Outputs do not
 *	depend on it. More than the host has CPUs makes jobs slower
 * @num_vectors: interrupt vectors, 1 .. NNPU_DEVICE_MAX_VECTORS
 * @max_contexts: contexts, 1 .. NNPU_DEVICE_MAX_CONTEXTS
 * @max_slots_log2: log2 of the slots of a context, 0 .. 16
 * @max_programs: programs of a context, 1 .. 65535
 * @max_args: inputs plus outputs of a job, 2 .. 65535
 * @max_entries_log2: log2 of the largest ring, 1 .. 16
 * @max_db_stride: log2 of the largest doorbell page, 12 .. 16; the window has room for it
 * @memory_size: device memory for programs and activations, bytes
 * @max_operand_size: largest tensor, bytes, at most @memory_size
 * @poll_ns: how long an idle engine polls for work before it sleeps, at most 1 s.
 *	Trades host CPU time against the latency of the first job. At NNPU_PERF_LOW
 *	it does not poll, at NNPU_PERF_HIGH it polls for at least 0.5 ms
 * @max_loads: loads that the device holds at a time, 1 .. 65536
 * @max_operands: operands of all commands of a program, 1 .. NNPU_DEVICE_MAX_OPERANDS
 * @slices: jobs give way, and groups and contexts have shares of device time
 * @load_turns: loads of different contexts take turns
 * @inject: fault injection register works
 * @null_mode: jobs complete without computing
 * @examples: the device has its example extension, com.example.fibonacci, too
 * @refused: operations that the device does not have: bit n % 64 of word n / 64 is for number n
 * @platform_irq: IRQ_STATUS and IRQ_MASK exist and the bus has set_irq_level()
 */
struct nnpu_device_props {
	unsigned int num_queues;
	unsigned int num_engines;
	unsigned int num_threads;
	unsigned int num_vectors;
	unsigned int max_contexts;
	unsigned int max_slots_log2;
	unsigned int max_programs;
	unsigned int max_args;
	unsigned int max_entries_log2;
	unsigned int max_db_stride;
	uint64_t memory_size;
	uint64_t max_operand_size;
	uint64_t poll_ns;
	unsigned int max_loads;
	unsigned int max_operands;
	bool slices;
	bool load_turns;
	bool inject;
	bool null_mode;
	bool examples;
	uint64_t refused[2];
	bool platform_irq;
};

enum nnpu_log_level {
	/* Software did something the specification does not allow. */
	NNPU_LOG_GUEST_ERROR,
	/* One line per command, job and state change. */
	NNPU_LOG_TRACE,
};

/**
 * struct nnpu_bus_ops - how the device reaches memory, interrupts and clock
 *
 * dma_*() are called by the device's own threads only, never with a lock of the
 * device held that a register access takes. The others are called by device
 * threads and from within register and doorbell accesses.
 */
struct nnpu_bus_ops {
	/* Copy @len bytes from or to DMA address @addr; 0, or -1 on a bus error. */
	int (*dma_read)(void *bus, uint64_t addr, void *buf, size_t len);
	int (*dma_write)(void *bus, uint64_t addr, const void *buf, size_t len);
	/*
	 * Write @len bytes within one page. The last two bytes, which are 2-byte aligned,
	 * become visible with a single access, after all others and after every
	 * dma_write() of the same thread. Software polls these bytes.
	 */
	int (*dma_publish)(void *bus, uint64_t addr, const void *buf, size_t len);
	/* Raise interrupt vector @vector once. Must not wait for a device thread. */
	void (*raise_irq)(void *bus, unsigned int vector);
	/* Level of the one interrupt line; only with @platform_irq, else NULL. */
	void (*set_irq_level)(void *bus, bool level);
	/* A clock that never goes back, ns. */
	uint64_t (*now_ns)(void *bus);
	/*
	 * Call nnpu_device_alarm() when now_ns() is @ns or a little more, from a thread that is
	 * none of the device's. There is one alarm, and it is set again only after that call.
	 * NULL: no process on this bus can raise interrupts of another one, and none is put off.
	 */
	void (*set_alarm)(void *bus, uint64_t ns);
	/* Is an access to memory in progress? NULL: software has no need to know. */
	bool (*dma_busy)(void *bus);
	/* May be NULL. @text has no newline and is valid during the call only. */
	void (*log)(void *bus, enum nnpu_log_level level, const char *text);
	/*
	 * Called first and last on each thread of the device, for glues that have to
	 * register threads. May be NULL.
	 */
	void (*thread_begin)(void *bus, const char *name);
	void (*thread_end)(void *bus);
	/* Are lines of this level logged? NULL: guest errors only. */
	bool (*log_wanted)(void *bus, enum nnpu_log_level level);
};

struct nnpu_device;

/* Default properties. */
void nnpu_device_default_props(struct nnpu_device_props *props);

/*
 * Check that all properties are in range. 0, or -1 with a text in @error (of @size bytes)
 * that names the property and its range.
 */
int nnpu_device_check_props(const struct nnpu_device_props *props, char *error, size_t size);

/*
 * Create a device in its power-on state and start its threads. @ops must outlive the
 * device. NULL with a text in @error if a property is out of range, or if memory or
 * threads cannot be allocated.
 */
struct nnpu_device *nnpu_device_create(const struct nnpu_device_props *props,
				       const struct nnpu_bus_ops *ops, void *bus,
				       char *error, size_t size);

/*
 * Abort all jobs, end the threads and free the device. Waits for the threads, so the
 * caller must not hold a lock that a bus operation takes. No other function of the device
 * may run, or be called afterwards.
 */
void nnpu_device_destroy(struct nnpu_device *dev);

/*
 * Power-on reset: like CTRL.RESET, and the counters and the clock restart at 0. Does not
 * wait: STATUS.RESETTING reads 1 until the threads no longer access memory.
 */
void nnpu_device_power_on_reset(struct nnpu_device *dev);

/*
 * The machine around the device stands still; it goes on. Between the two the device begins no
 * access to memory, and its threads wait at their next point. Neither function waits: the caller
 * waits for accesses that had begun, as nnpu_device_may_access() says. What it raises meanwhile
 * the glue keeps, and now_ns() does not advance. A reset and the end of the device need no resume.
 */
void nnpu_device_pause(struct nnpu_device *dev);
void nnpu_device_resume(struct nnpu_device *dev);

/*
 * False: a reset, the end of the device or a pause has begun, and no access to memory may begin.
 * A glue that has to wait for accesses marks one as begun, asks this, and fails the access if it
 * must not be. So whoever has called nnpu_device_power_on_reset() or nnpu_device_pause() waits
 * until no access is marked, and then none is in progress and none begins.
 */
bool nnpu_device_may_access(const struct nnpu_device *dev);

/* The alarm of set_alarm(). */
void nnpu_device_alarm(struct nnpu_device *dev);

/* Register window. Accesses that are not 32-bit and aligned read 0 and write nothing. */
uint32_t nnpu_device_reg_read(struct nnpu_device *dev, uint64_t offset, unsigned int size);
void nnpu_device_reg_write(struct nnpu_device *dev, uint64_t offset, uint64_t value,
			   unsigned int size);

/* Doorbell window: queue q at q << DB_STRIDE. Reads of it are 0. */
void nnpu_device_doorbell_write(struct nnpu_device *dev, uint64_t offset, uint64_t value,
				unsigned int size);

/* Bytes of the doorbell window: a page of the largest size per queue, to a power of two. */
uint64_t nnpu_device_doorbell_size(const struct nnpu_device_props *props);

#endif /* NNPU_EMU_DEVICE_MODEL_H */
