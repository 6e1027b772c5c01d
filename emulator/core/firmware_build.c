// SPDX-License-Identifier: MIT
/*
 * The build id of the binary that the device model is in.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "firmware_build.h"

/* Notes begin at multiples of 4 bytes. */
static size_t note_round(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The notes of a binary that runs are as the linker wrote them. */
static bool find_note(const uint8_t *notes, size_t size, uint8_t build[FIRMWARE_BUILD_SIZE])
{
	while (size >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t name, end;

		memcpy(&note, notes, sizeof(note));
		name = sizeof(note) + note_round(note.n_namesz);
		end = name + note_round(note.n_descsz);
		if (end > size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(notes + sizeof(note), "GNU", sizeof("GNU"))) {
			memcpy(build, notes + name, note.n_descsz < FIRMWARE_BUILD_SIZE ?
			       note.n_descsz : FIRMWARE_BUILD_SIZE);
			return true;
		}
		notes += end;
		size -= end;
	}
	return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *build)
{
	uintptr_t here = (uintptr_t)look - info->dlpi_addr;
	bool is_own = false;
	unsigned int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		is_own |= info->dlpi_phdr[i].p_type == PT_LOAD &&
			  here - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz;
	for (i = 0; is_own && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE &&
		    find_note((const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
			      info->dlpi_phdr[i].p_memsz, build))
			break;
	return is_own;
}

void firmware_build(uint8_t build[FIRMWARE_BUILD_SIZE])
{
	memset(build, 0, FIRMWARE_BUILD_SIZE);
	dl_iterate_phdr(look, build);
}
