// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults for the checkers of the debug kernel: one of each is planted after all tests,
 * and a report that does not come shows that the checker, or who reads its reports, did
 * not work (scripts/run-selftests).
 */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *plant;
module_param(plant, charp, 0);
MODULE_PARM_DESC(plant, "leak, warning, lock-order or use-after-free");

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
}

module_init(nnpu_planted_init);
module_exit(nnpu_planted_exit);
MODULE_DESCRIPTION("Faults that the checkers of a debug kernel must report");
MODULE_LICENSE("GPL");
