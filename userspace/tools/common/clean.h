/* SPDX-License-Identifier: MIT */
/*
 * Makes text from files safe to print.
 */
#ifndef TOOLS_CLEAN_H
#define TOOLS_CLEAN_H

/* @c, or '?' for a byte that a terminal could take for a command. */
static inline char clean_char(char c)
{
	unsigned char byte = (unsigned char)c;

	/* Bytes from 0x80 on are UTF-8 or harmless; C1 controls need 0xc2. */
	return byte < 0x20 || byte == 0x7f || byte == 0xc2 ? '?' : c;
}

#endif /* TOOLS_CLEAN_H */
