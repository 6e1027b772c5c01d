// SPDX-License-Identifier: MIT
/*
 * nnctl nnapi: what ran where in processes that use libneuralnetworks.
 *
 * The library counts in a memfd, which is found here among the descriptors of each process. What is read is
 * the process's own word, so its numbers are printed and nothing is done with them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../libneuralnetworks/base/ndk_log.h"
#include "nnctl.h"

struct process {
	unsigned long pid;
	char name[32];
	struct ndk_counters counters;
};

/* Read the counters if descriptor @name of @fds is theirs. */
static bool read_counters(int fds, const char *name, struct ndk_counters *counters)
{
	static const char wanted[] = "/memfd:" NDK_COUNTERS_NAME " (deleted)";
	char target[sizeof(wanted)];
	struct stat st;
	bool found;
	int fd;

	/* Longer ones are cut, and differ. */
	if (readlinkat(fds, name, target, sizeof(target)) != sizeof(wanted) - 1 ||
	    memcmp(target, wanted, sizeof(wanted) - 1))
		return false;
	fd = openat(fds, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	/* The process may have put something else there meanwhile. */
	found = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		pread(fd, counters, sizeof(*counters), 0) == sizeof(*counters) &&
		counters->magic == NDK_COUNTERS_MAGIC;
	close(fd);
	return found;
}

/* The name of a process is its own choice, too. */
static void read_name(int proc, const char *pid, char *name, size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%.32s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, size - 1);
		close(fd);
	}
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (; *name; name++)
		if (!isprint((unsigned char)*name))
			*name = '?';
}

/* 1: it uses the library; 0: it does not, or has ended; -1: it may not be looked at. */
static int look_at(int proc, const char *pid, struct process *p)
{
	struct dirent *entry;
	char path[64];
	int fd, found = 0;
	DIR *fds;

	snprintf(path, sizeof(path), "%.32s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -1 : 0;
	fds = fdopendir(fd);
	if (!fds) {
		close(fd);
		return 0;
	}
	while (!found && (entry = readdir(fds)))
		found = read_counters(fd, entry->d_name, &p->counters);
	closedir(fds);
	p->pid = strtoul(pid, NULL, 10);
	if (found)
		read_name(proc, pid, p->name, sizeof(p->name));
	return found;
}

static void print_json(struct json *json, const struct process *p)
{
	const struct ndk_counters *c = &p->counters;

	json_object(json, NULL);
	json_u64(json, "pid", p->pid);
	json_string(json, "name", p->name);
	json_u64(json, "on_device", c->on_device);
	json_u64(json, "in_steps", c->in_steps);
	json_u64(json, "on_reference", c->on_reference);
	json_u64(json, "nowhere", c->nowhere);
	json_u64(json, "fallbacks", c->fallbacks);
	json_u64(json, "reruns", c->reruns);
	json_end(json);
}

static void print_text(const struct process *p)
{
	const struct ndk_counters *c = &p->counters;

	printf("%8lu  %-16s %10" PRIuFAST64 " %10" PRIuFAST64 " %10" PRIuFAST64 " %8" PRIuFAST64
	       " %10" PRIuFAST64 " %8" PRIuFAST64 "\n", p->pid, p->name, c->on_device, c->in_steps,
	       c->on_reference, c->nowhere, c->fallbacks, c->reruns);
}

int nnctl_nnapi(const struct options *o)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found;
	unsigned long hidden = 0, count = 0;
	struct dirent *entry;
	struct json json;
	struct process p;
	DIR *dir;

	dir = proc >= 0 ? fdopendir(proc) : NULL;
	if (!dir) {
		fprintf(stderr, "nnctl: /proc: %s\n", strerror(errno));
		if (proc >= 0)
			close(proc);
		return NNCTL_PROBLEM;
	}
	if (o->json) {
		json_begin(&json, stdout);
		json_array(&json, "processes");
	}
	while (!nnctl_stopped() && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		found = look_at(proc, entry->d_name, &p);
		hidden += found < 0;
		if (found <= 0)
			continue;
		if (!o->json && !count++)
			printf("%8s  %-16s %10s %10s %10s %8s %10s %8s\n", "pid", "name", "device",
			       "steps", "reference", "nowhere", "fallbacks", "reruns");
		if (o->json)
			print_json(&json, &p);
		else
			print_text(&p);
	}
	closedir(dir);
	if (o->json) {
		json_end(&json);
		json_u64(&json, "hidden", hidden);
		json_end(&json);
	} else if (!count) {
		printf("no process that uses libneuralnetworks\n");
	}
	if (!o->json && hidden)
		printf("%lu processes are not this user's to look at\n", hidden);
	return 0;
}
