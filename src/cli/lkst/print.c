// SPDX-License-Identifier: MIT
/* Events as text or CSV. */
#include "cli/lkst/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/digits.h"
#include "base/scan.h"
#include "cli/lkst/show.h"
#include "cli/out.h"
#include "compat/lkst/pump.h"
#include "fmt/lkst/line.h"

#define AT_ONCE	65536

struct printer {
	const struct print_options *o;
	struct lkst_types types;
	bool shown[LKST_TYPES_NR];
	uint64_t freq, tsc, realtime;
	int32_t utc_offset;
	int64_t offset_hour;	/* that utc_offset is of; it changes on the hour */
	int64_t second;		/* that date and year are of, for CSV */
	char date[64], year[16];
	struct cli_out out;
};

/* ---- the selection language ---- */

/* Types called `name`: all are marked.  False: there is none. */
static bool mark(struct printer *p, const char *name, size_t len, int8_t *marks, int8_t how)
{
	char text[LKST_ETYPE_NAME_LEN + 1];
	const char *at = text;
	bool found = false;
	uint64_t n;

	if (!len || len > LKST_ETYPE_NAME_LEN)
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	if (!strcmp(text, "all")) {
		memset(marks, how, LKST_TYPES_NR);
		return true;
	}
	if (!tacho_scan_number(&at, NULL, LKST_TYPES_NR - 1, &n) && !*at) {
		marks[n] = how;
		return true;
	}
	for (uint32_t i = 0; i < LKST_TYPES_NR; i++) {
		const struct lkst_type_text *t = lkst_types_get(&p->types, i);

		if (t && (!strcmp(t->name, text) || !strcmp(t->mnemonic, text))) {
			marks[i] = how;
			found = true;
		}
	}
	return found;
}

static int select_events(struct printer *p)
{
	const char *at = p->o->events;
	int8_t marks[LKST_TYPES_NR] = { 0 };
	bool asked = false;

	if (at && !*at)
		return tool_fail(TOOL_USAGE, "'-e' needs names of events; option '-h' lists them");
	for (; at && *at; at += *at == ',') {
		bool no = *at == '!';
		size_t len;

		at += no;
		len = strcspn(at, ",");
		if (!mark(p, at, len, marks, no ? -1 : 1))
			return tool_fail(TOOL_USAGE, "there is no event '%.*s'; option '-h' lists them",
					 (int)len, at);
		at += len;
	}
	for (uint32_t i = 0; i < LKST_TYPES_NR; i++)
		asked |= marks[i] > 0;
	for (uint32_t i = 0; i < LKST_TYPES_NR; i++)
		p->shown[i] = marks[i] > 0 || (!asked && !marks[i]);
	return TOOL_OK;
}

/* ---- a record ---- */

static uint64_t realtime_of(const struct printer *p, uint64_t ticks)
{
	__extension__ typedef __int128 wide;

	return (uint64_t)((wide)(int64_t)(ticks - p->tsc) * 1000000000 /
			  (wide)(p->freq ? p->freq : 1) + (wide)p->realtime);
}

static int32_t utc_offset(struct printer *p, uint64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;

	if (p->offset_hour != s / 900) {
		p->offset_hour = s / 900;
		p->utc_offset = localtime_r(&s, &tm) ? (int32_t)tm.tm_gmtoff : 0;
	}
	return p->utc_offset;
}

/* A cell that may have commas or quotes. */
static void put_cell(struct tacho_buf *b, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		tacho_buf_puts(b, text);
		return;
	}
	tacho_buf_putc(b, '"');
	for (; *text; text++) {
		if (*text == '"')
			tacho_buf_putc(b, '"');
		tacho_buf_putc(b, *text);
	}
	tacho_buf_putc(b, '"');
}

/* "...,Wed,Dec,24,00:00:00." and ",2003": of a second, as most events are of the last one's. */
static void set_date(struct printer *p, int64_t second)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
					      "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t s = (time_t)second;
	struct tm tm = { 0 };

	(void)localtime_r(&s, &tm);
	(void)snprintf(p->date, sizeof(p->date), ",%s,%s,%d,%02d:%02d:%02d.", days[tm.tm_wday % 7],
		       months[tm.tm_mon % 12], tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	(void)snprintf(p->year, sizeof(p->year), ",%d", tm.tm_year + 1900);
	p->second = second;
}

