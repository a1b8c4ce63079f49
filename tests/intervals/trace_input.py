# SPDX-License-Identifier: MIT
"""A trace as the reference model reads it: records with all fields, and the trace's tables.

Records come from `tacho report --json`; tables (print formats, names of threads, symbols, system
calls) from a tacho trace directory (docs/trace-format.md), into which other traces are converted
first.  Nothing of the model is here.
"""
import bisect
import functools
import json
import os
import re
import struct
import subprocess
import tempfile

COMMON = 'common_type,common_flags,common_preempt_count,common_pid'


class Record:
    """One record: its number, ns since 1970, CPU or None, thread, event, fields."""
    __slots__ = ('number', 'time', 'cpu', 'pid', 'event', 'program', 'fields', 'flags', 'lost')

    def __init__(self, number, row, common, lost):
        self.number = number
        self.time = row['time']
        self.cpu = row['cpu']
        self.pid = row['pid']
        self.event = row['system'] + ':' + row['event']
        self.program = row['source'] == 'program'
        self.fields = {**row['fields'], **common}
        self.flags = common.get('common_flags') or 0
        self.lost = lost


def c_value(text):
    """The value of a constant expression of C, or None."""
    text = re.sub(r'\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b', r'\1', text)
    text = re.sub(r'\(\s*(?:unsigned |signed )?'
                  r'(?:long long|long|int|short|char|gfp_t|[us]\d+)\s*\)', '', text)
    if not re.fullmatch(r'[\s0-9a-fA-FxX()|&+<>~*/-]*', text):
        return None
    try:
        return int(eval(text, {'__builtins__': {}}))    # digits and operators only
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
        return None


def arguments(text, at):
    """The arguments of a call whose parenthesis opens before text[at]."""
    args, depth, quoted, begin = [], 0, False, at
    while at < len(text):
        c = text[at]
        if quoted:
            at += c == '\\'
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in '({':
            depth += 1
        elif c in ')}' and depth:
            depth -= 1
        elif c == ')':
            return args + [text[begin:at].strip()]
        elif c == ',' and not depth:
            args.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return args


class Names:
    """The names that a print format gives to the values of one field."""

    def __init__(self, kind, mask, separator, table):
        self.kind, self.mask, self.separator, self.table = kind, mask, separator, table

    def of(self, value):
        value &= self.mask
        if self.kind == 'symbolic':
            return dict(reversed(self.table)).get(value)
        parts, rest = [], value
        for bits, name in self.table:
            if bits and rest & bits == bits:
                parts.append(name)
                rest &= ~bits
        if rest and parts:
            parts.append(hex(rest))
        return self.separator.join(parts) or None


def names_of(form, field):
    """The first table of names of `field` in a `format` text, or None."""
    at = form.find('print fmt:')
    for m in re.finditer(r'__print_(symbolic|flags)\(', form[max(at, 0):]):
        args = arguments(form[max(at, 0):], m.end())
        which = re.findall(r'REC->(\w+)', args[0])
        if which != [field]:
            continue
        rest = re.sub(r'REC->\w+', '', args[0])
        rest = re.sub(r'\(\s*\)', '', rest).strip().strip('&').strip()
        mask = c_value(rest) if rest else -1
        separator, entries = '|', args[1:]
        if m[1] == 'flags':
            separator, entries = entries[0].strip('"'), entries[1:]
        table = []
        for e in entries:
            t = re.fullmatch(r'\{(.*),\s*"((?:[^"\\]|\\.)*)"\s*\}', e, re.S)
            value = c_value(t[1]) if t else None
            if value is not None:
                table.append((value, t[2]))
        if mask is not None and table:
            return Names(m[1], mask, separator, table)
    return None


def dat_types(path):
    """The events that an uncompressed trace.dat of version 6 describes, with records or without."""
    if os.path.isdir(path):
        return
    with open(path, 'rb') as f:
        data = f.read()
    if data[:10] != b'\x17\x08\x44tracing' or data[10:12] != b'6\0':
        return
    order = '>' if data[12] else '<'

    def number(at, size):
        return struct.unpack_from(order + {4: 'I', 8: 'Q'}[size], data, at)[0]
    at = 18
    for name in (b'header_page\0', b'header_event\0'):
        at += len(name)
        at += 8 + number(at, 8)
    count, at = number(at, 4), at + 4
    for _ in range(count):                      # of the system ftrace
        at += 8 + number(at, 8)
    systems, at = number(at, 4), at + 4
    for _ in range(systems):
        end = data.index(b'\0', at)
        system, count, at = data[at:end].decode(), number(end + 1, 4), end + 5
        for _ in range(count):
            size = number(at, 8)
            text = data[at + 8:at + 8 + size].decode(errors='replace')
            at += 8 + size
            yield f'{system}:{text.split()[1]}'


