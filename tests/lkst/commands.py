# SPDX-License-Identifier: MIT
"""LKST's commands: each command, alias, option and error sentence (specification 4.7.3)."""
import os
import re

from lib import *


def test_every_tool():
    """help, version, ver, no command, an unknown one: of every tool"""
    for name in ("lkst", "lkstm", "lkstbuf", "lksteh"):
        help_ = command(name, "help")
        assert help_.out.startswith(name + " - ") and "version, ver" in help_.out, help_
        version = command(name, "version")
        assert re.fullmatch(name + r" \(tacho \S+\), LKST function specification 2\.01\n",
                            version.out), version
        assert command(name, "ver").out == version.out
        assert command(name, ok=2).err == help_.out
        command(name, "bogus", ok=2, says="there is no command 'bogus'; '%s help'" % name)
    assert lkstlogger("help").out.startswith("lkstlogger - ")
    assert lkstlogger("version").out == lkstlogger("ver").out != ""
    assert logformat("-h").out.startswith("logformat - ")
    assert "2.01" in logformat("-v").out
    assert lkstlogd("-h").out.startswith("lkstlogd - ")
    assert "2.01" in lkstlogd("-v").out


def test_run_time_directory():
    """a directory that others may use is refused by every tool"""
    os.chmod(run_dir, 0o755)
    for argv in (("lkst", "stat"), ("lkstm", "list"), ("lkstbuf", "list"), ("lksteh", "list"),
                 ("lkstlogger", "-ev", "0x100"), ("lkstlogd", "-F", "-p", "pid")):
        command(*argv, ok=1, says="must belong to you and be closed to others")
    os.chmod(run_dir, 0o700)


# ---- lkst ----

def test_lkst_status():
    """lkst stat, status: numbers of masksets, handlers, buffers; the selected maskset"""
    text = lkst("stat").out
    assert lkst("status").out.splitlines()[:5] == text.splitlines()[:5]
    for line in (r"tracing +running", r"maskset +2 RDEFAULT", r"masksets +3",
                 r"event handlers +3", r"buffers +%d" % len(cpus()),
                 r"static buffer +\d+ records, \d+ bytes", r"CPUs online +0x[0-9a-f]+"):
        assert re.search("(?m)^%s$" % line, text), (line, text)
    lkst("stat", "x", ok=2, says="stat: unexpected argument 'x'")
    lkst("stat", "-z", ok=2, says="stat has no option '-z'")


def test_lkst_start_stop():
    """lkst stop, start: the selected maskset is remembered"""
    only("0x100")
    lkst("stop")
    text = lkst("stat").out
    assert "stopped" in text and re.search(r"maskset +0 RNOTHING", text), text
    lkstlogger("-ev", "0x100")
    lkstm("set", "-m", 1, ok=1, says="LKST is stopped; 'lkst start' comes first")
    lkst("stop")
    lkst("start")
    text = lkst("stat").out
    assert "running" in text and re.search(r"maskset +3 only", text), text
    lkstlogger("-ev", "0x100", "-a1", 7)
    assert re.findall(r"arg1=(\S+)", lkstbuf("print", "-V", "-e", "0x100").out) == ["0x7"]
    lkst("stop")
    lkstm("delete", "-n", "only")
    lkst("start")       # what was selected is gone
    assert "2 RDEFAULT" in lkst("stat").out


def test_lkst_all():
    """lkst all: status, buffers, masksets, event handlers"""
    text = lkst("all").out
    for word in ("tracing ", "CPU       ID    NEXT", "2  RDEFAULT", "0x003  BUFFER_SHIFT_DW"):
        assert word in text, (word, text)


def test_lkst_destroy():
    """lkst destroy: nothing is left; a session beside it stays"""
    tacho("create", "beside")
    lkst("stat")
    assert os.path.exists(os.path.join(run_dir, "sessions", session))
    lkst("destroy")
    assert os.listdir(os.path.join(run_dir, "sessions")) == ["beside"]
    assert not os.path.exists(instance)
    tacho("destroy", "beside")


