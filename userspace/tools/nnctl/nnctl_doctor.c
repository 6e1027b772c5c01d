// SPDX-License-Identifier: MIT
/*
 * doctor: looks at what a program needs that is to use a device, and says what to do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include "../common/plural.h"
#include "nnctl.h"

/* As kernel/nnpu_hw.h has them. */
#define PCI_VENDOR	0x1234
#define PCI_DEVICE	0x4e50
/* As the binding in dts/ has it. */
#define COMPATIBLE	"nnpu,nnpu-2"

enum verdict {
	GOOD,
	NOTE,		/* it works, but */
	BAD,
};

struct doctor {
	const char *sysfs;
	const char *kmsg;		/* messages of the kernel */
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

/* The buses that a device can be on. */
enum bus {
	PCI,
	PLATFORM,
	NUM_BUSES,
};

static const char *const bus_dirs[NUM_BUSES] = { "pci", "platform" };
static const char *const bus_names[NUM_BUSES] = { "PCI", "platform" };
static const char *const bus_places[NUM_BUSES] = { "on the PCI bus", "in the device tree" };

/* What one of them has. */
struct bus_devices {
	unsigned int devices;
	unsigned int without_driver;
	int error;		/* errno value: it could not be looked at. ENOENT: there is no such bus */
};

static size_t read_file(const char *dir, const char *name, const char *file, char *data, size_t size)
{
	char path[768];
	size_t got;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	f = fopen(path, "r");
	if (!f)
		return 0;
	got = fread(data, 1, size - 1, f);
	data[got] = '\0';
	fclose(f);
	return got;
}

static unsigned long read_number(const char *dir, const char *name, const char *file)
{
	char text[32];

	return read_file(dir, name, file, text, sizeof(text)) ? strtoul(text, NULL, 0) : 0;
}

static bool is_nnpu(enum bus bus, const char *dir, const char *name)
{
	char names[512];
	size_t size, i;

	if (bus == PCI)
		return read_number(dir, name, "vendor") == PCI_VENDOR &&
		       read_number(dir, name, "device") == PCI_DEVICE;
	/* Names, each with its NUL. */
	size = read_file(dir, name, "of_node/compatible", names, sizeof(names));
	for (i = 0; i < size; i += strlen(names + i) + 1)
		if (!strcmp(names + i, COMPATIBLE))
			return true;
	return false;
}

static struct bus_devices look_at_bus(const struct doctor *d, enum bus bus)
{
	struct bus_devices found = { 0 };
	struct dirent *entry;
	char dir[256], path[768];
	DIR *entries;

	snprintf(dir, sizeof(dir), "%s/bus/%s/devices", d->sysfs, bus_dirs[bus]);
	entries = opendir(dir);
	if (!entries) {
		found.error = errno;
		return found;
	}
	while ((entry = readdir(entries))) {
		if (entry->d_name[0] == '.' || !is_nnpu(bus, dir, entry->d_name))
			continue;
		found.devices++;
		snprintf(path, sizeof(path), "%s/%s/driver", dir, entry->d_name);
		found.without_driver += !!access(path, F_OK);
	}
	closedir(entries);
	return found;
}

__attribute__((format(printf, 3, 4)))
static void append(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + used, size - used, fmt, args);
	va_end(args);
}

/* Where there are devices, and where nobody could look. */
static void check_hardware(struct doctor *d)
{
	const char *advice = "on PCI: plug one in; on a board: its node in the device tree, compatible \""
		COMPATIBLE "\"; in a virtual machine: -device nnpu-pci";
	unsigned int devices = 0, bus;
	bool unread = false;
	char text[256] = "";

	for (bus = 0; bus < NUM_BUSES; bus++) {
		struct bus_devices found = look_at_bus(d, bus);
		const char *comma = text[0] ? ", " : "";

		devices += found.devices;
		if (!found.error) {
			append(text, sizeof(text), "%s%u %s", comma, found.devices, bus_places[bus]);
		} else if (found.error == ENOENT) {
			append(text, sizeof(text), "%sno %s bus", comma, bus_names[bus]);
		} else {
			append(text, sizeof(text), "%s%s bus: %s", comma, bus_names[bus],
			       strerror(found.error));
			unread = true;
		}
	}
	if (!devices && unread)
		advice = "try as root: not all could be read";
	say(d, devices ? GOOD : BAD, "hardware", text, advice);
}

