// SPDX-License-Identifier: MIT
/*
 * traceprinter - a QNX trace file as text, in the lines of the historic program.
 *
 * It reads as programs for QNX do, by libtraceparser; the names of arguments are those of
 * fmt/kev's table.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define _QNX_RELEASE	710
#include <qnx/sys/traceparser.h>

#include "base/scan.h"
#include "fmt/kev/kev.h"
#include "fmt/kev/rows.h"

#define INPUT		"/dev/shm/tracebuffer.kev"
#define LABEL_COLUMN	26
#define WIDTH_MAX	4096
#define VERSION		"1.02"

/* Of a struct sigevent's first member. */
#define SIGEV_TYPE_MASK		0xffu
#define SIGEV_FLAG_CRITICAL	0x100u

struct printer {
	struct traceparser_state *state;
	struct tacho_kev_profile profile;
	FILE *out;
	const char *prefix;	/* -p; NULL: the historic one */
	bool one_line, swap;
	uint64_t index, freq;
};

/* ---- words ---- */

static uint32_t word(const struct printer *p, const unsigned *data, unsigned i)
{
	return p->swap ? __builtin_bswap32(data[i]) : data[i];
}

/* Two words that are one number, as the traced machine has them in memory. */
static uint64_t wide_word(const struct printer *p, const unsigned *data, unsigned i)
{
	uint64_t v;

	memcpy(&v, &data[i], sizeof(v));
	return p->swap ? __builtin_bswap64(v) : v;
}

static bool is_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)text[i]) && text[i] != '\n')
			return false;
	return true;
}

/* Text up to its end; nothing of it if any byte of it is not printable. */
static void put_text(const struct printer *p, const unsigned *data, size_t size)
{
	const char *text = (const char *)data;
	size_t len = strnlen(text, size);

	if (is_printable(text, len))
		(void)fwrite(text, 1, len, p->out);
}

/* ---- arguments ---- */

/*
 * Words that are the beginning of a message: as text, by four bytes up to where they end
 * or are no text, then each, whose byte order is the sender's affair.
 */
static void put_message(const struct printer *p, const unsigned *data, unsigned n)
{
	size_t len = 4;

	(void)fputc('"', p->out);
	for (unsigned i = 0; i < n && len == 4; i++) {
		const char *four = (const char *)&data[i];

		len = strnlen(four, 4);
		if (!is_printable(four, len))
			len = 0;
		(void)fwrite(four, 1, len, p->out);
	}
	(void)fputs("\" (", p->out);
	for (unsigned i = 0; i < n; i++)
		(void)fprintf(p->out, "%s0x%08x", i ? " " : "", data[i]);
	(void)fputc(')', p->out);
}

/* `words` are those to the end, or of a message those that it has. */
static void put_value(const struct printer *p, char code, const unsigned *data, unsigned words)
{
	switch (code) {
	case 'D':
		(void)fprintf(p->out, "%d", (int32_t)word(p, data, 0));
		break;
	case 'P':
		(void)fprintf(p->out, "%p", (void *)(uintptr_t)word(p, data, 0));
		break;
	case 'S':
		put_message(p, data, words);
		break;
	case 'E':
		(void)fprintf(p->out, "%" PRId64, (int64_t)wide_word(p, data, 0));
		break;
	case 'X':
		(void)fprintf(p->out, "0x%" PRIx64, wide_word(p, data, 0));
		break;
	case 'Q':
		(void)fprintf(p->out, "%p", (void *)(uintptr_t)wide_word(p, data, 0));
		break;
	case 'N':
		put_text(p, data, 4 * (size_t)words);
		break;
	case 'W':
		for (unsigned i = 0; i < words; i++)
			(void)fprintf(p->out, "0x%08x ", word(p, data, i));
		break;
	default:
		(void)fprintf(p->out, "0x%08x", word(p, data, 0));
	}
}

/* Up to two words stand on the event's line, more on lines of their own. */
static void put_label(const struct printer *p, const char *name, unsigned words)
{
	if (words <= 2 || p->one_line)
		(void)fprintf(p->out, " %s:", name);
	else
		(void)fprintf(p->out, "\n%*s:", LABEL_COLUMN, name);
}

