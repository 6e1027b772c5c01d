// SPDX-License-Identifier: MIT
/* Registers, doorbell window, reset state machine, properties. */
#include <endian.h>
#include <stdatomic.h>
#include <string.h>

#include "rig.h"
#include "tap.h"
#include "watched_bus.h"

/* How far the clock of the device is ahead. */
static atomic_uint_least64_t ahead_ns;

static atomic_bool is_busy;

static bool dma_busy(void *bus)
{
	(void)bus;
	return atomic_load(&is_busy);
}

static uint64_t now_ns(void *bus)
{
	return bus_ops->now_ns(bus) + atomic_load(&ahead_ns);
}

void watch_bus(struct nnpu_bus_ops *ops)
{
	ops->now_ns = now_ns;
	ops->dma_busy = dma_busy;
}

static void test_properties(void)
{
	struct nnpu_device_props good, p;
	char error[128] = "";

	nnpu_device_default_props(&good);
	ok(!nnpu_device_check_props(&good, error, sizeof(error)), "default properties are valid");
	ok(good.num_queues == 64 && good.num_engines == 1 && good.memory_size == 1u << 30,
	   "defaults: 64 queues, 1 engine, 1 GiB");
	p = good;
	p.num_queues = 0;
	ok(nnpu_device_check_props(&p, error, sizeof(error)) && strstr(error, "num_queues"),
	   "0 queues refused: %s", error);
	p = good;
	p.num_engines = NNPU_DEVICE_MAX_ENGINES + 1;
	ok(nnpu_device_check_props(&p, error, sizeof(error)) && strstr(error, "num_engines"),
	   "too many engines refused: %s", error);
	p = good;
	p.max_operand_size = p.memory_size + 1;
	ok(nnpu_device_check_props(&p, error, sizeof(error)) && strstr(error, "max_operand_size"),
	   "operand larger than memory refused: %s", error);
	p = good;
	p.platform_irq = true;
	p.num_vectors = 33;
	ok(nnpu_device_check_props(&p, error, sizeof(error)) && strstr(error, "num_vectors"),
	   "platform device with 33 vectors refused: %s", error);
	p.num_vectors = 32;
	ok(!nnpu_device_check_props(&p, error, sizeof(error)), "with 32 it is fine");
	p.platform_irq = false;
	p.num_vectors = 33;
	ok(!nnpu_device_check_props(&p, error, sizeof(error)), "33 vectors of messages are fine");
	p = good;
	ok(nnpu_device_doorbell_size(&p) == 128 * 65536, "65 doorbell pages round up to 128");
	p.max_db_stride = 12;
	ok(!nnpu_device_check_props(&p, error, sizeof(error)) &&
	   nnpu_device_doorbell_size(&p) == 128 * 4096, "of 4 KiB, if they are not larger");
	p.max_db_stride = 11;
	ok(nnpu_device_check_props(&p, error, sizeof(error)) && strstr(error, "max_db_stride"),
	   "doorbell pages below 4 KiB refused: %s", error);
	p.max_db_stride = 17;
	ok(nnpu_device_check_props(&p, error, sizeof(error)) && strstr(error, "max_db_stride"),
	   "doorbell pages above 64 KiB refused: %s", error);
}

