#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of the model in SQL with the index of the trace: the rows are those of a whole pass,
in the same order and with the same rowid, and less is read."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import random_trace

TACHO, GEN = os.environ['TACHO'], os.environ['GEN_TRACE']
RULES = ['--counter', 'bytes: bench:thin.bytes', '--span',
         'op: bench:thin -> bench:named by fd=prio', '--span', 'pair: bench:thin -> bench:named']
OWN = ['--span', 'req: app:take -> app:done by id name who', '--counter', 'ids: app:take.id']
HEAD = struct.Struct('<I16sIQQQQQQQIIQ')
TABLES = ('slice', 'thread_state', 'counter', 'flow', 'instant', 'gap')
number = failed = 0


def ok(what, good, *why):
    global number, failed
    number += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {number} - {what}', flush=True)
    for line in why if not good else ():
        print('#', str(line)[:2000].replace('\n', '\n# '))


def sql(trace, statements, rules):
    """The rows of each statement, and what each has read."""
    marked = ' '.join(f"{s}; select '=';" for s in statements)
    p = subprocess.run([TACHO, 'sql', '-q', '--stats', '--csv', *rules, trace, marked],
                       capture_output=True, text=True, check=False)
    if p.returncode:
        return [p.stderr], [{}]
    read = [{word: int(n) for word, n in re.findall(r'(\w+) (\d+)', line)}
            for line in p.stderr.splitlines() if line.startswith('scans ')]
    return re.split(r"^'='\n=\n", p.stdout, flags=re.M)[:-1], read[::2]


def make_index(trace, rules):
    p = subprocess.run([TACHO, 'index', *rules, trace], capture_output=True, text=True, check=False)
    q = subprocess.run([TACHO, 'index', '--show', '--json', *rules, trace], capture_output=True,
                       text=True, check=False)
    return json.loads(q.stdout) if p.returncode == 0 else {'checkpoints': 0, 'why': p.stderr}


def questions(begin, end, seed):
    """Statements, and which of them begin late in the trace."""
    r, late, other = random.Random(seed), [], []
    at = lambda part: begin + int((end - begin) * part)
    for table in TABLES:
        for part in (0.9, r.uniform(0.6, 0.95)):
            late.append(f'select rowid, * from {table} where time >= {at(part)}')
        late += [f'select rowid, * from {table}({at(0.99)}) where time > {at(0.97)}',
                 f'select rowid, * from {table} where time > {at(0.8)} limit 5 offset 1',
                 f'select rowid, * from {table} where time between {at(0.7)}.5 and {at(0.75)}']
        other += [f'select rowid, * from {table} where time >= {at(r.random())} and time < {at(r.random())}',
                  f'select rowid, * from {table}({at(0.3)}) where time >= {at(0.5)}',
                  f'select count(*), count(distinct rowid) from {table}',
                  f'select rowid, * from {table} where time < {at(0.1)} or time > {at(0.9)}',
                  f'select b.rowid, b.* from {table} b where b.time = (select max(time) from {table})']
    for a, b in ((at(0.7), at(0.71)), (at(0.9), at(5)), (at(0.5), at(0.5)), (at(0.6), at(0.4)),
                 (at(-0.5), at(0.3)), (at(0.2), at(0.9))):
        late.append(f'select * from states({a}, {b})')
    late += [f'select * from states({at(0.9)})', f'select * from states(null, {at(0.1)})',
             'select * from states', 'select * from track']
    other.append('select t.path, count(*) from flow f join track t on t.id = f.from_track '
                 f'where f.time > {at(0.8)} group by 1 order by 1')
    return late, other


def compare(trace, rules, seed, checkpoints):
    """Without and with; whether any row of each table was compared."""
    span = sql(trace, ['select min(time), max(time) from events'], rules)[0][0]
    begin, end = map(int, span.split('\n')[1].split(','))
    late, other = questions(begin, end, seed)
    rows, read = sql(trace, late + other, rules)
    info = make_index(trace, rules)
    got, less = sql(trace, late + other, rules)
    wrong = [(q, [p for p in zip(a.split('\n'), b.split('\n')) if p[0] != p[1]][:2], len(a), len(b))
             for q, a, b in zip(late + other, rows, got) if a != b]
    ok(f'{trace}: rows are those of a whole pass', not wrong and len(rows) == len(got) ==
       len(late + other), info, len(rows), len(got), *wrong[:5])
    ok(f'{trace}: there are checkpoints', info['checkpoints'] >= checkpoints, info)
    # instants end early in any case; the others read the trace to its end
    bad = [(q, a, b) for q, a, b in zip(late, read, less)
           if not (b['records'] < a['records'] or a['records'] == 0) or
           not b['packets'] <= a['packets']]
    ok(f'{trace}: what begins late reads less', len(read) == len(less) == len(late + other) and
       not bad, len(read), len(less), *bad[:5])
    return {table: max(len(a) for q, a in zip(late, rows) if f'from {table} ' in q) > 200
            for table in TABLES}


