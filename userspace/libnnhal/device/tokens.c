// SPDX-License-Identifier: MIT
/*
 * Tokens: a hash table. Tokens are random, so their low bits choose the bucket.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "device/tokens.h"

/* Numbers below that somebody may try are never tokens. */
#define FIRST_TOKEN	(1u << 16)
#define FIRST_BUCKETS	16u

void token_table_init(struct token_table *table)
{
	*table = (struct token_table){ .buckets = NULL };
	pthread_mutex_init(&table->lock, NULL);
}

void token_table_fini(struct token_table *table)
{
	pthread_mutex_destroy(&table->lock);
	free(table->buckets);
}

void token_table_free_copy(struct token_table *table)
{
	free(table->buckets);
}

static struct token_entry **bucket_of(const struct token_table *table, uint32_t token)
{
	return &table->buckets[token & (table->num_buckets - 1)];
}

/* Without memory for more buckets those that are there do, as long as there are any. */
static int make_room(struct token_table *table)
{
	uint32_t count = table->num_buckets ? table->num_buckets * 2 : FIRST_BUCKETS;
	struct token_table old = *table;
	struct token_entry **buckets, **bucket, *e;
	uint32_t i;

	if (table->count < table->num_buckets)
		return 0;
	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return table->buckets ? 0 : -ENOMEM;
	table->buckets = buckets;
	table->num_buckets = count;
	for (i = 0; i < old.num_buckets; i++)
		while ((e = old.buckets[i])) {
			old.buckets[i] = e->next;
			bucket = bucket_of(table, e->token);
			e->next = *bucket;
			*bucket = e;
		}
	free(old.buckets);
	return 0;
}

static struct token_entry *find(const struct token_table *table, uint32_t token)
{
	struct token_entry *e;

	if (!table->buckets)
		return NULL;
	for (e = *bucket_of(table, token); e; e = e->next)
		if (e->token == token)
			break;
	return e;
}

static int draw(uint32_t *token)
{
	ssize_t n;

	do {
		n = getrandom(token, sizeof(*token), 0);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(*token) ? 0 : -EIO;
}

int token_add(struct token_table *table, struct token_entry *entry)
{
	struct token_entry **bucket;
	uint32_t token;
	int err;

	pthread_mutex_lock(&table->lock);
	err = make_room(table);
	do {
		if (!err)
			err = draw(&token);
	} while (!err && (token < FIRST_TOKEN || find(table, token)));
	if (!err) {
		bucket = bucket_of(table, token);
		entry->token = token;
		entry->next = *bucket;
		*bucket = entry;
		table->count++;
	}
	pthread_mutex_unlock(&table->lock);
	return err;
}

void token_remove(struct token_table *table, struct token_entry *entry)
{
	struct token_entry **link;

	if (!entry->token)
		return;
	pthread_mutex_lock(&table->lock);
	for (link = bucket_of(table, entry->token); *link != entry; link = &(*link)->next)
		;
	*link = entry->next;
	table->count--;
	pthread_mutex_unlock(&table->lock);
}

struct token_entry *token_find(struct token_table *table, uint32_t token)
{
	struct token_entry *e;

	pthread_mutex_lock(&table->lock);
	e = find(table, token);
	if (e)
		atomic_fetch_add_explicit(&e->holds, 1, memory_order_relaxed);
	pthread_mutex_unlock(&table->lock);
	return e;
}
