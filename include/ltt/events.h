/* SPDX-License-Identifier: MIT */
/*
 * <ltt/events.h> - the events of the Linux Trace Toolkit, trace format 2.3.
 *
 * A record is a header word, then the struct of its event, then data of variable
 * length if the event has any, then zeros up to a multiple of 8:
 *
 *	 0         4      5        6      8
 *	+---------+------+--------+------+--------------------
 *	| time    | id   | sub id | size | struct, data, zeros
 *	+---------+------+--------+------+--------------------
 *
 * `size` is the size of the complete record.  If the event's bit in the details mask is
 * clear, the record is the header word alone.
 *
 * The structs have two layouts, selected when the tracer was built: with 32-bit pointers
 * they are packed, with 64-bit pointers they have the compiler's layout.
 * trace_<event>32 and trace_<event>64 are the two; trace_<event> is that of
 * LTT_HOSTPTR_BITS, which can be defined before the include (default: this machine's).
 *
 * Numbers are in the byte order of the traced machine.  docs/ltt.md describes files.
 */
#ifndef LTT_EVENTS_H
#define LTT_EVENTS_H

#include <stdint.h>

/* Event ids: in header words, as bit numbers in masks. */
#define TRACE_START		0	/* first in a trace */
#define TRACE_SYSCALL_ENTRY	1
#define TRACE_SYSCALL_EXIT	2
#define TRACE_TRAP_ENTRY	3
#define TRACE_TRAP_EXIT		4
#define TRACE_IRQ_ENTRY		5
#define TRACE_IRQ_EXIT		6
#define TRACE_SCHEDCHANGE	7
#define TRACE_KERNEL_TIMER	8	/* the tick */
#define TRACE_SOFT_IRQ		9
#define TRACE_PROCESS		10
#define TRACE_FILE_SYSTEM	11
#define TRACE_TIMER		12
#define TRACE_MEMORY		13
#define TRACE_SOCKET		14
#define TRACE_IPC		15
#define TRACE_NETWORK		16
#define TRACE_BUFFER_START	17	/* first in each buffer */
#define TRACE_BUFFER_END	18	/* last in each buffer */
#define TRACE_NEW_EVENT		19	/* declares a custom event */
#define TRACE_CUSTOM		20	/* a custom event */
#define TRACE_CHANGE_MASK	21	/* from here on another event mask */
#define TRACE_HEARTBEAT		22	/* only marks the time, for 32-bit wraps */
#define TRACE_MAX		TRACE_HEARTBEAT

/* The same, as kernel code writes them. */
#define TRACE_EV_START		TRACE_START
#define TRACE_EV_SYSCALL_ENTRY	TRACE_SYSCALL_ENTRY
#define TRACE_EV_SYSCALL_EXIT	TRACE_SYSCALL_EXIT
#define TRACE_EV_TRAP_ENTRY	TRACE_TRAP_ENTRY
#define TRACE_EV_TRAP_EXIT	TRACE_TRAP_EXIT
#define TRACE_EV_IRQ_ENTRY	TRACE_IRQ_ENTRY
#define TRACE_EV_IRQ_EXIT	TRACE_IRQ_EXIT
#define TRACE_EV_SCHEDCHANGE	TRACE_SCHEDCHANGE
#define TRACE_EV_KERNEL_TIMER	TRACE_KERNEL_TIMER
#define TRACE_EV_SOFT_IRQ	TRACE_SOFT_IRQ
#define TRACE_EV_PROCESS	TRACE_PROCESS
#define TRACE_EV_FILE_SYSTEM	TRACE_FILE_SYSTEM
#define TRACE_EV_TIMER		TRACE_TIMER
#define TRACE_EV_MEMORY		TRACE_MEMORY
#define TRACE_EV_SOCKET		TRACE_SOCKET
#define TRACE_EV_IPC		TRACE_IPC
#define TRACE_EV_NETWORK	TRACE_NETWORK
#define TRACE_EV_BUFFER_START	TRACE_BUFFER_START
#define TRACE_EV_BUFFER_END	TRACE_BUFFER_END
#define TRACE_EV_NEW_EVENT	TRACE_NEW_EVENT
#define TRACE_EV_CUSTOM		TRACE_CUSTOM
#define TRACE_EV_CHANGE_MASK	TRACE_CHANGE_MASK
#define TRACE_EV_HEARTBEAT	TRACE_HEARTBEAT

