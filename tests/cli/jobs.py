#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--jobs: with any number of threads the same bytes, messages and exit status.

Traces of every kind and condition are read with one thread and with 2, 3 and 7; damage is made
up by a seed.  Each comparison is of stdout, stderr, status, and of files that were made.
"""
import hashlib
import itertools
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'stream'))
import datfile  # noqa: E402

TACHO, GEN, MAKE = (os.environ[v] for v in ('TACHO', 'GEN_TRACE', 'MAKE_TRACE'))
SANITIZED = bool(os.environ.get('SANITIZED'))   # slow, with threads and memory of its own
SEEDS = int(os.environ.get('SEEDS', '2' if SANITIZED else '4'))
JOBS = (3,) if SANITIZED else (2, 3, 7)
HEAD = struct.Struct('<I16sIQQQQQQQIIQ')
DISCARDED, EVENTS = 9, 11

REPORTS = (
    [], ['-F', 'babeltrace'], ['--json'], ['--json', '--delta'], ['--delta', '--ns'],
    ['--relative'], ['--utc'], ['--ticks'], ['--header'], ['-R'],
    ['-e', 'named'], ['-e', '!named', '--cpu', '0'], ['--pid', '1001-1003', '--delta'],
    ['--filter', 'fd < 5'], ['--filter', 'count < 0 && fd > 100000'],
    ['--filter', 'prio == 120', '-F', 'babeltrace'],
    ['--time', '0.002,0.0061'], ['--time', '0.004,', '--delta'], ['--time', ',0.003'],
    ['--time', '9,'], ['-m', '1'], ['-m', '17000'], ['-m', '20000', '-e', 'thin'],
    ['-m', '60000', '--delta'],
)
HISTS = (
    ['-e', 'bench:*', 'keys=common_pid:vals=count'],
    ['-e', 'bench:thin', 'keys=fd,common_cpu:vals=bytes,count:sort=bytes.descending'],
    ['-e', 'bench:thin', 'keys=bytes.log2:sort=hitcount'],
    ['-e', 'bench:thin', 'keys=count'],                 # drops
    ['-e', 'bench:thin', 'keys=fd:size=16'],            # drops
    ['-e', 'bench:thin', 'keys=fd if count > 3000'],
    ['-e', 'bench:named', 'keys=common_pid.execname,name'],
    ['--json', '--quantiles', '50,99', '-e', 'bench:thin', 'keys=bytes.buckets=100000'],
    ['-e', 'bench:thin', 'keys=fd:v=count:vals=$v'],
    ['--all', '-e', 'bench:thin', 'keys=fd:name=x', '-e', 'bench:thin', 'keys=common_cpu'],
    ['--synth', 'pair u32 n; int fd', '-e', 'bench:thin', 'keys=common_pid:n=count',
     '-e', 'bench:named', 'keys=common_pid:d=$n:onmatch(bench.thin).trace(pair,$d,prio)',
     '-e', 'synthetic:pair', 'keys=fd:vals=n'],
    ['-e', 'bench:thin', 'keys=common_pid:m=bytes:onmax($m).save(fd)'],
    ['-e', 'bench:named', 'traceoff', '-e', 'bench:thin', 'keys=fd'],
)
# of make_sched(); in the order of time
VARIABLES = (
    ['--synth', 'wakeup u64 lat; pid_t pid', '-e', 'sched:sched_wakeup',
     'keys=pid:ts0=common_timestamp', '-e', 'sched:sched_switch',
     'keys=next_pid:lat=common_timestamp-$ts0:onmatch(sched.sched_wakeup).trace(wakeup,$lat,'
     'next_pid)', '--all', '-e', 'synthetic:wakeup', 'keys=pid,lat:vals=lat:sort=pid,lat'],
    ['-e', 'sched:sched_wakeup', 'keys=pid:ts0=common_timestamp if pid > 11', '-e',
     'sched:sched_switch', 'keys=next_pid:lat=common_timestamp-$ts0:'
     'onmax($lat).save(prev_pid,common_cpu,common_timestamp) if prev_state == 1'],
    ['-e', 'raw_syscalls:sys_enter', 'keys=common_pid:ts0=common_timestamp,nr=id', '-e',
     'raw_syscalls:sys_exit', 'keys=common_pid.execname:nr0=$nr:'
     'lat=common_timestamp-$ts0:vals=$lat,$nr0'],
    ['-e', 'synthetic:run_queue', 'keys=cpu,runnable,waiting:vals=ns:sort=cpu,runnable'],
    ['-e', 'raw_syscalls:sys_enter', 'keys=common_pid,id', '-e', 'sched:sched_switch',
     'disable_hist:raw_syscalls:sys_enter if prev_pid == 10 && next_pid == 12', '-e',
     'sched:sched_wakeup', 'enable_hist:raw_syscalls:sys_enter:40 if pid == 11', '--all'],
    # of the model's items, which need every record
    ['-e', 'model:state', 'keys=comm,state:vals=dur:sort=comm,state'],
    ['-e', 'model:slice', 'keys=category,name:vals=dur:sort=category,name',
     '-e', 'sched:sched_switch', 'keys=next_pid', '--all'],
)
FORMATS = ('ctf', 'dat', 'dat7', 'kev', 'lkst', 'ltt', 'lttfull', 'text', 'json')

number = failed = 0


def ok(what, good, *why):
    global number, failed
    number += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {number} - {what}', flush=True)
    for line in why if not good else ():
        print('#', str(line).replace('\n', '\n# '))


def digest(path, names=()):
    """Of a file, or of a directory's files; names are of this very output, and random."""
    if not os.path.isdir(path):
        with open(path, 'rb') as f:
            # a .kev says when it was made
            data = b'\n'.join(x for x in f.read().split(b'\n') if b'TRACE_DATE::' not in x)
        for name in names:
            data = data.replace(name, b'')
        return hashlib.sha1(data).hexdigest()
    info = os.path.join(path, 'tacho', 'info')
    if os.path.exists(info):
        with open(info, 'rb') as f:
            name = re.search(rb'^uuid: ([0-9a-f]{32})$', f.read(), re.M)[1]
        u = uuid.UUID(name.decode())
        names = name, str(u).encode(), u.bytes
    return sorted((os.path.relpath(os.path.join(top, f), path),
                   digest(os.path.join(top, f), names))
                  for top, _, files in os.walk(path) for f in files)