def plan(trace, query, rules=RULES):
    return sql(trace, ['explain query plan ' + query], rules)[0][0]


def whose():
    """Which statements use it, and which index is not used."""
    late = "slice where time >= ts('0.02')"
    ok('the plan says so', 'time>=? by the index' in plan('t', f'select * from {late}') and
       'by the index' in plan('t', 'select * from track') and
       'by the index' in plan('t', 'select * from states(1, 2)'),
       plan('t', f'select * from {late}'))
    ok('only where it begins late', 'index col' not in
       plan('t', "select * from slice where time < ts('0.02')") + plan('t', "select * from slice"))
    ok('not of other rules', 'by the index' not in plan('t', f'select * from {late}', RULES[:2]))
    count = f'select count(*) from {late}'
    rule = "select tacho_rule('counter more: bench:thin.fd')"
    rows, read = sql('t', [count, rule, count, 'select * from track'], RULES)
    want = sql('t', ['select * from track'], RULES + ['--counter', 'more: bench:thin.fd'])[0][0]
    ok('not after rules were added', rows[0] == rows[2] and rows[3] == want and
       read[0]['records'] < read[2]['records'], rows, read)


def grown():
    """The index of a trace that has got more packets since."""
    asked = ["select rowid, * from slice where time > ts('0.02')", 'select * from track',
             "select * from states(ts('0.02'), null)"]
    want = sql('t', asked, RULES)[0]
    shutil.copytree('t', 'g', ignore=shutil.ignore_patterns('.*'))
    name, at = 'g/program_1', 0
    with open(name, 'rb') as f:
        whole = f.read()
    while at < len(whole) * 0.97:
        at += HEAD.unpack_from(whole, at)[7] // 8
    with open(name, 'wb') as f:
        f.write(whole[:at])
    make_index('g', RULES)
    before = plan('g', asked[0])
    with open(name, 'wb') as f:
        f.write(whole)
    ok('a trace that has grown is read as a whole', 'by the index' in before and
       'by the index' not in plan('g', asked[0]) and sql('g', asked, RULES)[0] == want, before)


def damaged():
    """Wrong bytes: the rows of a whole pass, whatever was told before."""
    rng = random.Random(3)
    name = 't/.tacho-index'
    with open(name, 'rb') as f:
        good = f.read()
    asked = ["select rowid, * from thread_state where time > ts('0.022') limit 300",
             "select * from states(ts('0.01'), ts('0.012'))", 'select * from track',
             "select rowid, * from counter where time > ts('0.0249')"]
    want, wrong, whole = sql('t', asked, RULES)[0], [], 0
    for k in range(12):
        bad = bytearray(good)
        for _ in range(2000 if k % 2 else 40):
            bad[rng.randrange(4096, len(bad))] ^= 1 << rng.randrange(8)
        with open(name, 'wb') as f:
            f.write(bad)
        got, read = sql('t', asked, RULES)
        whole += len(read) == len(asked) and read[0]['records'] > 225000
        if got != want:
            wrong.append((k, [len(g) for g in got], got[0][:200]))
    with open(name, 'wb') as f:
        f.write(good)
    ok('a damaged index changes no row', not wrong, *wrong)
    ok('and some were not used', whole > 0, whole)


def main():
    top = tempfile.mkdtemp(prefix='tacho-sql-index-')
    os.chdir(top)
    try:
        subprocess.run([GEN, '250000', 't', '64'], check=True)
        seen = compare('t', RULES, 1, 3)
        for kind, seed in (('ctf', 5), ('kev', 6), ('ctf', 11)):
            random_trace.write(kind, seed, f'{kind}{seed}', 20000)
            for table, any_row in compare(f'{kind}{seed}', OWN, seed, 1).items():
                seen[table] |= any_row
        ok('all tables had rows', all(seen.values()), seen)
        whose()
        grown()
        damaged()
    finally:
        os.chdir('/')
        shutil.rmtree(top)
    print(f'1..{number}')
    return failed > 0


sys.exit(main())
