# SPDX-License-Identifier: MIT
"""LTT's interface for programs, by what ends in the files: events, masks, filters, the flight
recorder; without the kernel, and beside tracedaemon."""
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'stream'))
import lttfile as ltt  # noqa: E402
from lttcase import done, ok, read, run, skip, work  # noqa: E402

TACHO, DAEMON, VISUALIZER = os.environ['TACHO'], os.environ['DAEMON'], os.environ['VISUALIZER']
PROGRAM = os.environ['PROGRAM']
TRACEFS = '/sys/kernel/tracing'
ORDER = '<' if sys.byteorder == 'little' else '>'
WIDE = sys.maxsize > 2**32
EINVAL, ENODEV, EBUSY, EACCES, ENOSYS = -22, -19, -16, -13, -38
START, STOP, DEFAULT, BUFFERS, EVENTS, DETAILS, PID, PGRP, GID, UID, LOST, SET, GET, NR_BUFFERS, \
    PAUSE, UNPAUSE = 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 19, 20, 22, 31, 32
TRACE, FLIGHT = 0, 1
ALL = (1 << 23) - 1
FORCED = 1 << ltt.START | 1 << ltt.BUFFER_START | 1 << ltt.CHANGE_MASK
CPU = min(os.sched_getaffinity(0))


def one_cpu():
    """All in one file, in the order in which it happened."""
    os.sched_setaffinity(0, {CPU})


class Program:
    def __init__(self, group=False):
        self.p = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, bufsize=1, preexec_fn=one_cpu,
                                  start_new_session=group)

    def __call__(self, *words):
        """What a call returned; of one that brings a number back, the number."""
        self.p.stdin.write(' '.join(str(w) for w in words) + '\n')
        self.p.stdin.flush()
        line, brought = self.p.stdout.readline(), None
        if not line.startswith('='):
            brought, line = int(line, 16), self.p.stdout.readline()
        ret = int(line[2:])
        return ret if brought is None or ret else brought

    def sched(self, number, come_in=0):
        return self('event', ltt.SCHEDCHANGE, 0, number, come_in, 0)

    def masks(self, handle, command, *ids):
        mask = sum(1 << i for i in ids) if ids != (ALL,) else ALL
        return self('pointer', handle, command, '%x' % mask)

    def end(self):
        self.p.stdin.close()
        return self.p.wait()


def records(trace):
    """(id, sub id, values, data) of all records of its files that are no frame."""
    found = []
    for name in sorted(os.listdir(trace)) if os.path.isdir(trace) else []:
        if name.endswith('.ltt'):
            found += [r[1:] for r in ltt.decode(read(os.path.join(trace, name)), ORDER, WIDE)]
    return [r for r in found if r[0] not in (ltt.START, ltt.BUFFER_START, ltt.BUFFER_END)]


def outs(rows):
    """The numbers that tell SCHEDCHANGEs from each other; of one without details, None."""
    return [r[2][0] if r[2] else None for r in rows if r[0] == ltt.SCHEDCHANGE]


class Recorder:
    """`tacho record`, from when it takes LTT's events to when it has ended."""
    def __init__(self, program, trace, *args):
        self.trace = os.path.join(work, trace)
        self.p = subprocess.Popen([*(args or (TACHO, 'record', '-q', '-e', 'ltt:*', '-o')),
                                   self.trace], stderr=subprocess.PIPE)
        program('attach')
        while self.p.poll() is None and not (program('traced', ltt.CHANGE_MASK) and
                                             ': recording' in run(TACHO, 'status')[1]):
            time.sleep(0.01)

    def end(self):
        self.p.send_signal(signal.SIGINT)
        err = self.p.communicate()[1].decode()
        return records(self.trace), self.p.returncode, err


class Kept:
    """In the place of a ltt.File: what every_event() adds."""
    def __init__(self):
        self.rows = []

    def add(self, event, sub, *values, tail=b''):
        self.rows.append((event, sub, values, tail))


# ---- every event ---------------------------------------------------------------------------

kept = Kept()
ltt.every_event(kept)
kernel = [r for r in kept.rows if r[0] <= ltt.NETWORK or r[0] == ltt.HEARTBEAT]
script = ''.join(' '.join(['event', str(e), str(sub), *[str(v) for v in values], t.decode()]) + '\n'
                 for e, sub, values, t in kernel)
