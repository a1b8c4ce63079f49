// SPDX-License-Identifier: MIT
#include "compat/ltt/visualize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/ltt/account.h"
#include "fmt/ltt/describe.h"
#include "fmt/ltt/i386_calls.h"
#include "fmt/ltt/read.h"
#include "kdata/syscalls.h"
#include "stream/stream.h"

#define FLUSH	65536u
#define BANNER	"####################################################################\n"

struct visual {
	const struct ltt_visual_config *c;
	struct tacho_diag *d;
	struct tacho_stream *stream;
	struct tacho_source *source;
	struct tacho_ltt_words words;
	struct tacho_arena arena;
	struct tacho_syscalls calls;	/* of the trace */
	struct ltt_account *sums;
	struct tacho_buf out;
	int failed;			/* what put() returned, or there was no memory */
};

int ltt_mask_of(const char *name, trace_event_mask *bits)
{
	int id = tacho_ltt_id_of(name);

	if (id == -1)
		return -EINVAL;
	*bits = id == -2 ? LTT_CORE_MASK : TRACE_EVENT_BIT(id & 63);
	return 0;
}

unsigned int ltt_layout_flag(const char *name)
{
	return tacho_ltt_layout_flag(name);
}

/* ---- output ------------------------------------------------------------------------ */

static void flush(struct visual *v)
{
	if (!v->failed && tacho_buf_error(&v->out))
		v->failed = tacho_buf_error(&v->out);
	if (!v->failed && v->out.len)
		v->failed = v->c->put(v->c->arg, &v->out);
	tacho_buf_reset(&v->out);
}

/* 1086115200123456 as "1,086,115,200,123,456". */
static void put_time(struct tacho_buf *out, uint64_t us)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64 "%06" PRIu64, us / 1000000,
			 us % 1000000);

	for (int i = 0; i < n; i++) {
		tacho_buf_putc(out, digits[i]);
		if ((n - i) % 3 == 1 && i + 1 < n)
			tacho_buf_putc(out, ',');
	}
}

static bool many_cpus(const struct visual *v)
{
	return v->source->nr_parts > 1 && !v->c->no_cpu;
}

static void put_header(struct visual *v)
{
	struct tacho_buf *out = &v->out;

	tacho_buf_puts(out, BANNER);
	if (many_cpus(v))
		tacho_buf_puts(out, "CPU-ID\t");
	tacho_buf_puts(out, "Event\t\t");
	if (!v->c->no_time)
		tacho_buf_puts(out, "\tTime\t\t");
	if (!v->c->no_pid)
		tacho_buf_puts(out, "\tPID");
	if (!v->c->no_length)
		tacho_buf_puts(out, "\tLength");
	if (!v->c->no_text)
		tacho_buf_puts(out, "\tDescription");
	tacho_buf_puts(out, "\n" BANNER);
}

static void put_event(struct visual *v, const struct tacho_record *r,
		      const struct tacho_ltt_seen *seen)
{
	struct tacho_buf *out = &v->out;

	if (many_cpus(v))
		tacho_buf_printf(out, "%d \t", (int)r->cpu);
	tacho_buf_printf(out, "%-23s", tacho_ltt_title(&v->words, seen));
	if (!v->c->no_time) {
		put_time(out, r->time / 1000);
		tacho_buf_puts(out, " \t");
	}
	if (!v->c->no_pid && r->pid < 0)
		tacho_buf_puts(out, "N/A");
	else if (!v->c->no_pid)
		tacho_buf_put_s64(out, r->pid);
	tacho_buf_puts(out, " \t");
	if (!v->c->no_length)
		tacho_buf_printf(out, "%u \t", seen->size);
	if (!v->c->no_text)
		tacho_ltt_describe(&v->words, seen, r->time / 1000, out);
	tacho_buf_putc(out, '\n');
	if (out->len >= FLUSH)
		flush(v);
}

/* ---- the two passes ----------------------------------------------------------------- */

static bool wanted(const struct visual *v, const struct tacho_record *r, uint32_t id)
{
	trace_event_mask bit = id < 64 ? TRACE_EVENT_BIT(id) : 0;

	return (!v->c->only || v->c->only & bit) && !(v->c->omit & bit) &&
	       (v->c->cpu < 0 || v->c->cpu == r->cpu) && (v->c->pid < 0 || v->c->pid == r->pid);
}

/* Those about buffers were never shown. */
static bool is_frame(const struct tacho_ltt_seen *seen)
{
	return seen->id == TRACE_BUFFER_START || seen->id == TRACE_BUFFER_END ||
	       (seen->id == TRACE_START && !seen->sub);
}

