// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults for the checkers of the debug kernel: one of each is planted after all tests,
 * and a report that does not come shows that the checker, or who reads its reports, did
 * not work (scripts/run-selftests).
 *
 * It also lets the device alone go through system sleep, for nnpu_pause_test.c, and makes unplug
 * linger between two steps, for nnpu_unbind_test.c.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *plant;
module_param(plant, charp, 0);
MODULE_PARM_DESC(plant, "leak, warning, lock-order or use-after-free; or sleep, sleep-remove, linger");

/* A stall of a CPU would be reported after 20 s. */
#define LINGER_MS	12000

static bool lingers;
module_param(lingers, bool, 0400);
MODULE_PARM_DESC(lingers, "unplug lingers now");

static bool go;
module_param(go, bool, 0600);
MODULE_PARM_DESC(go, "unplug lingers no more");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

/* Several: a stale pointer on a stack may hide one. */
static noinline int plant_leak(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		char *lost = kmalloc(100, GFP_KERNEL);

		if (!lost)
			return -ENOMEM;
		strscpy(lost, "planted", 100);
		OPTIMIZER_HIDE_VAR(lost);
	}
	return 0;
}

static noinline int plant_warning(void)
{
	WARN(1, "planted\n");
	return 0;
}

static noinline int plant_lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

static noinline int plant_use_after_free(void)
{
	char *freed = kzalloc(100, GFP_KERNEL);

	if (!freed)
		return -ENOMEM;
	kfree(freed);
	OPTIMIZER_HIDE_VAR(freed);
	pr_info("planted: %d\n", READ_ONCE(freed[50]));
	return 0;
}

/* What the PCI core does in system sleep, down to the loss of the device's state. */
static int sleep_device(struct pci_dev *pdev)
{
	const struct dev_pm_ops *pm = pdev->dev.driver ? pdev->dev.driver->pm : NULL;
	u16 command = 0;
	int ret;

	if (!pm || !pm->suspend || !pm->resume)
		return -EOPNOTSUPP;
	ret = pm->suspend(&pdev->dev);
	if (ret)
		return ret;
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	pci_save_state(pdev);
	pcie_flr(pdev);
	pci_restore_state(pdev);
	ret = pm->resume(&pdev->dev);
	if (!ret && command & PCI_COMMAND_MASTER) {
		pr_err("a device that sleeps is a bus master\n");
		ret = -EIO;
	}
	return ret;
}

static noinline int plant_sleep(void)
{
	struct pci_dev *pdev = pci_get_device(0x1234, 0x4e50, NULL);
	int ret;

	if (!pdev)
		return -ENODEV;
	pm_runtime_get_sync(&pdev->dev);
	device_lock(&pdev->dev);
	ret = sleep_device(pdev);
	device_unlock(&pdev->dev);
	pm_runtime_put(&pdev->dev);
	pci_dev_put(pdev);
	return ret;
}

/* It is removed while it is asleep, and found anew. */
static noinline int plant_sleep_remove(void)
{
	struct pci_dev *pdev = pci_get_device(0x1234, 0x4e50, NULL);
	int ret = -EOPNOTSUPP;

	if (!pdev)
		return -ENODEV;
	pm_runtime_get_sync(&pdev->dev);
	device_lock(&pdev->dev);
	if (pdev->dev.driver && pdev->dev.driver->pm && pdev->dev.driver->pm->suspend)
		ret = pdev->dev.driver->pm->suspend(&pdev->dev);
	device_unlock(&pdev->dev);
	pm_runtime_put(&pdev->dev);
	if (!ret) {
		device_release_driver(&pdev->dev);
		ret = device_attach(&pdev->dev) == 1 ? 0 : -ENXIO;
	}
	pci_dev_put(pdev);
	return ret;
}

/*
 * nnpu_unplug_silence() has ended the waits for answers and is about to take reset_sem. Resets end
 * the waits, too, but in a kernel thread. Not a place to sleep.
 */
static int linger_handler(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	ktime_t end;

	if (current->flags & PF_KTHREAD)
		return 0;
	WRITE_ONCE(lingers, true);
	/* By the clock: mdelay() may be much shorter where the CPU was slow when it was calibrated. */
	end = ktime_add_ms(ktime_get(), LINGER_MS);
	while (ktime_before(ktime_get(), end) && !READ_ONCE(go))
		mdelay(1);
	WRITE_ONCE(lingers, false);
	return 0;
}

static struct kretprobe linger = {
	.kp.symbol_name = "nnpu_admin_stop",
	.handler = linger_handler,
};

static bool linger_planted;

static noinline int plant_linger(void)
{
	int ret = register_kretprobe(&linger);

	linger_planted = !ret;
	return ret;
}

static int __init nnpu_planted_init(void)
{
	static const struct {
		const char *name;
		int (*plant)(void);
	} faults[] = {
		{ "leak", plant_leak },
		{ "warning", plant_warning },
		{ "lock-order", plant_lock_order },
		{ "use-after-free", plant_use_after_free },
		{ "sleep", plant_sleep },
		{ "sleep-remove", plant_sleep_remove },
		{ "linger", plant_linger },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (plant && !strcmp(plant, faults[i].name))
			return faults[i].plant();
	pr_err("plant=%s is none of the faults\n", plant ?: "");
	return -EINVAL;
}

static void __exit nnpu_planted_exit(void)
{
	if (linger_planted)
		unregister_kretprobe(&linger);
}

module_init(nnpu_planted_init);
module_exit(nnpu_planted_exit);
MODULE_DESCRIPTION("Faults that the checkers of a debug kernel must report");
MODULE_LICENSE("GPL");
