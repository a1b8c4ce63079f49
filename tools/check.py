#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds variants of tacho, runs their tests, and sums up.

usage: tools/check.py [quick | VARIANT...]

quick    one build that is made fast, and all tests but the long ones: `make check`
VARIANT  those that are named; without a name all but `failat`: `make check-all`

Each variant has its own directory, build-VARIANT, where warnings are errors.  The last line
is "N passed, N failed, N skipped", which counts the single tests that the programs print.
The lines before it list each failure with its output, and each skip with its reason.

The tests of the `live` variants record the running kernel: they wait most of the time, and some
must not run at the same time as others.  These variants are tested one after the other.  At the
same time the next variants are built, and those that are not live are tested.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLANG = {'CC': 'clang', 'CXX': 'clang++'}

# tests: suites, and names of tests; [] none; None all.
# without: suites, and names of tests, that are left out.
# shipped: what is installed is built as well, whether a test needs it or not.
# live: its tests record the running kernel, in many instances.
# whole: all is built, also what no test needs.
Variant = collections.namedtuple('Variant', 'name options tests env without shipped live whole',
                                 defaults=(None, {}, (), False, False, False))

# -O1 without debug information takes half the time of a build for users.
QUICK = Variant('check', ['-Doptimization=1', '-Ddebug=false'], without=('long',), live=True)


def newer_x86_64():
    """Options for x86-64-v3, if this machine can run that."""
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as f:
            flags = re.search(r'^flags\s*:(.*)$', f.read(), re.M)
    except OSError:
        return []
    need = {'avx2', 'bmi1', 'bmi2', 'f16c', 'fma', 'abm', 'movbe'}
    return ['-Dc_args=-march=x86-64-v3'] if flags and need <= set(flags[1].split()) else []


# gcc's are of all build types, clang's of those with the most and with the least optimization.
# What cannot differ in a variant is not tested there again: scripts that only compile, and
# tools whose own code is the same.
ALL = [
    # (fuzz: a corpus without sanitizers finds nothing that it does not find with them)
    Variant('gcc', ['-Dbuildtype=debugoptimized'], without=('fuzz',), live=True, whole=True),
    # what reads foreign bytes, and what shares memory (with sanitizers, compilers warn of what
    # cannot be).  Without what only writes, the trees' kernel half (tsan has it, and here
    # ftrace_faults), the output of a live kernel (its pages are ftrace_output_golden's), and
    # the longest of the rings' concurrent tests (all other variants have them)
    Variant('asan', ['-Doptimization=1', '-Dc_args=-g1', '-Db_lundef=false', '-Dwerror=false',
                     '-Db_sanitize=address,undefined'],
            ['unit', 'ring', 'runtime', 'stream', 'kernel', 'cli', 'fuzz', 'engine',
             'events', 'symbol', 'ftrace', 'kev', 'lkst', 'ltt', 'qnx', 'columns', 'sql',
             'intervals', 'index'],
            without=('model-recipes-long', 'cli-jobs-foreign-long', 'index-long', 'lkst_logd', 'qnx_logger',
                     'ftrace_tree_kernel', 'ftrace_output_live', 'cli-kernel', 'model-reference-long', 'explain', 'diff', 'diff-shops', 'cli-jobs-long', 'docs', 'ring-concurrent', 'hammer-discard', 'hammer-plain'),
            live=True),
    # (bt2 starts LTTng, of which one at a time runs)
    Variant('clang', ['-Dbuildtype=release'],
            ['unit', 'ring', 'runtime', 'stream', 'header', 'cli'], CLANG,
            without=('long', 'bt2'), shipped=True),
    Variant('tiny', ['-Dbuildtype=minsize', '-Dtiny=true'], ['unit', 'ring', 'runtime'],
            shipped=True),
    Variant('plain', ['-Dbuildtype=release', '-Drseq=plain', *newer_x86_64()],
            ['ring', 'runtime'], shipped=True),
    Variant('inject', ['-Dbuildtype=debug', '-Dinject=true'],
            ['inject', 'ring', 'runtime', 'test_map'], shipped=True),
    Variant('tsan', ['-Doptimization=2', '-Dc_args=-g1', '-Drseq=plain', '-Db_lundef=false',
                     '-Dwerror=false', '-Db_sanitize=thread'],
            ['ring', 'runtime', 'threads']),
    Variant('clang-debug', ['-Dbuildtype=debug'], [], CLANG, shipped=True),
]