static int stream_failed(const struct visual *v)
{
	const struct tacho_error *error = tacho_stream_error(v->stream);

	return tacho_diag(v->d, error->err, error->offset, "%s", error->text);
}

static int pass(struct visual *v, bool print)
{
	struct tacho_ltt_seen seen;
	struct tacho_record r;
	int status;

	while ((status = tacho_stream_next(v->stream, &r)) == TACHO_STREAM_RECORD) {
		tacho_ltt_see(&seen, &r);
		if (tacho_ltt_words_add(&v->words, &seen))
			return tacho_no_memory(v->d);
		if (!print && ltt_account_event(v->sums, &r, &seen, is_frame(&seen)))
			return tacho_no_memory(v->d);
		if (print && !is_frame(&seen) && wanted(v, &r, seen.id))
			put_event(v, &r, &seen);
		if (v->failed)
			return v->failed;
	}
	return status == TACHO_STREAM_ERROR ? stream_failed(v) : 0;
}

/* ---- opening -------------------------------------------------------------------------- */

static const char *syscall_name(void *arg, uint32_t nr)
{
	const struct visual *v = arg;

	if (v->calls.nr)
		return tacho_syscalls_find(&v->calls, nr);
	switch (v->words.arch) {
	case TRACE_ARCH_TYPE_I386:
		return nr < 256 ? i386_calls[nr] : NULL;
#if defined(__x86_64__)
	case TRACE_ARCH_TYPE_X86_64:
		return tacho_syscall_name(nr);
#elif defined(__aarch64__)
	case TRACE_ARCH_TYPE_ARM64:
		return tacho_syscall_name(nr);
#endif
	default:
		return NULL;
	}
}

static int load_calls(struct visual *v)
{
	struct tacho_buf text;
	int err;

	tacho_arena_init(&v->arena, (size_t)1 << 20);
	tacho_buf_init(&text, (size_t)1 << 20);
	err = tacho_stream_text(v->stream, "syscalls", &text);
	if (!err)
		err = tacho_syscalls_parse(&v->calls, &v->arena, text.data, text.len);
	tacho_buf_release(&text);
	v->words.syscall = syscall_name;
	v->words.arg = v;
	return err == -ENOMEM ? tacho_no_memory(v->d) : 0;
}

static int open_all(struct visual *v)
{
	const char *proc = v->c->proc;
	int err;

	tacho_buf_init(&v->out, (size_t)8 << 20);
	v->stream = tacho_stream_new(0);
	v->sums = ltt_account_new();
	if (!v->stream || !v->sums)
		return tacho_no_memory(v->d);
	err = tacho_ltt_open_plain(&v->source, v->c->trace, v->c->flags, v->d);
	if (err)
		return err;
	if (tacho_stream_add_take(v->stream, v->source))
		return tacho_no_memory(v->d);
	err = proc ? tacho_ltt_read_proc(proc, &v->source->facts) : 0;
	if (err)
		return tacho_diag(v->d, err, 0, "%s: %s", proc, strerror(-err));
	return load_calls(v);
}

static void put_sums(struct visual *v)
{
	ltt_account_print(v->sums, &v->source->facts, &v->words, v->c->account, &v->out);
	if (v->c->cpu >= 0)
		tacho_buf_printf(&v->out, "Tracing CPU %d only \n\n", (int)v->c->cpu);
	if (v->c->pid >= 0)
		tacho_buf_printf(&v->out, "Tracing process %d only \n\n", (int)v->c->pid);
}

static int run(struct visual *v, bool *damaged)
{
	struct tacho_stream_info info;
	int err = open_all(v);

	if (!err)
		err = pass(v, false);
	if (err)
		return err;
	put_sums(v);
	if (!v->c->summarize) {
		put_header(v);
		err = tacho_stream_seek(v->stream, 0);
		if (err)
			return tacho_diag(v->d, err, 0, "cannot read the trace again");
		err = pass(v, true);
	}
	flush(v);
	if (v->failed || err)
		return v->failed ? v->failed : err;
	if (tacho_stream_get_info(v->stream, &info))
		return stream_failed(v);
	*damaged = info.damaged;
	return 0;
}

int ltt_visualize(const struct ltt_visual_config *config, bool *damaged, struct tacho_diag *d)
{
	struct visual v = { .c = config, .d = d };
	int err;

	*damaged = false;
	err = run(&v, damaged);
	tacho_ltt_words_release(&v.words);
	tacho_stream_close(v.stream);
	tacho_arena_release(&v.arena);
	ltt_account_free(v.sums);
	tacho_buf_release(&v.out);
	return err;
}