for what, bare in (('ltt:*', False), ('ltt:*_bare', True)):
    trace = os.path.join(work, f'every{bare:d}.ltt')
    rc, out, err = run(TACHO, 'record', '-q', '-o', trace, '-e', what, '--', PROGRAM,
                       input=script.encode(), preexec_fn=one_cpu)
    got = records(trace)
    want = [(e, sub, () if bare else values, b'' if bare else t) for e, sub, values, t in kernel]
    wrong = [(g, w) for g, w in zip(got, want) if g[:3] != w[:3] or not g[3].startswith(w[3]) or
             g[3][len(w[3]):].strip(b'\0')]
    ok(rc == 0 and len(got) == len(want) == 49 and not wrong and
       out == '= 0\n' * len(want), f'{what}: one of each event of the kernel', err, wrong[:4], out,
       len(got))
    rc, out, err = run(TACHO, 'check', trace)
    ok(rc == 0, f'{what}: nothing is wrong with it', out, err)
trace = os.path.join(work, 'every0.ltt')
rc, out, err = run(VISUALIZER, trace)
ok(rc == 0 and 'OPEN : passwd; FD : 3\n' in out and 'IN : 1002; OUT : 1001; STATE : 1\n' in out,
   'in the historic lines', err)
rc, out, err = run(TACHO, 'hist', trace, '-e', 'ltt:file_system_read', 'keys=fd:vals=count')
ok(rc == 0 and '4096' in out, 'a histogram', out, err)
rc, out, err = run(TACHO, 'report', '--no-pager', '-e', 'ltt:ipc_call', trace)
ok(rc == 0 and 'ipc_call: call=MSGSND arg0=0x8' in out, 'a report', out, err)

# ---- without a trace -------------------------------------------------------------------------

a, b = Program(), Program(group=True)
ok(not a.sched(1) and not a('event', 10, 5, 1, 2) and not a('event', ltt.HEARTBEAT, 0),
   'nobody records: no harm')
ok([a('event', i, s) for i, s in ((0, 0), (17, 0), (18, 0), (19, 0), (20, 0), (21, 0), (23, 0),
                                  (10, 0), (10, 7), (7, 1), (255, 255))] == [EINVAL] * 11 and
   a('null') == EINVAL, 'what is no event of the kernel')
ok([a('control', TRACE, c, 1) for c in (START, STOP, PAUSE, UNPAUSE, PID, UID, DEFAULT)] ==
   [ENODEV] * 7 and a.masks(TRACE, SET, 7) == ENODEV and a('pointer', TRACE, GET) == ENODEV and
   a('pointer', FLIGHT, LOST) == ENODEV, 'commands: there is no trace')
ok(a('control', 2, START, 0) == EACCES and a('control', TRACE, 99, 0) == ENOSYS and
   a('control', TRACE, SET, 0) == EINVAL and a('control', TRACE, PID, 0) == EINVAL and
   a('control', TRACE, BUFFERS, 4096) == EINVAL, 'commands that mean nothing')
a('attach')
ok(a('set', 'ff') == ENODEV and a('get') == ENODEV and not a('traced', 7),
   'masks: there is no trace')
ok([a('callback', i) for i in (0, 17, 18, 23)] == [EINVAL] * 4 and not a('callback', 7) and
   not a('callback', 16), 'callbacks')
a.sched(1)
a('event', 16, 2, 5)
a('event', 8, 0)
ok(a('called') == 716, 'are called for events of the kernel, though nobody records', a('called'))

# ---- masks, details, filters: of the trace, for all programs -----------------------------------

word = a('new', 'word', 1, '')
r = Recorder(a, 'masks.ltt')
want = [1, 2]
a.sched(1)
b.sched(2)
ok(a('pointer', TRACE, GET) == ALL == a('get'), "'ltt:*' is all of both masks")
ok(a.masks(TRACE, SET, ltt.IRQ_ENTRY, ltt.CUSTOM, ltt.NEW_EVENT) == 0 and
   a('pointer', TRACE, GET) == FORCED | 1 << 5 | 1 << 20 | 1 << 19 == b('pointer', TRACE, GET),
   'another event mask', '%x' % a('pointer', TRACE, GET))
