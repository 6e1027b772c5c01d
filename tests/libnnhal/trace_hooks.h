/* SPDX-License-Identifier: MIT */
/*
 * Probes that call a function of nnhal_trace_test. The build puts it before all else in the files
 * of the library that have probes.
 */
#ifndef NNHAL_TEST_TRACE_HOOKS_H
#define NNHAL_TEST_TRACE_HOOKS_H

void trace_hook(const char *name, const void *object, int change);

#define TRACE_BEGIN(name, object)		trace_hook(name, object, 1)
#define TRACE_END(name, object, status)		((void)(status), trace_hook(name, object, -1))
#define TRACE_DEVICE_LOST(device, error)	((void)(device), (void)(error))

#endif /* NNHAL_TEST_TRACE_HOOKS_H */
