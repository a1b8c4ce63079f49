# SPDX-License-Identifier: MIT
"""Sessions in core dumps and memory images: what `tacho report CORE` and
lkst_log_open() find there is what the session held."""
import resource
import struct

import coredump
from rec import *

CRASHED = os.environ["CRASHED"]
READ_LKST = os.environ["READ_LKST"]
PAGE = coredump.PAGE


def sanitized():
    with open(CRASHED, "rb") as f:
        return b"__asan_init" in f.read()


def crashed(n, *more, create=("--flight", "-b", "256K", "--subbuf", "16K"), name="s"):
    tacho("create", name, "-q", *create, "-e", "lkst:*")
    p = start(CRASHED, n, *more, stdout=subprocess.PIPE)
    if not more:
        assert p.stdout.readline() == "ready\n", finish(p)
    return p


def dump(p, path, **how):
    coredump.write(p.pid, path, run_dir, **how)


def report(what, *more):
    return tacho("report", "-q", "--ns", what, *more).out


def compare(core, name="s"):
    """The core has what the session has."""
    tacho("check", "session:" + name)
    want = report("session:" + name)
    assert want.count("\n") > 1000, want[:500]
    got = report(core)
    assert got == want, "%d lines, not %d" % (got.count("\n"), want.count("\n"))


def by_cpu(text):
    lines = {}
    for line in text.splitlines():
        lines.setdefault(re.search(r" \[(\d+)\] ", line)[1], []).append(line)
    return lines


def stopped(n):
    p = crashed(n)
    p.send_signal(signal.SIGSTOP)
    return p


def end():
    tacho("destroy", "s")


# ---- tests ----

def test_report():
    """a core dump that holds a session is a trace"""
    p = stopped(4000)
    dump(p, "core")
    compare("core")
    stat = tacho("stat", "core").out
    assert re.search(r"^trace +core \(core\)", stat), stat
    assert re.search(r"^command +crashed and more$", stat, re.M), stat
    assert re.search(r"lkst:NEW_EVENT$", stat, re.M), stat
    span = json.loads(tacho("stat", "--json", "core").out)
    times = [int(l["time"]) for l in map(json.loads, report("core", "--json").splitlines())]
    assert abs(span["end"] - times[-1]) < 2 and span["begin"] <= times[0], (span, times[-1])
    said = tacho("check", "core").out
    assert ": good; " in said, said
    tacho("convert", "core", "-o", "t", "-q")
    assert report("t") == report("core")
    end()


def test_wrapped():
    """the newest records are there when the rings went round many times"""
    p = stopped(100000)
    dump(p, "core")
    got, _ = records("core")
    # a record's number is that in its buffer, where most are gone
    assert min(g[6] for g in got) > 10000, got[0]
    for cpu, flags in {(g[2], g[8]) for g in got}:
        numbers = [g[6] for g in got if (g[2], g[8]) == (cpu, flags)]
        assert numbers == sorted(set(numbers))
    assert {g[6] for g in records("session:s")[0]} <= {g[6] for g in got}
    want = by_cpu(report("session:s"))
    got = by_cpu(report("core"))
    assert got.keys() == want.keys()
    for cpu in want:
        # a live reader leaves the oldest sub-buffer alone: it may be given up just now
        assert len(want[cpu]) > 1000
        assert got[cpu][-len(want[cpu]):] == want[cpu], cpu
        assert len(got[cpu]) < len(want[cpu]) * 1.2
    assert "data1=0x1869f " in report("core", "-e", "NEW_EVENT").splitlines()[-1]
    end()


def test_check():
    """check names the invariant that a damaged session violates"""
    p = stopped(4000)
    said = tacho("check", "session:s").out
    assert ": good; " in said, said
    buffers = sorted(glob.glob(run_dir + "/sessions/s/buf.*.0"))
    lanes = [re.search(r"buf\.(\d+)\.0$", b)[1] for b in buffers
             if open(b, "rb").read(4) == b"\xc1\x1f\xfc\xc1"]
    assert lanes, buffers
    for lane in lanes:
        # the heads of all its packets: whichever can be read, one is bad
        with open(run_dir + "/sessions/s/buf.%s.0" % lane, "r+b") as f:
            for at in range(0, os.path.getsize(f.name), 16384):
                f.seek(at)
                f.write(bytes(4))
    d = tacho("check", "session:s", ok=1)
    for lane in lanes:
        assert re.search(r"lane %s, buffer 0, sub-buffer \d+: invariant I3 is violated" % lane,
                         d.out), d
    end()


