/* SPDX-License-Identifier: MIT */
/*
 * Losses of a device: a watch that tells of one, and objects that survive it.
 *
 * A device is lost when it is reset or removed. Calls with it and with its models, buffers and bursts
 * then return DEAD_OBJECT or, once it is gone, DEVICE_UNAVAILABLE.
 *
 * A resilient object knows how it was made. When a call finds that the device is lost, the object
 * connects anew once, makes itself again, and makes the call again, once. Calls that were in progress
 * at the loss end with GENERAL_FAILURE and are not repeated: they may have had an effect. Content of
 * buffers is lost: they are uninitialised again. If the new device is not the same as before (name,
 * version, type, extensions, capabilities), the objects stay dead.
 *
 * All functions may be called from any thread. They start no thread. A child of fork() must not use
 * the objects of its parent: calls return DEVICE_UNAVAILABLE there, nothing connects anew, and
 * releasing them is allowed.
 */
#ifndef NNHAL_RESILIENT_H
#define NNHAL_RESILIENT_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_buffer_desc;
struct nnhal_buffer_role;
struct nnhal_burst_options;
struct nnhal_device;
struct nnhal_execute_options;
struct nnhal_memory;
struct nnhal_prepare_options;
struct nnhal_prepared_model;

/* ---- watches ---- */

struct nnhal_death_watch;

/**
 * typedef nnhal_death_callback - a device was lost
 * @context: as passed with the callback
 *
 * It may call any function of the library but nnhal_death_watch_destroy() for its own watch.
 */
typedef void (*nnhal_death_callback)(void *context);

/**
 * nnhal_death_watch_create() - linkToDeath: be told when a device is lost
 * @device: device; the watch keeps a reference
 * @callback: called once, by nnhal_death_watch_dispatch(); or by this function if the device is lost
 *	already. NULL: nobody is called
 * @context: passed to @callback
 * @watch: out: watch, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * On a hardware device the watch has a user queue, so that it notices at once. Where none is to be had
 * it notices when another call does, or when it is asked.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer); DEAD_OBJECT (the device is lost); GENERAL_FAILURE (no
 * memory or descriptor); DEVICE_UNAVAILABLE (in a child of fork()).
 */
enum nnhal_status nnhal_death_watch_create(struct nnhal_device *device,
					   nnhal_death_callback callback, void *context,
					   struct nnhal_death_watch **watch,
					   struct nnhal_diag *diag);

/** nnhal_death_watch_fd() - becomes readable (POLLIN) with the loss; not to be read or closed; -1 for NULL */
int nnhal_death_watch_fd(const struct nnhal_death_watch *watch);

/**
 * nnhal_death_watch_dispatch() - look whether the device is lost, and call the callback
 * @watch: watch
 *
 * The callback is called by the first of all calls that finds the loss.
 *
 * Return: NONE: the device lives; DEAD_OBJECT: it is lost; INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status nnhal_death_watch_dispatch(struct nnhal_death_watch *watch);

/**
 * nnhal_death_watch_destroy() - unlinkToDeath; NULL is allowed
 *
 * The callback is not called any more. No other call with the watch may be in progress.
 */
void nnhal_death_watch_destroy(struct nnhal_death_watch *watch);

/* ---- resilient objects ---- */

struct nnhal_resilient_device;
struct nnhal_resilient_model;
struct nnhal_resilient_buffer;
struct nnhal_resilient_burst;

/**
 * typedef nnhal_device_factory - connects to a device
 * @context: as passed with it
 * @device: out: device with one reference
 * @diag: may be filled in after an error
 *
 * Others that use the resilient device wait meanwhile; the function must not use it.
 *
 * Return: as nnhal_device_open(). NONE without a device counts as GENERAL_FAILURE.
 */
typedef enum nnhal_status (*nnhal_device_factory)(void *context, struct nnhal_device **device,
						  struct nnhal_diag *diag);

/**
 * nnhal_resilient_device_create() - a device that connects anew
 * @name: with @factory NULL what nnhal_device_open() opens, else a name for messages; not empty
 * @factory: connects; NULL: nnhal_device_open()
 * @context: passed to @factory
 * @device: out: object with one reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, an empty name); DEAD_OBJECT (the device is lost
 * already); GENERAL_FAILURE (the factory gave no device); RESOURCE_EXHAUSTED_TRANSIENT; the
 * status of the factory or of a query that failed.
 */
enum nnhal_status nnhal_resilient_device_create(const char *name, nnhal_device_factory factory,
						void *context,
						struct nnhal_resilient_device **device,
						struct nnhal_diag *diag);

/**
 * nnhal_resilient_device_get() - the device of the moment, with a reference
 *
 * Its answers to queries are good for the resilient device, also when it is lost.
 */
struct nnhal_device *nnhal_resilient_device_get(struct nnhal_resilient_device *device);