a.sched(3)
b.sched(4)
b('event', ltt.IRQ_ENTRY, 0, 77, 0)
a('raw', word, 'one')
ok(a('traced', 5) == b('traced', 5) + 1 == 1 or b('attach') == 0 and b('traced', 5) == 1 and
   b('traced', 7) == 0, 'the other program sees it')
ok(b.masks(TRACE, EVENTS, ltt.SCHEDCHANGE, ltt.CUSTOM) == 0 == b.masks(TRACE, DETAILS, ltt.CUSTOM),
   'no details')
a.sched(5)
want.append(None)
ok(b.masks(TRACE, EVENTS, ltt.CUSTOM) == 0, 'off')
a.sched(6)
ok(a.masks(TRACE, EVENTS, ltt.SCHEDCHANGE, ltt.CUSTOM) == 0, 'on again')
a.sched(7)
want.append(None)
a.masks(TRACE, DETAILS, ALL)
a.sched(8)
want.append(8)
ok(a('control', TRACE, DEFAULT, 0) == 0 and a('pointer', TRACE, GET) == ALL, 'the default')
a.sched(9)
want.append(9)

ok(a('control', TRACE, PID, a.p.pid) == 0, 'one process')
b.sched(10)
a.sched(11)
b.sched(12, a.p.pid)
b.sched(13, os.getpid())
want += [11, 12]
ok(b('control', TRACE, PGRP, 5) == EINVAL, 'a process and a group: no')
b.masks(TRACE, SET, ALL)
ok(b('control', TRACE, DEFAULT, 0) == 0 == b('control', TRACE, PGRP, b.p.pid), 'a process group')
a.sched(14)
b.sched(15)
a.sched(16, b.p.pid)
want += [15, 16]
b('control', TRACE, DEFAULT, 0)
for command, mine in ((UID, os.getuid()), (GID, os.getgid())):
    n = command * 10
    ok(a('control', TRACE, command, mine) == 0, 'one owner: its own')
    a.sched(n)
    want.append(n)
    ok(a('control', TRACE, command, mine + 12345) == 0, 'one owner: somebody else')
    a.sched(n + 1)
    b.sched(n + 2)
    a.sched(n + 3, b.p.pid)
    a('control', TRACE, DEFAULT, 0)
ok(a('control', TRACE, UID, os.getuid()) == 0 == a('control', TRACE, PID, b.p.pid),
   'all filters have to match')
a.sched(200)
b.sched(201)
want.append(201)
a('control', TRACE, DEFAULT, 0)

ok(a('control', TRACE, START, 0) == EBUSY, 'it runs')
rc, out, err = run(TACHO, 'stop', 'record-%d' % r.p.pid)
ok(rc == 0 and a('control', TRACE, START, 0) == EBUSY and a('control', TRACE, PAUSE, 0) == 0 and
   a('control', TRACE, UNPAUSE, 0) == 0, 'what a tool has stopped')
a.sched(299)
run(TACHO, 'start', 'record-%d' % r.p.pid)
for off, on in ((PAUSE, UNPAUSE), (STOP, START)):
    ok(a('control', TRACE, off, 0) == 0, 'stopped')
    b.sched(300 + off)
    ok(b('control', TRACE, on, 0) == 0, 'going on')
    b.sched(310 + on)
    want.append(310 + on)
ok(a('pointer', TRACE, LOST) == 0, 'nothing is lost')
rows, rc, err = r.end()
ok(rc == 0 and outs(rows) == want, 'exactly what masks and filters let through', rc, err,
   outs(rows), want)
ok([x[2][0] for x in rows if x[0] == ltt.CHANGE_MASK] ==
   [1 << 5 | 1 << 20 | 1 << 19, ALL], 'CHANGE_MASK, also of a process that is filtered', rows)
ok([x[2][0] for x in rows if x[0] == ltt.IRQ_ENTRY] == [77] and
   [(x[0], x[2][0]) for x in rows if x[0] in (ltt.NEW_EVENT, ltt.CUSTOM)] ==
   [(ltt.NEW_EVENT, word), (ltt.CUSTOM, word)], 'other events, too')

# the next trace is another one, and is told of the event that there is
r = Recorder(a, 'again.ltt')
a('raw', word, 'two')
a.sched(400)
rows, rc, err = r.end()
ok([(x[0], x[2][0]) for x in rows] == [(ltt.NEW_EVENT, word), (ltt.CUSTOM, word),
                                       (ltt.SCHEDCHANGE, 400)],
   'a trace that begins later: its own masks, and what custom events are', rows)

