/* SPDX-License-Identifier: MIT */
/*
 * Build ids, which the linker makes of the content of a binary.
 */
#ifndef NNHAL_BUILD_ID_H
#define NNHAL_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX	64

/* That of the object that this code is in. Its bytes, 0 if it has none. */
size_t build_id_own(uint8_t id[BUILD_ID_MAX]);
/* The one in a file of ELF notes, as below /sys/module. */
size_t build_id_read(const char *path, uint8_t id[BUILD_ID_MAX]);

/* Text for people: " build 01234567", or nothing for an id without bytes. */
#define BUILD_ID_TEXT	sizeof(" build 01234567")
void build_id_text(const uint8_t *id, size_t size, char text[BUILD_ID_TEXT]);

#endif /* NNHAL_BUILD_ID_H */
