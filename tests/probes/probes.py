# SPDX-License-Identifier: MIT
"""tacho probe, end to end: programs are probed, recorded and run, and what is
in the trace is compared with what they did.

$PROGRAMS is where the programs of tests/symbol were built."""
import errno
import os
import sys

sys.path.insert(0, os.environ["RECORD"])
from rec import *   # noqa: E402

PROGRAMS = os.environ["PROGRAMS"]
TRACING = "/sys/kernel/tracing"
GROUP = "tacho_test_%d" % os.getpid()
ROUNDS = 10
DWARF = os.environ["DWARF"] == "1"


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        raise Skip("no program " + name)
    return path


def need_uprobes():
    need_tracefs()
    if not os.path.exists(TRACING + "/uprobe_events"):
        raise Skip("this kernel has no uprobes")


def need_dwarf():
    if not DWARF:
        raise Skip("tacho was built without libdw")


def need_x86():
    if os.uname().machine != "x86_64":
        raise Skip("not x86-64")


def ours_left():
    """Events of our group that the kernel has."""
    out = []
    for name in ("uprobe_events", "kprobe_events", "dynamic_events"):
        try:
            with open(os.path.join(TRACING, name)) as f:
                out += re.findall(r"^\w+:(%s/\S+)" % GROUP, f.read(), re.M)
        except OSError:
            pass
    return sorted(set(out))


