# SPDX-License-Identifier: MIT
"""What the tests of LTT have in common: TAP, running tools, a directory of their own."""
import os
import shutil
import subprocess
import tempfile

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'ltt')
count = 0
work = tempfile.mkdtemp(prefix='tacho-ltt.')
os.environ['TACHO_DIR'] = os.path.join(work, 'tacho')


def ok(good, name, *why):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        for w in why:
            print('#', str(w)[:3000].replace('\n', '\n# '))
    return good


def skip(name, why):
    ok(True, f'{name} # SKIP {why}')


def done():
    shutil.rmtree(work)
    print(f'1..{count}')


def run(*cmd, **more):
    p = subprocess.run(cmd, capture_output=True, check=False, **more)
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


def save(name, data):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def read(path):
    with open(path, 'rb') as f:
        return f.read()
