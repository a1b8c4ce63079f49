#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/lkst-events.md out of the table of kernel event types.

    lkst-events.py BUILD/tests/lkst/lkst_kmap tests/golden/lkst/formats.xz > docs/lkst-events.md
    lkst-events.py --check FILE KMAP FORMATS	whether FILE is what would be written
"""
import lzma
import re
import subprocess
import sys

BLOCKS = {
    0x010: 'Process management', 0x020: 'Interrupts', 0x030: 'Exceptions',
    0x040: 'System calls', 0x050: 'Memory management', 0x060: 'Networking',
    0x070: 'SysV IPC', 0x080: 'Locks', 0x090: 'Timers',
    0x0a0: 'Oops, and what foretells one', 0x0b0: 'Block I/O', 0x0c0: 'File systems',
    0x0d0: 'Power, devices, modules, control groups',
    0x0e0: 'Networking: what seldom happens',
}
NOTES = {
    0x040: 'The tracepoints of system calls make all system calls slower while they are on.',
    0x060: 'Addresses are those of IPv4.',
    0x070: 'What is called is in the entry; only calls that may wait have an exit.',
    0x080: 'Linux tells of a lock when somebody has to wait for it: `SPIN_LOCK` is the start of '
           'such a wait, of all kinds of locks (bits of kind: 1 spin lock, 2 to read, 4 to write, '
           '8 real-time, 16 per CPU, 32 mutex), `SPIN_LOCK_GOT` its end. No type of this block '
           'is in `RDEFAULT`.',
}

HEAD = '''\
# LKST's kernel events

<!-- made by tools/lkst-events.py from the table in src/fmt/lkst/kmap.c; a test compares them -->

Which tracepoint of Linux each of LKST's kernel event types comes from, and which of its fields are the
arguments. The name of a type is its mnemonic in lower case, which `-E` takes. {default} of the {all} are in
the maskset `RDEFAULT`: those marked with a dot.

An argument is written as *text*: `field`. Two fields with a colon are the high and the low 32 bits of one
argument; `[n]` is an element of an array; `#` is the length of a text. A field behind `?` is 0 in kernels
that do not have it; of names with `/` between them the first that the kernel has counts. A text is its
first 8 characters as a number, the last of them in the lowest byte: a packet for `lo` has 0x6c6f.

The last column has the Linux versions, of those that the table is checked against, in which the tracepoint exists
(Debian's 6.1 and 6.12, and a 6.18 without modules). A type whose tracepoint the running kernel lacks is
never recorded.
'''


def table(kmap):
    out = subprocess.run([kmap, 'list'], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        f = line.split('\t')
        yield {
            'number': int(f[0], 16), 'mnemonic': f[1], 'points': f[3].split(),
            'default': f[4] == '1',
            'args': [(f[i], f[i + 1]) for i in range(5, 13, 2) if f[i]],
        }


def kernels(formats):
    have = {}
    with lzma.open(formats, 'rt', errors='replace') as f:
        for kernel, point in re.findall(r'^@@ (\S+) (\S+)$', f.read(), re.M):
            have.setdefault(point, []).append(kernel)
    return have


def block(first, rows, have):
    lines = [f'## 0x{first:03x}: {BLOCKS[first]}', '']
    if first in NOTES:
        lines += [NOTES[first], '']
    lines += ['| number | | mnemonic | tracepoint | arguments | Linux |',
              '|---|---|---|---|---|---|']
    for r in rows:
        args = '; '.join(f'{text}: `{field}`' for text, field in r['args'])
        points = ' or '.join(f'`{p}`' for p in r['points'])
        where = []
        for p in r['points']:
            where += have.get(p, [])
        where.sort(key=lambda v: [int(n) for n in v.split('.')])
        lines.append(f'| 0x{r["number"]:03x} | {"•" if r["default"] else ""} '
                     f'| `{r["mnemonic"]}` | {points} | {args} | {", ".join(where)} |')
    return '\n'.join(lines) + '\n'


def page(kmap, formats):
    rows, have = list(table(kmap)), kernels(formats)
    parts = [HEAD.format(all=len(rows), default=sum(r['default'] for r in rows))]
    for first in sorted({r['number'] & ~15 for r in rows}):
        parts.append(block(first, [r for r in rows if r['number'] & ~15 == first], have))
    return '\n'.join(parts)


def main():
    if sys.argv[1:2] == ['--check'] and len(sys.argv) == 5:
        with open(sys.argv[2], encoding='utf-8') as f:
            same = f.read() == page(*sys.argv[3:])
        print(f'{"ok" if same else "not ok"} 1 - {sys.argv[2]} is as tools/lkst-events.py writes it'
              '\n1..1')
        return
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.write(page(*sys.argv[1:]))


main()
