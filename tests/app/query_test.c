// SPDX-License-Identifier: MIT
/*
 * query_test GEN_TRACE TACHO [TEST]... - questions put by a program: two at a time over one trace, one that
 * is cancelled, ones that are wrong.  The numbers are those of 'tacho hist --json', and
 * nothing is printed on the way.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "app/query.h"
#include "app/recipe.h"
#include "../unit/test.h"

#define EVENTS		100000u
#define TRACE		"trace"
#define KEYS		"keys=fd:vals=bytes:sort=fd"

static char *gen_trace, *tacho;

/* What one query came to. */
struct asked {
	const char *event, *text;
	uint64_t cancel_at;		/* records; 0: not */
	uint64_t done, total, nr_progress;	/* the last progress */
	uint64_t hits, entries, histograms;
	uint32_t failed;		/* what was to hold and did not */
	int err;
	struct tacho_diag d;
	char wrong[256];
	struct tacho_buf json;
};

/* CHECK() is not for two threads. */
static void want(struct asked *a, bool ok)
{
	a->failed += !ok;
}

static void take_progress(void *arg, uint64_t done, uint64_t total)
{
	struct asked *a = arg;

	want(a, done >= a->done);
	a->done = done;
	a->total = total;
	a->nr_progress++;
}

static bool is_cancelled(void *arg)
{
	const struct asked *a = arg;

	return a->cancel_at && a->done >= a->cancel_at;
}

/* The numbers themselves, without any text. */
static int count(const struct tacho_hist *hist, const struct tacho_names *names, void *arg)
{
	struct asked *a = arg;
	struct hist_view v;

	want(a, !hist_view_take(&v, hist, names));
	a->histograms++;
	a->hits += v.hits;
	a->entries += v.nr;
	hist_view_release(&v);
	return 0;
}

static void *ask(void *arg)
{
	struct asked *a = arg;
	const struct tacho_observer observer = {
		.progress = take_progress, .cancelled = is_cancelled, .arg = a,
	};
	const struct app_hist_form form = { .shape = APP_HIST_JSON };
	struct app_question *question = calloc(1, sizeof(*question));
	struct tacho_stream *stream;
	struct app_query *q;

	tacho_buf_init(&a->json, 1u << 20);
	question->command[0] = (struct app_question_command){ a->event, a->text };
	question->nr_commands = 1;
	if (tacho_stream_open(&stream, TRACE, 0, NULL))
		abort();
	a->err = app_query_open(&q, stream, question, &observer, &a->d);
	if (app_query_wrong(q))
		(void)snprintf(a->wrong, sizeof(a->wrong), "%s", app_query_wrong(q));
	if (!a->err) {
		want(a, !app_query_is_live(q));
		a->err = app_query_run(q, NULL, &a->d);
		want(a, !app_query_each(q, count, a));
		want(a, !app_query_put(q, &form, &a->json, NULL));
		want(a, !app_query_check_events(q, NULL));
	}
	app_query_close(q);
	tacho_stream_close(stream);
	free(question);
	return NULL;
}

/* What the tool says to the same question. */
static void check_tool(struct asked *a)
{
	char command[512], *line = NULL;
	size_t room = 0;
	FILE *out;

	(void)snprintf(command, sizeof(command), "'%s' hist --json " TRACE " -e %s '%s'", tacho,
		       a->event, a->text);
	out = popen(command, "r");
	CHECK(out && getline(&line, &room, out) > 0);
	CHECK_STR(tacho_buf_str(&a->json), line ? line : "");
	CHECK(out && !pclose(out));
	free(line);
}

static void two(void)
{
	struct asked a = { .event = "bench:thin", .text = KEYS };
	struct asked b = { .event = "bench:named", .text = "hist:keys=name" };
	pthread_t thread[2];

	CHECK(!pthread_create(&thread[0], NULL, ask, &a));
	CHECK(!pthread_create(&thread[1], NULL, ask, &b));
	CHECK(!pthread_join(thread[0], NULL) && !pthread_join(thread[1], NULL));
	CHECK_EQ(a.err, 0);
	CHECK_EQ(b.err, 0);
	CHECK_EQ(a.failed + b.failed, 0);
	CHECK_EQ(a.histograms, 1);
	CHECK_EQ(b.histograms, 1);
	CHECK_EQ(a.hits, EVENTS / 8 * 7);
	CHECK_EQ(b.hits, EVENTS / 8);
	CHECK_EQ(a.entries, 56);
	CHECK_EQ(b.entries, 1);
	CHECK(a.nr_progress >= EVENTS / 1024);
	CHECK_EQ(a.total, EVENTS);
	check_tool(&a);
	check_tool(&b);
	tacho_buf_release(&a.json);
	tacho_buf_release(&b.json);
}

/* Half of it: all records until then count, and none after. */
static void cancel(void)
{
	struct asked a = { .event = "bench:*", .text = "keys=common_pid",
			   .cancel_at = EVENTS / 2 };

	ask(&a);
	CHECK_EQ(a.err, -ECANCELED);
	CHECK_EQ(a.failed, 0);
	CHECK(a.done >= EVENTS / 2 && a.done < EVENTS);
	CHECK_EQ(a.histograms, 2);
	CHECK(a.hits >= a.done && a.hits <= a.done + 1024);
	tacho_buf_release(&a.json);
}

