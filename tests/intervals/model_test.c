// SPDX-License-Identifier: MIT
/* The model: small stories with the items that they must give, and rules that are wrong. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "model/rules.h"
#include "model/table.h"
#include "stream/stream.h"
#include "intervals/types.h"
#include "unit/test.h"

/* ---- stories ---- */

struct story {
	struct tacho_arena arena;
	struct tacho_stream *stream;
	const struct tacho_type *type[NR_TYPES];
	struct model_rules *rules;
	struct model *model;
	struct tacho_buf out;		/* items as lines */
	char track[64][64];
};

/* ---- items as lines ---- */

static const char *flags_of(unsigned int flags)
{
	static char s[8];
	int n = 0;

	for (int i = 0; i < 6; i++)
		if (flags >> i & 1)
			s[n++] = "beuipq"[i];
	s[n] = '\0';
	return s;
}

static int put_track(void *arg, const struct model_track *t)
{
	struct story *s = arg;

	if (t->id < 64)
		(void)snprintf(s->track[t->id], 64, "%s%lld%s", model_track_kind_name(t->kind),
			       (long long)t->number, t->name);
	return 0;
}

static int put_slice(void *arg, const struct model_slice *slice)
{
	struct story *s = arg;

	tacho_buf_printf(&s->out, "%s.%u %" PRIu64 "-%" PRIu64 " %s %s\n",
			 s->track[slice->track], slice->depth, slice->begin, slice->end,
			 slice->name[0] ? slice->name : slice->category, flags_of(slice->flags));
	return 0;
}

static int put_state(void *arg, const struct model_state *state)
{
	struct story *s = arg;

	tacho_buf_printf(&s->out, "%s %" PRIu64 "-%" PRIu64 " %s %s\n", s->track[state->track],
			 state->begin, state->end, model_state_name(state->state),
			 flags_of(state->flags));
	return 0;
}

static int put_counter(void *arg, const struct model_counter *c)
{
	struct story *s = arg;

	tacho_buf_printf(&s->out, "%s %" PRIu64 " =%g\n", s->track[c->track], c->time, c->value);
	return 0;
}

static int put_flow(void *arg, const struct model_flow *f)
{
	struct story *s = arg;

	tacho_buf_printf(&s->out, "%s %s@%" PRIu64 " > %s@%" PRIu64 "\n", f->kind,
			 s->track[f->from], f->from_time, s->track[f->to], f->to_time);
	return 0;
}

static int put_loss(void *arg, const struct model_loss *l)
{
	struct story *s = arg;

	tacho_buf_printf(&s->out, "loss %u %" PRIu64 "-%" PRIu64 " %" PRIu64 "\n", l->cpu, l->begin,
			 l->end, l->count);
	return 0;
}

static const struct model_ops ops = {
	.track = put_track, .slice = put_slice, .state = put_state, .counter = put_counter,
	.flow = put_flow, .loss = put_loss,
};

/* ---- telling a story ---- */

/* Whether the model is saved before each record, and another one goes on. */
static bool stops;

static struct model_config config_of(struct story *s)
{
	return (struct model_config){ s->stream, s->rules, &ops, s };
}

static void begin_with(struct story *s, const char *rules)
{
	struct tacho_diag d = { 0 };
	struct model_config config;

	memset(s, 0, sizeof(*s));
	tacho_arena_init(&s->arena, 1u << 20);
	tacho_buf_init(&s->out, 1u << 20);
	s->stream = types_stream(&s->arena, s->type);
	CHECK(s->stream != NULL);
	CHECK(!model_rules_new(&s->rules, &d));
	if (rules)
		CHECK(!model_rules_add(s->rules, rules, strlen(rules), &d));
	config = config_of(s);
	CHECK(!model_new(&s->model, &config, &d));
}

static void begin(struct story *s)
{
	begin_with(s, NULL);
}

/* The model's state, which the caller releases; equal whenever it is saved. */
static struct tacho_buf saved(const struct model *m)
{
	struct tacho_buf state, again;

	tacho_buf_init(&state, 1u << 30);
	tacho_buf_init(&again, 1u << 30);
	CHECK(!model_save(m, &state) && !model_save(m, &again));
	CHECK(state.len == again.len && !memcmp(state.data, again.data, state.len));
	tacho_buf_release(&again);
	return state;
}

