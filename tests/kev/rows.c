// SPDX-License-Identifier: MIT
/*
 * The rows as they were compiled, for rows.py: one a line.
 *
 *	nr	group	name	64	code by release, -1: none	lists fast, wide, alt, alt2:
 *	code:name=label code:name, -: none	external class and event by release
 */
#include <stdio.h>
#include <string.h>

#include "fmt/kev/rows.h"

static struct tacho_kev_profile profile[5];

static void print_list(const struct tacho_kev_list *l)
{
	const struct tacho_kev_field *f = tacho_kev_fields + l->first;

	putchar('\t');
	if (!l->nr)
		putchar('-');
	for (uint32_t i = 0; i < l->nr; i++)
		printf("%s%c:%s%s%s", i ? " " : "", f[i].code, f[i].name,
		       strcmp(f[i].label, f[i].name) ? "=" : "",
		       strcmp(f[i].label, f[i].name) ? f[i].label : "");
}

static int code_of(int release, uint32_t row)
{
	for (uint32_t code = 0; code < TACHO_KEV_CODES; code++)
		if (profile[release].row[code] == row + 1)
			return (int)code;
	return -1;
}

int main(void)
{
	for (int r = 0; r < 5; r++)
		tacho_kev_profile_init(&profile[r], (enum tacho_kev_release)r);
	for (uint32_t i = 0; i < tacho_kev_nr_rows; i++) {
		const struct tacho_kev_row *row = &tacho_kev_rows[i];

		printf("%u\t%s\t%s\t%d\t", row->nr,
		       tacho_kev_group_name((enum tacho_kev_group)row->group),
		       row->name, row->is64);
		for (int r = 0; r < 5; r++)
			printf("%s%d", r ? " " : "", code_of(r, i));
		for (int v = 0; v < TACHO_KEV_NR_LISTS; v++)
			print_list(&row->list[v]);
		putchar('\t');
		for (int r = 0; r < 5; r++) {
			int code = code_of(r, i);
			struct tacho_kev_external e = { 0, 0 };

			if (code >= 0 && !tacho_kev_external(&profile[r], (uint32_t)code, &e))
				return 1;
			printf("%s%u/%u", r ? " " : "", e.class_, e.event);
		}
		putchar('\n');
	}
	return 0;
}
