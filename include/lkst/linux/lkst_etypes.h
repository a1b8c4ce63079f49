/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_etypes.h> - the predefined event types of LKST (specification 4.1.2, 4.6).
 *
 *	0x000..0x0ff	of the kernel, in blocks of 16 by subsystem
 *	0x100..0x1ff	for users
 *	0x200..0xeff	reserved
 *	0xf00..0xfff	LKST's own
 *
 * The only published number is that of the locks' block, 0x080..0x08f.
 * docs/lkst-events.md lists the Linux tracepoint and the fields of each kernel event.
 *
 * Two numbers in one argument ("code/errno") are its high and its low 32 bits.  A text
 * ("device") is its first 8 characters, the last of them in the lowest byte.  An IPv4 address is
 * a number: 0x7f000001.
 */
#ifndef LKST_ETYPES_H
#define LKST_ETYPES_H

#define LKST_ETYPE_LOCK_FIRST	0x080
#define LKST_ETYPE_LOCK_LAST	0x08f

/* X(number, mnemonic, name, four argument texts; "": not used) */
#define LKST_ETYPES_LKST(X)						\
	X(0xf00, LKST_BUFF_OVFLOW, "lkst_buffer_overflow",		\
	  "cpu", "buffer id", "next buffer id", "records")		\
	X(0xf01, LKST_BUFF_SHIFT, "lkst_buffer_shift",			\
	  "cpu", "old buffer id", "new buffer id", "")			\
	X(0xf02, LKST_MASKSET_SET, "lkst_maskset_set",			\
	  "old maskset id", "new maskset id", "", "")			\
	X(0xf03, LKST_INIT, "lkst_init",				\
	  "pid", "buffer size", "cpus", "")				\
	X(0xf04, LKST_LOST, "lkst_lost_event",				\
	  "cpu", "events", "", "")					\
	X(0xf05, LKST_ERROR, "lkst_internal_error",			\
	  "errno", "where", "", "")

