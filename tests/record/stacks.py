# SPDX-License-Identifier: MIT
"""Call stacks and addresses of programs: functions, files and lines, of programs
and libraries as they were when it was recorded, and no wrong ones after that."""
from rec import *

STACKED = os.environ["STACKED"]
DIR = os.environ["STACKED_DIR"]
DWARF = os.environ["HAVE_DWARF"] == "1"
FIRST = os.path.join(DIR, "libplugin1.so")
OTHER = os.path.join(DIR, "libplugin2.so")


def line_of(name, path=os.environ["STACKED_C"]):
    with open(path) as f:
        for nr, line in enumerate(f, 1):
            if "LINE " + name in line:
                return nr
    raise AssertionError(name)


def events(path, *more):
    out = tacho("report", "-F", "json", *more, path).out
    return [e for e in map(json.loads, out.splitlines()) if "event" in e]


def stacks(path):
    return [e["stack"] for e in events(path) if e["event"] == "user_stack"]


def names(stack):
    return [f.get("function") for f in stack]


def frame(stack, name):
    got = [f for f in stack if f.get("function") == name]
    assert len(got) == 1, (name, stack)
    return got[0]


def create(*triggers, enable="stk:*"):
    tacho("create", "s")
    if enable:
        tacho("enable", "-s", "s", enable)
    for event, text in triggers:
        tacho("trigger", "-s", "s", event, text)


def run_stacked(*commands, program=STACKED, **more):
    d = cmd(program, *commands, **more)
    assert d.status == 0, d
    return d


def Stacked(program=STACKED):
    return Traced(program=program)


def recover():
    tacho("recover", "-o", "t", "s")


def is_line(f, name, path=os.environ["STACKED_C"]):
    if DWARF:
        assert os.path.basename(f["file"]) == os.path.basename(path), f
        assert f["line"] == line_of(name, path), (f, line_of(name, path))
    else:
        assert "file" not in f, f


def test_names():
    """a program, a linked library, one loaded later, a fork, an exec"""
    create(("stk:step", "stacktrace"))
    run_stacked("outer", "lib", "load %s first_enter" % FIRST, "fork",
                "exec second")
    recover()
    got = stacks("t")
    assert len(got) == 5, got
    for s, via in zip(got, ("outer", "outer", "outer", "second", "second")):
        assert frame(s, "inner")["object"].endswith("/stacked")
        is_line(frame(s, via), via)
        assert "main" in names(s), names(s)
    lib = os.environ["STACK_LIB_C"]
    is_line(frame(got[1], "lib_enter"), "enter", lib)
    is_line(frame(got[2], "first_enter"), "enter", lib)
    assert frame(got[2], "first_enter")["object"] == FIRST
    assert frame(got[3], "child") and "child" not in names(got[4])
    # as the kernel prints it, one frame a line
    text = tacho("report", "t").out
    where = r"\(stacked\.c:%d\)" % line_of("outer") if DWARF else r"\[stacked\]"
    assert re.search(r": user_stack: <user stack trace>\n( => .*\n)* => "
                     r"inner\+0x[0-9a-f]+ .*\n => outer\+0x[0-9a-f]+ " + where +
                     "\n", text), text
    assert "\n\n" not in text, text


def test_reloaded():
    """another library where one was: whose name it is depends on the time"""
    create(("stk:step", "stacktrace"))
    p = Stacked()
    where = [p.do("load %s first_enter" % FIRST), p.do("unload"),
             p.do("load %s other_enter" % OTHER), p.do("unload"),
             p.do("load %s first_enter" % FIRST)]
    p.end()
    recover()
    got = stacks("t")
    for s, name in zip(got, ("first_enter", "other_enter", "first_enter")):
        assert frame(s, name), names(s)
        assert len([n for n in names(s) if n and n.endswith("_enter")]) == 1
    assert len(got) == 3
    if where[0] != where[2]:
        raise Skip("the loader put them at different addresses")


def tool(name):
    if not shutil.which(name):
        raise Skip("no " + name)
    return name


def copy_program():
    """A program of our own with its libraries, to be changed."""
    shutil.copy(STACKED, "prog")
    env = {"LD_LIBRARY_PATH": DIR + ":" + os.environ["LIBTACHO"]}
    return os.path.abspath("prog"), env


def test_stripped():
    """a stripped program: with its debug file names, without it only places"""
    objcopy = tool("objcopy")
    prog, env = copy_program()
    assert cmd(objcopy, "--only-keep-debug", prog, "prog.debug").status == 0
    assert cmd(objcopy, "--strip-all", "--add-gnu-debuglink=prog.debug",
               prog).status == 0
    create(("stk:step", "stacktrace"))
    run_stacked("outer", program=prog, env=env)
    recover()
    s = stacks("t")[0]
    is_line(frame(s, "outer"), "outer")
    os.unlink("prog.debug")
    s = stacks("t")[0]
    assert "outer" not in names(s) and "inner" not in names(s), names(s)
    mine = [f for f in s if f.get("object") == prog]
    assert len(mine) >= 4 and all("function" not in f for f in mine), s
    text = tacho("report", "t").out
    want = " => %s[+0x%x]\n" % (prog, mine[0]["object_offset"])
    assert want in text, (want, text)


