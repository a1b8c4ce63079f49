// SPDX-License-Identifier: MIT
/*
 * Tracing synthetic events.  At once: no heap, no lock, any signal handler.  Piece by piece:
 * the raw event is in the caller's struct, or on the heap when it is large.
 */
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "compat/kernel_api/events.h"

/* Larger raw events are made in libtacho's memory. */
#define STACK_BYTES	1024
/* As many addresses of a stack trace as the kernel's. */
#define STACK_DEPTH	16

static const char fault[] = "(fault)";

static bool is_wanted(const struct tacho_user_event *u)
{
	return tacho_load_relaxed(u->event.state);
}

static const void *pointer(unsigned long long val)
{
	return (const void *)(uintptr_t)val;
}

/* Text, a number or a stack trace from its u64. */
static struct tacho_synth_value value_of(const struct tacho_synth_field *f,
					 unsigned long long val)
{
	struct tacho_synth_value v = { .number = val };

	if (f->is_string) {
		v.data = val ? pointer(val) : fault;
		v.len = (uint32_t)strnlen(v.data, TACHO_SYNTH_STRING_MAX);
	} else if (f->is_stack && val) {
		const uint64_t *stack = pointer(val);
		uint32_t n = 0;

		while (n < STACK_DEPTH && stack[n])
			n++;
		v.data = stack;
		v.len = n * (uint32_t)sizeof(uint64_t);
	}
	return v;
}

/* Bytes that are enough for the raw event of these values. */
static uint32_t room_for(const struct tacho_synth *s,
			 const struct tacho_synth_value *v)
{
	uint32_t size = s->fixed_size;

	for (uint32_t i = 0; i < s->nr_fields; i++)
		if (s->field[i].is_dynamic)
			size += v[i].len + (uint32_t)sizeof(uint64_t);
	return TACHO_ALIGN_UP(size, 8u);
}

static int write_values(struct tacho_user_event *u,
			const struct tacho_synth_value *v)
{
	uint64_t small[STACK_BYTES / sizeof(uint64_t)];
	uint32_t size = room_for(u->synth, v);
	void *large = NULL;
	void *raw = small;
	uint32_t len;

	if (size > sizeof(small)) {
		large = u->event.ops->scratch_get(&u->event, size);
		raw = large;
	}
	if (!raw)
		return -EINVAL;
	len = tacho_synth_raw(u->synth, 0, v, raw, size);
	if (len)
		u->event.ops->write(&u->event, raw, len);
	if (large)
		u->event.ops->scratch_put(large);
	return len ? 0 : -EINVAL;
}

TACHO_EXPORT int synth_event_trace_array(struct trace_event_file *file,
					 const unsigned long long *vals,
					 unsigned int n_vals)
{
	struct tacho_synth_value v[TACHO_SYNTH_FIELDS_MAX];
	struct tacho_user_event *u = tacho_file_event(file);

	if (!u)
		return -EINVAL;
	if (!is_wanted(u))
		return 0;
	if (!vals || n_vals != u->synth->nr_fields)
		return -EINVAL;
	for (uint32_t i = 0; i < n_vals; i++)
		v[i] = value_of(&u->synth->field[i], vals[i]);
	return write_values(u, v);
}

TACHO_EXPORT int __synth_event_trace(struct trace_event_file *file,
				     const unsigned long long *args,
				     unsigned int n_args)
{
	/* a number of values that is not true counts as a wrong one */
	unsigned int n = n_args && args[0] == n_args - 1 ? n_args - 1 : 0;

	return synth_event_trace_array(file, args + 1, n);
}

/* ---- piece by piece ---- */

TACHO_EXPORT int synth_event_trace_start(struct trace_event_file *file,
					 struct synth_event_trace_state *state)
{
	const struct tacho_user_event *u = tacho_file_event(file);
	uint32_t len;

	if (!state)
		return -EINVAL;
	memset(state, 0, offsetof(struct synth_event_trace_state, room));
	if (!u)
		return -EINVAL;
	if (!is_wanted(u)) {
		state->disabled = true;
		return 0;
	}
	if (u->dynamic)
		return -ENOTSUPP;
	len = u->synth->fixed_size;
	if (len <= sizeof(state->room)) {
		state->raw = state->room;
		memset(state->raw, 0, TACHO_ALIGN_UP(len, 8u));
	} else {
		state->raw = calloc(1, TACHO_ALIGN_UP(len, 8u));
	}
	if (!state->raw)
		return -ENOMEM;
	state->file = file;
	state->len = len;
	return 0;
}

/* A field's value into its place, which is 0 or holds an older value. */
static int put(unsigned char *raw, const struct tacho_synth_field *f,
	       unsigned long long val)
{
	unsigned char *at = raw + f->offset;

	if (f->is_string) {
		const char *text = pointer(val);
		size_t len;

		if (!text)
			return -EINVAL;
		len = strnlen(text, f->size - 1);
		memcpy(at, text, len);
		memset(at + len, 0, f->size - len);
		return 0;
	}
	switch (f->size) {
	case 1:
		*at = (unsigned char)val;
		break;
	case 2:
		tacho_put_u16(at, (uint16_t)val);
		break;
	case 4:
		tacho_put_u32(at, (uint32_t)val);
		break;
	default:
		tacho_put_u64(at, val);
		break;
	}
	return 0;
}

TACHO_EXPORT int synth_event_add_next_val(unsigned long long val,
					  struct synth_event_trace_state *state)
{
	const struct tacho_synth *s;

	if (!state || state->add_name)
		return -EINVAL;
	state->add_next = true;
	if (state->disabled)
		return 0;
	if (!state->raw)
		return -EINVAL;
	s = tacho_file_event(state->file)->synth;
	if (state->cur_field >= s->nr_fields)
		return -EINVAL;
	return put(state->raw, &s->field[state->cur_field++], val);
}

TACHO_EXPORT int synth_event_add_val(const char *field_name, unsigned long long val,
				     struct synth_event_trace_state *state)
{
	const struct tacho_synth *s;
	int i;

	if (!state || state->add_next || !field_name)
		return -EINVAL;
	state->add_name = true;
	if (state->disabled)
		return 0;
	if (!state->raw)
		return -EINVAL;
	s = tacho_file_event(state->file)->synth;
	i = tacho_synth_find(s, field_name);
	return i < 0 ? -EINVAL : put(state->raw, &s->field[i], val);
}

TACHO_EXPORT int synth_event_trace_end(struct synth_event_trace_state *state)
{
	struct tacho_user_event *u;

	if (!state)
		return -EINVAL;
	if (state->disabled)
		return 0;
	if (!state->raw)
		return -EINVAL;
	u = tacho_file_event(state->file);
	u->event.ops->write(&u->event, state->raw, state->len);
	if (state->raw != state->room)
		free(state->raw);
	state->raw = NULL;
	return 0;
}
