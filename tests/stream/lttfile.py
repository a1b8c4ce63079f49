#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LTT files made of nothing but the format's description.

Each event's struct is written down here once more, as Python's struct codes, for each
of the layouts; nothing is taken from tacho.  P stands for a pointer.
"""
import struct

MAGIC = 0x00D6B7ED

# what the specification says of each event: id, sub id, codes of the struct
START, SYSCALL_ENTRY, SYSCALL_EXIT, TRAP_ENTRY, TRAP_EXIT, IRQ_ENTRY, IRQ_EXIT, \
    SCHEDCHANGE, KERNEL_TIMER, SOFT_IRQ, PROCESS, FILE_SYSTEM, TIMER, MEMORY, SOCKET, \
    IPC, NETWORK, BUFFER_START, BUFFER_END, NEW_EVENT, CUSTOM, CHANGE_MASK, \
    HEARTBEAT = range(23)

# 64-bit flavour: x is a hole of the compiler's; 32-bit flavour: packed
WIDE = {START: 'IIIIIBBBBBxxxxxxxQQ', SYSCALL_ENTRY: 'BxxxxxxxQ', TRAP_ENTRY: 'HxxxxxxQ',
        IRQ_ENTRY: 'BB', SCHEDCHANGE: 'III', SOFT_IRQ: 'Q', PROCESS: 'IxxxxQ',
        FILE_SYSTEM: 'II', TIMER: 'BxxxII', MEMORY: 'Q', SOCKET: 'IxxxxQ',
        IPC: 'IxxxxQ', NETWORK: 'I', BUFFER_START: 'IIII', BUFFER_END: 'III',
        NEW_EVENT: 'I20s100sI256s', CUSTOM: 'II', CHANGE_MASK: 'Q'}
PACKED = {**WIDE, START: 'IIIIIBBBBBQQ', SYSCALL_ENTRY: 'BI', TRAP_ENTRY: 'HI',
          SOFT_IRQ: 'I', PROCESS: 'II', TIMER: 'BII', MEMORY: 'I', SOCKET: 'II',
          IPC: 'II'}
# the widths that the description prints, packed
PRINTED = {**PACKED, SOFT_IRQ: 'Q', PROCESS: 'IQ', MEMORY: 'Q', SOCKET: 'IQ', IPC: 'IQ'}
# version 2.2: the sub id is the struct's first byte; a pointer of the kernel at the end
OPERSYS = {**PACKED, START: 'IIIIBBIQQBBB', SOFT_IRQ: 'BI', PROCESS: 'BII',
           FILE_SYSTEM: 'BIII', TIMER: 'BBII', MEMORY: 'BI', SOCKET: 'BII',
           IPC: 'BII', NETWORK: 'BI', CUSTOM: 'III'}
MV32 = {**OPERSYS, SYSCALL_ENTRY: 'HI', IRQ_ENTRY: 'HB'}
MV64 = {**MV32, SYSCALL_ENTRY: 'HQ', TRAP_ENTRY: 'HQ', SCHEDCHANGE: 'IIQ',
        SOFT_IRQ: 'BQ', PROCESS: 'BIQ', FILE_SYSTEM: 'BIIQ', TIMER: 'BBQQ',
        MEMORY: 'BQ', SOCKET: 'BIQ', CUSTOM: 'IIQ'}


class File:
    """One CPU's file of version 2.3."""

    def __init__(self, order='<', wide=True, size=4096, cpu=0, tsc=0, arch=None,
                 flight=0, pad=True, sec=1000, usec=0, details=None, codes=None):
        self.o = order
        self.codes = codes or (WIDE if wide else PACKED)
        self.size = size
        self.cpu = cpu
        self.tsc = tsc
        self.pad = pad
        self.arch = arch if arch is not None else 7 if wide else 1
        self.flight = flight
        self.details = (1 << 64) - 1 if details is None else details
        self.now = sec * 10**6 + usec	# us; with tsc: cycles beside it
        self.cycles = 0
        self.data = b''
        self.buf = b''
        self.ids = 0

    def struct(self, event, *values):
        return struct.pack(self.o + self.codes.get(event, ''), *values)

    def record(self, time, event, sub, body=b''):
        size = 8 + len(body)
        if self.pad:
            size = size + 7 & ~7
        head = struct.pack(self.o + 'IBBH', time & 0xffffffff, event, sub, size)
        return (head + body).ljust(size, b'\0')

    def word(self):
        return self.cycles if self.tsc else self.now

    def stamp(self):
        return (self.now // 10**6, self.now % 10**6,
                self.cycles & 0xffffffff if self.tsc else 0)

    def begin(self):
        self.buf = self.record(self.word(), BUFFER_START, 0, self.struct(
            BUFFER_START, *self.stamp(), self.ids))
        if not self.ids:
            self.buf += self.record(0, START, 0, self.struct(
                START, MAGIC, self.arch, 5 if self.arch == 7 else 0, 1, self.size, 2, 3,
                self.tsc, self.cpu, self.flight, (1 << 64) - 1, self.details))
        self.ids += 1

    def end(self, lost=None, zero=False):
        at = len(self.buf)
        self.buf += self.record(self.word(), BUFFER_END, 0, self.struct(
            BUFFER_END, *((0, 0, 0) if zero else self.stamp())))
        lost = self.size - at if lost is None else lost
        self.data += self.buf.ljust(self.size - 4, b'\0') + struct.pack(self.o + 'I', lost)
        self.buf = b''

    def add(self, event, sub, *values, tail=b'', after=1):
        """A record `after` microseconds (with tsc: and as many cycles x rate) later."""
        self.now += after
        if not self.buf:
            self.begin()
        body = self.struct(event, *values) + tail
        r = self.record(self.word(), event, sub, body)
        if self.size - len(self.buf) < 32 + len(r):
            self.end()
            self.begin()
        self.buf += r

    def bare(self, event, sub=0, after=1):
        self.now += after
        self.buf += self.record(self.word(), event, sub)

    def done(self):
        if self.buf:
            self.end()
        return self.data


