# SPDX-License-Identifier: MIT
"""The recorder, and who recovers, killed at every system call that they make.

One run takes every STEP-th of them, beginning anywhere; STEP=1 takes all."""
import random

from rec import *

KILLAT = os.environ["KILLAT"]
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
STEP = int(os.environ.get("STEP", 8))
print("# SEED=%d" % SEED)
random.seed(SEED)
# a traced process cannot be searched for leaks
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
SMALL = ("-b", "64K", "--subbuf", "4K")


def points():
    """The system calls to be killed at."""
    first = random.randrange(1, STEP + 1)
    for at in range(first, 3000, STEP):
        yield at
    raise AssertionError("it never ends")


def test_recorder_everywhere():
    """the recorder is killed at every system call"""
    a = Traced()
    done = 0
    for at in points():
        p = start(KILLAT, at, TACHO, "record", "-q", "-o", "t", "-s", "s", "-p",
                  a.pid, "--duration", "12ms", "--rotate", "3K", "-b", "4M")
        for _ in range(1000):       # which fit in the buffer, however slow the recorder is
            if p.poll() is not None:
                break
            a.do("hit 40")
        ended(p)
        if p.returncode == 98:
            raise Skip("processes cannot be traced here")
        assert p.returncode in (0, 99), finish(p)
        a.do("hit 10")
        total = int(a.do("count"))
        if sessions() or os.path.exists(run_dir + "/registry"):
            alive = [s["state"] for s in status()["sessions"]]
        else:
            alive = []
        if os.path.exists("t") or os.path.exists("t.recover"):
            if alive or glob.glob("t/*/metadata"):
                tacho("recover", "t")
            else:
                # its recorder was killed when its session was made
                tacho("recover", "t", ok=1, says="is not a trace")
                shutil.rmtree("t")
        if alive and not os.path.exists("t"):
            tacho("recover", "-o", "t", "s")
        if os.path.exists("t"):
            t = Trace("t")
            if done % 16 == 0:
                read("t")
            ns = t.hits().get(a.pid, [])
            assert t.lost == 0
            if ns:
                what = "at %d: %d..%d of %d" % (at, ns[0], ns[-1], total)
                assert ns == list(range(ns[0], ns[0] + len(ns))), what
                # nobody told the session to stop: it went on to the end
                assert ns[-1] == total - 1 or alive != ["recording"], what
        nothing_left()
        assert a.do("enabled") == "0\n", "at %d: still on" % at
        shutil.rmtree("t", ignore_errors=True)
        done += 1
        if p.returncode == 0:
            break
    a.end()
    assert done > 100 // STEP, done
    print("# %d points" % done)


def copy_state(to):
    shutil.copytree("t", os.path.join(to, "t"))
    assert cmd("cp", "-a", "--sparse=always", run_dir, to).status == 0


def restore_state(was):
    for d in glob.glob("t*"):
        shutil.rmtree(d)
    shutil.rmtree(run_dir)
    shutil.copytree(os.path.join(was, "t"), "t")
    assert cmd("cp", "-a", "--sparse=always", os.path.join(was, "run"),
               os.path.dirname(run_dir)).status == 0


def recover_everywhere(*options):
    p = recorder("-o", "t", *SMALL, *options)
    a = Traced()
    a.do("hit 400")
    until("something is on disk", lambda: len(glob.glob("t/**/program_*",
                                                        recursive=True)))
    os.kill(p.pid, signal.SIGSTOP)
    a.do("hit 400")
    p.kill()
    p.wait()
    a.end()
    copy_state("was")
    done = 0
    for at in points():
        d = cmd(KILLAT, at, TACHO, "recover", "-q", "t")
        if d.status == 98:
            raise Skip("processes cannot be traced here")
        assert d.status in (0, 99), d
        if done % 3 == 0:
            # and once more, somewhere
            again = cmd(KILLAT, random.randrange(1, at + 100), TACHO, "recover",
                        "-q", "t")
            assert again.status in (0, 99), (at, again)
        tacho("recover", "t")
        t = Trace("t")
        assert t.lost == 0
        same_hits(t, {a.pid: 800})
        if done % 16 == 0:
            read("t")
        nothing_left()
        done += 1
        if d.status == 0:
            break
        restore_state("was")
    assert done > 100 // STEP, done
    print("# %d points" % done)


def test_recover_everywhere():
    """recovering is killed at every system call, and done again"""
    recover_everywhere()


def test_recover_rotated_everywhere():
    """the same with a rotated trace"""
    recover_everywhere("--rotate", "5K")


run(globals())
