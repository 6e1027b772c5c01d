/* SPDX-License-Identifier: MIT */
/*
 * Functions of the library that the linker replaces (ld --wrap): calls reach
 * __wrap_NAME(), which reaches the library's as __real_NAME().
 */
#ifndef NNVEC_TESTS_WRAPPED_H
#define NNVEC_TESTS_WRAPPED_H

#include <nnhal/nnhal.h>

enum nnhal_status
__real_nnhal_prepared_model_execute_synchronously(struct nnhal_prepared_model *model,
						  const struct nnhal_request *request,
						  const struct nnhal_execute_options *options,
						  struct nnhal_output_shape *shapes,
						  uint32_t *num_shapes,
						  struct nnhal_timing *timing);
enum nnhal_status
__wrap_nnhal_prepared_model_execute_synchronously(struct nnhal_prepared_model *model,
						  const struct nnhal_request *request,
						  const struct nnhal_execute_options *options,
						  struct nnhal_output_shape *shapes,
						  uint32_t *num_shapes,
						  struct nnhal_timing *timing);

enum nnhal_status
__real_nnhal_prepared_model_execute(struct nnhal_prepared_model *model,
				    const struct nnhal_request *request,
				    const struct nnhal_execute_options *options,
				    nnhal_execution_callback callback, void *context);
enum nnhal_status
__wrap_nnhal_prepared_model_execute(struct nnhal_prepared_model *model,
				    const struct nnhal_request *request,
				    const struct nnhal_execute_options *options,
				    nnhal_execution_callback callback, void *context);

enum nnhal_status
__real_nnhal_device_prepare_model_sync(struct nnhal_device *device,
				       const struct nnhal_model *model,
				       const struct nnhal_prepare_options *options,
				       struct nnhal_prepared_model **prepared);
enum nnhal_status
__wrap_nnhal_device_prepare_model_sync(struct nnhal_device *device,
				       const struct nnhal_model *model,
				       const struct nnhal_prepare_options *options,
				       struct nnhal_prepared_model **prepared);

enum nnhal_status
__real_nnhal_ext_get_operation_support(struct nnhal_device *device,
				       const struct nnhal_model *model,
				       struct nnhal_ext_operation_support *support,
				       uint32_t num_support, struct nnhal_diag *diag);
enum nnhal_status
__wrap_nnhal_ext_get_operation_support(struct nnhal_device *device,
				       const struct nnhal_model *model,
				       struct nnhal_ext_operation_support *support,
				       uint32_t num_support, struct nnhal_diag *diag);

#endif /* NNVEC_TESTS_WRAPPED_H */