/* Another model goes on. */
static void stop(struct story *s)
{
	struct model_config config = config_of(s);
	struct tacho_buf state = saved(s->model), again;
	struct tacho_diag d = { 0 };
	struct model *other;

	if (!CHECK(!model_restore(&other, &config, state.data, state.len, &d))) {
		printf("# %s\n", d.text);
		tacho_buf_release(&state);
		return;
	}
	again = saved(other);
	CHECK(state.len == again.len && !memcmp(state.data, again.data, state.len));
	CHECK_EQ(model_nr_tracks(s->model), model_nr_tracks(other));
	tacho_buf_release(&state);
	tacho_buf_release(&again);
	model_free(s->model);
	s->model = other;
}

static uint64_t lost;	/* before the next record */

/* A record of up to three integers. */
static void at(struct story *s, uint64_t time, uint32_t cpu, int pid, int type, int a, int b, int c)
{
	struct types_raw raw = { .v = { a, b, c, 0 } };
	struct tacho_record r = types_record(&raw, s->type, type, time, cpu, pid);

	r.lost = lost;
	lost = 0;
	if (stops)
		stop(s);
	CHECK(!model_record(s->model, &r));
}

static void is(struct story *s, const char *expected)
{
	if (stops)
		stop(s);
	CHECK(!model_finish(s->model));
	if (!CHECK_STR(tacho_buf_str(&s->out), expected))
		printf("# got:\n%s", tacho_buf_str(&s->out));
	model_free(s->model);
	model_rules_free(s->rules);
	tacho_stream_close(s->stream);
	tacho_arena_release(&s->arena);
	tacho_buf_release(&s->out);
}

/* ---- stories ---- */

static void test_switch(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 0, 7, SWITCH, 7, 8, 1);	/* 7 sleeps */
	at(&s, 130, 0, 8, WAKING, 7, 0, 0);	/* 8 wakes 7 */
	at(&s, 150, 0, 8, SWITCH, 8, 7, 0);	/* 8 is preempted */
	at(&s, 180, 0, 7, SWITCH, 7, 0, 2);	/* 7 blocks, idle */
	at(&s, 200, 0, 0, SWITCH, 0, 8, 0);
	is(&s, "state7 100-130 sleeping \n"
	       "running0.0 100-150 running \n"
	       "state8 100-150 running \n"
	       "state7 130-150 runnable \n"
	       "wake state8@130 > state7@150\n"
	       "running0.0 150-180 running \n"
	       "state7 150-180 running \n"
	       "running0.0 180-200 idle \n"
	       "state8 150-200 runnable p\n"
	       "state7 180-200 uninterruptible e\n");
}

static void test_seen_before_switch(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 1, 3, ENTER, 1, 0, 0);
	at(&s, 110, 0, 7, ENTER, 0, 0, 0);
	at(&s, 120, 0, 7, LEAVE, 0, 0, 0);
	at(&s, 140, 0, 7, SWITCH, 7, 0, 1);
	at(&s, 150, 0, 0, SWITCH, 0, 9, 0);
	is(&s, "calls7.0 110-120 read \n"
	       "running0.0 100-110 unknown \n"
	       "state7 100-110 unknown \n"
	       "running0.0 110-140 running b\n"
	       "state7 110-140 running b\n"
	       "running0.0 140-150 idle \n"
	       "state9 100-150 unknown \n"
	       "calls3.0 100-150 write e\n"
	       "state7 140-150 sleeping e\n");
}

/* A switch from the idle thread that the kernel did not record. */
static void test_missing_switch_from_idle(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 0, 7, SWITCH, 7, 0, 1);	/* 7 sleeps, idle */
	at(&s, 110, 0, 7, ENTER, 0, 0, 0);	/* made before the switch has ended */
	at(&s, 120, 0, 0, WAKING, 7, 0, 0);	/* 7 is woken, and runs: */
	at(&s, 140, 0, 7, LEAVE, 0, 0, 0);
	at(&s, 150, 0, 7, ENTER, 1, 0, 0);
	at(&s, 170, 0, 7, SWITCH, 7, 0, 1);	/* 7 sleeps, idle */
	at(&s, 200, 0, 9, SWITCH, 9, 0, 1);	/* nothing says when 9 began */
	is(&s, "state7 100-120 sleeping \n"
	       "calls7.0 110-140 read \n"
	       "running0.0 100-140 idle e\n"
	       "state7 120-140 runnable e\n"
	       "running0.0 140-170 running b\n"
	       "state7 140-170 running b\n"
	       "running0.0 170-200 idle e\n"
	       "state9 100-200 unknown \n"
	       "state7 170-200 sleeping e\n"
	       "calls7.0 150-200 write e\n");
}

