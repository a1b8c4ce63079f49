#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench: tacho beside its peers, in the same run on the same machine.

Prints a table, writes it to docs/benchmarks.md and appends the figures as one JSON
line to BUILD/bench.jsonl; of some parts only, it prints.  A peer that is not installed or
refuses to run is named as such; nothing is made up.
"""
import argparse
import datetime
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from columns import Columns
from live import Live
from lkst import Lkst
from lkst_hook import LkstHook
from lkst_tools import LkstTools
from mount import Mount
from qnx_logi import QnxLogi

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

COMMON = b'''format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

'''
SCHED_SWITCH = b'name: sched_switch\nID: 301\n' + COMMON + b'''\
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d \
next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, __print_symbolic(REC->prev_state, \
{ 0, "R" }, { 1, "S" }, { 2, "D" }), REC->next_comm, REC->next_pid, REC->next_prio
'''
SYS_EXIT = b'name: sys_exit_read\nID: 302\n' + COMMON + b'''\
\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;
\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;

print fmt: "0x%lx", REC->ret
'''


def small_event(name, number, *fields):
    """A format of int fields behind the common ones."""
    text = f'name: {name}\nID: {number}\n'.encode() + COMMON
    for i, f in enumerate(fields):
        text += f'\tfield:int {f};\toffset:{8 + 4 * i};\tsize:4;\tsigned:1;\n'.encode()
    return text + b'\nprint fmt: ""\n'


def sh(*cmd, **kw):
    return subprocess.run(cmd, capture_output=True, text=True, **kw)


def first_line(*cmd):
    try:
        return (sh(*cmd).stdout or '').splitlines()[0].strip()
    except (OSError, IndexError):
        return 'not installed'


def median(values):
    return statistics.median(values)


class Bench(Columns, Live, Mount, Lkst, LkstHook, LkstTools, QnxLogi):
    def __init__(self, build, events, rounds):
        self.build = build
        self.tacho = os.path.join(build, 'tacho')
        self.events = events
        self.rounds = rounds
        self.dir = tempfile.mkdtemp(prefix='tacho-bench.')
        self.rows = []      # (what, ours, peer, ratio, bar)
        self.notes = []
        self.figures = {}

    def row(self, what, ours, peer, ratio, bar):
        self.rows.append((what, ours, peer, ratio, bar))
        print(f'{what:48} {ours:>16} {peer:>22} {ratio:>9}  {bar}', flush=True)

    def note(self, text):
        self.notes.append(text)
        print('# ' + text, flush=True)

    # ---- the cost of a tracepoint ----

    def loops(self, program, threads, env=None):
        p = sh(os.path.join(self.build, 'tests', 'bench', program),
               str(self.events), str(threads), env={**os.environ, **(env or {})})
        return json.loads(p.stdout)

    def many(self, program, threads, env=None):
        runs = [self.loops(program, threads, env) for _ in range(self.rounds)]
        return {k: median([r[k] for r in runs]) for k in runs[0]}

    def lttng_start(self):
        """A session daemon of our own, a flight-recorder session; or None."""
        program = os.path.join(self.build, 'tests', 'bench', 'bench_write_lttng')
        if not shutil.which('lttng-sessiond') or not os.path.exists(program):
            self.note('LTTng-UST is not installed: no figures of it')
            return None
        home = os.path.join(self.dir, 'lttng')
        os.mkdir(home)
        env = {**os.environ, 'HOME': home, 'LTTNG_HOME': home}
        daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], env=env,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        for _ in range(100):
            if sh('lttng', 'list', env=env).returncode == 0:
                break
            time.sleep(0.1)
        return env, daemon

    def lttng_enable(self, env):
        steps = [['create', 'bench', '--snapshot', '--output',
                  os.path.join(self.dir, 'lttng-trace')],
                 ['enable-channel', '-u', 'ring', '--overwrite',
                  '--subbuf-size', '262144', '--num-subbuf', '64'],
                 ['enable-event', '-u', '-c', 'ring', 'bench:*'], ['start']]
        for s in steps:
            p = sh('lttng', *s, env=env)
            if p.returncode:
                self.note(f'lttng {s[0]} failed: {p.stderr.strip()}')
                return False
        return True

    def command(self, *argv):
        p = sh(os.path.join(self.build, 'tests', 'bench', 'bench_command'),
               'bench', *argv)
        if p.returncode:
            sys.exit(f'{argv}: {p.stderr.strip()}')

    def lttng_filter(self, env):
        """A session of its own, in which events are filtered; whether it works."""
        text = 'a > 99999999999999 && b > 5'
        for s in (['create', 'filtered', '--snapshot', '--output',
                   os.path.join(self.dir, 'lttng-filtered')],
                  ['enable-channel', '-u', 'ring', '--overwrite',
                   '--subbuf-size', '262144', '--num-subbuf', '64'],
                  ['enable-event', '-u', '-c', 'ring', 'bench:two', '--filter', text],
                  ['start']):
            p = sh('lttng', *s, env=env)
            if p.returncode:
                self.note(f'lttng {s[0]} failed: {p.stderr.strip()}')
                return False
        return True

    def filters(self, lttng):
        """A filter that rejects; a histogram; with the events on in one session."""
        plain = self.many('bench_write', 1)
        self.command('filter', 'bench:two', 'a > 99999999999999 && b > 5')
        first = self.many('bench_write', 1)
        self.command('filter', 'bench:two', 'a >= 0 && b == 3')
        second = self.many('bench_write', 1)
        self.command('filter', 'bench:two', '0')
        self.command('trigger', 'bench:two', 'hist:keys=common_pid:vals=b')
        hist = self.many('bench_write', 1)
        self.command('trigger', 'bench:two', '!hist:keys=common_pid:vals=b')
        peer = None
        if lttng:
            env = lttng[0]
            sh('lttng', 'destroy', 'bench', env=env)
            if self.lttng_filter(env):
                peer = self.many('bench_write_lttng', 1, env)['two']
            sh('lttng', 'destroy', 'filtered', env=env)
        for name, run in (('first', first), ('second', second)):
            self.row(f'excluded by a filter, {name} of two predicates, ns',
                     f"{run['two']:.1f}", f'LTTng {peer:.1f}' if peer else '-',
                     f"1/{peer / run['two']:.1f}" if peer else '', '<= 10')
            self.figures[f'reject_{name}'] = run['two']
        self.figures['reject_lttng'] = peer
        self.row('additional cost of a histogram, one key and one sum, ns',
                 f"{hist['two'] - plain['two']:.1f}", '-', '', '<= 25')
        self.figures['hist'] = hist['two'] - plain['two']

    # what of bench_off's kinds of arguments is in a row of its own
    OFF = (('numbers and text', ('values', 'text')),
           ('sums and fields', ('sums', 'fields', 'pointer')),
           ('sums of shared fields', ('mixed',)))

    def off(self, cc, opt, lttng_env):
        """Sites that are off, by one compiler: the worst of each kind."""
        here = os.path.dirname(os.path.abspath(__file__))
        lib = os.path.join(self.build, 'src', 'runtime')
        ours = ['-I' + os.path.join(here, '..', '..', 'include'), '-L' + lib,
                '-Wl,-rpath,' + lib]
        variants = [('', ours, ['-ltacho'], None),
                    ('_nosdt', ours + ['-DTACHO_NO_SDT'], ['-ltacho'], None)]
        if lttng_env is not None:
            variants.append(('_lttng', ['-DBENCH_LTTNG'], ['-llttng-ust', '-ldl'], lttng_env))
        runs = {}
        for name, flags, libs, env in variants:
            program = os.path.join(self.dir, f'off{name}')
            p = sh(cc, '-std=gnu11', '-w', opt, '-I' + here, *flags,
                   os.path.join(here, 'bench_off.c'), '-o', program, *libs)
            if p.returncode:
                self.note(f'{cc} could not build bench_off{name}')
                continue
            runs[name] = json.loads(sh(program, str(1000 * self.rounds),
                                       env={**os.environ, **(env or {})}).stdout)
        for what, kinds in self.OFF:
            ns = {n: max(r[k] for k in kinds) for n, r in runs.items()}
            if '' not in ns:
                continue
            self.row(f'disabled, {what}, {cc} {opt}, ns', f"{ns['']:.2f}",
                     f"LTTng {ns['_lttng']:.2f}" if '_lttng' in ns else '-', '',
                     '<= LTTng + 0.1')
            for n, v in ns.items():
                self.figures[f'off{n}_{kinds[0]}_{cc}{opt}'] = v

    def write(self):
        lttng = self.lttng_start()
        cpus = os.cpu_count()
        env = lttng[0] if lttng else None
        for cc in ('gcc', 'clang'):
            for opt in ('-O2', '-O3'):
                if shutil.which(cc):
                    self.off(cc, opt, env)
        if lttng:
            lttng_on = self.lttng_enable(env)
        p = sh(self.tacho, 'create', '--flight', '-e', 'bench:*', 'bench')
        if p.returncode:
            sys.exit(f'tacho create failed: {p.stderr.strip()}')
        for threads in sorted({1, cpus}):
            on = self.many('bench_write', threads)
            peer = self.many('bench_write_lttng', threads, env) \
                if lttng and lttng_on else None
            # a clock was read, so the events were on
            for run in (on, peer):
                if run and run['two'] < run['rdtsc']:
                    sys.exit('the events were not on: ' + json.dumps(run))
            who = f'{threads} thread' + ('s' if threads > 1 else '')
            for key, text in (('two', '16 bytes'), ('four', '32 bytes'),
                              ('text', 'string of 23')):
                self.row(f'enabled, {text}, {who}, ns', f'{on[key]:.1f}',
                         f'LTTng {peer[key]:.1f}' if peer else '-',
                         f'1/{peer[key] / on[key]:.1f}' if peer else '',
                         '<= 1/6 of LTTng' if key == 'two' else '')
                self.figures[f'enabled_{key}_{threads}'] = on[key]
                if peer:
                    self.figures[f'enabled_{key}_{threads}_lttng'] = peer[key]
            self.row(f'enabled, 16 bytes, {who}, against rdtsc',
                     f"{on['two']:.1f}", f"rdtsc loop {on['rdtsc']:.1f}",
                     f"{on['two'] / on['rdtsc']:.2f}", '<= 1.5')
        self.note(f"both clocks: rdtsc {on['rdtsc']:.1f} ns (tacho's), "
                  f"clock_gettime {on['clock']:.1f} ns (LTTng's)")
        self.filters(lttng if lttng and lttng_on else None)
        sh(self.tacho, 'destroy', 'bench')
        out = os.path.join(self.dir, 'bench-trace')
        sh(self.tacho, 'record', '-o', out, '-e', 'bench:four', '--',
           os.path.join(self.build, 'tests', 'bench', 'bench_write'), '10000')
        stat = json.loads(sh(self.tacho, 'stat', '--json', out).stdout)
        four = [e for e in stat['by_event'] if e['event'] == 'four'][0]
        self.row('bytes per event, four u64 fields',
                 f"{four['bytes'] / four['events']:.0f}", '-', '', '48')
        if lttng:
            self.lttng_stop(*lttng)

    def lttng_stop(self, env, daemon):
        sh('lttng', 'destroy', '-a', env=env)
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(os.path.join(self.dir, 'lttng'), ignore_errors=True)

    # ---- recording the kernel ----

    def recorder_cpu(self, cmd, stop_signal):
        """CPU seconds of a recorder over the workload."""
        import signal
        p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        time.sleep(1.0)
        if p.poll() is not None:
            return None, p.stderr.read().strip().splitlines()[-1:]
        # two processes copy blocks, with two system calls for each
        subprocess.run(['sh', '-c', 'for i in 1 2; do dd if=/dev/zero of=/dev/null bs=64 count='
                        f'{self.events * 4 // 5} 2>/dev/null & done; wait'], check=False)
        time.sleep(0.3)
        p.send_signal(getattr(signal, stop_signal))
        _, _, usage = os.wait4(p.pid, 0)
        return usage.ru_utime + usage.ru_stime, None

    def kernel(self):
        if os.geteuid() != 0:
            self.note('kernel recording was not measured: that takes root')
            return
        ours, theirs = [], []
        for r in range(max(1, self.rounds // 2)):
            out = os.path.join(self.dir, f'k{r}')
            cpu, err = self.recorder_cpu(
                [self.tacho, 'record', '-q', '-o', out, '--no-kallsyms',
                 '--kernel-buffer', '32M', '-k', 'syscalls:*,sched:*'], 'SIGINT')
            if cpu is None:
                self.note(f'tacho could not record the kernel: {err}')
                return
            s = json.loads(sh(self.tacho, 'stat', '--json', out).stdout)
            n = s['events']
            ours.append((cpu * 1e9 / n, n, s.get('discarded', s.get('lost', 0))))
            shutil.rmtree(out)
            data = os.path.join(self.dir, 'perf.data')
            cpu, err = self.recorder_cpu(
                ['perf', 'record', '-q', '-a', '-m', '32M', '-o', data,
                 '-e', 'syscalls:*', '-e', 'sched:*', 'sleep', '1000'], 'SIGINT')
            if cpu is None:
                self.note(f'perf record does not run here: {err}')
                continue
            p = subprocess.run(f'perf script -i {data} -F event 2>/dev/null | wc -l',
                               shell=True, capture_output=True, text=True)
            n = int(p.stdout or 0)
            if n:
                theirs.append((cpu * 1e9 / n, n, 0))
            os.unlink(data)
        a = median([x[0] for x in ours])
        b = median([x[0] for x in theirs]) if theirs else None
        self.row('kernel events, CPU of the recorder, ns/event', f'{a:.0f}',
                 f'perf {b:.0f}' if b else '-', f'1/{b / a:.1f}' if b else '',
                 '<= perf')
        self.figures['kernel_ns'] = a
        self.figures['kernel_ns_perf'] = b
        self.note(f'kernel: tacho recorded {ours[0][1]} events per round and lost '
                  f'{ours[0][2]}' + (f', perf {theirs[0][1]}' if theirs else ''))
        p = sh('trace-cmd', 'record', '-o', os.path.join(self.dir, 'x.dat'), '-e',
               'sched:sched_switch', 'true') if shutil.which('trace-cmd') else None
        if p is None or p.returncode:
            self.note('trace-cmd record does not run here: ' +
                      ((p.stderr.strip().splitlines() or ['?'])[-1] if p
                       else 'not installed'))

    # ---- reading ----

    HIST = 'hist', '-e', 'bench:*', 'keys=common_pid:vals=count'
    DROP = 'report', '--no-pager', '--filter', 'count < 0 && fd > 100000'

    def questions(self, trace, n):
        """The same over a trace of n events."""
        hist, _ = self.best(self.tacho, *self.HIST, '-j1', trace)
        one, _ = self.best(self.tacho, 'hist', '-j1', trace, '-e', 'bench:named',
                           'keys=common_pid')
        drop, _ = self.best(self.tacho, *self.DROP, '-j1', trace)
        for what, t in (('histogram of all events, millions/s', hist),
                        ('histogram of one event of eight, millions/s', one),
                        ('filter that rejects all, millions/s', drop)):
            self.row(what, f'{n / t / 1e6:.1f}', '-', '', '>= 20')
        self.figures.update(hist_s=hist, hist_one_s=one, filter_s=drop)

    VARIABLES = ('hist', '-e', 'bench:named', 'keys=common_pid:at=common_timestamp',
                 '-e', 'bench:thin', 'keys=common_pid:lat=common_timestamp-$at:vals=$lat if fd < 12')

    def larger(self):
        """Threads read a trace of 20 million events: of a smaller one the start is a tenth."""
        trace = os.path.join(self.dir, 'larger')
        p = sh(os.path.join(self.build, 'tests', 'stream', 'gen_trace'), '20000000', trace)
        if p.returncode:
            self.note('gen_trace failed: ' + p.stderr.strip())
            return 0
        rss = self.jobs(trace, '20 million events', variables=self.VARIABLES)
        shutil.rmtree(trace)
        return rss

    def jobs(self, trace, of, hist=HIST, drop=DROP, variables=None):
        """One thread against one for each CPU, in turns: what runs beside them meets both."""
        cpus = len(os.sched_getaffinity(0))
        rss, name = 0, of.replace('.', '').replace(' ', '_').lower() + '_'
        for what, key, cmd, bar in (
                ('counting', 'count', ('stat',), '>= 1.7x'),
                ('histogram', 'hist', hist, '>= 1.7x'),
                ('histogram with variables', 'variables', variables, ''),
                ('filter that rejects all', 'filter', drop, '>= 1.7x'),
                ('text', 'text', ('report', '--no-pager'), '')):
            if not cmd:
                continue
            times = {1: [], cpus: []}
            for _ in range(self.rounds):
                for jobs, list_ in times.items():
                    elapsed, _, peak, _ = self.timed(self.tacho, *cmd, f'-j{jobs}', trace)
                    list_.append(elapsed)
                    rss = max(rss, peak)
            one, many = min(times[1]), min(times[cpus])
            self.row(f'{of}, {what}: {cpus} threads, s', f'{many:.3f}',
                     f'1 thread {one:.3f}', f'{one / many:.2f}x', bar if cpus == 2 else '')
            self.figures[f'{name}{key}_jobs_s'] = many
        self.figures['jobs'] = cpus
        return rss

    def timed(self, *cmd):
        start = time.time()
        p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(p.pid, 0)
        return (time.time() - start, usage.ru_utime + usage.ru_stime,
                usage.ru_maxrss, os.waitstatus_to_exitcode(status))

    def best(self, *cmd, rounds=None):
        runs = [self.timed(*cmd) for _ in range(rounds or self.rounds)]
        return min(r[0] for r in runs), max(r[2] for r in runs)

    def read(self):
        trace = os.path.join(self.dir, 'big')
        n = 5000000
        gen = os.path.join(self.build, 'tests', 'stream', 'gen_trace')
        p = sh(gen, str(n), trace)
        if p.returncode:
            self.note('gen_trace failed: ' + p.stderr.strip())
            return
        count, rss1 = self.best(self.tacho, 'stat', '-j1', trace)
        text, rss2 = self.best(self.tacho, 'report', '--no-pager', '-j1', trace)
        self.figures.update(count_s=count, text_s=text, rss_kib=max(rss1, rss2))
        peer_count = peer_text = None
        if shutil.which('babeltrace2'):
            peer_count, _ = self.best('babeltrace2', '-o', 'dummy', trace, rounds=1)
            peer_text, _ = self.best('babeltrace2', trace, rounds=1)
            self.figures.update(count_bt2_s=peer_count, text_bt2_s=peer_text)
        self.row('counting 5 million events, s', f'{count:.3f}',
                 f'babeltrace2 {peer_count:.2f}' if peer_count else '-',
                 f'{peer_count / count:.0f}x' if peer_count else '', '>= 30x')
        self.row('text of 5 million events, s', f'{text:.2f}',
                 f'babeltrace2 {peer_text:.2f}' if peer_text else '-',
                 f'{peer_text / text:.1f}x' if peer_text else '', '>= 10x')
        rss3 = self.convert(trace)
        self.questions(trace, n)
        rss4 = self.larger()
        self.row('peak memory while reading, MiB',
                 f'{max(rss1, rss2, rss3, rss4) / 1024:.1f}',
                 '-', '', '<= 64')

    # ---- SQL ----

    def sql_import(self, trace, path):
        """The same data in a table of SQLite's own; how long that took."""
        start = time.time()
        p = subprocess.Popen([self.tacho, 'sql', '-q', '--csv', trace,
                              'select time, cpu, tid, fd, count, bytes from thin'],
                             stdout=subprocess.PIPE)
        sh('sqlite3', path, '.mode csv',
           'create table thin(time integer, cpu integer, tid integer, fd integer, count integer, bytes integer)', '.import --skip 1 /dev/stdin thin',
           stdin=p.stdout)
        p.wait()
        return time.time() - start

    def sql(self):
        """CPU time: other work on the machine does not count.  Runs are interleaved."""
        trace, path = os.path.join(self.dir, 'sql'), os.path.join(self.dir, 'sql.db')
        n = 10000000
        p = sh(os.path.join(self.build, 'tests', 'stream', 'gen_trace'), str(n), trace)
        if p.returncode:
            self.note('gen_trace failed: ' + p.stderr.strip())
            return
        made = self.sql_import(trace, path) if shutil.which('sqlite3') else None
        begin = json.loads(sh(self.tacho, 'sql', '-q', '--json', trace,
                              "select ts('0.5') as t").stdout)['t']
        queries = (
            ('sum of a field', 'select sum(bytes) from thin', None, 0.7),
            ('sum in 1 % of the time', 'select sum(bytes) from thin where time between '
             f'{begin} and {begin + 10023480}', None, 0.03),
            ('group by, plain SQL', 'select fd, count(*) from thin group by fd', None, 5),
            ('group by, hist()', "select k1, hitcount from hist('thin', 'keys=fd')",
             'select fd, count(*) from thin group by fd', 0.5))
        peak = 0
        for what, query, other, bar in queries:
            ours, peers = [], []
            for _ in range(self.rounds):
                run = self.timed(self.tacho, 'sql', '-q', trace, query)
                ours.append(run[1])
                peak = max(peak, run[2])
                if made:
                    peers.append(self.timed('sqlite3', path, other or query)[1])
            own, peer = min(ours), min(peers) if peers else None
            self.row(f'SQL over 10 million events: {what}, s of CPU', f'{own:.2f}',
                     f'SQLite table {peer:.2f}' if peers else '-',
                     f'{peer / own:.1f}x' if peers and own else '', f'<= {bar}')
            self.figures['sql_' + what.replace(' ', '_').replace(',', '') + '_s'] = own
        if made:
            self.row('SQL: import into an SQLite table first, s', '0', f'{made:.0f}', '', '')
        self.row('SQL: peak memory, MiB', f'{peak / 1024:.1f}', '-', '', '<= 256')
        self.figures['sql_rss_kib'] = peak

    # ---- reading trace-cmd's files ----

    def make_dat(self, pages):
        """A trace.dat of so many pages a CPU; the times of a few are moved on."""
        sys.path.insert(0, os.path.join(TOP, 'tests', 'stream'))
        import datfile
        m = datfile.Machine()
        f = datfile.File(m)
        f.systems = {'sched': [SCHED_SWITCH], 'syscalls': [SYS_EXIT]}
        f.cmdlines = b'7 seven\n8 eight\n'
        for cpu in range(2):
            events = []
            for i in range(20000):
                pid = 7 + i % 2
                raw = m.pack('HBBi', 301, 0, 0, pid) + \
                    m.pack('16siiq16sii', b'seven', pid, 120, i % 3, b'eight', 15 - pid, 120) \
                    if i % 3 else m.pack('HBBiixxxxq', 302, 0, 0, pid, 1, i)
                events.append((10 ** 9 + i * 1500 + cpu, raw))
            few = m.pages(events)
            span = 20000 * 1500
            f.buffers.setdefault('', {})[cpu] = [
                m.pack('Q', struct.unpack_from('<Q', few[i % len(few)])[0] + i // len(few) * span) +
                few[i % len(few)][8:] for i in range(pages)]
        return f

    def dat(self):
        path, packed, log = (os.path.join(self.dir, x) for x in ('x.dat', 'x7.dat', 'x.lkst'))
        child = os.fork()	# its memory would be counted as that of what it starts
        if not child:
            f = self.make_dat(24000)
            for name, data in (path, f.v6()), (packed, f.v7('zlib')):
                with open(name, 'wb') as out:
                    out.write(data)
            os._exit(0)
        os.waitpid(child, 0)
        n = json.loads(sh(self.tacho, 'stat', '--json', path).stdout)['events'] / 1e6
        count, rss1 = self.best(self.tacho, 'stat', '-j1', path)
        text, rss2 = self.best(self.tacho, 'report', '--no-pager', '-j1', path)
        peer = skim = None
        if shutil.which('trace-cmd'):
            peer, _ = self.best('trace-cmd', 'report', '-N', path, rounds=2)
            skim, _ = self.best('trace-cmd', 'report', '-N', '-F', '.*:common_pid == 999999',
                                path, rounds=2)
        self.row(f'trace.dat: text of {n:.1f} million events, s', f'{text:.2f}',
                 f'trace-cmd {peer:.2f}' if peer else '-',
                 f'{peer / text:.1f}x' if peer else '', '>= 10x')
        self.row('trace.dat: counting them, s', f'{count:.3f}',
                 f'trace-cmd report {peer:.2f}' if peer else '-',
                 f'{peer / count:.0f}x' if peer else '', '>= 30x')
        self.row('trace.dat: counting, against a filter that excludes all', f'{count:.3f}',
                 f'trace-cmd -F {skim:.2f}' if skim else '-',
                 f'{skim / count:.1f}x' if skim else '', '')
        hist = 'hist', '-e', 'sched:*', 'keys=next_pid'
        drop = 'report', '--no-pager', '--filter', 'next_pid == 99'
        rss3 = max(self.jobs(path, 'trace.dat', hist, drop),
                   self.jobs(packed, 'compressed trace.dat', hist, drop))
        sh(self.tacho, 'convert', '-q', path, '-o', log, '--to', 'lkst')
        self.jobs(log, 'LKST', ('hist', '-e', 'lkst:*', 'keys=pid'),
                  ('report', '--no-pager', '--filter', 'recid < 0'))
        self.row('trace.dat: peak memory, MiB', f'{max(rss1, rss2, rss3) / 1024:.1f}', '-', '',
                 '<= 64')
        self.figures.update(dat_count_s=count, dat_text_s=text, dat_peer_s=peer,
                            dat_skim_s=skim, dat_rss_kib=max(rss1, rss2))

    # ---- the model ----

    def model_events(self, m, cpu):
        """Two threads a CPU wake each other, with system calls and softirqs: good states."""
        a, b = 10 + 2 * cpu, 11 + 2 * cpu
        def switch(prev, nxt):
            return m.pack('HBBi', 301, 0, 0, prev) + \
                m.pack('16siiq16sii', b'thread%d' % prev, prev, 120, 1, b'thread%d' % nxt, nxt, 120)
        def small(number, pid, value):
            return m.pack('HBBii', number, 0, 0, pid, value)
        cycle = []
        for x, y in ((a, b), (b, a)):
            cycle += [small(303, x, y), small(305, x, 0), small(306, x, 0), small(304, x, 1),
                      small(305, x, 202), switch(x, y)]
        return cycle

    def make_model(self, pages):
        sys.path.insert(0, os.path.join(TOP, 'tests', 'stream'))
        import datfile
        m = datfile.Machine()
        f = datfile.File(m)
        f.systems = {'sched': [SCHED_SWITCH, small_event('sched_waking', 303, 'pid')],
                     'irq': [small_event('softirq_entry', 304, 'vec'),
                             small_event('softirq_exit', 307, 'vec')],
                     'raw_syscalls': [small_event('sys_enter', 305, 'id'),
                                      small_event('sys_exit', 306, 'id')]}
        f.cmdlines = b'10 ten\n'
        for cpu in range(2):
            cycle = self.model_events(m, cpu)
            few = m.pages([(10 ** 9 + i * 1500 + cpu, cycle[i % len(cycle)])
                           for i in range(12 * 1700)])
            span = 12 * 1700 * 1500
            f.buffers.setdefault('', {})[cpu] = [
                m.pack('Q', struct.unpack_from('<Q', few[i % len(few)])[0] + i // len(few) * span) +
                few[i % len(few)][8:] for i in range(pages)]
        return f

    def model_trace(self):
        """Written once, by a process of its own, whose memory ends with it."""
        path = os.path.join(self.dir, 'model.dat')
        child = 0 if os.path.exists(path) else os.fork()
        if not child and not os.path.exists(path):
            with open(path, 'wb') as out:
                out.write(self.make_model(24000).v6())
            os._exit(0)
        if child:
            os.waitpid(child, 0)
        return path

    def model(self):
        path = self.model_trace()
        n = json.loads(sh(self.tacho, 'stat', '--json', path).stdout)['events'] / 1e6
        took, rss = self.best(self.tacho, 'model', path)
        peer = None
        if shutil.which('trace-cmd'):
            peer, _ = self.best('trace-cmd', 'report', '-N', path, rounds=1)
        self.row(f'model: intervals of {n:.1f} million events, s', f'{took:.2f}',
                 f'trace-cmd report {peer:.2f}' if peer else '-',
                 f'{peer / took:.1f}x' if peer else '', '')
        self.row('model: million events a second', f'{n / took:.1f}', '-', '', '>= 5')
        self.row('model: peak memory, MiB', f'{rss / 1024:.1f}', '-', '', '<= 128')
        query = 'select name, count(*), sum(dur) from slice group by name'
        took_sql, rss_sql = self.best(self.tacho, 'sql', '-q', path, query)
        self.row('SQL over the model: slices by name, s', f'{took_sql:.2f}',
                 f'tacho model {took:.2f}', f'{took / took_sql:.1f}x', '')
        self.row('SQL over the model: peak memory, MiB', f'{rss_sql / 1024:.1f}', '-', '', '<= 256')
        self.figures.update(model_sql_s=took_sql, model_sql_rss_kib=rss_sql)
        self.figures.update(model_s=took, model_events=n * 1e6, model_rss_kib=rss)

    # ---- the index of a model ----

    def index_run(self, path, what):
        program = os.path.join(self.build, 'tests', 'bench', 'index_bench')
        return json.loads(sh(program, path, os.path.join(self.dir, 'bench.index'), what).stdout)

    def index(self):
        """User seconds and CPU microseconds: what else runs on the machine does not count."""
        path = self.model_trace()
        runs = {what: [] for what in ('model', 'build', 'ask')}
        for _ in range(self.rounds):            # in turns
            for what, list_ in runs.items():
                list_.append(self.index_run(path, what))
        alone, built = (sorted(r['user_s'] for r in runs[what])[self.rounds // 2]
                        for what in ('model', 'build'))
        last, asked = runs['build'][-1], sorted(runs['ask'], key=lambda r: r['items_p95_us'])
        asked = asked[self.rounds // 2]
        share = last['index_bytes'] / last['trace_bytes'] * 100
        self.row('index: million events a second, with the model',
                 f"{last['records'] / built / 1e6:.1f}",
                 f"model {last['records'] / alone / 1e6:.1f}", f'{alone / built:.2f}x', '>= 5')
        self.row('index: % of the trace', f'{share:.1f}', '-', '', '<= 12')
        self.row('index: peak memory, MiB', f"{last['rss_kib'] / 1024:.1f}", '-', '', '<= 128')
        self.row('index: 1,000 intervals of a track, ms, p50',
                 f"{asked['items_p50_us'] / 1000:.2f}", '-', '', '')
        self.row('index: 1,000 intervals of a track, ms, p95',
                 f"{asked['items_p95_us'] / 1000:.2f}", '-', '', '')
        self.row('index: 1,000 intervals of a track, ms, longest',
                 f"{asked['items_max_us'] / 1000:.2f}", '-', '', '<= 10')
        self.row(f"index: 512 buckets of {asked['track_items'] / 1e6:.1f} million items, ms, p50",
                 f"{asked['tile_p50_us'] / 1000:.2f}", '-', '', '<= 1')
        self.row('index: 512 buckets, ms, p95', f"{asked['tile_p95_us'] / 1000:.2f}", '-', '', '')
        self.figures.update(index_s=built, index_share=share, index_rss_kib=last['rss_kib'],
                            index_items_ms=asked['items_p95_us'] / 1000,
                            index_tile_ms=asked['tile_p50_us'] / 1000)

    # ---- reading QNX's files ----

    def make_kev(self, path, wide, rounds=12, slots=1 << 20):
        """rounds * slots slots of four CPUs; wide: half of them parts of combine events."""
        sys.path.insert(0, os.path.join(TOP, 'tests', 'kev'))
        import kevfile as k
        f = k.File()
        for i in range(slots):
            cpu, stamp = i % 4, 4000 * i + 4000
            if wide and i % 3 == 0:
                f.words(cpu, k.KER_CALL, 11, stamp, 0x40000001, 12, 13, 0x100)
            elif i % 3 == 1:
                f.simple(cpu, k.PR_TH, k.STATES['running'], stamp, 4711 + i % 7, 1)
            else:
                f.simple(cpu, k.KER_CALL, 11 + k.EXIT, stamp, 0, i)
        block = b''.join(f.slots)
        with open(path, 'wb') as out:
            out.write(f.header())
            for r in range(rounds):
                f.slots = []
                for cpu in range(4):
                    f.time(cpu, r << 32)
                out.write(b''.join(f.slots) + block)

    def kev(self):
        rss = 0
        for wide, what in ((False, 'simple events'), (True, 'half in combine events')):
            path = os.path.join(self.dir, 'x.kev')
            child = os.fork()	# its memory would be counted as that of what it starts
            if not child:
                self.make_kev(path, wide)
                os._exit(0)
            os.waitpid(child, 0)
            n = os.path.getsize(path) / 16e6
            # per core: CPU time
            runs = [[self.timed(self.tacho, *verb, path)[1:3] for _ in range(self.rounds)]
                    for verb in (('stat',), ('report', '--no-pager'))]
            count, text = (min(r[0] for r in one) for one in runs)
            events = json.loads(sh(self.tacho, 'stat', '--json', path).stdout)['events'] / 1e6
            rss = max([rss] + [r[1] for one in runs for r in one])
            self.row(f'QNX: counting {n:.1f} million slots, {what}, millions/s of CPU',
                     f'{n / count:.0f}', '-', '', '>= 50')
            self.row(f'QNX: text of {events:.1f} million events, millions/s of CPU',
                     f'{events / text:.1f}', '-', '', '>= 5')
            self.figures.update({f'kev_count_{wide}_s': count, f'kev_text_{wide}_s': text})
            os.unlink(path)
        self.row('QNX: peak memory, MiB', f'{rss / 1024:.1f}', '-', '', '<= 64')
        self.figures['kev_rss_kib'] = rss

    # ---- reading LTT's files ----

    def ltt(self):
        sys.path.insert(0, os.path.join(TOP, 'tests', 'stream'))
        import lttfile
        for order, wide, name in (('<', True, 'little-endian, 64'), ('<', False, 'little-endian, 32'),
                                  ('>', True, 'big-endian, 64')):
            path = os.path.join(self.dir, 'x.ltt')
            n = lttfile.many_events(path, 5000, order, wide) / 1e6
            count, rss1 = self.best(self.tacho, 'stat', path)
            text, rss2 = self.best(self.tacho, 'report', '--no-pager', path, rounds=2)
            self.row(f'LTT, {name} bit: counting, millions/s', f'{n / count:.0f}', '-', '', '>= 50')
            self.row(f'LTT, {name} bit: text, millions/s', f'{n / text:.1f}', '-', '', '>= 5')
            key = 'ltt_' + order.replace('<', 'le').replace('>', 'be') + ('64' if wide else '32')
            self.figures.update({key + '_count_s': count, key + '_text_s': text,
                                 key + '_events': n})
        self.row('LTT: peak memory, MiB', f'{max(rss1, rss2) / 1024:.1f}', '-', '', '<= 64')
        out = os.path.join(self.dir, 'made.ltt')
        best = min(self.timed(self.tacho, 'convert', '-q', path, '--to', 'ltt', '-o',
                              out + str(i))[0] for i in range(2))
        self.row('LTT: rewritten, millions/s', f'{n / best:.1f}', '-', '', '')
        self.figures.update(ltt_write_s=best, ltt_rss_kib=max(rss1, rss2))

    def convert(self, trace):
        """A trace.dat of it; the peak memory, KiB."""
        peak = 0
        for to, what in (('dat', 'trace.dat'), ('dat7', 'compressed one')):
            out = os.path.join(self.dir, 'big.' + to)
            runs = []
            for _ in range(self.rounds):
                if os.path.exists(out):
                    os.unlink(out)
                runs.append(self.timed(self.tacho, 'convert', trace, '--to', to,
                                       '-o', out))
            os.unlink(out)
            best = min(r[0] for r in runs)
            peak = max([peak] + [r[2] for r in runs])
            self.figures.update({'make_' + to + '_s': best})
            self.row(f'writing a {what}, 5 million events, s', f'{best:.2f}', '-', '', '')
        return peak

    # ---- the table ----

    def report(self):
        cpu = ''
        with open('/proc/cpuinfo', encoding='utf-8') as f:
            for line in f:
                if line.startswith('model name'):
                    cpu = line.split(':', 1)[1].strip()
        date = datetime.date.today().isoformat()
        text = ['# Benchmarks', '',
                'Generated by `make bench`: tacho and its peers in the same run. Compare the '
                'ratio of two figures from one run rather than the figures themselves.', '',
                f'* date: {date}', f'* machine: {os.cpu_count()} CPUs, {cpu}, '
                f'Linux {os.uname().release}',
                f"* compiler: {first_line('cc', '--version')}",
                f"* tacho: {first_line(self.tacho, '--version')}",
                f"* LTTng: {first_line('lttng', '--version')}",
                f"* babeltrace2: {first_line('babeltrace2', '--version')}",
                f"* perf: {first_line('perf', '--version')}",
                f"* bpftrace: {first_line('bpftrace', '--version')}",
                f'* {self.events} hits per loop, median of {self.rounds} rounds', '',
                '| measurement | tacho | peer | ratio | goal |', '|---|---|---|---|---|']
        text += [f'| {a} | {b} | {c} | {d} | {e} |' for a, b, c, d, e in self.rows]
        text += [''] + [f'* {n}' for n in self.notes]
        text += ['', 'To reproduce: run `make bench` on an otherwise idle machine.', '']
        with open(os.path.join(TOP, 'docs', 'benchmarks.md'), 'w',
                  encoding='utf-8') as f:
            f.write('\n'.join(text))
        self.figures['date'] = date
        with open(os.path.join(self.build, 'bench.jsonl'), 'a',
                  encoding='utf-8') as f:
            f.write(json.dumps(self.figures) + '\n')

    def update(self, parts):
        """Of some parts: their rows take the place of those with the same name, new ones come last."""
        path = os.path.join(TOP, 'docs', 'benchmarks.md')
        with open(path, encoding='utf-8') as f:
            lines = f.read().split('\n')
        new = {r[0]: '| ' + ' | '.join(r) + ' |' for r in self.rows}
        today = f'* later, {datetime.date.today().isoformat()}: '
        parts = [p for line in lines if line.startswith(today)
                 for p in line[len(today):].split(', ') if p not in parts] + parts
        when = today + ', '.join(parts)
        done = []
        for line in lines:
            if line.startswith('* later, '):
                continue
            name = line.split(' | ', maxsplit=1)[0][2:] if line.startswith('| ') else None
            done.append(new.pop(name, line) if name else line)
            if line.startswith('* date: '):
                done.append(when)
        last = max(i for i, line in enumerate(done) if line.startswith('| '))
        done[last + 1:last + 1] = new.values()
        with open(path, 'w', encoding='utf-8') as f:
            f.write('\n'.join(done))

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


PARTS = ('write', 'uprobe', 'kernel', 'pump', 'read', 'columns', 'sql', 'dat', 'model', 'index', 'ltt',
         'kev', 'mount', 'mount_small', 'lkst', 'lkst_hook', 'lkst_tools', 'qnx_logi')


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    p.add_argument('build', nargs='?', default=os.path.join(TOP, 'build'))
    p.add_argument('--events', type=int, default=5000000, help='hits a loop (%(default)s)')
    p.add_argument('--rounds', type=int, default=5, help='of which the median counts (%(default)s)')
    p.add_argument('--only', type=lambda s: s.split(','), metavar='PART,...',
                   help='of ' + ','.join(PARTS))
    p.add_argument('--update', action='store_true',
                   help='with --only: write their rows to docs/benchmarks.md, too')
    args = p.parse_args()
    for part in args.only or ():
        if part not in PARTS:
            p.error(f"'{part}' is no part; they are {', '.join(PARTS)}")
    return args


def main():
    args = arguments()
    b = Bench(os.path.abspath(args.build), args.events, args.rounds)
    try:
        for part in args.only or PARTS:
            getattr(b, part)()
        if not args.only:
            b.report()
        elif args.update:
            b.update(args.only)
    finally:
        sh(b.tacho, 'destroy', 'bench')
        b.close()


main()