static void put_list(const struct printer *p, const struct tacho_kev_list *list,
		     const unsigned *data, unsigned words)
{
	const struct tacho_kev_field *f = &tacho_kev_fields[list->first], *end = f + list->nr;
	/* a list with a string is a long one, however short the string */
	unsigned at = 0, lines = list->open ? words + 1 : words;

	while (f < end) {
		const struct tacho_kev_field *first = f++;
		unsigned n = tacho_kev_words(first->code);

		if (first->code == 'N' || first->code == 'W')
			n = words - at;
		for (; first->code == 'S' && f < end && f->code == 's'; f++)
			n++;
		if (!strcmp(first->name, "null"))
			break;
		put_label(p, first->label, lines);
		put_value(p, first->code, data + at, n);
		at += n;
	}
}

static void put_words(const struct printer *p, const unsigned *data, unsigned words)
{
	for (unsigned i = 0; i < words; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "d%u", i);
		put_label(p, name, words);
		(void)fprintf(p->out, "0x%08x", word(p, data, i));
	}
}

static void put_args(const struct printer *p, const struct tacho_kev_row *row,
		     const unsigned *data, unsigned words)
{
	enum tacho_kev_variant v = row ? tacho_kev_variant_of(row, data, words) :
				   TACHO_KEV_RAW;

	if (v == TACHO_KEV_RAW)
		put_words(p, data, words);
	else
		put_list(p, &row->list[v], data, words);
}

/* ---- names ---- */

/* What stands behind the time and the CPU: "KER_CALL". */
static const char *class_name(enum tacho_kev_group group)
{
	switch (group) {
	case TACHO_KEV_ROW_CONTROL:
		return "CONTROL";
	case TACHO_KEV_ROW_KERCALL_ENTER:
		return "KER_CALL";
	case TACHO_KEV_ROW_KERCALL_EXIT:
		return "KER_EXIT";
	case TACHO_KEV_ROW_KERCALL_INT:
		return "INT_CALL";
	case TACHO_KEV_ROW_INT:
		return "INT";
	case TACHO_KEV_ROW_PROCESS:
		return "PROCESS";
	case TACHO_KEV_ROW_THREAD:
		return "THREAD";
	case TACHO_KEV_ROW_VTHREAD:
		return "VTHREAD";
	case TACHO_KEV_ROW_SYSTEM:
		return "SYSTEM";
	case TACHO_KEV_ROW_USER:
		return "USREVENT";
	case TACHO_KEV_ROW_COMM:
		return "COMM";
	case TACHO_KEV_ROW_QUIP:
		return "QUIP";
	case TACHO_KEV_ROW_SEC:
		return "SEC";
	case TACHO_KEV_ROW_QVM:
		return "QVM";
	case TACHO_KEV_ROW_PMU:
		return "PMU";
	case TACHO_KEV_ROW_EMPTY:
	case TACHO_KEV_ROW_UNKNOWN:
	case TACHO_KEV_NR_GROUPS:
		break;
	}
	return "UNKNOWN";
}

static bool is_state(enum tacho_kev_group group, uint32_t code)
{
	uint32_t e = TACHO_KEV_EVENT(code);

	e = group == TACHO_KEV_ROW_VTHREAD ? e - TACHO_KEV_VTHREAD : e;
	return e != TACHO_KEV_TH_CREATE && e != TACHO_KEV_TH_DESTROY;
}

/* What stands before a thread's state, and before its creation and end. */
static const char *name_prefix(enum tacho_kev_group group, uint32_t code)
{
	if (group == TACHO_KEV_ROW_VTHREAD && !is_state(group, code))
		return "VTH";
	return group == TACHO_KEV_ROW_THREAD || group == TACHO_KEV_ROW_VTHREAD ? "TH" : "";
}

