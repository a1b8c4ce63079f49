#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sizes of files and functions: what has grown too long is an error.

A file ends at 1,500 lines, a function at 80, but for those named below, which say at their
head why they are longer.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE_MAX = 1500
FUNCTION_MAX = 80
LONGER = {'run_program'}


def functions(lines):
    """(name, length) of each function: from its name to the brace in column 0."""
    name = start = None
    for nr, line in enumerate(lines):
        m = re.match(r'(?:[\w\s\*]+?)?\**(\w+)\s*\(', line)
        if m and not line.startswith((' ', '\t', '#', '/')) and ';' not in line:
            name, start = m.group(1), nr
        if line.startswith('}') and name is not None:
            if line.strip() == '}':
                yield name, nr - start + 1
            name = None


def main():
    bad, found, sizes = 0, 0, []
    for top in ('src', 'include'):
        for path, _, names in os.walk(os.path.join(TOP, top)):
            for n in names:
                if not n.endswith(('.c', '.h')):
                    continue
                file = os.path.join(path, n)
                with open(file, encoding='utf-8') as f:
                    lines = f.read().splitlines()
                if len(lines) > FILE_MAX:
                    print(f'not ok - {file} has {len(lines)} lines')
                    bad += 1
                for name, length in functions(lines):
                    found += 1
                    sizes.append((length, name, file))
                    if length > FUNCTION_MAX and name not in LONGER:
                        print(f'not ok - {name} in {file} has {length} lines')
                        bad += 1
    sizes.sort(reverse=True)
    lengths = sorted(s[0] for s in sizes)
    for length, name, file in sizes[:10]:
        print(f'# {length:4} {name} ({os.path.relpath(file, TOP)})')
    if lengths:
        print(f'# {found} functions: median {lengths[found // 2]}, 90 % below '
              f'{lengths[found * 9 // 10]} lines')
    print(f'{"not ok" if bad or not found else "ok"} 1 - {bad} too long')
    print('1..1')
    return 1 if bad or not found else 0


sys.exit(main())
