# SPDX-License-Identifier: MIT
"""record: commands, attached programs, selections, ends."""
from rec import *


def test_command():
    """a command: all its events, none of others"""
    other = Traced()
    other.do("hit 5")
    d = tacho("record", "-o", "t", "--json", "--", TRACED, "hit 1000", "pid")
    other.do("hit 5")
    other.end()
    pid, summary = d.out.split("\n")[:2]
    j = json.loads(summary)
    assert j["events"] == 1000 and j["lost"] == 0 and j["trace"] == "t", j
    same_hits(read("t"), {pid: 1000})
    assert not proc_files(), proc_files()


def test_command_options():
    """the command's own options are its own"""
    d = tacho("record", "-o", "t", "sh", "-c", "echo $0", "-o", "x")
    assert d.out == "-o\n", d


def test_default_output():
    """without -o: tacho-trace, and the older one becomes .old"""
    for n in (3, 4, 5):
        tacho("record", "--", TRACED, "hit %d" % n)
    assert len(read("tacho-trace").events) == 5
    assert len(read("tacho-trace.old").events) == 4
    assert sorted(os.listdir(".")) == ["tacho-trace", "tacho-trace.old"]


def test_output_in_the_way():
    """what is no trace is not moved away; a named directory must be empty"""
    os.mkdir("tacho-trace")
    open("tacho-trace/precious", "w").close()
    tacho("record", "--", "touch", "ran", ok=1, says="exists and is not empty")
    assert os.path.exists("tacho-trace/precious") and not os.path.exists("ran")
    tacho("record", "-o", "t", "--", TRACED, "hit 3")
    tacho("record", "-o", "t", "--", "touch", "ran", ok=1, says="'t' exists")
    os.mkdir("empty")
    tacho("record", "-o", "empty", "--", TRACED, "hit 3")
    assert len(read("empty").events) == 3


def test_quiet():
    """-q: nothing is said"""
    d = tacho("record", "-q", "-o", "t", "--", TRACED, "hit 3", "exit 2")
    assert d.out == "" and d.err == "", d


def test_command_fails():
    """a command that fails is no failure of the recording, but is told"""
    tacho("record", "-o", "t", "--", TRACED, "hit 3", "exit 4",
          says="the command ended with status 4")
    assert len(read("t").events) == 3


def test_command_killed():
    """a command that is killed: its events are there"""
    tacho("record", "-o", "t", "--", TRACED, "hit 300", "die 9",
          says=r"killed by signal 9 \(Killed\)")
    assert len(read("t").events) == 300


def test_command_missing():
    """a command that cannot be run: one sentence, status 1, an empty trace"""
    d = tacho("record", "-o", "t", "--", "/nonexistent/x", ok=1,
              says="cannot run '/nonexistent/x': No such file")
    assert "recover" not in d.err, d
    assert not read("t").events
    open("data", "w").close()
    tacho("record", "-o", "u", "--", "./data", ok=1, says="Permission denied")


def test_children():
    """children: forked, cloned, vforked, spawned, exec'd, left behind"""
    d = tacho("record", "-o", "t", "--", TRACED, "hit 1", "fork hit 2",
              "clone hit 3", "vfork hit 4", "spawn hit 5", "orphan hit 6",
              "fork fork fork hit 7", "exec hit 8")
    t = read("t")
    counts = {}
    for slot, ns in t.hits().items():
        for n in ns:
            counts.setdefault(slot, []).append(n)
    # the parent hits once, and eight times more as another program
    assert sorted(len(v) for v in counts.values()) in (
        [2, 3, 4, 5, 6, 7, 9], [2, 3, 4, 5, 7, 9]), counts
    assert d.status == 0
    assert not proc_files(), proc_files()


def test_through_a_shell():
    """programs started by one that knows nothing of tacho"""
    tacho("record", "-o", "t", "--", "sh", "-c",
          "%s 'hit 10'; sh -c '%s \"hit 20\"; true'; true" % (TRACED, TRACED))
    assert len(read("t").events) == 30


def test_daemon():
    """a program whose parents are gone before it starts"""
    tacho("record", "-o", "t", "--", "sh", "-c",
          "sh -c '(while [ ! -e go ]; do sleep .01; done; %s \"hit 10\";"
          " touch done) & true'; touch go;"
          "while [ ! -e done ]; do sleep .01; done" % TRACED)
    assert len(read("t").events) == 10


def test_clean_environment():
    """a grandchild with an empty environment, known by its ancestors"""
    tacho("record", "-o", "t", "--", "sh", "-c",
          "env -i TACHO_DIR=%s %s 'hit 10'; true" % (run_dir, TRACED))
    assert len(read("t").events) == 10


