// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reproduces a race of drm_sched: an entity is destroyed while the scheduler takes jobs from it,
 * and stays in the tree of the run queue. Without hardware; for Linux 6.12.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include <drm/gpu_scheduler.h>

static uint rounds = 20000;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "entities to destroy");

#define RACE_JOBS 16

static struct dma_fence *race_run_job(struct drm_sched_job *job)
{
	/* Done at once. */
	return NULL;
}

static void race_free_job(struct drm_sched_job *job)
{
	drm_sched_job_cleanup(job);
	kfree(job);
}

static const struct drm_sched_backend_ops race_ops = {
	.run_job = race_run_job,
	.free_job = race_free_job,
};

static int race_push(struct drm_sched_entity *entity)
{
	struct drm_sched_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret;

	if (!job)
		return -ENOMEM;
	ret = drm_sched_job_init(job, entity, 1, NULL, 0);
	if (ret) {
		kfree(job);
		return ret;
	}
	drm_sched_job_arm(job);
	drm_sched_entity_push_job(job);
	return 0;
}

/* 1: the entity was left in the tree; it must not be freed. */
static int race_round(struct drm_gpu_scheduler *sched)
{
	struct drm_sched_entity *entity = kzalloc(sizeof(*entity), GFP_KERNEL);
	int i, ret;

	if (!entity)
		return -ENOMEM;
	ret = drm_sched_entity_init(entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	for (i = 0; !ret && i < RACE_JOBS; i++)
		ret = race_push(entity);
	/* So that the scheduler is somewhere in the middle. */
	udelay(get_random_u32_below(100));
	drm_sched_entity_fini(entity);
	if (!RB_EMPTY_NODE(&entity->rb_tree_node))
		return 1;
	/* Callbacks of fences may be about to look at the entity. */
	synchronize_rcu_expedited();
	kfree(entity);
	return ret;
}

static int __init race_init(void)
{
	struct drm_sched_init_args args = {
		.ops = &race_ops,
		.num_rqs = 1,
		.credit_limit = 4,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "race",
	};
	static struct drm_gpu_scheduler sched;
	uint i;
	int ret;

	ret = drm_sched_init(&sched, &args);
	if (ret)
		return ret;
	for (i = 0; i < rounds && !ret; i++) {
		ret = race_round(&sched);
		cond_resched();
	}
	if (ret > 0) {
		pr_err("drm_sched_race: entity %u was left in the tree of the run queue\n", i);
		/* The scheduler would walk over it: it stays as it is. */
		__module_get(THIS_MODULE);
		return 0;
	}
	/* free_job of the last jobs. */
	msleep(100);
	drm_sched_fini(&sched);
	pr_info("drm_sched_race: %u entities, none left in the tree\n", i);
	return ret ? ret : -EAGAIN;
}
module_init(race_init);

MODULE_DESCRIPTION("Reproducer of a race of drm_sched");
MODULE_LICENSE("GPL");