/* Devices that the driver is not bound to. */
static void check_probes(struct doctor *d)
{
	static const char *const advice[NUM_BUSES] = {
		"look for nnpu in `dmesg'; bind it in /sys/bus/pci/drivers/nnpu",
		"look for nnpu in `dmesg'; bind it in /sys/bus/platform/drivers/nnpu",
	};
	unsigned int bus;
	char text[128];

	for (bus = 0; bus < NUM_BUSES; bus++) {
		struct bus_devices found = look_at_bus(d, bus);

		if (!found.without_driver)
			continue;
		snprintf(text, sizeof(text), "%u of %u %s have no driver", found.without_driver,
			 found.devices, bus_places[bus]);
		say(d, BAD, "probe", text, advice[bus]);
	}
}

static bool check_module(struct doctor *d)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/module", d->sysfs);
	if (access(path, F_OK)) {
		say(d, BAD, "sysfs", "it cannot be read: whether nnpu is loaded is not known",
		    "mount -t sysfs none /sys");
		/* Netlink says whether there is a driver. */
		return true;
	}
	snprintf(path, sizeof(path), "%s/module/nnpu", d->sysfs);
	if (!access(path, F_OK)) {
		say(d, GOOD, "module", "nnpu is loaded", "");
		check_probes(d);
		return true;
	}
	say(d, BAD, "module", "nnpu is not loaded",
	    "modprobe nnpu; if there is none, build it for this kernel: make modules modules_install");
	check_hardware(d);
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
	    "it comes back when system sleep or the reset is over");
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

	snprintf(text, sizeof(text), "%" PRIu64 " hang%s, %" PRIu64 " lost interrupt%s, %" PRIu64
		 " other fault%s of the device", hangs, plural(hangs), lost, plural(lost), bad,
		 plural(bad));
	say(d, hangs || bad ? NOTE : GOOD, "faults", text,
	    "Documentation/my-job-hangs.rst; /sys/class/devcoredump has the dump of the first hang");
}

