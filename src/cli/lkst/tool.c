// SPDX-License-Identifier: MIT
/* What LKST's commands share. */
#include "cli/lkst/tool.h"

#include "base/scan.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "fmt/lkst/kmap.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tool_name = "lkst";

__attribute__((format(printf, 1, 0)))
static void say(const char *fmt, va_list ap)
{
	(void)fflush(stdout);
	(void)fprintf(stderr, "%s: ", tool_name);
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
}

int tool_fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return status;
}

/* For cli/out.c, in the name of this tool. */
int cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return CLI_FAILED;
}

/* The specification's errnos, in words. */
static const char *words(int err)
{
	switch (-err) {
	case EPERM:
		return "only the superuser, and the owner of the run-time directory, may";
	case ENODEV:
		return "LKST cannot be set up here";
	default:
		return strerror(-err);
	}
}

int tool_failed(int err, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return tool_fail(TOOL_FAILED, "cannot %s: %s", what, words(err));
}

void tool_version(void)
{
	printf("%s (tacho %s), LKST function specification %s\n", tool_name, TACHO_VERSION,
	       LKST_VERSION);
}

/* ---- commands ---- */

static void put_help(FILE *f, const struct tool_command *table, const char *about)
{
	(void)fprintf(f, "%s - %s\n\nusage: %s COMMAND [OPTION ...]\n\n", tool_name, about,
		      tool_name);
	for (const struct tool_command *c = table; c->name; c++)
		(void)fprintf(f, "  %s%s%s%s%s\n        %s\n", c->name, c->alias ? ", " : "",
			      c->alias ? c->alias : "", *c->options ? " " : "", c->options,
			      c->help);
	(void)fprintf(f, "  version, ver\n        print the version\n"
		      "  help\n        print this\n");
}

static int run(const struct tool_command *table, const char *about, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (!*word) {
		put_help(stderr, table, about);
		return TOOL_USAGE;
	}
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) {
		put_help(stdout, table, about);
		return TOOL_OK;
	}
	if (!strcmp(word, "version") || !strcmp(word, "ver") || !strcmp(word, "--version")) {
		tool_version();
		return TOOL_OK;
	}
	for (const struct tool_command *c = table; c->name; c++)
		if (!strcmp(word, c->name) || (c->alias && !strcmp(word, c->alias)))
			return c->run(argc - 1, argv + 1);
	return tool_fail(TOOL_USAGE, "there is no command '%s'; '%s help' lists them", word,
			 tool_name);
}

int tool_main(const struct tool_command *table, const char *about, int argc, char **argv)
{
	return cli_out_end(run(table, about, argc, argv));
}

int tool_option(int argc, char **argv, const char *letters)
{
	char with[40];
	int c;

	(void)snprintf(with, sizeof(with), "+:%s", letters);
	opterr = 0;
	c = getopt(argc, argv, with);
	if (c == '?')
		(void)tool_fail(0, "%s has no option '-%c'; see '%s help'", argv[0], optopt,
				tool_name);
	if (c == ':')
		(void)tool_fail(0, "option '-%c' of %s needs an argument", optopt, argv[0]);
	return c == ':' ? '?' : c;
}

int tool_no_more(int argc, char **argv)
{
	if (optind >= argc)
		return TOOL_OK;
	return tool_fail(TOOL_USAGE, "%s: unexpected argument '%s'; see '%s help'", argv[0], argv[optind],
			 tool_name);
}

/* ---- arguments ---- */

int tool_number(const char *text, const char *what, uint64_t max, uint64_t *value)
{
	if (!tacho_scan_whole(text, strlen(text), TACHO_SCAN_PLUS, value))
		return tool_fail(TOOL_USAGE, "'%s' is no %s: a number from 0 to %llu is meant",
				 text, what, (unsigned long long)max);
	if (*value > max)
		return tool_fail(TOOL_USAGE, "%s %s is too large: %llu is the largest", what,
				 text, (unsigned long long)max);
	return TOOL_OK;
}

int tool_size(const char *text, const char *what, uint64_t *bytes)
{
	const char *at = text;
	unsigned int shift = 0;
	int err = tacho_scan_number(&at, NULL, UINT64_MAX, bytes);

	if (*at == 'K' || *at == 'k')
		shift = 10;
	else if (*at == 'M' || *at == 'm')
		shift = 20;
	if (err || (shift ? at[1] : *at) || *bytes > UINT64_MAX >> shift)
		return tool_fail(TOOL_USAGE, "'%s' is no %s: bytes are meant, or 64K, or 2M",
				 text, what);
	*bytes <<= shift;
	return TOOL_OK;
}

int tool_open(struct tacho_lkst *l)
{
	struct tacho_diag d = { 0 };
	int err = tacho_lkst_open(l, NULL, &d);

	return err ? tool_fail(TOOL_FAILED, "%s", d.err ? d.text : words(err)) : TOOL_OK;
}

/* ---- event types ---- */

void tool_types_embedded(struct lkst_types *types)
{
	for (uint32_t i = 0; i < LKST_TYPES_NR; i++) {
		const struct lkst_etype_text *t = lkst_etype_text(i);

		if (t)
			(void)lkst_types_set(types, &(struct lkst_type_text){
				(uint16_t)i, t->mnemonic, t->name,
				{ t->arg[0], t->arg[1], t->arg[2], t->arg[3] } });
	}
}

int tool_types_file(const char *etype_file, struct lkst_types *types)
{
	struct tacho_diag d = { 0 };
	struct tacho_buf text;
	int err;

	if (!etype_file)
		return TOOL_OK;
	tacho_buf_init(&text, LKST_TYPES_TEXT_MAX);
	err = tacho_buf_read_file(&text, etype_file);
	if (err)
		err = tool_failed(err, "read '%s'", etype_file);
	else if (lkst_types_parse(types, text.data, text.len, true, &d))
		err = tool_fail(TOOL_FAILED, "%s, line %llu: %s", etype_file,
				(unsigned long long)d.offset, d.text);
	tacho_buf_release(&text);
	return err;
}

int tool_types(struct tacho_lkst *l, const char *etype_file, struct lkst_types *types)
{
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, LKST_TYPES_TEXT_MAX);
	err = tacho_lkst_etypes(l, &text);
	if (!err)
		err = lkst_types_parse(types, text.data, text.len, false, NULL);
	tacho_buf_release(&text);
	if (err)
		return tool_failed(err, "list the event types");
	return tool_types_file(etype_file, types);
}
