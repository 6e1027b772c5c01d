// SPDX-License-Identifier: MIT
/*
 * nnctl doctor says what it knows and what it could not read, of devices on PCI and of those of the
 * device tree. Sysfs is a directory, and the driver a few functions here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "userspace/tools/nnctl/nnctl.h"

static char work[] = "/tmp/nnctl_doctor.XXXXXX";
static char sysfs[64];		/* of the case at hand */
static char kmsg[80];		/* messages of the kernel in it; the file need not be there */
static unsigned int cases;
static char said[16384];
static int status;

/* The driver. */
static const char *bus_name;	/* of its device; NULL: it has none */
static int stats_error;		/* errno value: they cannot be read */

struct netlink *netlink_open(struct error *err)
{
	(void)err;
	return (struct netlink *)&bus_name;
}

void netlink_close(struct netlink *nl)
{
	(void)nl;
}

int nnctl_get_devices(struct netlink *nl, const struct options *o, struct records *devices,
		      struct error *err)
{
	struct record *dev;

	(void)nl;
	(void)o;
	*devices = (struct records){ 0 };
	if (!bus_name)
		return 0;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return fail(err, "out of memory");
	dev->fields = &dev_fields;
	dev->values[NNPU_A_DEV_BUS_NAME].there = true;
	snprintf(dev->values[NNPU_A_DEV_BUS_NAME].text, RECORD_TEXT, "%s", bus_name);
	dev->values[NNPU_A_DEV_STATE] = (struct value){ .there = true, .number = NNPU_DEV_STATE_RUNNING };
	*devices = (struct records){ .items = dev, .count = 1 };
	return 0;
}

int netlink_get(struct netlink *nl, uint8_t cmd, const struct fields *fields, uint32_t dev,
		struct record *record, struct error *err)
{
	(void)nl;
	(void)cmd;
	(void)dev;
	if (stats_error)
		return fail_errno(err, stats_error, "netlink");
	*record = (struct record){ .fields = fields };
	return 0;
}

