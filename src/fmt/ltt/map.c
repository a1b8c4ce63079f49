// SPDX-License-Identifier: MIT
#include "fmt/ltt/map.h"

#include <endian.h>
#include <string.h>

#include "base/compiler.h"
#include "base/scan.h"
#include "stream/stream.h"

enum rule {
	PLAIN,
	BYTE,		/* the first value has 8 bits; else it is embedded */
	IRQ,		/* the same, and whether the kernel was interrupted */
	FORK,		/* a child of kthreadd is a KTHREAD */
	SOFTIRQ,	/* which one runs on this CPU is remembered */
	TASKLET,	/* one of HI is a HI_ACTION */
	EXEC,		/* the last part of the file's name */
	NAME,		/* a name, where the event has it as text */
	TIMEOUT,	/* timers of schedule_timeout() only */
	ITIMER,		/* seconds as ticks of 10 ms */
	PROTOCOL,	/* in network order */
	TRANSFER,	/* success only; the type of socket from its protocol */
	REMEMBER,	/* an argument of a call ... */
	RESULT,		/* ... of which this is the end, if it succeeded */
	CREATED,	/* the same, if the call was to create something */
};

#define KTHREADD	2
#define IPC_CREAT	01000u
#define CPU_FLAG_SOFTIRQ	0x10u
#define TICKS_PER_S	100u

#define SYSCALLS	"syscalls"
#define ENTER		"sys_enter_"
#define EXIT		"sys_exit_"
#define SOCKET_CALL(nr, name) \
	{ SYSCALLS, ENTER name, TRACE_SOCKET, TRACE_SOCKET_CALL, { nr, "fd" }, PLAIN }
#define IPC_CALL(nr, name, arg) \
	{ SYSCALLS, ENTER name, TRACE_IPC, TRACE_IPC_CALL, { nr, arg }, PLAIN }
#define FS(name, sub, a, b) \
	{ SYSCALLS, ENTER name, TRACE_FILE_SYSTEM, sub, { a, b }, PLAIN }
#define OPENED(name) \
	{ SYSCALLS, EXIT name, TRACE_FILE_SYSTEM, TRACE_FILE_SYSTEM_OPEN, \
	  { "ret" }, NAME }
#define PACKET_IN(name) \
	{ "net", name, TRACE_NETWORK, TRACE_NETWORK_PACKET_IN, { "protocol" }, PROTOCOL }

