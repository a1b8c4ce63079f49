// SPDX-License-Identifier: MIT
/*
 * libtraceparser: the library that programs for QNX read trace files with
 * (<sys/traceparser.h>), on the reader of fmt/kev.
 *
 * What a callback is registered for are external classes and events; the table here is by
 * code (class and event of the header word).  Two things are better than they were: a part
 * of a combine event belongs to the one that has its time, class, event and CPU, and not its
 * time alone; and a header may be of any length.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define _QNX_RELEASE	800	/* all that there is */
#pragma GCC visibility push(default)
#include <qnx/sys/traceparser.h>
#include "compat/qnx/parser.h"
#pragma GCC visibility pop

#include "base/buf.h"
#include "fmt/kev/file.h"
#include "fmt/kev/kev.h"

#define CHUNK		65536u
#define SYSPAGE_MAX	((uint64_t)64 << 20)
#define KEY_COLUMN	22	/* TRACE_KEY ends here in what debugging prints */
#define VERSION		"1.02"
#define EMPTY_CLASS	0u

struct callback {
	tracep_callb_func_t fn;
	void *user;
};

struct traceparser_state {
	struct callback *by_code;	/* TACHO_KEV_CODES of them */
	struct callback empty;		/* EMPTY/EMPTYEVENT: once, after the header */
	FILE *debug;
	unsigned flags;

	/* of the last traceparser() */
	struct tacho_kev_file file;
	bool open;
	void *input;			/* what came by a pipe, mapped */
	size_t input_len;
	void *syspage;
	char *text;			/* the value that was asked for last */

	/* what traceparser_get_info() points to */
	unsigned endian_conv, now_class, now_event, prev_class, prev_event, error, event_id;
	int prev_return;
	uint64_t clk_msb, clk_first, clk, clk_delta;
	char time_delta[40];
	char error_str[240];
	bool has_first;
};

/* ---- errors ---- */

__attribute__((format(printf, 3, 4)))
static int fail(struct traceparser_state *s, unsigned code, const char *fmt, ...)
{
	va_list ap;

	s->error = code;
	va_start(ap, fmt);
	(void)vsnprintf(s->error_str, sizeof(s->error_str), fmt, ap);
	va_end(ap);
	if (s->debug && s->flags & _TRACEPARSER_DEBUG_ERRORS)
		(void)fprintf(s->debug, "%s\n", s->error_str);
	errno = EINVAL;
	return -1;
}

/* ---- life ---- */

static void let_go(struct traceparser_state *s)
{
	if (s->open)
		tacho_kev_file_close(&s->file);
	s->open = false;
	if (s->input)
		(void)munmap(s->input, s->input_len);
	s->input = NULL;
	free(s->syspage);
	s->syspage = NULL;
	free(s->text);
	s->text = NULL;
}

struct traceparser_state *traceparser_init(struct traceparser_state *s)
{
	struct callback *table;

	if (s) {
		let_go(s);
		table = s->by_code;
		memset(s, 0, sizeof(*s));
		memset(table, 0, TACHO_KEV_CODES * sizeof(*table));
		s->by_code = table;
		return s;
	}
	s = calloc(1, sizeof(*s));
	table = calloc(TACHO_KEV_CODES, sizeof(*table));
	if (!s || !table) {
		free(s);
		free(table);
		errno = ENOMEM;
		return NULL;
	}
	s->by_code = table;
	return s;
}

void traceparser_destroy(struct traceparser_state **state)
{
	if (!state || !*state)
		return;
	let_go(*state);
	free((*state)->by_code);
	free(*state);
	*state = NULL;
}

int traceparser_debug(struct traceparser_state *s, FILE *f, unsigned flags)
{
	if (!s || !f) {
		errno = EINVAL;
		return -1;
	}
	s->debug = f;
	s->flags = flags;
	return 0;
}

/* ---- registering ---- */

