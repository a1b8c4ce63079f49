#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""DuckDB reads a trace through its Arrow stream and gives the answers that tacho hist, tacho
stat, tacho report and babeltrace2 give, and of tables of the model those of tacho sql.

libduckdb is in an npm package, which package-lock.json pins; it is installed into DUCKDB_DIR.
Without npm, or without its registry, the test says so and skips.  TAP."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import libduckdb  # noqa: E402
import random_trace  # noqa: E402

TACHO, ASK, GEN = (os.environ[k] for k in ('TACHO', 'DUCKDB_ASK', 'GEN_TRACE'))
DIR = os.environ['DUCKDB_DIR']
SQL = os.environ['SQL']
LIBRARY = libduckdb.path(DIR)
EVENTS = 40000
count = failed = 0


def ok(good, what, *why):
    global count, failed
    count += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {count} - {what}')
    for w in why if not good else ():
        print('# ' + str(w)[:600].replace('\n', '\n# '))


def skip(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(0)


# duckdb_arrow_scan() does not release the schemas that it asks for
LEAKS = {**os.environ,
         'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'}


def run(*cmd):
    p = subprocess.run(cmd, capture_output=True, text=True, env=LEAKS if cmd[0] == ASK else None)
    if p.returncode:
        print(f'# {cmd[0]}: {p.stderr.strip()}')
    return p.stdout


def ask(trace, events, *sql):
    """The rows of each answer, as tuples of texts."""
    answers = run(ASK, LIBRARY, trace, events, *sql).split('--\n')[:-1]
    rows = [[tuple(r.split('\x1f')) for r in a.split('\n')[:-1]] for a in answers]
    return rows + [None] * (len(sql) - len(rows))


def hist(trace, event, trigger, *values):
    """Keys and values of a histogram, as tuples of texts."""
    found = json.loads(run(TACHO, 'hist', '--json', trace, '-e', event, trigger))
    rows = []
    for e in found['entries']:
        named = {'hitcount': e['hitcount'], **e['values']}
        rows.append(tuple(str(v) for v in e['key'].values()) +
                    tuple(str(named[v]) for v in values))
    return sorted(rows)


def same(what, found, expected):
    ok(found is not None and len(expected) > 0 and sorted(found) == sorted(expected), what,
       f'DuckDB: {found}', f'tacho:  {expected}')


def histograms(trace):
    """What tacho hist counts, too."""
    queries = (
        ('bench:thin', 'keys=fd', ('hitcount',), 'fd, count(*)'),
        ('bench:thin', 'keys=fd:vals=bytes', ('hitcount', 'bytes'), 'fd, count(*), sum(bytes)'),
        ('bench:thin', 'keys=common_pid:vals=count', ('count',), 'common_pid, sum("count")'),
        ('bench:thin', 'keys=common_pid,fd', ('hitcount',), 'common_pid, fd, count(*)'),
        ('bench:named', 'keys=prio', ('hitcount',), 'prio, count(*)'),
        ('bench:named', 'keys=name', ('hitcount',), 'name, count(*)'),
        ('bench:named', 'keys=comm', ('hitcount',), 'comm, count(*)'),
        ('bench:thin', 'keys=fd if count > 20000', ('hitcount',),
         'fd, count(*) filter ("count" > 20000) as n'),
    )
    for event, trigger, values, select in queries:
        having = ' having n > 0' if 'filter' in select else ''
        keys = trigger.split(':')[0].split(' ')[0][5:]
        found, = ask(trace, event, f'select {select} from e group by {keys}{having}')
        same(f'hist:{trigger} of {event}', found, hist(trace, event, trigger, *values))


def totals(trace):
    """What tacho stat, tacho report and babeltrace2 say of all events."""
    stat = json.loads(run(TACHO, 'stat', '--json', trace))
    by_event = [(e['event'], str(e['events'])) for e in stat['by_event']]
    rows = [json.loads(s) for s in run(TACHO, 'report', '--no-pager', '--json', trace).splitlines()]
    thin = [r for r in rows if r['event'] == 'thin']
    answers = ask(
        trace, '*:*',
        'select common_event, count(*) from e group by all',
        'select count(*) from e',
        'select epoch_ns(min(common_timestamp)), epoch_ns(max(common_timestamp)) from e',
        'select common_cpu, count(*) from e group by all',
        'select count(*) from e where fd is null',
        'select count(distinct common_pid) from e',
        'select epoch_ns(common_timestamp), common_cpu, common_pid, common_event from e',
        'select fd, "count", bytes from e where common_event = \'thin\'',
        'select count(*) from e where common_comm is not null')
    same('events of each type', answers[0], by_event)
    same('all events', answers[1], [(str(stat['events']),)])
    same('first and last time, in ns', answers[2], [(str(rows[0]['time']), str(rows[-1]['time']))])
    same('events of each CPU', answers[3],
         [(str(k), str(v)) for k, v in collections.Counter(r['cpu'] for r in rows).items()])
    same('fields that a type lacks are null', answers[4], [(str(stat['events'] - len(thin)),)])
    same('threads', answers[5], [(str(len({r['pid'] for r in rows})),)])
    ok(answers[6] == [(str(r['time']), str(r['cpu']), str(r['pid']), r['event']) for r in rows],
       'all events in order')
    ok(answers[7] == [tuple(str(r['fields'][f]) for f in ('fd', 'count', 'bytes')) for r in thin],
       'all values of a type')
    same('unknown thread names are null', answers[8], [('0',)])
    if shutil.which('babeltrace2'):
        lines = run('babeltrace2', '--names=none', trace).splitlines()
        of_type = collections.Counter('thin' if 'bench:thin' in s else 'named' for s in lines)
        same('events of each type, by babeltrace2', answers[0],
             [(k, str(v)) for k, v in of_type.items()])


# Queries that mean the same in both; {time} and {end} are written differently.
MODEL = (
    ('slice', 'select category, name, comm, count(*), sum(dur), max(depth) from e group by 1, 2, 3'),
    ('slice', 'select path, count(*), min({time}), max({end}) from e group by 1'),
    ('slice', 'select {time}, {end}, dur, cpu, tid, begin_record, end_record from e'),
    ('slice', 'select count(*), count(begin_record), count(to_track), '
              'sum(cast(uncertain as integer)) from e'),
    ('thread_state', 'select tid, state, cast(io as integer), waker, count(*), sum(dur) from e '
                     'group by 1, 2, 3, 4'),
    ('thread_state', "select pid, sum(dur) from e where state = 'running' group by 1"),
    ('counter', 'select name, path, count(*), sum(cast(value as bigint)), max(dur) from e group by 1, 2'),
    ('flow', 'select kind, from_comm, to_comm, count(*), sum(dur) from e group by 1, 2, 3'),
    ('instant', 'select name, category, count(*), min({time}) from e group by 1, 2'),
    ('gap', 'select cpu, source, count(*), sum(lost) from e group by 1, 2'),
    ('track', 'select * from e'),
    ('track', 'select kind, count(*) from e group by 1'),
)


def tacho_sql(trace, query):
    rows = [json.loads(s) for s in run(TACHO, 'sql', '-q', '--json', trace, query).splitlines()]
    return [tuple('NULL' if v is None else str(v) for v in r.values()) for r in rows]


def model_tables(trace):
    for table, query in MODEL:
        found, = ask(trace, 'model:' + table,
                     query.format(time='epoch_ns(time)', end='epoch_ns("end")'))
        expected = tacho_sql(trace, query.replace('from e', 'from ' + table).format(
            time='time', end='"end"'))
        same(f'{table}: {query}', found, expected)


def threads(trace):
    """DuckDB's own threads take what ours make."""
    query = 'select epoch_ns(common_timestamp), common_cpu, common_event, fd, name from e'
    one, = ask(trace, '*:*', query)
    LEAKS['THREADS'] = '3'
    three, = ask(trace, '*:*', query)
    del LEAKS['THREADS']
    ok(len(one) == EVENTS and one == three, 'the same events by three threads', len(three))


def main():
    why = libduckdb.install(DIR)
    if why:
        skip(why)
    with tempfile.TemporaryDirectory(prefix='tacho-columns.') as work:
        trace = os.path.join(work, 'trace')
        run(GEN, str(EVENTS), trace)
        histograms(trace)
        totals(trace)
        threads(trace)
        if SQL:
            trace = os.path.join(work, 'random')
            random_trace.write('ctf', 30, trace, 3000)
            model_tables(trace)
    print(f'1..{count}')
    return 1 if failed else 0


sys.exit(main())
