// SPDX-License-Identifier: MIT
/*
 * tracevisualizer - a trace of LTT as text, in the lines of LTT's own tool.
 *
 * The trace is read twice: once to count, since the counts stand first, and once to
 * print.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ltt/account.h"
#include "cli/stdout.h"
#include "fmt/ltt/describe.h"
#include "fmt/ltt/i386_calls.h"
#include "fmt/ltt/read.h"
#include "kdata/syscalls.h"
#include "stream/stream.h"

#define FLUSH	65536u
#define BANNER	"####################################################################\n"

static const char usage[] =
	"usage: tracevisualizer [OPTIONS] TRACE [PROCFILE [OUTPUT]]\n\n"
	"Prints a trace of the Linux Trace Toolkit: the number of events of each kind, then\n"
	"one line per event.  TRACE is a file, or a directory with a file per CPU.  PROCFILE\n"
	"has the names of processes (default: NAME.proc next to the trace).  The default for\n"
	"OUTPUT is stdout.\n\n"
	"  -s, --summarize      print only the counts, no events\n"
	"  -a, --account        also print system calls and the time of each process\n"
	"  -e, --event NAME     print only events of this name: SCHED, FS, ..., CORE; repeatable\n"
	"  -x, --omit NAME      exclude events of this name; repeatable\n"
	"  -c, --cpu N          print only events of this CPU\n"
	"  -p, --pid N          print only events of this process\n"
	"      --no-cpu         omit the CPU\n"
	"      --no-time        ... the time\n"
	"      --no-pid         ... the process\n"
	"      --no-length      ... the length of the record\n"
	"      --no-description ... the event's description\n"
	"      --layout LAYOUT  struct layout: '64', '32', 'text' (default: detected)\n"
	"  -V, --version        print the version\n"
	"  -h, --help           print this help\n";

enum { OPT_NO_CPU = 0x100, OPT_NO_TIME, OPT_NO_PID, OPT_NO_LENGTH, OPT_NO_TEXT,
       OPT_LAYOUT };

static const struct option options[] = {
	{ "summarize", no_argument, NULL, 's' },
	{ "account", no_argument, NULL, 'a' },
	{ "event", required_argument, NULL, 'e' },
	{ "omit", required_argument, NULL, 'x' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "pid", required_argument, NULL, 'p' },
	{ "no-cpu", no_argument, NULL, OPT_NO_CPU },
	{ "no-time", no_argument, NULL, OPT_NO_TIME },
	{ "no-pid", no_argument, NULL, OPT_NO_PID },
	{ "no-length", no_argument, NULL, OPT_NO_LENGTH },
	{ "no-description", no_argument, NULL, OPT_NO_TEXT },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct visual {
	unsigned int flags;		/* of tacho_stream_open() */
	const char *trace, *proc, *output;
	bool summarize, account;
	bool no_cpu, no_time, no_pid, no_length, no_text;
	trace_event_mask only, omit;	/* 0: not given */
	int64_t cpu, pid;		/* -1: all */

	struct tacho_stream *stream;
	struct tacho_source *source;
	struct tacho_ltt_words words;
	struct tacho_arena arena;
	struct tacho_syscalls calls;	/* of the trace */
	struct ltt_account *sums;
	int fd;
	struct tacho_buf out;
	bool failed;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "tracevisualizer: %s%s%s\n", what, why ? ": " : "",
		why ? why : "");
	return 1;
}

/* ---- options ----------------------------------------------------------------------- */

static int take_name(trace_event_mask *mask, const char *name)
{
	int id = tacho_ltt_id_of(name);

	if (id == -1) {
		fprintf(stderr, "tracevisualizer: there is no event '%s' (SCHED, FS, "
			"SYS_ENTRY, ..., CORE)\n", name);
		return 2;
	}
	*mask |= id == -2 ? LTT_CORE_MASK : TRACE_EVENT_BIT(id);
	return 0;
}

static int take_number(int64_t *to, const char *text)
{
	uint64_t v;

	if (tacho_parse_u64(text, 0, INT32_MAX, &v)) {
		fprintf(stderr, "tracevisualizer: '%s' is not a number\n", text);
		return 2;
	}
	*to = (int64_t)v;
	return 0;
}

