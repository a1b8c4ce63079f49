// SPDX-License-Identifier: MIT
/*
 * Triggers on markers: events/ftrace/print/trigger.
 *
 * A marker is a record of the session; only a write to trace_marker hits its event.
 * So its triggers are the engine's, and the engine gets each marker as the kernel's event
 * ftrace:print, by its time between the kernel's records:
 *
 *	M1  trace_marker writes it to the session's rings
 *	M2  a copy goes to the engine's lane of markers
 *	M3  all that is older goes through the engine, and the marker with it: its write does
 *	    not return before its triggers are through
 *	M4  what the engine lets pass is dropped: M1 has recorded it
 *
 * The kernel's stack of who writes is there to be read meanwhile, for a stacktrace trigger: it
 * waits for the answer.
 *
 * So a marker with its triggers takes some 0.5 ms.  The ones without cost nothing.
 * Those that switch an event of programs are commands of the session, run here, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scan.h"
#include "engine/filter.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store_priv.h"
#include "session/compile.h"
#include "tacho/abi/record.h"

#define ARENA_MAX	((size_t)1 << 20)
#define STACK_MAX	64
#define STACK_TEXT	((size_t)64 << 10)
#define TEXT_AT	20	/* of a marker, as kernel/ktype.h has it: ip, __data_loc, text */

bool tree_is_marked(const struct tree_store *s, const struct tacho_record *r)
{
	return s->mark_time && r->ticks == s->mark_time && s->marker &&
	       r->type == s->marker->type && r->len > TEXT_AT &&
	       tacho_load_u64((const unsigned char *)r->raw + 8) == TREE_MARKER_IP;
}

/* "[<0>] vfs_write+0xcd/0x450 [module]": its address; 0: not known. */
static uint64_t frame_address(const struct tree_symbols *symbols, const char *line)
{
	const char *name = strstr(line, "] ");
	char word[128];
	uint64_t start, offset = 0;
	const char *digits;
	char *plus;

	if (!name)
		return 0;
	(void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(name + 2, "/ "), name + 2);
	plus = strchr(word, '+');
	if (!plus)
		return 0;
	*plus = '\0';
	digits = plus + 1;
	(void)tacho_scan_number(&digits, NULL, UINT64_MAX, &offset);
	return tree_symbol_find(symbols, word, &start) ? start + offset : 0;
}

