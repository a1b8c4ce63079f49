# SPDX-License-Identifier: MIT
"""lkstbuf print and logformat: selection, order, text, CSV (specification 4.7.3.3.2, 4.7.3.6.1)."""
import re

import logfile
from lib import *

TYPES = ("0x080\tSPIN_LOCK\tspin_lock\tlock\n"
         "0x040\tSYSTEM_CALL_ENTRY\tsystem_call_entry\tnumber\n"
         "0x041\tSYSTEM_CALL_EXIT\tsystem_call_exit\tnumber\tresult\n"
         "0x100\tNEW_EVENT\tuser added event\tdata1\tdata2\n"
         "0x101\tODD\todd, \"quoted\"\tone,two\n")
NAMES = ["spin_lock", "system_call_entry", "system_call_exit", "user added event",
         'odd, "quoted"', "0x1ee"]
ETYPES = [0x080, 0x040, 0x041, 0x100, 0x101, 0x1ee]
START = 1072224000 * 10 ** 9    # 2003-12-24 00:00:00 UTC, a Wednesday


def record(log="log", **kw):
    """A log file with one event of each of NAMES, a microsecond apart, on CPUs 0 and 1."""
    return logfile.write(log, TYPES, [
        ((n + 1) * 1001, e, (n + 1, 0x200000001, 0, 4), n % 2, 100 + n)
        for n, e in enumerate(ETYPES)], realtime=START, **kw)


def live():
    """The same of the types of programs, in the buffers; LKST's own words are masked."""
    only("0x100", "0x101", "0x1ee", overrun=False)
    lkstbuf("create", "-s", "64K")
    lkstbuf("jump", "-b", 1)
    for n, e in enumerate(ETYPES[3:]):
        lkstlogger("-ev", hex(e), "-a1", n + 4, "-a2", 0x200000001, "-a4", 4)
    put("types", TYPES)


def shown(*argv, tool=None):
    """Names of the events that are shown, in their order."""
    found = []
    for l in (tool or (lambda *a: lkstbuf("print", *a)))(*argv).lines:
        m = re.match(r"(.*?) cpu=\d+ pid=-?\d+ ", l)
        assert m, l
        found.append(m[1])
    return found


SELECTIONS = [
    # of the specification
    ("system_call_entry,system_call_exit", NAMES[1:3]),
    ("all,!system_call_entry,!system_call_exit", NAMES[:1] + NAMES[3:]),
    ("all,!spin_lock", NAMES[1:]),
    ("!spin_lock,all", NAMES),
    ("!spin_lock,spin_lock", NAMES[:1]),
    ("spin_lock,!spin_lock", NAMES[1:]),
    ("spin_lock", NAMES[:1]),
    ("!spin_lock", NAMES[1:]),
    # mnemonics, numbers, several of each
    ("SPIN_LOCK,0x100,257", [NAMES[0], NAMES[3], NAMES[4]]),
    ("!SPIN_LOCK,!0x100", NAMES[1:3] + NAMES[4:]),
    ("!all", []),
    ("all", NAMES),
    ("spin_lock,user added event,!spin_lock", [NAMES[3]]),
    ("0x1ee", ["0x1ee"]),
]


def test_selection():
    """print -e: every example of the specification, and more; logformat alike"""
    log = record()
    live()
    for words, want in SELECTIONS:
        have = shown("-f", log, "-r", "-e", words)
        assert have == want, (words, have, want)
        have = shown("-r", "-e", words, log, tool=logformat)
        assert have == want, ("logformat", words, have, want)
    for words, want in SELECTIONS:      # beside what the kernel had before
        have = [h for h in shown("-r", "-E", "types", "-e", words) if h in NAMES[3:]]
        assert have == [w for w in want if w in NAMES[3:]], ("the buffers", words, have)


def test_selection_errors():
    """print -e: what is no event is named"""
    log = record()
    for words, says in (("nothing", "there is no event 'nothing'; option '-h'"),
                        ("all,!none", "there is no event 'none'"), ("", "'-e' needs names"),
                        (",all", "there is no event ''"), ("!", "there is no event ''"),
                        ("0x1000", "there is no event '0x1000'"),
                        ("x" * 300, "there is no event 'xxx")):
        lkstbuf("print", "-f", log, "-e", words, ok=2, says=says)
        logformat("-e", words, log, ok=2, says=says)


