#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of the model as Arrow streams: the same columns and rows as in SQL, on random traces;
projection, terms, rules, batches of any size.  TAP."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import random_trace

TACHO, ROWS, MAKE_SQL = (os.environ[k] for k in ('TACHO', 'COLUMNS_ROWS', 'MAKE_SQL'))
TABLES = ('slice', 'thread_state', 'counter', 'flow', 'instant', 'gap', 'track')
RULES = ('span req: app:take -> app:done by id name who', 'span job: app:start -> app:stop',
         'counter orders: shop:order.id', 'shop:order mark thread name="order" cat=order')
failures, number = [], 0


def check(what, got, want):
    if got != want:
        failures.append(f'{what}: {str(got)[:500]}, not {str(want)[:500]}')


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors='replace', timeout=120,
                          check=False)


def columns(trace, **members):
    """Names of the columns, and the rows as texts."""
    p = run(ROWS, trace, *(f'{k}={v}' for k, v in members.items()))
    if p.returncode:
        failures.append(f'{members}: {p.returncode}, {p.stderr.strip()[:300]}')
        return [], []
    lines = p.stdout.split('\n')[:-1]
    return lines[0].split('\x1f'), [tuple(line.split('\x1f')) for line in lines[1:]]


def text(value):
    """A value of SQL as columns_rows writes it."""
    if value is None:
        return 'null'
    if isinstance(value, str):
        return f"'{value}'"
    return f'{value:.17g}' if isinstance(value, float) else str(value)


def sql(trace, query, rules=()):
    options = []
    if rules:
        with open('rules', 'w') as f:
            f.write('\n'.join(rules))
        options = ['--rules-file', 'rules']
    p = run(TACHO, 'sql', '-q', '--json', *options, trace, query)
    if p.returncode:
        failures.append(f'{query}: {p.stderr.strip()[:300]}')
        return [], []
    rows = [json.loads(line) for line in p.stdout.splitlines()]
    return list(rows[0]) if rows else [], [tuple(text(v) for v in r.values()) for r in rows]


def same(what, found, expected):
    if expected[1]:
        check(what + ', columns', found[0], expected[0])
    check(what + ', rows', len(found[1]), len(expected[1]))
    for i, (a, b) in enumerate(zip(found[1], expected[1])):
        if a != b:
            check(f'{what}, row {i}', a, b)
            break
    return len(expected[1])


# ---- tests ----

def test_random_traces():
    """Every table of every kind of trace, in batches of different sizes."""
    rows = dict.fromkeys(TABLES, 0)
    for i, kind in enumerate(('ctf', 'dat', 'kev', 'ltt', 'lkst', 'ctf', 'ctf')):
        trace = f'{kind}-{i}'
        random_trace.write(kind, 4000 + i, trace, 400)
        for k, table in enumerate(TABLES):
            rows[table] += same(f'{trace} {table}',
                                columns(trace, table=table, batch_rows=(0, 1, 7, 100)[(i + k) % 4],
                                        rules='\n'.join(RULES)),
                                sql(trace, f'select * from {table}', RULES))
    for table, n in rows.items():
        check(f'{table} has rows', n > 0, True)


def test_many_rows():
    """More items than a run or a batch have room for, and strings in other forms."""
    for flags in (0, 1, 2):
        for table in ('slice', 'thread_state', 'flow', 'track'):
            expected = sql('t', f'select * from {table}', RULES)
            check(f'{table} is long', table in ('flow', 'track') or len(expected[1]) > 1500, True)
            same(f'{table}, flags {flags}', columns('t', table=table, flags=flags, batch_rows=1100,
                                                    rules='\n'.join(RULES)), expected)


def test_projection():
    for table, names in (('slice', 'path,dur,name'), ('thread_state', 'waker,state,io,time'),
                         ('flow', 'to_comm,from_path,kind'), ('track', 'path,id'),
                         ('counter', 'value')):
        same(f'{names} of {table}', columns('t', table=table, columns=names, rules=RULES[2]),
             sql('t', f'select {names} from {table}', RULES[2:3]))