# ---- lkstm ----

def test_lkstm_list():
    """lkstm list, ls: id, name, entries; the selected one has a star"""
    rows = lkstm("list").lines
    assert lkstm("ls").lines == rows
    assert [r.split()[:2] for r in rows[1:]] == [["0", "RNOTHING"], ["1", "RALL"],
                                                 ["*", "2"]], rows
    only("0x100", overrun=False)
    assert lkstm("ls").lines[-1].split() == ["*", "3", "only", "1"]


def table(text):
    return [tuple(l.split("#")[0].split()) for l in text.splitlines()
            if not l.startswith("#") and l]


def test_lkstm_read():
    """lkstm read: by id, by name, the selected one; -A, -a, -d, -E"""
    only("0x100", "0x010", overrun=False)
    text = lkstm("read").out
    assert text.startswith("# maskset 3 only\n") and \
        table(text) == [("0x010", "0x001"), ("0x100", "0x001")], text
    assert "# PROCESS_CONTEXTSWITCH: process_contextswitch" in text
    assert lkstm("read", "-m", 3).out == lkstm("read", "-n", "only").out == text
    assert lkstm("read", "-m", 0).lines == ["# maskset 0 RNOTHING"]
    # -d: no descriptions; -a is nothing then
    plain = lkstm("read", "-d").out
    assert table(plain) == table(text) and plain.count("#") == 1, plain
    assert lkstm("read", "-d", "-a").out == plain
    # -a: types that are known and not recorded
    rows = table(lkstm("read", "-a").out)
    assert len(rows) > 50 and ("0x011", "0x000") in rows and ("0x010", "0x001") in rows
    # -E: descriptions of a file
    put("types", "# ours\n\n0x100\tMY_EVENT\tmy event\tfirst\n")
    assert "0x100\t0x001\t# MY_EVENT: my event" in lkstm("read", "-E", "types").lines
    # -A: all
    heads = re.findall("(?m)^# maskset (.*)$", lkstm("read", "-A").out)
    assert heads == ["0 RNOTHING", "1 RALL", "2 RDEFAULT", "3 only"], heads
    every = lkstm("all").out
    assert every.startswith(lkstm("list").out) and every.endswith(lkstm("read", "-A").out)


def test_lkstm_read_errors():
    """lkstm read: what is wrong is said"""
    lkstm("read", "-m", 9, ok=1, says="there is no maskset 9; 'lkstm list'")
    lkstm("read", "-n", "x", ok=1, says="there is no maskset 'x'; 'lkstm list'")
    lkstm("read", "-n", "x" * 40, ok=1, says="1 to 31 bytes are meant")
    lkstm("read", "-m", "x", ok=2, says="'x' is no maskset id: a number from 0 to 255")
    lkstm("read", "-m", 256, ok=2, says="maskset id 256 is too large")
    lkstm("read", "-m", 1, "-n", "RALL", ok=2, says="name a maskset twice")
    lkstm("read", "-A", "-m", 1, ok=2, says="'-A' means all masksets")
    lkstm("read", "-m", ok=2, says="option '-m' of read needs an argument")
    lkstm("read", "-E", "none", ok=1, says="cannot read 'none'")
    put("types", "0x100\tA\ta\nnonsense\n")
    lkstm("read", "-E", "types", ok=1, says="types, line 2: ")


