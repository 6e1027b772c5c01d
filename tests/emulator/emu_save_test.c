// SPDX-License-Identifier: MIT
/*
 * SAVE_PROGRAM: what it writes is an image that gives the same program again, and no image that
 * somebody has changed does harm.
 */
#include <dlfcn.h>
#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/page_runs.h"
#include "rig.h"
#include "tap.h"

#define ROOM	(1u << 20)
/* Bytes of the tensors of image_network(). */
#define INPUT	256u
#define OUTPUT	16u
#define SECOND	256u
/* In the operands. */
#define OUTPUT_AT	512u
#define SECOND_AT	1024u

static struct rig rig;
static struct job_rig j;

/* Threads of the device may give memory back after the answer that it belongs to, earlier ones, too. */
static bool memory_settles(uint64_t used)
{
	unsigned int i;

	for (i = 0; i < 1000 && rig_read64(&rig, NNPU_REG_MEM_USED_LO) > used; i++)
		usleep(10000);
	return rig_read64(&rig, NNPU_REG_MEM_USED_LO) <= used;
}

static uint32_t state = 1;

static uint32_t random_number(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

/* Save into @room; the status. @size: what the completion says. */
static int save(uint32_t program, void *room, uint64_t bytes, uint64_t *size)
{
	struct nnpu_sqe_save_program c = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM, .ctx = htole32(1),
		.program = htole32(program),
	};
	struct nnpu_cqe cqe;
	int status;

	if (room) {
		c.image.addr = rig_addr(room);
		c.image.size = htole64(bytes);
	}
	status = rig_admin(&rig, &c, &cqe);
	*size = le64toh(cqe.result);
	return status;
}

static uint32_t quant(struct image *im, unsigned int kind, unsigned int type, float scale,
		      int zero_point, const uint32_t *dims)
{
	uint32_t index = image_quant(im, type, kind, scale, zero_point, dims[0]);
	unsigned int i;

	for (i = 0; i < 4 && dims[i]; i++)
		im->tensors[index].dims[i] = htole32(dims[i]);
	im->tensors[index].rank = (uint8_t)i;
	return index;
}

static uint32_t constant(struct image *im, unsigned int type, float scale, int zero_point,
			 const uint32_t *dims)
{
	uint32_t bytes = type == NNPU_TYPE_TENSOR_INT32 ? 4 : 1, index, i;
	uint8_t values[4096];

	for (i = 0; i < 4 && dims[i]; i++)
		bytes *= dims[i];
	for (i = 0; i < bytes; i++)
		values[i] = (uint8_t)(random_number() & 0x1f);
	index = image_const(im, type, dims[0], values, bytes);
	for (i = 0; i < 4 && dims[i]; i++)
		im->tensors[index].dims[i] = htole32(dims[i]);
	im->tensors[index].rank = (uint8_t)i;
	memcpy(&im->tensors[index].scale, &scale, sizeof(scale));
	im->tensors[index].zero_point = htole32((uint32_t)zero_point);
	return index;
}

#define QUANT8	NNPU_TYPE_TENSOR_QUANT8_ASYMM
#define DIMS(...)	(const uint32_t[5]) { __VA_ARGS__ }

/*
 * A convolution, a depthwise one and a matrix product, quantized: weights that are packed in
 * place, released, folded into the bias. @shared: the first weights are those of two commands.
 */
