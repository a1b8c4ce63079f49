// SPDX-License-Identifier: MIT
/* LTT's events as types: `format` texts made of the tables in layout.c. */
#include <errno.h>
#include <string.h>

#include "fmt/ltt/layout.h"

#define FORMAT_MAX	8192u

static const char common[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/* START of version 2.2 has its members in another order. */
static const char start_22[] =
	"magic:x arch_type:u arch_variant:u system_type:u major:u minor:u buffer_size:u "
	"event_mask:x details_mask:x log_cpuid:u use_tsc:u flight_recorder:u";

static const char socket_calls[] =
	"{ 1, \"SOCKET\" }, { 2, \"BIND\" }, { 3, \"CONNECT\" }, { 4, \"LISTEN\" }, "
	"{ 5, \"ACCEPT\" }, { 6, \"GETSOCKNAME\" }, { 7, \"GETPEERNAME\" }, "
	"{ 8, \"SOCKETPAIR\" }, { 9, \"SEND\" }, { 10, \"RECV\" }, { 11, \"SENDTO\" }, "
	"{ 12, \"RECVFROM\" }, { 13, \"SHUTDOWN\" }, { 14, \"SETSOCKOPT\" }, "
	"{ 15, \"GETSOCKOPT\" }, { 16, \"SENDMSG\" }, { 17, \"RECVMSG\" }";
static const char ipc_calls[] =
	"{ 1, \"SEMOP\" }, { 2, \"SEMGET\" }, { 3, \"SEMCTL\" }, { 4, \"SEMTIMEDOP\" }, "
	"{ 11, \"MSGSND\" }, { 12, \"MSGRCV\" }, { 13, \"MSGGET\" }, { 14, \"MSGCTL\" }, "
	"{ 21, \"SHMAT\" }, { 22, \"SHMDT\" }, { 23, \"SHMGET\" }, { 24, \"SHMCTL\" }";
static const char soft_irqs[] =
	"{ 0, \"HI\" }, { 1, \"TIMER\" }, { 2, \"NET_TX\" }, { 3, \"NET_RX\" }, "
	"{ 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, \"TASKLET\" }, { 7, \"SCHED\" }, "
	"{ 8, \"HRTIMER\" }, { 9, \"RCU\" }";

/*
 * A field is "name:style", the style being how it prints: d signed, u unsigned, x
 * in hex, n as a protocol, c text; Q, S, I by name: a soft IRQ, a call of SOCKET, of IPC.
 */
struct maker {
	struct tacho_buf fields;	/* lines "field:..." */
	struct tacho_buf fmt, args;	/* of the print format */
};

static void put_field(struct maker *m, const char *type, size_t len,
		      const char *name, const char *suffix, uint32_t at,
		      uint32_t size, bool is_signed)
{
	tacho_buf_printf(&m->fields,
			 "\tfield:%s %.*s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type,
			 (int)len, name, suffix, at, size, is_signed);
}

static void put_number(struct maker *m, const char *name, size_t len, char style,
		       const struct tacho_ltt_elem *e)
{
	const char *wide = e->size == 8 ? "ll" : "";
	const char *names = style == 'S' ? socket_calls : style == 'I' ? ipc_calls :
			    style == 'Q' ? soft_irqs : NULL;
	char type[8] = { style == 'd' ? 's' : 'u' };

	strcpy(type + 1, e->size == 1 ? "8" : e->size == 2 ? "16" :
	       e->size == 4 ? "32" : "64");
	put_field(m, type, len, name, "", 8u + e->at, e->size, style == 'd');
	if (names) {
		tacho_buf_printf(&m->fmt, "%s", "%s");
		tacho_buf_printf(&m->args, ", __print_symbolic(REC->%.*s, %s)", (int)len,
				 name, names);
		return;
	}
	tacho_buf_puts(&m->fmt, style == 'x' ? "0x%" : style == 'n' ? "0x%04" : "%");
	tacho_buf_puts(&m->fmt, wide);
	tacho_buf_putc(&m->fmt, style == 'n' ? 'x' : style);
	tacho_buf_printf(&m->args, ", REC->%.*s", (int)len, name);
}

static void put_elem(struct maker *m, const char *name, size_t len, char style,
		     const struct tacho_ltt_elem *e)
{
	char suffix[16] = "[100]";

	tacho_buf_printf(&m->fmt, "%s%.*s=", m->args.len ? " " : "", (int)len, name);
	if (!e->text) {
		put_number(m, name, len, style, e);
		return;
	}
	strcpy(suffix, e->size == CUSTOM_EVENT_TYPE_STR_LEN ? "[20]" :
	       e->size == CUSTOM_EVENT_DESC_STR_LEN ? "[100]" : "[256]");
	put_field(m, "char", len, name, suffix, 8u + e->at, e->size, false);
	tacho_buf_puts(&m->fmt, "%s");
	tacho_buf_printf(&m->args, ", REC->%.*s", (int)len, name);
}

static void put_fields(struct maker *m, const char *fields,
		       const struct tacho_ltt_shape *shape)
{
	for (uint32_t i = 0; i < shape->nr && *fields; i++) {
		size_t len = strcspn(fields, ":");

		if (shape->elem[i].hole)
			continue;
		put_elem(m, fields, len, fields[len + 1], &shape->elem[i]);
		fields += len + 2;
		fields += *fields == ' ';
	}
}

static void put_data(struct maker *m, uint32_t at, enum tacho_ltt_data data)
{
	const char *gap = m->args.len ? " " : "";

	if (data == TACHO_LTT_TEXT) {
		put_field(m, "__data_loc char[]", 4, "text", "", at, 4, false);
		tacho_buf_printf(&m->fmt, "%stext=%s", gap, "%s");
		tacho_buf_puts(&m->args, ", __get_str(text)");
	} else if (data == TACHO_LTT_NAME) {
		put_field(m, "__data_loc char[]", 4, "name", "", at, 4, false);
		tacho_buf_printf(&m->fmt, "%sname=%s", gap, "%s");
		tacho_buf_puts(&m->args, ", __get_str(name)");
	} else if (data == TACHO_LTT_BYTES) {
		put_field(m, "__data_loc u8[]", 4, "data", "", at, 4, false);
		tacho_buf_printf(&m->fmt, "%sdata=%s", gap, "%s");
		tacho_buf_puts(&m->args, ", __print_hex(__get_dynamic_array(data), "
			       "__get_dynamic_array_len(data))");
	}
}

static void maker_init(struct maker *m)
{
	tacho_buf_init(&m->fields, FORMAT_MAX);
	tacho_buf_init(&m->fmt, FORMAT_MAX);
	tacho_buf_init(&m->args, FORMAT_MAX);
}

/* The type of what was put, and the end of the maker. */
static const struct tacho_type *maker_type(struct maker *m,
					   struct tacho_arena *arena,
					   const char *system, const char *name,
					   uint32_t id)
{
	const struct tacho_type *type = NULL;
	struct tacho_buf text;

	tacho_buf_init(&text, 4 * FORMAT_MAX);
	tacho_buf_printf(&text, "format:\n%s", common);
	tacho_buf_put(&text, m->fields.data, m->fields.len);
	tacho_buf_printf(&text, "\nprint fmt: \"%s\"", tacho_buf_str(&m->fmt));
	tacho_buf_printf(&text, "%s\n", tacho_buf_str(&m->args));
	if (tacho_buf_error(&text) == -ENOMEM || tacho_buf_error(&m->fields) == -ENOMEM ||
	    tacho_buf_error(&m->fmt) == -ENOMEM || tacho_buf_error(&m->args) == -ENOMEM)
		arena->no_memory = true;
	else if (!tacho_buf_error(&text))
		type = tacho_type_parse(arena, system, name, id, text.data, text.len,
					NULL);
	tacho_buf_release(&text);
	tacho_buf_release(&m->fields);
	tacho_buf_release(&m->fmt);
	tacho_buf_release(&m->args);
	return type;
}

static const struct tacho_type *bare_type(struct tacho_arena *arena, uint32_t id,
					  const struct tacho_ltt_event *ev)
{
	struct maker m;
	char name[64] = "";

	strncat(name, ev->name, sizeof(name) - sizeof(LTT_BARE_SUFFIX));
	strcat(name, LTT_BARE_SUFFIX);
	maker_init(&m);
	return maker_type(&m, arena, LTT_SYSTEM, name, id);
}

/* Any record: what its header word says, and its bytes. */
static const struct tacho_type *raw_type(struct tacho_arena *arena)
{
	static const struct tacho_ltt_shape shape = { .nr = 2, .size = 2, .elem = {
		{ .at = 0, .size = 1 }, { .at = 1, .size = 1 } } };
	struct maker m;

	maker_init(&m);
	put_fields(&m, "event_id:u event_sub_id:u", &shape);
	put_data(&m, tacho_ltt_loc_at(&shape), TACHO_LTT_BYTES);
	return maker_type(&m, arena, LTT_SYSTEM, "raw", LTT_TYPE_RAW);
}

const struct tacho_type *tacho_ltt_custom_type(struct tacho_arena *arena,
					       enum tacho_ltt_layout layout,
					       uint32_t type_id, const char *name,
					       bool text)
{
	struct tacho_ltt_shape shape;
	struct maker m;

	tacho_ltt_shape(&shape, layout, false, TRACE_CUSTOM);
	maker_init(&m);
	put_fields(&m, "id:u data_size:u", &shape);
	put_data(&m, tacho_ltt_loc_at(&shape), text ? TACHO_LTT_TEXT : TACHO_LTT_BYTES);
	return maker_type(&m, arena, type_id == LTT_TYPE_CUSTOM ? LTT_SYSTEM :
			  LTT_CUSTOM_SYSTEM, name, type_id);
}

const struct tacho_type *tacho_ltt_type(struct tacho_arena *arena,
					enum tacho_ltt_layout layout, bool s390,
					uint32_t type_id)
{
	const struct tacho_ltt_event *ev;
	struct tacho_ltt_shape shape;
	struct maker m;

	if (type_id == LTT_TYPE_RAW)
		return raw_type(arena);
	if (type_id == LTT_TYPE_CUSTOM)
		return tacho_ltt_custom_type(arena, layout, type_id, "custom", false);
	if (type_id < LTT_TYPE_FIRST || type_id >= LTT_TYPE_DECLARED)
		return NULL;
	ev = tacho_ltt_event(type_id >> 4 & 0x1f, type_id & 0xf);
	if (!ev || ev->id == TRACE_CUSTOM)
		return ev && type_id & 0x200 ? bare_type(arena, type_id, ev) : NULL;
	if (type_id & 0x200)
		return bare_type(arena, type_id, ev);
	tacho_ltt_shape(&shape, layout, s390, ev->id);
	maker_init(&m);
	put_fields(&m, ev->id == TRACE_START && tacho_ltt_is_22(layout) ? start_22 :
		   ev->fields, &shape);
	put_data(&m, tacho_ltt_loc_at(&shape), ev->data);
	return maker_type(&m, arena, LTT_SYSTEM, ev->name, type_id);
}
