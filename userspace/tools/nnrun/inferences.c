// SPDX-License-Identifier: MIT
/*
 * Running inferences, one at a time or several in flight.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/clock.h"
#include "inferences.h"
#include "open_device.h"

/* Inferences in flight with --async: enough for the engines of the device and its queue. */
#define ASYNC_DEPTH	4

/* Arguments in a job's memory start at a cache line of their own. */
#define ARG_ALIGN	64

/* One inference, with memory of its own. */
struct job {
	struct nnhal_memory *memory;
	uint8_t *base;
	struct nnhal_request_argument *args;	/* inputs, then outputs */
	const void **outputs;
	struct nnhal_request_pool pool;
	struct nnhal_request request;
	struct nnhal_execute_options options;
	struct nnhal_ext_profile times;
	struct nnhal_ext_work work;
	struct nnhal_diag diag;
	struct nnhal_timing timing;
	enum nnhal_status status;
	uint64_t start_ns;
	uint64_t end_ns;
	const char *source;
	uint64_t index;			/* of the sample in its source */
	bool keep;			/* store the result, not only the time */
	bool done;
	pthread_mutex_t lock;		/* guards done */
	pthread_cond_t cond;
};

static uint32_t updated_variables(const struct run *run)
{
	uint32_t i, count = 0;

	for (i = 0; i < run->num_variables; i++)
		count += nntflite_model_variable(run->model, i)->output != NNTFLITE_NONE;
	return count;
}

/* Bytes of an argument: inputs, variables before, outputs, variables after. */
static uint64_t argument_bytes(const struct run *run, uint32_t i)
{
	const struct tensors *t = run->tensors;
	uint32_t k;

	if (i < t->num_inputs)
		return t->inputs[i].bytes;
	i -= t->num_inputs;
	if (i < run->num_variables)
		return nntflite_model_variable(run->model, i)->bytes;
	i -= run->num_variables;
	if (i < t->num_outputs)
		return t->outputs[i].bytes;
	for (k = 0; k < run->num_variables; k++)
		if (nntflite_model_variable(run->model, k)->output == i)
			return nntflite_model_variable(run->model, k)->bytes;
	return 0;
}

/* The variables before a run: what the run before left, or what they begin with. */
static void set_variables(const struct run *run, struct job *job, bool carry_on)
{
	uint32_t i;

	for (i = 0; i < run->num_variables; i++) {
		const struct nntflite_variable *v = nntflite_model_variable(run->model, i);
		uint8_t *to = job->base + job->request.inputs[v->input].location.offset;

		if (carry_on && v->output != NNTFLITE_NONE)
			memcpy(to, job->base + job->request.outputs[v->output].location.offset,
			       v->bytes);
		else if (v->initial)
			memcpy(to, v->initial, v->bytes);
		else
			memset(to, 0, v->bytes);
	}
}

static int job_init(struct run *run, struct job *job, struct error *err)
{
	const struct tensors *tensors = run->tensors;
	uint32_t num_inputs = tensors->num_inputs + run->num_variables;
	uint32_t count = num_inputs + tensors->num_outputs + updated_variables(run);
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	uint64_t size = 0;
	uint32_t i;

	job->times = (struct nnhal_ext_profile)NNHAL_EXT_PROFILE_INIT;
	job->work = (struct nnhal_ext_work)NNHAL_EXT_WORK_INIT;
	job->args = calloc(count, sizeof(*job->args));
	job->outputs = calloc(tensors->num_outputs, sizeof(*job->outputs));
	if (!job->args || !job->outputs)
		return fail(err, "out of memory");
	if (run->options->profile) {
		job->times.entries = calloc(run->num_operations,
					    sizeof(*job->times.entries));
		if (!job->times.entries)
			return fail(err, "out of memory");
	}
	for (i = 0; i < count; i++) {
		uint64_t bytes = argument_bytes(run, i);

		if (size + bytes > UINT32_MAX - ARG_ALIGN)
			return fail(err, "inputs and outputs take more than 4 GiB");
		job->args[i].location.offset = (uint32_t)size;
		job->args[i].location.length = (uint32_t)bytes;
		size = (size + bytes + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	}
	status = nnhal_memory_create(size, &job->memory, &diag);
	if (status != NNHAL_STATUS_NONE)
		return fail_status(err, "cannot get memory for inputs and outputs", status, &diag);
	job->base = nnhal_memory_map(job->memory, &diag);
	if (!job->base)
		return fail(err, "cannot map memory for inputs and outputs: %s", diag.message);
	for (i = 0; i < tensors->num_outputs; i++)
		job->outputs[i] = job->base + job->args[num_inputs + i].location.offset;
	job->pool.memory = job->memory;
	job->request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = num_inputs,
		.num_outputs = count - num_inputs,
		.num_pools = 1,
		.inputs = job->args,
		.outputs = job->args + num_inputs,
		.pools = &job->pool,
	};
	job->options = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	job->options.diag = &job->diag;
	if (run->options->profile) {
		job->options.measure = NNHAL_MEASURE_YES;
		job->options.profile = &job->times;
		job->options.work = &job->work;
	}
	return 0;
}

