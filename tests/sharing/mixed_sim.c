// SPDX-License-Identifier: MIT
/* The device in the process: each process has its own, so there is nothing of others to try. */
#include "mixed.h"

struct intruder *intruder_create(struct published *own, unsigned int number)
{
	static int none;

	(void)own;
	(void)number;
	return (struct intruder *)&none;
}

bool intruder_check(struct intruder *i)
{
	return i;
}

bool intruder_try(struct intruder *i, struct published *own, const struct published *other,
		  const char **what)
{
	(void)own;
	(void)other;
	(void)what;
	return i;
}

int intruder_queue_fd(struct intruder *i)
{
	(void)i;
	return -1;
}

bool intruder_try_page(struct published *own, int fd)
{
	(void)own;
	return fd < 0;
}

void intruder_destroy(struct intruder *i)
{
	(void)i;
}