class File22:
    """One file of version 2.2."""

    def __init__(self, order='<', codes=OPERSYS, size=4096, tsc=0, arch=1, cpus=0,
                 details=None, sec=1000, usec=0):
        self.o = order
        self.codes = codes
        self.size = size
        self.tsc = tsc
        self.arch = arch
        self.cpus = cpus	# whether records have their CPU
        self.details = (1 << 64) - 1 if details is None else details
        self.now = sec * 10**6 + usec
        self.begun = self.now
        self.cycles = 0
        self.data = b''
        self.buf = b''
        self.ids = 0

    def record(self, time, event, body=b'', cpu=None):
        head = b'' if cpu is None or not self.cpus else bytes([cpu])
        r = head + struct.pack(self.o + 'BI', event, time & 0xffffffff) + body
        return r + struct.pack(self.o + 'H', len(r) + 2)

    def stamp(self):
        return (self.now // 10**6, self.now % 10**6,
                self.cycles & 0xffffffff if self.tsc else 0)

    def word(self):
        return self.cycles if self.tsc else self.now - self.begun

    def pack(self, event, *values):
        return struct.pack(self.o + self.codes.get(event, ''), *values)

    def begin(self):
        self.begun = self.now
        self.buf = self.record(self.word(), BUFFER_START, self.pack(
            BUFFER_START, *self.stamp(), self.ids))
        if not self.ids:
            # masks are bytes in order on every machine
            mask = struct.pack('<Q', (1 << 64) - 1), struct.pack('<Q', self.details)
            body = struct.pack(self.o + 'IIIIBBI', MAGIC, self.arch, 0, 1, 2, 2,
                               self.size) + mask[0] + mask[1] + \
                bytes([self.cpus, self.tsc, 0])
            self.buf += self.record(0, START, body)
        self.ids += 1

    def end(self, lost=None):
        at = len(self.buf)
        self.buf += self.record(self.cycles if self.tsc else 0, BUFFER_END,
                                self.pack(BUFFER_END, *self.stamp()), cpu=0)
        lost = self.size - at if lost is None else lost
        self.data += self.buf.ljust(self.size - 4, b'\0') + struct.pack(self.o + 'I', lost)
        self.buf = b''

    def add(self, event, *values, tail=b'', after=1, cpu=0):
        self.now += after
        if not self.buf:
            self.begin()
        body = self.pack(event, *values) if self.details >> event & 1 else b''
        r = self.record(self.word(), event, body + tail, cpu=cpu)
        if self.size - len(self.buf) < 32 + len(r):
            self.end()
            self.begin()
            r = self.record(self.word(), event, body + tail, cpu=cpu)
        self.buf += r

    def done(self):
        if self.buf:
            self.end()
        return self.data


def decode(data, order='<', wide=True):
    """(time word, event, sub id, struct's values, what is behind it) of each record of 2.3."""
    codes = WIDE if wide else PACKED
    size = struct.unpack_from(order + 'I', data, 48)[0]
    for buf in range(0, len(data), size):
        end = buf + size - struct.unpack_from(order + 'I', data, buf + size - 4)[0]
        at = buf
        while at <= end:
            time, event, sub, n = struct.unpack_from(order + 'IBBH', data, at)
            code = order + codes.get(event, '')
            body = data[at + 8:at + n]
            k = struct.calcsize(code)
            yield (time, event, sub, struct.unpack_from(code, body) if body else (), body[k:])
            at += n


