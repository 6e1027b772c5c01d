// SPDX-License-Identifier: GPL-2.0-only
/* Numbered objects with reference counts; see struct nnpu_table. */
#include <linux/errno.h>
#include <linux/error-injection.h>
#include <linux/xarray.h>

#include "nnpu_table.h"

/**
 * nnpu_table_init - start with an empty table
 * @table: table
 * @first: lowest number
 * @count: how many numbers there are, at least 1
 */
void nnpu_table_init(struct nnpu_table *table, u32 first, u32 count)
{
	xa_init_flags(&table->xa, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	table->limit = XA_LIMIT(first, first + count - 1);
}

/**
 * nnpu_table_fini - free the table's own memory
 * @table: table; its objects are the caller's
 */
void nnpu_table_fini(struct nnpu_table *table)
{
	xa_destroy(&table->xa);
}

/**
 * nnpu_table_reserve - take the lowest free number
 * @table: table
 * @id: gets the number; it cannot be found before nnpu_table_set()
 *
 * Return: 0, -ENOSPC if all numbers are taken, or -ENOMEM.
 */
int nnpu_table_reserve(struct nnpu_table *table, u32 *id)
{
	int ret = xa_alloc_irq(&table->xa, id, NULL, table->limit, GFP_KERNEL);

	return ret == -EBUSY ? -ENOSPC : ret;
}
ALLOW_ERROR_INJECTION(nnpu_table_reserve, ERRNO);

/**
 * nnpu_table_set - let lookups find a reserved number
 * @table: table
 * @id: reserved number
 * @object: object, not NULL
 *
 * Cannot fail: the reservation holds the memory.
 */
void nnpu_table_set(struct nnpu_table *table, u32 id, void *object)
{
	xa_store_irq(&table->xa, id, object, GFP_KERNEL);
}

/**
 * nnpu_table_get - find an object and take a reference
 * @table: table
 * @id: any number
 * @get: takes a reference, returns false if the object is on its way out; called
 *	with a spinlock held. NULL: none is needed
 *
 * Return: the object, or NULL.
 */
void *nnpu_table_get(struct nnpu_table *table, u32 id, bool (*get)(void *object))
{
	unsigned long flags;
	void *object;

	xa_lock_irqsave(&table->xa, flags);
	object = xa_load(&table->xa, id);
	if (object && get && !get(object))
		object = NULL;
	xa_unlock_irqrestore(&table->xa, flags);
	return object;
}

/**
 * nnpu_table_visit - look at an object without a reference
 * @table: table
 * @id: any number
 * @visit: called with a spinlock held and interrupts off: the object stays in the table
 *	meanwhile. It may be on its way out already
 * @data: for @visit
 *
 * A reference could be the last one, and then the number would stay taken for a while: its owner
 * would meet limits because somebody has looked.
 *
 * Return: what @visit returns; -ENOENT if lookups do not find the number.
 */
int nnpu_table_visit(struct nnpu_table *table, u32 id, int (*visit)(void *object, void *data),
		     void *data)
{
	int ret = -ENOENT;
	unsigned long flags;
	void *object;

	xa_lock_irqsave(&table->xa, flags);
	object = xa_load(&table->xa, id);
	if (object)
		ret = visit(object, data);
	xa_unlock_irqrestore(&table->xa, flags);
	return ret;
}

/**
 * nnpu_table_next - find the lowest number that lookups find, from a number on
 * @table: table
 * @id: that number; gets what was found
 *
 * Return: false if there is none.
 */
bool nnpu_table_next(struct nnpu_table *table, u32 *id)
{
	unsigned long index = *id;
	bool found = xa_find(&table->xa, &index, table->limit.max, XA_PRESENT);

	if (found)
		*id = index;
	return found;
}

/**
 * nnpu_table_hide - let lookups not find an object any more, keep its number
 * @table: table
 * @id: any number
 *
 * Return: the object, or NULL if lookups did not find it. Of several callers one gets it.
 */
void *nnpu_table_hide(struct nnpu_table *table, u32 id)
{
	unsigned long flags;
	void *object;

	xa_lock_irqsave(&table->xa, flags);
	object = xa_load(&table->xa, id);
	/* In an allocating XArray NULL keeps the number reserved. */
	if (object)
		object = __xa_store(&table->xa, id, NULL, GFP_NOWAIT);
	xa_unlock_irqrestore(&table->xa, flags);
	return object;
}

/**
 * nnpu_table_hide_object - nnpu_table_hide() if a number still has a certain object
 * @table: table
 * @id: any number
 * @object: object, not NULL; the caller keeps it from being freed
 *
 * Return: true if lookups found it before and do not any more.
 */
bool nnpu_table_hide_object(struct nnpu_table *table, u32 id, void *object)
{
	unsigned long flags;
	bool hides;

	xa_lock_irqsave(&table->xa, flags);
	hides = xa_load(&table->xa, id) == object;
	if (hides)
		__xa_store(&table->xa, id, NULL, GFP_NOWAIT);
	xa_unlock_irqrestore(&table->xa, flags);
	return hides;
}

/**
 * nnpu_table_free - give a number back
 * @table: table
 * @id: reserved, set or hidden number
 */
void nnpu_table_free(struct nnpu_table *table, u32 id)
{
	unsigned long flags;

	xa_lock_irqsave(&table->xa, flags);
	__xa_erase(&table->xa, id);
	xa_unlock_irqrestore(&table->xa, flags);
}
