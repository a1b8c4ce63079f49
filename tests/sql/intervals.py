#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""states(), intervals_overlap() and span_join: equal to what their definitions give by brute force."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import random_trace

TACHO = os.environ['TACHO']
failures, number = [], 0


def check(what, got, want):
    if got != want:
        failures.append(f'{what}: {str(got)[:600]}, not {str(want)[:600]}')


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, errors='replace', timeout=120,
                          check=False)


def sql(query, trace='t', status=0):
    with open('q.sql', 'w', encoding='utf-8') as f:
        f.write(query)
    p = run(TACHO, 'sql', '-q', '--json', '-f', 'q.sql', trace)
    check(f'{query[-200:]}: {p.stderr[:300]}', p.returncode, status)
    return [json.loads(line) for line in p.stdout.splitlines()]


def values(query, trace='t'):
    return [tuple(r.values()) for r in sql(query, trace)]


def refused(query, *parts):
    p = run(TACHO, 'sql', '-q', 't', query)
    if p.returncode != 1 or not all(part in p.stderr for part in parts) or \
            p.stderr.count('\n') > (3 if 'no such' in p.stderr else 1):
        failures.append(f'{query}: {p.returncode}, {p.stderr!r}')


# ---- states ----

def clipped(rows, first, last, begin, end):
    """The definition: rows of thread_state cut to [begin, end), summed by track and state."""
    sums = {}
    span = min(last, end) - max(first, begin)
    for r in rows:
        dur = min(r['end'], end) - max(r['time'], begin)
        if dur <= 0:
            continue
        s = sums.setdefault((r['track'], r['state']), dict(
            pid=r['pid'], tid=r['tid'], dur=0, count=0, longest=0, io=0, preempted=0, uncertain=0))
        s['dur'] += dur
        s['count'] += 1
        s['longest'] = max(s['longest'], dur)
        for flag in ('io', 'preempted', 'uncertain'):
            s[flag] += dur * r[flag]
    for s in sums.values():
        s['share'] = round(s['dur'] / span, 9)
    return sums


def states(trace, args):
    rows = sql(f'select * from states{args}', trace)
    for r in rows:
        r['share'] = round(r['share'], 9)
        del r['comm']
    got = {(r.pop('track'), r.pop('state')): r for r in rows}
    check(f'{trace}{args}: one row each', len(got), len(rows))
    return got


