#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""traceprinter's lines of all rows of the appendix, each in its fast and in its wide form.

    lines.py GOLDEN LABELS ROWS PRINTER

GOLDEN is the appendix (tests/golden/kev/rows.txt).  What a line has to say comes from its
column #Args, letter by letter; LABELS has the rows whose #Args are missing or another
row's.  ROWS tells the events' numbers, PRINTER is traceprinter.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kevfile import CONTROL, File  # noqa: E402

GOLDEN, LABELS, ROWS, PRINTER = sys.argv[1:5]
RELEASE, NR_RELEASE = '7.1.0', 3
TEXTS = {'name', 'pathname', 'partition name', 'message', 'object_name', 'path'}
EMPTY = {'empty', 'pad', '<null>'}
# The second time that the appendix has a row, and a row that it does not mark as one of
# 64 bits: they have the event of another.
SAME_EVENT = {251: 248, 275: 272, 137: 136}
# #Args with a letter too few or too many.
MISPRINTS = {'frmsg': 'fSrmsg', 'fhret_val': 'fHret_val'}
tests = failed = 0


def ok(good, text, *details):
    global tests, failed
    tests += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {tests} - {text}')
    if not good:
        for d in details:
            print('# ' + str(d).replace('\n', '\n# '))


def rows(path):
    with open(path, encoding='utf-8') as f:
        return {int(g[0]): g for g in (line.rstrip('\n').split('\t') for line in f
                                       if not line.startswith('#'))}


def payload(nr, text):
    """An event's words, as many as the appendix's list says."""
    out = b''
    for i, item in enumerate(text.split(',')):
        name = re.sub(r'\((32|64|string)\)', '', item).strip()
        if name in TEXTS:
            out += b'some/text\0'
        elif name in EMPTY:
            out += bytes(4)
        elif '(64)' in item:
            out += struct.pack('<Q', (0x11 + i) << 32 | 0x22000000 + nr * 0x100 + i)
        elif re.match(r'[rs]?msg(\[|$)', name):
            out += bytes([0x61 + i]) * 4
        elif name == 'sigevent':
            out += struct.pack('<I', 4)
        else:
            # the last one is negative as a decimal
            out += struct.pack('<I', 0x10000000 + nr * 0x100 + i + 1 + (i % 2 << 31))
    return out + b'\0' * (-len(out) % 8)


def listed(args, fast):
    """#Args as (code, label)s; of the fast form those that have an f."""
    out = []
    for a in args.split(', ')[1:]:
        a = MISPRINTS.get(a, a)
        if a[0] == 'f' or not fast:
            a = a[a[0] == 'f':]
            out.append((a[0], a[1:]))
    return out


def value(code, data, at):
    """A value as text, and how many bytes it has."""
    four, eight = data[at:at + 4], data[at:at + 8]
    if code in 'DHP':
        n = struct.unpack('<i' if code == 'D' else '<I', four)[0]
        return (str(n) if code == 'D' else f'0x{n:08x}' if code == 'H' else f'0x{n:x}'
                if n else '(nil)'), 4
    if code == 'E':
        return str(struct.unpack('<q', eight)[0]), 8
    if code in 'XQ':
        return f'0x{struct.unpack("<Q", eight)[0]:x}', 8
    return data[at:].split(b'\0')[0].decode(), len(data) - at


def arguments(fields, data):
    """What stands behind an event's name."""
    out, at, i = '', 0, 0
    while i < len(fields) and at < len(data):
        code, label = fields[i]
        i += 1
        out += f' {label}:' if len(data) == 8 else f'\n{label:>26}:'
        if code == 'S':
            end = at + 4
            while i < len(fields) and fields[i][0] == 's':
                end += 4
                i += 1
            words = struct.unpack(f'<{(end - at) // 4}I', data[at:end])
            out += '"%s" (%s)' % (data[at:end].decode(), ' '.join(f'0x{w:08x}' for w in words))
            at = end
        else:
            text, n = value(code, data, at)
            out += text
            at += n
    return out