const struct tacho_ltt_map tacho_ltt_maps[] = {
	{ "raw_syscalls", "sys_enter", TRACE_SYSCALL_ENTRY, 0, { "id" }, BYTE },
	{ "raw_syscalls", "sys_exit", TRACE_SYSCALL_EXIT, 0, { "id" }, BYTE },
	{ "exceptions", "page_fault_user", TRACE_TRAP_ENTRY, 0, { "14", "ip" }, PLAIN },
	{ "exceptions", "page_fault_kernel", TRACE_TRAP_ENTRY, 0, { "14", "ip" }, PLAIN },
	{ "irq", "irq_handler_entry", TRACE_IRQ_ENTRY, 0, { "irq" }, IRQ },
	{ "irq", "irq_handler_exit", TRACE_IRQ_EXIT, 0, { NULL }, PLAIN },
	{ "sched", "sched_switch", TRACE_SCHEDCHANGE, 0,
	  { "prev_pid", "next_pid", "prev_state" }, PLAIN },
	{ "irq_vectors", "local_timer_entry", TRACE_KERNEL_TIMER, 0, { NULL }, PLAIN },

	{ "irq", "softirq_entry", TRACE_SOFT_IRQ, TRACE_SOFT_IRQ_SOFT_IRQ, { "vec" },
	  SOFTIRQ },
	{ "irq", "tasklet_entry", TRACE_SOFT_IRQ, TRACE_SOFT_IRQ_TASKLET_ACTION,
	  { "func" }, TASKLET },

	{ "sched", "sched_process_fork", TRACE_PROCESS, TRACE_PROCESS_FORK,
	  { "child_pid" }, FORK },
	{ "sched", "sched_process_exit", TRACE_PROCESS, TRACE_PROCESS_EXIT, { NULL },
	  PLAIN },
	{ "sched", "sched_process_wait", TRACE_PROCESS, TRACE_PROCESS_WAIT, { "pid" },
	  PLAIN },
	{ "signal", "signal_generate", TRACE_PROCESS, TRACE_PROCESS_SIGNAL,
	  { "sig", "pid" }, PLAIN },
	{ "sched", "sched_wakeup", TRACE_PROCESS, TRACE_PROCESS_WAKEUP, { "pid" },
	  PLAIN },
	{ "sched", "sched_wakeup_new", TRACE_PROCESS, TRACE_PROCESS_WAKEUP, { "pid" },
	  PLAIN },

	{ "sched", "sched_process_exec", TRACE_FILE_SYSTEM, TRACE_FILE_SYSTEM_EXEC,
	  { NULL }, EXEC },
	OPENED("open"), OPENED("openat"), OPENED("openat2"), OPENED("creat"),
	FS("close", TRACE_FILE_SYSTEM_CLOSE, "fd", NULL),
	FS("read", TRACE_FILE_SYSTEM_READ, "fd", "count"),
	FS("pread64", TRACE_FILE_SYSTEM_READ, "fd", "count"),
	FS("readv", TRACE_FILE_SYSTEM_READ, "fd", "vlen"),
	FS("write", TRACE_FILE_SYSTEM_WRITE, "fd", "count"),
	FS("pwrite64", TRACE_FILE_SYSTEM_WRITE, "fd", "count"),
	FS("writev", TRACE_FILE_SYSTEM_WRITE, "fd", "vlen"),
	FS("lseek", TRACE_FILE_SYSTEM_SEEK, "fd", "offset"),
	FS("ioctl", TRACE_FILE_SYSTEM_IOCTL, "fd", "cmd"),
	FS("select", TRACE_FILE_SYSTEM_SELECT, "n", NULL),
	FS("pselect6", TRACE_FILE_SYSTEM_SELECT, "n", NULL),
	FS("poll", TRACE_FILE_SYSTEM_POLL, "nfds", "timeout_msecs"),
	FS("ppoll", TRACE_FILE_SYSTEM_POLL, "nfds", NULL),

	{ "timer", "timer_expire_entry", TRACE_TIMER, TRACE_TIMER_EXPIRED, { NULL },
	  PLAIN },
	{ "timer", "itimer_state", TRACE_TIMER, TRACE_TIMER_SETITIMER,
	  { "which", "interval_sec", "value_sec" }, ITIMER },
	{ "timer", "timer_start", TRACE_TIMER, TRACE_TIMER_SETTIMEOUT,
	  { NULL, "expires" }, TIMEOUT },

	{ "kmem", "mm_page_alloc", TRACE_MEMORY, TRACE_MEMORY_PAGE_ALLOC, { "order" },
	  PLAIN },
	{ "kmem", "mm_page_free", TRACE_MEMORY, TRACE_MEMORY_PAGE_FREE, { "order" },
	  PLAIN },
	{ "vmscan", "mm_vmscan_write_folio", TRACE_MEMORY, TRACE_MEMORY_SWAP_OUT,
	  { "pfn" }, PLAIN },
	{ "vmscan", "mm_vmscan_writepage", TRACE_MEMORY, TRACE_MEMORY_SWAP_OUT,
	  { "pfn" }, PLAIN },
	{ "writeback", "folio_wait_writeback", TRACE_MEMORY,
	  TRACE_MEMORY_PAGE_WAIT_START, { NULL }, PLAIN },

	{ SYSCALLS, ENTER "socket", TRACE_SOCKET, TRACE_SOCKET_CALL, { "1", "family" },
	  REMEMBER },
	SOCKET_CALL("2", "bind"), SOCKET_CALL("3", "connect"), SOCKET_CALL("4", "listen"),
	SOCKET_CALL("5", "accept"), SOCKET_CALL("5", "accept4"),
	SOCKET_CALL("6", "getsockname"), SOCKET_CALL("7", "getpeername"),
	{ SYSCALLS, ENTER "socketpair", TRACE_SOCKET, TRACE_SOCKET_CALL,
	  { "8", "family" }, PLAIN },
	SOCKET_CALL("11", "sendto"), SOCKET_CALL("12", "recvfrom"),
	SOCKET_CALL("13", "shutdown"), SOCKET_CALL("14", "setsockopt"),
	SOCKET_CALL("15", "getsockopt"), SOCKET_CALL("16", "sendmsg"),
	SOCKET_CALL("17", "recvmsg"),
	{ SYSCALLS, EXIT "socket", TRACE_SOCKET, TRACE_SOCKET_CREATE, { "ret" }, RESULT },
	{ "sock", "sock_send_length", TRACE_SOCKET, TRACE_SOCKET_SEND,
	  { "protocol", "ret" }, TRANSFER },
	{ "sock", "sock_recv_length", TRACE_SOCKET, TRACE_SOCKET_RECEIVE,
	  { "protocol", "ret" }, TRANSFER },

	IPC_CALL("1", "semop", "semid"), IPC_CALL("3", "semctl", "semid"),
	IPC_CALL("4", "semtimedop", "semid"), IPC_CALL("11", "msgsnd", "msqid"),
	IPC_CALL("12", "msgrcv", "msqid"), IPC_CALL("14", "msgctl", "msqid"),
	IPC_CALL("21", "shmat", "shmid"), IPC_CALL("22", "shmdt", "shmaddr"),
	IPC_CALL("24", "shmctl", "shmid"),
	{ SYSCALLS, ENTER "semget", TRACE_IPC, TRACE_IPC_CALL, { "2", "key" }, REMEMBER },
	{ SYSCALLS, ENTER "msgget", TRACE_IPC, TRACE_IPC_CALL, { "13", "key" }, REMEMBER },
	{ SYSCALLS, ENTER "shmget", TRACE_IPC, TRACE_IPC_CALL, { "23", "key" }, REMEMBER },
	{ SYSCALLS, EXIT "semget", TRACE_IPC, TRACE_IPC_SEM_CREATE, { "ret" }, CREATED },
	{ SYSCALLS, EXIT "msgget", TRACE_IPC, TRACE_IPC_MSG_CREATE, { "ret" }, CREATED },
	{ SYSCALLS, EXIT "shmget", TRACE_IPC, TRACE_IPC_SHM_CREATE, { "ret" }, CREATED },

	PACKET_IN("netif_receive_skb_entry"), PACKET_IN("netif_rx_entry"),
	PACKET_IN("netif_receive_skb_list_entry"), PACKET_IN("napi_gro_receive_entry"),
	PACKET_IN("napi_gro_frags_entry"),
	{ "net", "net_dev_start_xmit", TRACE_NETWORK, TRACE_NETWORK_PACKET_OUT,
	  { "protocol" }, PROTOCOL },
	{ .system = NULL },
};

