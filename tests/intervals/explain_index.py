#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tacho explain with the index of the trace: the same answer, without reading what is before."""
import os
import subprocess
import sys
import tempfile

import random_trace

TACHO = os.environ['TACHO']
number = failed = 0


def ok(what, good, *why):
    global number, failed
    number += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {number} - {what}', flush=True)
    for line in why if not good else ():
        print('#', str(line)[:2000].replace('\n', '\n# '))


def run(*argv):
    p = subprocess.run([TACHO, *argv], capture_output=True, text=True, check=False)
    return p.returncode, p.stdout


def questions():
    for thread in ('102', '132', '215', '*name*'):
        for begin, end in (('0.0088', '0.0092'), ('0.0079', '0.0081'), ('0.0085', '0.0085005')):
            yield ['--thread', thread, '--from', begin, '--to', end]
    yield ['--thread', '250', '--from', '0.0091']
    for thread in ('1[0-3]?', 't24?'):
        yield ['--span', '*', '--worst', '5', '--thread', thread, '--from', '0.0085']


def main():
    with tempfile.TemporaryDirectory(prefix='tacho-explain-index-') as top:
        os.chdir(top)
        random_trace.write('ctf', 5, 't', 20000)
        asked = list(questions())
        want = [run('explain', '--json', *q, 't') for q in asked]
        ok('the questions have answers', sum(p[0] == 0 and len(p[1]) > 500 for p in want) > 8,
           [(q, p[0], len(p[1])) for q, p in zip(asked, want)])
        ok('an index is made', run('index', 't')[0] == 0)
        got = [run('explain', '--json', *q, 't') for q in asked]
        wrong = [(q, a, b) for q, a, b in zip(asked, want, got) if a != b]
        ok('the answers are the same', not wrong, *wrong[:3])
        # who reads this finds nothing; the index does not know
        for cpu in range(3):
            with open(f't/kernel_{cpu}', 'r+b') as f:
                f.seek(4096 * 2)
                f.write(bytes(60000))
        late = [i for i, q in enumerate(asked) if '--span' not in q]
        wrong = [(asked[i], want[i], got) for i in late
                 if (got := run('explain', '--json', *asked[i], 't')) != want[i]]
        ok('what is before is not read', not wrong, *wrong[:3])
        run('index', '--remove', 't')
        ok('without the index it is', any(run('explain', '--json', *asked[i], 't') != want[i] for i in late))
        os.chdir('/')
    print(f'1..{number}')
    return failed > 0


sys.exit(main())