static int take_layout(struct visual *v, const char *text)
{
	v->flags = tacho_ltt_layout_flag(text);
	if (v->flags)
		return 0;
	fprintf(stderr, "tracevisualizer: --layout: '%s' is not one of 64, 32, text\n", text);
	return 2;
}

static int take_option(struct visual *v, int opt)
{
	switch (opt) {
	case 's': v->summarize = true; return 0;
	case 'a': v->account = true; return 0;
	case 'e': return take_name(&v->only, optarg);
	case 'x': return take_name(&v->omit, optarg);
	case 'c': return take_number(&v->cpu, optarg);
	case 'p': return take_number(&v->pid, optarg);
	case OPT_NO_CPU: v->no_cpu = true; return 0;
	case OPT_NO_TIME: v->no_time = true; return 0;
	case OPT_NO_PID: v->no_pid = true; return 0;
	case OPT_NO_LENGTH: v->no_length = true; return 0;
	case OPT_NO_TEXT: v->no_text = true; return 0;
	case OPT_LAYOUT: return take_layout(v, optarg);
	default: return 2;
	}
}

/* -1: go on. */
static int parse(struct visual *v, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "sae:x:c:p:Vh", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage, stdout) < 0;
		if (opt == 'V')
			return puts("tracevisualizer of tacho " TACHO_VERSION) < 0;
		ret = take_option(v, opt);
		if (ret)
			return ret;
	}
	if (argc - optind < 1 || argc - optind > 3) {
		fputs("usage: tracevisualizer [OPTIONS] TRACE [PROCFILE [OUTPUT]]\n",
		      stderr);
		return 2;
	}
	v->trace = argv[optind];
	v->proc = optind + 1 < argc ? argv[optind + 1] : NULL;
	v->output = optind + 2 < argc ? argv[optind + 2] : NULL;
	return -1;
}

/* ---- output ------------------------------------------------------------------------ */