# Only when it is named: it takes many minutes.
LONG = [
    # each allocation, open, write, ... of the verbs fails once
    Variant('failat', ['-Dbuildtype=debugoptimized'], ['failat-full'], live=True),
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
        known_as = {t['name']} | {s.split(':')[-1] for s in t['suite']}
        if v.tests is None and 'failat-full' in known_as or known_as & set(v.without):
            continue
        if v.tests is None or known_as & set(v.tests):
            names[t['name']] = t['depends']
    return names


def needed(v, build, names):
    """The files to build, none: all.  For these tests, and what is installed."""
    if v.whole:
        return []
    ids = {i for depends in names.values() for i in depends}
    files = set()
    for t in introspect(build, '--targets'):
        shipped = not t['defined_in'].startswith(os.path.join(TOP, 'tests') + os.sep)
        if t['id'] in ids or shipped and (v.shipped or v.tests is None):
            files |= {os.path.relpath(f, build) for f in t['filename']}
    return sorted(files)


def compile_it(build, files):
    # tests that run at the same time go first
    done = subprocess.run(['nice', '-n', '5', 'ninja', '-C', build, *files],
                          capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode


def environment(v, run_dir):
    return {**os.environ, **v.env, 'TACHO_DIR': run_dir,
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
    # live: more than there are CPUs, as many wait for something most of the time.  A test's time
    # limit is for one that hangs, not for a slow machine: four times that of tests/*/meson.build
    command = ['meson', 'test', '-C', build, '--no-rebuild', '-t', '4', '--num-processes',
               str((os.cpu_count() or 1) + v.live), *names]
    if 'failat-full' in names:      # which is left out otherwise
        command += ['--suite', 'failat-full']
    # other variants run the same tests at the same time, with sessions of the same names
    run_dir = tempfile.mkdtemp(prefix='tacho-check-',
                               dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
    done = subprocess.run(command, env=environment(v, run_dir), capture_output=True, text=True)
    shutil.rmtree(run_dir, ignore_errors=True)
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


# seconds: that it took.  why: what failed; None: it is built.
Built = collections.namedtuple('Built', 'build names seconds why', defaults=(None,))


def build(v):
    start = time.time()
    path = setup(v)
    if not path:
        return Built(None, {}, 0, 'meson setup failed')
    names = chosen(v, path)
    if compile_it(path, needed(v, path, names)):
        return Built(path, names, 0, 'the build failed')
    return Built(path, names, time.time() - start)


def test(v, built):
    """Runs the variant's tests; a list of cases."""
    start = time.time()
    if built.why:
        cases = [Case('not ok', f'{v.name}: {built.why}')]
    elif not built.names:
        cases = [Case('ok', f'{v.name}: builds without a warning')]
    else:
        log = run_tests(v, built.build, built.names)
        cases = [Case('not ok', f'{v.name}: the tests did not run')] if log is None else \
            [c for t in log for c in cases_of(f'{v.name}: {t["name"]}', t)]
    print(f'{v.name}: {summary(cases)}, built in {built.seconds:.0f} s, '
          f'tested in {time.time() - start:.0f} s', flush=True)
    return cases


def run(variants):
    """Builds and tests them; a list of cases."""
    cases = []
    # the worker does what it is given in this order, and nothing of it at the same time
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as worker:
        given = [(v, worker.submit(build if v.live else lambda v: test(v, build(v)), v))
                 for v in sorted(variants, key=lambda v: not v.live)]
        for v, done in given:
            cases += test(v, done.result()) if v.live else done.result()
    return cases


def summary(cases):
    n = collections.Counter(c.result for c in cases)
    return f'{n["ok"]} passed, {n["not ok"]} failed, {n["skip"]} skipped'


def main():
    only = sys.argv[1:]
    # this python3, not a launcher of it, which is slower and is started a thousand times
    os.environ['PATH'] = os.path.dirname(sys.executable) + os.pathsep + os.environ['PATH']
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
    cases = run(variants)
    for result, word in (('not ok', 'failed'), ('skip', 'skipped')):
        for c in cases:
            if c.result == result:
                print(f'{word}: {c.text}')
    print(summary(cases))
    results = [c.result for c in cases]
    return 1 if 'not ok' in results or 'ok' not in results else 0


sys.exit(main())
