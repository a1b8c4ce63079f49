#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--jobs, over other tracers' files: with any number of threads the same bytes.

Files are made here, whole and damaged by a seed, and read with one thread and with several.
Arguments: the tests; without any, all of them.
"""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'stream'))
import datfile      # noqa: E402
import jobs         # noqa: E402
from jobs import ok, same, threads_of, JOBS, SANITIZED, TACHO     # noqa: E402

SEEDS = int(os.environ.get('SEEDS', '2' if SANITIZED else '4'))


def write(name, data):
    with open(name, 'wb') as f:
        f.write(data)
    return name


def all_verbs(trace, event, key, few=False, **kw):
    """The verbs that read with several threads, and options that change what they read."""
    least = kw.pop('least', 0)
    same(f'{trace}: stat', 'stat', trace, least=min(least, 100), **kw)
    same(f'{trace}: report', 'report', trace, least=least, **kw)
    same(f'{trace}: filter', 'report', '--filter', f'{key} == 3', trace, **kw)
    same(f'{trace}: hist', 'hist', trace, '-e', event, f'keys={key},common_cpu:vals=common_pid',
         **kw)
    if few:
        return
    same(f'{trace}: hist by time', 'hist', trace, '-e', event,
         'keys=common_timestamp.buckets=500000', **kw)
    same(f'{trace}: JSON', 'report', '--json', trace, least=least, **kw)
    same(f'{trace}: deltas', 'report', '--delta', '--ns', trace, **kw)
    same(f'{trace}: a part', 'report', '--relative', '--time', '0.002,0.011', trace, **kw)
    same(f'{trace}: the end', 'stat', '--json', trace, **kw)
    same(f'{trace}: so many', 'report', '-m', '17000', trace, **kw)
    same(f'{trace}: convert', 'convert', trace, '-o', 'out', '--to', 'ctf', '--filter',
         f'{key} < 3', out='out', **kw)


def damaged(data, seed, begin=0, cut=True):
    """Some bytes after `begin` are others; cut: or the end is missing."""
    r = random.Random(seed)
    data = bytearray(data)
    for _ in range(r.randrange(1, 4)):
        at = r.randrange(begin, len(data))
        kind = r.randrange(6 if cut else 5)
        if kind < 3:
            data[at] ^= 1 << r.randrange(8)
        elif kind == 3:
            n = min(r.randrange(8, 3000), len(data) - at)
            data[at:at + n] = bytes(n)
        elif kind == 4:
            n = min(4096 * r.randrange(1, 5), len(data) - at)
            data[at:at + n] = r.randbytes(n)
        else:
            del data[r.randrange((begin + len(data)) // 2, len(data)):]
    return bytes(data)


# ---- trace.dat ----

COMMON = b'''format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

'''


def dat_events(m, cpu, nr, step=1000):
    """Of two types, some at one time; few are far apart."""
    r = random.Random(cpu)
    events, time = [], 10 ** 9 + cpu * 7
    for i in range(nr):
        raw = m.pack('HBBi', 300 + i % 3 // 2, 0, 0, 1000 + i % 5) + m.pack('iI', i % 7, i)
        if i % 3 == 2:
            raw += b'text' * (i % 9)
        events.append((time, raw))
        time += r.choice((0, step // 2, step, step, 2 * step, 3 * step * (i % 100 == 0)))
    return events


def dat_file(m, cpus, nr, change=None, lost=()):
    f = datfile.File(m)
    f.systems = {'some': [
        b'name: %s\nID: %d\n' % (name, number) + COMMON +
        b'\tfield:int kind;\toffset:8;\tsize:4;\tsigned:1;\n'
        b'\tfield:unsigned int nr;\toffset:12;\tsize:4;\tsigned:0;\n' + tail +
        b'\nprint fmt: "kind=%d nr=%u", REC->kind, REC->nr\n'
        for name, number, tail in ((b'thing', 300, b''), (b'other', 301,
                                   b'\tfield:char text[];\toffset:16;\tsize:0;\tsigned:0;\n'))]}
    f.cmdlines = b''.join(b'%d task-%d\n' % (1000 + i, i) for i in range(4))
    for cpu in range(cpus):
        pages = m.pages(dat_events(m, cpu, nr), lost)
        name = 'second' if cpu == cpus - 1 and cpus > 2 else ''
        f.buffers.setdefault(name, {})[cpu] = change(m, pages) if change else pages
    return f


def moved(m, pages):
    """Some pages stand elsewhere, before and after their time."""
    n = len(pages)
    for at, to in (n // 3, n // 3 + n // 9), (2 * n // 3, 2 * n // 3 - n // 8):
        pages.insert(to, pages.pop(at))
    return pages


def with_event(m, page, away):
    """A page with an event of another time behind those at its start; no header shows it."""
    time = struct.unpack_from(m.order + 'Q', page)[0]
    raw = m.pack('HBBi', 300, 0, 0, 7) + m.pack('iI', 3, 99)
    data, at, last = b'', 8 + m.long, time
    while len(data) < 200:
        word = struct.unpack_from(m.order + 'I', page, at)[0]
        kind, delta = (word >> 27, word & 0x7ffffff) if m.order == '>' else (word & 31, word >> 5)
        assert 0 < kind <= 28
        data += page[at:at + 4 + 4 * kind]
        at += 4 + 4 * kind
        last += delta
    if away < 0:
        data += m.word(31, (last + away) & 0x7ffffff) + m.pack('I', (last + away) >> 27)
        away = 0
    data += m.event(away, raw)
    return (m.pack('Q', time) + m.pack('Q' if m.long == 8 else 'I', len(data)) +
            data).ljust(m.page, b'\0')


def stamps(m, pages):
    """Absolute times, long before all that was: one in a page's middle."""
    for at in len(pages) // 3, len(pages) - 2:
        pages[at] = with_event(m, pages[at], -15000000)
    return pages


