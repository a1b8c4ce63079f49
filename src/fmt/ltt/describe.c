// SPDX-License-Identifier: MIT
#include "fmt/ltt/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fmt/ltt/write_priv.h"

static const struct {
	const char *name, *title;
} names[TRACE_MAX + 1] = {
	[TRACE_START] = { "START", "Trace start" },
	[TRACE_SYSCALL_ENTRY] = { "SYS_ENTRY", "Syscall entry" },
	[TRACE_SYSCALL_EXIT] = { "SYS_EXIT", "Syscall exit" },
	[TRACE_TRAP_ENTRY] = { "TRAP_ENTRY", "Trap entry" },
	[TRACE_TRAP_EXIT] = { "TRAP_EXIT", "Trap exit" },
	[TRACE_IRQ_ENTRY] = { "IRQ_ENTRY", "IRQ entry" },
	[TRACE_IRQ_EXIT] = { "IRQ_EXIT", "IRQ exit" },
	[TRACE_SCHEDCHANGE] = { "SCHED", "Sched change" },
	[TRACE_KERNEL_TIMER] = { "KTIMER", "Kernel timer" },
	[TRACE_SOFT_IRQ] = { "SIRQ", "Soft IRQ" },
	[TRACE_PROCESS] = { "PROCESS", "Process" },
	[TRACE_FILE_SYSTEM] = { "FS", "File system" },
	[TRACE_TIMER] = { "TIMER", "Timer" },
	[TRACE_MEMORY] = { "MEM", "Memory" },
	[TRACE_SOCKET] = { "SOCKET", "Socket" },
	[TRACE_IPC] = { "IPC", "IPC" },
	[TRACE_NETWORK] = { "NET", "Network" },
	[TRACE_BUFFER_START] = { "BUFFER_START", "" },
	[TRACE_BUFFER_END] = { "BUFFER_END", "" },
	[TRACE_NEW_EVENT] = { "NEWEV", "Event creation" },
	[TRACE_CUSTOM] = { "CSTM", "Custom event" },
	[TRACE_CHANGE_MASK] = { "CHMSK", "Change trace mask" },
	[TRACE_HEARTBEAT] = { "HEARTBEAT", "Heartbeat" },
};

static const char *const i386_traps[] = {
	"divide error", "debug", "nmi", "int3", "overflow", "bounds", "invalidop",
	"device notavailable", "double fault", "copro segment overrun", "invalid TSS",
	"segment not present", "stack segment", "GPF", "page fault",
	"spurious interrupt", "copro error", "alignment check", "reserved",
};

static const char *const ppc_traps[] = {
	[3] = "Data Access", [4] = "Instruction Access", [5] = "External Interrupt",
	[6] = "Alignment", [7] = "Program Check", [8] = "FP Unavailable",
	[9] = "Decrementer", [12] = "System call",
};

/* What is known of a custom event. */
struct custom {
	uint32_t format;
	char type[CUSTOM_EVENT_TYPE_STR_LEN], form[CUSTOM_EVENT_FORM_STR_LEN];
};

int tacho_ltt_id_of(const char *short_name)
{
	if (!strcmp(short_name, "CORE"))
		return -2;
	for (int id = 0; id <= TRACE_MAX; id++)
		if (!strcmp(names[id].name, short_name))
			return id;
	return -1;
}

const char *tacho_ltt_short_name(uint32_t id)
{
	return id <= TRACE_MAX ? names[id].name : "";
}

/* ---- records ------------------------------------------------------------------------- */

void tacho_ltt_see(struct tacho_ltt_seen *seen, const struct tacho_record *r)
{
	uint32_t type = r->type->id;

	*seen = (struct tacho_ltt_seen){ .known = true };
	if (r->len >= 8)
		seen->size = (uint32_t)tacho_load_u64((const char *)r->raw + r->len - 8);
	tacho_ltt_values_of(r, &seen->v);
	if (type == LTT_TYPE_RAW) {
		seen->id = (uint32_t)seen->v.v[0];
		seen->sub = (uint32_t)seen->v.v[1];
		seen->known = false;
	} else if (type >= LTT_TYPE_DECLARED || type == LTT_TYPE_CUSTOM) {
		seen->id = TRACE_CUSTOM;
		if (seen->v.data_len > seen->v.v[1])
			seen->v.data_len = (size_t)seen->v.v[1];
	} else {
		seen->id = type >> 4 & 0x1f;
		seen->sub = type & 0xf;
		seen->bare = type & 0x200;
		/* after a name stands a NUL of the reader's */
		if (seen->v.data_len > seen->v.v[1])
			seen->v.data_len = (size_t)seen->v.v[1];
	}
}

static struct custom *custom_of(const struct tacho_ltt_words *w,
				const struct tacho_ltt_seen *seen)
{
	return tacho_hashmap_get(&w->customs, (uint32_t)seen->v.v[0] + UINT64_C(1));
}

static void copy_text(char *to, size_t size, const struct tacho_ltt_values *v, int i)
{
	size_t n = v->text[i] ? strnlen(v->text[i], v->text_len[i]) : 0;

	n = n < size ? n : size - 1;
	if (n)
		memcpy(to, v->text[i], n);
	to[n] = '\0';
}

