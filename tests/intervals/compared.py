#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tacho's model and the reference model give the same items, and the invariants hold.

usage: compared.py [COUNT [FIRST-SEED [kernel]]]

Makes COUNT random traces of all kinds (default: 100); with `kernel` also records the running
kernel.  A failure names the kind and the seed: random_trace.py makes the trace again.
$TACHO is the tool.
"""
import copy
import os
import subprocess
import sys
import tempfile

import compare
import random_trace
import reference
from compared_traces import KINDS, RECORDS, TACHO, record_kernel, remove

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'model',
                     'rules')
SPANS = ('req: app:take -> app:done by id name who', 'job: app:start -> app:stop')
count = 0


def ok(good, name, why=()):
    global count
    count += 1
    print(f'{"ok" if good else "not ok"} {count} - {name}', flush=True)
    if not good:
        for line in why:
            print('#', line, flush=True)


def of_tacho(path):
    p = subprocess.run([TACHO, 'model', path, '-q', '--items', '--json'] +
                       [word for s in SPANS for word in ('--span', s)],
                       stdout=subprocess.PIPE, check=True)
    return compare.Items(p.stdout.splitlines())


def compared(path):
    """Lines that tell what differs, or which invariant does not hold; tacho's items, T0, T1."""
    items = of_tacho(path)
    model = reference.run(path, RULES, SPANS, TACHO)
    why = compare.differences(items, compare.Items(model.lines()), ('tacho', 'the reference'))
    return why + compare.broken(items, model.t0, model.t1), (items, model.t0, model.t1)


def test_random(kind, seeds, work):
    bad, why, items = [], [], 0
    for seed in seeds:
        path = os.path.join(work, 'random.' + kind)
        random_trace.write(kind, seed, path, RECORDS)
        lines, (found, _, _) = compared(path)
        items += len(found.items)
        remove(path)
        if lines:
            bad.append(seed)
            if len(bad) <= 3:
                why += [f'random_trace.py {kind} {seed} OUT {RECORDS}', *lines]
    ok(not bad, f'{kind}: {len(seeds)} random traces have the same items',
       why + [f'{len(bad)} of {len(seeds)} seeds: {bad[:20]}'])
    ok(items > 10 * len(seeds), f'{kind}: there were items to compare')


def test_comparison(work):
    """What compare.py says of outputs that are wrong."""
    path = os.path.join(work, 'planted')
    random_trace.write('ctf', 1, path, 300)
    _, (items, t0, t1) = compared(path)
    remove(path)

    def changed(which, **values):
        other = copy.copy(items)
        at = next(i for i, item in enumerate(items.items) if which(item))
        other.items = list(items.items)
        other.items[at] = {**items.items[at], **values}
        return other

    def running(i):
        return i.get('category') == 'running'

    def state(i):
        return i.get('name') == 'runnable' and i['end'] > i['begin'] + 1
    for name, which, value in (('name', running, {'name': 'other'}),
                               ('flag', state, {'flags': ['uncertain', 'io']}),
                               ('record', running, {'end_record': 10 ** 6}),
                               ('value', lambda i: 'counter' in i, {'value': 77}),
                               ('count', lambda i: 'flow' in i, {'to_time': 1})):
        ok(compare.differences(items, changed(which, **value)), f'another {name} is a difference')
    ok(not compare.broken(items, t0, t1), 'the invariants hold')
    for name, which, value in (
            ('J1', state, lambda i: {'end': i['end'] - 1}),
            ('J2', running, lambda i: {'end': i['end'] - 1}),
            ('J3', running, lambda i: {'category': 'idle'}),
            ('J5', lambda i: 'flow' in i, lambda i: {'from_time': i['to_time'] + 1}),
            ('J5', state, lambda i: {'begin': t0 - 1})):
        item = next(i for i in items.items if which(i))
        lines = compare.broken(changed(which, **value(item)), t0, t1)
        ok(any(line.startswith(name) for line in lines), f'{name} is seen to be broken', lines)
    lines = [{'track': 0, 'parent': 0, 'kind': 'machine', 'number': 0, 'name': ''},
             {'track': 1, 'parent': 0, 'kind': 'device', 'number': 0, 'name': 'd'}] + \
            [{'slice': 1, 'depth': 0, 'begin': b, 'end': b + 10, 'name': '', 'flags': []}
             for b in (0, 9)]
    ok(compare.broken(compare.Items(lines), 0, 19), 'J4 is seen to be broken')


def test_kernel(work):
    path, why = record_kernel(work)
    if not path:
        ok(why is None, 'a recording of the running kernel' +
           (' # SKIP needs root and tracefs' if why is None else ''), why or ())
        return
    lines, (items, _, _) = compared(path)
    ok(not lines, 'a recording of the running kernel has the same items', lines)
    ok(any(i.get('flow') == 'wake' for i in items.items), 'it has wake-ups')


def main():
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory(dir='/dev/shm', prefix='tacho-intervals-') as work:
        test_comparison(work)
        for kind, part in KINDS.items():
            test_random(kind, range(first, first + total * part // 100), work)
        if 'kernel' in sys.argv[3:]:
            test_kernel(work)
    print(f'1..{count}')


main()