def test_lkstm_write():
    """lkstm write: -f and standard input, -m, -n, -S; names of its own"""
    put("m", "# a comment\n\n0x010 0x001\n256 LOG # decimal, a name\n"
        "LKST_BUFF_OVFLOW\tBUFFER_SHIFT # by mnemonic " + "x" * 5000 + "\n")
    assert lkstm("write", "-f", "m").out == "3\n"
    assert lkstm("write", give=slurp("m")).out == "4\n"
    assert lkstm("write", "-n", "mine", "-f", "m", "-S").out == "5\n"
    names = [l[7:39].strip() for l in lkstm("list").lines[1:]]
    assert names[3:] == ["new_maskset0", "new_maskset1", "mine"], names
    assert "5 mine" in lkst("stat").out
    assert len(table(lkstm("read").out)) == 3
    # over one that is there: it keeps its name, and is in force at once
    assert lkstm("write", "-m", 5, give="0x100 1\n").out == "5\n"
    assert lkstm("read").out.startswith("# maskset 5 mine\n0x100\t0x001\n")
    assert lkstm("write", "-m", 2, give="0x100 1\n").out == "2\n"
    assert lkstm("find", "-n", "RDEFAULT").out == "2\n"
    assert lkstm("write", "-m", 40, give="").out == "40\n"      # records nothing
    lkstm("delete", "-n", "new_maskset0")
    assert lkstm("write", give="").out == "3\n"
    assert lkstm("find", "-n", "new_maskset0").out == "3\n"


def test_lkstm_round_trip():
    """lkstm read | lkstm write: of each special maskset and one of all kinds of entries"""
    put("m", "0x010 1\n0x1ff 2\n0x100 1\n0xf00 1\n0x080 1\nLKST_BUFF_OVFLOW 2\n")
    lkstm("write", "-n", "kinds", "-f", "m")
    for name in ("RALL", "RDEFAULT", "kinds"):
        for how in ((), ("-d",), ("-a",)):
            text = lkstm("read", "-n", name, *how).out
            new = lkstm("write", give=text).out.strip()
            again = lkstm("read", "-m", new, *how).out
            assert table(again) == table(text), (name, how)
            lkstm("del", "-m", new)


def test_lkstm_write_errors():
    """lkstm write: a bad line is named, and nothing is written"""
    for text, says in (("0x010", "line 1: an event type and an event handler are meant"),
                       ("\n0x010 1 2", "line 2: an event type and an event handler are meant"),
                       ("0x1000 1", "line 1: '0x1000' is no event type"),
                       ("FOO 1", "line 1: 'FOO' is no event type"),
                       ("0x010 0x1000", "line 1: '0x1000' is no event handler"),
                       ("0x010 NOTHING", "line 1: 'NOTHING' is no event handler"),
                       ("0x300 1", "a reserved event type"),
                       ("0x010 0x123", "an event handler that is not there"),
                       ("0x080 1\nLKST_BUFF_OVFLOW 3", "lock events together with")):
        lkstm("write", ok=1, says=says, give=text + "\n")
        lkstm("write", "-f", put("bad", text + "\n"), ok=1, says=says)
    lkstm("write", "-f", "none", ok=1, says="cannot read 'none'")
    lkstm("write", "-f", ".", ok=1, says="cannot read '.'")
    lkstm("write", "-n", "RALL", ok=1, says="have another's name")
    lkstm("write", "-n", "", ok=1, says="1 to 31 bytes are meant")
    lkstm("write", "-m", 1, ok=1, says="it cannot be RNOTHING or RALL")
    lkstm("write", "-m", 64, ok=1, says="is not taken")
    assert len(lkstm("list").lines) == 4
    for i in range(61):
        lkstm("write")
    lkstm("write", ok=1, says="there are 64 masksets, and no more can be")


def test_lkstm_set_delete_find():
    """lkstm set, delete, del, find: by id and by name; 255 where there is none"""
    lkstm("write", "-n", "a", give="0x100 1\n")
    lkstm("set", "-n", "a")
    assert "3 a" in lkst("stat").out
    lkstm("delete", "-m", 3, ok=1, says="maskset 3 is selected; 'lkstm set'")
    lkstm("set", "-m", 1)
    assert "1 RALL" in lkst("stat").out
    lkstm("del", "-m", 3)
    lkstm("delete", "-m", 3, ok=1, says="there is no maskset 3")
    lkstm("delete", "-n", "RALL", ok=1, says="one of the special ones, which stay")
    lkstm("delete", ok=2, says="delete needs '-m ID' or '-n NAME'")
    lkstm("set", ok=2, says="set needs '-m ID' or '-n NAME'")
    lkstm("set", "-m", 3, ok=1, says="there is no maskset 3")
    lkstm("set", "-n", "a", ok=1, says="there is no maskset 'a'")
    assert lkstm("find", "-n", "RDEFAULT").out == "2\n"
    assert lkstm("find", "-n", "nobody").out == "255\n"
    lkstm("find", ok=2, says="find needs '-n NAME'")
    lkstm("find", "-n", "x" * 32, ok=1, says="cannot find maskset")


