# SPDX-License-Identifier: MIT
"""LTT traces, read by the tool.

tests/golden/ltt holds one of each event in hex, in all byte orders and flavours; the other
files are made by lttfile.py of values that are known here.  Nothing is tacho's own.
"""
import json
import os
import re
import resource
import shutil
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lttfile as ltt  # noqa: E402
from lttcase import GOLDEN, done, ok, read, run, save, work  # noqa: E402

TACHO = os.environ['TACHO']


def golden(name):
    data = b''
    with open(os.path.join(GOLDEN, name + '.hex'), encoding='ascii') as f:
        for line in f:
            text = line.split('#')[0].strip()
            data += bytes(int(text[6:])) if text.startswith('zeros') else bytes.fromhex(text)
    return data


def events(path, *args):
    """(time in ns, cpu, pid, system:event, text behind it) of each event."""
    rc, out, err = run(TACHO, 'report', '--no-pager', '--format', 'json', *args, path)
    rows = [json.loads(line) for line in out.splitlines()] if not rc else []
    return rows, rc, err


def lines(path, *args):
    """What a report says of each event: 'pid time event: text'."""
    rc, out, err = run(TACHO, 'report', '--no-pager', *args, path)
    found = []
    for line in out.splitlines():
        if line.startswith(('CPU:', '#')) or '[' not in line:
            found.append(line.strip())
            continue
        left, right = line.split('[', 1)
        cpu, rest = right.split(']', 1)
        found.append(f"{left.split('-', 1)[1].strip()} {cpu} " + rest.split(None, 1)[1].rstrip())
    return found, rc, err


# ---- every event, all orders and flavours -----------------------------------------------

EXPECT = '''\
start: magic=0xd6b7ed arch_type=%d arch_variant=%d system_type=1 buffer_size=8192 major=2 minor=3 \
use_tsc=0 cpu_id=0 flight_recorder=0 event_mask=0xffffffffffffffff details_mask=0xffffffffffffffff
syscall_entry: syscall_id=5 address=0x8048abc
syscall_exit:
trap_entry: trap_id=14 address=0xc0123456
trap_exit:
irq_entry: irq_id=11 kernel=1
irq_exit:
schedchange: out=1001 in=1002 out_state=1
kernel_timer:
soft_irq_bottom_half: number=3
soft_irq_soft_irq: number=TASKLET
soft_irq_tasklet_action: function=0xc0201000
soft_irq_tasklet_hi_action: function=0xc0202000
process_kthread: pid=77 function=0xc0300000
process_fork: pid=1003 data2=0x0
process_exit: data1=0 data2=0x0
process_wait: pid=1003 data2=0x0
process_signal: signal=9 pid=1003
process_wakeup: pid=1002 state=2
file_system_buf_wait_start: data1=0 data2=0
file_system_buf_wait_end: data1=0 data2=0
file_system_exec: data1=0 name_len=5 name=mount
file_system_open: fd=3 name_len=6 name=passwd
file_system_close: fd=3 data2=0
file_system_read: fd=3 count=4096
file_system_write: fd=1 count=12
file_system_seek: fd=3 offset=100
file_system_ioctl: fd=0 cmd=0x5401
file_system_select: fd=4 timeout=1000
file_system_poll: fd=5 timeout=0
timer_expired: sdata=0 data1=0 data2=0
timer_setitimer: which=1 interval=10 value=20
timer_settimeout: sdata=0 timeout=30 data2=0
memory_page_alloc: order=0
memory_page_free: order=1
memory_swap_in: address=0x40001000
memory_swap_out: page=0xc1000000
memory_page_wait_start: data=0x0
memory_page_wait_end: data=0x0
socket_call: call=CONNECT arg0=0x4
socket_create: fd=5 type=1
socket_send: type=2 size=512
socket_receive: type=1 size=1024
ipc_call: call=MSGSND arg0=0x8
ipc_msg_create: id=32769 flags=0x1ff
ipc_sem_create: id=65538 flags=0x180
ipc_shm_create: id=98307 flags=0x3ff
network_packet_in: protocol=0x0008
network_packet_out: protocol=0xdd86
new_event: id=23 type=nothing desc=what nothing means format_type=0 form=<form>
nothing: id=23 data_size=2 data=01 02
new_event: id=24 type=words desc=what words means format_type=1 form=<form>
words: id=24 data_size=10 text=hello LTT
new_event: id=25 type=bytes desc=what bytes means format_type=2 form=<form>
bytes: id=25 data_size=4 data=de ad be ef
new_event: id=26 type=xml desc=what xml means format_type=3 form=<form>
xml: id=26 data_size=4 data=3c 61 2f 3e
new_event: id=27 type=ibm desc=what ibm means format_type=4 form=<form>
ibm: id=27 data_size=1 data=ff
change_mask: mask=0x7fffff
heartbeat:
buffer_end: sec=1000 usec=60 tsc=0'''


def expected():
    """The same as lines() gives: one microsecond from one to the next."""
    found, pid = ['-1 000 1000.000001: buffer_start: sec=1000 usec=1 tsc=0 id=0'], -1
    for i, text in enumerate(EXPECT.splitlines()):
        us = max(1, min(i, 60))
        found.append(f'{pid} 000 1000.{us:06}: {text}')
        if text.startswith('schedchange'):
            pid = 1002
    return found


