#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tacho index, and tacho model --time with it: what a model finds from the beginning it finds by
the index, whatever happened to the index before."""
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TACHO, GEN = (os.environ[v] for v in ('TACHO', 'GEN_TRACE'))
SANITIZED = bool(os.environ.get('SANITIZED'))
EVENTS = 250000                # more than three checkpoints
SPAN_NS = EVENTS * 100         # what gen_trace makes: one each 230 ticks of 2.3 GHz
HEAD = struct.Struct('<I16sIQQQQQQQIIQ')
RULES = ['--counter', 'bytes: bench:thin.bytes', '--span', 'op: bench:thin -> bench:named by fd=prio',
         '--span', 'pair: bench:thin -> bench:named']
RANGES = ['0.001,0.0011', '0.0123,0.0123', '0.0124,0.0131', '0.02,', ',0.0005', '0.0249,9', '7,8']

number = failed = 0


def ok(what, good, *why):
    global number, failed
    number += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {number} - {what}', flush=True)
    for line in why if not good else ():
        print('#', str(line)[:2000].replace('\n', '\n# '))


def run(*argv, **kw):
    return subprocess.run([TACHO, *argv], capture_output=True, check=False, **kw)


def index(*argv, **kw):
    return run('index', *RULES, *argv, **kw)


def shown(trace, *argv):
    p = index('--show', '--json', trace, *argv)
    return json.loads(p.stdout) if p.returncode == 0 else p.stderr.decode()


def items(trace, when, *argv):
    """Items of a range without the tracks: these may be told again with other names."""
    p = run('model', *RULES, '--time', when, '--items', '--json', trace, *argv)
    lines = [x for x in p.stdout.splitlines() if not x.startswith(b'{"track"')]
    return p.returncode, p.stderr, lines


def answers(trace):
    """All that is asked of a trace."""
    return [(when, items(trace, when), run('model', *RULES, '--time', when, trace).stdout)
            for when in RANGES]


def differences(a, b):
    for x, y in zip(a, b):
        if x != y:
            yield x[0], x[1][:2], y[1][:2], len(x[1][2]), len(y[1][2])
            yield [p for p in zip(x[1][2], y[1][2]) if p[0] != p[1]][:3]
            yield x[2][-500:], y[2][-500:]


def gen(name, events=EVENTS):
    subprocess.run([GEN, str(events), name, '64'], check=True)


# ---- what is to hold ----

def equal(truth):
    p = index('t')
    info = shown('t')
    ok('an index is made', p.returncode == 0 and p.stderr == b'' and b'complete    yes' in p.stdout,
       p.stdout, p.stderr)
    ok('it knows the trace', info['events'] == EVENTS and info['complete'] and
       info['checkpoints'] >= 3 and 0 < info['packed'] <= info['items'], info)
    ok('it has at most 12 % of the trace, and 64 KiB',
       info['bytes'] == os.path.getsize('t/.tacho-index') <= 0.12 * info['trace_bytes'] + 65536, info)
    got = answers('t')
    ok('items and summaries of ranges are those of a whole pass', got == truth,
       *differences(truth, got))
    some = [len(x[1][2]) for x in truth]
    ok('the ranges have items', sum(some) > 1000 and some[0] > 100, some)


def sums():
    """The summary of a range is what its items are, clipped."""
    p = run('model', *RULES, '--time', '0.0124,0.0131', '--json', '--top', '100', 't')
    summary = json.loads(p.stdout)
    want = {}
    for line in items('t', '0.0124,0.0131')[2]:
        item = json.loads(line)
        if 'slice' not in item or item['category'] in ('running', 'idle', 'unknown'):
            continue
        key = item['category'], item['name']
        begin = max(item['begin'], int(summary['begin']))
        count, total = want.get(key, (0, 0))
        want[key] = count + 1, total + item['end'] - begin
    got = {(x['category'], x['name']): (x['count'], x['total']) for x in summary['slices']}
    ok('a summary sums up the items', got == want and len(want) >= 1, got, want)


def reads_little():
    """System calls tell how much of the trace a range needs."""
    if not shutil.which('strace') or SANITIZED:
        ok('a range reads little # SKIP ' + ('leaks are not looked for under strace' if SANITIZED else
                                             'strace is not installed'), True)
        return
    total = sum(os.path.getsize(f't/program_{i}') for i in range(2))

    def bytes_read(*argv):
        subprocess.run(['strace', '-f', '-qq', '-y', '-e', 'trace=read,pread64,mmap', '-o', 'strace.out',
                        TACHO, 'model', *RULES, '--items', *argv, 't'], capture_output=True, check=True)
        n = 0
        with open('strace.out', encoding='ascii', errors='replace') as f:
            for line in f:
                if '/t/program_' not in line:
                    continue
                if 'mmap(' in line:
                    n += int(line.split(', ')[1])
                elif ' = ' in line:
                    n += max(0, int(line.rsplit(' = ', 1)[1].split()[0]))
        return n

    part, whole = bytes_read('--time', '0.02,0.0201'), bytes_read('--time', '0,0.0251')
    # a checkpoint is at most 65,536 of 250,000 records away
    ok('a range reads little of the trace', part < 0.5 * whole and whole >= 0.9 * total,
       part, whole, total)


def interrupted(truth):
    p = subprocess.Popen([TACHO, 'index', *RULES, 'long'], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    while not os.path.exists('long/.tacho-index.new') and not os.path.exists('long/.tacho-index') \
            and p.poll() is None:
        time.sleep(0.001)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate()
    info = shown('long')
    stopped = p.returncode == 1 and b'goes on from there' in err
    ok('Ctrl-C keeps what was read, or came too late', (stopped and not info['complete']) or
       (p.returncode == 0 and info['complete']), p.returncode, err, info)
    p = index('long')
    ok('the next one goes on', p.returncode == 0 and shown('long')['complete'], p.stderr)
    ok('and knows the same', answers('long') == truth, *differences(truth, answers('long')))


def killed(truth):
    """SIGKILL at any time: the next one makes it good."""
    shutil.copytree('t', 'kill', ignore=shutil.ignore_patterns('.*'))
    for k in range(3 if SANITIZED else 6):
        p = subprocess.Popen([TACHO, 'index', *RULES, 'kill'], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        time.sleep(0.005 * k)
        p.kill()
        p.wait()
    got = answers('kill')
    ok('what a killed one left answers right', got == truth, *differences(truth, got))
    p = index('kill')
    got = answers('kill')
    ok('and is completed', p.returncode == 0 and shown('kill')['complete'] and got == truth,
       p.stderr, *differences(truth, got))


def grown(truth):
    """A trace whose files get longer by whole packets."""
    os.mkdir('grow')
    for name in os.listdir('t'):
        if not name.startswith(('program_', '.')):
            copy = shutil.copytree if os.path.isdir(f't/{name}') else shutil.copy
            copy(f't/{name}', f'grow/{name}')
    whole, ends = {}, {}
    for name in ('program_0', 'program_1'):
        with open(f't/{name}', 'rb') as f:
            whole[name] = f.read()
        at, ends[name] = 0, []
        while at < len(whole[name]):
            at += HEAD.unpack_from(whole[name], at)[7] // 8
            ends[name].append(at)

    def cut(part0, part1):
        for name, part in (('program_0', part0), ('program_1', part1)):
            with open(f'grow/{name}', 'wb') as f:
                f.write(whole[name][:ends[name][int(part * (len(ends[name]) - 1))]])

    # the second CPU delivers late: what was read last must be read again
    for parts in ((0.3, 0.3), (0.6, 0.5), (0.8, 0.5), (0.8, 0.7), (1, 1)):
        cut(*parts)
        p = index('grow')
        with_index = answers('grow')
        shutil.move('grow/.tacho-index', 'kept')
        without = answers('grow')
        shutil.move('kept', 'grow/.tacho-index')
        ok(f'a trace that has grown to {parts}', p.returncode == 0 and shown('grow')['complete'] and
           with_index == without, p.stderr, shown('grow'), *differences(without, with_index))
    ok('when it is whole, the answers are those of the whole', answers('grow') == truth)
    # half of it again: another trace
    cut(0.5, 0.5)
    got = shown('grow')
    ok('a trace that became shorter has no index', 'shorter' in got, got)
    p = index('grow')
    ok('which is made again, and said', p.returncode == 0 and b'made again' in p.stderr, p.stderr)


def other(truth):
    p = run('index', '--show', 't')
    ok('other rules: the index is not theirs', p.returncode == 1 and b'rules' in p.stderr, p.stderr)
    p = run('model', '--time', '0.02,0.0201', '--items', 't')
    ok('and a model of other rules does without', p.returncode == 0 and p.stderr == b'', p.stderr)
    shutil.copytree('t', 'moved')
    ok('a trace that was copied has its index', shown('moved')['complete'])
    with open('moved/program_1', 'r+b') as f:
        f.seek(100)
        f.write(b'\1')
    ok('one that was changed has not', 'another trace' in shown('moved'), shown('moved'))
    p = index('--remove', 'moved')
    ok('an index is removed', p.returncode == 0 and not os.path.exists('moved/.tacho-index'))
    p = index('--remove', 'moved')
    ok('but not twice', p.returncode == 1 and b'has no index' in p.stderr, p.stderr)
    p = index('--again', '--show', 't')
    ok('contradictions are refused', p.returncode == 2, p.stderr)
    p = index('session:none')
    ok('a session that is not there', p.returncode == 1 and p.stderr.count(b'\n') == 1, p.stderr)
    p = index('nothing')
    ok('no trace', p.returncode == 1 and p.stderr.count(b'\n') == 1, p.stderr)
    ok('the index still answers', answers('t') == truth)


def limits():
    shutil.copytree('t', 'full', ignore=shutil.ignore_patterns('.*'))

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    p = index('full', preexec_fn=small)
    ok('a full disk is one sentence, and leaves no index that is taken for one',
       p.returncode == 1 and p.stderr.count(b'\n') == 1 and isinstance(shown('full'), str),
       p.stderr, shown('full'))


def elsewhere(truth):
    """A trace in a directory that cannot be written, as another user."""
    if os.getuid() != 0:
        ok('the cache directory # SKIP needs root, to be another user', True)
        return
    os.mkdir('cache', 0o777)
    os.chmod('cache', 0o777)
    os.chmod('.', 0o755)
    shutil.copytree('t', 'foreign', ignore=shutil.ignore_patterns('.*'))
    env = dict(os.environ, XDG_CACHE_HOME=os.path.abspath('cache'))

    def nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    probe = run('stat', 'foreign', env=env, preexec_fn=nobody)
    if probe.returncode:
        ok('the cache directory # SKIP another user cannot run tacho here', True)
        return
    p = index('foreign', env=env, preexec_fn=nobody)
    have = os.listdir('cache/tacho') if os.path.isdir('cache/tacho') else []
    ok('where the trace cannot be written the index is in the cache', p.returncode == 0 and
       len(have) == 1 and not os.path.exists('foreign/.tacho-index'), p.stderr, have)
    p = run('model', *RULES, '--time', RANGES[0], 'foreign', env=env, preexec_fn=nobody)
    ok('and is found there', p.stdout == truth[0][2], p.stderr)
    p = index('foreign', env=dict(os.environ, XDG_CACHE_HOME='', HOME=''), preexec_fn=nobody)
    ok('without a cache: one sentence', p.returncode == 1 and p.stderr.count(b'\n') == 1, p.stderr)


def damaged(truth):
    """Wrong bytes anywhere: right answers, or one sentence."""
    rng = random.Random(1)
    with open('t/.tacho-index', 'rb') as f:
        good = f.read()
    wrong = []
    for _ in range(8 if SANITIZED else 25):
        bad = bytearray(good)
        if rng.random() < 0.3:
            bad = bad[:rng.randrange(len(bad))]
        else:
            for _ in range(rng.choice((1, 1, 20))):
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        with open('t/.tacho-index', 'wb') as f:
            f.write(bad)
        when = rng.choice(RANGES)
        want = next(x for x in truth if x[0] == when)
        code, err, lines = items('t', when)
        if (code, lines) != (0, want[1][2]) and not (code == 1 and err.count(b'\n') == 1):
            wrong.append((when, code, err, len(lines), len(want[1][2])))
    with open('t/.tacho-index', 'wb') as f:
        f.write(good)
    ok('a damaged index gives right answers or none', not wrong, wrong)


def two_at_once():
    shutil.copytree('t', 'twice', ignore=shutil.ignore_patterns('.*'))
    both = [subprocess.Popen([TACHO, 'index', *RULES, 'twice'], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE) for _ in range(2)]
    said = [p.communicate()[1] for p in both]
    codes = sorted(p.returncode for p in both)
    ok('of two at once one makes it', codes[0] == 0 and codes[1] in (0, 1) and
       shown('twice')['complete'], codes, said)


def main():
    top = tempfile.mkdtemp(prefix='tacho-index-')
    os.chdir(top)
    try:
        gen('t')
        shutil.copytree('t', 'long')
        truth = answers('t')
        equal(truth)
        sums()
        reads_little()
        interrupted(truth)
        killed(truth)
        grown(truth)
        other(truth)
        limits()
        elsewhere(truth)
        damaged(truth)
        two_at_once()
    finally:
        os.chdir('/')
        shutil.rmtree(top)
    print(f'1..{number}')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
