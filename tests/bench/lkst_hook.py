# SPDX-License-Identifier: MIT
"""What run.py measures of LKST: a hook beside a tracepoint with the same payload."""
import json
import os
import subprocess


class LkstHook:
    """Methods of run.py's Bench."""

    def lkst_hook(self):
        env = {**os.environ, 'TACHO_DIR': os.path.join('/dev/shm', os.path.basename(self.dir)),
               'LKST_SESSION': f'bench-{os.getpid()}'}
        program = os.path.join(self.build, 'tests', 'bench', 'lkst_hook_bench')

        def run(*argv):
            return subprocess.run([program, *argv], env=env, check=True, text=True,
                                  stdout=subprocess.PIPE).stdout

        def best():
            runs = [json.loads(run('5000')) for _ in range(self.rounds)]
            return {k: min(r[k] for r in runs) for k in runs[0]}

        try:
            run('select', 'RNOTHING')
            off = best()
            run('select', 'bench')
            subprocess.run([self.tacho, 'enable', '-q', '-s', env['LKST_SESSION'], 'bench:seven'],
                           env=env, check=True)
            on = best()
        finally:
            subprocess.run([self.tacho, 'destroy', '-q', env['LKST_SESSION']], env=env)
            subprocess.run(['rm', '-r', env['TACHO_DIR']])
        for what, r, bar in (('masked', off, 'as the tracepoint'), ('recorded', on, '<= 1.20')):
            self.row(f'LKST_HOOK {what}, ns', f"{r['hook']:.2f}",
                     f"tracepoint {r['tracepoint']:.2f}",
                     f"{r['hook'] / r['tracepoint']:.2f}", bar)
            self.figures.update({f'lkst_hook_{what}_ns': r['hook'],
                                 f'lkst_tracepoint_{what}_ns': r['tracepoint']})
