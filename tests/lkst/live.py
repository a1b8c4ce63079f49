# SPDX-License-Identifier: MIT
"""tacho's verbs on the session of LKST: what all buffers of its lists hold, those that were left
and not those that were deleted.

live.py TACHO DIRECTORY-OF-COMMANDS PROGRAM-WITH-A-FIELD-CALLED-TIME"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TACHO, TOOLS, TIMED = sys.argv[1:4]
NAME = f'll{os.getpid()}'         # the kernel's instance is called by it
run_dir = tempfile.mkdtemp(prefix='tacho-lkst-live.', dir='/dev/shm')
os.chmod(run_dir, 0o700)
env = {**os.environ, 'TACHO_DIR': run_dir, 'LKST_SESSION': NAME}
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
    out = run(TACHO, 'report', '-R', 'session:' + NAME)
    return [int(w.split('=')[1], 0) for line in out.splitlines() if '0x123' in line or 'ETYPE_0x123' in line
            for w in line.split() if w.startswith('arg1=')]


def same(got, want, name):
    global count, failed
    count += 1
    failed += got != want
    print(f"{'ok' if got == want else 'not ok'} {count} - {name}")
    if got != want:
        print('# got', got, 'not', want)


def others_fields():
    """A field `time` of another's event is a field."""
    run(TACHO, 'enable', '-s', NAME, 'timed:*')
    log(50, 1)
    run(TIMED)
    log(51, 1)
    lines = run(TACHO, 'report', '--json', '--ticks', 'session:' + NAME).splitlines()
    events = [e for e in map(json.loads, lines) if 'event' in e]
    same([e['fields'].get('arg1', e['fields'].get('time')) for e in events][-5:],
         [50, 0, 1, 2, 51], 'events of others stay where they are')
    times = [int(e['time']) for e in events[-5:]]
    same(len(set(times)), 5, 'at their own time')
    run(TACHO, 'disable', '-s', NAME, 'timed:*')


def kernel_events():
    """The kernel's, which are brought later, stand where they happened: among the others."""
    subprocess.run([os.path.join(TOOLS, 'lkstm'), 'write', '-n', 'two', '-S'], env=env,
                   input='0x123 1\nPROCESS_EXEC 1\n', text=True, stdout=subprocess.DEVNULL,
                   check=True)
    if not os.path.isdir('/sys/kernel/tracing/instances/tacho.' + NAME):
        return
    log(100, 5)
    lkst('lkstbuf', 'list')     # brings them
    lines = run(TACHO, 'report', '--json', '--ticks', 'session:' + NAME).splitlines()
    events = [e for e in map(json.loads, lines) if 'event' in e]
    times = [int(e['time']) for e in events]
    same(times == sorted(times), True, 'the order is that of time')
    execs = [e for e in events if e['event'] == 'PROCESS_EXEC']
    same([e['time'] for e in execs], [e['fields']['time'] for e in execs],
         "an event of the kernel has its own time")
    at = [i for i, e in enumerate(events) if e['fields'].get('arg1', 0) in range(100, 105)]
    same([sum(e['event'] == 'PROCESS_EXEC' for e in events[i:j]) > 0
          for i, j in zip(at, at[1:])], [True] * 4, 'which is between those of programs')
    counted = run(TACHO, 'stat', 'session:' + NAME)
    same(f' {len(execs)} ' in counted and 'lkst:PROCESS_EXEC' in counted, True,
         'each is counted once')
    # and where they are read later, and for who reads on meanwhile
    for path in ('t', 't.lkst'):
        run(TACHO, 'convert', '-q', 'session:' + NAME, '-o', os.path.join(run_dir, path))
        again = run(TACHO, 'report', '--json', '-q', '-e', 'PROCESS_EXEC', os.path.join(run_dir, path))
        same(again.count('"event":'), len(execs), f'as many in {path}')


    follow(len(events))


def follow(there):
    """Brought when later ones were shown already: it stays in order, and none is missing."""
    out = os.path.join(run_dir, 'follow')
    with open(out, 'w') as f:
        p = subprocess.Popen([TACHO, 'report', '--follow', '--json', '--ticks', 'session:' + NAME],
                             stdout=f, env=env)

    def until(n):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with open(out) as f:
                events = [json.loads(l) for l in f if l.endswith('\n') and '"event":' in l]
            if len(events) >= n:
                return events
            time.sleep(0.02)
        return events

    try:
        until(there)
        log(200, 3)
        until(there + 3)            # of programs, at once
        lkst('lkstbuf', 'list')
        events = until(there + 6)
    finally:
        p.send_signal(signal.SIGINT)
        p.wait()
    times = [int(e['time']) for e in events]
    same(times == sorted(times), True, 'who follows has them in order, too')
    same(sum(e['event'] == 'PROCESS_EXEC' for e in events[there + 3:]) >= 3, True,
         'those that came late')


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
    others_fields()
    kernel_events()
    text = run(TACHO, 'stat', 'session:' + NAME)
    same('damaged' in text, False, 'nothing is damaged')
finally:
    lkst('lkst', 'destroy')
    shutil.rmtree(run_dir, ignore_errors=True)
print(f'1..{count}')
sys.exit(failed != 0)