/**
 * nnhal_resilient_device_recover() - connect anew
 * @device: object
 * @failing: device of which a call has found the loss. If it is not that of the moment, somebody
 *	has connected already
 * @current: out: the device of the moment with a reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; DEAD_OBJECT (the device is another one than before; this lasts); the status of the
 * factory, after which another attempt may be made; INVALID_ARGUMENT (a NULL pointer);
 * DEVICE_UNAVAILABLE (in a child of fork()).
 */
enum nnhal_status nnhal_resilient_device_recover(struct nnhal_resilient_device *device,
						 const struct nnhal_device *failing,
						 struct nnhal_device **current,
						 struct nnhal_diag *diag);

/** nnhal_resilient_device_unref() - release the reference; NULL is allowed */
void nnhal_resilient_device_unref(struct nnhal_resilient_device *device);

/**
 * nnhal_resilient_device_prepare_model() - prepare a model that is prepared anew after a loss
 * @device: object
 * @model: model, of which the object keeps a copy
 * @options: as for nnhal_device_prepare_model_sync(). A deadline counts for this call only
 * @model_out: out: object with one reference, NULL after an error
 *
 * Return: as nnhal_device_prepare_model_sync(); GENERAL_FAILURE: NONE without a model.
 */
enum nnhal_status
nnhal_resilient_device_prepare_model(struct nnhal_resilient_device *device,
				     const struct nnhal_model *model,
				     const struct nnhal_prepare_options *options,
				     struct nnhal_resilient_model **model_out);

/** nnhal_resilient_model_get() - the prepared model of the moment, with a reference */
struct nnhal_prepared_model *nnhal_resilient_model_get(struct nnhal_resilient_model *model);

/**
 * nnhal_resilient_model_execute() - nnhal_prepared_model_execute_synchronously()
 *
 * Tokens in the request are those of resilient buffers of the same device.
 */
enum nnhal_status nnhal_resilient_model_execute(struct nnhal_resilient_model *model,
						const struct nnhal_request *request,
						const struct nnhal_execute_options *options,
						struct nnhal_output_shape *output_shapes,
						uint32_t *num_output_shapes,
						struct nnhal_timing *timing);

/** nnhal_resilient_model_unref() - release the reference; NULL is allowed */
void nnhal_resilient_model_unref(struct nnhal_resilient_model *model);

/**
 * nnhal_resilient_device_allocate() - nnhal_device_allocate() for resilient models
 *
 * The object keeps references of the models. The token stays the same after a loss.
 *
 * Return: as nnhal_device_allocate(); GENERAL_FAILURE: NONE without a buffer or a token.
 */
enum nnhal_status
nnhal_resilient_device_allocate(struct nnhal_resilient_device *device,
				const struct nnhal_buffer_desc *desc,
				struct nnhal_resilient_model *const *models, uint32_t num_models,
				const struct nnhal_buffer_role *input_roles,
				uint32_t num_input_roles,
				const struct nnhal_buffer_role *output_roles,
				uint32_t num_output_roles,
				struct nnhal_resilient_buffer **buffer, uint32_t *token,
				struct nnhal_diag *diag);

/** nnhal_resilient_buffer_copy_to() - nnhal_buffer_copy_to() */
enum nnhal_status nnhal_resilient_buffer_copy_to(struct nnhal_resilient_buffer *buffer,
						 struct nnhal_memory *memory,
						 struct nnhal_diag *diag);

/** nnhal_resilient_buffer_copy_from() - nnhal_buffer_copy_from() */
enum nnhal_status nnhal_resilient_buffer_copy_from(struct nnhal_resilient_buffer *buffer,
						   struct nnhal_memory *memory,
						   const uint32_t *dimensions,
						   uint32_t num_dimensions,
						   struct nnhal_diag *diag);

/** nnhal_resilient_buffer_unref() - release the reference; NULL is allowed */
void nnhal_resilient_buffer_unref(struct nnhal_resilient_buffer *buffer);

/**
 * nnhal_resilient_burst_create() - nnhal_burst_create() for a resilient model
 *
 * Return: as nnhal_burst_create(); GENERAL_FAILURE: NONE without a burst.
 */
enum nnhal_status nnhal_resilient_burst_create(struct nnhal_resilient_model *model,
					       const struct nnhal_burst_options *options,
					       struct nnhal_resilient_burst **burst);

/** nnhal_resilient_burst_execute() - nnhal_burst_execute() */
enum nnhal_status nnhal_resilient_burst_execute(struct nnhal_resilient_burst *burst,
						const struct nnhal_request *request,
						const struct nnhal_execute_options *options,
						struct nnhal_output_shape *output_shapes,
						uint32_t *num_output_shapes,
						struct nnhal_timing *timing);

/** nnhal_resilient_burst_unref() - release the reference; NULL is allowed */
void nnhal_resilient_burst_unref(struct nnhal_resilient_burst *burst);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_RESILIENT_H */
