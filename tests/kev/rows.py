#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""events.table and what was compiled of it against the appendix's own rows.

    rows.py TABLE GOLDEN ROWS INCLUDE CC...

TABLE is src/fmt/kev/events.table, GOLDEN the rows of the appendix in its own words
(tools/golden-kev.py makes it), ROWS the program that prints the compiled rows, INCLUDE
the folder of <sys/trace.h>, whose numbers have to be the same.
"""
import os
import re
import subprocess
import sys
import tempfile

GROUPS = {'_NTO_TRACE_KERCALLENTER': 'kercall_enter', '_NTO_TRACE_KERCALLEXIT': 'kercall_exit',
          '_NTO_TRACE_INTENTER': 'int', '_NTO_TRACE_INTEXIT': 'int',
          '_NTO_TRACE_INT_HANDLER_ENTER': 'int', '_NTO_TRACE_INT_HANDLER_EXIT': 'int',
          '_NTO_TRACE_CONTROL': 'control', '_NTO_TRACE_PROCESS': 'process',
          '_NTO_TRACE_THREAD': 'thread', '_NTO_TRACE_VTHREAD': 'vthread',
          '_NTO_TRACE_COMM': 'comm', '_NTO_TRACE_SYSTEM': 'system', '_NTO_TRACE_SEC': 'sec'}
PREFIXES = {'kercall_enter': '__KER_', 'kercall_exit': '__KER_', 'process': '_NTO_TRACE_PROC',
            'thread': '_NTO_TRACE_TH', 'vthread': '_NTO_TRACE_VTH',
            'control': '_NTO_TRACE_CONTROL', 'comm': '_NTO_TRACE_COMM_',
            'sec': '_NTO_TRACE_SEC_', 'system': '_NTO_TRACE_SYS_'}
INT_NAMES = {'_NTO_TRACE_INTENTER': 'entry', '_NTO_TRACE_INTEXIT': 'exit',
             '_NTO_TRACE_INT_HANDLER_ENTER': 'handler_entry',
             '_NTO_TRACE_INT_HANDLER_EXIT': 'handler_exit'}
RELEASES = ['640', '650', '660', '710', '800']
# What the appendix says of a 64-bit event, but does not mark as one.
UNMARKED_64 = {137: '_NTO_TRACE_KERCALL64'}
# Fields that the appendix has with 32 bits in one place and with 64 in another.
WIDTH_UNSURE = {(179, 'wide', 'data_p')}
tests = 0
failed = 0


def ok(good, text, *details):
    global tests, failed
    tests += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {tests} - {text}')
    if not good:
        for d in details:
            print('# ' + str(d).replace('\n', '\n# '))


def table(path):
    """{nr: {'head': words, 'fast': .., 'wide': .., 'alt': .., 'from': ..}}"""
    rows, row = {}, None
    for line in open(path, encoding='utf-8'):
        words = line.split()
        if line.startswith('#') or not words:
            continue
        if words[0] == 'row':
            row = rows[int(words[1])] = {'head': words[2:], 'alt': None, 'alt2': None}
        elif line.startswith('\t'):
            row['alt2' if words[0] == 'alt' and row['alt'] else words[0]] = ' '.join(words[1:])
    for r in rows.values():
        if r['wide'] == '=':
            r['wide'] = r['fast']
    return rows


def spec_of(text):
    """A table's list in the appendix's terms: (name, width), 0 when it is not told."""
    out = []
    if text == '-':
        return None
    for f in text.split():
        if f.startswith('!'):
            out.append((f[1:].lower(), None))
            continue
        code, name = f.split(':')
        name, _, spec = name.partition('<')
        name = name.partition('=')[0]
        width = 64 if code in 'EXQ' else 32
        if spec == '+':
            continue
        if spec and out and out[-1][2:] == (spec,):
            out[-1] = (spec.lower(), None, spec)	# one there, several here
            continue
        out.append((spec.lower(), None, spec) if spec else (name, 0 if code in 'NW' else width))
    return [o[:2] for o in out]


def appendix(text):
    """The same from the appendix's list."""
    out = []
    if text == 'N/A':
        return None
    for item in text.split(','):
        m = re.search(r'\((32|64)\)', item)
        width = int(m.group(1)) if m else 32
        name = re.sub(r'\s*\((32|64|string)\)', '', item).strip()
        name = re.sub(r'^\*', 'at_', name)
        name = re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').lower()
        out.append((name, width))
    return out


def same(ours, theirs, nr, form):
    if (ours is None) != (theirs is None):
        return False
    ours, theirs = list(ours or []), list(theirs or [])
    if len(ours) != len(theirs):
        return False
    left = list(theirs)
    for name, width in ours:
        for k, (n, w) in enumerate(left):
            if n == name and (width in (None, 0) or w == width or (nr, form, name) in WIDTH_UNSURE):
                # what the kernel does not write stands anywhere
                if width is not None and k and not any(x is None for _, x in ours):
                    continue
                del left[k]
                break
        else:
            return False
    return not left


def compiled(program):
    rows = {}
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        nr, group, name, is64, codes, fast, wide, alt, alt2, external = line.split('\t')
        rows[int(nr)] = {'group': group, 'name': name, '64': is64 == '1',
                         'codes': [int(c) for c in codes.split()],
                         'fast': fast, 'wide': wide, 'alt': alt, 'alt2': alt2,
                         'external': [tuple(map(int, e.split('/'))) for e in external.split()]}
    return rows


def plain(text):
    """A table's list as the program prints it."""
    if text is None:
        return '-'
    fields = [f.partition('<')[0] for f in text.split() if f != '-' and not f.startswith('!')]
    return ' '.join(fields) or '-'