static void put_csv_time(struct printer *p, uint64_t ns)
{
	int64_t second = (int64_t)(ns / 1000000000);
	uint32_t part = (uint32_t)(ns % 1000000000);
	char text[64], *o = text;

	if (p->o->seconds) {
		*o++ = ',';
		o = tacho_digits(o, (uint64_t)second);
		*o++ = ',';
		o = tacho_digits(o, part / 1000);
		tacho_buf_put(&p->out.buf, text, (size_t)(o - text));
		return;
	}
	if (second != p->second)
		set_date(p, second);
	o = tacho_digits_nine(o, part);
	tacho_buf_puts(&p->out.buf, p->date);
	tacho_buf_put(&p->out.buf, text, (size_t)(o - text));
	tacho_buf_puts(&p->out.buf, p->year);
}

/* ",0x0000002a" */
static char *put_half(char *o, uint32_t v)
{
	o = tacho_chars(o, ",0x", 3);
	for (int shift = 28; shift >= 0; shift -= 4)
		*o++ = "0123456789abcdef"[v >> shift & 15];
	return o;
}

static void put_csv(struct printer *p, const struct lkst_record *r,
		    const struct lkst_type_text *t)
{
	struct tacho_buf *b = &p->out.buf;
	char text[64], *o = text;

	if (t)
		put_cell(b, t->name);
	else
		tacho_buf_printf(b, "0x%03x", r->etype);
	*o++ = ',';
	o = tacho_digits(o, r->cpu);
	*o++ = ',';
	if (r->pid < 0)
		*o++ = '-';
	o = tacho_digits(o, r->pid < 0 ? -(uint64_t)r->pid : (uint64_t)r->pid);
	tacho_buf_put(b, text, (size_t)(o - text));
	put_csv_time(p, realtime_of(p, r->ticks));
	for (int i = 0; i < 4; i++) {
		const char *name = t ? t->arg[i] : "";

		if (!*name && t && !p->o->verbose)
			continue;
		tacho_buf_putc(b, ',');
		put_cell(b, name);
		o = put_half(text, (uint32_t)r->arg[i]);
		o = put_half(o, (uint32_t)(r->arg[i] >> 32));
		tacho_buf_put(b, text, (size_t)(o - text));
	}
	tacho_buf_putc(b, '\n');
}

static int put_record(struct printer *p, const struct lkst_record *r)
{
	const struct lkst_type_text *t = lkst_types_get(&p->types, r->etype);
	struct lkst_line line = { .all = p->o->verbose };
	char *to;

	if (p->o->csv) {
		put_csv(p, r, t);
		return cli_out_more(&p->out);
	}
	if (t) {
		line.name = t->name;
		memcpy(line.arg, t->arg, sizeof(line.arg));
	}
	line.realtime = realtime_of(p, r->ticks);
	line.utc_offset = utc_offset(p, line.realtime);
	to = tacho_buf_reserve(&p->out.buf, LKST_LINE_MAX);
	if (to)
		tacho_buf_commit(&p->out.buf, lkst_line_put(to, r, &line));
	return cli_out_more(&p->out);
}

static bool is_shown(const struct printer *p, const struct lkst_record *r)
{
	return r->etype < LKST_TYPES_NR && p->shown[r->etype] &&
	       (p->o->cpu < 0 || r->cpu == p->o->cpu);
}

/* ---- what is printed ---- */

/* Records, in the order of time. */
struct print_records {
	struct lkst_record *r;
	size_t nr, room;
};

static int more_room(struct print_records *all)
{
	size_t room = all->room ? all->room * 2 : AT_ONCE;
	struct lkst_record *more = reallocarray(all->r, room, sizeof(*more));

	if (!more)
		return tool_fail(TOOL_FAILED, "no memory for more than %zu events", all->nr);
	all->r = more;
	all->room = room;
	return TOOL_OK;
}

static int add(struct print_records *all, const struct lkst_record *r)
{
	if (all->nr == all->room && more_room(all))
		return TOOL_FAILED;
	all->r[all->nr++] = *r;
	return TOOL_OK;
}

/* The newest first, and of those the newest max. */
static int put_backwards(struct printer *p, const struct print_records *all)
{
	uint64_t n = 0;
	int ret = TOOL_OK;

	for (size_t i = all->nr; !ret && n < p->o->max && i-- > 0 && !p->out.closed;)
		if (is_shown(p, &all->r[i])) {
			ret = put_record(p, &all->r[i]);
			n++;
		}
	return ret;
}

static int put_forwards(struct printer *p, const struct print_records *all)
{
	uint64_t n = 0;
	int ret = TOOL_OK;

	for (size_t i = 0; !ret && n < p->o->max && i < all->nr && !p->out.closed; i++)
		if (is_shown(p, &all->r[i])) {
			ret = put_record(p, &all->r[i]);
			n++;
		}
	return ret;
}

