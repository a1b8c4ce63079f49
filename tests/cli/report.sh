#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho report: formats, filters, times.
. "$SOURCE/lib.sh"
G=$SOURCE/golden
"$MAKE_TRACE" small small
"$MAKE_TRACE" rotated rotated
"$MAKE_TRACE" many many

same "the kernel's lines" "$G/ftrace.txt" "$TACHO" report --header small
same "babeltrace's lines" "$G/babeltrace.txt" "$TACHO" report -F babeltrace small
same "JSON lines" "$G/json.txt" "$TACHO" report --json --delta small
same "format json is --json" "$G/json.txt" "$TACHO" report --format json --delta small
same "fields, relative, ns, delta" "$G/raw.txt" "$TACHO" report -R --relative --ns --delta small
same "some fields, date" "$G/fields.txt" "$TACHO" report --utc --fields fd,pid --fields common_pid small
same "ticks of one system" "$G/ticks.txt" "$TACHO" report --ticks -e sched small
same "colour when told" "$G/colour.txt" "$TACHO" report -R --color=always -e kinds,sched small

says "loss goes to stderr too" 0 '^tacho: 5 events were lost' "$TACHO" report small
ok "--quiet is quiet" sh -c '"$0" report -q small 2>&1 >/dev/null | cmp - /dev/null && "$0" report -q small' "$TACHO"

if have python3; then
	json_valid()
	{
		"$TACHO" report --json "$@" 2>/dev/null |
		python3 -c 'import json, sys
n = 0
for line in sys.stdin:
    d = json.loads(line)
    assert "lost" in d or list(d) == ["time", "cpu", "pid", "comm", "system",
        "event", "source", "fields"], d
    n += 1
assert n'
	}
	ok "every line is JSON" json_valid small
	ok "every line of many is JSON" json_valid many
	ok "JSON keeps 64 bits" sh -c '"$0" report --json small 2>/dev/null |
		python3 -c "import json, sys
