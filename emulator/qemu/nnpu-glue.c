// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the device is in QEMU 7.2, whatever bus it is on.
 *
 * Registers and doorbells are accessed with the big lock (BQL) held. The device model
 * handles them without waiting. Its threads do DMA and jobs and never take the BQL.
 * Interrupts need it: a bottom half raises them. While the machine is stopped the device is
 * paused: its clock stands still, it accesses no memory and raises no interrupt.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "sysemu/runstate.h"

#include "nnpu-glue.h"
#include "nnpu_hw.h"

/* Bus: threads of the device. */

int nnpu_glue_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	NnpuGlue *glue = bus;

	return nnpu_dma_read(&glue->dma, addr, buf, len);
}

int nnpu_glue_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	NnpuGlue *glue = bus;

	return nnpu_dma_write(&glue->dma, addr, buf, len);
}

int nnpu_glue_publish(void *bus, uint64_t addr, const void *buf, size_t len)
{
	NnpuGlue *glue = bus;

	return nnpu_dma_publish(&glue->dma, addr, buf, len);
}

/* It stands still with the machine. */
uint64_t nnpu_glue_now_ns(void *bus)
{
	return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

void nnpu_glue_set_alarm(void *bus, uint64_t ns)
{
	NnpuGlue *glue = bus;

	timer_mod(glue->alarm, ns);
}

bool nnpu_glue_dma_busy(void *bus)
{
	NnpuGlue *glue = bus;

	return nnpu_dma_is_busy(&glue->dma);
}

bool nnpu_glue_log_wanted(void *bus, enum nnpu_log_level level)
{
	NnpuGlue *glue = bus;

	return level == NNPU_LOG_GUEST_ERROR ? qemu_loglevel_mask(LOG_GUEST_ERROR) :
					       glue->props.trace;
}

void nnpu_glue_log(void *bus, enum nnpu_log_level level, const char *text)
{
	if (level == NNPU_LOG_GUEST_ERROR)
		qemu_log_mask(LOG_GUEST_ERROR, "nnpu: %s\n", text);
	else
		qemu_log("nnpu: %s\n", text);
}

/* Guest memory is looked up under RCU, so the thread registers as a reader. */
void nnpu_glue_thread_begin(void *bus, const char *name)
{
	NnpuGlue *glue = bus;

	rcu_register_thread();
	nnpu_dma_thread_begin(&glue->dma);
	pthread_setname_np(pthread_self(), name);
}

void nnpu_glue_thread_end(void *bus)
{
	NnpuGlue *glue = bus;

	nnpu_dma_thread_end(&glue->dma);
	rcu_unregister_thread();
}

/*
 * Registers and doorbells. While the device is removed an access may still arrive. It reads
 * all ones, as from a device that has dropped off the bus.
 */

static uint64_t nnpu_regs_read(void *opaque, hwaddr addr, unsigned int size)
{
	NnpuGlue *glue = opaque;

	if (!glue->device || glue->deaf)
		return UINT64_MAX;
	return nnpu_device_reg_read(glue->device, addr, size);
}

static void nnpu_regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	NnpuGlue *glue = opaque;

	if (glue->device && !glue->deaf)
		nnpu_device_reg_write(glue->device, addr, value, size);
}

static uint64_t nnpu_doorbells_read(void *opaque, hwaddr addr, unsigned int size)
{
	NnpuGlue *glue = opaque;

	return glue->device && !glue->deaf ? 0 : UINT64_MAX;
}

static void nnpu_doorbells_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	NnpuGlue *glue = opaque;

	if (glue->device && !glue->deaf)
		nnpu_device_doorbell_write(glue->device, addr, value, size);
}

/* All sizes and alignments are allowed here: the device model judges them. */
static const MemoryRegionOps nnpu_regs_ops = {
	.read = nnpu_regs_read,
	.write = nnpu_regs_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
	.impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

static const MemoryRegionOps nnpu_doorbells_ops = {
	.read = nnpu_doorbells_read,
	.write = nnpu_doorbells_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
	.impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

/* Life. */

bool nnpu_glue_init(NnpuGlue *glue, Object *owner, unsigned int max_vectors,
		    struct nnpu_device_props *props, Error **errp)
{
	NnpuGlueProps *p = &glue->props;
	char error[128];

	nnpu_device_default_props(props);
	props->num_queues = p->queues;
	props->num_engines = p->engines;
	props->num_threads = p->threads;
	props->memory_size = p->memory;
	if (props->max_operand_size > p->memory)
		props->max_operand_size = p->memory;
	props->poll_ns = p->poll_us * 1000ull;
	props->max_db_stride = p->db_stride;
	props->max_loads = p->max_loads;
	props->slices = p->slices;
	props->load_turns = p->load_turns;
	props->inject = p->inject;
	props->null_mode = p->null_mode;
	props->examples = p->examples;
	props->num_vectors = p->vectors ? p->vectors : MIN(p->queues + 1ull, max_vectors);
	if (props->num_vectors > max_vectors) {
		error_setg(errp, "vectors is %u, must be at most %u", props->num_vectors,
			   max_vectors);
		return false;
	}
	if (nnpu_device_check_props(props, error, sizeof(error))) {
		error_setg(errp, "%s", error);
		return false;
	}
	memory_region_init_io(&glue->regs, owner, &nnpu_regs_ops, glue, "nnpu-registers",
			      NNPU_REGS_SIZE);
	memory_region_init_io(&glue->doorbells, owner, &nnpu_doorbells_ops, glue,
			      "nnpu-doorbells", nnpu_device_doorbell_size(props));
	return true;
}

/* The machine stops or goes on. When it stands still, the device does. */
static void nnpu_vm_state(void *opaque, bool running, RunState state)
{
	NnpuGlue *glue = opaque;

	glue->is_stopped = !running;
	if (running) {
		nnpu_device_resume(glue->device);
		qemu_bh_schedule(glue->irq_bh);
		return;
	}
	nnpu_device_pause(glue->device);
	nnpu_dma_wait_idle(&glue->dma);
}

static void nnpu_alarm(void *opaque)
{
	NnpuGlue *glue = opaque;

	nnpu_device_alarm(glue->device);
}

void nnpu_glue_power_on_reset(NnpuGlue *glue)
{
	nnpu_device_power_on_reset(glue->device);
	nnpu_dma_wait_idle(&glue->dma);
}

bool nnpu_glue_start(NnpuGlue *glue, const struct nnpu_device_props *props,
		     const struct nnpu_bus_ops *ops, AddressSpace *as, Error **errp)
{
	char error[128];

	nnpu_dma_init(&glue->dma, as);
	glue->alarm = timer_new_ns(QEMU_CLOCK_VIRTUAL, nnpu_alarm, glue);
	glue->device = nnpu_device_create(props, ops, glue, error, sizeof(error));
	if (!glue->device) {
		error_setg(errp, "%s", error);
		timer_free(glue->alarm);
		nnpu_dma_fini(&glue->dma);
		return false;
	}
	glue->dma.device = glue->device;
	glue->vm_state = qemu_add_vm_change_state_handler(nnpu_vm_state, glue);
	nnpu_vm_state(glue, runstate_is_running(), RUN_STATE__MAX);
	return true;
}

void nnpu_glue_stop(NnpuGlue *glue)
{
	struct nnpu_device *device = glue->device;

	qemu_del_vm_change_state_handler(glue->vm_state);
	glue->device = NULL;
	/* Threads may set the alarm. It is called with the BQL held, so not before it is gone. */
	nnpu_device_destroy(device);
	timer_free(glue->alarm);
	nnpu_dma_fini(&glue->dma);
}