static void flush(struct visual *v)
{
	size_t done = 0;

	if (tacho_buf_error(&v->out)) {
		errno = -tacho_buf_error(&v->out);
		v->failed = true;
	}
	while (done < v->out.len && !v->failed) {
		ssize_t n = write(v->fd, v->out.data + done, v->out.len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			v->failed = true;
	}
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
	return v->source->nr_parts > 1 && !v->no_cpu;
}

static void put_header(struct visual *v)
{
	struct tacho_buf *out = &v->out;

	tacho_buf_puts(out, BANNER);
	if (many_cpus(v))
		tacho_buf_puts(out, "CPU-ID\t");
	tacho_buf_puts(out, "Event\t\t");
	if (!v->no_time)
		tacho_buf_puts(out, "\tTime\t\t");
	if (!v->no_pid)
		tacho_buf_puts(out, "\tPID");
	if (!v->no_length)
		tacho_buf_puts(out, "\tLength");
	if (!v->no_text)
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
	if (!v->no_time) {
		put_time(out, r->time / 1000);
		tacho_buf_puts(out, " \t");
	}
	if (!v->no_pid && r->pid < 0)
		tacho_buf_puts(out, "N/A");
	else if (!v->no_pid)
		tacho_buf_put_s64(out, r->pid);
	tacho_buf_puts(out, " \t");
	if (!v->no_length)
		tacho_buf_printf(out, "%u \t", seen->size);
	if (!v->no_text)
		tacho_ltt_describe(&v->words, seen, r->time / 1000, out);
	tacho_buf_putc(out, '\n');
	if (out->len >= FLUSH)
		flush(v);
}

/* ---- the two passes ----------------------------------------------------------------- */

static bool wanted(const struct visual *v, const struct tacho_record *r, uint32_t id)
{
	trace_event_mask bit = id < 64 ? TRACE_EVENT_BIT(id) : 0;

	return (!v->only || v->only & bit) && !(v->omit & bit) &&
	       (v->cpu < 0 || v->cpu == r->cpu) && (v->pid < 0 || v->pid == r->pid);
}

/* Those about buffers were never shown. */
static bool is_frame(const struct tacho_ltt_seen *seen)
{
	return seen->id == TRACE_BUFFER_START || seen->id == TRACE_BUFFER_END ||
	       (seen->id == TRACE_START && !seen->sub);
}

static int pass(struct visual *v, bool print)
{
	struct tacho_ltt_seen seen;
	struct tacho_record r;
	int status;

	while ((status = tacho_stream_next(v->stream, &r)) == TACHO_STREAM_RECORD) {
		tacho_ltt_see(&seen, &r);
		if (tacho_ltt_words_add(&v->words, &seen))
			return fail("out of memory", NULL);
		if (!print && ltt_account_event(v->sums, &r, &seen, is_frame(&seen)))
			return fail("out of memory", NULL);
		if (print && !is_frame(&seen) && wanted(v, &r, seen.id))
			put_event(v, &r, &seen);
		if (v->failed)
			break;
	}
	return status == TACHO_STREAM_ERROR ?
	       fail(tacho_stream_error(v->stream)->text, NULL) : 0;
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
	return err == -ENOMEM ? fail("out of memory", NULL) : 0;
}

static int open_all(struct visual *v)
{
	struct tacho_diag d = { 0 };
	int err;

	v->fd = STDOUT_FILENO;
	tacho_buf_init(&v->out, (size_t)8 << 20);
	v->stream = tacho_stream_new(0);
	v->sums = ltt_account_new();
	if (!v->stream || !v->sums)
		return fail("out of memory", NULL);
	if (tacho_ltt_open_plain(&v->source, v->trace, v->flags, &d))
		return fail(d.text, NULL);
	if (tacho_stream_add_take(v->stream, v->source))
		return fail("out of memory", NULL);
	err = v->proc ? tacho_ltt_read_proc(v->proc, &v->source->facts) : 0;
	if (err)
		return fail(v->proc, strerror(-err));
	if (load_calls(v))
		return 1;
	if (v->output)
		v->fd = open(v->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return v->fd < 0 ? fail(v->output, strerror(errno)) : 0;
}

static int run(struct visual *v)
{
	struct tacho_stream_info info;
	int ret = open_all(v);

	if (!ret)
		ret = pass(v, false);
	if (ret)
		return ret;
	ltt_account_print(v->sums, &v->source->facts, &v->words, v->account, &v->out);
	if (v->cpu >= 0)
		tacho_buf_printf(&v->out, "Tracing CPU %d only \n\n", (int)v->cpu);
	if (v->pid >= 0)
		tacho_buf_printf(&v->out, "Tracing process %d only \n\n", (int)v->pid);
	if (!v->summarize) {
		put_header(v);
		if (tacho_stream_seek(v->stream, 0))
			return fail("cannot read the trace again", NULL);
		ret = pass(v, true);
	}
	flush(v);
	if (v->failed && errno != EPIPE)
		return fail(v->output ? v->output : "stdout", strerror(errno));
	if (!ret && tacho_stream_get_info(v->stream, &info))
		return fail(tacho_stream_error(v->stream)->text, NULL);
	if (!ret && info.damaged)
		fprintf(stderr, "tracevisualizer: skipped damaged places; 'tacho "
			"check %s' lists them\n", v->trace);
	return ret || v->failed;
}

static int run_tool(int argc, char **argv)
{
	struct visual v = { .cpu = -1, .pid = -1, .fd = -1 };
	int ret = parse(&v, argc, argv);

	if (ret >= 0)
		return ret;
	ret = run(&v);
	tacho_ltt_words_release(&v.words);
	tacho_stream_close(v.stream);
	tacho_arena_release(&v.arena);
	ltt_account_free(v.sums);
	tacho_buf_release(&v.out);
	if (v.output && v.fd >= 0 && close(v.fd) && !ret)
		ret = fail(v.output, strerror(errno));
	return ret;
}

int main(int argc, char **argv)
{
	int ret = run_tool(argc, argv);
	const char *why = cli_stdout_end();

	return why ? fail("stdout", why) : ret;
}
