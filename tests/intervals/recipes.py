#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes ask the model: of traces of five formats, each says what Python makes of
the items of `tacho model`; and the events model:*, in any question of `tacho hist`.

usage: recipes.py [COUNT [FIRST-SEED]]

$TACHO is the tool.
"""
import collections
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import random_trace
# random_trace has their directories in sys.path
import datfile
import linux_events

TACHO = os.environ['TACHO']
KINDS = ('ctf', 'dat', 'kev', 'ltt', 'lkst')
RECORDS = 400
OPEN = {'begin-unknown', 'end-unknown'}
EVENTS = {'run-queue', 'alloc-size', 'alloc-site'}     # those that the model knows nothing of
# what no trace of a system can have
LACKS = {'ctf': set(), 'dat': set(),
         'kev': {'block-latency', 'block-latency-by-device', 'softirq-time', 'lock-wait',
                 'span-time'},
         'ltt': {'block-latency', 'block-latency-by-device', 'softirq-time', 'lock-wait',
                 'span-time'},
         'lkst': {'span-time'}}
count = failed = 0


def ok(good, name, *why):
    global count, failed
    count += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {count} - {name}', flush=True)
    for line in why if not good else ():
        print('#', str(line)[:2000].replace('\n', '\n# '), flush=True)


def run(*argv, status=0):
    p = subprocess.run([TACHO, *argv], capture_output=True, text=True, check=False)
    assert p.returncode == status, (argv, p.returncode, p.stdout[-500:], p.stderr)
    return p.stdout if not status else p.stderr


def hist(path, event, text, *more):
    return json.loads(run('hist', '-q', '--json', path, '-e', event, text, *more))


class Item(dict):
    """An item, with what its tracks are called at that moment."""

    def __getattr__(self, name):
        return self.get(name)


def place(tracks, number):
    """(pid, what a thread or another place is called)"""
    t = tracks[number]
    if t['kind'] in ('state', 'calls'):
        t = tracks[t['parent']]
    if t['kind'] != 'thread':
        return 0, {'irq': '(irq)', 'softirq': '(softirq)'}.get(t['kind'], '(cpu)')
    process = tracks[t['parent']]['name'] or '<...>'
    return t['number'], t['name'] or f'{process}-{t["number"]}'


def items_of(path):
    tracks, out = {}, []
    for line in run('model', '-q', '--items', '--json', path).splitlines():
        i = Item(json.loads(line))
        if 'track' in i:
            tracks[i['track']] = i
            continue
        i['open'] = bool(OPEN & set(i.get('flags', ())))
        if 'flow' in i:
            i.update(ns=i['to_time'] - i['from_time'], to_comm=place(tracks, i['to'])[1],
                     from_comm=place(tracks, i['from'])[1])
        elif 'state' in i or 'slice' in i:
            number = i['state'] if 'state' in i else i['slice']
            t = tracks[number]
            i.update(ns=i['end'] - i['begin'], kind=t['kind'],
                     on_cpu=tracks[t['parent']]['number'], comm=place(tracks, number)[1],
                     track=t['name'] if t['kind'] in ('device', 'span') else '')
        out.append(i)
    return out


def woken(i):
    return i.name == 'runnable' and 'preempted' not in i.flags and not i.open


def is_off(i):
    return i.name not in ('running', 'unknown') and not i.open


def category(*names):
    return lambda i: i.category in names and not i.open


# recipe: which items, how they are counted, by what
ASKED = {
    'sched-latency': ('state', woken, 'log2', None),
    'sched-latency-by-thread': ('state', woken, 'table', 'comm'),
    'run-time': ('state', lambda i: i.name == 'running' and not i.open, 'sum', 'comm'),
    'off-cpu': ('state', is_off, 'sum', 'comm'),
    'wakers': ('flow', lambda i: i.flow == 'wake', 'sum', ('from', 'to')),
    'syscall-latency': ('slice', category('syscall', 'kercall'), 'sum', 'name'),
    'syscall-latency-by-name': ('slice', category('syscall', 'kercall'), 'table', 'name'),
    'block-latency': ('slice', category('block'), 'log2', None),
    'block-latency-by-device': ('slice', category('block'), 'table', 'track'),
    'irq-time': ('slice', category('irq'), 'sum', 'name'),
    'softirq-time': ('slice', category('softirq'), 'sum', 'name'),
    'lock-wait': ('slice', category('lock'), 'sum', 'name'),
    'span-time': ('slice', category('span'), 'sum', 'name'),
}


def power(v):
    return (v - 1).bit_length() if v else 0


def keys_of(i, by):
    return (i.from_comm, i.to_comm) if by == ('from', 'to') else (i[by],)


def want(items, recipe):
    what, which, how, by = ASKED[recipe]
    chosen = [i for i in items if what in i and which(i)]
    if how == 'log2':
        return dict(collections.Counter(power(i.ns) for i in chosen))
    ns = collections.defaultdict(list)
    for i in chosen:
        ns[keys_of(i, by)].append(i.ns)
    if how == 'sum':
        return {k: (len(v), sum(v)) for k, v in ns.items()}
    return {k: (len(v), *(sorted(v)[max(1, -(-len(v) * q // 100)) - 1] // 1000
                          for q in (50, 99, 100))) for k, v in ns.items()}


def got(h, recipe):
    _, _, how, by = ASKED[recipe]
    names = by if isinstance(by, tuple) else (by,)
    if how == 'log2':
        return {power(e['key']['dur']['high']): e['hitcount'] for e in h['entries']}
    if how == 'sum':
        return {tuple(e['key'][n] for n in names): (e['hitcount'], e['values']['dur'])
                for e in h['entries']}
    return {tuple(g['key'][n] for n in names): (g['hitcount'], g['p50'], g['p99'], g['max'])
            for g in h['groups']}


def ask(path, recipe, items):
    """The number of hits; -1: the trace is said to lack something.  Or why it is wrong."""
    expected = want(items, recipe)
    p = subprocess.run([TACHO, 'recipe', 'run', '-q', '--json', recipe, path],
                       capture_output=True, text=True, check=False)
    if p.returncode:
        lacks = f'tacho: recipe {recipe} needs ' in p.stderr and \
            ': this trace has no event that ' in p.stderr and p.stderr.count('\n') == 1
        return -1 if p.returncode == 1 and lacks and not expected else p.stderr
    h = json.loads(p.stdout)
    answer = got(h, recipe)
    if answer != expected or h['dropped']:
        return f'{recipe} {path}\n{answer}\nand not\n{expected}'
    return h['hits']


def test_kind(kind, seeds, work):
    wrong, hits, lacks = [], collections.Counter(), set()
    for seed in seeds:
        path = os.path.join(work, f'{seed}.{kind}')
        random_trace.write(kind, seed, path, RECORDS)
        items = items_of(path)
        for recipe in ASKED:
            n = ask(path, recipe, items)
            if isinstance(n, str):
                wrong.append(f'seed {seed}: {n}')
            elif n < 0:
                lacks.add(recipe)
            else:
                hits[recipe] += n
    ok(not wrong, f'{kind}: the recipes say what the items say', *wrong[:3])
    can = set(ASKED) - LACKS[kind]
    ok(lacks >= LACKS[kind] and not set(hits) & LACKS[kind],
       f'{kind}: what a trace of it cannot have is said', lacks ^ LACKS[kind])
    ok(all(hits[r] for r in can), f'{kind}: every other recipe counts something',
       sorted(r for r in can if not hits[r]))


def test_every(work):
    every = {r['name'] for r in json.loads(run('recipe', 'list', '--json'))}
    ok(every == set(ASKED) | EVENTS, 'every recipe was asked', every ^ (set(ASKED) | EVENTS))
    path = os.path.join(work, '2.kev')
    for recipe in sorted(EVENTS):
        said = run('recipe', 'run', recipe, path, status=1)
        ok(f'tacho: recipe {recipe} needs ' in said and 'tacho record -k ' in said and
           said.count('\n') == 1, f'{recipe}: a trace without its events is told so', said)


def test_fields(path):
    """Every field, of every kind of item."""
    items = items_of(path)
    flags = ('io', 'preempted', 'irq', 'uncertain')
    keys = ('comm', 'state', *flags, 'open')
    h = hist(path, 'model:state', f'keys={",".join(keys[:3])}:vals=dur,us')
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for i in (i for i in items if 'state' in i):
        for n, v in enumerate((1, i.ns, i.ns // 1000)):
            sums[i.comm, i.name, int('io' in i.flags)][n] += v
    ok({tuple(e['key'][k] for k in keys[:3]): [e['hitcount'], e['values']['dur'],
                                             e['values']['us']]
        for e in h['entries']} == dict(sums), 'states have dur, us, comm, state')
    for flag in (*flags, 'open'):
        h = hist(path, 'model:state', f'keys=pid if {flag} == 1')
        n = sum('state' in i and (i.open if flag == 'open' else flag in i.flags) for i in items)
        ok(h['hits'] == n and n, f'states have {flag}', h['hits'], n)
    h = hist(path, 'model:state', 'keys=waker:sort=waker if waker != ""')
    wakers = collections.Counter(i.waker is not None for i in items if 'state' in i)
    ok(h['hits'] == wakers[True] > 0, 'states have their waker', h['hits'], wakers)
    h = hist(path, 'model:slice', 'keys=kind,category,depth:vals=dur')
    slices = collections.Counter((i.kind, i.category, i.depth) for i in items if 'slice' in i)
    ok({(e['key']['kind'], e['key']['category'], e['key']['depth']): e['hitcount']
        for e in h['entries']} == dict(slices), 'slices have kind, category, depth')
    h = hist(path, 'model:instant', 'keys=category,name')
    points = collections.Counter((i.category, i.name) for i in items if 'instant' in i)
    ok({(e['key']['category'], e['key']['name']): e['hitcount'] for e in h['entries']} ==
       dict(points) and points, 'instants have category and name')
    h = hist(path, 'model:slice', 'keys=common_cpu if kind == "running"')
    cpus = collections.Counter(i.on_cpu for i in items if i.kind == 'running')
    ok({e['key']['common_cpu']: e['hitcount'] for e in h['entries']} == dict(cpus) and
       len(cpus) > 1, 'slices have the CPU of their track', h, cpus)
    h = hist(path, 'model:slice', 'keys=name if category == "span"', '--span',
             'mine: sched:sched_waking -> sched:sched_wakeup by pid')
    ok('mine' in {e['key']['name'] for e in h['entries']}, 'spans of --span are slices')


def test_language(path):
    """Variables, synthetic events and several questions at once."""
    h = json.loads(run(
        'hist', '-q', '--json', path, '--synth', 'late u64 dur; char who[]',
        '-e', 'model:state', 'keys=pid:d=dur if state == "runnable"', '-e', 'model:slice',
        'keys=pid:w=comm:d1=$d:onmatch(model.state).trace(late,$d1,$w) if kind == "running"',
        '-e', 'synthetic:late', 'keys=who:vals=dur'))
    ok(h['hits'] > 0, 'an item can be matched with an item before it', h)
    lines = run('hist', '-q', '--json', '--all', path, '-e', 'model:*', 'keys=common_pid',
                '-e', 'sched:sched_switch', 'keys=common_pid').splitlines()
    ok(sorted(json.loads(x)['event'] for x in lines) ==
       ['model:flow', 'model:instant', 'model:slice', 'model:state', 'sched:sched_switch'],
       'a glob asks for all items, beside events of the trace', lines)
    lines = run('hist', '-q', '--json', '--all', path, '-e', '*:*', 'keys=common_pid', '-e',
                'model:slice', 'keys=name').splitlines()
    ok(sum('"event":"model:' in x for x in lines) == 1, 'a glob for all events means no items',
       lines)
    a = run('recipe', 'run', '-q', '--json', 'off-cpu', path, '-j', '1')
    ok(a == run('recipe', 'run', '-q', '--json', 'off-cpu', path, '-j', '2'),
       'the number of threads that read changes nothing')


def form_of(name, number, fields):
    """A `format` of 4-byte fields."""
    return (f'name: {name}\nID: {number}\nformat:\n' + linux_events.COMMON + '\n' +
            ''.join(f'\tfield:int {f};\toffset:{8 + 4 * i};\tsize:4;\tsigned:1;\n'
                    for i, f in enumerate(fields)) + '\nprint fmt: "x"\n').encode()


def test_lttng(work):
    """The same events as the kernel's and as LTTng's."""
    events = {
        'sched_switch': [('prev_pid', 'prev_tid'), ('prev_state',) * 2, ('next_pid', 'next_tid')],
        'sched_wakeup': [('pid', 'tid'), ('target_cpu',) * 2],
        'sched_wakeup_new': [('pid', 'tid'), ('target_cpu',) * 2],
        'sched_migrate_task': [('pid', 'tid'), ('dest_cpu',) * 2],
        'kmalloc': [('call_site',) * 2, ('bytes_req',) * 2, ('bytes_alloc',) * 2]}
    said = []
    for lttng in (0, 1):
        f = datfile.File(datfile.Machine())
        f.systems, records = {}, [[], []]
        for n, (name, fields) in enumerate(events.items()):
            system = 'lttng' if lttng else 'kmem' if name == 'kmalloc' else 'sched'
            name = 'kmem_' * (lttng and name == 'kmalloc') + name
            f.systems.setdefault(system, []).append(
                form_of(name, 20 + n, [x[lttng] for x in fields]))
        r = random.Random(5)
        for i in range(600):
            cpu, n = r.randrange(2), r.choice((0, 0, 0, 1, 1, 2, 3, 4))
            threads = [r.randint(0, 6) for _ in range(3)]
            values = ([threads[0], r.choice((0, 1)), threads[1]], threads[:1] + [r.randrange(2)],
                      threads[:1] + [r.randrange(2)], threads[:1] + [r.randrange(2)],
                      [64 * threads[0], 1 + 100 * threads[1], 128 * threads[2]])[n]
            records[cpu].append((random_trace.START + 10 * i,
                                 struct.pack(f'<HBBi{len(values)}i', 20 + n, 0, 0, 0, *values)))
        f.buffers[''] = {cpu: f.m.pages(records[cpu], {}) for cpu in (0, 1)}
        path = os.path.join(work, f'lttng{lttng}.dat')
        with open(path, 'wb') as out:
            out.write(f.v6())
        said.append([json.loads(run('recipe', 'run', '-q', '--json', name, path))
                     for name in sorted(EVENTS)])
    for name, a, b in zip(sorted(EVENTS), *said):
        ok(a['hits'] > 50 and a['entries'] == b['entries'],
           f'{name}: of events of LTTng as of the kernel', a, b)


STORY = ((10, 20, (5, 1, 6)), (30, 21, (5,)), (45, 20, (6, 0, 5)), (60, 20, (5, 1, 6)),
         (100, 21, (5,)), (101, 20, (6, 1, 5)))
TEXTS = {
    # woken at 30 and 100, running at 45 and 101
    'sched-latency-by-thread': """\