def test_many_children():
    """more children than the list of processes has places"""
    p = ["fork hit 1"] * 1100
    tacho("record", "-o", "t", "--", TRACED, *p)
    t = read("t")
    assert len(t.events) == 1100, len(t.events)


def test_threads_and_signals():
    """threads, and handlers that trace"""
    d = tacho("record", "-o", "t", "--", TRACED, "threads 8 1000",
              "signals 500", "timer 20000", "pid")
    n, pid = d.out.split()[:2]
    t = read("t")
    got = t.hits()
    assert list(got) == [int(pid)]
    # each number once; threads on two CPUs may trace them in another order
    assert sorted(got[int(pid)]) == list(range(int(n))), len(got[int(pid)])
    assert len({e.pid for e in t.events}) == 9


def test_globs():
    """-e: globs, repeated, and ! takes away"""
    def record(*e):
        shutil.rmtree("t", ignore_errors=True)
        tacho("record", "-o", "t", *e, "--", TRACED, "hit 1", "other 1",
              "mark 1", "text 5")
        return [e.name[4:] for e in read("t").events]
    assert record("-e", "rec:hit") == ["hit"]
    assert record("-e", "rec:h*,rec:m[a-k]rk") == ["hit", "mark"]
    assert record("-e", "rec:*,!rec:hit") == ["other", "mark", "text"]
    assert record("-e", "rec", "-e", "!rec:hit", "-e", "!text") == \
        ["other", "mark"]
    assert record("-e", "!rec:hit") == ["other", "mark", "text"]
    assert record("-e", "mark") == ["mark"]
    assert record("-e", "nosuch:*") == []


def test_attach():
    """-p: a running program, others not; off again afterwards"""
    a, b = Traced(), Traced()
    assert a.do("enabled") == "0\n"
    p = recorder("-p", a.pid, "-o", "t")
    assert a.do("enabled") == "1\n" and b.do("enabled") == "0\n"
    a.do("hit 500")
    b.do("hit 500")
    d = stop(p)
    assert a.do("enabled") == "0\n"
    a.do("hit 5")
    same_hits(read("t"), {a.pid: 500})
    a.end()
    b.end()


def test_attach_follow():
    """-p with and without --follow"""
    a = Traced()
    p = recorder("-p", a.pid, "-o", "t")
    a.do("fork hit 10")
    a.do("spawn hit 10")
    a.do("hit 1")
    stop(p)
    assert len(read("t").events) == 1
    p = recorder("-p", a.pid, "--follow", "-o", "u")
    a.do("fork hit 10")
    a.do("spawn hit 20")
    a.do("hit 3")
    stop(p)
    assert len(read("u").events) == 33
    a.end()


def test_attach_twice():
    """two recorders on one program: each has everything"""
    a = Traced()
    p = recorder("-p", a.pid, "-o", "t", name="one")
    a.do("hit 10")
    q = recorder("-p", a.pid, "-o", "u", name="two")
    a.do("hit 10")
    stop(p)
    a.do("hit 10")
    stop(q)
    assert a.do("enabled") == "0\n"
    a.end()
    assert [len(read("t").events), len(read("u").events)] == [20, 20]


def test_attach_nobody():
    """-p of no process"""
    dead = cmd("true").pid
    tacho("record", "-p", dead, ok=1, says="there is no process %d" % dead)
    tacho("record", "-p", "x", ok=2, says="'x' is not a process id")
    tacho("record", "-p", "1,-3", ok=2, says="'-3' is not a process id")


def test_everybody():
    """without command and -p: all programs, those that run and later ones"""
    a = Traced()
    p = recorder("-o", "t")
    a.do("hit 10")
    b = Traced()
    b.do("hit 20")
    b.end()
    c = cmd(TRACED, "hit 30")
    d = stop(p)
    a.end()
    same_hits(read("t"), {a.pid: 10, b.pid: 20, c.pid: 30})


def test_ends():
    """SIGINT, SIGTERM, SIGHUP end it with everything read; --duration"""
    a = Traced()
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        p = recorder("-o", "t%d" % sig, "-p", a.pid)
        a.do("hit 20000")
        stop(p, sig)
        assert len(read("t%d" % sig).events) == 20000
    a.end()
    tacho("record", "-o", "d", "--duration", "50ms")
    tacho("record", "-o", "e", "--duration", "50ms", "--", "sleep", "100")


def test_interrupt_command():
    """the recorder ends before its command: the command goes on"""
    p = recorder("-o", "t", "--", TRACED, "hit 100", "touch here",
                 "until go", "hit 100", "touch there")
    until("the command has hit", lambda: os.path.exists("here"))
    stop(p, signal.SIGTERM)
    assert len(read("t").events) == 100
    open("go", "w").close()
    until("the command ends", lambda: os.path.exists("there"))