static void test_identity(struct rig *r)
{
	const uint32_t known = NNPU_FEATURE_PROFILE | NNPU_FEATURE_ABORT |
			       NNPU_FEATURE_USER_QUEUES | NNPU_FEATURE_INJECT |
			       NNPU_FEATURE_PRIORITY | NNPU_FEATURE_PERF_LEVELS |
			       NNPU_FEATURE_SUSPEND | NNPU_FEATURE_CONTROL_FLOW | NNPU_FEATURE_COPY |
			       NNPU_FEATURE_DEADLINE |
			       NNPU_FEATURE_EXTENSIONS | NNPU_FEATURE_SAVE | NNPU_FEATURE_SLICES |
			       NNPU_FEATURE_LOAD_TURNS;
	uint64_t first, second;

	ok(rig_read(r, NNPU_REG_ID) == NNPU_ID_MAGIC, "ID");
	ok(rig_read(r, NNPU_REG_VERSION) == NNPU_HW_VERSION, "VERSION");
	ok(rig_read(r, NNPU_REG_FEATURES_LO) == known, "FEATURES");
	ok((rig_read(r, NNPU_REG_LIMITS0) & NNPU_LIMITS0_MAX_QUEUES) == RIG_QUEUES, "MAX_QUEUES");
	ok(rig_read(r, NNPU_REG_LIMITS0) >> 24 == 16, "doorbell pages of up to 64 KiB");
	ok(rig_read(r, NNPU_REG_DB_STRIDE) == 12, "they have 4 KiB at power-on");
	ok(rig_read(r, NNPU_REG_LIMITS1) >> 24 == 1, "one engine");
	ok(rig_read64(r, NNPU_REG_MEM_TOTAL_LO) == 1u << 30, "MEM_TOTAL");
	ok(rig_read(r, NNPU_REG_TIMEOUT_MS) != 0, "TIMEOUT_MS is not 0");
	first = rig_read64(r, NNPU_REG_CLOCK_LO);
	second = rig_read64(r, NNPU_REG_CLOCK_LO);
	ok(second >= first, "CLOCK does not go back");
}

static void test_access(struct rig *r)
{
	struct nnpu_device *dev = nnpu_inproc_device(r->ip);

	ok(nnpu_device_reg_read(dev, NNPU_REG_ID, 2) == 0, "16-bit read gives 0");
	ok(nnpu_device_reg_read(dev, NNPU_REG_ID, 8) == 0, "64-bit read gives 0");
	ok(nnpu_device_reg_read(dev, NNPU_REG_ID + 1, 4) == 0, "misaligned read gives 0");
	ok(nnpu_device_reg_read(dev, NNPU_REGS_SIZE, 4) == 0, "read behind the window gives 0");
	ok(nnpu_device_reg_read(dev, 0xffc, 4) == 0, "undefined offset reads 0");
	ok(nnpu_device_reg_read(dev, NNPU_QREG_BASE + (RIG_QUEUES + 1) * NNPU_QREG_STRIDE, 4) == 0,
	   "window of a queue that cannot exist reads 0");
	rig_write(r, NNPU_REG_ID, 0);
	ok(rig_read(r, NNPU_REG_ID) == NNPU_ID_MAGIC, "read-only register keeps its value");
	nnpu_device_reg_write(dev, NNPU_REG_ADMIN_SIZE, 7, 2);
	ok(rig_read(r, NNPU_REG_ADMIN_SIZE) == 0, "16-bit write is ignored");
	rig_write(r, NNPU_REG_IRQ_MASK, 0xffff);
	ok(rig_read(r, NNPU_REG_IRQ_MASK) == 0, "IRQ_MASK is only for platform devices");
	nnpu_device_doorbell_write(dev, 1ull << 40, 1, 4);
	nnpu_device_doorbell_write(dev, 0, 1, 4);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_NONE,
	   "doorbells while not READY are ignored");
}