def test_lkstm_config():
    """lkstm config, conf: one entry, of the selected maskset or another"""
    lkstm("write", "-n", "a", "-S", give="0x100 1\n")
    lkstm("config", "0x101", "1")
    lkstm("conf", "-m", 3, "PROCESS_EXIT", "BUFFER_SHIFT")
    lkstm("conf", "-n", "a", "0x100", "0")
    assert table(lkstm("read").out) == [("0x017", "0x002"), ("0x101", "0x001")]
    lkstlogger("-ev", "0x100")
    lkstlogger("-ev", "0x101")
    assert len(lkstbuf("print", "-e", "0x100,0x101").lines) == 1
    lkstm("config", "0x100", ok=2, says="config needs an event type and an event handler")
    lkstm("config", "FOO", "1", ok=1, says="'FOO' is no event type")
    lkstm("config", "0x100", "FOO", ok=1, says="'FOO' is no event handler")
    lkstm("config", "-n", "b", "0x100", "1", ok=1, says="there is no maskset 'b'")
    lkstm("config", "-m", 0, "0x100", "1", ok=1, says="it cannot be RNOTHING or RALL")


# ---- lkstbuf ----

def buffers(*argv):
    """{(cpu, id): [next, size, ...]} and whether it is written."""
    rows = lkstbuf("list", *argv).lines[1:]
    return {(int(m[1]), int(m[3])): (m[2], m[4].split()) for m in
            (re.match(r" *(\d+)([* ]) +(\d+) +(.*)", r) for r in rows) if m}


def test_lkstbuf_create():
    """lkstbuf create: -s with K and M, -b, -n, -c; the size that it got"""
    cpu = cpus()[0]
    assert lkstbuf("create", "-s", "64K").out == "1 65536\n"
    assert lkstbuf("create", "-s", "1M", "-b", 9, "-c", cpu, "-n", 1).out == "9 1048576\n"
    assert lkstbuf("create", "-s", "8291").out == "2 8192\n"
    have = buffers()
    assert {c for c, b in have if b == 1} == set(cpus())
    assert {c for c, b in have if b == 9} == {cpu}
    assert have[cpu, 9][1][:2] == ["1", "1048576"] and have[cpu, 1][1][0] == "-", have


def test_lkstbuf_create_errors():
    """lkstbuf create: what is wrong is said, and no buffer is made"""
    before = buffers()
    cpu = cpus()[0]
    lkstbuf("create", ok=2, says="create needs '-s SIZE'")
    for size in ("", "x", "1G", "-4K", "4KK", "99999999999999999999M"):
        lkstbuf("create", "-s", size, ok=2, says="is no size: bytes are meant, or 64K, or 2M")
    for argv in (("-s", "4095"), ("-s", "257M"), ("-s", "4K", "-b", 0), ("-s", "4K", "-c", 4711),
                 ("-s", "4K", "-b", 5, "-n", 5)):
        lkstbuf("create", *argv, ok=1, says="cannot create the buffer: it is there already")
    lkstbuf("create", "-s", "4K", "-b", 60, ok=2, says="buffer id 60 is too large: 59")
    assert buffers().keys() == before.keys()
    for i in range(59):
        lkstbuf("create", "-s", "4K", "-c", cpu)
    lkstbuf("create", "-s", "4K", "-c", cpu, ok=1, says="all 60 ids are taken")


