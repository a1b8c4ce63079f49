#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds variants of tacho, runs their tests, and sums up.

usage: tools/check.py [quick | VARIANT...]

quick    one build that is made fast, and all tests but the long ones: `make check`
VARIANT  those that are named; without a name all but `failat`: `make check-all`

Each variant has a directory of its own, build-VARIANT.  Warnings are errors there.  The last
line is "N passed, N failed, N skipped", of the single tests that the programs print; before
it stands each failure with what its output says of it, and each skip with its reason.
"""
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLANG = {'CC': 'clang', 'CXX': 'clang++'}

# suites: the tests of these; [] none; None all.  Tests in the suites of `without` are left out.
# shipped: what is installed is built as well, whether a test needs it or not.
Variant = collections.namedtuple('Variant', 'name options suites env without shipped',
                                 defaults=(None, {}, (), False))

# -O1 without debug information takes half the time of a build for users.
QUICK = Variant('check', ['-Doptimization=1', '-Ddebug=false'], without=('long',))

# Each build type, by both compilers, is some variant's; where no test needs it, it is built only.
ALL = [
    Variant('gcc', ['-Dbuildtype=debugoptimized']),
    Variant('clang', ['-Dbuildtype=release'],
            ['unit', 'ring', 'runtime', 'stream', 'header', 'cli'], CLANG, shipped=True),
    # what reads foreign bytes, and what shares memory (with sanitizers, compilers warn of what
    # cannot be)
    Variant('asan', ['-Doptimization=1', '-Dc_args=-g1', '-Db_lundef=false', '-Dwerror=false',
                     '-Db_sanitize=address,undefined'],
            ['unit', 'ring', 'runtime', 'stream', 'kernel', 'cli', 'fuzz', 'engine',
             'events', 'symbol', 'ftrace', 'kev', 'lkst', 'ltt', 'qnx']),
    Variant('tiny', ['-Dbuildtype=minsize', '-Dtiny=true'], ['unit', 'ring', 'runtime'],
            shipped=True),
    Variant('plain', ['-Dbuildtype=release', '-Drseq=plain'], ['unit', 'ring', 'runtime'],
            shipped=True),
    Variant('inject', ['-Dbuildtype=debug', '-Dinject=true'],
            ['inject', 'ring', 'runtime', 'engine'], shipped=True),
    Variant('tsan', ['-Doptimization=2', '-Dc_args=-g1', '-Drseq=plain', '-Db_lundef=false',
                     '-Dwerror=false', '-Db_sanitize=thread'],
            ['ring', 'runtime', 'threads']),
    Variant('clang-minsize', ['-Dbuildtype=minsize'], [], CLANG, shipped=True),
    Variant('clang-debug', ['-Dbuildtype=debug'], [], CLANG, shipped=True),
    Variant('v3', ['-Doptimization=2', '-Ddebug=false', '-Dc_args=-march=x86-64-v3'], [],
            shipped=True),
]

# Only when it is named: it takes many minutes.
LONG = [
    # each allocation, open, write, ... of the verbs fails once
    Variant('failat', ['-Dbuildtype=debugoptimized'], ['failat-full']),
]

Case = collections.namedtuple('Case', 'result text')     # 'ok', 'not ok', 'skip'


def found_here():
    """What meson may find: an installed library or program changes it."""
    libraries = subprocess.run(['pkg-config', '--list-package-names'], capture_output=True,
                               text=True).stdout
    programs = [shutil.which(p) or '' for p in
                ('clang', 'gcc', 'g++', 'clang++', 'objcopy', 'aarch64-linux-gnu-gcc')]
    return hashlib.sha256((libraries + '\n'.join(programs)).encode()).hexdigest()


def setup(v):
    """Configures the variant's directory, again where what it was made from has changed."""
    build = os.path.join(TOP, 'build-' + v.name)
    stamp = os.path.join(build, 'check-options')
    options = json.dumps([v.options, v.env])
    want = [options, found_here()]
    try:
        with open(stamp, encoding='utf-8') as f:
            have = f.read().splitlines()
    except OSError:
        have = []
    if have == want:
        return build
    command = ['meson', 'setup', '-Dwerror=true', *v.options, build, TOP]
    if have[:1] == [options]:
        command.insert(2, '--reconfigure')
    else:
        shutil.rmtree(build, ignore_errors=True)
    done = subprocess.run(command, env={**os.environ, **v.env}, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-2000:])
        return None
    with open(stamp, 'w', encoding='utf-8') as f:
        f.write('\n'.join(want) + '\n')
    return build


def introspect(build, what):
    return json.loads(subprocess.run(['meson', 'introspect', what, build], check=True,
                                     capture_output=True, text=True).stdout)


def chosen(v, build):
    """The tests of the variant: {name: target ids that each needs}."""
    names = {}
    for t in introspect(build, '--tests'):
        suites = {s.split(':')[-1] for s in t['suite']}
        if v.suites is None and 'failat-full' in suites or suites & set(v.without):
            continue
        if v.suites is None or suites & set(v.suites):
            names[t['name']] = t['depends']
    return names


