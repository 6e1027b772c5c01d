// SPDX-License-Identifier: MIT
/*
 * capture: the jobs of all clients as a timeline that Perfetto and Chrome show (chrome://tracing,
 * ui.perfetto.dev), from the tracepoints of the driver. They are read from an instance of tracefs
 * of its own, so that other users of tracing are not disturbed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/plural.h"
#include "nnctl.h"

#define TRACEFS		"/sys/kernel/tracing"
#define SECONDS		5
/* Jobs that have begun and not ended, as far as the timeline goes. */
#define MAX_JOBS	65536
/* Devices in a timeline. */
#define MAX_DEVICES	64
#define MAX_LINE	1024

/* A job between its first event and its last one. */
struct job {
	unsigned int device;
	uint64_t ctx;
	uint64_t seqno;
	uint64_t program;
	double submit;		/* us; negative: not seen */
	double start;
};

struct capture {
	char dir[96];
	int pipe;		/* trace_pipe of the instance */
	FILE *out;
	bool any;
	char devices[MAX_DEVICES][32];
	unsigned int num_devices;
	struct job *jobs;
	size_t num_jobs;
	uint64_t id;		/* of the last job of the timeline */
	uint64_t complete;	/* jobs */
	uint64_t lost;		/* events that the kernel had no room for */
	char line[MAX_LINE];
	size_t length;
};