def run(jobs, argv, limit=None, out=None):
    def limits():
        resource.setrlimit(limit[0], (limit[1], limit[1]))

    # (what is done before the exec needs a fork, which is slow)
    p = subprocess.run([TACHO, argv[0], '-j', str(jobs), *argv[1:]], capture_output=True,
                       preexec_fn=limits if limit else None, check=False)
    result = [p.returncode, p.stdout, p.stderr]
    if out:
        result.append(digest(out) if os.path.exists(out) else None)
        if os.path.isdir(out):
            shutil.rmtree(out)
        elif os.path.exists(out):
            os.unlink(out)
    return result


def same(what, *argv, out=None, jobs=JOBS, least=0):
    """The same with any number of threads; least: bytes that there have to be."""
    one = run(1, argv, out=out)
    for j in jobs:
        many = run(j, argv, out=out)
        if many != one:
            at = next((i for i, (a, b) in enumerate(zip(many[1], one[1])) if a != b), None)
            ok(f'{what}: -j{j}', False, argv, f'status {one[0]} {many[0]}, first difference at '
               f'{at} of {len(one[1])} and {len(many[1])}', one[2][:500], many[2][:500],
               one[1][at or 0:][:300], many[1][at or 0:][:300])
            return
    ok(what, len(one[1]) >= least, argv, one[2][:500])


def threads_of(*argv):
    """How many threads a command starts."""
    p = subprocess.run(['strace', '-f', '-qq', '-e', 'trace=clone,clone3', '-o', 'strace.out',
                        TACHO, *argv], capture_output=True, check=False)
    if p.returncode:
        return None
    with open('strace.out', encoding='ascii', errors='replace') as f:
        return sum('clone' in line and 'resumed' not in line for line in f)


# ---- traces ----

def gen(name, events, kib):
    subprocess.run([GEN, str(events), name, str(kib)], check=True)


