# SPDX-License-Identifier: MIT
"""Flight recorders, snapshots, windows around an event, rotation."""
from rec import *

SMALL = ("-b", "256K", "--subbuf", "16K")


def dumps(path):
    return [Trace(c) for c in chunks(path)]


def numbers(trace, pid):
    return trace.hits().get(pid, [])


def test_end():
    """--flight: nothing is written until the end, then the newest"""
    p = recorder("--flight", "-o", "t", *SMALL)
    a = Traced()
    a.do("hit 50000")
    assert not os.path.exists("t")
    a.do("mark 7")
    stop(p)
    t = read("t")
    ns = numbers(t, a.pid)
    assert len(t.named("rec:mark")) == 1
    assert ns[-1] == 49999 and 3000 < len(ns) < 50000 and not t.gaps, len(ns)
    a.end()


def test_end_of_command():
    """--flight with a command that dies"""
    tacho("record", "--flight", "-o", "t", *SMALL, "--", TRACED, "cpu 0",
          "hit 50000", "die 11", says="killed by signal 11")
    (ns,) = read("t").hits().values()
    # one CPU: the newest without a gap, as many as all but one sub-buffer hold
    assert ns == list(range(ns[0], 50000)), (ns[0], ns[-1], len(ns))
    assert len(ns) >= 15 * 400, len(ns)


def test_ask_recorder():
    """SIGUSR1 and tacho snapshot: each dump begins where the last one ended"""
    p = recorder("--flight", "-o", "t", "-b", "4M")
    a = Traced()
    a.do("hit 1000")
    p.send_signal(signal.SIGUSR1)
    until("the first dump", lambda: os.path.exists("t/0001/tacho/info") and
          "state: closed" in open("t/0001/tacho/info").read())
    a.do("hit 1000")
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    d = tacho("snapshot", "s", says="snapshot 2 is in '%s/t'" % work)
    os.chdir("..")
    a.do("hit 1000")
    stop(p)
    ds = dumps("t")
    assert [len(d.events) for d in ds] == [1000, 1000, 1000], ds
    same_hits(read("t"), {a.pid: 3000})
    a.end()


def test_ask_trigger():
    """a snapshot trigger in a program asks the recorder"""
    p = recorder("--flight", "-o", "t", "-b", "4M")
    subprocess.run([os.environ["COMMAND"], "s", "trigger", "rec:mark",
                    "snapshot if n == 7"], check=True)
    a = Traced()
    a.do("hit 1000")
    a.do("mark 6")
    a.do("mark 7")
    until("the dump", lambda: os.path.exists("t/0001/tacho/info") and
          "state: closed" in open("t/0001/tacho/info").read())
    a.do("hit 500")
    stop(p)
    ds = dumps("t")
    assert len(ds) == 2, ds
    assert len(ds[0].named("rec:hit")) == 1000
    assert len(ds[1].named("rec:hit")) == 500
    a.end()


def test_snapshots():
    """create --flight and many snapshots, while four writers write"""
    tacho("create", "s", "--flight", "-e", "rec:*", "-b", "8M")
    ws = [start(TRACED, *["hit 250", "sleep 3"] * 40, "pid") for _ in range(4)]
    n = 0
    while n < 3 or any(w.poll() is None for w in ws):
        n += 1
        tacho("snapshot", "-o", "t%03d" % n, "s")
    n += 1
    tacho("snapshot", "-o", "t%03d" % n, "s")
    got = {}
    for i in range(1, n + 1):
        for slot, ns in read("t%03d" % i, check=i < 4).hits().items():
            assert ns == sorted(ns), (i, slot, ns)
            got.setdefault(slot, []).extend(ns)
    for w in ws:
        # a snapshot ends for each CPU at a time of its own: a writer that moves meanwhile has
        # its last records in this one, and those before them in the next
        ns = sorted(got.pop(w.pid))
        assert ns == list(range(10000)), (len(ns), ns[:3], ns[-3:])
    assert not got
    tacho("snapshot", "-o", "last", "s")
    assert not read("last").events
    tacho("destroy", "s")


def test_snapshots_that_wrap():
    """snapshots of buffers that overflow: no event twice, each without a gap"""
    tacho("create", "s", "--flight", "-e", "rec:*", *SMALL)
    a = Traced("cpu 0")
    seen = -1
    for i in range(6):
        a.do("hit %d" % (40000 if i % 2 else 100))
        tacho("snapshot", "-o", "t%d" % i, "s")
        ns = numbers(read("t%d" % i), a.pid)
        total = int(a.do("count"))
        assert ns == list(range(ns[0], total)), (i, ns[0], ns[-1], total)
        assert ns[0] > seen, "event %d comes again" % ns[0]
        if i % 2 == 0:
            assert ns[0] == seen + 1
        seen = ns[-1]
    a.end()
    tacho("destroy", "s")