def test_left_out():
    """of a file that is mapped twice, and once not in the core, the other is taken"""
    p = stopped(4000)
    dump(p, "core", again=True)
    compare("core")
    end()


def test_no_note():
    """without the names of files it is found by its pages"""
    p = stopped(4000)
    dump(p, "core", files=False)
    compare("core")
    end()


def test_image():
    """so it is in memory without any head"""
    p = stopped(4000)
    with open("image", "wb") as out:
        out.write(bytes(3 * PAGE))
        for f in sorted(glob.glob(run_dir + "/sessions/s/*"), reverse=True):
            with open(f, "rb") as data:
                shutil.copyfileobj(data, out)
            out.write(bytes(-out.tell() % PAGE))
    compare("image")
    # a copy of all of it behind it changes nothing
    with open("image", "rb") as data:
        twice = data.read()
    with open("twice", "wb") as out:
        out.write(twice + twice)
    compare("twice")
    end()


def test_two_sessions():
    """all sessions of a core become one stream"""
    tacho("create", "other", "-q", "-b", "256K", "--subbuf", "16K", "-e", "lkst:none")
    p = stopped(2000)
    dump(p, "core")
    both = len(report("core", "-e", "lkst:none").splitlines())
    assert both == 2 * len(report("session:other").splitlines()) == 800, both
    tacho("destroy", "other")
    end()


def records(what):
    """(lines of records, what follows) of read_lkst."""
    d = cmd(READ_LKST, what)
    assert d.status == 0, d
    lines = d.out.splitlines()
    at = next(i for i, l in enumerate(lines) if l.startswith("freq"))
    return [tuple(int(x, 0) for x in l.split()) for l in lines[:at]], lines[at:]


def test_lkst():
    """LKST's records of a core, by time, and its event types"""
    p = stopped(4000)
    dump(p, "core")
    got, rest = records("core")
    want = [json.loads(l) for l in
            report("session:s", "--json", "--ticks", "-e", "NEW_EVENT", "-e", "PUMPED").splitlines()]
    want = [w for w in want if "event" in w]
    assert len(got) == len(want) == 4000 + 1334, (len(got), len(want))
    # the kernel's by their own times, which are the earliest here
    want.sort(key=lambda w: w["event"] != "PUMPED")
    for g, w in zip(got, want):
        f = w["fields"]
        assert g[0] == f.get("time", g[0]), (g, w)
        assert g[1:6] == (f["etype"], f["cpu"], w["pid"], f["arg1"], f["arg2"]), (g, w)
        assert g[7:] == (f["pid"], f["flags"], 0), (g, w)
    assert [g[0] for g in got] == sorted(g[0] for g in got)
    assert re.match(r"freq [1-9]\d+ damaged 0 lost 0$", rest[0]), rest
    assert "0x100\tNEW_EVENT\tuser added event\tdata1\tdata2\t\t" in rest, rest
    assert "0x041\tPUMPED\tuser added event\tdata1\tdata2\t\t" in rest, rest
    # the session itself, and a log file of it, say the same
    live, _ = records("session:s")
    assert live == got
    tacho("convert", "-q", "core", "-o", "core.lkst", "-e", "NEW_EVENT", "-e", "PUMPED")
    log, _ = records("core.lkst")
    assert [l[:6] + l[7:] for l in log] == [g[:6] + g[7:] for g in got]
    end()


def test_lkst_first():
    """of several sessions in a core LKST's own is the one that LKST's commands read"""
    tacho("create", "lkst", "-q", "-b", "512K", "--subbuf", "16K", "-e", "lkst:PUMPED")
    p = stopped(3000)
    dump(p, "core")
    got, _ = records("core")
    assert len(got) == 1000 and {g[1] for g in got} == {0x41}, len(got)
    tacho("destroy", "lkst")
    end()


def test_lies():
    """a core whose list of files says that they go on for ever"""
    p = stopped(4000)
    dump(p, "core", stretch=1 << 60)
    compare("core")
    end()