static int write_file(const char *dir, const char *name, const char *text)
{
	char path[192];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Take what tracefs says apart: "KEY=NUMBER" behind a blank. */
static bool number_of(const char *text, const char *key, uint64_t *value)
{
	size_t length = strlen(key);
	const char *at = text;

	while ((at = strstr(at, key))) {
		if (at > text && at[-1] == ' ' && at[length] == '=') {
			*value = strtoull(at + length + 1, NULL, 0);
			return true;
		}
		at += length;
	}
	return false;
}

static void begin_event(struct capture *c, const char *phase, const char *name, double us,
			unsigned int device, uint64_t ctx)
{
	fprintf(c->out, "%s\n{\"ph\":\"%s\",\"name\":\"%s\",\"ts\":%.3f,\"pid\":%u,\"tid\":%" PRIu64,
		c->any ? "," : "", phase, name, us, device + 1, ctx);
	c->any = true;
}

/* One line of the timeline has a job, and in it the wait and the run. */
static void part(struct capture *c, const char *phase, const char *name, double us,
		 const struct job *job, uint64_t id)
{
	begin_event(c, phase, name, us, job->device, job->ctx);
	fprintf(c->out, ",\"cat\":\"job\",\"id\":\"0x%" PRIx64 "\"}", id);
}

/* Text of the kernel goes into JSON. What a process is called may look like an event. */
static char json_char(char c)
{
	return (unsigned char)c < 0x20 || (unsigned char)c >= 0x7f || c == '"' || c == '\\' ? '?' : c;
}

static unsigned int device_of(struct capture *c, const char *name, size_t length)
{
	unsigned int i;

	if (length >= sizeof(c->devices[0]))
		length = sizeof(c->devices[0]) - 1;
	for (i = 0; i < c->num_devices; i++)
		if (!strncmp(c->devices[i], name, length) && !c->devices[i][length])
			return i;
	if (i == MAX_DEVICES)
		return 0;
	memcpy(c->devices[i], name, length);
	c->devices[i][length] = '\0';
	c->num_devices++;
	for (length = 0; c->devices[i][length]; length++)
		c->devices[i][length] = json_char(c->devices[i][length]);
	fprintf(c->out, "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,"
		"\"args\":{\"name\":\"%s\"}}", c->any ? "," : "", i + 1, c->devices[i]);
	c->any = true;
	return i;
}

static struct job *find_job(struct capture *c, unsigned int device, uint64_t ctx, uint64_t seqno)
{
	size_t i;

	for (i = 0; i < c->num_jobs; i++)
		if (c->jobs[i].device == device && c->jobs[i].ctx == ctx &&
		    c->jobs[i].seqno == seqno)
			return &c->jobs[i];
	return NULL;
}

static struct job *add_job(struct capture *c, unsigned int device, uint64_t ctx, uint64_t seqno)
{
	if (c->num_jobs == MAX_JOBS) {
		/* Jobs whose end was lost. */
		memmove(c->jobs, c->jobs + 1, (MAX_JOBS - 1) * sizeof(*c->jobs));
		c->num_jobs--;
	}
	c->jobs[c->num_jobs] = (struct job){
		.device = device, .ctx = ctx, .seqno = seqno, .submit = -1, .start = -1,
	};
	return &c->jobs[c->num_jobs++];
}

static void end_job(struct capture *c, struct job *job, double us, const char *text)
{
	double first = job->submit >= 0 ? job->submit : job->start;
	uint64_t exec = 0, status = 0, id = ++c->id;
	char name[64];

	number_of(text, "exec_ns", &exec);
	number_of(text, "status", &status);
	snprintf(name, sizeof(name), "job %" PRIu64, job->seqno);
	begin_event(c, "b", name, first, job->device, job->ctx);
	fprintf(c->out, ",\"cat\":\"job\",\"id\":\"0x%" PRIx64 "\",\"args\":{\"program\":%" PRIu64
		",\"status\":%" PRIu64 ",\"exec_ns\":%" PRIu64 "}}", id, job->program, status, exec);
	if (job->submit >= 0 && job->start >= 0) {
		part(c, "b", "wait", job->submit, job, id);
		part(c, "e", "wait", job->start, job, id);
	}
	if (job->start >= 0) {
		part(c, "b", "run", job->start, job, id);
		part(c, "e", "run", us, job, id);
	}
	part(c, "e", name, us, job, id);
	c->complete++;
	*job = c->jobs[--c->num_jobs];
}

static void instant(struct capture *c, const char *name, double us, unsigned int device,
		    uint64_t ctx, const char *text)
{
	const char *at;

	begin_event(c, "i", name, us, device, ctx);
	fputs(",\"s\":\"p\",\"args\":{\"text\":\"", c->out);
	for (at = text; *at; at++)
		putc(json_char(*at), c->out);
	fputs("\"}}", c->out);
}

/* "  comm-PID  [CPU] FLAGS SECONDS: nnpu_EVENT: DEVICE KEY=VALUE...", or a note about losses. */
static void take_line(struct capture *c, char *line)
{
	char *event = strstr(line, ": nnpu_"), *text, *time, *end;
	uint64_t ctx = 0, seqno = 0;
	unsigned int device;
	struct job *job;
	double us;

	if (!event) {
		char *lost = strstr(line, "[LOST ");

		c->lost += lost ? strtoull(lost + 6, NULL, 10) : 0;
		return;
	}
	*event = '\0';
	time = strrchr(line, ' ');
	event += 2;
	text = strchr(event, ':');
	if (!time || !text || text[1] != ' ')
		return;
	us = strtod(time, NULL) * 1e6;
	*text = '\0';
	text += 2;
	end = strchr(text, ' ');
	if (!end)
		return;
	device = device_of(c, text, (size_t)(end - text));
	number_of(end, "ctx", &ctx);
	number_of(end, "seqno", &seqno);
	if (!strcmp(event, "nnpu_job_submit")) {
		job = add_job(c, device, ctx, seqno);
		job->submit = us;
		number_of(end, "program", &job->program);
	} else if (!strcmp(event, "nnpu_job_start")) {
		job = find_job(c, device, ctx, seqno);
		if (!job)
			job = add_job(c, device, ctx, seqno);
		job->start = us;
		number_of(end, "program", &job->program);
	} else if (!strcmp(event, "nnpu_job_complete")) {
		job = find_job(c, device, ctx, seqno);
		if (job)
			end_job(c, job, us, end);
	} else if (!strcmp(event, "nnpu_reset")) {
		instant(c, "reset", us, device, ctx, end + 1);
	} else if (!strcmp(event, "nnpu_userq")) {
		instant(c, "user queue", us, device, ctx, end + 1);
	}
}

static void take(struct capture *c, const char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (data[i] != '\n') {
			if (c->length < sizeof(c->line) - 1)
				c->line[c->length++] = data[i];
			continue;
		}
		c->line[c->length] = '\0';
		take_line(c, c->line);
		c->length = 0;
	}
}

