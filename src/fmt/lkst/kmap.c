// SPDX-License-Identifier: MIT
/* The table of kernel event types: numbers and texts are those of <linux/lkst_etypes.h>. */
#include "fmt/lkst/kmap.h"

#include <linux/lkst_etypes.h>
#include <string.h>

#define NR_KERNEL	0x100		/* 0x000..0x0ff */

#define ROW(on, mnemonic, points, ...) \
	[LKST_ETYPE_##mnemonic] = { LKST_ETYPE_##mnemonic, on, points, { __VA_ARGS__ } },
#define ON(mnemonic, points, ...)	ROW(true, mnemonic, points, __VA_ARGS__)
#define OFF(mnemonic, points, ...)	ROW(false, mnemonic, points, __VA_ARGS__)

/*
 * ON: in the maskset RDEFAULT.  That is what tells of processes, connections, errors and slow
 * devices, and is cheap beside what it tells of; not what Linux does in each of its innermost
 * loops (system calls, page faults, allocations, packets, soft interrupts, timers), nor locks,
 * ever.
 */
static const struct lkst_kmap kmap[NR_KERNEL] = {
	/* process management */
	ON(PROCESS_CONTEXTSWITCH, "sched:sched_switch",
	   "next_pid", "prev_pid", "next_prio:prev_prio", "prev_state")
	ON(PROCESS_WAKEUP, "sched:sched_wakeup", "pid", "prio", "target_cpu")
	ON(PROCESS_WAKEUP_NEW, "sched:sched_wakeup_new", "pid", "prio", "target_cpu")
	OFF(PROCESS_WAKING, "sched:sched_waking", "pid", "prio", "target_cpu")
	ON(PROCESS_CLONE, "task:task_newtask", "pid", "clone_flags", "oom_score_adj")
	ON(PROCESS_FORK, "sched:sched_process_fork", "parent_pid", "child_pid")
	ON(PROCESS_EXEC, "sched:sched_process_exec", "pid", "old_pid")
	ON(PROCESS_EXIT, "sched:sched_process_exit", "pid", "prio", "?group_dead")
	ON(PROCESS_FREE, "sched:sched_process_free", "pid", "prio")
	ON(PROCESS_WAIT, "sched:sched_process_wait", "pid", "prio")
	ON(PROCESS_MIGRATE, "sched:sched_migrate_task", "pid", "prio", "orig_cpu", "dest_cpu")
	ON(PROCESS_SIGNAL_SEND, "signal:signal_generate",
	   "sig", "pid", "code:errno", "group:result")
	ON(PROCESS_SIGNAL_DELIVER, "signal:signal_deliver",
	   "sig", "code:errno", "sa_handler", "sa_flags")
	ON(PROCESS_RENAME, "task:task_rename", "pid", "newcomm", "oldcomm")
	ON(PROCESS_SET_PRIORITY, "sched:sched_pi_setprio", "pid", "oldprio", "newprio")
	OFF(PROCESS_RUNTIME, "sched:sched_stat_runtime", "pid", "runtime")

	/* interrupts */
	ON(INT_HARDWARE_ENTRY, "irq:irq_handler_entry", "irq", "name")
	ON(INT_HARDWARE_EXIT, "irq:irq_handler_exit", "irq", "ret")
	OFF(INT_SOFTIRQ_ENTRY, "irq:softirq_entry", "vec")
	OFF(INT_SOFTIRQ_EXIT, "irq:softirq_exit", "vec")
	OFF(INT_SOFTIRQ_RAISE, "irq:softirq_raise", "vec")
	ON(INT_TASKLET_ENTRY, "irq:tasklet_entry", "tasklet", "func")
	ON(INT_TASKLET_EXIT, "irq:tasklet_exit", "tasklet", "func")
	OFF(INT_WORK_QUEUE, "workqueue:workqueue_queue_work", "work", "function", "req_cpu:cpu")
	OFF(INT_WORK_ENTRY, "workqueue:workqueue_execute_start", "work", "function")
	OFF(INT_WORK_EXIT, "workqueue:workqueue_execute_end", "work", "function")
	OFF(INT_TIMER_ENTRY, "irq_vectors:local_timer_entry", "vector")
	OFF(INT_TIMER_EXIT, "irq_vectors:local_timer_exit", "vector")
	OFF(INT_RESCHEDULE, "irq_vectors:reschedule_entry", "vector")
	OFF(INT_FUNCTION_CALL, "irq_vectors:call_function_single_entry", "vector")
	OFF(INT_SEND, "ipi:ipi_send_cpu", "cpu", "callsite", "callback")
	ON(INT_THERMAL, "irq_vectors:thermal_apic_entry", "vector")

	/* exceptions */
	OFF(EXCEPTION_PAGE_FAULT_USER, "exceptions:page_fault_user",
	    "address", "ip", "error_code")
	OFF(EXCEPTION_PAGE_FAULT_KERNEL, "exceptions:page_fault_kernel",
	    "address", "ip", "error_code")
	ON(EXCEPTION_NMI, "nmi:nmi_handler", "handler", "delta_ns", "handled")
	ON(EXCEPTION_ERROR_APIC, "irq_vectors:error_apic_entry", "vector")
	ON(EXCEPTION_SPURIOUS_APIC, "irq_vectors:spurious_apic_entry", "vector")
	ON(EXCEPTION_FPU, "x86_fpu:x86_fpu_xstate_check_failed",
	   "fpu", "load_fpu", "xfeatures", "xcomp_bv")
	ON(EXCEPTION_VSYSCALL, "vsyscall:emulate_vsyscall", "nr")
	OFF(EXCEPTION_RSEQ_ABORT, "rseq:rseq_ip_fixup",
	    "regs_ip", "start_ip", "post_commit_offset", "abort_ip")
	ON(EXCEPTION_IO_PAGE_FAULT, "iommu:io_page_fault", "iova", "flags", "device", "driver")
	ON(EXCEPTION_THRESHOLD_APIC, "irq_vectors:threshold_apic_entry", "vector")
	ON(EXCEPTION_DEFERRED_ERROR_APIC, "irq_vectors:deferred_error_apic_entry", "vector")

	/* system calls */
	OFF(SYSTEM_CALL_ENTRY, "raw_syscalls:sys_enter", "id", "args[0]", "args[1]", "args[2]")
	OFF(SYSTEM_CALL_EXIT, "raw_syscalls:sys_exit", "id", "ret")
	ON(SYSTEM_CALL_PRCTL_UNKNOWN, "task:task_prctl_unknown",
	   "option", "arg2", "arg3", "arg4")
	OFF(SYSTEM_CALL_CAPABLE, "capability:cap_capable", "cap", "ret", "target_ns")
	ON(SYSTEM_CALL_AUDITED, "avc:selinux_audited",
	   "requested:denied", "audited", "result", "tclass")
	ON(SYSTEM_CALL_URING_CREATE, "io_uring:io_uring_create",
	   "fd", "ctx", "sq_entries:cq_entries", "flags")
	OFF(SYSTEM_CALL_URING_SUBMIT, "io_uring:io_uring_submit_req io_uring:io_uring_submit_sqe",
	    "ctx", "req", "user_data", "opcode")
	OFF(SYSTEM_CALL_URING_COMPLETE, "io_uring:io_uring_complete",
	    "ctx", "req", "user_data", "res:cflags")

	/* memory management */
	OFF(MEM_PAGE_ALLOC, "kmem:mm_page_alloc", "pfn", "order", "gfp_flags", "migratetype")
	OFF(MEM_PAGE_FREE, "kmem:mm_page_free", "pfn", "order")
	OFF(MEM_ALLOC, "kmem:kmalloc", "ptr", "bytes_req:bytes_alloc", "gfp_flags", "call_site")
	OFF(MEM_FREE, "kmem:kfree", "ptr", "call_site")
	OFF(MEM_CACHE_ALLOC, "kmem:kmem_cache_alloc",
	    "ptr", "bytes_req:bytes_alloc", "gfp_flags", "call_site")
	OFF(MEM_CACHE_FREE, "kmem:kmem_cache_free", "ptr", "call_site", "name")
	ON(MEM_SWAPD_WAKE, "vmscan:mm_vmscan_kswapd_wake", "nid", "zid", "order")
	ON(MEM_SWAPD_SLEEP, "vmscan:mm_vmscan_kswapd_sleep", "nid")
	ON(MEM_RECLAIM_BEGIN, "vmscan:mm_vmscan_direct_reclaim_begin", "order", "gfp_flags")
	ON(MEM_RECLAIM_END, "vmscan:mm_vmscan_direct_reclaim_end", "nr_reclaimed")
	ON(MEM_COMPACTION_BEGIN, "compaction:mm_compaction_begin",
	   "zone_start", "zone_end", "migrate_pfn", "sync")
	ON(MEM_COMPACTION_END, "compaction:mm_compaction_end",
	   "zone_start", "zone_end", "migrate_pfn", "status")
	OFF(MEM_RSS, "kmem:rss_stat", "mm_id", "curr", "member", "size")
	OFF(MEM_MAP, "mmap:vm_unmapped_area", "addr", "length", "flags")
	OFF(MEM_TLB_FLUSH, "tlb:tlb_flush", "reason", "pages")
	ON(MEM_FRAGMENT, "kmem:mm_page_alloc_extfrag",
	   "pfn", "alloc_order:fallback_order", "alloc_migratetype:fallback_migratetype",
	   "change_ownership")

	/* networking */
	OFF(NET_PACKET_SEND, "net:net_dev_queue", "skbaddr", "len", "name")
	OFF(NET_PACKET_SENT, "net:net_dev_xmit", "skbaddr", "len", "rc", "name")
	OFF(NET_PACKET_RECEIVE, "net:netif_receive_skb", "skbaddr", "len", "name")
	OFF(NET_PACKET_RX, "net:netif_rx", "skbaddr", "len", "name")
	ON(NET_PACKET_DROP, "skb:kfree_skb", "skbaddr", "location", "protocol", "reason")
	OFF(NET_PACKET_FREE, "skb:consume_skb", "skbaddr", "?location")
	OFF(NET_PACKET_COPY, "skb:skb_copy_datagram_iovec", "skbaddr", "len")
	OFF(NET_POLL, "napi:napi_poll", "napi", "work:budget", "dev_name")
	ON(NET_SOCKET_STATE, "sock:inet_sock_set_state",
	   "skaddr", "oldstate:newstate", "sport:dport", "saddr:daddr")
	ON(NET_TCP_RETRANSMIT, "tcp:tcp_retransmit_skb",
	   "skaddr", "state", "sport:dport", "saddr:daddr")
	ON(NET_TCP_RESET_SEND, "tcp:tcp_send_reset", "skaddr", "skbaddr", "?state", "?reason")
	ON(NET_TCP_RESET_RECEIVE, "tcp:tcp_receive_reset",
	   "skaddr", "sport:dport", "saddr:daddr")
	ON(NET_TCP_DESTROY, "tcp:tcp_destroy_sock", "skaddr", "sport:dport", "saddr:daddr")
	OFF(NET_SOCKET_SEND, "sock:sock_send_length", "sk", "family:protocol", "ret", "flags")
	OFF(NET_SOCKET_RECEIVE, "sock:sock_recv_length",
	    "sk", "family:protocol", "ret", "flags")
	ON(NET_UDP_FAIL, "udp:udp_fail_queue_rcv_skb", "rc", "dport/lport")

	/* SysV IPC */
	OFF(IPC_SEMOP, "syscalls:sys_enter_semop", "semid", "nsops", "tsops")
	OFF(IPC_SEMTIMEDOP, "syscalls:sys_enter_semtimedop",
	    "semid", "nsops", "tsops", "timeout")
	OFF(IPC_SEMGET, "syscalls:sys_enter_semget", "key", "nsems", "semflg")
	OFF(IPC_SEMCTL, "syscalls:sys_enter_semctl", "semid", "semnum", "cmd", "arg")
	OFF(IPC_MSGSND, "syscalls:sys_enter_msgsnd", "msqid", "msgsz", "msgflg", "msgp")
	OFF(IPC_MSGRCV, "syscalls:sys_enter_msgrcv", "msqid", "msgsz", "msgtyp", "msgflg")
	OFF(IPC_MSGGET, "syscalls:sys_enter_msgget", "key", "msgflg")
	OFF(IPC_MSGCTL, "syscalls:sys_enter_msgctl", "msqid", "cmd", "buf")
	OFF(IPC_SHMAT, "syscalls:sys_enter_shmat", "shmid", "shmaddr", "shmflg")
	OFF(IPC_SHMDT, "syscalls:sys_enter_shmdt", "shmaddr")
	OFF(IPC_SHMGET, "syscalls:sys_enter_shmget", "key", "size", "shmflg")
	OFF(IPC_SHMCTL, "syscalls:sys_enter_shmctl", "shmid", "cmd", "buf")
	OFF(IPC_SEMOP_EXIT, "syscalls:sys_exit_semop", "ret")
	OFF(IPC_SEMTIMEDOP_EXIT, "syscalls:sys_exit_semtimedop", "ret")
	OFF(IPC_MSGSND_EXIT, "syscalls:sys_exit_msgsnd", "ret")
	OFF(IPC_MSGRCV_EXIT, "syscalls:sys_exit_msgrcv", "ret")

	/* locks */
	OFF(SPIN_LOCK, "lock:contention_begin", "lock_addr", "flags")
	OFF(SPIN_LOCK_GOT, "lock:contention_end", "lock_addr", "ret")
	OFF(LOCK_MMAP_WAIT, "mmap_lock:mmap_lock_start_locking", "mm", "write")
	OFF(LOCK_MMAP_GOT, "mmap_lock:mmap_lock_acquire_returned", "mm", "write", "success")
	OFF(LOCK_MMAP_RELEASED, "mmap_lock:mmap_lock_released", "mm", "write")
	OFF(LOCK_FILE_POSIX, "filelock:posix_lock_inode",
	    "i_ino", "type/fl_type:ret", "fl_start", "fl_end")
	OFF(LOCK_FILE_FLOCK, "filelock:flock_lock_inode", "i_ino", "type/fl_type:ret", "s_dev")
	OFF(LOCK_FILE_FCNTL, "filelock:fcntl_setlk",
	    "i_ino", "type/fl_type:ret", "fl_start", "fl_end")
	OFF(LOCK_LEASE_BREAK, "filelock:break_lease_block", "i_ino", "type/fl_type", "s_dev")
	OFF(LOCK_CGROUP_WAIT, "cgroup:cgroup_rstat_lock_contended", "id", "cpu", "contended")

	/* timer */
	OFF(TIMER_START, "timer:timer_start", "timer", "function", "expires", "now")
	OFF(TIMER_EXPIRE_ENTRY, "timer:timer_expire_entry", "timer", "function", "now")
	OFF(TIMER_EXPIRE_EXIT, "timer:timer_expire_exit", "timer")
	OFF(TIMER_CANCEL, "timer:timer_cancel", "timer")
	OFF(TIMER_HIGHRES_INIT, "timer:hrtimer_setup timer:hrtimer_init",
	    "hrtimer", "clockid", "mode")
	OFF(TIMER_HIGHRES_START, "timer:hrtimer_start",
	    "hrtimer", "function", "expires", "mode")
	OFF(TIMER_HIGHRES_ENTRY, "timer:hrtimer_expire_entry", "hrtimer", "function", "now")
	OFF(TIMER_HIGHRES_EXIT, "timer:hrtimer_expire_exit", "hrtimer")
	OFF(TIMER_HIGHRES_CANCEL, "timer:hrtimer_cancel", "hrtimer")
	ON(TIMER_INTERVAL_SET, "timer:itimer_state",
	   "which", "expires", "value_sec", "interval_sec")
	ON(TIMER_INTERVAL_EXPIRE, "timer:itimer_expire", "which", "pid", "now")
	ON(TIMER_ALARM_START, "alarmtimer:alarmtimer_start",
	   "alarm", "alarm_type", "expires", "now")
	ON(TIMER_ALARM_FIRED, "alarmtimer:alarmtimer_fired",
	   "alarm", "alarm_type", "expires", "now")
	ON(TIMER_ALARM_CANCEL, "alarmtimer:alarmtimer_cancel",
	   "alarm", "alarm_type", "expires", "now")
	OFF(TIMER_TICK_STOP, "timer:tick_stop", "success", "dependency")

	/* oops, and what foretells one */
	ON(OOPS_PRINTK, "printk:console", "msg", "#msg")
	ON(OOPS_ERROR_REPORT, "error_report:error_report_end", "error_detector", "id")
	ON(OOPS_OOM_VICTIM, "oom:mark_victim",
	   "pid", "?total_vm", "?anon_rss", "?uid:?oom_score_adj")
	ON(OOPS_OOM_SCORE, "oom:oom_score_adj_update", "pid", "oom_score_adj", "comm")
	ON(OOPS_OOM_REAP, "oom:start_task_reaping", "pid")
	ON(OOPS_OOM_REAPED, "oom:finish_task_reaping", "pid")
	ON(OOPS_OOM_SKIPPED, "oom:skip_task_reaping", "pid")
	ON(OOPS_OOM_RETRY, "oom:reclaim_retry_zone",
	   "order", "reclaimable", "available", "no_progress_loops")
	ON(OOPS_MEMORY_ERROR, "ras:mc_event",
	   "error_type", "error_count", "address", "syndrome")
	ON(OOPS_MEMORY_FAILURE, "ras:memory_failure_event", "pfn", "type", "result")
	ON(OOPS_MACHINE_CHECK, "mce:mce_record", "cpu:bank", "status", "addr", "misc")
	ON(OOPS_PCIE_ERROR, "ras:aer_event", "status", "severity", "dev_name")
	ON(OOPS_OTHER_ERROR, "ras:non_standard_event", "sev", "len")
	ON(OOPS_RCU_STALL, "rcu:rcu_stall_warning", "rcuname", "msg")
	ON(OOPS_HUNG_TASK, "sched:sched_process_hang", "pid")
	ON(OOPS_THERMAL_TRIP, "thermal:thermal_zone_trip", "id", "trip", "trip_type")

	/* block I/O */
	OFF(BLOCK_QUEUE, "block:block_bio_queue", "dev", "sector", "nr_sector", "rwbs")
	OFF(BLOCK_INSERT, "block:block_rq_insert", "dev", "sector", "nr_sector:bytes", "rwbs")
	ON(BLOCK_ISSUE, "block:block_rq_issue", "dev", "sector", "nr_sector:bytes", "rwbs")
	ON(BLOCK_COMPLETE, "block:block_rq_complete",
	   "dev", "sector", "nr_sector:error", "rwbs")
	ON(BLOCK_REQUEUE, "block:block_rq_requeue", "dev", "sector", "nr_sector", "rwbs")
	ON(BLOCK_ERROR, "block:block_rq_error", "dev", "sector", "nr_sector:error", "rwbs")
	OFF(BLOCK_BIO_COMPLETE, "block:block_bio_complete",
	    "dev", "sector", "nr_sector:error", "rwbs")
	OFF(BLOCK_REMAP, "block:block_bio_remap",
	    "dev", "sector", "old_dev:nr_sector", "old_sector")
	OFF(BLOCK_SPLIT, "block:block_split", "dev", "sector", "new_sector", "rwbs")

	/* file systems */
	OFF(FS_CACHE_ADD, "filemap:mm_filemap_add_to_page_cache",
	    "s_dev", "i_ino", "index", "pfn")
	OFF(FS_CACHE_DELETE, "filemap:mm_filemap_delete_from_page_cache",
	    "s_dev", "i_ino", "index", "pfn")
	OFF(FS_CACHE_FAULT, "filemap:mm_filemap_fault", "s_dev", "i_ino", "index")
	ON(FS_WRITEBACK_START, "writeback:writeback_start",
	   "nr_pages", "sb_dev", "sync_mode:for_background", "reason")
	ON(FS_WRITEBACK_WRITTEN, "writeback:writeback_written",
	   "nr_pages", "sb_dev", "sync_mode:for_background", "reason")
	OFF(FS_WRITEBACK_INODE, "writeback:writeback_single_inode",
	    "ino", "state", "wrote", "nr_to_write")
	ON(FS_WRITEBACK_ERROR, "filemap:filemap_set_wb_err", "i_ino", "s_dev", "errseq")
	ON(FS_JOURNAL_COMMIT, "jbd2:jbd2_start_commit", "dev", "transaction", "sync_commit")
	ON(FS_JOURNAL_COMMITTED, "jbd2:jbd2_end_commit", "dev", "transaction", "head")
	ON(FS_EXT4_ERROR, "ext4:ext4_error", "dev", "line")
	OFF(FS_EXT4_SYNC, "ext4:ext4_sync_file_enter", "dev", "ino", "parent", "datasync")
	OFF(FS_EXT4_SYNC_EXIT, "ext4:ext4_sync_file_exit", "dev", "ino", "ret")
	OFF(FS_FUSE_REQUEST, "fuse:fuse_request_send", "connection", "unique", "opcode", "len")
	OFF(FS_FUSE_REPLY, "fuse:fuse_request_end", "connection", "unique", "error", "len")

	/* power, devices, modules, control groups */
	OFF(POWER_CPU_IDLE, "power:cpu_idle", "cpu_id", "state")
	ON(POWER_CPU_FREQUENCY, "power:cpu_frequency", "cpu_id", "state")
	ON(POWER_CPU_LIMITS, "power:cpu_frequency_limits", "cpu_id", "min_freq:max_freq")
	ON(POWER_SUSPEND, "power:suspend_resume", "val", "start")
	ON(POWER_WAKEUP_SOURCE, "power:wakeup_source_activate", "name", "state")
	ON(POWER_CPU_HOTPLUG, "cpuhp:cpuhp_enter", "cpu", "target:idx", "fun")
	ON(POWER_CPU_HOTPLUG_EXIT, "cpuhp:cpuhp_exit", "cpu", "state:idx", "ret")
	ON(DEVICE_WATCHDOG_START, "watchdog:watchdog_start", "id", "err")
	ON(DEVICE_WATCHDOG_STOP, "watchdog:watchdog_stop", "id", "err")
	ON(MODULE_LOAD, "module:module_load", "name", "taints")
	ON(MODULE_FREE, "module:module_free", "name")
	ON(CGROUP_MKDIR, "cgroup:cgroup_mkdir", "id", "root:level")
	ON(CGROUP_RMDIR, "cgroup:cgroup_rmdir", "id", "root:level")
	ON(CGROUP_ATTACH, "cgroup:cgroup_attach_task", "dst_id", "pid", "dst_root:dst_level")
	ON(CGROUP_FREEZE, "cgroup:cgroup_freeze", "id", "root:level")
	ON(CGROUP_UNFREEZE, "cgroup:cgroup_unfreeze", "id", "root:level")

	/* networking, what seldom happens */
	ON(NET_QUEUE_FULL, "sock:sock_rcvqueue_full", "rmem_alloc", "truesize", "sk_rcvbuf")
	ON(NET_BUFFER_LIMIT, "sock:sock_exceed_buf_limit",
	   "name", "allocated", "sysctl_rmem:rmem_alloc", "sysctl_wmem:wmem_alloc")
	ON(NET_ICMP_SEND, "icmp:icmp_send", "type:code", "saddr:daddr", "sport:dport", "ulen")
	ON(NET_NEIGHBOUR, "neigh:neigh_update",
	   "nud_state:new_state", "primary_key4", "update_flags", "dev")
	ON(NET_SEND_TIMEOUT, "net:net_dev_xmit_timeout", "name", "driver", "queue_index")
	ON(NET_SOCKET_ERROR, "sock:inet_sk_error_report",
	   "error", "family:protocol", "sport:dport", "saddr:daddr")
	OFF(NET_QUEUE_ENTRY, "qdisc:qdisc_enqueue", "skbaddr", "ifindex", "handle:parent")
	OFF(NET_QUEUE_EXIT, "qdisc:qdisc_dequeue",
	    "skbaddr", "ifindex", "handle:parent", "packets")
	OFF(NET_ROUTE_LOOKUP, "fib:fib_table_lookup",
	    "tb_id:err", "oif:iif", "src:dst", "sport:dport")
};

#define TEXT(number, mnemonic, name, a1, a2, a3, a4) \
	{ number, #mnemonic, name, { a1, a2, a3, a4 } },

static const struct lkst_etype_text text[] = {
	LKST_ETYPES_KERNEL(TEXT)
	LKST_ETYPES_LKST(TEXT)
};

const struct lkst_kmap *lkst_kmap_at(uint32_t etype)
{
	return etype < NR_KERNEL && kmap[etype].points ? &kmap[etype] : NULL;
}

/* Whether the word `name` is one of `points`. */
static bool is_point(const char *points, const char *name, size_t len)
{
	while (points) {
		if (!strncmp(points, name, len) && (!points[len] || points[len] == ' '))
			return true;
		points = strchr(points, ' ');
		if (points)
			points++;
	}
	return false;
}

const struct lkst_kmap *lkst_kmap_find(const char *system, const char *event)
{
	char name[LKST_KMAP_POINT_LEN];
	size_t s = strlen(system), e = strlen(event);

	if (s + e + 2 > sizeof(name))
		return NULL;
	memcpy(name, system, s);
	name[s] = ':';
	memcpy(name + s + 1, event, e + 1);
	for (uint32_t i = 0; i < NR_KERNEL; i++)
		if (is_point(kmap[i].points, name, s + 1 + e))
			return &kmap[i];
	return NULL;
}

const char *lkst_kmap_point(const struct lkst_kmap *m, char point[LKST_KMAP_POINT_LEN],
			    const char *from)
{
	const char *end;
	size_t len;

	if (!from)
		from = m->points;
	if (!*from)
		return NULL;
	end = strchr(from, ' ');
	len = end ? (size_t)(end - from) : strlen(from);
	if (len >= LKST_KMAP_POINT_LEN)
		return NULL;
	memcpy(point, from, len);
	point[len] = '\0';
	return end ? end + 1 : from + len;
}

const struct lkst_etype_text *lkst_etype_text(uint32_t etype)
{
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (text[i].etype == etype)
			return &text[i];
	return NULL;
}
