/* SPDX-License-Identifier: MIT */
/*
 * The instruction sets that XNNPACK may use.
 */
#ifndef NNPU_BENCH_REFERENCE_ISA_H
#define NNPU_BENCH_REFERENCE_ISA_H

/*
 * Let XNNPACK use no more than a variant of the device model's kernels does, which kernels_name()
 * names. To be called before layers_create(). Returns what is left to XNNPACK, for people to read;
 * NULL: the CPU is not known.
 */
const char *reference_use_isa(const char *variant);

#endif /* NNPU_BENCH_REFERENCE_ISA_H */