/* "MSG_SENDV", "THREADY": the table's label, or upper case, as the numbers' symbols are. */
static void event_name(const struct printer *p, uint32_t code, char to[TACHO_KEV_NAME_MAX + 4])
{
	enum tacho_kev_group group = tacho_kev_group_of(&p->profile, code);
	const struct tacho_kev_row *row = tacho_kev_row_of(&p->profile, code);
	bool call = TACHO_KEV_CLASS(code) == TACHO_KEV_KER_CALL;
	const char *known = call ? tacho_kev_call_name(p->profile.release,
						       TACHO_KEV_EVENT(code) & 0x7f) : NULL;
	char name[TACHO_KEV_NAME_MAX];

	tacho_kev_name(&p->profile, code, name);
	/* a kernel call of 64-bit arguments is called as that of 32-bit ones */
	(void)snprintf(to, TACHO_KEV_NAME_MAX + 4, "%s%s", name_prefix(group, code),
		       row && row->label ? row->label : known ? known : name);
	for (char *c = to; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

/* ---- -p ---- */

/* "0.000.016us": seconds, thousandths, millionths. */
static void time_text(const struct printer *p, uint64_t cycles, char *to, size_t size)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t us = (uint64_t)((wide)cycles * 1000000 / (p->freq ? p->freq : 1));

	(void)snprintf(to, size, "%" PRIu64 ".%03u.%03uus", us / 1000000,
		       (unsigned)(us / 1000 % 1000), (unsigned)(us % 1000));
}

/* A conversion with its flags, width and precision; a negative one drops leading characters. */
static void put_field(const struct printer *p, const char *flags, int width, bool has_precision,
		      int precision, const char *text)
{
	size_t len = strlen(text);
	bool left = strchr(flags, '-') != NULL;
	char fill = strchr(flags, '0') && !left ? '0' : ' ';

	if (has_precision && precision < 0) {
		size_t drop = (size_t)-precision < len ? (size_t)-precision : len;

		text += drop;
		len -= drop;
	} else if (has_precision && (size_t)precision < len) {
		len = (size_t)precision;
	}
	for (int i = (int)len; !left && i < width; i++)
		(void)fputc(fill, p->out);
	(void)fprintf(p->out, "%.*s", (int)len, text);
	for (int i = (int)len; left && i < width; i++)
		(void)fputc(' ', p->out);
}

struct line {
	uint64_t cycles;
	uint32_t cpu;
	const char *class_, *event;
};

static bool field_text(const struct printer *p, char conversion, const struct line *l, char *to,
		       size_t size)
{
	switch (conversion) {
	case 'c':
		(void)snprintf(to, size, "%" PRIx64, l->cycles);
		return true;
	case 'C':
		(void)snprintf(to, size, "%u", l->cpu);
		return true;
	case 'e':
		(void)snprintf(to, size, "%" PRIu64, p->index);
		return true;
	case 't':
		time_text(p, l->cycles, to, size);
		return true;
	case 'Z':
		(void)snprintf(to, size, "%s", l->class_);
		return true;
	case 'z':
		(void)snprintf(to, size, "%s", l->event);
		return true;
	case '%':
		(void)snprintf(to, size, "%%");
		return true;
	default:
		return false;
	}
}

/* A width or a precision; what is larger than any line is as good as one. */
static int number(const char **at)
{
	const char *c = *at + (**at == '-' || **at == '+');
	bool minus = **at == '-';
	uint64_t n;

	/* a number that is too large is WIDTH_MAX */
	if (tacho_scan_digits(&c, NULL, 10, WIDTH_MAX, &n) == -EINVAL)
		return 0;
	*at = c;
	return minus ? -(int)n : (int)n;
}

/* One conversion at *at, behind its '%'.  False: there is none such. */
static bool conversion(const struct printer *p, const char **at, const struct line *l)
{
	char flags[8] = "", text[128];
	int width = 0, precision = 0;
	bool has_precision = false;
	const char *c = *at;
	size_t n = strspn(c, "-0 +#");

	memcpy(flags, c, n < sizeof(flags) ? n : sizeof(flags) - 1);
	c += n;
	width = number(&c);
	if (*c == '.') {
		c++;
		has_precision = true;
		precision = number(&c);
	}
	if (!l) {	/* only whether it is one */
		*at = c + (*c != '\0');
		return *c && strchr("cCetZz%", *c);
	}
	if (!field_text(p, *c, l, text, sizeof(text)))
		return false;
	put_field(p, flags, width, has_precision, precision, text);
	*at = c + 1;
	return true;
}

static bool is_format(const struct printer *p, const char *fmt)
{
	while ((fmt = strchr(fmt, '%'))) {
		fmt++;
		if (!conversion(p, &fmt, NULL))
			return false;
	}
	return true;
}

static void put_prefix(const struct printer *p, const struct line *l)
{
	const char *at = p->prefix;

	while (*at) {
		size_t n = strcspn(at, "%");

		(void)fprintf(p->out, "%.*s", (int)n, at);
		at += n;
		if (!*at)
			return;
		at++;
		if (!conversion(p, &at, l))
			return;
	}
}

/* ---- lines ---- */

static bool is_failure(const struct printer *p, enum tacho_kev_group group,
		       const unsigned *data, unsigned words)
{
	return group == TACHO_KEV_ROW_KERCALL_EXIT && words == 2 &&
	       (int32_t)word(p, data, 0) == -1;
}

static void put_control(const struct printer *p, uint32_t event, const unsigned *data)
{
	if (event == 1)
		(void)fprintf(p->out, "CONTROL :TIME msb:0x%08x lsb(offset):0x%08x",
			      word(p, data, 0), word(p, data, 1));
	else
		(void)fprintf(p->out, "CONTROL: BUFFER sequence = %u, num_events = %u",
			      word(p, data, 0) & 0x7ff, word(p, data, 1));
}

/*
 * What an interrupt handler returned: the words of a struct sigevent of a 32-bit machine,
 * or the first of them.
 */
static void put_sigevent(const struct printer *p, const unsigned *data, unsigned words)
{
	static const char *const types[] = {
		"NONE", "SIGNAL", "SIGNAL_CODE", "SIGNAL_THREAD", "PULSE", "UNBLOCK", "INTR",
		"THREAD",
	};
	uint32_t notify = word(p, data, 0), type = notify & SIGEV_TYPE_MASK;
	bool whole = words >= 4 && words <= 5;
	const char *critical = notify & SIGEV_FLAG_CRITICAL ? " CRITICAL" : "";
	uint32_t id = whole ? word(p, data, 1) : 0, value = whole ? word(p, data, 2) : 0;
	int16_t last[2] = { 0, 0 };	/* code, priority */

	for (unsigned i = 0; whole && i < 2; i++) {
		uint16_t half;

		memcpy(&half, (const char *)&data[3] + 2 * i, sizeof(half));
		last[i] = (int16_t)(p->swap ? __builtin_bswap16(half) : half);
	}
	if (type >= TACHO_ARRAY_SIZE(types)) {
		(void)fprintf(p->out, "UNKNOWN(%#x)%s", type, critical);
		return;
	}
	(void)fputs(types[type], p->out);
	if (whole && type == 1)
		(void)fprintf(p->out, " %u", id);
	else if (whole && (type == 2 || type == 3))
		(void)fprintf(p->out, " %u %#x:%#x", id, last[0], value);
	else if (whole && type == 4)
		(void)fprintf(p->out, " %#x:%d %#x:%#x", id, last[1], last[0], value);
	else if (whole && type == 7)
		(void)fprintf(p->out, " %x:%x", last[0], value);
	(void)fputs(critical, p->out);
}

/* False: there is no line for such an event, or not with so many words. */
static bool put_interrupt(const struct printer *p, uint32_t event, const unsigned *data,
			  unsigned words)
{
	uint32_t a = word(p, data, 0), b = word(p, data, 1);

	if (event == 1 && words == 2) {
		(void)fprintf(p->out, "INT_ENTR:0x%08x (%d)       IP:0x%08x", a, (int)a, b);
	} else if (event == 2 && words == 2) {
		(void)fprintf(p->out, "INT_EXIT:0x%08x (%d) inkernel:0x%08x", a, (int)a, b);
	} else if (event == 3 && words == 4) {
		(void)fprintf(p->out, "INT_HANDLER_ENTR:0x%08x (%d)       PID:%d IP:0x%08x "
			      "AREA:0x%08x", b, (int)b, (int)a, word(p, data, 2),
			      word(p, data, 3));
	} else if (event == 4) {
		(void)fprintf(p->out, "INT_HANDLER_EXIT:0x%08x (%d) SIGEVENT:", a, (int)a);
		put_sigevent(p, data + 1, words - 1);
	} else {
		return false;
	}
	return true;
}

static void put_thread(const struct printer *p, const char *class_, const char *name,
		       const unsigned *data, unsigned words)
{
	(void)fprintf(p->out, "%-8s:%-13s pid:%d tid:%d ", class_, name,
		      (int)word(p, data, 0), (int)word(p, data, 1));
	if (words >= 4)
		(void)fprintf(p->out, "priority:%d policy:%d", (int)word(p, data, 2),
			      (int)word(p, data, 3));
	if (words >= 6)
		(void)fprintf(p->out, " partition:%d sched_flags:0x%08x", (int)word(p, data, 4),
			      word(p, data, 5));
}

static void put_user(const struct printer *p, uint32_t event, const unsigned *data,
		     unsigned words)
{
	(void)fprintf(p->out, "EVENT:%u", event);
	if (words <= 2) {
		(void)fprintf(p->out, ", d0:0x%08x d1:0x%08x", word(p, data, 0),
			      word(p, data, 1));
		return;
	}
	(void)fputs(" STR:\"", p->out);
	put_text(p, data, 4 * (size_t)words - 1);
	(void)fputc('"', p->out);
}

/* What follows the prefix of -p, and most of the historic lines: name and arguments. */
static void put_rest(const struct printer *p, uint32_t code, const char *name,
		     const unsigned *data, unsigned words)
{
	enum tacho_kev_group group = tacho_kev_group_of(&p->profile, code);

	if (is_failure(p, group, data, words))
		(void)fprintf(p->out, "%s ret_val:-1, errno:%d", name, (int)word(p, data, 1));
	else {
		(void)fputs(name, p->out);
		put_args(p, tacho_kev_row_of(&p->profile, code), data, words);
	}
}

static void put_call(const struct printer *p, enum tacho_kev_group group, uint32_t code,
		     const char *name, const unsigned *data, unsigned words)
{
	char full[TACHO_KEV_NAME_MAX + 8];

	(void)snprintf(full, sizeof(full), "%s/%02u", name, TACHO_KEV_EVENT(code) & 0x7f);
	(void)fprintf(p->out, "%s:%s", class_name(group),
		      group == TACHO_KEV_ROW_KERCALL_INT ? "KER_" : "");
	if (group == TACHO_KEV_ROW_KERCALL_INT)
		(void)fputs(full, p->out);
	else
		put_rest(p, code, full, data, words);
}

static void put_padded(const struct printer *p, enum tacho_kev_group group, uint32_t code,
		       const char *name, int width, const unsigned *data, unsigned words)
{
	char padded[TACHO_KEV_NAME_MAX + 16];

	(void)snprintf(padded, sizeof(padded), "%-*s", width, name);
	(void)fprintf(p->out, "%-8s:", class_name(group));
	put_rest(p, code, padded, data, words);
}

/* How wide the historic lines have a name; those of the later events are as they are. */
static int name_width(enum tacho_kev_group group, uint32_t event)
{
	switch ((int)group) {
	case TACHO_KEV_ROW_PROCESS:
	case TACHO_KEV_ROW_THREAD:
	case TACHO_KEV_ROW_VTHREAD:
		return 13;
	case TACHO_KEV_ROW_COMM:
		return event < 11 ? 13 : 0;
	case TACHO_KEV_ROW_SYSTEM:
		return event < 9 ? 15 : 0;
	default:
		return 0;
	}
}

static void put_historic(const struct printer *p, uint32_t code, const char *name,
			 const unsigned *data, unsigned words)
{
	enum tacho_kev_group group = tacho_kev_group_of(&p->profile, code);
	uint32_t event = TACHO_KEV_EVENT(code);

	if (group == TACHO_KEV_ROW_CONTROL && event <= 2) {
		put_control(p, event, data);
	} else if (group == TACHO_KEV_ROW_INT && put_interrupt(p, event, data, words)) {
		return;
	} else if (group == TACHO_KEV_ROW_THREAD && is_state(group, code)) {
		put_thread(p, class_name(group), name, data, words);
	} else if (group == TACHO_KEV_ROW_USER) {
		(void)fputs("USREVENT:", p->out);
		put_user(p, event, data, words);
	} else if (group == TACHO_KEV_ROW_KERCALL_ENTER ||
		   group == TACHO_KEV_ROW_KERCALL_EXIT ||
		   group == TACHO_KEV_ROW_KERCALL_INT) {
		put_call(p, group, code, name, data, words);
	} else {
		put_padded(p, group, code, name, name_width(group, event), data, words);
	}
}

static uint64_t cycles_now(const struct printer *p)
{
	const uint64_t *clk = traceparser_get_info(p->state, _TRACEPARSER_INFO_CLK, NULL);

	return clk ? *clk : 0;
}

static int on_event(struct traceparser_state *state, void *user, unsigned header, unsigned time,
		    unsigned *data, unsigned words)
{
	struct printer *p = user;
	uint32_t code = TACHO_KEV_CODE(header);
	char name[TACHO_KEV_NAME_MAX + 4];

	(void)state;
	event_name(p, code, name);
	if (p->prefix) {
		const struct line l = {
			cycles_now(p), TACHO_KEV_CPU(header),
			class_name(tacho_kev_group_of(&p->profile, code)), name
		};

		put_prefix(p, &l);
		if (tacho_kev_group_of(&p->profile, code) == TACHO_KEV_ROW_USER) {
			(void)fputc(' ', p->out);
			put_user(p, TACHO_KEV_EVENT(code), data, words);
		} else {
			put_rest(p, code, "", data, words);
		}
	} else {
		(void)fprintf(p->out, "t:0x%08x CPU:%02u ", time, TACHO_KEV_CPU(header));
		put_historic(p, code, name, data, words);
	}
	(void)fputc('\n', p->out);
	p->index++;
	return ferror(p->out) ? -1 : 0;
}

/* Once the header is read: which release's names, how fast the clock. */
static int on_header(struct traceparser_state *state, void *user, unsigned header, unsigned time,
		     unsigned *data, unsigned words)
{
	struct printer *p = user;
	enum tacho_kev_release release = TACHO_KEV_710;
	const unsigned *swap;
	const char *text;
	unsigned len;

	(void)header;
	(void)time;
	(void)data;
	(void)words;
	text = traceparser_get_info(state, _TRACEPARSER_INFO_SYS_RELEASE, &len);
	if (text)
		(void)tacho_kev_release_of(text, len, &release);
	tacho_kev_profile_init(&p->profile, release);
	text = traceparser_get_info(state, _TRACEPARSER_INFO_CYCLES_PER_SEC, &len);
	p->freq = 0;
	if (text)
		(void)tacho_scan_digits(&text, NULL, 10, UINT64_MAX, &p->freq);
	swap = traceparser_get_info(state, _TRACEPARSER_INFO_ENDIAN_CONV, &len);
	p->swap = swap && *swap;
	return 0;
}

/* ---- the program ---- */

static int complain(const char *what)
{
	(void)fprintf(stderr, "traceprinter: %s\n", what);
	return 1;
}

static int print(struct printer *p, const char *input, bool verbose)
{
	static const unsigned classes[] = {
		_NTO_TRACE_CONTROL, _NTO_TRACE_USER, _NTO_TRACE_SYSTEM, _NTO_TRACE_COMM,
		_NTO_TRACE_QUIP, _NTO_TRACE_SEC, _NTO_TRACE_QVM, 20 /* PMU, of 8.0 */,
	};
	static const unsigned calls[] = {
		_NTO_TRACE_KERCALLENTER, _NTO_TRACE_KERCALLEXIT, _NTO_TRACE_KERCALLINT,
	};
	struct traceparser_state *s = p->state;

	(void)traceparser_debug(s, p->out, verbose ? _TRACEPARSER_DEBUG_ALL :
				_TRACEPARSER_DEBUG_HEADER);
	(void)traceparser_cs(s, p, on_header, _NTO_TRACE_EMPTY, _NTO_TRACE_EMPTYEVENT);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(classes); i++)
		(void)traceparser_cs_range(s, p, on_event, classes[i], 0, _NTO_TRACE_MAX_CODES);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(calls); i++)
		for (unsigned is64 = 0; is64 <= 0x200; is64 += 0x200)
			(void)traceparser_cs_range(s, p, on_event, calls[i], is64, is64 + 127);
	(void)traceparser_cs_range(s, p, on_event, _NTO_TRACE_INT, 0, 0xffffffff);
	(void)traceparser_cs_range(s, p, on_event, _NTO_TRACE_PROCESS, 1, 1u << 4);
	(void)traceparser_cs_range(s, p, on_event, _NTO_TRACE_THREAD, 1, 1u << 25);
	(void)traceparser_cs_range(s, p, on_event, _NTO_TRACE_VTHREAD, 1, 1u << 25);
	(void)fprintf(p->out, "TRACEPRINTER version %s\n", VERSION);
	if (traceparser(s, p, input))
		return complain(traceparser_get_info(s, _TRACEPARSER_INFO_ERROR_STR, NULL));
	return 0;
}