static void test_missing_switch(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 0, 1, SWITCH, 1, 2, 1);
	at(&s, 120, 0, 3, SWITCH, 3, 4, 1);	/* 2 > 3 is missing */
	at(&s, 130, 1, 5, SWITCH, 5, 4, 1);	/* 4 runs on CPU 0, it was said */
	is(&s, "state2 100-120 running e\n"
	       "running0.0 100-120 running e\n"
	       "state3 100-120 unknown \n"
	       "state4 100-120 unknown \n"
	       "state5 100-130 unknown \n"
	       "state4 120-130 running e\n"
	       "running0.0 120-130 running e\n"
	       "running1.0 100-130 unknown \n"
	       "state2 120-130 unknown \n"
	       "state3 120-130 sleeping e\n"
	       "state1 100-130 sleeping e\n");
}

static void test_lost(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 0, 1, SWITCH, 1, 2, 1);
	at(&s, 110, 0, 2, SIRQ, 3, 0, 0);
	at(&s, 120, 1, 5, SWITCH, 5, 6, 2);
	lost = 17;
	at(&s, 150, 0, 3, SWITCH, 3, 2, 0);
	at(&s, 160, 1, 6, SWITCH, 6, 5, 0);
	is(&s, "state5 100-120 unknown \n"
	       "state6 100-120 unknown \n"
	       "running1.0 100-120 unknown \n"
	       "loss 0 110-150 17\n"
	       "state2 100-110 running e\n"
	       "running0.0 100-110 running e\n"
	       "softirq0.0 110-110 3 e\n"
	       "state3 100-150 unknown \n"
	       "state2 110-150 unknown \n"
	       "running0.0 110-150 unknown \n"
	       "running1.0 120-160 running \n"
	       "state6 120-160 running \n"
	       "state5 120-160 uninterruptible eu\n"
	       "running0.0 150-160 running e\n"
	       "state2 150-160 running e\n"
	       "state3 150-160 runnable ep\n"
	       "state1 100-160 sleeping eu\n");
}

static void test_calls(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 0, 7, LEAVE, 0, 0, 0);	/* began before the trace */
	at(&s, 110, 0, 7, ENTER, 1, 0, 0);
	at(&s, 120, 0, 7, ENTER, 2, 0, 0);	/* the exit of 1 is missing */
	at(&s, 130, 0, 7, LEAVE, 2, 0, 0);
	at(&s, 140, 0, 7, LEAVE, 3, 0, 0);	/* the entry is missing */
	at(&s, 150, 0, 7, ENTER, 60, 0, 0);
	at(&s, 160, 0, 7, EXIT, 7, 0, 0);
	is(&s, "calls7.0 100-100 read b\n"
	       "calls7.0 110-120 write e\n"
	       "calls7.0 120-130 open \n"
	       "calls7.0 130-140 close b\n"
	       "calls7.0 150-160 exit \n");
}

static void test_requests(void)
{
	struct story s;
	const int dev = 8 << 20 | 1;

	begin(&s);
	at(&s, 100, 0, 0, SWITCH, 0, 7, 0);
	at(&s, 110, 0, 7, ISSUE, dev, 64, 0);
	at(&s, 115, 0, 7, ISSUE, dev, 128, 0);
	at(&s, 120, 0, 7, SWITCH, 7, 0, 2);
	at(&s, 140, 0, 0, SIRQ, 4, 0, 0);
	at(&s, 150, 0, 0, COMPLETE, dev, 64, 0);
	at(&s, 160, 0, 0, WAKING, 7, 0, 0);
	at(&s, 170, 0, 0, SIRQ_END, 4, 0, 0);
	at(&s, 180, 0, 0, SWITCH, 0, 7, 0);
	at(&s, 190, 0, 7, COMPLETE, dev, 999, 0);	/* was issued before the trace */
	is(&s, "counter0depth 110 =1\n"
	       "counter0depth 115 =2\n"
	       "running0.0 100-120 running \n"
	       "state7 100-120 running \n"
	       "device83886098,1.0 110-150 block \n"
	       "request state7@110 > softirq0@150\n"
	       "counter0depth 150 =1\n"
	       "state7 120-160 uninterruptible i\n"
	       "softirq0.0 140-170 4 \n"
	       "running0.0 120-180 idle \n"
	       "state7 160-180 runnable q\n"
	       "wake softirq0@160 > state7@180\n"
	       "device83886098,1.0 190-190 block b\n"
	       "running0.0 180-190 running e\n"
	       "state7 180-190 running e\n"
	       "device83886098,1.1 115-190 block e\n");
}

