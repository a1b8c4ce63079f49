# SPDX-License-Identifier: MIT
"""SIGKILL for writers, for the recorder, for both, and for who recovers: what
was committed is read back, once; written = read + lost, exactly."""
import random

from rec import *

SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
print("# SEED=%d" % SEED)
random.seed(SEED)
SMALL = ("-b", "256K", "--subbuf", "16K")


class Books:
    """What writers say of themselves, in a file that outlives them."""

    def __init__(self, writers, hits, pause):
        with open("books", "wb") as f:
            f.truncate(65536)
        self.path = os.path.abspath("books")
        self.args = ["book %s %d %d %d" % (self.path, i, hits, pause)
                     for i in range(writers)]

    def start(self):
        return [start(TRACED, a) for a in self.args]

    def read(self):
        """[(trying, done)]"""
        with open(self.path, "rb") as f:
            data = f.read()
        return [struct.unpack_from("<QQ", data, 16 * i)
                for i in range(len(self.args))]

    def balance(self, trace, exact):
        """exact: no writer was killed"""
        hits = trace.hits()
        done = sum(d for _, d in self.read())
        trying = sum(t for t, _ in self.read())
        for slot, ns in hits.items():
            assert all(a < b for a, b in zip(ns, ns[1:])), \
                "slot %d: not ascending" % slot
            assert ns[-1] < self.read()[slot][0], "read what was not written"
        got = sum(len(ns) for ns in hits.values()) + trace.lost
        if exact:
            assert done == trying
            assert got == done, "%d read and lost, %d written" % (got, done)
        else:
            assert done <= got <= trying, "%d not in %d..%d" % (
                got, done, trying)


def told_by_recover(j):
    """What recover says is what the chunk has that it added."""
    t = Trace(chunks("t")[-1])
    assert (j["events"], j["lost"]) == (len(t.events), t.lost), j


def moment(ms):
    time.sleep(random.uniform(0, ms / 1000))


def all_end(writers):
    for w in writers:
        d = finish(w)
        assert d.status in (0, -9), d


def test_recorder():
    """the recorder is killed while writers write"""
    for i in range(8):
        more = (("--rotate", "100K") if i % 2 else ())
        p = recorder("-o", "t", *SMALL, *more)
        b = Books(3, 4000, 100)
        w = b.start()
        moment(25)
        p.kill()
        p.wait()
        all_end(w)
        j = json.loads(tacho("recover", "t", "--json").out)
        t = read("t", check=i < 4)
        b.balance(t, True)
        told_by_recover(j)
        nothing_left()
        tacho("recover", "t", says="complete")
        afresh()


def test_loss_in_chunks():
    """rotated, with loss in several chunks, killed and recovered: exact books"""
    p = recorder("-o", "t", *SMALL, "--rotate", "30ms")
    done = 0
    for i in range(4):
        if i:
            moment(20)
            p.send_signal(signal.SIGSTOP)
        finish(start(TRACED, "hit 30000"))
        done += 30000
        if i == 3:
            break
        p.send_signal(signal.SIGCONT)
        # the loss of this round is told in a chunk before the next round's
        n = len(chunks("t"))
        until("another chunk", lambda: len(chunks("t")) > n)
    p.kill()
    p.wait()
    j = json.loads(tacho("recover", "t", "--json").out)
    t = read("t")
    got = sum(len(ns) for ns in t.hits().values())
    assert got + t.lost == done, (got, t.lost, done)
    told_by_recover(j)
    losing = [c for c in chunks("t") if Trace(c).lost]
    assert len(losing) > 1, losing
    nothing_left()
    afresh()


def test_writers():
    """writers are killed, the recorder goes on"""
    for i in range(8):
        p = recorder("-o", "t", *SMALL)
        b = Books(4, 0, 50)
        w = b.start()
        for k in range(4):
            moment(12)
            w[k].kill()
        all_end(w)
        d = stop(p)
        b.balance(read("t", check=i < 4), False)
        assert not status()["processes"]
        nothing_left()
        afresh()


