# SPDX-License-Identifier: MIT
"""Kernel and program events as `format` texts, and their raw bytes."""
import struct

SIZES = {'u8': 'B', 'u16': 'H', 's32': 'i', 'u32': 'I', 's64': 'q', 'u64': 'Q'}
DECLARED = {'u8': 'unsigned char', 'u16': 'unsigned short', 's32': 'int', 'u32': 'unsigned int',
            's64': 'long', 'u64': 'unsigned long'}
COMMON = ''.join(f'\tfield:{d};\toffset:{o};\tsize:{s};\tsigned:{g};\n' for d, o, s, g in (
    ('unsigned short common_type', 0, 2, 0), ('unsigned char common_flags', 2, 1, 0),
    ('unsigned char common_preempt_count', 3, 1, 0), ('int common_pid', 4, 4, 1)))

LETTERS = ((1, 'S'), (2, 'D'), (4, 'T'), (8, 't'), (16, 'X'), (32, 'Z'), (64, 'P'), (128, 'I'))
OLD = ((1, 'S'), (2, 'D'), (4, 'T'), (8, 't'), (16, 'Z'), (32, 'X'), (64, 'x'), (128, 'K'))


def flags(field, table, mask):
    entries = ', '.join(f'{{ 0x{v:08x}, "{n}" }}' for v, n in table)
    return f'"state=%s", __print_flags({field} & ({mask}), "|", {entries})'


SWITCH_PRINTS = {
    'new': flags('REC->prev_state', LETTERS,
                 '(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 '
                 '| 0x00000020 | 0x00000040) + 1) << 1) - 1'),
    'old': flags('REC->prev_state', OLD, '1024-1'),
    'none': '"prev=%d", REC->prev_pid'}
VECTORS = ', '.join(f'{{ {i}, "{n}" }}' for i, n in enumerate(
    ('HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED')))
SOFTIRQ = f'"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, {VECTORS})'
LOCK = ('"%p (flags=%s)", REC->lock_addr, __print_flags(REC->flags, "|", { (1U << 0), "SPIN" }, '
        '{ (1U << 1), "READ" }, { (1U << 2), "WRITE" }, { (1U << 5), "MUTEX" } )')

