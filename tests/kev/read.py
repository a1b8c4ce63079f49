# SPDX-License-Identifier: MIT
"""QNX traces read by the tool: bytes that were written by hand, files that kevfile.py
makes, and all that can be wrong with them."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import golden  # noqa: E402
import kevfile  # noqa: E402
from kevfile import (CONTROL, CREATE, CREATE_NAME, EXIT, INTERRUPTED, KER_CALL, PR_TH,  # noqa: E402,F401
                     STATES, SYSTEM, THREAD_NAME, USER, CB, CC, CE, File)

TACHO = os.environ['TACHO']
BOOT = 1245837600 * 10 ** 9     # ATTRS' BOOT_DATE, taken for UTC
count = failed = 0
work = tempfile.mkdtemp(prefix='tacho-kev.')


def ok(good, name, *why):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        for w in why:
            print('#', str(w)[:2000].replace('\n', '\n# '))
    return good


def run(*cmd):
    p = subprocess.run([TACHO, *cmd], capture_output=True)
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


def save(data, name='x.kev'):
    path = os.path.join(work, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def read(path, *more):
    """Records as (system, event, fields, cpu, time, pid); None when it fails."""
    code, out, err = run('convert', '-q', path, '--to', 'json', '-o', '-', *more)
    if code:
        return None
    records = [json.loads(line) for line in out.splitlines()]
    return [(r['system'], r['event'], r['fields'], r['cpu'], r['time'], r['pid'])
            for r in records]


def names(records):
    return [f'{r[0]}:{r[1]}' for r in records or []]


def problems(path):
    """What check says: (byte, sentence)."""
    code, out, err = run('check', path)
    found = [(int(m.group(1)), m.group(2))
             for m in re.finditer(r": byte (\d+): '[^']*' is damaged: (.*)$", out, re.M)]
    return code, found, out + err


# ---- each class ----------------------------------------------------------------------

def classes():
    for release, text, turn, system, event, fields in golden.EVENTS:
        for order, data in (('little', golden.little(text)), ('big', golden.big(text, turn))):
            f = File(big=order == 'big', release=release)
            got = read(save(f.header() + data))
            ok(got and len(got) == 1 and got[0][:4] == (system, event, fields, 0),
               f'{release} {order}: {system}:{event}', got)


def bare():
    """Slots without a header; the second event makes the order sure."""
    for order in ('little', 'big'):
        f = File(big=order == 'big')
        f.time(0, 5 << 32)
        f.simple(0, PR_TH, STATES['running'], 7, 4711, 1)
        got = read(save(f.bare()))
        ok(got and names(got) == ['control:time', 'thread:running'] and
           got[1][2] == {'pid': 4711, 'tid': 1} and got[1][4] == (5 << 32) + 7,
           f'bare slots, {order}', got)


# ---- time -----------------------------------------------------------------------------

def times():
    f = File()
    high = 9
    f.simple(0, USER, 1, 0xfffffff0)                   # before the first TIME: 8
    f.time(0, (high << 32) + 5)
    f.simple(0, USER, 2, 0x10)
    f.simple(1, USER, 3, 0x20)                         # before its TIME, same round
    f.time(1, (high << 32) + 0x30)
    f.simple(0, USER, 4, 0xffffff00)
    f.time(0, ((high + 1) << 32) + 1)
    f.simple(0, USER, 5, 2)
    f.simple(1, USER, 6, 0xffffff01)                   # the other CPU is still in 9
    got = read(save(f.bytes()))
    want = {'event_1': (8 << 32) + 0xfffffff0, 'event_2': (9 << 32) + 0x10,
            'event_3': (9 << 32) + 0x20, 'event_4': (9 << 32) + 0xffffff00,
            'event_5': (10 << 32) + 2, 'event_6': (9 << 32) + 0xffffff01}
    have = {r[1]: r[4] - BOOT for r in got or [] if r[0] == 'user'}
    ok(have == want, 'times of 64 bits, CPU by CPU', have, want)
    ok([r[4] for r in got or []] == sorted(r[4] for r in got or []), 'in the order of time')
    code, found, text = problems(save(f.bytes()))
    ok(code == 0, 'nothing is wrong with that', text)
    # a CPU without a TIME event goes by another's, whether its events are before or behind
    high = 7 << 32
    f = File()
    f.simple(1, USER, 1, 0xfffffff0)
    f.time(0, high + 0x10)
    f.simple(1, USER, 2, 0x20)
    f.simple(2, USER, 3, 0x30)
    f.simple(3, USER, 4, 0xffffff00)
    got = read(save(f.bytes()))
    have = {r[1]: r[4] - BOOT for r in got or [] if r[0] == 'user'}
    ok(have == {'event_1': high - 0x10, 'event_2': high + 0x20, 'event_3': high + 0x30,
                'event_4': high - 0x100}, "a CPU without a time of its own has another's", have)
    # ... which comes later than anybody looks ahead
    f = File()
    for i in range(70000):
        f.simple(1, USER, 1, 0x10 + i)
    f.time(0, high + 70100)
    f.simple(1, USER, 2, 70200)
    f.simple(2, USER, 3, 70300)
    got = read(save(f.bytes()))
    have = {r[1]: r[4] - BOOT for r in got or [] if r[1] in ('event_2', 'event_3')}
    ok(have == {'event_2': high + 70200, 'event_3': high + 70300}, 'also when it comes late',
       have)
    # a frequency that is none of 10^9, and when the cycles were zero
    f = File(CYCLES_PER_SEC='736629000')
    f.time(0, 736629000 * 100)
    got = read(save(f.bytes()))
    ok(got and got[0][4] == BOOT + 100 * 10 ** 9, 'cycles to nanoseconds', got)
    # blocks of two CPUs, one behind the other
    f = File()
    f.time(0, 1000)
    f.time(1, 1000)
    for cpu in (0, 1):
        for i in range(700):
            f.simple(cpu, USER, cpu, 2000 + 10 * i + cpu, i, 0)
    got = read(save(f.bytes()))
    users = [(r[4] - BOOT, r[1]) for r in got or [] if r[0] == 'user']
    ok(users == sorted((2000 + 10 * i + c, f'event_{c}') for i in range(700) for c in (0, 1)),
       'blocks of CPUs are put in order', users[:5])
    # ... more than are read at a time
    f = File(release='8.0.0')
    for cpu in range(8):
        f.time(cpu, 0)
    for block in range(20):
        for cpu in range(8):
            for i in range(1024):
                f.simple(cpu, USER, cpu, 10 + (block * 1024 + i) * 10 + cpu, i)
    code, found, text = problems(save(f.bytes()))
    ok(code == 0 and '163848 events' in text, 'many blocks of eight CPUs', text)
    # without a TIME event the cycles go round, and that is told
    f = File()
    f.time(0, (3 << 32) + 5)
    f.simple(0, USER, 1, 0xfffffff0)
    f.simple(0, USER, 2, 0x10)
    got = read(save(f.bytes()))
    ok([r[4] - BOOT for r in got or []][-1] == (4 << 32) + 0x10, 'cycles that go round', got)
    code, found, text = problems(save(f.bytes()))
    ok(code == 1 and found == [(len(f.header()) + 32, 'the cycles go round without a TIME event')],
       'and that is told', text)


def report():
    """What report says tells apart what has one name."""
    f = File(release='7.1.0')
    f.time(0, 1)
    f.simple(0, KER_CALL, 11, 2, 1, 0x64636261)
    f.simple(0, KER_CALL, EXIT + 11, 3, 0, 0x64636261)
    f.simple(0, KER_CALL, INTERRUPTED + 11, 4)
    f.simple(0, PR_TH, STATES['running'], 5, 7, 8)
    f.simple(0, PR_TH, 26 + STATES['running'], 6, 7, 8)
    f.simple(0, PR_TH, STATES['create'], 7, 7, 8)
    f.simple(0, PR_TH, CREATE, 8, 1, 7)
    f.simple(0, KER_CALL, EXIT + 37, 9, 0, 5)
    f.simple(0, USER, 1, 10, 1, 2)
    source = save(f.bytes())
    want = ['time: msbtime=0x0 lsbtime=0x1',
            'kercall_enter:msg_sendv: coid=0x1 msg=0x64636261',
            'kercall_exit:msg_sendv: status=0 rmsg_0=0x64636261',
            'kercall_int:msg_sendv: data={0x0,0x0}',
            'thread:running: pid=7 tid=8', 'vthread:running: pid=7 tid=8',
            'thread:create: pid=7 tid=8', 'process:create: ppid=1 pid=7',
            'kercall_exit:chancon_attr_wide: ret_val=0x0 old_attr=0x5',
            'event_1: d0=0x1 d1=0x2']
    trace = os.path.join(work, 'report')
    run('convert', source, '-o', trace)
    for s in (source, trace):
        code, out, err = run('report', '--no-pager', s)
        have = [line.split(': ', 1)[1] for line in out.splitlines() if ': ' in line and
                not line.startswith('#')]
        ok(code == 0 and have == want, 'report tells enter from exit and a thread from a '
           f'vthread, of a {"directory" if s == trace else "file"}', '\n'.join(have), err)


def context():
    f = File()
    f.time(0, 1)
    f.combine(0, PR_TH, CREATE_NAME, 2, f.pack('2I', 1, 4711) + b'proc/boot/io-pkt-v4\0')
    f.simple(0, USER, 1, 3)
    f.simple(0, PR_TH, STATES['running'], 4, 4711, 2)
    f.simple(1, USER, 1, 5)
    f.simple(0, USER, 1, 6)
    path = save(f.bytes())
    got = read(path)
    ok([r[5] for r in got or [] if r[0] == 'user'] == [0, 0, 4711], 'who runs on the CPU', got)
    code, out, err = run('report', '--no-pager', path)
    ok(re.search(r'io-pkt-v4-4711\s+\[000\].*event_1: d0=0x0 d1=0x0', out), 'and its name',
       out + err)
    code, out, err = run('report', '--no-pager', path, '-e', 'thread:running', '--filter', 'tid == 2')
    ok(code == 0 and out.count('running: pid=4711 tid=2') == 1, 'a filter', out + err)
    code, out, err = run('hist', path, '-e', 'user:event_1', 'keys=common_pid')
    ok(code == 0 and re.search(r'4711 \} hitcount:\s+1', out), 'a histogram', out + err)
    code, out, err = run('stat', '--json', path)
    stat = json.loads(out)
    ok((stat['format'], stat['events'], stat['hostname'], stat['release'], stat['machine']) ==
       ('kev', 6, 'box', '6.4.1', 'x86pc'), 'stat', out)


def texts():
    """What the default, field by field, would not say."""
    f = File(release='7.1.0')
    want = []

    def event(event, a, b, text):
        f.simple(0, SYSTEM, event, 10 + len(want), a, b)
        want.append(text)
    for bits, b, text in ((0x30001, 5, 'cpu=1 idle start mode=5'),
                          (0x10001, 5, 'cpu=1 idle end mode=5'),
                          (0x50001, 5, 'cpu=1 idle end REACHED mode=5'),
                          (0x20002, 800, 'cpu=2 frequency start mode=800'),
                          (0x2, 800, 'cpu=2 frequency end mode=800'),
                          (0x60002, 800, 'cpu=2 frequency start OVERDRIVE mode=800'),
                          (0xa0002, 800, 'cpu=2 frequency start DYNAMIC mode=800'),
                          (0x1e0002, 1, 'cpu=2 frequency start OVERDRIVE DYNAMIC STEP_UP mode=1')):
        event(0x0f, bits, b, 'power: ' + text)
    for bits, text in ((1, 'ONLINE_CHANGED'), (6, 'MANUAL|DYNAMIC'), (8, 'BURST')):
        event(0x0e, bits, 0, 'runstate: bitset=' + text)
    f.combine(0, SYSTEM, 0x0c, 90, f.pack('2I', 7, 1) + b'something odd\0')
    want.append('slog: opcode=7 severity=1 message=something odd')
    f.words(0, 3, 4, 91, 14, 4, 1, 2)
    want.append('handler_exit_wide: interrupt_number=14 sigevent={0x4,0x1,0x2}')
    f.words(0, KER_CALL, 72, 92, 3, 1, 10, 20, 30, 40)
    want.append('kercall_enter:timer_settime_wide: clock_id=0x3 flags=0x1 itime_sec=10 itime_nsec=20 '
                'interval_sec=30 interval_nsec=40')
    code, out, err = run('report', '--no-pager', save(f.bytes()))
    got = [line.split(': ', 1)[1] for line in out.splitlines()]
    ok(got == want, 'text of events', *[x for x in zip(got, want) if x[0] != x[1]])


# ---- combine events ---------------------------------------------------------------------

def interleaved():
    """Parts of three events, of two CPUs, with simple ones between."""
    f = File()
    f.time(0, 1)
    f.time(1, 1)
    a = f.parts(0, USER, 1, 10, b'a' * 23)
    b = f.parts(1, USER, 1, 10, b'b' * 23)
    c = f.parts(0, USER, 2, 10, b'c' * 39)
    s = f.parts(0, USER, 3, 11, b'')
    assert not s
    f.slots += [a[0], b[0], c[0]]
    f.simple(0, USER, 9, 12)
    f.slots += [c[1], a[1], b[1], c[2], c[3], b[2], a[2], c[4]]
    for step in (1, 2):
        got = read(save(f.bytes()))
        text = {(r[3], r[1]): r[2].get('text') for r in got or [] if r[1].endswith('_text')}
        ok(text == {(0, 'event_1_text'): 'a' * 23, (1, 'event_1_text'): 'b' * 23,
                    (0, 'event_2_text'): 'c' * 39}, f'interleaved, {step}', got)
        ok(names(got)[-1] == 'user:event_9', 'and in the order of time', names(got))
        # the other CPU's begins earlier in the file
        f.slots[2], f.slots[3] = f.slots[3], f.slots[2]
    long = File()
    long.time(0, 1)
    long.combine(0, USER, 1, 2, b'x' * 60000)
    got = read(save(long.bytes()))
    ok(got and got[1][2] == {'text': 'x' * 60000}, 'a long one')


def broken_parts():
    f = File()
    f.time(0, 1)
    at = len(f.header())
    whole = f.parts(0, USER, 1, 10, b'abcdefghijklmnopqrstuvw')
    f.slots += [whole[1]]                                   # 1: no beginning
    f.slots += [f.parts(0, USER, 1, 11, bytes(24))[2]]      # 2: an end without
    f.slots += whole[:2]                                    # 3: never ended
    f.slots += [f.parts(0, USER, 2, 12, bytes(24))[0]]      # 5: begun twice
    f.slots += f.parts(0, USER, 2, 12, b'z' * 24)
    f.simple(0, USER, 7, 20)
    path = save(f.bytes())
    got = read(path)
    ok(sorted(names(got)) == sorted(['control:time', 'kev:orphan', 'kev:orphan',
                                     'kev:unfinished', 'kev:unfinished',
                                     'user:event_2_text', 'user:event_7']),
       'nothing is dropped', names(got))
    unfinished = [r[2] for r in got or [] if r[1] == 'unfinished' and r[2]['stamp'] == 10]
    ok(unfinished and unfinished[0]['header'] == 0x40001801 and
       unfinished[0]['data'] == list(struct.unpack('<4I', b'abcdefghijklmnop')),
       'an unfinished one has what there is of it', unfinished)
    code, found, text = problems(path)
    ok(code == 1 and sorted(found) == [
        (at + 16, 'a part of a combine event has no beginning'),
        (at + 32, 'the end of a combine event has no beginning'),
        (at + 48, 'a combine event has no end'),
        (at + 80, 'a combine event begins again before its end')], 'each is told, and where', text)
    # another class, event or CPU with the same time is another event
    for what in ((0, SYSTEM, 1), (0, USER, 2), (1, USER, 1)):
        f = File()
        f.time(0, 1)
        f.time(1, 1)
        f.slots += [whole[0], f.parts(*what, 10, bytes(24))[2]]
        got = read(save(f.bytes()))
        ok(sorted(names(got))[2:] == ['kev:orphan', 'kev:unfinished'],
           f'parts of {what} do not belong', names(got))
    many = File()
    many.time(0, 1)
    for i in range(100):
        many.slots += [many.parts(0, USER, 1, 10 + i, bytes(24))[0]]
    got = read(save(many.bytes()))
    ok(names(got).count('kev:unfinished') == 100, 'too many that are open', len(got or []))


# ---- what is wrong with a file -------------------------------------------------------------

def slots(f):
    f.time(0, 1)
    for i in range(40):
        f.simple(0, USER, i, 2 + i, i, i)
    return f


def one_sentence(text):
    lines = [x for x in text.splitlines() if x]
    return len(lines) == 1 and lines[0].startswith('tacho: ')


def told(f, what, sentence, key=None, events=41):
    """The sentence, where the attribute is, and all events."""
    data = f if isinstance(f, bytes) else f.bytes()
    path = save(data)
    got = read(path)
    ok(got is not None and len(got) == events and names(got)[0] == 'control:time',
       f'{what}: all is read', names(got)[:3], len(got or []))
    code, found, text = problems(path)
    offset = data.index(b'TRACE_' + key.encode() + b'::') + len(key) + 8 if key else 0
    ok(code == 1 and (offset, sentence) in found, f'{what}: is told', text, offset)


def refused(data, what, sentence):
    code, out, err = run('stat', save(data))
    ok(code == 1 and one_sentence(err) and sentence in err, f'{what}: refused', out + err)


def bad_headers():
    told(slots(File(VER_MAJOR=None)), 'no version', 'the header has no version; 1.01 is taken')
    told(slots(File(VER_MAJOR='one')), 'a version that is no number',
         'the header has no version; 1.01 is taken', 'VER_MAJOR')
    old = slots(File(VER_MAJOR='0', VER_MINOR='96'))
    refused(old.bytes(), 'version 0.96', 'version 0.96 of the format is not known')
    order = 'the header does not say which byte order it is; the events do'
    for big in (False, True):
        f = slots(File(big=big))
        f.set('ENDIAN', 'perhaps')
        told(f, f'no byte order, big {big}', order)
        f = slots(File(big=big))
        f.attrs.insert(4, ['LITTLE_ENDIAN' if big else 'BIG_ENDIAN', 'TRUE'])
        told(f, f'both byte orders, big {big}', order, 'LITTLE_ENDIAN')
        f = slots(File(big=big, MIDDLE_ENDIAN='TRUE'))
        told(f, f'middle endian, big {big}', order, 'MIDDLE_ENDIAN' if big else 'LITTLE_ENDIAN')
    for value in ('99999999999', '18446744073709551615'):
        told(slots(File(SYSPAGE_LEN=value)), f'SYSPAGE_LEN {value}',
             'SYSPAGE_LEN is larger than the file; events are looked for', 'SYSPAGE_LEN')
    f = slots(File(SYSPAGE_LEN='ffff', syspage=b'\xff' * 33))
    told(f, 'SYSPAGE_LEN ffff', 'SYSPAGE_LEN is no number; events are looked for', 'SYSPAGE_LEN')
    for value in (None, '0'):
        got = read(save(slots(File(SYSPAGE_LEN=value)).bytes()))
        ok(got and len(got) == 41, f'SYSPAGE_LEN {value}', names(got)[:2])
    for value in ('0', '-3', 'fast', ''):
        told(slots(File(CYCLES_PER_SEC=value)), f'CYCLES_PER_SEC {value!r}',
             'CYCLES_PER_SEC is no number; a cycle is taken for a nanosecond', 'CYCLES_PER_SEC')
    told(slots(File(release='5.0')), 'a release nobody knows',
         'SYS_RELEASE is unknown; using the numbers of 7.1', 'SYS_RELEASE')
    whole = slots(File()).bytes()
    refused(whole[:whole.index(b'TRACE_HEADER_END')] + bytes(64), 'no end of the header',
            'no TRACE_HEADER_END')
    refused(b'TRACE_HEADER_BEGIN::', 'only the beginning', 'no TRACE_HEADER_END')


def odd_headers():
    """Values of any length and of any bytes."""
    for n in (0, 1, 98, 99, 100, 4096, 70000, 3000000):
        got = read(save(slots(File(COMMENT='x' * n)).bytes()))
        ok(got and len(got) == 41, f'a value of {n} bytes', names(got)[:2])
    for value in (bytes(range(256)) * 3, b'\n\0TRACE_', b'TRACE_::', b'::', b'TRACE_no key::',
                  b'TTTTTTRACE_TTT'):
        got = read(save(slots(File(COMMENT=value, syspage=value)).bytes()))
        ok(got and len(got) == 41, f'a value {value[:16]!r}', names(got)[:2])
    page = b'TRACE_HEADER_END::TRACE_X::\n\n'
    got = read(save(slots(File(syspage=page * 50)).bytes()))
    ok(got and len(got) == 41, 'a system page with attributes in it', names(got)[:2])
    none = File()
    got = read(save(none.bytes()))
    ok(got == [], 'no events', got)
    code, found, text = problems(save(none.bytes()))
    ok(code == 0, 'which is no problem', text)


def cut_off():
    f = slots(File())
    data = f.bytes()
    head = len(f.header())
    bad = []
    # each length in the first slots and the last one, and between them each in turn
    for n in sorted({*range(0, head, 7), *range(head - 20, head + 50),
                     *range(head + 50, len(data), 7), *range(len(data) - 16, len(data))}):
        path = save(data[:n])
        code, out, err = run('stat', '--json', '-q', path)
        events = max(n - head, 0) // 16
        if n < head:
            if code != 1 or not one_sentence(err):
                bad.append((n, code, out, err))
        elif code or json.loads(out)['events'] != events or \
                json.loads(out)['damaged'] != ((n - head) % 16 != 0):
            bad.append((n, code, out, err))
    ok(not bad, 'cut off anywhere', *bad[:3])
    code, found, text = problems(save(data[:-3]))
    ok(code == 1 and found == [(len(data) - 16, 'the file ends in the middle of a slot')],
       'and where', text)


def going_back():
    f = File()
    f.time(0, 1000)
    f.simple(0, USER, 1, 5000)
    f.simple(0, USER, 2, 3000)
    f.simple(0, USER, 3, 6000)
    f.time(0, 500)
    path = save(f.bytes())
    got = read(path)
    ok(got and sorted(names(got)) == sorted(['control:time'] * 2 + [f'user:event_{i}' for i in (1, 2, 3)]),
       'time that goes back: all is read', names(got))
    code, found, text = problems(path)
    at = len(f.header())
    ok(code == 1 and (at + 32, 'time goes back on a CPU') in found and
       (at + 64, 'a TIME event goes back in time') in found, 'and told', text)


def foreign():
    for data, what in ((b'hello world, this is a text and no trace\n' * 9, 'text'),
                       (bytes(4096), 'zeroes'), (os.urandom(4096), 'noise'),
                       (b'\xff' * 4096, 'ones')):
        code, out, err = run('stat', save(data))
        ok(code == 1 and one_sentence(err) and 'is not a trace' in err, f'{what} is no trace',
           out + err)


classes()
bare()
times()
report()
context()
texts()
interleaved()
broken_parts()
bad_headers()
odd_headers()
cut_off()
going_back()
foreign()
shutil.rmtree(work)
print(f'1..{count}')
sys.exit(failed != 0)
