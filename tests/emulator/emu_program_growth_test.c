// SPDX-License-Identifier: MIT
/*
 * Program images of newer writers: larger headers and records, hints, native code, encodings
 * of constants. What the device does not know is accepted only where it changes nothing.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "expect_load.h"
#include "rig.h"
#include "tap.h"

#define CTX	1u
#define PROGRAM	3u
#define N	4u

static struct rig rig;
static struct job_rig j;

/* How an image differs from one of this version: bytes more in header and records, and hints. */
struct growth {
	uint32_t header, tensor, command;
	uint32_t hints;
};

static void move(struct image *to, __le32 *field, const uint8_t *from, uint32_t count,
		 uint32_t size, uint32_t stride, uint32_t *off)
{
	uint32_t old = le32toh(*field), i;

	*field = htole32(*off);
	for (i = 0; i < count; i++)
		memcpy(to->bytes + *off + (size_t)i * stride, from + old + (size_t)i * size, size);
	*off += (count * stride + 7) & ~7u;
}

/* The image of image_add() with @g: the surplus is zero. */
static void build(struct image *im, const struct growth *g)
{
	const uint32_t tensor = sizeof(struct nnpu_tensor_desc) + g->tensor;
	const uint32_t command = sizeof(struct nnpu_command) + g->command;
	struct nnpu_program_header *h;
	uint8_t *old;
	uint32_t off;

	image_add(im, N);
	old = im->bytes;
	im->bytes = calloc(1, im->size + 65536);
	memcpy(im->bytes, old, sizeof(*h));
	h = image_header(im);
	off = (uint32_t)sizeof(*h) + g->header;
	h->header_size = htole16((uint16_t)off);
	h->tensor_stride = htole16((uint16_t)tensor);
	h->command_stride = htole16((uint16_t)command);
	move(im, &h->tensors_off, old, le32toh(h->num_tensors), sizeof(struct nnpu_tensor_desc),
	     tensor, &off);
	move(im, &h->commands_off, old, le32toh(h->num_commands), sizeof(struct nnpu_command),
	     command, &off);
	move(im, &h->indexes_off, old, le32toh(h->num_indexes), 4, 4, &off);
	move(im, &h->data_off, old, le32toh(h->data_size), 1, 1, &off);
	if (g->hints) {
		h->hints_off = htole32(off);
		h->hints_size = htole32(g->hints);
		off += g->hints;
	}
	h->size = htole32(off);
	im->size = off;
	free(old);
}

/* It loads and computes. */
static void works(struct image *im, const char *what)
{
	struct nnpu_cqe cqe;
	int load = rig_load(&rig, CTX, PROGRAM, im->bytes, im->size, &cqe), run = -1;

	if (!load) {
		job_add_args(&j, N);
		run = job_execute(&j, PROGRAM, &cqe);
		rig_unload(&rig, CTX, PROGRAM);
	}
	ok(!load && !run && job_add_ok(&j, N), "%s: it loads (%#x) and computes", what, load);
	image_free(im);
}

static void test_strides(void)
{
	static const struct growth cases[] = {
		{ .header = 8 }, { .tensor = 8 }, { .command = 8 }, { .header = 0x400 },
		{ .tensor = 160 }, { .command = 96 },
		{ .header = 32, .tensor = 32, .command = 32 },
	};
	struct image im;
	uint32_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct growth *g = &cases[i];
		struct nnpu_program_header *h;
		char what[64];

		snprintf(what, sizeof(what), "header +%u, tensors +%u, commands +%u", g->header,
			 g->tensor, g->command);
		build(&im, g);
		works(&im, what);
		/* The last byte of the surplus: of the header, of tensor 2, of command 0. */
		if (g->header) {
			build(&im, g);
			im.bytes[sizeof(*h) + g->header - 1] = 1;
			expect_load(&rig, CTX, &im, "a header that says more",
				    NNPU_STATUS_PROGRAM_HEADER, NNPU_REASON_RESERVED, 0,
				    NNPU_OPERAND_NONE);
		}
		if (g->tensor) {
			build(&im, g);
			h = image_header(&im);
			im.bytes[le32toh(h->tensors_off) + 3 * le16toh(h->tensor_stride) - 1] = 1;
			expect_load(&rig, CTX, &im, "a tensor that says more",
				    NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_RESERVED, 2,
				    NNPU_OPERAND_NONE);
		}
		if (g->command) {
			build(&im, g);
			h = image_header(&im);
			im.bytes[le32toh(h->commands_off) + le16toh(h->command_stride) - 1] = 1;
			expect_load(&rig, CTX, &im, "a command that says more",
				    NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_RESERVED, 0,
				    NNPU_OPERAND_NONE);
		}
	}
}

static void refused(const char *what, const struct growth *g, void (*change)(struct image *im),
		    unsigned int reason)
{
	struct image im;

	build(&im, g);
	change(&im);
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_HEADER, reason, 0,
		    NNPU_OPERAND_NONE);
}

static struct nnpu_hint *hint(struct image *im, uint32_t offset)
{
	return (struct nnpu_hint *)(im->bytes + le32toh(image_header(im)->hints_off) + offset);
}