static void set(struct traceparser_state *s, uint32_t class_, uint32_t event,
		const struct callback *cb)
{
	/* a bit that is not one of the class's is no event of it */
	if (event <= _NTO_TRACE_MAX_CODES)
		s->by_code[TACHO_KEV_MAKE(class_, event)] = *cb;
}

/* Events first to last of an external class that are those of the header word. */
static void set_range(struct traceparser_state *s, uint32_t class_, uint32_t first,
		      uint32_t last, const struct callback *cb)
{
	for (uint32_t e = first; e <= last && e <= _NTO_TRACE_MAX_CODES; e++)
		set(s, class_, e, cb);
}

/* A kernel call's events; is64 is part of the external number. */
static void set_calls(struct traceparser_state *s, uint32_t first, uint32_t last, uint32_t what,
		      const struct callback *cb)
{
	uint32_t is64 = first & TACHO_KEV_64;

	first &= ~TACHO_KEV_64;
	last &= ~TACHO_KEV_64;
	for (uint32_t e = first; e <= last && e < TACHO_KEV_CALL_EXIT; e++)
		set(s, TACHO_KEV_KER_CALL, (e + what) | is64, cb);
}

/* Up to 7.1 processes and threads have a bit each; the lowest one counts. */
static uint32_t bit_of(uint32_t mask)
{
	return mask ? (uint32_t)__builtin_ctz(mask) : 31;
}

static void set_bits(struct traceparser_state *s, uint32_t first, uint32_t last,
		     uint32_t (*event_of)(uint32_t bit), const struct callback *cb)
{
	for (uint32_t b = bit_of(first); b <= bit_of(last); b++)
		set(s, TACHO_KEV_PR_TH, event_of(b), cb);
}

static uint32_t process_event(uint32_t bit)
{
	return (bit + 1) * TACHO_KEV_PROCESS;
}

static uint32_t thread_event(uint32_t bit)
{
	return bit;
}

static uint32_t vthread_event(uint32_t bit)
{
	return bit + TACHO_KEV_VTHREAD;
}

/* Classes whose events are those of the header word; EMPTY: none of them. */
static uint32_t plain_class(unsigned cls)
{
	static const uint8_t of[_NTO_TRACE_NUM_CLASSES] = {
		[_NTO_TRACE_CONTROL] = TACHO_KEV_CONTROL, [_NTO_TRACE_USER] = TACHO_KEV_USER,
		[_NTO_TRACE_SYSTEM] = TACHO_KEV_SYSTEM, [_NTO_TRACE_COMM] = TACHO_KEV_COMM,
		[_NTO_TRACE_QUIP] = TACHO_KEV_QUIP, [_NTO_TRACE_SEC] = TACHO_KEV_SEC,
		[_NTO_TRACE_QVM] = TACHO_KEV_QVM, [_NTO_TRACE_PMU] = TACHO_KEV_PMU,
	};

	return cls < _NTO_TRACE_NUM_CLASSES ? of[cls] : TACHO_KEV_EMPTY;
}

/* Interrupts: by kind alone, the number is an argument. */
static bool set_interrupts(struct traceparser_state *s, unsigned cls, const struct callback *cb)
{
	switch (cls) {
	case _NTO_TRACE_INT:
		set_range(s, TACHO_KEV_INT, 1, 7, cb);
		return true;
	case _NTO_TRACE_INTENTER:
		set(s, TACHO_KEV_INT, 1, cb);
		set(s, TACHO_KEV_INT, 5, cb);
		return true;
	case _NTO_TRACE_INTEXIT:
		set(s, TACHO_KEV_INT, 2, cb);
		return true;
	case _NTO_TRACE_INT_HANDLER_ENTER:
		set(s, TACHO_KEV_INT, 3, cb);
		set(s, TACHO_KEV_INT, 6, cb);
		return true;
	case _NTO_TRACE_INT_HANDLER_EXIT:
		set(s, TACHO_KEV_INT, 4, cb);
		return true;
	default:
		return false;
	}
}