def test_snapshot_refused():
    """a session that is written as it goes; an output that is in the way"""
    p = recorder("-o", "t")
    tacho("snapshot", "s", ok=1, says="is being recorded to '%s/t'" % work)
    stop(p)
    tacho("create", "s", "--flight", *SMALL)
    os.mkdir("full")
    open("full/x", "w").close()
    tacho("snapshot", "-o", "full", "s", ok=1, says="is not empty")
    tacho("destroy", "s")


def test_on():
    """--on: each time with the event in it, and nothing of what was before"""
    p = recorder("--on", "rec:mark", "-o", "t", "-b", "4M", "--dumps", "3")
    until("the watch", lambda: len(status()["sessions"]) == 2)
    a = Traced()
    for i in range(3):
        a.do("hit 100")
        a.do("mark %d" % i)
        until("dump %d" % i, lambda: os.path.exists(
            "t/%04d/tacho/info" % (i + 1)) and "state: closed" in open(
            "t/%04d/tacho/info" % (i + 1)).read())
    d = finish(p)
    assert d.status == 0, d
    ds = dumps("t")
    assert len(ds) == 3
    for i, t in enumerate(ds):
        (m,) = t.named("rec:mark")
        assert HIT.unpack_from(m.data)[1] == i
        assert numbers(t, a.pid) == list(range(100 * i, 100 * i + 100))
        assert t.events[-1].time <= m.time or len(chunks("t")) == 3
    a.end()


MS = 1000000
# two sessions read the clock for the same hit one after the other, with any pause
# between them that a busy machine makes
SLACK = 10 * MS


def test_window():
    """--keep-before and --keep-after: nothing outside, nothing missing inside"""
    tacho("create", "all", "--flight", "-e", "rec:*", "-b", "4M", "--clock", "mono")
    p = recorder("--on", "rec:mark", "-o", "t", "-b", "4M", "--dumps", "1",
                 "--keep-before", "30ms", "--keep-after", "30ms",
                 "--clock", "mono")
    until("the watch", lambda: len(status()["sessions"]) == 3)
    a = Traced("cpu 0")
    for i in range(40):
        a.do("hit 1")
        a.do("sleep 2")
        if i == 20:
            a.do("mark 0")
    while p.poll() is None:
        a.do("hit 1")
        a.do("sleep 2")
    a.do("hit 1")
    d = finish(p)
    assert d.status == 0, d
    tacho("snapshot", "-o", "all", "all")
    tacho("destroy", "all")
    a.end()
    (t,) = dumps("t")
    (m,) = t.named("rec:mark")
    times = [e.time for e in t.events]
    assert min(times) >= m.time - 30 * MS, m.time - min(times)
    assert max(times) <= m.time + 30 * MS, max(times) - m.time
    ns = numbers(t, a.pid)
    assert ns == list(range(ns[0], ns[0] + len(ns))) if ns else True, ns
    # what is not in it lies outside the window
    outside = [e.time - m.time for e in read("all").named("rec:hit")
               if HIT.unpack_from(e.data)[1] not in ns]
    assert outside[0] < 0 < outside[-1], outside
    near = [o for o in outside if abs(o) < 30 * MS - SLACK]
    assert not near, near


def first_new(ds):
    """Of each dump the first mark that no dump before it has."""
    seen = set()
    for t in ds:
        marks = sorted(((e.time, e.hit()) for e in t.named("rec:mark")))
        new = [m for m in marks if m[1] not in seen]
        assert new, "a dump without an event of its own: %d marks" % len(marks)
        seen.update(m[1] for m in marks)
        yield new[0]


def beats(before, *programs, after=()):
    """Dumps around an event that comes all the time: each has one that is new, and
    all that was recorded in the time before it."""
    tacho("create", "all", "--flight", "-e", "rec:*", "-b", "16M", "--clock", "mono")
    p = recorder("--on", "rec:mark", "-o", "t", "-b", "16M", "--dumps", "4",
                 "--keep-before", "%dms" % before, *after, "--clock", "mono")
    until("the watch", lambda: len(status()["sessions"]) == 3)
    ws = [start(TRACED, w) for w in programs]
    d = finish(p)
    assert d.status == 0, d
    for w in ws:
        w.kill()
        w.wait()
    tacho("snapshot", "-o", "all", "all")
    tacho("destroy", "all")
    when = {e.hit(): e.time for e in Trace("all").named("rec:hit")}
    ds = dumps("t")
    assert len(ds) == 4, ds
    for t, (time, _) in zip(ds, first_new(ds)):
        hits = t.hits()
        for w in ws:
            ns = hits.get(w.pid, [])
            assert ns == list(range(ns[0], ns[0] + len(ns))) if ns else True, ns
            # the one before the first lies outside the window
            if ns and ns[0]:
                outside = time - when[w.pid, ns[0] - 1]
                assert outside > before * MS - SLACK, outside
    for c in chunks("t"):
        tacho("check", c)


