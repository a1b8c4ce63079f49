// SPDX-License-Identifier: MIT
/* The histograms that the programs of a session, and the kernel, fill by themselves. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/command.h"
#include "app/kernel.h"
#include "app/session.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "engine/hist_print.h"
#include "kernel/syscalls.h"
#include "query/query.h"
#include "resolve/resolve.h"
#include "session/command.h"
#include "session/objects.h"
#include "sys/clock.h"

#define OUT_MAX		((size_t)1 << 30)
#define PAUSE_NS	20000000

struct session_run {
	const struct cli_ask *ask;
	bool has_session, has_kernel;
	struct tacho_dir dir;
	struct tacho_session session;
	struct app_kernel kernel;
	struct tacho_names names;
	struct tacho_resolver *resolver;
	struct tacho_buf out;
	uint32_t found;
	uint32_t fit;		/* of them: quantiles can be made of */
	struct tacho_diag why;	/* none can */
};

/* The name that a thread has now; those that ended have none. */
static bool names_comm(void *arg, int32_t pid, char comm[16])
{
	char path[40];
	ssize_t n;
	int fd;

	(void)arg;
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, comm, 15);
	close(fd);
	if (n <= 0)
		return false;
	comm[n] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return true;
}

static const char *names_syscall(void *arg, uint64_t nr)
{
	(void)arg;
	return tacho_syscall_name(nr);
}

/* What programs have told since the last time. */
static int learn_objects(struct session_run *r)
{
	char path[TACHO_PATH_MAX + 16];
	struct tacho_buf text;
	int err = 0;

	(void)snprintf(path, sizeof(path), "%s/" TACHO_OBJECTS, r->session.path);
	tacho_resolver_clear(r->resolver);
	tacho_buf_init(&text, TACHO_OBJECTS_MAX + 4096);
	if (!tacho_buf_read_file(&text, path))
		err = tacho_resolver_add(r->resolver, text.data, text.len);
	tacho_buf_release(&text);
	return err;
}

static bool names_symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	const struct session_run *r = arg;

	return tacho_query_user_symbol(r->resolver, addr, sym);
}

static int put_one(const struct tacho_command_hist *h, void *arg)
{
	struct session_run *r = arg;

	if (h->command->hidden)
		return 0;
	r->found++;
	r->fit += cli_ask_fits(r->ask, h->hist, &r->why);
	return cli_ask_put(r->ask, h->hist, &r->names, &r->out);
}

/* The kernel's hist file, as it is. */
static int put_kernel(const struct tacho_kernel_event *ev, const char *text, void *arg)
{
	struct session_run *r = arg;
	char event[APP_EVENT_MAX];
	struct tacho_json j;

	r->found++;
	r->fit++;	/* its text is all there is */
	(void)snprintf(event, sizeof(event), "%s:%s", ev->system, ev->name);
	if (r->ask->form != CLI_ASK_JSON) {
		tacho_buf_printf(&r->out, "%s# event: %s\n%s", r->out.len ? "\n" : "",
				 event, text);
		return 0;
	}
	tacho_json_init(&j, &r->out);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "event", event);
	tacho_json_pair_str(&j, "text", text);
	tacho_json_close(&j, '}');
	tacho_buf_putc(&r->out, '\n');
	return 0;
}

static int put_both(struct session_run *r)
{
	struct tacho_diag d = { 0 };

	if (r->has_session &&
	    (learn_objects(r) ||
	     tacho_command_hists(&r->session, r->ask->only, put_one, r)))
		return cli_fail("out of memory");
	if (r->has_kernel &&
	    tacho_kernel_controls(&r->kernel.tracefs, r->kernel.instance,
				  TACHO_KERNEL_HIST, r->ask->only, put_kernel, r, &d))
		return cli_fail_diag(&d);
	return tacho_buf_error(&r->out) ? cli_fail("out of memory") : CLI_OK;
}

/* last: in full, below what was on the terminal before. */
static int print(struct session_run *r, bool last)
{
	int ret;

	r->found = r->fit = 0;
	tacho_buf_init(&r->out, OUT_MAX);
	ret = put_both(r);
	if (ret == CLI_OK && r->found && !r->fit)
		ret = cli_fail_diag(&r->why);
	else if (ret == CLI_OK)
		ret = last ? cli_screen_last(&r->out) : cli_screen_show(&r->out);
	tacho_buf_release(&r->out);
	return ret;
}

static int print_again(struct session_run *r)
{
	uint64_t begin = tacho_now_ns(CLOCK_MONOTONIC), next = begin;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int ret = CLI_OK;

	while (ret == CLI_OK && !cli_ask_interrupted()) {
		uint64_t now = tacho_now_ns(CLOCK_MONOTONIC);

		if (r->ask->duration_ns && now - begin >= r->ask->duration_ns)
			break;
		if (now >= next || cli_screen_resized()) {
			ret = print(r, false);
			next = now + r->ask->watch_ns;
		}
		(void)nanosleep(&pause, NULL);
	}
	return ret;
}

static int watch(struct session_run *r)
{
	int ret;

	/* what is wrong is said where it stays */
	(void)cli_ask_interrupted();
	cli_screen_begin();
	ret = print_again(r);
	cli_screen_end();
	return ret;
}

/* What there is by that name: a session, an instance, or both. */
static int open_both(struct session_run *r)
{
	const char *name = r->ask->session;
	struct tacho_diag d = { 0 };

	if (r->ask->trace) {
		r->has_kernel = !app_kernel_open(&r->kernel, name, &d);
		return r->has_kernel ? CLI_OK : cli_fail_diag(&d);
	}
	r->has_kernel = !app_kernel_open(&r->kernel, name, NULL);
	r->has_session = !app_session_open(&r->dir, &r->session, name, &d);
	return r->has_session || r->has_kernel ? CLI_OK : cli_fail_diag(&d);
}

int cli_ask_session(const struct cli_ask *a)
{
	struct session_run r = {
		.ask = a,
		.names = { .comm = names_comm, .syscall = names_syscall,
			   .symbol = names_symbol },
		.resolver = tacho_resolver_new(NULL),
	};
	int ret = open_both(&r);

	if (r.resolver && ret == CLI_OK) {
		r.names.arg = &r;
		ret = a->watch_ns ? watch(&r) : CLI_OK;
	} else if (ret == CLI_OK) {
		ret = cli_fail("out of memory");
	}
	if (ret == CLI_OK)
		ret = print(&r, true);
	if (ret == CLI_OK && !r.found)
		cli_note("nothing of session '%s' has counted anything; 'tacho "
			 "trigger -s %s' lists what is set", a->session, a->session);
	if (r.has_session)
		app_session_close(&r.dir, &r.session);
	if (r.has_kernel)
		app_kernel_close(&r.kernel);
	tacho_resolver_free(r.resolver);
	return ret;
}