/* What the kernel has by now. False: there is no more. */
static bool read_some(struct capture *c)
{
	static char buf[64 << 10];
	ssize_t got;

	got = read(c->pipe, buf, sizeof(buf));
	if (got <= 0)
		return false;
	take(c, buf, (size_t)got);
	return true;
}

static int open_instance(struct capture *c, struct error *err)
{
	char path[192];
	int ret;

	snprintf(c->dir, sizeof(c->dir), TRACEFS "/instances/nnctl-%d", (int)getpid());
	if (access(TRACEFS "/events/nnpu", F_OK)) {
		int why = errno;

		return fail(err, why == ENOENT ?
			    "no tracepoints below " TRACEFS ": is tracefs mounted and nnpu loaded?" :
			    "tracepoints cannot be read: try as root");
	}
	/* Of somebody who had this number and was killed; one that is used stays. */
	rmdir(c->dir);
	if (mkdir(c->dir, 0700))
		return fail_errno(err, errno, "%s", c->dir);
	ret = write_file(c->dir, "trace_clock", "mono");
	/* 4 MiB for each CPU. */
	if (!ret)
		ret = write_file(c->dir, "buffer_size_kb", "4096");
	if (!ret)
		ret = write_file(c->dir, "events/nnpu/enable", "1");
	snprintf(path, sizeof(path), "%s/trace_pipe", c->dir);
	c->pipe = ret ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c->pipe >= 0)
		return 0;
	fail_errno(err, ret ? -ret : errno, "%s", c->dir);
	rmdir(c->dir);
	return -1;
}

static void close_instance(struct capture *c)
{
	close(c->pipe);
	rmdir(c->dir);
}

static void run(struct capture *c, double seconds)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	unsigned int more = 1000;

	while (!nnctl_stopped() && !ferror(c->out) && now_ns() < end) {
		/* The pipe says that it can be read when it is half full: too late. */
		nnctl_wait(c->pipe, c->out, 0.1);
		read_some(c);
	}
	/* Now what is there already, and no more. */
	write_file(c->dir, "events/nnpu/enable", "0");
	while (more-- && read_some(c))
		;
}

int nnctl_capture(struct netlink *nl, const struct options *o, struct error *err)
{
	struct capture c = { .pipe = -1 };
	int ret = NNCTL_PROBLEM;

	(void)nl;
	/* The output may be a pipe, and the instance is to go in any case. */
	signal(SIGPIPE, SIG_IGN);
	c.jobs = calloc(MAX_JOBS, sizeof(*c.jobs));
	if (!c.jobs) {
		fail(err, "out of memory");
		return ret;
	}
	if (open_instance(&c, err)) {
		free(c.jobs);
		return ret;
	}
	c.out = fopen(o->output, "w");
	if (!c.out) {
		fail_errno(err, errno, "%s", o->output);
	} else {
		fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", c.out);
		run(&c, o->seconds > 0 ? o->seconds : SECONDS);
		fputs("\n]}\n", c.out);
		if (ferror(c.out) | fclose(c.out))
			fail_errno(err, errno, "%s", o->output);
		else
			ret = 0;
	}
	close_instance(&c);
	free(c.jobs);
	if (ret)
		return ret;
	if (o->json) {
		struct json json;

		json_begin(&json, stdout);
		json_string(&json, "output", o->output);
		json_u64(&json, "jobs", c.complete);
		json_u64(&json, "events-lost", c.lost);
		json_end(&json);
		return 0;
	}
	printf("%" PRIu64 " job%s in %s; open it with ui.perfetto.dev or chrome://tracing\n", c.complete,
	       plural(c.complete), o->output);
	if (c.lost)
		printf("%" PRIu64 " event%s lost: the kernel had no room\n", c.lost, plural(c.lost));
	return 0;
}