/* The kernel's stack of a thread that waits for us; how many addresses. */
static uint32_t read_stack(struct tacho_tree *tree, int32_t pid, uint64_t *addr)
{
	struct tree_symbols *symbols = tree_symbols_get(tree);
	struct tacho_buf b;
	char path[48];
	uint32_t n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	tacho_buf_init(&b, STACK_TEXT);
	if (symbols && !tacho_buf_read_file(&b, path)) {
		const char *line = tacho_buf_str(&b);

		while (*line && n < STACK_MAX) {
			addr[n] = frame_address(symbols, line);
			n += addr[n] != 0;
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
	}
	tacho_buf_release(&b);
	if (symbols)
		tree_symbols_put(tree, symbols);
	return n;
}

void tree_mark_stack(struct tree_store *s, const struct tacho_record *r)
{
	const struct tacho_type *type = tree_store_type(s, TREE_OWN, "kernel_stack");
	const struct tacho_field *size, *caller;
	uint64_t addr[STACK_MAX];
	unsigned char record[8 + 64 + sizeof(addr)] = { 0 }, *raw = record + 8;
	uint32_t n, at, len;

	size = type ? tacho_type_field(type, "size") : NULL;
	caller = type ? tacho_type_field(type, "caller") : NULL;
	if (!caller || caller->kind != TACHO_FIELD_DATA_LOC || type->fixed_size > 64)
		return;
	n = read_stack(s->inst->tree, r->pid, addr);
	at = TACHO_ALIGN_UP(type->fixed_size, 8);
	len = TACHO_ALIGN_UP(8 + at + n * 8, 8);
	tacho_put_u64(record, tacho_record_word(r->ticks, len));
	tacho_put_u16(raw, (uint16_t)type->id);
	tacho_put_u32(raw + 4, (uint32_t)r->pid);
	if (size && size->size == 4)
		tacho_put_u32(raw + size->offset, n);
	tacho_put_u32(raw + caller->offset, n * 8 << 16 | at);
	memcpy(raw + at, addr, n * sizeof(*addr));
	(void)tree_store_put(s, r->cpu, record, len, r->ticks);
}

/* ---- events of programs ---- */

/* One of the hits that a trigger's count allows; other processes count, too. */
static bool take_count(struct tacho_command *cmd)
{
	uint64_t left = tacho_load_relaxed(&cmd->left);

	do {
		if (left == UINT64_MAX)
			return true;
		if (!left)
			return false;
	} while (!tacho_cas_acq_rel(&cmd->left, &left, left - 1));
	return true;
}

/* One enable_event or disable_event. */
static void switch_one(struct tacho_compile *c, struct tacho_command *cmd,
		       const struct tacho_type *type, const struct tacho_rec *rec)
{
	struct tacho_trigger_spec *spec = tacho_compile_trigger(c, cmd);
	uint32_t soft = tacho_load_relaxed(&cmd->soft), *disabled;
	struct tacho_filter *filter = NULL;
	bool disable = spec && spec->cmd == TACHO_TRIGGER_DISABLE_EVENT;

	if (!spec || (!disable && spec->cmd != TACHO_TRIGGER_ENABLE_EVENT) ||
	    !soft || soft > TACHO_SOFT_MAX)
		return;
	if (spec->filter && tacho_filter_compile(&filter, c->arena, type, spec->filter, 0,
						 rec->names, NULL))
		return;
	disabled = &c->view->commands->soft[soft - 1].disabled;
	if (filter && !tacho_filter_run(filter, rec))
		return;
	if (!tacho_load_relaxed(disabled) != !disable && take_count(cmd))
		tacho_store_relaxed(disabled, disable);
}

/* The session's commands on markers. */
static void switch_programs(struct tree_inst *inst, int32_t pid, const unsigned char *raw,
			    size_t len)
{
	struct tacho_rec rec = {
		.raw = raw, .len = (uint32_t)len, .pid = pid, .names = tree_names(inst),
	};
	struct tacho_compile c = { .view = &inst->session.view, .names = rec.names };
	const struct tacho_type *type = NULL;
	struct tacho_command *cmd;
	struct tacho_arena a;
	uint32_t at = 0;

	tacho_arena_init(&a, ARENA_MAX);
	c.arena = &a;
	tacho_compile_init(&c);
	while ((cmd = tacho_compile_next(c.view, TACHO_COMMAND_TRIGGER, TREE_PRINT, false, &at))) {
		if (!type)
			type = tacho_compile_type(&c, tree_print_text,
						  (uint32_t)strlen(tree_print_text), 0);
		if (!type)
			break;
		switch_one(&c, cmd, type, &rec);
	}
	tacho_arena_release(&a);
}

/* ---- a marker ---- */

static void run_engine(struct tree_inst *inst, int32_t pid, uint32_t cpu,
		       unsigned char *record, uint32_t size)
{
	struct tree_store *s = inst->store;
	uint64_t now = tree_now(inst);

	tacho_put_u64(record, tacho_record_word(now, size));
	tacho_put_u16(record + 8, (uint16_t)s->marker->type->id);
	tacho_ktasks_add(&s->tasks, pid);
	if (!tree_store_mark(s, cpu, record, size, now))
		(void)tree_store_settle(inst);
}

void tree_marked(struct tree_inst *inst, int32_t pid, uint32_t cpu, const char *text,
		 size_t len)
{
	uint32_t size = TACHO_ALIGN_UP(8 + TEXT_AT + (uint32_t)len + 1, 8);
	bool engine = inst->store && inst->store->marker;
	unsigned char *record;

	if (!engine && !tacho_view_nr_commands(&inst->session.view))
		return;
	record = calloc(1, size);
	if (!record)
		return;
	tacho_put_u32(record + 12, (uint32_t)pid);
	tacho_put_u64(record + 16, TREE_MARKER_IP);
	tacho_put_u32(record + 24, ((uint32_t)len + 1) << 16 | TEXT_AT);
	memcpy(record + 8 + TEXT_AT, text, len);
	switch_programs(inst, pid, record + 8, size - 8);
	if (engine)
		run_engine(inst, pid, cpu, record, size);
	free(record);
}
