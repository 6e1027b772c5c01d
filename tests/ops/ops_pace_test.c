// SPDX-License-Identifier: MIT
/*
 * Every operation reaches a preemption point often enough at the largest operands that the
 * device takes, and ends soon when a point tells it to.
 *
 * Time is that of the thread, so that the load of the machine does not count. Where elements are far apart,
 * which costs more on other machines, points are counted.
 *
 *   NNPU_PACE_CALLS   calls of each operation (default: all; 1 with sanitizers, which look for
 *                     something else)
 *
 * With the name of an operation it makes all calls of that one, and says more.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../tap.h"
#include "large_calls.h"
#include "ops_fixture.h"
#include "tflite/tflite_ops.h"

/* Longest time without a point, and from an abort to the end. Sanitizers are slow. */
#if defined(__SANITIZE_ADDRESS__)
#define SLOWER		10
#else
#define SLOWER		1
#endif
#define MAX_GAP_NS	(SLOWER * 10000000ull)
#define MAX_END_NS	(SLOWER * 20000000ull)

/* How long an operation runs before it is told to end. */
#define RUN_NS		60000000ull

/* Pages that take no memory until they are written. */
static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes + 64, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void fill(struct tensor *t, void *data, float v)
{
	size_t n = t->bytes / type_size(t->type);

	for (size_t i = 0; v != 0 && i < n; i++) {
		if (t->type == NNPU_TYPE_TENSOR_FLOAT32)
			((float *)data)[i] = v;
		else
			((int32_t *)data)[i] = (int32_t)v;
	}
}

static void add_operand(struct fixture *f, const struct large_operand *o)
{
	unsigned int at = f->num_inputs + f->num_outputs;
	struct tensor *t;

	switch (o->kind) {
	case LARGE_LIST:
	case LARGE_SCALAR:
		fixture_const(f, o->type, 0, 0, o->rank, o->dims, o->list);
		return;
	case LARGE_OMITTED:
		fixture_const(f, o->type, o->scale, 0, DIMS(1), o->list)->kind = NNPU_TENSOR_NO_VALUE;
		return;
	case LARGE_TENSOR:
		break;
	}
	if (o->output) {
		fixture_output(f, o->type, o->scale, o->zero_point);
		return;
	}
	t = fixture_input(f, o->type, o->scale, o->zero_point, o->rank, o->dims, NULL);
	f->sizes[at] = t->bytes;
	f->data[at] = map(t->bytes);
	fill(t, f->data[at], o->value);
	/*
	 * An element in each page would be a page fault each, which takes longer than the element and is no
	 * work of the device. All may share the page of zeros, the huge one if the kernel has it, so this
	 * takes no memory. A kernel that lacks it leaves the faults where they were.
	 */
	madvise(f->data[at], t->bytes, MADV_HUGEPAGE);
	madvise(f->data[at], t->bytes, MADV_POPULATE_READ);
}

static void read_call(struct fixture *f, const struct large_call *call)
{
	struct large_operand operands[LARGE_MAX_OPERANDS];
	unsigned int n = large_call_read(call, operands);

	fixture_init(f, call->op);
	for (unsigned int i = 0; i < n; i++)
		add_operand(f, &operands[i]);
}

/* Running. */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct {
	uint64_t start, last, gap;
	uint64_t most;			/* how long it runs before it is told to end */
	unsigned long points;
	uint64_t told;			/* when it was told to end, or 0 */
	uint64_t end;
} watch;

static bool look(void)
{
	uint64_t t = now();

	watch.points++;
	if (t - watch.last > watch.gap && !watch.told)
		watch.gap = t - watch.last;
	watch.last = t;
	if (!watch.told && t - watch.start > watch.most)
		watch.told = t;
	return watch.told;
}