static void test_enable(struct rig *r)
{
	rig_write(r, NNPU_REG_ADMIN_SIZE, 6 | 7 << 16);
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ok(rig_read(r, NNPU_REG_STATUS) ==
	   (NNPU_STATUS_REG_FATAL | NNPU_STATUS_INVALID_FIELD << 8),
	   "7 admin entries: FATAL, INVALID_FIELD");
	rig_write(r, NNPU_REG_CTRL, 0);
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ok(rig_read(r, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL, "ENABLE does not leave FATAL");
	ok(rig_reset(r), "reset ends");
	ok(rig_read(r, NNPU_REG_STATUS) == 0, "reset leaves FATAL");
	ok(rig_read(r, NNPU_REG_ADMIN_SIZE) == 0, "ADMIN_SIZE is 0 after reset");

	rig_write(r, NNPU_REG_ADMIN_SIZE, 7 | 7 << 16);
	rig_write(r, NNPU_REG_ADMIN_SQ_LO, 0x100);
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ok(rig_read(r, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL, "unaligned admin ring: FATAL");

	ok(rig_enable(r), "good rings: READY");
	ok(rig_read(r, NNPU_REG_CTRL) == NNPU_CTRL_ENABLE, "CTRL reads ENABLE");
	rig_write(r, NNPU_REG_ADMIN_SIZE, 0);
	ok(rig_read(r, NNPU_REG_ADMIN_SIZE) == (7 | 7 << 16), "ADMIN_SIZE is locked while enabled");
	rig_write(r, NNPU_REG_CTRL, 0);
	ok(rig_poll(r, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0), "disable clears READY");
	ok(rig_read(r, NNPU_REG_ADMIN_SIZE) == (7 | 7 << 16), "disable keeps ADMIN_*");
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ok(rig_poll(r, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, NNPU_STATUS_REG_READY),
	   "enable again");
	/* Off and on without a pause in between. */
	rig_write(r, NNPU_REG_CTRL, 0);
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ok(rig_poll(r, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, NNPU_STATUS_REG_READY),
	   "off and on at once ends READY");
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE | NNPU_CTRL_RESET);
	ok(rig_poll(r, NNPU_REG_STATUS, ~0u, 0) && rig_read(r, NNPU_REG_CTRL) == 0,
	   "ENABLE and RESET in one write resets");
	nnpu_device_power_on_reset(nnpu_inproc_device(r->ip));
	ok(rig_poll(r, NNPU_REG_STATUS, ~0u, 0), "power-on reset ends");
	ok(rig_read64(r, NNPU_REG_JOBS_LO) == 0, "JOBS is 0 after power-on");
}

/* Doorbells of queue 1, which does not exist, say where the device looks for it. */
static void test_db_stride(struct rig *r)
{
	struct nnpu_device *dev = nnpu_inproc_device(r->ip);

	rig_enable(r);
	rig_write(r, NNPU_REG_DB_STRIDE, 14);
	ok(rig_read(r, NNPU_REG_DB_STRIDE) == 12, "DB_STRIDE is locked while enabled");
	rig_write(r, NNPU_REG_CTRL, 0);
	rig_poll(r, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0);
	rig_write(r, NNPU_REG_DB_STRIDE, 11);
	rig_write(r, NNPU_REG_DB_STRIDE, 17);
	ok(rig_read(r, NNPU_REG_DB_STRIDE) == 12, "pages of 2 KiB and 128 KiB are refused");
	rig_write(r, NNPU_REG_DB_STRIDE, 14);
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	rig_poll(r, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, NNPU_STATUS_REG_READY);
	ok(rig_read(r, NNPU_REG_DB_STRIDE) == 14, "doorbell pages of 16 KiB");
	nnpu_device_doorbell_write(dev, 1u << 12, 1, 4);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_NONE,
	   "the offset 0x1000 belongs to queue 0, which has no doorbell there");
	nnpu_device_doorbell_write(dev, 1u << 14, 1, 4);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_DOORBELL &&
	   rig_read(r, NNPU_REG_FAULT_INFO) == 1, "the offset 0x4000 is queue 1");
	rig_reset(r);
	ok(rig_read(r, NNPU_REG_DB_STRIDE) == 12, "reset: 4 KiB again");
}