static void image_network(struct image *im, bool shared)
{
	uint32_t zero, one, in, w, bias, mid, dw, dbias, deep, fw, fbias, out, again;

	image_init(im);
	zero = image_scalar(im, 0);
	one = image_scalar(im, 1);
	in = quant(im, NNPU_TENSOR_INPUT, QUANT8, 0.5f, 3, DIMS(1, 2, 2, 64));
	w = constant(im, QUANT8, 0.1f, 7, DIMS(64, 1, 1, 64));
	bias = constant(im, NNPU_TYPE_TENSOR_INT32, 0.05f, 0, DIMS(64));
	mid = quant(im, NNPU_TENSOR_TEMPORARY, QUANT8, 0.7f, 11, DIMS(1, 2, 2, 64));
	image_command(im, NNPU_OP_CONV_2D, 7, 1, in, w, bias, one, one, one, zero, mid);
	dw = constant(im, QUANT8, 0.1f, 5, DIMS(1, 3, 3, 64));
	dbias = constant(im, NNPU_TYPE_TENSOR_INT32, 0.07f, 0, DIMS(64));
	deep = quant(im, NNPU_TENSOR_TEMPORARY, QUANT8, 3.0f, 100, DIMS(1, 2, 2, 64));
	image_command(im, NNPU_OP_DEPTHWISE_CONV_2D, 8, 1, mid, dw, dbias, one, one, one, one,
		      zero, deep);
	fw = constant(im, QUANT8, 0.01f, 9, DIMS(OUTPUT, 256));
	fbias = constant(im, NNPU_TYPE_TENSOR_INT32, 0.03f, 0, DIMS(OUTPUT));
	out = quant(im, NNPU_TENSOR_OUTPUT, QUANT8, 20.0f, 128, DIMS(1, OUTPUT));
	image_command(im, NNPU_OP_FULLY_CONNECTED, 4, 1, deep, fw, fbias, zero, out);
	if (shared) {
		again = quant(im, NNPU_TENSOR_OUTPUT, QUANT8, 0.7f, 11, DIMS(1, 2, 2, 64));
		image_command(im, NNPU_OP_CONV_2D, 7, 1, in, w, bias, one, one, one, zero, again);
	}
	image_finish(im);
}

/* Run with inputs that do not change; the outputs. */
static int run(uint32_t program, bool shared, uint8_t out[OUTPUT + SECOND])
{
	struct nnpu_arg *a = job_args(&j, 1, shared ? 2 : 1);
	unsigned int i;
	int status;

	for (i = 0; i < INPUT; i++)
		j.operands[i] = (uint8_t)(i * 37);
	memset(j.operands + INPUT, 0, SECOND_AT + SECOND - INPUT);
	job_arg(&a[0], 1, 0, INPUT);
	job_arg(&a[1], 1, OUTPUT_AT, OUTPUT);
	if (shared)
		job_arg(&a[2], 1, SECOND_AT, SECOND);
	status = job_execute(&j, program, NULL);
	memcpy(out, j.operands + OUTPUT_AT, OUTPUT);
	memcpy(out + OUTPUT, j.operands + SECOND_AT, SECOND);
	return status;
}

/* How many constants of an image are native? */
static unsigned int count_native(const uint8_t *image)
{
	const struct nnpu_program_header *h = (const void *)image;
	const struct nnpu_tensor_desc *d = (const void *)(image + le32toh(h->tensors_off));
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < le32toh(h->num_tensors); i++)
		n += le16toh(d[i].encoding) == NNPU_ENCODING_NATIVE;
	return n;
}

static struct nnpu_tensor_desc *find_native(uint8_t *image, uint32_t *index)
{
	struct nnpu_program_header *h = (void *)image;
	struct nnpu_tensor_desc *d = (void *)(image + le32toh(h->tensors_off));

	for (*index = 0; le16toh(d[*index].encoding) != NNPU_ENCODING_NATIVE; ++*index)
		;
	return &d[*index];
}

