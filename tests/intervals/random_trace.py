#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random traces, for comparing models: plausible in part, impossible in part.

usage: random_trace.py KIND SEED OUT [RECORDS]

KIND: ctf (a trace directory of tacho), dat (trace.dat), kev, ltt, lkst.  The same seed makes the
same trace.
"""
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for directory in ('stream', 'kev', 'lkst'):
    sys.path.insert(0, os.path.join(HERE, '..', directory))
import datfile
import kevfile
import linux_events
import logfile
import lttfile

START = 1_700_000_000_000_000_000
UUID = bytes(range(16))
STATES = (0, 0, 1, 1, 1, 2, 2, 2, 0x100, 4, 8, 16, 32, 64, 128, 3, 0x82, 0x402, 0x30)
CALLS = {0: 'read', 1: 'write', 15: 'rt_sigreturn', 202: 'futex'}
SYMBOLS = [(0xffffffff81000000 + 256 * i, f'function_{i}') for i in range(6)]


class Linux:
    """A machine that is simulated, badly: records of it are dropped, moved and invented."""

    def __init__(self, seed, records):
        self.r = r = random.Random(seed)
        self.now = 0
        self.cpus = r.randint(1, 3)
        self.tids = [r.choice((1, 2, 7, 10)) + i for i in range(100, 100 + r.randint(2, 7))]
        self.running = [0] * self.cpus
        self.state = {t: 1 for t in self.tids}
        self.irqs = [[] for _ in range(self.cpus)]
        self.open = {}
        self.chaos = r.choice((0, 0.02, 0.1, 0.4))
        self.dropped = r.choice((0, 0.02, 0.1))
        self.loss = r.choice((0, 0.01, 0.05))
        self.still = r.choice((0, 0.1, 0.5))
        self.raw_calls = r.random() < 0.7
        self.out = []           # (time, cpu, pid, flags, event, values)
        self.quiet = {'sched': 0.1, 'irq': 0.2, 'block': 0.3, 'app': 0.3, 'syscall': 0.2,
                      'lock': 0.4, 'task': 0.4}
        self.off = {k for k, p in self.quiet.items() if r.random() < p}
        while len(self.out) < records:
            self.step()

    def emit(self, cpu, event, common=0, thread=None, **values):
        self.now += 0 if self.r.random() < self.still else self.r.randint(1, 1000)
        if event.split(':')[0] in self.off or self.r.random() < self.dropped:
            return
        thread = self.running[cpu] if thread is None else thread
        if self.r.random() < self.chaos:
            thread = self.anyone()
        if self.r.random() < self.chaos / 2:
            cpu = self.r.randrange(self.cpus)
        if self.r.random() < self.chaos / 2:
            common ^= self.r.choice((0x08, 0x10, 1))
        if linux_events.is_program(event):
            common = 0
        self.out.append((self.now, cpu, thread, common, event, values))

    def anyone(self):
        return self.r.choice(self.tids + [0])

    def who(self, right):
        return self.anyone() if self.r.random() < self.chaos else right

    def comm(self, tid):
        return 'swapper' if not tid else f't{tid}'

    def step(self):
        cpu = self.r.randrange(self.cpus)
        flags = 0
        for kind in self.irqs[cpu]:
            flags |= 0x08 if kind[0] in ('irq', 'vector') else 0x10
        if flags and self.r.random() < 0.6:
            self.r.choice((self.wake, self.wake, self.irq_end, self.irq_end, self.complete,
                           self.irq_begin, self.power))(cpu, flags)
            return
        what = self.r.choice((self.switch,) * 6 + (self.wake,) * 4 + (self.call,) * 6 +
                             (self.irq_begin, self.irq_begin, self.irq_end, self.request,
                              self.request, self.complete, self.lock, self.lock, self.program,
                              self.program, self.birth, self.death, self.rename, self.power,
                              self.other))
        what(cpu, flags)

    def switch(self, cpu, flags):
        old = self.running[cpu]
        ready = [t for t in self.tids if self.state[t] == 0 and t not in self.running]
        new = self.r.choice(ready + [0])
        if self.r.random() < self.chaos:
            new = self.anyone()
        if new == old and self.r.random() < 0.95:
            return
        state = self.r.choice(STATES) if old else 0
        self.emit(cpu, 'sched:sched_switch', flags & 1, prev_comm=self.comm(old),
                  prev_pid=self.who(old), prev_state=state, next_comm=self.comm(new),
                  next_pid=new)
        self.running[cpu] = new
        if old:
            self.state[old] = 0 if state in (0, 0x100) else state

    def wake(self, cpu, flags):
        tid = self.r.choice(self.tids)
        what = self.r.choice(('waking', 'wakeup', 'wakeup_new', 'both', 'both', 'both'))
        values = {'comm': self.comm(tid), 'pid': self.who(tid), 'target_cpu': cpu}
        if what == 'both':
            self.emit(cpu, 'sched:sched_waking', flags, **values)
            if self.r.random() < 0.3:
                self.switch(cpu, 0)
            if self.r.random() < 0.3:
                cpu = self.r.randrange(self.cpus)
            self.emit(cpu, 'sched:sched_wakeup', flags, **values)
        else:
            self.emit(cpu, 'sched:sched_' + what, flags, **values)
        self.state[tid] = 0

    def call(self, cpu, flags):
        tid = self.running[cpu]
        entry = self.open.get(tid) is None or self.r.random() < self.chaos
        number = self.r.choice(list(CALLS) + [300]) if entry else self.open[tid]
        if not self.raw_calls:
            number = self.r.choice((0, 202)) if entry or number not in (0, 202) else number
        if self.raw_calls or self.r.random() < 0.05:
            event = 'raw_syscalls:sys_' + ('enter' if entry else 'exit')
            self.emit(cpu, event, flags, id=number if self.r.random() < 0.9 else -1)
        else:
            event = f'syscalls:sys_{"enter" if entry else "exit"}_{CALLS[number]}'
            self.emit(cpu, event, flags, __syscall_nr=number)
        self.open[tid] = number if entry else None
        if entry and self.r.random() < 0.5:
            self.switch(cpu, flags)

    def irq_begin(self, cpu, flags):
        kind = self.r.choice(('irq', 'irq', 'softirq', 'softirq', 'vector', 'tasklet', 'hrtimer',
                              'timer'))
        number = self.r.randint(0, 9)
        self.irqs[cpu].append((kind, number))
        function = SYMBOLS[number % len(SYMBOLS)][0] + self.r.choice((0, 5))
        flags |= self.r.choice((0, 8))
        event, values = {
            'irq': ('irq:irq_handler_entry', {'irq': number, 'name': f'dev{number}'}),
            'softirq': ('irq:softirq_entry', {'vec': number}),
            'vector': ('irq_vectors:local_timer_entry', {'vector': 236}),
            'tasklet': ('irq:tasklet_entry', {'tasklet': number, 'func': function}),
            'hrtimer': ('timer:hrtimer_expire_entry', {'hrtimer': number, 'function': function}),
            'timer': ('timer:timer_expire_entry', {'timer': number, 'function': function})}[kind]
        self.emit(cpu, event, flags, **values)

    def irq_end(self, cpu, flags):
        if self.irqs[cpu]:
            at = -1 if self.r.random() > self.chaos else 0
            kind, number = self.irqs[cpu].pop(at)
        elif self.r.random() < self.chaos + 0.02:
            kind, number = 'irq', self.r.randint(0, 9)
        else:
            return
        if self.r.random() < self.chaos:
            number = self.r.randint(0, 9)
        event, values = {
            'irq': ('irq:irq_handler_exit', {'irq': number}),
            'softirq': ('irq:softirq_exit', {'vec': number}),
            'vector': ('irq_vectors:local_timer_exit', {'vector': 236}),
            'tasklet': ('irq:tasklet_exit', {'tasklet': number, 'func': SYMBOLS[0][0]}),
            'hrtimer': ('timer:hrtimer_expire_exit', {'hrtimer': number}),
            'timer': ('timer:timer_expire_exit', {'timer': number})}[kind]
        self.emit(cpu, event, flags, **values)

    def block(self):
        return {'dev': self.r.choice((259 << 20, 8 << 20 | 1)), 'sector': 8 * self.r.randint(0, 5),
                'rwbs': self.r.choice(('R', 'W', 'WS'))}

    def request(self, cpu, flags):
        values = self.block()
        if self.r.random() < 0.4:
            self.emit(cpu, 'block:block_rq_insert', flags, **values)
        self.emit(cpu, 'block:block_rq_issue', flags, **values)
        if self.r.random() < 0.4 and self.running[cpu]:
            old = self.running[cpu]
            self.emit(cpu, 'sched:sched_switch', flags, prev_comm=self.comm(old), prev_pid=old,
                      prev_state=2, next_comm='swapper', next_pid=0)
            self.running[cpu], self.state[old] = 0, 2

    def complete(self, cpu, flags):
        self.emit(cpu, 'block:block_rq_complete', flags, **self.block())
        if self.r.random() < 0.5:
            self.wake(cpu, flags)

    def lock(self, cpu, flags):
        address = self.r.choice((0x1000, 0x2000))
        event, values = self.r.choice((
            ('lock:contention_begin', {'lock_addr': address, 'flags': self.r.choice((1, 2, 3, 32,
                                                                                    0))}),
            ('lock:contention_end', {'lock_addr': address}),
            ('mmap_lock:mmap_lock_start_locking', {'mm': address}),
            ('mmap_lock:mmap_lock_acquire_returned', {'mm': address}),
            ('workqueue:workqueue_execute_start', {'work': address, 'function': SYMBOLS[1][0]}),
            ('workqueue:workqueue_execute_end', {'work': address, 'function': SYMBOLS[1][0]}),
            ('vmscan:mm_vmscan_direct_reclaim_begin', {'order': 1}),
            ('vmscan:mm_vmscan_direct_reclaim_end', {'nr_reclaimed': 1}),
            ('compaction:mm_compaction_begin', {}), ('compaction:mm_compaction_end', {})))
        self.emit(cpu, event, flags, **values)

    def program(self, cpu, _):
        event, values = self.r.choice((
            ('marker:begin', {'name': self.r.choice('abc')}),
            ('marker:end', {'name': self.r.choice('abc')}),
            ('marker:counter', {'name': self.r.choice('xy'), 'value': self.r.randint(-9, 9)}),
            ('app:take', {'id': self.r.randint(0, 3), 'who': 'me'}),
            ('app:done', {'id': self.r.randint(0, 3)}),
            ('app:start', {'n': 1}), ('app:stop', {'n': 1})))
        self.emit(cpu, event, thread=self.running[cpu] or self.r.choice(self.tids), **values)

    def birth(self, cpu, flags):
        new = self.r.choice(self.tids) if self.r.random() < 0.5 else max(self.tids) + 1
        parent = self.running[cpu]
        which = self.r.choice(('fork', 'newtask', 'both', 'both'))
        if which != 'fork':
            self.emit(cpu, 'task:task_newtask', flags, pid=new, comm=self.comm(parent),
                      clone_flags=self.r.choice((0, 0x10000, 0x3d0f00)))
        if which != 'newtask':
            self.emit(cpu, 'sched:sched_process_fork', flags, parent_pid=parent,
                      parent_comm=self.comm(parent), child_comm=self.comm(new), child_pid=new)
        if new not in self.tids:
            self.tids.append(new)
        self.state[new] = 0
        if self.r.random() < 0.7:
            self.emit(cpu, 'sched:sched_wakeup_new', flags, comm=self.comm(new), target_cpu=cpu,
                      pid=new)

    def death(self, cpu, flags):
        tid = self.running[cpu]
        if not tid:
            return
        self.emit(cpu, 'sched:sched_process_exit', flags, comm=self.comm(tid),
                  pid=self.who(tid))
        if self.r.random() < 0.8:
            new = self.r.choice([t for t in self.tids if t not in self.running] + [0])
            self.emit(cpu, 'sched:sched_switch', flags, prev_comm=self.comm(tid), prev_pid=tid,
                      prev_state=self.r.choice((16, 16, 32, 1, 0)), next_comm=self.comm(new),
                      next_pid=new)
            self.running[cpu], self.state[tid] = new, 1

    def rename(self, cpu, flags):
        if self.r.random() < 0.5:
            self.emit(cpu, 'sched:sched_process_exec', flags, filename='/usr/bin/program-with-name',
                      pid=self.running[cpu])
        else:
            self.emit(cpu, 'task:task_rename', flags, oldcomm='old', newcomm='new name',
                      pid=self.anyone())

    def power(self, cpu, flags):
        event = self.r.choice(('power:cpu_frequency', 'power:cpu_idle'))
        self.emit(cpu, event, flags, cpu_id=self.r.randrange(self.cpus),
                  state=self.r.choice((1, 2, 0xffffffff)))

    def other(self, cpu, flags):
        event, values = self.r.choice((
            ('sched:sched_stat_runtime', {'pid': self.running[cpu], 'runtime': 1}),
            ('exceptions:page_fault_user', {'address': 1}),
            ('lttng:sched_waking', {'comm': 'lttng', 'tid': self.anyone()}),
            ('lttng:syscall_entry_read', {'fd': 1}), ('lttng:syscall_exit_read', {'ret': 1}),
            ('marker:instant', {'name': 'now'})))
        self.emit(cpu, event, flags, **values)

    # ---- as bytes ----

    def records(self, with_programs):
        """{(program, cpu): [(time, raw, lost)]}, and the events that occur."""
        switch = self.r.choice(('new', 'new', 'old', 'none'))
        names = sorted({o[4] for o in self.out}) if self.r.random() < 0.8 else \
            sorted(linux_events.EVENTS)
        events = {n: linux_events.Event(n, i + 20, linux_events.SWITCH_PRINTS[switch]
                                        if n == 'sched:sched_switch' else None)
                  for i, n in enumerate(names)}
        streams, losing = {}, {}
        for time, cpu, pid, flags, event, values in self.out:
            key = (linux_events.is_program(event) and with_programs, cpu)
            if self.r.random() < self.loss:
                losing[key] = losing.get(key, 0) + self.r.randint(1, 3)
                if self.r.random() < 0.7:
                    continue            # this one is lost
            raw = events[event].raw(pid, flags, values)
            streams.setdefault(key, []).append((START + time, raw, losing.pop(key, 0)))
        return streams, events

    def tasks(self):
        known = [t for t in self.tids if self.r.random() < 0.5]
        return {t: (self.r.choice((0, t, self.tids[0])), f'n{t}') for t in known}

    def write_ctf(self, path):
        streams, events = self.records(True)
        os.makedirs(os.path.join(path, 'tacho'))

        def save(name, data):
            with open(os.path.join(path, name), 'wb') as f:
                f.write(data)
        save('metadata', b'/* CTF 1.8 */\n')
        save('tacho/info', f'tacho-trace: 1\nversion: 0.1.0\nstate: closed\nbyte_order: le\n'
             f'uuid: {UUID.hex()}\nclock: mono\nfreq: 1000000000\npair: {START} {START}\n'
             f'env.cpus: {self.cpus}\n'.encode())
        for name, program in (('types.program', True), ('types.kernel', False)):
            save('tacho/' + name, b''.join(
                f'{e.number} {n} {len(e.form)}\n'.encode() + e.form
                for n, e in events.items() if linux_events.is_program(n) == program))
        save('tacho/cmdlines', ''.join(f'{t} {g} {c}\n' for t, (g, c) in
                                       self.tasks().items()).encode())
        save('tacho/syscalls', ''.join(f'{n} {s}\n' for n, s in CALLS.items()).encode())
        save('tacho/kallsyms', ''.join(f'{a:016x} t {s}\n' for a, s in SYMBOLS).encode())
        for (program, cpu), records in streams.items():
            save(f'{"program" if program else "kernel"}_{cpu}',
                 b''.join(packets(records, not program, cpu, self.r)))

    def write_dat(self, path):
        streams, events = self.records(False)
        f = datfile.File(datfile.Machine())
        f.systems = {}
        for name, e in events.items():
            f.systems.setdefault(name.split(':')[0], []).append(e.form)
        f.cmdlines = ''.join(f'{t} {c}\n' for t, (_, c) in self.tasks().items()).encode()
        f.kallsyms = ''.join(f'{a:016x} t {s}\n' for a, s in SYMBOLS).encode()
        f.buffers[''] = {
            cpu: f.m.pages([(t, raw) for t, raw, _ in records],
                           {i: lost for i, (_, _, lost) in enumerate(records) if lost})
            for (_, cpu), records in streams.items()}
        for cpu in range(self.cpus):
            f.buffers[''].setdefault(cpu, [])
        with open(path, 'wb') as out:
            out.write(f.v6())


def packets(records, kernel, cpu, r):
    """The packets of one stream file: a new one where records are lost, and now and then.  Some are
    empty, and say that records were lost before the ones of the next packet."""
    discarded = number = seq = 0
    groups = []

    def packet(group, first, last):
        nonlocal seq
        data = b''
        for time, raw, _ in group:
            raw += bytes(-len(raw) % 8)
            data += struct.pack('<Q', time & (1 << 48) - 1 | len(raw) + 8 << 48) + raw
        size = 8 * (96 + len(data))
        seq += 1
        return struct.pack('<I16sIQ6QIIQ', 0xC1FC1FC1, UUID, kernel, cpu, first, last, size, size,
                           seq - 1, discarded, cpu, len(group), number) + data
    for record in records:
        if not groups or record[2] or r.random() < 0.05:
            groups.append([])
        groups[-1].append(record)
    last = groups[0][0][0]
    for group in groups:
        lost, first = group[0][2], group[0][0]
        while r.random() < 0.2:
            part = r.randint(0, lost)
            discarded, lost = discarded + part, lost - part
            at = r.choice((last, first))
            last = max(at, last)
            yield packet([], last, last)
        discarded += lost
        yield packet(group, first, group[-1][0])
        last = group[-1][0]
        number += len(group)


# ---- other systems ----

class Clock:
    def __init__(self, r, step):
        self.r, self.step, self.now = r, step, 1000
        self.still = r.choice((0, 0.1, 0.4))

    def tick(self):
        self.now += 0 if self.r.random() < self.still else self.r.randint(1, self.step)
        return self.now


def write_kev(seed, path, records):
    """Thread states, kernel calls, interrupts and messages of QNX."""
    r = random.Random(seed)
    clock, cpus = Clock(r, 500), 2
    f = kevfile.File(BOOT_DATE='Wed Jun 24 10:00:00 2009')
    for cpu in range(cpus):
        f.time(cpu, clock.now)
    threads = [(1, 1), (1, 2), (1, 3)] + [(r.choice((5, 6)), t) for t in range(1, 5)]
    pulses = list(range(3))
    for _ in range(records):
        cpu, (pid, tid) = r.randrange(cpus), r.choice(threads)
        now = clock.tick()
        what = r.choice(('thread',) * 6 + ('call',) * 3 + ('int', 'int', 'comm', 'comm', 'name'))
        if what == 'thread':
            if r.random() < 0.3:
                pid, tid = 1, cpu + 1
            state = r.choice((1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 12, 13, 14, 17))
            if r.random() < 0.05:
                state = r.choice((0, 24, 25))
            f.words(cpu, kevfile.PR_TH, state + r.choice((0,) * 19 + (26,)), now, pid, tid)
        elif what == 'call':
            call = r.choice((11, 14, 18, 66))
            flags = r.choice((0, 0, kevfile.EXIT, kevfile.EXIT, kevfile.EXIT))
            f.words(cpu, kevfile.KER_CALL, call | flags, now, 1, 0)
        elif what == 'int':
            f.words(cpu, kevfile.INT, r.choice((1, 2, 1, 2, 4)), now, r.randint(1, 3), 0)
        elif what == 'comm':
            event = r.choice((0, 2, 10, 11, 1, 3))
            if event in (10, 11):
                f.words(cpu, kevfile.COMM, event, now, tid, pid)
            else:
                f.words(cpu, kevfile.COMM, event, now, r.choice(pulses), pid)
        else:
            f.combine(cpu, kevfile.PR_TH, kevfile.THREAD_NAME, now,
                      f.pack('2I', pid, tid) + b'named\0\0\0')
    f.write(path)


def write_ltt(seed, path, records):
    r = random.Random(seed)
    tids, files = list(range(100, 105)), [lttfile.File(cpu=c) for c in range(2)]
    running, now = [0, 0], files[0].now
    for _ in range(records):
        now += r.choice((0, 1, 1, 3, 20))
        cpu = r.randrange(2)
        f = files[cpu]
        after = now - f.now
        tid = r.choice(tids)
        event = r.choice(('switch',) * 4 + ('wake',) * 3 + ('fork', 'exit') + ('call',) * 4 +
                         ('trap', 'irq', 'irq', 'wait', 'exec'))
        if event == 'switch':
            new = r.choice(tids + [0])
            old = running[cpu] if r.random() < 0.9 else tid
            f.add(lttfile.SCHEDCHANGE, 0, old, new, r.choice((0, 1, 1, 2, 4, 8, 3)), after=after)
            running[cpu] = new
        elif event == 'wake':
            f.add(lttfile.PROCESS, 6, tid, 1, after=after)
        elif event == 'fork':
            f.add(lttfile.PROCESS, r.choice((1, 2)), tid, 0, after=after)
        elif event == 'exit':
            f.add(lttfile.PROCESS, 3, 0, 0, after=after)
        elif event == 'call' and r.random() < 0.5:
            f.add(lttfile.SYSCALL_ENTRY, 0, r.choice((3, 4, 5)), 0x8048000, after=after)
        elif event == 'call':
            f.add(lttfile.SYSCALL_EXIT, 0, after=after)
        elif event == 'trap':
            f.add(*r.choice(((lttfile.TRAP_ENTRY, 0, 14, 0xc0000000), (lttfile.TRAP_EXIT, 0))),
                  after=after)
        elif event == 'irq':
            f.add(*r.choice(((lttfile.IRQ_ENTRY, 0, 11, 1), (lttfile.IRQ_EXIT, 0))), after=after)
        elif event == 'wait':
            f.add(lttfile.FILE_SYSTEM, r.choice((1, 2)), 0, 0, after=after)
        else:
            f.add(lttfile.FILE_SYSTEM, 3, 0, 7, tail=b'/bin/ls', after=after)
    os.makedirs(path)
    for cpu, f in enumerate(files):
        if not f.data and not f.buf:
            f.add(lttfile.HEARTBEAT, 0)
        with open(os.path.join(path, f'run.{cpu}.ltt'), 'wb') as out:
            out.write(f.done())


LKST = (0x010, 0x011, 0x012, 0x013, 0x014, 0x015, 0x017, 0x01d, 0x020, 0x021, 0x022, 0x023, 0x025,
        0x026, 0x027, 0x028, 0x029, 0x02a, 0x02b, 0x040, 0x041, 0x080, 0x081, 0x082, 0x083, 0x058,
        0x059)


def lkst_types(table):
    """The lines of a file's event types, from docs/lkst-events.md: number, mnemonic, arguments."""
    out, numbers = [], {}
    with open(table, encoding='utf-8') as f:
        for line in f:
            columns = [c.strip() for c in line.split('|')]
            if len(columns) > 5 and columns[1].startswith('0x'):
                mnemonic = columns[3].strip('`')
                numbers[mnemonic] = int(columns[1], 16)
                out.append('\t'.join((columns[1], mnemonic, mnemonic.lower(), 'a', 'b', 'c', 'd')))
    return '\n'.join(out) + '\n', numbers