def remove_event(event):
    # not open(): it would look for the end of the file, which has none
    fd = os.open(TRACING + "/dynamic_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, ("-:" + event).encode())
    except OSError as e:
        if e.errno != errno.EBUSY:
            raise
        return False
    finally:
        os.close(fd)
    return True


def remove_ours():
    # a recorder that was killed has left its instance, with our events enabled
    for d in instances():
        try:
            os.rmdir(os.path.join(INSTANCES, d))
        except OSError:
            pass
    for event in ours_left():
        # somebody of this machine may have enabled all events for a moment
        until(event + " can be removed", lambda: remove_event(event))


at_end.append(remove_ours)
atexit.register(remove_ours)


def add(where, *specs, args=None, more=(), **kw):
    if kw.get("ok") is True or "ok" not in kw:
        need_uprobes()
    extra = ["--args", args] if args is not None else []
    return tacho("probe", "add", "--group", GROUP, "-x", where, *extra, *more,
                 *specs, **kw)


def dry(where, *specs, **kw):
    return tacho("probe", "add", "-n", "-x", where, *specs, **kw)


def offset_of(path, function):
    """The file offset of a function, by nm and readelf."""
    if not shutil.which("nm") or not shutil.which("readelf"):
        raise Skip("no binutils")
    address = None
    for line in cmd("nm", path).out.splitlines():
        a, kind, name = ([""] + line.split())[-3:]
        if name == function and kind in "tT":
            address = int(a, 16)
    assert address is not None, "%s has no %s" % (path, function)
    for line in cmd("readelf", "-lW", path).out.splitlines():
        m = re.match(r"\s+LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ (...)", line)
        if m and "E" in m[4]:
            off, at, size = (int(m[i], 16) for i in (1, 2, 3))
            if at <= address < at + size:
                return address - at + off
    raise AssertionError("no segment")


def record(path, *argv, dir="t"):
    """Runs a program while our probes are recorded; {event: [fields, ...]}"""
    d = tacho("record", "-q", "-o", dir, "-k", GROUP + ":*", "--", path, *argv)
    tacho("check", dir)
    out = tacho("report", "-F", "json", dir).out
    events = {}
    for line in out.splitlines():
        e = json.loads(line)
        if "lost" in e:
            raise AssertionError("events were lost: " + line)
        assert e["system"] == GROUP, line
        events.setdefault(e["event"], []).append(e["fields"])
    events["stdout"] = d.out
    n = sum(len(v) for k, v in events.items() if k != "stdout")
    counted = babeltrace(dir)
    assert counted in (None, n), "babeltrace2: %s, not %d" % (counted, n)
    return events


def values(events, name, *fields):
    return [tuple(e[f] for f in fields) for e in events.get(name, [])]


def variants():
    """Programs with debug information, by how they were built."""
    names = ["prog-O0", "prog-O2", "prog-dwarf4", "prog-nopie", "split",
             "other-O0", "other-O2"]
    return [n for n in names if os.path.exists(os.path.join(PROGRAMS, n))]


# ---- what the kernel would be told ----

def test_offsets():
    """offsets of functions are those of nm and readelf"""
    for name in ("prog-O0", "prog-O2", "prog-nopie", "prog-plain",
                 "libsymtest.so"):
        path = program(name)
        f = "lib_sum" if name.endswith(".so") else "checkout"
        want = "p:tacho_probes/%s %s:0x%x\n" % (f, os.path.realpath(path),
                                               offset_of(path, f))
        assert dry(path, f).out == want, dry(path, f).out
        want = want.replace("p:", "r:").replace(f + " ", f + "__return ")
        assert dry(path, f + "%return").out == want
    path = program("prog-plain")
    base = offset_of(path, "checkout")
    assert dry(path, "checkout+4").out.endswith(":0x%x\n" % (base + 4))
    names = re.findall(r"p:tacho_probes/(\w+)", dry(path, "order_*").out)
    assert sorted(names) == ["order_big", "order_count", "order_mix",
                             "order_name"], names
    got = dry(path, "checkout", "checkout").out
    assert re.findall(r"p:tacho_probes/(\w+)", got) == ["checkout", "checkout_1"]
    assert "p:g1/nm " in dry(path, "checkout", "--group", "g1", "--name", "nm").out


def test_mistakes():
    """what is wrong is said in one sentence, and where"""
    p = program("prog-O0")
    for argv, status, says in (
            (("add", "-x", p), 2, "say what to probe"),
            (("add", "checkout"), 2, "say where: -x PROGRAM, or -k"),
            (("add", "-x", p, "-k", "checkout"), 2, "-x is not for -k"),
            (("add", "-x", p, "--group", "a b", "f"), 2, "'a b' is no name"),
            (("nope",), 2, "'nope' is not one of add, list, del"),
            ((), 2, "say what to do"),
            (("del",), 2, "say which"),
            (("add", "-n", "-x", "/nonexistent/x", "f"), 1,
             "there is no program '/nonexistent/x'"),
            (("add", "-n", "-x", "/etc/passwd", "f"), 1,
             "is not an ELF program or library"),
            (("add", "-n", "-x", p, "chekout"), 1,
             "has no function 'chekout'; near: 'checkout'"),
            (("add", "-n", "-x", p, "checkout%retrun"), 1,
             "only %return may follow"),
            (("add", "-n", "-x", p, "checkout+99999"), 1, "bytes long"),
            (("add", "-n", "-x", p, "checkout+4%return"), 1,
             "only a whole function returns"),
            (("add", "-n", "-x", p, "zz*"), 1, "has no function 'zz\\*'"),
            (("add", "-n", "-x", p, "0x5"), 1, "has no code at 0x5"),
            (("add", "-n", "-x", p, "sdt:x:y"), 1,
             "no marker of .* matches 'x:y'; it has 'prog:counted'"),
            (("add", "-n", "-x", p, "order_*", "--name", "n"), 1,
             "--name is for one event, and these are 4"),
            (("add", "-n", "-x", p, "checkout", "--args", "a=%zz"), 1,
             r"Invalid register name\n  p:.* a=%%zz\n {%d}\^" %
             (2 + len("p:tacho_probes/checkout %s:0x%x a=" %
                      (os.path.realpath(p), offset_of(p, "checkout"))))),
            (("add", "-n", "--raw", "p:g/e /b:0x10 x=+0(%di):u9"), 1,
             "Unknown type is specified\n  p:g/e /b:0x10 x=\\+0\\(%di\\):u9\n"
             " {26}\\^"),
            (("add", "-n", "--raw", "p /b:0x10"), 1, "name the event"),
            (("add", "-n", "--raw", "-:g/e"), 2, "invalid option"),
            (("add", "-n", "-k", "vfs_*"), 1, "patterns are for functions of"),
            (("add", "-n", "-k", "/b:0x10"), 1, "is of a program: -x"),
    ):
        d = tacho("probe", *argv, ok=status)
        assert re.search(says, d.err), "%s: %r" % (argv, d)
        assert not d.out, d
    assert "is stripped" in dry(program("stripped"), "checkout", ok=1).err


def test_mistakes_in_args():
    """what is wrong with a variable, with a caret below it"""
    need_dwarf()
    need_x86()
    p = program("prog-O0")
    for args, says, word, column in (
            ("nope", "'nope' is no variable there", "nope", 0),
            ("id x=order->nope", "'nope' is no member of it", "x=order->nope", 9),
            ("order->item id", "is an array: name an element", "order->item", 0),
            ("id:string", "'id' is no string but 'int'", "id:string", 0),
            ("id $retval", "there when a function returns", "$retval", 0),
            ("a=order->item[0].weight", "floating-point number",
             "a=order->item[0].weight", 2)):
        d = tacho("probe", "add", "-n", "-x", p, "checkout", "--args", args, ok=1)
        lines = d.err.splitlines()
        assert says in lines[0], (args, d)
        assert lines[1:] == ["  " + word, "  " + " " * column + "^"], (args, d)
    d = dry(p, "checkout%return", "--args", "id", ok=1)
    assert "'id' is gone when the function returns" in d.err, d
    d = dry(p, "checkout:500", ok=1)
    assert "has no code at line 500" in d.err, d
    d = dry(p, "nope.c:5", ok=1)
    assert "has no code of a file 'nope.c'" in d.err, d


def test_without_dwarf():
    """without libdw, one sentence"""
    if DWARF:
        raise Skip("tacho was built with libdw")
    p = program("prog-O0")
    for argv in (("checkout:5",), ("prog.c:40",), ("checkout", "--args", "id")):
        d = dry(p, *argv, ok=1)
        assert "tacho was built without libdw" in d.err, d
    assert "checkout" in dry(p, "checkout", "--args", "%di:s32").out


# ---- end to end ----

def customers(n):
    return ["bob" if i % 2 else "eve" for i in range(n)]


def test_arguments():
    """parameters, members, strings, arrays, bit fields: each value is right"""
    need_dwarf()
    need_x86()
    for name in variants():
        p = program(name)
        add(p, "checkout", args="id name:string order->id order->customer "
            "note=order->note:string order->item[3].price "
            "flags=order->item[2].flags counter sku=order->next->next->item[1].sku")
        add(p, "order_mix", args="s last q5 b.a[4] b.a q1")
        e = record(p, ROUNDS)
        got = values(e, "checkout", "id", "name", "order_id", "customer", "note",
                     "price", "flags", "counter", "sku")
        want = [(i, c, i, "alice", "fragile", 30, 2, 7 + i, 101)
                for i, c in enumerate(customers(ROUNDS))]
        assert got == want, (name, got)
        got = values(e, "order_mix", "s", "last", "q5", "a_4", "a", "q1")
        want = [(-7, ord("x"), 5, 5, [1, 2, 3, 4, 5], 1)] * ROUNDS
        assert got == want, (name, got)
        remove_ours()
        shutil.rmtree("t")


def test_returns():
    """what functions return: numbers, strings, structures"""
    need_dwarf()
    need_x86()
    for name in variants():
        p = program(name)
        add(p, "checkout%return", args="$retval")
        add(p, "order_name%return", args="$retval:string who=+1($retval):string")
        add(p, "order_big%return", args="$retval.a[4] $retval.a")
        e = record(p, ROUNDS)
        want = [(60 + i + ord(c[0]),) for i, c in enumerate(customers(ROUNDS))]
        assert values(e, "checkout__return", "retval") == want, (name, e)
        assert values(e, "order_name__return", "retval", "who") == \
            [("alice", "lice")] * ROUNDS, (name, e)
        want = [(i + 1, [i, 0, 0, 0, i + 1]) for i in range(ROUNDS)]
        assert values(e, "order_big__return", "a_4", "a") == want, (name, e)
        remove_ours()
        shutil.rmtree("t")


def source_line(text):
    with open(os.path.join(os.environ["SOURCE"], "prog.c")) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def test_lines():
    """lines of functions and files, with local variables"""
    need_dwarf()
    need_x86()
    line = source_line("sum += order")
    n = line - source_line("int checkout(")
    for name in variants():
        if name.endswith("O2"):
            continue
        p = program(name)
        add(p, "checkout:%d" % n, args="i sum order->id")
        add(p, "prog.c:%d" % line, args="i", more=("--name", "by_file"))
        e = record(p, ROUNDS)
        sums = [0, 0, 10, 30]
        want = [(i, sums[i], r) for r in range(ROUNDS) for i in range(4)]
        got = values(e, "checkout_L%d" % n, "i", "sum", "id")
        assert got == want, (name, got)
        assert values(e, "by_file", "i") == [(i,) for i in range(4)] * ROUNDS
        remove_ours()
        shutil.rmtree("t")


def test_inlined():
    """a function that is only there as copies: one event, at each of them"""
    need_dwarf()
    need_x86()
    for name in variants():
        p = program(name)
        d = add(p, "tiny", more=("-q",))
        assert d.out == "%s:tiny (at 2 places)\n" % GROUP, d
        e = record(p, ROUNDS)
        assert len(e["tiny"]) == 2 * ROUNDS, (name, len(e["tiny"]))
        remove_ours()
        shutil.rmtree("t")
        if not name.endswith("O2"):
            add(p, "tiny", args="v")
            e = record(p, ROUNDS)
            want = [(v,) for i in range(ROUNDS) for v in (i, 3 * i + 1)]
            assert values(e, "tiny", "v") == want, (name, e["tiny"])
            remove_ours()
            shutil.rmtree("t")


def test_marker():
    """a marker with its arguments, and the counter that switches it on"""
    need_x86()
    for name in variants() + ["prog-plain"]:
        p = program(name)
        add(p, "sdt:prog:*")
        add(p, "sdt:prog:counted", args="n=arg1 who=arg2:string",
            more=("--name", "named"))
        e = record(p, ROUNDS)
        rs = [3 * i + 3 * (3 * i + 1) for i in range(ROUNDS)]
        assert values(e, "counted", "arg1", "arg3") == [(r, 5) for r in rs], e
        assert values(e, "named", "n", "who") == [(r, "hello") for r in rs], e
        # while it was recorded, and not before or behind it
        assert e["stdout"].split()[1] == str(ROUNDS), (name, e["stdout"])
        assert cmd(p, ROUNDS).out.split()[1] == "0"
        remove_ours()
        shutil.rmtree("t")


def test_library():
    """a shared library, in whatever program uses it"""
    lib, user = program("libsymtest.so"), program("user")
    add(lib, "lib_*", "local_add")
    e = record(user, ROUNDS)
    # lib_alias is the same place as lib_twice
    names = {k: len(v) for k, v in e.items() if k != "stdout"}
    twice = names.pop("lib_twice", 0) + names.pop("lib_alias", 0)
    assert twice == ROUNDS, e
    assert names == {"lib_sum": ROUNDS, "local_add": 4 * ROUNDS}, names


def test_raw_registers():
    """arguments in the kernel's own words need no debug information"""
    need_x86()
    p = program("prog-plain")
    add(p, "checkout", args="id=%di:s32 n=+0(%si):string first=+0(%si):u8 "
        "$comm imm=\\7:u8 two=+0(%si):u8[2] st=$stack low=%di:b1@0/32")
    e = record(p, ROUNDS)
    got = values(e, "checkout", "id", "n", "first", "comm", "imm", "two", "low")
    want = [(i, c, ord(c[0]), "prog-plain", 7, [ord(c[0]), ord(c[1])], i & 1)
            for i, c in enumerate(customers(ROUNDS))]
    assert got == want, got


def test_text_and_ctf():
    """the text report is the kernel's, and babeltrace2 reads the same values"""
    need_x86()
    p = program("prog-plain")
    add(p, "checkout", "checkout%return")
    add(p, "checkout", args="id=%di:s32 n=+0(%si):string h=%di:x16",
        more=("--name", "with"))
    inst = os.path.join(INSTANCES, GROUP)
    os.mkdir(inst)
    try:
        with open(inst + "/events/%s/enable" % GROUP, "w") as f:
            f.write("1")
        tacho("record", "-q", "-o", "t", "-k", GROUP + ":*", "--", p, 5)
        with open(inst + "/events/%s/enable" % GROUP, "w") as f:
            f.write("0")
        with open(inst + "/trace") as f:
            kernel = [line for line in f if not line.startswith("#")]
    finally:
        os.rmdir(inst)
    report = tacho("report", "t").out.splitlines()

    def plain(lines):
        """Event and its text; the kernel marks addresses of %lx with 0x."""
        return [re.sub(r"\b0x(?=[0-9a-f]{8,16}\b)", "",
                       line.split(": ", 1)[1].strip()) for line in lines]
    # the kernel's own text has the addresses of a return the other way round
    # than its print format, which is what all readers of traces go by
    swapped = [re.sub(r"\((\w+) <- (\w+)\)", r"(\2 <- \1)", line)
               for line in plain(kernel)]
    assert len(report) == 15
    assert plain(report) == swapped, (plain(report), swapped)
    if not shutil.which("babeltrace2"):
        return
    out = cmd("babeltrace2", "t").out
    got = re.findall(r":with: .*\bid = (\d+),.*\bh = (\w+),.*\bn = \"(\w+)\"", out)
    assert [(int(i), c) for i, _, c in got] == \
        list(enumerate(customers(5))), out


def enabled(instance, event):
    """Whether the instance of a recorder of ours has the event on."""
    try:
        with open(os.path.join(INSTANCES, instance, "events", GROUP, event,
                               "enable")) as f:
            return f.read()[0] == "1"
    except OSError:
        return False


def test_list_and_del():
    """list, its JSON, hits, del by pattern, and what is in use stays"""
    p = program("prog-plain")
    add(p, "checkout", "checkout%return", "order_*", args="$comm")
    record(p, ROUNDS)
    d = tacho("probe", "list", GROUP + ":checkout*")
    assert re.fullmatch(
        r"%s:checkout\s+program  prog-plain checkout( \(.*\))? comm=\$comm, "
        r"%d hits\n%s:checkout__return +return +prog-plain .*, %d hits\n" %
        (GROUP, ROUNDS, GROUP, ROUNDS), d.out), d
    es = json.loads(tacho("probe", "list", "--json", GROUP + ":*").out)
    assert len(es) == 6
    e = es[0]
    assert e["event"] == GROUP + ":checkout" and e["kind"] == "program", e
    assert e["hits"] == ROUNDS and e["args"] == [
        {"name": "comm", "fetch": "$comm"}], e
    assert e["place"] == "%s:0x%x" % (os.path.realpath(p),
                                      offset_of(p, "checkout")), e
    # what a definition says makes the same event again
    tacho("probe", "del", GROUP + ":checkout")
    d = tacho("probe", "add", "--raw", e["definition"])
    again = json.loads(tacho("probe", "list", "--json", e["event"]).out)
    assert again[0]["definition"] == e["definition"], again
    tacho("probe", "list", GROUP + ":nope", ok=1, says="no probe matches")
    tacho("probe", "del", GROUP + ":nope", ok=1, says="no probe matches")
    tacho("probe", "del", "checkout", ok=1, says="no probe matches 'checkout'")
    add(p, "checkout", ok=1,
        says="'%s:checkout' is there already: 'tacho probe del" % GROUP)
    with_it = start(TACHO, "record", "-o", "u", "-k", GROUP + ":checkout")
    until("it is enabled", lambda: any(
        enabled(d, "checkout") for d in instances()))
    tacho("probe", "del", GROUP + ":checkout", ok=1,
          says="a recording has it enabled; stop that first")
    stop(with_it)
    d = tacho("probe", "del", GROUP + ":order_*")
    assert sorted(d.out.split()) == [GROUP + ":order_" + n for n in
                                     ("big", "count", "mix", "name")], d
    d = tacho("probe", "del", "--json", GROUP + ":*")
    assert sorted(json.loads(d.out)) == [GROUP + ":checkout",
                                         GROUP + ":checkout__return"], d
    assert not ours_left()


def test_all_or_nothing():
    """when the kernel refuses one, those before it are taken back"""
    need_uprobes()
    p = os.path.realpath(program("prog-plain"))
    good = "p:%s/one %s:0x%x" % (GROUP, p, offset_of(p, "checkout"))
    bad = "p:%s/two /nonexistent/file:0x10" % GROUP
    d = tacho("probe", "add", "--raw", good, bad, ok=1)
    assert re.search(r"Failed to find the given file \(says the kernel\)\n"
                     r"  p:.*\n {%d}\^" % (2 + bad.index("/nonex")), d.err), d
    assert not ours_left(), ours_left()
    d = tacho("probe", "add", "--raw", good)
    assert ours_left() == [GROUP + "/one"]


def test_error_log_is_kept():
    """the kernel's error log is read, not cleared"""
    need_uprobes()
    with open(TRACING + "/error_log") as f:
        before = f.read()
    tacho("probe", "add", "--raw", "p:%s/two /nonexistent/file:0x10" % GROUP, ok=1)
    with open(TRACING + "/error_log") as f:
        after = f.read()
    old = re.findall(r"^\[ *[\d.]+\].*", before, re.M)
    new = re.findall(r"^\[ *[\d.]+\].*", after, re.M)
    # it holds eight
    assert new[:-1] == (old[-7:] if len(old) == 8 else old), (old, new)


def test_kernel():
    """functions of the kernel; where it cannot, one sentence"""
    need_tracefs()
    spec = ("probe", "add", "--group", GROUP, "-k", "vfs_write", "vfs_read%return")
    if not os.path.exists(TRACING + "/kprobe_events"):
        tacho(*spec, ok=1,
              says=r"this kernel has no kprobes \(CONFIG_KPROBE_EVENTS\): use")
        tacho("probe", "add", "--raw", "f:%s/x vfs_read" % GROUP, ok=1,
              says=r"no probes of kind 'f' \(CONFIG_FPROBE_EVENTS\)")
        tacho("probe", "add", "--raw", "e:%s/x sched.sched_switch" % GROUP, ok=1,
              says=r"no probes on events \(CONFIG_EPROBE_EVENTS\)")
        assert not ours_left()
        return
    tacho(*spec)
    tacho("probe", "add", "--group", GROUP, "-k", "vfs_write", "--name", "wr",
          "--args", "n=$arg3:u64")
    d = tacho("record", "-q", "--only", "-o", "t", "-k", GROUP + ":*", "--", "dd",
              "if=/dev/zero", "of=/dev/null", "bs=12345", "count=50")
    assert d.status == 0
    out = tacho("report", "-F", "json", "t").out
    es = [json.loads(line) for line in out.splitlines()]
    n = [e["fields"]["n"] for e in es if e["event"] == "wr"]
    assert n.count(12345) == 50, n
    assert len([e for e in es if e["event"] == "vfs_write"]) == len(n)
    d = tacho("probe", "list", GROUP + ":wr")
    assert re.search(r"kernel\s+vfs_write n=\$arg3:u64", d.out), d
    tacho("probe", "add", "--group", GROUP, "-k", "no_such_function", ok=1,
          says=r"Invalid probed address or symbol \(says the kernel\)")
    tacho("probe", "del", GROUP + ":*")
    assert not ours_left()


def test_not_root():
    """who is not root is told so"""
    need_uprobes()
    if not shutil.which("setpriv"):
        raise Skip("no setpriv")
    p = program("prog-plain")
    d = cmd("setpriv", "--reuid=65534", "--clear-groups", TACHO, "probe", "add",
            "-x", p, "checkout")
    if "there is no program" in d.err or d.status == 127:
        raise Skip("others cannot read the build")
    assert d.status == 1 and re.search("root", d.err), d
    d = cmd("setpriv", "--reuid=65534", "--clear-groups", TACHO, "probe", "add",
            "-n", "-x", p, "checkout")
    assert d.status == 0 and d.out.startswith("p:tacho_probes/checkout "), d


run(globals())
