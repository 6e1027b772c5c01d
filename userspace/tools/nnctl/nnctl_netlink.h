/* SPDX-License-Identifier: MIT */
/*
 * The netlink family "nnpu": requests, and messages as records of numbers and texts.
 */
#ifndef NNCTL_NETLINK_H
#define NNCTL_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/nnpu_netlink.h>

#include "../common/error.h"
#include "../common/json.h"

struct netlink;

/* What an attribute is. */
enum kind {
	KIND_NONE,
	KIND_NUMBER,		/* u32 or uint */
	KIND_SIGNED,		/* s32 */
	KIND_NAME,		/* u32 that has names */
	KIND_TEXT,
	KIND_FLAG,
	KIND_HISTOGRAM,
};

struct field {
	const char *name;
	enum kind kind;
	const char *const *names;
	unsigned int num_names;
};

/* A set of attributes of the specification. */
struct fields {
	const struct field *fields;	/* by number of the attribute */
	unsigned int num;
};

extern const struct fields dev_fields;
extern const struct fields stats_fields;
extern const struct fields client_fields;
extern const struct fields ctx_fields;
extern const struct fields queue_fields;
extern const struct fields event_fields;

#define RECORD_VALUES	32
#define RECORD_TEXT	72

struct value {
	bool there;
	uint64_t number;
	char text[RECORD_TEXT];
};

struct record {
	const struct fields *fields;
	struct value values[RECORD_VALUES];
	uint64_t histograms[3][NNPU_LATENCY_BUCKETS];
};

struct records {
	struct record *items;
	size_t count;
};

/*
 * Functions return 0, or -1 with @err set; err.errnum says why.
 */
struct netlink *netlink_open(struct error *err);
void netlink_close(struct netlink *nl);
/*
 * @dev: of this device, -1: of all. A dump that others changed is repeated a few times. A dump of
 * the devices opens their nodes, as far as they may be opened, until netlink_close(): only then does
 * the driver show how much of a device is in use. A dump of the clients leaves this process out.
 */
int netlink_dump(struct netlink *nl, uint8_t cmd, const struct fields *fields, int64_t dev,
		 struct records *records, struct error *err);
/* The object of a command that takes a device only. */
int netlink_get(struct netlink *nl, uint8_t cmd, const struct fields *fields, uint32_t dev,
		struct record *record, struct error *err);
/* Events from now on; with details of all clients if that is allowed. */
int netlink_listen(struct netlink *nl, bool *all, struct error *err);
/* Can be read when there is an event. */
int netlink_fd(const struct netlink *nl);
/* That event: 1; 0: it was none of the family; NETLINK_OVERFLOW: the socket has lost some. */
#define NETLINK_OVERFLOW	2
int netlink_event(struct netlink *nl, struct record *event, struct error *err);

void records_free(struct records *records);

bool record_has(const struct record *r, unsigned int attr);
uint64_t record_number(const struct record *r, unsigned int attr);
/* Text, a number, or its name; "-" if it is not there. Not for what is signed. */
const char *record_text(const struct record *r, unsigned int attr);
/* The histogram of an attribute. */
const uint64_t *record_histogram(const struct record *r, unsigned int attr);
/* All values as members of the innermost object. */
void record_json(const struct record *r, struct json *json);

#endif /* NNCTL_NETLINK_H */
