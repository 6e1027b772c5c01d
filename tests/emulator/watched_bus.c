// SPDX-License-Identifier: MIT
/*
 * Between the device and the bus.
 */
#include "watched_bus.h"
#include "watched_calls.h"

const struct nnpu_bus_ops *bus_ops;

struct nnpu_device *__wrap_nnpu_device_create(const struct nnpu_device_props *props,
					      const struct nnpu_bus_ops *ops, void *bus,
					      char *error, size_t size)
{
	static struct nnpu_bus_ops watched;

	bus_ops = ops;
	watched = *ops;
	watch_bus(&watched);
	return __real_nnpu_device_create(props, &watched, bus, error, size);
}
