# SPDX-License-Identifier: MIT
"""Programs and tools killed at the injection points (a build with -Dinject=true):
what was committed before is read back, and nothing hangs."""
from rec import *

SMALL = ("-b", "256K", "--subbuf", "16K")
HITS = 2000     # more than a sub-buffer holds


def kill_at(point, n):
    return {"TACHO_INJECT_KILL": "%s:%d" % (point, n)}


def writer_dies(point, n):
    """How many hits were committed before; None: the point was not reached."""
    with open("books", "wb") as f:
        f.truncate(65536)
    p = recorder("-o", "t", *SMALL)
    w = cmd(TRACED, "book %s 0 %d" % (os.path.abspath("books"), HITS),
            env=kill_at(point, n))
    other = cmd(TRACED, "hit 100")
    assert other.status == 0, other
    assert w.status in (0, -9), w
    with open("books", "rb") as f:
        trying, done = struct.unpack("<QQ", f.read(16))
    stop(p)
    t = read("t")
    hits = t.hits()
    ns = hits.pop(0, [])
    assert ns == list(range(len(ns))), "not in order"
    assert done <= len(ns) + t.lost <= trying, (done, len(ns), t.lost, trying)
    assert hits == {other.pid: list(range(100))}, hits.keys()
    assert not status()["processes"]
    nothing_left()
    shutil.rmtree("t")
    return len(ns) if w.status else None


def test_writer_before_commit():
    """killed right before the store that commits: not there"""
    for n in (1, 2, 300, 1500):
        if writer_dies("ring_before_commit", n) is None:
            raise Skip("this machine takes another way")


def test_writer_after_commit():
    """killed right after it: there"""
    for n in (1, 2, 300, 1500):
        if writer_dies("ring_committed", n) is None:
            raise Skip("this machine takes another way")


def test_writer_sub_buffer():
    """killed while it goes to the next sub-buffer"""
    for point in ("ring_before_advance", "ring_advanced"):
        for n in (1, 2):
            assert writer_dies(point, n) is not None, point


def test_writer_start():
    """killed while it registers events, maps sessions, learns type ids"""
    for point, n in (("procmap_added", 1), ("procmap_added", 3),
                     ("attach_mapped", 1), ("types_text_taken", 1)):
        assert writer_dies(point, n) == 0, point


def test_plain():
    """the same without restartable sequences"""
    os.environ["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
    try:
        for point, n in (("ring_fallback_locked", 1), ("ring_fallback_locked", 700),
                         ("ring_before_fallback_commit", 1),
                         ("ring_before_fallback_commit", 700),
                         ("ring_buffer_allocated", 1)):
            assert writer_dies(point, n) is not None, (point, n)
    finally:
        del os.environ["GLIBC_TUNABLES"]


def on_disk():
    """How many events are in a trace that is being written; -1: torn now."""
    try:
        return len(Trace("t").events)
    except (AssertionError, struct.error, KeyError, ValueError, OSError):
        return -1


def test_recorder():
    """the recorder is killed at every packet"""
    for n in range(1, 40):
        p = recorder("-o", "t", *SMALL, "--rotate", "40K",
                     env=kill_at("recorder_packet", n))
        a = Traced()
        for i in range(6):
            a.do("hit 500")
            until("the recorder has read it or died", lambda:
                  p.poll() is not None or on_disk() == 500 * (i + 1))
        alive = p.poll() is None
        if alive:
            stop(p)
        else:
            tacho("recover", "t")
        t = read("t")
        same_hits(t, {a.pid: 3000})
        assert not t.lost
        nothing_left()
        a.end()
        shutil.rmtree("t")
        if alive:
            return
    assert n > 5


def test_tools():
    """a tool is killed while it makes or destroys a session"""
    d = cmd(TACHO, "create", "s", *SMALL, env=kill_at("session_making", 1))
    assert d.status == -9, d
    tacho("create", "s", *SMALL, "-e", "rec:*")
    a = Traced()
    a.do("hit 10")
    d = cmd(TACHO, "destroy", "s", env=kill_at("session_destroying", 1))
    assert d.status == -9, d
    assert a.do("enabled") == "0\n"
    assert status()["sessions"] == []
    a.do("hit 10")
    tacho("create", "s", *SMALL, "-e", "rec:*")
    a.do("hit 10")
    assert session("s")["written"] == 10
    tacho("destroy", "s")
    a.end()


run(globals())
