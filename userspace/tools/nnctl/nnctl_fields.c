// SPDX-License-Identifier: MIT
/*
 * The attributes of Documentation/netlink/specs/nnpu.yaml, by set.
 */
#include "nnctl_netlink.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static const char *const dev_states[] = { "running", "paused", "dead" };
static const char *const levels[] = { "low", "medium", "high" };
static const char *const queue_states[] = {
	"parked", "wanted", "active", "leaving", "stopped", "hung", "lost", "gone", "destroyed",
};
static const char *const event_types[] = {
	"arrival", "removal", "hang", "reset", "queue-stopped", "context-lost", "limit", "test",
};
static const char *const scopes[] = { "queue", "user-queue", "device" };
static const char *const limits[] = { "contexts", "time", "memory" };

#define NUMBER(text)		{ .name = text, .kind = KIND_NUMBER }
#define WORDS(text)		{ .name = text, .kind = KIND_TEXT }
#define FLAG(text)		{ .name = text, .kind = KIND_FLAG }
#define HISTOGRAM(text)		{ .name = text, .kind = KIND_HISTOGRAM }
#define NAME(text, list)	{ .name = text, .kind = KIND_NAME, .names = list, \
				  .num_names = COUNT(list) }

static const struct field dev[] = {
	[NNPU_A_DEV_ID] = NUMBER("id"),
	[NNPU_A_DEV_BUS_NAME] = WORDS("bus-name"),
	[NNPU_A_DEV_NODE] = WORDS("node"),
	[NNPU_A_DEV_NAME] = WORDS("name"),
	[NNPU_A_DEV_FIRMWARE] = WORDS("firmware"),
	[NNPU_A_DEV_HW_VERSION] = NUMBER("hw-version"),
	[NNPU_A_DEV_FEATURES] = NUMBER("features"),
	[NNPU_A_DEV_ABI_MAJOR] = NUMBER("abi-major"),
	[NNPU_A_DEV_ABI_MINOR] = NUMBER("abi-minor"),
	[NNPU_A_DEV_STATE] = NAME("state", dev_states),
	[NNPU_A_DEV_PERF_LEVEL] = NAME("perf-level", levels),
	[NNPU_A_DEV_ENGINES] = NUMBER("engines"),
	[NNPU_A_DEV_MAX_CONTEXTS] = NUMBER("max-contexts"),
	[NNPU_A_DEV_HW_QUEUES] = NUMBER("hw-queues"),
	[NNPU_A_DEV_CLIENTS] = NUMBER("clients"),
	[NNPU_A_DEV_CONTEXTS] = NUMBER("contexts"),
	[NNPU_A_DEV_QUEUES] = NUMBER("queues"),
	[NNPU_A_DEV_QUEUES_ACTIVE] = NUMBER("queues-active"),
	[NNPU_A_DEV_JOBS] = NUMBER("jobs"),
	[NNPU_A_DEV_PROGRAMS] = NUMBER("programs"),
	[NNPU_A_DEV_BUFFERS] = NUMBER("buffers"),
	[NNPU_A_DEV_PINNED] = NUMBER("pinned"),
	[NNPU_A_DEV_MEM_TOTAL] = NUMBER("mem-total"),
	[NNPU_A_DEV_MEM_USED] = NUMBER("mem-used"),
	[NNPU_A_DEV_MEM_PEAK] = NUMBER("mem-peak"),
	[NNPU_A_DEV_RESETS] = NUMBER("resets"),
};

