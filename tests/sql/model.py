#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of the model in SQL: equal to `tacho model --items --json`, sums, joins, terms,
rules of the user, damage, the extension."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import random_trace

TACHO, EXTENSION = os.environ['TACHO'], os.environ['EXTENSION']
SANITIZED = bool(os.environ.get('SANITIZED'))   # slow
SPANS = ('req: app:take -> app:done by id name who', 'job: app:start -> app:stop')
OPTIONS = [word for s in SPANS for word in ('--span', s)]
COUNTER = 'orders: shop:order.id'
MARK = 'shop:order mark thread name="order" cat=order'
failures, number = [], 0


def check(what, got, want):
    if got != want:
        failures.append(f'{what}: {str(got)[:600]}, not {str(want)[:600]}')


def run(*argv, **kw):
    return subprocess.run(argv, capture_output=True, text=True, errors='replace', timeout=120,
                          check=False, **kw)


def sql(trace, query, *options):
    p = run(TACHO, 'sql', '-q', '--json', *options, trace, query)
    if p.returncode:
        failures.append(f'{query[-300:]}: {p.stderr.strip()[:300]}')
        return []
    return [json.loads(line) for line in p.stdout.splitlines()]


def one(trace, query, *options):
    rows = sql(trace, query, *options)
    return list(rows[0].values())[0] if rows else None


def stats(trace, query):
    p = run(TACHO, 'sql', '-q', '--stats', '--csv', trace, query)
    check(query, p.returncode, 0)
    words = p.stderr.replace(',', '').split()
    return {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}


def refused(what, part, *argv):
    p = run(*argv)
    if not p.returncode or part not in p.stderr:
        failures.append(f'{what}: {p.returncode}, {p.stderr!r}')


def model(trace, *options):
    p = run(TACHO, 'model', '-q', '--items', '--json', *options, trace)
    check('tacho model', p.returncode, 0)
    return [json.loads(line) for line in p.stdout.splitlines()]


# ---- equality with tacho model ----

FLAGS = {'begin_unknown': 'begin-unknown', 'end_unknown': 'end-unknown', 'uncertain': 'uncertain',
         'io': 'io', 'preempted': 'preempted', 'by_irq': 'irq'}


def flags(row):
    return sorted(word for name, word in FLAGS.items() if row.get(name))


def pick(row, *names):
    """NAME, or NAME=COLUMN, as a tuple for sorting and comparing."""
    return tuple(str(row[n.split('=')[-1]]) for n in names)


def interval(row):
    check('dur', row['dur'], row['end'] - row['time'])
    return pick(row, 'time', 'end', 'begin_record', 'end_record') + (str(flags(row)),)


def item_interval(item):
    return pick(item, 'begin', 'end', 'begin_record', 'end_record') + (str(sorted(item['flags'])),)


class Tracks:
    """What tacho model says of tracks: the names that they have at the end."""

    def __init__(self, items):
        self.list = {i['track']: i for i in items if 'track' in i}

    def find(self, number, kind):
        while number:
            if self.list[number]['kind'] == kind:
                return self.list[number]['number']
            number = self.list[number]['parent']
        return None

    def of(self, number):
        return [self.find(number, k) for k in ('cpu', 'process', 'thread')]

    def path(self, number):
        t = self.list[number]
        text = self.path(t['parent']) + '/' if t['parent'] else ''
        text += t['kind']
        if t['kind'] in ('cpu', 'process', 'thread'):
            text += f' {t["number"]}'
        return text + (f' {t["name"]}' if t['name'] else '')


def compare_slices(trace, items, tracks, options):
    rows = sql(trace, 'select * from slice', *options)
    names = ('track', 'depth', 'name', 'category')
    check(f'{trace}: slice', [pick(r, *names) + interval(r) for r in rows],
          [pick(i, 'slice', *names[1:]) + item_interval(i) for i in items if 'slice' in i])
    for row in rows:
        cpu, pid, tid = tracks.of(row['track'])
        check(f'{trace}: cpu', row['cpu'], cpu)
        if row['category'] not in ('running', 'idle', 'unknown'):
            check(f'{trace}: thread', (row['pid'], row['tid']), (pid, tid))
        elif row['category'] == 'running':
            check(f'{trace}: running is', row['name'], row['comm'] or row['name'])
            # LTT's may have no track: a thread that has no states
            check(f'{trace}: running has', row['tid'] is None and 'ltt' not in trace, False)