int tacho_ltt_words_add(struct tacho_ltt_words *w, const struct tacho_ltt_seen *seen)
{
	struct custom *c;

	if (seen->id == TRACE_START && seen->known && !seen->bare)
		w->arch = (uint32_t)seen->v.v[1];
	if (seen->id != TRACE_NEW_EVENT || !seen->known || seen->bare)
		return 0;
	c = custom_of(w, seen);
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c || tacho_hashmap_set(&w->customs,
					    (uint32_t)seen->v.v[0] + UINT64_C(1), c)) {
			free(c);
			return -ENOMEM;
		}
	}
	c->format = (uint32_t)seen->v.v[3];
	copy_text(c->type, sizeof(c->type), &seen->v, 1);
	copy_text(c->form, sizeof(c->form), &seen->v, 4);
	return 0;
}

void tacho_ltt_words_release(struct tacho_ltt_words *w)
{
	for (uint32_t i = 0; i < w->customs.room; i++)
		free(w->customs.slot[i].value);
	tacho_hashmap_release(&w->customs);
}

const char *tacho_ltt_title(const struct tacho_ltt_words *w,
			    const struct tacho_ltt_seen *seen)
{
	const struct custom *c;

	if (seen->id > TRACE_MAX)
		return "";
	c = seen->id == TRACE_CUSTOM && seen->known && !seen->bare ? custom_of(w, seen) :
								   NULL;
	return c ? c->type : names[seen->id].title;
}

/* ---- descriptions -------------------------------------------------------------------- */

static const char *address_label(uint32_t arch)
{
	switch (arch) {
	case TRACE_ARCH_TYPE_PPC:
	case TRACE_ARCH_TYPE_PPC64:
	case TRACE_ARCH_TYPE_MIPS: return "IP";
	case TRACE_ARCH_TYPE_SH:
	case TRACE_ARCH_TYPE_ARM:
	case TRACE_ARCH_TYPE_ARM64: return "PC";
	case TRACE_ARCH_TYPE_S390: return "PSWA";
	default: return "EIP";
	}
}

static const char *trap_name(uint32_t arch, uint64_t id)
{
	const char *name = NULL;

	if (arch == TRACE_ARCH_TYPE_I386 || arch == TRACE_ARCH_TYPE_X86_64)
		name = id < TACHO_ARRAY_SIZE(i386_traps) ? i386_traps[id] : NULL;
	else if (arch == TRACE_ARCH_TYPE_PPC || arch == TRACE_ARCH_TYPE_PPC64)
		name = id >> 8 < TACHO_ARRAY_SIZE(ppc_traps) ? ppc_traps[id >> 8] : NULL;
	return name ? name : "";
}

static void syscall_text(const struct tacho_ltt_words *w, uint32_t nr,
			 struct tacho_buf *out)
{
	const char *name = w->syscall ? w->syscall(w->arg, nr) : NULL;

	if (name)
		tacho_buf_printf(out, "SYSCALL : %s; ", name);
	else
		tacho_buf_printf(out, "SYSCALL : ni_syscall %u; ", nr);
}

/* The same formats for events with sub events: %1, %2 are the numbers. */
static const char *sub_format(uint32_t id, uint32_t sub)
{
	static const char *const soft_irq[] = { "BH : %d", "SOFT IRQ : %d",
		"TASKLET ACTION : 0x%X", "TASKLET HI ACTION : 0x%X" };
	static const char *const process[] = { "KTHREAD : %d; FUNCTION ADDRESS : 0x%X",
		"FORK : %d", "EXIT", "WAIT PID : %d", "SIGNAL : %d; PID : %d",
		"WAKEUP PID : %d; STATE : %d" };
	static const char *const fs[] = { "START I/O WAIT", "END I/O WAIT", "EXEC : %s",
		"OPEN : %s; FD : %d", "CLOSE : %d", "READ : %d; COUNT : %d",
		"WRITE : %d; COUNT : %d", "SEEK : %d; OFFSET : %d",
		"IOCTL : %d; COMMAND : 0x%x", "SELECT : %d; TIMEOUT : %d",
		"POLL : %d; TIMEOUT : %d" };
	static const char *const timer[] = { "TIMER EXPIRED",
		"SET ITIMER : %d; INTERVAL : %d; VALUE : %d", "SET TIMEOUT : %1" };
	static const char *const memory[] = { "PAGE ALLOC ORDER : %d",
		"PAGE FREE ORDER : %d", "SWAP IN : 0x%X", "SWAP OUT : 0x%X",
		"START PAGE WAIT", "END PAGE WAIT" };
	static const char *const sock[] = { "SO; CALL : %d; FPM(FD) : %d",
		"SO CREATE; FD : %d; TYPE : %d", "SO SEND; TYPE : %d; SIZE : %d",
		"SO RECEIVE; TYPE : %d; SIZE : %d" };
	static const char *const ipc[] = { "IPC; CALL : %d; FPM(ID) : %d",
		"MSG CREATE; ID : %d; FLAGS : 0x%X", "SEM CREATE; ID : %d; FLAGS : 0x%X",
		"SHM CREATE; ID : %d; FLAGS : 0x%X" };
	static const char *const net[] = { "PACKET IN; PROTOCOL : %d",
		"PACKET OUT; PROTOCOL : %d" };

	switch (id) {
	case TRACE_SOFT_IRQ: return soft_irq[sub - 1];
	case TRACE_PROCESS: return process[sub - 1];
	case TRACE_FILE_SYSTEM: return fs[sub - 1];
	case TRACE_TIMER: return timer[sub - 1];
	case TRACE_MEMORY: return memory[sub - 1];
	case TRACE_SOCKET: return sock[sub - 1];
	case TRACE_IPC: return ipc[sub - 1];
	case TRACE_NETWORK: return net[sub - 1];
	default: return NULL;
	}
}