static void test_same(bool shared)
{
	uint8_t *room = rig_alloc(&rig, ROOM), *again = rig_alloc(&rig, ROOM);
	uint8_t before[OUTPUT + SECOND], after[OUTPUT + SECOND];
	uint64_t size, size2;
	struct nnpu_cqe cqe;
	uint64_t memory, used;
	struct image im;
	int status;

	image_network(&im, shared);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, &cqe), "a network%s",
	   shared ? " in which two commands have the same weights" : "");
	memory = le64toh(cqe.result);
	ok(!run(1, shared, before), "runs");
	status = save(1, NULL, 0, &size);
	ok(!status && size > im.size / 2 && !(size & 7), "size: %llu bytes",
	   (unsigned long long)size);
	memset(room, 0xa5, ROOM);
	ok(!save(1, room, size - 1, &size2) && size2 == size && room[0] == 0xa5 &&
	   !memcmp(room, room + 1, ROOM - 1), "too little room: the size, and nothing is written");
	ok(!save(1, room, ROOM, &size2) && size2 == size && room[size] == 0xa5,
	   "saved, no byte beyond");
	ok(count_native(room) == 2, "weights as the device keeps them: %u", count_native(room));
	ok(!run(1, shared, after) && !memcmp(before, after, sizeof(before)),
	   "the program is as it was");
	ok(!rig_load(&rig, 1, 2, room, size, &cqe), "the saved image loads (0x%x, reason %u)",
	   rig_status(&cqe), le16toh(cqe.reason));
	/* Weights and their header are two pieces now. */
	ok(le64toh(cqe.result) <= memory + 2 * 64, "and takes no more memory: %llu and %llu",
	   (unsigned long long)le64toh(cqe.result), (unsigned long long)memory);
	ok(!rig_unload(&rig, 1, 1) && !run(2, shared, after) &&
	   !memcmp(before, after, sizeof(before)), "same outputs");
	ok(!save(2, again, ROOM, &size2) && size2 == size && !memcmp(room, again, size),
	   "saved again it is the same image");
	rig_unload(&rig, 1, 2);
	/* What the engine keeps does not count. */
	used = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	rig_load(&rig, 1, 2, room, size, NULL);
	save(2, again, ROOM, &size2);
	rig_unload(&rig, 1, 2);
	ok(memory_settles(used), "all memory is given back");
	image_free(&im);
}

/* Layers of SMALL by SMALL weights, which are less than a page. */
#define LAYERS	8u
#define SMALL	59u

/* A convolution with few odd channels, and a chain of matrix products; the indexes of the weights. */
static void image_small(struct image *im, uint32_t weights[1 + LAYERS])
{
	uint32_t zero, one, in, x, bias, out;
	unsigned int i;

	image_init(im);
	zero = image_scalar(im, 0);
	one = image_scalar(im, 1);
	in = quant(im, NNPU_TENSOR_INPUT, QUANT8, 0.5f, 3, DIMS(1, 3, 3, 3));
	weights[0] = constant(im, QUANT8, 0.1f, 7, DIMS(SMALL, 3, 3, 3));
	bias = constant(im, NNPU_TYPE_TENSOR_INT32, 0.05f, 0, DIMS(SMALL));
	x = quant(im, NNPU_TENSOR_TEMPORARY, QUANT8, 0.7f, 11, DIMS(1, 1, 1, SMALL));
	/* Valid padding. */
	image_command(im, NNPU_OP_CONV_2D, 7, 1, in, weights[0], bias, image_scalar(im, 2), one,
		      one, zero, x);
	for (i = 1; i <= LAYERS; i++) {
		weights[i] = constant(im, QUANT8, 0.01f, 9, DIMS(SMALL, SMALL));
		bias = constant(im, NNPU_TYPE_TENSOR_INT32, 0.007f, 0, DIMS(SMALL));
		out = quant(im, i == LAYERS ? NNPU_TENSOR_OUTPUT : NNPU_TENSOR_TEMPORARY, QUANT8,
			    0.7f, 11, DIMS(1, SMALL));
		image_command(im, NNPU_OP_FULLY_CONNECTED, 4, 1, x, weights[i], bias, zero, out);
		x = out;
	}
	image_finish(im);
}

/* Bytes of a constant of an image. */
static const uint8_t *values_of(const uint8_t *image, uint32_t index, uint64_t *bytes)
{
	const struct nnpu_program_header *h = (const void *)image;
	const struct nnpu_tensor_desc *d = (const void *)(image + le32toh(h->tensors_off));

	*bytes = le64toh(d[index].data_len);
	return image + le32toh(h->data_off) + le64toh(d[index].data_off);
}

