#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A folder includes only from the folders that layers.txt allows it.

These come before it in that file, so no two include from each other; and each that is
allowed is made use of."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SRC = os.path.join(TOP, 'src')


def allowed():
    rules = {}
    with open(os.path.join(TOP, 'layers.txt'), encoding='utf-8') as f:
        for line in f:
            line = line.split('#')[0].strip()
            if line:
                folder, names = line.split(':')
                later = set(names.split()) - set(rules)
                if later:
                    sys.exit(f'not ok - layers.txt: {folder} comes before {", ".join(later)}')
                rules[folder] = set(names.split()) | {folder}
    return rules


def main():
    rules = allowed()
    bad = checked = 0
    used = {folder: {folder} for folder in rules}
    for path, _, names in os.walk(SRC):
        folder = os.path.relpath(path, SRC).split(os.sep)[0]
        for name in names:
            if not name.endswith(('.c', '.h')):
                continue
            file = os.path.join(path, name)
            if folder not in rules:
                print(f'not ok - {file}: layers.txt does not know {folder}')
                bad += 1
                continue
            with open(file, encoding='utf-8') as f:
                for nr, line in enumerate(f, 1):
                    m = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
                    if not m or m.group(1) == 'tacho':
                        continue
                    checked += 1
                    used[folder].add(m.group(1))
                    if m.group(1) not in rules[folder]:
                        print(f'not ok - {file}:{nr}: {folder} may not '
                              f'include from {m.group(1)}')
                        bad += 1
    for folder, names in rules.items():
        for name in sorted(names - used[folder]):
            print(f'not ok - layers.txt: {folder} includes nothing from {name}')
            bad += 1
    print(f'{"not ok" if bad or not checked else "ok"} 1 - '
          f'{checked} includes, {bad} against layers.txt')
    print('1..1')
    return 1 if bad or not checked else 0


sys.exit(main())