COMM = 'c16'
WAKE = [(COMM, 'comm'), ('s32', 'pid'), ('s32', 'prio'), ('s32', 'target_cpu')]
BLOCK = [('u32', 'dev'), ('u64', 'sector'), ('u32', 'nr_sector'), ('c8', 'rwbs')]
NAME = [('str', 'name')]
EVENTS = {
    'sched:sched_switch': [(COMM, 'prev_comm'), ('s32', 'prev_pid'), ('s32', 'prev_prio'),
                           ('s64', 'prev_state'), (COMM, 'next_comm'), ('s32', 'next_pid'),
                           ('s32', 'next_prio')],
    'sched:sched_waking': WAKE, 'sched:sched_wakeup': WAKE, 'sched:sched_wakeup_new': WAKE,
    'sched:sched_process_fork': [('str', 'parent_comm'), ('s32', 'parent_pid'),
                                 ('str', 'child_comm'), ('s32', 'child_pid')],
    'sched:sched_process_exit': [(COMM, 'comm'), ('s32', 'pid'), ('s32', 'prio')],
    'sched:sched_process_exec': [('str', 'filename'), ('s32', 'pid'), ('s32', 'old_pid')],
    'sched:sched_stat_runtime': [(COMM, 'comm'), ('s32', 'pid'), ('u64', 'runtime')],
    'task:task_newtask': [('s32', 'pid'), (COMM, 'comm'), ('u64', 'clone_flags')],
    'task:task_rename': [('s32', 'pid'), (COMM, 'oldcomm'), (COMM, 'newcomm')],
    'irq:irq_handler_entry': [('s32', 'irq'), ('str', 'name')],
    'irq:irq_handler_exit': [('s32', 'irq'), ('s32', 'ret')],
    'irq:softirq_entry': [('u32', 'vec')], 'irq:softirq_exit': [('u32', 'vec')],
    'irq:tasklet_entry': [('u64', 'tasklet'), ('u64', 'func')],
    'irq:tasklet_exit': [('u64', 'tasklet'), ('u64', 'func')],
    'irq_vectors:local_timer_entry': [('s32', 'vector')],
    'irq_vectors:local_timer_exit': [('s32', 'vector')],
    'timer:hrtimer_expire_entry': [('u64', 'hrtimer'), ('u64', 'function')],
    'timer:hrtimer_expire_exit': [('u64', 'hrtimer')],
    'timer:timer_expire_entry': [('u64', 'timer'), ('u64', 'function')],
    'timer:timer_expire_exit': [('u64', 'timer')],
    'raw_syscalls:sys_enter': [('s64', 'id')],
    'raw_syscalls:sys_exit': [('s64', 'id'), ('s64', 'ret')],
    'syscalls:sys_enter_read': [('s32', '__syscall_nr'), ('u64', 'fd')],
    'syscalls:sys_exit_read': [('s32', '__syscall_nr'), ('s64', 'ret')],
    'syscalls:sys_enter_futex': [('s32', '__syscall_nr'), ('u64', 'op')],
    'syscalls:sys_exit_futex': [('s32', '__syscall_nr'), ('s64', 'ret')],
    'lock:contention_begin': [('u64', 'lock_addr'), ('u32', 'flags')],
    'lock:contention_end': [('u64', 'lock_addr'), ('s32', 'ret')],
    'mmap_lock:mmap_lock_start_locking': [('u64', 'mm'), ('u8', 'write')],
    'mmap_lock:mmap_lock_acquire_returned': [('u64', 'mm'), ('u8', 'write')],
    'workqueue:workqueue_execute_start': [('u64', 'work'), ('u64', 'function')],
    'workqueue:workqueue_execute_end': [('u64', 'work'), ('u64', 'function')],
    'vmscan:mm_vmscan_direct_reclaim_begin': [('s32', 'order')],
    'vmscan:mm_vmscan_direct_reclaim_end': [('u64', 'nr_reclaimed')],
    'compaction:mm_compaction_begin': [('u64', 'zone_start')],
    'compaction:mm_compaction_end': [('u64', 'zone_start')],
    'block:block_rq_insert': BLOCK, 'block:block_rq_issue': BLOCK,
    'block:block_rq_complete': BLOCK,
    'power:cpu_frequency': [('u32', 'state'), ('u32', 'cpu_id')],
    'power:cpu_idle': [('u32', 'state'), ('u32', 'cpu_id')],
    'exceptions:page_fault_user': [('u64', 'address')],
    'lttng:sched_waking': [(COMM, 'comm'), ('s32', 'tid')],
    'lttng:syscall_entry_read': [('u64', 'fd')], 'lttng:syscall_exit_read': [('s64', 'ret')],
    'marker:begin': NAME, 'marker:end': NAME, 'marker:instant': NAME,
    'marker:counter': [('s64', 'value'), ('str', 'name')],
    'app:take': [('u32', 'id'), ('str', 'who')], 'app:done': [('u32', 'id')],
    'app:start': [('u32', 'n')], 'app:stop': [('u32', 'n')],
}
PROGRAM = ('marker', 'app')
PRINTS = {'irq:softirq_entry': SOFTIRQ, 'irq:softirq_exit': SOFTIRQ,
          'lock:contention_begin': LOCK}


def is_program(event):
    return event.split(':')[0] in PROGRAM


class Event:
    """One event's format text, with its number, and its raw records."""

    def __init__(self, name, number, print_format=None):
        self.name, self.number = name, number
        self.fields, at, lines = [], 8, []
        for kind, field in EVENTS[name]:
            if kind == 'str':
                size = align = 4
                decl, signed = f'__data_loc char[] {field}', 0
            elif kind[0] == 'c':
                size, align = int(kind[1:]), 1
                decl, signed = f'char {field}[{size}]', 0
            else:
                size = align = struct.calcsize(SIZES[kind])
                decl, signed = f'{DECLARED[kind]} {field}', kind[0] == 's'
            at += -at % align
            self.fields.append((at, kind, field))
            lines.append(f'\tfield:{decl};\toffset:{at};\tsize:{size};\tsigned:{signed:d};\n')
            at += size
        self.fixed = at
        shown = print_format or PRINTS.get(name, f'"{name}"')
        self.form = (f'name: {name.split(":")[1]}\nID: {number}\nformat:\n{COMMON}\n' +
                     ''.join(lines) + f'\nprint fmt: {shown}\n').encode()

    def raw(self, pid, common_flags, values):
        out = bytearray(self.fixed)
        struct.pack_into('<HBBi', out, 0, self.number, common_flags, 0, pid)
        for at, kind, field in self.fields:
            value = values.get(field, 0)
            if kind == 'str':
                data = str(value).encode() + b'\0'
                struct.pack_into('<I', out, at, len(data) << 16 | len(out))
                out += data
            elif kind[0] == 'c':
                size = int(kind[1:])
                out[at:at + size] = str(value).encode()[:size - 1].ljust(size, b'\0')
            else:
                bits = 8 * struct.calcsize(SIZES[kind])
                value &= (1 << bits) - 1
                if kind[0] == 's' and value >> bits - 1:
                    value -= 1 << bits
                struct.pack_into('<' + SIZES[kind], out, at, value)
        return bytes(out)
