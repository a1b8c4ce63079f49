# SPDX-License-Identifier: MIT
"""list, status, create, enable, disable, start, stop, destroy: what they do, what
they refuse, and what an ordinary user gets."""
from rec import *

SMALL = ("-b", "64K", "--subbuf", "4K")


def test_usage():
    """a wrong command line: status 2, one sentence, where help is"""
    for line in (
            "", "frobnicate", "record --bogus", "record -o", "record --rotate x",
            "record --rotate 0", "record --keep 3", "record --keep 0 --rotate 1M",
            "record --flight --rotate 1M", "record --on a:b --rotate 1M",
            "record --on a:b --on-kernel c:d", "record --dumps 3",
            "record --keep-before 1s", "record --only", "record --duration x",
            "record -b 0", "record -b x", "record --subbuf x", "record -p x",
            "record --clock x", "record --dumps 0 --on a:b",
            "create", "create a b", "create -b 0 a", "create -b x a",
            "create -p 0 a", "create --clock x a", "create -e", "create --bogus",
            "start", "stop --bogus a", "destroy", "enable", "enable x",
            "enable -s a", "disable -s a", "snapshot", "snapshot a b",
            "recover", "recover a b", "status a b", "list --bogus"):
        d = tacho(*line.split(), ok=2)
        assert not d.out, (line, d)
        if line not in ("", "frobnicate"):
            first, second = d.err.strip().split("\n")
            assert re.match(r"see: tacho \S+ --help", second), (line, d)
    assert not sessions()


def assert_none():
    """Nothing of ours: instances that others keep in the kernel may be named before."""
    out = tacho("status").out
    assert re.search(r"^no sessions, no traced programs", out, re.M), out


def test_help():
    """--help of each verb: on stdout, status 0"""
    verbs = re.findall(r"^  (\w+) ", tacho("--help").out, re.M)
    assert len(verbs) >= 15, verbs
    for v in verbs:
        d = tacho(v, "--help")
        assert d.out.startswith("usage: tacho " + v) and not d.err, d
        assert all(len(x) <= 80 for x in d.out.split("\n")), v


def test_no_session():
    """an unknown session: status 1, one sentence"""
    tacho("create", *SMALL, "other")
    for line in ("start x", "stop x", "destroy x", "snapshot x", "status x",
                 "enable -s x a:b", "disable -s x a:b"):
        tacho(*line.split(), ok=1, says="^tacho: there is no session 'x'")
    tacho("recover", "x", ok=1, says="'x' is neither a directory nor a session")
    # one wrong name does not keep the others
    tacho("destroy", "x", "other", ok=1)
    assert not sessions()


def test_nothing_here():
    """without a run-time directory"""
    for line in ("start x", "destroy x", "snapshot x", "status x"):
        tacho(*line.split(), ok=1, says="nothing is traced here")
    assert_none()


def test_names():
    """names of sessions"""
    for name in ("a b", ".x", "", "x/y", "é", "x" * 64, "..", "x\n"):
        tacho("create", *SMALL, "--", name, ok=1, says="is not a session name")
    tacho("create", *SMALL, "x" * 63)
    tacho("create", *SMALL, "x" * 63, ok=1, says="exists already")
    tacho("create", "-b", "64K", "--subbuf", "3000", "y", ok=1, says="power of two")
    tacho("create", *SMALL, "--dir", "relative", "y", ok=1, says="absolute path")
    tacho("destroy", "x" * 63)


def test_create_wrong():
    """a session that cannot be made leaves nothing"""
    dead = cmd("true").pid
    tacho("create", *SMALL, "-p", dead, "s", ok=1, says="there is no process")
    tacho("create", *SMALL, "-e", "x" * 300, "s", ok=1, says="an event name has")
    tacho("create", *SMALL, "-p", ",".join(["1"] * 600), "s", ok=2,
          says="too many")
    assert not sessions() and status()["sessions"] == []


