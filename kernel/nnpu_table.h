/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_TABLE_H_
#define _NNPU_TABLE_H_

#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct nnpu_table - numbered objects: contexts, slots, programs
 * @xa: number to object; a reserved number without object reads as NULL
 * @limit: lowest and highest number
 *
 * A number goes through four steps: reserved (lookups do not find it), set (lookups find
 * it), hidden (lookups do not find it any more, but it is not free) and freed. A hidden
 * object is one that user space has freed while the device still uses it.
 */
struct nnpu_table {
	struct xarray xa;
	struct xa_limit limit;
};

void nnpu_table_init(struct nnpu_table *table, u32 first, u32 count);
void nnpu_table_fini(struct nnpu_table *table);
int nnpu_table_reserve(struct nnpu_table *table, u32 *id);
void nnpu_table_set(struct nnpu_table *table, u32 id, void *object);
void *nnpu_table_get(struct nnpu_table *table, u32 id, bool (*get)(void *object));
int nnpu_table_visit(struct nnpu_table *table, u32 id, int (*visit)(void *object, void *data),
		     void *data);
bool nnpu_table_next(struct nnpu_table *table, u32 *id);
void *nnpu_table_hide(struct nnpu_table *table, u32 id);
bool nnpu_table_hide_object(struct nnpu_table *table, u32 id, void *object);
void nnpu_table_free(struct nnpu_table *table, u32 id);

#endif /* _NNPU_TABLE_H_ */
