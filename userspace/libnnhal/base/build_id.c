// SPDX-License-Identifier: MIT
/*
 * Build ids.
 */
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/build_id.h"

/* Notes begin at multiples of 4 bytes. */
static size_t note_round(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static size_t find_note(const uint8_t *notes, size_t size, uint8_t id[BUILD_ID_MAX])
{
	size_t name, end;

	while (size >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;

		memcpy(&note, notes, sizeof(note));
		name = sizeof(note) + note_round(note.n_namesz);
		end = name + note_round(note.n_descsz);
		if (note.n_namesz > size || note.n_descsz > size || end > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(notes + sizeof(note), "GNU", sizeof("GNU")) &&
		    note.n_descsz <= BUILD_ID_MAX) {
			memcpy(id, notes + name, note.n_descsz);
			return note.n_descsz;
		}
		notes += end;
		size -= end;
	}
	return 0;
}

typedef ElfW(Phdr) program_header;

struct search {
	uint8_t *id;
	size_t size;
};

/* Is this the object that has the address @at? */
static bool has_address(const struct dl_phdr_info *info, uintptr_t at)
{
	unsigned int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const program_header *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	unsigned int i;

	(void)size;
	if (!has_address(info, (uintptr_t)look))
		return 0;
	for (i = 0; !s->size && i < info->dlpi_phnum; i++) {
		const program_header *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE)
			s->size = find_note((const uint8_t *)(info->dlpi_addr + p->p_vaddr),
					    p->p_memsz, s->id);
	}
	return 1;
}

size_t build_id_own(uint8_t id[BUILD_ID_MAX])
{
	struct search s = { .id = id };

	dl_iterate_phdr(look, &s);
	return s.size;
}

size_t build_id_read(const char *path, uint8_t id[BUILD_ID_MAX])
{
	uint8_t notes[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n > 0 ? find_note(notes, (size_t)n, id) : 0;
}

void build_id_text(const uint8_t *id, size_t size, char text[BUILD_ID_TEXT])
{
	text[0] = '\0';
	if (size >= 4)
		snprintf(text, BUILD_ID_TEXT, " build %02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
}