static const struct field stats[] = {
	[NNPU_A_STATS_DEV_ID] = NUMBER("dev-id"),
	[NNPU_A_STATS_TIME] = NUMBER("time"),
	[NNPU_A_STATS_SUBMITTED] = NUMBER("submitted"),
	[NNPU_A_STATS_COMPLETED] = NUMBER("completed"),
	[NNPU_A_STATS_FAILED] = NUMBER("failed"),
	[NNPU_A_STATS_TIMEDOUT] = NUMBER("timedout"),
	[NNPU_A_STATS_ENGINE] = NUMBER("engine"),
	[NNPU_A_STATS_BUSY] = NUMBER("busy"),
	[NNPU_A_STATS_DEV_JOBS] = NUMBER("dev-jobs"),
	[NNPU_A_STATS_HANGS] = NUMBER("hangs"),
	[NNPU_A_STATS_QUEUE_RESETS] = NUMBER("queue-resets"),
	[NNPU_A_STATS_DEV_RESETS] = NUMBER("dev-resets"),
	[NNPU_A_STATS_LOST_IRQS] = NUMBER("lost-irqs"),
	[NNPU_A_STATS_UNKNOWN_CIDS] = NUMBER("unknown-cids"),
	[NNPU_A_STATS_BAD_COMPLETIONS] = NUMBER("bad-completions"),
	[NNPU_A_STATS_LOST_JOBS] = NUMBER("lost-jobs"),
	[NNPU_A_STATS_ADMIN_TIMEOUTS] = NUMBER("admin-timeouts"),
	[NNPU_A_STATS_EVENTS] = NUMBER("events"),
	[NNPU_A_STATS_EVENTS_LOST] = NUMBER("events-lost"),
	[NNPU_A_STATS_LATENCY_WAIT] = HISTOGRAM("latency-wait"),
	[NNPU_A_STATS_LATENCY_RUN] = HISTOGRAM("latency-run"),
	[NNPU_A_STATS_LATENCY_TOTAL] = HISTOGRAM("latency-total"),
};

static const struct field client[] = {
	[NNPU_A_CLIENT_DEV_ID] = NUMBER("dev-id"),
	[NNPU_A_CLIENT_ID] = NUMBER("id"),
	[NNPU_A_CLIENT_PID] = NUMBER("pid"),
	[NNPU_A_CLIENT_UID] = NUMBER("uid"),
	[NNPU_A_CLIENT_COMM] = WORDS("comm"),
	[NNPU_A_CLIENT_CONTEXTS] = NUMBER("contexts"),
	[NNPU_A_CLIENT_QUEUES] = NUMBER("queues"),
	[NNPU_A_CLIENT_BUFFERS] = NUMBER("buffers"),
	[NNPU_A_CLIENT_MEMORY] = NUMBER("memory"),
	[NNPU_A_CLIENT_PINNED] = NUMBER("pinned"),
	[NNPU_A_CLIENT_DEVICE_MEMORY] = NUMBER("device-memory"),
	[NNPU_A_CLIENT_SUBMITTED] = NUMBER("submitted"),
	[NNPU_A_CLIENT_COMPLETED] = NUMBER("completed"),
	[NNPU_A_CLIENT_FAILED] = NUMBER("failed"),
	[NNPU_A_CLIENT_TIMEDOUT] = NUMBER("timedout"),
	[NNPU_A_CLIENT_ENGINE] = NUMBER("engine"),
	[NNPU_A_CLIENT_LATENCY_WAIT] = HISTOGRAM("latency-wait"),
	[NNPU_A_CLIENT_LATENCY_RUN] = HISTOGRAM("latency-run"),
	[NNPU_A_CLIENT_LATENCY_TOTAL] = HISTOGRAM("latency-total"),
};

static const struct field ctx[] = {
	[NNPU_A_CTX_DEV_ID] = NUMBER("dev-id"),
	[NNPU_A_CTX_ID] = NUMBER("id"),
	[NNPU_A_CTX_CLIENT_ID] = NUMBER("client-id"),
	[NNPU_A_CTX_PID] = NUMBER("pid"),
	[NNPU_A_CTX_UID] = NUMBER("uid"),
	[NNPU_A_CTX_LOST] = FLAG("lost"),
	[NNPU_A_CTX_URGENT] = FLAG("urgent"),
	[NNPU_A_CTX_WEIGHT] = NUMBER("weight"),
	[NNPU_A_CTX_PRIORITIES] = NUMBER("priorities"),
	[NNPU_A_CTX_MEM_LIMIT] = NUMBER("mem-limit"),
	[NNPU_A_CTX_TIME_LIMIT] = NUMBER("time-limit"),
	[NNPU_A_CTX_SLOTS] = NUMBER("slots"),
	[NNPU_A_CTX_PROGRAMS] = NUMBER("programs"),
	[NNPU_A_CTX_JOBS] = NUMBER("jobs"),
	[NNPU_A_CTX_SUBMITTED] = NUMBER("submitted"),
	[NNPU_A_CTX_COMPLETED] = NUMBER("completed"),
	[NNPU_A_CTX_FAILED] = NUMBER("failed"),
	[NNPU_A_CTX_TIMEDOUT] = NUMBER("timedout"),
	[NNPU_A_CTX_ENGINE] = NUMBER("engine"),
};