/* The functions that a job calls. False: the operation refuses the call. */
static bool run(struct fixture *f, uint64_t most)
{
	struct op_call *c = &f->graph.calls[0].call;
	size_t scratch;
	int ret;

	for (unsigned int i = 0; i < f->num_inputs; i++)
		if (f->data[i])
			f->graph.tensors[i].data = f->data[i];
	graph_look = look;
	watch.start = now();
	watch.last = watch.start;
	watch.gap = 0;
	watch.most = most;
	watch.points = 0;
	watch.told = 0;
	watch.end = watch.start;
	ret = c->desc->infer(c);
	look();
	watch.end = watch.last;
	if (!ret && !watch.told) {
		for (unsigned int i = 0; i < c->num_outputs; i++) {
			struct tensor *t = c->out[i];

			graph_set_shape(t, t->rank, t->dims);
			t->data = map(t->bytes);
		}
		c->widened = op_wants_widening(c);
		scratch = op_scratch(c);
		c->scratch = map(scratch);
		ret = op_execute(c);
		look();
		watch.end = watch.last;
		munmap(c->scratch, scratch + 64);
		for (unsigned int i = 0; i < c->num_outputs; i++) {
			munmap(c->out[i]->data, c->out[i]->bytes + 64);
			c->out[i]->data = NULL;
		}
	}
	graph_look = NULL;
	return ret == 0 || ret == OP_ABORTED;
}

static void unmap(struct fixture *f)
{
	for (unsigned int i = 0; i < f->num_inputs; i++) {
		if (!tensor_is_const(&f->tensors[i]) &&
		    f->tensors[i].kind != NNPU_TENSOR_NO_VALUE && f->data[i]) {
			munmap(f->data[i], f->sizes[i] + 64);
			f->data[i] = NULL;
		}
	}
}

/* One call. False: it is too long without a point, or does not end. */
static bool try_call(const struct large_call *call, bool *ran)
{
	struct fixture f;
	bool good;

	read_call(&f, call);
	*ran = fixture_load(&f) == NNPU_REASON_NONE && run(&f, RUN_NS);
	if (!*ran)
		tap_note("%s, operand %u", reason_text(fixture_reason(&f)),
			 fixture_bad_operand(&f));
	good = *ran && watch.gap <= MAX_GAP_NS &&
	       (!watch.told || watch.end - watch.told <= MAX_END_NS);
	unmap(&f);
	fixture_end(&f);
	return good;
}

static void test_call(const struct large_call *call, bool verbose)
{
	unsigned int tries = 0;
	bool good, ran;

	/* What the host takes from its guest is in no clock; a missing point is so each time. */
	do {
		good = try_call(call, &ran);
		if (ran && (!good || verbose))
			tap_note("longest time without a point: %.2f ms; to the end: %.2f ms",
				 (double)watch.gap / 1e6,
				 watch.told ? (double)(watch.end - watch.told) / 1e6 : 0.0);
	} while (ran && !good && ++tries < 5);
	ok(good, "%s, %s", op_name(call->op), call->operands);
}

/* Operations of org.nnpu.tflite whose rows or loops may be long in a way of their own. */
#define TFLITE(number)	((enum nnpu_operation)EXTENSION_CODE(tflite_extension_index, number))

static const struct large_call tflite_calls[] = {
	{ TFLITE(44), "s:0x32Mx1 4*c:1x1@1 4*c:1x1@1 3*-y 4*t:1 -c -t s:32Mx1@1 y:32Mx1@0.001953125 "
		      "4*-y i4 r0 r0 b1 b0 b0 r1 i0 r1 i0 r1 i0 r1 i0 r1 i0 > s s@1 y@0.001953125" },
	{ TFLITE(23), "s:1x1x1x256M@1 {1,1} b0 b0 > s@1" },
	{ TFLITE(25), "y:128M@1 r1 > y@0.000030517578125" },
	{ TFLITE(27), "s:4294967295x0@1 s:0x0@1 y:0x1@1 -t y:4294967295x0@1 i1 i0 b0 > s@1 y@1" },
	{ TFLITE(50), "u:256M@1 > u@0.0625+255" },
	{ TFLITE(78), "t:64M=-3 t:64M=5 > t" },
	/* As many steps as there are between the exponents. */
	{ TFLITE(95), "f:64M=3e38 f:64M=3e-38 > f" },
	{ TFLITE(156), "f:64M=3 f:64M=2 > f" },
};

static void test_tflite(void)
{
	for (unsigned int i = 0; i < sizeof(tflite_calls) / sizeof(*tflite_calls); i++)
		test_call(&tflite_calls[i], false);
}

