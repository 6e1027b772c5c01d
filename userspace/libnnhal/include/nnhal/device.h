/* SPDX-License-Identifier: MIT */
/*
 * Devices: the IDevice of the HAL.
 *
 * A struct nnhal_device is one open device with a hardware context of its own:
 * nothing of one open device means anything in another, also in the same
 * process. It is reference-counted; prepared models and running work hold
 * references, so the caller may release its own at any time.
 *
 * All functions may be called from any thread. The library has no global state,
 * prints nothing, installs no signal handler and never ends the process.
 */
#ifndef NNHAL_DEVICE_H
#define NNHAL_DEVICE_H

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
 * @name: name of the device; has exactly one '-', for example "nnpu-drm0"
 * @spec: what to pass to nnhal_device_open()
 * @path: device node; empty for the in-process device
 * @status: NONE if the device can be opened, else what opening it gives
 *	(NO_PERMISSION)
 */
struct nnhal_device_info {
	char name[NNHAL_NAME_SIZE];
	char spec[NNHAL_NAME_SIZE];
	char path[NNHAL_NAME_SIZE];
	enum nnhal_status status;
};

/**
 * nnhal_enumerate_devices() - list the devices of this machine
 * @infos: room for @max entries; may be NULL if @max is 0
 * @max: entries of @infos
 * @count: out: devices found; may be larger than @max
 * @diag: says why there is no hardware device, if so; may be NULL
 *
 * Hardware devices come first, in order of their device nodes, then the
 * in-process device if it is built in.
 *
 * Return: NONE if there is at least one hardware device; else NO_DEVICE (driver
 * loaded, no device) or NO_DRIVER (driver not loaded), with @infos and @count
 * valid all the same; INVALID_ARGUMENT.
 */
enum nnhal_status nnhal_enumerate_devices(struct nnhal_device_info *infos, uint32_t max,
					  uint32_t *count, struct nnhal_diag *diag);

/**
 * nnhal_device_open() - open a device
 * @spec: "drm" or NULL: the first hardware device; "drm:N": hardware device N,
 *	counted from 0 in the order of their nodes; "sim": a new in-process
 *	device that computes on threads of this process, each open a separate one;
 *	"sim:null": one that completes executions without computing;
 *	"sim:noqueues": one without queues for bursts; "sim:faults": one with
 *	fault injection. Words after "sim:" may be joined by commas
 * @device: out: the device with one reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; NO_DEVICE, NO_PERMISSION, NO_DRIVER; INVALID_ARGUMENT (spec);
 * DEVICE_UNAVAILABLE (removed or dead); RESOURCE_EXHAUSTED_*; GENERAL_FAILURE
 * (driver of another major version).
 */
enum nnhal_status nnhal_device_open(const char *spec, struct nnhal_device **device,
				    struct nnhal_diag *diag);

/** nnhal_device_ref() - take a reference; returns @device */
struct nnhal_device *nnhal_device_ref(struct nnhal_device *device);

/**
 * nnhal_device_unref() - release a reference; NULL is allowed
 *
 * The device is closed with the last reference. Work in progress goes on to its
 * end and its callbacks are called.
 */
void nnhal_device_unref(struct nnhal_device *device);

/** nnhal_device_name() - the device's name, valid as long as the device */
const char *nnhal_device_name(const struct nnhal_device *device);

/**
 * nnhal_device_get_capabilities() - getCapabilities_1_3
 * @device: device
 * @capabilities: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status nnhal_device_get_capabilities(struct nnhal_device *device,
						struct nnhal_capabilities *capabilities);

/**
 * nnhal_device_get_capabilities_1_1() - getCapabilities and getCapabilities_1_1
 * @device: device
 * @capabilities: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status nnhal_device_get_capabilities_1_1(struct nnhal_device *device,
						    struct nnhal_capabilities_1_1 *capabilities);

/**
 * nnhal_device_get_version_string() - getVersionString
 * @device: device
 * @version: out: library, driver and firmware versions; valid as long as the device
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
 * What the device reports, the same on each call. All operations and operand types of
 * an extension that is listed are supported.
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
 * @num_model_cache: out: model cache files, 0 if caching is not supported
 * @num_data_cache: out: data cache files, 0 if caching is not supported
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
 * Return: AVAILABLE, or OFFLINE if the device is gone, or UNKNOWN.
 */
