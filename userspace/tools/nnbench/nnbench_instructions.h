/* SPDX-License-Identifier: MIT */
/*
 * The instructions of one execution in a burst.
 */
#ifndef NNBENCH_INSTRUCTIONS_H
#define NNBENCH_INSTRUCTIONS_H

/*
 * nnbench instructions: count and print, and write JSON if @json is not NULL. The exit
 * status.
 */
int instructions_main(const char *device_spec, const char *json);

#endif /* NNBENCH_INSTRUCTIONS_H */
