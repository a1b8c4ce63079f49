// SPDX-License-Identifier: MIT
/* tacho view: a trace as a page in the browser. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/trace.h"
#include "view/view.h"

enum {
	OPT_LISTEN = CLI_OPT_FIRST, OPT_CERT, OPT_KEY, OPT_NO_BROWSER,
};

#define PEM_MAX		((size_t)1 << 20)

struct view_args {
	struct model_rules *rules;
	const char *listen, *cert, *key, *trace;
	bool no_browser, json;
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	CLI_TRACE_OPTIONS,
	CLI_MODEL_OPTIONS,
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "cert", required_argument, NULL, OPT_CERT },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "no-browser", no_argument, NULL, OPT_NO_BROWSER },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: tacho view [OPTIONS] [TRACE]\n\n"
	"Shows a trace as a timeline in the browser.  Serves the page on this machine\n"
	"until Ctrl-C; its address has a token, without which nothing is shown.\n"
	"\n"
	"      --no-browser     print the address only\n"
	"      --listen ADDRESS [ADDRESS:]PORT, or unix:PATH (default: a free port of\n"
	"                       127.0.0.1); another machine's needs --cert and --key\n"
	"      --cert FILE      serve by TLS with this certificate (PEM)\n"
	"      --key FILE       and this key (PEM)\n"
	CLI_MODEL_HELP
	CLI_TRACE_HELP
	"  -q, --quiet          print the address only\n"
	"  -h, --help           print this help\n";

/* ---- the browser ---- */

extern char **environ;

/* Opens it where there is a screen to do so. */
static void open_browser(const char *address)
{
	char open[] = "xdg-open";
	char *argv[] = { open, (char *)(uintptr_t)address, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	if (posix_spawn_file_actions_init(&actions))
		return;
	(void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
	(void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
	if (posix_spawnp(&pid, open, &actions, NULL, argv, environ))
		cli_note("xdg-open is not installed: open the address in a browser");
	posix_spawn_file_actions_destroy(&actions);
}

/* ---- serving ---- */

static int wait_for_signal(const sigset_t *set)
{
	int sig;

	return sigwait(set, &sig) ? cli_fail("cannot wait: %s", strerror(errno)) : CLI_OK;
}

static int serve(const struct view_args *a, const struct view_config *config)
{
	struct tacho_diag d = { 0 };
	struct view *v;
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if (view_open(&v, config, &d))
		return cli_fail_diag(&d);
	if (view_start(v, &d)) {
		view_close(v);
		return cli_fail_diag(&d);
	}
	printf("%s\n", view_address(v));
	(void)fflush(stdout);
	if (!view_has_page())
		cli_note("this tacho was built without the page (npm was not there): only "
			 "its interface is served, see docs/view-api.md");
	else if (!a->no_browser)
		open_browser(view_address(v));
	ret = wait_for_signal(&set);
	view_close(v);
	return ret;
}

/* A PEM file as a text.  CLI_OK, or an exit status with a message. */
static int read_pem(struct tacho_buf *b, const char *path, const char **text)
{
	int err;

	if (!path)
		return CLI_OK;
	err = tacho_buf_read_file(b, path);
	if (err)
		return cli_fail("cannot read %s: %s", path, strerror(-err));
	*text = tacho_buf_str(b);
	return tacho_buf_error(b) ? cli_fail("out of memory") : CLI_OK;
}

static int run(const struct view_args *a)
{
	struct view_config config = { .rules = a->rules, .listen = a->listen,
				      .flags = cli_trace_flags() };
	struct tacho_buf cert, key;
	struct app_trace t;
	int ret = cli_trace_find(&t, a->trace);

	if (ret != CLI_OK)
		return ret;
	config.trace = t.path;
	tacho_buf_init(&cert, PEM_MAX);
	tacho_buf_init(&key, PEM_MAX);
	ret = read_pem(&cert, a->cert, &config.cert);
	if (ret == CLI_OK)
		ret = read_pem(&key, a->key, &config.key);
	if (ret == CLI_OK)
		ret = serve(a, &config);
	tacho_buf_release(&cert);
	tacho_buf_release(&key);
	return ret;
}

static int take(struct view_args *a, int opt)
{
	int ret;

	switch (opt) {
	case OPT_LISTEN:
		a->listen = optarg;
		return -1;
	case OPT_CERT:
		a->cert = optarg;
		return -1;
	case OPT_KEY:
		a->key = optarg;
		return -1;
	case OPT_NO_BROWSER:
		a->no_browser = true;
		return -1;
	default:
		ret = cli_model_option(a->rules, opt, optarg);
		if (ret < 0)
			ret = cli_trace_option(opt, optarg);
		return ret == CLI_OK ? -1 : ret < 0 ? cli_common(opt, &a->json) : ret;
	}
}

static int view_main(int argc, char **argv)
{
	struct view_args a = { .listen = NULL };
	struct tacho_diag d = { 0 };
	int opt, ret = -1;

	if (model_rules_new(&a.rules, &d))
		return cli_fail_diag(&d);
	while (ret < 0 && (opt = getopt_long(argc, argv, "hq", options, NULL)) != -1)
		ret = take(&a, opt);
	if (ret < 0 && argc - optind > 1)
		ret = cli_usage("give one trace");
	if (ret < 0 && !a.cert != !a.key)
		ret = cli_usage("--cert and --key go together");
	if (ret < 0) {
		a.trace = argv[optind];
		ret = run(&a);
	}
	model_rules_free(a.rules);
	return ret;
}

const struct cli_verb cli_view = {
	.name = "view",
	.summary = "show a trace as a timeline in the browser",
	.usage = usage,
	.run = view_main,
};
