// SPDX-License-Identifier: MIT
/* lkstbuf - control buffers of events, and show what they hold (specification 4.7.3.3.2). */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lkst/print.h"
#include "cli/lkst/show.h"

#define NOT_SAID	UINT64_MAX

/* What options say. */
struct choice {
	uint64_t cpu, buffer, next, size;	/* NOT_SAID */
	bool verbose;
};

static int parse(int argc, char **argv, const char *letters, struct choice *c)
{
	int o, ret = TOOL_OK;

	*c = (struct choice){ NOT_SAID, NOT_SAID, NOT_SAID, NOT_SAID, false };
	while (!ret && (o = tool_option(argc, argv, letters)) != -1) {
		switch (o) {
		case 'b':
			ret = tool_number(optarg, "buffer id", LKST_BUFFER_MAX - 1, &c->buffer);
			break;
		case 'n':
			ret = tool_number(optarg, "buffer id", LKST_BUFFER_MAX - 1, &c->next);
			break;
		case 'c':
			ret = tool_number(optarg, "CPU", INT32_MAX, &c->cpu);
			break;
		case 's':
			ret = tool_size(optarg, "size", &c->size);
			break;
		case 'v':
			c->verbose = true;
			break;
		default:
			return TOOL_USAGE;
		}
	}
	return ret ? ret : tool_no_more(argc, argv);
}

static int32_t id_of(uint64_t said)
{
	return said == NOT_SAID ? LKST_BUFFER_ID_VOID : (int32_t)said;
}

/* ---- one CPU, or all ---- */

struct on_cpu {
	const struct choice *c;
	int (*fn)(struct tacho_lkst *l, int cpu, const struct choice *c);
	unsigned int done;	/* CPUs */
	int err;		/* of the first that failed */
	int failed;		/* its number */
};

static int on_one(struct tacho_lkst *l, int cpu, void *arg)
{
	struct on_cpu *o = arg;
	int err = o->fn(l, cpu, o->c);

	if (err && !o->err) {
		o->err = err;
		o->failed = cpu;
	}
	o->done += !err;
	return 0;
}

static const char *why(int err)
{
	switch (-err) {
	case EINVAL:
		return "there is no such CPU or buffer, or the buffer links to none";
	case EBUSY:
		return "the buffer is being written or read";
	case EAGAIN:
		return "its writers were faster, many times; try again";
	default:
		return strerror(-err);
	}
}

/*
 * anywhere: without -c it is enough that it works on one CPU: buffers of an id need not be on
 * all of them.
 */
static int on_cpus(struct tacho_lkst *l, const struct choice *c, bool anywhere, const char *what,
		   int (*fn)(struct tacho_lkst *l, int cpu, const struct choice *c))
{
	struct on_cpu o = { c, fn, 0, 0, 0 };
	int ret = c->cpu == NOT_SAID ? each_cpu(l, on_one, &o) : on_one(l, (int)c->cpu, &o);

	if (ret || !o.err || (anywhere && o.done && o.err == -EINVAL && c->cpu == NOT_SAID))
		return ret;
	return tool_fail(TOOL_FAILED, "cannot %s on CPU %d: %s", what, o.failed, why(o.err));
}

static int link_one(struct tacho_lkst *l, int cpu, const struct choice *c)
{
	const struct lkst_buffer_linkparam p = { cpu, id_of(c->buffer), id_of(c->next) };

	return tacho_lkst_buffer_link(l, &p);
}

static int shift_one(struct tacho_lkst *l, int cpu, const struct choice *c)
{
	(void)c;
	return tacho_lkst_buffer_shift(l, cpu);
}

static int jump_one(struct tacho_lkst *l, int cpu, const struct choice *c)
{
	const struct lkst_buffer_jumpparam p = { cpu, id_of(c->buffer) };

	return tacho_lkst_buffer_jump(l, &p);
}

