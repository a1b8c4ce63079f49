# SPDX-License-Identifier: MIT
"""hist --watch on a terminal: what a person sees, by a terminal that is made here."""
import fcntl
import pty
import select
import termios

from rec import *

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """A process on a terminal, and what it shows."""

    def __init__(self, *argv, rows=10, columns=60, env=None):
        self.out = ""
        master, slave = pty.openpty()
        self.fd = master
        self.resize(rows, columns)
        self.p = start(*argv, stdin=slave, stdout=slave, stderr=slave,
                       env=dict({"TERM": "xterm"}, **(env or {})),
                       preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                return
            self.out += got.decode(errors="replace")

    def until(self, what, fn):
        def look():
            self.read()
            return fn()
        try:
            until(what, look)
        except AssertionError:
            raise AssertionError("never: %s, in %r" % (what, self.out[-2000:]))

    def pictures(self):
        """Whole ones: up to the beginning of the next one."""
        return self.out.split("\x1b[H")[1:-1]

    def lines(self, picture):
        """The lines of one, as the terminal had room for them."""
        assert picture.endswith("\x1b[J"), picture
        text = picture[:-3].replace("\x1b[K", "").replace("\r", "")
        assert "\x1b" not in text, repr(text)
        return text.split("\n")

    def end(self):
        """Ctrl-C; what came after the last picture."""
        os.write(self.fd, b"\x03")
        self.until("its end", lambda: self.p.poll() is not None)
        self.read()
        os.close(self.fd)
        assert self.p.returncode == 0, self.out
        return self.out.rsplit("\x1b[H", 1)[1]


def fits(t, picture):
    lines = t.lines(picture)
    assert len(lines) <= t.rows, (t.rows, lines)
    assert all(len(line) <= t.columns for line in lines), (t.columns, lines)
    return lines


def watch(*what):
    return Terminal(TACHO, "hist", "--watch=30ms", *what)


def goes_on(t, hits):
    """A session's histogram, with many lines, on a small terminal and a larger one."""
    t.until("two pictures", lambda: len(t.pictures()) > 1)
    assert t.out.count(ENTER) == 1 and LEAVE not in t.out
    finish(start(TRACED, "hit 50"))
    t.until("lines that have no room", lambda: "more lines" in t.pictures()[-1])
    lines = fits(t, t.pictures()[-1])
    assert len(lines) == t.rows and re.match(r"\.\.\. \d+ more lines", lines[-1])
    t.resize(100, 100)
    before = len(t.pictures())
    t.until("another picture", lambda: len(t.pictures()) > before + 2)
    lines = fits(t, t.pictures()[-1])
    assert "    Hits: %d" % hits in lines, lines
    rest = t.end()
    # the last one is whole, where it was before, with the cursor
    assert rest.count(LEAVE) == 1 and "\x1b[?25h" in rest
    last = rest.split(LEAVE)[1]
    assert "\x1b" not in last, repr(last)
    assert last.count("{ n:") == 50 and "Hits: %d" % hits in last, last


def test_session():
    """the histogram of a session's programs"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    tacho("trigger", "-s", "s", "rec:hit", "hist:keys=n")
    finish(start(TRACED, "hit 2"))
    goes_on(watch("-s", "s"), 52)
    tacho("destroy", "s")


def test_stream():
    """a histogram over a session's events"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    goes_on(watch("session:s", "-e", "rec:hit", "keys=n"), 50)
    tacho("destroy", "s")


def test_kernel():
    """a histogram over the running kernel, all CPUs busy or not"""
    need_tracefs()
    t = watch("-k", "-e", "sched:sched_switch", "keys=next_comm:sort=hitcount")
    t.until("three pictures", lambda: len(t.pictures()) > 2)
    for picture in t.pictures():
        fits(t, picture)
    last = t.end().split(LEAVE)[1]
    assert "Totals:" in last, last
    assert not instances()


def test_table():
    """a table of quantiles, on a terminal that cannot be drawn on"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    finish(start(TRACED, "hit 100"))
    t = Terminal(TACHO, "hist", "--watch=30ms", "--quantiles", "50,100", "--by", "slot",
                 "session:s", "-e", "rec:hit", "keys=slot,n", env={"TERM": "dumb"})
    row = re.compile(r"\n\d+ +100 +49 +99\r\n")
    t.until("two tables", lambda: len(row.findall(t.out)) > 1)
    os.write(t.fd, b"\x03")
    t.until("its end", lambda: t.p.poll() is not None)
    assert t.p.returncode == 0 and "\x1b" not in t.out, t.out
    os.close(t.fd)
    tacho("destroy", "s")


def test_no_terminal():
    """a file gets one picture below the other, JSON a line for each"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    finish(start(TRACED, "hit 3"))
    for where in (("session:s", "-e", "rec:hit", "keys=slot"),):
        for json_too in (), ("--json",):
            p = start(TACHO, "hist", "--watch=20ms", *json_too, *where)
            until("three", lambda: len(re.findall(r'Hits: 3\n|"hits":3', slurp(p.out))) > 2)
            p.send_signal(signal.SIGTERM)
            d = finish(p)
            assert d.status == 0 and "\x1b" not in d.out, d
            if json_too:
                assert all(json.loads(x)["hits"] in (0, 3) for x in d.out.splitlines())
            else:
                assert "\n\n# event: rec:hit\n" in d.out, d.out
    tacho("destroy", "s")


def test_refused():
    """what is complete is not watched, and what is wrong is said where it stays"""
    p = recorder("-o", "t")
    finish(start(TRACED, "hit 3"))
    stop(p)
    d = tacho("hist", "t", "--watch", "-e", "rec:hit", "keys=n", ok=1,
              says="--watch is for what goes on")
    assert not d.out
    tacho("recipe", "run", "--watch", "span-time", "t", ok=1)
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    t = watch("session:s", "--quantiles", "50", "--by", "x", "-e", "rec:hit", "keys=n")
    finish(start(TRACED, "hit 3"))
    t.until("its end", lambda: t.p.poll() is not None)
    t.read()
    assert t.p.returncode == 1, t.out
    assert "no key 'x'" in t.out.split(LEAVE)[-1], t.out
    os.close(t.fd)
    tacho("destroy", "s")


run(globals())
