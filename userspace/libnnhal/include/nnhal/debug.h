/* SPDX-License-Identifier: MIT */
/*
 * For authors of drivers and for people who look for a fault: the verbose log, the graph of a model,
 * and checks that say what they have found.
 *
 * The library prints nothing unless it is asked. Who opens a device asks with
 * nnhal_device_open_with(); else the environment variable NNHAL_DEBUG does, whose value is that of
 * the property debug.nn.vlog elsewhere: tags, separated by blanks, commas or colons. Empty: none; "1"
 * or "all": all tags. The library reads it once for each open device, not in programs with raised
 * privileges, and then writes lines to standard error.
 *
 * Tags: "model" (each model that is prepared, as a graph), "compilation", "execution", "cpuexe"
 * (nothing: no operation runs on the CPU), "manager" (devices that are opened and closed),
 * "driver" (what the device and its driver say), "memory".
 *
 * All functions may be called from any thread.
 */
#ifndef NNHAL_DEBUG_H
#define NNHAL_DEBUG_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Tags of the log. 0 is the tag of errors, which are written if there is any tag. */
#define NNHAL_LOG_ERROR		0u
#define NNHAL_LOG_MODEL		(1u << 0)
#define NNHAL_LOG_COMPILATION	(1u << 1)
#define NNHAL_LOG_EXECUTION	(1u << 2)
#define NNHAL_LOG_CPUEXE	(1u << 3)
#define NNHAL_LOG_MANAGER	(1u << 4)
#define NNHAL_LOG_DRIVER	(1u << 5)
#define NNHAL_LOG_MEMORY	(1u << 6)
#define NNHAL_LOG_ALL		0x7fu

/**
 * typedef nnhal_log_callback - takes a line of the log
 * @context: as passed with the callback
 * @tag: NNHAL_LOG_*
 * @message: one line without newline, valid during the call
 *
 * It may be called from any thread that uses the device, from several at once, and must not call
 * functions of the library but those of nnhal/types.h.
 */
typedef void (*nnhal_log_callback)(void *context, uint32_t tag, const char *message);

/**
 * nnhal_log_parse() - tags of a setting
 * @setting: as in NNHAL_DEBUG; NULL is empty
 * @tags: out: NNHAL_LOG_*; 0 if @tags is the only pointer
 * @diag: filled in if a tag is not known; may be NULL
 *
 * Return: true; false if a tag is not known. The others count all the same.
 */
bool nnhal_log_parse(const char *setting, uint32_t *tags, struct nnhal_diag *diag);

/**
 * nnhal_log_tag_name() - name of a tag, for example "execution"
 * @tag: one NNHAL_LOG_*
 *
 * Return: a constant string; "error" for NNHAL_LOG_ERROR, "unknown tag" for other numbers.
 */
const char *nnhal_log_tag_name(uint32_t tag);

/**
 * typedef nnhal_text_callback - takes a piece of a text
 * @context: as passed with the callback
 * @text: not terminated
 * @length: bytes of @text
 */
typedef void (*nnhal_text_callback)(void *context, const char *text, size_t length);

/**
 * nnhal_graph_dump() - graphDump: write a model as a Graphviz graph
 * @name: goes into a comment at the head; NULL: none
 * @model: any model, invalid ones too: the function reads no further than the counts say, and follows
 *	no NULL pointer
 * @write: called with pieces of the text, in order
 * @context: passed to @write
 *
 * Operand i is node d<i>, operation i is box n<i>; edges have their position if there are several.
 * The label of an operand has its index, "= input[k]" or "= output[k]" (white on black), its lifetime
 * (COPY, REF, NO, SUBGRAPH), its type, the value of a scalar constant, and its dimensions. Nodes
 * of referenced subgraph k have the prefix s<k>_.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, a layout that is not known).
 */
enum nnhal_status nnhal_graph_dump(const char *name, const struct nnhal_model *model,
				   nnhal_text_callback write, void *context);

/* Compilers check @fmt; the description is that of the declaration below. */
__attribute__((format(printf, 3, 4)))
bool nnhal_check_failed(struct nnhal_diag *diag, const char *condition, const char *fmt, ...);

/**
 * nnhal_check_failed() - what NNHAL_RET_CHECK() does when a check fails
 * @diag: gets the message; may be NULL
 * @condition: text of the condition, or NULL
 * @fmt: as for printf(), further words; may be empty
 *
 * It does not change errno.
 *
 * Return: false.
 */
bool nnhal_check_failed(struct nnhal_diag *diag, const char *condition, const char *fmt, ...);

/*
 * Return false from a function if a condition does not hold, with a message of the condition and
 * the words that follow: the macros NN_RET_CHECK of driver authors. Nothing is evaluated twice.
 */
#define NNHAL_RET_CHECK(diag, condition, ...) \
	do { \
		if (!(condition)) \
			return nnhal_check_failed(diag, #condition, __VA_ARGS__); \
	} while (0)

/* The same for a function that has filled in @diag itself, and returned false. */
#define NNHAL_RET(diag, call) \
	do { \
		if (!(call)) \
			return nnhal_check_failed(diag, #call, "%s", ""); \
	} while (0)

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_DEBUG_H */
