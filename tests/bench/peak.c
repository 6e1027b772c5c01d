// SPDX-License-Identifier: MIT
/*
 * The peak of the instruction sets of this CPU.
 *
 * Kernels for AVX2 and above fuse products and sums of float convolutions; those for SSE2 multiply
 * and then add.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "peak.h"
#include "userspace/tools/common/clock.h"

/* Accumulators that do not wait for each other. */
#define CHAINS	12
#define ROUNDS	20000
/* The best of so many tries counts. */
#define TRIES	25

#ifdef __x86_64__
#include <immintrin.h>

/*
 * A loop with CHAINS accumulators of @vector, all in registers; STEP(acc) adds products of a and b
 * to one. The compiler is not to know that a never changes, or it multiplies once.
 */
#define TWELVE(X)	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define PEAK_LOOP(function, isa, vector, constraint, step)				\
	__attribute__((target(isa))) static void function(void)				\
	{										\
		vector TWELVE_OF, a, b;							\
											\
		__builtin_memset(&a, 0, sizeof(a));					\
		b = a;									\
		TWELVE(CLEAR)								\
		for (int i = 0; i < ROUNDS; i++) {					\
			TWELVE(step)							\
		}									\
		__asm__ volatile("" : : "r"(&b) : "memory");				\
		TWELVE(constraint)							\
	}
#define TWELVE_OF	c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11
#define CLEAR(k)	c##k = a;
#define KEEP_X(k)	__asm__ volatile("" : : "x"(c##k));
#define KEEP_V(k)	__asm__ volatile("" : : "v"(c##k));
#define HIDE_X		__asm__ volatile("" : "+x"(a));
#define HIDE_V		__asm__ volatile("" : "+v"(a));

#define BYTES_SSE2(k)	HIDE_X c##k = _mm_add_epi32(c##k, _mm_madd_epi16(a, b));
#define BYTES_AVX2(k)	HIDE_X c##k = _mm256_add_epi32(c##k, _mm256_madd_epi16(a, b));
#define BYTES_AVX512(k)	HIDE_V c##k = _mm512_add_epi32(c##k, _mm512_madd_epi16(a, b));
#define BYTES_VNNI(k)	HIDE_V c##k = _mm512_dpbusd_epi32(c##k, a, b);
#define FLOATS_SSE2(k)	HIDE_X c##k = _mm_add_ps(c##k, _mm_mul_ps(a, b));
#define FLOATS_AVX2(k)	HIDE_X c##k = _mm256_fmadd_ps(a, b, c##k);
#define FLOATS_AVX512(k) HIDE_V c##k = _mm512_fmadd_ps(a, b, c##k);

PEAK_LOOP(bytes_sse2, "sse2", __m128i, KEEP_X, BYTES_SSE2)
PEAK_LOOP(bytes_avx2, "avx2", __m256i, KEEP_X, BYTES_AVX2)
PEAK_LOOP(bytes_avx512, "avx512f,avx512bw", __m512i, KEEP_V, BYTES_AVX512)
PEAK_LOOP(bytes_vnni, "avx512f,avx512vnni", __m512i, KEEP_V, BYTES_VNNI)
PEAK_LOOP(floats_sse2, "sse2", __m128, KEEP_X, FLOATS_SSE2)
PEAK_LOOP(floats_avx2, "avx2,fma", __m256, KEEP_X, FLOATS_AVX2)
PEAK_LOOP(floats_avx512, "avx512f", __m512, KEEP_V, FLOATS_AVX512)

