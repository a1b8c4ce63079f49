# SPDX-License-Identifier: MIT
"""What run.py measures of LKST's device and commands.

    an event told by ioctl, through the mounted tree
    a switch of the maskset by ioctl: idle, and while two CPUs record; what recording costs meanwhile
    lkstbuf print of 2 million events, beside trace-cmd and babeltrace2 on the same
"""
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

EVENTS = 2000000        # printed
TOLD = 20000
SWITCHES = 2000
BUSY = 1000000          # events that each CPU records while masksets are switched
MASKSET = '0x100 1\nLKST_ERROR 1\n'


class LkstTools:
    """Methods of run.py's Bench."""

    def lkst_tool(self, name, *argv, give=''):
        p = subprocess.run([os.path.join(self.build, 'src', 'cli', 'lkst', name),
                            *map(str, argv)], input=give, capture_output=True, text=True,
                           env=self.lkst_env)
        if p.returncode:
            raise OSError(p.stderr.strip())
        return p.stdout.strip()

    def lkst_program(self, name, *argv):
        return subprocess.Popen([os.path.join(self.build, 'tests', 'lkst', name),
                                 *map(str, argv)], env=self.lkst_env,
                                stdout=subprocess.DEVNULL)

    def lkst_seconds(self, name, *argv):
        start = time.time()
        if self.lkst_program(name, *argv).wait():
            raise OSError(f'{name} failed')
        return time.time() - start

    @contextlib.contextmanager
    def lkst_mounted(self):
        """A tree with the device; a maskset that records what no kernel does, in large buffers."""
        self.lkst_dir = tempfile.mkdtemp(prefix='tacho-bench-lkst.', dir='/dev/shm')
        self.lkst_env = {**os.environ, 'TACHO_DIR': self.lkst_dir,
                         'LKST_SESSION': f'bench-{os.getpid()}'}
        tree = os.path.join(self.dir, 'tree')
        os.makedirs(tree, exist_ok=True)
        server = subprocess.Popen([self.tacho, 'mount', '-f', '-q', '-s',
                                   f'bench-m{os.getpid()}', tree], env=self.lkst_env,
                                  stderr=subprocess.PIPE, text=True)
        while not os.path.ismount(tree) and server.poll() is None:
            time.sleep(0.01)
        try:
            if server.poll() is not None:
                raise OSError(server.communicate()[1].strip())
            self.lkst_tool('lkstm', 'write', '-n', 'bench', '-S', give=MASKSET)
            self.lkst_tool('lkstbuf', 'create', '-s', '200M')
            self.lkst_tool('lkstbuf', 'jump', '-b', 1)
            yield os.path.join(tree, 'lkst')
        finally:
            if server.poll() is None:
                subprocess.run(['umount', tree], check=False)
                server.wait()
            with contextlib.suppress(OSError):
                self.lkst_tool('lkst', 'destroy')
            shutil.rmtree(self.lkst_dir, ignore_errors=True)

    def lkst_ioctls(self, device):
        empty = min(self.lkst_seconds('lkst_ioctls', 'entry', device, 0)
                    for _ in range(self.rounds))
        runs = [self.lkst_seconds('lkst_ioctls', 'entry', device, TOLD)
                for _ in range(self.rounds)]
        each = 1e6 * (min(runs) - empty) / TOLD
        self.figures['lkst_entry_us'] = each
        self.row('LKST: ENTRY_LOG by ioctl, microseconds', f'{each:.1f}', '-', '', '')

    def lkst_busy(self, device, switched):
        """CPU ns of an event on two CPUs; us of a switch meanwhile, or 0."""
        recorders = [self.lkst_program('lkst_entries', '0x100', BUSY, cpu)
                     for cpu in sorted(os.sched_getaffinity(0))[:2]]
        us = 0
        if switched:
            seconds = self.lkst_seconds('lkst_ioctls', 'switch', device, SWITCHES, *switched)
            us = 1e6 * seconds / SWITCHES
        if any(r.poll() is not None for r in recorders):
            self.note('LKST: the recorders ended before the switches did')
        cpu = 0
        for r in recorders:
            _, _, usage = os.wait4(r.pid, 0)
            cpu += usage.ru_utime + usage.ru_stime
        return 1e9 * cpu / BUSY / len(recorders), us

    def lkst_switches(self, device):
        both = [self.lkst_tool('lkstm', 'find', '-n', 'bench'),
                self.lkst_tool('lkstm', 'write', '-n', 'other', give=MASKSET)]
        idle = 1e6 * min(self.lkst_seconds('lkst_ioctls', 'switch', device, SWITCHES, *both)
                         for _ in range(self.rounds)) / SWITCHES
        quiet = statistics.median([self.lkst_busy(device, None)[0]
                                   for _ in range(self.rounds)])
        runs = [self.lkst_busy(device, both) for _ in range(self.rounds)]
        ns, us = (statistics.median(r) for r in zip(*runs))
        self.figures.update(lkst_switch_idle_us=idle, lkst_switch_us=us, lkst_event_ns=quiet,
                            lkst_event_switched_ns=ns)
        self.row('LKST: switch of the maskset, microseconds', f'{idle:.0f}', '-', '', '')
        self.row('  while two CPUs record', f'{us:.0f}', '-', '', '')
        self.row('  an event during switches, ns of CPU', f'{ns:.0f}', f'no switches: {quiet:.0f}',
                 f'{ns / quiet:.2f}', '')

    def lkst_print(self):
        cpu = min(os.sched_getaffinity(0))
        if self.lkst_program('lkst_entries', '0xf05', EVENTS, cpu).wait():
            raise OSError('lkst_entries failed')
        log = os.path.join(self.lkst_dir, 'log')
        self.lkst_tool('lkstbuf', 'read', '-b', 1, '-c', cpu, '-f', log)
        # what others have to print: the same events, in their formats
        dat, ctf = os.path.join(self.lkst_dir, 'log.dat'), os.path.join(self.lkst_dir, 'ctf')
        for out in (dat, ctf):
            subprocess.run([self.tacho, 'convert', '-q', log, '-o', out], check=True)
        tool = os.path.join(self.build, 'src', 'cli', 'lkst', 'lkstbuf')
        ours = self.lkst_best(tool, 'print', '-r', '-f', log)
        peers = {name: self.lkst_best(*argv) for name, argv in (
            ('trace-cmd', ('trace-cmd', 'report', '-i', dat)),
            ('babeltrace2', ('babeltrace2', ctf))) if shutil.which(argv[0])}
        rate = EVENTS / 1e6
        self.figures.update(lkst_print_s=ours, **{f'lkst_print_{n}_s': s
                                                  for n, s in peers.items()})
        peer = ', '.join(f'{n} {rate / s:.2f}' for n, s in peers.items()) or '-'
        self.row('lkstbuf print -r -f, millions of events/s', f'{rate / ours:.1f}', peer,
                 f'{min(peers.values()) / ours:.1f}' if peers else '', '>= 3')
        csv = self.lkst_best(tool, 'print', '-r', '-C', '-f', log)
        back = self.lkst_best(tool, 'print', '-f', log)
        self.figures.update(lkst_csv_s=csv, lkst_print_newest_s=back)
        self.row('  as CSV', f'{rate / csv:.1f}', '-', '', '')
        self.row('  the newest first', f'{rate / back:.1f}', '-', '', '>= 3')

    def lkst_best(self, *cmd):
        return min(self.timed(*cmd)[0] for _ in range(self.rounds))

    def lkst_tools(self):
        try:
            with self.lkst_mounted() as device:
                self.lkst_ioctls(device)
                self.lkst_switches(device)
                # the newest maskset records it, too
                self.lkst_print()
        except OSError as e:
            self.note(f'LKST: no figures of its commands: {re.sub(chr(10), " ", str(e))}')