static void test_spans(void)
{
	struct story s;

	begin_with(&s, "span order: shop:take -> shop:done by id=order\n"
		       "counter left: shop:queue.left by item\n");
	at(&s, 100, 0, 7, TAKE, 1, 0, 0);
	at(&s, 110, 0, 7, TAKE, 2, 0, 0);
	at(&s, 120, 1, 8, DONE, 1, 0, 0);
	at(&s, 130, 1, 8, QUEUE, 5, 77, 0);
	at(&s, 140, 0, 7, TAKE, 2, 0, 0);	/* again */
	at(&s, 150, 0, 7, DONE, 9, 0, 0);	/* never taken */
	is(&s, "span0order.0 100-120 order \n"
	       "span state7@100 > state8@120\n"
	       "counter0left 77 130 =5\n"
	       "span0order.1 110-140 order e\n"
	       "span0order.0 150-150 order b\n"
	       "span0order.0 140-150 order e\n");
}

static void test_fork(void)
{
	struct story s;

	begin(&s);
	at(&s, 100, 0, 7, FORK, 9, 0, 0);
	at(&s, 110, 0, 7, WAKEUP, 9, 0, 0);
	at(&s, 120, 0, 7, SWITCH, 7, 9, 0);
	at(&s, 130, 0, 9, EXIT, 9, 0, 0);
	at(&s, 140, 0, 9, SWITCH, 9, 7, 16);
	at(&s, 150, 0, 7, FORK, 9, 0, 0);	/* the number again */
	at(&s, 160, 0, 7, WAKEUP, 9, 0, 0);
	is(&s, "state9 100-110 unknown \n"
	       "running0.0 100-120 running b\n"
	       "state7 100-120 running b\n"
	       "state9 110-120 runnable \n"
	       "wake state7@110 > state9@120\n"
	       "running0.0 120-140 running \n"
	       "state9 120-140 running \n"
	       "state7 120-140 runnable p\n"
	       "state9 150-160 unknown \n"
	       "running0.0 140-160 running e\n"
	       "state7 140-160 running e\n");
}

/* ---- size ---- */

static uint64_t counted[4];

static int count_track(void *arg, const struct model_track *t)
{
	(void)arg;
	counted[0] += t->kind == MODEL_THREAD;
	return 0;
}

static int count_state(void *arg, const struct model_state *s)
{
	(void)arg;
	counted[1] += s->state == MODEL_RUNNABLE;
	return 0;
}

static int count_slice(void *arg, const struct model_slice *s)
{
	(void)arg;
	counted[2] += !strcmp(s->category, "span") && s->flags == 0;
	return 0;
}

/* A million threads that are woken, and as many spans of which 100,000 are open at a time. */
static void test_many(void)
{
	static const struct model_ops count = {
		.track = count_track, .state = count_state, .slice = count_slice,
	};
	const int many = 1000000, open = 100000;
	struct model_config config;
	struct story s;

	begin_with(&s, "span order: shop:take -> shop:done by id=order\n");
	model_free(s.model);
	memset(counted, 0, sizeof(counted));
	config = (struct model_config){ s.stream, s.rules, &count, &s };
	CHECK(!model_new(&s.model, &config, NULL));
	for (int i = 1; i <= many; i++) {
		at(&s, (uint64_t)i, 0, 7, WAKEUP, i + 10, 0, 0);
		at(&s, (uint64_t)i, 0, 7, TAKE, i, 0, 0);
		if (i > open)
			at(&s, (uint64_t)i, 0, 7, DONE, i - open, 0, 0);
	}
	is(&s, "");
	CHECK_EQ(counted[0], many + 1);
	CHECK_EQ(counted[1], many - 1);	/* the last one's is empty */
	CHECK_EQ(counted[2], many - open);
}

