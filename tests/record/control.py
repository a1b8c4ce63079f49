# SPDX-License-Identifier: MIT
"""filter -k, trigger -k, synth, hist -s: commands while something records, who takes
them, what is refused and in which words."""
from rec import *

# recordings of the kernel are found by their names, and others record too
NAME = "s%d" % os.getpid()
SMALL = ("-b", "64K", "--subbuf", "4K")
ENTER = "raw_syscalls:sys_enter"
GETPPID = 110
# what nobody calls
NEVER = "id == 99999"


def kernel_recorder(*argv, name=None):
    """`tacho record` of kernel events alone, once it records; its instance."""
    need_tracefs()
    p = start(TACHO, "record", "-q", "-s", name or NAME, "--no-kallsyms", *argv)
    found = []

    def ready():
        assert p.poll() is None, "record ended: %r" % finish(p)
        found[:] = [d for d in instances() if "-%d-" % p.pid in d]
        # a new instance is on; it is off when the first event is enabled
        try:
            return found and tracefs(found[0], "set_event") and \
                tracefs(found[0], "tracing_on") == "1\n"
        except OSError:         # ENODEV: it is being made
            return False
    until("the kernel records", ready)
    return p, found[0]


def tracefs(instance, name):
    with open(os.path.join(INSTANCES, instance, name)) as f:
        return f.read()


def early(instance, name):
    """The same of an instance that may be in the making: "" while the file is not there."""
    try:
        return tracefs(instance, name)
    except OSError:         # ENODEV, too: it is being made
        return ""


def has_hist():
    return os.path.exists("/sys/kernel/tracing/events/sched/sched_switch/hist")


def events(path):
    out = tacho("report", "-F", "json", path).out
    return [e for e in map(json.loads, out.splitlines()) if "event" in e]


def caret(column, *argv):
    """The command is refused, with a caret under that column; the sentence."""
    d = tacho(*argv, ok=1)
    lines = d.err.rstrip("\n").split("\n")
    assert not d.out and len(lines) == 3, d
    assert lines[1] == "  " + argv[-1] and lines[2].index("^") - 2 == column, d
    return lines[0]


def refused(*argv, says):
    """In one sentence, and nothing else."""
    d = tacho(*argv, ok=1, says=says)
    assert not d.out and d.err.count("\n") == 1, d


# what only a process of this very test does
CALLER = "ctl%d" % os.getpid()
MINE = 'id == %d && comm == "%s"' % (GETPPID, CALLER)
CALLS = ("import os\nopen('/proc/self/comm', 'w').write('%s')\n"
         "for i in range(%%d): os.getppid()" % CALLER)


def calls(n):
    """A process that calls getppid() n times; its pid."""
    if os.uname().machine != "x86_64":
        raise Skip("system calls have other numbers")
    return cmd(sys.executable, "-c", CALLS % n).pid


def test_filter():
    """filter -k: what it lets pass is recorded, from then on and until it goes"""
    p, inst = kernel_recorder("-o", "t", "-k", ENTER, "--filter", NEVER)
    assert tacho("filter", "-s", NAME, "-k").out == ENTER + "\t" + NEVER + "\n"
    calls(10)
    d = tacho("filter", "-s", NAME, "-k", ENTER, MINE)
    assert not d.out and not d.err, d
    pid = calls(200)
    tacho("filter", "-s", NAME, "-k", ENTER, NEVER)
    calls(10)
    stop(p)
    evs = events("t")
    assert [(e["fields"]["id"], e["pid"]) for e in evs] == [(GETPPID, pid)] * 200, evs[:3]
    assert not instances()


def test_filter_list():
    """filter -k: lists, JSON, globs, removal"""
    p, inst = kernel_recorder("-o", "t", "-k", "sched:sched_switch")
    f = ("filter", "-s", NAME, "-k")
    assert tacho(*f).out == "" and tacho(*f, "--json").out == "[]\n"
    tacho(*f, "raw_syscalls:", "id > 5")
    tacho(*f, "sched:sched_switch", "next_pid > 5")
    assert tacho(*f).out == ("raw_syscalls:sys_enter\tid > 5\n"
                             "raw_syscalls:sys_exit\tid > 5\n"
                             "sched:sched_switch\tnext_pid > 5\n")
    assert tacho(*f, "*:sys_e*t").out == "raw_syscalls:sys_exit\tid > 5\n"
    assert json.loads(tacho(*f, "--json", "sched").out) == [
        {"event": "sched:sched_switch", "text": "next_pid > 5"}]
    # some of a system's events have the field, and that is enough
    tacho(*f, "sched:", "next_prio == 7")
    assert tacho(*f, "sched").out == "sched:sched_switch\tnext_prio == 7\n"
    tacho(*f, "*:*", "0")
    assert tacho(*f).out == ""
    stop(p)
    assert not instances()


