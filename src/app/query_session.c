// SPDX-License-Identifier: MIT
#include "app/query_session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/command.h"
#include "app/kernel.h"
#include "app/session.h"
#include "kdata/syscalls.h"
#include "query/query.h"
#include "resolve/resolve.h"
#include "session/objects.h"

struct app_session_query {
	bool has_session, has_kernel;
	struct tacho_dir dir;
	struct tacho_session session;
	struct app_kernel kernel;
	struct tacho_names names;
	struct tacho_resolver *resolver;
};

/* ---- names ---- */

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

static bool names_symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	const struct app_session_query *q = arg;

	return tacho_query_user_symbol(q->resolver, addr, sym);
}

/* What programs have mapped by now. */
static int load_objects(struct app_session_query *q)
{
	char path[TACHO_PATH_MAX + 16];
	struct tacho_buf text;
	int err = 0;

	(void)snprintf(path, sizeof(path), "%s/" TACHO_OBJECTS, q->session.path);
	tacho_resolver_clear(q->resolver);
	tacho_buf_init(&text, TACHO_OBJECTS_MAX + 4096);
	if (!tacho_buf_read_file(&text, path))
		err = tacho_resolver_add(q->resolver, text.data, text.len);
	tacho_buf_release(&text);
	return err;
}

/* ---- open and close ---- */

static int open_both(struct app_session_query *q, const char *name, bool kernel_only,
		     struct tacho_diag *d)
{
	int err;

	err = app_kernel_open(&q->kernel, name, kernel_only ? d : NULL);
	q->has_kernel = !err;
	if (kernel_only)
		return err;
	err = app_session_open(&q->dir, &q->session, name, q->has_kernel ? NULL : d);
	q->has_session = !err;
	return q->has_kernel ? 0 : err;
}

int app_session_query_open(struct app_session_query **query, const char *name,
			   bool kernel_only, struct tacho_diag *d)
{
	struct app_session_query *q = calloc(1, sizeof(*q));
	int err;

	*query = NULL;
	if (!q)
		return tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
	q->names = (struct tacho_names){
		.comm = names_comm, .syscall = names_syscall, .symbol = names_symbol, .arg = q,
	};
	err = open_both(q, name, kernel_only, d);
	if (!err) {
		q->resolver = tacho_resolver_new(NULL);
		err = q->resolver ? 0 : tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
	}
	if (err)
		app_session_query_close(q);
	else
		*query = q;
	return err;
}

void app_session_query_close(struct app_session_query *q)
{
	if (!q)
		return;
	if (q->has_session)
		app_session_close(&q->dir, &q->session);
	if (q->has_kernel)
		app_kernel_close(&q->kernel);
	tacho_resolver_free(q->resolver);
	free(q);
}

/* ---- each ---- */

struct visit {
	struct app_session_query *query;
	const struct app_session_visitor *visitor;
	int ret;		/* the visitor's, once it is not 0 */
};

static int visit_hist(const struct tacho_command_hist *h, void *arg)
{
	struct visit *v = arg;

	if (!h->command->hidden)
		v->ret = v->visitor->hist(h->hist, &v->query->names, v->visitor->arg);
	return v->ret;
}

static int visit_kernel(const struct tacho_kernel_event *ev, const char *text, void *arg)
{
	struct visit *v = arg;
	char event[APP_EVENT_MAX];

	(void)snprintf(event, sizeof(event), "%s:%s", ev->system, ev->name);
	v->ret = v->visitor->kernel(event, text, v->visitor->arg);
	return v->ret;
}

int app_session_query_each(struct app_session_query *q, const char *event,
			   const struct app_session_visitor *visitor, struct tacho_diag *d)
{
	struct visit v = { .query = q, .visitor = visitor };
	int err = 0;

	if (q->has_session && visitor->hist) {
		err = load_objects(q);
		if (!err)
			err = tacho_command_hists(&q->session, event, visit_hist, &v);
		if (err && !v.ret)
			return tacho_diag(d, err, APP_NO_PLACE, "cannot read the histograms of "
					  "session '%s': %s", q->session.name, strerror(-err));
	}
	if (!err && q->has_kernel && visitor->kernel)
		err = tacho_kernel_controls(&q->kernel.tracefs, q->kernel.instance,
					    TACHO_KERNEL_HIST, event, visit_kernel, &v, d);
	return v.ret ? v.ret : err;
}

/* ---- as text ---- */

struct putting {
	const struct app_hist_form *form;
	struct tacho_buf *out;
	uint32_t nr, fit;		/* of how many there can be quantiles */
	struct tacho_diag why;		/* the first reason why not */
};

static int put_hist(const struct tacho_hist *h, const struct tacho_names *names, void *arg)
{
	struct putting *p = arg;

	p->nr++;
	p->fit += app_hist_fits(p->form, h, &p->why);
	return app_hist_put(p->form, h, names, p->out);
}

static int put_kernel(const char *event, const char *text, void *arg)
{
	struct putting *p = arg;

	p->nr++;
	p->fit++;		/* its text is all there is */
	return app_hist_put_kernel(p->form, event, text, p->out);
}

int app_session_query_put(struct app_session_query *q, const char *event,
			  const struct app_hist_form *form, struct tacho_buf *out,
			  uint32_t *nr, struct tacho_diag *d)
{
	struct putting p = { .form = form, .out = out };
	const struct app_session_visitor visitor = {
		.hist = put_hist, .kernel = put_kernel, .arg = &p,
	};
	int err = app_session_query_each(q, event, &visitor, d);

	*nr = p.nr;
	if (err || tacho_buf_error(out))
		return tacho_diag(d, err ? err : tacho_buf_error(out), APP_NO_PLACE,
				  "cannot print the histograms: %s",
				  strerror(err ? -err : -tacho_buf_error(out)));
	if (p.nr && !p.fit)
		return tacho_diag(d, p.why.err, APP_NO_PLACE, "%s", p.why.text);
	return 0;
}
