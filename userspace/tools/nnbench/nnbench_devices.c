// SPDX-License-Identifier: MIT
/*
 * All hardware devices at once: does each do as much as alone?
 *
 * A thread per device keeps a burst busy. The devices run one after the other and then all
 * together, in turns, so that a slow phase of the machine affects both figures.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/json.h"
#include "../common/plural.h"
#include "../common/samples.h"
#include "nnbench_burst.h"

#define MAX_DEVICES	16
#define TURNS		5

/*
 * Lanes that run together. A lane that is done goes on until the last one is, so that all
 * measure under the same load.
 */
struct race {
	pthread_barrier_t start;
	atomic_uint running;
};

/* A device, and what runs on it. */
struct lane {
	char spec[NNHAL_NAME_SIZE];
	struct bench b;
	struct burst_pipeline pipeline;
	struct race *race;
	pthread_t thread;
	uint64_t alone[TURNS], together[TURNS];		/* executions per second */
	uint64_t rate;
	int ret;
};

struct lanes {
	struct lane lane[MAX_DEVICES];
	unsigned int num;
	uint64_t sum[TURNS];	/* executions per second of all, together */
};

static int run_pieces(struct lane *lane)
{
	lane->pipeline.num_samples = 0;
	return burst_pipeline_run(&lane->b, &lane->pipeline);
}

static void *run_lane(void *data)
{
	const unsigned int per_run = burst_pipeline_executions();
	struct lane *lane = data;
	uint64_t start, done = 0;

	pthread_barrier_wait(&lane->race->start);
	start = now_ns();
	for (; done < (uint64_t)PIPELINE_FACTOR * lane->b.count && !lane->ret; done += per_run)
		lane->ret = run_pieces(lane);
	lane->rate = done * 1000000000 / (now_ns() - start);
	atomic_fetch_sub(&lane->race->running, 1);
	while (atomic_load(&lane->race->running) && !lane->ret)
		lane->ret = run_pieces(lane);
	return NULL;
}

/* Run @num lanes at once. 0, or -1 after a message. */
static int run_race(struct lane *lanes, unsigned int num)
{
	struct race race = { .running = num };
	unsigned int i, started = 0;
	int ret = 0;

	if (pthread_barrier_init(&race.start, NULL, num + 1))
		return failed("barrier", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	for (i = 0; i < num; i++) {
		lanes[i].race = &race;
		if (pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i])) {
			/* The others wait for ever at the barrier. */
			fprintf(stderr, "nnbench: no thread: %s\n", strerror(errno));
			exit(1);
		}
		started++;
	}
	pthread_barrier_wait(&race.start);
	for (i = 0; i < started; i++) {
		pthread_join(lanes[i].thread, NULL);
		ret |= lanes[i].ret;
	}
	pthread_barrier_destroy(&race.start);
	return ret ? -1 : 0;
}

static int take_turns(struct lanes *l)
{
	unsigned int turn, i;

	for (turn = 0; turn < TURNS; turn++) {
		for (i = 0; i < l->num; i++) {
			if (run_race(&l->lane[i], 1))
				return -1;
			l->lane[i].alone[turn] = l->lane[i].rate;
		}
		if (run_race(l->lane, l->num))
			return -1;
		for (i = 0; i < l->num; i++) {
			l->lane[i].together[turn] = l->lane[i].rate;
			l->sum[turn] += l->lane[i].rate;
		}
	}
	return 0;
}

static uint64_t median(uint64_t rates[TURNS])
{
	samples_sort(rates, TURNS);
	return samples_percentile(rates, TURNS, 50);
}

/* Medians to the first entry of each array. */
static double find_medians(struct lanes *l)
{
	uint64_t best = 0;
	unsigned int i;

	l->sum[0] = median(l->sum);
	for (i = 0; i < l->num; i++) {
		struct lane *lane = &l->lane[i];

		lane->alone[0] = median(lane->alone);
		lane->together[0] = median(lane->together);
		if (lane->alone[0] > best)
			best = lane->alone[0];
	}
	return (double)l->sum[0] / (double)best;
}

static void print_lanes(const struct lanes *l, double scale)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i;

	printf("%u device%s, %ld CPU%s, bursts with %u in flight\n", l->num, plural(l->num), cpus,
	       plural((uint64_t)cpus), BURST_PIPELINE_DEPTH);
	printf("  %-16s %16s %16s\n", "executions/s", "alone", "all at once");
	for (i = 0; i < l->num; i++)
		printf("  %-16s %16llu %16llu\n", nnhal_device_name(l->lane[i].b.device),
		       (unsigned long long)l->lane[i].alone[0],
		       (unsigned long long)l->lane[i].together[0]);
	printf("  %-16s %16s %16llu\n", "sum", "", (unsigned long long)l->sum[0]);
	printf("  all at once / the fastest alone: %.3f\n", scale);
}

static int write_json(const struct lanes *l, double scale, const char *path)
{
	FILE *f = fopen(path, "w");
	struct json json;
	unsigned int i;

	if (!f) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	json_begin(&json, f);
	json_u64(&json, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	json_u64(&json, "depth", BURST_PIPELINE_DEPTH);
	json_object(&json, "executions_per_second");
	for (i = 0; i < l->num; i++) {
		json_object(&json, nnhal_device_name(l->lane[i].b.device));
		json_u64(&json, "alone", l->lane[i].alone[0]);
		json_u64(&json, "together", l->lane[i].together[0]);
		json_end(&json);
	}
	json_end(&json);
	json_real(&json, "all_to_one", scale, 4);
	json_end(&json);
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int find_devices(struct lanes *l)
{
	struct nnhal_device_info infos[MAX_DEVICES] = { NNHAL_DEVICE_INFO_INIT };
	struct nnhal_diag diag = { .message = "" };
	enum nnhal_status status;
	uint32_t i, count = 0;

	status = nnhal_enumerate_devices(infos, MAX_DEVICES, &count, &diag);
	if (status)
		return failed("devices", status, &diag);
	if (count > MAX_DEVICES)
		fprintf(stderr, "nnbench: %u devices, the first %u are measured\n", count,
			MAX_DEVICES);
	for (i = 0; i < count && i < MAX_DEVICES; i++)
		/* The in-process device has no node. */
		if (infos[i].path[0])
			memcpy(l->lane[l->num++].spec, infos[i].spec, sizeof(infos[i].spec));
	return 0;
}

int bench_devices(const struct bench *settings, const char *json)
{
	struct lanes *l = calloc(1, sizeof(*l));
	unsigned int i;
	double scale;
	int ret;

	if (!l) {
		fprintf(stderr, "nnbench: out of memory\n");
		return -1;
	}
	ret = find_devices(l);
	for (i = 0; i < l->num && !ret; i++) {
		struct lane *lane = &l->lane[i];

		lane->b = *settings;
		lane->b.device_spec = lane->spec;
		ret = prepare(&lane->b);
		if (!ret)
			ret = burst_pipeline_open(&lane->b, &lane->pipeline, BURST_PIPELINE_DEPTH,
						  NNHAL_BURST_SPIN_US);
	}
	if (!ret)
		ret = take_turns(l);
	if (!ret) {
		scale = find_medians(l);
		print_lanes(l, scale);
		ret = json ? write_json(l, scale, json) : 0;
	}
	for (i = 0; i < l->num; i++) {
		burst_pipeline_close(&l->lane[i].pipeline);
		unprepare(&l->lane[i].b);
	}
	free(l);
	return ret;
}
