# SPDX-License-Identifier: MIT
"""Full disks, vanished files, small limits, sandboxes: the traced program goes on,
what cannot be recorded is counted, and the tool says what is wrong."""
from rec import *

PLUGIN = os.environ["PLUGIN"]
OPTIONAL = os.environ["OPTIONAL"]
MANY = os.environ["MANY"]
LIBTACHO = os.environ["LIBTACHO"]
NO_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
mounts = []


def small_disk(path, size):
    need_root()
    os.mkdir(path)
    os.chmod(path, 0o700)
    if cmd("mount", "-t", "tmpfs", "-o", "mode=700,size=" + size, "none",
           path).status:
        raise Skip("no mounts here")
    mounts.append(os.path.abspath(path))


def unmount():
    """Also when a test ends early."""
    while mounts:
        cmd("umount", "-l", mounts.pop())


atexit.register(unmount)
at_end.append(unmount)


def test_disk_full():
    """a full disk: one sentence, a readable trace, the rest is recovered"""
    small_disk("small", "200K")
    p = recorder("-o", "small/t", "-b", "4M")
    a = Traced()
    a.do("hit 1000")
    a.do("hit 20000")
    until("the disk is full", lambda: "kept in memory" in slurp(p.err))
    # memory has room: recording goes on there
    a.do("hit 10")
    d = stop(p, status=1)
    kept = re.search(r"in small/t, 0 lost, still in memory: (\S+)$", d.err, re.M)
    assert kept, d
    assert re.search(r"cannot write 'small/t/\S+': No space left on device",
                     d.err), d
    assert "tacho recover small/t" in d.err, d
    t = read("small/t")
    assert len(t.events) + int(kept[1].replace(",", "")) == 21010, d
    first = len(t.events)
    assert first < 21000
    # no room for the recovery either: it can be done again
    d = tacho("recover", "small/t", ok=1, says="No space left")
    assert cmd("mount", "-o", "remount,size=8M", "small").status == 0
    tacho("recover", "small/t")
    t = read("small/t")
    ns = t.hits()[a.pid]
    assert all(x < y for x, y in zip(ns, ns[1:]))
    # with the packet that did not fit, and what came after it
    assert ns == list(range(21010)), (len(ns), first)
    assert t.lost == 0
    assert a.do("enabled") == "0\n"
    a.end()
    unmount()


def test_disk_full_rotated():
    """the same with a rotated trace"""
    small_disk("small", "400K")
    p = recorder("-o", "small/t", "-b", "4M", "--rotate", "50K", "--subbuf", "16K")
    a = Traced()
    for i in range(40):
        a.do("hit 500")
    until("the disk is full", lambda: "kept in memory" in slurp(p.err))
    d = stop(p, status=1)
    assert d.status == 1 and "No space left on device" in d.err, d
    assert cmd("mount", "-o", "remount,size=8M", "small").status == 0
    tacho("recover", "small/t")
    t = read("small/t")
    ns = t.hits()[a.pid]
    assert len(ns) + t.lost == ns[-1] + 1, (len(ns), t.lost, ns[-1])
    a.end()
    unmount()


def test_disk_full_memory_full():
    """a full disk, then full memory: what the command goes on to record is counted"""
    small_disk("small", "100K")
    d = tacho("record", "-o", "small/t", "-b", "256K", "--subbuf", "16K", "--json",
              "--", TRACED, *["hit 3000", "sleep 20"] * 10, "hit 20000", ok=1,
              says="kept in memory")
    j = json.loads(d.out)
    assert j["lost"] and j["unread"], d
    assert j["events"] + j["unread"] + j["lost"] == 50000, d
    assert cmd("mount", "-o", "remount,size=8M", "small").status == 0
    r = json.loads(tacho("recover", "--json", "small/t").out)
    assert (r["events"], r["lost"]) == (j["unread"], j["lost"]), (r, j)
    t = read("small/t")
    assert len(t.events) + t.lost == 50000
    unmount()


def test_disk_full_kernel():
    """... and with events of the kernel, which are lost, and counted"""
    need_tracefs()
    small_disk("small", "300K")
    d = tacho("record", "-o", "small/t", "--no-kallsyms", "--json", "-e", "rec:*", "-k",
              "syscalls:sys_enter_getppid,raw_syscalls:sys_enter", "--only", "--", TRACED,
              *["hit 3000", "sleep 20"] * 10, ok=1, says="No space left")
    j = json.loads(d.out)
    assert j["kernel_events"] + j["lost"] > 0, j
    assert j["events"] - j["kernel_events"] + j["unread"] == 30000, j
    assert cmd("mount", "-o", "remount,size=16M", "small").status == 0
    tacho("recover", "small/t")
    t = Trace("small/t")
    assert len(t.events) == 30000, len(t.events)
    unmount()