def test_order_and_number():
    """print: the newest first; -r the oldest; -n so many, of what is shown"""
    log = record()
    assert shown("-f", log) == NAMES[::-1] == shown(log, tool=logformat)
    assert shown("-f", log, "-r") == NAMES == shown("-r", log, tool=logformat)
    for argv in (("-f", log), ("-E", "types")):
        if argv[0] == "-E":
            live()
        rest = argv + ("-e", "0x100,0x101,0x1ee")
        assert shown(*rest, "-n", 2) == NAMES[:3:-1], argv
        assert shown(*rest, "-n", 2, "-r") == NAMES[3:5], argv
        assert shown(*rest, "-n", 0) == [], argv
        assert shown(*rest, "-n", 9) == NAMES[:2:-1], argv
    assert shown("-n", 2, "-e", "0x100,0x101,0x1ee", log, tool=logformat) == NAMES[:3:-1]
    lkstbuf("print", "-f", log, "-n", "x", ok=2, says="'x' is no number of entries")
    logformat("-n", "x", log, ok=2, says="'x' is no number of entries")


def test_buffer():
    """print -b: of one buffer, of LKST's and of a log file"""
    only("0x100", overrun=False)
    entries(0x100, 2, 0)
    for b, n in ((5, 3), (9, 4)):
        lkstbuf("create", "-s", "64K", "-b", b)
        lkstbuf("jump", "-b", b)
        entries(0x100, n, 0)
    lkstbuf("read", "-f", "log")
    for how in ((), ("-f", "log"), ("-r",), ("-f", "log", "-r")):
        for b, n in ((0, 2), (5, 3), (9, 4)):
            have = shown("-e", "0x100", "-b", b, *how)
            assert len(have) == n, (how, b, have)
        assert len(shown("-e", "0x100", *how)) == 9
    # a log file need not have records of every buffer
    assert shown("-b", 1, "-f", "log") == []
    lkstbuf("print", "-b", 1, ok=1, says="there is no buffer 1")
    lkstbuf("print", "-b", 60, ok=2, says="buffer id 60 is too large: 59")


def test_cpu():
    """print -c: of one CPU"""
    log = record()
    assert shown("-r", "-c", 0, "-f", log) == NAMES[0::2]
    assert shown("-r", "-c", 1, log, tool=logformat) == NAMES[1::2]
    assert shown("-c", 4711, "-f", log) == []
    all_cpus = cpus()
    only("0x100", overrun=False)
    for c in all_cpus:
        entries(0x100, c + 1, c)
    for c in all_cpus:
        have = shown("-e", "0x100", "-c", c)
        assert len(have) == c + 1, (c, have)
    lkstbuf("print", "-c", "x", ok=2, says="'x' is no CPU")
    logformat("-c", "x", log, ok=2, says="'x' is no CPU")


TEXT = """\
spin_lock cpu=0 pid=100 2003-12-24 00:00:00.000001001 lock=0x1
system_call_entry cpu=1 pid=101 2003-12-24 00:00:00.000002002 number=0x2
system_call_exit cpu=0 pid=102 2003-12-24 00:00:00.000003003 number=0x3 result=0x200000001
user added event cpu=1 pid=103 2003-12-24 00:00:00.000004004 data1=0x4 data2=0x200000001
odd, "quoted" cpu=0 pid=104 2003-12-24 00:00:00.000005005 one,two=0x5
0x1ee cpu=1 pid=105 2003-12-24 00:00:00.000006006
"""


def test_text():
    """print: arguments that have a description; -V all; -E describes; either byte order"""
    for order in "<>":
        log = record(order=order)
        have = lkstbuf("print", "-r", "-f", log)
        assert have.out == TEXT, have
        assert logformat("-r", log).out == TEXT
    line = lkstbuf("print", "-V", "-f", log, "-e", "0x100").out
    assert line == TEXT.splitlines()[3] + " arg3=0x0 arg4=0x4\n", line
    line = lkstbuf("print", "-V", "-f", log, "-e", "0x1ee").out
    assert line.endswith("006006 arg1=0x6 arg2=0x200000001 arg3=0x0 arg4=0x4\n"), line
    put("others", "0x1ee\tOTHER\tother\t\t\t\tfourth\n")
    line = lkstbuf("print", "-f", log, "-e", "OTHER", "-E", "others").out
    assert line == "other cpu=1 pid=105 2003-12-24 00:00:00.000006006 fourth=0x4\n", line
    line = lkstbuf("print", "-f", log, "-e", "0x1ee", env={"TZ": "UTC-5:30"}).out
    assert " 2003-12-24 05:30:00.000006006" in line, line


CSV = """\
spin_lock,0,100,Wed,Dec,24,00:00:00.000001001,2003,lock,0x00000001,0x00000000
system_call_entry,1,101,Wed,Dec,24,00:00:00.000002002,2003,number,0x00000002,0x00000000
system_call_exit,0,102,Wed,Dec,24,00:00:00.000003003,2003,number,0x00000003,0x00000000,\
result,0x00000001,0x00000002
user added event,1,103,Wed,Dec,24,00:00:00.000004004,2003,data1,0x00000004,0x00000000,\
data2,0x00000001,0x00000002
"odd, ""quoted\""",0,104,Wed,Dec,24,00:00:00.000005005,2003,"one,two",0x00000005,0x00000000
0x1ee,1,105,Wed,Dec,24,00:00:00.000006006,2003,,0x00000006,0x00000000,,0x00000001,\
0x00000002,,0x00000000,0x00000000,,0x00000004,0x00000000
"""