def every_event(f):
    """One of each event and sub event of the specification into f, a File."""
    def new_event(ident, name, kind):
        f.add(NEW_EVENT, 0, ident, name, b'what ' + name + b' means', kind, b'<form>')

    f.add(SYSCALL_ENTRY, 0, 5, 0x8048abc)
    f.add(SYSCALL_EXIT, 0)
    f.add(TRAP_ENTRY, 0, 14, 0xc0123456)
    f.add(TRAP_EXIT, 0)
    f.add(IRQ_ENTRY, 0, 11, 1)
    f.add(IRQ_EXIT, 0)
    f.add(SCHEDCHANGE, 0, 1001, 1002, 1)
    f.add(KERNEL_TIMER, 0)
    for sub, v in ((1, 3), (2, 6), (3, 0xc0201000), (4, 0xc0202000)):
        f.add(SOFT_IRQ, sub, v)
    for sub, a, b in ((1, 77, 0xc0300000), (2, 1003, 0), (3, 0, 0), (4, 1003, 0),
                      (5, 9, 1003), (6, 1002, 2)):
        f.add(PROCESS, sub, a, b)
    f.add(FILE_SYSTEM, 1, 0, 0)
    f.add(FILE_SYSTEM, 2, 0, 0)
    f.add(FILE_SYSTEM, 3, 0, 5, tail=b'mount')
    f.add(FILE_SYSTEM, 4, 3, 6, tail=b'passwd')
    for sub, a, b in ((5, 3, 0), (6, 3, 4096), (7, 1, 12), (8, 3, 100), (9, 0, 0x5401),
                      (10, 4, 1000), (11, 5, 0)):
        f.add(FILE_SYSTEM, sub, a, b)
    for sub, a, b, c in ((1, 0, 0, 0), (2, 1, 10, 20), (3, 0, 30, 0)):
        f.add(TIMER, sub, a, b, c)
    for sub, v in ((1, 0), (2, 1), (3, 0x40001000), (4, 0xc1000000), (5, 0), (6, 0)):
        f.add(MEMORY, sub, v)
    for sub, a, b in ((1, 3, 4), (2, 5, 1), (3, 2, 512), (4, 1, 1024)):
        f.add(SOCKET, sub, a, b)
    for sub, a, b in ((1, 11, 8), (2, 32769, 0x1ff), (3, 65538, 0x180), (4, 98307, 0x3ff)):
        f.add(IPC, sub, a, b)
    f.add(NETWORK, 1, 8)
    f.add(NETWORK, 2, 0xdd86)
    for ident, name, kind, data in ((23, b'nothing', 0, b'\1\2'),
                                    (24, b'words', 1, b'hello LTT\0'),
                                    (25, b'bytes', 2, b'\xde\xad\xbe\xef'),
                                    (26, b'xml', 3, b'<a/>'),
                                    (27, b'ibm', 4, b'\xff')):
        new_event(ident, name, kind)
        f.add(CUSTOM, 0, ident, len(data), tail=data)
    f.add(CHANGE_MASK, 0, 0x7fffff)
    f.add(HEARTBEAT, 0)


def many_events(path, copies, order='<', wide=True, size=65536):
    """A big file: one buffer of common events, again and again at later times; how many."""
    kinds = ((SYSCALL_ENTRY, 0, 3, 0x8048000), (SYSCALL_EXIT, 0), (SCHEDCHANGE, 0, 100, 101, 1),
             (IRQ_ENTRY, 0, 14, 1), (IRQ_EXIT, 0), (FILE_SYSTEM, 6, 3, 4096), (MEMORY, 1, 0),
             (SOFT_IRQ, 2, 3), (PROCESS, 6, 1000, 1))
    f, n = File(order, wide, size=size), 0
    f.ids = 1
    f.begin()
    while size - len(f.buf) > 100:
        f.add(*kinds[n % len(kinds)])
        n += 1
    f.end()
    buf = f.data
    end = size - struct.unpack(order + 'I', buf[-4:])[0]
    first = File(order, wide, size=size)
    first.begin()
    first.end()
    with open(path, 'wb') as out:
        out.write(first.data)
        for i in range(copies):
            begin = 10**9 + i * (n + 1)
            stamps = [struct.pack(order + 'II', t // 10**6, t % 10**6) for t in (begin, begin + n)]
            out.write(buf[:8] + stamps[0] + bytes(4) + struct.pack(order + 'I', i + 1) +
                      buf[24:end + 8] + stamps[1] + buf[end + 16:])
    return n * copies
