/* SPDX-License-Identifier: MIT */
/*
 * nnbench: what its parts share.
 */
#ifndef NNBENCH_H
#define NNBENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#define MAX_METRICS	48

struct metric {
	const char *name;	/* in JSON */
	const char *what;	/* for people */
	double value;		/* ns */
};

/**
 * struct bench - a run
 * @device_spec: as the user named the device
 * @null_device: the device does not compute, so no sum is checked
 * @count: executions per figure
 * @device: device
 * @model: one ADD of one float
 * @memory: memory of all requests
 * @data: its mapping
 * @samples: room for @count times, ns
 * @metrics: figures so far
 * @num_metrics: entries of @metrics
 */
struct bench {
	const char *device_spec;
	bool null_device;
	unsigned int count;
	struct nnhal_device *device;
	struct nnhal_prepared_model *model;
	struct nnhal_memory *memory;
	float *data;
	uint64_t *samples;
	struct metric metrics[MAX_METRICS];
	unsigned int num_metrics;
};

/* nnbench_report.c: print an error; returns -1. */
int failed(const char *what, enum nnhal_status status, const struct nnhal_diag *diag);

/* nnbench_model.c: open the device and prepare the model. 0, or -1 after a message. */
int prepare(struct bench *b);
void unprepare(struct bench *b);

struct add_request {
	struct nnhal_request request;
	struct nnhal_request_argument inputs[2];
	struct nnhal_request_argument output;
	struct nnhal_request_pool pool;
};

/* Slot @i of the memory takes the output: b->data[32 + 16 * i], which becomes 3. */
void request_init(struct bench *b, struct add_request *r, unsigned int i);

/*
 * Do the outputs of the first @num slots hold the sum? Clears them for the next measurement.
 * 0, or -1 after a message.
 */
int check_sums(struct bench *b, unsigned int num, const char *what);

/* A burst; NULL after a message. @flags: NNHAL_BURST_SINGLE_THREAD or 0. */
struct nnhal_burst *open_burst(struct bench *b, unsigned int depth, uint32_t spin_us,
			       uint32_t flags);
/* nnbench_bound.c: bind the request that request_init() makes; NULL after a message. */
struct nnhal_bound_request *bind_request(struct bench *b, struct add_request *r);

/* nnbench_report.c */
void metric(struct bench *b, const char *name, const char *what, double value);
/* The same of a percentile of the @count samples, which are sorted. */
void metric_percentile(struct bench *b, const char *name, const char *what,
		       unsigned int percent);
void print_text(const struct bench *b);
/* 0, or -1 after a message. */
int print_json(const struct bench *b, const char *path);

/* Groups of measurements: 0, or -1 after a message. */
int bench_floor(struct bench *b);
int bench_execute(struct bench *b);
int bench_burst(struct bench *b);
int bench_bound(struct bench *b);
/* nnbench_devices.c: bursts on all hardware devices at once; prints, writes JSON. 0 or -1. */
int bench_devices(const struct bench *settings, const char *json);

#endif /* NNBENCH_H */