for order in ('le', 'be'):
    for flavour in ('64', '32'):
        name = order + flavour
        path = save(f'{name}/x.0.ltt', golden(name))
        want = expected()
        want[1] %= (7, 5) if flavour == '64' else (1, 0)
        got, rc, err = lines(path)
        ok(rc == 0 and got == want, f'{name}: every event is read', err,
           [(g, w) for g, w in zip(got, want) if g != w][:5], len(got), len(want))
        rc, out, err = run(TACHO, 'check', path)
        ok(rc == 0 and ' good; 63 events' in out, f'{name}: nothing is wrong with it', out, err)
        rc, out, err = run(TACHO, 'stat', '--json', path)
        ok(rc == 0 and json.loads(out)['events'] == 63, f'{name}: counted', out[:300], err)

# ---- which layout it is ------------------------------------------------------------------

LAYOUTS = {'64': ltt.WIDE, '32': ltt.PACKED, 'text': ltt.PRINTED}


for order in '<>':
    for layout, codes in LAYOUTS.items():
        for pad in (True, False):
            f = ltt.File(order, codes=codes, pad=pad, size=8192, arch=7 if layout == '64' else 1)
            ltt.every_event(f)
            path = save('layout.0.ltt', f.done())
            name = f'layout {layout}, {order}, {"padded" if pad else "as they are"}'
            want = expected()
            want[1] %= (7, 5) if layout == '64' else (1, 0)
            got, rc, err = lines(path)
            ok(rc == 0 and got == want, name, err,
               [(g, w) for g, w in zip(got, want) if g != w][:5], len(got), len(want))
            rc, out, err = run(TACHO, 'check', path)
            ok(rc == 0 and ' good; 63 events' in out, f'{name}: nothing is wrong with it', out, err)

# S/390 had 31 and 64 bits under one number, and traps that are as long in both
for order in '<>':
    for layout, trap in (('64', 'QQ'), ('32', 'QI'), ('text', 'QI')):
        f = ltt.File(order, codes={**LAYOUTS[layout], ltt.TRAP_ENTRY: trap}, arch=4)
        for i in range(3):
            f.add(ltt.TRAP_ENTRY, 0, 4 + i, 0x12345678)
            f.add(ltt.TRAP_EXIT, 0)
        got, rc, err = lines(save('traps.0.ltt', f.done()), '-e', 'trap_entry')
        ok(rc == 0 and [g.split(': ', 1)[1] for g in got] ==
           [f'trap_entry: trap_id={4 + i} address=0x12345678' for i in range(3)],
           f'traps of S/390 of {layout}, {order}', got, err)

# the other CPUs tell: this one's events are laid out alike in all
for layout in LAYOUTS:
    for cpu in (0, 1):
        f = ltt.File('>', codes=LAYOUTS[layout], cpu=cpu, arch=4)
        if cpu:
            ltt.every_event(f)
        else:
            f.add(ltt.PROCESS, 2, 77, 0)
        save(f'cpus{layout}/x.{cpu}.ltt', f.done())
    d = os.path.join(work, f'cpus{layout}')
    got, rc, err = lines(d, '-e', 'process_signal')
    ok(rc == 0 and len(got) == 1 and 'signal=9 pid=1003' in got[0],
       f'layout {layout}, told by another CPU', got, err)

# one that nobody can know: a word in what is a hole, or the upper half of a value
f = ltt.File('>', codes=ltt.PRINTED, arch=4)
f.add(ltt.PROCESS, 2, 77, 5 << 32)
data = bytearray(f.done())
data[32 + 25:32 + 48] = bytes(23)
path = save('both.0.ltt', bytes(data))
for verb in (('report', '--no-pager'), ('check',), ('stat',), ('convert', '-o', work + '/no')):
    rc, out, err = run(TACHO, verb[0], path, *verb[1:])
    ok(rc == 1 and not out and '--layout 64 or --layout text' in err and len(err.splitlines()) == 1,
       f'two layouts fit: {verb[0]}', rc, out, err)
for layout, value in (('64', '0x0'), ('text', '0x500000000')):
    got, rc, err = lines(path, '-e', 'process_fork', '--layout', layout)
    ok(rc == 0 and len(got) == 1 and got[0].endswith(f'pid=77 data2={value}'),
       f'two layouts fit: --layout {layout}', got, err)
    rc, out, err = run(TACHO, 'check', '--layout', layout, path)
    ok(rc == 0 and 'good' in out, f'two layouts fit: check --layout {layout}', out, err)
rc, out, err = run(TACHO, 'report', '--layout', '31', path)
ok(rc == 2 and "'31' is not one of 64, 32, text" in err, '--layout of another name', err)

# likelier, but not sure
f = ltt.File('<', codes=ltt.PRINTED, arch=4)
f.add(ltt.PROCESS, 2, 77, 5)
data = bytearray(f.done())
data[32 + 25:32 + 48] = bytes(23)
rc, out, err = run(TACHO, 'check', save('odd.0.ltt', bytes(data)))
ok(rc == 0 and "fit LTT's layout '64', too; 'text' gives" in out, 'a likelier layout is told', out, err)

# a record that fits not, and a file of which none does
f = ltt.File(codes=ltt.WIDE)
ltt.every_event(f)
f.codes = ltt.PRINTED
f.add(ltt.PROCESS, 2, 1, 2, tail=bytes(16))
rc, out, err = run(TACHO, 'check', save('long.0.ltt', f.done()))
ok(rc == 1 and 'too long for process_fork; shown raw' in out, 'a record that is too long', out, err)
f = ltt.File(codes={k: 'Q' + v for k, v in ltt.WIDE.items()})
f.codes = {**f.codes, ltt.START: ltt.WIDE[ltt.START], ltt.BUFFER_START: 'IIII', ltt.BUFFER_END: 'III'}
for i in range(20):
    f.add(ltt.SYSCALL_ENTRY, 0, 1, 2, 3)
