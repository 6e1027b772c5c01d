// SPDX-License-Identifier: MIT
/*
 * nnctl: command line, and what the commands have in common.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/standard_files.h"
#include "nnctl.h"

const char *nnctl_bytes(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	unsigned int i;

	for (i = 0; value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	snprintf(text, size, value == floor(value) ? "%.0f %s" : "%.1f %s", value, units[i]);
	return text;
}

const char *nnctl_time(uint64_t ns, char *text, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	unsigned int i;

	for (i = 0; value >= 1000 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1000;
	snprintf(text, size, value < 100 && i ? "%.1f %s" : "%.0f %s", value, units[i]);
	return text;
}

bool nnctl_has_samples(const uint64_t *now, const uint64_t *before)
{
	unsigned int i;

	for (i = 0; i < NNPU_LATENCY_BUCKETS; i++)
		if (now[i] != (before ? before[i] : 0))
			return true;
	return false;
}

uint64_t nnctl_percentile(const uint64_t *now, const uint64_t *before, double part)
{
	uint64_t counts[NNPU_LATENCY_BUCKETS], total = 0;
	double wanted;
	unsigned int i;

	for (i = 0; i < NNPU_LATENCY_BUCKETS; i++) {
		counts[i] = now[i] - (before ? before[i] : 0);
		total += counts[i];
	}
	if (!total)
		return 0;
	wanted = part * (double)total;
	for (i = 0; i + 1 < NNPU_LATENCY_BUCKETS && (double)counts[i] < wanted; i++)
		wanted -= (double)counts[i];
	/* Bucket i spans [2^(9+i), 2^(10+i)), the first one [0, 1024). */
	if (!i)
		return (uint64_t)(1024 * wanted / (double)counts[0]);
	return (uint64_t)(ldexp(1, 9 + (int)i) * (1 + (counts[i] ? wanted / (double)counts[i] : 0)));
}

static bool is_named(const struct record *dev, const char *name)
{
	const char *node = record_text(dev, NNPU_A_DEV_NODE), *last = strrchr(node, '/');
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, record_number(dev, NNPU_A_DEV_ID));
	if (!strncmp(name, "/dev/", 5))
		name += 5;
	return !strcmp(name, number) || !strcmp(name, node) || (last && !strcmp(name, last + 1)) ||
	       !strcmp(name, record_text(dev, NNPU_A_DEV_BUS_NAME));
}

int nnctl_find_device(const struct records *devices, const char *name, const struct record **found,
		      struct error *err)
{
	size_t i;

	if (!devices->count)
		return fail(err, "no device; try `nnctl doctor'");
	if (!name && devices->count > 1)
		return fail(err, "%zu devices: name one of those of `nnctl list'", devices->count);
	for (i = 0; i < devices->count; i++)
		if (!name || is_named(&devices->items[i], name)) {
			*found = &devices->items[i];
			return 0;
		}
	return fail(err, "no device %s; `nnctl list' names them", name);
}

int nnctl_get_devices(struct netlink *nl, const struct options *o, struct records *devices,
		      struct error *err)
{
	const struct record *found;
	struct record copy;

	if (netlink_dump(nl, NNPU_CMD_DEV_GET, &dev_fields, -1, devices, err))
		return -1;
	if (!o->device)
		return 0;
	if (nnctl_find_device(devices, o->device, &found, err)) {
		records_free(devices);
		return -1;
	}
	copy = *found;
	devices->items[0] = copy;
	devices->count = 1;
	return 0;
}

static int usage(FILE *f, int status)
{
	fprintf(f,
		"usage: nnctl [OPTION]... list               the devices\n"
		"       nnctl [OPTION]... info [DEVICE]      all that is known of them\n"
		"       nnctl [OPTION]... top [DEVICE]       who uses them, again and again\n"
		"       nnctl [OPTION]... monitor            hangs, resets and other events\n"
		"       nnctl [OPTION]... reset [DEVICE]     reset a device; all contexts are lost\n"
		"       nnctl [OPTION]... capture            a timeline of all jobs\n"
		"       nnctl [OPTION]... doctor             what is wrong, and what to do\n"
		"       nnctl [OPTION]... nnapi              where programs of the NNAPI ran\n"
		"\n"
		"DEVICE is a number, a device file or a name on the bus.\n"
		"\n"
		"  --json           print JSON; monitor prints a line for each event\n"
		"  --interval S     top: seconds between two looks; without it 1\n"
		"  --count N        top: so many looks; monitor: so many events\n"
		"  --seconds S      monitor, capture: end after so long; capture without it: 5\n"
		"  --output FILE    capture: where the timeline goes; without it nnctl.json\n"
		"  --help           print this text\n");
	return status;
}

static int wrong(const char *what)
{
	fprintf(stderr, "nnctl: %s; see nnctl --help\n", what);
	return NNCTL_USAGE;
}

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds > 0 && *seconds <= 1e6;
}

static bool parse_count(const char *text, unsigned long *count)
{
	char *end;

	errno = 0;
	*count = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *count;
}

/* 0, or an exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	*o = (struct options){ .interval = 1, .output = "nnctl.json" };
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			o->json = true;
			break;
		case 'i':
			if (!parse_seconds(optarg, &o->interval))
				return wrong("--interval takes seconds");
			break;
		case 'c':
			if (!parse_count(optarg, &o->count))
				return wrong("--count takes a number from 1 on");
			break;
		case 's':
			if (!parse_seconds(optarg, &o->seconds))
				return wrong("--seconds takes seconds");
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'h':
			exit(usage(stdout, 0));
		default:
			return NNCTL_USAGE;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct command {
		const char *name;
		int (*run)(struct netlink *nl, const struct options *o, struct error *err);
		bool takes_device;
	} commands[] = {
		{ "list", nnctl_list, false },
		{ "info", nnctl_info, true },
		{ "top", nnctl_top, true },
		{ "monitor", nnctl_monitor, false },
		{ "reset", nnctl_reset, true },
		{ "capture", nnctl_capture, false },
	};
	const struct command *command = NULL;
	struct error err = { .text = "" };
	struct netlink *nl;
	struct options o;
	int (*alone)(const struct options *o) = NULL;
	unsigned int i;
	int status;

	if (hold_standard_files())
		return NNCTL_PROBLEM;
	status = parse(argc, argv, &o);
	if (status)
		return status;
	if (optind >= argc)
		return usage(stderr, NNCTL_USAGE);
	nnctl_catch_signals();
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[optind], commands[i].name))
			command = &commands[i];
	if (!strcmp(argv[optind], "doctor"))
		alone = nnctl_doctor;
	else if (!strcmp(argv[optind], "nnapi"))
		alone = nnctl_nnapi;
	if (!command && !alone)
		return wrong("no such command");
	if (optind + 1 < argc && command && command->takes_device)
		o.device = argv[++optind];
	if (optind + 1 < argc)
		return wrong("too many words");
	/* Some go on where there is no netlink. */
	nl = alone ? NULL : netlink_open(&err);
	if (alone)
		status = alone(&o);
	else
		status = nl ? command->run(nl, &o, &err) : NNCTL_PROBLEM;
	if (nl)
		netlink_close(nl);
	if (fflush(stdout) || ferror(stdout) || nnctl_no_reader()) {
		fail_errno(&err, nnctl_no_reader() ? EPIPE : errno, "output");
		status = NNCTL_PROBLEM;
	}
	if (err.text[0])
		fprintf(stderr, "nnctl: %s\n", err.text);
	return status;
}
