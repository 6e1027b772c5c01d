/* SPDX-License-Identifier: MIT */
/*
 * Round trips between two processes over message queues.
 */
#ifndef NNBENCH_FMQ_H
#define NNBENCH_FMQ_H

/* Nanoseconds. */
struct fmq_figures {
	/* One datum there and one back, both sides asleep on a futex. */
	double futex_p50, futex_p99;
	/* A burst's request and result, server without work; both sides sleep at once. */
	double sleep_p50, sleep_p99;
	/* The same; both sides look for NNHAL_BURST_SPIN_US before they sleep. */
	double spin_p50, spin_p99;
};

/* @count round trips of each kind. 0, or -1 with a message on standard error. */
int fmq_measure(unsigned int count, struct fmq_figures *figures);
/* nnbench fmq: measure, print, and write JSON if @json is not NULL. The exit status. */
int fmq_main(unsigned int count, const char *json);

#endif /* NNBENCH_FMQ_H */