def test_filter_wrong():
    """filter -k: the kernel's words and carets; what was set stays"""
    p, inst = kernel_recorder("-o", "t", "-k", ENTER, "--filter", NEVER)
    f = ("filter", "-s", NAME, "-k")
    assert "Field not found" in caret(5, *f, ENTER, "nope == 1")
    assert "Invalid value" in caret(7, *f, ENTER, "id == x")
    assert tacho(*f, ENTER).out == ENTER + "\t" + NEVER + "\n"
    caret(14, *f, "sched:*", "no_such_field == 1")
    assert tacho(*f, "sched").out == ""
    refused(*f, "nope:nope", "id == 1", says="no kernel event matches 'nope:nope'")
    refused("filter", "-s", "no" + NAME, "-k", says="there is no session 'no%s', and no rec" % NAME)
    tacho(*f, ENTER, "id", "1", ok=2)
    tacho("filter", "-k", ok=2)
    tacho("synth", "-s", NAME, "-k", ok=2)
    stop(p)


def test_session():
    """filter -k of a session that records programs too; of one that does not"""
    need_tracefs()
    tacho("create", *SMALL, "p")
    refused("filter", "-s", "p", "-k", says="session 'p' records nothing of the k")
    tacho("destroy", "p")
    p = recorder("-o", "t", "-e", "rec:*", "-k", ENTER, "--filter", ENTER + "/" + NEVER,
                 name=NAME)
    tacho("filter", "-s", NAME, "rec:hit", "n < 3")
    assert tacho("filter", "-s", NAME, "-k").out == ENTER + "\t" + NEVER + "\n"
    tacho("filter", "-s", NAME, "-k", ENTER, "0")
    cmd(TRACED, "hit 10")
    stop(p)
    names = [e["event"] for e in events("t")]
    assert names.count("hit") == 3 and names.count("sys_enter") > 0, set(names)
    assert not instances()


def test_trigger():
    """trigger -k: stacks, counts, one of a kind, removal"""
    p, inst = kernel_recorder("-o", "t", "-k", ENTER, "--filter", NEVER)
    t = ("trigger", "-s", NAME, "-k")
    assert tacho(*t).out == ""
    tacho(*t, ENTER, "stacktrace:5 if " + MINE)
    assert tacho(*t).out == ENTER + "\tstacktrace:count=5 if %s\n" % MINE
    assert json.loads(tacho(*t, "--json").out)[0]["event"] == ENTER
    assert tacho(*t, "sched").out == ""
    refused(*t, ENTER, "stacktrace", says="sys_enter has such a trigger already")
    calls(200)
    assert tacho(*t).out == ENTER + "\tstacktrace:count=0 if %s\n" % MINE
    tacho(*t, ENTER, "!stacktrace")
    tacho(*t, ENTER, "traceoff:1 if " + MINE)
    calls(5)
    assert tracefs(inst, "tracing_on") == "0\n"
    tacho(*t, ENTER, "!traceoff")
    assert tacho(*t).out == ""
    stop(p)
    # of five stacks, each behind an event that was not wanted itself
    assert not [e for e in events("t") if e["event"] == "sys_enter"]
    assert not instances()


def test_trigger_wrong():
    """trigger -k: what is refused, by whom"""
    p, inst = kernel_recorder("-o", "t", "-k", ENTER)
    t = ("trigger", "-s", NAME, "-k")
    refused(*t, ENTER, "nope", says="there is no trigger 'nope'")
    refused(*t, ENTER, "!nope", says="there is no trigger 'nope'")
    refused(*t, "nope:nope", "traceon", says="no kernel event matches")
    for text in ("snapshot", "snapshot:1 if id == 3",
                 "hist:keys=id:x=id:onmax($x).snapshot()"):
        refused(*t, ENTER, text, says="snapshot by the kernel.*--on-kernel " + ENTER)
    refused(*t, ENTER, "hist:keys=id:t=common_timestamp",
            says="common_timestamp.*tacho hist -k -e " + ENTER)
    refused(*t, ENTER, "enable_event:sched:sched_switch",
            says="recording does not know the event 'sched:sched_switch'")
    refused(*t, ENTER, "enable_event:nope:nope", says="'nope:nope'")
    tacho(*t, ENTER, "disable_event:" + ENTER)
    assert tacho(*t).out == ENTER + "\tdisable_event:%s:unlimited\n" % ENTER
    tacho(*t, ENTER, "!disable_event:" + ENTER)
    assert tacho(*t).out == ""
    stop(p)