def test_terms():
    random_trace.write('ctf', 4711, 'r', 2000)
    first, last = (int(sql('r', f'select {f}(time) from events')[1][0][0]) for f in ('min', 'max'))
    middle = (first + last) // 2
    every = {table: len(sql('r', f'select time from {table}')[1])
             for table in ('slice', 'thread_state')}
    tids = [r[0] for r in sql('r', 'select tid from thread_state where tid group by tid')[1]]
    tid = tids[0]
    for members, where in (
            ({'begin': middle}, f'time >= {middle}'),
            ({'begin': first + 1000, 'end': middle}, f'time between {first + 1000} and {middle}'),
            ({'tids': f'{tid},{tids[1]}-{tids[2]}'}, f'tid in ({tid}, {tids[1]}, {tids[2]})'),
            ({'pids': tid}, f'pid = {tid}'), ({'cpus': '0'}, 'cpu = 0'),
            ({'comms': '*1*,!*2'}, "comm glob '*1*' and comm not glob '*2'"),
            ({'tracks': '*/running,*/state'}, "path glob '*/running' or path glob '*/state'"),
            ({'tracks': 'process*,!*/calls'}, "path glob 'process*' and path not glob '*/calls'"),
            ({'until': middle}, f'until = {middle}'),
            ({'until': middle, 'tids': tid, 'begin': first + 5000},
             f'until = {middle} and tid = {tid} and time >= {first + 5000}')):
        total = 0
        for table in every:
            found = columns('r', table=table, batch_rows=300, **members)
            total += same(f'{members} of {table}', found,
                          sql('r', f'select * from {table} where {where}'))
        check(f'{members}: {total} rows', 0 < total < sum(every.values()), True)
    same('tracks of a CPU', columns('r', table='track', cpus='0'),
         sql('r', "select * from track where path glob 'cpu 0*'"))
    middle = 1795184000005000000
    same('tracks until', columns('t', table='track', until=middle, batch_rows=1),
         (['id', 'parent', 'kind', 'number', 'name', 'path'], tracks_until(middle)))


def tracks_until(time):
    """Those that tacho model finds in a copy of the trace that ends there."""
    end = (time - 1795184000000000000) / 1e9
    check('convert', run(TACHO, 'convert', '-q', '--time', f',@{1795184000 + end:.9f}', 't', '-o',
                         'early').returncode, 0)
    return sql('early', 'select * from track')[1]


def test_damage():
    shutil.copytree('t', 'damaged')
    name = [f for f in sorted(os.listdir('damaged')) if f.startswith('kernel')][0]
    with open(f'damaged/{name}', 'r+b') as f:
        f.seek(20000)
        f.write(b'\xff' * 9000)
    for table in ('slice', 'gap'):
        n = same(f'{table}, damaged', columns('damaged', table=table),
                 sql('damaged', f'select * from {table}'))
        check('rows of the rest', n > 0, True)


def test_refused():
    for members, part in (
            ({'table': 'slices'}, "no table 'slices'; it has slice, thread_state, counter, flow, "
                                  'instant, gap, track'),
            ({'table': 'slice', 'columns': 'name,nothing'}, "table slice has no column 'nothing'"),
            ({'table': 'slice', 'columns': 'name,name'}, "'name' is named twice"),
            ({'table': 'slice', 'events': '*'}, 'events: the model of the table slice'),
            ({'table': 'slice', 'source': 'kernel'}, 'source: '),
            ({'table': 'slice', 'filters': 'id'}, 'filters: '),
            ({'table': 'slice', 'flags': 16}, 'needs events in the order of time'),
            ({'table': 'slice', 'rules': 'nonsense'}, 'rules: '),
            ({'table': 'slice', 'tids': 'x'}, "tids: 'x' is neither"),
            ({'table': 'slice', 'tracks': 'a,,b'}, 'tracks: an empty name'),
            ({'table': 'track', 'begin': 1}, 'the table track has no times'),
            ({'rules': RULES[0]}, 'rules: of a table of the model only'),
            ({'tracks': '*'}, 'tracks: of a table of the model only'),
            ({'until': 5}, 'until: of a table of the model only')):
        p = run(ROWS, 't', *(f'{k}={v}' for k, v in members.items()))
        if p.returncode != 1 or part not in p.stderr:
            failures.append(f'{members}: {p.returncode}, {p.stderr!r}')


def main():
    global number, failures
    top = tempfile.mkdtemp(prefix='tacho-columns-items.')
    os.chdir(top)
    try:
        subprocess.run([MAKE_SQL, 't'], check=True)
        for name, test in [(n, f) for n, f in globals().items() if n.startswith('test_')]:
            number += 1
            failures = []
            test()
            for line in failures:
                print('# ' + line.replace('\n', '\n# '))
            print(f'{"not ok" if failures else "ok"} {number} - {name[5:]}', flush=True)
        print(f'1..{number}')
    finally:
        os.chdir('/')
        shutil.rmtree(top)


main()