def leaps(m, pages):
    """Pages that end long after those that follow them begin."""
    for at in len(pages) // 2, len(pages) - 9:
        pages[at] = with_event(m, pages[at], 15000000)
    return pages


def empty_pages(m, pages):
    """Pages without events; some of them tell of losses."""
    out = []
    for i, page in enumerate(pages):
        if i % 11 == 5:
            time = struct.unpack_from(m.order + 'Q', page)[0] - (i % 2)
            flags = 3 << 30 if i % 3 == 1 else 0
            out.append((m.pack('Q', time) + m.pack('Q' if m.long == 8 else 'I', flags) +
                        m.pack('Q' if m.long == 8 else 'I', 4)).ljust(m.page, b'\0'))
        out.append(page)
    return out


def make_dats(nr, few):
    """The files of all kinds, or a few of them, and their bytes."""
    lost = {nr // 9: 3, nr // 7: None, nr // 2: 1, nr - 10: 2, **{i: 1 for i in range(999, nr, 999)}}
    le, be, small = datfile.Machine(), datfile.Machine('>'), datfile.Machine(long=4, page=1024)
    plain = dat_file(le, 3, nr, lost=lost)
    kinds = {'plain': plain.v6(), 'zlib': plain.v7('zlib'),
             'big': dat_file(be, 2, nr, lost=lost).v6()}
    if not few:
        kinds['none'] = plain.v7('none')
        kinds['zstd'] = plain.v7('zstd')
        kinds['small'] = dat_file(small, 2, nr, lost=lost).v7('zlib')
    for change in () if few else (moved, stamps, leaps, empty_pages):
        f = dat_file(le, 2, nr, change, lost if change is empty_pages else ())
        kinds[change.__name__] = f.v6()
        kinds[change.__name__ + '-zlib'] = f.v7('zlib')
    return [(write(f'{k}.dat', v), v) for k, v in kinds.items()]


def test_dat():
    for name, _ in make_dats(16000, True):
        all_verbs(name, 'some:thing', 'kind', few=name != 'plain.dat', jobs=(2,), least=1000000)
    if not SANITIZED and shutil.which('strace') and threads_of('stat', '-j1', 'plain.dat') == 0:
        for name in 'plain.dat', 'zlib.dat', 'big.dat':
            ok(f'{name}: threads count', threads_of('stat', '-j3', name) == 3)
            ok(f'{name}: threads print', threads_of('report', '-j3', name) == 3)


def test_dat_all():
    for name, data in make_dats(40000, False):
        all_verbs(name, 'some:thing', 'kind', few='plain' not in name and 'zlib' not in name,
                  least=1000000, jobs=JOBS)
        for seed in range(SEEDS):
            # at the end of version 7 stands what a reader begins with
            bad = damaged(data[:-5000], zlib.crc32(name.encode()) + seed, 6000,
                          data[10:11] == b'6') + data[-5000:]
            all_verbs(write(f'd{seed}-{name}', bad), 'some:thing', 'kind', few=seed % 4,
                      jobs=(2 + seed % 2,))
            os.unlink(f'd{seed}-{name}')


# ---- LKST ----

SWITCH = b'''name: sched_switch
ID: 310
''' + COMMON + b'''	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
	field:int next_prio;	offset:60;	size:4;	signed:1;

print fmt: "next_pid=%d", REC->next_pid
'''


def switches(cpus, nr):
    """A trace.dat that LKST, LTT and QNX have events for: losses, and equal times on all CPUs."""
    m = datfile.Machine()
    f = datfile.File(m)
    f.systems = {'sched': [SWITCH]}
    f.cmdlines = b''.join(b'%d task-%d\n' % (i, i) for i in range(1, 6))
    for cpu in range(cpus):
        events = []
        for i in range(nr):
            pid = 1 + (i + cpu) % 6
            raw = m.pack('HBBi', 310, 0, 0, pid) + m.pack(
                '16siiq16sii', b'one', pid, 120, i % 3, b'other', 1 + (i + cpu + 1) % 6, 120)
            events.append((10 ** 9 + i // 2 * 2500, raw))
        f.buffers.setdefault('', {})[cpu] = m.pages(events, {nr // 5: 3, nr // 3 + cpu: 7})
    return f.v6()


def make_lkst(name, cpus, nr):
    write('switches.dat', switches(cpus, nr))
    subprocess.run([TACHO, 'convert', '-q', 'switches.dat', '-o', name, '--to', 'lkst'], check=True)
    with open(name, 'rb') as f:
        return f.read()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def crc_entry(n):
    for _ in range(8):
        n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
    return n


CRC = [crc_entry(n) for n in range(256)]
BLOCK, RECORD = struct.Struct('<IIQIIHhI'), 72


def change_block(data, at, fn):
    """Lets fn change the records of the block at a byte; its sum is right again."""
    head = list(BLOCK.unpack_from(data, at))
    body = bytearray(data[at + BLOCK.size:at + BLOCK.size + head[3]])
    fn(body)
    head[4] = 0
    head[4] = crc32c(BLOCK.pack(*head) + body)
    data[at:at + BLOCK.size + len(body)] = BLOCK.pack(*head) + body


def earlier(body, by, every=1):
    for at in range(0, len(body), RECORD * every):
        ticks = struct.unpack_from('<Q', body, at)[0]
        struct.pack_into('<Q', body, at, max(ticks - by, 0))


def lkst_kinds(data):
    """Blocks that begin before the one before them ends, or seem not to; an unknown type."""
    size = struct.unpack_from('<QII', data)[2]
    blocks = [at for at in range(512, len(data), size)
              if BLOCK.unpack_from(data, at)[1] > 1 and BLOCK.unpack_from(data, at)[3]]
    third = len(blocks) // 3

    def made(*changes):
        out = bytearray(data)
        for i, fn in changes:
            change_block(out, blocks[i], fn)
        return bytes(out)
    return {
        'back': made((third, lambda b: earlier(b, 9000000))),
        'hidden': made(*((i, lambda b: struct.pack_into(
            '<Q', b, 5 * RECORD, struct.unpack_from('<Q', b)[0] - 3000000))
            for i in range(2 * third, len(blocks) - 1))),
        'unknown': made((third, lambda b: struct.pack_into('<H', b, RECORD + 64, 0x777))),
        'far': made((third, lambda b: earlier(b, -9000000, 3))),
    }


def test_lkst():
    make_lkst('plain.lkst', 2, 12000)
    all_verbs('plain.lkst', 'lkst:PROCESS_CONTEXTSWITCH', 'recid', jobs=(2,), least=1000)
    if not SANITIZED and shutil.which('strace') and threads_of('stat', '-j1', 'plain.lkst') == 0:
        ok('plain.lkst: threads count', threads_of('stat', '-j3', 'plain.lkst') == 3)
        ok('plain.lkst: threads print', threads_of('report', '-j3', 'plain.lkst') == 3)


def test_lkst_all():
    data = make_lkst('plain.lkst', 3, 30000)
    kinds = {'plain': data, **lkst_kinds(data)}
    for name, kind in kinds.items():
        all_verbs(write(f'{name}.lkst', kind), 'lkst:PROCESS_CONTEXTSWITCH', 'recid', jobs=JOBS,
                  least=1000)
        for seed in range(SEEDS if name in ('plain', 'hidden') else 0):
            bad = damaged(kind, zlib.crc32(name.encode()) + seed, 20000)
            all_verbs(write(f'd{seed}-{name}.lkst', bad), 'lkst:PROCESS_CONTEXTSWITCH', 'recid',
                      few=seed % 4, jobs=(2 + seed % 2,))
            os.unlink(f'd{seed}-{name}.lkst')


# ---- what is written ----

def copies(trace, formats, key, jobs_):
    for fmt in formats:
        for options in [], ['--filter', key]:
            same(f'{trace} to {fmt} {" ".join(options)}', 'convert', trace, '-o', 'out', '--to', fmt,
                 *options, out='out', jobs=jobs_)


def test_written():
    """Files of other formats, from many CPUs, with losses and equal times: no byte differs."""
    write('many.dat', switches(8, 3000))
    subprocess.run([TACHO, 'convert', '-q', 'many.dat', '-o', 'many'], check=True)
    for trace in 'many.dat', 'many':
        copies(trace, ('dat', 'dat7', 'kev', 'lkst', 'ltt', 'lttfull'), 'next_pid < 5', (4,))


def test_written_all():
    """The same from files that were written, and of more events."""
    write('many.dat', switches(8, 5000))
    formats = 'ctf', 'dat', 'dat7', 'kev', 'lkst', 'ltt', 'lttfull'
    subprocess.run([TACHO, 'convert', '-q', 'many.dat', '-o', 'from-ctf'], check=True)
    for fmt in formats[2:]:
        subprocess.run([TACHO, 'convert', '-q', 'many.dat', '-o', f'from-{fmt}', '--to', fmt],
                       check=True)
    for fmt in ('ctf',) + formats[2:]:
        copies(f'from-{fmt}', formats, 'common_pid != 3', (2, 4))


def main():
    place = tempfile.mkdtemp(prefix='tacho-jobs-foreign-')
    os.chdir(place)
    os.environ.update(LC_ALL='C.UTF-8', TZ='UTC', TACHO_DIR=os.path.join(place, 'run'))
    tests = [k[5:] for k in globals() if k.startswith('test_')]
    try:
        for test in sys.argv[1:] or tests:
            globals()['test_' + test]()
    finally:
        shutil.rmtree(place)
    print(f'1..{jobs.number}')
    return bool(jobs.failed)


if __name__ == '__main__':
    sys.exit(main())