def compare_states(trace, items, tracks, options):
    rows = sql(trace, 'select * from thread_state', *options)
    check(f'{trace}: thread_state',
          [pick(r, 'track', 'state', 'cpu', 'waker_track') + interval(r) for r in rows],
          [pick(i, 'state', 'name', 'cpu', 'waker') + item_interval(i)
           for i in items if 'state' in i])
    for row in rows:
        check(f'{trace}: thread', [row['pid'], row['tid']], tracks.of(row['track'])[1:])
        if row['waker_track']:
            check(f'{trace}: waker_tid', row['waker_tid'], tracks.of(row['waker_track'])[2])
            check(f'{trace}: waker', row['waker'] is None, False)


def compare_points(trace, items, options):
    rows = sql(trace, 'select * from counter', *options)
    want = [i for i in items if 'counter' in i]
    check(f'{trace}: counter', sorted((r['track'], r['record'], r['time'], r['value']) for r in rows),
          sorted((i['counter'], i['record'], i['time'], float(i['value'])) for i in want))
    for track in {r['track'] for r in rows}:
        own = sorted((r for r in rows if r['track'] == track), key=lambda r: r['record'])
        for a, b in zip(own, own[1:]):
            check(f'{trace}: a value holds until the next', a['end'], b['time'])
    check(f'{trace}: flow', [pick(r, 'kind', 'from_track', 'time', 'from_record', 'to_track', 'end',
                                  'to_record') for r in sql(trace, 'select * from flow', *options)],
          [pick(i, 'flow', 'from', 'from_time', 'from_record', 'to', 'to_time', 'to_record')
           for i in items if 'flow' in i])
    check(f'{trace}: instant', [pick(r, 'track', 'time', 'record', 'name', 'category')
                                for r in sql(trace, 'select * from instant', *options)],
          [pick(i, 'instant', 'time', 'record', 'name', 'category')
           for i in items if 'instant' in i])
    check(f'{trace}: gap', [pick(r, 'cpu', 'source', 'time', 'end', 'lost', 'record')
                            for r in sql(trace, 'select * from gap', *options)],
          [pick(i, 'loss', 'source', 'begin', 'end', 'count', 'record')
           for i in items if 'loss' in i])


def compare_all(trace, options=()):
    items = model(trace, *options)
    tracks = Tracks(items)
    compare_slices(trace, items, tracks, options)
    compare_states(trace, items, tracks, options)
    compare_points(trace, items, options)
    rows = sql(trace, 'select * from track', *options)
    check(f'{trace}: track',
          [(r['id'], r['parent'] or 0, r['kind'], r['number'], r['name'], r['path']) for r in rows],
          [(n, t['parent'], t['kind'], t['number'], t['name'], tracks.path(n))
           for n, t in sorted(tracks.list.items())])
    return items