static int delete_one(struct tacho_lkst *l, int cpu, const struct choice *c)
{
	const struct lkst_buffer_delparam p = { cpu, id_of(c->buffer) };

	return tacho_lkst_buffer_delete(l, &p);
}

static int link_buffers(struct tacho_lkst *l, const struct choice *c)
{
	if (c->buffer == NOT_SAID)
		return tool_fail(TOOL_USAGE, "link needs '-b BUFFER'");
	if (c->buffer == c->next)
		return tool_fail(TOOL_USAGE, "buffer %" PRIu64 " cannot be linked to itself",
				 c->buffer);
	return on_cpus(l, c, true, "link", link_one);
}

static int shift(struct tacho_lkst *l, const struct choice *c)
{
	return on_cpus(l, c, false, "shift", shift_one);
}

static int jump(struct tacho_lkst *l, const struct choice *c)
{
	if (c->buffer == NOT_SAID)
		return tool_fail(TOOL_USAGE, "jump needs '-b BUFFER'");
	return on_cpus(l, c, false, "jump", jump_one);
}

static int delete(struct tacho_lkst *l, const struct choice *c)
{
	if (c->buffer == NOT_SAID)
		return tool_fail(TOOL_USAGE, "delete needs '-b BUFFER'");
	if (!c->buffer)
		return tool_fail(TOOL_FAILED, "buffer 0 cannot be deleted");
	return on_cpus(l, c, true, "delete", delete_one);
}

static int create(struct tacho_lkst *l, const struct choice *c)
{
	struct lkst_buffer_param p = {
		.id = id_of(c->buffer), .next = id_of(c->next),
		.cpu = c->cpu == NOT_SAID ? -1 : (int)c->cpu, .size = c->size,
	};
	int err;

	if (c->size == NOT_SAID)
		return tool_fail(TOOL_USAGE, "create needs '-s SIZE'");
	err = tacho_lkst_buffer_create(l, &p);
	if (err == -EINVAL)
		return tool_fail(TOOL_FAILED, "cannot create the buffer: it is there already, links "
				 "to itself, there is no such CPU, or its size is not from %u to %u "
				 "bytes", LKST_BUFFER_SIZE_MIN, LKST_BUFFER_SIZE_MAX);
	if (err == -ENOSPC)
		return tool_fail(TOOL_FAILED, "cannot create the buffer: all %d ids are taken",
				 LKST_BUFFER_MAX);
	if (err == -ENOMEM)
		return tool_fail(TOOL_FAILED, "cannot create the buffer: out of memory, or no space "
				 "left in '%s'", l->dir.path);
	if (err)
		return tool_failed(err, "create the buffer");
	printf("%d %zu\n", p.id, p.result_size);
	return TOOL_OK;
}

static int list(struct tacho_lkst *l, const struct choice *c)
{
	return show_buffers(l, c->cpu == NOT_SAID ? -1 : (int)c->cpu, c->verbose);
}

static int with(int argc, char **argv, const char *letters,
		int (*fn)(struct tacho_lkst *l, const struct choice *c))
{
	struct tacho_lkst l;
	struct choice c;
	int ret = parse(argc, argv, letters, &c);

	if (ret)
		return TOOL_USAGE;
	ret = tool_open(&l);
	if (ret)
		return ret;
	ret = fn(&l, &c);
	tacho_lkst_close(&l);
	return ret;
}

static int run_link(int argc, char **argv)
{
	return with(argc, argv, "b:n:c:", link_buffers);
}

static int run_shift(int argc, char **argv)
{
	return with(argc, argv, "c:", shift);
}

static int run_jump(int argc, char **argv)
{
	return with(argc, argv, "b:c:", jump);
}

static int run_create(int argc, char **argv)
{
	return with(argc, argv, "b:c:n:s:", create);
}

static int run_delete(int argc, char **argv)
{
	return with(argc, argv, "b:c:", delete);
}

static int run_list(int argc, char **argv)
{
	return with(argc, argv, "c:v", list);
}

/* ---- read ---- */