enum nnhal_device_status nnhal_device_get_status(struct nnhal_device *device);

/**
 * nnhal_device_get_supported_operations() - getSupportedOperations_1_3
 * @device: device
 * @model: model; its hal_version selects the version of the method
 * @supported: out: one entry per operation of the main subgraph
 * @num_supported: entries of @supported: the number of operations
 * @diag: filled in after an error; may be NULL
 *
 * The device itself judges each operation, those of its extensions included; one of
 * an extension or with an operand type that the device does not have is not supported.
 * A true entry is a promise: if all are true, preparing the model succeeds.
 *
 * Return: NONE; INVALID_ARGUMENT (the model breaks a rule, @supported is all
 * false); DEVICE_UNAVAILABLE, DEAD_OBJECT; GENERAL_FAILURE, which is also what
 * resource shortage gives, since this method has no status for it.
 */
enum nnhal_status nnhal_device_get_supported_operations(struct nnhal_device *device,
							const struct nnhal_model *model,
							bool *supported,
							uint32_t num_supported,
							struct nnhal_diag *diag);

/**
 * struct nnhal_prepare_options - parameters of prepareModel_1_3 beside the model
 * @size: sizeof(struct nnhal_prepare_options)
 * @preference: enum nnhal_preference
 * @priority: enum nnhal_priority
 * @has_deadline: @deadline_ns counts
 * @deadline_ns: CLOCK_MONOTONIC, ns. At or above INT64_MAX there is no limit.
 *	A deadline that has passed already ends the call with
 *	MISSED_DEADLINE_PERSISTENT; otherwise the call may end late
 * @diag: filled in after an error, until the callback has returned; may be NULL
 */
struct nnhal_prepare_options {
	size_t size;
	int32_t preference;
	int32_t priority;
	bool has_deadline;
	uint64_t deadline_ns;
	struct nnhal_diag *diag;
};

/* What a NULL options pointer stands for; also what 1.0 and 1.2 methods imply. */
#define NNHAL_PREPARE_OPTIONS_INIT \
	{ sizeof(struct nnhal_prepare_options), NNHAL_PREFER_FAST_SINGLE_ANSWER, \
	  NNHAL_PRIORITY_MEDIUM, false, 0, NULL }

/**
 * typedef nnhal_prepared_model_callback - IPreparedModelCallback.notify_1_3
 * @context: as passed with the callback
 * @status: result
 * @model: prepared model with one reference for the callee, not NULL if and only
 *	if @status is NONE
 */
typedef void (*nnhal_prepared_model_callback)(void *context, enum nnhal_status status,
					      struct nnhal_prepared_model *model);

/**
 * nnhal_device_prepare_model() - prepareModel_1_3: prepare a model, asynchronously
 * @device: device
 * @model: model; its hal_version selects the version of the method. Not used
 *	any more when the function has returned
 * @options: parameters, or NULL for NNHAL_PREPARE_OPTIONS_INIT; not used any more
 *	when the function has returned, except for the diag it names
 * @callback: called exactly once, from within this function if it does not
 *	return NONE, else from a thread of the library
 * @context: passed to @callback
 *
 * Return: NONE: the work has started, @callback brings the result. Otherwise
 * @callback was called with the same status and NULL: INVALID_ARGUMENT (model,
 * preference, priority), GENERAL_FAILURE or RESOURCE_EXHAUSTED_* (cannot start).
 * Without @callback: INVALID_ARGUMENT. A valid model the device does not support
 * ends with INVALID_ARGUMENT through @callback after launch status NONE.
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
 * No thread is created and no callback involved.
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
