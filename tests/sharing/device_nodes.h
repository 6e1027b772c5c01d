/* SPDX-License-Identifier: MIT */
/*
 * The device nodes, opened to the users of a test: clients that own nothing.
 */
#ifndef TESTS_DEVICE_NODES_H
#define TESTS_DEVICE_NODES_H

/* Let everybody open the nodes; set their old modes again. */
void nodes_open(void);
void nodes_close(void);

#endif /* TESTS_DEVICE_NODES_H */
