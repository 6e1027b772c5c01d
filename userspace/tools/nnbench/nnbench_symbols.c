// SPDX-License-Identifier: MIT
/*
 * Names of the functions of this process, from the ELF files it has loaded.
 *
 * dladdr() knows exported functions only, so the symbol table is read here.
 */
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nnbench_symbols.h"

struct search {
	uintptr_t address;
	Elf64_Addr in_object;		/* address in the ELF file */
	const char *path;
	bool found;
};

static int match_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *s = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || s->address < info->dlpi_addr + p->p_vaddr ||
		    s->address >= info->dlpi_addr + p->p_vaddr + p->p_memsz)
			continue;
		s->in_object = s->address - info->dlpi_addr;
		s->path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
		s->found = true;
		return 1;
	}
	return 0;
}

/* Look into one symbol table of a file of @size bytes. */
static bool search_table(const uint8_t *file, size_t size, const Elf64_Shdr *table,
			 const Elf64_Shdr *strings, Elf64_Addr address, char *name)
{
	const Elf64_Sym *symbols = (const Elf64_Sym *)(file + table->sh_offset);

	if (table->sh_offset > size || table->sh_size > size - table->sh_offset ||
	    strings->sh_offset > size || strings->sh_size > size - strings->sh_offset)
		return false;
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		const Elf64_Sym *s = &symbols[i];

		if ((s->st_info & 15) != STT_FUNC || address < s->st_value ||
		    address >= s->st_value + s->st_size || s->st_name >= strings->sh_size)
			continue;
		snprintf(name, SYMBOL_SIZE, "%.*s", (int)(strings->sh_size - s->st_name),
			 (const char *)file + strings->sh_offset + s->st_name);
		return true;
	}
	return false;
}

/* The whole symbol table if there is one, else that of exported functions. */
static bool search_file(const uint8_t *file, size_t size, Elf64_Addr address, char *name)
{
	static const Elf64_Word kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *sections;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_shoff > size ||
	    (size_t)header->e_shnum * sizeof(*sections) > size - header->e_shoff)
		return false;
	sections = (const Elf64_Shdr *)(file + header->e_shoff);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < header->e_shnum; i++) {
			if (sections[i].sh_type == kinds[k] &&
			    sections[i].sh_link < header->e_shnum &&
			    search_table(file, size, &sections[i], &sections[sections[i].sh_link],
					 address, name))
				return true;
		}
	}
	return false;
}

static void search_path(const char *path, Elf64_Addr address, char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size > 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			search_file(file, (size_t)st.st_size, address, name);
			munmap(file, (size_t)st.st_size);
		}
	}
	close(fd);
}

void symbol_at(uintptr_t address, struct symbol_name *name)
{
	struct search s = { .address = address };
	const char *base;

	strcpy(name->object, "?");
	strcpy(name->function, "?");
	dl_iterate_phdr(match_object, &s);
	if (!s.found)
		return;
	search_path(s.path, s.in_object, name->function);
	base = strcmp(s.path, "/proc/self/exe") ? strrchr(s.path, '/') : "/nnbench";
	snprintf(name->object, SYMBOL_SIZE, "%s", base ? base + 1 : s.path);
}
