#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A consumer that knows nothing but the Arrow specification: ctypes reads the structs and the
buffers of an Arrow stream byte by byte, and compares them with what tacho report says.  TAP."""
import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile

TACHO, GEN, LIBRARY = (os.environ[k] for k in ('TACHO', 'GEN_TRACE', 'STREAM_LIBRARY'))
EVENTS = 5000
count = failed = 0


def ok(good, what, *why):
    global count, failed
    count += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {count} - {what}')
    for w in why if not good else ():
        print('# ' + str(w)[:600].replace('\n', '\n# '))


P = ctypes.c_void_p


class Schema(ctypes.Structure):
    _fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', P),
                ('flags', ctypes.c_int64), ('n_children', ctypes.c_int64), ('children', P),
                ('dictionary', P), ('release', P), ('private_data', P)]


class Array(ctypes.Structure):
    _fields_ = [('length', ctypes.c_int64), ('null_count', ctypes.c_int64),
                ('offset', ctypes.c_int64), ('n_buffers', ctypes.c_int64),
                ('n_children', ctypes.c_int64), ('buffers', P), ('children', P),
                ('dictionary', P), ('release', P), ('private_data', P)]


class Stream(ctypes.Structure):
    _fields_ = [('get_schema', P), ('get_next', P), ('get_last_error', P), ('release', P),
                ('private_data', P)]


class Config(ctypes.Structure):
    _fields_ = [('struct_size', ctypes.c_uint32), ('flags', ctypes.c_uint32),
                ('events', ctypes.c_char_p), ('columns', P), ('nr_columns', ctypes.c_uint32),
                ('batch_rows', ctypes.c_uint32), ('begin', ctypes.c_uint64),
                ('end', ctypes.c_uint64), ('tids', ctypes.c_char_p), ('pids', ctypes.c_char_p),
                ('comms', ctypes.c_char_p), ('cpus', ctypes.c_char_p),
                ('source', ctypes.c_char_p), ('filters', P), ('nr_filters', ctypes.c_uint32),
                ('threads', ctypes.c_uint32)]


def call(function, of, *args):
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *([P] * (1 + len(args))))
    return kind(function)(ctypes.addressof(of), *[ctypes.addressof(a) for a in args])


def release(s):
    ctypes.CFUNCTYPE(None, P)(s.release)(ctypes.addressof(s))


def moved(s):
    """The struct at another address; the old one is marked as the specification says."""
    to = type(s).from_buffer_copy(bytes(s))
    ctypes.memset(ctypes.addressof(s), 0xdd, ctypes.sizeof(s))
    s.release = None
    return to


def pointers(at, n):
    return struct.unpack(f'{n}Q', ctypes.string_at(at, 8 * n)) if n else ()


def children(s):
    return [type(s).from_address(p) for p in pointers(s.children, s.n_children)]


def metadata(s):
    at, found = s.metadata, {}
    if not at:
        return found
    pairs, = struct.unpack('i', ctypes.string_at(at, 4))
    at += 4
    for _ in range(pairs):
        pair = []
        for _ in range(2):
            size, = struct.unpack('i', ctypes.string_at(at, 4))
            pair.append(ctypes.string_at(at + 4, size).decode())
            at += 4 + size
        found[pair[0]] = pair[1]
    return found


def values(s, a):
    """The values of a column, by the layouts of the specification."""
    n, form, buffers = a.length, s.format.decode(), pointers(a.buffers, a.n_buffers)
    valid = [True] * n
    if buffers[0]:
        bits = ctypes.string_at(buffers[0], (n + 7) // 8)
        valid = [bool(bits[i // 8] >> i % 8 & 1) for i in range(n)]
    if form == 'u':
        offsets = struct.unpack(f'{n + 1}i', ctypes.string_at(buffers[1], 4 * n + 4))
        text = ctypes.string_at(buffers[2], offsets[n])
        found = [text[offsets[i]:offsets[i + 1]].decode() for i in range(n)]
    else:
        code = {'tsn:': 'q', 'c': 'b', 'C': 'B', 's': 'h', 'S': 'H', 'i': 'i', 'I': 'I',
                'l': 'q', 'L': 'Q', 'f': 'f', 'g': 'd'}[form]
        size = struct.calcsize(code)
        found = list(struct.unpack(f'{n}{code}', ctypes.string_at(buffers[1], n * size)))
    if s.dictionary:
        texts = values(Schema.from_address(s.dictionary), Array.from_address(a.dictionary))
        found = [texts[v] if valid[i] else None for i, v in enumerate(found)]
    ok_nulls = valid.count(False) == a.null_count
    return [v if valid[i] else None for i, v in enumerate(found)] if ok_nulls else 'null_count'


def read(lib, trace, **config):
    """The schema, and the columns of all batches by their names."""
    c = Config(struct_size=ctypes.sizeof(Config), **config)
    stream, schema = Stream(), Schema()
    err = lib.tacho_columns_open(ctypes.byref(stream), trace.encode(), ctypes.byref(c), None)
    ok(err == 0, 'open')
    stream = moved(stream)
    ok(call(stream.get_schema, stream, schema) == 0, 'get_schema')
    schema = moved(schema)
    batches = []
    while True:
        batch = Array()
        if call(stream.get_next, stream, batch):
            ok(False, 'get_next')
        if not batch.release:
            break
        batches.append(moved(batch))
    release(stream)
    ok(not stream.release, 'the released stream says so')
    columns = {}
    for b in batches:
        for s, a in zip(children(schema), children(b)):
            columns.setdefault(s.name.decode(), []).extend(values(s, a))
    for b in reversed(batches):
        release(b)
        ok(not b.release, 'a released batch says so') if b is batches[0] else None
    return schema, columns, len(batches)


def main():
    lib = ctypes.CDLL(LIBRARY)
    lib.tacho_columns_open.argtypes = [P, ctypes.c_char_p, P, P]
    ok((ctypes.sizeof(Schema), ctypes.sizeof(Array), ctypes.sizeof(Stream)) == (72, 80, 40),
       'sizes of the structs')
    with tempfile.TemporaryDirectory(prefix='tacho-abi.') as work:
        trace = os.path.join(work, 'trace')
        subprocess.run([GEN, str(EVENTS), trace], check=True)
        out = subprocess.run([TACHO, 'report', '--no-pager', '--json', trace], check=True,
                             capture_output=True, text=True).stdout
        rows = [json.loads(s) for s in out.splitlines()]
        schema, columns, batches = read(lib, trace, batch_rows=777)
    ok(batches == (EVENTS + 776) // 777, 'batches', batches)
    ok(schema.format == b'+s' and schema.n_children == len(columns), 'the schema is a struct')
    notes = {s.name.decode(): metadata(s) for s in children(schema)}
    ok(notes['fd'] == {'tacho.declaration': 'int fd'} and not notes['common_cpu'], 'metadata', notes)
    release(schema)
    ok(not schema.release, 'the released schema says so')
    for column, key in (('common_timestamp', 'time'), ('common_cpu', 'cpu'),
                        ('common_pid', 'pid'), ('common_event', 'event'),
                        ('common_comm', 'comm')):
        ok(columns[column] == [r[key] for r in rows], column)
    for field in ('fd', 'count', 'bytes', 'comm', 'prio', 'name'):
        expected = [r['fields'].get(field) for r in rows]
        ok(columns[field] == expected, field, columns[field][:20], expected[:20])
    print(f'1..{count}')
    return 1 if failed else 0


sys.exit(main())