def special(nr, head, data):
    """Lines that are of no arguments with labels."""
    w = [struct.unpack('<i', data[i:i + 4])[0] for i in range(0, len(data), 4)]
    u = [x & 0xffffffff for x in w]
    if head.startswith('THREAD'):
        more = f'priority:{w[2]} policy:{w[3]}' if len(w) > 2 else ''
        more += f' partition:{w[4]} sched_flags:0x{u[5]:08x}' if len(w) > 4 else ''
        return f'{head} pid:{w[0]} tid:{w[1]} {more}'
    return {204: f'INT_ENTR:0x{u[0]:08x} ({w[0]})       IP:0x{u[1]:08x}',
            205: f'INT_EXIT:0x{u[0]:08x} ({w[0]}) inkernel:0x{u[1]:08x}',
            206: f'INT_HANDLER_ENTR:0x{u[1 % len(u)]:08x} ({w[1 % len(w)]})       PID:{w[0]} '
                 f'IP:0x{u[2 % len(u)]:08x} AREA:0x{u[3 % len(u)]:08x}',
            207: f'INT_HANDLER_EXIT:0x{u[0]:08x} ({w[0]}) SIGEVENT:PULSE',
            221: f'CONTROL :TIME msb:0x{u[0]:08x} lsb(offset):0x{u[1]:08x}',
            222: f'CONTROL: BUFFER sequence = {u[0] & 0x7ff}, num_events = {u[1]}'}[nr]


def expected(row, label, code, fast, data):
    """The line of an event behind its time and CPU."""
    nr, event = int(row[0]), code & 0x7f
    own = None
    if label:
        own = label[2 if fast else 3]
        if own == '=':
            own = label[2]
    if label and own == '*':
        return special(nr, label[1], data)
    if code >> 10 == 2:
        name = row[6].split(', ')[0] if row[6] != '-' else \
            row[2].split('|')[0].replace('__KER_', '')
        head = f'KER_{"EXIT" if code & 128 else "CALL"}:{name}/{event:02}'
    else:
        head = label[1]
    fields = [(a[0], a[1:]) for a in own.split(', ')] if own else listed(row[6], fast)
    return head + arguments(fields, data)


def main():
    golden, labels = rows(GOLDEN), rows(LABELS)
    out = subprocess.run([ROWS], capture_output=True, text=True, check=True).stdout
    codes = {int(f[0]): int(f[4].split()[NR_RELEASE])
             for f in (line.split('\t') for line in out.splitlines())}
    file, want, time = File(release=RELEASE), [], 0x1000
    file.simple(0, CONTROL, 1, time, 0, time)
    for nr, row in sorted(golden.items()):
        code = codes[SAME_EVENT.get(nr, nr)]
        for fast in (True, False):
            text = row[3 if fast else 4]
            if text == 'N/A':
                continue
            time += 16
            data = payload(nr, text)
            words = struct.unpack(f'<{len(data) // 4}I', data)
            file.words(0, code >> 10, code & 0x3ff, time, *words)
            want.append((time, nr, fast, expected(row, labels.get(nr), code, fast, data)))
    ok(len(want) == 620, 'the appendix has 620 events', len(want))
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'x.kev')
        file.write(path)
        out = subprocess.run([PRINTER, '-f', path], capture_output=True, text=True,
                             check=True).stdout
    got = {int(m.group(1), 16): m.group(2).removesuffix('\n') for m in
           re.finditer(r'^t:0x([0-9a-f]{8}) CPU:00 (.*?)(?=^t:0x|\Z)', out, re.S | re.M)}
    for nr, row in sorted(golden.items()):
        bad = [('fast' if fast else 'wide', 'got:', got.get(t), 'not:', line)
               for t, n, fast, line in want if n == nr and got.get(t) != line]
        ok(not bad, f'row {nr}: {row[1]} {row[2]}', *('\n'.join(map(str, b)) for b in bad))
    print(f'1..{tests}')
    return 1 if failed else 0


sys.exit(main())
