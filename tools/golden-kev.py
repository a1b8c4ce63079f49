#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of the QNX events table, one a line, for tests/golden/kev/rows.txt.

    tools/golden-kev.py qnx-trace-events-data.txt > tests/golden/kev/rows.txt

The input is the text of the "Current Trace Events and Data" appendix.  A line has
the row's number, class, event, fast list, wide list, call and #Args, with a
tabulator between; "same as above" is spelt out, remarks in parentheses that are
not widths, and notes behind a list, are left out.
"""
import re
import sys

KEYS = {'Class', 'Event', 'Fast', 'Wide', 'Call', '#Args'}
WIDTHS = {'(32)', '(64)'}


def blocks(text):
    """Dicts of the keys' texts; lines without a key go on where the last one ended."""
    block, key = {}, None
    for line in text.splitlines() + ['']:
        m = re.match(r'(Class|Event|Fast|Wide|Call|#Args): ?(.*)$', line)
        if m and m.group(1) == 'Class' and block:
            yield block
            block = {}
        if m:
            key = m.group(1)
            block[key] = m.group(2)
        elif not line.strip() or line.startswith('#'):
            key = None
        elif key and line.lstrip()[:1] not in '*' and line.startswith((' ', '\t')) is False \
                and not line.startswith('Note'):
            block[key] += ' ' + line.strip()
        elif not line[:1].isspace():
            key = None
    if block:
        yield block


def words(text, above):
    """A list's text without remarks."""
    text = re.sub(r'\s+', ' ', text.strip())
    if text == 'same as above':
        return above
    text = re.sub(r'(\(32\)) 0x1 - .*$', r'\1', text)
    text = re.sub(r' \(incl .*$', '', text)
    return text


def main():
    with open(sys.argv[1], encoding='utf-8') as f:
        text = f.read()
    n = 0
    for b in blocks(text[text.index('Class: _NTO'):]):
        n += 1
        fast = words(b['Fast'], '')
        print('\t'.join([str(n), b['Class'].strip(), b['Event'].strip(), fast,
                         words(b['Wide'], fast), re.sub(r'\s+', ' ', b['Call'].strip()),
                         re.sub(r'\s+', ' ', b.get('#Args', '-').strip())]))


main()