def test_rules():
    """enable and disable: running programs and later ones, later rules win"""
    a = Traced()
    tacho("create", *SMALL, "s")
    assert a.do("enabled") == "0\n"
    d = tacho("enable", "-s", "s", "--json", "rec:hit", "rec:o*")
    assert json.loads(d.out) == {"session": "s", "matched": 2}, d
    assert a.do("enabled") == "1\n"
    tacho("enable", "-s", "s", "nosuch:x", says="is kept for programs that start later")
    tacho("disable", "-s", "s", "rec:hit")
    assert a.do("enabled") == "0\n"
    a.do("hit 10")
    a.do("other 3")
    cmd(TRACED, "hit 10", "other 3")
    assert session("s")["written"] == 6
    tacho("enable", "-s", "s", "rec")
    a.do("hit 10")
    cmd(TRACED, "hit 10", "text 3")
    assert session("s")["written"] == 27
    rules = [(r["enable"], r["events"]) for r in session("s")["rules"]]
    assert rules == [(True, "rec:o*"), (True, "nosuch:x"), (False, "rec:hit"),
                     (True, "rec:*"), (True, "*:rec")], rules
    tacho("enable", "-s", "s", "", ok=1, says="an event name has")
    tacho("destroy", "s")
    assert a.do("enabled") == "0\n"
    a.end()


def test_too_many_rules():
    """512 rules"""
    tacho("create", *SMALL, "s")
    tacho("enable", "-q", "-s", "s", *["x:y%d" % i for i in range(512)])
    tacho("enable", "-q", "-s", "s", "x:more", ok=1, says="has 512 rules already")
    tacho("enable", "-q", "-s", "s", "x:y7")
    tacho("destroy", "s")


def test_start_stop():
    """stop keeps events out but on, start lets them in"""
    a = Traced()
    tacho("create", *SMALL, "--stopped", "-e", "rec:*", "s")
    assert session("s")["state"] == "stopped"
    a.do("hit 10")
    assert a.do("enabled") == "1\n" and session("s")["written"] == 0
    assert json.loads(tacho("start", "--json", "s").out)["recording"] == 1
    a.do("hit 10")
    tacho("stop", "s")
    tacho("stop", "s")
    a.do("hit 10")
    tacho("start", "s")
    a.do("hit 5")
    tacho("recover", "-o", "t", "s")
    assert numbers("t", a.pid) == list(range(10, 20)) + list(range(30, 35))
    a.end()


def numbers(path, pid):
    return read(path).hits()[pid]


def test_discard():
    """a full session that keeps the oldest: the rest is counted"""
    tacho("create", *SMALL, "-e", "rec:*", "s")
    a = Traced("cpu 0")
    a.do("hit 10000")
    s = session("s")
    assert s["written"] + s["lost_full"] == 10000 and s["lost_full"] > 5000, s
    tacho("recover", "-o", "t", "s")
    t = read("t")
    assert numbers("t", a.pid) == list(range(s["written"]))
    assert t.lost == s["lost_full"], (t.lost, s)
    a.end()


def test_pids():
    """create -p"""
    a, b = Traced(), Traced()
    tacho("create", *SMALL, "-p", a.pid, "-e", "rec:*", "s")
    for p in (a, b):
        p.do("hit 3")
        p.do("fork hit 3")
    tacho("create", *SMALL, "-p", "%d,%d" % (a.pid, b.pid), "--follow", "-e",
          "!rec:other", "f")
    for p in (a, b):
        p.do("hit 3")
        p.do("other 3")
        p.do("fork hit 3")
    assert session("s")["written"] == 9 and session("f")["written"] == 12
    assert session("s")["pids"] == [a.pid]
    tacho("destroy", "s", "f")
    a.end()
    b.end()


def test_persist():
    """create --dir: files that stay, and are recovered by their directory"""
    d = os.path.join(work, "disk")
    tacho("create", *SMALL, "--dir", d, "-e", "rec:*", "s")
    w = cmd(TRACED, "hit 50")
    # the machine goes down: the registry is gone, the files are not
    shutil.rmtree(run_dir)
    tacho("recover", "-o", "t", d)
    assert numbers("t", w.pid) == list(range(50))


def test_other_version():
    """a run-time directory of another version is refused, whatever its size"""
    tacho("create", *SMALL, "s")
    tacho("destroy", "s")
    registry = os.path.join(run_dir, "registry")
    os.truncate(registry, os.path.getsize(registry) - 4096)
    for verb in ("status",), ("create", "s"), ("record", "-o", "t", "--", "true"):
        tacho(*verb, ok=1, says="made by another version of tacho; remove it")
    finish(start(TRACED, "hit 3"))


