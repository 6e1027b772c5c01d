/* SPDX-License-Identifier: MIT */
/*
 * Devices: the IDevice of the HAL.
 *
 * A struct nnhal_device is one open device with a hardware context of its own.
 * Prepared models of one open device are of no use in another, not even in the same
 * process. The structure is reference-counted. Prepared models and running executions
 * hold references, so the caller may release its own at any time.
 *
 * A child of fork() must not use the devices, prepared models and executions of its parent:
 * calls return DEVICE_UNAVAILABLE in the child and do not affect the parent. The child may
 * release its references, use its memory objects, and open the device anew. Of a memory object that
 * another thread of the parent mapped or used in a call during the fork(), the child may only
 * release its reference: other calls with it can wait for ever.
 *
 * All functions may be called from any thread. The library has no global state,
 * prints nothing unless it is asked to (nnhal/debug.h), installs no signal handler and never ends the process.
 */
#ifndef NNHAL_DEVICE_H
#define NNHAL_DEVICE_H

#include <nnhal/debug.h>
#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_device;
struct nnhal_prepared_model;

/* Room for the name, spec and path of a device, the terminating NUL included. */
#define NNHAL_NAME_SIZE		64

/**
 * struct nnhal_device_info - a device that nnhal_enumerate_devices() found
 * @size: in: sizeof(struct nnhal_device_info); of an array that of the first entry counts
 * @name: name of the device; has exactly one '-', for example "nnpu-drm0"
 * @spec: what to pass to nnhal_device_open()
 * @path: device node; empty for the in-process device
 * @status: NONE if the device can be opened, else the status of opening it
 *	(NO_PERMISSION)
 * @reserved: zero
 */
struct nnhal_device_info {
	size_t size;
	char name[NNHAL_NAME_SIZE];
	char spec[NNHAL_NAME_SIZE];
	char path[NNHAL_NAME_SIZE];
	enum nnhal_status status;
	uint32_t reserved;
};

#define NNHAL_DEVICE_INFO_INIT \
	{ sizeof(struct nnhal_device_info), "", "", "", NNHAL_STATUS_NONE, 0 }

/**
 * nnhal_enumerate_devices() - list the devices of this machine
 * @infos: out: room for @max entries; may be NULL if @max is 0
 * @max: entries of @infos
 * @count: out: devices found; may be larger than @max
 * @diag: says why there is no hardware device, if so; may be NULL
 *
 * Hardware devices come first, in order of their device nodes, then the
 * in-process device if it is built in.
 *
 * Return: NONE if there is at least one hardware device; else NO_DEVICE (driver
 * loaded, no device) or NO_DRIVER (driver not loaded), with @infos and @count
 * valid all the same, or RESOURCE_EXHAUSTED_* (no memory or descriptor to look for devices);
 * INVALID_ARGUMENT (a NULL pointer, a wrong size).
 */
enum nnhal_status nnhal_enumerate_devices(struct nnhal_device_info *infos, uint32_t max,
					  uint32_t *count, struct nnhal_diag *diag);

/**
 * nnhal_device_open() - open a device
 * @spec: "drm" or NULL: the first hardware device; "drm:N": hardware device N,
 *	counted from 0 in the order of their nodes; "sim": a new in-process
 *	device that computes on threads of this process, each open a separate one;
 *	"sim:null": one that completes executions without computing;
 *	"sim:noqueues": one without queues for bursts; "sim:nocache": one without
 *	caching; "sim:faults": one with fault injection; "sim:bounce": one that sees copies of memory, which
 *	the library synchronises; "sim:examples": one with the example extension
 *	com.example.fibonacci; "sim:threads=N": one that computes each job on up to N threads, 1 to 16,
 *	with the same results; "sim:refuse=NAME": one without the operation of that name, such as ADD.
 *	Words after "sim:" may be joined by commas
 * @device: out: the device with one reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; NO_DEVICE, NO_PERMISSION, NO_DRIVER; INVALID_ARGUMENT (spec);
 * DEVICE_UNAVAILABLE (removed or dead); RESOURCE_EXHAUSTED_*; GENERAL_FAILURE
 * (driver of another major version).
 */
enum nnhal_status nnhal_device_open(const char *spec, struct nnhal_device **device,
				    struct nnhal_diag *diag);

