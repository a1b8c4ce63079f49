// SPDX-License-Identifier: MIT
/*
 * texts - a program with events of all kinds of fields.
 *
 *	texts N [BLOB...]	N rounds of all kinds; then blobs of so many bytes
 */
#include <stdlib.h>
#include <string.h>

#include <tacho/printk.h>

#define CREATE_TRACE_POINTS
#include "texts_trace.h"

int main(int argc, char **argv)
{
	static const char *const words[] = { "", "a", "some words", "\"quoted\"" };
	const unsigned long mask[2] = { 0x8000000000000005UL, 0x21 };
	int n = argc > 1 ? atoi(argv[1]) : 0;
	u16 list[8];
	u32 wide[8];

	for (int i = 0; i < 8; i++) {
		list[i] = (u16)(i * 1000);
		wide[i] = (u32)i << 20;
	}
	for (int i = 0; i < n; i++) {
		const char *word = words[i % 4];

		trace_located(i % 8, word, list, mask);
		trace_relative(i % 8, word, wide, mask);
		trace_named(i % 4, i / 4.0);
		tacho_printk("round %d of %u: %s", i, (unsigned int)n, word);
	}
	for (int i = 2; i < argc; i++)
		trace_blob((unsigned int)atoi(argv[i]));
	return 0;
}