/* Writes where a page has no doorbell, of any queue, or not of 32 bits. */
static void test_no_doorbells(struct rig *r)
{
	struct nnpu_device *dev = nnpu_inproc_device(r->ip);
	static const unsigned int queues[] = { 0, 1, 7, RIG_QUEUES + 1 };
	static const unsigned int sizes[] = { 1, 2, 8 };
	unsigned int i, size;
	uint64_t offset;

	rig_enable(r);
	rig_create_queue(r, 1, 0, NNPU_QUEUE_KERNEL, 16);
	for (i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		uint64_t page = (uint64_t)queues[i] << NNPU_PAGE_SHIFT;

		for (offset = NNPU_DB_CQ_ARM + 4; offset < NNPU_PAGE_SIZE; offset += 4)
			nnpu_device_doorbell_write(dev, page + offset, 0xffff, 4);
		for (offset = 0; offset < 16; offset++) {
			if (offset % 4)
				nnpu_device_doorbell_write(dev, page + offset, 0xffff, 4);
			for (size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++)
				nnpu_device_doorbell_write(dev, page + offset, 0xffff, sizes[size]);
		}
		/* A queue whose interrupts are not armed ignores this one. */
		if (queues[i] < 2)
			nnpu_device_doorbell_write(dev, page + NNPU_DB_CQ_ARM, 0xffff, 4);
	}
	nnpu_device_doorbell_write(dev, nnpu_device_doorbell_size(&r->config.props), 0xffff, 4);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_NONE &&
	   rig_read(r, NNPU_QREG_BASE + NNPU_QREG_STRIDE) == NNPU_QSTATE_IDLE &&
	   rig_admin(r, &(struct nnpu_sqe) { 0 }, NULL) == 0,
	   "writes at other offsets and of other sizes are ignored, whether there is a queue or not");
	nnpu_device_doorbell_write(dev, 7u << NNPU_PAGE_SHIFT, 0, 4);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_DOORBELL &&
	   rig_read(r, NNPU_REG_FAULT_INFO) == 7, "so the first fault is that of a doorbell");
	rig_reset(r);
}

/* Leave traces in all registers that can have some; the clock, and with it BUSY, has a high half. */
static bool dirty(struct rig *r)
{
	struct nnpu_sqe_set_perf perf = {
		.opcode = NNPU_ADMIN_SET_PERF, .level = htole32(NNPU_PERF_HIGH),
	};
	struct nnpu_sqe_execute sqe;
	struct job_rig j;
	struct image im;
	uint16_t cid;
	bool good;

	rig_write(r, NNPU_REG_DB_STRIDE, 14);
	good = rig_enable(r) && job_rig_init(&j, r, 1, 1) && !rig_admin(r, &perf, NULL);
	image_add(&im, 16);
	good = good && !rig_load(r, 1, 1, im.bytes, im.size, NULL);
	image_free(&im);
	job_add_args(&j, 16);
	good = good && !job_execute(&j, 1, NULL);
	/* A job that runs while the clock leaps, and that the reset ends. */
	rig_inject(r, NNPU_INJECT_JOB_STALL, 2);
	job_sqe(&j, 1, &sqe);
	cid = rig_push(r, j.q, (struct nnpu_sqe *)&sqe);
	rig_kick(r, j.q);
	good = good && rig_poll(r, NNPU_QREG_BASE + NNPU_QREG_STRIDE + NNPU_QREG_CURRENT, ~0u,
				NNPU_QREG_CURRENT_RUNNING | cid);
	atomic_fetch_add(&ahead_ns, 3ull << 32);
	nnpu_inproc_doorbell(r->ip, 1, NNPU_DB_CQ_HEAD, 0xffff);
	/* Whatever has halves. */
	rig_read64(r, NNPU_REG_MEM_USED_LO);
	rig_read64(r, NNPU_REG_MEM_PEAK_LO);
	rig_read64(r, NNPU_REG_JOBS_LO);
	return good && rig_read64(r, NNPU_REG_CLOCK_LO) >> 32 && rig_read64(r, NNPU_REG_BUSY_LO) >> 32 &&
	       rig_read(r, NNPU_REG_FAULT_STATUS) && rig_read64(r, NNPU_REG_MEM_PEAK_LO) &&
	       (rig_read(r, NNPU_EREG_BASE + NNPU_EREG_PROGRESS) ||
		rig_read(r, NNPU_EREG_BASE + NNPU_EREG_STRIDE + NNPU_EREG_PROGRESS));
}