/* A file of sysfs, with its directories; NULL: a directory. */
static void put(const char *name, const char *data, size_t size)
{
	char path[256], *at;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", sysfs, name);
	for (at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	if (!data) {
		mkdir(path, 0755);
		return;
	}
	f = fopen(path, "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void begin(void)
{
	snprintf(sysfs, sizeof(sysfs), "%s/%u", work, cases++);
	snprintf(kmsg, sizeof(kmsg), "%s/kmsg", sysfs);
	put("module", NULL, 0);
	bus_name = NULL;
	stats_error = 0;
}

static void put_pci(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "bus/pci/devices/%s/vendor", name);
	put(path, "0x1234\n", 7);
	snprintf(path, sizeof(path), "bus/pci/devices/%s/device", name);
	put(path, "0x4e50\n", 7);
}

static void put_platform(const char *name)
{
	static const char names[] = "vendor,soc-nnpu\0nnpu,nnpu-2";
	char path[128];

	snprintf(path, sizeof(path), "bus/platform/devices/%s/of_node/compatible", name);
	put(path, names, sizeof(names));
	put("bus/platform/devices/serial/of_node/compatible", "arm,pl011", 10);
}

/* What doctor says is in @said, as text. */
static void ask(void)
{
	struct options o = { 0 };
	char path[64];
	size_t got = 0;
	pid_t pid;
	FILE *f;

	snprintf(path, sizeof(path), "%s/said", work);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen(path, "w", stdout))
			_exit(99);
		status = nnctl_doctor_at(&o, sysfs, kmsg);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	f = fopen(path, "r");
	if (f) {
		got = fread(said, 1, sizeof(said) - 1, f);
		fclose(f);
	}
	said[got] = '\0';
}

/* A line of @verdict about @what that has @text in it or in its advice. */
static bool line(const char *verdict, const char *what, const char *text)
{
	char begin_of_line[64], copy[sizeof(said)], *rest = copy, *each;
	bool here = false;

	snprintf(begin_of_line, sizeof(begin_of_line), "%-8s %-12s ", verdict, what);
	strcpy(copy, said);
	while ((each = strsep(&rest, "\n"))) {
		if (each[0] != ' ')
			here = !strncmp(each, begin_of_line, strlen(begin_of_line));
		if (here && strstr(each, text))
			return true;
	}
	return false;
}

static void judge(bool passed, const char *name)
{
	char *rest = said, *each;

	if (!ok(passed && !strstr(said, "(null)"), "%s", name))
		while ((each = strsep(&rest, "\n")))
			tap_note("%s", each);
}

static void without_module(void)
{
	begin();
	put("bus/pci/devices", NULL, 0);
	put("bus/platform/devices", NULL, 0);
	ask();
	judge(status && line("problem", "module", "modprobe") &&
	      line("problem", "hardware", "0 on the PCI bus, 0 in the device tree") &&
	      line("problem", "hardware", "compatible \"nnpu,nnpu-2\""), "no device on either bus");
	put_platform("a0000000.npu");
	ask();
	judge(line("ok", "hardware", "0 on the PCI bus, 1 in the device tree"), "one in the device tree");

	begin();
	put_platform("a0000000.npu");
	ask();
	judge(line("ok", "hardware", "no PCI bus, 1 in the device tree"), "a board without PCI");

	begin();
	put_pci("0000:01:00.0");
	ask();
	judge(line("ok", "hardware", "1 on the PCI bus, no platform bus"), "one on PCI");

	/* What cannot be opened, also by root. */
	begin();
	put("bus/pci/devices", "", 0);
	ask();
	judge(line("problem", "hardware", "PCI bus: Not a directory") &&
	      line("problem", "hardware", "not all could be read"), "a bus that cannot be read");
}

static void no_driver_bound(void)
{
	begin();
	put("module/nnpu", NULL, 0);
	put_platform("a0000000.npu");
	ask();
	judge(line("problem", "probe", "1 of 1 in the device tree have no driver") &&
	      line("problem", "probe", "/sys/bus/platform/drivers/nnpu") &&
	      line("problem", "device", "dmesg") &&
	      line("ok", "hardware", "1 in the device tree"), "a platform device without the driver");
	put("bus/platform/devices/a0000000.npu/driver", NULL, 0);
	put_pci("0000:01:00.0");
	ask();
	judge(line("problem", "probe", "1 of 1 on the PCI bus have no driver") &&
	      line("problem", "probe", "/sys/bus/pci/drivers/nnpu") &&
	      !strstr(said, "in the device tree have no driver"), "a function on PCI without the driver");
}

/* The driver is there, and the device has gone: no probe has refused anything. */
static void removed(void)
{
	static const char message[] = "6,812,52770441,-;nnpu 0000:01:00.0: [drm] removed\n"
				      " SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n";
	static const char other[] = "6,812,52770441,-;pci 0000:01:00.0: [drm] removed\n";

	begin();
	put("module/nnpu", NULL, 0);
	put("bus/pci/devices", NULL, 0);
	put("kmsg", message, sizeof(message) - 1);
	ask();
	judge(status && line("problem", "device", "0000:01:00.0 was removed") &&
	      line("problem", "device", "/sys/bus/pci/rescan") && !strstr(said, "probe"),
	      "a device that was removed");
	put("kmsg", other, sizeof(other) - 1);
	ask();
	judge(line("problem", "device", "none is there") && line("problem", "device", "rescan") &&
	      !strstr(said, "probe") && !strstr(said, "was removed"), "no device, and no message of one");
	unlink(kmsg);
	ask();
	judge(line("problem", "device", "none is there"), "messages that cannot be read");
	put_pci("0000:01:00.0");
	put("kmsg", message, sizeof(message) - 1);
	ask();
	judge(line("problem", "probe", "have no driver") && line("problem", "device", "dmesg") &&
	      !strstr(said, "not back"), "it is back, without a driver");
}

static void no_sysfs(void)
{
	begin();
	strcat(sysfs, "/nowhere");
	bus_name = "0000:01:00.0";
	ask();
	judge(status && line("problem", "sysfs", "mount -t sysfs") && !strstr(said, "nnpu is not loaded") &&
	      line("ok", "device", "0000:01:00.0") && line("note", "IOMMU", "not known"),
	      "no sysfs: what the driver says is told, and what is not known");
}

static void a_device(void)
{
	begin();
	put("module/nnpu", NULL, 0);
	put_platform("a0000000.npu");
	put("bus/platform/devices/a0000000.npu/driver", NULL, 0);
	bus_name = "a0000000.npu";
	ask();
	judge(line("ok", "faults", "0 hangs") && line("note", "IOMMU", "device tree") &&
	      !strstr(said, "PCI") && !strstr(said, "intel_iommu"), "a platform device: nothing of PCI");
	put("bus/platform/devices/a0000000.npu/iommu_group", NULL, 0);
	ask();
	judge(line("ok", "IOMMU", "there is one"), "a platform device behind an IOMMU");

	stats_error = EIO;
	ask();
	judge(WEXITSTATUS(status) == NNCTL_PROBLEM && line("problem", "faults", "not known") &&
	      line("problem", "faults", strerror(EIO)) && line("problem", "faults", "dmesg"),
	      "counters that cannot be read");
	stats_error = ENODEV;
	ask();
	judge(line("problem", "faults", "ask again"), "a device that went meanwhile");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(work)) {
		perror(work);
		return 1;
	}
	without_module();
	no_driver_bound();
	removed();
	no_sysfs();
	a_device();
	snprintf(command, sizeof(command), "rm -rf %s", work);
	if (system(command))
		tap_note("%s was not removed", work);
	return tap_done();
}
