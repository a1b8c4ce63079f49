# SPDX-License-Identifier: MIT
"""A core dump by hand, of a process that need not die: what tacho's files in it are."""
import struct

PAGE = 4096


def mappings(pid):
    for line in open("/proc/%d/maps" % pid):
        span, perms, offset, _, _, *path = line.split(None, 5)
        a, b = (int(x, 16) for x in span.split("-"))
        yield a, b, perms, int(offset, 16), path[0].strip() if path else ""


def note(kind, desc):
    pad = lambda b: b + bytes(-len(b) % 4)
    return struct.pack("<III", 5, len(desc), kind) + pad(b"CORE\0") + pad(desc)


def psinfo(pid, command):
    return struct.pack("<4bxxxxQIIiiii16s80s", 0, 0, 0, 0, 0, 0, 0, pid, 1, 1, 1,
                       b"crashed", command.encode())


def write(pid, path, run_dir, files=True, only=None, again=False, stretch=0):
    """What a core dump of the process has: memory of the files in run_dir and the stack, of the
    type table its beginning.  files: with the note NT_FILE.  again: which lists them twice, first
    where there is nothing in the core.  stretch: the buffers' lie about their length, by so much."""
    maps = [m for m in mappings(pid)
            if (run_dir in m[4] or "[stack]" in m[4]) and m[2][0] == "r" and
            (not only or only(m))]
    named = [m for m in maps if m[4].startswith("/")]
    if again:
        named = [(a - (1 << 44), b - (1 << 44), *rest) for a, b, *rest in named] + named
    desc = struct.pack("<QQ", len(named), PAGE)
    for a, b, _, offset, name in named:
        desc += struct.pack("<QQQ", a, b + stretch * ("/buf." in name), offset // PAGE)
    for m in named:
        desc += m[4].encode() + b"\0"
    notes = note(3, psinfo(pid, "crashed and more "))
    if files:
        notes += note(0x46494c45, desc)
    head = 64 + 56 * (1 + len(maps))
    at = -(-(head + len(notes)) // PAGE) * PAGE
    with open("/proc/%d/mem" % pid, "rb", 0) as mem, open(path, "wb") as out:
        heads = struct.pack("<IIQQQQQQ", 4, 0, head, 0, 0, len(notes), 0, 4)
        for a, b, _, _, name in maps:
            size = b - a if not name.endswith("/types") else min(b - a, 2 << 20)
            if "/proc/" in name:
                size = 0
            heads += struct.pack("<IIQQQQQQ", 1, 4, at, a, 0, size, b - a, PAGE)
            mem.seek(a)
            out.seek(at)
            out.write(mem.read(size) if size else b"")
            at += size
        out.seek(0)
        out.write(b"\x7fELF\2\1\1" + bytes(9))
        out.write(struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56,
                              1 + len(maps), 0, 0, 0))
        out.write(heads + notes)
