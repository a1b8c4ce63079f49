// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/command.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "cli/screen.h"

static const struct cli_verb *const verbs[] = {
	&cli_record, &cli_report, &cli_stat, &cli_hist, &cli_recipe, &cli_sql, &cli_model,
	&cli_index, &cli_explain, &cli_diff,
#ifdef TACHO_VIEW
	&cli_view,
#endif
	&cli_list, &cli_probe, &cli_status,
	&cli_create, &cli_start, &cli_stop, &cli_enable, &cli_disable, &cli_filter_verb,
	&cli_trigger, &cli_synth,
	&cli_snapshot, &cli_destroy, &cli_recover, &cli_convert, &cli_check,
	&cli_mount, &cli_umount,
};

const struct cli_verb *cli_verb;
bool cli_quiet;

static void TACHO_PRINTF(1, 0) say(const char *fmt, va_list ap)
{
	fputs("tacho: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	/* what goes wrong is to be read after the pictures are gone */
	cli_screen_end();
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return CLI_FAILED;
}

int cli_fail_diag(const struct tacho_diag *d)
{
	return cli_fail("%s", d->text[0] ? d->text : strerror(-d->err));
}

int cli_fail_at(const struct tacho_diag *d, const char *command)
{
	(void)cli_fail_diag(d);
	if (command && *command && d->offset != APP_NO_PLACE)
		fprintf(stderr, "  %s\n  %*s^\n", command, (int)d->offset, "");
	return CLI_FAILED;
}

int cli_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fprintf(stderr, "see: tacho %s --help\n", cli_verb ? cli_verb->name : "");
	return CLI_USAGE;
}

void cli_note(const char *fmt, ...)
{
	va_list ap;

	if (cli_quiet)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

static void note_text(void *arg, const char *text)
{
	(void)arg;
	cli_note("%s", text);
}

const struct tacho_observer cli_observer = { .note = note_text };

int cli_write(const struct tacho_buf *b)
{
	const char *p = b->data;
	size_t left = b->len;

	if (tacho_buf_error(b))
		return cli_fail("%s", tacho_buf_error(b) == -ENOMEM ? "out of memory" :
				"the output is too long");
	if (fflush(stdout))
		return cli_fail("cannot write to stdout: %s", strerror(errno));
	while (left) {
		ssize_t n = write(STDOUT_FILENO, p, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EPIPE ? CLI_FAILED
			     : cli_fail("cannot write to stdout: %s",
					strerror(errno));
		p += n;
		left -= (size_t)n;
	}
	return CLI_OK;
}

int cli_write_json(struct tacho_buf *b)
{
	int ret;

	tacho_buf_putc(b, '\n');
	if (tacho_buf_error(b))
		return cli_fail("out of memory");
	ret = cli_write(b);
	tacho_buf_reset(b);
	return ret;
}

/* Whether what was printed is where it was to go. */
static int flushed(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return CLI_OK;
	return cli_fail("cannot write to stdout: %s", strerror(errno));
}

int cli_common(int opt, bool *json)
{
	switch (opt) {
	case 'h':
		fputs(cli_verb->usage, stdout);
		return flushed();
	case 'q':
		cli_quiet = true;
		return -1;
	case CLI_OPT_JSON:
		*json = true;
		return -1;
	default:
		/* getopt has named the option already */
		fprintf(stderr, "see: tacho %s --help\n", cli_verb->name);
		return CLI_USAGE;
	}
}

static void overview(FILE *to)
{
	fputs("usage: tacho VERB [OPTIONS] [ARGUMENTS]\n\n"
	      "tacho records events of programs and of the running kernel.\n\n",
	      to);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(verbs); i++)
		fprintf(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n'tacho VERB --help' prints the options of a verb; manual: tacho(1).\n",
	      to);
}

static int run(int argc, char **argv)
{
	static char help[] = "--help", name[64];

	if (argc < 2) {
		overview(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("tacho " TACHO_VERSION);
		return flushed();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		overview(stdout);
		return flushed();
	}
	if (!strcmp(argv[1], "help")) {
		argv[1] = argv[2];
		argv[2] = help;
	}
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(verbs); i++) {
		if (strcmp(argv[1], verbs[i]->name))
			continue;
		cli_verb = verbs[i];
		/* getopt names itself by it */
		(void)snprintf(name, sizeof(name), "tacho %s", verbs[i]->name);
		argv[1] = name;
		return verbs[i]->run(argc - 1, argv + 1);
	}
	cli_fail("there is no verb '%s'", argv[1]);
	overview(stderr);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	/* a reader that has seen enough is no reason to die without cleaning up */
	(void)signal(SIGPIPE, SIG_IGN);
	return cli_out_end(run(argc, argv));
}