def test_boot_option():
    """TACHO_EVENTS: from the first event on, also of a program's children"""
    d = cmd(TRACED, "hit 7", "pid", "fork hit 3", "spawn hit 2",
            env={"TACHO_EVENTS": "rec:*"})
    assert d.status == 0, d
    cmd(TRACED, "hit 100")
    assert session("boot")["overwrite"] and sessions() == ["boot"]
    tacho("recover", "-o", "t", "boot")
    t = read("t")
    assert len(t.events) == 12, len(t.events)
    assert t.hits()[int(d.out)] == list(range(7))
    d = cmd(TRACED, "hit 7", "other 2", env={
        "TACHO_EVENTS": "nosuch,rec:hit", "TACHO_SESSION": "mine"})
    tacho("snapshot", "-o", "u", "mine")
    assert len(read("u").events) == 7
    tacho("destroy", "mine")


def test_sixty_four():
    """64 sessions record at once; the 65th is refused"""
    a = Traced()
    for i in range(64):
        tacho("create", "-b", "64K", "--subbuf", "4K", "-e", "rec:hit", "s%d" % i)
    tacho("create", "-b", "64K", "s64", ok=1, says="all 64 sessions are in use")
    tacho("record", "-o", "r", "--", "touch", "ran", ok=1, says="all 64")
    assert not os.path.exists("ran") and not os.path.exists("r")
    a.do("hit 10")
    a.do("errno")
    counts = {s["name"]: s["written"] for s in status()["sessions"]}
    assert counts == {"s%d" % i: 14 for i in range(64)}, counts
    for i in (0, 31, 63):
        tacho("recover", "-o", "t%d" % i, "s%d" % i)
        same_hits(read("t%d" % i), {a.pid: 14})
        tacho("create", "-b", "64K", "--subbuf", "4K", "-e", "rec:hit", "s%d" % i)
    a.do("hit 1")
    counts = {s["name"]: s["written"] for s in status()["sessions"]}
    assert counts == {"s%d" % i: 1 if i in (0, 31, 63) else 15
                      for i in range(64)}, counts
    tacho("destroy", *["s%d" % i for i in range(64)])
    assert a.do("enabled") == "0\n"
    a.do("hit 1")
    a.end()


def test_sweep_processes():
    """files of killed processes go at the next look"""
    a = Traced()
    a.do("hit 1")
    assert len(proc_files()) == 1
    a.p.kill()
    a.p.wait()
    assert len(proc_files()) == 1
    assert not status()["processes"] and not proc_files()


def test_kernel():
    """-k: programs and kernel in one trace; the instance is gone afterwards"""
    need_tracefs()
    d = tacho("record", "-o", "t", "-k", "sched:sched_process_exit", "-e", "rec:*",
              "--only", "--no-kallsyms", "--json", "--", TRACED, "hit 50",
              "fork hit 50")
    j = json.loads(d.out)
    t = read("t")
    assert len(t.events) == 100 and t.kernel_events == 2, (
        len(t.events), t.kernel_events)
    assert j["kernel_events"] == 2 and j["events"] == 102, j
    # one clock: the exits come after all of the program's events
    out = tacho("report", "-F", "json", "t").out.splitlines()
    assert "sched_process_exit" in out[-1]


def test_kernel_alone():
    """-k without a session of programs; an unknown event"""
    need_tracefs()
    tacho("record", "-o", "t", "-k", "sched:sched_process_exit",
          "--no-kallsyms", "--", "sh", "-c", "true & wait")
    t = read("t")
    assert t.kernel_events >= 2 and not t.events
    d = tacho("record", "-o", "u", "-k", "nosuch:event", "--", "touch", "ran",
              ok=1, says="no kernel event matches 'nosuch:event'")
    assert not os.path.exists("ran") and not os.path.exists("u")
    tacho("record", "-o", "u", "-k", "sched:sched_process_exit", "--clock",
          "boot", "--", "touch", "ran", ok=1, says="leave --clock out")
    assert not os.path.exists("ran")


def test_kernel_sweep():
    """the instance of a killed recorder goes with the next recording"""
    need_tracefs()
    p = start(TACHO, "record", "-s", "dead", "-o", "t", "--no-kallsyms",
              "-k", "sched:sched_process_exit")
    until("the instance", instances)
    p.kill()
    p.wait()
    assert instances()
    tacho("record", "-o", "u", "-k", "sched:sched_process_exit",
          "--no-kallsyms", "--", "true")
    assert not instances(), instances()


def test_session_taken():
    """a session's name that is in use"""
    tacho("create", "-b", "64K", "mine")
    tacho("record", "-s", "mine", "-o", "t", "--", "touch", "ran", ok=1,
          says="session 'mine' exists already")
    assert not os.path.exists("ran") and not os.path.exists("t")
    tacho("destroy", "mine")


run(globals())