def test_states():
    for kind in ('ctf', 'dat', 'kev', 'ltt', 'lkst'):
        trace = f'{kind}.trace'
        random_trace.write(kind, 3, trace, 300)
        rows = sql('select * from thread_state', trace)
        first, last = values('select min(time), max(time) from events', trace)[0]
        for begin, end in ((first, last), (first + (last - first) // 3, first + (last - first) // 2),
                           (0, first + 5), (last - 5, 2**62), (first, first)):
            check(f'{trace}: {begin}, {end}', states(trace, f'({begin}, {end})'),
                  clipped(rows, first, last, begin, end))
        everything = clipped(rows, first, last, 0, 2**63)
        check(f'{trace}: there are states', len(everything) > 1, True)
        for args in ('', '()', '(null)', '(null, null)', f'({first - 1})', f'(0, {last + 1})'):
            check(trace + args, states(trace, args), everything)
        comms = sql('select track, comm from states', trace)
        want = dict(values('select track, comm from thread_state', trace))
        check(f'{trace}: names', {r['track']: r['comm'] for r in comms}, want)


def test_states_join():
    """One pass for each row of the table that has the range."""
    begin = 1795184000000000000
    rows = values(f'with r as materialized (select column1 t from (values ({begin}), ({begin + 10**6}))) '
                  f'select r.t, sum(s.dur) from r join states(r.t, r.t + {10**6}) s group by 1')
    check('ranges', rows, [(t, values(f'select sum(dur) from states({t}, {t + 10**6})')[0][0])
                           for t in (begin, begin + 10**6)])
    check('columns', values("select count(*) > 0, max(since), max(until) from states where until = 1795184000001000000"),
          [(1, None, 1795184000001000000)])
    for args in ("('x')", "(1.5)", "(ts('0'), '1 s')"):
        refused(f'select * from states{args}', 'states(FROM, TO) takes times in ns')


# ---- intervals ----

def overlap(x, y):
    """The definition in docs/sql.md."""
    begin, end = max(x[0], y[0]), min(x[1], y[1])
    return begin < end or (begin == end and all(
        v[0] == v[1] == begin or v[0] <= begin < v[1] for v in (x, y)))


def pairs(a, b, same):
    return [(max(x[0], y[0]), min(x[1], y[1]), x, y) for x in a for y in b if same(x, y) and overlap(x, y)]


def uncovered(rows, found, side):
    """The parts of rows that no pair has."""
    out = []
    for row in rows:
        own = sorted((p[0], p[1]) for p in found if p[2 + side] is row)
        at = row[0]
        for begin, end in own:
            if begin > at:
                out.append((at, begin, row))
            at = max(at, end)
        if at < row[1] or not own:
            out.append((at, row[1], row))
    return out


def rows_of(rnd, nr, nested):
    """(begin, end, key, name); without nested, rows of one key do not overlap."""
    out, at = [], {}
    for i in range(nr):
        key = rnd.choice((1, 2, 3, 'x', 1.5, None))
        begin = rnd.randrange(60) if nested else at.get(key, 0) + rnd.choice((0, 0, 1, 5))
        end = begin + rnd.choice((0, 0, 1, 2, 5, 9, 30))
        at[key] = end
        out.append((begin, end, key, f'{i}'))
    rnd.shuffle(out)
    return out


def literal(v):
    return 'null' if v is None else repr(v)


def table(name, rows, form):
    text = f'create temp table {name}(time, {form}, key, name_{name});'
    if rows:
        text += f'insert into {name} values ' + ', '.join(
            f'({b}, {e if form == "end_" else e - b}, {literal(k)}, {n!r})' for b, e, k, n in rows) + ';'
    return text.replace('end_', '"end"')


def ordered(rows):
    return sorted(map(str, rows))


def test_random():
    rnd = random.Random(7)
    for i in range(24):
        a = rows_of(rnd, rnd.choice((0, 1, 5, 40, 150)), i % 2)
        b = rows_of(rnd, rnd.choice((1, 5, 40, 150)), i % 4 < 2)
        make = table('a_', a, 'end_') + table('b_', b, 'dur')
        for keyed in (False, True):
            part = ' partitioned key' if keyed else ''
            x, y = ([r for r in rows if not keyed or r[2] is not None] for rows in (a, b))
            found = pairs(x, y, lambda p, q: not keyed or p[2] == q[2])
            both = [(p[0], p[1], p[2][3], p[3][3]) for p in found]
            left = [(p[0], p[1], p[2][3], None) for p in uncovered(x, found, 0)]
            right = [(p[0], p[1], None, p[2][3]) for p in uncovered(y, found, 1)]
            key = ", 'key'" if keyed else ''
            sources = [f"(select time, \"end\", a ->> 'name_a_' as name_a_, b ->> 'name_b_' as name_b_ "
                       f"from intervals_overlap('a_', 'select * from b_'{key}))", 's', 'l', 'o']
            text = make + ''.join(
                f'create virtual table {kind} using {module}(a_{part}, (select * from b_) as c{part});'
                for kind, module in (('s', 'span_join'), ('l', 'span_left_join'), ('o', 'span_outer_join')))
            rows = sql(text + ''.join(f'select {n} as nr, json_array(time, "end", name_a_, name_b_) as row '
                                      f'from {source};' for n, source in enumerate(sources)))
            got = [[] for _ in sources]
            for r in rows:
                got[r['nr']].append(tuple(json.loads(r['row'])))
            for n, want in enumerate((both, both, both + left, both + left + right)):
                check(f'{i} {keyed} {n}', ordered(got[n]), ordered(want))


def test_one_partitioned():
    """A range without a key cuts the rows of each key."""
    text = ('create virtual table x using span_join((select 1795184000001000000 as time, '
            '1000000 as dur) as range, thread_state partitioned tid);')
    got = {(r['tid'], r['state']): r['s'] for r in sql(
        text + 'select tid, state, sum(dur) s from x group by 1, 2')}
    want = {(r['tid'], r['state']): r['dur'] for r in sql(
        'select * from states(1795184000001000000, 1795184000002000000)')}
    check('cut', got, want)


def test_span_columns():
    text = ('create virtual table x using span_join(a.slice partitioned tid, '
            '"thread_state" as ts partitioned tid);')
    names = list(sql(text + 'select * from x limit 1')[0])
    check('first', names[:7], ['time', 'dur', 'end', 'tid', 'cpu', 'pid', 'comm'])
    check('taken names', [n for n in names if n.startswith('ts_')][:3], ['ts_cpu', 'ts_pid', 'ts_comm'])
    check('columns of both', {'name', 'category', 'depth', 'state', 'io', 'waker'} - set(names), set())
    check('no original times', {'ts_time', 'ts_end', 'ts_dur'} & set(names), set())
    check('all is one', values(text + 'select count(*), sum(dur) from x'),
          values("select count(*), sum(dur) from intervals_overlap('slice', 'thread_state', 'tid')"))
    plan = sql(text + 'explain query plan select name, sum(dur) from x where tid = 1001 group by 1')
    check('a key', 'tid=? columns: tid name' in plan[0]['detail'], True)
    for where in ('tid = 1000', "tid = '1000'", 'tid = 1000.0', 'tid = 5', "tid in (1000, 2000)",
                  "tid = 'x'", 'tid is null', "state = 'running' and tid = 1000"):
        check(where, values(text + f'select count(*), sum(dur) from x where {where}'),
              values(text + 'create temp table c as select * from x; select count(*), sum(dur) '
                     f'from c where {where}'))
    check('a self join', values(text + 'select count(*) from (select * from x limit 9) p, '
                                '(select * from x limit 9) q'), [(81,)])
    check('a drop', values(text + 'drop table x; select 1'), [(1,)])


def test_texts():
    """Keys and values of all kinds come back as they are."""
    text = ("create temp table a_ as select 1 as time, 9 as dur, 'k' as key, x'00ff' as blob, 1.5 as real, "
            "null as none, 'a\"b' as text;")
    got = sql(text + "select k1, k2, json(a) as a, time, dur, \"end\" from intervals_overlap('a_', "
              "'with v as (select 2 as time, 3 as \"end\", ''k'' as key, 1.5 as real) select * from v -- two', "
              "' key , real')")[0]
    a = json.loads(got.pop('a'))
    check('a row', a, {'time': 1, 'dur': 9, 'key': 'k', 'blob': '00ff', 'real': 1.5, 'none': None,
                       'text': 'a"b'})
    check('a pair', got, {'k1': 'k', 'k2': 1.5, 'time': 2, 'dur': 1, 'end': 3})


def test_refused():
    for query, part in (
            ("select * from intervals_overlap('slice')", 'takes two tables'),
            ("select * from intervals_overlap", 'takes two tables'),
            ("select * from intervals_overlap('slice', 'nope')", "'nope': no such table"),
            ("select * from intervals_overlap('slice', 'thread')", "'thread' has no intervals"),
            ("select * from intervals_overlap('slice', 'slice', 'x')", "no column 'x'"),
            ("select * from intervals_overlap('slice', 'slice', 'a,b,c,d')", 'up to 3 keys'),
            ("select * from intervals_overlap('slice', 'drop table slice')", 'syntax error'),
            ("select * from intervals_overlap('slice', 'select 2 as time, -1 as dur')", 'ends before it begins'),
            ("select * from intervals_overlap('slice', 'select 2.5 as time, 1 as dur')", 'no integer'),
            ('create virtual table x using span_join(slice)', 'joins two tables'),
            ('create virtual table x using span_join(slice, slice, slice)', 'joins two tables'),
            ('create virtual table x using span_join(slice by tid, slice)', "'slice by tid' is none of"),
            ('create virtual table x using span_join(slice partitioned, slice)', 'is none of'),
            ('create virtual table x using span_join(, slice)', 'joins two tables'),
            ('create virtual table x using span_join(slice partitioned nope, slice)', "no column 'nope'"),
            ('create virtual table x using span_outer_join(slice partitioned tid, slice)', 'or none'),
            ('create virtual table x using span_left_join(slice, slice partitioned tid)', 'or the first'),
            # a circle has an end
            ("create temp view v as select * from intervals_overlap('v', 'v'); select * from v", 'reads itself'),
            ('create temp view v as select 1 as time, 2 as dur; create virtual table temp.x using '
             'span_join(v, v); drop view v; create temp view v as select * from x; select * from x',
             'reads itself')):
        refused(query, part)
    # text that runs is nothing for a view of another's database
    db = ("attach 'other.db' as o; create view o.v as select * from intervals_overlap('slice', 'slice');"
          'select * from o.v')
    refused(db, 'unsafe use')


def main():
    global number, failures
    top = tempfile.mkdtemp(prefix='tacho-sql-intervals.')
    os.chdir(top)
    try:
        subprocess.run([os.environ['MAKE_SQL'], 't'], check=True)
        wanted = sys.argv[1:]
        for name, test in [(n, f) for n, f in globals().items() if n.startswith('test_')]:
            if wanted and name[5:] not in wanted:
                continue
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
