# SPDX-License-Identifier: MIT
"""tracelogger: what a program for QNX and the kernel do, in a .kev that tacho reads."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

LOGGER, PROGRAM, TACHO = (os.path.abspath(p) for p in sys.argv[1:4])
DIR = tempfile.mkdtemp(prefix='qnx-logger.')
SESSION = f'qnxlog{os.getpid()}'
ENV = {**os.environ, 'TACHO_DIR': DIR + '/run', 'QNX_SESSION': SESSION, 'TMPDIR': DIR}
PROGRAMS_ONLY = ['-F', '1', '-F', '2', '-F', '3', '-F', '4', '-F', '5', '-F', '6', '-F', '7']

nr = 0
failed = 0


def ok(cond, what, *detail):
    global nr, failed
    nr += 1
    failed += not cond
    print(f'{"ok" if cond else "not ok"} {nr} - {what}', flush=True)
    if not cond:
        for d in detail:
            for line in str(d).splitlines()[:20]:
                print('# ' + line)


def sh(*cmd, **kw):
    return subprocess.run(cmd, capture_output=True, text=True, env=ENV, timeout=200, **kw)


def path(name):
    return os.path.join(DIR, name)


def lines(file, *args):
    """What report says of each event: 'event: text'."""
    p = sh(TACHO, 'report', file, *args)
    return [re.sub(r'^.*?\d+\.\d+: ', '', line) for line in p.stdout.splitlines()
            if re.search(r'\d+\.\d+: ', line)]


class Logger:
    """A logger that waits for START."""
    def __init__(self, *args):
        self.p = subprocess.Popen([LOGGER, '-d1', '-v', *args], env=ENV, text=True,
                                  stderr=subprocess.PIPE)
        self.said = ''
        for line in self.p.stderr:
            self.said += line
            if 'waiting' in line:
                return

    def end(self):
        self.said += self.p.communicate(timeout=200)[1]
        return self.p.returncode


def logged(name, how, *args):
    """A run of the program with a logger; what the program printed."""
    l = Logger('-f', path(name), *args)
    p = sh(PROGRAM, how)
    if p.returncode:
        l.p.terminate()
    ok(l.end() == 0 and p.returncode == 0, f'{name}: logger and program end well', l.said,
       p.stderr)
    return p.stdout, l


@contextlib.contextmanager
def inserting():
    """Events come all the time: a limit is reached, whatever the kernel has to say."""
    p = subprocess.Popen([PROGRAM, 'insert'], env=ENV)
    try:
        yield
    finally:
        p.kill()
        p.wait()


def test_program():
    logged('user.kev', 'start', '-E', *PROGRAMS_ONLY, '-A', 'who=me')
    user = lines(path('user.kev'), '-e', 'user:*')
    want = [f'event_20: d0=0x{i % 4:x} d1=0x{i * i:x}' for i in range(100)]
    want += ['event_21_text: text of 21',
             'event_22_data: data=04 03 02 01 02 00 00 00 03 00 00 00 04 00 00 00']
    ok(user == want, 'the program\'s events, in order', '\n'.join(user[-5:]))
    data = open(path('user.kev'), 'rb').read()
    ok(b'TRACE_who::me' in data, 'an attribute of -A')
    ok(f'TRACE_CPU_NUM::{os.sysconf("SC_NPROCESSORS_ONLN")}TRACE_'.encode() in data,
       'as many CPUs as the machine has', data[:400])
    args = re.search(rb'TRACE_TRACELOGGER_ARGS::(.*?)TRACE_', data)
    ok(args and b'who=me' in args[1], 'the command line, or its end', args)
    ok(b'TRACE_FILE_NAME::' in data and b'.new' not in data[:200], 'the file\'s own name')
    p = sh(TACHO, 'check', path('user.kev'))
    ok(p.returncode == 0, 'the file is good', p.stdout, p.stderr)
    ok(not os.path.exists(path('user.kev.tacho')), 'nothing else stays')


def test_few_events():
    """What there was when the trace began is told as far as it is wanted."""
    logged('few.kev', 'few')
    names = {line.split(': ')[0] for line in lines(path('few.kev'))
             if not line.startswith(('time:', 'buffer:'))}
    ok(names == {'process:create_name', 'event_20', 'event_21_text', 'event_22_data'},
       'only the events that were selected, of what there was, too', names)


def test_no_classes():
    """Without -E the program says what it wants, which here is nothing."""
    logged('none.kev', 'start')
    ok(lines(path('none.kev'), '-e', 'user:*') == [], 'no class is on without -E')


def hist(trace):
    # a live session is followed for a while: what is there is counted at once
    live = ['--duration', '3s'] if trace.startswith('session:') else []
    p = sh(TACHO, 'hist', *live, trace, '-e', 'user:event_20', 'keys=d0:vals=d1:sort=d0')
    return re.findall(r'\{ d0:\s*(\d+) \} hitcount:\s*(\d+)\s+d1:\s*(\d+)', p.stdout)


def test_same_answers():
    """The live session, CTF of it, and the .kev: one question, one answer."""
    p = sh(PROGRAM, 'own')
    ok(p.returncode == 0, 'a program with buffers of its own', p.stderr)
    live = hist(f'session:{SESSION}')
    want = [(str(k), '25', str(sum(i * i for i in range(k, 100, 4)))) for k in range(4)]
    ok(live == want, 'the live session\'s histogram', live)
    p = sh(LOGGER, '-f', path('x.kev'))
    ok(p.returncode == 1 and 'already' in p.stderr, 'buffers of others are not taken',
       p.stderr)
    p = sh(LOGGER, '-R', '-P', '-n', '0', '-s', '1', *PROGRAMS_ONLY, '-f', path('same.kev'))
    ok(p.returncode == 0, 'but with -R', p.stderr)
    ok(hist(path('same.kev')) == want, 'the same from the .kev', hist(path('same.kev')))
    p = sh(TACHO, 'convert', path('same.kev'), '-o', path('same'))
    ok(p.returncode == 0 and hist(path('same')) == want, 'and from CTF of it', p.stderr)
    p = sh(LOGGER, '-f', path('x.kev'))
    ok(p.returncode == 1, '-P leaves the buffers')
    p = sh(LOGGER, '-R', '-s', '1', *PROGRAMS_ONLY, '-f', path('same.kev'))
    ok(p.returncode == 0, 'which the next one frees', p.stderr)
    ok(sh(TACHO, 'report', f'session:{SESSION}').returncode != 0, 'the session is gone')


def test_ring():
    logged('ring.kev', 'start', '-E', '-r', *PROGRAMS_ONLY)
    user = lines(path('ring.kev'), '-e', 'user:*')
    ok(len(user) == 102, 'ring: what the buffers hold at STOP', len(user))
    logged('newest.kev', 'many', '-E', '-r', '-S', '16k', *PROGRAMS_ONLY)
    user = lines(path('newest.kev'), '-e', 'user:*')
    size = os.path.getsize(path('newest.kev'))
    want = [f'event_20: d0=0x0 d1=0x{i:x}' for i in range(3000 - len(user), 3000)]
    ok(user == want and 400 < len(user), 'a limit takes the oldest away', len(user), user[:3],
       user[-3:])
    ok(0 <= 16384 - size < 2048, 'and no more than has no room', size)


def test_kernel():
    if os.geteuid() or not os.path.isdir('/sys/kernel/tracing/instances'):
        print('# no events of the kernel here: not root, or no tracefs')
        return
    said, l = logged('kernel.kev', 'fork', '-E', '-F', '1', '-F', '7', '-k', '256')
    if 'no events of the kernel' in l.said:
        print('# ' + l.said)
        return
    if 'were lost' in l.said:
        print('# the machine is too busy: ' + l.said)
        return
    pid, child = said.split()
    created = lines(path('kernel.kev'), '-e', 'process:create')
    ok(f'process:create: ppid={pid} pid={child}' in created, 'a child of the program',
       '\n'.join(created))
    ok(any(f'pid={child}' in line for line in lines(path('kernel.kev'), '-e', 'process:destroy')),
       'and its end')
    # some kernels do not tell of switches from the idle task, which may be how it came to run
    dead = lines(path('kernel.kev'), '-e', 'thread:dead')
    ok(f'thread:dead: pid={child} tid={child}' in dead, 'it stopped running', '\n'.join(dead))
    ok(len(lines(path('kernel.kev'), '-e', 'user:*')) == 102, 'and the program\'s own events')
    ok(not lines(path('kernel.kev'), '-e', 'system:*'), '-F: no class SYSTEM')
    said, l = logged('wide.kev', 'fork', '-E', '-F', '1', '-F', '7', '-w', '-k', '256')
    running = lines(path('wide.kev'), '-e', 'thread:running*')
    # threads with a deadline have the priority -1
    wide = re.compile(r'thread:running_wide: pid=\d+ tid=\d+ priority=(-1|\d+) policy=0')
    ok(running and all(wide.match(r) for r in running),
       '-w: states of threads with their priority',
       '\n'.join(r for r in running if not wide.match(r)))
    said, l = logged('pid.kev', 'pid', '-k', '256')
    if 'were lost' in l.said:
        print('# the machine is too busy: ' + l.said)
        return
    pid = said.split()[0]
    threads = lines(path('pid.kev'), '-e', 'thread:*')
    ok(threads and all(f'pid={pid} ' in t and '_wide' not in t for t in threads),
       'threads of one process, and no state', '\n'.join(threads))
    ok(not lines(path('pid.kev'), '-e', 'process:*'), 'and no other class')
    ok(len(lines(path('pid.kev'), '-e', 'user:*')) == 102, 'but USER')


def test_wide():
    if os.geteuid() or not os.path.isdir('/sys/kernel/tracing/instances'):
        return
    said, l = logged('signals.kev', 'signal', '-E', '-w', '-F', '2', '-F', '7', '-k', '256')
    if 'no events of the kernel' in l.said or 'were lost' in l.said:
        print('# ' + l.said)
        return
    pid = said.strip()
    sent = lines(path('signals.kev'), '-e', 'comm:signal*')
    ok(any(s.startswith('signal_wide: si_signo=10 si_code=-6 si_errno=0 ') for s in sent),
       '-w: a signal with its errno', '\n'.join(sent))
    if os.path.exists('/sys/kernel/tracing/events/syscalls/sys_enter_tgkill'):
        sent = lines(path('signals.kev'), '-e', 'kercall_enter:signal_kill*')
        ok(f'kercall_enter:signal_kill_wide: nd=0x0 pid={pid} tid={pid} signo=10 code=0x0 value=0x0' in sent,
           '-w: a signal to a thread', '\n'.join(sent))
    p = sh(TACHO, 'check', path('signals.kev'))
    ok(p.returncode == 0, 'the file is good', p.stdout, p.stderr)


def test_output():
    with inserting():
        outputs()


def outputs():
    p = subprocess.run([LOGGER, '-n', '1', '-f', '-'], env=ENV, capture_output=True, timeout=200)
    ok(p.returncode == 0 and p.stdout.startswith(b'TRACE_HEADER_BEGIN::'), '-f -: stdout',
       p.stderr)
    ok(len(p.stdout) <= 16384, '-n 1: a buffer', len(p.stdout))
    p = sh(LOGGER, '-v', *PROGRAMS_ONLY, '-n', '3', '-f', path('three.kev'))
    ok(0 <= 3 * 16384 - os.path.getsize(path('three.kev')) < 64, '-n 3: down to the last slots',
       p.stderr)
    os.mkfifo(path('fifo'))
    reader = subprocess.Popen(['cat', path('fifo')], stdout=subprocess.PIPE)
    p = sh(LOGGER, '-S', '8k', '-f', path('fifo'))
    data = reader.communicate(timeout=200)[0]
    ok(p.returncode == 0 and data.startswith(b'TRACE_HEADER_BEGIN::') and len(data) <= 8192,
       '-S 8k into a FIFO', p.stderr, len(data))
    with open(path('old.kev'), 'w') as f:
        f.write('old')
    p = sh(LOGGER, '-n', '1', '-f', path('old.kev'))
    ok(p.returncode == 0 and sh(TACHO, 'check', path('old.kev')).returncode == 0,
       'a file that was there is replaced', p.stderr)
    os.mkdir(path('left.kev.tacho'))
    p = sh(LOGGER, '-n', '1', '-f', path('left.kev'))
    ok(p.returncode == 1 and 'killed' in p.stderr, 'what a killed one left is not touched',
       p.stderr)
    p = sh(LOGGER, '-n', '1', '-f', path('no/x.kev'))
    ok(p.returncode == 1 and path('no/x.kev') in p.stderr, 'no such directory', p.stderr)
    ok(sh(LOGGER, '-n', '1', '-f', path('y.kev')).returncode == 0, 'which leaves no buffers')


def test_limit():
    """Events that are recorded and left out fill no file."""
    logged('limit.kev', 'skip', '-E', '-S', '64k', *PROGRAMS_ONLY)
    size = os.path.getsize(path('limit.kev'))
    ok(0 <= 65536 - size < 64, '-S: down to the last slots', size)
    ok(not lines(path('limit.kev'), '-e', 'user:event_19'), 'what is skipped is not in it')
    p = sh(TACHO, 'check', path('limit.kev'))
    ok(p.returncode == 0, 'it is good', p.stdout, p.stderr)


def test_signal():
    l = Logger('-f', path('signal.kev'))
    l.p.terminate()
    ok(l.end() == 0 and not os.path.exists(path('signal.kev')), 'a signal before START', l.said)


def test_others():
    """Buffers that others make when a logger's own are gone are theirs."""
    l = Logger('-f', path('others.kev'), '-E')
    p = sh(PROGRAM, 'take')
    ok(p.returncode == 0 and l.end() == 1 and 'freed' in l.said, 'its buffers are freed', l.said,
       p.stderr)
    p = sh(LOGGER, '-f', path('x.kev'))
    ok(p.returncode == 1 and 'already' in p.stderr, 'the others stay', p.stderr)
    p = sh(LOGGER, '-R', '-s', '1', *PROGRAMS_ONLY, '-f', path('x.kev'))
    ok(p.returncode == 0, 'and are good', p.stderr)