/* ---- states that are wrong ---- */

/* A story of which something of each kind is open. */
static void open_all(struct story *s)
{
	const int dev = 8 << 20 | 1;

	begin_with(s, "span order: shop:take -> shop:done by id=order\n"
		      "counter left: shop:queue.left by item\n"
		      "shop:take send message key=id\n");
	at(s, 100, 0, 0, SWITCH, 0, 7, 0);
	at(s, 110, 0, 7, ENTER, 1, 0, 0);
	at(s, 120, 0, 7, ISSUE, dev, 64, 0);
	at(s, 130, 0, 7, SIRQ, 3, 0, 0);
	at(s, 140, 1, 8, TAKE, 1, 0, 0);
	at(s, 150, 1, 8, QUEUE, 5, 77, 0);
	at(s, 160, 1, 8, WAKING, 9, 0, 0);
}

static int try(struct story *s, const void *state, size_t size)
{
	struct model_config config = config_of(s);
	struct tacho_diag d = { 0 };
	struct model *other;
	int err = model_restore(&other, &config, state, size, &d);

	CHECK(!err || (!other && d.text[0] && d.err == err));
	if (!err)
		model_free(other);
	return err;
}

/* Each piece of a state is damaged, and each byte that is changed does no harm. */
static void test_bad_states(void)
{
	struct tacho_buf state;
	struct story s;
	uint64_t refused = 0;

	open_all(&s);
	state = saved(s.model);
	CHECK(!try(&s, state.data, state.len));
	for (size_t len = 0; len < state.len; len++)
		CHECK_EQ(try(&s, state.data, len), -EBADMSG);
	for (size_t i = 16; i < state.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			state.data[i] ^= (char)(1 << bit);
			refused += try(&s, state.data, state.len) == -EBADMSG;
			state.data[i] ^= (char)(1 << bit);
		}
	CHECK(refused > state.len);
	tacho_buf_putc(&state, 0);
	CHECK_EQ(try(&s, state.data, state.len), -EBADMSG);
	state.data[4]++;
	CHECK_EQ(try(&s, state.data, state.len), -EINVAL);	/* another version */
	state.data[4]--;
	CHECK(!model_rules_add(s.rules, "a:b exit", 8, NULL));
	CHECK_EQ(try(&s, state.data, state.len), -EINVAL);	/* other rules */
	state.data[0]++;
	CHECK_EQ(try(&s, state.data, state.len), -EBADMSG);
	tacho_buf_release(&state);
	tacho_buf_reset(&s.out);
	model_free(s.model);
	model_rules_free(s.rules);
	tacho_stream_close(s.stream);
	tacho_arena_release(&s.arena);
	tacho_buf_release(&s.out);
}

/* ---- rules ---- */

static void test_bad_rules(void)
{
	static const struct {
		const char *text;
		unsigned int offset;
		const char *why;
	} table[] = {
		{ "x", 0, "not a rule" },
		{ "shop begin thread cat=x", 0, "not an event" },
		{ "a:*b* exit", 0, "more than one *" },
		{ "a:b jump", 4, "not a verb" },
		{ "a:b begin", 0, "does not say where" },
		{ "a:b begin moon cat=x", 10, "not a place of slices" },
		{ "a:b begin thread", 0, "lacks the argument: cat" },
		{ "a:b begin thread cat=x cat=y", 23, "given twice" },
		{ "a:b begin thread cat=x colour=y", 23, "not an argument" },
		{ "a:b begin device cat=x", 0, "need dev=" },
		{ "a:b begin thread cat=x name=\"y", 23, "quote that does not end" },
		{ "a:b begin thread cat=x name=y;", 29, "not a field" },
		{ "# good\na:b jump", 11, "not a verb" },
		{ "span x a:b -> a:c", 0, "no name before a colon" },
		{ "span x: a:b to a:c", 0, "not a span" },
		{ "span x: a:b -> a:c of id", 19, "expected" },
		{ "span x: a:b -> a:c by id by id", 25, "expected" },
		{ "counter x: a:b", 0, "not a counter" },
	};
	struct model_rules *rules;
	struct tacho_diag d = { 0 };
	struct tacho_buf before, after;

	tacho_buf_init(&before, 1u << 20);
	tacho_buf_init(&after, 1u << 20);
	CHECK(!model_rules_new(&rules, &d));
	model_rules_text(rules, &before);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memset(&d, 0, sizeof(d));
		CHECK_EQ(model_rules_add(rules, table[i].text, strlen(table[i].text), &d), -EINVAL);
		if (!CHECK(strstr(d.text, table[i].why) && d.offset == table[i].offset))
			printf("# '%s': %s, at %llu\n", table[i].text, d.text,
			       (unsigned long long)d.offset);
	}
	model_rules_text(rules, &after);
	CHECK_STR(tacho_buf_str(&before), tacho_buf_str(&after));
	tacho_buf_release(&before);
	tacho_buf_release(&after);
	model_rules_free(rules);
}

