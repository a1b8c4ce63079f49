# SPDX-License-Identifier: MIT
"""What run.py measures of LKST: what it costs to leave it on.

    build   some of our own files compiled, two at a time
    web     nginx asked for a page over loopback by ab, if both are installed

each without, with LKST's maskset RDEFAULT and a pump, and with `perf record -a` of the same
tracepoints; in turns, so that what else the machine does hits all three.  What is compared is the
CPU time of the work (of compilers; of nginx and ab), the least of all turns, as what else the machine does
only adds to it; and apart from that the CPU time that the pump and perf take for each event that they
bring in.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from mount import cpu_of

TOP_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

SOURCES = ['cli/record.c', 'engine/engine.c', 'engine/filter_parse.c', 'engine/hist.c',
           'event/print_compile.c', 'event/print_run.c', 'compat/ftrace/trace.c',
           'fmt/ctf/read.c', 'fmt/tracedat/read.c', 'tracefs/instance.c', 'query/pair.c',
           'session/session.c']
REQUESTS = 20000
SETTLE = 0.5        # seconds after which a recorder has begun
PORT = 18099
NGINX = '''worker_processes 1; pid {dir}/pid; error_log {dir}/log; daemon off;
events {{ worker_connections 256; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port};
        location / {{ return 200 "hello\\n"; }} }} }}
'''


class LkstOn:
    """LKST with RDEFAULT and a pump; what it recorded is in .result afterwards."""

    def __init__(self, bench):
        self.dir = tempfile.mkdtemp(prefix='tacho-bench-lkst.', dir='/dev/shm')
        env = {**os.environ, 'TACHO_DIR': self.dir, 'LKST_SESSION': f'bench-{os.getpid()}'}
        self.process = subprocess.Popen(
            [os.path.join(bench.build, 'tests', 'bench', 'bench_lkst')], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            shutil.rmtree(self.dir, ignore_errors=True)
            raise OSError(self.process.communicate()[1].strip())
        bench.points = json.loads(line)
        time.sleep(SETTLE)
        self.before = cpu_of(self.process.pid)

    def end(self):
        cpu = cpu_of(self.process.pid) - self.before
        self.process.stdin.close()
        self.result = {**json.loads(self.process.stdout.readline()), 'cpu': cpu}
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class PerfOn:
    """perf with the same tracepoints."""

    def __init__(self, bench):
        self.file = os.path.join(bench.dir, 'perf.data')
        events = [a for p in bench.points for a in ('-e', p)]
        self.process = subprocess.Popen(['perf', 'record', '-a', '-o', self.file, *events],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        while not os.path.exists(self.file) or not os.path.getsize(self.file):
            if self.process.poll() is not None:
                raise OSError('perf: ' + self.process.communicate()[1].strip())
            time.sleep(0.05)
        time.sleep(SETTLE)  # it says nowhere when it has begun
        self.before = cpu_of(self.process.pid)

    def end(self):
        cpu = cpu_of(self.process.pid) - self.before
        self.process.send_signal(signal.SIGINT)
        text = self.process.communicate()[1]
        m = re.search(r'\((\d+) samples\)', text)
        self.result = {'events': int(m.group(1)) if m else 0, 'cpu': cpu}
        os.unlink(self.file)


class Nothing:
    result = None

    def __init__(self, bench):
        pass

    def end(self):
        pass


def children_cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


class Lkst:
    """Methods of run.py's Bench."""

    points = None

    def lkst_build(self):
        src = os.path.join(TOP_SOURCE, 'src')
        include = os.path.join(TOP_SOURCE, 'include')
        before = children_cpu()
        subprocess.run(
            ['xargs', '-P2', '-n1', 'gcc', '-O1', '-I', src, '-I', include, '-I',
             os.path.join(include, 'lkst'), '-D_GNU_SOURCE', '-DTACHO_VERSION=""',
             '-DTACHO_MODULE_DIR=""', '-c', '-o', '/dev/null'],
            input='\n'.join(os.path.join(src, s) for s in SOURCES), text=True, check=True)
        return children_cpu() - before

    def lkst_web(self):
        before = children_cpu() + sum(cpu_of(p) for p in self.servers)
        subprocess.run(['ab', '-q', '-n', str(REQUESTS), '-c', '8',
                        f'http://127.0.0.1:{PORT}/'], stdout=subprocess.DEVNULL, check=True)
        return children_cpu() + sum(cpu_of(p) for p in self.servers) - before

    def lkst_turns(self, work):
        """Seconds and recordings of each of the three."""
        kinds = [Nothing, LkstOn] + ([PerfOn] if shutil.which('perf') else [])
        out = {k: [] for k in kinds}
        work()
        for turn in range(self.rounds):
            for k in kinds[turn % len(kinds):] + kinds[:turn % len(kinds)]:
                on = k(self)
                try:
                    seconds = work()
                finally:
                    on.end()
                out[k].append((seconds, on.result))
        return out

    def lkst_rows(self, what, name, work):
        turns = self.lkst_turns(work)
        base = min(t[0] for t in turns[Nothing])
        ours = min(t[0] for t in turns[LkstOn])
        self.figures[f'lkst_{name}_ratio'] = ours / base
        self.figures[f'lkst_{name}_ns'] = each = self.per_event(turns[LkstOn])
        peer, theirs = '-', 0
        if PerfOn in turns:
            theirs = min(t[0] for t in turns[PerfOn])
            self.figures[f'perf_{name}_ratio'] = theirs / base
            peer = f'perf: {100 * (theirs / base - 1):+.1f} %'
        self.row(f'LKST always on: {what}, CPU time', f'{100 * (ours / base - 1):+.1f} %', peer,
                 f'{ours / theirs:.2f}' if theirs else '', '<= perf')
        if PerfOn in turns:
            perf_each = self.per_event(turns[PerfOn])
            self.row('  CPU time of its reader per event, ns', f'{each:.0f}',
                     f'perf: {perf_each:.0f}', f'{each / perf_each:.2f}', '')
        last = turns[LkstOn][-1][1]
        self.note(f'LKST, {what}: {last["events"]} events, {last["overwritten"]} overwritten by '
                  f'the kernel; {len(self.points)} tracepoints')

    @staticmethod
    def per_event(turns):
        events = sum(t[1]['events'] for t in turns)
        return 1e9 * sum(t[1]['cpu'] for t in turns) / max(events, 1)

    def lkst(self):
        try:
            self.lkst_rows('12 files compiled', 'build', self.lkst_build)
            self.lkst_server()
        except OSError as e:
            self.note(f'LKST: no figures: {e}')

    def lkst_server(self):
        if not shutil.which('nginx') or not shutil.which('ab'):
            self.note('nginx or ab is not installed: no figures of a web server')
            return
        conf = os.path.join(self.dir, 'nginx.conf')
        with open(conf, 'w', encoding='ascii') as f:
            f.write(NGINX.format(dir=self.dir, port=PORT))
        server = subprocess.Popen(['nginx', '-c', conf], stderr=subprocess.PIPE)
        time.sleep(0.5)
        try:
            if server.poll() is not None:
                self.note('nginx: ' + server.communicate()[1].decode().strip())
                return
            with open(f'/proc/{server.pid}/task/{server.pid}/children', encoding='ascii') as f:
                self.servers = [int(p) for p in f.read().split()]
            self.lkst_rows(f'{REQUESTS} pages of nginx', 'web', self.lkst_web)
        finally:
            server.terminate()
            server.wait()