def test_options():
    for args, what in ((['-M'], '-S'), (['-A', 'x'], 'KEY'), (['-A', 'a=b::c'], 'KEY'),
                       (['-F', '9'], '1 to 7'), (['-F', 'x'], 'number'), (['-n', 'x'], '-n'),
                       (['-s', '0'], '-s'), (['-S', 'x'], '-S'), (['-S', '8191'], '8k'),
                       (['-d', '2'], '-d'),
                       (['-k', '0'], '-k'), (['-b', '0'], '-b'), (['-D', '0'], '-D'),
                       (['-Z'], "'-Z'"), (['--zoo'], "'--zoo'"), (['-s'], "'-s'"),
                       (['word'], 'option')):
        p = sh(LOGGER, *args)
        ok(p.returncode == 2 and what in p.stderr and p.stderr.count('\n') == 1 and
           p.stderr.startswith('tracelogger: '), f'{" ".join(args)} is refused', p.stderr)
    p = sh(LOGGER, '--help')
    ok(p.returncode == 0 and '-d1' in p.stdout, '--help')
    with inserting():
        p = sh(LOGGER, '-b', '8', '-p', '0x1000', '-M', '-S', '8k', '-F', '11', '-D', '1',
               '-w', '-a', '-n', '1', '-c', '-d0', '-f', path('z.kev'))
    ok(p.returncode == 0 and '-p' in p.stderr and 'ring 0' in p.stderr,
       'what means nothing here is said', p.stderr)


try:
    for t in (test_program, test_no_classes, test_few_events, test_same_answers, test_ring,
              test_kernel, test_wide, test_output, test_limit, test_signal, test_others, test_options):
        t()
finally:
    sh(TACHO, 'destroy', SESSION)
    shutil.rmtree(DIR, ignore_errors=True)
print(f'1..{nr}')
