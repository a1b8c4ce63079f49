#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sizes of files, functions and lines: what is too long is an error.

	file		1,500 lines
	function	80 lines, but for those in LONGER, each with its reason;
			nine of ten have at most 45
	line		100 columns, with tabs of 8.  A string is not broken, so that messages
			can be searched for: it may reach beyond, with what closes the call
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE_MAX = 1500
FUNCTION_MAX = 80
P90_MAX = 45
COLUMNS = 100
LONGER = {
    ('src/event/print_run.c', 'run_program'):
        'the inner loop of printing: one switch keeps its state in registers',
}
# names that others chose and that cannot be broken
NAMES = re.compile(r'\b\w{50,}\b')


def functions(lines):
    """(name, length) of each function: from its name to the brace in column 0."""
    name = start = None
    for nr, line in enumerate(lines):
        m = re.match(r'(?:[\w\s\*]+?)?\**\b(\w+)\s*\(', line)
        if m and not line.startswith((' ', '\t', '#', '/')) and ';' not in line:
            name, start = m.group(1), nr
        if line.startswith('}') and name is not None:
            if line.strip() == '}':
                yield name, nr - start + 1
            name = None


def is_wide(line):
    """Whether a line is too wide, and not because of one string or name."""
    if len(line.expandtabs(8)) <= COLUMNS:
        return False
    without = re.sub(r'"(?:\\.|[^"\\])*"', '""', line, count=0)
    return len(NAMES.sub('', without).expandtabs(8)) > COLUMNS


def check_self():
    """This script finds what it should, in examples."""
    two = ['static int', 'one(void)', '{', '\tx();', '}', '', 'int two(int a,', '\tint b)', '{', '}']
    return list(functions(two)) == [('one', 4), ('two', 4)] and \
        is_wide('x ' * 50 + 'x') and not is_wide('x ' * 50) and is_wide('\t' * 12 + 'x' * 5) and \
        not is_wide('\tfail("' + 'x' * 120 + '", a);') and \
        is_wide('\tfail("x", ' + 'a, ' * 40 + ');') and not is_wide('\t\t' + 'n' * 95 + '(a);')


def main():
    bad, sizes = [], []
    longer = dict(LONGER)
    for top in ('src', 'include'):
        for path, _, names in os.walk(os.path.join(TOP, top)):
            for n in sorted(names):
                if not n.endswith(('.c', '.h')):
                    continue
                file = os.path.relpath(os.path.join(path, n), TOP)
                with open(os.path.join(path, n), encoding='utf-8') as f:
                    lines = f.read().splitlines()
                if len(lines) > FILE_MAX:
                    bad.append('%s has %d lines' % (file, len(lines)))
                for nr, line in enumerate(lines, 1):
                    if is_wide(line):
                        bad.append('%s:%d has %d columns' %
                                   (file, nr, len(line.expandtabs(8))))
                for name, length in functions(lines):
                    sizes.append((length, name, file))
                    if length > FUNCTION_MAX and not longer.pop((file, name), None):
                        bad.append('%s in %s has %d lines' % (name, file, length))
    for file, name in longer:
        bad.append('%s in %s is in LONGER, and is no longer' % (name, file))
    sizes.sort(reverse=True)
    for length, name, file in sizes[:10]:
        why = LONGER.get((file, name))
        print('# %4d %s (%s)%s' % (length, name, file, ': ' + why if why else ''))
    if sizes:
        lengths = sorted(s[0] for s in sizes)
        p90 = lengths[len(lengths) * 9 // 10]
        print('# %d functions: median %d, 90 %% have at most %d lines' %
              (len(lengths), lengths[len(lengths) // 2], p90))
        if p90 > P90_MAX:
            bad.append('one function in ten has more than %d lines' % P90_MAX)
    for b in bad:
        print('# too long: ' + b)
    good = check_self()
    print('%sok 1 - the measures are right in examples' % ('' if good else 'not '))
    print('%sok 2 - %d too long' % ('not ' if bad or not sizes else '', len(bad)))
    print('1..2')
    return 1 if bad or not sizes or not good else 0


sys.exit(main())
