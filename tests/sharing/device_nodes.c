// SPDX-License-Identifier: MIT
/* Modes of device nodes. */
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "device_nodes.h"
#include "tap.h"

static glob_t nodes;
static mode_t *modes;

void nodes_open(void)
{
	struct stat st;
	size_t i;

	/* One of the two is there; without the third, operands are copied. */
	glob("/dev/accel/accel*", 0, NULL, &nodes);
	glob("/dev/dri/renderD*", GLOB_APPEND, NULL, &nodes);
	glob("/dev/udmabuf", GLOB_APPEND, NULL, &nodes);
	modes = calloc(nodes.gl_pathc + 1, sizeof(*modes));
	for (i = 0; modes && i < nodes.gl_pathc; i++) {
		if (stat(nodes.gl_pathv[i], &st))
			continue;
		modes[i] = st.st_mode & 07777;
		if (chmod(nodes.gl_pathv[i], 0666))
			tap_note("%s: %s", nodes.gl_pathv[i], strerror(errno));
	}
}

void nodes_close(void)
{
	size_t i;

	for (i = 0; modes && i < nodes.gl_pathc; i++)
		if (modes[i] && chmod(nodes.gl_pathv[i], modes[i]))
			tap_note("%s: %s", nodes.gl_pathv[i], strerror(errno));
	free(modes);
	globfree(&nodes);
}
