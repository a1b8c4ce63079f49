# SPDX-License-Identifier: MIT
"""QNX traces, byte by byte from the format's description; of neither tacho's writer
nor its reader is anything used here."""
import struct

S, CB, CC, CE = range(4)
CONTROL, KER_CALL, INT, PR_TH, SYSTEM, USER, COMM, QUIP, SEC, QVM, PMU = range(1, 12)
EXIT, INTERRUPTED, WIDE64 = 128, 256, 512
STATES = {'dead': 0, 'running': 1, 'ready': 2, 'stopped': 3, 'reply': 6, 'nanosleep': 12,
          'create': 24, 'destroy': 25}
CREATE, DESTROY, CREATE_NAME, DESTROY_NAME, THREAD_NAME = (64 * k for k in range(1, 6))

ATTRS = [('FILE_NAME', '/dev/shmem/x.kev'), ('DATE', 'Wed Jun 24 10:52:58 2009'),
         ('VER_MAJOR', '1'), ('VER_MINOR', '01'), ('ENDIAN', None),
         ('ENCODING', '16 byte events'), ('BOOT_DATE', 'Wed Jun 24 10:00:00 2009'),
         ('CYCLES_PER_SEC', '1000000000'), ('CPU_NUM', '2'), ('SYSNAME', 'QNX'),
         ('NODENAME', 'box'), ('SYS_RELEASE', '6.4.1'),
         ('SYS_VERSION', '2009/05/20-17:35:56EDT'), ('MACHINE', 'x86pc'),
         ('SYSPAGE_LEN', None)]


class File:
    """A trace: attributes, a system page, slots."""

    def __init__(self, big=False, release='6.4.1', syspage=b'', **attrs):
        self.e = '>' if big else '<'
        self.big = big
        self.syspage = syspage
        self.attrs = [list(a) for a in ATTRS]
        self.set('SYS_RELEASE', release)
        for k, v in attrs.items():
            self.set(k, v)
        self.slots = []

    def set(self, key, value):
        """Another value; None takes the attribute out."""
        for a in self.attrs:
            if a[0] == key:
                a[1] = value if value is not None else self
                break
        else:
            self.attrs.append([key, value])
        self.attrs = [a for a in self.attrs if a[1] is not self]

    def word(self, cpu, cls, event, st=S, flags=0):
        return st << 30 | cpu << 24 | flags << 16 | cls << 10 | event

    def raw(self, header, stamp, a, b):
        self.slots.append(struct.pack(self.e + '4I', header, stamp & 0xffffffff,
                                      a & 0xffffffff, b & 0xffffffff))

    def simple(self, cpu, cls, event, stamp, a=0, b=0, flags=0):
        self.raw(self.word(cpu, cls, event, S, flags), stamp, a, b)

    def parts(self, cpu, cls, event, stamp, payload):
        """The slots of a combine event: the payload padded to whole ones."""
        payload += b'\0' * (-len(payload) % 8)
        n = len(payload) // 8
        return [struct.pack(self.e + '2I', self.word(cpu, cls, event,
                            CB if not i else CE if i == n - 1 else CC),
                            stamp & 0xffffffff) + payload[8 * i:8 * i + 8]
                for i in range(n)]

    def pack(self, fmt, *values):
        return struct.pack(self.e + fmt, *values)

    def combine(self, cpu, cls, event, stamp, payload):
        self.slots += self.parts(cpu, cls, event, stamp, payload)

    def words(self, cpu, cls, event, stamp, *words):
        """An event of any number of words, simple or combine."""
        if len(words) <= 2:
            self.simple(cpu, cls, event, stamp, *words)
        else:
            self.combine(cpu, cls, event, stamp,
                         self.pack(f'{len(words)}I', *(w & 0xffffffff for w in words)))

    def time(self, cpu, cycles):
        self.simple(cpu, CONTROL, 1, cycles, cycles >> 32, cycles)

    def header(self):
        out = b'TRACE_HEADER_BEGIN::'
        for key, value in self.attrs:
            if key == 'ENDIAN' and value is None:
                key, value = 'BIG_ENDIAN' if self.big else 'LITTLE_ENDIAN', 'TRUE'
            if key == 'SYSPAGE_LEN' and value is None:
                value = str(len(self.syspage))
            if isinstance(value, str):
                value = value.encode()
            out += b'TRACE_' + key.encode() + b'::' + value
        return out + b'TRACE_HEADER_END::' + self.syspage

    def bytes(self):
        return self.header() + b''.join(self.slots)

    def bare(self):
        return b''.join(self.slots)

    def write(self, path):
        with open(path, 'wb') as f:
            f.write(self.bytes())