def test_hist():
    """trigger -k hist: the kernel's own, or who does it instead"""
    p, inst = kernel_recorder("-o", "t", "-k", ENTER)
    t = ("trigger", "-s", NAME, "-k", ENTER)
    text = "hist:keys=id if " + MINE
    if has_hist():
        tacho(*t, text)
        calls(200)
        assert re.search(r"id: +%d .* hitcount: +200\n" % GETPPID,
                         tacho("hist", "-s", NAME).out)
        tacho(*t, "!" + text)
    else:
        refused(*t, text, says="no histograms; 'tacho hist -k -e %s TRIGGER'" % ENTER)
    d = tacho("hist", "-s", NAME, says="has counted anything")
    assert d.out == "", d
    tacho("hist", "-s", NAME, "-k", "--json", says="has counted anything")
    tacho("hist", "-s", "no" + NAME, ok=1)
    tacho("hist", "-s", "no" + NAME, "-k", ok=1, says="there is no session 'no")
    tacho("hist", "-s", NAME, "-e", ENTER, "keys=id", ok=2)
    stop(p)
    # the verb that is named does the same text
    text = "hist:keys=id if id == %d" % GETPPID
    q = start(TACHO, "hist", "--json", "-k", "-e", ENTER, text)
    until("it reads", lambda: any("-%d-" % q.pid in d and
                                  "id" in early(d, "events/raw_syscalls/sys_enter/filter")
                                  and early(d, "tracing_on") == "1\n"
                                  for d in instances()))
    calls(200)
    q.send_signal(signal.SIGINT)
    h = json.loads(finish(q).out)
    # others may call it too
    assert h["entries"][0]["hitcount"] >= 200 and len(h["entries"]) == 1, h
    assert not instances()


def test_two_at_once():
    """two commands at once, and two recordings of one name"""
    p, inst = kernel_recorder("-o", "t", "-k", ENTER)
    both = [start(TACHO, "filter", "-s", NAME, "-k", ENTER, "id == %d" % i)
            for i in (1, 2)]
    both += [start(TACHO, "trigger", "-s", NAME, "-k", ENTER, "stacktrace:7 if id == 99999")
             for i in (1, 2)]
    done = [finish(x) for x in both]
    assert [d.status for d in done[:2]] == [0, 0], done
    assert sorted(d.status for d in done[2:]) == [0, 1], done
    assert re.match(ENTER + r"\tid == [12]\n$", tacho("filter", "-s", NAME, "-k").out)
    assert tacho("trigger", "-s", NAME, "-k").out.count("\n") == 1
    q, other = kernel_recorder("-o", "u", "-k", ENTER)
    refused("filter", "-s", NAME, "-k", says="several recordings .* called '%s'" % NAME)
    stop(q)
    tacho("filter", "-s", NAME, "-k", ENTER, "0")
    p.kill()
    p.wait()
    refused("filter", "-s", NAME, "-k", says="there is no session '%s'" % NAME)
    # whoever comes next removes it
    q, other = kernel_recorder("-o", "v", "-k", ENTER)
    assert instances() == [other]
    stop(q)


def test_long_name():
    """a recording's name that is too long for an instance's"""
    name = NAME + "x" * 40
    p, inst = kernel_recorder("-o", "t", "-k", ENTER, name=name)
    tacho("filter", "-s", name, "-k", ENTER, NEVER)
    refused("filter", "-s", name + "x", "-k", says="there is no session")
    stop(p)


def test_unprivileged():
    """an ordinary user: one sentence"""
    need_tracefs()
    p, inst = kernel_recorder("-o", "t", "-k", ENTER)
    env = {"TACHO_DIR": "/nonexistent/run"}
    for argv in (("filter", "-s", NAME, "-k"), ("filter", "-s", NAME, "-k", ENTER, "0"),
                 ("trigger", "-s", NAME, "-k", ENTER, "traceoff"),
                 ("synth", "-s", NAME, "a u64 b")):
        d = cmd(*NOBODY, TACHO, *argv, env=env)
        assert d.status == 1 and d.err.count("\n") == 1 and not d.out, (argv, d)
    assert tracefs(inst, "tracing_on") == "1\n"
    stop(p)