def test_each_ms():
    """--keep-before of an event that comes each millisecond"""
    beats(50, "beat 100000 1000")


def test_each_10us():
    """--keep-before and --keep-after of an event that comes each 10 microseconds"""
    beats(5, "beat 10000000 10", after=("--keep-after", "7ms"))


def test_each_of_two():
    """--keep-before of an event of two programs"""
    beats(20, "beat 100000 500", "beat 100000 700")


def test_asked_between():
    """a snapshot that is asked for takes nothing from the dump after it"""
    p = recorder("--on", "rec:mark", "-o", "t", "-b", "4M", "--dumps", "3",
                 "--keep-before", "60s")
    until("the watch", lambda: len(status()["sessions"]) == 2)
    a = Traced()
    for n in 1, 2:
        a.do("hit 100")
        p.send_signal(signal.SIGUSR1)
        until("dump %d" % n, lambda: os.path.exists(
            "t/%04d/tacho/info" % n) and "state: closed" in open(
            "t/%04d/tacho/info" % n).read())
    a.do("hit 100")
    a.do("mark 0")
    d = finish(p)
    assert d.status == 0, d
    ds = dumps("t")
    assert [len(t.named("rec:hit")) for t in ds] == [100, 100, 300], ds
    assert len(ds[2].named("rec:mark")) == 1
    tacho("check", "t/0003")
    a.end()


def test_after_the_end():
    """--keep-after that the command does not live to see"""
    began = time.monotonic()
    tacho("record", "--on", "rec:mark", "--keep-after", "1h", "-o", "t", "-b", "1M",
          "--", TRACED, "hit 10", "mark 1", "hit 10")
    assert time.monotonic() - began < PATIENCE
    (t,) = dumps("t")
    assert len(t.events) == 21


def test_strangers():
    """--on: events of programs that are not recorded make no dump"""
    a = Traced()
    p = start(TACHO, "record", "-s", "s", "--on", "rec:mark", "--dumps", "1", "-o", "t",
              "-b", "1M", "--", TRACED, "-", stdin=subprocess.PIPE,
              stdout=subprocess.PIPE)
    p.stdin.write("hit 1\n")
    p.stdin.flush()
    assert p.stdout.readline() == "ok\n"
    a.do("mark 1")
    time.sleep(0.05)
    assert p.poll() is None and not os.path.exists("t")
    # those that its command starts are recorded, whatever is between
    p.stdin.write("spawn mark 2\n")
    p.stdin.flush()
    d = finish(p)
    assert d.status == 0, d
    (t,) = dumps("t")
    assert [e.hit()[1] for e in t.named("rec:mark")] == [2]
    b = Traced()
    p = recorder("--on", "rec:mark", "--dumps", "1", "-o", "u", "-b", "1M",
                 "-p", str(b.pid))
    until("the watch", lambda: len(status()["sessions"]) == 2)
    a.do("mark 3")
    time.sleep(0.05)
    b.do("mark 4")
    assert finish(p).status == 0
    (t,) = dumps("u")
    assert [e.hit() for e in t.named("rec:mark")] == [(b.pid, 4)]
    a.end()
    b.end()


def test_on_filtered():
    """--on with --filter, and an event that -e does not name"""
    tacho("record", "-e", "rec:hit", "--on", "rec:mark", "--filter",
          "rec:mark/n == 7", "-o", "t", "-b", "1M", "--",
          TRACED, "hit 10", "mark 1", "sleep 30", "hit 5", "mark 7")
    (t,) = dumps("t")
    assert [e.hit()[1] for e in t.named("rec:mark")] == [7]
    assert len(t.named("rec:hit")) == 15


def test_on_stopped():
    """--on while a trigger has stopped the session: nothing to write"""
    tacho("record", "--on", "rec:mark", "--trigger", "rec:hit/traceoff", "-o", "t",
          "-b", "1M", "--", TRACED, "hit 1", "mark 1",
          says="happened, but was not recorded")
    assert not os.path.exists("t")


