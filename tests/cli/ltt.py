# SPDX-License-Identifier: MIT
"""tracevisualizer's lines on bytes that are known; tracedaemon on the running kernel."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'stream'))
import lttfile as ltt  # noqa: E402
from lttcase import GOLDEN, done, ok, run, save, skip, work  # noqa: E402

TACHO, DAEMON, VISUALIZER = os.environ['TACHO'], os.environ['DAEMON'], os.environ['VISUALIZER']
TRACEFS = '/sys/kernel/tracing'


def golden(name):
    with open(os.path.join(GOLDEN, name), encoding='utf-8') as f:
        return f.read()


# ---- tracevisualizer ----------------------------------------------------------------------

f = ltt.File('>', False, size=8192)
ltt.every_event(f)
f.bare(ltt.SCHEDCHANGE)
i386 = save('i386.ltt', f.done())
rc, out, err = run(VISUALIZER, i386)
want = golden('visual.txt')
ok(rc == 0 and out == want, 'every event in its historic line', err,
   [(a, b) for a, b in zip(out.splitlines(), want.splitlines()) if a != b][:5])
rc, out, err = run(VISUALIZER, '-s', i386)
ok(rc == 0 and out == want[:want.index('#####')], 'only the summary', out, err)
rc, out, err = run(VISUALIZER, '-e', 'SCHED', '-e', 'NET', '--no-time', '--no-length', i386)
ok(rc == 0 and out.splitlines()[-4:] == [
    'Sched change           N/A \tIN : 1002; OUT : 1001; STATE : 1',
    'Network                1002 \tPACKET IN; PROTOCOL : 8',
    'Network                1002 \tPACKET OUT; PROTOCOL : 56710',
    'Sched change           1002 \t'], 'chosen events, columns left out', out, err)
rc, out, err = run(VISUALIZER, '-x', 'CORE', '-p', '1002', i386)
ok(rc == 0 and 'Tracing process 1002 only' in out and 'Syscall' not in out.split('#' * 68)[-1] and
   'Kernel timer' in out.split('#' * 68)[-1], 'omitted events, one process', err)

f = ltt.File('<', False, cpu=1)
f.add(ltt.SCHEDCHANGE, 0, 0, 5, 0, after=1000)
f.add(ltt.SYSCALL_ENTRY, 0, 3, 0x8048000, after=1000)
f.add(ltt.FILE_SYSTEM, 6, 3, 100, after=0)
f.add(ltt.SYSCALL_EXIT, 0, after=500)
f.add(ltt.SYSCALL_ENTRY, 0, 254, 0x8048000, after=500)
f.add(ltt.SYSCALL_EXIT, 0, after=0)
f.add(ltt.SCHEDCHANGE, 0, 5, 0, 1, after=1000)
f.add(ltt.HEARTBEAT, 0, after=6000)
account = save('account/a.1.ltt', f.done())
save('account/a.proc', b'PID: 5; PPID: 1; NAME: five\n')
rc, out, err = run(VISUALIZER, '-s', '-a', account)
for text in ('Trace start time: (1000, 1000) ', 'Trace duration: (0, 9000) ',
             '\tProcess (5, 0): five: ', '\t\tNumber of system calls: 2 ',
             '\t\tQuantity of data read from files: 100 ',
             '\t\tTime executing process code: (0, 2500) => 27.78 % ',
             '\t\tTime running: (0, 3000) => 33.33 % ', '\t\tread: \t\t 1 \t (0, 500)',
             '\t\tTotal process time: (0, 2500) => 27.78 % '):
    ok(text in out.splitlines(), 'account: ' + text.strip(), out if 'start' in text else '')
# as many processes as a file can name: memory stays a small multiple of it
f = ltt.File('<', False, size=1 << 16)
for pid in range(1, 80000, 2):
    f.add(ltt.SCHEDCHANGE, 0, pid, pid + 1, 0, after=1)
p = subprocess.Popen([VISUALIZER, '-s', save('pids.ltt', f.done())], stdout=subprocess.PIPE)
out = p.stdout.read()
_, status, usage = os.wait4(p.pid, 0)
ok(status == 0 and b'Scheduling changes: 40000 ' in out and usage.ru_maxrss < 200 << 10,
   '80,000 processes', status, usage.ru_maxrss)
rc, out, err = run(VISUALIZER, os.path.join(work, 'nothing'))
ok(rc == 1 and err.startswith('tracevisualizer: cannot open'), 'no trace is there', rc, err)
rc, out, err = run(VISUALIZER, '-e', 'NOTHING', i386)
ok(rc == 2 and "no event 'NOTHING'" in err, 'no such event', rc, err)
for tool, name in ((VISUALIZER, 'tracevisualizer'), (DAEMON, 'tracedaemon')):
    rc, out, err = run(tool, '--help')
    ok(rc == 0 and out.startswith(f'usage: {name} ') and not err, f'{name} --help', rc, err)

# ---- <ltt/trace.h> -------------------------------------------------------------------------

trace = os.path.join(work, 'program.ltt')
rc, out, err = run(TACHO, 'record', '-q', '-o', trace, '-e', 'ltt:*', '--', os.environ['PROGRAM'])
said = dict(line.split() for line in out.splitlines())
want = {'register': '0', 'std': '0', 'raw': '0', 'big': '0', 'called': '3', 'called_size': '8192',
        'unregister': '0', 'twice': '1', 'unknown': '1', 'negative': '1', 'format': '1',
        'detached': '-1', 'attach': '0', 'user': '0', 'disable': '0', 'traced': '0',
        'hidden': '0', 'enable': '0', 'mask': '0', 'get': '0', 'forced': '1', 'bad': '1',
        'detach': '0', 'owner_gone': '1', 'owner_here': '0', 'owner_left': '1',
        'destroyed': '1'}
ok(rc == 0 and {k: v for k, v in said.items() if k not in ('words', 'bytes')} == want,
   'what the calls return', rc, err, {k: v for k, v in said.items() if want.get(k) != v})
records = sorted((r for name in os.listdir(trace) if name.endswith('.ltt')
                  for r in ltt.decode(open(os.path.join(trace, name), 'rb').read(),
                                      '<' if sys.byteorder == 'little' else '>')),
                 key=lambda r: r[0]) if os.path.isdir(trace) else []
words, nbytes = int(said.get('words', 0)), int(said.get('bytes', 0))
declared = {r[3][0]: [t.rstrip(b'\0') if isinstance(t, bytes) else t for t in r[3][1:]]
            for r in records if r[1] == ltt.NEW_EVENT}
ok(declared.get(words) == [b'words', b'%s is %d', 1, b'form'] and
   declared.get(nbytes) == [b'a name that is far ', b'bytes', 2, b''],
   'NEW_EVENT of each event, in LTT', declared)
data = [(r[3][0], r[4][:r[3][1]]) for r in records if r[1] == ltt.CUSTOM]
ok((words, b'seven is 7\0') in data and (nbytes, b'\xde\xad\xbe\xef') in data and
   (nbytes, b'Z' * 8192) in data and (words, b'user') in data and
   (words, b'hidden') not in data, 'CUSTOM with its data', data[:6])
found = [r[3][0] for r in records if r[1] == ltt.CHANGE_MASK]
ok(len(found) == 4 and 1 << ltt.CUSTOM in found, 'CHANGE_MASK', found)
rc, out, err = run(VISUALIZER, trace)
ok(rc == 0 and 'seven is 7' in out and 'DE AD BE EF' in out, 'in the historic lines', err)

# ---- tracedaemon --------------------------------------------------------------------------

for args, word in ((['-G5', 'x'], 'by process only'), (['-l', 'x'], 'no scheme with locks'),
                   (['-eNO', 'x'], "no event 'NO'"), (['-tx', 'x'], '-tsN'),
                   (['-b100', 'x'], '4096 bytes or more'), ([], 'where to?'),
                   (['-Pnine', 'x'], 'requires a number')):
    rc, out, err = run(DAEMON, *args)
    ok(rc == 2 and word in err and len(err.splitlines()) == 1,
       'refused: ' + (' '.join(args) or 'nothing'), rc, err)
rc, out, err = run(DAEMON, i386)
ok(rc == 1 and 'exists' in err, 'an output that exists stays', rc, err)

# the pid of a recorder that is no more may be another process's by now
sleeper = subprocess.Popen(['sleep', '600'])
stale = save('gone.ltt.flight.pid', b'%d\n' % sleeper.pid)
for option in ('-q', '-j'):
    rc, out, err = run(DAEMON, option, stale[:-len('.flight.pid')])
    ok(rc == 1 and 'no flight recorder' in err and sleeper.poll() is None,
       f'{option}: a process that is no recorder is left alone', rc, err, sleeper.poll())
sleeper.kill()
sleeper.wait()

if os.geteuid() or not os.path.exists(TRACEFS + '/events/sched/sched_switch'):
    skip('recording the kernel', 'no tracefs, or not root')
else:
    trace = os.path.join(work, 'run.ltt')
    p = subprocess.Popen([DAEMON, '-DSCHED', '-eSYS_ENTRY', trace, trace + '.proc'],
                         stderr=subprocess.PIPE)
    native = os.path.join(trace + '.tacho', 'metadata')
    while p.poll() is None and not os.path.exists(native):
        time.sleep(0.05)
    # until it has seen a change of processes: that can take a moment on a busy machine
    for _ in range(100):
        subprocess.run(['sleep', '0.01'], check=False)
    p.send_signal(signal.SIGTERM)
    err = p.communicate()[1].decode()
    found = [r for name in sorted(os.listdir(trace)) if name.endswith('.ltt')
             for r in ltt.decode(open(os.path.join(trace, name), 'rb').read(),
                                 '<' if sys.byteorder == 'little' else '>')] \
        if os.path.isdir(trace) else []
    ids = {r[1] for r in found}
    ok(p.returncode == 0 and ltt.SCHEDCHANGE in ids and ltt.SYSCALL_ENTRY in ids and
       not ids - {ltt.START, ltt.BUFFER_START, ltt.BUFFER_END, ltt.SCHEDCHANGE,
                  ltt.SYSCALL_ENTRY, ltt.NEW_EVENT, ltt.HEARTBEAT},
       'what was asked for is recorded, and nothing else', p.returncode, err, ids)
    ok(all(r[3] for r in found if r[1] == ltt.SCHEDCHANGE) and
       not any(r[3] for r in found if r[1] == ltt.SYSCALL_ENTRY),
       'with details, and without', err)
    masks = [r[3][10:12] for r in found if r[1] == ltt.START]
    ok(masks and all(m[0] >> ltt.SCHEDCHANGE & 1 and not m[0] >> ltt.MEMORY & 1 and
                     not m[1] >> ltt.SYSCALL_ENTRY & 1 for m in masks),
       'START has the masks', masks)
    ok(os.path.exists(trace + '.proc') and not os.path.exists(trace + '.tacho'),
       'the processes are listed; nothing else is left')
    rc, out, err = run(TACHO, 'check', trace)
    ok(rc == 0, 'nothing is wrong with it', out, err)

    flight = os.path.join(work, 'crash.ltt')
    rc, out, err = run(DAEMON, '-k', '-DSCHED', '-b65536', '-n4', flight)
    started = ok(rc == 0, 'a flight recorder starts', err)
    for _ in range(50):
        subprocess.run(['sleep', '0.01'], check=False)
    names = os.path.join(work, 'names')
    rc, out, err = run(DAEMON, '-j', flight, names)
    ok(rc == 0 and os.path.isdir(flight) and 'PID: ' in open(names).read(), 'a snapshot of it', err)
    rc, out, err = run(DAEMON, '-q', flight)
    ok(rc == 0 and not [n for n in os.listdir(work) if n.startswith('crash.ltt.')],
       'it ends, and leaves nothing', err, os.listdir(work))
    starts = [r[3] for name in os.listdir(flight) if name.endswith('.ltt')
              for r in ltt.decode(open(os.path.join(flight, name), 'rb').read(),
                                  '<' if sys.byteorder == 'little' else '>')
              if r[1] == ltt.START]
    ok(starts and all(s[9] == 1 for s in starts), 'START says what it is', starts)
    for option in '-k', '-q':
        rc, out, err = run(DAEMON, option, flight, names)
        ok(rc == 2 and '-j TRACE PROCFILE' in err and err.count('\n') == 1,
           f'{option}: no file of names', rc, err)
    dead = os.path.join(work, 'dead.ltt')
    rc, out, err = run(DAEMON, '-k', '-DSCHED', dead, env={**os.environ, 'TACHO_DIR': '/dev/null/x'})
    ok(rc == 1 and re.search("does not start: .*'/dev/null/x'", err) and
       not os.path.exists(dead + '.flight.pid'), 'a flight recorder that cannot start says why', rc,
       err)
    alone = shutil.copy(DAEMON, os.path.join(work, 'alone'))
    rc, out, err = run(alone, '-DSCHED', '-tu50000', os.path.join(work, 'alone.ltt'),
                       env={**os.environ, 'PATH': '/nowhere'})
    ok(rc == 0 and ' events of the kernel' in err, 'it needs no other program to record', rc, err)
    rc, out, err = run(DAEMON, '-j', os.path.join(work, 'other.ltt'))
    ok(rc == 1 and 'no flight recorder' in err, 'no snapshot without one', err)

done()
