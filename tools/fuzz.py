#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the fuzz targets with libFuzzer, ASan and UBSan.

usage: tools/fuzz.py [--seconds N] [--jobs N] [--merge] [TARGET...]

Builds them with clang in build-fuzz/ (tests/fuzz/meson.build), and runs each for N seconds
(default: 60) from tests/fuzz/corpus/TARGET and what earlier runs found, which is kept in
build-fuzz/corpus/TARGET.  Prints a line per target: executions, their rate per second
of CPU, edges covered, findings.  --merge replaces the committed corpus by the fewest and
smallest inputs that cover the same edges.  Exits with 1 if there are findings; each is in
build-fuzz/findings/, with its report beside it.
"""
import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, 'build-fuzz')
SOURCE = os.path.join(TOP, 'tests', 'fuzz')
FINDINGS = os.path.join(BUILD, 'findings')
INPUT_MAX = 4096        # bytes: larger inputs are as good and slower
KEPT_MAX = 8192         # bytes of an input that --merge keeps

ENV = {
    **os.environ,
    # freed memory is checked, but not kept for long: fresh pages cost more than the checks
    'ASAN_OPTIONS': 'abort_on_error=1:quarantine_size_mb=8:malloc_context_size=8:'
                    'allocator_release_to_os_interval_ms=-1:' + os.environ.get('ASAN_OPTIONS', ''),
    'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1',
    'LSAN_OPTIONS': 'suppressions=' + os.path.join(TOP, 'tools', 'lsan.supp'),
}


def targets():
    return sorted(f[5:-2] for f in os.listdir(SOURCE)
                  if f.startswith('fuzz_') and f.endswith('.c'))


def program(name):
    return os.path.join(BUILD, 'tests', 'fuzz', 'fuzz_' + name)


def build(names):
    if not os.path.exists(os.path.join(BUILD, 'build.ninja')):
        subprocess.run(['meson', 'setup', BUILD, TOP, '-Dfuzz=true', '-Db_lundef=false',
                        '-Db_sanitize=address,undefined', '-Dc_args=-g1'], check=True,
                       env={**os.environ, 'CC': 'clang', 'CXX': 'clang++'},
                       stdout=subprocess.DEVNULL)
    subprocess.run(['ninja', '-C', BUILD] + ['tests/fuzz/fuzz_' + n for n in names],
                   check=True, stdout=subprocess.DEVNULL)


class Run:
    """One target while it runs."""

    def __init__(self, name, seconds):
        self.name = name
        found = os.path.join(BUILD, 'corpus', name)
        os.makedirs(found, exist_ok=True)
        os.makedirs(FINDINGS, exist_ok=True)
        self.log = os.path.join(FINDINGS, name + '.log')
        argv = [program(name), '-max_total_time=%d' % seconds, '-timeout=10',
                '-rss_limit_mb=2560', '-max_len=%d' % INPUT_MAX, '-entropic=0',
                '-print_final_stats=1', '-artifact_prefix=%s/%s-' % (FINDINGS, name)]
        words = os.path.join(SOURCE, 'dict', name + '.dict')
        if os.path.exists(words):
            argv.append('-dict=' + words)
        argv += [found, os.path.join(SOURCE, 'corpus', name)]
        with open(self.log, 'w', encoding='utf-8') as f:
            self.p = subprocess.Popen(argv, env=ENV, stdout=f, stderr=f,
                                      stdin=subprocess.DEVNULL)

    def end(self):
        """Waits; returns whether it found nothing."""
        _, status, usage = os.wait4(self.p.pid, 0)
        self.p.returncode = os.waitstatus_to_exitcode(status)
        with open(self.log, encoding='utf-8', errors='replace') as f:
            text = f.read()
        runs = re.findall(r'number_of_executed_units: *(\d+)', text)
        edges = re.findall(r'cov: (\d+)', text)
        cpu = usage.ru_utime + usage.ru_stime
        why = re.search(r'^(SUMMARY: .*|.*runtime error: .*)$', text, re.M)
        n = int(runs[-1]) if runs else 0
        print('%-12s %10d runs %8.0f per s of CPU %6s edges  %s' % (
            self.name, n, n / max(cpu, 0.01), edges[-1] if edges else '?',
            'good' if not self.p.returncode else why.group(1) if why else
            'exit status %d, see %s' % (self.p.returncode, self.log)), flush=True)
        return not self.p.returncode


def merge(name):
    """The smallest set of inputs that covers what all of them cover."""
    committed = os.path.join(SOURCE, 'corpus', name)
    found = os.path.join(BUILD, 'corpus', name)
    fresh = os.path.join(BUILD, 'merged', name)
    small = os.path.join(BUILD, 'small', name)
    for d in fresh, small:
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(d)
    for f in os.listdir(found):
        path = os.path.join(found, f)
        if os.path.getsize(path) <= KEPT_MAX:
            shutil.copy(path, os.path.join(small, f))
    subprocess.run([program(name), '-merge=1', '-timeout=10', '-use_counters=0', fresh,
                    committed, small], env=ENV, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    before = len(os.listdir(committed))
    # those with a name were written by hand and say what they are for
    for f in os.listdir(committed):
        if re.fullmatch(r'[0-9a-f]{40}', f):
            os.unlink(os.path.join(committed, f))
    by_hand = {open(os.path.join(committed, f), 'rb').read() for f in os.listdir(committed)}
    for f in os.listdir(fresh):
        with open(os.path.join(fresh, f), 'rb') as g:
            if g.read() in by_hand:
                continue
        shutil.copy(os.path.join(fresh, f), os.path.join(committed, f[:12]))
    print('%-12s %d inputs, were %d' % (name, len(os.listdir(committed)), before), flush=True)


def main():
    parser = argparse.ArgumentParser(description='Runs the fuzz targets.')
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--merge', action='store_true')
    parser.add_argument('target', nargs='*')
    args = parser.parse_args()
    names = args.target or targets()
    unknown = set(names) - set(targets())
    if unknown:
        parser.error('no target %s; there are: %s' % (
            ', '.join(sorted(unknown)), ' '.join(targets())))
    build(names)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if args.merge:
        for name in names:
            merge(name)
        return 0
    good, running, waiting = True, [], list(names)
    while running or waiting:
        while waiting and len(running) < args.jobs:
            running.append(Run(waiting.pop(0), args.seconds))
        ended = [r for r in running if r.p.returncode is not None or
                 os.waitid(os.P_PID, r.p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)]
        for r in ended:
            good &= r.end()
            running.remove(r)
        time.sleep(0.1)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