# ---- the flight recorder ----------------------------------------------------------------------

ok(a.masks(FLIGHT, EVENTS, ltt.CUSTOM, ltt.NEW_EVENT) == 0 ==
   a.masks(FLIGHT, DETAILS, ltt.CUSTOM, ltt.NEW_EVENT) and
   a('control', FLIGHT, BUFFERS, 5000) == EINVAL and a('control', FLIGHT, NR_BUFFERS, 0) == EINVAL
   and a('control', FLIGHT, BUFFERS, 4096) == 0 == a('control', FLIGHT, NR_BUFFERS, 4),
   'the flight recorder is configured')
ok(a('control', FLIGHT, START, 0) == 0 and a('control', FLIGHT, START, 0) == EBUSY and
   a('control', TRACE, STOP, 0) == ENODEV and
   a('pointer', FLIGHT, GET) == FORCED | 1 << 19 | 1 << 20 == b('get'), 'and runs')
for i in range(2000):
    a('raw', word, 'number-%04d' % i)
    a.sched(500)
flight = os.path.join(work, 'flight.ltt')
rc, out, err = run(DAEMON, '-j', flight)
found = []
for name in os.listdir(flight) if os.path.isdir(flight) else []:
    if name.endswith('.ltt'):
        found += list(ltt.decode(read(os.path.join(flight, name)), ORDER, WIDE))
texts = [x[4][:11] for x in found if x[1] == ltt.CUSTOM and x[3][0] == word]
starts = [x[3] for x in found if x[1] == ltt.START]
ok(rc == 0 and texts and texts == [b'number-%04d' % i for i in range(2000 - len(texts), 2000)] and
   100 < len(texts) < 1000 and ltt.SCHEDCHANGE not in {x[1] for x in found},
   'tracedaemon -j: the newest of it', rc, err, len(texts), texts[-3:])
ok(texts and len({x[4][:11] for x in found if x[1] == ltt.CUSTOM}) == len(texts) and
   {x[3][1].rstrip(b'\0') for x in found if x[1] == ltt.NEW_EVENT and x[3][0] == word} == {b'word'},
   'what they are, though it was told so long ago')
rc, out, err = run(TACHO, 'report', '--no-pager', '-e', 'ltt_custom:word', flight)
rc2, out2, err = run(TACHO, 'check', flight)
ok(rc == rc2 == 0 and out.count(' word: ') == len(texts), 'and all of them are shown by name', out2,
   out.count(' word: '))
rc, out, err = run(TACHO, 'report', '--no-pager', flight)
ok(out.count(' word: ') == len(texts), 'in a report of everything, too', out.count(' word: '))
ok(starts and all(s[9] == 1 and s[10] == FORCED | 1 << 19 | 1 << 20 for s in starts),
   'START says what it is, and its mask', starts)
ok(b('control', FLIGHT, PAUSE, 0) == 0, 'it pauses')
a('raw', word, 'not-this')
ok(b('control', FLIGHT, UNPAUSE, 0) == 0, 'it goes on')
a('raw', word, 'but-this')
a.p.kill()
a.p.wait()
snap = os.path.join(work, 'snap')
rc, out, err = run(TACHO, 'snapshot', '-o', snap, 'ltt-flight')
rc2, out, err2 = run(TACHO, 'report', '--no-pager', snap)
ok(rc == rc2 == 0 and b'but-this'.hex(' ') in out and b'not-this'.hex(' ') not in out,
   'what a program did before it was killed', err, err2, out[-300:])
ok(b('control', FLIGHT, STOP, 0) == 0 and b('control', FLIGHT, STOP, 0) == ENODEV, 'it ends')
rc, out, err = run(TACHO, 'status')
ok('ltt-flight' not in out, 'and leaves nothing', out)

# ---- at once ------------------------------------------------------------------------------------

for args in ([], ['-b', '32K', '--subbuf', '4K'], ['-b', '32K', '--subbuf', '4K', '--flight']):
    trace = os.path.join(work, f'threads{len(args)}')
    rc, out, err = run(TACHO, 'record', '-q', '-o', trace, '-e', 'ltt:*', *args, '--',
                       os.environ['THREADS'])
    ok(rc == 0 and out == '0 wrong\n', f'{args}: all calls, by many threads', rc, out, err)