def test_overwritten():
    """a flight recorder: written = read + overwritten, before and after a snapshot"""
    tacho("create", "--flight", *SMALL, "-e", "rec:*", "s")
    finish(start(TRACED, "hit 20000"))

    def held():
        lines = tacho("report", "-F", "json", "session:s").out.splitlines()
        stat = json.loads(tacho("stat", "--json", "session:s").out)
        n = len([x for x in lines if '"event"' in x])
        assert stat["overwritten"] == session("s")["overwritten"], stat
        assert stat["lost"] == 0 and stat["events"] == n, (stat, n)
        return n

    s = session("s")
    assert s["written"] == 20000 and s["overwritten"] > 10000, s
    assert held() == s["written"] - s["overwritten"]
    assert "%d overwritten, 0 discarded" % s["overwritten"] in tacho("status").out
    n = held()
    tacho("snapshot", "-o", "t", "s")
    finish(start(TRACED, "hit 50"))
    assert held() == 50
    assert json.loads(tacho("stat", "--json", "t").out)["events"] == n
    s = session("s")
    assert (s["written"], s["written"] - s["overwritten"]) == (20050, n + 50), s
    tacho("destroy", "s")


def test_status():
    """status: text and JSON say the same"""
    assert_none()
    a = Traced()
    tacho("create", *SMALL, "-e", "rec:*,!rec:text", "s")
    a.do("hit 3")
    out = tacho("status").out
    for line in (r"^s: recording, keeps the oldest$",
                 r"^  events    3 written, 0 discarded \(0 full, 0 too large, 0 busy\)$", r"^  rule      enable  rec:\*$",
                 r"^  rule      disable rec:text$", r"^  directory %s/sessions/s$" % run_dir,
                 r"^process %d \(traced\): 5 events, 4 enabled$" % a.pid):
        assert re.search(line, out, re.M), (line, out)
    j = status()
    assert j["directory"] == run_dir
    assert j["processes"] == [{"pid": a.pid, "comm": "traced", "events": 5,
                               "enabled": 4, "lost_events": 0,
                               "lost_sessions": 0, "lost_programs": 0,
                               "lost_stacks": 0,
                               "sharers": 0, "unseated": 0}], j
    assert tacho("status", "s").out in out
    tacho("destroy", "s")
    a.end()


def test_status_recorder():
    """status names the recorder, while it runs and after its death"""
    p = recorder("-o", "t")
    assert session("s")["recorder"] == p.pid
    assert session("s")["recorder_state"] == "runs"
    assert session("s")["output"] == work + "/t"
    tacho("recover", "t", ok=1, says="is being recorded by process %d" % p.pid)
    tacho("recover", "-o", "u", "s", ok=1, says="is being recorded")
    p.kill()
    p.wait()
    assert session("s")["recorder_state"] == "died"
    assert "died, writes to %s/t" % work in tacho("status").out
    tacho("recover", "t")


UNFIT = (
    ("--filter", "rec:hit/nofield == 1", "fits no event 'rec:hit': Field not found; "
     "these were recorded without it"),
    ("--filter", "rec:hit/n == -1", "'n == -1' fits no event 'rec:hit': Illegal integer"),
    ("--trigger", "rec:hit/hist:keys=nofield", "Couldn't find field; it never ran"),
    ("--trigger", "rec:hit/traceoff if nofield == 1", "Field not found; it never ran"),
    ("--filter", "rec:hot/n == 1", "no program had an event 'rec:hot' for the filter"),
)


def test_unfit():
    """what no program could apply is told at the end, with the reason"""
    for i, (option, text, says) in enumerate(UNFIT):
        tacho("record", "-o", "t%d" % i, option, text, "--", TRACED, "hit 5", "mark 1",
              says=says)
        # it lets all through
        assert len(read("t%d" % i, check=False).events) == 6
    # what fits one of several events, and what fits, is not worth a word
    for i, text in enumerate(("text == \"x\"", "n > 2", "rec:hit/n < 3")):
        d = tacho("record", "-o", "u%d" % i, "--filter", text, "--", TRACED, "hit 5",
                  "text 3")
        assert "fits" not in d.err and "no program" not in d.err, d
    # and what no event can ever have is refused
    for text in "n ==", "n == 0x", "n & \"x\"", "(n == 1":
        tacho("record", "-o", "v", "--filter", text, "--", TRACED, "hit 5", ok=1)
        assert not os.path.exists("v")


def test_unfit_status():
    """... and by status, as long as the session lives"""
    tacho("create", "s", "-e", "rec:*")
    tacho("filter", "-s", "s", "rec:hit", "nofield == 1")
    tacho("trigger", "-s", "s", "rec:hit", "hist:keys=n")
    why = {u["text"]: u["why"] for u in session("s")["unfit"]}
    assert why == {"nofield == 1": "No such event", "hist:keys=n": "No such event"}, why
    assert "filter    'nofield == 1' of 'rec:hit' fits no event yet" in \
        tacho("status", "s").out
    a = Traced()
    a.do("enabled")
    (u,) = session("s")["unfit"]
    assert u == {"kind": "filter", "events": "rec:hit", "text": "nofield == 1",
                 "why": "Field not found"}, u
    assert "of 'rec:hit' fits no event: Field not found" in tacho("status").out
    a.end()
    tacho("destroy", "s")


