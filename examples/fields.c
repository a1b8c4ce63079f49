/* SPDX-License-Identifier: MIT */
/*
 * fields.c - the event types of a trace, with their fields and the names of values.
 *
 *	cc fields.c -o fields $(pkg-config --cflags --libs tacho-stream)
 *	./fields TRACE [EVENT]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tacho/stream.h>

static const char *const kinds[] = { "bytes", "integer", "float", "string", "bitmask" };

static void show_names(const struct tacho_type *type, const struct tacho_field *field,
		       const struct tacho_field_info *info)
{
	for (uint32_t i = 0; i < info->nr_names; i++) {
		uint64_t value;
		char name[64];

		tacho_type_value_name(type, field, i, &value, name, sizeof(name));
		printf("\t\t%s 0x%" PRIx64 " %s\n",
		       info->names == TACHO_NAMES_FLAGS ? "flag" : "value", value, name);
	}
}

static void show_type(const struct tacho_type *type)
{
	const struct tacho_field *field;

	printf("%s:%s\n", tacho_type_system(type), tacho_type_name(type));
	for (uint32_t i = 0; (field = tacho_type_field_at(type, i)); i++) {
		struct tacho_field_info info;

		if (tacho_type_field_info(type, field, &info) < 0 ||
		    info.flags & TACHO_VALUE_COMMON)
			continue;
		printf("\t%s: %s%s of %u bytes", info.name,
		       info.flags & TACHO_VALUE_SIGNED ? "signed " : "",
		       info.kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[info.kind] : "bytes",
		       info.elem_size);
		if (info.flags & TACHO_VALUE_DYNAMIC)
			printf(", any number");
		else if (info.flags & TACHO_VALUE_ARRAY)
			printf(", %u of them", info.count);
		printf("\n");
		show_names(type, field, &info);
	}
}

int main(int argc, char **argv)
{
	const struct tacho_type *type;
	struct tacho_error error;
	struct tacho_stream *s;

	if (argc < 2) {
		fprintf(stderr, "usage: fields TRACE [EVENT]\n");
		return 2;
	}
	if (tacho_stream_open(&s, argv[1], 0, &error) < 0) {
		fprintf(stderr, "fields: %s\n", error.text);
		return 1;
	}
	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++)
		if (argc < 3 || !strcmp(tacho_type_name(type), argv[2]))
			show_type(type);
	tacho_stream_close(s);
	return 0;
}
