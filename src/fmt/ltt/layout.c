// SPDX-License-Identifier: MIT
#include "fmt/ltt/layout.h"

#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"

/* layout.h says what the letters mean. */
static const char *const shapes[TACHO_LTT_NR_LAYOUTS][TRACE_MAX + 1] = {
	[TACHO_LTT_64] = {
		"444441111188", "1P", "", "2P", "", "11", "", "444", "", "P",
		"4P", "44", "144", "P", "4P", "4P", "4", "4444", "444",
		"4TD4F", "44", "8", "" },
	[TACHO_LTT_32] = {
		"444441111188", "1P", "", "2P", "", "11", "", "444", "", "P",
		"4P", "44", "144", "P", "4P", "4P", "4", "4444", "444",
		"4TD4F", "44", "8", "" },
	/* addresses of code have 4 bytes, all other pointers 8 */
	[TACHO_LTT_PRINTED] = {
		"444441111188", "14", "", "24", "", "11", "", "444", "", "8",
		"48", "44", "144", "8", "48", "48", "4", "4444", "444",
		"4TD4F", "44", "8", "" },
	[TACHO_LTT_22_32] = {
		"4444114" "88" "111", "1P", "", "2P", "", "11", "", "444", "", "sP",
		"s4P", "s44p", "s144", "sP", "s4P", "s4P", "s4", "4444", "444",
		"4TD4F", "44p", "8", "" },
	[TACHO_LTT_22_MV32] = {
		"4444114" "88" "111", "2P", "", "2P", "", "21", "", "444", "", "sP",
		"s4P", "s44p", "s144", "sP", "s4P", "s4P", "s4", "4444", "444",
		"4TD4F", "44p", "8", "" },
	[TACHO_LTT_22_MV64] = {
		"4444114" "88" "111", "2P", "", "2P", "", "21", "", "448", "", "sP",
		"s4P", "s44p", "s188", "sP", "s4P", "s44", "s4", "4444", "444",
		"4TD4F", "44p", "8", "" },
};

#define SOCKET_CALL	"call:S arg0:x"
#define IPC_CALL	"call:I arg0:x"
#define NET		"protocol:n"