def test_torn():
    """what was overwritten while it was dumped is left out, and told"""
    p = stopped(100000)
    dump(p, "core")
    good = report("core").splitlines()
    with open("core", "rb") as f:
        data = bytearray(f.read())
    uuid = data[data.index(struct.pack("<I", MAGIC)) + 4:][:16]
    at, hurt = 0, 0
    while True:
        at = data.find(struct.pack("<I", MAGIC) + uuid, at)
        if at < 0:
            break
        h = HEAD.unpack_from(data, at)
        if at % PAGE:           # a copy of a head, on the stack
            at += 4
            continue
        # every other packet that is closed: a record of a later turn in its middle
        if h[6] and hurt % 2 == 0:
            place = at + 96
            for _ in range(20):
                place += struct.unpack_from("<Q", data, place)[0] >> 48
            word = struct.unpack_from("<Q", data, place)[0]
            size, t = word >> 48, word & ((1 << 48) - 1)
            struct.pack_into("<Q", data, place, size << 48 | (t + (1 << 40)) & ((1 << 48) - 1))
        hurt += bool(h[6])
        at += 96
    assert hurt > 8, hurt
    with open("torn", "wb") as f:
        f.write(data)
    d = tacho("report", "--ns", "torn")
    lines = [l for l in d.out.splitlines() if "LOST" not in l]
    assert set(lines) < set(good), [l for l in lines if l not in good][:3]
    assert len(lines) < len(good) - hurt // 2 * 20
    info = tacho("stat", "torn").out
    n = int(re.search(r"^DAMAGED +(\d+)", info, re.M).group(1))
    assert n == (hurt + 1) // 2, info
    # once, although a report goes back to the start
    assert "tacho: skipped %d damaged places" % n in d.err, d.err[-300:]
    lost = int(re.search(r"^LOST +(\d+)", info, re.M).group(1))
    assert lost == len(good) - len(lines), (lost, len(good), len(lines))
    assert "places hold no records" in tacho("check", "torn", ok=1).out
    end()


def test_cut():
    """a core that is cut off anywhere is read as far as it goes, or refused"""
    p = stopped(4000)
    dump(p, "core")
    size = os.path.getsize("core")
    good = set(report("core").splitlines())
    with open("core", "rb") as f:
        data = f.read()
    for i in list(range(20)) + [0.01, 0.02]:
        with open("cut", "wb") as f:
            f.write(data[:int(size * i / 20)])
        d = cmd(TACHO, "report", "-q", "--ns", "cut")
        assert d.status in (0, 1) and "Sanitizer" not in d.err, d
        if d.status:
            assert re.match(r"tacho: ('cut'|cannot).*", d.err), d
        # the types may be missing
        assert set(d.out.splitlines()) - good == set() or d.status, d.out[:300]
    end()


def test_nothing():
    """a core without sessions says what it lacks"""
    p = stopped(4000)
    dump(p, "core", only=lambda m: "stack" in m[4])
    tacho("report", "core", ok=1, says="'core' holds no session; .*coredump_filter had bit 0x8")
    d = cmd(READ_LKST, "core")
    assert d.status == 1 and "holds no session" in d.err, d
    dump(p, "core")
    with open("core", "rb") as f:
        data = bytearray(f.read())
    at = data.index(struct.pack("<Q", 0x6c74634f48434154))
    data[at + 8] ^= 1
    with open("other", "wb") as f:
        f.write(data)
    tacho("report", "other", ok=1, says="'other' holds a session that another version")
    with open("page", "wb") as f:
        f.write(b"x" * 10000)
    tacho("report", "page", ok=1, says="'page' is not a trace")
    end()


def test_gcore():
    """a core of gdb's gcore"""
    if not shutil.which("gcore"):
        raise Skip("no gcore")
    if sanitized():
        raise Skip("a sanitizer's shadow is in it")
    p = crashed(4000)
    d = cmd("gcore", "-o", "g", p.pid)
    core = "g.%d" % p.pid
    if d.status or not os.path.exists(core):
        raise Skip("gcore may not: " + d.err[-100:])
    compare(core)
    end()


def test_abort():
    """a core of the kernel's, of a program that aborts"""
    if sanitized():
        raise Skip("a sanitizer's shadow is in it")
    with open("/proc/sys/kernel/core_pattern") as f:
        if f.read().strip() != "core":
            raise Skip("core_pattern is not 'core'")
    if os.path.exists("/proc/sys/kernel/core_uses_pid"):
        with open("/proc/sys/kernel/core_uses_pid") as f:
            pid = f.read().strip() != "0"
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    p = crashed(4000, "abort")
    p.wait(PATIENCE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))
    core = "core.%d" % p.pid if pid else "core"
    if p.returncode != -signal.SIGABRT or not os.path.exists(core):
        raise Skip("no core was written")
    compare(core)
    # the holes of sparse files are not in it
    assert os.path.getsize(core) < 64 << 20, os.path.getsize(core)
    stat = tacho("stat", "--json", core).out
    assert "crashed 4000 abort" in stat, stat
    got, _ = records(core)
    assert len(got) == 4000 + 1334
    end()


run(globals())
