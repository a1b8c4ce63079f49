# SPDX-License-Identifier: MIT
"""What run.py measures of events that are counted as they happen.

    uprobe  a histogram inside the program, beside bpftrace's map on a uprobe
    pump    the running kernel's events through `tacho hist`, beside bpftrace and perf

CPU 0 makes the system calls, CPU 1 counts them.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

SECONDS = 3         # of system calls
AROUND = 1          # the counting begins before them, and ends after
GOAL = 1e6          # events a second of one CPU


class Live:
    """Methods of run.py's Bench."""

    def load(self, *argv, cpu=0):
        """The load, started; its JSON line comes by loaded()."""
        cmd = ['taskset', '-c', str(cpu), self.load_path(), *map(str, argv)]
        return subprocess.Popen(cmd, stdout=subprocess.PIPE, text=True,
                                env=getattr(self, 'mount_env', None))

    def load_path(self):
        return os.path.join(self.build, 'tests', 'bench', 'load')

    @staticmethod
    def loaded(p):
        return json.loads(p.communicate()[0])

    def bpftrace(self, script):
        """bpftrace, attached; or None, and a note that says why not."""
        if not shutil.which('bpftrace'):
            self.note('bpftrace is not installed: no figures of it')
            return None
        if os.geteuid() != 0:
            self.note('bpftrace was not measured: that takes root')
            return None
        # it says BEGIN's text when all its probes are there
        log = tempfile.TemporaryFile('w+', dir=self.dir)
        p = subprocess.Popen(['taskset', '-c', '1', 'bpftrace', '-e',
                              script + ' BEGIN { printf("there\\n"); }'],
                             stdout=log, stderr=subprocess.STDOUT, text=True)
        p.log = log
        for _ in range(300):
            log.seek(0)
            text = log.read()
            if 'there' in text:
                return p
            if p.poll() is not None:
                break
            time.sleep(0.1)
        if p.poll() is None:
            p.kill()
            p.wait()
        said = [line for line in text.splitlines() if line.strip()]
        self.note('bpftrace does not run here: ' + (said[-1] if said else 'it says nothing'))
        return None

    @staticmethod
    def ended(p):
        """Ends bpftrace: what it printed, and its CPU seconds."""
        p.send_signal(signal.SIGINT)
        _, _, usage = os.wait4(p.pid, 0)
        p.returncode = 0
        p.log.seek(0)
        return p.log.read(), usage.ru_utime + usage.ru_stime

    # ---- inside a program ----

    def uprobe(self):
        self.run(self.tacho, 'create', '--flight', '-e', 'bench:*', 'bench')
        self.command('trigger', 'bench:two', 'hist:keys=common_pid:vals=b')
        run = self.many('bench_write', 1)
        self.run(self.tacho, 'destroy', 'bench')
        ours = run['two'] - run['empty']
        theirs = None
        hits = 1000000
        alone = self.loaded(self.load('hits', hits))['ns']
        p = self.bpftrace(f'uprobe:{self.load_path()}:bench_hit '
                          '{ @[pid] = sum(arg1); }')
        if p:
            traced = self.loaded(self.load('hits', hits))
            text, _ = self.ended(p)
            # all were counted, so it was the map that took the time
            if re.search(r'@\[\d+\]: %d\b' % (hits * (hits - 1) // 2), text):
                theirs = traced['ns'] - alone
            else:
                self.note('bpftrace did not count all hits: ' + text.strip()[-80:])
        self.row('a hit of a histogram in a program, also recorded, ns',
                 f'{ours:.1f}', f'bpftrace {theirs:.0f}' if theirs else '-',
                 f'1/{theirs / ours:.0f}' if theirs else '', '')
        self.figures.update(hist_hit=ours, hist_hit_bpftrace=theirs)

    def run(self, *cmd):
        p = subprocess.run(cmd, capture_output=True, text=True)
        if p.returncode:
            raise SystemExit(f'{" ".join(cmd)}: {p.stderr.strip()}')
        return p

    # ---- the running kernel ----

    def pump_tacho(self, trigger, rate=0):
        """A dict of what it took, or None."""
        p = subprocess.Popen(['taskset', '-c', '1', self.tacho, 'hist', '--json',
                              '--duration', f'{SECONDS + 2 * AROUND}s',
                              'kernel:sched:*,raw_syscalls:*',
                              '-e', 'raw_syscalls:*', trigger],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(AROUND)
        load = self.loaded(self.load('calls', SECONDS, rate))
        out, err = p.stdout.read(), p.stderr.read()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode:
            self.note('the kernel cannot be counted here: ' + err.strip())
            return None
        counted = sum(json.loads(line)['hits'] for line in out.splitlines())
        lost = re.search(r'(\d+) events? (was|were) lost', err)
        return {'call': load['ns'], 'events': 2 * load['n'], 'counted': counted,
                'cpu': usage.ru_utime + usage.ru_stime,
                'lost': int(lost[1]) if lost else 0}

    def pump_bpftrace(self):
        p = self.bpftrace('tracepoint:raw_syscalls:sys_enter,'
                          'tracepoint:raw_syscalls:sys_exit '
                          '{ @[args->id] = count(); }')
        if not p:
            return None
        load = self.loaded(self.load('calls', SECONDS))
        text, cpu = self.ended(p)
        counted = sum(int(n) for n in re.findall(r'^@\[\d+\]: (\d+)', text, re.M))
        return {'call': load['ns'], 'events': 2 * load['n'], 'counted': counted,
                'cpu': cpu, 'lost': 0}

    def pump_perf(self):
        if not shutil.which('perf'):
            self.note('perf is not installed: no figures of it')
            return None
        out = os.path.join(self.dir, 'perf-trace')
        p = subprocess.Popen(['taskset', '-c', '1', 'perf', 'trace', '-s', '-a', '-o', out,
                              '--', 'sleep', str(SECONDS + 2 * AROUND)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(AROUND)
        load = self.loaded(self.load('calls', SECONDS))
        err = p.stderr.read()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        with open(out, encoding='utf-8', errors='replace') as f:
            text = f.read()
        n = sum(int(n) for n in re.findall(r'\), (\d+) events,', text))
        if p.returncode or not n:
            self.note('perf trace -s does not run here: ' + (err + text).strip()[:100])
            return None
        lost = sum(int(n) for n in re.findall(r'LOST (\d+) events', err + text))
        return {'call': load['ns'], 'events': 2 * load['n'], 'counted': n,
                'cpu': usage.ru_utime + usage.ru_stime, 'lost': lost}

    @staticmethod
    def told(r, alone):
        """ns of CPU per event: where it happens, and where it is counted."""
        return (r['call'] - alone) / 2, r['cpu'] * 1e9 / max(r['counted'], 1)

    def pump(self):
        if os.geteuid() != 0 or (os.cpu_count() or 1) < 2:
            self.note('counting the live kernel was not measured: '
                      'that takes root and two CPUs')
            return
        alone = self.loaded(self.load('calls', SECONDS))['ns']
        hist = self.pump_tacho('keys=id')
        if not hist:
            return
        rejects = self.pump_tacho('keys=id if id == 100000 || id == 39')
        peers = {'bpftrace': self.pump_bpftrace(), 'perf trace': self.pump_perf()}
        inside, reader = self.told(hist, alone)
        rate = hist['events'] / SECONDS
        goal = self.pump_tacho('keys=id', GOAL / 2)     # two events a call
        if goal:
            self.row('live kernel, a million events/s requested: lost',
                     f"{goal['lost']}", '-', '', '0')
            made = goal['events'] / SECONDS
            self.note(f'live kernel: {made / 1e6:.2f} million events/s were generated where '
                      'a million were requested' +
                      ('' if made > 0.95 * GOAL else
                       ': CPU 0 had other load, and the row above is less reliable'))
            self.figures.update(live_goal_events_s=made, live_goal_lost=goal['lost'])
        self.row('live kernel, maximum rate, millions of events/s',
                 f'{rate / 1e6:.2f}', '-', '', f'>= {GOAL / 1e6:.0f}')
        self.row('... and the share of lost events',
                 f"{hist['lost'] / hist['events']:.4f}", '-', '', '')
        self.row('live kernel, histogram by id, CPU of the reader, ns/event',
                 f'{reader:.0f}', '-', '', '<= 1000')
        if rejects:
            self.row('live kernel, filter that excludes all, ns/event',
                     f"{rejects['cpu'] * 1e9 / rejects['events']:.0f}", '-', '', '')
        for name, r in peers.items():
            if not r:
                continue
            theirs = sum(self.told(r, alone))
            self.row('... including the cost in the traced thread, ns/event',
                     f'{inside + reader:.0f}', f'{name} {theirs:.0f}',
                     f'{(inside + reader) / theirs:.2f}', '')
            self.figures['live_' + name.replace(' ', '_')] = theirs
            self.note(f"{name} counted {r['counted']} of {r['events']} events, lost "
                      f"{r['lost']}; {r['events'] / SECONDS / 1e6:.2f} millions/s")
        self.note(f"live kernel: a call takes {alone:.0f} ns, traced {hist['call']:.0f}; "
                  f"{hist['counted']} counted of {hist['events']} generated by the load and "
                  f"other threads, {hist['lost']} lost")
        self.figures.update(live_events_s=rate, live_lost=hist['lost'],
                            live_reader_ns=reader, live_ns=inside + reader)