v = [json.loads(l) for l in sys.stdin]
assert v[2][\"fields\"][\"big\"] == 2**64 - 1
assert v[2][\"fields\"][\"name\"] == \"a\\\"b\\n\\x1b[1\"
assert v[0][\"time\"] == 1795184000000000100"' "$TACHO"
else
	skip "JSON" "python3 is not here"
fi

# Filters.  many has 20,000 events; small has 7, one of which prints a newline,
# and a line that says what was lost.
ok "no filter" lines 20000 "$TACHO" report many
ok "event by name" lines 4 "$TACHO" report -e open small
ok "event by glob" lines 4 "$TACHO" report -e 'app:o*' small
ok "events by list" lines 6 "$TACHO" report -e open,kinds small
ok "events, repeated" lines 6 "$TACHO" report -e open -e kinds small
ok "events taken away" lines 4 "$TACHO" report -e '!kinds,!sched:*' small
ok "the last glob decides" lines 4 "$TACHO" report -e 'app,!open,open,!kinds' small
ok "one CPU" lines 3 "$TACHO" report --cpu 1 small
ok "CPUs" lines 9 "$TACHO" report --cpu 0-3,8 small
ok "no such CPU" lines 0 "$TACHO" report --cpu 7 small
ok "one thread" lines 10000 "$TACHO" report --pid 1001 many
ok "threads" lines 20000 "$TACHO" report -p 1000-1001 many
ok "thread 0" lines 2 "$TACHO" report -p 0 small
ok "by name of thread" lines 3 "$TACHO" report --comm 'serv*' small
ok "not by name of thread" lines 7 "$TACHO" report --comm '!serv*' small
ok "programs" lines 6 "$TACHO" report --source program small
ok "the kernel" lines 3 "$TACHO" report --source kernel small
ok "no more than" lines 10 "$TACHO" report --max 10 many
ok "filters together" lines 5 "$TACHO" report --cpu 0 -p 1000 -m 5 many

# times: many has an event each microsecond from second 1000 of its clock
ok "until" lines 11 "$TACHO" report --time ,10us many
ok "from, both ends included" lines 11 "$TACHO" report --time 10us,20us many
ok "from" lines 1000 "$TACHO" report --time 0.019, many
ok "since 1970" lines 3 "$TACHO" report --time @1795184000.000001,@1795184000.000003 many
ok "as the report shows" lines 3 "$TACHO" report --time =1000.000001,=1000.000003 many
ok "mixed" lines 4 "$TACHO" report --time @1795184000.000001,4us many
ok "after all" lines 0 "$TACHO" report --time 5, many
"$TACHO" report --relative --time 10us,11us many >slice
ok "relative to the trace, not to the slice" grep -q ' 0\.000010: open' slice
"$TACHO" report --ticks many | sed 's/.*\. *\([0-9]*\): open:.*/\1/' >ticks
ok "ticks" grep -q '^1000000000000$' ticks
sort -n -c ticks 2>unsorted
ok "merged in the order of time" test "$(wc -l <ticks)" = 20000 -a ! -s unsorted
ok "rotated traces are one" lines 20 "$TACHO" report rotated
# a thread's last name counts, as in a trace of one piece; what ended before has its last one
cp -r rotated named
echo '1000 1000 later' >named/0002/tacho/cmdlines
ok "rotated: the newest name" sh -c 'test "$("$0" report named | grep -c " later-1000 ")" = 20' "$TACHO"
ok "rotated: --comm by it" lines 20 "$TACHO" report --comm later named
ok "rotated: not by an older one" lines 0 "$TACHO" report -q --comm server named
ok "rotated: comm == by it" lines 20 "$TACHO" report --filter 'comm == "later"' named
says "rotated: .execname" 0 '{ common_pid: later +\[ +1000\] } hitcount: +20$' \
	"$TACHO" hist named -e app:open keys=common_pid.execname
rm named/0002/tacho/cmdlines
ok "rotated: a name of an older piece" sh -c 'test "$("$0" report named | grep -c " server-1000 ")" = 20' "$TACHO"
ok "rotated traces are one type" lines 20 "$TACHO" report -e app:open rotated

# which trace
says "no trace here" 1 'no tacho-trace in this directory' "$TACHO" report
cp -r small tacho-trace
touch -d '2001-01-01' tacho-trace
ok "the default trace" lines 9 "$TACHO" report
cp -r many tacho-trace-2
ok "the newest trace" lines 20000 "$TACHO" report

# what is wrong
says "no such directory" 1 "cannot open 'nowhere'" "$TACHO" report nowhere
says "no trace" 1 "is not a trace" "$TACHO" report /usr
# what cannot be read, but is known: long enough for a memory image, and too short for one
for n in 1 8192; do
	{ printf PERFILE2; head -c $n /dev/zero; } >perf.data
	{ printf 2ELIFREP; head -c $n /dev/zero; } >perf.swapped
	{ head -c 16 /dev/zero; printf '\355\267\326\000\002\006\010\000'; head -c $n /dev/zero; } >kernel_0
	mkdir -p lttng0; { head -c 16 /dev/zero; printf '\000\326\267\355\002\005'; head -c $n /dev/zero; } >lttng0/kernel_0
	says "perf.data ($n)" 1 "'perf.data' is a perf.data of perf" "$TACHO" report perf.data
	says "perf.data of the other order ($n)" 1 "is a perf.data of perf" "$TACHO" check perf.swapped
	says "LTTng 0.x ($n)" 1 "'kernel_0' is a trace of LTTng 0.x, of format version 2.6" "$TACHO" report kernel_0
	says "LTTng 0.x, a directory ($n)" 1 "'lttng0' is a trace of LTTng 0.x, of format version 2.5" \
		"$TACHO" convert lttng0 -o no
done
mkdir ctf2; printf '\036{"type":"preamble","version":2}\n' >ctf2/metadata
case $(babeltrace2 --version 2>/dev/null) in *" 2.0."*|"")
	says "CTF 2" 1 "'ctf2' is a CTF 2 trace, which libbabeltrace2 reads from version 2.1 on" "$TACHO" report ctf2 ;;
esac
says "an event that is not there" 1 "no event of the trace matches 'sched_wakep'; near it are: sched:sched_wakeup" \
	"$TACHO" report -e sched_wakep small
says "a part of a name" 1 "near it are: sched:sched_wakeup" "$TACHO" report -e wakeup small
says "nothing near" 1 "'tacho stat' lists them" "$TACHO" report -e zzzzzzzz small
says "taking away what is not there" 1 "no event of the trace matches 'nix'" "$TACHO" report -e '!nix' small
says "a field that is not there" 1 "no event of the trace has a field 'nix'" "$TACHO" report --fields nix small
says "unknown format" 2 "'xml' is not one of" "$TACHO" report -F xml small
says "unknown option" 2 'see: tacho report --help' "$TACHO" report --nix small
says "bad CPU" 2 "'x' is neither a number nor a range" "$TACHO" report --cpu 1,x small
says "bad range" 2 "'3-1' is neither" "$TACHO" report --cpu 3-1 small
says "bad time" 2 "is not two moments" "$TACHO" report --time 5 small
says "backward time" 2 "ends before it begins" "$TACHO" report --time 5,1 small
says "bad source" 2 "neither 'program' nor 'kernel'" "$TACHO" report --source x small
says "bad max" 2 "'0' is no number of events from 1 up" "$TACHO" report --max 0 small
says "two traces" 2 "unexpected argument 'many': give one trace" "$TACHO" report small many
says "help" 0 '^usage: tacho report' "$TACHO" report --help

# a reader that goes away
"$TACHO" report many 2>err | head -1 >first
ok "one line read" test "$(wc -l <first)" = 1
ok "and nothing said" test -s first -a ! -s err
says "a full disk" 1 'cannot write to stdout: No space left' sh -c '"$0" report many >/dev/full' "$TACHO"
finish
