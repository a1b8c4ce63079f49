#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The model of docs/model.md once more, written for clarity from that text and the rule files.

usage: reference.py TRACE [RULES-DIRECTORY]

Prints the items as JSON lines, as `tacho model TRACE --json` does.  Nothing of tacho's model is
used, so that each checks the other.  In the comments, quotes are from docs/model.md.
"""
import json
import os
import sys

import rules as rule_files
from trace_input import Trace

LETTERS = {'D': 'uninterruptible', 'X': 'dead', 'Z': 'dead', 'T': 'stopped', 't': 'traced',
           'P': 'parked', 'I': 'idle', 'S': 'sleeping'}
BITS = {'S': 1, 'D': 2, 'T': 4, 't': 8, 'X': 16, 'Z': 32, 'P': 64, 'I': 128}
AWAKE = ('unknown', 'running', 'runnable', 'dead')
QNX_STATES = set('''dead running runnable stopped send receive reply stack waitthread waitpage
    sigsuspend sigwaitinfo nanosleep mutex condvar join intr sem waitctx net_send net_reply mq_send
    mq_receive rwlock_read rwlock_write barrier pipe muon_mutex tracebuffer intr_attach_ev
    timer_delegate send_notify'''.split())
IN_INTERRUPT = 0x08 | 0x10
CLONE_THREAD = 0x10000
IDLE = 'idle'           # the record's thread is the idle thread of the CPU


class Track:
    def __init__(self, parent, kind, number=0, name=''):
        self.parent, self.kind, self.number, self.name = parent, kind, number, name
        self.id = None


class Interval:
    """What is open: a state, a slice of a CPU's running track, any other slice."""

    def __init__(self, begin, record, name='', flags=(), **more):
        self.begin, self.record, self.name, self.flags = begin, record, name, set(flags)
        self.category = self.key = None
        self.depth = 0
        self.program = False            # a program's record began it (or ended it)
        self.thread = None              # running slice: the thread
        self.cpu = self.waker = None    # state: where it runs; the track of its waker
        self.owner = self.place = None  # overlapping slice: who began it (for "io"); where
        self.__dict__.update(more)


class Stack:
    """A track of nested slices."""

    def __init__(self, track, cpu=None, thread=None):
        self.track, self.cpu, self.thread = track, cpu, thread
        self.open = []
        self.last_end = 0


class Bag:
    """A track of overlapping slices."""

    def __init__(self, track, flow, counter=None):
        self.track, self.flow, self.counter = track, flow, counter
        self.open = {}


class Process:
    def __init__(self, machine, number):
        self.track = Track(machine, 'process', number)


class Thread:
    def __init__(self, ident, process, birth, number):
        self.ident, self.process, self.birth = ident, process, birth
        self.track = Track(process.track, 'thread', number)
        self.states = Track(self.track, 'state', number)
        self.calls = Stack(Track(self.track, 'calls', number), thread=self)
        self.birth_record = None        # the `fork`'s
        self.state = None
        self.exited = False
        self.waker = None               # (track, time, record, whether it is an interrupt)
        self.waking = None              # the last one's record since it last began to run


class Cpu:
    def __init__(self, machine, number, begin):
        self.number = number
        self.track = Track(machine, 'cpu', number)
        self.running_track = Track(self.track, 'running', number)
        self.irq = Stack(Track(self.track, 'irq', number), cpu=self)
        self.softirq = Stack(Track(self.track, 'softirq', number), cpu=self)
        self.running = Interval(begin, None, category='unknown')
        self.switched = False           # a `switch` or `running` came: it has a running track
        self.loss = 0                   # the end of its last loss of kernel records
        self.guess = None               # (thread, time, record): step 1
        self.device_ended = False       # see "io"

    def in_interrupt(self, record):
        return bool(self.irq.open or self.softirq.open or record.flags & IN_INTERRUPT)