static bool is_shown_of(const struct printer *p, const struct lkst_record *r, int32_t buffer)
{
	return (p->o->buffer == LKST_BUFFER_ID_VOID || p->o->buffer == buffer) && is_shown(p, r);
}

/* A file, the oldest first: as it is read. */
static int stream_log(struct printer *p, struct lkst_log *log)
{
	struct lkst_record r;
	int32_t buffer;
	uint64_t n = 0;
	int got = 0, ret = TOOL_OK;

	while (!ret && n < p->o->max && !p->out.closed &&
	       (got = lkst_log_next(log, &r, &buffer)) == 1)
		if (is_shown_of(p, &r, buffer)) {
			ret = put_record(p, &r);
			n++;
		}
	return ret ? ret : got < 0 ? tool_fail(TOOL_FAILED, "%s", lkst_log_why(log)->text) : ret;
}

/* Records of a file that are shown. */
static int collect_log(struct printer *p, struct lkst_log *log, struct print_records *all)
{
	struct lkst_record r;
	int got = 0, ret = TOOL_OK;
	int32_t buffer;

	while (!ret && (got = lkst_log_next(log, &r, &buffer)) == 1)
		if (is_shown_of(p, &r, buffer))
			ret = add(all, &r);
	return ret ? ret : got < 0 ? tool_fail(TOOL_FAILED, "%s", lkst_log_why(log)->text) : ret;
}

static int warn_of_loss(const struct lkst_log *log, const char *path)
{
	struct lkst_log_info info;

	lkst_log_info(log, &info);
	if (info.lost)
		(void)tool_fail(0, "%s: %" PRIu64 " events were lost when it was recorded", path,
				info.lost);
	if (info.damaged)
		return tool_fail(TOOL_FAILED, "%s: %" PRIu64 " blocks are damaged; the events of the "
				 "others were shown", path, info.damaged);
	return TOOL_OK;
}

static int print_file(struct printer *p)
{
	struct print_records all = { 0 };
	struct lkst_log_info info;
	struct tacho_diag d = { 0 };
	struct lkst_log *log;
	int ret;

	if (lkst_log_open(&log, p->o->input, &d))
		return tool_fail(TOOL_FAILED, "%s", d.text);
	lkst_log_info(log, &info);
	p->freq = info.freq;
	p->tsc = info.tsc;
	p->realtime = info.realtime;
	tool_types_embedded(&p->types);
	(void)lkst_types_parse(&p->types, info.types, info.types_len, false, NULL);
	ret = tool_types_file(p->o->etypes, &p->types);
	if (!ret)
		ret = select_events(p);
	if (!ret && p->o->ascending)
		ret = stream_log(p, log);
	else if (!ret)
		ret = collect_log(p, log, &all);
	if (!ret)
		ret = put_backwards(p, &all);
	if (!ret)
		ret = cli_out_flush(&p->out);
	if (!ret && !p->out.closed)
		ret = warn_of_loss(log, p->o->input);
	free(all.r);
	lkst_log_free(log);
	return ret;
}

/* ---- the buffers of LKST ---- */

struct collect {
	const struct print_options *o;
	struct print_records *all;
	print_buffer_fn fn;	/* NULL: all are kept */
	void *arg;
	unsigned int cpus, buffers;	/* that -c and -b chose */
};

/* In few calls: each looks for its first record from the buffer's begin on. */
static int collect_buffer(struct tacho_lkst *l, int cpu, int32_t id, struct collect *c)
{
	struct print_records *all = c->all;
	uint64_t left = c->o->max;
	struct lkst_span span = { 0 };
	size_t n = 1;

	while (n && left) {
		size_t room;
		int err;

		if (all->nr == all->room && more_room(all))
			return TOOL_FAILED;
		room = all->room - all->nr;
		err = tacho_lkst_records(l, cpu, id, &span, all->r + all->nr,
					 left < room ? left : room, &n);
		if (err)
			return tool_failed(err, "read buffer %d of CPU %d", id, cpu);
		all->nr += n;
		left -= n;
	}
	if (!c->fn)
		return TOOL_OK;
	n = all->nr;
	all->nr = 0;
	return c->fn(c->arg, all->r, n, cpu, id);
}