def test_disk_full_flight():
    """a dump that does not fit: its session stays"""
    small_disk("small", "100K")
    p = recorder("-o", "small/t", "-b", "4M", "--flight")
    a = Traced()
    a.do("hit 20000")
    d = stop(p, status=1)
    assert "No space left on device" in d.err, d
    assert "tacho recover -o small/t.rest s" in d.err, d
    tacho("recover", "-o", "rest", "s")
    same_hits(read("rest"), {a.pid: 20000})
    a.end()
    unmount()


def test_no_room_for_a_session():
    """a run-time directory that is full: refused, nothing is left"""
    small_disk("run2", "2M")
    env = {"TACHO_DIR": os.path.abspath("run2")}
    tacho("create", "s", "-b", "8M", ok=1, says="No space left", env=env)
    tacho("record", "-o", "t", "-b", "8M", "--", "touch", "ran", ok=1,
          says="No space left", env=env)
    assert not os.path.exists("ran") and not os.path.exists("t")
    assert not os.listdir("run2/sessions")
    d = tacho("record", "-o", "t", "-b", "64K", "--", TRACED, "hit 100",
              env=env)
    assert len(read("t").events) == 100
    unmount()


def test_no_room_for_a_program():
    """a run-time directory without a byte left: the program runs, untraced"""
    small_disk("run2", "2M")
    env = {"TACHO_DIR": os.path.abspath("run2")}
    a = Traced(env=env)
    tacho("create", "s", "-b", "64K", "--subbuf", "4K", "-e", "rec:*", env=env)
    with open("run2/fill", "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            pass
    d = cmd(TRACED, "hit 100", "text 100", "errno", "fork hit 1",
            "vfork hit 1", env=env)
    assert d.status == 0 and d.err == "", d
    # one that runs already: no room for type names
    a.do("hit 100")
    a.do("errno")
    a.do("fork hit 3")
    a.end()
    os.unlink("run2/fill")
    assert json.loads(tacho("status", "--json", env=env).out)["sessions"]
    tacho("destroy", "s", env=env)
    unmount()


def test_directory_deleted():
    """the run-time directory is deleted under a running program"""
    tacho("create", "s", "-e", "rec:*", "-b", "64K")
    a, b = Traced(), Traced()
    a.do("hit 10")
    b.do("pid")
    shutil.rmtree(run_dir)
    for p in (a, b):
        p.do("hit 10")
        p.do("text 10")
        p.do("errno")
        p.do("fork hit 10")
        p.do("dl %s 10" % PLUGIN)
    # a new directory, a new session: programs that start now are in it
    c = cmd(TRACED, "hit 3")
    tacho("create", "s", "-e", "rec:*", "-b", "64K")
    c = cmd(TRACED, "hit 3")
    a.do("hit 10")
    a.end()
    b.end()
    assert session("s")["written"] == 3
    tacho("destroy", "s")


def test_session_deleted():
    """a session's files are deleted under writers and recorder"""
    p = recorder("-o", "t", "-b", "1M")
    a = Traced()
    a.do("hit 10")
    shutil.rmtree(os.path.join(run_dir, "sessions/s"))
    a.do("hit 10")
    b = cmd(TRACED, "hit 10")
    assert b.status == 0, b
    d = stop(p)
    t = read("t")
    assert numbers(t, a.pid) == list(range(20))
    assert a.do("enabled") == "0\n"
    a.end()
    assert status()["sessions"] == []


def numbers(t, pid):
    return t.hits().get(pid, [])


def test_no_descriptors():
    """EMFILE in the traced program"""
    tacho("create", "s", "-e", "rec:*", "-b", "64K", "--stopped")
    a, b = Traced(), Traced("emfile")
    a.do("emfile")
    tacho("start", "s")
    for p in (a, b):
        p.do("hit 10")
        p.do("errno")
        p.do("fork hit 1")
    # met for the first time without a descriptor: it cannot be mapped
    tacho("create", "late", "-e", "rec:*", "-b", "64K")
    for p in (a, b):
        p.do("errno")
        p.do("hit 10")
        p.end()
    lost = [x["lost_sessions"] for x in status()["processes"]]
    s = session("s")
    tacho("recover", "-o", "t", "s")
    t = read("t")
    for p in (a, b):
        ns = numbers(t, p.pid)
        assert ns == list(range(28)), (p.pid, ns)
    tacho("destroy", "late")


def test_no_rseq():
    """programs with and without restartable sequences in one session"""
    p = recorder("-o", "t", "-b", "4M")
    ws = [start(TRACED, "threads 3 2000", "signals 3000", "count", "fork hit 5",
                env=NO_RSEQ if i % 2 else None) for i in range(4)]
    tried = 0
    for w in ws:
        d = finish(w)
        assert d.status == 0, d
        tried += int(d.out) + 5
    stop(p)
    t = read("t")
    hits = t.hits()
    assert len(hits) == 8
    for slot, ns in hits.items():
        assert len(ns) == len(set(ns)), "twice in %d" % slot
    # a lane that another holds for long is given up, and that is counted
    assert sum(map(len, hits.values())) + t.lost == tried, (t.lost, tried)
    assert {e.lane for e in t.events} - set(range(os.cpu_count())), \
        "nobody used a plain lane"


def test_one_cpu():
    """everything on one CPU"""
    p = recorder("-o", "t", "-b", "4M")
    ws = [start(TRACED, "cpu 0", "threads 4 2000") for i in range(3)]
    for w in ws:
        assert finish(w).status == 0
    stop(p)
    t = read("t")
    for w in ws:
        assert sorted(numbers(t, w.pid)) == list(range(8000))
    assert {e.lane for e in t.events} == {0}


def test_hot_unplug():
    """a CPU goes away and comes back"""
    need_root()
    path = "/sys/devices/system/cpu/cpu1/online"
    if not os.access(path, os.W_OK):
        raise Skip("no CPU can be taken away here")
    a = Traced("cpu 1")
    p = recorder("-o", "t", "-b", "1M")
    a.do("hit 100")
    try:
        with open(path, "w") as f:
            f.write("0")
    except OSError:
        stop(p)
        raise Skip("no CPU can be taken away here")
    try:
        a.do("hit 100")
        tacho("create", "other", "-e", "rec:*", "-b", "64K")
        a.do("hit 1")
        tacho("destroy", "other")
    finally:
        with open(path, "w") as f:
            f.write("1")
    a.do("hit 100")
    stop(p)
    same_hits(read("t"), {a.pid: 301})


def test_clocks():
    """--clock mono and --clock boot"""
    for clock, want in (("mono", time.CLOCK_MONOTONIC),
                        ("boot", time.CLOCK_BOOTTIME)):
        before = time.clock_gettime_ns(want)
        d = tacho("record", "-o", clock, "--clock", clock, "--", TRACED,
                  "hit 100", "fork hit 50")
        after = time.clock_gettime_ns(want)
        t = read(clock)
        assert len(t.events) == 150
        assert all(before < e.time < after for e in t.events)


def test_huge_strings():
    """65,000 bytes are recorded; more is counted, not cut"""
    p = recorder("-o", "t", "-b", "4M")
    a = Traced()
    for n in (0, 1, 1000, 5000, 65000, 65480, 1 << 20, 65000):
        a.do("text %d" % n)
    a.do("errno text")
    stop(p)
    t = read("t")
    got = [len(e.data) for e in t.named("rec:text")]
    assert len(got) + t.lost == 12 and t.lost == 1, (got, t.lost)
    texts = [e.data[4:].rstrip(b"\0") for e in sorted(
        t.named("rec:text"), key=lambda e: e.time)]
    assert [x.count(b"x") for x in texts[:7]] == [
        0, 1, 1000, 5000, 65000, 65480, 65000], [len(x) for x in texts]
    a.end()


def test_larger_than_a_sub_buffer():
    """an event that no sub-buffer holds is counted"""
    p = recorder("-o", "t", "-b", "64K", "--subbuf", "4K")
    a = Traced()
    for n in (3000, 5000, 100):
        a.do("text %d" % n)
    stop(p)
    t = read("t")
    assert len(t.events) == 2 and t.lost == 1, (len(t.events), t.lost)
    a.end()


def test_wide():
    """an event of 128 fields"""
    tacho("record", "-o", "t", "--", TRACED, "wide 20")
    t = read("t")
    for i, e in enumerate(t.named("rec:wide")):
        assert struct.unpack_from("<128I", e.data) == tuple(range(i, i + 128))
    assert i == 19
    d = tacho("report", "-F", "json", "t")
    assert '"fp7":127' in d.out.splitlines()[0], d.out.splitlines()[0]


def test_many_types():
    """a program with 5,000 events"""
    tacho("record", "-o", "t", "--", MANY)
    t = read("t")
    assert [e.name for e in sorted(t.events, key=lambda e: e.time)] == \
        ["many:m%d" % i for i in range(5000)]
    tacho("record", "-o", "u", "-e", "many:m12?,!many:m125", "--", MANY)
    assert len(read("u").events) == 9


def test_seccomp():
    """a program that locks itself up: what it mapped before is recorded"""
    tacho("create", "s", "-e", "rec:*", "-b", "64K", "--subbuf", "4K")
    d = cmd(TRACED, "hit 1", "seccomp filter", "locked 100", "rawexit 0")
    assert d.status == 0, d
    tacho("recover", "-o", "t", "s")
    assert read("t").hits()[1][:100] == list(range(100))


def test_seccomp_late():
    """a session that is made after a program locked itself up: left alone"""
    flag = os.path.abspath("go")
    for mode in ("filter", "strict"):
        a = start(TRACED, "hit 1", "touch ready", "until " + flag,
                  "seccomp " + mode, "locked 100000000", "rawexit 0")
        until("ready", lambda: os.path.exists("ready"))
        open(flag, "w").close()

        def locked():
            with open("/proc/%d/status" % a.pid) as f:
                return not re.search(r"Seccomp:\s0", f.read())
        until("it is locked", locked)
        tacho("create", mode, "-b", "64K", "--subbuf", "4K", "-e", "rec:*")
        tacho("disable", "-q", "-s", mode, "rec:*")
        tacho("enable", "-q", "-s", mode, "rec:*")
        assert a.poll() is None, "it ended too early to tell"
        d = finish(a)
        assert d.status == 0, d
        assert session(mode)["written"] == 0
        tacho("destroy", mode)
        os.unlink("ready")
        os.unlink(flag)


def test_other_user():
    """a program of another user has its own run-time directory"""
    need_root()
    p = recorder("-o", "t", "-b", "64K")
    program, env = for_nobody(TRACED)
    d = cmd(*NOBODY, program, "hit 10", "errno", "fork hit 1", env=env)
    assert d.status == 0 and d.err == "", d
    stop(p)
    assert not read("t").events


def test_directory_refused():
    """a run-time directory that is open to others, or somebody else's"""
    os.mkdir(run_dir, 0o755)
    tacho("status", ok=1, says="closed to others")
    tacho("record", "-o", "t", "--", "touch", "ran", ok=1, says="chmod 700")
    assert not os.path.exists("ran")
    d = cmd(TRACED, "hit 10", "errno")
    assert d.status == 0 and not d.err, d
    os.rmdir(run_dir)
    os.symlink("/tmp", run_dir)
    tacho("status", ok=1, says="cannot open")
    os.unlink(run_dir)
    open(run_dir, "w").close()
    tacho("status", ok=1, says="Not a directory")
    assert cmd(TRACED, "hit 10").status == 0
    os.unlink(run_dir)
    tacho("destroy", "x", ok=1, says="nothing is traced here")


def test_somebody_elses_directory():
    """nobody meets root's directory"""
    need_root()
    os.mkdir(run_dir, 0o700)
    os.chmod(base, 0o755)
    d = cmd(*NOBODY, TACHO, "status")
    assert d.status == 1 and "Permission denied" in d.err, d


def test_closed_descriptors():
    """closed stdin, stdout, stderr, in the tool and in the program"""
    d = cmd("sh", "-c", "exec 0<&- 1>&- 2>&-; exec %s record -o t -b 64K -- "
            "%s 'hit 10' 'closeall' 'hit 10' 'fork hit 5' 'text 9'" % (
                TACHO, TRACED))
    assert d.status == 0, d
    t = read("t")
    assert len(t.events) == 26, len(t.events)


def test_close_all():
    """a program that closes all descriptors"""
    p = recorder("-o", "t", "-b", "64K")
    d = cmd(TRACED, "closeall", "hit 10", "fork hit 10", "other 3", "exec hit 4")
    assert d.status == 0, d
    stop(p)
    assert len(read("t").events) == 27


def test_unloaded():
    """a traced library is loaded and unloaded while it is recorded"""
    p = recorder("-o", "t", "-b", "1M")
    a = Traced()
    for i in range(20):
        a.do("dl %s 10" % PLUGIN)
        a.do("other 1")
    x = [e for e in status()["processes"] if e["pid"] == a.pid][0]
    # its events come back to their places
    assert x["events"] == 10, x
    stop(p)
    a.do("dl %s 10" % PLUGIN)
    a.end()
    t = read("t")
    assert len(t.named("rec:other")) == 220


def test_optional():
    """TACHO_OPTIONAL: with the library, and without"""
    env = {"LD_LIBRARY_PATH": LIBTACHO}
    p = recorder("-o", "t", "-b", "64K")
    d = cmd(OPTIONAL, "hit 10", "fork hit 1", "pid", env=env)
    assert d.status == 0, d
    e = cmd(OPTIONAL, "hit 10", "errno", "fork hit 1",
            env={"LD_LIBRARY_PATH": "/nonexistent"})
    stop(p)
    assert e.status == 0 and not e.err, e
    t = read("t")
    assert numbers(t, int(d.out)) == list(range(10)) and len(t.events) == 11


def test_signal_storm():
    """handlers that trace while sessions come and go"""
    a = start(TRACED, "timer 3000000")
    while a.poll() is None:
        tacho("create", "x", "-e", "rec:*", "-b", "64K", "--subbuf", "4K")
        tacho("destroy", "x")
    assert finish(a).status == 0, finish(a)


run(globals())
