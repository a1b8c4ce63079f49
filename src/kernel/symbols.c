/* SPDX-License-Identifier: MIT */
#include "kernel/symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX	((size_t)1 << 30)

/* One line: its parts point into the text. */
struct line {
	uint64_t addr;
	char type;
	const char *name, *name_end;
	const char *module, *module_end;	/* NULL: none */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool parse_line(const char *at, const char *end, struct line *l)
{
	const char *begin = at;
	int digit;

	for (l->addr = 0; at < end && (digit = hex_digit(*at)) >= 0; at++)
		l->addr = l->addr << 4 | (uint64_t)digit;
	if (at == begin || at - begin > 16 || end - at < 4 || *at != ' ' ||
	    at[2] != ' ')
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

static int by_address(const void *a, const void *b)
{
	const struct tacho_ksymbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Sorted, one per address.  kallsyms is sorted but for the modules. */
static void tidy(struct tacho_symbols *s)
{
	bool sorted = true;
	size_t i, n = 0;

	for (i = 1; i < s->nr && sorted; i++)
		sorted = s->list[i - 1].addr <= s->list[i].addr;
	if (!sorted)
		qsort(s->list, s->nr, sizeof(*s->list), by_address);
	for (i = 0; i < s->nr; i++)
		if (!n || s->list[n - 1].addr != s->list[i].addr)
			s->list[n++] = s->list[i];
	s->nr = n;
}

int tacho_symbols_parse(struct tacho_symbols *s, const char *text, size_t len,
			struct tacho_diag *d)
{
	const char *at, *nl, *end;
	size_t lines = 1;

	memset(s, 0, sizeof(*s));
	if (len > TEXT_MAX)
		return tacho_diag(d, -EOVERFLOW, 0, "too many kernel symbols");
	s->text = malloc(len + 1);
	for (at = text, end = text + len; at < end; at++)
		lines += *at == '\n';
	s->list = malloc(lines * sizeof(*s->list));
	if (!s->text || !s->list)
		return tacho_diag(d, -ENOMEM, 0, "no memory for kernel symbols");
	if (len)
		memcpy(s->text, text, len);
	s->text[len] = '\0';
	for (at = s->text, end = at + len; at < end; at = nl + 1) {
		struct tacho_ksymbol *sym = &s->list[s->nr];
		struct line l;

		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			nl = end;
		if (!parse_line(at, nl, &l) || !l.addr)
			continue;
		sym->addr = l.addr;
		sym->name = (uint32_t)(l.name - s->text);
		sym->module = 0;
		s->text[l.name_end - s->text] = '\0';
		if (l.module) {
			sym->module = (uint32_t)(l.module - s->text);
			s->text[l.module_end - s->text] = '\0';
		}
		s->nr++;
	}
	tidy(s);
	return 0;
}

void tacho_symbols_release(struct tacho_symbols *s)
{
	free(s->list);
	free(s->text);
	memset(s, 0, sizeof(*s));
}

const struct tacho_ksymbol *tacho_symbols_find(const struct tacho_symbols *s,
					      uint64_t addr)
{
	size_t low = 0, high = s->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->list[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &s->list[low - 1] : NULL;
}

const char *tacho_symbols_lookup(void *arg, uint64_t addr, uint64_t *start)
{
	const struct tacho_symbols *s = arg;
	const struct tacho_ksymbol *sym = tacho_symbols_find(s, addr);

	if (!sym)
		return NULL;
	*start = sym->addr;
	return tacho_symbol_name(s, sym);
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
