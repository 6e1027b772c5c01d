// SPDX-License-Identifier: MIT
/*
 * Bursts: round trips, and pipelines of different depths.
 */
#include <stdlib.h>

#include "../common/clock.h"
#include "../common/samples.h"
#include "nnbench_burst.h"

/*
 * A pipeline is timed in pieces of PIECE executions. A piece is short beside a time slice, so
 * few of them are interrupted. Of PIECES in a row the first does not count.
 */
#define PIECE		32
#define PIECES		9

/* Round trips of a burst with this spin time. */
static int burst_round_trips(struct bench *b, uint32_t spin_us)
{
	struct nnhal_burst *burst = open_burst(b, 0, spin_us, 0);
	enum nnhal_status status = NNHAL_STATUS_NONE;
	unsigned int i, warm = b->count / 10;
	struct add_request r;

	if (!burst)
		return -1;
	request_init(b, &r, 0);
	for (i = 0; i < b->count + warm && !status; i++) {
		uint64_t start = now_ns();

		status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
		if (i >= warm)
			b->samples[i - warm] = now_ns() - start;
	}
	nnhal_burst_unref(burst);
	if (status)
		return failed("burst", status, NULL);
	return check_sums(b, 1, "a burst");
}

int burst_pipeline_open(struct bench *b, struct burst_pipeline *p, unsigned int depth,
			uint32_t spin_us)
{
	unsigned int i;

	p->depth = depth;
	p->together = depth > 1 ? depth / 2 : 1;
	for (i = 0; i < depth; i++) {
		request_init(b, &p->r[i], i);
		p->requests[i] = &p->r[i].request;
		p->tags[i] = i;
	}
	p->results[0].size = sizeof(p->results[0]);
	p->samples = calloc(PIPELINE_FACTOR * b->count / PIECE + PIECES, sizeof(*p->samples));
	p->burst = p->samples ? open_burst(b, depth, spin_us, 0) : NULL;
	return p->burst ? 0 : -1;
}

void burst_pipeline_close(struct burst_pipeline *p)
{
	nnhal_burst_unref(p->burst);
	free(p->samples);
}

/* Wait for @min results and count what comes. */
static enum nnhal_status take_results(struct burst_pipeline *p, unsigned int min,
				      unsigned int *in_flight)
{
	enum nnhal_status status;
	uint32_t i, count;

	status = nnhal_burst_wait_many(p->burst, p->results, min, BURST_PIPELINE_DEPTH, UINT64_MAX, &count);
	for (i = 0; i < count && !status; i++)
		status = p->results[i].status;
	*in_flight -= count;
	return status;
}

unsigned int burst_pipeline_executions(void)
{
	return PIECE * (PIECES - 1);
}

/* PIECES pieces with at most @p->depth executions in flight. */
int burst_pipeline_run(struct bench *b, struct burst_pipeline *p)
{
	unsigned int i, in_flight = 0, next = 0;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint64_t now, start = 0;
	uint32_t submitted;

	for (i = 0; i <= PIECE * PIECES && !status; i += p->together) {
		if (i % PIECE == 0) {
			now = now_ns();
			if (i > PIECE)
				p->samples[p->num_samples++] = now - start;
			start = now;
		}
		if (in_flight + p->together > p->depth)
			status = take_results(p, in_flight + p->together - p->depth, &in_flight);
		if (status)
			break;
		status = nnhal_burst_submit_many(p->burst, p->requests + next, p->tags + next,
						 p->together, NULL, 0, &submitted);
		in_flight += submitted;
		next = (next + p->together) % p->depth;
	}
	if (!status && in_flight)
		status = take_results(p, in_flight, &in_flight);
	if (status)
		return failed("burst pipeline", status, NULL);
	return check_sums(b, p->depth, "a pipeline of a burst");
}

/*
 * Nanoseconds per execution for each pipeline: medians of the pieces. The pipelines take turns,
 * so that a slow phase of the machine affects all of them.
 */
static int measure_pipelines(struct bench *b, struct burst_pipeline *p, unsigned int num,
			     double *ns)
{
	unsigned int i, done;

	for (done = 0; done < PIPELINE_FACTOR * b->count; done += burst_pipeline_executions())
		for (i = 0; i < num; i++)
			if (burst_pipeline_run(b, &p[i]))
				return -1;
	for (i = 0; i < num; i++) {
		samples_sort(p[i].samples, p[i].num_samples);
		ns[i] = (double)samples_percentile(p[i].samples, p[i].num_samples, 50) / PIECE;
	}
	return 0;
}

static int bench_burst_pipelines(struct bench *b)
{
	static const struct {
		unsigned int depth;
		const char *name, *what;
	} depths[] = {
		{ 1, "burst_depth1_ns", "burst, one in flight" },
		{ 2, "burst_depth2_ns", "burst, two in flight" },
		{ 4, "burst_depth4_ns", "burst, four in flight" },
		{ 8, "burst_depth8_ns", "burst, eight in flight" },
		{ 16, "burst_depth16_ns", "burst, sixteen in flight" },
	};
	enum { NUM = sizeof(depths) / sizeof(depths[0]) };
	struct burst_pipeline p[NUM] = { { .burst = NULL } };
	double ns[NUM];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < NUM && !ret; i++)
		ret = burst_pipeline_open(b, &p[i], depths[i].depth, UINT32_MAX);
	if (!ret)
		ret = measure_pipelines(b, p, NUM, ns);
	for (i = 0; i < NUM; i++) {
		burst_pipeline_close(&p[i]);
		if (!ret)
			metric(b, depths[i].name, depths[i].what, ns[i]);
	}
	return ret;
}

int bench_burst(struct bench *b)
{
	if (burst_round_trips(b, UINT32_MAX))
		return -1;
	metric_percentile(b, "burst_p50_ns", "burst, one ADD of one float", 50);
	metric_percentile(b, "burst_p90_ns", "  90 %", 90);
	metric_percentile(b, "burst_p99_ns", "  99 %", 99);
	if (burst_round_trips(b, 0))
		return -1;
	metric_percentile(b, "burst_sleep_p50_ns", "burst that sleeps at once", 50);
	metric_percentile(b, "burst_sleep_p99_ns", "  99 %", 99);
	return bench_burst_pipelines(b);
}