const struct tacho_ltt_event tacho_ltt_events[] = {
	{ TRACE_START, 0, "start", "magic:x arch_type:u arch_variant:u system_type:u "
	  "buffer_size:u major:u minor:u use_tsc:u cpu_id:u flight_recorder:u "
	  "event_mask:x details_mask:x", 0 },
	{ TRACE_SYSCALL_ENTRY, 0, "syscall_entry", "syscall_id:u address:x", 0 },
	{ TRACE_SYSCALL_EXIT, 0, "syscall_exit", "", 0 },
	{ TRACE_TRAP_ENTRY, 0, "trap_entry", "trap_id:u address:x", 0 },
	{ TRACE_TRAP_EXIT, 0, "trap_exit", "", 0 },
	{ TRACE_IRQ_ENTRY, 0, "irq_entry", "irq_id:u kernel:u", 0 },
	{ TRACE_IRQ_EXIT, 0, "irq_exit", "", 0 },
	{ TRACE_SCHEDCHANGE, 0, "schedchange", "out:d in:d out_state:d", 0 },
	{ TRACE_KERNEL_TIMER, 0, "kernel_timer", "", 0 },

	{ TRACE_SOFT_IRQ, 1, "soft_irq_bottom_half", "number:u", 0 },
	{ TRACE_SOFT_IRQ, 2, "soft_irq_soft_irq", "number:Q", 0 },
	{ TRACE_SOFT_IRQ, 3, "soft_irq_tasklet_action", "function:x", 0 },
	{ TRACE_SOFT_IRQ, 4, "soft_irq_tasklet_hi_action", "function:x", 0 },

	{ TRACE_PROCESS, 1, "process_kthread", "pid:d function:x", 0 },
	{ TRACE_PROCESS, 2, "process_fork", "pid:d data2:x", 0 },
	{ TRACE_PROCESS, 3, "process_exit", "data1:u data2:x", 0 },
	{ TRACE_PROCESS, 4, "process_wait", "pid:d data2:x", 0 },
	{ TRACE_PROCESS, 5, "process_signal", "signal:u pid:d", 0 },
	{ TRACE_PROCESS, 6, "process_wakeup", "pid:d state:d", 0 },

	{ TRACE_FILE_SYSTEM, 1, "file_system_buf_wait_start", "data1:u data2:u", 0 },
	{ TRACE_FILE_SYSTEM, 2, "file_system_buf_wait_end", "data1:u data2:u", 0 },
	{ TRACE_FILE_SYSTEM, 3, "file_system_exec", "data1:u name_len:u",
	  TACHO_LTT_NAME },
	{ TRACE_FILE_SYSTEM, 4, "file_system_open", "fd:d name_len:u",
	  TACHO_LTT_NAME },
	{ TRACE_FILE_SYSTEM, 5, "file_system_close", "fd:d data2:u", 0 },
	{ TRACE_FILE_SYSTEM, 6, "file_system_read", "fd:d count:u", 0 },
	{ TRACE_FILE_SYSTEM, 7, "file_system_write", "fd:d count:u", 0 },
	{ TRACE_FILE_SYSTEM, 8, "file_system_seek", "fd:d offset:u", 0 },
	{ TRACE_FILE_SYSTEM, 9, "file_system_ioctl", "fd:d cmd:x", 0 },
	{ TRACE_FILE_SYSTEM, 10, "file_system_select", "fd:d timeout:d", 0 },
	{ TRACE_FILE_SYSTEM, 11, "file_system_poll", "fd:d timeout:d", 0 },

	{ TRACE_TIMER, 1, "timer_expired", "sdata:u data1:u data2:u", 0 },
	{ TRACE_TIMER, 2, "timer_setitimer", "which:u interval:u value:u", 0 },
	{ TRACE_TIMER, 3, "timer_settimeout", "sdata:u timeout:d data2:u", 0 },

	{ TRACE_MEMORY, 1, "memory_page_alloc", "order:u", 0 },
	{ TRACE_MEMORY, 2, "memory_page_free", "order:u", 0 },
	{ TRACE_MEMORY, 3, "memory_swap_in", "address:x", 0 },
	{ TRACE_MEMORY, 4, "memory_swap_out", "page:x", 0 },
	{ TRACE_MEMORY, 5, "memory_page_wait_start", "data:x", 0 },
	{ TRACE_MEMORY, 6, "memory_page_wait_end", "data:x", 0 },

	{ TRACE_SOCKET, 1, "socket_call", SOCKET_CALL, 0 },
	{ TRACE_SOCKET, 2, "socket_create", "fd:d type:u", 0 },
	{ TRACE_SOCKET, 3, "socket_send", "type:u size:u", 0 },
	{ TRACE_SOCKET, 4, "socket_receive", "type:u size:u", 0 },

	{ TRACE_IPC, 1, "ipc_call", IPC_CALL, 0 },
	{ TRACE_IPC, 2, "ipc_msg_create", "id:d flags:x", 0 },
	{ TRACE_IPC, 3, "ipc_sem_create", "id:d flags:x", 0 },
	{ TRACE_IPC, 4, "ipc_shm_create", "id:d flags:x", 0 },

	{ TRACE_NETWORK, 1, "network_packet_in", NET, 0 },
	{ TRACE_NETWORK, 2, "network_packet_out", NET, 0 },

	{ TRACE_BUFFER_START, 0, "buffer_start", "sec:u usec:u tsc:u id:u", 0 },
	{ TRACE_BUFFER_END, 0, "buffer_end", "sec:u usec:u tsc:u", 0 },
	{ TRACE_NEW_EVENT, 0, "new_event", "id:u type:c desc:c format_type:u form:c",
	  0 },
	{ TRACE_CUSTOM, 0, "custom", "id:u data_size:u", TACHO_LTT_BYTES },
	{ TRACE_CHANGE_MASK, 0, "change_mask", "mask:x", 0 },
	{ TRACE_HEARTBEAT, 0, "heartbeat", "", 0 },
};

const uint32_t tacho_ltt_nr_events = TACHO_ARRAY_SIZE(tacho_ltt_events);

const struct tacho_ltt_event *tacho_ltt_event(uint32_t id, uint32_t sub)
{
	for (uint32_t i = 0; i < tacho_ltt_nr_events; i++)
		if (tacho_ltt_events[i].id == id && tacho_ltt_events[i].sub == sub)
			return &tacho_ltt_events[i];
	return NULL;
}