/* plain: events of threads are numbers, as from 8.0 on. */
static int add(struct traceparser_state *s, void *user, tracep_callb_func_t fn, unsigned cls,
	       unsigned first, unsigned last, bool plain)
{
	const struct callback cb = { fn, user };

	if (!s) {
		errno = EINVAL;
		return -1;
	}
	switch (cls) {
	case _NTO_TRACE_EMPTY:
		s->empty = cb;
		return 0;
	case _NTO_TRACE_KERCALL:
		set_calls(s, first, last, 0, &cb);
		set_calls(s, first, last, TACHO_KEV_CALL_EXIT, &cb);
		return 0;
	case _NTO_TRACE_KERCALLENTER:
		set_calls(s, first, last, 0, &cb);
		return 0;
	case _NTO_TRACE_KERCALLEXIT:
		set_calls(s, first, last, TACHO_KEV_CALL_EXIT, &cb);
		return 0;
	case _NTO_TRACE_KERCALLINT:
		set_calls(s, first, last, TACHO_KEV_CALL_INT, &cb);
		return 0;
	case _NTO_TRACE_PROCESS:
		set_bits(s, first, last, process_event, &cb);
		return 0;
	case _NTO_TRACE_THREAD:
		if (plain)
			set_range(s, TACHO_KEV_PR_TH, first, last < 64 ? last : 63, &cb);
		else
			set_bits(s, first, last, thread_event, &cb);
		return 0;
	case _NTO_TRACE_VTHREAD:
		set_bits(s, first, last, vthread_event, &cb);
		return 0;
	default:
		break;
	}
	if (set_interrupts(s, cls, &cb))
		return 0;
	if (plain_class(cls) == TACHO_KEV_EMPTY)
		return fail(s, _TRACEPARSER_UNKNOWN_CLASS, "there is no class %u", cls);
	set_range(s, plain_class(cls), first, last, &cb);
	return 0;
}

static int add_one(struct traceparser_state *s, void *user, tracep_callb_func_t fn, unsigned cls,
		   unsigned event, bool plain)
{
	if (s && (cls == _NTO_TRACE_INT || cls == _NTO_TRACE_INTENTER ||
		  cls == _NTO_TRACE_INTEXIT || cls == _NTO_TRACE_INT_HANDLER_ENTER ||
		  cls == _NTO_TRACE_INT_HANDLER_EXIT))
		return fail(s, _TRACEPARSER_UNKNOWN_INT_EVENT, "interrupts are registered by "
			    "range: traceparser_cs_range()");
	return add(s, user, fn, cls, event, event, plain);
}

int tacho_traceparser_cs_bits(struct traceparser_state *s, void *user, tracep_callb_func_t fn,
			      unsigned cls, unsigned event)
{
	return add_one(s, user, fn, cls, event, false);
}

int tacho_traceparser_cs_range_bits(struct traceparser_state *s, void *user,
				    tracep_callb_func_t fn, unsigned cls, unsigned first,
				    unsigned last)
{
	return add(s, user, fn, cls, first, last, false);
}

int traceparser_cs(struct traceparser_state *s, void *user, tracep_callb_func_t fn, unsigned cls,
		   unsigned event)
{
	return add_one(s, user, fn, cls, event, true);
}

int traceparser_cs_range(struct traceparser_state *s, void *user, tracep_callb_func_t fn,
			 unsigned cls, unsigned first, unsigned last)
{
	return add(s, user, fn, cls, first, last, true);
}

/* ---- the header ---- */