/* Small weights are kept once, as they are packed, and saved as they were. */
static void test_small(void)
{
	uint8_t *room = rig_alloc(&rig, ROOM);
	uint32_t weights[1 + LAYERS];
	uint64_t size, memory;
	unsigned int i, same = 0;
	struct nnpu_cqe cqe;
	struct image im;

	image_small(&im, weights);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, &cqe), "a network of small weights (0x%x)",
	   rig_status(&cqe));
	memory = le64toh(cqe.result);
	/* With tables and factors, less than the weights alone would take twice. */
	ok(MEM_WATCHED || memory < LAYERS * SMALL * SMALL * 2,
	   "they are kept once: %llu bytes", (unsigned long long)memory);
	ok(!save(1, room, ROOM, &size) && count_native(room) == 0, "saved, none as it is packed");
	for (i = 0; i <= LAYERS; i++) {
		uint64_t before, after;
		const uint8_t *a = values_of(im.bytes, weights[i], &before);
		const uint8_t *b = values_of(room, weights[i], &after);

		same += before == after && !memcmp(a, b, after);
	}
	ok(same == 1 + LAYERS, "of %u weights %u are as they were", 1 + LAYERS, same);
	rig_unload(&rig, 1, 1);
	image_free(&im);
}

/* Large constants of a saved image may be in a slot like those of any other. */
static void test_slot(void)
{
	uint8_t *room = rig_alloc(&rig, ROOM), before[OUTPUT + SECOND], after[OUTPUT + SECOND];
	struct nnpu_tensor_desc *d;
	struct image im;
	uint64_t size;
	uint32_t index;

	image_network(&im, false);
	rig_load(&rig, 1, 1, im.bytes, im.size, NULL);
	run(1, false, before);
	save(1, room, ROOM, &size);
	rig_unload(&rig, 1, 1);
	d = find_native(room, &index);
	memcpy(j.operands + 4096, room + le32toh(((struct nnpu_program_header *)room)->data_off) +
	       le64toh(d->data_off), le64toh(d->data_len));
	d->kind = NNPU_TENSOR_SLOT;
	d->slot = htole32(1);
	d->data_off = htole64(4096);
	ok(!rig_load(&rig, 1, 1, room, size, NULL) && !run(1, false, after) &&
	   !memcmp(before, after, OUTPUT), "native weights in a slot");
	rig_unload(&rig, 1, 1);
	image_free(&im);
}

static void refused(const char *what, uint8_t *image, uint64_t size, unsigned int status,
		    unsigned int reason, uint32_t error)
{
	struct nnpu_cqe cqe;
	int got = rig_load(&rig, 1, 1, image, size, &cqe);

	ok(got == (int)status && le16toh(cqe.reason) == reason && le32toh(cqe.error) == error,
	   "%s (0x%x, reason %u, error %u)", what, (unsigned int)got, le16toh(cqe.reason),
	   le32toh(cqe.error));
	if (!got)
		rig_unload(&rig, 1, 1);
}

