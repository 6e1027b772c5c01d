// SPDX-License-Identifier: MIT
/*
 * doctor: looks at what a program needs that is to use a device, and says what to do.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include "nnctl.h"

/* As kernel/nnpu_hw.h has them. */
#define PCI_VENDOR	0x1234
#define PCI_DEVICE	0x4e50

enum verdict {
	GOOD,
	NOTE,		/* it works, but */
	BAD,
};

struct doctor {
	bool as_json;
	struct json json;
	unsigned int bad;
};

static void say(struct doctor *d, enum verdict grade, const char *what, const char *finding,
		const char *advice)
{
	static const char *const words[] = { "ok", "note", "problem" };

	d->bad += grade == BAD;
	if (d->as_json) {
		json_object(&d->json, NULL);
		json_string(&d->json, "check", what);
		json_string(&d->json, "verdict", words[grade]);
		json_string(&d->json, "finding", finding);
		if (grade != GOOD)
			json_string(&d->json, "advice", advice);
		json_end(&d->json);
		return;
	}
	printf("%-8s %-12s %s\n", words[grade], what, finding);
	if (grade != GOOD && advice[0])
		printf("%-8s %-12s -> %s\n", "", "", advice);
}

static unsigned long read_number(const char *dir, const char *name, const char *file)
{
	char path[512], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return strtoul(text, NULL, 0);
}

/* Functions on the PCI bus that are NNPUs; how many of them have no driver. */
static unsigned int count_pci(unsigned int *without_driver)
{
	const char *dir = "/sys/bus/pci/devices";
	unsigned int count = 0;
	struct dirent *entry;
	char path[512];
	DIR *d = opendir(dir);

	*without_driver = 0;
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' ||
		    read_number(dir, entry->d_name, "vendor") != PCI_VENDOR ||
		    read_number(dir, entry->d_name, "device") != PCI_DEVICE)
			continue;
		count++;
		snprintf(path, sizeof(path), "%s/%s/driver", dir, entry->d_name);
		*without_driver += !!access(path, F_OK);
	}
	if (d)
		closedir(d);
	return count;
}

static bool check_module(struct doctor *d)
{
	unsigned int without, functions = count_pci(&without);
	char text[128];

	if (!access("/sys/module/nnpu", F_OK)) {
		say(d, GOOD, "module", "nnpu is loaded", "");
		if (without) {
			snprintf(text, sizeof(text), "%u of %u have no driver", without, functions);
			say(d, BAD, "probe", text,
			    "look for nnpu in `dmesg'; bind it in /sys/bus/pci/drivers/nnpu");
		}
		return true;
	}
	say(d, BAD, "module", "nnpu is not loaded",
	    "modprobe nnpu; if there is none, build it for this kernel: make modules modules_install");
	if (functions)
		snprintf(text, sizeof(text), "%u on the PCI bus", functions);
	say(d, functions ? GOOD : BAD, "hardware", functions ? text : "no NNPU on the PCI bus",
	    "plug one in; in a virtual machine: -device nnpu-pci");
	return false;
}

static void check_node(struct doctor *d, const struct record *dev)
{
	char path[128], text[192];

	snprintf(path, sizeof(path), "/dev/%s", record_text(dev, NNPU_A_DEV_NODE));
	if (!access(path, R_OK | W_OK)) {
		say(d, GOOD, "permission", path, "");
		return;
	}
	snprintf(text, sizeof(text), "%s: %s", path, strerror(errno));
	say(d, BAD, "permission", text, errno == ENOENT ?
	    "the node is missing: is devtmpfs mounted, or udev running?" :
	    "a udev rule gives a group the node: SUBSYSTEM==\"accel\", GROUP=\"render\", MODE=\"0660\"");
}

static void check_version(struct doctor *d, const struct record *dev)
{
	uint64_t major = record_number(dev, NNPU_A_DEV_ABI_MAJOR);
	uint64_t minor = record_number(dev, NNPU_A_DEV_ABI_MINOR);
	char text[128];

	snprintf(text, sizeof(text), "driver %" PRIu64 ".%" PRIu64 ", this program %u.%u", major,
		 minor, NNPU_DRIVER_MAJOR, NNPU_DRIVER_MINOR);
	/* A minor version adds to the one before. */
	say(d, major == NNPU_DRIVER_MAJOR && minor + 1 > NNPU_DRIVER_MINOR ? GOOD : BAD, "version",
	    text, "install the module and the library of one version");
}