/* Sub ids; 0 in records of events that have none. */
#define TRACE_SOFT_IRQ_BOTTOM_HALF		1
#define TRACE_SOFT_IRQ_SOFT_IRQ			2
#define TRACE_SOFT_IRQ_TASKLET_ACTION		3
#define TRACE_SOFT_IRQ_TASKLET_HI_ACTION	4

#define TRACE_PROCESS_KTHREAD	1
#define TRACE_PROCESS_FORK	2
#define TRACE_PROCESS_EXIT	3
#define TRACE_PROCESS_WAIT	4
#define TRACE_PROCESS_SIGNAL	5
#define TRACE_PROCESS_WAKEUP	6

#define TRACE_FILE_SYSTEM_BUF_WAIT_START	1
#define TRACE_FILE_SYSTEM_BUF_WAIT_END		2
#define TRACE_FILE_SYSTEM_EXEC			3
#define TRACE_FILE_SYSTEM_OPEN			4
#define TRACE_FILE_SYSTEM_CLOSE			5
#define TRACE_FILE_SYSTEM_READ			6
#define TRACE_FILE_SYSTEM_WRITE			7
#define TRACE_FILE_SYSTEM_SEEK			8
#define TRACE_FILE_SYSTEM_IOCTL			9
#define TRACE_FILE_SYSTEM_SELECT		10
#define TRACE_FILE_SYSTEM_POLL			11

#define TRACE_TIMER_EXPIRED	1
#define TRACE_TIMER_SETITIMER	2
#define TRACE_TIMER_SETTIMEOUT	3

#define TRACE_MEMORY_PAGE_ALLOC		1
#define TRACE_MEMORY_PAGE_FREE		2
#define TRACE_MEMORY_SWAP_IN		3
#define TRACE_MEMORY_SWAP_OUT		4
#define TRACE_MEMORY_PAGE_WAIT_START	5
#define TRACE_MEMORY_PAGE_WAIT_END	6

#define TRACE_SOCKET_CALL	1
#define TRACE_SOCKET_CREATE	2
#define TRACE_SOCKET_SEND	3
#define TRACE_SOCKET_RECEIVE	4

#define TRACE_IPC_CALL		1
#define TRACE_IPC_MSG_CREATE	2
#define TRACE_IPC_SEM_CREATE	3
#define TRACE_IPC_SHM_CREATE	4

#define TRACE_NETWORK_PACKET_IN		1
#define TRACE_NETWORK_PACKET_OUT	2

/* Machines.  Those after PPC64 are tacho's: their ELF numbers, which LTT never used. */
#define TRACE_ARCH_TYPE_I386	1
#define TRACE_ARCH_TYPE_PPC	2
#define TRACE_ARCH_TYPE_SH	3
#define TRACE_ARCH_TYPE_S390	4
#define TRACE_ARCH_TYPE_MIPS	5
#define TRACE_ARCH_TYPE_ARM	6
#define TRACE_ARCH_TYPE_PPC64	7
#define TRACE_ARCH_TYPE_X86_64	62
#define TRACE_ARCH_TYPE_ARM64	183
#define TRACE_ARCH_TYPE_RISCV64	243

#define TRACE_ARCH_VARIANT_NONE		0
#define TRACE_ARCH_VARIANT_PPC_4xx	1
#define TRACE_ARCH_VARIANT_PPC_6xx	2
#define TRACE_ARCH_VARIANT_PPC_8xx	3
#define TRACE_ARCH_VARIANT_PPC_ISERIES	4
#define TRACE_ARCH_VARIANT_PPC_PSERIES	5

#define TRACE_SYS_TYPE_VANILLA_LINUX	1
#define TRACE_SYS_TYPE_RTAI_LINUX	2
#define TRACE_SYS_TYPE_MONTAVISTA_LINUX	0x004C564D

#define TRACER_MAGIC_NUMBER		0x00D6B7ED
#define TRACER_SUP_VERSION_MAJOR	2
#define TRACER_SUP_VERSION_MINOR	3