/* What model_rules_unused() says of a user's rules for the story's types. */
static void check_unused(const char *rules, const char *want)
{
	struct story s;

	begin_with(&s, rules);
	CHECK(!model_rules_unused(s.rules, s.stream, &s.out));
	is(&s, want);
}

static void test_unused(void)
{
	check_unused("", "");
	check_unused("span o: shop:take -> shop:done by id=order\n", "");
	check_unused("counter left: shop:queue.left by item\n", "");
	check_unused("span o: shop:tkae -> shop:done\n",
		     "a rule is not used: the trace has no event 'shop:tkae'\n");
	check_unused("span o: shop:take -> shop:done by id\n",
		     "a rule is not used: event 'shop:done' has no field 'id'\n");
	check_unused("counter c: shop:queue.left by item,shelf\n",
		     "a rule is not used: event 'shop:queue' has no field 'shelf'\n");
	check_unused("shop:take counter machine n|id value=id\n", "");
	check_unused("shop:take counter machine n value=id\n",
		     "a rule is not used: event 'shop:take' has no field 'n'\n");
	/* a name may be missing, and one type of several is enough */
	check_unused("shop:take begin thread name=n cat=x\n", "");
	check_unused("shop:* begin thread key=order cat=x\n", "");
}

static void test_patterns(void)
{
	const char *star;
	size_t len;

	CHECK(model_event_match("a:b", "a", "b", &star, &len) && len == 0);
	CHECK(!model_event_match("a:b", "a", "bc", NULL, NULL));
	CHECK(model_event_match("*:sys_*", "x", "sys_read", &star, &len) && len == 4 &&
	      !strncmp(star, "read", 4));
	CHECK(model_event_match("a:*_exit", "a", "tick_exit", &star, &len) && len == 4);
	CHECK(!model_event_match("a:x*x", "a", "x", NULL, NULL));
	CHECK(model_event_match("a:x*x", "a", "xx", &star, &len) && len == 0);
}

/* The table against an array, with keys that collide. */
static void test_table(void)
{
	struct model_table t = { 0 };
	uint32_t value[512] = { 0 };
	uint64_t x = 1;
	bool good = true;

	for (int i = 0; i < 200000 && good; i++) {
		uint32_t k;

		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		k = (uint32_t)(x >> 40) % 512;
		if (x >> 33 & 1) {
			value[k] = (uint32_t)i + 1;
			good = model_table_set(&t, (uint64_t)k << 29, value[k]);
		} else {
			model_table_remove(&t, (uint64_t)k << 29);
			value[k] = 0;
		}
		k = (uint32_t)(x >> 50) % 512;
		good = good && model_table_get(&t, (uint64_t)k << 29) == value[k];
	}
	CHECK(good);
	free(t.slot);
}

static void tell_stories(void)
{
	TEST(test_switch());
	TEST(test_seen_before_switch());
	TEST(test_missing_switch());
	TEST(test_missing_switch_from_idle());
	TEST(test_lost());
	TEST(test_calls());
	TEST(test_requests());
	TEST(test_spans());
	TEST(test_fork());
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tell_stories();
	stops = true;
	tell_stories();
	stops = false;
	TEST(test_many());
	TEST(test_bad_states());
	TEST(test_bad_rules());
	TEST(test_unused());
	TEST(test_patterns());
	TEST(test_table());
	return test_done();
}