static void test_refusals(void)
{
	uint8_t *room = rig_alloc(&rig, ROOM), *copy = rig_alloc(&rig, ROOM);
	struct nnpu_tensor_desc *d;
	struct nnpu_command *cmd;
	uint64_t size, used;
	struct image im;
	uint32_t index;

	image_network(&im, false);
	rig_load(&rig, 1, 1, im.bytes, im.size, NULL);
	save(1, room, ROOM, &size);
	rig_unload(&rig, 1, 1);
	image_free(&im);
	used = rig_read64(&rig, NNPU_REG_MEM_USED_LO);

	memcpy(copy, room, size);
	d = find_native(copy, &index);
	d->data_len = htole64(le64toh(d->data_len) - 8);
	refused("native weights that are shorter", copy, size, NNPU_STATUS_PROGRAM_TENSOR,
		NNPU_REASON_DATA_LENGTH, index);
	memcpy(copy, room, size);
	d = find_native(copy, &index);
	d->data_off = htole64(size);
	refused("beyond the image", copy, size, NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_RANGE,
		index);
	memcpy(copy, room, size);
	d = find_native(copy, &index);
	d->encoding = htole16(NNPU_ENCODING_COMPRESSED);
	refused("reserved encoding", copy, size, NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_ENCODING,
		index);
	memcpy(copy, room, size);
	cmd = (void *)(copy + le32toh(((struct nnpu_program_header *)copy)->commands_off));
	cmd[0].opcode = htole32(NNPU_OP_GROUPED_CONV_2D);
	refused("native weights of an operation that has none", copy, size,
		NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_ENCODING, 0);

	/* A vector, and a matrix that is small. */
	image_init(&im);
	index = constant(&im, QUANT8, 1, 0, DIMS(4096));
	d = &im.tensors[index];
	d->encoding = htole16(NNPU_ENCODING_NATIVE);
	image_command(&im, NNPU_OP_ADD, 3, 1, index, index, image_scalar(&im, 0),
		      quant(&im, NNPU_TENSOR_OUTPUT, QUANT8, 2, 0, DIMS(4096)));
	image_finish(&im);
	refused("native vector", im.bytes, im.size, NNPU_STATUS_PROGRAM_TENSOR,
		NNPU_REASON_ENCODING, index);
	image_desc(&im, index)->dims[0] = htole32(8);
	image_desc(&im, index)->dims[1] = htole32(8);
	image_desc(&im, index)->rank = 2;
	image_desc(&im, index)->data_len = htole64(64);
	refused("small native matrix", im.bytes, im.size, NNPU_STATUS_PROGRAM_TENSOR,
		NNPU_REASON_ENCODING, index);
	image_free(&im);
	ok(memory_settles(used), "nothing stays of any of them");
}

/* Any bits may have changed. What loads runs. */
static void test_hostile(void)
{
	unsigned int i, k, loads = 0, runs = 0, rounds = 10000;
	uint64_t memory;
	uint8_t *room = rig_alloc(&rig, ROOM), *copy = rig_alloc(&rig, ROOM), out[OUTPUT + SECOND];
	struct image im;
	uint64_t size, head;

	image_network(&im, false);
	rig_load(&rig, 1, 1, im.bytes, im.size, NULL);
	save(1, room, ROOM, &size);
	rig_unload(&rig, 1, 1);
	image_free(&im);
	head = le32toh(((struct nnpu_program_header *)room)->data_off);
	memory = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	for (i = 0; i < rounds; i++) {
		size_t used = rig.used;

		memcpy(copy, room, size);
		/* Most changes hit the records. */
		for (k = random_number() % 3 + 1; k; k--)
			copy[random_number() % (i % 4 ? head : size)] ^=
				(uint8_t)(1u << random_number() % 8);
		if (!rig_load(&rig, 1, 1, copy, size, NULL)) {
			loads++;
			runs += !run(1, false, out);
			rig_unload(&rig, 1, 1);
		}
		/* The room of the image is used again. */
		memset(rig.mem + used, 0, rig.used - used);
		rig.used = used;
	}
	ok(loads && runs && loads < rounds, "of %u changed images %u load, %u run", rounds, loads,
	   runs);
	ok(!rig_load(&rig, 1, 1, room, size, NULL) && !run(1, false, out), "the device is well");
	rig_unload(&rig, 1, 1);
	ok(memory_settles(memory), "all memory is given back");
}

/* ---- seals ---- */

/* RFC 8439, 2.5.2 */
static const uint8_t rfc_key[32] = {
	0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52, 0xfe, 0x42, 0xd5, 0x06, 0xa8,
	0x01, 0x03, 0x80, 0x8a, 0xfb, 0x0d, 0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf, 0x41, 0x49, 0xf5, 0x1b,
};
static const uint8_t rfc_tag[16] = {
	0xa8, 0x06, 0x1d, 0xc1, 0x30, 0x51, 0x36, 0xc6, 0xc2, 0x2b, 0x8b, 0xaf, 0x0c, 0x01, 0x27, 0xa9,
};
static const char rfc_text[] = "Cryptographic Forum Research Group";
#define TEXT	34u
#define HALF	17u
/* Where the second half is in the operands. */
#define HALF_AT	2048u

