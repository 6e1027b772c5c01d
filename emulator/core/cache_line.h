/* SPDX-License-Identifier: MIT */
/*
 * What several threads write stands in cache lines of its own.
 */
#ifndef NNPU_EMU_CACHE_LINE_H
#define NNPU_EMU_CACHE_LINE_H

#define CACHE_LINE	64u

#endif /* NNPU_EMU_CACHE_LINE_H */