static int start_burst(struct run *run, struct error *err)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	options.diag = &diag;
	status = nnhal_burst_create(run->prepared, &options, &run->burst);
	if (status != NNHAL_STATUS_NONE)
		return fail_status(err, "cannot start a burst", status, &diag);
	return 0;
}

int run_init(struct run *run, struct error *err)
{
	uint32_t i;

	run->num_variables = nntflite_model_num_variables(run->model);
	/* Each inference begins with the variables that the one before left. */
	run->depth = run->options->async && !run->num_variables ? ASYNC_DEPTH : 1;
	run->progress = !run->options->quiet && isatty(STDERR_FILENO);
	run->jobs = calloc(run->depth, sizeof(*run->jobs));
	if (!run->jobs)
		return fail(err, "out of memory");
	for (i = 0; i < run->depth; i++) {
		pthread_mutex_init(&run->jobs[i].lock, NULL);
		pthread_cond_init(&run->jobs[i].cond, NULL);
	}
	for (i = 0; i < run->depth; i++)
		if (job_init(run, &run->jobs[i], err))
			return -1;
	return run->options->burst ? start_burst(run, err) : 0;
}

void run_free(struct run *run)
{
	uint32_t i;

	nnhal_burst_unref(run->burst);
	run->burst = NULL;
	for (i = 0; run->jobs && i < run->depth; i++) {
		struct job *job = &run->jobs[i];

		nnhal_memory_unref(job->memory);
		free(job->args);
		free(job->outputs);
		free(job->times.entries);
		pthread_mutex_destroy(&job->lock);
		pthread_cond_destroy(&job->cond);
	}
	free(run->jobs);
	run->jobs = NULL;
}

static void job_done(void *context, enum nnhal_status status,
		     const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		     const struct nnhal_timing *timing)
{
	struct job *job = context;

	(void)shapes;
	(void)num_shapes;
	pthread_mutex_lock(&job->lock);
	job->end_ns = now_ns();
	job->status = status;
	job->timing = *timing;
	job->done = true;
	/* Signal with the lock held: the waiter may free the job as soon as it has the lock. */
	pthread_cond_signal(&job->cond);
	pthread_mutex_unlock(&job->lock);
}

/* Start an inference; with @wait it is over on return. */
static void job_start(struct run *run, struct job *job, bool wait)
{
	job->diag.message[0] = '\0';
	job->times.max_entries = job->times.entries ? run->num_operations : 0;
	job->done = false;
	if (run->num_variables)
		set_variables(run, job, run->options->stateful && run->collected > 0);
	job->start_ns = now_ns();
	if (!wait) {
		nnhal_prepared_model_execute(run->prepared, &job->request, &job->options, job_done,
					     job);
		return;
	}
	if (run->burst)
		job->status = nnhal_burst_execute(run->burst, &job->request, &job->options, NULL,
						  NULL, &job->timing);
	else
		job->status =
			nnhal_prepared_model_execute_synchronously(run->prepared, &job->request,
								   &job->options, NULL, NULL,
								   &job->timing);
	job->end_ns = now_ns();
	job->done = true;
}

static void job_wait(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	while (!job->done)
		pthread_cond_wait(&job->cond, &job->lock);
	pthread_mutex_unlock(&job->lock);
}

static int job_failure(const struct run *run, struct job *job, struct error *err)
{
	char what[160];

	if (job->index == UINT64_MAX)
		snprintf(what, sizeof(what), "%.100s: inference failed", job->source);
	else
		snprintf(what, sizeof(what), "%.80s: inference of sample %" PRIu64 " failed",
			 job->source, job->index);
	return fail_model(err, what, job->status, run->model, &job->diag);
}

static void show_progress(struct run *run, uint64_t now)
{
	if (!run->progress || now - run->first_start_ns < NS_PER_S ||
	    now - run->progress_ns < NS_PER_S / 5)
		return;
	run->progress_ns = now;
	fprintf(stderr, "\r%" PRIu64, run->collected);
	if (run->expected)
		fprintf(stderr, " of %" PRIu64, run->expected * run->options->repeat);
	fprintf(stderr, " inferences\033[K");
}

static void clear_progress(struct run *run)
{
	if (run->progress_ns)
		fprintf(stderr, "\r\033[K");
	run->progress_ns = 0;
}

