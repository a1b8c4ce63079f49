# SPDX-License-Identifier: MIT
"""What run.py measures of the mounted tree, beside the kernel's own files.

    enable  all events at once, and one by one
    small   every trigger, filter, enable and format, one after the other; `ls -lR events`;
            1,000 markers
    cat     a million events in `trace`: of the kernel, and of a program
    pipe    trace_pipe at 500,000 events a second: what is lost, and CPU time

The peer is an instance of the running kernel that has the same events enabled.  What
makes events has CPU 0, who serves and reads them CPU 1.
"""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time

TRACING = '/sys/kernel/tracing'
PEER = TRACING + '/instances/tacho-bench-peer'
CALL = 110          # getppid, which the load calls
SECONDS = 3
RATE = 500e3        # events a second through trace_pipe
ALL_CHUNK = 131072
MARKERS = 1000


def put(path, text):
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)


def drain(path):
    """Reads a file to its end: the bytes."""
    fd = os.open(path, os.O_RDONLY)
    n = 0
    try:
        while chunk := os.read(fd, ALL_CHUNK):
            n += len(chunk)
    finally:
        os.close(fd)
    return n


def cpu_of(pid):
    """CPU seconds of a process so far."""
    return time.clock_gettime((~pid << 3) | 2)


class Mount:
    """Methods of run.py's Bench."""

    # ---- the two trees ----

    def mount_up(self, size):
        """A mounted tree and an instance of the kernel, with buffers of size MiB."""
        self.root = tempfile.mkdtemp(dir=self.dir)
        self.mount_env = {**os.environ, 'TACHO_DIR': tempfile.mkdtemp(dir=self.dir)}
        self.server = subprocess.Popen(
            ['taskset', '-c', '1', self.tacho, 'mount', '-f', '-q', '-b', f'{size}M',
             '-s', 'bench', self.root], env=self.mount_env,
            stderr=subprocess.PIPE, text=True)
        for _ in range(300):
            if os.path.ismount(self.root) or self.server.poll() is not None:
                break
            time.sleep(0.01)
        if not os.path.ismount(self.root):
            self.server.kill()
            self.note('cannot mount here: ' + self.server.communicate()[1].strip())
            return False
        os.mkdir(PEER)
        put(PEER + '/buffer_size_kb', f'{size << 10}')
        return True

    def mount_down(self):
        if os.path.ismount(self.root):
            subprocess.run(['umount', self.root], check=True)
        self.server.communicate()
        if os.path.isdir(PEER):
            os.rmdir(PEER)

    def switch(self, verb):
        """The load's events: no program that has them runs yet, so none is in the tree."""
        subprocess.run([self.tacho, verb, '-q', '-s', 'bench', 'bench:*'], check=True,
                       env=self.mount_env)

    def trees(self):
        return ('tacho', self.root), ('the kernel', PEER)

    # ---- trace ----

    def cat(self, tree):
        """Best of some rounds: seconds, bytes."""
        best = None
        for _ in range(self.rounds):
            start = time.perf_counter()
            n = drain(tree + '/trace')
            took = time.perf_counter() - start
            best = min(best or took, took)
        return best, n

    def mount_cat(self):
        for _, tree in self.trees():
            put(tree + '/trace', '')
            put(tree + '/events/raw_syscalls/filter', f'id == {CALL}')
        for _, tree in self.trees():
            put(tree + '/events/raw_syscalls/enable', '1')
        load = self.loaded(self.load('calls', 1, 500e3))
        for _, tree in self.trees():
            put(tree + '/events/raw_syscalls/enable', '0')
        start = time.perf_counter()
        drain(self.root + '/trace')
        first = time.perf_counter() - start
        (ours, mine), (theirs, its) = (self.cat(tree) for _, tree in self.trees())
        n = 2 * load['n']
        if abs(mine - its) > 1000:
            self.note(f'trace: {mine} bytes in the mount, {its} in the kernel')
        self.row(f'cat trace, {n / 1e6:.2f} million kernel events, s', f'{ours:.3f}',
                 f'the kernel {theirs:.3f}', f'{theirs / ours:.1f}x', '>= 1x')
        self.row('... the first time, including reading them from the kernel, s',
                 f'{first:.3f}', f'the kernel {theirs:.3f}', f'{theirs / first:.1f}x',
                 '>= 1x')
        self.figures.update(mount_cat_s=ours, mount_cat_first_s=first,
                            mount_cat_kernel_s=theirs)
        each = theirs / n
        put(self.root + '/trace', '')
        self.switch('enable')
        load = self.loaded(self.load('events', 1, 1e6))
        self.switch('disable')
        ours, _ = self.cat(self.root)
        self.row(f"cat trace, {load['n'] / 1e6:.2f} million program events, ns/event",
                 f"{ours * 1e9 / load['n']:.0f}", f'the kernel, its own {each * 1e9:.0f}',
                 f"{each * load['n'] / ours:.1f}x", '>= 1x')
        self.figures['mount_cat_program_ns'] = ours * 1e9 / load['n']

    # ---- control files ----

    @staticmethod
    def events_of(tree):
        """Directories of events that can be enabled."""
        base = tree + '/events'
        return [f'{base}/{s}/{e}' for s in sorted(os.listdir(base))
                if s != 'ftrace' and os.path.isdir(f'{base}/{s}')
                for e in sorted(os.listdir(f'{base}/{s}'))
                if os.path.isdir(f'{base}/{s}/{e}')]

    def each(self, tree, do):
        """Best of some rounds of do(event's directory): us per event, and of CPU."""
        events = self.events_of(tree)
        wall, cpu = [], []
        for _ in range(self.rounds):
            start, used = time.perf_counter(), time.process_time() + cpu_of(self.server.pid)
            for e in events:
                with contextlib.suppress(OSError):      # somebody else's, and gone
                    do(e)
            wall.append((time.perf_counter() - start) / len(events) * 1e6)
            cpu.append((time.process_time() + cpu_of(self.server.pid) - used) /
                       len(events) * 1e6)
        return min(wall), min(cpu)

    def all_at_once(self, tree):
        """Best of some rounds; and the first read then, of what a moment brought."""
        took, first = [], None
        for _ in range(max(2, self.rounds)):
            put(tree + '/tracing_on', '0')
            start = time.perf_counter()
            put(tree + '/events/enable', '1')
            took.append(time.perf_counter() - start)
            put(tree + '/tracing_on', '1')
            time.sleep(0.001)
            put(tree + '/tracing_on', '0')
            start = time.perf_counter()
            drain(tree + '/trace')
            first = first or time.perf_counter() - start
            put(tree + '/events/enable', '0')
            put(tree + '/tracing_on', '1')
            put(tree + '/trace', '')
        return min(took), first

    def one_by_one(self, tree):
        def on(event):
            put(event + '/enable', '1')

        def off(event):
            put(event + '/enable', '0')

        put(tree + '/tracing_on', '0')
        took = self.each(tree, on)
        self.each(tree, off)
        put(tree + '/tracing_on', '1')
        return took

    def mount_enable(self):
        n = len(self.events_of(self.root))
        (ours, first), (theirs, its) = (self.all_at_once(tree) for _, tree in self.trees())
        self.row(f'enabling all {n} events with one write, s', f'{ours:.3f}',
                 f'the kernel {theirs:.3f}', f'{ours / theirs:.2f}', '')
        self.row('... and the first read of trace after it, s', f'{first:.3f}',
                 f'the kernel {its:.3f}', '', '')
        self.figures.update(mount_enable_s=ours, mount_enable_kernel_s=theirs,
                            mount_enable_first_s=first)
        rounds, self.rounds = self.rounds, 1
        (ours, cpu), (theirs, its) = (self.one_by_one(tree) for _, tree in self.trees())
        self.rounds = rounds
        self.note(f'enabling one by one: {cpu:.0f} us of CPU each, writer and server; '
                  f'the kernel {its:.0f}')
        self.row('enabling them one by one, us each', f'{ours:.0f}',
                 f'the kernel {theirs:.0f}', f'{ours / theirs:.2f}', '')
        self.figures.update(mount_enable_one_us=ours, mount_enable_one_kernel_us=theirs)

    def mount_files(self):
        for name in ('trigger', 'filter', 'enable', 'format'):
            (ours, cpu), (theirs, its) = (
                self.each(tree, lambda event, name=name: drain(f'{event}/{name}'))
                for _, tree in self.trees())
            self.row(f'reading every {name}, us each', f'{ours:.0f}',
                     f'the kernel {theirs:.0f}', f'{ours / theirs:.1f}',
                     '<= 15' if name == 'trigger' else '')
            self.figures.update({f'mount_{name}_us': ours,
                                 f'mount_{name}_kernel_us': theirs})
            self.note(f'reading every {name}: {cpu:.0f} us of CPU each, reader and '
                      f'server; the kernel {its:.0f}')

    def best_of(self, do):
        """Best of some rounds of do(): seconds."""
        best = None
        for _ in range(max(3, self.rounds)):
            start = time.perf_counter()
            do()
            took = time.perf_counter() - start
            best = min(best or took, took)
        return best

    def mount_ls(self):
        def ls(tree):
            subprocess.run(['ls', '-lR', tree + '/events'], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)

        ours, theirs = (self.best_of(lambda tree=tree: ls(tree)) for _, tree in self.trees())
        self.row('ls -lR events, s', f'{ours:.3f}', f'the kernel {theirs:.3f}',
                 f'{ours / theirs:.1f}', '<= 0.5')
        self.figures.update(mount_ls_s=ours, mount_ls_kernel_s=theirs)

    def mount_markers(self):
        def one_file(tree):
            fd = os.open(tree + '/trace_marker', os.O_WRONLY)
            for _ in range(MARKERS):
                os.write(fd, b'a marker')
            os.close(fd)

        def a_file_each(tree):
            for _ in range(MARKERS):
                put(tree + '/trace_marker', 'a marker')

        for how, do, bar in (('', one_file, '<= 15'), (', each opened for', a_file_each, '')):
            ours, theirs = (self.best_of(lambda tree=tree, do=do: do(tree)) * 1e3
                            for _, tree in self.trees())
            self.row(f'{MARKERS:,} markers{how}, ms', f'{ours:.1f}',
                     f'the kernel {theirs:.1f}', f'{ours / theirs:.1f}', bar)
            key = 'mount_markers' + ('_opened' if how else '')
            self.figures.update({key + '_ms': ours, key + '_kernel_ms': theirs})

    # ---- trace_pipe ----

    def through_pipe(self, tree, kind, rate):
        """Events made, lines that came, CPU seconds of the reader and the server."""
        out = os.path.join(self.dir, 'piped')
        put(tree + '/trace', '')
        with open(out, 'wb') as f:
            reader = subprocess.Popen(['taskset', '-c', '1', 'cat', tree + '/trace_pipe'],
                                      stdout=f)
        if kind == 'events':
            self.switch('enable')
        else:
            put(tree + '/events/raw_syscalls/enable', '1')
        used = cpu_of(self.server.pid) + cpu_of(reader.pid)
        p = self.load(kind, SECONDS, rate)
        load = self.loaded(p)
        if kind == 'events':
            self.switch('disable')
        else:
            put(tree + '/events/raw_syscalls/enable', '0')
        size = -1
        while size != os.path.getsize(out):     # until no more comes
            size = os.path.getsize(out)
            time.sleep(0.3)
        used = cpu_of(self.server.pid) + cpu_of(reader.pid) - used
        reader.terminate()
        reader.wait()
        lines = int(subprocess.run(['grep', '-c', '-e', f'-{p.pid} ', out], text=True,
                                   capture_output=True).stdout)
        os.unlink(out)
        return load['n'] * (2 if kind == 'calls' else 1), lines, used

    def at_rate(self, tree, kind, rate):
        """Some tries, until the load reaches its rate; what was lost in all of them."""
        best, lost = None, 0
        for _ in range(4):
            run = self.through_pipe(tree, kind, rate)
            lost += run[0] - run[1]
            best = max(best or run, run)
            if best[0] > 0.95 * RATE * SECONDS:
                break
        return *best, lost

    def mount_pipe(self):
        for _, tree in self.trees():
            put(tree + '/events/raw_syscalls/filter', f'id == {CALL}')
        for what, tree, kind, rate in (
                ('kernel events', self.root, 'calls', RATE / 2),
                ("the kernel's own", PEER, 'calls', RATE / 2),
                ('program events', self.root, 'events', RATE)):
            made, came, used, lost = self.at_rate(tree, kind, rate)
            peer = tree == PEER
            key = 'mount_pipe_' + what.replace(' ', '_').replace("'", '')
            self.figures.update({key + '_lost': lost, key + '_made': made,
                                 key + '_ns': used * 1e9 / max(came, 1)})
            self.note(f'trace_pipe, {what}: {made / SECONDS / 1e6:.2f} million events/s '
                      'were generated' + ('' if made > 0.95 * RATE * SECONDS else
                                     ': CPU 0 had other load, and the rows are less reliable'))
            if not peer:
                self.row(f'trace_pipe, {what}, {RATE / 1e3:.0f},000/s: lost',
                         f'{lost}', '-', '', '0')
            self.row(f'trace_pipe, {what}, CPU, ns/event', f'{used * 1e9 / came:.0f}'
                     if not peer else '-', f'the kernel {used * 1e9 / came:.0f}'
                     if peer else '-', '', '')

    def mount(self):
        self.on_one_cpu(((128, (self.mount_enable, self.mount_cat)), (16, (self.mount_pipe,))))

    def mount_small(self):
        self.on_one_cpu(((16, (self.mount_files, self.mount_ls, self.mount_markers)),))

    def on_one_cpu(self, turns):
        """Measures in trees that are made anew for each turn: (size of buffers, parts)."""
        if os.geteuid() != 0 or (os.cpu_count() or 1) < 2:
            self.note('the mounted tree was not measured: that takes root and two CPUs')
            return
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {1})    # one who waits for the other: on one CPU
        try:
            for size, parts in turns:
                self.in_trees(size, parts)
        finally:
            os.sched_setaffinity(0, cpus)

    def in_trees(self, size, parts):
        try:
            if self.mount_up(size):
                for part in parts:
                    part()
        finally:
            self.mount_down()
            shutil.rmtree(self.root, ignore_errors=True)