/* ---- finding ----------------------------------------------------------------------- */

/* The field that a rule looks at besides the values; "": none. */
static const char *rule_field(const struct tacho_ltt_map *m)
{
	switch ((enum rule)m->rule) {
	case FORK: return "parent_pid";
	case EXEC: return "filename";
	case TIMEOUT: return "function";
	case REMEMBER:
		return m->id == TRACE_SOCKET ? "type" : strstr(m->name, "sem") ? "semflg" :
		       strstr(m->name, "msg") ? "msgflg" : "shmflg";
	case PLAIN: case BYTE: case IRQ: case SOFTIRQ: case TASKLET: case NAME:
	case ITIMER: case PROTOCOL: case TRANSFER: case RESULT: case CREATED:
	default: return "";
	}
}

static bool find_fields(struct tacho_ltt_mapped *m, const struct tacho_type *type)
{
	const char *more = rule_field(m->map);

	for (int i = 0; i < LTT_MAP_VALUES; i++) {
		const char *name = m->map->value[i];

		if (!name)
			continue;
		if (!tacho_scan_digits(&name, NULL, 10, UINT64_MAX, &m->constant[i]))
			continue;
		m->field[i] = tacho_type_field(type, name);
		if (!m->field[i])
			return false;
	}
	m->more = *more ? tacho_type_field(type, more) : NULL;
	return !*more || m->more;
}

bool tacho_ltt_map_find(struct tacho_ltt_mapped *m, const struct tacho_type *type)
{
	*m = (struct tacho_ltt_mapped){ .map = tacho_ltt_maps };
	for (; m->map->system; m->map++)
		if (!strcmp(m->map->system, type->system) &&
		    !strcmp(m->map->name, type->name))
			return find_fields(m, type);
	return false;
}

/* ---- rules ------------------------------------------------------------------------- */

/* The last part of a name; its length without a NUL. */
static void set_name(const struct tacho_field *f, const struct tacho_record *r,
		     struct tacho_ltt_values *v)
{
	size_t len = 0;
	const char *text = f ? tacho_field_data(f, r->raw, r->len, &len) : NULL;
	const char *slash;