def test_equal():
    seen = set()
    for kind, seeds in (('ctf', 12), ('dat', 6), ('kev', 5), ('ltt', 5), ('lkst', 5)):
        for seed in range(-(-seeds // 3) if SANITIZED else seeds):
            trace = f'{kind}{seed}'
            random_trace.write(kind, seed, trace, 200)
            for item in compare_all(trace, OPTIONS):
                seen.add(next(iter(item)))
            if os.path.isdir(trace):
                shutil.rmtree(trace)
            else:
                os.unlink(trace)
    check('every item was there', {'track', 'slice', 'state', 'counter', 'flow', 'loss'} - seen, set())
    items = compare_all('t', ['--counter', COUNTER, '--rule', MARK])
    check('counters and marks', {'counter', 'instant'} - {next(iter(i)) for i in items}, set())


# ---- what the tables say together ----

def test_sums():
    first, last = sql('t', 'select min(time) a, max(time) b from events')[0].values()
    rows = sql('t', "select cpu, sum(dur) s from slice where category in ('running', 'idle', 'unknown') "
               "group by cpu")
    check('CPUs', {r['s'] for r in rows}, {last - first})
    running = sql('t', "select cpu, sum(dur) s from slice where category = 'running' group by 1 order by 1")
    check('states', sql('t', "select cpu, sum(dur) s from thread_state where state = 'running' "
                        "group by 1 order by 1"), running)
    for row in sql('t', 'select tid, sum(dur) s, min(time) a, max("end") b from thread_state group by track'):
        check(f'thread {row["tid"]}', row['s'], row['b'] - row['a'])
    check('counter ends', one('t', 'select max("end") from counter', '--counter', COUNTER), last)


def test_join():
    rows = sql('t', 'with e as materialized (select record, time, name from events) '
               'select s.time = b.time x, s.end = e.time y from slice s join e b on b.record = '
               's.begin_record join e on e.record = s.end_record where s.name = \'read\' or s.depth = 0')
    check('records', {(r['x'], r['y']) for r in rows}, {(1, 1)})
    check('numbers', sql('t', "select count(*) n, max(record) m from events"), [{'n': 9000, 'm': 8999}])
    every = {r['record']: r for r in sql('t', 'select record, time, name, cpu from events')}
    for where in ("name = 'sched_switch'", 'cpu = 1', 'tid = 1001', "source = 'program'",
                  "time > ts('0.004') and name = 'order'", 'time < ts(\'0.001\')'):
        rows = sql('t', f'select record, time, name, cpu from events where {where}')
        check(where + ': rows', len(rows), one('t', f'select count(*) from events where {where}'))
        check(where, [r for r in rows if r != every[r['record']]], [])
    by_track = one('t', 'select count(*) from slice s join track t on t.id = s.track where t.path = s.path')
    check('tracks', by_track, one('t', 'select count(*) from slice'))
    s = stats('t', 'select count(*) from slice s join track t on t.id = s.track')
    check('one pass, and one for the tracks', s['scans'], 1)
    s = stats('t', "select count(*) from events e join slice s on e.time = s.time where s.category = 'running' "
              "and s.time < ts('0.0001')")
    check('items are the outer loop', s['records'] < 3 * 9000, True)


def test_terms():
    """Each term gives what it gives of a copy."""
    half = "ts('0.005')"
    own = {'slice': ["category = 'running'", "name in ('worker', 'read')", 'track = 3', 'cpu = 0',
                     'cpu in (0, 1, -1)', 'cpu = -1', 'cpu is null', 'pid = 1000', 'tid in (1001, 1002)',
                     "comm = 'worker'", 'depth = 1', 'until is null', 'dur > 1000', '"end" < ' + half],
           'thread_state': ["state = 'sleeping'", "state in ('running', 'runnable')", 'cpu = 1',
                            'tid = 2000', "comm in ('cron')", 'preempted', "state = 'RUNNING' collate nocase"],
           'flow': ["kind = 'wake'", "kind = 'other'", 'from_tid = 2000', 'to_tid = 1000', 'from_cpu = 1'],
           'counter': ["name = 'orders'", 'value > 5', 'track in (1, 2, 3)'],
           'instant': ["name = 'order'", "name = 'x'", 'tid = 1001', 'pid = 1000'],
           'gap': ["source = 'program'", 'cpu = 1', 'lost = 7']}
    times = [f'time {op} {half}' for op in ('<', '<=', '>', '>=', '=')] + \
        [f"time between ts('0.002') and {half}", 'time = null', "time > 'x'", 'time < 0']
    options = ['--counter', COUNTER, '--rule', MARK]
    for table, terms in own.items():
        terms = [t for t in terms + times if table != 'gap' or 'tid' not in t]
        queries = [f'select count(*) n, sum(time % 1000007) s from {{0}} where {t}' for t in terms]
        queries += [f'select count(*) n, 0 s from {{0}} where {a} and {b}'
                    for a, b in zip(terms, terms[1:])]
        queries += [f'select count(*) n, 0 s from {{0}} where {a} or {b}'
                    for a, b in zip(terms, terms[1:])]
        text = f'create temp table copy as select *, until from a.{table};'
        text += ' union all '.join(q.format('a.' + table) for q in queries) + ';'
        text += ' union all '.join(q.format('copy') for q in queries)
        rows = sql('t', text, *options)
        half_of = len(rows) // 2
        check(f'{table}: queries', half_of, len(queries))
        for q, a, b in zip(queries, rows, rows[half_of:]):
            check(q.format(table), a, b)


def test_ends():
    """What ends a scan."""
    s = stats('t', 'select * from slice limit 3')
    check('limit', (s['records'] < 100, s['rows']), (True, 3))
    s = stats('t', "select * from slice where category = 'running' limit 2 offset 1")
    check('offset', (s['records'] < 200, s['rows']), (True, 3))
    s = stats('t', "select count(*) from slice(ts('0.001'))")
    check('until', s['records'] < 2000, True)
    check('until: the end', one('t', 'select max("end") <= ts(\'0.001\') from slice(ts(\'0.001\'))'), 1)
    check('until: unknown', one('t', "select count(*) from thread_state(ts('0.001')) where end_unknown") > 0,
          True)
    check('until: what ended', one(
        't', 'select count(*) from (select time, "end", name, track from slice(ts(\'0.005\')) where '
        "end_unknown = 0 except select time, \"end\", name, track from slice)"), 0)
    check('until: column', one('t', 'select distinct until from slice(1795184000001000000)'),
          1795184000001000000)
    check('until: nothing', one('t', "select count(*) from slice('x')"), 0)
    plan = ' '.join(r['detail'] for r in sql('t', 'explain query plan select * from slice order by time limit 2'))
    check('a sort', 'B-TREE' in plan and 'limit' not in plan, True)
    times = [r['time'] for r in sql('t', 'select time from slice order by time')]
    check('order by time', times, sorted(times))


# ---- rules ----

def test_rules():
    rule = 'span order: shop:order -> raw_syscalls:sys_exit'
    have = "select count(*) from slice where name = 'order'"
    check('none', one('t', have), 0)
    with open('rules', 'w', encoding='utf-8') as f:
        f.write('# mine\n' + rule + '\n')
    n = one('t', have, '--span', rule[5:])
    check('--span', n > 0, True)
    check('--rule', one('t', have, '--rule', rule), n)
    check('--rules-file', one('t', have, '--rules-file', 'rules'), n)
    check('tacho_rule()', sql('t', f"select tacho_rule('{rule}') r; {have}"), [{'r': rule}, {'count(*)': n}])
    check('--counter', one('t', "select count(*) from counter where name = 'orders'", '--counter', COUNTER),
          one('t', 'select count(*) from shop_order'))
    check('tracks follow', sql('t', f"select count(*) n from track where kind = 'counter'; "
                               f"select tacho_rule('counter {COUNTER}') n; "
                               "select count(*) n from track where kind = 'counter'")[::2],
          [{'n': 0}, {'n': 1}])
    refused('--span', 'span', TACHO, 'sql', '--span', 'order', 't', 'select 1')
    refused('--rules-file', 'nosuch', TACHO, 'sql', '--rules-file', 'nosuch', 't', 'select 1')
    refused('tacho_rule()', 'tacho: ', TACHO, 'sql', 't', "select tacho_rule('x')")
    refused('while it reads', 'a statement reads', TACHO, 'sql', 't',
            f"select tacho_rule('{rule}' || substr(name, 1, 0)) from slice")


# ---- damage, the extension ----

def test_damage():
    files = sorted(f for f in os.listdir('t') if os.path.getsize(os.path.join('t', f)) > 4096)
    check('files', bool(files), True)
    for name in files[:2]:
        size = os.path.getsize(os.path.join('t', name))
        for offset, data in ((0, b'\xff' * 96), (40, b'\0' * 16), (100, b'\xa5' * 4000),
                             (size // 2, b'\xff' * 200)):
            shutil.copytree('t', 'damaged')
            with open(os.path.join('damaged', name), 'r+b') as f:
                f.seek(offset)
                f.write(data)
            compare_all('damaged')
            shutil.rmtree('damaged')


class Skip(Exception):
    pass


def load_extension():
    # the programs that load it have no sanitizers
    if SANITIZED:
        raise Skip('the extension has sanitizers')


def test_shell():
    load_extension()
    if not shutil.which('sqlite3'):
        raise Skip('sqlite3 is not installed')
    want = one('t', 'select count(*) from slice', '--span', SPANS[1])
    p = run('sqlite3', input=f".load {EXTENSION[:-3]}\nselect tacho_attach('t', 'x');\n"
            f"select tacho_rule('span {SPANS[1]}') is null;\n"
            'select count(*) from x.slice;\nselect tacho_rule(null);\n')
    check('shell', p.stdout.split(), ['x', '0', str(want)])
    check('no rule', 'takes a rule' in p.stderr, True)


def test_python():
    load_extension()
    for python in (sys.executable, '/usr/bin/python3'):
        p = run(python, '-c', 'import sqlite3, sys\n'
                'c = sqlite3.connect(":memory:")\n'
                'if not hasattr(c, "enable_load_extension"): print("cannot"); sys.exit()\n'
                'c.enable_load_extension(True)\n'
                f'c.load_extension({EXTENSION!r})\n'
                'c.execute("select tacho_attach(?, ?)", ("t", "x")).fetchall()\n'
                'open_scan = c.execute("select * from x.slice")\n'
                'open_scan.fetchone()\n'
                'print(c.execute("select count(*) from x.thread_state where tid = ?", (2000,)).fetchone()[0])\n'
                'try: c.execute("select tacho_rule(\'x:y mark\')").fetchone()\n'
                'except sqlite3.Error as e: print("refused" if "reads" in str(e) else e)\n'
                'open_scan.close()\n'
                'c.close()')
        if p.stdout.strip() != 'cannot':
            check(python, (p.returncode, p.stdout.split()),
                  (0, [str(one('t', 'select count(*) from thread_state where tid = 2000')), 'refused']))


def main():
    global number, failures
    top = tempfile.mkdtemp(prefix='tacho-sql-model.')
    os.chdir(top)
    try:
        subprocess.run([os.environ['MAKE_SQL'], 't'], check=True)
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