static const char help[] =
	"traceprinter - a QNX trace file as text\n\n"
	"usage: traceprinter [-f FILE] [-o FILE] [-n] [-p FORMAT] [-v]\n\n"
	"  -f FILE     read this trace (default: " INPUT "); '-': standard input\n"
	"  -o FILE     print to this file (default: standard output)\n"
	"  -n          print all arguments of an event on one line\n"
	"  -p FORMAT   start of each line: %c cycles, %C CPU, %e index of the event,\n"
	"              %t time, %Z class, %z event, %%; with width and precision; a negative\n"
	"              precision drops leading characters\n"
	"  -v          also print all messages of the parser\n"
	"  -h          print this help\n";

/* Not 0: some of the text is lost, which is said. */
static int finish(FILE *out)
{
	errno = 0;
	if (!fflush(out) && !ferror(out))
		return 0;
	(void)fprintf(stderr, "traceprinter: cannot write all of it: %s\n",
		      errno ? strerror(errno) : "the disk may be full");
	return 1;
}

int main(int argc, char **argv)
{
	const char *input = INPUT, *output = NULL;
	struct printer p = { .out = stdout };
	bool verbose = false;
	int c, ret;

	opterr = 0;
	while ((c = getopt(argc, argv, ":f:o:np:vh")) != -1) {
		switch (c) {
		case 'f':
			input = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'n':
			p.one_line = true;
			break;
		case 'p':
			p.prefix = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		case 'h':
			(void)fputs(help, stdout);
			return finish(stdout);
		default:
			(void)fprintf(stderr, c == ':' ?
				      "traceprinter: '-%c' needs an argument; see 'traceprinter -h'\n" :
				      "traceprinter: there is no option '-%c'; see 'traceprinter -h'\n",
				      optopt);
			return 2;
		}
	}
	if (optind < argc)
		return complain("too many arguments; see 'traceprinter -h'") + 1;
	if (p.prefix && !is_format(&p, p.prefix))
		return complain("the format of '-p' has a conversion that is not one of "
				"c C e t Z z %") + 1;
	p.out = output ? fopen(output, "we") : stdout;
	if (!p.out) {
		(void)fprintf(stderr, "traceprinter: cannot write '%s': %s\n", output,
			      strerror(errno));
		return 1;
	}
	p.state = traceparser_init(NULL);
	ret = p.state ? print(&p, input, verbose) : complain("out of memory");
	traceparser_destroy(&p.state);
	return finish(p.out) ? 1 : ret;
}