	if (!text || !(f->flags & TACHO_FIELD_STRING))
		return;
	len = strnlen(text, len);
	slash = memrchr(text, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	v->v[1] = len;
	v->data = text;
	v->data_len = len;
}

/* The number that a rule's field has; 0: none. */
static uint64_t more_of(const struct tacho_ltt_mapped *m, const struct tacho_record *r)
{
	uint64_t v = 0;

	if (m->more)
		(void)tacho_field_int(m->more, r->raw, r->len, &v);
	return v;
}

static uint64_t number_of(const struct tacho_type *type, const char *name,
			  const struct tacho_record *r)
{
	const struct tacho_field *f = tacho_type_field(type, name);
	uint64_t v = 0;

	if (f)
		(void)tacho_field_int(f, r->raw, r->len, &v);
	return v;
}

/* What a thread's call was given is kept until the call's end; + 1: not NULL. */
static void remember(struct tacho_ltt_memory *mem, const struct tacho_record *r,
		     uint64_t v)
{
	(void)tacho_hashmap_set(&mem->calls, (uint32_t)r->pid + 1u,
				(void *)(uintptr_t)((v & 0x7fffffff) + 1));
}

static bool recall(struct tacho_ltt_memory *mem, const struct tacho_record *r,
		   uint64_t *v)
{
	uintptr_t kept = (uintptr_t)tacho_hashmap_get(&mem->calls, (uint32_t)r->pid + 1u);

	*v = kept - 1;
	return kept;
}

static bool is_schedule_timeout(struct tacho_ltt_memory *mem, uint64_t function)
{
	const char *name = NULL;

	if (mem->source)
		name = tacho_symbols_at(tacho_source_symbols(mem->source), function, NULL);
	return name && !strcmp(name, "process_timeout");
}

/* SOCK_STREAM, SOCK_DGRAM, SOCK_RAW; 0: not known. */
static uint64_t socket_type(uint64_t protocol)
{
	return protocol == 6 ? 1 : protocol == 17 ? 2 : protocol == 1 ? 3 : 0;
}

static uint64_t itimer_ticks(const struct tacho_record *r, const char *sec,
			     const char *nsec)
{
	return number_of(r->type, sec, r) * TICKS_PER_S +
	       number_of(r->type, nsec, r) / (UINT64_C(1000000000) / TICKS_PER_S);
}

static bool apply(struct tacho_ltt_memory *mem, struct tacho_ltt_lane *l,
		  const struct tacho_ltt_mapped *m, const struct tacho_record *r,
		  struct tacho_ltt_out *o)
{
	const unsigned char *raw = r->raw;
	uint64_t *v = o->values.v;

	switch ((enum rule)m->map->rule) {
	case BYTE:
		return v[0] <= 255;
	case IRQ:
		/* the idle task and a soft IRQ are the kernel's for sure */
		v[1] = !r->pid || (raw[2] & CPU_FLAG_SOFTIRQ);
		return v[0] <= 255;
	case FORK:
		if (more_of(m, r) == KTHREADD)
			o->sub = TRACE_PROCESS_KTHREAD;
		return true;
	case SOFTIRQ:
		l->vector = (uint32_t)v[0] + 1;
		return true;
	case TASKLET:
		if (l->vector == 1)
			o->sub = TRACE_SOFT_IRQ_TASKLET_HI_ACTION;
		return true;
	case EXEC:
		set_name(m->more, r, &o->values);
		return true;
	case NAME:
		return (int64_t)v[0] >= 0;
	case TIMEOUT:
		v[1] -= number_of(r->type, "now", r);
		return is_schedule_timeout(mem, more_of(m, r)) && v[1] <= INT32_MAX;
	case ITIMER:
		v[1] = itimer_ticks(r, "interval_sec", "interval_nsec");
		v[2] = itimer_ticks(r, "value_sec", "value_nsec");
		return v[0] <= 255 && v[1] <= UINT32_MAX && v[2] <= UINT32_MAX;
	case PROTOCOL:
		v[0] = htobe16((uint16_t)v[0]);
		return true;
	case TRANSFER:
		v[0] = socket_type(v[0]);
		return (int64_t)v[1] >= 0;
	case REMEMBER:
		remember(mem, r, more_of(m, r));
		return true;
	case RESULT:
		return (int64_t)v[0] >= 0 && recall(mem, r, &v[1]);
	case CREATED:
		return (int64_t)v[0] >= 0 && recall(mem, r, &v[1]) && v[1] & IPC_CREAT;
	case PLAIN:
	default:
		return true;
	}
}

bool tacho_ltt_map_record(struct tacho_ltt_memory *mem, struct tacho_ltt_lane *l,
			  const struct tacho_ltt_mapped *m,
			  const struct tacho_record *r, struct tacho_ltt_out *out)
{
	*out = (struct tacho_ltt_out){ .id = m->map->id, .sub = m->map->sub };
	for (int i = 0; i < LTT_MAP_VALUES; i++) {
		uint64_t v = m->constant[i];

		if (m->field[i] && !tacho_field_int(m->field[i], r->raw, r->len, &v))
			return false;
		out->values.v[i] = v;
	}
	return apply(mem, l, m, r, out);
}

void tacho_ltt_memory_release(struct tacho_ltt_memory *mem)
{
	tacho_hashmap_release(&mem->calls);
}
