# SPDX-License-Identifier: MIT
"""Which traces the model is compared on."""
import os
import shutil
import subprocess

EVENTS = '/sys/kernel/tracing/events'
SYSTEMS = ('sched', 'irq', 'raw_syscalls', 'timer', 'irq_vectors', 'block', 'task', 'workqueue')
RECORDS = 80
# how many of 100 traces
KINDS = {'ctf': 50, 'dat': 15, 'kev': 12, 'ltt': 11, 'lkst': 12}
TACHO = os.environ['TACHO']


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def record_kernel(work):
    """A recording of the running kernel: its path and None, or None and what is wrong; None and
    None if there can be none."""
    if os.geteuid() or not os.path.isdir(EVENTS):
        return None, None
    path = os.path.join(work, 'kernel')
    events = ','.join(s + ':*' for s in SYSTEMS if os.path.isdir(os.path.join(EVENTS, s)))
    load = 'for i in 1 2 3 4 5; do (cat /proc/self/stat; sleep 0.01) | cat >/dev/null & done; wait'
    done = subprocess.run([TACHO, 'record', '-o', path, '-k', events, '--', 'sh', '-c', load],
                          env={**os.environ, 'TACHO_DIR': os.path.join(work, 'tacho')},
                          capture_output=True, check=False)
    if done.returncode:
        return None, done.stderr.decode().splitlines()[-5:]
    return path, None
