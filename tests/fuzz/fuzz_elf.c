// SPDX-License-Identifier: MIT
/*
 * An executable file in memory: its functions, markers and their arguments.  All
 * that is found lies inside the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void functions(const struct tacho_object *o, size_t size)
{
	const struct tacho_function *f;
	uint64_t offset, address;
	size_t nr;

	f = tacho_object_functions(o, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!f[i].name[0] || strlen(f[i].name) >= size ||
		    f[i].offset >= size ||
		    (i && f[i].address < f[i - 1].address))
			abort();
		if (tacho_object_offset(o, f[i].address, &offset) ||
		    offset != f[i].offset)
			abort();
		(void)tacho_object_address(o, offset, &address);
		if (f[i].size && !tacho_object_at(o, f[i].address))
			abort();
	}
	(void)tacho_object_find(o, "main", NULL);
}

static void markers(const struct tacho_object *o, size_t size)
{
	const struct tacho_sdt *s;
	struct tacho_fetch f;
	size_t nr;

	s = tacho_object_sdt(o, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct tacho_diag d = { .err = 0 };
		size_t args = tacho_sdt_nr_args(&s[i]);

		if (s[i].offset >= size || s[i].semaphore >= size)
			abort();
		/* each is looked for from the first one on */
		for (size_t j = 0; j < args && j < 20; j++)
			if (!tacho_sdt_arg(o, &s[i], j, &f, &d) && !f.text[0])
				abort();
		if (!tacho_sdt_arg(o, &s[i], args, &f, NULL))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_object *o;
	size_t len;

	if (tacho_object_parse(&o, data, size, &d)) {
		if (o || !d.err || !d.text[0])
			abort();
		return 0;
	}
	functions(o, size);
	markers(o, size);
	(void)tacho_object_build_id(o, &len);
	tacho_object_close(o);
	return 0;
}
