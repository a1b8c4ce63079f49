# SPDX-License-Identifier: MIT
"""The table in docs/lkst.md: table.py SOURCE TOOLS

Its tests exist, and every ioctl, function, command and option has a row."""
import re
import subprocess
import sys
from pathlib import Path

source, tools = Path(sys.argv[1]), Path(sys.argv[2])
LETTERS = re.compile(r'(?<![\w-])-(ev|a[1-4]|[A-Za-z])(?!\w)')


def rows():
    text = (source / 'docs/lkst.md').read_text()
    text = text.split('## Each part of the specification', 1)[1].split('\n## ')[0]
    return [[c.strip() for c in l.strip('|\n').split('|')] for l in text.splitlines()
            if re.match(r'\| (?!specification|---)|\|  \|', l)]


def has_test(name):
    m = re.fullmatch(r'([\w.]+) (\w+)', name)
    path = source / 'tests/lkst' / m[1] if m else None
    if not path or not path.exists():
        return False
    pattern = r'(?m)^def %s\(' if path.suffix == '.py' else r'(?m)^static [^\n;]*\b%s\('
    return re.search(pattern % m[2], path.read_text()) is not None


def interface():
    """ioctls, and functions of the headers."""
    text = ''.join(re.sub(r'(?s)/\*.*?\*/', '', f.read_text())
                   for f in (source / 'include/lkst/linux').glob('*.h'))
    found = set(re.findall(r'#define (LKST_IOC_[A-Z_]+)\t', text)) - {'LKST_IOC_MAGIC'}
    found |= set(re.findall(r'(?m)^(?:int|void|ssize_t) (lkst_\w+)\(', text))
    # ours: lkst(3)
    return {f for f in found if not f.startswith(('lkst_dump', 'lkst_hook_'))} | \
        {'lkst_hook_etype_register', 'lkst_hook_etype_unregister'}


def commands():
    """(tool, command or '', option or '')"""
    found = set()
    for tool in ('lkst', 'lkstm', 'lkstbuf', 'lksteh', 'lkstlogd', 'lkstlogger', 'logformat'):
        how = '-h' if tool in ('lkstlogd', 'logformat') else 'help'
        out = subprocess.run([tools / tool, how], capture_output=True, text=True).stdout
        out = out.split('\nevents:')[0]
        if tool in ('lkstlogd', 'lkstlogger', 'logformat'):
            found |= {(tool, '', o) for o in LETTERS.findall(out)}
            continue
        for block in re.split(r'\n(?=  \w)', out.split('\n\n', 2)[2]):
            for name in filter(None, re.match(r' *(\w+)(?:, (\w+))?', block).groups()):
                if name in ('version', 'ver', 'help'):
                    continue
                found.add((tool, name, ''))
                found |= {(tool, name, o) for o in LETTERS.findall(block)}
    return found


def described(what):
    """The same of a row."""
    m = re.match(r'(lkst|lkstm|lkstbuf|lksteh|lkstlogd|lkstlogger|logformat)\b(?! *:)(.*)', what)
    if not m:
        return set()
    options = LETTERS.findall(m[2])
    words = re.findall(r'(?<!-)\b[a-z]\w*', re.sub(r'-\w+|\(.*|;.*', '', m[2])) or ['']
    if m[1] in ('lkstlogd', 'lkstlogger', 'logformat'):
        words = ['']
    return {(m[1], w, o) for w in words for o in options + ['']}


def main():
    table, wrong = rows(), []
    for _, what, tests in table:
        for name in re.findall('`([^`]*)`', tests) or ['none']:
            if not has_test(name):
                wrong.append(f'{what}: there is no test {name}')
    text = ' '.join(r[1] for r in table)
    said = set(re.findall(r'\w+', text))
    wrong += [f'{n} has no row' for n in sorted(interface() - said)]
    have = set().union(*(described(r[1].replace('`', '')) for r in table))
    wrong += [f'{" ".join(filter(None, (t, c, o and "-" + o)))} has no row'
              for t, c, o in sorted(commands() - have)]
    wrong += [f'{" ".join(filter(None, (t, c, o and "-" + o)))} is not there'
              for t, c, o in sorted(have - commands()) if o]
    if len(table) < 60 or len(interface()) < 40 or len(commands()) < 60:
        wrong.append('too little was found to compare')
    print('1..1')
    print(('not ok' if wrong else 'ok') + ' 1 - the table in docs/lkst.md')
    for w in wrong:
        print('# ' + w)
    sys.exit(bool(wrong))


main()