/* Power-on gives every register of the device the value that it had when it was made. */
static void test_power_on(void)
{
	const uint32_t end = NNPU_QREG_BASE + (RIG_QUEUES + 1) * NNPU_QREG_STRIDE;
	static uint32_t fresh[0x2000 / 4];
	struct nnpu_inproc_config config;
	unsigned int wrong = 0, changed = 0;
	uint32_t offset;
	struct rig r;

	rig_config(&config);
	config.props.num_engines = 2;
	rig_open(&r, &config);
	for (offset = 0; offset < end; offset += 4)
		fresh[offset / 4] = rig_read(&r, offset);
	ok(dirty(&r), "a device that has worked");
	for (offset = 0; offset < end; offset += 4)
		changed += rig_read(&r, offset) != fresh[offset / 4];
	nnpu_device_power_on_reset(nnpu_inproc_device(r.ip));
	ok(rig_poll(&r, NNPU_REG_STATUS, ~0u, 0), "power-on after %u registers have changed", changed);
	for (offset = 0; offset < end; offset += 4) {
		uint32_t value;

		/* The high half of the clock is what the last look at the low half left. */
		if (offset == NNPU_REG_CLOCK_LO)
			continue;
		value = rig_read(&r, offset);
		if (value == fresh[offset / 4])
			continue;
		wrong++;
		tap_note("0x%04x: 0x%08x, was 0x%08x", offset, value, fresh[offset / 4]);
	}
	ok(!wrong, "each of them is as before: %u are not", wrong);
	ok(rig_read64(&r, NNPU_REG_CLOCK_LO) < 1ull << 33, "the clock begins at 0");
	rig_close(&r);
}

static void test_unreachable_ring(struct rig *r)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));
	struct nnpu_sqe nop = { 0 };
	uint64_t irqs;

	rig_enable(r);
	rig_write(r, NNPU_REG_CTRL, 0);
	rig_poll(r, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0);
	irqs = nnpu_inproc_irq_count(r->ip, 0);
	rig_write(r, NNPU_REG_ADMIN_SQ_LO, (uint32_t)(uintptr_t)page);
	rig_write(r, NNPU_REG_ADMIN_SQ_HI, (uint32_t)((uintptr_t)page >> 32));
	rig_write(r, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	rig_queue_rewind(&r->admin);
	rig_push(r, &r->admin, &nop);
	rig_kick(r, &r->admin);
	ok(rig_poll(r, NNPU_REG_STATUS, ~0u, NNPU_STATUS_REG_FATAL | NNPU_STATUS_DMA_ERROR << 8),
	   "admin entry that cannot be read: FATAL, DMA_ERROR");
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_SQ_READ, "FAULT_STATUS is SQ_READ");
	ok(rig_reset(r) && rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_NONE,
	   "reset clears FAULT_STATUS");
	ok(!nnpu_inproc_wait_irq(r->ip, 0, irqs, 60000000000ll) &&
	   nnpu_inproc_irq_count(r->ip, 0) == irqs + 1, "FATAL raised vector 0");
}

static void test_dma_busy(struct rig *r)
{
	uint32_t status = rig_read(r, NNPU_REG_STATUS);

	atomic_store(&is_busy, true);
	ok(rig_read(r, NNPU_REG_STATUS) == (status | NNPU_STATUS_REG_DMA) &&
	   !(status & NNPU_STATUS_REG_DMA), "STATUS says that an access to memory is in progress");
	atomic_store(&is_busy, false);
	ok(rig_read(r, NNPU_REG_STATUS) == status, "and that none is");
}

static void test_no_injection(void)
{
	struct nnpu_inproc_config config;
	struct rig r;

	rig_config(&config);
	config.props.inject = false;
	config.props.null_mode = true;
	rig_open(&r, &config);
	ok(!(rig_read(&r, NNPU_REG_FEATURES_LO) & NNPU_FEATURE_INJECT), "no FEATURE_INJECT");
	ok(rig_read(&r, NNPU_REG_FEATURES_LO) & NNPU_FEATURE_NULL, "FEATURE_NULL");
	rig_enable(&r);
	rig_inject(&r, NNPU_INJECT_ADMIN_STALL, 1);
	ok(rig_admin(&r, &(struct nnpu_sqe) { 0 }, NULL) == 0, "INJECT is ignored without the feature");
	rig_close(&r);
}

int main(void)
{
	struct rig r;

	test_properties();
	rig_open(&r, NULL);
	test_identity(&r);
	test_access(&r);
	test_enable(&r);
	test_db_stride(&r);
	test_no_doorbells(&r);
	test_power_on();
	test_unreachable_ring(&r);
	test_dma_busy(&r);
	rig_close(&r);
	test_no_injection();
	return tap_done();
}
