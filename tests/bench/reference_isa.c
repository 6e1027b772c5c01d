// SPDX-License-Identifier: MIT
/*
 * The instruction sets that XNNPACK may use.
 *
 * XNNPACK asks libcpuinfo, once, when it is initialized. The answers are variables of that library,
 * so a CPU can be made to look like one that lacks something.
 */
#include <stddef.h>
#include <string.h>

#include <cpuinfo.h>

#include "reference_isa.h"

#ifdef __x86_64__

/* What XNNPACK looks for beyond AVX2 and FMA. */
static void hide_avx512(void)
{
	cpuinfo_isa.avx512f = false;
	cpuinfo_isa.avx512cd = false;
	cpuinfo_isa.avx512dq = false;
	cpuinfo_isa.avx512bw = false;
	cpuinfo_isa.avx512vl = false;
	cpuinfo_isa.avx512vbmi = false;
	cpuinfo_isa.avx512vnni = false;
}

/* What it looks for beyond SSE2. */
static void hide_avx2(void)
{
	hide_avx512();
	cpuinfo_isa.ssse3 = false;
	cpuinfo_isa.sse4_1 = false;
	cpuinfo_isa.sse4_2 = false;
	cpuinfo_isa.avx = false;
	cpuinfo_isa.f16c = false;
	cpuinfo_isa.fma3 = false;
	cpuinfo_isa.xop = false;
	cpuinfo_isa.avx2 = false;
}

const char *reference_use_isa(const char *variant)
{
	if (!cpuinfo_initialize())
		return NULL;
	if (!strcmp(variant, "sse2")) {
		hide_avx2();
		return "SSE2";
	}
	if (!strcmp(variant, "avx2")) {
		hide_avx512();
		return "AVX2 and FMA";
	}
	/* Debian's XNNPACK has no kernels with VNNI. */
	return "AVX-512 F, BW, VL and DQ";
}

#else

const char *reference_use_isa(const char *variant)
{
	(void)variant;
	return cpuinfo_initialize() ? "what it finds" : NULL;
}

#endif