const struct tacho_ltt_event *tacho_ltt_event_named(const char *name)
{
	for (uint32_t i = 0; i < tacho_ltt_nr_events; i++)
		if (!strcmp(tacho_ltt_events[i].name, name))
			return &tacho_ltt_events[i];
	return NULL;
}

/* ---- structs --------------------------------------------------------------------- */

static uint32_t elem_size(char letter, uint32_t pointer)
{
	switch (letter) {
	case '1':
	case 's': return 1;
	case '2': return 2;
	case '4': return 4;
	case '8': return 8;
	case 'T': return CUSTOM_EVENT_TYPE_STR_LEN;
	case 'D': return CUSTOM_EVENT_DESC_STR_LEN;
	case 'F': return CUSTOM_EVENT_FORM_STR_LEN;
	default: return pointer;
	}
}

void tacho_ltt_shape(struct tacho_ltt_shape *shape, enum tacho_ltt_layout layout,
		     bool s390, uint32_t id)
{
	bool wide = layout == TACHO_LTT_64 || layout == TACHO_LTT_22_MV64;
	const char *word = shapes[layout][id];
	uint32_t at = 0, most = 1;

	*shape = (struct tacho_ltt_shape){ 0 };
	if (s390 && id == TRACE_TRAP_ENTRY)
		word = layout == TACHO_LTT_PRINTED ? "84" : "8P";
	for (; *word; word++) {
		struct tacho_ltt_elem *e = &shape->elem[shape->nr++];
		uint32_t align = 1;

		e->size = (uint16_t)elem_size(*word, wide ? 8 : 4);
		e->text = strchr("TDF", *word);
		e->hole = strchr("sp", *word);
		if (layout == TACHO_LTT_64 && !e->text)
			align = e->size;
		at = (at + align - 1) & ~(align - 1);
		e->at = (uint16_t)at;
		at += e->size;
		most = align > most ? align : most;
	}
	shape->size = (at + most - 1) & ~(most - 1);
}

uint64_t tacho_ltt_get(const struct tacho_ltt_elem *e, const void *body, bool swap)
{
	const unsigned char *p = (const unsigned char *)body + e->at;

	switch (e->size) {
	case 1: return *p;
	case 2: return swap ? __builtin_bswap16(tacho_load_u16(p)) : tacho_load_u16(p);
	case 4: return swap ? __builtin_bswap32(tacho_load_u32(p)) : tacho_load_u32(p);
	case 8: return swap ? __builtin_bswap64(tacho_load_u64(p)) : tacho_load_u64(p);
	default: return 0;
	}
}

void tacho_ltt_put(const struct tacho_ltt_elem *e, void *body, bool swap, uint64_t v)
{
	unsigned char *p = (unsigned char *)body + e->at;

	switch (e->size) {
	case 1:
		*p = (unsigned char)v;
		break;
	case 2:
		tacho_put_u16(p, swap ? __builtin_bswap16((uint16_t)v) : (uint16_t)v);
		break;
	case 4:
		tacho_put_u32(p, swap ? __builtin_bswap32((uint32_t)v) : (uint32_t)v);
		break;
	case 8:
		tacho_put_u64(p, swap ? __builtin_bswap64(v) : v);
		break;
	default:
		break;
	}
}

/* The tables and the structs that applications see are the same. */
_Static_assert(sizeof(struct trace_start64) == 48 && sizeof(struct trace_start32) == 41 &&
	       offsetof(struct trace_start64, EventMask) == 32, "START");
_Static_assert(sizeof(struct trace_syscall_entry64) == 16 &&
	       sizeof(struct trace_syscall_entry32) == 5, "SYSCALL_ENTRY");
_Static_assert(sizeof(struct trace_trap_entry64) == 16 &&
	       sizeof(struct trace_trap_entry32) == 6 &&
	       sizeof(struct trace_trap_entry_s39032) == 12, "TRAP_ENTRY");
_Static_assert(sizeof(struct trace_process64) == 16 &&
	       sizeof(struct trace_process32) == 8, "PROCESS");
_Static_assert(sizeof(struct trace_timer64) == 12 &&
	       sizeof(struct trace_timer32) == 9, "TIMER");
_Static_assert(sizeof(struct trace_new_event64) == 384 &&
	       sizeof(struct trace_new_event32) == 384, "NEW_EVENT");