rc, out, err = run(TACHO, 'report', '--no-pager', save('none.0.ltt', f.done()))
ok(rc == 1 and not out and 'that no known layout' in err and len(err.splitlines()) == 1,
   'records that no layout has', out, err)

# more data than a record of tacho's holds
f = ltt.File(size=131072)
f.add(ltt.NEW_EVENT, 0, 23, b'large', b'', 2, b'')
f.add(ltt.CUSTOM, 0, 23, 65400, tail=b'x' * 65400)
rc, out, err = run(TACHO, 'check', save('large.0.ltt', f.done()))
ok(rc == 0 and 'remark: 1 events are larger than a record' in out, 'data that is cut is told', out, err)

# ---- what every verb makes of it -------------------------------------------------------

d = os.path.join(work, 'le64')
rc, out, err = run(TACHO, 'report', '--no-pager', d, '--filter', 'pid == 1003')
ok(rc == 0 and [line.split(': ')[1] for line in out.splitlines()] ==
   ['process_fork', 'process_wait', 'process_signal'], 'a filter on a directory', out, err)
rc, out, err = run(TACHO, 'hist', d, '-e', 'ltt:file_system_read', 'keys=fd:vals=count')
ok(rc == 0 and re.search(r'{ fd: +3 } hitcount: +1 +count: +4096', out), 'a histogram', out, err)
rc, out, err = run(TACHO, 'convert', d, '-o', os.path.join(work, 'le64.ctf'))
got, _, _ = lines(os.path.join(work, 'le64.ctf'))
ok(rc == 0 and got == lines(d)[0], 'converted to CTF and read again', err, got[:3])
if shutil.which('babeltrace2'):
    rc, out, err = run('babeltrace2', os.path.join(work, 'le64.ctf'))
    ok(rc == 0 and len(out.splitlines()) == 63, 'babeltrace2 reads that', err, out[-300:])

# ---- time ------------------------------------------------------------------------------

