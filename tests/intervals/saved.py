#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A model that is saved at a random record and restored goes on as if nothing had been.

usage: saved.py [COUNT [FIRST-SEED [kernel]]]

Makes COUNT random traces of all kinds (default: 100), and one with many packets in all formats
that tacho writes; with `kernel` that one is large, and the running kernel is recorded.  $SAVED is the program that reads them,
$TACHO the tool, $GEN_TRACE makes a large trace, $TACHO_MODULE_DIR has the module for CTF of others,
or is not set.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import compared_traces
import random_trace

SAVED = os.environ['SAVED']
RULES = ';'.join(['span req: app:take -> app:done by id name who', 'span job: app:start -> app:stop'])
count = 0


def ok(good, name, why=()):
    global count
    count += 1
    print(f'{"ok" if good else "not ok"} {count} - {name}', flush=True)
    if not good:
        for line in why:
            print('#', line, flush=True)


def saved(stops, traces):
    """What the program says of traces; the bytes of items that it saw."""
    p = subprocess.run([SAVED, str(stops), RULES, *traces], capture_output=True, check=False)
    lines = p.stderr.decode().splitlines()
    items = sum(int(line.split()[4]) for line in lines if line.startswith('# '))
    why = p.stdout.decode(errors='replace').splitlines()
    if p.returncode and not why:
        why = [f'exit status {p.returncode}', *lines[-20:]]
    return why, items


def test_random(kind, seeds, work):
    traces = []
    for seed in seeds:
        traces.append(os.path.join(work, f'random-{seed}.{kind}'))
        random_trace.write(kind, seed, traces[-1], compared_traces.RECORDS)
    why, items = saved(6, traces)
    ok(not why, f'{kind}: {len(traces)} random traces go on from random records', why[:40])
    ok(items > 500 * len(traces), f'{kind}: there were items to compare')
    for path in traces:
        compared_traces.remove(path)


def run(*args):
    subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def others(path):
    """The same trace in other forms."""
    tacho = compared_traces.TACHO
    for form in ('dat', 'dat7', 'ltt', 'lkst', 'kev'):
        run(tacho, 'convert', path, '-o', f'{path}.{form}', '--to', form)
        yield f'{path}.{form}'
    os.mkdir(path + '-rotated')
    for i, span in enumerate(('0,0.0003', '0.0003,0.0005', '0.0005,')):
        run(tacho, 'convert', path, '-o', f'{path}-rotated/000{i + 1}', '--time', span)
    yield path + '-rotated'
    if 'TACHO_MODULE_DIR' in os.environ:
        shutil.copytree(path, path + '-foreign', ignore=shutil.ignore_patterns('tacho'))
        yield path + '-foreign'


def test_formats(records, packet, work):
    path = os.path.join(work, 'large')
    run(os.environ['GEN_TRACE'], str(records), path, str(packet))
    for trace in (path, *others(path)):
        why, _ = saved(2, [trace])
        ok(not why, f'{os.path.basename(trace)}: a seek reads little, and all is the same',
           why[:40])


def test_kernel(work):
    path, why = compared_traces.record_kernel(work)
    if not path:
        ok(why is None, 'a recording of the running kernel' +
           (' # SKIP needs root and tracefs' if why is None else ''), why or ())
        return
    why, items = saved(8, [path])
    ok(not why, 'a recording of the running kernel goes on from random records', why[:40])
    ok(items > 10000, 'it has items to compare')


def main():
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory(dir='/dev/shm', prefix='tacho-intervals-') as work:
        for kind, part in compared_traces.KINDS.items():
            test_random(kind, range(first, first + max(1, total * part // 100)), work)
        if 'kernel' in sys.argv[3:]:
            test_formats(100000, 64, work)
            test_kernel(work)
        else:
            test_formats(8000, 4, work)
    print(f'1..{count}')


main()
