/* SPDX-License-Identifier: MIT */
/*
 * Tokens: numbers by which requests name the buffers of a device.
 *
 * A token is a random number. So that of another device, an old one and one that was guessed
 * name nothing. Small numbers are never tokens.
 */
#ifndef NNHAL_TOKENS_H
#define NNHAL_TOKENS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* What has a token; a member of the object that it names. */
struct token_entry {
	struct token_entry *next;
	uint32_t token;			/* 0: none */
	atomic_uint holds;		/* of the object: it lives as long as there is one */
};

struct token_table {
	pthread_mutex_t lock;
	struct token_entry **buckets;	/* NULL: there was no token yet */
	uint32_t num_buckets;		/* a power of two */
	uint32_t count;
};

void token_table_init(struct token_table *table);
/* All entries were removed. */
void token_table_fini(struct token_table *table);
/* In a child of fork(): free the copy. */
void token_table_free_copy(struct token_table *table);
/* Give an entry a token that no other entry has. 0 or -errno. */
int token_add(struct token_table *table, struct token_entry *entry);
/* From now on the token names nothing. The entry may have none. */
void token_remove(struct token_table *table, struct token_entry *entry);
/* The entry of a token, with a hold; NULL: none has it. Never waits for a job. */
struct token_entry *token_find(struct token_table *table, uint32_t token);

#endif /* NNHAL_TOKENS_H */