/* What the old library refused, too. */
static int check_header(struct traceparser_state *s)
{
	uint64_t major, minor = 0;
	uint32_t len;
	bool little = tacho_kev_attr(&s->file, "LITTLE_ENDIAN", &len) != NULL;
	bool big = tacho_kev_attr(&s->file, "BIG_ENDIAN", &len) != NULL;

	if (s->file.bare)
		return 0;
	if (little == big || tacho_kev_attr(&s->file, "MIDDLE_ENDIAN", &len))
		return fail(s, _TRACEPARSER_WRONG_ENDIAN_TYPE, "%s: the header does not say one "
			    "byte order", s->file.path);
	if (!tacho_kev_attr_number(&s->file, "VER_MAJOR", &major))
		return fail(s, _TRACEPARSER_MISSING_FIELD, "%s: the header has no version",
			    s->file.path);
	(void)tacho_kev_attr_number(&s->file, "VER_MINOR", &minor);
	if (!major || (major == 1 && !minor))
		return fail(s, _TRACEPARSER_WRONG_FILE_VERSION, "%s: version %llu.%02llu is older "
			    "than 1.01", s->file.path, (unsigned long long)major,
			    (unsigned long long)minor);
	return 0;
}

static int read_syspage(struct traceparser_state *s)
{
	uint64_t len = s->file.syspage_len;

	if (!len)
		return 0;
	if (len > SYSPAGE_MAX)
		return fail(s, _TRACEPARSER_CANNOT_READ_IN_FILE, "%s: a system page of %llu bytes",
			    s->file.path, (unsigned long long)len);
	s->syspage = malloc(len);
	if (!s->syspage)
		return fail(s, _TRACEPARSER_NO_MORE_MEMORY, "no memory for the system page");
	if (tacho_kev_file_read(&s->file, s->file.syspage, s->syspage, len) != (long)len)
		return fail(s, _TRACEPARSER_CANNOT_READ_IN_FILE, "%s: the system page is cut off at "
			    "offset %llu", s->file.path, (unsigned long long)s->file.size);
	return 0;
}

static void print_header(const struct traceparser_state *s)
{
	const struct tacho_kev_file *f = &s->file;

	if (!s->debug || !(s->flags & _TRACEPARSER_DEBUG_HEADER))
		return;
	(void)fprintf(s->debug, "TRACEPARSER LIBRARY version %s\n"
		      " -- HEADER FILE INFORMATION -- \n", VERSION);
	for (uint32_t i = 0; i < f->nr_attrs; i++) {
		const struct tacho_kev_attr *a = &f->attr[i];
		char key[64];

		if (!a->value_len)
			continue;
		(void)snprintf(key, sizeof(key), TACHO_KEV_PREFIX "%.*s", (int)a->key_len,
			       f->head.data + a->key);
		(void)fprintf(s->debug, "%*s:: %.*s\n", KEY_COLUMN, key, (int)a->value_len,
			      f->head.data + a->value);
	}
	if (s->flags == _TRACEPARSER_DEBUG_ALL || s->flags & _TRACEPARSER_DEBUG_SYSPAGE)
		(void)fprintf(s->debug, " -- SYSPAGE INFORMATION -- \n%llu bytes\n",
			      (unsigned long long)f->syspage_len);
	(void)fprintf(s->debug, " -- KERNEL EVENTS -- \n");
}

/* ---- events ---- */

static void print_event(const struct traceparser_state *s, const struct tacho_kev_event *ev)
{
	if (!s->debug || !(s->flags & _TRACEPARSER_DEBUG_EVENTS))
		return;
	(void)fprintf(s->debug, "offset %llu header 0x%08x time 0x%08x words %u%s%s\n",
		      (unsigned long long)ev->offset, ev->header, ev->stamp, ev->words,
		      ev->problem ? ": " : "", ev->problem ? ev->problem : "");
}

static void note_time(struct traceparser_state *s, const struct tacho_kev_event *ev)
{
	__extension__ typedef __int128 wide;
	uint64_t freq = s->file.freq ? s->file.freq : 1;

	if (!s->has_first) {
		s->clk_first = ev->time;
		s->clk = ev->time;
		s->has_first = true;
	}
	s->clk_delta = ev->time - s->clk;
	s->clk = ev->time;
	s->clk_msb = ev->time >> 32;
	(void)snprintf(s->time_delta, sizeof(s->time_delta), "%llu",
		       (unsigned long long)((wide)(int64_t)s->clk_delta * 1000000000 / freq));
}

