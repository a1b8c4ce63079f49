#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tacho sql: each table, each push-down (what was read), equality with other tools, damage,
formats, several traces, live sessions, the extension, and the questions of docs/sql.md."""
import collections
import csv
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import random_trace

TACHO, EXTENSION = os.environ['TACHO'], os.environ['EXTENSION']
BEGIN = 1795184000000000000
ROUND = 10000
failures, number = [], 0


def check(what, got, want):
    if got != want:
        failures.append(f'{what}: {got!r}, not {want!r}')


def has(what, text, part):
    if part not in text:
        failures.append(f'{what}: {part!r} is not in {text!r}')


def run(*argv, **kw):
    return subprocess.run(argv, capture_output=True, text=True, errors='replace', timeout=120,
                          check=False, **kw)


def sql(trace, query, *options):
    """The rows as objects."""
    p = run(TACHO, 'sql', '-q', '--json', *options, *([trace] if isinstance(trace, str) else trace),
            query)
    if p.returncode:
        failures.append(f'{query}: {p.stderr.strip()}')
        return []
    return [json.loads(line) for line in p.stdout.splitlines()]


def one(trace, query):
    rows = sql(trace, query)
    return list(rows[0].values())[0] if rows else None


def stats(trace, query):
    """What the query has read."""
    p = run(TACHO, 'sql', '-q', '--stats', '--csv', trace, query)
    check(query, p.returncode, 0)
    return {k: int(v) for k, v in re.findall(r'(\w+) (\d+)', p.stderr)}


def plan(trace, query):
    return ' '.join(r['detail'] for r in sql(trace, 'explain query plan ' + query))


def refused(what, trace, query, *parts):
    p = run(TACHO, 'sql', '-q', trace, query)
    check(what + ': status', p.returncode, 1)
    for part in parts:
        has(what, p.stderr, part)


# ---- tables ----

def test_events():
    first = sql('t', 'select * from events limit 1')[0]
    check('first', first, {'time': BEGIN, 'cpu': 0, 'pid': 1000, 'tid': 1000, 'comm': 'server',
                           'system': 'shop', 'name': 'order', 'source': 'program', 'lost': 0,
                           'text': 'id=0 customer=bob state=new mode='})
    check('hidden', sql('t', 'select ticks, context, buffer from events limit 1'),
          [{'ticks': 1000000000000, 'context': 'd..2.', 'buffer': ''}])
    times = [r['time'] for r in sql('t', 'select time from events')]
    check('order of time', times, sorted(times))
    check('all', len(times), 9000)


def test_event_tables():
    row = sql('t', 'select * from shop_order where id = 2')[0]
    check('fields', row, {
        'time': BEGIN + 2 * ROUND, 'cpu': 0, 'pid': 1000, 'tid': 1002, 'comm': 'worker', 'id': 2,
        'customer': 'bob', 'price': 1, 'tags': '[1,2,3]', 'state': 2, 'state_name': 'sent',
        'mode': 2, 'mode_name': 'express', 'field_pid': 77, 'big': -3, 'paid': 0})
    check('a value without a name', sql('t', 'select state_name, mode, mode_name from shop_order '
          'where id = 11'), [{'state_name': None, 'mode': 5, 'mode_name': 'gift|0x4'}])
    check('elements', one('t', 'select sum(value) from shop_order, json_each(tags)'), 6000)
    check('systems', one('t', 'select count(*) from other_order'), 1000)
    check('a fixed name', one('t', 'select count(*) from app_thread'), 1000)
    check('no such', run(TACHO, 'sql', 't', 'select 1 from "order"').returncode, 1)
    check('arrays', one('t', 'select json_extract(args, \'$[0]\') from sys_enter limit 1'),
          -2130706416)
    check('the event of the text', one('t', 'select text from sched_waking limit 1'),
          'comm=server pid=1000 prio=120 target_cpu=000')


def test_layouts():
    """The pieces of a rotated trace have one event under two ids."""
    check('rows', one('rotated', 'select count(*) from open'), 20)
    check('fields', sql('rotated', 'select bytes, path, count(*) n from open group by bytes'),
          [{'bytes': b, 'path': 'x', 'n': 10} for b in (1, 2)])
    check('none', one('rotated', 'select count(*) from kinds'), 0)
    check('one row for a type', sql('rotated', "select system || ':' || name t, count(*) n, fields, table_name from type "
                                    "group by 1 having n > 1 or t like '%:open'"),
          [{'t': 'app:open', 'n': 1, 'fields': 3, 'table_name': 'open'}])
    check('one row for a field', sql('rotated', 'select event, name from field group by 1, 2, system having count(*) > 1'), [])
    check('fields of it', sql('rotated', "select name, column_name from field where event = 'open' order by 1"),
          [{'name': n, 'column_name': n} for n in ('bytes', 'fd', 'path')])
    s = stats('rotated', "select count(*) from open where time > ts('0.5s')")
    check('a piece', s['packets'], 1)


def test_small_tables():
    check('thread', sql('t', 'select * from thread where tid = 1001'),
          [{'tid': 1001, 'pid': 1000, 'comm': 'worker'}])
    check('thread by text', sql('t', "select tid from thread where tid = '1001'"), [{'tid': 1001}])
    check('no thread', sql('t', "select tid from thread where tid = 1001.5 or tid = 5"), [])
    check('process', sql('t', 'select * from process'),
          [{'pid': 1000, 'comm': 'server', 'threads': 4}, {'pid': 2000, 'comm': 'cron', 'threads': 1}])
    cpus = sql('t', 'select cpu, packets, events, lost from cpu')
    check('cpu', cpus, [{'cpu': 0, 'packets': 40, 'events': 5000, 'lost': 0},
                        {'cpu': 1, 'packets': 40, 'events': 4000, 'lost': 7}])
    check('packet', sql('t', 'select count(*) n, sum(events) e, sum(lost) l, count(distinct file) f '
                        'from packet'), [{'n': 80, 'e': 9000, 'l': 7, 'f': 4}])
    check('loss', sql('t', 'select * from loss'),
          [{'time': BEGIN + 200 * ROUND + 1000, 'cpu': 1, 'source': 'program', 'buffer': '', 'lost': 7}])
    check('env', one('t', "select value from env where name = 'hostname'"), 'box')
    check('type', sql('t', "select table_name, fields from type where system = 'shop'"),
          [{'table_name': 'shop_order', 'fields': 9}])
    check('field', sql('t', "select column_name, declaration from field where event = 'order' and "
                       "name = 'pid'"), [{'column_name': 'field_pid', 'declaration': 'int pid'}])


# ---- what is not read ----

def test_plans():
    check('time', plan('t', 'select cpu from events where time >= 5 and time < 7'),
          'SCAN events VIRTUAL TABLE INDEX 18:time>=? time<? columns: time cpu')
    check('sets', plan('t', "select 1 from events where tid in (1, 2) and cpu = 0 and name = 'x'"),
          'SCAN events VIRTUAL TABLE INDEX 525472:cpu=? tid in (...) name=? columns: cpu tid name')
    has('order', plan('t', 'select time from sched_switch order by time'), 'order by time')
    for query in ('order by time', 'order by time desc', 'order by cpu'):
        sorts = 'B-TREE' in plan('t', 'select time from events ' + query)
        check('sort ' + query, sorts, query != 'order by time')
    has('limit', plan('t', 'select time from events where tid = 5 order by time limit 3'), 'limit')
    for query in ("where text = 'x' limit 3", 'order by cpu limit 3', 'where tid + 0 = 5 limit 3'):
        if 'limit' in plan('t', 'select time from events ' + query):
            failures.append('limit is taken: ' + query)
    has('columns', plan('t', 'select prev_pid from sched_switch'), ':columns: prev_pid')
    if 'name=' in plan('t', "select 1 from events where name = 'X' collate nocase"):
        failures.append('a collation is not BINARY')


def test_reads_less():
    count = 'select count(*) from '
    # 80 packets of 500 us in 4 files
    check('all', stats('t', count + 'events')['packets'], 80)
    middle = f'time between {BEGIN + 5000000} and {BEGIN + 5000100}'
    s = stats('t', count + 'events where ' + middle)
    check('a range reads its packets', s['packets'] <= 8 and s['records'] < 20, True)
    s = stats('t', count + f'events where time < {BEGIN + 400000}')
    check('it stops', s['packets'] <= 4, True)
    s = stats('t', count + f'events where time > {BEGIN + 9600000}')
    check('it seeks', s['packets'] <= 8, True)
    s = stats('t', count + f'events where time = {BEGIN + 20 * ROUND}')
    check('one moment', (s['packets'] <= 4, s['rows']), (True, 1))
    s = stats('t', count + 'events where cpu = 0')
    check('packets of a CPU', (s['packets'], s['records']), (40, 5000))
    check('no such CPU', stats('t', count + 'events where cpu = 9')['packets'], 0)
    s = stats('t', count + "events where name = 'sched_waking'")
    check('records of a type', (s['records'], s['rows']), (1000, 1000))
    s = stats('t', count + 'sched_waking')
    check('a table of a type', (s['records'], s['rows']), (1000, 1000))
    s = stats('t', count + f'sched_waking where time < {BEGIN + 400000}')
    check('a type and a range', s['packets'] <= 4, True)
    check('tid', stats('t', count + 'events where tid = 1001')['rows'], 250)
    check('pid', stats('t', count + 'events where pid = 2000')['rows'], 3000)
    check('comm', stats('t', count + "events where comm = 'cron'")['rows'], 3000)
    check('in: one scan', stats('t', count + 'events where tid in (1001, 2000)')['scans'], 1)
    check('or: one scan', stats('t', count + 'events where tid = 1001 or tid = 2000')['scans'], 1)
    s = stats('t', 'select time from events limit 5')
    check('limit', (s['records'], s['packets']), (5, 4))
    s = stats('t', 'select time from events order by time limit 5 offset 2')
    check('limit and offset', s['records'], 7)
    check('unused fields', stats('t', 'select id from shop_order')['values'], 1000)
    check('no field', stats('t', 'select count(*) from shop_order')['values'], 0)
    check('nothing', stats('t', 'select 1 from events where time > 5 and time < 5')['packets'], 0)


def test_terms():
    """Each term gives what it gives of a copy in a table of SQLite's own."""
    moments = [BEGIN + 5 * ROUND, BEGIN + 5 * ROUND + 0.5, -1, 'x', None, '1795184000000050000',
               9223372036854775807, -9223372036854775808, 1e30, -1e30]
    def text(v):
        return 'null' if v is None else repr(v)
    queries = []
    for op in ('=', '<', '<=', '>', '>='):
        queries += [f'%stime {op} {text(m)}' for m in moments]
    queries += [f'%scpu = {v}' for v in ('0', "'1'", '0.0', '0.5', '-1', 'null', "x''", '4294967295')]
    queries += ['%stid in (1000, 1001, null)', '%stid in ()', '%spid = 2000', '%spid in (1000, 2000)',
                '%spid = 0', '%spid is null', "%scomm = 'cron'", "%scomm in ('cron', '<idle>')",
                "%sname = 'order'", "%sname = 'ORDER'", "%sname = 'ORDER' collate nocase",
                "%ssystem in ('shop', 'sched')", "%ssource = 'kernel'", "%sname = 5",
                '%stid = 1000 and %scpu = 0', "%stid = 1000 or %sname = 'thread'",
                f'%stime < {BEGIN + 90000} or %stime > {BEGIN + 9900000}',
                f'%stime between {BEGIN} and {BEGIN + 99999} or %stime < {BEGIN + 50000}']
    def counts(table):
        return ' union all '.join(f'select count(*) n, sum(ticks) s from {table} where ' +
                                  q.replace('%s', '') for q in queries) + ';'
    rows = sql('t', 'create temp table copy as select *, ticks from events;' + counts('a.events') +
               counts('copy'))
    fast, slow = rows[:len(rows) // 2], rows[len(rows) // 2:]
    check('queries', len(fast), len(queries))
    for q, a, b in zip(queries, fast, slow):
        check(q, a, b)


def test_joins_by_time():
    """Inner scans through a window give what those of a copy give, in any order of the outer rows."""
    times = (('a.time', 'a.time + 30000'), ('a.time - 30000', 'a.time'), ('a.time + 1', 'a.time + 2000'),
             ('a.time', 'a.time'), ('a.time - 2000000', 'a.time - 1990000'), ('a.time + 500000', 'a.time + 500999'))
    terms = ('1', 'b.tid = a.tid', 'b.cpu = a.cpu', 'b.name = a.name', "b.comm = a.comm and b.cpu in (0, 1)",
             "b.name in ('order', 'sched_switch')", "b.source = 'kernel' and b.lost = 0")
    # ascending, descending, to and fro, and far apart
    orders = ('a.r % 211 = 0 order by a.time', 'a.r % 211 = 0 order by a.time desc',
              'a.r % 97 = 0 order by a.r * 7919 % 1009', 'a.r % 997 < 3 order by a.time')
    text = ('create temp table copy as select rowid r, *, ticks, buffer from a.events;'
            'create index temp.by_time on copy(time);')
    queries = []
    for i, (low, high) in enumerate(times):
        for k, term in enumerate(terms):
            outer = f'(select * from copy a where {orders[(i + k) % 4]} limit 60) a'
            where = f'b.time between {low} and {high} and {term}'
            queries.append(f'from {outer} cross join {{}} b on {where}')
    columns = ('count(*) n, sum(b.{}) r, sum(b.ticks * (a.ticks % 11) % 1000003) t, sum(length(b.text)) x, '
               'sum(length(b.comm)) c, sum(b.pid) p, sum(length(b.buffer)) u, max(b.lost) l')
    for table, row in (('a.events', 'rowid'), ('copy', 'r')):
        text += ' union all '.join(f'select {columns.format(row)} {q.format(table)}' for q in queries) + ';'
    rows = sql('t', text)
    half = len(rows) // 2
    check('queries', half, len(queries))
    for q, a, b in zip(queries, rows, rows[half:]):
        check(q, a, b)
    check('rows', sum(r['n'] for r in rows) > 1000, True)
    s = stats('t', "select count(*) from (select * from events where name = 'order') a join events b on "
              'b.time between a.time and a.time + 100000 and b.tid = a.tid')
    check('packets are read once', (s['scans'], s['packets'] < 3 * 80), (2001, True))
    s = stats('t', "select count(*) from shop_order a join shop_order b on b.time between a.time + 9000000 and "
              'a.time + 9000001')
    check('a range ahead', s['packets'] < 3 * 80, True)


def test_unknown_cpu():
    """A record whose CPU is not known has NULL, which is equal to no number."""
    random_trace.write('ctf', 1, 'nocpu', 600)
    with open('nocpu/kernel_0', 'r+b') as f:
        data, at = bytearray(f.read()), 0
        while at < len(data):
            data[at + 80:at + 84] = b'\xff' * 4
            at += int.from_bytes(data[at + 56:at + 64], 'little') // 8
        f.seek(0)
        f.write(data)
    check('unknown', one('nocpu', 'select count(*) > 100 from events where cpu is null'), 1)
    for where in ('cpu in (-1, 0)', 'cpu = -1', 'cpu = 0', 'cpu in (0, 1)', 'cpu = 4294967295', 'cpu is null',
                  'cpu in (null, 1)', 'cpu in (-1, 4294967295)'):
        for table in ('events', 'loss', 'sched_switch', 'slice'):
            check(f'{table} {where}', one('nocpu', f'select count(*) from {table} where {where}'),
                  one('nocpu', f'select count(*) from {table} where +{where}'))
    shutil.rmtree('nocpu')


# ---- other tools ----

def report(trace, *argv):
    """The events of tacho report, without its lines of losses."""
    p = run(TACHO, 'report', '-q', '--json', *argv, trace)
    return [json.loads(line) for line in p.stdout.splitlines() if '"event":' in line]


def test_equal_report():
    lines = report('t')
    rows = sql('t', 'select time, cpu, comm, system, name, source from events')
    check('lines', [(x['time'], x['cpu'], x['comm'], x['system'], x['event'], x['source'])
                    for x in lines], [tuple(r.values()) for r in rows])
    for event in ('sched_switch', 'shop:order', 'app:thread'):
        table = event.replace(':', '_')
        check(event, len(report('t', '-e', event)), one('t', f'select count(*) from {table}'))
    check('a CPU', len(report('t', '--cpu', '1')), one('t', 'select count(*) from events where cpu = 1'))
    check('threads', len(report('t', '-p', '1001,2000')),
          one('t', 'select count(*) from events where tid in (1001, 2000)'))
    check('a range', len(report('t', '--time', '0.002,0.003')),
          one('t', "select count(*) from events where time between ts('0.002') and ts('0.003')"))
    for row, line in zip(sql('t', 'select * from shop_order'), report('t', '-e', 'shop:order')):
        fields = line['fields']
        check('fields', (row['id'], row['customer'], row['price'], json.loads(row['tags']), row['big'] % 2**64),
              (fields['id'], fields['customer'], fields['price'], fields['tags'], fields['big']))


def test_equal_hist():
    p = run(TACHO, 'hist', '-q', '--json', 't', '-e', 'sched_switch', 'keys=next_comm,next_pid:vals=prev_pid')
    want = sorted((e['key']['next_comm'], e['key']['next_pid'], e['hitcount'],
                   e['values']['prev_pid']) for e in json.loads(p.stdout)['entries'])
    rows = sql('t', 'select next_comm, next_pid, count(*), sum(prev_pid) from sched_switch '
               'group by 1, 2 order by 1, 2')
    check('group by', [tuple(r.values()) for r in rows], want)
    rows = sql('t', "select k1, k2, hitcount, v1 from hist('sched_switch', "
               "'keys=next_comm,next_pid:vals=prev_pid') order by 1, 2")
    check('hist()', [tuple(r.values()) for r in rows], want)
    a = sql('t', "select n1, hitcount from hist('sys_exit', 'keys=ret.log2') where k1 >= 0 order by 1")
    b = sql('t', "select 1 << log2(ret), count(*) from sys_exit where ret >= 0 group by 1 order by 1")
    check('log2', [tuple(r.values()) for r in a if r['n1'] > 0], [tuple(r.values()) for r in b])


def test_hist():
    rows = sql('t', "select * from hist('raw_syscalls:sys_exit', 'keys=id.syscall') order by k1")
    check('names', [(r['event'], r['k1'], r['n1'], r['hitcount'], r['k2'], r['v1']) for r in rows],
          [('raw_syscalls:sys_exit', 'read', 0, 500, None, None),
           ('raw_syscalls:sys_exit', 'write', 1, 500, None, None)])
    check('json', json.loads(rows[0]['keys']), {'id': 'read'})
    rows = sql('t', "select k1, v1 from hist('synth', 'lat u64 us', "
               "'sched_waking', 'keys=pid:t=common_timestamp', "
               "'sched_switch', 'keys=next_pid:us=common_timestamp-$t:onmatch(sched.sched_waking)."
               "lat($us)', 'synthetic:lat', 'keys=us.log2:vals=us')")
    check('synthetic events', len(rows) > 0, True)
    check('a join', one('t', "select count(*) from type, hist(type.system || ':' || type.name, "
                        "'keys=common_pid') where type.system = 'sched'"), 3)
    refused('a field', 't', "select * from hist('sched_switch', 'keys=nope')", "Couldn't find field",
            'column 11')
    refused('an event', 't', "select * from hist('sched_swtch', 'keys=prev_pid')", 'sched_switch')
    refused('no event', 't', "select * from hist('nope', 'keys=prev_pid')", "'nope'; the table type lists them")
    refused('no synthetic event', 't', "select * from hist('synthetic:x', 'keys=y')", "with the event 'synth'")
    refused('an argument', 't', "select * from hist('sched_switch')", 'pairs of EVENT and COMMAND')
    refused('none', 't', 'select * from hist', 'pairs of EVENT and COMMAND')


def test_babeltrace():
    if not shutil.which('babeltrace2'):
        return
    for trace in ('t', 'small'):
        p = run('babeltrace2', trace)
        names = collections.Counter(re.findall(r' (\w+:\w+): \{', p.stdout))
        rows = sql(trace, "select system || ':' || name n, count(*) c from events group by 1")
        check(trace, {r['n']: r['c'] for r in rows}, dict(names))


def test_other_formats():
    """What cannot be done by packets and places is done by reading."""
    for to in ('dat', 'ltt', 'kev'):
        trace = 'small.' + to
        run(TACHO, 'convert', '-q', 'small', '--to', to, '-o', trace)
        lines = report(trace)
        if not lines:
            failures.append(f'{to}: no events')
            continue
        check(to, one(trace, 'select count(*) from events'), len(lines))
        middle = lines[len(lines) // 2]['time']
        for op, test in (('>=', lambda t: t >= middle), ('<', lambda t: t < middle),
                         ('=', lambda t: t == middle)):
            check(f'{to} {op}', one(trace, f'select count(*) from events where time {op} {middle}'),
                  sum(test(x['time']) for x in lines))
        check(f'{to}: or', one(trace, f'select count(*) from events where time >= {middle} or '
                               f'time > {middle}'), sum(x['time'] >= middle for x in lines))
        names = collections.Counter(x['event'] for x in lines)
        check(f'{to}: names', {r['name']: r['n'] for r in sql(
            trace, 'select name, count(*) n from events group by name')}, dict(names))
        check(f'{to}: cpu', one(trace, 'select count(*) from events where cpu = 1'),
              sum(x['cpu'] == 1 for x in lines))


# ---- functions ----

def test_functions():
    for text, want in (('14:13:21', BEGIN + 10**9), ('14:13:20.5', BEGIN + 5 * 10**8),
                       ('0.5', BEGIN + 5 * 10**8), ('200ms', BEGIN + 2 * 10**8),
                       ('2026-11-20', BEGIN - (14 * 3600 + 13 * 60 + 20) * 10**9),
                       ('2026-11-20 14:13:20', BEGIN), ('2026-11-20T15:13:20+01:00', BEGIN),
                       ('15:13:20+01:00', BEGIN), ('@1795184000.25', BEGIN + 25 * 10**7),
                       ('=1000', BEGIN), ('14:13', BEGIN - 20 * 10**9)):
        check(text, one('t', f"select ts('{text}')"), want)
    for text in ('', '25:00', '14:61', 'soon', '2026-13-01', '14:13:20x', '2026-11-20 14:13:20+99:00'):
        refused(text, 't', f"select ts('{text}')", 'is no moment')
    for ns, want in ((0, '0 ns'), (999, '999 ns'), (1500, '1.500 us'), (-1500000, '-1.500 ms'),
                     (12345678901, '12.35 s'), (999999999, '1.000 s')):
        check(str(ns), one('t', f'select dur({ns})'), want)
    check('sym', one('t', 'select sym(-2130706416)'), 'vfs_read+0x10')
    check('no sym', one('t', 'select sym(5)'), None)
    check('syscall', one('t', 'select syscall_name(1)'), 'write')
    check('log2', [one('t', f'select log2({v})') for v in (0, 1, 2, 3, 4, 5, -1)], [0, 0, 1, 2, 2, 3, 64])
    check('null', list(sql('t', 'select ts(null) a, dur(null) b, sym(null) c, log2(null) d, '
                           'syscall_name(null) e')[0].values()), [None] * 5)
    refused('schema', 't', "select sym(5, 'x')", "no trace 'x'")


def test_quantile():
    for n in (1, 10, 1001, 200000):
        for q in (0, 0.25, 0.5, 0.99, 1):
            got = one('t', f'with recursive n(x) as (select 1 union all select x + 1 from n where x < {n})'
                      f' select quantile(x, {q}) from n')
            want = min(n, max(1, -int(-q * n // 1)))
            check(f'{n} {q}', abs(got - want) <= (0 if n < 65536 else want / 1000 + 1), True)
    check('negative', one('t', 'with recursive n(x) as (select -70000 union all select x + 1 from n '
                          'where x < -1) select quantile(x, 1) from n'), -1)
    check('real', one('t', 'select quantile(column1, 0.5) from (values (0.5), (1.5), (2.5))'), 1.5)
    check('none', one('t', 'select quantile(1, 0.5) where 0'), None)
    check('no numbers', one('t', "select quantile(null, 0.5)"), None)
    refused('q', 't', 'select quantile(1, 2)', 'from 0 to 1')


# ---- the command ----

def test_formats():
    q = "select 1 a, 'x,\"y' b, null c, '' d, x'00ff' e"
    p = run(TACHO, 'sql', '--csv', 't', q)
    check('csv', p.stdout, 'a,b,c,d,e\n1,"x,""y",,"",00ff\n')
    check('csv is read', next(csv.DictReader(p.stdout.splitlines()))['b'], 'x,"y')
    check('table', run(TACHO, 'sql', 't', "select 'ä' a, 10 b union all select 'bb', 9").stdout,
          'a    b\nä   10\nbb   9\n')
    check('tame', run(TACHO, 'sql', 't', "select char(27) || 'x'").stdout.splitlines()[1], '?x')
    p = run(TACHO, 'sql', '--chart', 't', "select 'a', 2 union all select 'b', 1", env={**os.environ, 'COLUMNS': '80'})
    bars = [line.count('█') for line in p.stdout.splitlines()]
    check('chart', len(bars) == 2 and bars[0] // 2 == bars[1] > 4, True)
    p = run(TACHO, 'sql', '--chart', 't', 'select 1')
    check('chart', (p.returncode, 'two columns' in p.stderr), (1, True))
    check('many rows', run(TACHO, 'sql', 't', 'select time from events').stdout.count('\n'), 9001)


def test_errors():
    p = run(TACHO, 'sql', 't', 'select nope from events')
    check('place', (p.returncode, p.stderr),
          (1, 'tacho: no such column: nope\n  select nope from events\n         ^\n'))
    p = run(TACHO, 'sql', 't', 'select 1;\nselect\n  5 +;')
    check('place in lines', (p.stdout, p.stderr.splitlines()[1:]), ('1\n1\n', ['    5 +;', '       ^']))
    for argv in ([], ['select 1'], ['t', 't', 'select 1', 'select 2'], ['--nope', 't'],
                 ['-f', 'x', 't', 'select 1']):
        check(str(argv), run(TACHO, 'sql', *argv).returncode, 2)
    p = run(TACHO, 'sql', 'nosuch', 'select 1')
    check('no trace', (p.returncode, 'nosuch' in p.stderr), (1, True))
    refused('write', 't', 'delete from events', 'may not be modified')
    with open('/dev/full', 'w', encoding='ascii') as full:
        p = subprocess.run([TACHO, 'sql', 't', 'select 1'], stdout=full, stderr=subprocess.PIPE,
                           text=True, check=False)
    check('full', (p.returncode, 'stdout' in p.stderr), (1, True))


def test_commands():
    has('tables', run(TACHO, 'sql', 't', '.tables').stdout, 'sched_switch')
    check('a glob', run(TACHO, 'sql', '--csv', 't', '.tables sys_*').stdout,
          'schema,table,columns\na,sys_enter,12\na,sys_exit,12\n')
    has('schema', run(TACHO, 'sql', 't', '.schema events').stdout, 'comm')
    check('no table', run(TACHO, 'sql', 't', '.schema nope').returncode, 1)
    has('functions', run(TACHO, 'sql', 't', '.functions').stdout, 'quantile')
    has('help', run(TACHO, 'sql', 't', '.help').stdout, '.tables')
    p = run(TACHO, 'sql', 't', input='select\n1 a;\n.mode csv\nselect 2 b; select 3\nc;\nselect 4 d')
    check('stdin', (p.returncode, p.stdout), (0, 'a\n1\nb\n2\nc\n3\nd\n4\n'))
    with open('q.sql', 'w', encoding='ascii') as f:
        f.write('-- a comment\nselect 1 a;\n\nselect 2 b;\n-- the end\n')
    check('file', run(TACHO, 'sql', '--csv', '-f', 'q.sql', 't').stdout, 'a\n1\nb\n2\n')
    check('no file', run(TACHO, 'sql', '-f', 'nosuch', 't').returncode, 1)


def test_several():
    rows = sql(['t', 'small'], 'select (select count(*) from a.events) x, (select count(*) from b.events) y')
    check('schemas', rows, [{'x': 9000, 'y': 7}])
    check('unqualified', one(['t', 'small'], 'select count(*) from events'), 9000)
    check('hist', one(['small', 't'], "select sum(hitcount) from b.hist('sched_waking', 'keys=pid')"), 1000)
    check('ts', one(['small', 't'], "select ts('=1000', 'b')"), BEGIN)


class Prompt:
    """The prompt on a terminal."""
    def __init__(self, *argv):
        self.text = ''
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM='dumb', XDG_STATE_HOME=os.path.abspath('state'))
            os.execv(TACHO, [TACHO, 'sql', *argv])

    def until(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text, re.S):
            if time.monotonic() > end or not select.select([self.fd], [], [], 1)[0]:
                if time.monotonic() > end:
                    failures.append(f'prompt: no {pattern!r} in {self.text!r}')
                    return False
                continue
            try:
                self.text += os.read(self.fd, 65536).decode(errors='replace')
            except OSError:
                break
        return True

    def send(self, text):
        self.text = ''
        os.write(self.fd, text.encode())

    def end(self):
        self.send('.quit\n')
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_prompt():
    p = Prompt('t')
    p.until('tacho> ')
    p.send('select 40 +\n')
    p.until(r'\.\.\.> ')
    p.send('2;\n')
    p.until('42.*tacho> ')
    # a query without end is stopped, and the prompt stays
    p.send('with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n;\n')
    time.sleep(0.5)
    os.write(p.fd, b'\x03')
    p.until('interrupted.*tacho> ')
    p.send('select nope;\n')
    p.until(r'no such column.*\^.*tacho> ')
    # Ctrl-C while typing drops the line
    p.send('select abc')
    p.until('abc')
    os.write(p.fd, b'\x03')
    p.until('tacho> ')
    p.send('select 8 * 8;\n')
    p.until('64.*tacho> ')
    p.send('select 5 * 7 \\watch 0.1\n')
    p.until('35.*35.*35')
    os.write(p.fd, b'\x03')
    p.until('tacho> ')
    p.send('select 6 * 7;\n')
    p.until('42.*tacho> ')
    check('status', p.end(), 0)
    path = 'state/tacho/sql_history'
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            has('history', f.read(), '6')
        check('mode', os.stat(path).st_mode & 0o77, 0)


# ---- live sessions ----

def session_model(path):
    """The items of the model, as `tacho model` has them."""
    p = run(TACHO, 'model', '-q', '--items', '--json', path)
    items = [json.loads(line) for line in p.stdout.splitlines()]
    check('slices', sql(path, 'select name, time, end, begin_record, end_record, track from slice'),
          [{'name': i['name'], 'time': i['begin'], 'end': i['end'], 'begin_record': i['begin_record'],
            'end_record': i['end_record'], 'track': i['slice']} for i in items if 'slice' in i])
    check('ten', one(path, "select count(*) from slice where name = 'round' and category = 'span'"), 10)
    check('tracks', one(path, 'select count(*) from track'), len([i for i in items if 'track' in i]))
    check('join', one(path, "select count(*) from slice s join track t on t.id = s.track and t.kind = 'calls'"), 10)
    for table in ('thread_state', 'states', 'counter', 'flow', 'gap', 'instant', 'sample', 'frame'):
        check(table, one(path, f'select count(*) from {table}'), 0)
    check('a span', one(path, "select tacho_rule('counter n: printk:*.arg0'); select 1"), 'counter n: printk:*.arg0')
    check('overlap', one(path, "select count(*) from intervals_overlap('slice', 'slice', 'track')"), 10)


def session_transaction(name):
    """Tables of new events come after a transaction; what is there is read inside, too."""
    p = run(TACHO, 'create', name, '-e', '*:*')
    check('create', p.returncode, 0)
    try:
        p = subprocess.Popen([TACHO, 'sql', '--csv', 'session:' + name], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdin.write('begin;\nselect 1;\n')
        p.stdin.flush()
        check('began', [p.stdout.readline() for _ in range(2)], ['1\n', '1\n'])
        run(os.environ['PROGRAM'])
        text = 'select count(*) n from events;\nselect count(*) t from type;\nrollback;\nselect count(*) b from "begin";\n'
        check('a transaction', p.communicate(text), ('n\n30\nt\n3\nb\n10\n', ''))
    finally:
        run(TACHO, 'destroy', name)


def test_session():
    session_transaction(f'sqlt{os.getpid()}')
    name = f'sql{os.getpid()}'
    p = run(TACHO, 'create', name, '-e', '*:*')
    if p.returncode:
        failures.append(p.stderr)
        return
    try:
        path = 'session:' + name
        check('empty', one(path, 'select count(*) from events'), 0)
        check('twice', one(path, 'select (select count(*) from events) + (select count(*) from loss)'), 0)
        check('the program', run(os.environ['PROGRAM']).returncode, 0)
        check('what is there', one(path, 'select count(*) from events'), 30)
        check('again', one(path, 'select (select count(*) from events) + (select count(*) from events)'), 60)
        check('a type', one(path, "select count(*) from events where name = 'begin'"), 10)
        check('its table', one(path, 'select count(*) from "begin"'), 10)
        check('hist', one(path, "select sum(hitcount) from hist('begin', 'keys=common_pid')"), 10)
        check('report', len(report(path)), 30)
        session_model(path)
        # tables of events that come while statements run
        p = subprocess.Popen([TACHO, 'sql', '--csv', path], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
        p.stdin.write('select 1;\n')
        p.stdin.flush()
        check('began', [p.stdout.readline() for _ in range(2)], ['1\n', '1\n'])
        run(os.environ['PROGRAM'])
        check('later', p.communicate('select count(*) from events;')[0], 'count(*)\n60\n')
        check('no packets', run(TACHO, 'sql', path, 'select 1 from packet').returncode, 1)
    finally:
        run(TACHO, 'destroy', name)
    check('gone', run(TACHO, 'sql', path, 'select 1 from events').returncode, 1)


# ---- damage ----

QUERIES = ("select count(*), sum(length(text)), sum(length(comm)) from events",
           "select count(*) from events where time > (select avg(time) from events)",
           "select name, count(*), max(cpu) from events group by name order by 2",
           "select * from loss", "select * from packet", "select * from cpu", "select * from thread",
           "select * from process", "select * from type", "select * from field", "select * from env")


def damaged(trace, offset, data):
    name = f'd{offset}-{len(data)}'
    shutil.copytree(trace, name)
    path = os.path.join(name, 'program_0')
    with open(path, 'r+b') as f:
        f.seek(offset)
        f.write(data)
    return name


def test_damage():
    size = os.path.getsize('t/program_0')
    cases = [(0, b'\xff' * 96), (20, b'\xff' * 8), (40, b'\0' * 16), (48, b'\xff' * 8),
             (96, b'\xff' * 8), (96, b'\0' * 64), (100, b'\xa5' * 4000), (size // 2, b'\xff' * 200)]
    for offset, data in cases:
        trace = damaged('t', offset, data)
        for q in QUERIES:
            p = run(TACHO, 'sql', '-q', '--csv', trace, q)
            check(f'{trace}: {q}: {p.stderr}', p.returncode, 0)
        lines = len(report(trace))
        check(trace, one(trace, 'select count(*) from events'), lines)
        for table in one(trace, "select json_group_array(table_name) from type") and \
                json.loads(one(trace, "select json_group_array(table_name) from type")):
            check(table, run(TACHO, 'sql', '-q', '--csv', trace, f'select * from {table}').returncode, 0)
        shutil.rmtree(trace)
    with open('cut', 'wb') as f:
        f.write(b'tacho')
    check('no trace', run(TACHO, 'sql', 'cut', 'select 1').returncode, 1)


# ---- the extension ----

class Skip(Exception):
    pass


def load_extension():
    # the programs that load it have no sanitizers
    if os.environ.get('SANITIZED'):
        raise Skip('the extension has sanitizers')


def test_shell():
    load_extension()
    if not shutil.which('sqlite3'):
        raise Skip('sqlite3 is not installed')
    p = run('sqlite3', input=f".load {EXTENSION[:-3]}\nselect tacho_attach('t', 'x');\n.tables\n"
            "select count(*) from x.events;\nselect tacho_attach('nosuch');\n")
    has('shell', p.stdout, 'x.sched_switch')
    has('shell', p.stdout, '9000')
    has('shell', p.stderr, 'nosuch')


def test_python():
    load_extension()
    for python in (sys.executable, '/usr/bin/python3'):
        p = run(python, '-c', 'import sqlite3, sys\n'
                'c = sqlite3.connect(":memory:")\n'
                'if not hasattr(c, "enable_load_extension"): print("cannot"); sys.exit()\n'
                'c.enable_load_extension(True)\n'
                f'c.load_extension({EXTENSION!r})\n'
                'c.execute("select tacho_attach(?, ?)", ("t", "x")).fetchall()\n'
                'print(c.execute("select count(*) from x.events where tid = ?", (2000,)).fetchone()[0])\n'
                'c.close()')
        if p.stdout.strip() != 'cannot':
            check(python, (p.returncode, p.stdout.strip()), (0, '3000'))


# ---- the questions of the page ----

def test_questions():
    with open(os.environ['DOC'], encoding='utf-8') as f:
        text = f.read()
    questions = re.findall(r'<!-- question( of the model| of stacks)? -->\n```sql\n(.*?)```', text, re.S)
    check('questions', len(questions), 34)
    random_trace.write('ctf', 1, 'random', 600)
    p = run(TACHO, 'record', '-q', '--stack', '-o', 'stacks', '-e', '*:*', '--', os.environ['PROGRAM'])
    check('record', (p.returncode, p.stderr), (0, ''))
    for kind, q in questions:
        traces = ['random' if 'model' in kind else 'stacks'] if kind else \
            ['t', 't'] if re.search(r'\bb\.', q) else ['t']
        rows = sql(traces, q)
        if not rows:
            failures.append('no rows: ' + q)


def main():
    global number, failures
    top = tempfile.mkdtemp(prefix='tacho-sql.')
    os.chdir(top)
    # sessions of its own: programs of other tests are recorded elsewhere
    os.environ['TACHO_DIR'] = os.path.join(top, 'run')
    signal.alarm(280)
    try:
        for program, *argv in (('MAKE_SQL', 't'), ('MAKE_TRACE', 'small', 'small'),
                               ('MAKE_TRACE', 'rotated', 'rotated')):
            subprocess.run([os.environ[program], *argv], check=True)
        tests = [(n, f) for n, f in globals().items() if n.startswith('test_')]
        wanted = sys.argv[1:]
        for name, test in tests:
            if wanted and name[5:] not in wanted:
                continue
            number += 1
            failures = []
            start = time.monotonic()
            try:
                test()
            except Skip as why:
                print(f'ok {number} - {name[5:]} # SKIP {why}', flush=True)
                continue
            for line in failures:
                print('# ' + line.replace('\n', '\n# '))
            print(f'{"not ok" if failures else "ok"} {number} - {name[5:]} '
                  f'({(time.monotonic() - start) * 1000:.0f} ms)', flush=True)
        print(f'1..{number}')
    finally:
        os.chdir('/')
        shutil.rmtree(top)


main()