/* Add a seal at the end of an image of @size; the size with it. */
static uint64_t add_seal(uint8_t *image, uint64_t size, const uint8_t key[32],
			 const uint8_t tag[16])
{
	struct nnpu_program_header *h = (void *)image;
	struct nnpu_seal seal = { .kind = htole32(NNPU_SEAL_POLY1305) };

	memcpy(seal.key, key, sizeof(seal.key));
	memcpy(seal.tag, tag, sizeof(seal.tag));
	memcpy(image + size, &seal, sizeof(seal));
	h->seal_off = htole32((uint32_t)size);
	h->size = htole32((uint32_t)(size + sizeof(seal)));
	return size + sizeof(seal);
}

static struct nnpu_seal *seal_of(uint8_t *image)
{
	return (void *)(image + le32toh(((struct nnpu_program_header *)image)->seal_off));
}

/* out = max(max(in, first half of the text), second half, in a slot). */
static uint64_t image_text(uint8_t *room)
{
	uint32_t in, first, mid, second, out;
	struct nnpu_tensor_desc *d;
	struct image im;
	uint64_t size;

	image_init(&im);
	in = image_quant(&im, QUANT8, NNPU_TENSOR_INPUT, 1, 0, HALF);
	first = image_const(&im, QUANT8, HALF, rfc_text, HALF);
	mid = image_quant(&im, QUANT8, NNPU_TENSOR_TEMPORARY, 1, 0, HALF);
	second = image_const(&im, QUANT8, HALF, rfc_text, HALF);
	out = image_quant(&im, QUANT8, NNPU_TENSOR_OUTPUT, 1, 0, HALF);
	im.tensors[first].scale = im.tensors[in].scale;
	im.tensors[second].scale = im.tensors[in].scale;
	image_command(&im, NNPU_OP_MAXIMUM, 2, 1, in, first, mid);
	image_command(&im, NNPU_OP_MAXIMUM, 2, 1, mid, second, out);
	image_finish(&im);
	d = image_desc(&im, second);
	d->kind = NNPU_TENSOR_SLOT;
	d->slot = htole32(1);
	d->data_off = htole64(HALF_AT);
	memcpy(j.operands + HALF_AT, rfc_text + HALF, HALF);
	memcpy(room, im.bytes, im.size);
	size = im.size;
	image_free(&im);
	return size;
}