/* Two hints, of 16 and 32 bytes. */
static void two_hints(struct image *im)
{
	*hint(im, 0) = (struct nnpu_hint){ .kind = htole32(77), .size = htole32(16) };
	*hint(im, 16) = (struct nnpu_hint){ .kind = htole32(0x80000001), .size = htole32(32),
					    .index = htole32(12345) };
	memset(hint(im, 32), 0x5a, 16);
}

static void hint_too_long(struct image *im)
{
	two_hints(im);
	hint(im, 16)->size = htole32(40);
}

static void hint_too_short(struct image *im)
{
	two_hints(im);
	hint(im, 0)->size = htole32(8);
}

static void hint_odd(struct image *im)
{
	two_hints(im);
	hint(im, 16)->size = htole32(28);
}

static void hint_reserved(struct image *im)
{
	two_hints(im);
	hint(im, 16)->reserved = htole32(1);
}

static void half_a_hint(struct image *im)
{
	two_hints(im);
	image_header(im)->hints_size = htole32(56);
	image_header(im)->size = htole32(le32toh(image_header(im)->size) + 8);
	im->size += 8;
}

static void test_hints(void)
{
	const struct growth g = { .hints = 48 };
	struct image im;

	build(&im, &g);
	two_hints(&im);
	works(&im, "hints that nobody knows");
	refused("a hint beyond the region", &g, hint_too_long, NNPU_REASON_SIZE);
	refused("a hint shorter than its head", &g, hint_too_short, NNPU_REASON_SIZE);
	refused("a hint of 28 bytes", &g, hint_odd, NNPU_REASON_SIZE);
	refused("a reserved field of a hint", &g, hint_reserved, NNPU_REASON_SIZE);
	refused("half a hint", &g, half_a_hint, NNPU_REASON_SIZE);
}

static void native(struct image *im, uint32_t isa)
{
	image_header(im)->native_off = image_header(im)->hints_off;
	image_header(im)->native_size = image_header(im)->hints_size;
	image_header(im)->hints_off = 0;
	image_header(im)->hints_size = 0;
	image_header(im)->native_isa = htole32(isa);
}

static void native_without_isa(struct image *im)
{
	native(im, 0);
}

static void native_overlaps(struct image *im)
{
	native(im, 1);
	image_header(im)->native_off = image_header(im)->commands_off;
}

static void test_native(void)
{
	const struct growth g = { .hints = 64 };
	struct image im;

	build(&im, &g);
	native(&im, 0x1234);
	expect_load(&rig, CTX, &im, "native code", NNPU_STATUS_PROGRAM_UNSUPPORTED,
		    NNPU_REASON_ISA, 0, NNPU_OPERAND_NONE);
	refused("native code of no instruction set", &g, native_without_isa, NNPU_REASON_RESERVED);
	refused("native code in the commands", &g, native_overlaps, NNPU_REASON_RANGE);
}

/* The scalar, tensor 3, is a constant. */
static void test_encodings(void)
{
	uint16_t encoding;
	struct image im;

	for (encoding = NNPU_ENCODING_COMPRESSED; encoding <= NNPU_ENCODING_4BIT + 1; encoding++) {
		image_add(&im, N);
		image_desc(&im, 3)->encoding = htole16(encoding);
		expect_load(&rig, CTX, &im, "another encoding", NNPU_STATUS_PROGRAM_TENSOR,
			    NNPU_REASON_ENCODING, 3, NNPU_OPERAND_NONE);
	}
	image_add(&im, N);
	image_desc(&im, 0)->encoding = htole16(NNPU_ENCODING_COMPRESSED);
	expect_load(&rig, CTX, &im, "an encoding of what is no constant",
		    NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_RESERVED, 0, NNPU_OPERAND_NONE);
}

/* What IDENTIFY says of all that. */
static void test_identify(void)
{
	struct nnpu_identify *id = rig_alloc(&rig, sizeof(*id));
	struct nnpu_sqe_identify c = { .opcode = NNPU_ADMIN_IDENTIFY, .addr = rig_addr(id) };
	static const uint8_t zeros[sizeof(id->build)];
	unsigned int type, right = 0;

	ok(rig_admin(&rig, &c, NULL) == 0, "IDENTIFY");
	ok(le16toh(id->program_min) <= NNPU_PROGRAM_VERSION &&
	   le16toh(id->program_max) >= NNPU_PROGRAM_VERSION, "versions %u to %u",
	   le16toh(id->program_min), le16toh(id->program_max));
	ok(le32toh(id->encodings) == (1u << NNPU_ENCODING_PACKED | 1u << NNPU_ENCODING_NATIVE),
	   "packed and native constants");
	ok(!id->num_isas && !id->isas[0], "no native code");
	ok(memcmp(id->build, zeros, 16) && !memcmp(id->build + 20, zeros, sizeof(id->build) - 20),
	   "a build id of 16 to 20 bytes");
	for (type = 0; type < 256; type++)
		right += (le32toh(id->types[type / 32]) >> type % 32 & 1) ==
			 (type < NNPU_NUM_TYPES && type != NNPU_TYPE_SUBGRAPH);
	ok(right == 256, "a bit for each type");
}

int main(void)
{
	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, CTX, 1)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	test_strides();
	test_hints();
	test_native();
	test_encodings();
	test_identify();
	ok(rig_read(&rig, NNPU_REG_PROGRAMS) == 0, "no program is left");
	rig_close(&rig);
	return tap_done();
}
