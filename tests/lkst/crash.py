# SPDX-License-Identifier: MIT
"""lkstbuf print -f CORE of a program with LKST's events: what the buffers showed, and LKST's
own events, is what the core of it shows (docs/lkst.md, "Core dumps and memory images")."""
import resource

from lib import *

sys.path.insert(0, os.environ["RECORD"])
import coredump

CRASHED = os.environ["CRASHED"]
BUFFERS = (0, 3, 7)


class Program:
    """With buffers 7 and 3, a ring that it goes round, and events of the kernel among its own."""

    def __init__(self, count=3000, more=200,
                 maskset="0x100 1\nLKST_BUFF_OVFLOW BUFFER_SHIFT_DW\n"):
        only("0x100", "LKST_MASKSET_SET", "LKST_BUFF_SHIFT", "PROCESS_EXEC")
        lkstbuf("create", "-s", "64K", "-b", 7, "-n", 3)
        lkstbuf("create", "-s", "64K", "-b", 3, "-n", 7)
        lkstbuf("link", "-b", 0, "-n", 7)
        lkstbuf("jump", "-b", 7)
        os.mkdir("place")
        self.p = start(CRASHED, count, more, cwd="place", stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(
                           resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2),
                       env=dict(os.environ, ASAN_OPTIONS="disable_coredump=0:" +
                                os.environ.get("ASAN_OPTIONS", "")))
        assert self.p.stdout.readline() == "ready\n"
        # and from here on none of the kernel
        lkstm("write", "-n", "last", "-S", give=maskset)
        lkstbuf("print", "-n", 0)

    def says(self, word):
        self.p.stdin.write(word + "\n")
        self.p.stdin.flush()

    def stops(self):
        """It has done all, and does nothing more."""
        self.says("wait")
        assert self.p.stdout.readline() == "done\n"

    def ends(self):
        """Its core by the kernel, or by hand on a machine that has cores elsewhere."""
        pattern = slurp("/proc/sys/kernel/core_pattern").strip()
        if pattern[:1] in "|/" or "/" in pattern:
            self.stops()
            coredump.write(self.p.pid, "place/core", run_dir)
            return "place/core"
        self.says("abort")
        assert self.p.wait(PATIENCE) == -signal.SIGABRT, self.p.returncode
        cores = glob.glob("place/*")
        assert len(cores) == 1, cores
        return cores[0]


def shown(*argv):
    return lkstbuf("print", "-r", *argv).lines


def compare(core):
    live, fixed = shown(), lkstbuf("read", "-S").lines
    assert len(live) > 1000 and fixed, (len(live), fixed)
    got = shown("-f", core)
    assert sorted(got) == sorted(live + fixed), difference(got, live + fixed)
    # in the same order, where there is one
    assert [l for l in got if l not in fixed] == live
    return live


def difference(got, want):
    more, less = set(got) - set(want), set(want) - set(got)
    return "%d, not %d lines; more: %s; less: %s" % (len(got), len(want), sorted(more)[:3],
                                                     sorted(less)[:3])


def test_core():
    """a core of the kernel's shows what the buffers showed, and LKST's own events"""
    program = Program()
    core = program.ends()
    live = compare(core)
    assert any("before the crash" in l for l in live)
    assert any("lkst_buffer_overflow" in l for l in live)
    # those of a kernel that is traced, too
    if os.path.isdir(instance):
        assert any(re.match("process_exec ", l) for l in live)
    # each buffer by its own id: here the ring's are 0, 1 and 2
    of = {b: shown("-b", b) for b in BUFFERS}
    assert sorted(sum(of.values(), [])) == sorted(live)
    for b in BUFFERS:
        assert shown("-b", b, "-f", core) == of[b], b
    assert len(of[3]) > 100 and len(of[7]) > 100, {b: len(l) for b, l in of.items()}
    assert shown("-b", 1, "-f", core) == []
    for more in (("-C",), ("-V",), ("-C", "-S", "-V"), ("-c", 0), ("-e", "0x100", "-n", 5)):
        assert [l for l in shown(*more, "-f", core) if "lkst_init" not in l] == shown(*more), more
    # the static buffer, by its own name
    fixed = lkstbuf("read", "-S").lines
    assert shown("-f", core, "-e", "LKST_INIT") == [l for l in fixed if "lkst_init" in l] != []
    # the core says all of it, when LKST has gone
    want = shown("-f", core)
    lkst("destroy")
    assert shown("-f", core) == want