/* Calls whose elements or runs of elements are far apart, with so few bytes that only these count. */
static const struct {
	struct large_call call;
	unsigned long points;		/* at least; some times as many are there */
	bool constant;			/* filter and bias are, so that prepare() packs them */
} far_calls[] = {
	{ { NNPU_OP_DEPTHWISE_CONV_2D, "u:1x64x1x64K u:1x1x512x64 t:64@1 i0 i0 i0 i0 i32K i1 i1 i0 "
				       "b1 i64 i1 > u@2" }, 64, false },
	{ { NNPU_OP_DEPTHWISE_CONV_2D, "f:1x64x1x64K f:1x1x512x64 f:64 i0 i0 i0 i0 i32K i1 i1 i0 "
				       "b1 i64 i1 > f" }, 64, false },
	/* Runs of an element, by a dilation and by a window that is narrow. */
	{ { NNPU_OP_CONV_2D, "u:1x1x64Kx1 u:1x1x16Kx1 t:1@1 i2 i16K i1 i0 b0 i2 i1 > u@2" }, 8, true },
	{ { NNPU_OP_CONV_2D, "f:1x1x64Kx1 f:1x1x16Kx1 f:1 i2 i16K i1 i0 b0 i2 i1 > f" }, 8, false },
	{ { NNPU_OP_CONV_2D, "u:1x16Kx64x1 u:1x16Kx1x1 t:1@1 i2 i1 i1 i0 > u@2" }, 256, false },
	{ { NNPU_OP_CONV_2D, "f:1x16Kx64x1 f:1x16Kx1x1 f:1 i2 i1 i1 i0 > f" }, 256, true },
	{ { NNPU_OP_CONV_2D, "u:1x1Kx1Kx1 u:1x512x1x1 t:1@1 i2 i64 i64 i0 > u@2" }, 16, true },
	{ { NNPU_OP_CONV_2D, "f:1x1Kx1Kx1 f:1x512x1x1 f:1 i2 i64 i64 i0 > f" }, 16, false },
	{ { NNPU_OP_DEPTHWISE_CONV_2D, "u:1x16Kx64x1 u:1x16Kx1x1 t:1@1 i2 i1 i1 i1 i0 > u@2" }, 256,
	  false },
	{ { NNPU_OP_MAX_POOL_2D, "u:1x16Kx64x1 i0 i0 i0 i0 i1 i1 i1 i16K i0 b0 > u" }, 256, false },
	{ { NNPU_OP_GROUPED_CONV_2D, "u:1x16Kx64x1 u:1x16Kx1x1 t:1@1 i2 i1 i1 i1 i0 b0 > u@2" }, 256,
	  false },
	{ { NNPU_OP_TRANSPOSE_CONV_2D, "u:1x2Kx64x1 u:1x2Kx1x1 t:1@1 i0 i0 i2047 i2047 i1 i1 i0 b0 "
				       "> u@2" }, 32, false },
	{ { NNPU_OP_TRANSPOSE_CONV_2D, "f:1x2Kx64x1 f:8x2Kx1x1 f:8 i0 i0 i2047 i2047 i1 i1 i0 b0 "
				       "> f" }, 128, false },
	/* Many pixels at once, each with many taps. */
	{ { NNPU_OP_DEPTHWISE_CONV_2D, "u:1x2Kx2Kx1 u:1x8x8x1 t:1@1 i2 i16 i16 i1 i0 > u@2" }, 64, true },
	{ { NNPU_OP_DEPTHWISE_CONV_2D, "f:1x2Kx2Kx1 f:1x8x8x1 f:1 i2 i16 i16 i1 i0 > f" }, 64, true },
	/* Sums: an outer dimension that is reduced puts a few elements in a page of their own. */
	{ { NNPU_OP_REDUCE_SUM, "f:32Kx256x2x2 {0,2} b0 > f" }, 1024, false },
	{ { NNPU_OP_REDUCE_SUM, "f:64Kx257x2 {0,2} b0 > f" }, 112, false },
	{ { NNPU_OP_MEAN, "u:32Kx4K {0} i0 > u" }, 256, false },
	{ { NNPU_OP_MEAN, "u:32Kx64x2x32 {0,2} i0 > u" }, 1024, false },
	{ { NNPU_OP_MEAN, "u:32Kx64x64 {0,2} i0 > u" }, 1024, false },
	{ { NNPU_OP_REDUCE_MAX, "f:32Kx64x4 {0,2} b0 > f" }, 512, false },
	{ { TFLITE(82), "t:32Kx64x4 {0,2} b0 > t" }, 512, false },
	/* Corners: each pixel's in pages of their own, by its column or by its row, and by few channels. */
	{ { NNPU_OP_RESIZE_BILINEAR, "u:1x2x64Mx1 i16K i2 b0 > u" }, 24, false },
	{ { NNPU_OP_RESIZE_BILINEAR, "f:1x2x8Mx2 i16K i2 b0 > f" }, 24, false },
	{ { NNPU_OP_RESIZE_BILINEAR, "u:1x32Kx4Kx1 i1 i32K b0 > u" }, 24, false },
	{ { NNPU_OP_RESIZE_BILINEAR, "u:1x128Mx1x1 i1 i32K b0 > u" }, 24, false },
	{ { NNPU_OP_RESIZE_NEAREST_NEIGHBOR, "u:1x2x64Mx1 i16K i2 b0 > u" }, 12, false },
	{ { NNPU_OP_RESIZE_NEAREST_NEIGHBOR, "u:1x128Mx1x1 i1 i32K b0 > u" }, 12, false },
	/* Weights of few channels that are not packed: a piece of each row of them at a time. */
	{ { NNPU_OP_FULLY_CONNECTED, "f:1x256K f:10x256K f:10 i0 > f" }, 20, true },
	/* Short rows, many at a time. */
	{ { NNPU_OP_ADD, "f:4Mx2 f:2 i0 > f" }, 270, false },
	/* As many channels as a row has between two looks. */
	{ { NNPU_OP_RESIZE_NEAREST_NEIGHBOR, "u:1x1x1x16K i32 i32 b0 > u" }, 64, false },
};