static void call(struct traceparser_state *s, const struct callback *cb, void *user,
		 const struct tacho_kev_event *ev)
{
	uint32_t words[TACHO_KEV_WORDS_MAX];
	uint32_t code = TACHO_KEV_CODE(ev->header);

	memcpy(words, ev->data, (size_t)ev->words * 4);
	s->now_class = TACHO_KEV_CLASS(code);
	s->now_event = TACHO_KEV_EVENT(code);
	s->prev_return = cb->fn(s, cb->user ? cb->user : user, ev->header, ev->stamp, words,
				ev->words);
	s->prev_class = s->now_class;
	s->prev_event = s->now_event;
}

static void handle(struct traceparser_state *s, void *user, const struct tacho_kev_event *ev)
{
	const struct callback *cb = &s->by_code[TACHO_KEV_CODE(ev->header)];

	print_event(s, ev);
	s->event_id++;
	note_time(s, ev);
	/* what is not whole was never handed out */
	if (ev->kind == TACHO_KEV_WHOLE && cb->fn)
		call(s, cb, user, ev);
}

/* The first TIME of each CPU says what came before it. */
static void seed(struct traceparser_state *s, struct tacho_kev_parser *p)
{
	unsigned char slots[CHUNK];
	bool seen[TACHO_KEV_CPUS] = { 0 };
	uint64_t at = s->file.slots;
	long n;

	while (at < s->file.slots + 16 * CHUNK &&
	       (n = tacho_kev_file_read(&s->file, at, slots, sizeof(slots))) >= TACHO_KEV_SLOT) {
		for (long i = 0; i + TACHO_KEV_SLOT <= n; i += TACHO_KEV_SLOT) {
			uint32_t w[4];

			memcpy(w, slots + i, sizeof(w));
			for (int k = 0; s->file.swap && k < 4; k++)
				w[k] = __builtin_bswap32(w[k]);
			if (TACHO_KEV_CODE(w[0]) != TACHO_KEV_TIME || seen[TACHO_KEV_CPU(w[0])])
				continue;
			seen[TACHO_KEV_CPU(w[0])] = true;
			tacho_kev_parser_seed(p, TACHO_KEV_CPU(w[0]), w[2], w[3]);
		}
		at += (uint64_t)n / TACHO_KEV_SLOT * TACHO_KEV_SLOT;
	}
}

static int read_events(struct traceparser_state *s, void *user, struct tacho_kev_parser *p)
{
	unsigned char slots[CHUNK];
	struct tacho_kev_event ev;
	uint64_t at = s->file.slots;
	long n;

	while ((n = tacho_kev_file_read(&s->file, at, slots, sizeof(slots))) >= TACHO_KEV_SLOT) {
		n -= n % TACHO_KEV_SLOT;
		for (long i = 0; i < n; i += TACHO_KEV_SLOT)
			if (tacho_kev_parse(p, slots + i, at + (uint64_t)i, &ev))
				handle(s, user, &ev);
		at += (uint64_t)n;
	}
	if (p->no_memory)
		return fail(s, _TRACEPARSER_NO_MORE_MEMORY, "out of memory");
	while (tacho_kev_parse_end(p, &ev))
		handle(s, user, &ev);
	if (n < 0)
		return fail(s, _TRACEPARSER_CANNOT_READ_IN_FILE, "cannot read '%s' at offset %llu: "
			    "%s", s->file.path, (unsigned long long)at, strerror((int)-n));
	return 0;
}

/* What is wrong with the header, and was read in spite of it. */
static void print_problems(const struct traceparser_state *s)
{
	const struct tacho_kev_file *f = &s->file;

	for (uint32_t i = 0; s->debug && s->flags & _TRACEPARSER_DEBUG_ERRORS &&
			     i < f->nr_problems; i++)
		(void)fprintf(s->debug, "%s: %s at offset %llu\n", f->path, f->problem[i].text,
			      (unsigned long long)f->problem[i].offset);
}

