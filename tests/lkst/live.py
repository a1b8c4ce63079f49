# SPDX-License-Identifier: MIT
"""tacho's verbs on the session of LKST: what all buffers of its lists hold, those that were left
and not those that were deleted.

live.py TACHO DIRECTORY-OF-COMMANDS"""
import os
import shutil
import subprocess
import sys
import tempfile

TACHO, TOOLS = sys.argv[1:3]
run_dir = tempfile.mkdtemp(prefix='tacho-lkst-live.', dir='/dev/shm')
os.chmod(run_dir, 0o700)
env = {**os.environ, 'TACHO_DIR': run_dir, 'LKST_SESSION': 'lkst-live'}
count = failed = 0


def run(*cmd):
    p = subprocess.run(cmd, capture_output=True, text=True, env=env)
    if p.returncode:
        print('#', cmd, p.returncode, p.stderr.strip())
    return p.stdout


def lkst(tool, *args):
    return run(os.path.join(TOOLS, tool), *args)


def log(first, n):
    for i in range(first, first + n):
        run('taskset', '-c', '0', os.path.join(TOOLS, 'lkstlogger'), '-ev', '0x123', '-a1', str(i))


def seen():
    out = run(TACHO, 'report', '-R', 'session:lkst-live')
    return [int(w.split('=')[1], 0) for line in out.splitlines() if '0x123' in line or 'ETYPE_0x123' in line
            for w in line.split() if w.startswith('arg1=')]


def same(got, want, name):
    global count, failed
    count += 1
    failed += got != want
    print(f"{'ok' if got == want else 'not ok'} {count} - {name}")
    if got != want:
        print('# got', got, 'not', want)


try:
    lkst('lkst', 'start')
    subprocess.run([os.path.join(TOOLS, 'lkstm'), 'write', '-n', 'one', '-S'], env=env,
                   input='0x123 1\n', text=True, stdout=subprocess.DEVNULL, check=True)
    lkst('lkstbuf', 'create', '-c', '0', '-b', '5', '-s', '8K')
    lkst('lkstbuf', 'create', '-c', '0', '-b', '6', '-s', '8K')
    lkst('lkstbuf', 'jump', '-c', '0', '-b', '5')
    log(0, 10)
    same(seen(), list(range(10)), 'the buffer that is written')
    lkst('lkstbuf', 'jump', '-c', '0', '-b', '6')
    log(10, 10)
    same(seen(), list(range(20)), 'and the one that was left')
    lkst('lkstbuf', 'jump', '-c', '0', '-b', '0')
    log(20, 3)
    same(seen(), list(range(23)), 'all three in the order of time')
    lkst('lkstbuf', 'delete', '-c', '0', '-b', '5')
    same(seen(), list(range(10, 23)), 'not one that was deleted')
    lkst('lkstbuf', 'create', '-c', '0', '-b', '7', '-s', '8K')
    same(seen(), list(range(10, 23)), 'nor in one that has its place')
    lkst('lkstbuf', 'jump', '-c', '0', '-b', '7')
    log(23, 2)
    same(seen(), list(range(10, 25)), 'but what is written there from then on')
    text = run(TACHO, 'stat', 'session:lkst-live')
    same('damaged' in text, False, 'nothing is damaged')
finally:
    lkst('lkst', 'destroy')
    shutil.rmtree(run_dir, ignore_errors=True)
print(f'1..{count}')
sys.exit(failed != 0)
