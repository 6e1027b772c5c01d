/* SPDX-License-Identifier: MIT */
/*
 * Between the device and the bus: a test that is linked with watched_bus.o and
 * --wrap=nnpu_device_create has operations of the bus come to itself first.
 */
#ifndef TESTS_EMULATOR_WATCHED_BUS_H
#define TESTS_EMULATOR_WATCHED_BUS_H

#include "core/device_model.h"

/* The bus itself, of the device that was created last. */
extern const struct nnpu_bus_ops *bus_ops;

/* The test has this: put in what is to come to it. */
void watch_bus(struct nnpu_bus_ops *ops);

#endif /* TESTS_EMULATOR_WATCHED_BUS_H */