def needed(v, build, names):
    """The files to build, none: all.  For these tests, and what is installed."""
    if v.suites is None and not v.without:
        return []
    ids = {i for depends in names.values() for i in depends}
    files = set()
    for t in introspect(build, '--targets'):
        shipped = not t['defined_in'].startswith(os.path.join(TOP, 'tests') + os.sep)
        if t['id'] in ids or shipped and (v.shipped or v.suites is None):
            files |= {os.path.relpath(f, build) for f in t['filename']}
    return sorted(files)


def compile_it(build, files):
    done = subprocess.run(['ninja', '-C', build, *files], capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode


def environment(v):
    return {**os.environ, **v.env,
            'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
            'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=1',
            # a library that the oracle tests compare with leaks by itself
            'LSAN_OPTIONS': 'print_suppressions=0:suppressions=' +
                            os.path.join(TOP, 'tools', 'lsan.supp'),
            'TSAN_OPTIONS': 'halt_on_error=1'}


def run_tests(v, build, names):
    """meson's log of them, a dictionary for each; None: they could not be run."""
    log = os.path.join(build, 'meson-logs', 'testlog.json')
    if os.path.exists(log):
        os.unlink(log)
    # more than there are CPUs: many wait for something most of the time
    command = ['meson', 'test', '-C', build, '--no-rebuild', '--num-processes',
               str((os.cpu_count() or 1) + 1)]
    for s in v.suites or []:
        command += ['--suite', s]
    command += names
    done = subprocess.run(command, env=environment(v), capture_output=True, text=True)
    if not os.path.exists(log):
        print(done.stdout[-4000:], done.stderr[-2000:])
        return None
    with open(log, encoding='utf-8') as f:
        return [json.loads(line) for line in f]


LINE = re.compile(r'(ok|not ok)\b\s*\d*\s*-?\s*([^#]*)(?:#\s*SKIP\S*\s*(.*))?', re.I)


def what_failed(lines, at):
    """What is said of the line `not ok`: comments before it and after it."""
    first, last = at, at + 1
    while first > 0 and at - first < 12 and lines[first - 1].startswith('#'):
        first -= 1
    while last < len(lines) and last - at < 12 and lines[last].startswith('#'):
        last += 1
    return lines[first:last]


def cases_of(label, test):
    """What the test's lines say, one by one; and that it failed besides."""
    lines = (test.get('stdout') or '').splitlines()
    cases = []
    for at, line in enumerate(lines):
        m = LINE.match(line)
        if not m:
            if line.startswith('1..0'):
                why = re.sub(r'^1\.\.0\s*#?\s*(SKIP\S*)?\s*', '', line, flags=re.I)
                cases.append(Case('skip', f'{label}: {why or "no reason was given"}'))
            continue
        name = f'{label}: {re.sub(r" [(][0-9]+ ms[)]$", "", m[2].strip())}'
        if m[1].lower() == 'not ok':
            cases.append(Case('not ok', '\n    '.join([name] + what_failed(lines, at))))
        elif m[3] is not None:
            cases.append(Case('skip', f'{name}: {m[3].strip() or "no reason was given"}'))
        else:
            cases.append(Case('ok', name))
    # a crash, a sanitizer's report, a Python exception, a time limit: after the last line
    if test['result'] not in ('OK', 'SKIP'):
        failed, end = any(c.result == 'not ok' for c in cases), []
        for line in reversed(lines + (test.get('stderr') or '').splitlines()):
            if LINE.match(line) or line.startswith('1..'):
                break
            if line and not line.startswith('(test program exited'):
                end.insert(0, line)
        if end or not failed:
            after = f' after "{cases[-1].text}"' if cases else ''
            cases.append(Case('not ok', '\n    '.join(
                [f'{label}: {test["result"]}{after}'] + end[-30:])))
    return cases


def run(v):
    """Builds and tests a variant; a list of cases."""
    start = time.time()
    failed = [Case('not ok', f'{v.name}: the build failed')]
    build = setup(v)
    if not build:
        return failed
    names = chosen(v, build)
    if compile_it(build, needed(v, build, names)):
        return failed
    built = time.time()
    if not names:
        cases = [Case('ok', f'{v.name}: builds without a warning')]
    else:
        log = run_tests(v, build, names)
        if log is None:
            return [Case('not ok', f'{v.name}: the tests did not run')]
        cases = [c for t in log for c in cases_of(f'{v.name}: {t["name"]}', t)]
    print(f'{v.name}: {summary(cases)}, built in {built - start:.0f} s, '
          f'tested in {time.time() - built:.0f} s', flush=True)
    return cases


def summary(cases):
    n = collections.Counter(c.result for c in cases)
    return f'{n["ok"]} passed, {n["not ok"]} failed, {n["skip"]} skipped'


def main():
    only = sys.argv[1:]
    known = [*ALL, *LONG]
    if only == ['quick']:
        variants = [QUICK]
    elif only:
        variants = [v for v in known if v.name in only]
        if len(variants) != len(set(only)):
            sys.exit('usage: tools/check.py [quick | VARIANT...]; variants: ' +
                     ' '.join(v.name for v in known))
    else:
        variants = ALL
    cases = [c for v in variants for c in run(v)]
    for result, word in (('not ok', 'failed'), ('skip', 'skipped')):
        for c in cases:
            if c.result == result:
                print(f'{word}: {c.text}')
    print(summary(cases))
    results = [c.result for c in cases]
    return 1 if 'not ok' in results or 'ok' not in results else 0


sys.exit(main())