def constants(names, release, include, cc):
    """Their values in the headers of a release; None where there is no such."""
    source = ['#include <stdio.h>', '#include <sys/trace.h>', 'int main(void) {']
    have = []
    dump = subprocess.run(cc + ['-E', '-dM', f'-D_QNX_RELEASE={release}', '-I' + include,
                                '-x', 'c', '-'], input='#include <sys/trace.h>\n',
                          capture_output=True, text=True, check=True).stdout
    text = subprocess.run(cc + ['-E', f'-D_QNX_RELEASE={release}', '-I' + include, '-x', 'c', '-'],
                          input='#include <sys/trace.h>\n', capture_output=True, text=True,
                          check=True).stdout
    known = set(re.findall(r'#define (\w+) ', dump)) | set(re.findall(r'\b_NTO_TRACE_\w+\b', text))
    for n in sorted(names):
        if n in known:
            have.append(n)
            source.append(f'printf("%s %lld\\n", "{n}", (long long)({n}));')
    source.append('return 0; }')
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, 'c.c'), 'w', encoding='utf-8') as f:
            f.write('\n'.join(source))
        subprocess.run(cc + [f'-D_QNX_RELEASE={release}', '-I' + include, '-o',
                             os.path.join(d, 'c'), os.path.join(d, 'c.c')], check=True)
        out = subprocess.run([os.path.join(d, 'c')], capture_output=True, text=True,
                             check=True).stdout
    return {line.split()[0]: int(line.split()[1]) for line in out.splitlines()}


def check_rows(rows, golden, program):
    ok(sorted(golden) == list(range(1, 320)), 'the appendix has 319 rows')
    ok(sorted(r for r in rows if r < 400) == sorted(golden), 'and the table has them all')
    ok(sorted(program) == sorted(rows), 'and so has the program')
    for nr in sorted(golden):
        _, cls, event, fast, wide, call, _ = golden[nr]
        r, p, bad = rows.get(nr), program.get(nr), []
        if not r or not p:
            ok(False, f'row {nr}')
            continue
        base, _, flag = event.partition('|')
        group = GROUPS[cls]
        flag = flag or UNMARKED_64.get(nr, '')
        name = INT_NAMES.get(cls)
        if not name:
            prefix = PREFIXES[group]
            name = base[len(prefix):] if base.startswith(prefix) else base[len('_NTO_TRACE_'):]
            name = name.lower()
        if group == 'system' and name in ('ipi_64', 'profile_64'):
            name, flag = name[:-3], '64'
        if (r['head'][0], r['head'][1], '64' in r['head'][2:]) != (group, name, bool(flag)):
            bad.append(('what it is', r['head'], (group, name, flag)))
        if not same(spec_of(r['fast']), appendix(fast), nr, 'fast'):
            bad.append(('fast', r['fast'], fast))
        theirs = appendix(wide)
        if not same(spec_of(r['wide']), theirs, nr, 'wide') and \
                not (r['alt'] and same(spec_of(r['alt']), theirs, nr, 'wide')):
            bad.append(('wide', r['wide'], r['alt'], wide))
        if r['from'] != call:
            bad.append(('from', r['from'], call))
        if (p['group'], p['name'], p['64']) != (group, name, bool(flag)):
            bad.append(('compiled', p))
        for form in ('fast', 'wide', 'alt', 'alt2'):
            if p[form] != plain(r[form]):
                bad.append(('compiled ' + form, p[form], r[form]))
        ok(not bad, f'row {nr}: {cls} {event}', *bad)


def check_numbers(golden, program, include, cc):
    names = {g[2].partition('|')[0] for g in golden.values()} | {g[1] for g in golden.values()}
    names = {n for n in names if ' ' not in n}
    for i, release in enumerate(RELEASES):
        value = constants(names | {'_NTO_TRACE_KERCALL64'}, release, include, cc)
        bad, met, seen = [], 0, set()
        for nr, g in sorted(golden.items()):
            base, _, flag = g[2].partition('|')
            p = program[nr]
            code, external = p['codes'][i], p['external'][i]
            if (g[1], g[2]) in seen and nr not in UNMARKED_64:
                if code != -1:
                    bad.append((nr, 'is there twice'))
                continue
            seen.add((g[1], g[2]))
            if p['group'] == 'int':
                if code < 0:
                    bad.append((nr, 'is missing'))
                continue
            if base not in value:
                if code != -1 and p['group'] in ('kercall_enter', 'kercall_exit', 'thread', 'vthread'):
                    bad.append((nr, base, 'is not of this release', code))
                continue
            want = value[base]
            if p['64'] and not want & value['_NTO_TRACE_KERCALL64']:
                want |= value['_NTO_TRACE_KERCALL64']
            if code < 0:
                bad.append((nr, base, 'is missing'))
                continue
            if g[1] in value and external != (value[g[1]], want):
                bad.append((nr, g[1], base, external, (value[g[1]], want)))
            met += 1
        ok(not bad and met > 200, f'{release}: {met} numbers are those of <sys/trace.h>', *bad)


def main():
    table_path, golden_path, program, include = sys.argv[1:5]
    golden = {}
    for line in open(golden_path, encoding='utf-8'):
        g = line.rstrip('\n').split('\t')
        golden[int(g[0])] = g
    rows = table(table_path)
    ours = compiled(program)
    check_rows(rows, golden, ours)
    check_numbers(golden, ours, include, sys.argv[5:])
    print(f'1..{tests}')
    return 1 if failed else 0


sys.exit(main())