static void wrong(void)
{
	static const struct {
		const char *event, *text, *wrong, *says;
		int err;
		uint64_t offset;
	} table[] = {
		{ "bench:thin", "keys=fdd", "hist:keys=fdd", "Couldn't find field", -EINVAL, 10 },
		{ "bench:thin", "hist:keys=fdd", "hist:keys=fdd", "Couldn't find field",
		  -EINVAL, 10 },
		{ "bench:thinn", KEYS, "", "near it are: bench:thin", -ENOENT, 0 },
		{ "synthetic:none", KEYS, "", "there is no synthetic event 'none'", -ENOENT,
		  APP_NO_PLACE },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct asked a = { .event = table[i].event, .text = table[i].text };

		ask(&a);
		CHECK_EQ(a.err, table[i].err);
		CHECK_EQ(a.failed, 0);
		CHECK_EQ(a.d.err, table[i].err);
		CHECK_STR(a.wrong, table[i].wrong);
		CHECK(strstr(a.d.text, table[i].says));
		CHECK_EQ(a.d.offset, table[i].offset);
		tacho_buf_release(&a.json);
	}
}

static void recipes(void)
{
	const struct app_recipe *r;
	struct app_recipe_plan p;
	uint32_t n, asked = 0;

	for (n = 0; (r = app_recipe_at(n)); n++) {
		CHECK(app_recipe_find(app_recipe_name(r)) == r);
		CHECK(*app_recipe_summary(r));
		CHECK_EQ(app_recipe_way(r, NULL), APP_RECIPE_EVENTS);
		CHECK(app_recipe_has(r, APP_RECIPE_EVENTS));
		for (int way = APP_RECIPE_MODEL; way <= APP_RECIPE_EVENTS; way++) {
			if (!app_recipe_has(r, (enum app_recipe_way)way))
				continue;
			CHECK(!app_recipe_plan(&p, r, (enum app_recipe_way)way, NULL, NULL));
			CHECK(p.question.nr_commands && p.meaning);
			CHECK(!p.form.by == !p.form.quantiles.nr);
			asked += way == APP_RECIPE_MODEL;
			app_recipe_plan_release(&p);
		}
	}
	CHECK(n > 5 && asked > 5);
	CHECK(!app_recipe_find("none"));
}

static void kernel_path(void)
{
	struct app_question *q = calloc(1, sizeof(*q));
	struct tacho_buf path;

	q->command[q->nr_commands++] = (struct app_question_command){ "sched:sched_waking", "" };
	q->command[q->nr_commands++] = (struct app_question_command){ "synthetic:x", "" };
	q->command[q->nr_commands++] = (struct app_question_command){ "irq:*", "" };
	tacho_buf_init(&path, 4096);
	CHECK(!app_question_kernel_path(q, &path));
	CHECK_STR(tacho_buf_str(&path), "kernel:sched:sched_waking,irq:*");
	tacho_buf_release(&path);
	free(q);
}

static int refresh(void *arg, struct tacho_diag *d)
{
	uint64_t *left = arg;

	return --*left ? 0 : tacho_diag(d, -EPIPE, 0, "seen enough");
}

static void watch(void)
{
	uint64_t left = 3;
	struct app_watch w = { .every_ns = 1, .refresh = refresh, .arg = &left };
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_watch_run(&w, NULL, &d), -EPIPE);
	CHECK_EQ(left, 0);
	CHECK_STR(d.text, "seen enough");
	left = UINT64_MAX;
	w.duration_ns = 50000000;
	CHECK_EQ(app_watch_run(&w, NULL, NULL), 0);
	CHECK(left != UINT64_MAX);
}

/* Runs a test with stdout and stderr in a file, which stays empty. */
static void test_quietly(void (*fn)(void))
{
	int file = open("printed", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	char text[4096];
	ssize_t n;

	fflush(stdout);
	(void)dup2(file, STDOUT_FILENO);
	(void)dup2(file, STDERR_FILENO);
	fn();
	fflush(stdout);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	n = pread(file, text, sizeof(text), 0);
	if (n > 0)
		n = write(STDOUT_FILENO, text, (size_t)n);
	CHECK_EQ(n, 0);
	close(out);
	close(err);
	close(file);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/query_test.XXXXXX", command[512];

	if (argc < 3)
		return 2;
	test_args(argc - 2, argv + 2);
	gen_trace = realpath(argv[1], NULL);
	tacho = realpath(argv[2], NULL);
	if (!gen_trace || !tacho || !mkdtemp(dir) || chdir(dir))
		return 2;
	(void)snprintf(command, sizeof(command), "'%s' %u " TRACE " > made", gen_trace, EVENTS);
	CHECK(!system(command));
	TEST(test_quietly(two));
	TEST(test_quietly(cancel));
	TEST(test_quietly(wrong));
	TEST(test_quietly(recipes));
	TEST(test_quietly(kernel_path));
	TEST(test_quietly(watch));
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(!chdir("/") && !system(command));
	free(gen_trace);
	free(tacho);
	return test_done();
}
