/* SPDX-License-Identifier: MIT */
/*
 * Memory in front of a page that may not be touched.
 */
#ifndef NNPU_TESTS_PAGE_END_H
#define NNPU_TESTS_PAGE_END_H

#include <stddef.h>

/*
 * @bytes that end where a page does, with one behind it that may not be touched: AddressSanitizer does not
 * see all instructions that load with a mask. Kernels take the way there that they have at the end of a page.
 */
void *page_end(size_t bytes);
void page_end_free(void *p, size_t bytes);

#endif /* NNPU_TESTS_PAGE_END_H */