struct log {
	struct lkst_log_writer *w;
	struct tacho_diag d;
};

static int create_log(struct tacho_lkst *l, const char *path, const struct lkst_types *types,
		      struct log *log)
{
	const struct tacho_control *ctl = l->session.view.ctl;
	struct lkst_log_config cfg = { .freq = ctl->clock_freq, .tsc = ctl->start.ticks,
				       .realtime = ctl->start.realtime, .uuid = ctl->uuid };
	struct tacho_buf text;
	struct timeval tv;
	char arch[LKST_ARCH_NAME_LEN];
	lkst_tsc_t tsc;
	lkst_cpu_freq_t freq;
	int big, ver, err;

	tacho_lkst_base(l, &tv, &tsc, &freq, &big, &ver, arch);
	cfg.arch = arch;
	tacho_buf_init(&text, LKST_TYPES_TEXT_MAX);
	lkst_types_text(types, &text);
	cfg.types = text.data;
	cfg.types_len = text.len;
	err = lkst_log_create(&log->w, path, &cfg, &log->d);
	tacho_buf_release(&text);
	return err ? tool_fail(TOOL_FAILED, "%s", log->d.text) : TOOL_OK;
}

/* A block is of one CPU; the static buffer has records of all. */
static int write_buffer(void *arg, const struct lkst_record *r, size_t n, int cpu, int32_t id)
{
	struct log *log = arg;
	int err = 0;

	(void)cpu;
	for (size_t i = 0, run; !err && i < n; i += run) {
		for (run = 1; i + run < n && r[i + run].cpu == r[i].cpu; run++)
			;
		err = lkst_log_write(log->w, r[i].cpu, id, &r[i], run, 0, &log->d);
	}
	return err ? tool_fail(TOOL_FAILED, "%s", log->d.text) : TOOL_OK;
}

static int write_log(struct tacho_lkst *l, const struct print_options *o, const char *path,
		     const struct lkst_types *types)
{
	struct log log = { 0 };
	int ret = create_log(l, path, types, &log);

	if (ret)
		return ret;
	ret = print_each_buffer(l, o, write_buffer, &log);
	if (lkst_log_close(log.w, &log.d) && !ret)
		ret = tool_fail(TOOL_FAILED, "%s", log.d.text);
	return ret;
}

static int read_to_file(const struct print_options *o, const char *path)
{
	struct lkst_types types;
	struct tacho_lkst l;
	int ret = tool_open(&l);

	if (ret)
		return ret;
	lkst_types_init(&types);
	ret = tool_types(&l, o->etypes, &types);
	if (!ret)
		ret = write_log(&l, o, path, &types);
	lkst_types_release(&types);
	tacho_lkst_close(&l);
	return ret;
}

static int run_read(int argc, char **argv)
{
	struct print_options o = { .cpu = -1, .max = UINT64_MAX, .ascending = true,
				   .each = true, .buffer = LKST_BUFFER_ID_VOID };
	const char *path = NULL;
	uint64_t n;
	int c, ret = TOOL_OK;

	while (!ret && (c = tool_option(argc, argv, "c:b:f:n:E:S")) != -1) {
		switch (c) {
		case 'c':
			ret = tool_number(optarg, "CPU", INT32_MAX, &n);
			o.cpu = (int64_t)n;
			break;
		case 'b':
			ret = tool_number(optarg, "buffer id", LKST_BUFFER_MAX - 1, &n);
			o.buffer = (int32_t)n;
			break;
		case 'n':
			ret = tool_number(optarg, "number of entries", INT64_MAX, &o.max);
			break;
		case 'f':
			path = optarg;
			break;
		case 'E':
			o.etypes = optarg;
			break;
		case 'S':
			o.fixed = true;
			break;
		default:
			return TOOL_USAGE;
		}
	}
	if (ret || tool_no_more(argc, argv))
		return TOOL_USAGE;
	if (o.fixed && (o.cpu >= 0 || o.buffer != LKST_BUFFER_ID_VOID))
		return tool_fail(TOOL_USAGE, "the static buffer (-S) has no CPU and no id");
	return path ? read_to_file(&o, path) : print_events(&o);
}

