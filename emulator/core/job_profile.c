// SPDX-License-Identifier: MIT
/*
 * The profile of a job.
 */
#include <endian.h>

#include "device_state.h"
#include "executor.h"
#include "job_profile.h"

int exec_profile_init(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	uint32_t num_cmds = run->program->num_cmds;

	if (run->max_profile > num_cmds)
		run->max_profile = num_cmds;
	if (!run->max_profile)
		return 0;
	if (!exec_room(run->engine, (void **)&x->profile, &x->max_profile, run->max_profile,
		       sizeof(*x->profile)))
		return exec_no_memory(run);
	if (run->program->num_blocks == 1)
		return 0;
	if (!exec_room(run->engine, (void **)&x->profile_of, &x->max_profile_of, num_cmds,
		       sizeof(*x->profile_of)))
		return exec_no_memory(run);
	memset(x->profile_of, 0, num_cmds * sizeof(*x->profile_of));
	return 0;
}

/* The record of a command, made if there is room. NULL: there is none. */
static struct nnpu_profile *profile_record(struct exec_run *run, uint32_t index, uint64_t start)
{
	struct exec_state *x = &run->engine->exec;
	bool once = run->program->num_blocks == 1;
	struct nnpu_profile *r;

	if (!once && x->profile_of[index])
		return &x->profile[x->profile_of[index] - 1];
	if (run->num_profile == run->max_profile)
		return NULL;
	r = &x->profile[run->num_profile++];
	if (!once)
		x->profile_of[index] = run->num_profile;
	*r = (struct nnpu_profile) {
		.command = htole32(index),
		.opcode = htole32(run->program->cmds[index].opcode),
		.start_ns = htole64(start - run->start_ns),
	};
	return r;
}

void exec_profile_begin(struct exec_run *run, uint32_t index, uint64_t start)
{
	profile_record(run, index, start);
}

void exec_profile_end(struct exec_run *run, uint32_t index, uint64_t start)
{
	/* First of all: the rest is no time of the operation. */
	uint64_t end = job_clock(run->engine);
	struct nnpu_profile *r = profile_record(run, index, start);
	const struct program_cmd *cmd = &run->program->cmds[index];
	struct tensor **out = run->engine->exec.operands + cmd->operands + cmd->num_inputs;
	uint64_t bytes = 0;
	unsigned int i;

	if (!r)
		return;
	for (i = 0; i < cmd->num_outputs; i++)
		bytes += out[i]->bytes;
	r->exec_ns = htole64(le64toh(r->exec_ns) + end - start);
	r->bytes = htole64(le64toh(r->bytes) + bytes);
}