/* Wait for the oldest inference in flight and take its result. */
static int collect(struct run *run, struct error *err)
{
	struct job *job = &run->jobs[run->collected % run->depth];
	uint64_t latency;

	job_wait(job);
	run->collected++;
	if (job->status != NNHAL_STATUS_NONE)
		return job_failure(run, job, err);
	latency = job->end_ns - job->start_ns;
	run->elapsed_ns = job->end_ns - run->first_start_ns;
	if (results_add_latency(run->results, latency, err))
		return -1;
	if (run->options->profile_trace &&
	    profile_add_events(run->profile, (uint32_t)((run->collected - 1) % run->depth),
			       job->start_ns - run->first_start_ns, latency, &job->times, err))
		return -1;
	if (run->options->profile &&
	    profile_add(run->profile, latency, &job->timing, &job->times, &job->work, err))
		return -1;
	show_progress(run, job->end_ns);
	if (!job->keep)
		return 0;
	if (run->progress_ns && run->results->print_lists)
		clear_progress(run);
	return results_add(run->results, job->source, job->index, job->outputs, err);
}

/* The next job of the ring, free to be filled; NULL with error. */
static struct job *next_job(struct run *run, struct error *err)
{
	if (run->launched - run->collected == run->depth && collect(run, err))
		return NULL;
	return &run->jobs[run->launched % run->depth];
}

/* Read one sample for each input. 1, 0 at the end, or -1. */
static int read_sample(struct run *run, struct input *inputs, struct job *job,
		       struct error *err)
{
	const struct input *shortest = &inputs[0];
	const struct input *longest = &inputs[0];
	uint32_t ended = 0;
	uint32_t i;

	for (i = 0; i < run->tensors->num_inputs; i++) {
		int ret = input_read(&inputs[i], job->base + job->args[i].location.offset,
				     run->stop, err);

		if (ret < 0)
			return -1;
		ended += ret == 0;
	}
	if (ended == 0)
		return 1;
	if (ended == run->tensors->num_inputs)
		return 0;
	for (i = 0; i < run->tensors->num_inputs; i++) {
		if (inputs[i].next < shortest->next)
			shortest = &inputs[i];
		if (inputs[i].next > longest->next)
			longest = &inputs[i];
	}
	return fail(err, "%s has %" PRIu64 " samples, %s has more: all inputs need the same number",
		    shortest->name, shortest->next, longest->name);
}

static int warm_up(struct run *run, struct job *job, struct error *err)
{
	uint64_t i;

	run->warm = true;
	for (i = 0; i < run->options->warmup && !*run->stop; i++) {
		job_start(run, job, true);
		if (job->status != NNHAL_STATUS_NONE)
			return job_failure(run, job, err);
	}
	return 0;
}

/* Run the sample in @job as often as asked for. */
static int run_sample(struct run *run, struct job *job, struct error *err)
{
	uint64_t i;

	if (!run->warm && warm_up(run, job, err))
		return -1;
	for (i = 0; i < run->options->repeat && !*run->stop; i++) {
		if (i > 0) {
			struct job *last = job;
			uint32_t k;

			job = next_job(run, err);
			if (!job)
				return -1;
			for (k = 0; k < run->tensors->num_inputs && job != last; k++)
				memcpy(job->base + job->args[k].location.offset,
				       last->base + last->args[k].location.offset,
				       last->args[k].location.length);
			job->source = last->source;
			job->index = last->index;
		}
		job->keep = i + 1 == run->options->repeat;
		job_start(run, job, run->depth == 1);
		if (run->launched == 0)
			run->first_start_ns = job->start_ns;
		run->launched++;
		if (run->depth == 1 && collect(run, err))
			return -1;
	}
	return *run->stop ? -1 : 0;
}

static bool inputs_ready(const struct run *run, const struct input *inputs)
{
	uint32_t i;

	for (i = 0; i < run->tensors->num_inputs; i++)
		if (!input_ready(&inputs[i]))
			return false;
	return true;
}

static int run_samples(struct run *run, struct input *inputs, struct error *err)
{
	uint64_t index;

	for (index = 0; !*run->stop; index++) {
		struct job *job;
		int ret;

		/*
		 * The writer of a pipe may wait for a result: collect results before waiting
		 * for it.
		 */
		while (run->collected < run->launched && !inputs_ready(run, inputs))
			if (collect(run, err))
				return -1;
		job = next_job(run, err);
		if (!job)
			return -1;
		ret = read_sample(run, inputs, job, err);
		if (ret <= 0)
			return ret;
		job->source = inputs[0].name;
		job->index = inputs[0].count_known && inputs[0].count == 1 ? UINT64_MAX : index;
		if (run_sample(run, job, err))
			return -1;
	}
	return -1;
}

int run_inputs(struct run *run, struct input *inputs, struct error *err)
{
	int ret = run_samples(run, inputs, err);

	while (ret == 0 && run->collected < run->launched)
		ret = collect(run, err);
	/* Also after an error, nothing may be in flight when the caller cleans up. */
	while (run->collected < run->launched)
		job_wait(&run->jobs[run->collected++ % run->depth]);
	clear_progress(run);
	return ret;
}