def test_lkstbuf_link_shift_jump():
    """lkstbuf link, ln, shift, jump: of one CPU and of all; forward references"""
    all_cpus = cpus()
    cpu = all_cpus[0]
    only("0x100", overrun=False)
    lkstbuf("link", "-b", 0, "-n", 1)
    lkstbuf("shift", ok=1, says="cannot shift on CPU")       # there is no 1 yet
    lkstbuf("create", "-s", "64K", "-n", 2)
    lkstbuf("create", "-s", "64K")
    lkstbuf("shift", "-c", cpu)
    have = buffers()
    assert have[cpu, 1][0] == "*" and all(have[c, 0][0] == "*" for c in all_cpus[1:]), have
    lkstbuf("jump", "-b", 2)
    assert all(buffers()[c, 2][0] == "*" for c in all_cpus)
    lkstbuf("ln", "-b", 2, "-n", 0, "-c", cpu)
    assert buffers()[cpu, 2][1][0] == "0"
    lkstbuf("shift", "-c", cpu)
    assert buffers()[cpu, 0][0] == "*"
    lkstbuf("ln", "-b", 0)          # no next any more
    assert buffers()[cpu, 0][1][0] == "-"
    lkstbuf("shift", "-c", cpu, ok=1, says="the buffer links to none")


def test_lkstbuf_link_errors():
    """lkstbuf link, jump, shift: what is wrong is said"""
    lkstbuf("link", ok=2, says="link needs '-b BUFFER'")
    lkstbuf("link", "-b", 3, "-n", 3, ok=2, says="buffer 3 cannot be linked to itself")
    lkstbuf("link", "-b", 3, "-n", 1, ok=1, says="cannot link on CPU")
    lkstbuf("link", "-b", 0, "-n", 1, "-c", 4711, ok=1, says="cannot link on CPU 4711")
    lkstbuf("link", "-b", "x", ok=2, says="'x' is no buffer id")
    lkstbuf("jump", ok=2, says="jump needs '-b BUFFER'")
    lkstbuf("jump", "-b", 3, ok=1, says="cannot jump on CPU")
    lkstbuf("shift", "-c", 4711, ok=1, says="cannot shift on CPU 4711")
    lkstbuf("shift", "-c", "x", ok=2, says="'x' is no CPU")


def test_lkstbuf_delete():
    """lkstbuf delete, del: of one CPU and of all; not 0, not one in use"""
    cpu = cpus()[0]
    lkstbuf("create", "-s", "64K")
    lkstbuf("delete", "-b", 1, "-c", cpu)
    assert (cpu, 1) not in buffers()
    lkstbuf("del", "-b", 1)         # on whatever CPU it still is
    assert set(b for c, b in buffers()) == {0}
    lkstbuf("delete", "-b", 1, ok=1, says="cannot delete on CPU")
    lkstbuf("delete", "-b", 0, ok=1, says="buffer 0 cannot be deleted")
    lkstbuf("delete", ok=2, says="delete needs '-b BUFFER'")
    lkstbuf("create", "-s", "64K", "-b", 7)
    lkstbuf("jump", "-b", 7)
    lkstbuf("delete", "-b", 7, ok=1, says="the buffer is being written or read")
    lkstbuf("jump", "-b", 0)
    lkstbuf("delete", "-b", 7)


def test_lkstbuf_list():
    """lkstbuf list, ls: -c, -v"""
    cpu = cpus()[-1]
    only("0x100", overrun=False)
    lkstbuf("create", "-s", "64K", "-n", 0)
    assert {c for c, b in buffers("-c", cpu)} == {cpu}
    rows = lkstbuf("list", "-c", cpu).lines
    assert rows[0].split() == ["CPU", "ID", "NEXT", "SIZE", "OFFSET"]
    entries(0x100, 10, cpu)
    lkstbuf("jump", "-b", 1, "-c", cpu)
    verbose = lkstbuf("ls", "-v", "-c", cpu).out
    assert "BASE RQ-PREV RQ-NEXT" in verbose and "owner: none" in verbose
    assert re.search(r"read queue: +0 \.\. +0", verbose), verbose
    lkstbuf("list", "-c", 4711, ok=1, says="there is no CPU 4711")