/* Operands 1 and 2 become constants. */
static void fix_weights(struct fixture *f)
{
	for (unsigned int i = 1; i <= 2; i++) {
		void *data = graph_alloc(f->sizes[i]);

		if (!data)
			abort();
		memcpy(data, f->data[i], f->sizes[i]);
		munmap(f->data[i], f->sizes[i] + 64);
		f->data[i] = data;
		f->tensors[i].kind = NNPU_TENSOR_INLINE;
		f->tensors[i].data = data;
	}
}

/* The points of a call are counted: no clock decides. */
static void test_far(void)
{
	for (unsigned int i = 0; i < sizeof(far_calls) / sizeof(*far_calls); i++) {
		const struct large_call *call = &far_calls[i].call;
		struct fixture f;
		bool ran;

		read_call(&f, call);
		if (far_calls[i].constant)
			fix_weights(&f);
		ran = fixture_load(&f) == NNPU_REASON_NONE && run(&f, UINT64_MAX);
		ok(ran && watch.points >= far_calls[i].points, "%s, %s: %lu points, at least %lu",
		   op_name(call->op), call->operands, watch.points, far_calls[i].points);
		unmap(&f);
		fixture_end(&f);
	}
}

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? NULL : getenv("NNPU_PACE_CALLS");
	unsigned int most = SLOWER > 1 && argc == 1 ? 1 : num_large_calls;
	unsigned int done[NNPU_NUM_OPERATIONS] = { 0 };
	unsigned int missing = 0;

	if (text)
		most = (unsigned int)strtoul(text, NULL, 10);
	for (unsigned int i = 0; i < num_large_calls; i++) {
		const struct large_call *c = &large_calls[i];

		if (done[c->op] == most)
			continue;
		done[c->op]++;
		if (argc == 1 || !strcmp(argv[1], op_name(c->op)))
			test_call(c, argc > 1);
	}
	for (unsigned int i = 0; i < NNPU_NUM_OPERATIONS; i++) {
		if (op_find(i) && !done[i]) {
			tap_note("%s has no call", op_name(i));
			missing++;
		}
	}
	ok(!missing, "every operation has a call");
	if (argc == 1) {
		test_tflite();
		test_far();
	}
	return tap_done();
}
