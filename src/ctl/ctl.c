// SPDX-License-Identifier: MIT
/* Creating, opening and closing handles; their errors. */
#include "ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/session.h"
#include "app/session_kernel.h"
#include "base/atomic.h"
#include "base/sized.h"

/* The last member of version 1.0 ends here. */
#define CONFIG_SIZE_1_0 \
	(offsetof(struct tacho_ctl_config, kernel_buffer_size) + sizeof(uint64_t))

_Static_assert(sizeof(((struct tacho_error *)0)->text) == sizeof(((struct tacho_diag *)0)->text),
	       "a message is copied whole");

TACHO_EXPORT uint32_t tacho_ctl_version(void)
{
	return TACHO_CTL_VERSION;
}

/* ---- errors ---------------------------------------------------------------- */

int tacho_ctl_give_error(struct tacho_error *error, const struct tacho_diag *d)
{
	if (error) {
		error->err = d->err;
		error->offset = d->offset == SIZE_MAX ? 0 : d->offset;
		memcpy(error->text, d->text, sizeof(error->text));
	}
	return d->err;
}

int tacho_ctl_done(struct tacho_ctl *ctl, int err, const struct tacho_diag *d, const char *what)
{
	struct tacho_diag own = { 0 };

	if (err >= 0)
		return err;
	if (d && d->err)
		return tacho_ctl_give_error(&ctl->error, d);
	tacho_diag(&own, err, 0, "cannot %s session '%s': %s", what, ctl->session.name,
		   strerror(-err));
	return tacho_ctl_give_error(&ctl->error, &own);
}

TACHO_EXPORT const struct tacho_error *tacho_ctl_error(const struct tacho_ctl *ctl)
{
	return &ctl->error;
}

/* ---- create, open ---------------------------------------------------------- */

int tacho_ctl_clock(const char *name, int *to, struct tacho_diag *d)
{
	*to = name ? app_clock_by_name(name) : -1;
	if (name && *to < 0)
		return tacho_diag(d, -EINVAL, 0, "there is no clock '%s': use x86-tsc, mono or "
				  "boot", name);
	return 0;
}

static int session_config(struct app_session_config *to, const struct tacho_ctl_config *from,
			  struct tacho_diag *d)
{
	*to = (struct app_session_config){
		.name = from->name, .dir = from->dir, .clock = -1,
		.buffer_size = from->buffer_size, .subbuf_size = from->subbuf_size,
		.stopped = from->flags & TACHO_CTL_STOPPED,
		.overwrite = from->flags & TACHO_CTL_OVERWRITE,
	};
	if (!from->name)
		return tacho_diag(d, -EINVAL, 0, "the configuration names no session");
	if (from->flags & ~(uint32_t)(TACHO_CTL_OVERWRITE | TACHO_CTL_STOPPED))
		return tacho_diag(d, -EINVAL, 0, "unknown flags 0x%x of session '%s'",
				  from->flags, from->name);
	if (tacho_ctl_clock(from->clock, &to->clock, d))
		return d->err;
	return 0;
}

static int create(struct tacho_ctl *ctl, const struct tacho_ctl_config *config,
		  struct tacho_diag *d)
{
	struct app_session_config cfg;
	struct tacho_ctl_config own;
	int err = tacho_sized_get(&own, sizeof(own), config, CONFIG_SIZE_1_0);

	if (err == -E2BIG)
		return tacho_diag(d, err, 0, "the configuration has members that this version "
				  "of libtacho-session does not know");
	if (err)
		return tacho_diag(d, err, 0, "struct_size %u is too small for a struct "
				  "tacho_ctl_config", config->struct_size);
	err = session_config(&cfg, &own, d);
	if (err)
		return err;
	ctl->kernel_size = own.kernel_buffer_size;
	return app_session_create(&ctl->dir, &ctl->session, &cfg, d);
}

/* Returns a handle to the caller, or frees it and reports the error. */
static int hand_out(struct tacho_ctl **to, struct tacho_ctl *ctl, const struct tacho_diag *d,
		    struct tacho_error *error)
{
	*to = NULL;
	if (d->err) {
		free(ctl);
		return tacho_ctl_give_error(error, d);
	}
	*to = ctl;
	return 0;
}

TACHO_EXPORT int tacho_ctl_create(struct tacho_ctl **to, const struct tacho_ctl_config *config,
				  struct tacho_error *error)
{
	struct tacho_ctl *ctl = calloc(1, sizeof(*ctl));
	struct tacho_diag d = { 0 };

	if (!ctl)
		tacho_diag(&d, -ENOMEM, 0, "out of memory");
	else
		(void)create(ctl, config, &d);
	return hand_out(to, ctl, &d, error);
}

TACHO_EXPORT int tacho_ctl_open(struct tacho_ctl **to, const char *name,
				struct tacho_error *error)
{
	struct tacho_ctl *ctl = calloc(1, sizeof(*ctl));
	struct tacho_diag d = { 0 };

	if (!ctl)
		tacho_diag(&d, -ENOMEM, 0, "out of memory");
	else
		(void)app_session_open(&ctl->dir, &ctl->session, name, &d);
	return hand_out(to, ctl, &d, error);
}

/* ---- close, destroy -------------------------------------------------------- */

TACHO_EXPORT void tacho_ctl_close(struct tacho_ctl *ctl)
{
	if (!ctl)
		return;
	app_session_kernel_close(ctl->kernel);
	app_session_close(&ctl->dir, &ctl->session);
	free(ctl);
}

TACHO_EXPORT int tacho_ctl_destroy(struct tacho_ctl *ctl, struct tacho_error *error)
{
	bool kernel = app_session_has_kernel(&ctl->session);
	struct tacho_diag d = { 0 };
	int err;

	app_session_kernel_close(ctl->kernel);
	ctl->kernel = NULL;
	err = tacho_session_destroy(&ctl->session, &d);
	if (!err && kernel) {
		err = app_session_remove_kept(ctl->session.name);
		err = err == -ENOENT ? 0 : err;
		if (err)
			tacho_diag(&d, err, 0, "the kernel's instance tacho.%s stays: %s",
				   ctl->session.name, strerror(-err));
	}
	if (err)
		tacho_ctl_give_error(error, &d);
	tacho_ctl_close(ctl);
	return err;
}

bool tacho_ctl_is_dead(const struct tacho_ctl *ctl)
{
	return tacho_load_acquire(&ctl->session.view.ctl->state) == TACHO_STATE_DEAD;
}

TACHO_EXPORT const char *tacho_ctl_name(const struct tacho_ctl *ctl)
{
	return ctl->session.name;
}

TACHO_EXPORT const char *tacho_ctl_directory(const struct tacho_ctl *ctl)
{
	return ctl->session.path;
}

/* ---- all sessions ---------------------------------------------------------- */

TACHO_EXPORT int tacho_ctl_list(int (*fn)(const char *name, const char *directory, void *arg),
				void *arg, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	struct tacho_dir dir;
	int ret;

	if (tacho_dir_open(&dir, true, &d))
		return tacho_ctl_give_error(error, &d);
	ret = tacho_sessions_each(&dir, fn, arg);
	tacho_dir_close(&dir);
	return ret;
}
