# SPDX-License-Identifier: MIT
"""trace.dat files of both versions, byte orders and sizes of long, read by the tool.

The files are made by datfile.py from values that are known here; trace-cmd, where it is
installed, has to read the same out of them.  With tracefs, pages of this kernel are read, too.
"""
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import datfile  # noqa: E402

TACHO = os.environ['TACHO']
TRACEFS = '/sys/kernel/tracing'
CODECS = os.environ.get('CODECS', 'zstd zlib').split()
COMMON = '''format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

'''
count = 0
work = tempfile.mkdtemp(prefix='tacho-dat.')


def ok(good, name, *why):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        for w in why:
            print('#', str(w)[:2000].replace('\n', '\n# '))
    return good


def skip(name, why):
    global count
    count += 1
    print(f'ok {count} - {name} # SKIP {why}')


def run(*cmd):
    p = subprocess.run(cmd, capture_output=True)
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


def save(name, data):
    path = os.path.join(work, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


# ---- types and events that are known here ------------------------------------------

def fmt(name, number, fields, print_fmt):
    text, at = f'name: {name}\nID: {number}\n' + COMMON, 8
    for decl, size, signed in fields:
        align = 4 if decl.startswith('__') else max(min(size, 8), 1) if '[' not in decl else 1
        m = re.search(r'u(\d+) .*\[', decl)
        if m and not decl.startswith('__'):
            align = int(m.group(1)) // 8
        at += -at % align
        text += f'\tfield:{decl};\toffset:{at};\tsize:{size};\tsigned:{signed};\n'
        at += size
    return (text + f'\nprint fmt: {print_fmt}\n').encode()


FORMATS = {
    'plain': fmt('plain', 301, [('u8 a', 1, 0), ('u16 b', 2, 0), ('int c', 4, 1),
                                ('u64 d', 8, 0), ('s64 e', 8, 1), ('char comm[16]', 16, 0),
                                ('u16 hw[3]', 6, 0)],
                 '"a=%u b=%u c=%d d=%llu e=%lld comm=%s", REC->a, REC->b, REC->c, REC->d, '
                 'REC->e, REC->comm'),
    'loc': fmt('loc', 302, [('unsigned int n', 4, 0), ('__data_loc char[] name', 4, 0)],
               '"n=%u name=%s", REC->n, __get_str(name)'),
    'locs': fmt('locs', 303, [('__data_loc u32[] v', 4, 0), ('u16 k', 2, 0),
                              ('__rel_loc char[] tail', 4, 0)],
                '"k=%u", REC->k'),
    'longs': fmt('longs', 304, [('__data_loc unsigned long[] w', 4, 0)], '"longs"'),
}


def common(m, number, pid):
    return m.pack('HBBi', number, 0, 0, pid)


def plain(m, pid, v):
    raw = common(m, 301, pid) + m.pack('BxHiQq16s3H', v & 255, v & 0xffff, -v, v * 0x100000001,
                                       -v * 3, b'task%d' % v, v & 0xffff, 1, 0xff00)
    # offset of d is 16: u8, pad, u16, int end at 16
    return raw, {'a': v & 255, 'b': v & 0xffff, 'c': -v, 'd': v * 0x100000001, 'e': -v * 3,
                 'comm': f'task{v}', 'hw': [v & 0xffff, 1, 0xff00]}


def loc(m, pid, v):
    name = f'name-{v}'.encode() * (1 + v % 20) + b'\0'
    raw = common(m, 302, pid) + m.pack('II', v, len(name) << 16 | 16) + name
    return raw, {'n': v, 'name': name[:-1].decode()}


def longs(m, pid, v):
    size, numbers = m.long, [v, 1, 2]
    raw = common(m, 304, pid) + m.pack('I', 3 * size << 16 | 12) + \
        m.pack('3Q' if size == 8 else '3I', *numbers)
    # 64-bit longs are a bitmask, as the kernel's cpumask fields are
    mask = ','.join(f'{n >> 32:08x},{n & 0xffffffff:08x}' for n in reversed(numbers))
    return raw, {'w': mask if size == 8 else numbers}


def locs(m, pid, v):
    numbers, tail = [v, 0x01020304, 5], b'tail%d\0' % v
    # v at 8, k at 12, tail at 16; data from 20 on, rel counts from 20
    raw = common(m, 303, pid) + m.pack('IHxxI', 12 << 16 | 20, v & 0xffff,
                                       len(tail) << 16 | 12) + m.pack('3I', *numbers) + tail
    return raw, {'v': numbers, 'k': v & 0xffff, 'tail': tail[:-1].decode()}


def sample(m, clock='local', start=10 ** 9, lost=()):
    """A file, and what is in it: (time, cpu, buffer, pid, event, fields)."""
    f = datfile.File(m)
    f.ftrace = [fmt('print', 5, [('unsigned long ip', m.long, 0), ('char buf[]', 0, 0)],
                    '"%ps: %s", (void *)REC->ip, REC->buf')]
    f.systems = {'mine': [FORMATS['plain'], FORMATS['loc']], 'other': [FORMATS['locs'], FORMATS['longs']]}
    f.kallsyms = b'ffffffff81000000 T _stext\nffffffff81000100 t helper\n'
    f.cmdlines = b'7 seven\n8 eight of it\n'
    f.clock = clock
    f.options = [(datfile.UNAME, b'Linux box 6.9.0 riscv\0'), (datfile.VERSION, b'9.9\0'),
                 (datfile.CPUSTAT, b'CPU: 0\nentries: 1\n\0'), (datfile.HOOK, b'a,b/c,d\0'),
                 (datfile.TRACEID, m.pack('Q', 77)), (999, b'of a later version')]
    what = []
    for b, name in enumerate(['', 'inst']):
        f.buffers[name] = {}
        for cpu in range(2):
            events = []
            for i in range(150):
                make = (plain, loc, locs, longs)[i % 4]
                pid = 7 + (i & 1)
                raw, fields = make(m, pid, 1 + i * 300 + cpu)
                time = start + i * (1 << 22) + (1 << 30) * (i // 70) + cpu * 100 + b * 10
                events.append((time, raw))
                what.append((time, cpu, name, pid, make.__name__, fields))
            f.buffers[name][cpu] = m.pages(events, lost if cpu == 0 and not b else ())
    return f, sorted(what, key=lambda w: w[0])


def read(path, *args):
    code, out, err = run(TACHO, 'report', '--no-pager', '-F', 'json', path, *args)
    got = []
    for line in out.splitlines():
        r = json.loads(line)
        if 'lost' in r:
            got.append(('lost', r['cpu'], r['lost']))
        else:
            got.append((r['time'], r['cpu'], r.get('buffer', ''), r['pid'], r['event'],
                        r['fields']))
    return code, got, err


def first_difference(a, b):
    for i, (x, y) in enumerate(itertools.zip_longest(a, b)):
        if x != y:
            return f'at {i}:\n {x}\n {y}'
    return 'none'


# ---- against trace-cmd ----------------------------------------------------------------

def plain_text(text):
    """What the two printers write differently: pointers, and blanks at the end."""
    text = re.sub(r'\(nil\)', '0', text)
    text = re.sub(r'\b(0x)?0*([0-9a-f]{9,16})\b', r'\2', text)
    return re.sub(r'\b0{16}\b', '0', text).rstrip()


def theirs(path):
    """None: trace-cmd cannot read it.  All events by CPU, time and text."""
    code, out, err = run('trace-cmd', 'report', '-N', '-t', path)
    if code or 'nsupported' in err:
        return None
    got, before = [], ''
    for line in out.splitlines():
        m = re.match(r'^(?:(\S+):)? *CPU:\d+ \[.*DROPPED\]$', line)
        if m:		# the buffer's name stands before this line, not before the event's
            before = m[1] or ''
            continue
        m = re.match(r'^(?:(\S+): )?\s*(.*?)-(\d+) +\[(\d+)\] +(?:\S+ +)?([\d.]+): +(\S+?): *(.*)$',
                     line)
        if m:
            got.append((m[1] or before, m[3], int(m[4]), int(m[5].replace('.', '')), m[6],
                        plain_text(m[7])))
            before = ''
    return sorted(got, key=lambda g: g[:5])


def ours(path):
    code, out, _ = run(TACHO, 'report', '--no-pager', '--ns', path)
    _, lines, _ = read(path)
    lines = [x for x in lines if x[0] != 'lost']
    text = [m for m in (re.match(r'^ *(.*?)-(\d+) +\[(\d+)\] \S+ +([\d.]+): (\S+?): ?(.*)$', x)
                        for x in out.splitlines()) if m]
    if code or len(text) != len(lines):
        return [('lines', len(text), len(lines))]
    return sorted([(j[2], t[2], int(t[3]), j[0], t[5], plain_text(t[6]))
                   for j, t in zip(lines, text)], key=lambda g: g[:5])


def compare(path, name):
    if not shutil.which('trace-cmd'):
        return skip(name, 'trace-cmd is not installed')
    them = theirs(path)
    if them is None:
        return skip(name, 'this trace-cmd does not read such a file')
    us = ours(path)
    return ok(them and us == them, name, f'{len(us)} and {len(them)} events',
              first_difference(us, them))


# ---- tests ----------------------------------------------------------------------------

def files(f):
    yield 'v6', f.v6()
    for c in ['none'] + CODECS:
        yield f'v7 {c}', f.v7(c)


def test_shapes():
    for order, long, page in (('<', 8, 4096), ('<', 4, 4096), ('>', 8, 4096), ('>', 4, 8192)):
        m = datfile.Machine(order, long, page)
        f, what = sample(m)
        for name, data in files(f):
            name = f"{name}, {'big' if order == '>' else 'little'}-endian, long {long}"
            path = save('x.dat', data)
            code, got, err = read(path)
            ok(code == 0 and got == what, name, err, first_difference(got, what))
            compare(path, name + ': as trace-cmd')


def test_facts():
    f, what = sample(datfile.Machine())
    path = save('x.dat', f.v7())
    code, out, err = run(TACHO, 'stat', '--json', path)
    s = json.loads(out)
    ok((s['format'], s['hostname'], s['release'], s['machine'], s['clock'], s['tracer_version'],
        s['events'], s['lost'], s['parts'], s['damaged'], s['begin'], s['end']) ==
       ('trace.dat', 'box', '6.9.0', 'riscv', 'local', '9.9', len(what), 0, 4, 0,
        what[0][0], what[-1][0]), 'stat: facts, counts and span', out, err)
    code, out, err = run(TACHO, 'check', path)
    ok(code == 0 and 'good' in out, 'check: good', out, err)
    code, out, err = run(TACHO, 'hist', path, '-e', 'mine:plain', 'keys=common_pid')
    ok(code == 0 and f'{sum(w[4] == "plain" for w in what)}' in out, 'hist over it', out, err)
    code, got, err = read(path, '--filter', 'comm == "task1201"')
    ok(got == [w for w in what if w[5].get('comm') == 'task1201'] and got, 'a filter over it',
       got, err)
    ctf = os.path.join(work, 'ctf')
    code, out, err = run(TACHO, 'convert', path, '-o', ctf)
    back = read(ctf)[1] if not code else []
    ok([b[:2] + b[3:] for b in back] == [w[:2] + w[3:] for w in what],
       'convert: the same events', out, err, first_difference([b[:2] + b[3:] for b in back],
                                                                 [w[:2] + w[3:] for w in what]))
    for to in ('dat', 'dat7'):
        back = os.path.join(work, 'back.' + to)
        code, out, err = run(TACHO, 'convert', path, '-o', back, '--to', to)
        got = read(back)[1] if not code else []
        ok([g[:2] + g[3:] for g in got] == [w[:2] + w[3:] for w in what],
           f'convert --to {to}: the same events', out, err,
           first_difference([g[:2] + g[3:] for g in got], [w[:2] + w[3:] for w in what]))
    code, out, err = run(TACHO, 'report', '--no-pager', path)
    ok('seven-7 ' in out and 'eight of it-8 ' in out, 'names of threads', out[:300])


def test_times():
    m = datfile.Machine()
    f, what = sample(m)
    f.options += [(datfile.DATE, b'0x5f5e100\0'), (datfile.OFFSET, b'-1000\0')]
    got = read(save('x.dat', f.v6()))[1]
    ok([g[0] for g in got] == [w[0] + 0x5f5e100 * 1000 - 1000 for w in what], 'DATE and OFFSET',
       got[:2])
    compare(os.path.join(work, 'x.dat'), 'DATE and OFFSET: as trace-cmd')
    big = 3 << 52
    f, what = sample(m, clock='x86-tsc', start=big)
    f.options += [(datfile.TSC2NSEC, m.pack('IIQ', 0x6eb3e453, 32, 123456))]
    got = read(save('x.dat', f.v7()))[1]
    ok([g[0] for g in got] == [w[0] * 0x6eb3e453 >> 32 for w in what], 'TSC2NSEC', got[:2])
    some = got[200][0]
    code, out, err = run(TACHO, 'report', '--no-pager', '-F', 'json', '--time',
                         f'={some // 10**9}.{some % 10**9:09},', os.path.join(work, 'x.dat'))
    ok(len(out.splitlines()) == len(what) - 200, 'from a moment on', len(out.splitlines()), err)
    f, what = sample(m)
    samples = [(10 ** 9, 500, 1, 0), (2 * 10 ** 9, 1500, 1, 0)]
    shift = m.pack('QII', 77, 1, 2)
    for _ in range(2):
        shift += m.pack('I2Q2q2Q', 2, *[s[0] for s in samples], *[s[1] for s in samples],
                        *[s[2] for s in samples])
    f.options += [(datfile.TIME_SHIFT, shift)]
    got = sorted(read(save('x.dat', f.v7()))[1])
    want = sorted(w[0] + 500 + (2 * (w[0] - 10 ** 9) * 1000 + 10 ** 9) // (2 * 10 ** 9)
                  for w in what)
    ok([g[0] for g in got] == want, 'TIME_SHIFT', got[:2], want[:2])


def records(path, *args):
    out = run(TACHO, 'report', '--no-pager', '-F', 'json', path, *args)[1]
    return [{k: v for k, v in json.loads(line).items() if k != 'ticks'} for line in out.splitlines()]


def test_converted_times():
    """A factor of TSC2NSEC is no frequency: what is made of it has the same nanoseconds."""
    m = datfile.Machine()
    f, what = sample(m, clock='x86-tsc', start=3 << 52)
    f.options += [(datfile.DATE, b'0x5f5e100\0'),
                  (datfile.TSC2NSEC, m.pack('IIQ', 0x6eb3e453, 32, 123456))]
    path = save('tsc.dat', f.v7())
    want = [g[0] for g in read(path)[1]]
    for to in ('ctf', 'dat', 'dat7'):
        out = os.path.join(work, 'tsc.' + to)
        err = run(TACHO, 'convert', path, '-o', out, '--to', to)[2]
        got = [g[0] for g in read(out)[1]]
        ok(len(want) == len(what) and got == want, f'TSC2NSEC: the same times as {to}', err, got[:2],
           want[:2])


def test_programs():
    """A trace of programs, by the TSC, with names that trace-cmd cannot read, and back."""
    native = os.path.join(work, 'native')
    run(os.environ['GEN_TRACE'], '4000', native)
    types = os.path.join(native, 'tacho', 'types.program')
    with open(types, 'rb') as f:
        text = f.read()
    with open(types, 'wb') as f:
        f.write(text.replace(b'bench:thin', b'bench:lib.thin.run').replace(
            b'bench:named', b'bench:lib_thin.run'))
    want = records(native)
    names = {'lib.thin.run': 'lib_thin_run', 'lib_thin.run': 'lib_thin_run_2'}
    ok(len(want) == 4000 and {w['event'] for w in want} == set(names) and
       {w['source'] for w in want} == {'program'}, 'a trace of programs', want[:2])
    for to in ('dat', 'dat7'):
        path = os.path.join(work, 'programs.' + to)
        code, out, err = run(TACHO, 'convert', native, '-o', path, '--to', to)
        got = records(path)
        ok(code == 0 and got == want, f'programs as {to}: times, sources and names are the same', err,
           first_difference(got, want))
        ok("'lib.thin.run' is 'lib_thin_run', 'lib_thin.run' is 'lib_thin_run_2'" in err,
           f'programs as {to}: names of another form are told', err)
        found = [len(records(path, '--time', f'@{w["time"] // 10**9}.{w["time"] % 10**9:09},'))
                 for w in want[::400]]
        ok(found == list(range(4000, 0, -400)), f'programs as {to}: found by their times', found)
        ok(records(path, '--source', 'kernel') == [] and
           len(records(path, '--source', 'program')) == 4000, f'programs as {to}: --source')
        if shutil.which('trace-cmd'):
            them = sorted(theirs(path) or [], key=lambda t: t[3])
            ok([t[4] for t in them] == [names[w['event']] for w in want],
               f'programs as {to}: trace-cmd reads every event', len(them), them[:2])
    again = os.path.join(work, 'again')
    run(TACHO, 'convert', os.path.join(work, 'programs.dat'), '-o', again)
    ok(records(again) == want, 'programs, and back as CTF', first_difference(records(again), want))


def test_lost():
    m = datfile.Machine()
    for order in '<>':
        m = datfile.Machine(order)
        f, what = sample(m, lost=((20, 41), (60, None)))
        path = save('x.dat', f.v7('none'))
        got = read(path)[1]
        at = [(i, g) for i, g in enumerate(got) if g[0] == 'lost']
        ok([g for _, g in at] == [('lost', 0, 41), ('lost', 0, 1)] and
           [g for g in got if g[0] != 'lost'] == what, f'lost events are told, {order}', at)
        # right before the first event behind the gap of its CPU
        gap = [w for w in what if w[1] == 0 and not w[2]]
        behind = [next(g for g in got[i + 1:] if g[0] != 'lost' and g[1] == 0 and not g[2])
                  for i, _ in at]
        ok(behind == [gap[20], gap[60]], f'where they were lost, {order}',
           [b[0] for b in behind], gap[20][0], gap[60][0])
        s = json.loads(run(TACHO, 'stat', '--json', path)[1])
        ok(s['lost'] == 42 and s['events'] == len(what), f'and counted, {order}', s)


def test_strings():
    for order in '<>':
        m = datfile.Machine(order)
        f = datfile.File(m)
        f.systems = {'rcu': [fmt('points', 305, [('const char * s', 8, 0)], '"%s", REC->s')]}
        f.printk = b'0xffffffff82000000 : "a text"\n0xffffffff82000010 : "and \\"more\\""\n'
        f.buffers = {'': {0: m.pages([(1000 + i, common(m, 305, 7) +
                                       m.pack('Q', 0xffffffff82000000 + 16 * i))
                                      for i in range(2)])}}
        for data in (f.v6(), f.v7()):
            code, out, err = run(TACHO, 'report', '--no-pager', save('x.dat', data))
            ok([x.split('points: ')[-1] for x in out.splitlines()] ==
               ['a text', 'and "more"'], f'printk strings, {order}', out, err)


def test_symbols():
    m = datfile.Machine()
    f = datfile.File(m)
    f.systems = {'fault': [fmt('at', 306, [('u64 ip', 8, 0)], '"%ps", (void *)REC->ip')]}
    f.kallsyms = b'0000000000000000 A fixed_percpu_data\n000000000003b000 A __per_cpu_end\n' \
        b'ffffffff81000000 T _stext\nffffffff81000100 t helper\n'
    f.buffers = {'': {0: m.pages([(1000 + i, common(m, 306, 7) + m.pack('Q', v)) for i, v in
                                  enumerate((0xffffffff81000100, 0x55f3e5b6b768))])}}
    for data in (f.v6(), f.v7()):
        code, out, err = run(TACHO, 'report', '--no-pager', save('x.dat', data))
        got = [x.split(' at: ')[-1] for x in out.splitlines()]
        ok(len(got) == 2 and got[0] == 'helper' and got[1].endswith('55f3e5b6b768'),
           'symbols, and none for a user\'s address', out, err)


# ---- the kernel's own events, whose last field has no length ---------------------------

IP = 0x81000100		# of helper(), in 32 bits and, with HIGH, in 64
HIGH = 0xffffffff00000000


def pack_args(m, args):
    """As vbin_printf(): each number at a multiple of its size, at most 4; strings as they are."""
    out = b''
    for size, v in args:
        if size is None:
            out += v.encode() + b'\0'
            continue
        size = m.long if size == 'long' else size
        out += bytes(-len(out) % min(size, 4))
        out += m.pack({1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[size], v & (1 << 8 * size) - 1)
    return out + bytes(-len(out) % 4)


def prints(m, new):
    """Formats, arguments and the text.  new: of a kernel that packs the texts of %pI4."""
    helper = IP | (HIGH if m.long == 8 else 0)
    address = 0x81234564 | (HIGH if m.long == 8 else 0)
    digits = 2 * m.long
    yield 'cpu: %d freq: %u\n', [(4, 3), (4, 2400000)], 'cpu: 3 freq: 2400000', True
    yield 'nothing\n', [], 'nothing', True
    yield '%s: %lu of %llu, %ld\n', [(None, 'abc'), ('long', 5), (8, 0x123456789a), ('long', 7)], \
        'abc: 5 of 78187493530, 7', True
    yield 'mixed %s%d%s %x\n', [(None, 'a'), (4, -1), (None, ''), (4, 0xbeef)], 'mixed a-1 beef', True
    yield 'at %ps, %pS\n', [('long', helper), ('long', helper + 16)], 'at helper, helper+0x10', True
    # how trace-cmd reads these is not the kernel's way
    yield '%c|%hd|%hhu|%*d|%.2s|%ld\n', [(1, 120), (2, -2), (1, 200), (4, 5), (4, 7), (None, 'xyz'),
                                          ('long', -3)], 'x|-2|200|    7|xy|-3', False
    if new:
        yield 'addr %pI4 end %d\n', [(None, '10.0.0.1'), (4, 9)], 'addr 10.0.0.1 end 9', False
    else:
        yield 'addr %pI4 end %d\n', [('long', address), (4, 9)], \
            f'addr {address:0{digits}x} end 9', False


def no_length(m, new, brackets):
    """A file with the kernel's own events, and their texts."""
    long, code = m.long, 'Q' if m.long == 8 else 'I'
    rest = '[]' if brackets else ''
    f = datfile.File(m)
    f.ftrace = [
        fmt('print', 5, [('unsigned long ip', long, 0), (f'char buf{rest}', 0, 1)],
            '"%ps: %s", (void *)REC->ip, REC->buf'),
        fmt('bprint', 6, [('unsigned long ip', long, 0), ('const char * fmt', long, 0),
                          (f'u32 buf{rest}', 0, 0)],
            '"%ps: %s", (void *)REC->ip, REC->fmt'),
        fmt('raw_data', 16, [('unsigned int id', 4, 0), (f'char buf{rest}', 0, 1)],
            '"id:%04x %08x", REC->id, (int)REC->buf[0]'),
        fmt('kernel_stack', 4, [('int size', 4, 1), (f'unsigned long caller{rest}', 0, 0)],
            '"\\t=> %ps\\n\\t=> %ps\\n", (void *)REC->caller[0], (void *)REC->caller[1]')]
    # of an array without a size the format tells where it begins
    f.ftrace = [t.replace(b'offset:12;\tsize:0', b'offset:%d;\tsize:0' % (8 + long))
                if b'name: kernel_stack' in t else t for t in f.ftrace]
    high = HIGH if long == 8 else 0
    f.kallsyms = b''.join(b'%0*x T %s\n' % (2 * long, high | a, n) for a, n in
                          ((0x81000000, b'_stext'), (IP, b'helper'), (0x81000200, b'other')))
    raws, texts, same = [], [], []

    def add(name, raw, text, as_theirs):
        raws.append(raw)
        texts.append((name, text))
        same.append(as_theirs)
    for text in ('a mark', 'another, which is longer', ''):
        add('print', common(m, 5, 7) + m.pack(code, IP | high) + text.encode() + b'\n\0',
            'helper: ' + text, True)
    for i, (text, args, want, as_theirs) in enumerate(prints(m, new)):
        at = (0x82000000 | high) + 64 * i
        f.printk += b'0x%x : "%s"\n' % (at, text.replace('\n', '\\n').encode())
        add('bprint', common(m, 6, 7) + m.pack(2 * code, IP | high, at) + pack_args(m, args),
            'helper: ' + want, as_theirs)
    add('raw_data', common(m, 16, 7) + m.pack('I', 0x77) + b'\x01\x02\xff\x00',
        '# 77 buf: 01 02 ff 00', False)
    add('kernel_stack', common(m, 4, 7) + m.pack('i', 2) + (b'\0\0\0\0' if long == 8 else b'') +
        m.pack(2 * code, IP | high, 0x81000210 | high), '<stack trace> => helper => other', False)
    f.buffers = {'': {0: m.pages([(10 ** 9 + i * 1000, r) for i, r in enumerate(raws)])}}
    return f, texts, same


def shown(path):
    out = run(TACHO, 'report', '--no-pager', path)[1]
    got = []
    for line in out.splitlines():
        m = re.match(r'^ *\S+-\d+ +\[\d+\] \S+ +[\d.]+: (\w+): ?(.*)$', line)
        if m:
            got.append((m[1], m[2]))
        elif got and line.strip():
            got[-1] = (got[-1][0], got[-1][1] + ' ' + line.strip())
    return got


def words(text):
    """trace-cmd's %p has 0x in front, its symbols have no size, its %ps may have parentheses."""
    return re.sub(r'\b0x', '', text).strip()


def test_no_length():
    shapes = [(o, n, b, new) for o in '<>' for n in (8, 4) for b, new in ((False, False), (True, True))]
    for order, long, brackets, new in shapes:
        m = datfile.Machine(order, long)
        f, texts, same = no_length(m, new, brackets)
        name = f"{'char buf[]' if brackets else 'char buf'}, {order}, long {long}"
        for kind, data in (('v6', f.v6()), ('v7', f.v7())):
            path = save('x.dat', data)
            got = shown(path)
            ok(got == texts, f'texts without a length: {name}, {kind}', first_difference(got, texts))
            s = run(TACHO, 'check', path)
            ok(s[0] == 0 and 'good' in s[1], f'texts without a length: check, {name}, {kind}', s)
        for through in ('', 'ctf'):
            source, back = path, os.path.join(work, 'no_length.dat')
            if through:
                source = os.path.join(work, 'old.ctf')
                run(TACHO, 'convert', path, '-o', source)
                got = shown(source)
                ok(got == texts, f'texts without a length: {name}, CTF', first_difference(got, texts))
            code, out, err = run(TACHO, 'convert', source, '-o', back)
            got = shown(back)
            ok(code == 0 and got == texts, f'texts without a length: {name}, {through} back', out, err,
               first_difference(got, texts))
            if shutil.which('trace-cmd'):
                them = theirs(back) or []
                want = [(t[0], words(t[1])) for t, s in zip(texts, same) if s]
                got = [(t[4], words(t[5])) for t, s in zip(them, same) if s]
                ok(len(them) == len(texts) and got == want,
                   f'texts without a length: {name}, {through} back, as trace-cmd', them,
                   first_difference(got, want))
            os.unlink(back)
            if through:
                shutil.rmtree(source)


def one_sentence(err):
    return len(err.splitlines()) == 1 and err.startswith('tacho: ') and len(err) < 400


def test_refused():
    f, _ = sample(datfile.Machine())
    good6, good7 = f.v6(), f.v7()
    for name, data, say in (
            ('v6 latency', f.v6(latency=b'# tracer: wakeup\n'), 'latency tracer'),
            ('version 8', good7.replace(b'tracing7', b'tracing8', 1), "version '8'"),
            ('compression xz', good7.replace(b'none\0', b'xz\0', 1), "'xz'"),
            ('no events', b'\x17\x08\x44tracing6\0', 'ends too early')):
        code, out, err = run(TACHO, 'report', '--no-pager', save('x.dat', data))
        ok(code == 1 and not out and say in err and one_sentence(err), f'refused: {name}', code, err)
    f.buffers = {}
    code, out, err = run(TACHO, 'report', '--no-pager',
                         save('x.dat', f.v7(latency=b'# tracer: wakeup\n')))
    ok(code == 1 and 'latency tracer' in err and one_sentence(err), 'refused: v7 latency', err)
    return good6, good7


def test_cut_off(files_):
    """At every length: a sentence and status 1, or fewer events and damage that is told."""
    for name, data in files_:
        bad = []
        steps = [len(data) * i // 60 for i in range(60)]
        for n in steps:
            path = save('x.dat', data[:n])
            code, out, err = run(TACHO, 'check', path)
            if not (code == 1 and (one_sentence(err) or 'problem' in out)):
                bad.append((n, code, out, err))
        ok(not bad, f'cut off: {name}', bad[:2])


# ---- this kernel's pages -----------------------------------------------------------------

def slurp(*path):
    with open(os.path.join(TRACEFS, *path), 'rb') as f:
        return f.read()


def put(path, text):
    with open(path, 'w') as f:
        f.write(text)


def drain(path, page):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    pages = []
    try:
        while True:
            b = os.read(fd, page)
            if not b:
                break
            pages.append(b.ljust(page, b'\0'))
    except BlockingIOError:
        pass
    finally:
        os.close(fd)
    return pages


def record(inst):
    for e in ('sched', 'syscalls', 'irq', 'workqueue'):
        path = os.path.join(inst, 'events', e, 'enable')
        if os.path.exists(path):
            put(path, '1')
    put(os.path.join(inst, 'tracing_on'), '1')
    put(os.path.join(inst, 'trace_marker'), 'a mark of ours')
    subprocess.run(['sh', '-c', 'ls -l / >&2; cat /proc/self/stat >&2'], stderr=subprocess.DEVNULL)
    put(os.path.join(inst, 'tracing_on'), '0')
    page = int(re.search(rb'data;\s*offset:(\d+);\s*size:(\d+)', slurp('events/header_page'))[1]) + \
        int(re.search(rb'data;\s*offset:(\d+);\s*size:(\d+)', slurp('events/header_page'))[2])
    pages = {}
    for name in os.listdir(os.path.join(inst, 'per_cpu')):
        pages[int(name[3:])] = drain(os.path.join(inst, 'per_cpu', name, 'trace_pipe_raw'), page)
    return page, pages


def kernel_file(page, pages):
    f = datfile.File(datfile.Machine(page=page))
    events = os.path.join(TRACEFS, 'events')
    for system in ['ftrace', 'sched', 'syscalls', 'irq', 'workqueue']:
        if not os.path.isdir(os.path.join(events, system)):
            continue
        texts = [slurp('events', system, e, 'format')
                 for e in sorted(os.listdir(os.path.join(events, system)))
                 if os.path.exists(os.path.join(events, system, e, 'format'))]
        if system == 'ftrace':
            f.ftrace = texts
        else:
            f.systems[system] = texts
    f.cmdlines = slurp('saved_cmdlines')
    f.buffers = {'': {c: [] for c in pages}, 'mine': pages}
    f.m.header_page = lambda: slurp('events/header_page')
    return f


def test_kernel():
    name = 'pages of this kernel: as trace-cmd'
    inst = os.path.join(TRACEFS, 'instances', f'tacho-dat-{os.getpid()}')
    try:
        os.mkdir(inst)
    except OSError as e:
        return skip(name, f'tracefs: {e.strerror}')
    try:
        page, pages = record(inst)
        f = kernel_file(page, pages)
    finally:
        os.rmdir(inst)
    for what, data in files(f):
        compare(save('x.dat', data), f'{name}, {what}')
    return None


def main():
    try:
        test_shapes()
        test_facts()
        test_times()
        test_converted_times()
        test_programs()
        test_lost()
        test_strings()
        test_symbols()
        test_no_length()
        good6, good7 = test_refused()
        f, _ = sample(datfile.Machine())
        test_cut_off([('v6', good6), ('v7', good7)] +
                     [(f'v7 {c}', f.v7(c)) for c in CODECS])
        test_kernel()
    finally:
        shutil.rmtree(work)
    print(f'1..{count}')


main()