/* ---- print ---- */

static int parse_print(int argc, char **argv, struct print_options *o, bool *help)
{
	int c, ret = TOOL_OK;
	uint64_t n;

	while (!ret && (c = tool_option(argc, argv, "f:c:b:e:hn:rCSVE:")) != -1) {
		switch (c) {
		case 'f':
			o->input = optarg;
			break;
		case 'c':
			ret = tool_number(optarg, "CPU", INT32_MAX, &n);
			o->cpu = (int64_t)n;
			break;
		case 'b':
			ret = tool_number(optarg, "buffer id", LKST_BUFFER_MAX - 1, &n);
			o->buffer = (int32_t)n;
			break;
		case 'e':
			o->events = optarg;
			break;
		case 'n':
			ret = tool_number(optarg, "number of entries", INT64_MAX, &o->max);
			break;
		case 'E':
			o->etypes = optarg;
			break;
		case 'h':
		case 'r':
		case 'C':
		case 'S':
		case 'V':
			*(c == 'h' ? help : c == 'r' ? &o->ascending : c == 'C' ? &o->csv :
			  c == 'S' ? &o->seconds : &o->verbose) = true;
			break;
		default:
			return TOOL_USAGE;
		}
	}
	return ret;
}

static int run_print(int argc, char **argv)
{
	struct print_options o = { .cpu = -1, .max = UINT64_MAX, .buffer = LKST_BUFFER_ID_VOID };
	bool help = false;

	if (parse_print(argc, argv, &o, &help) || tool_no_more(argc, argv))
		return TOOL_USAGE;
	if (help) {
		printf("usage: lkstbuf print [-f FILE] [-c CPU] [-b BUFFER] [-e EVENT,..] "
		       "[-n ENTRIES] [-r] [-C [-S]] [-V] [-E FILE]\n\nevents for -e, by number, mnemonic or name:\n");
		return print_names(o.etypes);
	}
	if (o.seconds && !o.csv)
		return tool_fail(TOOL_USAGE, "'-S' is for '-C'");
	return print_events(&o);
}

int main(int argc, char **argv)
{
	static const struct tool_command table[] = {
		{ "link", "ln", run_link, "-b BUFFER [-n NEXT] [-c CPU]",
		  "set the successor of a buffer (default: none)" },
		{ "shift", NULL, run_shift, "[-c CPU]", "switch to the successor of the current buffer" },
		{ "jump", NULL, run_jump, "-b BUFFER [-c CPU]", "switch to a buffer" },
		{ "create", NULL, run_create, "-s SIZE[K|M] [-b BUFFER] [-n NEXT] [-c CPU]",
		  "create a buffer (default: on all CPUs); print its id and size" },
		{ "delete", "del", run_delete, "-b BUFFER [-c CPU]", "delete a buffer" },
		{ "list", "ls", run_list, "[-c CPU] [-v]", "list the buffers" },
		{ "read", NULL, run_read,
		  "[-c CPU] [-b BUFFER | -S] [-f FILE] [-n ENTRIES] [-E FILE]",
		  "write the contents of buffers to a log file, or print them; -S: the static buffer" },
		{ "print", NULL, run_print,
		  "[-f FILE] [-c CPU] [-b BUFFER] [-e EVENT,..] [-n ENTRIES] [-r] [-C [-S]] [-V] "
		  "[-E FILE]",
		  "print the events of a log file or core dump, or of the buffers, the newest first;\n"
		  "        -h: list the events for -e, -r: the oldest first, -C: as CSV "
		  "(-S: seconds, microseconds),\n        -V: all arguments" },
		{ 0 },
	};

	tool_name = "lkstbuf";
	return tool_main(table, "control buffers of LKST", argc, argv);
}