@functools.cache
def machine_calls():
    """The numbers of this machine's system calls, as the C compiler has them."""
    text = subprocess.run([*os.environ.get('CC', 'cc').split(), '-E', '-dM', '-x', 'c', '-'],
                          input=b'#include <asm/unistd.h>\n', stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    return {int(n): name for name, n in re.findall(r'#define __NR_(\w+) (\d+)\n', text)}


class Trace:
    """records(), and what the trace knows besides."""

    def __init__(self, path, tacho=None):
        self.path = path
        self.tacho = tacho or os.environ.get('TACHO', 'tacho')
        self.qnx = self.is_qnx()
        self.forms, self.tasks, self.calls, self.symbols, self.env = {}, {}, {}, [], {}
        if os.path.isdir(os.path.join(path, 'tacho')):
            self.tables(path)
        else:
            with tempfile.TemporaryDirectory() as d:
                copy = os.path.join(d, 'copy')
                self.run('convert', '-q', path, '-o', copy, '--to', 'ctf')
                self.tables(copy)
        self.types = set(self.forms) | set(dat_types(path))
        self.cpus = int(self.env.get('cpus', 0))
        self.cache = {}

    def is_qnx(self):
        if os.path.isdir(self.path):
            return False
        with open(self.path, 'rb') as f:
            return f.read(18) == b'TRACE_HEADER_BEGIN'

    def run(self, *args):
        p = subprocess.run([self.tacho, *args], stdout=subprocess.PIPE, check=True)
        return p.stdout

    def tables(self, directory):
        def text(name):
            try:
                with open(os.path.join(directory, 'tacho', name), 'rb') as f:
                    return f.read()
            except FileNotFoundError:
                return b''
        for name in ('types.program', 'types.kernel'):
            data, at = text(name), 0
            while at < len(data):
                end = data.index(b'\n', at)
                _, event, size = data[at:end].decode().rsplit(' ', 2) \
                    if data[at:end].count(b' ') == 2 else data[at:end].decode().split(' ', 2)
                at = end + 1
                if not size.startswith('='):
                    self.forms[event] = data[at:at + int(size)].decode(errors='replace')
                    at += int(size)
        for line in text('cmdlines').decode(errors='replace').splitlines():
            pid, tgid, comm = (line.split(' ', 2) + [''])[:3]
            self.tasks[int(pid)] = (int(tgid), comm)
        for line in text('syscalls').decode().splitlines():
            number, name = line.split()
            self.calls[int(number)] = name
        for line in text('kallsyms').decode(errors='replace').splitlines():
            address, _, name = line.split()[:3]
            self.symbols.append((int(address, 16), name))
        self.calls = self.calls or machine_calls()
        self.symbols.sort(key=lambda s: s[0])
        for line in text('info').decode(errors='replace').splitlines():
            if line.startswith('env.'):
                key, value = line[4:].split(': ', 1)
                self.env[key] = value

    def names(self, event, field):
        """The names of a field's values, or None."""
        if (event, field) not in self.cache:
            self.cache[event, field] = names_of(self.forms.get(event, ''), field)
        return self.cache[event, field]

    def symbol(self, address):
        i = bisect.bisect_right(self.symbols, address, key=lambda s: s[0]) - 1
        if i < 0:
            return None
        i = bisect.bisect_left(self.symbols, self.symbols[i][0], key=lambda s: s[0])
        return self.symbols[i][1]

    def records(self):
        common = self.run('report', '-q', '--json', '--fields', COMMON, self.path).splitlines()
        rows = self.run('report', '-q', '--json', self.path).splitlines()
        number = lost = 0
        for row, more in zip(rows, common, strict=True):
            row = json.loads(row)
            if 'lost' in row:
                lost += row['lost']
                continue
            yield Record(number, row, json.loads(more)['fields'], lost)
            number, lost = number + 1, 0
