#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""output_test.py REPLAY golden ARCHIVE | live

What compat/ftrace/output.h prints is compared with what a kernel printed: one whose
trace file and pages are kept in ARCHIVE, or the one that runs here.
"""
import os
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, 'cases')
TRACING = '/sys/kernel/tracing'


def replay(program, path):
    """Whether all texts were the same; what was not is printed."""
    done = subprocess.run([program, path, CASES], stdout=subprocess.PIPE,
                          check=False)
    for line in done.stdout.decode('utf-8', 'replace').splitlines():
        if not line.startswith('1..'):
            print(line if line.startswith('#') else '# ' + line)
    return done.returncode == 0


def golden(program, archive):
    with tempfile.TemporaryDirectory() as where:
        with tarfile.open(archive) as tar:
            tar.extractall(where)
        return [(name, replay(program, os.path.join(where, name)))
                for name in sorted(os.listdir(where))]


def is_steady(path):
    with open(os.path.join(path, 'facts'), encoding='utf-8') as f:
        return 'steady 1\n' in f


def compare(program, instance, where, name):
    """One set of events: whether it is good, or why there is none."""
    # names of threads are a small table that all programs share
    for attempt in range(10):
        path = os.path.join(where, f'{name}.{attempt}')
        done = subprocess.run(
            ['bash', os.path.join(HERE, 'capture.sh'), TRACING, instance,
             CASES, path, name], check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 77:
            return True, ' # SKIP the kernel cannot do that here'
        if done.returncode:
            return False, f': capture.sh ended with {done.returncode}'
        if is_steady(path):
            return replay(program, path), ''
    return True, ' # SKIP the names of threads changed each time'


def live(program):
    if os.geteuid() or not os.path.exists(f'{TRACING}/instances'):
        print('1..0 # SKIP needs root and tracefs')
        sys.exit(0)
    instance = f'{TRACING}/instances/tacho-output-{os.getpid()}'
    os.mkdir(instance)
    results = []
    try:
        with tempfile.TemporaryDirectory() as where:
            for name in ('events', 'small', 'ticks', 'function'):
                good, why = compare(program, instance, where, name)
                results.append((name + why, good))
    finally:
        os.rmdir(instance)
    return results


def main():
    program, what = sys.argv[1:3]
    results = live(program) if what == 'live' else golden(program, sys.argv[3])
    for number, (name, good) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    print(f'1..{len(results)}')
    return not (results and all(good for _, good in results))


sys.exit(main())