def test_synth():
    """synth: define, list, use, remove; what is wrong"""
    a = Traced()
    tacho("create", *SMALL, "-e", "rec:*", NAME)
    s = ("synth", "-s", NAME)
    assert tacho(*s).out == "" and tacho(*s, "--json").out == "[]\n"
    tacho(*s, "took u64 slot; u64 ns")
    assert "took u64 slot; u64 ns" in tacho(*s).out
    listed = json.loads(tacho(*s, "--json").out)
    assert len(listed) == 1 and "took" in listed[0]["text"], listed
    assert "exists" in tacho(*s, "took u64 x", ok=1).err
    assert "Invalid type" == caret(6, *s, "other n x")[7:]
    tacho(*s, "x", ok=1)
    tacho(*s, "!nope", ok=1, says="There is no synthetic event 'nope'")
    tacho(*s, "a u64 b", "c", ok=2)
    t = ("trigger", "-s", NAME)
    tacho(*t, "rec:hit", "hist:keys=slot:ts0=common_timestamp")
    tacho(*t, "rec:other", "hist:keys=slot:ns=common_timestamp-$ts0:"
          "onmatch(rec.hit).took(slot,$ns)")
    tacho(*t, "synthetic:took", "hist:keys=slot")
    tacho(*s, "!took", ok=1, says="'took' is in use")
    tacho("enable", "-q", "-s", NAME, "synthetic:took")
    a.do("hit 3")
    a.do("other 4")
    # the first of four: the time that it reads is gone then
    out = tacho("hist", "-s", NAME, "synthetic:took").out
    assert re.search(r"slot: +%d .*hitcount: +1\n" % a.pid, out), out
    tacho(*t, "synthetic:took", "!hist:keys=slot")
    tacho(*t, "rec:other", "!hist:keys=slot:ns=common_timestamp-$ts0:"
          "onmatch(rec.hit).took(slot,$ns)")
    tacho(*s, "!took")
    assert tacho(*s).out == ""
    tacho("destroy", NAME)
    a.end()


def test_record():
    """record --filter and --trigger: programs and the kernel, each what is its"""
    need_tracefs()
    r = ("record", "-q", "--no-kallsyms")
    # a text without an event is for all; who has no such field lets its own pass
    tacho(*r, "-o", "t", "-e", "rec:*", "-k", ENTER, "--filter", "n < 5",
          "--filter", ENTER + "/" + NEVER, "--", TRACED, "hit 20")
    evs = events("t")
    assert [e["fields"]["n"] for e in evs] == list(range(5)), evs
    d = tacho("record", "--no-kallsyms", "-o", "u", "-e", "rec:*", "-k", ENTER,
              "--filter", "n < 5", "--", "true", says="no event of the kernel takes 'n < 5'")
    refused(*r, "-o", "v", "-k", ENTER, "--filter", "nope:*/id == 1", "--", "true",
            says="no event that is recorded matches 'nope:\\*'")
    assert "Field not found" in caret(5, *r, "-o", "v", "-k", ENTER, "--filter",
                                      "nope == 1")
    refused(*r, "-o", "v", "-k", ENTER, "--trigger", ENTER + "/snapshot", "--", "true",
            says="--on-kernel")
    tacho(*r, "-o", "v", "-k", ENTER, "--synth", "a u64 b", "--", "true", ok=2,
          says="'tacho hist -k'")
    if not has_hist():
        refused(*r, "-o", "v", "-k", ENTER, "--trigger", ENTER + "/hist:keys=id", "--",
                "true", says="no histograms; 'tacho hist -k -e %s TRIGGER'" % ENTER)
    assert not instances() and not sessions() and not os.path.exists("v")


def test_record_enable():
    """record --trigger enable_event: an event that begins in the middle"""
    need_tracefs()
    exit_ = "raw_syscalls:sys_exit"
    tacho("record", "-q", "--no-kallsyms", "-o", "t", "-k", ENTER, "--filter",
          ENTER + "/" + MINE, "--trigger",
          "%s/enable_event:%s:1 if %s" % (ENTER, exit_, MINE), "--",
          sys.executable, "-c", CALLS % 50)
    evs = events("t")
    enters = [e for e in evs if e["event"] == "sys_enter"]
    pid = enters[0]["pid"]
    mine = [e for e in evs if e["pid"] == pid]
    assert len(enters) == 50 and len(mine) >= 100, (len(enters), len(mine))
    # of who made it begin there is nothing from before
    assert mine[0] == enters[0] and mine[1]["event"] == "sys_exit", mine[:3]
    tacho("check", "t")
    assert not instances()


run(globals())