def packets(data):
    """Offsets of the packets in a stream file."""
    at = 0
    while at + HEAD.size <= len(data):
        yield at
        at += HEAD.unpack_from(data, at)[7] // 8


def change(trace, fn):
    """Lets fn change the bytes of a trace's stream files."""
    for name in sorted(os.listdir(trace)):
        path = os.path.join(trace, name)
        if not name.startswith(('program_', 'kernel_')):
            continue
        with open(path, 'rb') as f:
            data = bytearray(f.read())
        data = fn(data)
        with open(path, 'wb') as f:
            f.write(data)


def copy(name, of, fn):
    shutil.copytree(of, name)
    change(name, fn)


def add_losses(data):
    """Every third packet follows a loss; counts are cumulative."""
    lost = 0
    for i, at in enumerate(packets(data)):
        head = list(HEAD.unpack_from(data, at))
        lost += 5 * (i % 3 == 1)
        head[DISCARDED] = lost
        HEAD.pack_into(data, at, *head)
    return data


def insert_empty(data):
    """Packets without records: those of the losses between two others."""
    out, lost = bytearray(), 0
    for i, at in enumerate(list(packets(data))):
        head = list(HEAD.unpack_from(data, at))
        if i % 7 == 5:
            lost += 3
            empty = head[:]
            empty[5] = empty[4]
            empty[6] = empty[7] = 8 * HEAD.size
            empty[DISCARDED], empty[EVENTS] = lost, 0
            out += HEAD.pack(*empty)
        size = head[7] // 8
        head[DISCARDED] = lost
        out += HEAD.pack(*head) + data[at + HEAD.size:at + size]
    return out


def open_last(data):
    """The last packet was being written."""
    at = list(packets(data))[-1]
    head = list(HEAD.unpack_from(data, at))
    head[5] = head[6] = head[EVENTS] = 0
    HEAD.pack_into(data, at, *head)
    return data