static void check_iommu(struct doctor *d, const struct record *dev)
{
	static const char *const advice[NUM_BUSES] = {
		"without, a device that is broken reaches all memory: intel_iommu=on, or the firmware's setup",
		"without, a device that is broken reaches all memory: iommus in its node of the device tree",
	};
	const char *name = record_text(dev, NNPU_A_DEV_BUS_NAME);
	char path[256], group[272], text[128];
	unsigned int bus;

	for (bus = 0; bus < NUM_BUSES; bus++) {
		snprintf(path, sizeof(path), "%s/bus/%s/devices/%s", d->sysfs, bus_dirs[bus], name);
		if (!access(path, F_OK))
			break;
	}
	if (bus == NUM_BUSES) {
		snprintf(text, sizeof(text), "not known: sysfs has no %s", name);
		say(d, NOTE, "IOMMU", text, "it has gone, or sysfs cannot be read: ask again, as root");
		return;
	}
	snprintf(group, sizeof(group), "%s/iommu_group", path);
	say(d, access(group, F_OK) ? NOTE : GOOD, "IOMMU",
	    access(group, F_OK) ? "none for this device" : "there is one", advice[bus]);
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

/* Faults are counted by the driver. */
static void check_stats(struct doctor *d, struct netlink *nl, const struct record *dev)
{
	struct error why = { .text = "" };
	struct record stats;
	char text[sizeof(why.text) + 64];

	if (!netlink_get(nl, NNPU_CMD_STATS_GET, &stats_fields,
			 (uint32_t)record_number(dev, NNPU_A_DEV_ID), &stats, &why)) {
		check_faults(d, &stats);
		return;
	}
	snprintf(text, sizeof(text), "not known: the counters cannot be read: %s", why.text);
	/* check_node() has said it. */
	if (why.errnum == EPERM) {
		say(d, NOTE, "faults", text, "");
		return;
	}
	say(d, BAD, "faults", text, why.errnum == ENODEV ? "the device has gone meanwhile: ask again" :
	    "look for nnpu in `dmesg'; install the module and nnctl of one version");
}

/*
 * The device that the driver has left last, by the messages of the kernel: "nnpu 0000:01:00.0: [drm]
 * removed". False if there is none, or they cannot be read.
 */
static bool find_removed(const struct doctor *d, char *name, size_t size)
{
	static const char before[] = "nnpu ", behind[] = ": [drm] removed\n";
	char text[8192 + 1], *at, *end;
	bool found = false;
	ssize_t got;
	int fd = open(d->kmsg, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	/* Each read() gives one message; what is lost meanwhile gives EPIPE. */
	while ((got = read(fd, text, sizeof(text) - 1)) > 0 || (got < 0 && errno == EPIPE)) {
		if (got < 0)
			continue;
		text[got] = '\0';
		end = strstr(text, behind);
		at = strchr(text, ';');
		if (!end || !at || strncmp(at + 1, before, sizeof(before) - 1))
			continue;
		*end = '\0';
		snprintf(name, size, "%s", at + sizeof(before));
		found = true;
	}
	close(fd);
	return found;
}

/* The module is loaded, and has no device. */
static void check_missing(struct doctor *d)
{
	char name[64], text[128];
	unsigned int bus, devices = 0;

	for (bus = 0; bus < NUM_BUSES; bus++)
		devices += look_at_bus(d, bus).devices;
	if (devices) {
		say(d, BAD, "device", "the driver has no device",
		    "look for nnpu in `dmesg': the probe says what it does not like");
	} else if (find_removed(d, name, sizeof(name))) {
		snprintf(text, sizeof(text), "%s was removed, and is not back", name);
		say(d, BAD, "device", text,
		    "if it is plugged in: echo 1 >/sys/bus/pci/rescan; see `dmesg' for what took it away");
	} else {
		say(d, BAD, "device", "the driver has no device, and none is there",
		    "if there was one: echo 1 >/sys/bus/pci/rescan, and look for nnpu in `dmesg'");
	}
}

static void check_devices(struct doctor *d, struct netlink *nl, struct error *err)
{
	struct options all = { 0 };
	struct records devices;
	size_t i;

	if (nnctl_get_devices(nl, &all, &devices, err)) {
		say(d, BAD, "netlink", err->text,
		    "look for nnpu in `dmesg'; install the module and nnctl of one version");
		return;
	}
	if (!devices.count) {
		check_missing(d);
		check_hardware(d);
	}
	for (i = 0; i < devices.count; i++) {
		const struct record *dev = &devices.items[i];
		char text[256];

		snprintf(text, sizeof(text), "%s, %s, firmware %s",
			 record_text(dev, NNPU_A_DEV_BUS_NAME), record_text(dev, NNPU_A_DEV_NAME),
			 record_text(dev, NNPU_A_DEV_FIRMWARE));
		say(d, GOOD, "device", text, "");
		check_node(d, dev);
		check_version(d, dev);
		check_state(d, dev);
		check_stats(d, nl, dev);
		check_iommu(d, dev);
	}
	records_free(&devices);
}

int nnctl_doctor(const struct options *o)
{
	return nnctl_doctor_at(o, "/sys", "/dev/kmsg");
}

int nnctl_doctor_at(const struct options *o, const char *sysfs, const char *kmsg)
{
	struct doctor d = { .sysfs = sysfs, .kmsg = kmsg, .as_json = o->json };
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
