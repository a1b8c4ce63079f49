# SPDX-License-Identifier: MIT
"""What run.py measures of QNX's trace: trace_logi() beside a tracepoint with the same payload."""
import json
import os
import subprocess


class QnxLogi:
    """Methods of run.py's Bench."""

    def qnx_logi(self):
        env = {**os.environ,
               'TACHO_DIR': os.path.join('/dev/shm', os.path.basename(self.dir) + '.qnx'),
               'QNX_SESSION': f'bench-{os.getpid()}'}
        program = os.path.join(self.build, 'tests', 'bench', 'qnx_logi_bench')

        def run(arg):
            return subprocess.run([program, arg], env=env, check=True, text=True,
                                  stdout=subprocess.PIPE).stdout

        def best():
            runs = [json.loads(run('5000')) for _ in range(self.rounds)]
            return {k: min(r[k] for r in runs) for k in runs[0]}

        def tacho(*argv):
            subprocess.run([self.tacho, argv[0], '-q', *argv[1:]], env=env, check=True)

        try:
            off = best()
            run('start')
            tacho('enable', '-s', env['QNX_SESSION'], 'bench:pair')
            on = best()
            run('stop')
            tacho('create', '--flight', '-e', 'bench:pair,user:event_5', 'other')
            other = best()
            tacho('destroy', 'other')
        finally:
            subprocess.run(['rm', '-r', env['TACHO_DIR']])
        for what, r in (('off', off), ('recorded', on), ('recorded by another session', other)):
            self.row(f'trace_logi() {what}, ns', f"{r['logi']:.2f}",
                     f"tracepoint {r['tracepoint']:.2f}",
                     f"{r['logi'] - r['tracepoint']:+.2f}", '<= +10')
            self.figures.update({f'qnx_logi_{what}_ns': r['logi'],
                                 f'qnx_tracepoint_{what}_ns': r['tracepoint']})