static int parse_file(struct traceparser_state *s, void *user)
{
	struct tacho_kev_parser *p;
	int err;

	if (check_header(s) || read_syspage(s))
		return -1;
	s->endian_conv = s->file.swap;
	print_header(s);
	print_problems(s);
	if (s->empty.fn)
		s->prev_return = s->empty.fn(s, s->empty.user ? s->empty.user : user, 0, 0, NULL,
					     0);
	p = tacho_kev_parser_new(s->file.swap);
	if (!p)
		return fail(s, _TRACEPARSER_NO_MORE_MEMORY, "out of memory");
	seed(s, p);
	err = read_events(s, user, p);
	tacho_kev_parser_free(p);
	if (s->debug)
		(void)fflush(s->debug);
	return err;
}

/* All of standard input, in a file without a name; NULL and errno. */
static FILE *keep_stdin(void)
{
	FILE *kept = tmpfile();
	char room[CHUNK];
	ssize_t n = 0;

	while (kept && (n = read(0, room, sizeof(room))) > 0)
		if (fwrite(room, 1, (size_t)n, kept) != (size_t)n)
			break;
	if (!kept || (!n && !fflush(kept)))
		return kept;
	(void)fclose(kept);
	return NULL;
}

/* A file cannot be read twice that comes by a pipe: it is kept, and mapped. */
static int open_pipe(struct traceparser_state *s, struct tacho_diag *d)
{
	FILE *kept = keep_stdin();
	struct stat st = { .st_size = 0 };
	void *p = MAP_FAILED;

	if (kept && !fstat(fileno(kept), &st))
		p = mmap(NULL, (size_t)st.st_size + 1, PROT_READ, MAP_PRIVATE, fileno(kept), 0);
	if (kept)
		(void)fclose(kept);
	if (p == MAP_FAILED)
		return tacho_diag(d, -errno, 0, "cannot keep standard input in a temporary "
				  "file: %s", strerror(errno));
	s->input = p;
	s->input_len = (size_t)st.st_size + 1;
	return tacho_kev_file_open(&s->file, "standard input", p, (size_t)st.st_size, d);
}

static int open_file(struct traceparser_state *s, const char *path, struct tacho_diag *d)
{
	struct stat st;

	s->file = (struct tacho_kev_file){ .fd = -1 };
	if (strcmp(path, "-"))
		return tacho_kev_file_open(&s->file, path, NULL, 0, d);
	if (!fstat(0, &st) && !S_ISREG(st.st_mode))
		return open_pipe(s, d);
	return tacho_kev_file_open(&s->file, "/dev/stdin", NULL, 0, d);
}

int traceparser(struct traceparser_state *s, void *user, const char *path)
{
	struct tacho_diag d = { 0 };
	int err;

	if (!s || !path) {
		errno = EINVAL;
		return s ? fail(s, _TRACEPARSER_CANNOT_READ_IN_FILE, "there is no file name") : -1;
	}
	let_go(s);
	s->error = _TRACEPARSER_UNKNOWN_ERROR;
	s->error_str[0] = '\0';
	s->has_first = false;
	s->event_id = 0;
	err = open_file(s, path, &d);
	s->open = true;
	if (err)
		return fail(s, err == -ENOMEM ? _TRACEPARSER_NO_MORE_MEMORY :
			    _TRACEPARSER_CANNOT_READ_IN_FILE, "%s", d.text);
	return parse_file(s, user);
}

int traceparser_one_event(struct traceparser_state *s, traceevent_t *event)
{
	const struct tacho_kev_event ev = {
		.kind = TACHO_KEV_WHOLE, .header = event ? event->header : 0,
		.stamp = event ? event->data[0] : 0, .time = event ? event->data[0] : 0,
		.data = (const unsigned char *)(event ? &event->data[1] : NULL), .words = 2,
	};

	if (!s || !event) {
		errno = EINVAL;
		return -1;
	}
	handle(s, NULL, &ev);
	return 0;
}