rc, out, err = run(os.environ['THREADS'])
ok(rc == 0 and out == '0 wrong\n', 'without a trace', rc, out, err)

# ---- beside tracedaemon -------------------------------------------------------------------------

if os.geteuid() or not os.path.exists(TRACEFS + '/events/sched/sched_switch'):
    skip('beside tracedaemon', 'no tracefs, or not root')
else:
    quick = os.path.join(work, 'quick.ltt')
    run(DAEMON, '-k', '-DSCHED', '-DCSTM', quick)
    word = b('new', 'word', 1, '')
    b('raw', word, 'soon')
    rc, out, err = run(DAEMON, '-j', quick)
    rc2, out, err2 = run(DAEMON, '-q', quick)
    ok(rc == rc2 == 0 and [x[3][:4] for x in records(quick)
                           if x[0] == ltt.CUSTOM and x[2][0] == word] == [b'soon'] and
       re.search(r'events of the kernel, [1-9][0-9]* by', err),
       'tracedaemon -k records when it returns', rc, err, rc2, err2)
    r = Recorder(b, 'beside.ltt', DAEMON, '-DSCHED', '-eIRQ_ENTRY', '-DCSTM', '-eMEM')
    big = 0x70000000
    word = b('new', 'word', 1, '')
    ok(b.sched(big + 1) == 0 == b('event', ltt.IRQ_ENTRY, 0, 1, 2) and
       b('event', ltt.TRAP_ENTRY, 0, 14, 5) == 0 and b('raw', word, 'x') == 0, 'events')
    pages = bytearray(1 << 24)
    ok(b.masks(TRACE, SET, ltt.IRQ_ENTRY, ltt.TRAP_ENTRY) == 0, 'another mask')
    b.sched(big + 2)
    b('event', ltt.TRAP_ENTRY, 0, 14, 6)
    b('raw', word, 'y')
    pages += bytearray(1 << 24)
    rows, rc, err = r.end()
    mine = [n for n in outs(rows) if n is None or n >= big]
    ok(rc == 0 and mine == [big + 1] and len(outs(rows)) > 1, "the program's and the kernel's",
       rc, err, mine, len(outs(rows)))
    ok([x[2] for x in rows if x[0] == ltt.TRAP_ENTRY] == [(14, 6)] and
       not any(x[2] for x in rows if x[0] in (ltt.IRQ_ENTRY, ltt.MEMORY)) and
       any(x[0] == ltt.IRQ_ENTRY for x in rows) and any(x[0] == ltt.MEMORY for x in rows),
       'by both masks')
    ok([x[3][:1] for x in rows if x[0] == ltt.CUSTOM and x[2][0] == word] == [b'x'],
       'custom events')
    rc, out, err = run(TACHO, 'check', r.trace)
    ok(rc == 0, 'nothing is wrong with it', out, err)
    rc, out, err = run(TACHO, 'hist', r.trace, '-e', 'ltt:schedchange',
                       'keys=out if out > %d' % big)
    ok(rc == 0 and [x.split() for x in out.splitlines() if x.startswith('{')] ==
       [['{', 'out:', str(big + 1), '}', 'hitcount:', '1']], 'a histogram of it', out, err)
    rc, out, err = run(TACHO, 'report', '--no-pager', '-e', 'ltt:trap_entry', r.trace)
    ok(rc == 0 and 'trap_entry: trap_id=14 address=0x6' in out, 'a report of it', out, err)
    rc, out, err = run(TACHO, 'convert', '-q', '--to', 'json', r.trace, '-o', '-')
    lines = out.splitlines()
    at = [i for i, line in enumerate(lines) if 'change_mask' in line]
    ok(rc == 0 and len(at) == 1 and any('schedchange' in line for line in lines[:at[0]]) and
       not any('schedchange' in line or 'memory_' in line for line in lines[at[0]:]),
       "what a CHANGE_MASK turns off, ends for the kernel's events, too", err, len(lines), at)
    rc, out, err = run(VISUALIZER, r.trace)
    ok(rc == 0 and 'OUT : %d;' % (big + 1) in out and 'word' in out, 'in the historic lines', err)
b.end()
done()