def text_number(text):
    return int.from_bytes(text.encode()[:8], 'big')


def write_lkst(seed, path, records):
    r = random.Random(seed)
    types, numbers = lkst_types(os.path.join(HERE, '..', '..', 'docs', 'lkst-events.md'))
    clock, tids, running, out = Clock(r, 400), list(range(200, 206)), [0, 0], []
    for _ in range(records):
        cpu, tid, small = r.randrange(2), r.choice(tids), r.randint(1, 4)
        device = (8 << 20, 8 * small, 8, text_number(r.choice(('R', 'WS'))))
        new = r.choice(tids + [0])
        name, args = r.choice((
            ('PROCESS_CONTEXTSWITCH', None),) * 5 + (
            ('PROCESS_WAKING', (tid,)), ('PROCESS_WAKEUP', (tid,)), ('PROCESS_WAKEUP', (tid,)),
            ('PROCESS_WAKEUP_NEW', (tid,)), ('PROCESS_FORK', (running[cpu], tid)),
            ('PROCESS_CLONE', (tid, r.choice((0, 0x10000)))), ('PROCESS_EXIT', (tid,)),
            ('PROCESS_RENAME', (tid, text_number('newname'), 0)),
            ('INT_HARDWARE_ENTRY', (small, text_number('eth'))), ('INT_HARDWARE_EXIT', (small,)),
            ('INT_SOFTIRQ_ENTRY', (small,)), ('INT_SOFTIRQ_EXIT', (small,)),
            ('INT_TIMER_ENTRY', (236,)), ('INT_TIMER_EXIT', (236,)),
            ('INT_WORK_ENTRY', (small, 77)), ('INT_WORK_EXIT', (small, 77)),
            ('SYSTEM_CALL_ENTRY', (r.choice((0, 1, 9999)), 1, 2, 3)), ('SYSTEM_CALL_EXIT', (0, 1)),
            ('SPIN_LOCK', (small,)), ('SPIN_LOCK_GOT', (small,)),
            ('LOCK_MMAP_WAIT', (small,)), ('LOCK_MMAP_GOT', (small,)),
            ('MEM_RECLAIM_BEGIN', ()), ('MEM_RECLAIM_END', ()),
            ('BLOCK_INSERT', device), ('BLOCK_ISSUE', device), ('BLOCK_COMPLETE', device)))
        pid = running[cpu] if r.random() < 0.95 else tid
        if name == 'PROCESS_CONTEXTSWITCH':
            old = running[cpu] if r.random() < 0.9 else tid
            args = (new, old, 0, r.choice((0, 1, 2, 16, 64)))
            running[cpu] = new
        out.append((clock.tick(), numbers[name], args, cpu, pid))
    logfile.write(path, types, out, realtime=START, lost=r.choice((0, 0, 3)))


def write(kind, seed, path, records=150):
    if kind in ('ctf', 'dat'):
        machine = Linux(seed, records)
        machine.write_ctf(path) if kind == 'ctf' else machine.write_dat(path)
    else:
        {'kev': write_kev, 'ltt': write_ltt, 'lkst': write_lkst}[kind](seed, path, records)


if __name__ == '__main__':
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:5]))