def test_handler():
    """what a handler of the program records is in its core, too"""
    program = Program(count=0, maskset="0x100 other\n")
    core = program.ends()
    got = shown("-f", core, "-e", "0x101")
    assert len(got) == 200 * len(cpus()) and got == shown("-e", "0x101"), got[:3]


def test_deleted():
    """what a deleted buffer held is not shown, nor what one held before it was made"""
    program = Program(count=1500)
    program.stops()
    lkstbuf("jump", "-b", 0)
    lkstbuf("delete", "-b", 7)
    coredump.write(program.p.pid, "before", run_dir)
    compare("before")
    assert shown("-b", 7, "-f", "before") == []
    lkstbuf("create", "-s", "64K", "-b", 5)
    coredump.write(program.p.pid, "again", run_dir)
    compare("again")
    assert shown("-b", 5, "-f", "again") == []
    lkstbuf("jump", "-b", 5)
    lkstlogger("-ev", "0x100", "-a1", 1)
    coredump.write(program.p.pid, "after", run_dir)
    compare("after")


def test_no_names():
    """without the names of files: the records, and LKST's own events; not the buffers' ids"""
    program = Program(count=500)
    program.stops()
    coredump.write(program.p.pid, "core", run_dir, files=False)
    live, fixed = shown(), lkstbuf("read", "-S").lines
    got = shown("-f", "core")
    assert set(live + fixed) <= set(got), difference(got, live + fixed)
    assert shown("-b", 7, "-f", "core") == []


def test_other_session():
    """a core whose file is of an LKST that was made anew since: the ring's numbers"""
    program = Program(count=500)
    program.stops()
    coredump.write(program.p.pid, "core", run_dir)
    with open("core", "rb") as f:
        data = bytearray(f.read())
    at = data.index((0x74736b4c48434154).to_bytes(8, "little"))
    want = lkstbuf("print", "-f", "core", "-b", 7).lines
    data[data.index(session.encode() + b"\0", at) + 64] ^= 1   # the generation, behind it
    with open("other", "wb") as f:
        f.write(data)
    assert lkstbuf("print", "-f", "other", "-b", 7).lines == []
    got = lkstbuf("print", "-f", "other", "-b", 1).lines
    assert set(want) <= set(got) and len(want) > 100
    # of another layout: likewise
    data[at + 24] ^= 1
    with open("other", "wb") as f:
        f.write(data)
    assert lkstbuf("print", "-f", "other", "-b", 1).lines == got


def test_damaged():
    """whatever the file holds, the core is read"""
    program = Program(count=500)
    program.stops()
    coredump.write(program.p.pid, "core", run_dir)
    with open("core", "rb") as f:
        data = f.read()
    at = data.index((0x74736b4c48434154).to_bytes(8, "little"))
    end = data.index(session.encode() + b"\0", at) + 64 + 8
    for fill in (b"\0", b"\xff", b"\x01"):
        rest = len(data) - end
        with open("hurt", "wb") as f:
            f.write(data[:end] + fill * min(rest, 2 << 20) + data[end + (2 << 20):])
        d = lkstbuf("print", "-r", "-f", "hurt", ok=None)
        assert d.status in (0, 1), d
    with open("cut", "wb") as f:
        f.write(data[:at + 4096])
    d = lkstbuf("print", "-r", "-f", "cut", ok=None)
    assert d.status in (0, 1), d


run(globals())
