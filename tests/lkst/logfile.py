# SPDX-License-Identifier: MIT
"""A writer of LKST's log files that shares no code with the tools (docs/lkst.md)."""
import struct

BLOCK = 16384
PROGRAM, KERNEL = 2, 3


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def block(order, kind, serial, body, cpu=0, buffer=0, lost=0):
    def head(total):
        return struct.pack(order + "IIQIIHhI", 0x4b4c4254, kind, serial, len(body), total,
                           cpu, buffer, lost)
    return (head(crc32c(head(0) + body)) + body).ljust(BLOCK, b"\0")


def record(order, ticks, etype, args, cpu=0, pid=1, recid=0, flags=0):
    args = (list(args) + [0] * 4)[:4]
    return struct.pack(order + "Q4QIiIIiiHHI", ticks, *args, recid, pid, 0, 0, pid, pid, etype,
                       cpu, flags)


def write(path, types, records, order="<", realtime=0, freq=10 ** 9, lost=0):
    """records: (ticks, etype, args, cpu, pid), in the order of time; of programs 0x100..0x1ff."""
    blocks = [block(order, 1, 0, types.encode())]
    kinds = {}
    for n, (ticks, etype, args, cpu, pid) in enumerate(records):
        kernel = not 0x100 <= etype < 0x200
        kinds.setdefault((cpu, kernel), []).append(
            record(order, ticks, etype, args, cpu, pid, n, 2 if kernel else 0))
    for (cpu, kernel), these in sorted(kinds.items()):
        blocks.append(block(order, KERNEL if kernel else PROGRAM, len(blocks), b"".join(these),
                            cpu, 0, lost))
        lost = 0
    head = struct.pack(order + "QIIIIQQQII16s16s", 0x00474f4c54534b4c, 1, BLOCK, 1,
                       freq // 1000, freq, 0, realtime, order == ">", 1, b"x86_64", b"")
    with open(path, "wb") as f:
        f.write(head.ljust(512, b"\0") + b"".join(blocks))
    return path