static int collect_cpu(struct tacho_lkst *l, int cpu, void *arg)
{
	struct lkst_buffer_listent e[TACHO_BUFFERS_MAX];
	struct lkst_buffer_listparam p = { .cpu = cpu, .listent_num = TACHO_BUFFERS_MAX,
					   .listent = e };
	struct collect *c = arg;
	int ret = TOOL_OK, err;

	if (c->o->cpu >= 0 && c->o->cpu != cpu)
		return TOOL_OK;
	c->cpus++;
	err = tacho_lkst_buffer_list(l, &p);
	if (err)
		return tool_failed(err, "list the buffers of CPU %d", cpu);
	for (int i = 0; !ret && i < p.buffer_num; i++)
		if (c->o->buffer == LKST_BUFFER_ID_VOID || c->o->buffer == e[i].id) {
			c->buffers++;
			ret = collect_buffer(l, cpu, e[i].id, c);
		}
	return ret;
}

static int by_time(const void *a, const void *b)
{
	const struct lkst_record *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->recid < y->recid ? -1 : x->recid > y->recid;
}

static bool is_sorted(const struct print_records *all)
{
	for (size_t i = 1; i < all->nr; i++)
		if (by_time(&all->r[i - 1], &all->r[i]) > 0)
			return false;
	return true;
}

static int collect(struct tacho_lkst *l, struct collect *c)
{
	int ret;

	(void)tacho_lkst_pump_once(l);
	if (c->o->fixed)
		return collect_buffer(l, -1, LKST_BUFFER_ID_VOID, c);
	ret = each_cpu(l, collect_cpu, c);
	if (!ret && !c->cpus)
		return tool_fail(TOOL_FAILED, "CPU %lld has no buffers; 'lkst status' lists the "
				 "CPUs", (long long)c->o->cpu);
	if (!ret && !c->buffers)
		return tool_fail(TOOL_FAILED, "there is no buffer %d; 'lkstbuf list' lists them",
				 c->o->buffer);
	return ret;
}

int print_each_buffer(struct tacho_lkst *l, const struct print_options *o, print_buffer_fn fn,
		      void *arg)
{
	struct print_records one = { 0 };
	struct collect c = { .o = o, .all = &one, .fn = fn, .arg = arg };
	int ret = collect(l, &c);

	free(one.r);
	return ret;
}

/* All, in the order of time. */
static int collect_sorted(struct tacho_lkst *l, const struct print_options *o,
			  struct print_records *all)
{
	struct collect c = { .o = o, .all = all };
	int ret = collect(l, &c);

	if (!ret && !is_sorted(all))
		qsort(all->r, all->nr, sizeof(all->r[0]), by_time);
	return ret;
}

static int print_live(struct printer *p, struct tacho_lkst *l)
{
	const struct tacho_control *ctl = l->session.view.ctl;
	struct print_options every = *p->o, shown = *p->o;
	struct print_records all = { 0 };
	int ret = tool_types(l, p->o->etypes, &p->types);

	p->freq = ctl->clock_freq;
	p->tsc = ctl->start.ticks;
	p->realtime = ctl->start.realtime;
	if (p->o->each)
		shown.max = UINT64_MAX;
	else
		every.max = UINT64_MAX;
	p->o = &shown;
	if (!ret)
		ret = select_events(p);
	if (!ret)
		ret = collect_sorted(l, &every, &all);
	if (!ret)
		ret = p->o->ascending ? put_forwards(p, &all) : put_backwards(p, &all);
	if (!ret)
		ret = cli_out_flush(&p->out);
	free(all.r);
	return ret;
}

int print_events(const struct print_options *o)
{
	struct printer *p = calloc(1, sizeof(*p));
	struct tacho_lkst l;
	int ret;

	if (!p)
		return tool_failed(-ENOMEM, "print");
	p->o = o;
	p->offset_hour = INT64_MIN;
	p->second = INT64_MIN;
	lkst_types_init(&p->types);
	cli_out_init(&p->out, 1, "standard output");
	if (o->input) {
		ret = print_file(p);
	} else {
		ret = tool_open(&l);
		if (!ret) {
			ret = print_live(p, &l);
			tacho_lkst_close(&l);
		}
	}
	cli_out_release(&p->out);
	lkst_types_release(&p->types);
	free(p);
	return ret;
}

int print_names(const char *etypes)
{
	const struct tacho_lkst_config look = { .look = true };
	struct lkst_types types;
	struct tacho_lkst l;
	int ret;

	lkst_types_init(&types);
	tool_types_embedded(&types);
	if (!tacho_lkst_open(&l, &look, NULL)) {
		ret = tool_types(&l, etypes, &types);
		tacho_lkst_close(&l);
	} else {
		ret = tool_types_file(etypes, &types);
	}
	for (uint32_t i = 0; !ret && i < LKST_TYPES_NR; i++) {
		const struct lkst_type_text *t = lkst_types_get(&types, i);

		if (t)
			printf("  0x%03x  %-28s %s\n", i, t->mnemonic, t->name);
	}
	lkst_types_release(&types);
	return ret;
}