static const struct field queue[] = {
	[NNPU_A_QUEUE_DEV_ID] = NUMBER("dev-id"),
	[NNPU_A_QUEUE_ID] = NUMBER("id"),
	[NNPU_A_QUEUE_CTX_ID] = NUMBER("ctx-id"),
	[NNPU_A_QUEUE_CLIENT_ID] = NUMBER("client-id"),
	[NNPU_A_QUEUE_PID] = NUMBER("pid"),
	[NNPU_A_QUEUE_UID] = NUMBER("uid"),
	[NNPU_A_QUEUE_HANDLE] = NUMBER("handle"),
	[NNPU_A_QUEUE_STATE] = NAME("state", queue_states),
	[NNPU_A_QUEUE_PRIORITY] = NUMBER("priority"),
	[NNPU_A_QUEUE_HW_QUEUE] = NUMBER("hw-queue"),
	[NNPU_A_QUEUE_SQ_ENTRIES] = NUMBER("sq-entries"),
	[NNPU_A_QUEUE_CQ_ENTRIES] = NUMBER("cq-entries"),
	[NNPU_A_QUEUE_EVENTS] = NUMBER("events"),
};

static const struct field event[] = {
	[NNPU_A_EVENT_TIME] = NUMBER("time"),
	[NNPU_A_EVENT_TYPE] = NAME("type", event_types),
	[NNPU_A_EVENT_DEV_ID] = NUMBER("dev-id"),
	[NNPU_A_EVENT_BUS_NAME] = WORDS("bus-name"),
	[NNPU_A_EVENT_LOST] = NUMBER("lost"),
	[NNPU_A_EVENT_REASON] = WORDS("reason"),
	[NNPU_A_EVENT_SCOPE] = NAME("scope", scopes),
	[NNPU_A_EVENT_RESULT] = { .name = "result", .kind = KIND_SIGNED },
	[NNPU_A_EVENT_LIMIT] = NAME("limit", limits),
	[NNPU_A_EVENT_REPEATED] = NUMBER("repeated"),
	[NNPU_A_EVENT_STATE] = NAME("state", queue_states),
	[NNPU_A_EVENT_STATUS] = NUMBER("status"),
	[NNPU_A_EVENT_HW_QUEUE] = NUMBER("hw-queue"),
	[NNPU_A_EVENT_CTX_ID] = NUMBER("ctx-id"),
	[NNPU_A_EVENT_QUEUE_ID] = NUMBER("queue-id"),
	[NNPU_A_EVENT_CLIENT_ID] = NUMBER("client-id"),
	[NNPU_A_EVENT_CID] = NUMBER("cid"),
	[NNPU_A_EVENT_PID] = NUMBER("pid"),
	[NNPU_A_EVENT_UID] = NUMBER("uid"),
	[NNPU_A_EVENT_COMM] = WORDS("comm"),
};

const struct fields dev_fields = { dev, COUNT(dev) };
const struct fields stats_fields = { stats, COUNT(stats) };
const struct fields client_fields = { client, COUNT(client) };
const struct fields ctx_fields = { ctx, COUNT(ctx) };
const struct fields queue_fields = { queue, COUNT(queue) };
const struct fields event_fields = { event, COUNT(event) };

_Static_assert(COUNT(dev) <= RECORD_VALUES && COUNT(event) <= RECORD_VALUES &&
	       COUNT(stats) <= RECORD_VALUES, "a record has room for each set");