/* %d the next number, %x, %X it in hex (of 8 digits at least), %1 number 1, %s the name. */
static void put_format(const char *f, const struct tacho_ltt_values *v,
		       struct tacho_buf *out)
{
	int next = 0;

	for (; *f; f++) {
		if (*f != '%') {
			tacho_buf_putc(out, *f);
			continue;
		}
		switch (*++f) {
		case 'd':
			tacho_buf_printf(out, "%" PRId32, (int32_t)v->v[next++]);
			break;
		case '1':
			tacho_buf_printf(out, "%" PRId32, (int32_t)v->v[1]);
			break;
		case 'x':
			tacho_buf_printf(out, "%" PRIX64, v->v[next++]);
			break;
		case 'X':
			tacho_buf_printf(out, "%08" PRIX64, v->v[next++]);
			break;
		default:
			tacho_buf_put(out, v->data, v->data_len);
			break;
		}
	}
}

static void put_custom(const struct tacho_ltt_words *w, const struct tacho_ltt_seen *seen,
		       struct tacho_buf *out)
{
	const struct custom *c = custom_of(w, seen);
	const unsigned char *data = seen->v.data;

	switch (c ? c->format : CUSTOM_EVENT_FORMAT_TYPE_HEX) {
	case CUSTOM_EVENT_FORMAT_TYPE_STR:
		tacho_buf_put(out, data, strnlen((const char *)data, seen->v.data_len));
		break;
	case CUSTOM_EVENT_FORMAT_TYPE_HEX:
		for (size_t i = 0; i < seen->v.data_len; i++)
			tacho_buf_printf(out, "%02X ", data[i]);
		break;
	case CUSTOM_EVENT_FORMAT_TYPE_XML:
		tacho_buf_printf(out, "XML format: %s", c->form);
		break;
	case CUSTOM_EVENT_FORMAT_TYPE_IBM:
		tacho_buf_puts(out, "IBM format");
		break;
	default:
		tacho_buf_puts(out, "No format");
		break;
	}
}

/* Events without sub events. */
static void put_plain(const struct tacho_ltt_words *w, const struct tacho_ltt_seen *seen,
		      uint64_t time_us, struct tacho_buf *out)
{
	const struct tacho_ltt_values *v = &seen->v;
	char type[CUSTOM_EVENT_TYPE_STR_LEN];

	switch (seen->id) {
	case TRACE_START:
		tacho_buf_printf(out, "START AT : (%" PRIu64 ", %" PRIu64 ")",
				 time_us / 1000000, time_us % 1000000);
		break;
	case TRACE_SYSCALL_ENTRY:
		syscall_text(w, (uint32_t)v->v[0], out);
		tacho_buf_printf(out, "%s : 0x%08" PRIX64, address_label(w->arch), v->v[1]);
		break;
	case TRACE_TRAP_ENTRY:
		tacho_buf_printf(out, "TRAP : %s; %s : 0x%08" PRIX64,
				 trap_name(w->arch, v->v[0]), address_label(w->arch),
				 v->v[1]);
		break;
	case TRACE_IRQ_ENTRY:
		tacho_buf_printf(out, "IRQ : %d%s", (int)v->v[0],
				 v->v[1] ? ", IN-KERNEL" : "");
		break;
	case TRACE_SCHEDCHANGE:
		tacho_buf_printf(out, "IN : %d; OUT : %d; STATE : %d", (int)v->v[1],
				 (int)v->v[0], (int)v->v[2]);
		break;
	case TRACE_NEW_EVENT:
		copy_text(type, sizeof(type), v, 1);
		tacho_buf_printf(out, "NEW EVENT TYPE : %s; CUSTOM EVENT ID : %d", type,
				 (int)v->v[0]);
		break;
	case TRACE_CUSTOM:
		put_custom(w, seen, out);
		break;
	default:
		break;
	}
}

void tacho_ltt_describe(const struct tacho_ltt_words *w,
			const struct tacho_ltt_seen *seen, uint64_t time_us,
			struct tacho_buf *out)
{
	const char *format;

	if (seen->bare || !seen->known)
		return;
	format = seen->sub ? sub_format(seen->id, seen->sub) : NULL;
	if (format)
		put_format(format, &seen->v, out);
	else
		put_plain(w, seen, time_us, out);
}
