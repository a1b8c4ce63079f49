// SPDX-License-Identifier: MIT
/*
 * Histogram triggers, one a line, on two events by turns; behind the first NUL the
 * bytes of events, each with its length in front.  Whatever is bound is hit, and
 * its columns are looked at.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hist.h"
#include "engine/names.h"

#define HISTS	6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char format[] =
	"name: any\nID: 1\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 aa;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:s32 bb;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:char ss[4];\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] rel;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc long[] st;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:u8 tiny;\toffset:36;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"\"\n";

static struct tacho_hist *hists[HISTS];
static void *memory[HISTS];
static uint32_t nr_hists;
static const struct tacho_type *types[2];
static struct tacho_synth *synth;
static volatile uint64_t seen;

static struct tacho_hist *find_var(void *arg, const char *system,
				   const char *event, const char *name,
				   uint32_t *var, bool *ambiguous)
{
	(void)arg;
	(void)ambiguous;
	for (uint32_t i = 0; i < nr_hists; i++) {
		const struct tacho_hist_spec *s = tacho_hist_spec_of(hists[i]);

		if (system && (strcmp(system, "s") || !event ||
			       strcmp(event, tacho_hist_type_of(hists[i])->name)))
			continue;
		for (*var = 0; *var < s->nr_vars; (*var)++)
			if (!strcmp(s->var[*var].name, name))
				return hists[i];
	}
	return NULL;
}

static const struct tacho_synth *find_synth(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, synth->name) ? NULL : synth;
}

static const struct tacho_type *find_type(void *arg, const char *system,
					  const char *event)
{
	(void)arg;
	return strcmp(system, "s") ? NULL :
	       !strcmp(event, "e0") ? types[0] :
	       !strcmp(event, "e1") ? types[1] : NULL;
}

static struct tacho_hist *add_field_var(void *arg, const struct tacho_hist *h,
					const char *system, const char *event,
					const char *field, uint32_t *var)
{
	(void)h;
	(void)field;
	*var = 0;
	for (uint32_t i = 0; i < nr_hists; i++)
		if (tacho_hist_type_of(hists[i]) == find_type(arg, system, event))
			return hists[i];
	return NULL;
}

/* Every byte that is handed out can be read. */
static void on_synth(void *arg, const struct tacho_synth *s,
		     const struct tacho_synth_value *value,
		     const struct tacho_rec *cause)
{
	static unsigned char raw[TACHO_SYNTH_RAW_MAX];

	(void)arg;
	for (uint32_t i = 0; i < s->nr_fields; i++)
		for (uint32_t k = 0; value[i].data && k < value[i].len; k++)
			seen += ((const unsigned char *)value[i].data)[k];
	seen += tacho_synth_raw(s, cause->pid, value, raw, sizeof(raw));
}

static void on_snapshot(void *arg, const struct tacho_rec *cause)
{
	(void)arg;
	seen += cause->len;
}

static const struct tacho_hist_host host = {
	.find_var = find_var, .find_synth = find_synth, .find_type = find_type,
	.add_field_var = add_field_var, .synth = on_synth, .snapshot = on_snapshot,
};

static void add(struct tacho_arena *a, const struct tacho_type *t, char *text)
{
	struct tacho_hist_spec *spec = tacho_arena_alloc(a, sizeof(*spec));
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_map_geometry g;
	struct tacho_hist *h = NULL;
	size_t size;

	if (!spec)
		return;
	if (tacho_hist_spec_parse(spec, a, text, 0, &e) ||
	    tacho_hist_spec_bind_type(spec, a, t, &e) ||
	    tacho_hist_new(&h, a, spec, t, &host, NULL, &e)) {
		if (!e.err || !e.text[0])
			abort();
		return;
	}
	tacho_hist_geometry(h, &g);
	size = tacho_map_bytes(&g);
	/* large ones are as small ones, but slow */
	if (g.entries > 2048 || size > 1 << 24)
		return;
	if (posix_memalign(&memory[nr_hists], 64, size))
		abort();
	memset(memory[nr_hists], 0, size);
	tacho_map_init(memory[nr_hists], &g);
	if (tacho_hist_bind(h, memory[nr_hists], size))
		abort();
	hists[nr_hists++] = h;
}

static void look(const struct tacho_hist *h)
{
	for (uint32_t i = 0; i < tacho_hist_nr_keys(h); i++)
		seen += strlen(tacho_hist_key(h, i)->name);
	for (uint32_t i = 0; i < tacho_hist_nr_vals(h); i++)
		seen += strlen(tacho_hist_val(h, i)->name);
	for (uint32_t i = 0; i < tacho_hist_nr_orders(h); i++)
		seen += tacho_hist_order(h, i).index;
	for (uint32_t i = 0; i < tacho_hist_nr_saved(h); i++) {
		struct tacho_hist_saved s = tacho_hist_saved(h, i);

		for (uint32_t k = 0; k < s.nr; k++)
			seen += strlen(s.field[k].name);
	}
	for (uint32_t i = 0; i < nr_hists; i++)
		seen += tacho_hist_compatible(h, hists[i]) +
			tacho_hist_same(tacho_hist_spec_of(h),
					tacho_hist_spec_of(hists[i]));
	if (!tacho_hist_same(tacho_hist_spec_of(h), tacho_hist_spec_of(h)) ||
	    !tacho_hist_compatible(h, h))
		abort();
	seen += tacho_map_hits(tacho_hist_map(h));
}

static void hit(const uint8_t *data, size_t len, uint64_t time)
{
	static const struct tacho_names nobody = { .arg = NULL };
	uint64_t stack[3] = { 4096, time, 99 };
	unsigned char *raw = malloc(len ? len : 1);
	struct tacho_rec rec = {
		.raw = raw, .len = (uint32_t)len, .cpu = 1, .time = time,
		.pid = (int32_t)(time % 3), .stack = stack, .nr_stack = 3,
		.names = &nobody,
	};

	if (!raw)
		abort();
	memcpy(raw, data, len);
	for (uint32_t i = 0; i < nr_hists; i++)
		tacho_hist_hit(hists[i], &rec);
	free(raw);
}

static void set_up(void)
{
	static struct tacho_arena forever;
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_diag d = { .err = 0 };

	if (types[0])
		return;
	tacho_arena_init(&forever, 1 << 20);
	types[0] = tacho_type_parse(&forever, "s", "e0", 1, format, strlen(format), &d);
	types[1] = tacho_type_parse(&forever, "s", "e1", 2, format, strlen(format), &d);
	synth = tacho_synth_parse(&forever, "ev u64 aa; char[] t; long[] s", &e);
	if (!types[0] || !types[1] || !synth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *nul = len ? memchr(data, 0, len) : NULL;
	size_t text = nul ? (size_t)(nul - data) : len;
	struct tacho_arena a;
	uint64_t time = 0;
	char *lines, *line, *rest;

	if (len > 8192)
		return 0;
	set_up();
	tacho_arena_init(&a, 1 << 22);
	lines = tacho_arena_strndup(&a, (const char *)data, text);
	rest = lines;
	for (int i = 0; i < HISTS && (line = strsep(&rest, "\n")); i++)
		add(&a, types[i % 2], line);
	for (size_t at = text + 1; at < len; time += 777) {
		size_t n = data[at++];

		n = n < len - at ? n : len - at;
		hit(data + at, n, time);
		at += n;
	}
	for (uint32_t i = 0; i < nr_hists; i++)
		look(hists[i]);
	while (nr_hists)
		free(memory[--nr_hists]);
	tacho_arena_release(&a);
	return 0;
}
