// SPDX-License-Identifier: MIT
/* Commands for LTT's tracer, and the masks of its library for programs. */
#include <errno.h>
#include <ltt/tracer.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/ltt/event.h"
#include "compat/ltt/tracer.h"

#define BUFFER		(UINT64_C(256) << 10)
#define BUFFERS		64u
#define BUFFERS_MAX	(UINT64_C(1) << 20)

/* What one trace is to be like, or all of them are. */
struct config {
	struct ltt_masks masks;
	struct ltt_who who;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock: what the next START of a flight recorder begins with. */
static struct config next = { { LTT_FLIGHT_MASK, TRACE_EVENT_MASK_ALL }, { 0 } };
static uint64_t next_buffer, next_buffers;
static uint32_t attached;

/* Over fork(). */
void ltt_control_lock(void)
{
	pthread_mutex_lock(&lock);
}

void ltt_control_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* A command: what it does with each trace, and what it brings back. */
struct command {
	unsigned int n;
	bool flight;
	unsigned long arg;
	trace_event_mask mask;		/* that goes in, or comes out */
	uint64_t number;		/* likewise */
};

static void config_default(struct config *c, bool flight)
{
	*c = (struct config){ { flight ? LTT_FLIGHT_MASK : TRACE_EVENT_MASK_ALL,
				TRACE_EVENT_MASK_ALL }, { 0 } };
}

/* ---- configuring ---- */

static int set_who(struct ltt_who *who, unsigned int n, unsigned long arg)
{
	struct ltt_who new = *who;

	if (n == TRACER_CONFIG_PID) {
		new.kinds |= LTT_BY_PID;
		new.pid = (int32_t)arg;
	} else if (n == TRACER_CONFIG_PGRP) {
		new.kinds |= LTT_BY_PGRP;
		new.pgrp = (int32_t)arg;
	} else if (n == TRACER_CONFIG_GID) {
		new.kinds |= LTT_BY_GID;
		new.gid = (uint32_t)arg;
	} else {
		new.kinds |= LTT_BY_UID;
		new.uid = (uint32_t)arg;
	}
	if ((new.kinds & (LTT_BY_PID | LTT_BY_PGRP)) == (LTT_BY_PID | LTT_BY_PGRP))
		return -EINVAL;
	*who = new;
	return 0;
}

static int configure(struct config *c, const struct command *cmd)
{
	switch (cmd->n) {
	case TRACER_CONFIG_DEFAULT:
		config_default(c, cmd->flight);
		return 0;
	case TRACER_CONFIG_EVENTS:
	case TRACER_SET_EVENT_MASK:
		c->masks.events = cmd->mask;
		return 0;
	case TRACER_CONFIG_DETAILS:
		c->masks.details = cmd->mask;
		return 0;
	default:
		return set_who(&c->who, cmd->n, cmd->arg);
	}
}

/* As trace_set_event_mask() says: told with the old mask. */
static void tell_mask(const struct tacho_session *s, trace_event_mask mask)
{
	struct ltt_event *e = ltt_event_of(TRACE_CHANGE_MASK, 0);
	trace_change_mask change = { mask };

	if (e)
		ltt_event_record(e, &change, (struct ltt_data){ NULL, 0 },
				 ltt_event_let(e, &change) & UINT64_C(1) << s->bit);
}

static int configure_trace(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	const struct command *cmd = arg;
	struct config now, new;
	int err;

	ltt_trace_masks(t, s, &now.masks);
	ltt_trace_who(t, s, &now.who);
	new = now;
	err = configure(&new, cmd);
	if (err)
		return err;
	if (cmd->n == TRACER_SET_EVENT_MASK)
		tell_mask(s, cmd->mask);
	if (memcmp(&new.who, &now.who, sizeof(now.who)))
		ltt_trace_set_who(t, s, &new.who);
	if (memcmp(&new.masks, &now.masks, sizeof(now.masks)))
		return ltt_trace_set_masks(t, s, &new.masks);
	return 0;
}

static int config_command(struct ltt_tracer *t, struct command *cmd)
{
	int n = ltt_tracer_each(t, cmd->flight, configure_trace, cmd);

	if (n || !cmd->flight || cmd->n == TRACER_SET_EVENT_MASK)
		return n > 0 ? 0 : n ? n : -ENODEV;
	return configure(&next, cmd);
}

/* Of the flight recorder that comes next. */
static int buffers_command(const struct command *cmd)
{
	bool size = cmd->n == TRACER_CONFIG_MEMORY_BUFFERS;

	if (!cmd->flight || !cmd->arg || cmd->arg > (size ? UINT32_MAX : BUFFERS_MAX) ||
	    (size && (cmd->arg < 4096 || cmd->arg & (cmd->arg - 1))))
		return -EINVAL;
	if (size)
		next_buffer = cmd->arg;
	else
		next_buffers = cmd->arg;
	return 0;
}

/* ---- running ---- */

static int let_in(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	struct command *cmd = arg;
	int err;

	cmd->number += ltt_trace_release(t, s, &err);
	return err;
}

static int keep_out(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	const struct command *cmd = arg;
	int err;

	if (cmd->n != TRACER_STOP || strcmp(s->name, LTT_FLIGHT_SESSION) != 0)
		return ltt_trace_hold(t, s);
	err = tacho_session_destroy(s, NULL);
	s->dir = NULL;
	return err;
}

static int start_flight(struct ltt_tracer *t)
{
	uint64_t buffers = next_buffers ? next_buffers : BUFFERS;
	struct tacho_session s;
	int err = next_buffer || next_buffers ?
		ltt_flight_make(t, &s, next_buffer ? next_buffer : BUFFER, buffers) :
		ltt_flight_make(t, &s, 0, 0);

	if (err)
		return err == -EEXIST ? -EBUSY : err;
	err = ltt_trace_set_masks(t, &s, &next.masks);
	if (!err) {
		ltt_trace_set_who(t, &s, &next.who);
		err = tacho_session_run(&s, true);
	}
	if (err)
		(void)tacho_session_destroy(&s, NULL);
	else
		tacho_session_close(&s);
	return err;
}

static int start_command(struct ltt_tracer *t, struct command *cmd)
{
	int n = ltt_tracer_each(t, cmd->flight, let_in, cmd);

	if (n < 0)
		return n;
	if (!n)
		return cmd->flight ? start_flight(t) : -ENODEV;
	return cmd->number ? 0 : -EBUSY;
}

/* ---- asking ---- */

static int add_lost(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	struct command *cmd = arg;
	struct tacho_session_counts c;

	(void)t;
	tacho_session_count(s, &c);
	cmd->number += c.lost_full + c.lost_big + c.lost_busy;
	return 0;
}

static int add_mask(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	struct command *cmd = arg;
	struct ltt_masks m;

	ltt_trace_masks(t, s, &m);
	cmd->mask |= m.events;
	return 0;
}

static int each(struct ltt_tracer *t, struct command *cmd,
		int (*fn)(struct ltt_tracer *t, struct tacho_session *s, void *arg))
{
	int n = ltt_tracer_each(t, cmd->flight, fn, cmd);

	return n > 0 ? 0 : n ? n : -ENODEV;
}

/* ---- commands ---- */

static int run_command(struct ltt_tracer *t, struct command *cmd)
{
	switch (cmd->n) {
	case TRACER_START:
		return start_command(t, cmd);
	case TRACER_UNPAUSE:
		return each(t, cmd, let_in);
	case TRACER_STOP:
	case TRACER_PAUSE:
		return each(t, cmd, keep_out);
	case TRACER_CONFIG_MEMORY_BUFFERS:
	case TRACER_CONFIG_N_MEMORY_BUFFERS:
		return buffers_command(cmd);
	case TRACER_GET_EVENTS_LOST:
		return each(t, cmd, add_lost);
	case TRACER_GET_EVENT_MASK:
		return each(t, cmd, add_mask);
	default:
		return config_command(t, cmd);
	}
}

static int run(struct command *cmd)
{
	struct ltt_tracer t;
	int err;

	/* so that a process that only gives commands is heard when it tells of a mask */
	(void)ltt_event_of(TRACE_CHANGE_MASK, 0);
	pthread_mutex_lock(&lock);
	err = ltt_tracer_open(&t, cmd->flight && cmd->n != TRACER_SET_EVENT_MASK &&
			      cmd->n != TRACER_GET_EVENT_MASK);
	if (!err) {
		err = run_command(&t, cmd);
		ltt_tracer_close(&t);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* Commands whose argument is a pointer. */
static int pointer_command(struct command *cmd)
{
	uint64_t *arg = (uint64_t *)cmd->arg;
	int err;

	if (!arg)
		return -EINVAL;
	if (cmd->n != TRACER_GET_EVENTS_LOST && cmd->n != TRACER_GET_EVENT_MASK)
		cmd->mask = *arg;
	err = run(cmd);
	if (err)
		return err;
	if (cmd->n == TRACER_SET_EVENT_MASK)
		ltt_call_back(TRACE_CHANGE_MASK, &(trace_change_mask){ cmd->mask });
	else if (cmd->n == TRACER_GET_EVENT_MASK)
		*arg = cmd->mask;
	else if (cmd->n == TRACER_GET_EVENTS_LOST)
		*arg = cmd->number;
	return 0;
}

int trace_control(unsigned int handle, unsigned int command, unsigned long arg)
{
	struct command cmd = { .n = command, .flight = handle == FLIGHT_HANDLE, .arg = arg };

	if (handle != TRACE_HANDLE && handle != FLIGHT_HANDLE)
		return -EACCES;
	switch (command) {
	case TRACER_START:
	case TRACER_STOP:
	case TRACER_PAUSE:
	case TRACER_UNPAUSE:
	case TRACER_CONFIG_DEFAULT:
	case TRACER_CONFIG_MEMORY_BUFFERS:
	case TRACER_CONFIG_N_MEMORY_BUFFERS:
		return run(&cmd);
	case TRACER_CONFIG_PID:
	case TRACER_CONFIG_PGRP:
		return arg && arg <= INT32_MAX ? run(&cmd) : -EINVAL;
	case TRACER_CONFIG_GID:
	case TRACER_CONFIG_UID:
		return arg <= UINT32_MAX ? run(&cmd) : -EINVAL;
	case TRACER_CONFIG_EVENTS:
	case TRACER_CONFIG_DETAILS:
	case TRACER_SET_EVENT_MASK:
	case TRACER_GET_EVENTS_LOST:
	case TRACER_GET_EVENT_MASK:
		return pointer_command(&cmd);
	default:
		return -ENOSYS;
	}
}

/* ---- the library for programs: all traces ---- */

int trace_attach(void)
{
	tacho_store_relaxed(&attached, 1);
	return 0;
}

int trace_detach(void)
{
	return tacho_swap_seq_cst(&attached, 0) ? 0 : -1;
}

int trace_user_event(int id, int size, const void *data)
{
	return tacho_load_relaxed(&attached) ? trace_raw_event(id, size, data) : -1;
}

/* A command for traces and flight recorders: -ENODEV if there is not one of both. */
static int run_both(struct command *cmd)
{
	int trace, flight;

	if (!tacho_load_relaxed(&attached))
		return -1;
	cmd->flight = false;
	trace = run(cmd);
	cmd->flight = true;
	flight = run(cmd);
	return flight == -ENODEV ? trace : trace == -ENODEV ? flight : trace ? trace : flight;
}

int trace_set_event_mask(trace_event_mask mask)
{
	struct command cmd = { .n = TRACER_SET_EVENT_MASK, .mask = mask };
	int err = run_both(&cmd);

	if (!err)
		ltt_call_back(TRACE_CHANGE_MASK, &(trace_change_mask){ mask });
	return err;
}

int trace_get_event_mask(trace_event_mask *mask)
{
	struct command cmd = { .n = TRACER_GET_EVENT_MASK };
	int err = run_both(&cmd);

	if (!err)
		*mask = cmd.mask;
	return err;
}

/* One bit, on or off. */
static int set_bit(int event_id, bool on)
{
	trace_event_mask now;
	int err = trace_get_event_mask(&now);

	if (err)
		return err;
	if (event_id < 0 || event_id > TRACE_MAX)
		return -EINVAL;
	now = on ? now | TRACE_EVENT_BIT(event_id) : now & ~TRACE_EVENT_BIT(event_id);
	return trace_set_event_mask(now);
}

int trace_enable_event_trace(int event_id)
{
	return set_bit(event_id, true);
}

int trace_disable_event_trace(int event_id)
{
	return set_bit(event_id, false);
}

int trace_is_event_traced(int event_id)
{
	if (!tacho_load_relaxed(&attached))
		return -1;
	return event_id >= 0 && ltt_event_is_on((uint32_t)event_id);
}
