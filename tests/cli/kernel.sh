#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho report's lines are the kernel's own: the same events in the text of the
# instance's trace file and through a trace of ours.
. "$SOURCE/lib.sh"
"$KERNEL_LINES" . >why 2>&1
case $? in
0) ;;
77) echo "1..0 # SKIP $(cat why)"; exit 77 ;;
*) sed 's/^/# /' why; echo "not ok 1 - recording"; echo "1..1"; exit 1 ;;
esac
# With trace_clock x86-tsc the kernel shows ticks; so does --ticks.
if grep -q '^clock: x86-tsc' trace/tacho/info; then ticks=--ticks; else ticks=; fi
grep -v '^#' trace.txt >kernel
"$TACHO" report $ticks trace >ours 2>/dev/null

# What cannot be the same: the kernel hashes the addresses behind %p, and shows
# processes because the recorder asks it to note them.
alike()
{
	sed -e 's/^\(.\{16\}-[0-9]* *\)([ 0-9-]*) /\1/' \
	    -e 's/page=[^ ]*/page=X/' -e 's/hrtimer=[0-9a-f]*/hrtimer=X/' "$1"
}
# Names of threads come from different tables of the kernel.
nameless()
{
	alike "$1" | sed 's/^.\{16\}//'
}
ok "there are events" test "$(wc -l <kernel)" -gt 500
nameless kernel >want
same "line by line" want nameless ours
# its own the recorder must know; the kernel may have forgotten others
own()
{
	grep -c '^ *kernel_lines-' "$1"
}
ok "names" test "$(own kernel)" -gt 200 -a "$(own kernel)" = "$(own ours)"
# the column between CPU and time, in as many forms as there were
ok "flags are not all dots" grep -q '\] [^.][^ ]* ' ours

"$TACHO" report --header trace 2>/dev/null | sed -n '/^#.*_-----=>/,/^[^#]/{/^#/p}' >head
sed -n '/^#.*_-----=>/,/^[^#]/{/^#/p}' trace.txt |
	sed -e '/[_/]\|delay/s/^#          /#/' \
	    -e 's/TASK-PID       TGID    /TASK-PID     /' \
	    -e 's/| |           |       | /| |         | /' >want
same "the head" want cat head
finish