/* How many single bits of @bytes may change? */
static unsigned int count_good_flips(uint8_t *image, uint64_t size, uint8_t *bytes, size_t count)
{
	unsigned int good = 0;
	struct nnpu_cqe cqe;
	size_t i;

	for (i = 0; i < count * 8; i++) {
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		if (rig_load(&rig, 1, 1, image, size, &cqe) != NNPU_STATUS_PROGRAM_HEADER ||
		    le16toh(cqe.reason) != NNPU_REASON_SEAL)
			good++;
		rig_unload(&rig, 1, 1);
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	return good;
}

/* Memory of libcrypto. */
static atomic_bool no_memory;

static void *crypto_malloc(size_t bytes, const char *file, int line)
{
	(void)file;
	(void)line;
	return no_memory ? NULL : malloc(bytes);
}

static void *crypto_realloc(void *p, size_t bytes, const char *file, int line)
{
	(void)file;
	(void)line;
	return no_memory ? NULL : realloc(p, bytes);
}

static void crypto_free(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

/* Before libcrypto has allocated anything. */
static bool crypto_take_memory(void)
{
	int (*set)(void *(*)(size_t, const char *, int), void *(*)(void *, size_t, const char *, int),
		   void (*)(void *, const char *, int));
	void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
	void *object = library ? dlsym(library, "CRYPTO_set_mem_functions") : NULL;

	memcpy(&set, &object, sizeof(set));
	return object && set(crypto_malloc, crypto_realloc, crypto_free);
}

static void test_seal(void)
{
	uint8_t *room = rig_alloc(&rig, ROOM), *copy = rig_alloc(&rig, ROOM);
	uint64_t bare = image_text(room), size = add_seal(room, bare, rfc_key, rfc_tag), used;
	uint8_t *values = room + le32toh(((struct nnpu_program_header *)room)->data_off);
	struct nnpu_program_header *h = (void *)copy;

	used = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	ok(!rig_load(&rig, 1, 1, room, size, NULL), "a sealed program, constants inline and in a slot");
	ok(!rig_unload(&rig, 1, 1), "unloaded");
	no_memory = true;
	refused("no memory for the tag", room, size, NNPU_STATUS_NO_MEMORY, NNPU_REASON_NONE, 0);
	no_memory = false;
	ok(!count_good_flips(room, size, values, HALF), "each bit inline is sealed");
	ok(!count_good_flips(room, size, j.operands + HALF_AT, HALF), "each bit in a slot is sealed");
	ok(!count_good_flips(room, size, seal_of(room)->tag, 16), "each bit of the tag counts");
	/* The algorithm leaves 22 bits of the key out. */
	ok(count_good_flips(room, size, seal_of(room)->key, 32) == 22, "and so do those of the key");

	memcpy(copy, room, size);
	seal_of(copy)->kind = htole32(NNPU_SEAL_POLY1305 + 1);
	refused("another kind of seal", copy, size, NNPU_STATUS_PROGRAM_UNSUPPORTED,
		NNPU_REASON_SEAL, 0);
	seal_of(copy)->reserved = htole32(1);
	refused("reserved field of a seal", copy, size, NNPU_STATUS_PROGRAM_HEADER,
		NNPU_REASON_RESERVED, 0);
	memcpy(copy, room, size);
	h->seal_off = htole32((uint32_t)bare + 8);
	refused("a seal behind the end", copy, size, NNPU_STATUS_PROGRAM_HEADER,
		NNPU_REASON_SIZE, 0);
	h->seal_off = htole32((uint32_t)bare + 4);
	refused("a seal at an odd place", copy, size, NNPU_STATUS_PROGRAM_HEADER,
		NNPU_REASON_ALIGNMENT, 0);
	h->seal_off = h->tensors_off;
	refused("a seal in the tensors", copy, size, NNPU_STATUS_PROGRAM_HEADER,
		NNPU_REASON_RANGE, 0);
	h->seal_off = htole32(8);
	refused("a seal in the header", copy, size, NNPU_STATUS_PROGRAM_HEADER,
		NNPU_REASON_RANGE, 0);
	ok(memory_settles(used), "nothing stays of any of them");
}

/* A device for which there is no libcrypto takes no kind of seal: a rule of the header. */
static bool no_library;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);

void *__wrap_dlopen(const char *name, int flags)
{
	return no_library ? NULL : __real_dlopen(name, flags);
}

static void test_no_library(void)
{
	struct nnpu_program_header *h;
	uint64_t bare, size;
	uint8_t *room;

	no_library = true;
	rig_open(&rig, NULL);
	ok(rig_enable(&rig) && job_rig_init(&j, &rig, 1, 1), "a device without libcrypto");
	room = rig_alloc(&rig, ROOM);
	bare = image_text(room);
	ok(!rig_load(&rig, 1, 1, room, bare, NULL) && !rig_unload(&rig, 1, 1),
	   "it takes a program without a seal");
	size = add_seal(room, bare, rfc_key, rfc_tag);
	refused("and none with a seal", room, size, NNPU_STATUS_PROGRAM_UNSUPPORTED,
		NNPU_REASON_SEAL, 0);
	h = (void *)room;
	((struct nnpu_tensor_desc *)(room + le32toh(h->tensors_off)))->type = 0xffff;
	refused("before it looks at the tensors", room, size, NNPU_STATUS_PROGRAM_UNSUPPORTED,
		NNPU_REASON_SEAL, 0);
	seal_of(room)->reserved = htole32(1);
	refused("and after the rest of the header", room, size, NNPU_STATUS_PROGRAM_HEADER,
		NNPU_REASON_RESERVED, 0);
	rig_close(&rig);
	no_library = false;
}

static void test_command(void)
{
	struct nnpu_sqe_save_program c = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM, .ctx = htole32(1), .program = htole32(1),
	}, bad;
	struct nnpu_sqe_queue end = { .opcode = NNPU_ADMIN_ABORT };
	uint8_t *room = rig_alloc(&rig, ROOM);
	unsigned int i, k, wrong = 0, aborted = 0;
	struct nnpu_cqe cqe;
	struct image im;
	uint64_t size;

	ok(save(1, room, ROOM, &size) == NNPU_STATUS_INVALID_PROGRAM, "no such program");
	ok(save(0, room, ROOM, &size) == NNPU_STATUS_INVALID_PROGRAM &&
	   save(UINT32_MAX, room, ROOM, &size) == NNPU_STATUS_INVALID_PROGRAM, "no number");
	image_network(&im, false);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL), "program");
	image_free(&im);
	for (i = 0; i < sizeof(c); i++) {
		if (i != 1 && (i < 12 || (i >= 16 && i < 40)))
			continue;
		bad = c;
		((uint8_t *)&bad)[i] = 1;
		wrong += rig_admin(&rig, &bad, NULL) != NNPU_STATUS_INVALID_FIELD;
	}
	ok(!wrong, "flags and reserved fields are zero");
	bad = c;
	bad.image.addr = rig_addr(room);
	ok(rig_admin(&rig, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "an address without a size");
	bad.image.size = htole64(ROOM);
	bad.image.levels = htole32(4);
	ok(rig_admin(&rig, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "malformed memory");
	bad = c;
	bad.ctx = htole32(7);
	ok(rig_admin(&rig, &bad, NULL) == NNPU_STATUS_INVALID_CTX, "no such context");
	bad = c;
	bad.image.addr = htole64(1ull << 50);
	bad.image.size = htole64(ROOM);
	ok(rig_admin(&rig, &bad, NULL) == NNPU_STATUS_DMA_ERROR, "memory that is not there");

	/* A save that does not move is ended like a load. */
	rig_inject(&rig, NNPU_INJECT_LOAD_STALL, 1);
	bad = c;
	i = rig_push(&rig, &rig.admin, (void *)&bad);
	rig_kick(&rig, &rig.admin);
	ok(!rig_unload(&rig, 1, 1), "its program is unloaded meanwhile");
	end.target_cid = htole16((uint16_t)i);
	rig_push(&rig, &rig.admin, (void *)&end);
	rig_kick(&rig, &rig.admin);
	/* It and ABORT complete in any order. */
	for (k = 0; k < 2 && rig_wait(&rig, &rig.admin, &cqe); k++)
		aborted += le16toh(cqe.cid) == i && rig_status(&cqe) == NNPU_STATUS_ABORTED;
	ok(k == 2 && aborted == 1, "a save that stalls is aborted");
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "and gives the program back");
}

int main(void)
{
	ok(crypto_take_memory(), "memory of libcrypto comes from here");
	rig_open(&rig, NULL);
	rig_enable(&rig);
	ok(job_rig_init(&j, &rig, 1, 1), "context and queue");
	ok(rig_read64(&rig, NNPU_REG_FEATURES_LO) & NNPU_FEATURE_SAVE, "the device saves programs");
	test_command();
	test_same(false);
	test_same(true);
	test_small();
	test_slot();
	test_refusals();
	test_hostile();
	test_seal();
	rig_close(&rig);
	test_no_library();
	return tap_done();
}
