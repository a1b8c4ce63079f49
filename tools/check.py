#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds each variant, runs its tests, and sums up.

The last line is "N passed, N failed, N skipped"; before it stands each failure
with what its output says of it, and each skip with its reason.
"""
import json
import os
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name, environment, meson options, suites (None: all)
VARIANTS = [
    ('gcc', {}, [], None),
    ('clang', {'CC': 'clang', 'CXX': 'clang++'}, [],
     ['unit', 'ring', 'probe', 'stream', 'header', 'cli']),
    ('asan', {}, ['-Db_sanitize=address,undefined', '-Db_lundef=false'],
     ['unit', 'ring', 'probe', 'stream', 'kernel', 'cli', 'fuzz', 'engine',
      'events', 'symbol', 'face', 'kev', 'lkst', 'ltt', 'qnx']),
    ('tiny', {}, ['-Dtiny=true'], ['unit', 'ring', 'probe']),
    ('plain', {}, ['-Drseq=plain'], ['unit', 'ring', 'probe']),
    ('inject', {}, ['-Dinject=true'], ['inject', 'ring', 'probe', 'engine']),
    ('tsan', {}, ['-Drseq=plain', '-Db_sanitize=thread', '-Db_lundef=false'],
     ['ring', 'probe', 'threads']),
]

# Only when it is named: it takes many minutes.
LONG = [
    # each allocation, open, write, ... of the verbs fails once
    ('failat', {}, [], ['failat-full']),
]


def setup(name, env, options):
    build = os.path.join(TOP, 'build' if name == 'gcc' else 'build-' + name)
    if not os.path.exists(os.path.join(build, 'build.ninja')):
        # lines for the sanitizers' reports; more only takes longer
        if name != 'gcc':
            options = options + ['-Dc_args=-g1']
        subprocess.run(['meson', 'setup', build, TOP] + options, check=True,
                       env={**os.environ, **env}, stdout=subprocess.DEVNULL)
    return build


def skip_reason(test):
    for line in (test.get('stdout') or '').splitlines():
        if 'SKIP' in line.upper():
            return line.split('SKIP', 1)[-1].strip() or line
    return 'no reason was given'


def what_failed(test):
    """The sub-tests of TAP that are not ok, each with what is said of it; else the end."""
    lines = ((test.get('stdout') or '') + (test.get('stderr') or '')).splitlines()
    said, room = [], 0
    for line in lines:
        if line.startswith('not ok'):
            room = 12
        elif not line.startswith('#'):
            room = 0
        if room:
            said.append(line)
            room -= 1
    # a sanitizer's report, a Python exception: after the last sub-test
    after = []
    for line in reversed(lines):
        if line.startswith(('ok ', 'not ok ', '1..')):
            break
        after.insert(0, line)
    return (said + after[-30:])[:60] or lines[-30:]


def run(name, env, options, suites):
    """Returns (passed, failed, skipped) as lists of texts."""
    start = time.time()
    build = setup(name, env, options)
    env = {**os.environ, **env,
           'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
           'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=1',
           # a library that the oracle tests compare with leaks by itself
           'LSAN_OPTIONS': 'print_suppressions=0:suppressions=' +
                           os.path.join(TOP, 'tools', 'lsan.supp'),
           'TSAN_OPTIONS': 'halt_on_error=1'}
    if suites is None:
        built = subprocess.run(['ninja', '-C', build], env=env,
                               capture_output=True, text=True)
        if built.returncode:
            print(built.stdout[-4000:])
            return [], [f'{name}: the build failed'], []
    log = os.path.join(build, 'meson-logs', 'testlog.json')
    if os.path.exists(log):
        os.unlink(log)
    command = ['meson', 'test', '-C', build, '--num-processes', '2',
               '--print-errorlogs']
    for s in suites or []:
        command += ['--suite', s]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if not os.path.exists(log):
        print(done.stdout[-4000:], done.stderr[-2000:])
        return [], [f'{name}: the build failed'], []
    passed, failed, skipped = [], [], []
    with open(log, encoding='utf-8') as f:
        for line in f:
            t = json.loads(line)
            label = f"{name}: {t['name']}"
            if t['result'] == 'OK':
                passed.append(label)
            elif t['result'] == 'SKIP':
                skipped.append(f'{label}: {skip_reason(t)}')
            else:
                failed.append('\n    '.join([f'{label} ({t["result"]})'] + what_failed(t)))
    print(f'{name}: {len(passed)} passed, {len(failed)} failed, '
          f'{len(skipped)} skipped in {time.time() - start:.0f} s', flush=True)
    return passed, failed, skipped


def main():
    only = sys.argv[1:]
    passed, failed, skipped = [], [], []
    for name, env, options, suites in VARIANTS + LONG:
        if name not in only if only else (name, env, options, suites) in LONG:
            continue
        p, f, s = run(name, env, options, suites)
        passed += p
        failed += f
        skipped += s
    for text in failed:
        print('failed: ' + text)
    for text in skipped:
        print('skipped: ' + text)
    print(f'{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped')
    return 1 if failed or not passed else 0


sys.exit(main())
