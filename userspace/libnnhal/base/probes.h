/* SPDX-License-Identifier: MIT */
/*
 * USDT probes: places that tracers can stop at (bpftrace, perf, SystemTap). A probe that nobody uses is
 * one instruction that does nothing, and a note in the ELF file. Without <sys/sdt.h> there are none.
 *
 * trace_begin(name, object) and trace_end(name, object, status) stand around the phases below. Names
 * are those of the HAL's tracing: "[NN_<layer>_<phase>]detail"; LD is the driver's layer; PI
 * initialisation, PC compilation, PE execution, PIO input and output, PT termination. [SW] says that
 * the phase interrupts the one around it. Each begin has an end: nnhal_trace_test, which defines the
 * macros itself, counts them.
 */
#ifndef NNHAL_PROBES_H
#define NNHAL_PROBES_H

#if !defined(TRACE_BEGIN) && defined(__has_include)
#if __has_include("sys/sdt.h")
#include <sys/sdt.h>
#define TRACE_BEGIN(name, object)		DTRACE_PROBE2(nnhal, trace_begin, name, object)
#define TRACE_END(name, object, status)		DTRACE_PROBE3(nnhal, trace_end, name, object, status)
#define TRACE_DEVICE_LOST(device, error)	DTRACE_PROBE2(nnhal, device_lost, device, error)
#endif
#endif

#ifndef TRACE_BEGIN
#define TRACE_BEGIN(name, object)		((void)(object))
#define TRACE_END(name, object, status)		((void)(object), (void)(status))
#define TRACE_DEVICE_LOST(device, error)	((void)(device), (void)(error))
#endif

#define TRACE_OPEN		"[NN_LD_PI]openDevice"
#define TRACE_CLOSE		"[NN_LD_PT]closeDevice"
#define TRACE_SUPPORT		"[NN_LD_PC]getSupportedOperations"
#define TRACE_PREPARE		"[NN_LD_PC]prepareModel"
#define TRACE_EXECUTE		"[NN_LD_PE]execute"
#define TRACE_COPY_INPUTS	"[SW][NN_LD_PIO]copyInputs"
#define TRACE_COPY_OUTPUTS	"[SW][NN_LD_PIO]copyOutputs"

#endif /* NNHAL_PROBES_H */