def test_all():
    """writers and recorder are killed in any order"""
    for i in range(8):
        p = recorder("-o", "t", *SMALL)
        b = Books(3, 0, 50)
        w = b.start()
        order = w + [p]
        random.shuffle(order)
        for one in order:
            moment(12)
            one.kill()
        for one in order:
            one.wait()
        tacho("recover", "t")
        b.balance(read("t", check=i < 4), False)
        nothing_left()
        afresh()


def unwaited(p):
    """Kills a process whose parent does not wait for it, as in many containers."""
    p.kill()
    until("a zombie", lambda: state_of(p.pid) == "Z")


def test_unwaited():
    """the recorder is killed and its parent does not wait"""
    p = recorder("-o", "t", *SMALL)
    a = Traced()
    a.do("hit 100")
    unwaited(p)
    assert session("s")["recorder_state"] == "died"
    tacho("recover", "t")
    same_hits(read("t"), {a.pid: 100})
    nothing_left()
    tacho("record", "-o", "u", "-p", str(p.pid), ok=1, says="no process %d" % p.pid)
    tacho("create", "c", "-p", str(p.pid), ok=1, says="no process %d" % p.pid)
    a.end()


def state_of(pid):
    return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0]


def test_first_thread():
    """a process whose first thread has ended is no zombie, though it looks like one"""
    p = start(TRACED, "endfirst")
    until("its end", lambda: state_of(p.pid) == "Z")
    tacho("create", "c", "-p", str(p.pid))
    tacho("destroy", "c")
    p.kill()


def test_unwaited_kernel():
    """... and the next one removes its instance"""
    need_tracefs()
    p = recorder("-o", "t", *SMALL, "-e", "rec:*", "-k", "sched:sched_process_exit")
    (left,) = instances()
    unwaited(p)
    tacho("record", "-q", "-o", "u", "-k", "sched:sched_process_exit", "--", "true")
    assert left not in instances()
    tacho("recover", "t")


def test_living():
    """what is being recorded is left alone, also from where its process cannot be seen"""
    p = recorder("-o", "t", *SMALL)
    a = Traced()
    busy = "is being recorded by process %d" % p.pid
    tacho("recover", "t", ok=1, says=busy)
    tacho("recover", "s", ok=1, says=busy)
    if not os.geteuid():
        d = cmd("unshare", "--pid", "--fork", "--mount-proc", TACHO, "recover", "t")
        assert d.status == 1 and busy in d.err, d
    a.do("hit 100")
    stop(p)
    same_hits(read("t"), {a.pid: 100})
    a.end()


def test_flight():
    """a flight recorder is killed: the newest are still in its session"""
    p = recorder("-o", "t", *SMALL, "--flight")
    w = start(TRACED, "hit 30000", "mark 1")
    finish(w)
    p.kill()
    p.wait()
    tacho("recover", "-o", "t", "s")
    t = read("t")
    ns = t.hits()[w.pid]
    # no gap within a lane, and the last ones of all are there
    assert len(t.named("rec:mark")) == 1 and not t.gaps
    assert ns[-1] == 29999 and len(ns) > 3000, len(ns)


def test_kernel():
    """a recorder with kernel events is killed: programs' events are all there"""
    need_tracefs()
    for i in range(2):
        p = recorder("-o", "t", *SMALL, "-e", "rec:*", "-k", "sched:sched_switch",
                     "--no-kallsyms")
        b = Books(2, 3000, 100)
        w = b.start()
        moment(30)
        p.kill()
        p.wait()
        all_end(w)
        tacho("recover", "t")
        b.balance(read("t"), True)
        assert not sessions()
        p = recorder("-o", "u", "-k", "sched:sched_process_exit", "-e", "rec:*",
                     "--no-kallsyms")
        assert len(instances()) == 1
        stop(p)
        nothing_left()
        afresh()


run(globals())