def test_gone():
    """a program that was deleted or replaced gives no wrong names"""
    prog, env = copy_program()
    create(("stk:step", "stacktrace"))
    run_stacked("outer", program=prog, env=env)
    recover()
    assert "outer" in names(stacks("t")[0])
    os.unlink(prog)
    gone = stacks("t")[0]
    shutil.copy(TRACED, prog)
    replaced = stacks("t")[0]
    for s in (gone, replaced):
        mine = [f for f in s if f.get("object") == prog]
        assert len(mine) >= 4 and all("function" not in f for f in mine), s
        assert "__libc_start_main" not in names(mine)
    assert gone == replaced


def test_no_build_id():
    """without a build id, size and time say which file it is"""
    objcopy = tool("objcopy")
    prog, env = copy_program()
    assert cmd(objcopy, "--remove-section=.note.gnu.build-id", prog).status == 0
    create(("stk:step", "stacktrace"))
    run_stacked("outer", program=prog, env=env)
    recover()
    assert "outer" in names(stacks("t")[0])
    os.utime(prog, (1, 1))
    assert "outer" not in names(stacks("t")[0])


def test_hist():
    """stacks and functions as keys, counted inside and over a trace"""
    create(("stk:step", "hist:keys=stacktrace"),
           ("stk:call", "hist:keys=fn.sym-offset:sort=fn"))
    run_stacked("outer", "second", "second", "call", "call2", "call2", "callib",
                "nowhere")
    h = json.loads(tacho("hist", "-s", "s", "--json", "stk:step").out)
    by = {}
    for e in h["entries"]:
        got = [f.get("name") for f in e["key"]["common_stacktrace"]]
        assert "inner" in got and "main" in got, got
        via = "second" if "second" in got else "outer"
        by[via] = by.get(via, 0) + e["hitcount"]
    assert by == {"outer": 1, "second": 2}, by
    want = [(None, None, 1), ("outer", 0, 1), ("second", 1, 2),
            ("lib_enter", 0, 1)]
    live = tacho("hist", "-s", "s", "--json", "stk:call").out
    recover()
    later = tacho("hist", "t", "--json", "-e", "stk:call",
                  "keys=fn.sym-offset:sort=fn").out
    for out in (live, later):
        got = [(e["key"]["fn"].get("name"), e["key"]["fn"].get("offset"),
                e["hitcount"]) for e in json.loads(out)["entries"]]
        assert got == want, got
    # the kernel's own text
    text = tacho("hist", "t", "-e", "stk:call", "keys=fn.sym").out
    assert re.search(r"\{ fn: \[[0-9a-f]+\] outer {10,}\} hitcount: +1\n", text)
    assert re.search(r"\] lib_enter \[libstacklib.so\] +\}", text), text


def test_hist_trace():
    """stacks that were recorded behind their events, as keys over the trace"""
    create(("stk:step", "stacktrace"))
    run_stacked("outer", "second", "second")
    run_stacked("outer")
    recover()
    h = json.loads(tacho("hist", "t", "--json", "-e", "stk:step",
                         "keys=stacktrace").out)
    by = {"outer": 0, "second": 0}
    for e in h["entries"]:
        got = [f.get("name") for f in e["key"]["common_stacktrace"]]
        assert "inner" in got and "main" in got, got
        by["second" if "second" in got else "outer"] += e["hitcount"]
    assert by == {"outer": 2, "second": 2}, by


def calls(evs):
    return [e["fields"]["n"] for e in evs if e["event"] == "call"]


ALL = ("call", "call2", "callib", "nowhere")


def test_filter_inside():
    """field.function in programs: each finds its own addresses"""
    for expr, want in (("fn.function == outer", [1]),
                       ("fn.function != outer", [2, 3, 4]),
                       ("fn.function == second || n == 4", [2, 4]),
                       ("fn.function == lib_enter", [3]),
                       ("fn.function == nobody_has_it", []),
                       ("fn.function != nobody_has_it", [1, 2, 3, 4])):
        create()
        tacho("filter", "-s", "s", "stk:call", expr)
        run_stacked(*ALL)
        run_stacked(*ALL)
        recover()
        got = calls(events("t"))
        assert got == want * 2, (expr, got)
        shutil.rmtree("t")
    # while it runs, and of a library that comes later
    create()
    p = Stacked()
    p.do("call2")
    tacho("filter", "-s", "s", "stk:call", "fn.function == second")
    for c in ALL:
        p.do(c)
    p.end()
    recover()
    assert calls(events("t")) == [2, 2]