def swap_two(data):
    """Times go back."""
    p = list(packets(data))
    a, b, c = p[len(p) // 2:len(p) // 2 + 3]
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def damage(seed):
    r = random.Random(seed)

    def fn(data):
        p = list(packets(data))
        for _ in range(r.randrange(1, 4)):
            at = p[r.randrange(len(p))]
            kind = r.randrange(6)
            if kind == 0:               # any byte
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            elif kind == 1:             # a header
                data[at + r.randrange(HEAD.size)] ^= 1 << r.randrange(8)
            elif kind == 2:             # records
                size = r.randrange(8, 2000)
                where = r.randrange(len(data) - size)
                data[where:where + size] = bytes(size)
            elif kind == 3:             # the id of a type
                data[at + HEAD.size + 8] ^= 4
            elif kind == 4:             # a hole
                where = r.randrange(len(data) - 800) & ~7
                del data[where:where + 8 * r.randrange(1, 100)]
                p = [x for x in p if x < where] or [0]
            else:                       # the end
                del data[r.randrange(len(data) // 2, len(data)):]
                p = [x for x in p if x + HEAD.size < len(data)]
        return data
    return fn


def make_traces():
    gen('plain', 60000, 8)
    gen('large', 60000, 256)
    copy('losses', 'plain', add_losses)
    copy('empty', 'plain', insert_empty)
    copy('open', 'plain', open_last)
    copy('back', 'plain', swap_two)
    copy('cut', 'plain', lambda data: data[:len(data) * 2 // 3 - 5])
    copy('cut-losses', 'losses', lambda data: data[:len(data) - 700])
    os.mkdir('rotated')
    for i in range(3):
        p = subprocess.run([TACHO, 'convert', '-q', 'plain', '-o', f'rotated/{i + 1:04}', '--time',
                            f'{i * 0.0021:.4f},{(i + 1) * 0.0021 - 0.0000001:.7f}'], check=False)
        assert not p.returncode
    shutil.copytree('rotated', 'rotated-damaged')
    change('rotated-damaged/0002', damage(1))
    for seed in range(SEEDS):
        copy(f'damaged-{seed}', 'losses' if seed % 2 else 'plain', damage(seed))


def make_sched(name):
    """Threads of two CPUs wake each other, with system calls, as trace-cmd's file and then ours."""
    m = datfile.Machine()
    f = datfile.File(m)
    common = ('unsigned short common_type', 2), ('unsigned char common_flags', 1), \
        ('unsigned char common_preempt_count', 1), ('int common_pid', 4)
    formats = {'sched_switch': (('int prev_pid', 4), ('long prev_state', 8), ('int next_pid', 4)),
               'sched_wakeup': (('int pid', 4), ('int target_cpu', 4)),
               'sys_enter': (('long id', 8),), 'sys_exit': (('long id', 8), ('long ret', 8))}

    def text(number, event, fields):
        out, at = f'name: {event}\nID: {number}\nformat:\n', 0
        for field, size in common + fields:
            at += -at % size
            out += f'\tfield:{field};\toffset:{at};\tsize:{size};\tsigned:{int(size > 2)};\n'
            at += size
        return (out + '\nprint fmt: ""\n').encode()

    texts = [text(300 + i, *kv) for i, kv in enumerate(formats.items())]
    f.systems = {'sched': texts[:2], 'raw_syscalls': texts[2:]}
    f.cmdlines = b''.join(b'%d thread%d\n' % (i, i) for i in range(10, 14))
    for cpu in range(2):
        r, when, events = random.Random(cpu), 10 ** 6, []

        def add(number, pid, fmt, *v):
            nonlocal when
            when += r.randrange(1, 3000)
            events.append((when, m.pack('HBBi' + fmt, 300 + number, 0, 0, pid, *v)))
        this = 10 + 2 * cpu
        while len(events) < 20000:
            other = 10 + r.randrange(4)
            add(2, this, 'q', r.randrange(4))
            if r.randrange(3):
                add(1, this, 'ii', other, r.randrange(2))
            add(3, this, 'qq', 1, 0)
            if r.randrange(2):
                add(0, this, 'i4xqi', this, r.randrange(2), other)
                this = other
        f.buffers.setdefault('', {})[cpu] = m.pages(events)
    with open(name + '.dat', 'wb') as out:
        out.write(f.v6())
    subprocess.run([TACHO, 'convert', '-q', name + '.dat', '-o', name], check=True)
    os.unlink(name + '.dat')


TRACES = ('plain', 'large', 'losses', 'empty', 'open', 'back', 'cut', 'cut-losses', 'rotated',
          'rotated-damaged')


# ---- tests ----

def test_threads():
    if SANITIZED or not shutil.which('strace') or threads_of('stat', '-j1', 'plain') is None:
        ok('threads are started # SKIP no strace, or a sanitizer', True)
        return
    for verb in (['stat'], ['report'], ['hist', '-e', 'bench:thin', 'keys=fd'],
                 ['convert', '-o', '-', '--to', 'text'], ['convert', '-o', '-', '--to', 'json']):
        ok(f'{" ".join(verb)}: no thread with -j1', threads_of(*verb, '-j1', 'plain') == 0)
        ok(f'{" ".join(verb)}: 3 with -j3', threads_of(*verb, '-j3', 'plain') == 3)
    ok('none for damage reports', threads_of('check', 'plain') == 0)
    ok('none for a few records', threads_of('report', '-j3', '-m', '9', 'plain') == 0)
    subprocess.run([TACHO, 'create', 'jobs', '-b', '64K', '--subbuf', '16K'], check=True)
    for verb in 'stat', 'report':
        ok(f'none for a session: {verb}', threads_of(verb, '-j3', 'session:jobs') == 0)
    subprocess.run([TACHO, 'destroy', 'jobs'], check=True)
    n = len(os.sched_getaffinity(0))
    ok('the default is all CPUs', threads_of('stat', 'plain') == (n if n > 1 else 0))


def test_headers():
    """Of a large trace threads look at the headers of the packets, each at those of a part."""
    gen('wide', 300000, 8)
    change('wide', add_losses)
    copy('wide-damaged', 'wide', damage(7))
    if not SANITIZED and shutil.which('strace') and threads_of('stat', '-j1', 'wide') == 0:
        ok('headers: one thread more', threads_of('stat', '-j3', 'wide') == 4)
        ok('headers: to find a time',
           threads_of('report', '-j3', '--time', '0.02,', '-m', '9', 'wide') == 1)
    for trace in 'wide', 'wide-damaged':
        same(f'{trace}: stat', 'stat', trace, least=100)
        same(f'{trace}: hist', 'hist', trace, *HISTS[1])
        same(f'{trace}: a time', 'report', '--time', '0.02,0.022', trace, least=100)
        same(f'{trace}: a filter', 'report', '--filter', 'fd == 3 && count > 200000', trace,
             least=100)


def test_traces():
    turn = itertools.cycle(JOBS)

    def some():
        """All numbers of threads for one trace; they take turns for the others."""
        return JOBS if trace == 'plain' else (next(turn),)

    for trace in TRACES + tuple(f'damaged-{s}' for s in range(SEEDS)):
        exotic = trace.startswith('damaged')
        few = exotic or SANITIZED
        for options in REPORTS[::5] if few else REPORTS:
            same(f'{trace}: report {" ".join(options)}', 'report', *options, trace, jobs=some())
        for options in HISTS[::4] if few else HISTS:
            same(f'{trace}: hist {" ".join(options[-1:])}', 'hist', trace, *options, jobs=some())
        for options in ([], ['--json'], ['--sort', 'name']):
            same(f'{trace}: stat {" ".join(options)}', 'stat', *options, trace, least=100)


def test_variables():
    """Histograms that need the order of time: threads read ahead, and one counts."""
    make_sched('sched')
    copy('sched-losses', 'sched', add_losses)
    copy('sched-cut', 'sched', lambda data: data[:len(data) * 2 // 3 - 5])
    copy('sched-damaged', 'sched', damage(3))
    if not SANITIZED and shutil.which('strace') and threads_of('stat', '-j1', 'sched') == 0:
        ok('variables: 3 threads with -j3', threads_of('hist', '-j3', 'sched', *VARIABLES[0]) == 3)
        ok('variables: none with -j1', threads_of('hist', '-j1', 'sched', *VARIABLES[0]) == 0)
        ok('snapshots: none', threads_of('hist', '-j3', '-q', 'sched', '-e', 'sched:sched_switch',
                                         'snapshot:1', '-e', 'raw_syscalls:sys_enter',
                                         'keys=id') == 0)
    for i, options in enumerate(VARIABLES):
        same(f'variables {i}', 'hist', 'sched', *options, jobs=JOBS if i < 2 else JOBS[:1],
             least=300)
    for trace in 'sched-losses', 'sched-cut', 'sched-damaged':
        for i, options in enumerate(VARIABLES[:1] if SANITIZED else VARIABLES[::2]):
            same(f'{trace}: variables {2 * i}', 'hist', trace, *options, jobs=JOBS[:1], least=300)


def test_formats():
    for trace in ('losses',) if SANITIZED else ('losses', 'cut', 'rotated'):
        for fmt in FORMATS:
            same(f'{trace} to {fmt}', 'convert', trace, '-o', 'out', '--to', fmt, out='out')
            same(f'{trace} to {fmt}, a part', 'convert', trace, '-o', 'out', '--to', fmt,
                 '--filter', 'fd < 9', '--time', '0.0005,0.0055', out='out')
    same('to ctf, so many', 'convert', 'plain', '-o', 'out', '-m', '30000', out='out')
    same('to text with deltas', 'convert', 'plain', '-o', 'out.txt', '--delta', out='out.txt')
    for fmt in FORMATS:
        subprocess.run([TACHO, 'convert', '-q', 'plain', '-o', 'in', '--to', fmt], check=True)
        same(f'report of {fmt}', 'report', 'in')
        same(f'stat of {fmt}', 'stat', 'in')
        if fmt not in ('text', 'json'):         # these are not traces, and say so
            same(f'hist of {fmt}', 'hist', 'in', '-e', '*:*', 'keys=common_pid')
        if os.path.isdir('in'):
            shutil.rmtree('in')
        else:
            os.unlink('in')


def test_small():
    for kind in 'small', 'rotated', 'many', 'stacks', 'wakes':
        subprocess.run([MAKE, kind, 'kind-' + kind], check=True)
        for options in [], ['--json'], ['-F', 'babeltrace']:
            same(f'{kind}: report {" ".join(options)}', 'report', *options, 'kind-' + kind,
                 least=100)
        same(f'{kind}: stat', 'stat', 'kind-' + kind, least=100)
    same('stacks as keys', 'hist', 'kind-stacks', '-e', 'sched:*', 'keys=common_stacktrace')


def test_flight():
    """What a flight recorder leaves: the newest packets of each lane, which begin anywhere."""
    def newest(data):
        p = list(packets(data))
        return data[p[len(p) // 3 + data[40] % 4]:]
    copy('flight', 'losses', newest)
    for options in REPORTS[::3]:
        same(f'flight: report {" ".join(options)}', 'report', *options, 'flight')
    same('flight: stat', 'stat', 'flight')
    same('flight: hist', 'hist', 'flight', *HISTS[0])


def test_limits():
    """Without descriptors, or memory, an answer is the same, or there is a message."""
    for argv in (['report', 'plain'], ['stat', 'plain'], ['hist', 'plain', *HISTS[0]],
                 ['convert', 'plain', '-o', '-', '--to', 'json']):
        one = run(1, argv)
        for files in range(3, 26):
            many = run(7, argv, (resource.RLIMIT_NOFILE, files))
            if many[0] == 0 and many != one or many[0] != 0 and not many[2] or many[0] < 0:
                ok(f'{argv[0]}: {files} files', False, many[0], many[2])
                break
        else:
            ok(f'{argv[0]}: few files', many == one, many[0], many[2])
    if SANITIZED:
        ok('memory # SKIP sanitizers need address space', True)
        return
    for argv in (['report', 'plain'], ['stat', 'plain'], ['hist', 'plain', *HISTS[0]]):
        one, good = run(1, argv), 0
        for mib in range(6, 160, 7):
            many = run(7, argv, (resource.RLIMIT_AS, mib << 20))
            # the loader itself may have no memory, and then says so
            if many[0] == 0 and many != one or many[0] != 0 and not many[2] or many[0] < 0:
                ok(f'{argv[0]}: {mib} MiB', False, many[0], many[2])
                break
            good += many[0] == 0
        else:
            ok(f'{argv[0]}: little memory', good, many[0], many[2])


def test_interrupt():
    """Ctrl-C ends it at once, also while threads are at work; so does a reader that goes."""
    for argv in (['report', '-j3', 'plain'],
                 ['convert', '-q', '-j3', 'plain', '-o', '-', '--to', 'json']):
        with subprocess.Popen([TACHO, *argv], stdout=subprocess.PIPE) as p:
            p.stdout.read(1000)
            time.sleep(0.05)            # it waits for the pipe, its threads for it
            p.send_signal(signal.SIGINT)
            p.stdout.close()
            ok(f'{argv[0]}: Ctrl-C', p.wait() == -signal.SIGINT, p.returncode)
        with subprocess.Popen([TACHO, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            p.stdout.read(100000)
            p.stdout.close()
            ok(f'{argv[0]}: a closed pipe', p.wait() == 0 and not p.stderr.read(), p.returncode)


def test_words():
    for bad in '0', '-1', 'x', '1000', '':
        p = subprocess.run([TACHO, 'stat', '-j', bad, 'plain'], capture_output=True, text=True,
                           check=False)
        ok(f'-j "{bad}"', p.returncode == 2 and 'is not a number from 1 to 256' in p.stderr,
           p.stderr)


def main():
    place = tempfile.mkdtemp(prefix='tacho-jobs-')
    os.chdir(place)
    os.environ.update(LC_ALL='C.UTF-8', TZ='UTC', TACHO_DIR=os.path.join(place, 'run'))
    try:
        make_traces()
        for test in sys.argv[1:] or ('threads', 'headers', 'variables', 'traces', 'formats',
                                     'small', 'flight', 'limits', 'interrupt', 'words'):
            globals()['test_' + test]()
    finally:
        shutil.rmtree(place)
    print(f'1..{number}')
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