def test_lkstbuf_read():
    """lkstbuf read: -c, -b, -n, -f, -S, -E; what is read stays"""
    cpu, last = cpus()[0], cpus()[-1]
    only("0x100", "0x101", overrun=False)
    lkstbuf("create", "-s", "64K")
    lkstbuf("create", "-s", "64K")
    lkstbuf("jump", "-b", 1)        # what came before is in buffer 0
    entries(0x100, 10, cpu)
    if last != cpu:
        entries(0x101, 4, last)
    lkstbuf("jump", "-b", 2)
    entries(0x100, 5, cpu)
    want = 15 + 4 * (last != cpu)
    shown = lambda *a: len([l for l in lkstbuf("read", *a).lines if l.startswith("0x10")])
    assert shown() == shown() == want
    assert shown("-c", cpu) == 15 and shown("-c", cpu, "-b", 1) == 10
    assert shown("-b", 2) == 5
    assert len(lkstbuf("read", "-b", 1, "-n", 3).lines) == 3 + 3 * (last != cpu)
    first = lkstbuf("read", "-c", cpu, "-b", 1, "-n", 2).out
    lkstbuf("read", "-f", "log", "-c", cpu, "-b", 1, "-n", 2)
    assert lkstbuf("print", "-r", "-f", "log").out == first
    lkstbuf("read", "-f", "log")
    assert len(lkstbuf("print", "-f", "log", "-e", "0x100,0x101").lines) == want
    put("types", "0x100\tMINE\tmy event\tfirst\n")
    assert " first=0x1" in lkstbuf("read", "-n", 1, "-b", 2, "-E", "types").out
    lkstbuf("read", "-f", "log", "-E", "types")
    assert lkstbuf("print", "-f", "log").out.count("my event") == 15
    hist = tacho("hist", "-e", "lkst:MINE", "keys=buffer", "log").out
    assert re.search(r"buffer: +1 } hitcount: +10\n", hist) and \
        re.search(r"buffer: +2 } hitcount: +5\n", hist), hist
    # the static buffer has LKST's own events
    fixed = lkstbuf("read", "-S").out
    assert fixed.count("\n") >= 1, fixed
    lkstbuf("read", "-S", "-f", "log")
    assert lkstbuf("print", "-r", "-f", "log").lines[:1] == fixed.splitlines()[:1]
    assert tacho("stat", "log").out.startswith("trace ")


def test_lkstbuf_read_errors():
    """lkstbuf read: what is wrong is said"""
    lkstbuf("read", "-S", "-c", 0, ok=2, says="the static buffer (-S) has no CPU and no id")
    lkstbuf("read", "-f", "/none/log", ok=1, says="/none/log")
    lkstbuf("read", "-n", "x", ok=2, says="'x' is no number of entries")
    lkstbuf("read", "-E", "none", ok=1, says="cannot read 'none'")
    lkstbuf("read", "x", ok=2, says="read: unexpected argument 'x'")
    for word in ("read", "print"):
        lkstbuf(word, "-c", 999, ok=1, says="CPU 999 has no buffers; 'lkst status'")
        lkstbuf(word, "-b", 50, ok=1, says="there is no buffer 50; 'lkstbuf list'")
        lkstbuf(word, "-c", cpus()[0], "-b", 50, ok=1, says="there is no buffer 50")
    lkstbuf("read", "-b", 50, "-f", "log", ok=1, says="there is no buffer 50")


def test_names():
    """lkststat and logformat.pl are there by these names"""
    assert tool("lkststat")().lines[0].startswith("tracing "), lkst("status")
    assert tool("lkststat")().lines[:3] == lkst("status").lines[:3]
    lkstbuf("read", "-f", "log")
    assert tool("logformat.pl")("log").out == logformat("log").out


# ---- lksteh, lkstlogger ----

