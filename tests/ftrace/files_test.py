#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""files_test.py TACHO RENAMER ANSWERS DIFFERENCES

files.sh tries the files of the running kernel's tracing directory, and those of a mount:
once with the kernel's events, once with those of a traced program.  A mount's answer
has to be the running kernel's, or that of the kernel whose answers are kept
(tools/golden-tracefs.sh): what the running one lacks, only that one can say.

DIFFERENCES has what is different on purpose, and what a mount answers then:
	kernel|program|both  STEP  # WHY
	|a line of the answer
A listed step is ok with that answer only, or with the kernel's.  Who gives the
kernel's answer for a program's event is listed for nothing, which is not ok either.
"""
import concurrent.futures
import lzma
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACING = '/sys/kernel/tracing'


def parse(text):
    """Answers by name of step, in the order in which they were given."""
    answers, name = {}, None
    for line in text.splitlines():
        if line.startswith(('ok ', 'not ok ')):
            name = line.split(' - ', 1)[1]
            answers[name] = []
        elif line.startswith('#  ') and name is not None:
            answers[name].append(line[3:])
    return answers


class Difference:
    """What is answered otherwise than by the kernel, and why."""

    def __init__(self, sides, step, why):
        self.sides, self.step, self.why = sides, step, why
        self.answer = []
        self.used = set()


def read_differences(path):
    """By side and name of step."""
    listed, last = {}, None
    with open(path, encoding='utf-8') as f:
        for nr, line in enumerate(f, 1):
            line = line.rstrip('\n')
            what, mark, why = line.partition('  # ')
            if line.startswith('#') or not line.strip():
                continue
            if line.startswith('\t|') and last:
                last.answer.append(line[2:])
            elif mark and why and not line[0].isspace():
                side, step = what.split(None, 1)
                sides = ('kernel', 'program') if side == 'both' else (side,)
                last = Difference(sides, step.strip(), why)
                for s in sides:
                    assert (s, last.step) not in listed, f'{path}:{nr}: twice'
                    listed[s, last.step] = last
            else:
                sys.exit(f'{path}:{nr}: neither a step nor a line of an answer')
    return listed


def run_script(where, renamer, program=False, env=None):
    """Its answers; None: it did not come to its end."""
    done = subprocess.run(
        ['bash', os.path.join(HERE, 'files.sh'), '-h', renamer] +
        (['-p', renamer] if program else []) + [where],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False, env=env)
    text = done.stdout.decode('utf-8', 'backslashreplace')
    for line in done.stderr.decode('utf-8', 'backslashreplace').splitlines():
        print(f'# {line}')
    last = text.rstrip().rsplit('\n', 1)[-1]
    return parse(text) if done.returncode == 0 and last.startswith('1..') else None


def run_mounted(tacho, renamer, side):
    """The same in a mounted tree, with sessions and a run-time directory of its own."""
    where = tempfile.mkdtemp(prefix='tacho-tracefs-')
    mnt = os.path.join(where, 'mnt')
    os.mkdir(mnt)
    # where programs find their sessions, too
    env = {**os.environ, 'TACHO_DIR': os.path.join(where, 'run')}
    subprocess.run([tacho, 'mount', '-q', '-s', f'tfs-{side}-{os.getpid()}', mnt],
                   check=True, env=env)
    try:
        return run_script(mnt, renamer, side == 'program', env)
    finally:
        subprocess.run([tacho, 'umount', mnt], check=True, env=env)
        shutil.rmtree(where)


class Tap:
    def __init__(self):
        self.nr = self.bad = 0

    def say(self, good, what, more=''):
        self.nr += 1
        self.bad += not good
        print(f'{"ok" if good else "not ok"} {self.nr} - {what}{more}')


def compare(tap, side, answers, references, listed):
    for name, answer in answers.items():
        wanted = [r[name] for r in references if name in r]
        if answer in wanted:
            tap.say(True, f'{side}: {name}')
            continue
        known = listed.get((side, name))
        if known:
            known.used.add(side)
            wanted[:] = [known.answer] if wanted else []
        tap.say(answer in wanted, f'{side}: {name}',
                f' (differs: {known.why})' if known else '')
        if answer not in wanted:
            for line in answer:
                print(f'#   {line}')
            for line in wanted[0] if wanted else ['nobody has answered that']:
                print(f'# not {line}')


def check_used(tap, listed):
    """A kernel's event may be answered by a running kernel that has what others lack."""
    unused = sorted(step for (side, step), d in listed.items()
                    if side not in d.used and (side == 'program' or not d.used))
    tap.say(not unused, 'what is listed as different is',
            ''.join(f'\n# not different: {step}' for step in unused))


def unusable():
    if os.geteuid():
        return 'needs root'
    if not os.path.exists(f'{TRACING}/instances'):
        return 'needs tracefs'
    if not os.path.exists('/dev/fuse'):
        return 'needs /dev/fuse'
    return None


def main():
    tacho, renamer, kept, differences = map(os.path.abspath, sys.argv[1:])
    why = unusable()
    if why:
        print(f'1..0 # SKIP {why}')
        return 0
    with lzma.open(kept, 'rt', encoding='utf-8', errors='backslashreplace') as f:
        golden = parse(f.read())
    listed = read_differences(differences)
    tap = Tap()
    # most of their time they wait
    with concurrent.futures.ThreadPoolExecutor() as pool:
        real = pool.submit(run_script, TRACING, renamer)
        mounted = {side: pool.submit(run_mounted, tacho, renamer, side)
                   for side in ('kernel', 'program')}
    real = real.result()
    tap.say(real is not None, 'the running kernel')
    for side, run in mounted.items():
        answers = run.result()
        tap.say(answers is not None, f'{side}: all of it')
        compare(tap, side, answers or {}, [real or {}, golden], listed)
        missing = set(real or {}) - set(answers or {})
        tap.say(not missing, f'{side}: all that the kernel answers',
                ''.join(f'\n# missing: {m}' for m in sorted(missing)))
    check_used(tap, listed)
    print(f'1..{tap.nr}')
    return 1 if tap.bad else 0


if __name__ == '__main__':
    sys.exit(main())