/* Events of this library are in the order of the file, as without sorting. */
void traceparser_sort(struct traceparser_state *s, unsigned sort)
{
	(void)s;
	(void)sort;
}

/* ---- facts ---- */

static const char *const keyword[] = {
	"HEADER_BEGIN", "FILE_NAME", "DATE", "VER_MAJOR", "VER_MINOR", "LITTLE_ENDIAN",
	"BIG_ENDIAN", "MIDDLE_ENDIAN", "ENCODING", "BOOT_DATE", "CYCLES_PER_SEC", "CPU_NUM",
	"SYSNAME", "NODENAME", "SYS_RELEASE", "SYS_VERSION", "MACHINE", "SYSPAGE_LEN",
};

/* A value with a NUL after it, which len does not count. */
static const void *attribute(struct traceparser_state *s, const char *key, unsigned *len)
{
	uint32_t n;
	const char *value = s->open ? tacho_kev_attr(&s->file, key, &n) : NULL;
	char *text;

	if (!value)
		return NULL;
	text = malloc((size_t)n + 1);
	if (!text)
		return NULL;
	memcpy(text, value, n);
	text[n] = '\0';
	free(s->text);
	s->text = text;
	*len = n;
	return text;
}

static const void *fact(struct traceparser_state *s, int mode, unsigned *len)
{
	*len = sizeof(unsigned);
	switch (mode) {
	case _TRACEPARSER_INFO_SYSPAGE:
		*len = s->syspage ? (unsigned)s->file.syspage_len : 0;
		return s->syspage;
	case _TRACEPARSER_INFO_ENDIAN_CONV:
		return &s->endian_conv;
	case _TRACEPARSER_INFO_NOW_CALLBACK_CLASS:
		return &s->now_class;
	case _TRACEPARSER_INFO_NOW_CALLBACK_EVENT:
		return &s->now_event;
	case _TRACEPARSER_INFO_PREV_CALLBACK_CLASS:
		return &s->prev_class;
	case _TRACEPARSER_INFO_PREV_CALLBACK_EVENT:
		return &s->prev_event;
	case _TRACEPARSER_INFO_PREV_CALLBACK_RETURN:
		return &s->prev_return;
	case _TRACEPARSER_INFO_DEBUG:
		return &s->flags;
	case _TRACEPARSER_INFO_ERROR:
		return &s->error;
	case _TRACEPARSER_INFO_EVENT_ID:
		return &s->event_id;
	default:
		break;
	}
	*len = sizeof(uint64_t);
	switch (mode) {
	case _TRACEPARSER_INFO_CLK_MSB:
		return &s->clk_msb;
	case _TRACEPARSER_INFO_CLK_INTIAL:
		return &s->clk_first;
	case _TRACEPARSER_INFO_CLK:
		return &s->clk;
	case _TRACEPARSER_INFO_CLK_DELTA:
		return &s->clk_delta;
	case _TRACEPARSER_INFO_TIME_DELTA:
		*len = (unsigned)strlen(s->time_delta);
		return s->time_delta;
	case _TRACEPARSER_INFO_ERROR_STR:
		*len = (unsigned)strlen(s->error_str);
		return s->error_str;
	default:
		*len = 0;
		return NULL;
	}
}

const void *traceparser_get_info(struct traceparser_state *s, info_modes_t mode, unsigned *len)
{
	int m = (int)mode;
	unsigned none;
	const void *p;

	if (!len)
		len = &none;
	*len = 0;
	if (!s) {
		errno = EINVAL;
		return NULL;
	}
	if (m < 0)
		return fact(s, m, len);
	p = (size_t)m < TACHO_ARRAY_SIZE(keyword) ? attribute(s, keyword[m], len) : NULL;
	if (!p)
		(void)fail(s, _TRACEPARSER_MISSING_FIELD, "the header has no such attribute");
	return p;
}