NO_EVENT = (
    (("-e", "rec:hti"), "no program had an event 'rec:hti'; near it are: rec:hit$"),
    (("-e", "rec:hit,rec:mrak"), "had an event 'rec:mrak'; near it are: rec:mark$"),
    (("-e", "rce"), "no program had an event 'rce'; near it are: rec:\\*$"),
    (("-e", "nosuch:*"), "no program had an event 'nosuch:\\*'$"),
    (("--on", "rec:mrk"), "no program had an event 'rec:mrk'; near it are: rec:mark$"),
)


def test_no_such_event():
    """an event that no program has is named at the end, with what is near"""
    for i, (what, says) in enumerate(NO_EVENT):
        d = tacho("record", "-o", "t%d" % i, *what, "--", TRACED, "hit 5", "mark 1")
        assert re.search(says, d.err, re.M), (what, d)
    # what programs have is not worth a word, whether it happened or not
    for i, what in enumerate(("rec:wide", "rec", "hit", "rec:mar*", "!rec:mark", "*:*",
                              ":hit")):
        d = tacho("record", "-o", "u%d" % i, "-e", what, "--", TRACED, "hit 5")
        assert "no program" not in d.err, (what, d)
    tacho("record", "-o", "v", "--", "true", says="no program with events of its own ran")
    # of one that runs already
    a = Traced()
    a.do("enabled")
    p = recorder("-o", "w", "-e", "rec:hit,rec:hti", "-p", str(a.pid))
    a.do("hit 1")
    d = stop(p)
    assert "no program had an event 'rec:hti'; near it are: rec:hit" in d.err, d
    assert d.err.count("no program") == 1, d
    a.end()


def test_list():
    """list: events of programs and of the kernel, chosen by globs"""
    a, b = Traced(), Traced()
    tacho("create", *SMALL, "-p", a.pid, "-e", "rec:hit", "s")
    out = tacho("list", "--programs").out.splitlines()
    assert [x.split()[0] for x in out] == [
        "rec:hit", "rec:mark", "rec:other", "rec:text", "rec:wide"], out
    assert re.search(r"^rec:hit +program, in 2 processes, enabled$", out[0])
    assert re.search(r"^rec:mark +program, in 2 processes$", out[1])
    j = json.loads(tacho("list", "--programs", "--json", "-F", "rec:[ht]*").out)
    assert [x["event"] for x in j] == ["rec:hit", "rec:text"], j
    assert j[0]["enabled"] == 1 and j[0]["processes"] == 2
    assert "field:u64 slot;" in j[0]["format"]
    tacho("list", "--programs", "zz*", ok=1, says="no event matches 'zz\\*'")
    tacho("destroy", "s")
    a.end()
    b.end()
    assert tacho("list", "--programs").out == ""


def test_list_kernel():
    """list --kernel"""
    need_tracefs()
    out = tacho("list", "--kernel", "sched:sched_switch").out
    assert re.match(r"^sched:sched_switch +kernel\n$", out), out
    out = tacho("list", "-F", "--kernel", "sched:sched_switch").out
    assert "prev_comm" in out


def test_unprivileged():
    """an ordinary user: programs are recorded; for the kernel one sentence"""
    need_root()
    program, env = for_nobody(TRACED)
    os.mkdir("home")
    os.chown("home", 65534, 65534)
    os.chdir("home")
    env.update({"TACHO_DIR": os.path.abspath("run"), "HOME": os.path.abspath(".")})
    d = cmd(*NOBODY, TACHO, "record", "-o", "t", "--", program, "hit 10",
            "fork hit 2", env=env)
    assert d.status == 0, d
    assert len(read("t").events) == 12
    assert os.stat("run").st_mode & 0o777 == 0o700
    d = cmd(*NOBODY, TACHO, "record", "-o", "u", "-k", "sched:*", "--", "touch",
            "ran", env=env)
    assert d.status == 1 and d.err.count("\n") == 1, d
    assert re.search(r"root|mount", d.err), d
    assert not os.path.exists("ran") and not os.path.exists("u")
    d = cmd(*NOBODY, TACHO, "list", "--kernel", env=env)
    assert d.status == 1 and d.err.count("\n") == 1, d
    os.chdir("..")


run(globals())
