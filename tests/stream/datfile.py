# SPDX-License-Identifier: MIT
"""Makes trace.dat files, versions 6 and 7, of any byte order and size of long.

Written from trace-cmd.dat.v6.5(5), trace-cmd.dat.v7.5(5) and events/header_page, not from
tacho's C code, so that each checks the other.
"""
import struct
import zlib

DATE, CPUSTAT, BUFFER, TRACECLOCK, UNAME, HOOK, OFFSET, CPUCOUNT, VERSION, PROCMAPS, \
    TRACEID, TIME_SHIFT, GUEST, TSC2NSEC = range(1, 15)
STRINGS, HEADER_INFO, FTRACE, EVENTS, KALLSYMS, PRINTK, CMDLINES, TEXT = range(15, 23)


def zstd_stored(data):
    """A zstd frame of raw blocks: valid for any decoder, made without one."""
    out = struct.pack('<IBI', 0xfd2fb528, 0xa0, len(data))
    blocks = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b'']
    for i, b in enumerate(blocks):
        out += struct.pack('<I', len(b) << 3 | (i == len(blocks) - 1))[:3] + b
    return out


PACK = {'none': None, 'zlib': zlib.compress, 'zstd': zstd_stored}


class Machine:
    """The traced one: byte order, bytes of a kernel's long, page size."""
    def __init__(self, order='<', long=8, page=4096):
        self.order, self.long, self.page = order, long, page

    def pack(self, fmt, *v):
        return struct.pack(self.order + fmt, *v)

    def header_page(self):
        n = self.long
        return (f'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
                f'\tfield: local_t commit;\toffset:8;\tsize:{n};\tsigned:1;\n'
                f'\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n'
                f'\tfield: char data;\toffset:{8 + n};\tsize:{self.page - 8 - n};'
                '\tsigned:0;\n').encode()

    def word(self, kind, delta):
        return self.pack('I', kind << 27 | delta if self.order == '>' else kind | delta << 5)

    def event(self, delta, raw):
        out = b''
        if delta >= 1 << 27:
            out = self.word(30, delta & 0x7ffffff) + self.pack('I', delta >> 27)
            delta = 0
        raw += b'\0' * (-len(raw) % 4)
        if len(raw) <= 112 and raw:
            return out + self.word(len(raw) // 4, delta) + raw
        return out + self.word(0, delta) + self.pack('I', len(raw) + 4) + raw

    def pages(self, events, lost=()):
        """events: (time, raw) in order.  lost: {index of event: count, None: not told}."""
        lost, pages, i = dict(lost), [], 0
        while i < len(events):
            begin, flags, stored, data, last = events[i][0], 0, b'', b'', events[i][0]
            if i in lost:
                flags = 1 << 31 | (lost[i] is not None) << 30
                stored = self.pack('Q' if self.long == 8 else 'I', lost[i] or 0)
            first = i
            while i < len(events) and not (i in lost and i > first):
                e = self.event(events[i][0] - last, events[i][1])
                if len(data) + len(e) + 8 + 2 * self.long > self.page:
                    break
                data += e
                last = events[i][0]
                i += 1
            assert i > first, 'an event is larger than a page'
            commit = flags | len(data)
            page = self.pack('Q', begin) + self.pack('Q' if self.long == 8 else 'I', commit)
            page += data + (stored if lost.get(first) is not None else b'')
            pages.append(page.ljust(self.page, b'\0'))
        return pages


class File:
    """What goes into a file; v6() and v7() give its bytes."""
    def __init__(self, machine):
        self.m = machine
        self.ftrace = []	# format texts
        self.systems = {}	# name -> format texts
        self.kallsyms = self.printk = self.cmdlines = b''
        self.options = []	# (id, bytes)
        self.clock = 'local'
        self.buffers = {}	# name -> {cpu: [page, ...]}; '' is the top-level one

    def header(self, version):
        m = self.m
        return b'\x17\x08\x44tracing%d\0' % version + \
            bytes([m.order == '>', m.long]) + m.pack('I', m.page)

    # ---- blocks ----

    def blocks(self):
        m = self.m

        def formats(texts):
            return m.pack('I', len(texts)) + b''.join(m.pack('Q', len(t)) + t for t in texts)

        def sized(size, text):
            return m.pack(size, len(text)) + text
        info = b'header_page\0' + sized('Q', m.header_page()) + \
            b'header_event\0' + sized('Q', b'# compressed entry header\n')
        events = m.pack('I', len(self.systems)) + \
            b''.join(n.encode() + b'\0' + formats(t) for n, t in self.systems.items())
        return [(HEADER_INFO, info), (FTRACE, formats(self.ftrace)), (EVENTS, events),
                (KALLSYMS, sized('I', self.kallsyms)), (PRINTK, sized('I', self.printk)),
                (CMDLINES, sized('Q', self.cmdlines))]

    def option(self, number, data):
        return self.m.pack('HI', number, len(data)) + data

    def clock_text(self):
        return f'local global counter [{self.clock}] x86-tsc\n\0'.encode() \
            if self.clock != 'local' else b'[local] global counter\n\0'

    def cpus(self):
        return max([max(c, default=-1) + 1 for c in self.buffers.values()] + [0])

    # ---- version 6 ----

    def v6(self, latency=None):
        m, cpus = self.m, self.cpus()
        out = bytearray(self.header(6) + b''.join(b for _, b in self.blocks()))
        out += m.pack('I', cpus) + b'options  \0'
        out += self.option(TRACECLOCK, self.clock_text())
        for number, data in self.options:
            out += self.option(number, data)
        places = {}
        for name in self.buffers:
            if name:
                places[name] = len(out) + 6
                out += self.option(BUFFER, bytes(8) + name.encode() + b'\0')
        out += m.pack('H', 0)
        if latency is not None:
            return bytes(out + b'latency  \0' + latency)
        for name in [''] + [n for n in self.buffers if n]:
            if name:
                out[places[name]:places[name] + 8] = m.pack('Q', len(out))
            out += b'flyrecord\0'
            table = len(out)
            clock = f'[{self.clock}]'.encode()
            out += bytes(16 * cpus) + m.pack('Q', len(clock)) + clock
            for cpu in range(cpus):
                data = b''.join(self.buffers.get(name, {}).get(cpu, []))
                out += bytes(-len(out) % m.page)
                out[table + 16 * cpu:table + 16 * cpu + 16] = m.pack('QQ', len(out), len(data))
                out += data
        return bytes(out)

    # ---- version 7 ----

    def section(self, number, text, data, pack):
        if pack:
            z = pack(data)
            data = self.m.pack('II', len(z), len(data)) + z
        return self.m.pack('HHIQ', number, bool(pack), text, len(data)) + data

    def cpu_data(self, pages, pack, per_chunk=3):
        """Bytes, and the size that the option tells."""
        if not pack:
            data = b''.join(pages)
            return data, len(data)
        chunks = []
        for i in range(0, len(pages), per_chunk):
            raw = b''.join(pages[i:i + per_chunk])
            z = pack(raw)
            chunks.append(self.m.pack('II', len(z), len(raw)) + z)
        data = b''.join(chunks)
        return self.m.pack('I', len(chunks)) + data, len(data)

    def v7(self, compression='none', latency=None):
        m, pack = self.m, PACK[compression]
        out = bytearray(self.header(7) + compression.encode() + b'\0' +
                        (b'' if not pack else b'1.0') + b'\0')
        start = len(out)
        out += bytes(8)
        options = []
        for number, data in self.blocks():
            options.append((number, m.pack('Q', len(out))))
            out += self.section(number, 0, data, pack)
        options += [(TRACECLOCK, self.clock_text())] + self.options
        lists = [options]
        for name, cpus in self.buffers.items():
            at = len(out)
            out += m.pack('HHIQ', BUFFER, bool(pack), 0, 0)
            table = b''
            for cpu, pages in sorted(cpus.items()):
                out += bytes(-len(out) % m.page)
                data, size = self.cpu_data(pages, pack)
                table += m.pack('IQQ', cpu, len(out), size)
                out += data
            out[at + 8:at + 16] = m.pack('Q', len(out) - at - 16)
            lists.append([(BUFFER, m.pack('Q', at) + name.encode() + b'\0' +
                           self.clock.encode() + b'\0' + m.pack('II', m.page, len(cpus)) +
                           table)])
        if latency is not None:
            lists.append([(TEXT, m.pack('Q', len(out)) + b'\0local\0')])
            out += self.section(TEXT, 0, latency, pack)
        # options sections are a list: each ends with where the next one is
        link = start
        for options in lists:
            body = b''.join(self.option(*o) for o in options)
            out[link:link + 8] = m.pack('Q', len(out))
            out += m.pack('HHIQ', 0, 0, 0, len(body) + 14) + body + m.pack('HI', 0, 8)
            link = len(out)
            out += bytes(8)
        out += self.section(STRINGS, 0, b'strings\0', pack)
        return bytes(out)