static void check_state(struct doctor *d, const struct record *dev)
{
	uint64_t state = record_number(dev, NNPU_A_DEV_STATE);

	say(d, state == NNPU_DEV_STATE_RUNNING ? GOOD : BAD, "state",
	    record_text(dev, NNPU_A_DEV_STATE), state == NNPU_DEV_STATE_DEAD ?
	    "it did not come back from a reset: see `dmesg', unbind and bind it, or cut its power" :
	    "it comes back when system sleep or the reset of its function is over");
}

static void check_faults(struct doctor *d, const struct record *stats)
{
	uint64_t hangs = record_number(stats, NNPU_A_STATS_HANGS);
	uint64_t lost = record_number(stats, NNPU_A_STATS_LOST_IRQS);
	uint64_t bad = record_number(stats, NNPU_A_STATS_BAD_COMPLETIONS) +
		       record_number(stats, NNPU_A_STATS_UNKNOWN_CIDS) +
		       record_number(stats, NNPU_A_STATS_LOST_JOBS) +
		       record_number(stats, NNPU_A_STATS_ADMIN_TIMEOUTS);
	char text[160];

	snprintf(text, sizeof(text), "%" PRIu64 " hangs, %" PRIu64 " lost interrupts, %" PRIu64
		 " other faults of the device", hangs, lost, bad);
	say(d, hangs || bad ? NOTE : GOOD, "faults", text,
	    "Documentation/my-job-hangs.rst; /sys/class/devcoredump has the dump of the first hang");
}

static void check_iommu(struct doctor *d, const struct record *dev)
{
	char path[192];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s",
		 record_text(dev, NNPU_A_DEV_BUS_NAME));
	/* Not on the PCI bus. */
	if (access(path, F_OK))
		return;
	strncat(path, "/iommu_group", sizeof(path) - strlen(path) - 1);
	say(d, access(path, F_OK) ? NOTE : GOOD, "IOMMU",
	    access(path, F_OK) ? "none for this device" : "there is one",
	    "without, a device that is broken reaches all memory: intel_iommu=on, or the firmware's setup");
}

static void check_udmabuf(struct doctor *d)
{
	if (!access("/dev/udmabuf", R_OK | W_OK))
		say(d, GOOD, "udmabuf", "/dev/udmabuf", "");
	else if (errno == ENOENT)
		say(d, NOTE, "udmabuf", "there is no /dev/udmabuf: memory of processes is copied",
		    "a kernel with CONFIG_UDMABUF");
	else
		say(d, NOTE, "udmabuf", "/dev/udmabuf may not be opened: memory of processes is copied",
		    "a udev rule: KERNEL==\"udmabuf\", GROUP=\"render\", MODE=\"0660\"");
}

static void check_devices(struct doctor *d, struct netlink *nl, struct error *err)
{
	struct options all = { 0 };
	struct records devices;
	size_t i;

	if (nnctl_get_devices(nl, &all, &devices, err)) {
		say(d, BAD, "netlink", err->text, "");
		return;
	}
	if (!devices.count)
		say(d, BAD, "device", "the driver has no device",
		    "look for nnpu in `dmesg': the probe says what it does not like");
	for (i = 0; i < devices.count; i++) {
		const struct record *dev = &devices.items[i];
		struct record stats;
		char text[160];

		snprintf(text, sizeof(text), "%s, %s, firmware %s",
			 record_text(dev, NNPU_A_DEV_BUS_NAME), record_text(dev, NNPU_A_DEV_NAME),
			 record_text(dev, NNPU_A_DEV_FIRMWARE));
		say(d, GOOD, "device", text, "");
		check_node(d, dev);
		check_version(d, dev);
		check_state(d, dev);
		if (!netlink_get(nl, NNPU_CMD_STATS_GET, &stats_fields,
				 (uint32_t)record_number(dev, NNPU_A_DEV_ID), &stats, err))
			check_faults(d, &stats);
		check_iommu(d, dev);
	}
	records_free(&devices);
}

int nnctl_doctor(const struct options *o)
{
	struct doctor d = { .as_json = o->json };
	struct error err = { .text = "" };
	struct netlink *nl;

	if (d.as_json) {
		json_begin(&d.json, stdout);
		json_array(&d.json, "checks");
	}
	if (check_module(&d)) {
		nl = netlink_open(&err);
		if (nl) {
			check_devices(&d, nl, &err);
			netlink_close(nl);
		} else {
			say(&d, BAD, "netlink", err.text,
			    "the module is another version, or still being loaded");
		}
	}
	check_udmabuf(&d);
	if (d.as_json) {
		json_end(&d.json);
		json_u64(&d.json, "problems", d.bad);
		json_end(&d.json);
	} else {
		printf("%s\n", d.bad ? "something has to be done" : "all is well");
	}
	return d.bad ? NNCTL_PROBLEM : 0;
}