f = ltt.File(size=512, sec=2**32 // 10**6, usec=0)	# the 32 bits go round soon
for i in range(100):
    f.add(ltt.KERNEL_TIMER, 0, after=20011)
path = save('wrap.ltt', f.done())
got, rc, err = events(path, '-e', 'kernel_timer')
first = 2**32 // 10**6 * 10**9
ok(rc == 0 and [e['time'] for e in got] == [first + (i + 1) * 20011000 for i in range(100)],
   'microseconds go round in the middle', err, got[:2])

f = ltt.File(size=512)
f.add(ltt.KERNEL_TIMER, 0)
for _ in range(3):
    f.add(ltt.HEARTBEAT, 0, after=2**32 - 1)
f.add(ltt.KERNEL_TIMER, 0, after=5)
path = save('beat.ltt', f.done())
got, rc, err = events(path, '-e', 'kernel_timer')
ok(rc == 0 and len(got) == 2 and got[1]['time'] - got[0]['time'] == (3 * (2**32 - 1) + 5) * 1000,
   'heartbeats carry the time over hours', err, got)


class Cycles(ltt.File):
    """A counter of 2.5 cycles a nanosecond, off by 7 x 10^9."""

    def add(self, event, sub, *values, tail=b'', after=1):
        self.cycles = (self.now + after) * 2500 + 7 * 10**9
        super().add(event, sub, *values, tail=tail, after=after)


for order in '<>':
    f = Cycles(order, size=1024, tsc=1)
    times = []
    for i in range(200):
        f.add(ltt.IRQ_EXIT, 0, after=900000 + i)
        times.append(f.now * 1000)
    path = save('tsc.ltt', f.done())
    got, rc, err = events(path, '-e', 'irq_exit')
    far = max((abs(e['time'] - t) for e, t in zip(got, times)), default=-1)
    ok(rc == 0 and len(got) == 200 and 0 <= far <= 1000,
       f"cycles by each buffer's rate, {'little' if order == '<' else 'big'}-endian", err, far)
    ok(run(TACHO, 'check', path)[0] == 0, 'and no time is out of its buffer')

# ---- details, flight recorder, custom events ---------------------------------------------

f = ltt.File(details=~(1 << ltt.SCHEDCHANGE) & (1 << 64) - 1)
f.add(ltt.IRQ_ENTRY, 0, 3, 0)
f.bare(ltt.SCHEDCHANGE)
f.bare(ltt.PROCESS, 2)
f.add(ltt.SCHEDCHANGE, 0, 1, 2, 0)
got, rc, err = lines(save('bare.ltt', f.done()))
ok(rc == 0 and [g.split(': ', 1)[1] for g in got[2:-1]] ==
   ['irq_entry: irq_id=3 kernel=0', 'schedchange_bare:', 'process_fork_bare:',
    'schedchange: out=1 in=2 out_state=0'], 'events without details', got, err)

f = ltt.File(flight=1, size=512)
f.begin()
f.end(zero=True)	# the invented first buffer of a snapshot
for i in range(60):
    f.add(ltt.KERNEL_TIMER, 0)
f.end(zero=True)
path = save('flight.ltt', f.data)
got, rc, err = events(path, '-e', 'kernel_timer')
ok(rc == 0 and len(got) == 60 and got[-1]['time'] == 1000000060000,
   'a snapshot of a flight recorder', err, got[-1:])
rc, out, err = run(TACHO, 'check', path)
ok(rc == 0, 'its ends without a time are no damage', out)

f = ltt.File()
f.add(99, 5, tail=b'1234')
f.add(ltt.PROCESS, 7, 1, 2)
f.add(ltt.CUSTOM, 0, 77, 3, tail=b'abc')
path = save('unknown.ltt', f.done())
got, rc, err = lines(path)
ok(rc == 0 and [g.split(': ', 1)[1] for g in got[2:-1]] ==
   ['raw: event_id=99 event_sub_id=5 data=31 32 33 34 00 00 00 00',
    'raw: event_id=10 event_sub_id=7 data=01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00',
    'custom: id=77 data_size=3 data=61 62 63'], 'unknown events are kept', got, err)
rc, out, err = run(TACHO, 'check', path)
ok(rc == 1 and 'byte 120' in out and
   'a custom event of the id 77, which no NEW_EVENT declared; shown raw' in out,
   'an unknown custom id is told with its place', out)

f = ltt.File(wide=False, pad=False)
ltt.every_event(f)
got, rc, err = lines(save('odd.ltt', f.done()))
want = expected()
ok(rc == 0 and got[2:] == want[2:], 'records that were not padded', err, got[:5])

# ---- per CPU -----------------------------------------------------------------------------

for cpu in range(3):
    f = ltt.File(cpu=cpu)
    for i in range(5):
        f.add(ltt.SCHEDCHANGE, 0, 0, 10 + cpu, 0, after=10 + cpu)
    save(f'cpus.ltt/run.{cpu}.ltt', f.done())
save('cpus.ltt/run.proc', b'PID: 11; PPID: 1; NAME: eleven\nIRQ: 14; NAME: ide0\n')
path = os.path.join(work, 'cpus.ltt')
got, rc, err = events(path, '-e', 'schedchange')
times = [e['time'] for e in got]
ok(rc == 0 and len(got) == 15 and times == sorted(times) and
   {e['cpu'] for e in got} == {0, 1, 2}, 'one file per CPU, merged by time', err, got[:2])
ok(any(e.get('comm') == 'eleven' for e in got), 'names of processes from the .proc file', got[-2:])
rc, out, err = run(TACHO, 'stat', '--json', os.path.join(path, 'run.1.ltt'))
ok(rc == 0 and json.loads(out)['events'] == 8, 'one of them alone', out[:200], err)

save('mixed.ltt/a.0.ltt', read(os.path.join(path, 'run.0.ltt')))
save('mixed.ltt/a.1.ltt', b'')
save('mixed.ltt/a.2.ltt', b'no trace at all, but long enough to look like one' * 10)
mixed = os.path.join(work, 'mixed.ltt')
got, rc, err = events(mixed, '-e', 'schedchange')
rc2, out, _ = run(TACHO, 'check', mixed)
ok(rc == 0 and len(got) == 5 and rc2 == 1 and "a.1.ltt' is not an LTT trace" in out and
   '2 places hold no records' in out, 'files that are none: the others are read', err, out)
os.unlink(os.path.join(mixed, 'a.0.ltt'))
rc, out, err = run(TACHO, 'report', '--no-pager', mixed)
ok(rc == 1 and len(err.splitlines()) == 1, 'no file that is one', rc, err)

# ---- version 2.2 -------------------------------------------------------------------------

for order in '<>':
    for word, codes, arch in (('opersys', ltt.OPERSYS, 1), ('MontaVista, 32', ltt.MV32, 2),
                              ('MontaVista, 64', ltt.MV64, 8)):
        for cpus in (0, 1):
            f = ltt.File22(order, codes, arch=arch, cpus=cpus, size=2048,
                           details=~(1 << ltt.TIMER) & (1 << 64) - 1)
            f.add(ltt.SYSCALL_ENTRY, 5, 0x8048abc, cpu=0)
            f.add(ltt.TRAP_ENTRY, 14, 0xc0123456, cpu=1)
            f.add(ltt.IRQ_ENTRY, 11, 1, cpu=1)
            f.add(ltt.SCHEDCHANGE, 1001, 1002, 1, cpu=1)
            f.add(ltt.TIMER)
            f.add(ltt.PROCESS, 6, 1002, 2, cpu=1)
            f.add(ltt.FILE_SYSTEM, 4, 3, 6, 0xc0de, tail=b'passwd\0')
            f.add(ltt.NEW_EVENT, 23, b'words', b'd', 1, b'')
            f.add(ltt.CUSTOM, 23, 3, 0xc0de, tail=b'hi\0')
            f.add(ltt.IPC, 1, 11, 8)
            f.add(ltt.CHANGE_MASK, 0x7fffff if order == '<' else 0xffff7f0000000000)
            for i in range(100):
                f.add(ltt.KERNEL_TIMER, after=10)
            path = save('v22.ltt', f.done())
            got, rc, err = lines(path, '-e', 'ltt:*', '-e', 'ltt_custom:*')
            want = ['syscall_entry: syscall_id=5 address=0x8048abc',
                    'trap_entry: trap_id=14 address=0xc0123456',
                    'irq_entry: irq_id=11 kernel=1', 'schedchange: out=1001 in=1002 out_state=1',
                    'raw: event_id=12 event_sub_id=0 data=',
                    'process_wakeup: pid=1002 state=2',
                    'file_system_open: fd=3 name_len=6 name=passwd',
                    'new_event: id=23 type=words desc=d format_type=1 form=',
                    'words: id=23 data_size=3 text=hi', 'ipc_call: call=MSGSND arg0=0x8',
                    'change_mask: mask=0x7fffff'] + ['kernel_timer:'] * 100
            texts = ['start'] + [g.split(': ', 1)[1] for g in got
                                 if ' buffer_' not in g and ': start:' not in g]
            rc2, out, _ = run(TACHO, 'check', path)
            ok(rc == 0 and texts[1:] == want and rc2 == 0,
               f"2.2 of {word}, {'le' if order == '<' else 'be'}, "
               f"{'with' if cpus else 'without'} CPUs", err, out,
               [(g, w) for g, w in zip(texts[1:], want) if g != w][:3], len(texts))
            times = [g.split()[2] for g in got if 'kernel_timer' in g]
            ok(times == [f'1000.{11 + 10 * (i + 1):06}:' for i in range(100)],
               'its times count from each buffer', times[:3], times[-2:])
            cpu = [g.split()[1] for g in got if 'schedchange' in g]
            ok(cpu == (['001'] if cpus else ['4294967295']) or not cpus, 'its CPUs', cpu)

for cpu in range(2):
    f = ltt.File22()
    for i in range(4):
        f.add(ltt.SCHEDCHANGE, 0, 20 + cpu, 0, after=7 + cpu)
    save(f'v22.dir/trace{cpu:03}.trace', f.done())
got, rc, err = events(os.path.join(work, 'v22.dir'), '-e', 'schedchange')
ok(rc == 0 and len(got) == 8 and {e['cpu'] for e in got} == {0, 1},
   '2.2: a directory, as its daemon left it', err, got[:2])

# ---- what is damaged ---------------------------------------------------------------------


def broken(name, data, events_left, *words):
    """check tells of each; a report still shows the rest."""
    path = save('broken.ltt', data)
    rc, out, err = run(TACHO, 'check', path)
    good = rc == 1 and all(w in out for w in words)
    got, rc, err = lines(path, '-e', 'kernel_timer')
    return ok(good and rc == 0 and len(got) == events_left, name, out, err, len(got))


def three_buffers(order='<'):
    f = ltt.File(order, size=512, usec=10)
    while len(f.data) < 3 * 512:
        f.add(ltt.KERNEL_TIMER, 0)
    return bytearray(f.data[:3 * 512])


whole = three_buffers()
n = [0, 0, 0]
for b in range(3):
    lost = int.from_bytes(whole[b * 512 + 508:b * 512 + 512], 'little')
    n[b] = (512 - lost - (80 if b == 0 else 24)) // 8
total = sum(n)


def changed(at, new):
    data = bytearray(whole)
    data[at:at + len(new)] = new
    return bytes(data)


broken('a record of size 0', changed(512 + 24 + 80 + 6, b'\0\0'), n[0] + 10 + n[2],
       'byte 616', 'a record of 0 bytes is shorter than its header')
broken('a record that goes beyond its buffer', changed(512 + 24 + 80 + 6, b'\0\x80'),
       n[0] + 10 + n[2], 'byte 616', 'a record of 32768 bytes goes beyond its buffer')
broken('a lost size larger than the buffer', changed(1020, b'\x01\x02\0\0'), total,
       'byte 1020', 'a lost size of 513 bytes is larger than the buffer of 512')
broken('a lost size of nothing', changed(1020, bytes(4)), total,
       'byte 1020', 'a lost size of 0 bytes cannot be in a buffer of 512')
broken('a lost size that points nowhere', changed(1020, b'\x80\0\0\0'), total,
       'byte 896', 'no BUFFER_END where the lost size says')
broken('a buffer without its beginning', changed(516, b'\x08'), total,
       'byte 512', 'a buffer does not begin with BUFFER_START')
broken('time goes back', changed(512 + 24 + 80, (10**9 + 1).to_bytes(4, 'little')), total,
       'byte 616', 'time goes back by')
broken('a time behind all others', changed(512 + 24 + 80, (10**9 + 2**31).to_bytes(4, 'little')),
       total, 'byte 616', 'the time is after the end of its buffer')
broken('a record too short for its event', changed(512 + 24 + 80 + 4, b'\x07\0\x10'),
       total - 2, 'byte 616', 'a record of 16 bytes is too short for schedchange; shown raw')
broken('a file that ends inside a buffer', bytes(whole[:512 + 24 + 84]), n[0] + 10,
       'the file ends inside its last buffer')
broken('the same at the end of a record', bytes(whole[:512 + 24 + 80]), n[0] + 10,
       'the file ends inside its last buffer')


def refused(name, data, *words):
    path = save('refused.ltt', data)
    rc, out, err = run(TACHO, 'report', '--no-pager', path)
    ok(rc == 1 and not out and all(w in err for w in words) and len(err.splitlines()) == 1, name,
       rc, out, err)


refused('a file that ends in START', bytes(whole[:50]), 'it ends inside its START record')
refused('another version', changed(52, b'\x02\x07'), "LTT's version 2.7", 'byte 32')
refused('buffers of no bytes', changed(48, bytes(4)), 'buffers of 0 bytes')
refused('huge buffers', changed(48, b'\xff\xff\xff\xff'), 'buffers of 4294967295 bytes')
for order in '<>':
    data = three_buffers(order)
    ok(len(lines(save('x.ltt', data), '-e', 'kernel_timer')[0]) == total,
       'and whole it is whole')

f = ltt.File22(size=1024)
while len(f.data) < 2048:
    f.add(ltt.KERNEL_TIMER)
v22 = bytearray(f.data[:2048])
whole_n = len(lines(save('x.ltt', v22), '-e', 'kernel_timer')[0])
v22[1022:1024] = b'\xff\x7f'
got, rc, err = lines(save('x.ltt', v22), '-e', 'kernel_timer')
rc2, out, _ = run(TACHO, 'check', os.path.join(work, 'x.ltt'))
ok(len(got) == whole_n and rc2 == 1 and 'is larger than the buffer' in out,
   '2.2: a bad lost size: records are found from the beginning', len(got), whole_n, out)

# ---- written -----------------------------------------------------------------------------


def convert(path, out, *args):
    out = os.path.join(work, out)
    shutil.rmtree(out, ignore_errors=True)
    rc, _, err = run(TACHO, 'convert', path, '-o', out, *args)
    return out, rc, err


def jsons(path):
    rc, out, err = run(TACHO, 'convert', '-q', path, '--to', 'json', '-o', '-')
    return sorted(out.splitlines()) if not rc else err


for order, flavour, to in (('le', '64', 'ltt'), ('le', '32', 'ltt32'), ('be', '64', 'lttswap'),
                           ('be', '32', 'ltt32swap')):
    if sys.byteorder == 'big':
        to = to[:-4] if to.endswith('swap') else to + 'swap'
    path = os.path.join(work, order + flavour)
    out, rc, err = convert(path, 'out.ltt', '--to', to)
    ok(rc == 0 and read(out + '/out.0.ltt') == golden(order + flavour),
       f'{order}{flavour}: written byte for byte as it was', err)
    ctf, rc, err = convert(path, 'out.ctf')
    out, rc2, err2 = convert(ctf, 'out.ltt', '--to', to)
    ok(rc + rc2 == 0 and read(out + '/out.0.ltt') == golden(order + flavour),
       f'{order}{flavour}: the same by way of CTF', err, err2)
    out, rc, err = convert(os.path.join(work, 'le64'), 'other.ltt', '--to', to)
    texts = [e.split(': ', 1)[1] for e in lines(out)[0][2:]]
    ok(rc == 0 and texts == [e.split(': ', 1)[1] for e in expected()[2:]],
       f'le64 as {order}{flavour}: the same events', err, texts[:3])

path = save('wrap/w.0.ltt', read(os.path.join(work, 'wrap.ltt')))
out, rc, err = convert(os.path.dirname(path), 'w.ltt')
ok(rc == 0 and read(out + '/w.0.ltt') == read(path), 'many small buffers, microseconds', err)
path = save('flight/w.0.ltt', read(os.path.join(work, 'flight.ltt')))
out, rc, err = convert(os.path.dirname(path), 'w.ltt')
ok(rc == 0 and read(out + '/w.0.ltt') == read(path), 'a snapshot of a flight recorder', err)

# a program's trace: all of it is carried, and comes back
native = os.path.join(work, 'native')
rc, out, err = run(os.environ['GEN_TRACE'], '20000', native)
for to in ('ltt', 'ltt32', 'lttswap', 'lttfull'):
    out, rc, err = convert(native, 'n.ltt', '--to', to)
    ok(rc == 0 and jsons(out) == jsons(native) and len(jsons(native)) == 20000,
       f'a trace of a program as {to} and back: every event is the same', err)
    rc, text, err = run(TACHO, 'check', out)
    ok(rc == 0, f'{to}: nothing is wrong with it', text)

# ---- the kernel's events -----------------------------------------------------------------

import datfile  # noqa: E402

COMMON = """format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""


def fmt(name, number, fields):
    text, at = f'name: {name}\nID: {number}\n' + COMMON, 8
    for decl, size in fields:
        at += -at % min(size, 8)
        signed = 0 if decl.startswith(('unsigned', 'u', '__', 'void', 'char')) else 1
        text += f'\tfield:{decl};\toffset:{at};\tsize:{size};\tsigned:{signed};\n'
        at += size
    return (text + '\nprint fmt: ""\n').encode()


# system, event, fields, values (P: with the name at their end), pid, LTT's id, sub id, struct
L = 'unsigned long '
CASES = [
    ('raw_syscalls', 'sys_enter', [('long id', 8), (L + 'args[6]', 48)],
     ('q6Q', 5, 1, 2, 3, 4, 5, 6), 7, (1, 0, (5, 0))),
    ('raw_syscalls', 'sys_exit', [('long id', 8), ('long ret', 8)], ('qq', 5, 0), 7, (2, 0, ())),
    ('exceptions', 'page_fault_user', [(L + 'address', 8), (L + 'ip', 8), (L + 'error_code', 8)],
     ('QQQ', 0x7000, 0x401000, 4), 7, (3, 0, (14, 0x401000))),
    ('irq', 'irq_handler_entry', [('int irq', 4), ('__data_loc char[] name', 4)],
     ('iI4s4x', 14, 16 | 4 << 16, b'ide'), 0, (5, 0, (14, 1))),
    ('irq', 'irq_handler_exit', [('int irq', 4), ('int ret', 4)], ('ii', 14, 1), 7, (6, 0, ())),
    ('sched', 'sched_switch', [('char prev_comm[16]', 16), ('pid_t prev_pid', 4),
                               ('int prev_prio', 4), ('long prev_state', 8),
                               ('char next_comm[16]', 16), ('pid_t next_pid', 4),
                               ('int next_prio', 4)],
     ('16siiq16sii', b'a', 7, 120, 1, b'b', 8, 120), 7, (7, 0, (7, 8, 1))),
    ('irq_vectors', 'local_timer_entry', [('int vector', 4)], ('i4x', 236), 8, (8, 0, ())),
    # nobody has told which soft IRQ runs
    ('irq', 'tasklet_entry', [('void * tasklet', 8), ('void * func', 8)],
     ('QQ', 1, 0x98), 8, (9, 3, (0x98,))),
    ('irq', 'softirq_entry', [('unsigned int vec', 4)], ('I4x', 3), 8, (9, 2, (3,))),
    ('irq', 'tasklet_entry', [],
     ('QQ', 1, 0xffffffff81000000), 8, (9, 3, (0xffffffff81000000,))),
    ('irq', 'softirq_entry', [], ('I4x', 0), 8, (9, 2, (0,))),
    ('irq', 'tasklet_entry', [], ('QQ', 1, 0x99), 8, (9, 4, (0x99,))),
    ('sched', 'sched_process_fork', [('pid_t parent_pid', 4), ('pid_t child_pid', 4)],
     ('ii', 7, 9), 7, (10, 2, (9, 0))),
    ('sched', 'sched_process_fork', [], ('ii', 2, 10), 2, (10, 1, (10, 0))),
    ('sched', 'sched_process_exit', [('pid_t pid', 4)], ('i4x', 9), 9, (10, 3, (0, 0))),
    ('sched', 'sched_process_wait', [('pid_t pid', 4)], ('i4x', 9), 7, (10, 4, (9, 0))),
    ('signal', 'signal_generate', [('int sig', 4), ('pid_t pid', 4)], ('ii', 9, 8), 7,
     (10, 5, (9, 8))),
    ('sched', 'sched_wakeup', [('pid_t pid', 4)], ('i4x', 8), 7, (10, 6, (8, 0))),
    ('sched', 'sched_process_exec', [('__data_loc char[] filename', 4), ('pid_t pid', 4)],
     ('Ii9s7x', 16 | 9 << 16, 7, b'/bin/true'), 7, (11, 3, (0, 4), b'true')),
    ('syscalls', 'sys_exit_openat', [('long ret', 8)], ('q', 3), 7, (11, 4, (3, 0))),
    ('syscalls', 'sys_enter_close', [(L + 'fd', 8)], ('Q', 3), 7, (11, 5, (3, 0))),
    ('syscalls', 'sys_enter_read', [(L + 'fd', 8), (L + 'count', 8)], ('QQ', 3, 4096), 7,
     (11, 6, (3, 4096))),
    ('syscalls', 'sys_enter_write', [(L + 'fd', 8), (L + 'count', 8)], ('QQ', 1, 5), 7,
     (11, 7, (1, 5))),
    ('syscalls', 'sys_enter_lseek', [(L + 'fd', 8), (L + 'offset', 8)], ('QQ', 3, 77), 7,
     (11, 8, (3, 77))),
    ('syscalls', 'sys_enter_ioctl', [(L + 'fd', 8), (L + 'cmd', 8)], ('QQ', 0, 0x5401), 7,
     (11, 9, (0, 0x5401))),
    ('syscalls', 'sys_enter_select', [(L + 'n', 8)], ('Q', 5), 7, (11, 10, (5, 0))),
    ('syscalls', 'sys_enter_poll', [(L + 'nfds', 8), ('int timeout_msecs', 8)], ('Qq', 2, -1), 7,
     (11, 11, (2, 0xffffffff))),
    ('timer', 'timer_expire_entry', [('void * timer', 8)], ('Q', 1), 7, (12, 1, (0, 0, 0))),
    ('timer', 'itimer_state', [('int which', 4), ('long value_sec', 8), ('long value_nsec', 8),
                               ('long interval_sec', 8), ('long interval_nsec', 8)],
     ('i4xqqqq', 0, 1, 500000000, 0, 20000000), 7, (12, 2, (0, 2, 150))),
    ('timer', 'timer_start', [('void * function', 8), (L + 'expires', 8), (L + 'now', 8)],
     ('QQQ', 0xffffffff81000010, 1250, 1000), 7, (12, 3, (0, 250, 0))),
    ('kmem', 'mm_page_alloc', [('unsigned int order', 4)], ('I4x', 3), 7, (13, 1, (3,))),
    ('kmem', 'mm_page_free', [('unsigned int order', 4)], ('I4x', 2), 7, (13, 2, (2,))),
    ('vmscan', 'mm_vmscan_write_folio', [(L + 'pfn', 8)], ('Q', 0x1234), 7, (13, 4, (0x1234,))),
    ('writeback', 'folio_wait_writeback', [(L + 'index', 8)], ('Q', 1), 7, (13, 5, (0,))),
    ('syscalls', 'sys_enter_socket', [(L + 'family', 8), (L + 'type', 8)], ('QQ', 2, 1), 7,
     (14, 1, (1, 2))),
    ('syscalls', 'sys_exit_socket', [('long ret', 8)], ('q', 4), 7, (14, 2, (4, 1))),
    ('syscalls', 'sys_enter_connect', [(L + 'fd', 8)], ('Q', 4), 7, (14, 1, (3, 4))),
    ('sock', 'sock_send_length', [('u16 protocol', 2), ('int ret', 4)], ('HxxI', 6, 512), 7,
     (14, 3, (1, 512))),
    ('sock', 'sock_recv_length', [('u16 protocol', 2), ('int ret', 4)], ('HxxI', 17, 64), 7,
     (14, 4, (2, 64))),
    ('syscalls', 'sys_enter_msgget', [(L + 'key', 8), (L + 'msgflg', 8)], ('QQ', 5, 0o1600), 7,
     (15, 1, (13, 5))),
    ('syscalls', 'sys_exit_msgget', [('long ret', 8)], ('q', 11), 7, (15, 2, (11, 0o1600))),
    ('syscalls', 'sys_enter_semop', [(L + 'semid', 8)], ('Q', 3), 7, (15, 1, (1, 3))),
    ('net', 'netif_receive_skb_entry', [('u16 protocol', 2)], ('H6x', 0x0800), 7,
     (16, 1, (0x0008,))),
    ('net', 'net_dev_start_xmit', [('u16 protocol', 2)], ('H6x', 0x86dd), 7, (16, 2, (0xdd86,))),
    # what does not fit is carried
    ('raw_syscalls', 'sys_enter', [], ('q6Q', 256, 1, 2, 3, 4, 5, 6), 7, None),
    ('syscalls', 'sys_exit_openat', [], ('q', -2), 7, None),
    ('timer', 'timer_start', [], ('QQQ', 0xffffffff81000020, 1250, 1000), 7, None),
    ('syscalls', 'sys_enter_read', [], ('QQ', 3, 1 << 32), 7, None),
    ('syscalls', 'sys_exit_socket', [], ('q', 4), 99, None),
    ('sched', 'sched_waking', [('pid_t pid', 4)], ('i4x', 8), 7, None),
]


def kernel_trace(path):
    m = datfile.Machine()
    f = datfile.File(m)
    ids, recorded = {}, []
    f.kallsyms = b'ffffffff81000000 t tasklet_fn\nffffffff81000010 t process_timeout\n' \
        b'ffffffff81000020 t other_fn\n'
    for i, (system, name, fields, values, pid, _) in enumerate(CASES):
        if fields:
            ids[name] = 300 + i
            f.systems.setdefault(system, []).append(fmt(name, 300 + i, fields))
        raw = m.pack('HBBi', ids[name], 0, 0, pid) + m.pack(*values)
        recorded.append((10**12 + 1000 * i, raw))
    f.buffers.setdefault('', {})[0] = m.pages(recorded)
    with open(path, 'wb') as out:
        out.write(f.v6())


dat = os.path.join(work, 'kernel.dat')
kernel_trace(dat)
for to, order, wide in (('ltt', '<', True), ('lttswap', '>', True), ('lttfull', '<', True)):
    if sys.byteorder == 'big':
        order = '<>'.replace(order, '')
    out, rc, err = convert(dat, 'k.ltt', '--to', to)
    got = [r for r in ltt.decode(read(out + '/k.0.ltt'), order, wide)
           if r[1] not in (ltt.BUFFER_START, ltt.BUFFER_END, ltt.START, ltt.NEW_EVENT,
                           ltt.CUSTOM)]
    want = [c[5] for c in CASES if c[5]]
    wrong = [(g, w) for g, w in zip(got, want) if g[1:3] != w[:2] or g[3] != w[2] or
             (len(w) > 3 and g[4][:len(w[3])] != w[3])]
    ok(rc == 0 and len(got) == len(want) and not wrong,
       f"{to}: the kernel's events are LTT's, by the table", err, wrong, len(got), len(want))
    back, _, _ = lines(out)
    ok(len(back) == len(CASES) and (to != 'lttfull' or jsons(out) == jsons(dat)),
       f'{to}: read back' + (', all fields' if to == 'lttfull' else ''), back[:3], len(back))
out, rc, err = convert(dat, 'k.ltt')
rc, a, _ = run(TACHO, 'hist', dat, '-e', 'kmem:mm_page_alloc', 'keys=order')
rc2, b, _ = run(TACHO, 'hist', out, '-e', 'ltt:memory_page_alloc', 'keys=order')
ok(rc == rc2 == 0 and [x for x in a.splitlines() if x.startswith('{')] ==
   [x for x in b.splitlines() if x.startswith('{')] != [], 'the same answer to a histogram', a, b)
ok('have no room for all of their fields' in err and 'CUSTOM events, whole' in err,
   'what is not in it is said', err)

# what was lost is told again, at its place
m = datfile.Machine()
f = datfile.File(m)
f.systems = {'kmem': [fmt('mm_page_alloc', 301, [('unsigned int order', 4)])]}
f.buffers.setdefault('', {})[0] = m.pages(
    [(10**12 + 1000 * i, m.pack('HBBi', 301, 0, 0, 7) + m.pack('I4x', i)) for i in range(300)],
    lost=((100, 7), (200, 5)))
dat = save('lost.dat', f.v6())
for to in ('ltt', 'lttswap'):
    out, rc, err = convert(dat, 'lost.ltt', '--to', to)
    a, b = (run(TACHO, 'report', '--no-pager', p)[1].splitlines() for p in (dat, out))
    a, b = ([i for i, line in enumerate(t) if 'LOST' in line] for t in (a, b))
    s = json.loads(run(TACHO, 'stat', '--json', out)[1])
    ok(rc == 0 and len(a) == 2 and a == b and s['events'] == 300, f'{to}: losses at their places',
       err, a, b, s)

# so far apart that HEARTBEATs would be a gigabyte: another buffer begins
m = datfile.Machine()
f = datfile.File(m)
f.systems = {'kmem': [fmt('mm_page_alloc', 301, [('unsigned int order', 4)])]}
f.buffers.setdefault('', {})[0] = sum((m.pages([(t, m.pack('HBBi', 301, 0, 0, 7) + m.pack('I4x', i))])
                                       for i, t in enumerate((10**12, 10**12 + 20 * 10**9,
                                                              10**18 + 7, 10**18 + 8))), [])
dat = save('leap.dat', f.v6())
out, rc, err = convert(dat, 'leap.ltt')
got = [e['time'] for e in events(out)[0]]
ok(rc == 0 and got == [e['time'] for e in events(dat)[0]] and len(got) == 4 and
   os.path.getsize(out + '/leap.0.ltt') == 2 * 131072, 'a leap of 30 years is a new buffer', err, got)

# what cannot be written whole is not left behind, tables neither
f.kallsyms = b''.join(b'%016x t symbol_%d\n' % (0xffffffff81000000 + i, i) for i in range(9000))
dat = save('full.dat', f.v6())


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))


out = os.path.join(work, 'full.ltt')
rc, _, err = run(TACHO, 'convert', dat, '-o', out, preexec_fn=small_files)
ok(rc == 1 and 'kallsyms' in err and len(err.splitlines()) == 1 and not os.path.exists(out),
   'a table that has no room: a sentence, and nothing is left', rc, err,
   os.listdir(out) if os.path.exists(out) else '')

done()
