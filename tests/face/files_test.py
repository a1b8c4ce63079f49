#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""files_test.py TACHO RENAMER ANSWERS DIFFERENCES

files.sh tries the files of the running kernel's tracing directory, and those of a mount:
once with the kernel's events, once with those of a traced program.  A mount's answer
has to be the running kernel's, or that of the kernel whose answers are kept
(tools/golden-tracefs.sh): what the running one lacks, only that one can say.

DIFFERENCES has what is different on purpose, a line each:
	kernel|program|both  STEP  # WHY
STEP is a step's name, or the beginning of several names with a * behind it.
"""
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


def read_differences(path):
    listed = []
    with open(path, encoding='utf-8') as f:
        for line in f:
            what, _, why = line.rstrip('\n').partition('  # ')
            if not line.startswith('#') and what.strip():
                side, step = what.split(None, 1)
                listed.append((side, step.strip(), why))
    return listed


def find_difference(listed, side, name):
    for of, step, why in listed:
        if of not in (side, 'both'):
            continue
        if step == name or (step.endswith('*') and name.startswith(step[:-1])):
            return why
    return None


def run_script(where, renamer, program=False):
    """Its answers; None: it did not come to its end."""
    done = subprocess.run(
        ['bash', os.path.join(HERE, 'files.sh'), '-h', renamer] +
        (['-p', renamer] if program else []) + [where],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False)
    text = done.stdout.decode('utf-8', 'backslashreplace')
    for line in done.stderr.decode('utf-8', 'backslashreplace').splitlines():
        print(f'# {line}')
    last = text.rstrip().rsplit('\n', 1)[-1]
    return parse(text) if done.returncode == 0 and last.startswith('1..') else None


class Mount:
    """A mounted tree, with sessions and a run-time directory of its own."""

    def __init__(self, tacho):
        self.tacho = tacho
        self.where = tempfile.mkdtemp(prefix='tacho-tracefs-')
        self.dir = os.path.join(self.where, 'mnt')
        os.mkdir(self.dir)
        # where programs find their sessions, too
        os.environ['TACHO_DIR'] = os.path.join(self.where, 'run')

    def __enter__(self):
        subprocess.run([self.tacho, 'mount', '-q', '-s', f'tfs-{os.getpid()}',
                        self.dir], check=True)
        return self.dir

    def __exit__(self, *_):
        subprocess.run([self.tacho, 'umount', self.dir], check=True)
        shutil.rmtree(self.where)


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
        why = find_difference(listed, side, name)
        tap.say(why is not None and bool(wanted), f'{side}: {name}',
                f' (differs: {why})' if why else '')
        if why is None:
            for line in answer:
                print(f'#   {line}')
            for line in wanted[0] if wanted else ['nobody has answered that']:
                print(f'# not {line}')


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
    real = run_script(TRACING, renamer)
    tap.say(real is not None, 'the running kernel')
    with Mount(tacho) as mnt:
        for side in 'kernel', 'program':
            answers = run_script(mnt, renamer, side == 'program')
            tap.say(answers is not None, f'{side}: all of it')
            compare(tap, side, answers or {}, [real or {}, golden], listed)
            missing = set(real or {}) - set(answers or {})
            tap.say(not missing, f'{side}: all that the kernel answers',
                    ''.join(f'\n# missing: {m}' for m in sorted(missing)))
    print(f'1..{tap.nr}')
    return 1 if tap.bad else 0


if __name__ == '__main__':
    sys.exit(main())