# event: model:state
# quantiles of us by comm: exact
comm   count    p50    p99    max
alpha      2      1     15     15
""",
    'sched-latency': """\
# event: model:state
dur          hitcount   share
513..1024           1   50.0%  #################################################
8193..16384         1   50.0%  #################################################
""",
    # alpha was asleep and waited twice each, beta was preempted from 45 to 60
    'off-cpu': """\
# event: model:state
# event histogram
#
# trigger info: hist:keys=comm:vals=hitcount,dur:sort=dur.descending:size=2048 if state != \
"running" && state != "unknown" && open == 0 [active]
#

{ comm: alpha                                              } hitcount:          4  dur:      76000
{ comm: beta                                               } hitcount:          1  dur:      15000

Totals:
    Hits: 5
    Entries: 2
    Dropped: 0
"""}


def test_texts(work):
    """What is printed of a story of two threads, as text."""
    path = os.path.join(work, 'story.dat')
    f = datfile.File(datfile.Machine())
    f.systems = {'sched': [form_of('sched_switch', 20, ('prev_pid', 'prev_state', 'next_pid')),
                           form_of('sched_waking', 21, ('pid',))]}
    f.cmdlines = b'5 alpha\n6 beta\n'
    f.buffers[''] = {0: f.m.pages([
        (random_trace.START + 1000 * us,
         struct.pack(f'<HBBi{len(values)}i', number, 0, 0, 5, *values))
        for us, number, values in STORY], {})}
    with open(path, 'wb') as out:
        out.write(f.v6())
    for name, text in TEXTS.items():
        said = run('recipe', 'run', '-q', name, path)
        for bar in '\u2588\u2589\u258a\u258b\u258c\u258d\u258e\u258f':
            said = said.replace(bar, '#')
        ok(said == text, f'{name}: the text', said, text)


def test_own(work):
    """A trace with an event model:state of its own."""
    path = os.path.join(work, 'own.dat')
    form = ('name: state\nID: 20\nformat:\n' + linux_events.COMMON +
            '\n\tfield:unsigned int x;\toffset:8;\tsize:4;\tsigned:0;\n\n'
            'print fmt: "x=%u", REC->x\n')
    f = datfile.File(datfile.Machine())
    f.systems = {'model': [form.encode()]}
    f.buffers[''] = {0: f.m.pages([(random_trace.START + i, struct.pack('<HBBiI', 20, 0, 0, 7, i))
                                   for i in range(5)], {})}
    with open(path, 'wb') as out:
        out.write(f.v6())
    h = hist(path, 'model:state', 'keys=x:vals=x')
    ok(h['hits'] == 5 and sum(e['values']['x'] for e in h['entries']) == 10,
       "an event model:state of the trace is the trace's", h)
    h = hist(path, 'model:slice', 'keys=name')
    ok(not h['hits'], 'and other items are there beside it', h)


def test_wrong(path):
    for argv, says in (
            (('hist', path, '-e', 'model:nope', 'keys=pid'), "the model has no event 'model:nope'"),
            (('hist', path, '-e', 'model:slice', 'keys=nope'), "Couldn't find field"),
            (('hist', path, '-e', 'model:slice', 'keys=common_stacktrace'), 'no call stacks'),
            (('hist', '-k', '-e', 'model:slice', 'keys=name'), 'record it first'),
            (('recipe', 'run', 'off-cpu', path, '--span', 'x'), '--span'),
            (('recipe', 'run', 'off-cpu', '/nowhere'), '/nowhere')):
        p = subprocess.run([TACHO, *argv], capture_output=True, text=True, check=False)
        ok(p.returncode in (1, 2) and says.lstrip('-') in p.stderr and not p.stdout,
           f'{" ".join(argv[3:]) or argv[2]}: is refused', p)


def main():
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory(dir='/dev/shm', prefix='tacho-intervals-') as work:
        for kind in KINDS:
            test_kind(kind, range(first, first + total), work)
        if len(sys.argv) > 1:
            return
        test_every(work)
        path = os.path.join(work, 'long')
        random_trace.write('ctf', 12, path, 3000)
        test_fields(path)
        test_language(path)
        test_texts(work)
        test_own(work)
        test_lttng(work)
        test_wrong(path)


main()
print(f'1..{count}')
sys.exit(failed > 0)
