#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables sample and frame: pairs of events and stacks by their rule, on random records; the stacks of a
program as `tacho hist` counts them; damage."""
import collections
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import linux_events
import random_trace

TACHO = os.environ['TACHO']
failures, number = [], 0


class Skip(Exception):
    pass


def check(what, got, want):
    if got != want:
        failures.append(f'{what}: {str(got)[:600]}, not {str(want)[:600]}')


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors='replace', timeout=120,
                          check=False)


def sql(trace, query, *options):
    p = run(TACHO, 'sql', '-q', '--json', *options, trace, query)
    check(f'{query[-200:]}: {p.stderr[:300]}', p.returncode, 0)
    return [json.loads(line) for line in p.stdout.splitlines()]


def values(trace, query):
    return [tuple(r.values()) for r in sql(trace, query)]


# ---- a trace of events and stacks ----

ADDRESSES = [a + 8 * i for i, (a, _) in enumerate(random_trace.SYMBOLS)] + [5, 0xffffffff80000000]
TRACER = 0xffffffff81000600
SYMBOLS = random_trace.SYMBOLS + [(TRACER, '__traceiter_x')]
ANY = 'field:u64 value;\toffset:8;\tsize:8;\tsigned:0;'


def form(name, number, *fields):
    return (f'name: {name}\nID: {number}\nformat:\n{linux_events.COMMON}\n' +
            ''.join(f'\t{f}\n' for f in fields) + '\nprint fmt: "x"\n').encode()


TYPES = {
    'kernel': {20: ('any:work', form('work', 20, ANY)), 21: ('any:irq', form('irq', 21, ANY)),
               4: ('ftrace:kernel_stack', form('kernel_stack', 4,
                   'field:int size;\toffset:8;\tsize:4;\tsigned:1;',
                   'field:__data_loc unsigned long[] caller;\toffset:12;\tsize:4;\tsigned:0;'))},
    'program': {20: ('app:take', form('take', 20, ANY)),
                21: ('tacho:user_stack', form('user_stack', 21,
                     'field:__data_loc unsigned long[] caller;\toffset:8;\tsize:4;\tsigned:0;'))}}


def raw_stack(kind, number, flags, pid, addresses):
    data = struct.pack(f'<{len(addresses)}Q', *addresses)
    at = 16
    loc = len(data) << 16 | at
    body = struct.pack('<iI', len(addresses), loc) if kind == 'kernel' else \
        struct.pack('<II', loc, 0)
    return struct.pack('<HBBi', number, flags, 0, pid) + body + data


class Trace:
    """Random records; `rows` has what sample says by the rule."""

    def __init__(self, seed, path, records=400):
        self.r = r = random.Random(seed)
        self.streams = {(kind, cpu): [] for kind in TYPES for cpu in range(2)}
        self.waits = {}                 # (kind, lane): {context: (pid, event, number)}
        self.rows = []
        time = random_trace.START
        for number in range(records):
            time += r.randint(1, 2000)
            self.record(number, time, r.choice(('kernel', 'kernel', 'program')))
        self.write(path)

    def record(self, number, time, kind):
        r = self.r
        cpu, pid = r.randrange(2), r.choice((7, 8))
        flags = r.choice((0, 0, 0x10, 0x08, 0x48)) if kind == 'kernel' else 0
        context = 3 if flags & 0x40 else 2 if flags & 8 else 1 if flags & 0x10 else 0
        lost = r.choice((0,) * 19 + (3,))
        ident = r.choice(list(TYPES[kind]))
        name = TYPES[kind][ident][0]
        waits = self.waits.setdefault((kind, cpu if kind == 'kernel' else pid), {})
        before = waits.get(context)
        for c in list(waits):
            if lost or c >= context:
                del waits[c]
        if not name.endswith('_stack'):
            waits[context] = (pid, name, number)
            raw = struct.pack('<HBBiQ', ident, flags, 0, pid, 1)
        else:
            stack = [r.choice(ADDRESSES[:3 + number % 5]) for _ in range(r.randint(0, 3))]
            inner = [TRACER] * r.randint(0, 2) if kind == 'kernel' else []
            raw = raw_stack(kind, ident, flags, pid, inner + stack)
            event = before if before and before[0] == pid and not lost else (0, None, None)
            self.rows.append((time, cpu, pid, kind, number, event[1], event[2], tuple(stack)))
        self.streams[kind, cpu].append((time, raw, lost))

    def write(self, path):
        os.makedirs(os.path.join(path, 'tacho'))

        def save(name, data):
            with open(os.path.join(path, name), 'wb') as f:
                f.write(data)
        save('metadata', b'/* CTF 1.8 */\n')
        save('tacho/info', 'tacho-trace: 1\nversion: 0.1.0\nstate: closed\nbyte_order: le\n'
             f'uuid: {random_trace.UUID.hex()}\nclock: mono\nfreq: 1000000000\n'
             f'pair: {random_trace.START} {random_trace.START}\nenv.cpus: 2\n'.encode())
        for kind, types in TYPES.items():
            save('tacho/types.' + kind, b''.join(
                f'{i} {n} {len(f)}\n'.encode() + f for i, (n, f) in types.items()))
        save('tacho/kallsyms', ''.join(f'{a:016x} t {s}\n' for a, s in SYMBOLS).encode())
        for (kind, cpu), records in self.streams.items():
            save(f'{kind}_{cpu}', b''.join(random_trace.packets(records, kind == 'kernel', cpu, self.r)))


def symbol(kind, address):
    found = [n for a, n in SYMBOLS if a <= address < a + 256]
    return found[0] if kind == 'kernel' and found else None


def folded(kind, stack):
    return ';'.join(symbol(kind, a) or f'0x{a:x}' for a in reversed(stack))


QUERY = ('select time, cpu, tid, source, record, system || \':\' || event, event_record, depth, symbol, '
         'folded, stack from sample')


def test_random():
    for seed in range(6):
        path = f'r{seed}'
        trace = Trace(seed, path)
        got = values(path, QUERY)
        check(f'{seed}: rows', [g[:10] for g in got],
              [row[:7] + (len(row[7]), symbol(row[3], row[7][0]) if row[7] else None,
                          folded(row[3], row[7])) for row in trace.rows])
        ids = {}
        for row in trace.rows:
            key = (row[7], tuple(symbol(row[3], a) for a in row[7]))
            ids.setdefault(key, len(ids))
        numbers = [ids[row[7], tuple(symbol(row[3], a) for a in row[7])] for row in trace.rows]
        check(f'{seed}: numbers', [g[10] for g in got], numbers)
        frames = collections.defaultdict(list)
        for r in sql(path, 'select * from frame'):
            check('depth', r['depth'], len(frames[r['stack']]))
            frames[r['stack']].append((r['address'] % 2**64, r['symbol']))
        check(f'{seed}: frames', dict(frames), {i: list(zip(*key)) for key, i in ids.items() if key[0]})
        pairs(path, trace)
        shutil.rmtree(path)


def pairs(path, trace):
    """Terms, and queries that use fewer columns, give the same rows."""
    rows = trace.rows
    check('count', values(path, 'select count(*) from sample'), [(len(rows),)])
    check('stacks first', values(path, "select folded, stack from sample where tid = 8 union all "
                                 "select group_concat(coalesce(symbol, '')), 0 from frame where stack = 1")[:-1],
          values(path, 'select folded, stack from sample where tid = 8'))
    middle = rows[len(rows) // 2][0]
    for where, test in ((f'time >= {middle}', lambda r: r[0] >= middle), ("source = 'kernel'", lambda r: r[3] == 'kernel'),
                        ("source = 'program' and tid = 7", lambda r: (r[3], r[2]) == ('program', 7)),
                        ('cpu = 1', lambda r: r[1] == 1), ("event = 'work'", lambda r: r[5] == 'any:work'),
                        ('event is null', lambda r: r[5] is None),
                        (f'cpu = 0 and time < {middle} and system = \'app\'',
                         lambda r: r[1] == 0 and r[0] < middle and r[5] == 'app:take')):
        want = [(r[0], r[5]) for r in rows if test(r)]
        check(where, values(path, f"select time, system || ':' || event from sample where {where}"), want)
        check('only ' + where, values(path, f'select time from sample where {where}'), [w[:1] for w in want])
    check('events', values(path, 'with e as materialized (select record, name, time from events) '
                           'select count(*), sum(e.time <= s.time and e.name = s.event) from sample s join e '
                           'on e.record = s.event_record'),
          [(len([r for r in rows if r[5]]),) * 2])


def test_join():
    """frame is read while a row of sample is at hand."""
    trace = Trace(11, 'j')
    rows = values('j', 'select s.folded, s.depth, count(f.address) from sample s left join frame f '
                  'on f.depth >= 0 and f.stack = (select max(stack) from frame) group by s.record')
    check('rows', [r[:2] for r in rows], [(folded(r[3], r[7]), len(r[7])) for r in trace.rows])
    rows = values('j', 'select s.depth, count(f.stack) from sample s left join frame f on f.stack = s.stack '
                  'group by s.record')
    check('frames', [r for r in rows if r[0] != r[1]], [])
    shutil.rmtree('j')


def test_program():
    p = run(TACHO, 'record', '-q', '--stack', '-o', 'p', '-e', '*:*', '--', os.environ['STACKS'])
    check('record', (p.returncode, p.stderr), (0, ''))
    if not sql('p', "select 1 from frame where symbol = 'inner'"):
        raise Skip('no symbols of programs')
    own = [(';'.join(f for f in r[0].split(';') if f in ('main', 'outer', 'inner')), r[1])
           for r in values('p', 'select folded, count(*) from sample group by stack')]
    check('folded', sorted(own), [('main;inner', 1), ('main;outer', 10), ('main;outer;inner', 10)])
    check('a function', values('p', "select f.symbol, count(*) from sample s join frame f on f.stack = s.stack "
                               "where f.symbol in ('inner', 'outer', 'main') group by 1 order by 1"),
          [('inner', 11), ('main', 21), ('outer', 20)])
    check('top', values('p', 'select count(*) from sample s join frame f on f.stack = s.stack and f.depth = 0 '
                        'where f.symbol = s.symbol and f.module = s.module'), [(21,)])
    check('names', values('p', "select distinct module like '%/stacks_program', \"offset\" > 0 from frame "
                          "where symbol in ('inner', 'outer', 'main')"), [(1, 1)])
    check('events', values('p', 'select count(*), count(event), count(distinct event) from sample'), [(21, 21, 2)])
    p = run(TACHO, 'hist', '-q', '--json', 'p', '-e', '*:*', 'keys=stacktrace')
    hits = [(tuple(f.get('name') for f in e['key']['common_stacktrace']), e['hitcount'])
            for line in p.stdout.splitlines() for e in json.loads(line)['entries']
            if e['key']['common_stacktrace']]      # not those of the stacks themselves
    got = [(tuple(json.loads(r[0])), r[1]) for r in values(
        'p', 'select (select json_group_array(symbol) from frame f where f.stack = s.stack), count(*) '
        'from sample s group by stack')]
    check('hist', sorted(map(str, got)), sorted(map(str, hits)))


def test_damage():
    Trace(5, 'd')
    for name in ('kernel_0', 'program_1'):
        size = os.path.getsize(os.path.join('d', name))
        for offset in range(96, size, size // 7):
            shutil.copytree('d', 'damaged')
            with open(os.path.join('damaged', name), 'r+b') as f:
                f.seek(offset)
                f.write(b'\xa5' * 24)
            sql('damaged', QUERY)
            sql('damaged', 'select * from frame')
            shutil.rmtree('damaged')


def main():
    global number, failures
    top = tempfile.mkdtemp(prefix='tacho-sql-stacks.')
    os.chdir(top)
    try:
        wanted = sys.argv[1:]
        for name, test in [(n, f) for n, f in globals().items() if n.startswith('test_')]:
            if wanted and name[5:] not in wanted:
                continue
            number += 1
            failures = []
            try:
                test()
            except Skip as why:
                print(f'ok {number} - {name[5:]} # SKIP {why}', flush=True)
                continue
            for line in failures:
                print('# ' + line.replace('\n', '\n# '))
            print(f'{"not ok" if failures else "ok"} {number} - {name[5:]}', flush=True)
        print(f'1..{number}')
    finally:
        os.chdir('/')
        shutil.rmtree(top)


main()