static bool has_sse2(void)
{
	return true;
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool has_fma(void)
{
	return has_avx2() && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

static bool has_avx512bw(void)
{
	return has_avx512() && __builtin_cpu_supports("avx512bw");
}

static bool has_vnni(void)
{
	return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

static const struct {
	const char *name;
	const char *isa;		/* that of kernels_name(), or what it begins with */
	bool is_float;
	bool (*supported)(void);
	void (*run)(void);
	unsigned int macs;		/* of an instruction */
} loops[] = {
	{ "SSE2 pmaddwd", "sse2", false, has_sse2, bytes_sse2, 8 },
	{ "AVX2 vpmaddwd", "avx2", false, has_avx2, bytes_avx2, 16 },
	{ "AVX-512 vpmaddwd", "avx512", false, has_avx512bw, bytes_avx512, 32 },
	{ "AVX-512 VNNI vpdpbusd", "avx512vnni", false, has_vnni, bytes_vnni, 64 },
	{ "SSE2 mulps, addps", "sse2", true, has_sse2, floats_sse2, 4 },
	{ "AVX2 vfmadd", "avx2", true, has_fma, floats_avx2, 8 },
	{ "AVX-512 vfmadd", "avx512", true, has_avx512, floats_avx512, 16 },
};

#define NUM_PEAKS	(sizeof(loops) / sizeof(loops[0]))

static void measure(struct peak *peaks)
{
	for (unsigned int i = 0; i < NUM_PEAKS; i++) {
		uint64_t least = UINT64_MAX;

		peaks[i] = (struct peak) { loops[i].name, loops[i].is_float, 0 };
		for (int k = 0; loops[i].supported() && k < TRIES; k++) {
			uint64_t start = now_ns(), ns;

			loops[i].run();
			ns = now_ns() - start;
			least = ns < least ? ns : least;
		}
		if (least != UINT64_MAX)
			peaks[i].gmacs = (double)CHAINS * ROUNDS * loops[i].macs / (double)least;
	}
}

static void (*loop_of(unsigned int i))(void)
{
	return loops[i].run;
}

static unsigned int loop_macs(unsigned int i)
{
	return loops[i].macs;
}

static const char *loop_isa(unsigned int i)
{
	return loops[i].isa;
}
#else
#define NUM_PEAKS	0u

static void (*loop_of(unsigned int i))(void)
{
	(void)i;
	return NULL;
}

static unsigned int loop_macs(unsigned int i)
{
	(void)i;
	return 0;
}

static const char *loop_isa(unsigned int i)
{
	(void)i;
	return "";
}

static void measure(struct peak *peaks)
{
	(void)peaks;
}
#endif

/* One of two threads that begin at the same time. */
struct one_of_two {
	pthread_barrier_t *begin;
	void (*run)(void);
};

static void *run_beside(void *arg)
{
	const struct one_of_two *t = arg;

	for (int k = 0; k < TRIES; k++) {
		pthread_barrier_wait(t->begin);
		t->run();
		pthread_barrier_wait(t->begin);
	}
	return NULL;
}

/* The least time that both of two threads take, ns. 0: there is no second thread. */
static uint64_t time_two(void (*run)(void))
{
	pthread_barrier_t begin;
	struct one_of_two other = { &begin, run };
	uint64_t least = UINT64_MAX;
	pthread_t thread;

	pthread_barrier_init(&begin, NULL, 2);
	if (pthread_create(&thread, NULL, run_beside, &other)) {
		pthread_barrier_destroy(&begin);
		return 0;
	}
	for (int k = 0; k < TRIES; k++) {
		uint64_t start, ns;

		pthread_barrier_wait(&begin);
		start = now_ns();
		run();
		pthread_barrier_wait(&begin);
		ns = now_ns() - start;
		least = ns < least ? ns : least;
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&begin);
	return least;
}

double peak_of_two(void)
{
	const struct peak *best = peak_best(false);
	unsigned int i;
	uint64_t ns;

	for (i = 0; best && i < NUM_PEAKS; i++) {
		if (best != peak_of(i))
			continue;
		ns = time_two(loop_of(i));
		return ns ? 2.0 * CHAINS * ROUNDS * loop_macs(i) / (double)ns / best->gmacs : 0;
	}
	return 0;
}

const struct peak *peak_of(unsigned int i)
{
	static struct peak peaks[NUM_PEAKS + 1];
	static bool measured;

	if (!measured)
		measure(peaks);
	measured = true;
	return i < NUM_PEAKS ? &peaks[i] : NULL;
}

const struct peak *peak_best(bool is_float)
{
	const struct peak *best = NULL, *p;

	for (unsigned int i = 0; (p = peak_of(i)); i++)
		if (p->is_float == is_float && p->gmacs > (best ? best->gmacs : 0))
			best = p;
	return best;
}

const struct peak *peak_of_isa(const char *isa, bool is_float)
{
	const struct peak *best = NULL, *p;

	for (unsigned int i = 0; isa && (p = peak_of(i)); i++)
		if (p->is_float == is_float && !strncmp(isa, loop_isa(i), strlen(loop_isa(i))) &&
		    p->gmacs > (best ? best->gmacs : 0))
			best = p;
	return best;
}