def test_csv():
    """print -C: the columns of the specification; -S: seconds and microseconds; -V: all"""
    log = record()
    assert lkstbuf("print", "-r", "-C", "-f", log).out == CSV
    short = re.sub(r"Wed,Dec,24,00:00:00\.0+(\d)00\d,2003", r"1072224000,\1", CSV)
    have = lkstbuf("print", "-r", "-C", "-S", "-f", log)
    assert have.out == short, have
    have = lkstbuf("print", "-C", "-V", "-f", log, "-e", "0x100").out
    assert have == CSV.splitlines()[3] + ",,0x00000000,0x00000000,,0x00000004,0x00000000\n", have
    lkstbuf("print", "-S", "-f", log, ok=2, says="'-S' is for '-C'")


def test_help():
    """print -h, logformat -h: the names of events, without LKST as well, with those of -E"""
    put("types", TYPES)
    for text in (lkstbuf("print", "-h").out, logformat("-h").out):
        for row in (r"0x080  SPIN_LOCK +spin_lock", r"0x040  SYSTEM_CALL_ENTRY +system_call_entry",
                    r"0xf00  LKST_BUFF_OVFLOW "):
            assert re.search("(?m)^  " + row, text), (row, text)
    assert not os.path.exists(os.path.join(run_dir, "sessions")), "help made a session"
    assert "user added event" in lkstbuf("print", "-h", "-E", "types").out
    names = re.findall(r"(?m)^  0x[0-9a-f]{3}  \S+ +(.*)$", lkstbuf("print", "-h").out)
    assert len(names) > 100
    lkstbuf("print", "-f", record(), "-e", ",".join(names))


def test_file_errors():
    """print -f: no file, no log, a cut one, another's bytes"""
    log = record()
    lkstbuf("print", "-f", "none", ok=1, says="none")
    logformat("none", ok=1, says="none")
    logformat(ok=2, says="the name of one file is needed")
    logformat("a", "b", ok=2, says="the name of one file is needed")
    lkstbuf("print", "-f", put("text", "nothing of that kind\n" * 100), ok=1, says="text")
    data = open(log, "rb").read()
    with open("cut", "wb") as f:
        f.write(data[:-logfile.BLOCK + 60])     # in the last block: of the kernel, of CPU 1
    d = lkstbuf("print", "-f", "cut", ok=None)
    assert len(d.lines) == 5 and "system_call_entry" not in d.out, d
    bad = bytearray(data)
    bad[512 + 16384 + 100] ^= 1
    with open("bad", "wb") as f:
        f.write(bad)
    d = lkstbuf("print", "-f", "bad", ok=1, says="1 blocks are damaged; the events of the others")
    assert len(d.lines) == 5 and "odd" not in d.out, d      # of programs, of CPU 0
    record(lost=7)
    d = lkstbuf("print", "-f", log, says="7 events were lost when it was recorded")
    assert len(d.lines) == 6
    lkstbuf("print", "-E", "none", "-f", log, ok=1, says="cannot read 'none'")
    lkstbuf("print", "x", ok=2, says="print: unexpected argument 'x'")
    lkstbuf("print", "-f", ok=2, says="option '-f' of print needs an argument")


def test_other_readers():
    """A log file with tacho's verbs: report, stat, hist; a session and a trace with print"""
    log = record()
    assert len(tacho("report", "-e", "lkst:NEW_EVENT", log).lines) == 1
    assert re.search(r"(?m)^ +1 .* lkst:ODD$", tacho("stat", log).out)
    hist = tacho("hist", "-e", "lkst:NEW_EVENT", "keys=pid:vals=arg1", log).out
    assert re.search(r"103.*\b4\b", hist), hist
    tacho("convert", log, "-o", "trace")
    assert shown("-f", "trace", "-r") == NAMES == shown("-r", "trace", tool=logformat)
    live()
    have = shown("-r", "-f", "session:" + session, "-e", "0x100,0x101,0x1ee", "-E", "types")
    assert have == NAMES[3:], have


def test_closed_output():
    """print into a pipe that is closed early ends, without a word"""
    only("0x100", overrun=False)
    entries(0x100, 5000, cpus()[0])
    lkstbuf("read", "-f", "log")
    p = subprocess.run(["sh", "-c", '"$0" print -f log | head -1', os.path.join(TOOLS, "lkstbuf")],
                       capture_output=True, text=True, timeout=PATIENCE)
    assert p.stdout.count("\n") == 1 and not p.stderr, p


run(globals())