def test_on_the_last():
    """--on: the event that ends the command"""
    tacho("record", "--on", "rec:mark", "-o", "t", "-b", "1M", "--",
          TRACED, "hit 10", "mark 1", "die 9")
    (t,) = dumps("t")
    assert len(t.events) == 11
    tacho("record", "--on", "rec:mark", "-o", "u", "-b", "1M", "--",
          TRACED, "hit 10", says="the event never happened")
    assert not os.path.exists("u")


def test_on_kernel():
    """--on-kernel: a process's end, with what its program did before"""
    need_tracefs()
    p = recorder("--on-kernel", "sched:sched_process_exec", "-o", "t", "-b", "1M",
                 "--dumps", "1", "-e", "rec:*", "-k",
                 "sched:sched_process_exec,sched:sched_process_exit",
                 "--no-kallsyms")
    until("the watch", lambda: len(instances()) == 2)
    a = Traced()
    a.do("hit 30")
    a.do("spawn hit 1")
    d = finish(p)
    assert d.status == 0, d
    t = read("t")
    # the first exec of all is our own one, or another program's of this machine
    assert t.kernel_events >= 1
    a.end()


def exits(path, of):
    """(time, pid) of the ends of a program's children."""
    out = tacho("report", "-F", "json", path).out
    es = [json.loads(line) for line in out.splitlines() if "process_exit" in line]
    return [(e["time"], e["pid"]) for e in es if e.get("pid") in of]


def test_each_kernel():
    """--on-kernel: each dump has its event, and those of the time before"""
    need_tracefs()
    a = Traced()
    p = recorder("--on-kernel", "sched:sched_process_exit", "-o", "t", "-b", "1M",
                 "--dumps", "4", "--keep-before", "60s", "-e", "rec:*", "-p",
                 str(a.pid), "--follow", "--no-kallsyms")
    until("the watch", lambda: len(instances()) == 2)
    while p.poll() is None:
        a.do("fork hit 1")
    d = finish(p)
    assert d.status == 0, d
    pids = {slot for slot in Trace("t/0004").hits()}
    before = []
    for c in chunks("t"):
        now = exits(c, pids)
        assert now[:len(before)] == before and len(now) > len(before), (before, now)
        # what it had forked until then, and no others
        assert len(Trace(c).hits()) in (len(now), len(now) + 1), (c, now)
        before = now
        tacho("check", c)
    a.end()


def test_rotate_size():
    """--rotate SIZE: all chunks together are the whole"""
    p = recorder("--rotate", "30K", "-o", "t", "-b", "4M", "--subbuf", "16K")
    a = Traced()
    while not os.path.exists("t/0005"):
        a.do("hit 250")
        a.do("sleep 2")
    total = int(a.do("count"))
    stop(p)
    same_hits(read("t"), {a.pid: total})
    for c in chunks("t"):
        tacho("check", c)
    a.end()


def test_rotate_time():
    """--rotate TIME"""
    p = recorder("--rotate", "20ms", "-o", "t", "-b", "4M")
    a = Traced()
    while not os.path.exists("t/0005"):
        a.do("hit 100")
        a.do("sleep 2")
    total = int(a.do("count"))
    stop(p)
    same_hits(read("t"), {a.pid: total})
    a.end()


def test_keep():
    """--keep N: only the last N chunks stay, and they follow each other"""
    p = recorder("--rotate", "10K", "--keep", "3", "-o", "t", "-b", "4M",
                 "--subbuf", "16K")
    a = Traced("cpu 0")
    while not os.path.exists("t/0008"):
        a.do("hit 250")
        a.do("sleep 2")
    total = int(a.do("count"))
    stop(p)
    names = sorted(os.listdir("t"))
    assert len(names) == 3, names
    assert [int(n) for n in names] == list(range(int(names[0]),
                                                 int(names[0]) + 3)), names
    t = read("t")
    ns = numbers(t, a.pid)
    assert ns == list(range(ns[0], total)) and ns[0] > 0, (ns[0], ns[-1], total)
    a.end()


def test_rotate_kernel():
    """--rotate with kernel events"""
    need_tracefs()
    p = recorder("--rotate", "20K", "-o", "t", "-b", "4M", "-e", "rec:*", "-k",
                 "sched:sched_process_exit", "--no-kallsyms", "--subbuf", "16K")
    a = Traced()
    n = 0
    while not os.path.exists("t/0003"):
        a.do("hit 250")
        a.do("fork hit 1")
        n += 1
    stop(p)
    t = read("t")
    assert len(numbers(t, a.pid)) == 250 * n and t.kernel_events >= n
    a.end()


run(globals())