class Model:
    def __init__(self, trace, rule_list):
        self.trace, self.rules = trace, rule_list
        self.values = rule_files.Values(trace)
        self.items, self.tracks = [], []
        self.machine = Track(None, 'machine')
        self.use(self.machine)
        self.t0 = self.t1 = None
        self.threads, self.forgotten, self.processes = {}, [], {}
        self.cpus, self.devices, self.spans, self.counters = {}, {}, {}, {}
        self.sent = {}
        self.loss = {False: 0, True: 0}         # end of the last loss of kernel, program records
        self.last = {}                          # (CPU, program) -> time
        self.matching = {}
        self.types = trace.types
        self.has_switch = any(r.verb in ('switch', 'state') and r.star(t, trace.qnx) is not None
                              for r in rule_list for t in self.types)

    # ---- items ----

    def use(self, track):
        """Gives the track its number, its parents theirs first."""
        if track.id is None:
            if track.parent:
                self.use(track.parent)
            track.id = len(self.tracks)
            self.tracks.append(track)
        return track.id

    def emit(self, **item):
        self.items.append(item)

    def interval(self, what, track, it, end, record, flags, lost, unknown=False, **more):
        """Hands out a state or slice; lost: the end of the last loss that concerns it.

        "Unknown states and running slices have no flags and no records.  An item with
        `end-unknown` has no `end_record`."
        """
        flags = it.flags | set(flags)
        if lost > it.begin:
            flags = flags | {'uncertain'}
        if unknown:
            flags = set()
        first = None if unknown or not it.record else it.record.number
        last = None if unknown or not record or 'end-unknown' in flags else record.number
        self.emit(**{what: self.use(track)}, begin=it.begin, end=end,
                  begin_record=first, end_record=last,
                  name=it.name, flags=sorted(flags), **more)

    def flow(self, kind, place, track, record):
        self.emit(flow=kind, **{'from': self.use(place[0])}, from_time=place[1],
                  from_record=place[2].number, to=self.use(track), to_time=record.time,
                  to_record=record.number)

    # ---- the running track of a CPU ----

    def set_running(self, cpu, time, record, category, thread=None, flags=(), end_flags=(),
                    lost=None):
        """What runs on the CPU until now ends at `time`, and something else begins."""
        it = cpu.running
        if time > it.begin:
            it.name = it.thread.track.name if it.thread else it.category
            self.interval('slice', cpu.running_track, it, time, record, end_flags,
                          cpu.loss if lost is None else lost, it.category == 'unknown', depth=0,
                          category=it.category)
        cpu.running = Interval(max(time, it.begin), record, category=category, flags=flags,
                               thread=thread)
        cpu.guess = None

    # ---- threads ----

    def process(self, number):
        if number not in self.processes:
            self.processes[number] = Process(self.machine, number)
            if not self.trace.qnx and number in self.trace.tasks:
                self.processes[number].track.name = self.trace.tasks[number][1]
        return self.processes[number]

    def ident(self, thread, process=None):
        return (process, thread) if self.trace.qnx else thread

    def new_thread(self, ident, birth, process=None):
        if self.trace.qnx:
            process, number = self.process(ident[0]), ident[1]
        else:
            number = ident
            tgid, name = self.trace.tasks.get(ident, (0, ''))
            if tgid:
                process = self.process(tgid)
            process = process or self.process(number)
        th = self.threads[ident] = Thread(ident, process, birth, number)
        if not self.trace.qnx:
            self.rename_thread(th, self.trace.tasks.get(ident, (0, None))[1])
        return th

    def thread(self, ident):
        return self.threads.get(ident) or self.new_thread(ident, self.t0)

    def named(self, ident):
        """A thread that `switch`, `waking`, `wakeup` or `state` names: it has states."""
        th = self.thread(ident)
        if not th.state:
            th.state = Interval(th.birth, None, 'unknown')
            self.use(th.states)
        return th

    def nobody(self, ident):
        """The idle thread, or no thread's number."""
        return not self.trace.qnx and ident <= 0

    def is_idle(self, ident):
        if self.trace.qnx:
            return ident[0] == 1 and 1 <= ident[1] <= self.trace.cpus
        return ident == 0

    def of_record(self, record, cpu):
        """The record's thread: a Thread, IDLE, or None."""
        if self.trace.qnx:
            if not cpu or cpu.running.category == 'unknown':
                return None
            return cpu.running.thread or IDLE
        if record.pid < 0:
            return None
        return IDLE if record.pid == 0 else self.thread(record.pid)

    def set_state(self, th, time, record, name, flags=(), end_flags=(), cpu=None, waker=None,
                  closed_by_loss=False):
        """The thread's state ends at `time`, and another one begins.

        If it runs on a CPU, the caller ends the slice there.
        """
        it = th.state
        time = max(time, it.begin)
        if time > it.begin:
            lost = it.cpu.loss if it.cpu else self.loss[False]
            self.interval('state', th.states, it, time, record, end_flags,
                          0 if closed_by_loss else lost, it.name == 'unknown',
                          cpu=it.cpu and it.cpu.number,
                          waker=self.use(it.waker) if it.waker else None)
        th.state = Interval(time, record, name, flags, cpu=cpu, waker=waker)

    def stop_elsewhere(self, th, time, record):
        """A running thread turns out to be somewhere else: its CPU becomes unknown."""
        if th.state.cpu:
            self.set_running(th.state.cpu, time, record, 'unknown', end_flags=['end-unknown'])

    def forget(self, th, time, record, flags=()):
        """Its open slices and its state end."""
        for it in reversed(th.calls.open):
            self.end_nested(th.calls, it, time, record, flags)
        th.calls.open.clear()
        if th.state:
            if th.state.cpu:
                self.set_running(th.state.cpu, time, record, 'unknown', end_flags=flags)
            self.set_state(th, time, record, 'dead', end_flags=flags)
        del self.threads[th.ident]

    def place(self, record, cpu):
        """"The waker's place", and whether it is an interrupt; (None, False): not known."""
        th = self.of_record(record, cpu)
        if cpu and not record.program:
            if cpu.irq.open:
                return cpu.irq.track, True
            if cpu.softirq.open:
                return cpu.softirq.track, True
            if record.flags & IN_INTERRUPT:
                return cpu.track, True
        if th == IDLE:
            th = None
        if th:
            return th.states, False
        return cpu and cpu.track, False

    def begin_running(self, th, cpu, record):
        """`th` begins to run on the CPU, whose slice has ended at the same time."""
        time = record.time
        if th.state.name == 'runnable' and 'preempted' not in th.state.flags and th.waker:
            self.flow('wake', th.waker, th.states, record)
        self.set_running(cpu, time, record, 'running', th)
        th.waker = th.waking = None

    # ---- verbs: threads ----

    def switch(self, record, cpu, a):
        if not cpu:
            return
        time, out, into = record.time, self.ident(a['out']), self.ident(a['in'])
        if out < 0 or into < 0:
            return
        cpu.switched = True
        if out:
            self.rename_thread(self.thread(out), a.get('out_name'))
        if cpu.running.category in (['unknown', 'idle'] if out else ['unknown']) and \
                cpu.guess and cpu.guess[0] == out and cpu.guess[1] < time:
            self.assume(cpu, out)
        # step 2
        runs = 0 if cpu.running.category == 'idle' else \
            cpu.running.thread.ident if cpu.running.thread else None
        if runs is not None and runs != out:
            if cpu.running.thread:
                self.set_state(cpu.running.thread, time, record, 'unknown',
                               end_flags=['end-unknown'])
            self.set_running(cpu, time, record, 'unknown', end_flags=['end-unknown'])
        # step 3
        if out:
            self.switch_out(record, cpu, self.named(out), a)
        # step 4
        if into == 0:
            self.set_running(cpu, time, record, 'idle')
            return
        th = self.named(into)
        end = () if th.state.name in ('runnable', 'unknown') else ['end-unknown']
        self.rename_thread(th, a.get('in_name'))
        self.stop_elsewhere(th, time, record)
        self.begin_running(th, cpu, record)
        self.set_state(th, time, record, 'running', cpu=cpu, end_flags=end)

    def assume(self, cpu, out):
        """Step 1: the thread `out` has been running since a record `g`."""
        _, time, record = cpu.guess
        th = self.threads.get(out)
        if th and th.state and th.state.cpu:
            return
        if out == 0:
            self.set_running(cpu, time, record, 'idle', flags=['begin-unknown'])
            return
        th = self.named(out)
        time = max(time, th.state.begin)
        end = () if th.state.name == 'unknown' else ['end-unknown']
        self.stop_elsewhere(th, time, record)
        self.set_running(cpu, time, record, 'running', th, flags=['begin-unknown'],
                         end_flags=['end-unknown'])
        self.set_state(th, time, record, 'running', ['begin-unknown'], end, cpu)
        if th.waking is not None and th.waking < record.number:     # before it began to run
            th.waking = None
        if th.waker and th.waker[2].number < record.number:
            th.waker = None

    def next_state(self, record, value):
        """The state that the value of a `switch`'s state= says."""
        if value is None:
            return 'unknown'
        if isinstance(value, str):
            letters = value
            return next((LETTERS[x] for x in 'DXZTtPIS' if x in letters), 'runnable')
        bits, mask = BITS, -1
        names = self.trace.names(record.event, self.state_field)
        if names:
            known = {n: b for b, n in names.table if n in LETTERS}
            if known:
                bits, mask = known, names.mask
        return next((LETTERS[x] for x in 'DXZTtPIS' if bits.get(x, 0) & value & mask), 'runnable')

    def switch_out(self, record, cpu, th, a):
        time = record.time
        state = self.next_state(record, a.get('state'))
        end = ()
        if th.state.cpu is not cpu:
            end = ['end-unknown']
            th.waker = th.waking = None         # "A thread that is switched out has run"
            self.stop_elsewhere(th, time, record)
        flags = []
        if state == 'runnable':
            flags = ['preempted']
        elif state == 'uninterruptible' and self.waits_for_device(th):
            flags = ['io']
        self.set_running(cpu, time, record, 'unknown')
        self.set_state(th, time, record, state, flags, end)
        if state == 'dead' or th.exited and state != 'runnable':
            self.forget(th, time, record)

    def waits_for_device(self, th):
        return any(it.owner is th for bag in self.devices.values() for it in bag.open.values())

    def waking(self, record, cpu, a, wakeup=False):
        ident = self.ident(a['thread'])
        if self.nobody(ident):
            return
        th = self.thread(ident)
        self.rename_thread(th, a.get('name'))
        place, by_irq = self.place(record, cpu)
        if place and not (wakeup and th.waking is not None):
            self.use(place)
            th.waker = (place, record.time, record, by_irq)
        if not wakeup:
            th.waking = record.number
        assumed = any(c.running.category in ('unknown', 'idle') and c.guess and c.guess[0] == ident
                      for c in self.cpus.values())
        state = th.state.name if th.state else 'unknown'
        if assumed if state == 'unknown' else state in AWAKE:
            return
        self.named(ident)
        by_irq = th.waker and th.waker[3]
        if th.state.name == 'uninterruptible' and cpu and cpu.device_ended:
            th.state.flags.add('io')
        self.set_state(th, record.time, record, 'runnable', ['irq'] if by_irq else [],
                       waker=th.waker and th.waker[0])

    def fork(self, record, cpu, a):
        ident = self.ident(a['thread'], a.get('process'))
        if self.nobody(ident):
            return
        old = self.threads.get(ident)
        if old and old.birth_record and not old.state:
            self.rename_thread(old, a.get('name'))
            return
        process = None
        if (a.get('flags') or 0) & CLONE_THREAD:
            parent = self.of_record(record, cpu)
            if isinstance(parent, Thread):
                process = parent.process
        old = self.threads.get(ident)
        if old:
            self.forget(old, record.time, record, ['end-unknown'])
        th = self.new_thread(ident, record.time, process)
        th.birth_record = record
        self.rename_thread(th, a.get('name'))

    def exit(self, record, cpu, a):
        if 'thread' in a:
            th = self.threads.get(self.ident(a['thread'], a.get('process')))
        else:
            th = self.of_record(record, cpu)
        if not isinstance(th, Thread):
            return
        for it in reversed(th.calls.open):
            self.end_nested(th.calls, it, record.time, record)
        th.calls.open.clear()
        th.exited = True
        if not self.has_switch:
            self.forget(th, record.time, record)

    def mark(self, record, cpu, a):
        stack = self.stack(record, cpu, a['object'])
        if stack:
            name = a.get('name')
            self.emit(instant=self.use(stack.track), time=record.time, record=record.number,
                      name=a['cat'] if name is None else str(name), category=a['cat'])

    def rename_thread(self, th, name):
        if name is None:
            return
        th.track.name = str(name)
        if not self.trace.qnx and th.track.number == th.process.track.number:
            th.process.track.name = str(name)

    def rename(self, record, cpu, a):
        if 'process' in a and 'thread' not in a:
            self.process(a['process']).track.name = str(a['name'])
            return
        if 'thread' in a:
            ident = self.ident(a['thread'], a.get('process'))
            th = self.thread(ident) if ident != 0 else None
        else:
            th = self.of_record(record, cpu)
        if isinstance(th, Thread):
            self.rename_thread(th, a['name'])

    def waker(self, record, cpu, a):
        by = self.of_record(record, cpu)
        if isinstance(by, Thread):
            th = self.thread(self.ident(a['thread'], a['process']))
            th.waker = (by.states, record.time, record, False)

    def state(self, record, cpu, a):
        """QNX: a thread gets a state."""
        time, value = record.time, a['value']
        ident = self.ident(a['thread'], a['process'])
        value = {'ready': 'runnable'}.get(value, value)
        if value not in QNX_STATES:
            return
        if cpu and value == 'running':
            cpu.switched = True
        if self.is_idle(ident):
            own = self.cpus.get(ident[1] - 1)
            if value != 'running':
                if own and own.running.category == 'idle':
                    self.set_running(own, time, record, 'unknown')
            elif cpu and cpu.running.category != 'idle':
                self.leave(cpu, record)
                self.set_running(cpu, time, record, 'idle')
            return
        if value == 'dead':
            if ident in self.threads:
                self.forget(self.named(ident), time, record)
            return
        th = self.named(ident)
        if value == 'running':
            if not cpu or cpu.running.thread is th:
                return
            self.leave(cpu, record)
            end = []
            if th.state.cpu and th.state.cpu is not cpu:
                end = ['end-unknown']
                self.stop_elsewhere(th, time, record)
            self.begin_running(th, cpu, record)
            self.set_state(th, time, record, 'running', cpu=cpu, end_flags=end)
            return
        preempted = th.state.cpu and value == 'runnable'
        if th.state.cpu:
            self.set_running(th.state.cpu, time, record, 'unknown')
        waker = th.waker[0] if th.waker and value == 'runnable' and not preempted else None
        self.set_state(th, time, record, value, ['preempted'] if preempted else [], waker=waker)

    def leave(self, cpu, record):
        """"Another thread that was running there and got no state becomes unknown"."""
        if cpu.running.thread:
            self.set_state(cpu.running.thread, record.time, record, 'unknown',
                           end_flags=['end-unknown'])
            self.set_running(cpu, record.time, record, 'unknown', end_flags=['end-unknown'])

    # ---- verbs: nested slices ----

    def stack(self, record, cpu, what):
        if what == 'thread':
            th = self.of_record(record, cpu)
            return th.calls if isinstance(th, Thread) else None
        if not cpu:
            return None
        return cpu.irq if what == 'cpu.irq' else cpu.softirq

    def end_nested(self, stack, it, time, record, flags=(), lost=None):
        if lost is None:
            lost = stack.cpu.loss if stack.cpu else \
                self.loss[it.program]
        self.interval('slice', stack.track, it, time, record, flags, lost, depth=it.depth,
                      category=it.category)
        stack.last_end = time

    def pop(self, stack, upto, record):
        """Ends the slices above number `upto`, whose ends nobody saw."""
        for it in reversed(stack.open[upto:]):
            self.end_nested(stack, it, record.time, record, ['end-unknown'])
        del stack.open[upto:]

    def begin_nested(self, stack, record, rule, a):
        if rule.only:
            same = [i for i, it in enumerate(stack.open) if it.category == a['cat']]
            if same:
                self.pop(stack, same[-1], record)
        name = a.get('name')
        it = Interval(record.time, record, a['cat'] if name is None else str(name),
                      category=a['cat'], key=a.get('key'), depth=len(stack.open),
                      program=record.program)
        stack.open.append(it)
        self.use(stack.track)

    def end_of_nested(self, stack, record, a):
        for i in reversed(range(len(stack.open))):
            it = stack.open[i]
            if it.category == a['cat'] and ('key' not in a or it.key == a['key']):
                self.pop(stack, i + 1, record)
                stack.open.pop()
                self.end_nested(stack, it, record.time, record)
                return
        if stack.open:
            return
        begin = max(self.t0, stack.last_end)
        begin = max(begin, stack.thread.birth if stack.thread else stack.cpu.loss)
        name = a.get('name')
        it = Interval(begin, None, a['cat'] if name is None else str(name), ['begin-unknown'],
                      category=a['cat'], program=record.program)
        self.end_nested(stack, it, record.time, record)

    # ---- verbs: overlapping slices ----

    def bag(self, a):
        what = a['object']
        if what == 'device':
            dev = a['dev']
            if isinstance(dev, int):
                dev = f'{dev >> 20},{dev & 0xfffff}'
            if dev not in self.devices:
                track = Track(self.machine, 'device', 0, dev)
                self.devices[dev] = Bag(track, 'request', Track(track, 'counter', 0, 'depth'))
            return self.devices[dev]
        name = what.split('.', 1)[1]
        if name not in self.spans:
            self.spans[name] = Bag(Track(self.machine, 'span', 0, name), 'span')
        return self.spans[name]

    def depth(self, bag, record):
        if bag.counter:
            self.emit(counter=self.use(bag.counter), time=record.time, record=record.number,
                      value=len(bag.open))

    def end_overlapping(self, bag, it, time, record, flags=()):
        self.interval('slice', bag.track, it, time, record, flags, self.loss[it.program],
                      depth=it.depth, category=it.category)

    def begin_overlapping(self, bag, record, cpu, a):
        key = (a['cat'], a.get('key'))
        old = bag.open.pop(key, None)
        if old:
            self.end_overlapping(bag, old, record.time, record, ['end-unknown'])
        depths = {it.depth for it in bag.open.values()}
        name = a.get('name')
        owner = self.of_record(record, cpu)
        if cpu and cpu.in_interrupt(record):
            owner = None
        bag.open[key] = Interval(
            record.time, record, a['cat'] if name is None else str(name), category=a['cat'],
            depth=min(set(range(len(depths) + 1)) - depths), program=record.program, owner=owner,
            place=self.place(record, cpu)[0])
        if bag.open[key].place:
            self.use(bag.open[key].place)
        self.use(bag.track)
        self.depth(bag, record)

    def end_of_overlapping(self, bag, record, cpu, a):
        it = bag.open.pop((a['cat'], a.get('key')), None)
        to, _ = self.place(record, cpu)
        if bag.flow == 'request' and cpu and cpu.in_interrupt(record):
            cpu.device_ended = True
        if not it:
            name = a.get('name')
            it = Interval(record.time, None, a['cat'] if name is None else str(name),
                          ['begin-unknown'], category=a['cat'], program=record.program)
            self.end_overlapping(bag, it, record.time, record)
            return
        self.end_overlapping(bag, it, record.time, record)
        self.depth(bag, record)
        if it.place and to and to is not it.place:
            self.flow(bag.flow, (it.place, it.begin, it.record), to, record)

    # ---- verbs: the rest ----

    def slices(self, rule, record, cpu, a):
        what = a['object']
        if what == 'device' or what.startswith('span.'):
            bag = self.bag(a)
            if rule.verb == 'end':
                self.end_of_overlapping(bag, record, cpu, a)
            elif rule.verb == 'begin' or (a['cat'], a.get('key')) not in bag.open:
                self.begin_overlapping(bag, record, cpu, a)
            return
        stack = self.stack(record, cpu, what)
        if not stack:
            return
        if rule.verb == 'end':
            self.end_of_nested(stack, record, a)
        elif rule.verb == 'begin' or not any(
                it.category == a['cat'] and it.key == a.get('key') for it in stack.open):
            self.begin_nested(stack, record, rule, a)

    def counter(self, record, cpu, a):
        what, name = a['object'], str(a['name'])
        if 'by' in a:
            name += ' ' + ','.join(str(k) for k in a['by'])
        if what == 'machine':
            parent = self.machine
        elif what == 'cpu':
            if 'cpu' in a:
                cpu = self.cpu(a['cpu'])
            if not cpu:
                return
            parent = cpu.track
        else:
            th = self.of_record(record, cpu)
            if not isinstance(th, Thread):
                return
            parent = th.process.track
        key = (parent, name)
        if key not in self.counters:
            self.counters[key] = Track(parent, 'counter', 0, name)
        self.emit(counter=self.use(self.counters[key]), time=record.time, record=record.number,
                  value=a['value'])

    def send(self, record, cpu, a):
        th = self.of_record(record, cpu)
        if isinstance(th, Thread):
            self.sent[a['kind'], a['key']] = (th.states, record.time, record)

    def receive(self, record, cpu, a):
        th = self.of_record(record, cpu)
        if isinstance(th, Thread):
            place = self.sent.pop((a['kind'], a['key']), None)
            if place:
                self.flow(a['kind'], place, th.states, record)

    def apply(self, rule, record, cpu, a):
        if rule.verb in ('begin', 'continue', 'end'):
            self.slices(rule, record, cpu, a)
        elif rule.verb == 'switch':
            # which field it is: its print format has the letters
            self.state_field = next((f for f in rule.args.get('state', '').split('|')
                                     if f in record.fields), None)
            self.switch(record, cpu, a)
        elif rule.verb == 'wakeup':
            self.waking(record, cpu, a, wakeup=True)
        else:
            getattr(self, rule.verb)(record, cpu, a)

    # ---- records ----

    def cpu(self, number):
        if number not in self.cpus:
            self.cpus[number] = Cpu(self.machine, number, self.t0)
        return self.cpus[number]

    def lose(self, record, cpu):
        """"Losses of kernel records on CPU c"."""
        t0 = self.last.get((record.cpu, record.program), self.t0)
        if cpu and not record.program:
            it = cpu.running
            if it.category != 'unknown':
                if it.thread:
                    self.set_state(it.thread, t0, None, 'unknown', end_flags=['end-unknown'],
                                   closed_by_loss=True)
                self.set_running(cpu, t0, None, 'unknown', end_flags=['end-unknown'], lost=0)
            cpu.guess = None
            for stack in (cpu.irq, cpu.softirq):
                for s in reversed(stack.open):
                    self.end_nested(stack, s, max(t0, s.begin), None, ['end-unknown'], lost=0)
                stack.open.clear()
            cpu.loss = record.time
        self.loss[record.program] = record.time
        self.emit(loss=record.cpu, source='program' if record.program else 'kernel', begin=t0,
                  end=record.time, count=record.lost, record=record.number)

    def rules_of(self, event):
        if event not in self.matching:
            found = [(r, r.star(event, self.trace.qnx)) for r in self.rules
                     if not (r.unless and r.unless in self.types)]
            self.matching[event] = [(r, s) for r, s in found if s is not None]
        return self.matching[event]

    def record(self, record):
        if record.event.startswith('lkst:'):
            record.program = 0x100 <= record.fields['etype'] <= 0x1ff
        if self.t0 is None:
            self.t0 = record.time
        self.t1 = record.time
        cpu = self.cpu(record.cpu) if record.cpu is not None else None
        if record.lost:
            self.lose(record, cpu)
        if cpu and not record.program:
            if not cpu.in_interrupt(record):
                cpu.device_ended = False
            if not cpu.guess or cpu.guess[0] != record.pid:
                cpu.guess = (record.pid, record.time, record)
        for rule, star in self.rules_of(record.event):
            a = self.values.all(rule, record, star)
            if a is not None:
                self.apply(rule, record, cpu, a)
        self.last[record.cpu, record.program] = record.time

    def finish(self):
        """"At T1 everything open ends with end-unknown"."""
        end = ['end-unknown']
        for _, cpu in sorted(self.cpus.items()):
            if cpu.switched:
                self.set_running(cpu, self.t1, None, 'unknown', end_flags=end)
            for stack in (cpu.irq, cpu.softirq):
                for it in reversed(stack.open):
                    self.end_nested(stack, it, self.t1, None, end)
        for th in self.threads.values():
            if th.state:
                self.set_state(th, self.t1, None, 'unknown', end_flags=end)
            for it in reversed(th.calls.open):
                self.end_nested(th.calls, it, self.t1, None, end)
        for bag in [*self.devices.values(), *self.spans.values()]:
            for it in sorted(bag.open.values(), key=lambda s: s.depth):
                self.end_overlapping(bag, it, self.t1, None, end)

    def lines(self):
        """The items as JSON objects; tracks first, with their names at the end of the trace."""
        for t in self.tracks:
            yield {'track': t.id, 'parent': t.parent.id if t.parent else 0, 'kind': t.kind,
                   'number': t.number, 'name': t.name}
        yield from self.items


def run(path, rules_directory, spans=(), tacho=None):
    """The model of a trace; spans: texts of --span."""
    trace = Trace(path, tacho)
    rule_list = [r for s in spans for r in rule_files.span_rules(s)]
    model = Model(trace, rule_list + rule_files.builtin(rules_directory))
    for record in trace.records():
        model.record(record)
    if model.t0 is not None:
        model.finish()
    return model


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    directory = sys.argv[2] if len(sys.argv) > 2 else \
        os.path.join(here, '..', '..', 'src', 'model', 'rules')
    for line in run(sys.argv[1], directory).lines():
        print(json.dumps(line))


if __name__ == '__main__':
    main()