#define LKST_ETYPES_KERNEL(X)						\
	/* process management */					\
	X(0x010, PROCESS_CONTEXTSWITCH, "process_contextswitch",	\
	  "next pid", "previous pid", "next/previous priority",		\
	  "previous state")						\
	X(0x011, PROCESS_WAKEUP, "process_wakeup",			\
	  "pid", "priority", "cpu", "")					\
	X(0x012, PROCESS_WAKEUP_NEW, "process_wakeup_new",		\
	  "pid", "priority", "cpu", "")					\
	X(0x013, PROCESS_WAKING, "process_waking",			\
	  "pid", "priority", "cpu", "")					\
	X(0x014, PROCESS_CLONE, "process_clone",			\
	  "new thread", "clone flags", "oom score", "")			\
	X(0x015, PROCESS_FORK, "process_fork",				\
	  "parent pid", "child pid", "", "")				\
	X(0x016, PROCESS_EXEC, "process_exec",				\
	  "pid", "old pid", "", "")					\
	X(0x017, PROCESS_EXIT, "process_exit",				\
	  "pid", "priority", "whole process", "")			\
	X(0x018, PROCESS_FREE, "process_free",				\
	  "pid", "priority", "", "")					\
	X(0x019, PROCESS_WAIT, "process_wait",				\
	  "pid", "priority", "", "")					\
	X(0x01a, PROCESS_MIGRATE, "process_migrate",			\
	  "pid", "priority", "old cpu", "new cpu")			\
	X(0x01b, PROCESS_SIGNAL_SEND, "process_signal_send",		\
	  "signal", "pid", "code/errno", "to group/result")		\
	X(0x01c, PROCESS_SIGNAL_DELIVER, "process_signal_deliver",	\
	  "signal", "code/errno", "handler", "flags")			\
	X(0x01d, PROCESS_RENAME, "process_rename",			\
	  "pid", "new name", "old name", "")				\
	X(0x01e, PROCESS_SET_PRIORITY, "process_set_priority",		\
	  "pid", "old priority", "new priority", "")			\
	X(0x01f, PROCESS_RUNTIME, "process_runtime",			\
	  "pid", "nanoseconds", "", "")					\
	/* interrupts */						\
	X(0x020, INT_HARDWARE_ENTRY, "int_hardware_entry",		\
	  "irq", "name", "", "")					\
	X(0x021, INT_HARDWARE_EXIT, "int_hardware_exit",		\
	  "irq", "handled", "", "")					\
	X(0x022, INT_SOFTIRQ_ENTRY, "int_softirq_entry",		\
	  "vector", "", "", "")						\
	X(0x023, INT_SOFTIRQ_EXIT, "int_softirq_exit",			\
	  "vector", "", "", "")						\
	X(0x024, INT_SOFTIRQ_RAISE, "int_softirq_raise",		\
	  "vector", "", "", "")						\
	X(0x025, INT_TASKLET_ENTRY, "int_tasklet_entry",		\
	  "tasklet", "function", "", "")				\
	X(0x026, INT_TASKLET_EXIT, "int_tasklet_exit",			\
	  "tasklet", "function", "", "")				\
	X(0x027, INT_WORK_QUEUE, "int_work_queue",			\
	  "work", "function", "wanted/chosen cpu", "")			\
	X(0x028, INT_WORK_ENTRY, "int_work_entry",			\
	  "work", "function", "", "")					\
	X(0x029, INT_WORK_EXIT, "int_work_exit",			\
	  "work", "function", "", "")					\
	X(0x02a, INT_TIMER_ENTRY, "int_timer_entry",			\
	  "vector", "", "", "")						\
	X(0x02b, INT_TIMER_EXIT, "int_timer_exit",			\
	  "vector", "", "", "")						\
	X(0x02c, INT_RESCHEDULE, "int_reschedule",			\
	  "vector", "", "", "")						\
	X(0x02d, INT_FUNCTION_CALL, "int_function_call",		\
	  "vector", "", "", "")						\
	X(0x02e, INT_SEND, "int_send",					\
	  "cpu", "caller", "function", "")				\
	X(0x02f, INT_THERMAL, "int_thermal",				\
	  "vector", "", "", "")						\
	/* exceptions */						\
	X(0x030, EXCEPTION_PAGE_FAULT_USER, "exception_page_fault_user",\
	  "address", "instruction", "error code", "")			\
	X(0x031, EXCEPTION_PAGE_FAULT_KERNEL, "exception_page_fault_kernel",\
	  "address", "instruction", "error code", "")			\
	X(0x032, EXCEPTION_NMI, "exception_nmi",			\
	  "handler", "nanoseconds", "handled", "")			\
	X(0x033, EXCEPTION_ERROR_APIC, "exception_error_apic",		\
	  "vector", "", "", "")						\
	X(0x034, EXCEPTION_SPURIOUS_APIC, "exception_spurious_apic",	\
	  "vector", "", "", "")						\
	X(0x035, EXCEPTION_FPU, "exception_fpu",			\
	  "fpu", "load", "features", "compacted")			\
	X(0x036, EXCEPTION_VSYSCALL, "exception_vsyscall",		\
	  "number", "", "", "")						\
	X(0x037, EXCEPTION_RSEQ_ABORT, "exception_rseq_abort",		\
	  "instruction", "start", "length", "abort")			\
	X(0x038, EXCEPTION_IO_PAGE_FAULT, "exception_io_page_fault",	\
	  "address", "flags", "device", "driver")			\
	X(0x039, EXCEPTION_THRESHOLD_APIC, "exception_threshold_apic",	\
	  "vector", "", "", "")						\
	X(0x03a, EXCEPTION_DEFERRED_ERROR_APIC, "exception_deferred_error_apic",\
	  "vector", "", "", "")						\
	/* system calls */						\
	X(0x040, SYSTEM_CALL_ENTRY, "system_call_entry",		\
	  "number", "argument 1", "argument 2", "argument 3")		\
	X(0x041, SYSTEM_CALL_EXIT, "system_call_exit",			\
	  "number", "result", "", "")					\
	X(0x042, SYSTEM_CALL_PRCTL_UNKNOWN, "system_call_prctl_unknown",\
	  "option", "argument 2", "argument 3", "argument 4")		\
	X(0x043, SYSTEM_CALL_CAPABLE, "system_call_capable",		\
	  "capability", "result", "name space", "")			\
	X(0x044, SYSTEM_CALL_AUDITED, "system_call_audited",		\
	  "requested/denied", "audited", "result", "class")		\
	X(0x045, SYSTEM_CALL_URING_CREATE, "system_call_uring_create",	\
	  "fd", "context", "sq/cq entries", "flags")			\
	X(0x046, SYSTEM_CALL_URING_SUBMIT, "system_call_uring_submit",	\
	  "context", "request", "user data", "opcode")			\
	X(0x047, SYSTEM_CALL_URING_COMPLETE, "system_call_uring_complete",\
	  "context", "request", "user data", "result/flags")		\
	/* memory management */						\
	X(0x050, MEM_PAGE_ALLOC, "mem_page_alloc",			\
	  "page frame", "order", "gfp flags", "migrate type")		\
	X(0x051, MEM_PAGE_FREE, "mem_page_free",			\
	  "page frame", "order", "", "")				\
	X(0x052, MEM_ALLOC, "mem_alloc",				\
	  "address", "wanted/given bytes", "gfp flags", "caller")	\
	X(0x053, MEM_FREE, "mem_free",					\
	  "address", "caller", "", "")					\
	X(0x054, MEM_CACHE_ALLOC, "mem_cache_alloc",			\
	  "address", "wanted/given bytes", "gfp flags", "caller")	\
	X(0x055, MEM_CACHE_FREE, "mem_cache_free",			\
	  "address", "caller", "cache", "")				\
	X(0x056, MEM_SWAPD_WAKE, "mem_swapd_wake",			\
	  "node", "zone", "order", "")					\
	X(0x057, MEM_SWAPD_SLEEP, "mem_swapd_sleep",			\
	  "node", "", "", "")						\
	X(0x058, MEM_RECLAIM_BEGIN, "mem_reclaim_begin",		\
	  "order", "gfp flags", "", "")					\
	X(0x059, MEM_RECLAIM_END, "mem_reclaim_end",			\
	  "pages", "", "", "")						\
	X(0x05a, MEM_COMPACTION_BEGIN, "mem_compaction_begin",		\
	  "zone start", "zone end", "migrate from", "synchronous")	\
	X(0x05b, MEM_COMPACTION_END, "mem_compaction_end",		\
	  "zone start", "zone end", "migrate from", "status")		\
	X(0x05c, MEM_RSS, "mem_rss",					\
	  "memory", "own", "member", "bytes")				\
	X(0x05d, MEM_MAP, "mem_map",					\
	  "address", "length", "flags", "")				\
	X(0x05e, MEM_TLB_FLUSH, "mem_tlb_flush",			\
	  "reason", "pages", "", "")					\
	X(0x05f, MEM_FRAGMENT, "mem_fragment",				\
	  "page frame", "wanted/found order", "wanted/found type",	\
	  "ownership")							\
	/* networking */						\
	X(0x060, NET_PACKET_SEND, "net_packet_send",			\
	  "packet", "bytes", "device", "")				\
	X(0x061, NET_PACKET_SENT, "net_packet_sent",			\
	  "packet", "bytes", "result", "device")			\
	X(0x062, NET_PACKET_RECEIVE, "net_packet_receive",		\
	  "packet", "bytes", "device", "")				\
	X(0x063, NET_PACKET_RX, "net_packet_rx",			\
	  "packet", "bytes", "device", "")				\
	X(0x064, NET_PACKET_DROP, "net_packet_drop",			\
	  "packet", "place", "protocol", "reason")			\
	X(0x065, NET_PACKET_FREE, "net_packet_free",			\
	  "packet", "place", "", "")					\
	X(0x066, NET_PACKET_COPY, "net_packet_copy",			\
	  "packet", "bytes", "", "")					\
	X(0x067, NET_POLL, "net_poll",					\
	  "poll", "work/budget", "device", "")				\
	X(0x068, NET_SOCKET_STATE, "net_socket_state",			\
	  "socket", "old/new state", "source/destination port",		\
	  "source/destination")						\
	X(0x069, NET_TCP_RETRANSMIT, "net_tcp_retransmit",		\
	  "socket", "state", "source/destination port",			\
	  "source/destination")						\
	X(0x06a, NET_TCP_RESET_SEND, "net_tcp_reset_send",		\
	  "socket", "packet", "state", "reason")			\
	X(0x06b, NET_TCP_RESET_RECEIVE, "net_tcp_reset_receive",	\
	  "socket", "source/destination port", "source/destination",	\
	  "")								\
	X(0x06c, NET_TCP_DESTROY, "net_tcp_destroy",			\
	  "socket", "source/destination port", "source/destination",	\
	  "")								\
	X(0x06d, NET_SOCKET_SEND, "net_socket_send",			\
	  "socket", "family/protocol", "result", "flags")		\
	X(0x06e, NET_SOCKET_RECEIVE, "net_socket_receive",		\
	  "socket", "family/protocol", "result", "flags")		\
	X(0x06f, NET_UDP_FAIL, "net_udp_fail",				\
	  "result", "local port", "", "")				\
	/* SysV IPC */							\
	X(0x070, IPC_SEMOP, "ipc_semop",				\
	  "id", "operations", "address", "")				\
	X(0x071, IPC_SEMTIMEDOP, "ipc_semtimedop",			\
	  "id", "operations", "address", "timeout address")		\
	X(0x072, IPC_SEMGET, "ipc_semget",				\
	  "key", "semaphores", "flags", "")				\
	X(0x073, IPC_SEMCTL, "ipc_semctl",				\
	  "id", "semaphore", "command", "argument")			\
	X(0x074, IPC_MSGSND, "ipc_msgsnd",				\
	  "id", "bytes", "flags", "address")				\
	X(0x075, IPC_MSGRCV, "ipc_msgrcv",				\
	  "id", "bytes", "type", "flags")				\
	X(0x076, IPC_MSGGET, "ipc_msgget",				\
	  "key", "flags", "", "")					\
	X(0x077, IPC_MSGCTL, "ipc_msgctl",				\
	  "id", "command", "address", "")				\
	X(0x078, IPC_SHMAT, "ipc_shmat",				\
	  "id", "address", "flags", "")					\
	X(0x079, IPC_SHMDT, "ipc_shmdt",				\
	  "address", "", "", "")					\
	X(0x07a, IPC_SHMGET, "ipc_shmget",				\
	  "key", "bytes", "flags", "")					\
	X(0x07b, IPC_SHMCTL, "ipc_shmctl",				\
	  "id", "command", "address", "")				\
	X(0x07c, IPC_SEMOP_EXIT, "ipc_semop_exit",			\
	  "result", "", "", "")						\
	X(0x07d, IPC_SEMTIMEDOP_EXIT, "ipc_semtimedop_exit",		\
	  "result", "", "", "")						\
	X(0x07e, IPC_MSGSND_EXIT, "ipc_msgsnd_exit",			\
	  "result", "", "", "")						\
	X(0x07f, IPC_MSGRCV_EXIT, "ipc_msgrcv_exit",			\
	  "result", "", "", "")						\
	/* locks */							\
	X(0x080, SPIN_LOCK, "spin_lock",				\
	  "lock", "kind", "", "")					\
	X(0x081, SPIN_LOCK_GOT, "spin_lock_got",			\
	  "lock", "result", "", "")					\
	X(0x082, LOCK_MMAP_WAIT, "lock_mmap_wait",			\
	  "memory", "to write", "", "")					\
	X(0x083, LOCK_MMAP_GOT, "lock_mmap_got",			\
	  "memory", "to write", "success", "")				\
	X(0x084, LOCK_MMAP_RELEASED, "lock_mmap_released",		\
	  "memory", "to write", "", "")					\
	X(0x085, LOCK_FILE_POSIX, "lock_file_posix",			\
	  "inode", "type/result", "first byte", "last byte")		\
	X(0x086, LOCK_FILE_FLOCK, "lock_file_flock",			\
	  "inode", "type/result", "device", "")				\
	X(0x087, LOCK_FILE_FCNTL, "lock_file_fcntl",			\
	  "inode", "type/result", "first byte", "last byte")		\
	X(0x088, LOCK_LEASE_BREAK, "lock_lease_break",			\
	  "inode", "type", "device", "")				\
	X(0x089, LOCK_CGROUP_WAIT, "lock_cgroup_wait",			\
	  "id", "cpu", "contended", "")					\
	/* timer */							\
	X(0x090, TIMER_START, "timer_start",				\
	  "timer", "function", "expires", "now")			\
	X(0x091, TIMER_EXPIRE_ENTRY, "timer_expire_entry",		\
	  "timer", "function", "now", "")				\
	X(0x092, TIMER_EXPIRE_EXIT, "timer_expire_exit",		\
	  "timer", "", "", "")						\
	X(0x093, TIMER_CANCEL, "timer_cancel",				\
	  "timer", "", "", "")						\
	X(0x094, TIMER_HIGHRES_INIT, "timer_highres_init",		\
	  "timer", "clock", "mode", "")					\
	X(0x095, TIMER_HIGHRES_START, "timer_highres_start",		\
	  "timer", "function", "expires", "mode")			\
	X(0x096, TIMER_HIGHRES_ENTRY, "timer_highres_entry",		\
	  "timer", "function", "now", "")				\
	X(0x097, TIMER_HIGHRES_EXIT, "timer_highres_exit",		\
	  "timer", "", "", "")						\
	X(0x098, TIMER_HIGHRES_CANCEL, "timer_highres_cancel",		\
	  "timer", "", "", "")						\
	X(0x099, TIMER_INTERVAL_SET, "timer_interval_set",		\
	  "which", "expires", "seconds", "interval seconds")		\
	X(0x09a, TIMER_INTERVAL_EXPIRE, "timer_interval_expire",	\
	  "which", "pid", "now", "")					\
	X(0x09b, TIMER_ALARM_START, "timer_alarm_start",		\
	  "timer", "type", "expires", "now")				\
	X(0x09c, TIMER_ALARM_FIRED, "timer_alarm_fired",		\
	  "timer", "type", "expires", "now")				\
	X(0x09d, TIMER_ALARM_CANCEL, "timer_alarm_cancel",		\
	  "timer", "type", "expires", "now")				\
	X(0x09e, TIMER_TICK_STOP, "timer_tick_stop",			\
	  "success", "dependency", "", "")				\
	/* oops, kernel messages and errors */				\
	X(0x0a0, OOPS_PRINTK, "oops_printk",				\
	  "text", "bytes", "", "")					\
	X(0x0a1, OOPS_ERROR_REPORT, "oops_error_report",		\
	  "detector", "id", "", "")					\
	X(0x0a2, OOPS_OOM_VICTIM, "oops_oom_victim",			\
	  "pid", "total pages", "anonymous pages", "uid/score")		\
	X(0x0a3, OOPS_OOM_SCORE, "oops_oom_score",			\
	  "pid", "score", "name", "")					\
	X(0x0a4, OOPS_OOM_REAP, "oops_oom_reap",			\
	  "pid", "", "", "")						\
	X(0x0a5, OOPS_OOM_REAPED, "oops_oom_reaped",			\
	  "pid", "", "", "")						\
	X(0x0a6, OOPS_OOM_SKIPPED, "oops_oom_skipped",			\
	  "pid", "", "", "")						\
	X(0x0a7, OOPS_OOM_RETRY, "oops_oom_retry",			\
	  "order", "reclaimable pages", "available pages", "loops")	\
	X(0x0a8, OOPS_MEMORY_ERROR, "oops_memory_error",		\
	  "type", "errors", "address", "syndrome")			\
	X(0x0a9, OOPS_MEMORY_FAILURE, "oops_memory_failure",		\
	  "page frame", "type", "result", "")				\
	X(0x0aa, OOPS_MACHINE_CHECK, "oops_machine_check",		\
	  "cpu/bank", "status", "address", "misc")			\
	X(0x0ab, OOPS_PCIE_ERROR, "oops_pcie_error",			\
	  "status", "severity", "device", "")				\
	X(0x0ac, OOPS_OTHER_ERROR, "oops_other_error",			\
	  "severity", "bytes", "", "")					\
	X(0x0ad, OOPS_RCU_STALL, "oops_rcu_stall",			\
	  "flavour", "message", "", "")					\
	X(0x0ae, OOPS_HUNG_TASK, "oops_hung_task",			\
	  "pid", "", "", "")						\
	X(0x0af, OOPS_THERMAL_TRIP, "oops_thermal_trip",		\
	  "zone", "trip", "type", "")					\
	/* block I/O */							\
	X(0x0b0, BLOCK_QUEUE, "block_queue",				\
	  "device", "sector", "sectors", "kind")			\
	X(0x0b1, BLOCK_INSERT, "block_insert",				\
	  "device", "sector", "sectors/bytes", "kind")			\
	X(0x0b2, BLOCK_ISSUE, "block_issue",				\
	  "device", "sector", "sectors/bytes", "kind")			\
	X(0x0b3, BLOCK_COMPLETE, "block_complete",			\
	  "device", "sector", "sectors/error", "kind")			\
	X(0x0b4, BLOCK_REQUEUE, "block_requeue",			\
	  "device", "sector", "sectors", "kind")			\
	X(0x0b5, BLOCK_ERROR, "block_error",				\
	  "device", "sector", "sectors/error", "kind")			\
	X(0x0b6, BLOCK_BIO_COMPLETE, "block_bio_complete",		\
	  "device", "sector", "sectors/error", "kind")			\
	X(0x0b7, BLOCK_REMAP, "block_remap",				\
	  "device", "sector", "old device/sectors", "old sector")	\
	X(0x0b8, BLOCK_SPLIT, "block_split",				\
	  "device", "sector", "new sector", "kind")			\
	/* file systems */						\
	X(0x0c0, FS_CACHE_ADD, "fs_cache_add",				\
	  "device", "inode", "page", "page frame")			\
	X(0x0c1, FS_CACHE_DELETE, "fs_cache_delete",			\
	  "device", "inode", "page", "page frame")			\
	X(0x0c2, FS_CACHE_FAULT, "fs_cache_fault",			\
	  "device", "inode", "page", "")				\
	X(0x0c3, FS_WRITEBACK_START, "fs_writeback_start",		\
	  "pages", "device", "synchronous/background", "reason")	\
	X(0x0c4, FS_WRITEBACK_WRITTEN, "fs_writeback_written",		\
	  "pages left", "device", "synchronous/background", "reason")	\
	X(0x0c5, FS_WRITEBACK_INODE, "fs_writeback_inode",		\
	  "inode", "state", "pages written", "pages left")		\
	X(0x0c6, FS_WRITEBACK_ERROR, "fs_writeback_error",		\
	  "inode", "device", "error", "")				\
	X(0x0c7, FS_JOURNAL_COMMIT, "fs_journal_commit",		\
	  "device", "transaction", "synchronous", "")			\
	X(0x0c8, FS_JOURNAL_COMMITTED, "fs_journal_committed",		\
	  "device", "transaction", "head", "")				\
	X(0x0c9, FS_EXT4_ERROR, "fs_ext4_error",			\
	  "device", "line", "", "")					\
	X(0x0ca, FS_EXT4_SYNC, "fs_ext4_sync",				\
	  "device", "inode", "parent", "data only")			\
	X(0x0cb, FS_EXT4_SYNC_EXIT, "fs_ext4_sync_exit",		\
	  "device", "inode", "result", "")				\
	X(0x0cc, FS_FUSE_REQUEST, "fs_fuse_request",			\
	  "connection", "number", "opcode", "bytes")			\
	X(0x0cd, FS_FUSE_REPLY, "fs_fuse_reply",			\
	  "connection", "number", "error", "bytes")			\
	/* power, devices, modules, control groups */			\
	X(0x0d0, POWER_CPU_IDLE, "power_cpu_idle",			\
	  "cpu", "state", "", "")					\
	X(0x0d1, POWER_CPU_FREQUENCY, "power_cpu_frequency",		\
	  "cpu", "kilohertz", "", "")					\
	X(0x0d2, POWER_CPU_LIMITS, "power_cpu_limits",			\
	  "cpu", "least/most kilohertz", "", "")			\
	X(0x0d3, POWER_SUSPEND, "power_suspend",			\
	  "value", "start", "", "")					\
	X(0x0d4, POWER_WAKEUP_SOURCE, "power_wakeup_source",		\
	  "name", "state", "", "")					\
	X(0x0d5, POWER_CPU_HOTPLUG, "power_cpu_hotplug",		\
	  "cpu", "target/step", "function", "")				\
	X(0x0d6, POWER_CPU_HOTPLUG_EXIT, "power_cpu_hotplug_exit",	\
	  "cpu", "state/step", "result", "")				\
	X(0x0d7, DEVICE_WATCHDOG_START, "device_watchdog_start",	\
	  "id", "error", "", "")					\
	X(0x0d8, DEVICE_WATCHDOG_STOP, "device_watchdog_stop",		\
	  "id", "error", "", "")					\
	X(0x0d9, MODULE_LOAD, "module_load",				\
	  "name", "taints", "", "")					\
	X(0x0da, MODULE_FREE, "module_free",				\
	  "name", "", "", "")						\
	X(0x0db, CGROUP_MKDIR, "cgroup_mkdir",				\
	  "id", "root/level", "", "")					\
	X(0x0dc, CGROUP_RMDIR, "cgroup_rmdir",				\
	  "id", "root/level", "", "")					\
	X(0x0dd, CGROUP_ATTACH, "cgroup_attach",			\
	  "id", "pid", "root/level", "")				\
	X(0x0de, CGROUP_FREEZE, "cgroup_freeze",			\
	  "id", "root/level", "", "")					\
	X(0x0df, CGROUP_UNFREEZE, "cgroup_unfreeze",			\
	  "id", "root/level", "", "")					\
	/* networking, rare events */					\
	X(0x0e0, NET_QUEUE_FULL, "net_queue_full",			\
	  "bytes queued", "bytes of packet", "limit", "")		\
	X(0x0e1, NET_BUFFER_LIMIT, "net_buffer_limit",			\
	  "name", "allocated", "limit/queued to read",			\
	  "limit/queued to write")					\
	X(0x0e2, NET_ICMP_SEND, "net_icmp_send",			\
	  "type/code", "source/destination",				\
	  "source/destination port", "bytes")				\
	X(0x0e3, NET_NEIGHBOUR, "net_neighbour",			\
	  "old/new state", "address", "flags", "device")		\
	X(0x0e4, NET_SEND_TIMEOUT, "net_send_timeout",			\
	  "device", "driver", "queue", "")				\
	X(0x0e5, NET_SOCKET_ERROR, "net_socket_error",			\
	  "error", "family/protocol", "source/destination port",	\
	  "source/destination")						\
	X(0x0e6, NET_QUEUE_ENTRY, "net_queue_entry",			\
	  "packet", "interface", "handle/parent", "")			\
	X(0x0e7, NET_QUEUE_EXIT, "net_queue_exit",			\
	  "packet", "interface", "handle/parent", "packets")		\
	X(0x0e8, NET_ROUTE_LOOKUP, "net_route_lookup",			\
	  "table/error", "out/in interface", "source/destination",	\
	  "source/destination port")

#define LKST_ETYPE_ENUM_(number, mnemonic, name, a1, a2, a3, a4)	\
	LKST_ETYPE_##mnemonic = number,

enum {
	LKST_ETYPES_KERNEL(LKST_ETYPE_ENUM_)
	LKST_ETYPES_LKST(LKST_ETYPE_ENUM_)
};

#endif