def test_lksteh():
    """lksteh list, ls; control, ctrl, c: -e, -f, and what is wrong"""
    rows = lksteh("list").lines
    assert rows == lksteh("ls").lines
    assert [r.split() for r in rows] == [["ID", "NAME"], ["0x001", "LOG"],
                                         ["0x002", "BUFFER_SHIFT"],
                                         ["0x003", "BUFFER_SHIFT_DW"]], rows
    for word in ("control", "ctrl", "c"):
        lksteh(word, ok=2, says="control needs '-e ID'")
        lksteh(word, "-e", "1", ok=1, says="event handler 0x001 is not there, has no control")
    lksteh("c", "-e", "0x20", ok=1, says="event handler 0x020 is not there")
    lksteh("c", "-e", "0x1000", ok=2, says="event handler id 0x1000 is too large: 4095")
    lksteh("c", "-e", "1", "-f", "none", ok=1, says="cannot read 'none'")
    lksteh("c", "-e", "1", "-f", put("long", "x" * 4097), ok=1, says="4096 bytes at most")
    lksteh("list", "x", ok=2, says="list: unexpected argument 'x'")


def test_lkstbuf_of_both():
    """the kernel's events, which are moved when somebody reads, overwrite no later one of a program"""
    lkst("status")
    if not os.path.isdir(instance):
        raise Skip("needs root and tracefs")
    only("PROCESS_EXEC", "0x100", overrun=False)
    lkstbuf("create", "-s", "4K", "-b", 1)
    lkstbuf("jump", "-b", 1)
    cpu = cpus()[0]
    for n in range(3):
        run_on(cpu, "i=0; while [ $i -lt 80 ]; do /bin/true; i=$((i + 1)); done")
        assert run_on(cpu, os.path.join(TOOLS, "lkstlogger") + " -ev 0x100 -a1 %d" % n) == 0
        lines = lkstbuf("print", "-V", "-b", 1, "-c", cpu).lines
        assert 56 <= len(lines) <= 72, len(lines)
        times = [l.split(" pid=")[1].split(" ")[2] for l in lines]
        assert times == sorted(times, reverse=True), times
        assert any(l.startswith("0x100 ") and "arg1=%#x " % n in l for l in lines), lines[:3]


def run_on(cpu, command):
    return subprocess.run(["sh", "-c", command],
                          preexec_fn=lambda: os.sched_setaffinity(0, [cpu])).returncode


def test_lkstlogger():
    """lkstlogger: -ev, -a1 .. -a4; zero if left out; what is wrong"""
    only("0x100", "0x1ff", "LKST_MASKSET_SET", overrun=False)
    lkstlogger("-ev", "0x100", "-a1", 1, "-a2", "0x2", "-a3", 3, "-a4", 2 ** 64 - 1)
    lkstlogger("-ev", 511, "-a3", 5)
    lkstlogger("-ev", "LKST_MASKSET_SET")
    lkstlogger("-ev", "0x123")      # masked: still well
    rows = [re.findall(r"=(0x[0-9a-f]+)", l) for l in lkstbuf("print", "-rV", "-e",
                                                              "0x100,0x1ff").lines]
    assert rows == [["0x1", "0x2", "0x3", "0x" + "f" * 16], ["0x0", "0x0", "0x5", "0x0"]], rows
    lkstlogger("-a1", 1, ok=2, says="'-ev TYPE' is needed")
    lkstlogger("-ev", ok=2, says="option '-ev' needs an argument")
    lkstlogger("-ev", "0x1000", ok=2, says="event type 0x1000 is too large: 4095")
    lkstlogger("-ev", "FOO", ok=2, says="there is no event type 'FOO'")
    lkstlogger("-ev", "0x300", ok=1, says="event type 0x300 is reserved")
    lkstlogger("-ev", "0x100", "-a5", 1, ok=2, says="'-a5' is no option")
    lkstlogger("-ev", "0x100", "-a1", "x", ok=2, says="'x' is no data")
    lkstlogger(ok=2, says="'-ev TYPE' is needed")


run(globals())
