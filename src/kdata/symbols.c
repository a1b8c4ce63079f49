/* SPDX-License-Identifier: MIT */
#include "kdata/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"

#define TEXT_MAX	((size_t)1 << 30)
/* against hostile files; a full kernel has some 300,000 */
#define SYMBOLS_MAX	((size_t)1 << 20)

/* One line: its parts point into the text. */
struct line {
	uint64_t addr;
	char type;
	const char *name, *name_end;
	const char *module, *module_end;	/* NULL: none */
};

static bool parse_line(const char *at, const char *end, struct line *l)
{
	const char *begin = at;

	if (tacho_scan_digits(&at, end, 16, UINT64_MAX, &l->addr) || at - begin > 16 ||
	    end - at < 4 || *at != ' ' || at[2] != ' ')
		return false;
	l->type = at[1];
	l->name = at + 3;
	for (at = l->name; at < end && *at != '\t' && *at != ' '; at++)
		;
	l->name_end = at;
	l->module = NULL;
	if (at < end) {
		at = memchr(at, '[', (size_t)(end - at));
		if (at && end[-1] == ']' && at + 1 < end - 1) {
			l->module = at + 1;
			l->module_end = end - 1;
		}
	}
	return l->name_end > l->name;
}

void tacho_symbols_init(struct tacho_symbols *s)
{
	*s = (struct tacho_symbols){ 0 };
	tacho_buf_init(&s->text, 0);
}

void tacho_symbols_release(struct tacho_symbols *s)
{
	free(s->list);
	tacho_buf_release(&s->text);
	tacho_symbols_init(s);
}

/* ---- a table ---- */

static int by_address(const void *a, const void *b)
{
	const struct tacho_ksymbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* kallsyms is sorted but for the modules. */
static void sort(struct tacho_symbols *s)
{
	for (size_t i = 1; i < s->nr; i++)
		if (s->list[i - 1].addr > s->list[i].addr) {
			qsort(s->list, s->nr, sizeof(*s->list), by_address);
			return;
		}
}

/* The bounds of the kernel's own code and data; a module's symbols are called so, too. */
static void note_bound(struct tacho_symbols *s, const struct line *l)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} bounds[] = {
		{ "_stext", &s->text_begin }, { "_etext", &s->text_end },
		{ "_sinittext", &s->init_begin }, { "_einittext", &s->init_end },
		{ "_end", &s->end },
	};

	if (*l->name != '_' || l->module)
		return;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bounds); i++)
		if (!strcmp(l->name, bounds[i].name))
			*bounds[i].addr = l->addr;
}

/* One line, whose name and module are terminated in place, so that lookups point into the text. */
static void take_line(struct tacho_symbols *s, char *line, char *end)
{
	char *text = s->text.data;
	struct line l;

	if (!parse_line(line, end, &l) || !l.addr)
		return;
	text[l.name_end - text] = '\0';
	if (l.module)
		text[l.module_end - text] = '\0';
	note_bound(s, &l);
	s->list[s->nr++] = (struct tacho_ksymbol){ l.addr, (uint32_t)(l.name - text) };
}

int tacho_symbols_take(struct tacho_symbols *s, struct tacho_buf *text)
{
	size_t lines = 0;
	char *end, *nl;

	tacho_symbols_release(s);
	tacho_buf_putc(text, '\n');	/* every line has an end to write to */
	if (tacho_buf_error(text))
		return tacho_buf_error(text);
	s->text = *text;
	tacho_buf_init(text, s->text.cap);
	end = s->text.data + s->text.len;
	for (const char *c = s->text.data; c < end && lines < SYMBOLS_MAX; c++)
		lines += *c == '\n';
	s->list = malloc(lines * sizeof(*s->list));
	if (!s->list)
		return -ENOMEM;
	for (char *at = s->text.data; at < end && s->nr < lines; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		take_line(s, at, nl);
	}
	sort(s);
	return 0;
}

/* ---- looking up ---- */

/* How many symbols begin at or before addr. */
static size_t symbols_to(const struct tacho_symbols *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->list[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Whether the kernel itself says what is there; a table that does not tell: it may. */
static bool is_named(const struct tacho_symbols *s, uint64_t addr)
{
	if (!s->text_begin || !s->text_end)
		return true;
	if (addr >= s->text_begin && addr < (s->end ? s->end : s->text_end))
		return true;
	return addr >= s->init_begin && addr < s->init_end;
}

/* After a name is its module, or the next line: an address. */
const char *tacho_symbols_module(const struct tacho_symbols *s, const char *name)
{
	const char *p = name + strlen(name) + 1;

	if (p >= s->text.data + s->text.len || *p != '[')
		return NULL;
	return p + 1;
}

const char *tacho_symbols_at(const struct tacho_symbols *s, uint64_t addr, uint64_t *start)
{
	size_t n = symbols_to(s, addr);
	uint64_t at = n ? s->list[n - 1].addr : 0;
	const char *name;

	if (!at)
		return NULL;
	/* aliases share an address: the first of them is the one to show */
	name = s->text.data + s->list[symbols_to(s, at - 1)].name;
	if (!is_named(s, addr) && !tacho_symbols_module(s, name))
		return NULL;
	if (start)
		*start = at;
	return name;
}

uint64_t tacho_symbols_end(const struct tacho_symbols *s, uint64_t start)
{
	size_t i = symbols_to(s, start);

	return i < s->nr ? s->list[i].addr : start;
}

bool tacho_symbols_find(const struct tacho_symbols *s, const char *name, uint64_t *start)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (strcmp(s->text.data + s->list[i].name, name))
			continue;
		*start = s->list[i].addr;
		return true;
	}
	return false;
}

int tacho_symbols_snapshot(struct tacho_buf *out, struct tacho_diag *d)
{
	const char *at, *nl, *end;
	struct tacho_buf all;
	size_t before = out->len;
	bool hidden = true;
	struct line l;
	int ret;

	tacho_buf_init(&all, TEXT_MAX);
	ret = tacho_buf_read_file(&all, "/proc/kallsyms");
	if (ret < 0) {
		tacho_diag(d, ret, 0, "cannot read '/proc/kallsyms': %s",
			   strerror(-ret));
		goto out;
	}
	for (at = all.data, end = at + all.len; at < end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			break;
		if (!parse_line(at, nl, &l) || !strchr("tTwW", l.type))
			continue;
		if (l.addr)
			hidden = false;
		tacho_buf_put(out, at, (size_t)(nl + 1 - at));
	}
	ret = tacho_buf_error(out);
	if (ret < 0)
		tacho_diag(d, ret, 0, "no memory for kernel symbols");
	else if (hidden)
		ret = tacho_diag(d, -EACCES, 0,
			"the kernel hides its addresses, so its functions will "
			"have no names: %s", geteuid() ? "run as root" :
			"as root, run 'sysctl kernel.kptr_restrict=1'");
	if (ret < 0)
		out->len = before;
out:
	tacho_buf_release(&all);
	return ret;
}