/**
 * struct nnhal_open_options - how to open a device
 * @size: sizeof(struct nnhal_open_options)
 * @log: gets the lines of the log; NULL: the environment variable NNHAL_DEBUG decides, see
 *	nnhal/debug.h
 * @log_context: passed to @log
 * @log_tags: NNHAL_LOG_*; not used unless @log is set
 * @reserved: zero
 */
struct nnhal_open_options {
	size_t size;
	nnhal_log_callback log;
	void *log_context;
	uint32_t log_tags;
	uint32_t reserved;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_OPEN_OPTIONS_INIT	{ sizeof(struct nnhal_open_options), NULL, NULL, 0, 0 }

/**
 * nnhal_device_open_with() - open a device with options
 * @spec: as for nnhal_device_open()
 * @options: parameters, or NULL for NNHAL_OPEN_OPTIONS_INIT, as nnhal_device_open() has
 * @device: out: the device with one reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: as nnhal_device_open(); INVALID_ARGUMENT (unknown tags or fields).
 */
enum nnhal_status nnhal_device_open_with(const char *spec,
					 const struct nnhal_open_options *options,
					 struct nnhal_device **device, struct nnhal_diag *diag);

/** nnhal_device_ref() - take a reference; returns @device */
struct nnhal_device *nnhal_device_ref(struct nnhal_device *device);

/**
 * nnhal_device_unref() - release a reference; NULL is allowed
 *
 * The last release closes the device. Executions in progress hold references: they run
 * to their end and call back.
 */
void nnhal_device_unref(struct nnhal_device *device);

/** nnhal_device_name() - the device's name, valid as long as the device */
const char *nnhal_device_name(const struct nnhal_device *device);

/**
 * nnhal_device_get_capabilities() - getCapabilities_1_3
 * @device: device
 * @capabilities: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer, a wrong size).
 */
enum nnhal_status nnhal_device_get_capabilities(struct nnhal_device *device,
						struct nnhal_capabilities *capabilities);

/**
 * nnhal_device_get_capabilities_1_1() - getCapabilities and getCapabilities_1_1
 * @device: device
 * @capabilities: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer, a wrong size).
 */
enum nnhal_status nnhal_device_get_capabilities_1_1(struct nnhal_device *device,
						    struct nnhal_capabilities_1_1 *capabilities);

/**
 * nnhal_device_get_version_string() - getVersionString
 * @device: device
 * @version: out: versions of library, driver and firmware, and build ids of the first two; valid
 *	as long as the device
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status nnhal_device_get_version_string(struct nnhal_device *device,
						  const char **version);

/**
 * nnhal_device_get_type() - getType
 * @device: device
 * @type: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status nnhal_device_get_type(struct nnhal_device *device,
					enum nnhal_device_type *type);

/**
 * nnhal_device_get_supported_extensions() - getSupportedExtensions
 * @device: device
 * @extensions: out: array, valid as long as the device; NULL without any
 * @count: out: entries of the array
 *
 * Each call returns the same array. The device supports all operations and operand types
 * of an extension that is listed.
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status
nnhal_device_get_supported_extensions(struct nnhal_device *device,
				      const struct nnhal_extension **extensions,
				      uint32_t *count);

/**
 * nnhal_device_get_number_of_cache_files_needed() - getNumberOfCacheFilesNeeded
 * @device: device
 * @num_model_cache: out: model cache files, 0 if caching is not supported: the device saves no
 *	programs, or libcrypto 3 of OpenSSL is not installed
 * @num_data_cache: out: data cache files, likewise
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status
nnhal_device_get_number_of_cache_files_needed(struct nnhal_device *device,
					      uint32_t *num_model_cache,
					      uint32_t *num_data_cache);

/**
 * nnhal_device_get_status() - getStatus; asks the driver, answers while jobs run
 * @device: device
 *
 * Return: AVAILABLE, or OFFLINE if the device is gone (or in a child of fork()), or UNKNOWN.
 */
enum nnhal_device_status nnhal_device_get_status(struct nnhal_device *device);

/**
 * nnhal_device_get_supported_operations() - getSupportedOperations_1_3
 * @device: device
 * @model: model; its hal_version selects the version of the method
 * @supported: out: one entry per operation of the main subgraph; all false unless the status
 *	is NONE
 * @num_supported: entries of @supported: the number of operations
 * @diag: filled in after an error; may be NULL
 *
 * The device itself checks each operation, those of its extensions included. Operations
 * and operand types of an extension that the device does not have are not supported. If
 * all entries are true, preparing the model succeeds.
 *
 * Return: NONE; INVALID_ARGUMENT (the model breaks a rule); DEVICE_UNAVAILABLE, DEAD_OBJECT;
 * GENERAL_FAILURE, also for a shortage of resources, because the HAL has no other status for it
 * in this method.
 */
enum nnhal_status nnhal_device_get_supported_operations(struct nnhal_device *device,
							const struct nnhal_model *model,
							bool *supported,
							uint32_t num_supported,
							struct nnhal_diag *diag);

struct nnhal_cache;

/**
 * struct nnhal_prepare_options - parameters of prepareModel_1_3 beside the model
 * @size: sizeof(struct nnhal_prepare_options)
 * @preference: enum nnhal_preference
 * @priority: enum nnhal_priority
 * @has_deadline: @deadline_ns is valid
 * @deadline_ns: CLOCK_MONOTONIC, ns. At or above INT64_MAX there is no limit.
 *	If the deadline has passed before the work begins, the call ends with
 *	MISSED_DEADLINE_PERSISTENT; work that has begun may end late
 * @diag: out: message after an error; may be NULL. The asynchronous call may write it
 *	until the callback has returned
 * @cache: where to save the prepared model, see nnhal/cache.h; NULL: nowhere. No problem with
 *	it changes the result. Not used after the function has returned
 */
struct nnhal_prepare_options {
	size_t size;
	int32_t preference;
	int32_t priority;
	bool has_deadline;
	uint64_t deadline_ns;
	struct nnhal_diag *diag;
	const struct nnhal_cache *cache;
};

/* The meaning of a NULL options pointer, and of the methods of 1.0. */
#define NNHAL_PREPARE_OPTIONS_INIT \
	{ sizeof(struct nnhal_prepare_options), NNHAL_PREFER_FAST_SINGLE_ANSWER, \
	  NNHAL_PRIORITY_MEDIUM, false, 0, NULL, NULL }

/**
 * typedef nnhal_prepared_model_callback - IPreparedModelCallback.notify_1_3
 * @context: as passed with the callback
 * @status: result
 * @model: prepared model with one reference, which the callee owns; NULL unless
 *	@status is NONE
 *
 * It may call any function of the library. It must not wait for another callback of the same
 * device, nor for a thread that closes the device.
 */
typedef void (*nnhal_prepared_model_callback)(void *context, enum nnhal_status status,
					      struct nnhal_prepared_model *model);

/**
 * nnhal_device_prepare_model() - prepareModel_1_3: prepare a model, asynchronously
 * @device: device
 * @model: model; its hal_version selects the version of the method. Not used after
 *	the function has returned
 * @options: parameters, or NULL for NNHAL_PREPARE_OPTIONS_INIT. Not used after the
 *	function has returned, except for @options->diag
 * @callback: called exactly once, from within this function if it does not
 *	return NONE, else from a thread of the library
 * @context: passed to @callback
 *
 * The function waits while the device checks the operations: behind loads of other clients that
 * take turns with it. The rest of the work is done by a thread.
 *
 * Return: NONE: the work has started, and @callback delivers the result. With any other
 * status @callback has been called with it and NULL: INVALID_ARGUMENT (model,
 * preference, priority), GENERAL_FAILURE or RESOURCE_EXHAUSTED_* (cannot start).
 * INVALID_ARGUMENT if @callback is NULL. For a valid model that the device does not
 * support the function returns NONE, and @callback gets INVALID_ARGUMENT.
 */
enum nnhal_status nnhal_device_prepare_model(struct nnhal_device *device,
					     const struct nnhal_model *model,
					     const struct nnhal_prepare_options *options,
					     nnhal_prepared_model_callback callback,
					     void *context);

/**
 * nnhal_device_prepare_model_sync() - prepare a model and wait for the result
 * @device: device
 * @model: as above
 * @options: as above
 * @prepared: out: prepared model with one reference, NULL after an error
 *
 * The call creates no thread and makes no callback.
 *
 * Return: NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE, INVALID_ARGUMENT,
 * MISSED_DEADLINE_*, RESOURCE_EXHAUSTED_* or DEAD_OBJECT.
 */
enum nnhal_status nnhal_device_prepare_model_sync(struct nnhal_device *device,
						  const struct nnhal_model *model,
						  const struct nnhal_prepare_options *options,
						  struct nnhal_prepared_model **prepared);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_DEVICE_H */