/* Custom events.  The lengths have room for a NUL. */
#define CUSTOM_EVENT_TYPE_STR_LEN	20
#define CUSTOM_EVENT_DESC_STR_LEN	100
#define CUSTOM_EVENT_FORM_STR_LEN	256
#define CUSTOM_EVENT_FINAL_STR_LEN	200	/* of a formatted event's text */
#define CUSTOM_EVENT_MAX_SIZE		8192	/* of a raw event's data */

#define CUSTOM_EVENT_FORMAT_TYPE_NONE	0
#define CUSTOM_EVENT_FORMAT_TYPE_STR	1	/* data is text */
#define CUSTOM_EVENT_FORMAT_TYPE_HEX	2	/* data is shown in hex */
#define CUSTOM_EVENT_FORMAT_TYPE_XML	3	/* form describes it */
#define CUSTOM_EVENT_FORMAT_TYPE_IBM	4

/* Bit n: event id n. */
typedef uint64_t trace_event_mask;

#define TRACE_EVENT_MASK_ALL	(~(trace_event_mask)0)
#define TRACE_EVENT_BIT(id)	((trace_event_mask)1 << (id))

#define LTT_PACKED_STRUCT	__attribute__((packed))

/* The header word. */
typedef union _trace_event_header {
	struct {
		uint32_t timestamp;	/* low bits of the clock */
		uint8_t event_id;
		uint8_t event_sub_id;
		uint16_t size;		/* bytes, header included */
	} LTT_PACKED_STRUCT x;
	uint64_t raw;
} trace_event_header;

typedef struct _trace_timeval_32 {
	uint32_t tv_sec;
	uint32_t tv_usec;
} trace_timeval_32;

#define LTT_STRUCT(name)	name##32
#define LTT_PTR			uint32_t
#define LTT_PTR_ALIGN
#define LTT_MASK_ALIGN
#define LTT_END			LTT_PACKED_STRUCT
#include <ltt/abi/records.h>

#define LTT_STRUCT(name)	name##64
#define LTT_PTR			uint64_t
#define LTT_PTR_ALIGN		__attribute__((aligned(8)))
#define LTT_MASK_ALIGN		__attribute__((aligned(8)))
#define LTT_END
#include <ltt/abi/records.h>

#ifndef LTT_HOSTPTR_BITS
#if UINTPTR_MAX > 0xffffffffu
#define LTT_HOSTPTR_BITS	64
#else
#define LTT_HOSTPTR_BITS	32
#endif
#endif

#if LTT_HOSTPTR_BITS == 64
#define LTT_FLAVOUR(name)	struct name##64
typedef uint64_t ltt_hostptr_t;
#else
#define LTT_FLAVOUR(name)	struct name##32
typedef uint32_t ltt_hostptr_t;
#endif
typedef LTT_FLAVOUR(trace_start) trace_start;
typedef LTT_FLAVOUR(trace_syscall_entry) trace_syscall_entry;
typedef LTT_FLAVOUR(trace_trap_entry) trace_trap_entry;
typedef LTT_FLAVOUR(trace_trap_entry_s390) trace_trap_entry_s390;
typedef LTT_FLAVOUR(trace_irq_entry) trace_irq_entry;
typedef LTT_FLAVOUR(trace_schedchange) trace_schedchange;
typedef LTT_FLAVOUR(trace_soft_irq) trace_soft_irq;
typedef LTT_FLAVOUR(trace_process) trace_process;
typedef LTT_FLAVOUR(trace_file_system) trace_file_system;
typedef LTT_FLAVOUR(trace_timer) trace_timer;
typedef LTT_FLAVOUR(trace_memory) trace_memory;
typedef LTT_FLAVOUR(trace_socket) trace_socket;
typedef LTT_FLAVOUR(trace_ipc) trace_ipc;
typedef LTT_FLAVOUR(trace_network) trace_network;
typedef LTT_FLAVOUR(trace_buffer_start) trace_buffer_start;
typedef LTT_FLAVOUR(trace_buffer_end) trace_buffer_end;
typedef LTT_FLAVOUR(trace_new_event) trace_new_event;
typedef LTT_FLAVOUR(trace_custom) trace_custom;
typedef LTT_FLAVOUR(trace_change_mask) trace_change_mask;
#undef LTT_FLAVOUR

#endif