def test_filter_trace():
    """field.function over a trace, whose processes have their own addresses"""
    p = recorder("-o", "t")
    run_stacked(*ALL)
    run_stacked(*ALL)
    run_stacked("fork", *ALL)
    stop(p)
    for expr, want in (("fn.function == outer", [1]),
                       ("fn.function == second", [2]),
                       ("fn.function == lib_enter || n == 4", [3, 4]),
                       ("fn.function != second", [1, 3, 4])):
        got = calls(events("t", "--filter", "stk:call/" + expr))
        assert got == want * 3, (expr, got)
    tacho("report", "t", "--filter", "stk:call/fn.function == nobody_has_it",
          ok=1, says="Function not found")


def test_record():
    """record, with rotation and after a kill: each piece has the names"""
    p = recorder("-o", "t", "--trigger", "stk:step/stacktrace", "-e", "stk:*")
    run_stacked("outer", "lib")
    stop(p)
    assert [("outer" in names(s)) for s in stacks("t")] == [True, True]
    shutil.rmtree("t")
    p = recorder("-o", "t", "--trigger", "stk:step/stacktrace", "-e", "stk:*",
                 "--rotate", "64k")
    q = Stacked()
    n = 0
    while not os.path.exists("t/0003"):
        for _ in range(100):
            q.do("outer")
        n += 100
        assert p.poll() is None
    q.end()
    stop(p)
    got = stacks("t")
    assert len(got) == n and all("outer" in names(s) for s in got)
    # one piece by itself
    assert all("outer" in names(s) for s in stacks("t/0002"))
    tacho("convert", "t", "-o", "u")
    assert stacks("u") == got
    shutil.rmtree("t")
    p = recorder("-o", "t", "--trigger", "stk:step/stacktrace", "-e", "stk:*")
    run_stacked("outer")
    p.kill()
    p.wait()
    tacho("recover", "t")
    got = stacks("t")
    assert len(got) == 1 and "outer" in names(got[0]), got


def test_babeltrace():
    """babeltrace2 reads a trace with stacks"""
    tool("babeltrace2")
    create(("stk:step", "stacktrace"))
    run_stacked("outer", "lib")
    recover()
    d = cmd("babeltrace2", "t")
    assert d.status == 0 and len(d.out.splitlines()) == 4, d
    assert d.out.count("tacho:user_stack") == 2


def test_live():
    """a session that runs, read while it does"""
    create(("stk:step", "stacktrace"))
    p = Stacked()
    p.do("outer")
    assert "outer" in names(stacks("session:s")[0])
    p.do("load %s first_enter" % FIRST)
    p.do("fork")
    got = stacks("session:s")
    assert frame(got[1], "first_enter") and frame(got[2], "second"), got
    p.end()
    tacho("destroy", "s")


def test_hostile():
    """a table with anything in it harms nobody"""
    create(("stk:step", "stacktrace"))
    d = run_stacked("outer")
    recover()
    path = "t/tacho/objects"
    with open(path) as f:
        good = f.read()
    want = stacks("t")
    os.mkfifo("pipe")
    first = want[0][0]["address"]
    pid = events("t")[0]["pid"]

    def block(lines, end=None):
        return "process %d 1\n%send %s\n" % (
            pid, lines, len(lines.splitlines()) if end is None else end)

    def line(start, end, ident, name):
        return "object %x %x 0 %s %s\n" % (start, end, ident, name)

    around = (first & ~0xfff, (first | 0xfff) + 1)
    nothing = [
        "", "\0" * 100, "process\nobject\nend\n", "end 1\n", "x" * 100000,
        "process 99999999999999999999 1\nend 0\n",
        "child %d %d 1\n" % (pid, pid), "child 5 %d 1\nchild %d 5 1\n" % (pid, pid),
        good.replace("\nend ", "\nend 9"), good[:len(good) // 2],
        good.replace("object ", "object f"),
        block("object 10 5 0 b:00 /x\n"), block("object 1 2 3\n"),
        block(line(0, 2 ** 64 - 1, "b:00", "no/path")),
    ]
    placed = [
        block(line(*around, "b:00", STACKED)),
        block(line(*around, "b:", "/dev/zero")),
        block(line(*around, "-", STACKED)),
        block(line(*around, "f:0:0.0", os.path.abspath("pipe"))),
        block(line(*around, "b:" + "00" * 5000, STACKED)),
        block(line(0, 2 ** 64 - 1, "b:00", "/" + "y" * 5000)),
    ]
    for text in nothing + placed:
        with open(path, "w") as f:
            f.write(text)
        got = stacks("t")
        assert len(got) == 1 and len(got[0]) == len(want[0])
        assert all("function" not in f for f in got[0]), (text[:200], got)
        assert ("object" in got[0][0]) == (text in placed), (text[:200], got)
        tacho("report", "t")
    with open(path, "w") as f:
        f.write("process %d 1\nobject" % pid + good)
    assert stacks("t") == want


run(globals())
