#!/bin/sh
# SPDX-License-Identifier: MIT
# Call stacks that were recorded behind events, as keys; and snapshots of a trace.
. "$SOURCE/lib.sh"
"$MAKE_TRACE" stacks stacks

hist()
{
	"$TACHO" hist stacks "$@" 2>note
}

# The entries of a histogram, each in one line.
entries()
{
	hist "$@" | sed -n '/^{/,/^$/p' |
		awk 'NF { gsub(/ +/, " "); printf "%s", $0 } /hitcount/ { print "" }'
}

task=' try_to_wake_up+0x10/0x1000 do_work+0x20/0x1000 entry+0x30/0x1000 [mod]'
irq=' try_to_wake_up+0x10/0x1000 timer_fn+0x8/0x1000 entry+0x30/0x1000 [mod]'
cat >want <<END
{ comm: behind , common_stacktrace:$task} hitcount: 1
{ comm: inner , common_stacktrace:$irq} hitcount: 1
{ comm: left , common_stacktrace:$task} hitcount: 1
{ comm: none , common_stacktrace:} hitcount: 4
{ comm: outer , common_stacktrace:$task} hitcount: 1
{ comm: plain , common_stacktrace:$task} hitcount: 1
{ comm: right , common_stacktrace:$irq} hitcount: 1
{ comm: taken , common_stacktrace:$task} hitcount: 1
END
same "whose is whose" want entries -e sched:sched_wakeup \
	'keys=comm,common_stacktrace:sort=comm'
ok "what has none is told" grep -q '4 of 11 events have no call stack' note
same "stacktrace is the same" want entries -e sched:sched_wakeup \
	'keys=comm,stacktrace:sort=comm'

cat >want <<END
{ common_stacktrace:$irq} hitcount: 2
{ common_stacktrace:} hitcount: 4
{ common_stacktrace:$task} hitcount: 5
END
same "as the only key" want entries -e sched:sched_wakeup 'keys=stacktrace'
same "a synthetic event has its cause's" want entries --synth 'again pid_t pid' \
	-e sched:sched_wakeup \
	'keys=pid:p=pid:onmatch(sched.sched_wakeup).trace(again,$p)' \
	-e synthetic:again 'keys=stacktrace'

# In the order of time, although the first one's stack comes last.
cat >want <<END
{ pid: 50, stack.stacktrace$task} hitcount: 1
END
same "a variable" want entries --synth 'woken pid_t pid; long[] stack' \
	-e sched:sched_wakeup 'keys=pid:st=common_stacktrace' \
	-e sched:run 'keys=pid:s=$st:onmatch(sched.sched_wakeup).trace(woken,pid,$s)' \
	-e synthetic:woken 'keys=pid,stack.stacktrace'

"$TACHO" convert -q stacks -o bare -e 'sched:*'
says "no stacks at all" 0 "'tacho record --stack' records them" \
	"$TACHO" hist bare -e sched:sched_wakeup 'keys=stacktrace'
says "the others need none" 0 'Hits: 11' \
	"$TACHO" hist bare -e sched:sched_wakeup 'keys=comm'
"$TACHO" hist bare -e sched:sched_wakeup 'keys=comm' 2>note >/dev/null
ok "and nothing is said of them" sh -c '! grep -q stack note'

# --- snapshots -------------------------------------------------------------------

# Records of the trace by their times in ns, as text.
when()
{
	"$TACHO" report -q --ns "$1" | sed -n 's/^.* 1000\.00000\([0-9]*\): .*/\1/p'
}
taken()
{
	rm -rf out
	hist "$@" --snapshot out >text && when out
}

# The largest is of "taken"; its stack comes later, and is not in it.
when stacks >all
sed '/^8000$/q' all >want
same "all up to it" want taken -e sched:sched_wakeup \
	'keys=comm:p=pid:onmax($p).snapshot()'
n=$(wc -l <want)
cat >want <<END
Snapshot taken (see tracing/snapshot).  Details:
	triggering value { onmax(\$p) }:         50	triggered by event with key: { comm: taken                                              }
END
same "the kernel's words" want grep -A1 '^Snapshot' text
ok "how many" grep -q '^tacho: .*10 taken' note
says "it is a trace" 0 "good; $n events" "$TACHO" check out
# An event that waited for its stack has it with it.
sed '/^8010$/q' all | grep -v 8005 >want
same "with its stack" want taken -e sched:sched_wakeup \
	'keys=comm,stacktrace:p=pid:onmax($p).snapshot()'
sed '/^3000$/q' all >want
same "the trigger, once" want taken -e sched:sched_wakeup 'snapshot:1 if pid == 4'
says "names and symbols are there" 0 '=> do_work' "$TACHO" report out
sed '/^6500$/q' all >want
same "the newest stays" want taken -e sched:sched_wakeup \
	'snapshot if pid == 7 || pid == 9'
says "loss is in it" 0 '^LOST +2 events' "$TACHO" stat out
sed '/^3000$/q' all >want
same "not while tracing is off" want taken -e sched:sched_wakeup \
	'traceoff if pid == 4' -e sched:sched_wakeup 'snapshot if pid == 10'

rm -rf out
hist -e sched:sched_wakeup 'snapshot if pid == 4' --snapshot out.txt >/dev/null
hist -e sched:sched_wakeup 'snapshot if pid == 4' --snapshot - >got
ok "text on stdout" test -s out.txt
same "and in a file" out.txt cat got
"$TACHO" report -q stacks | sed '/comm=none pid=4 /q' >want
same "is the report's" want cat out.txt
says "not over another file" 1 "'out.txt' exists and is not empty" "$TACHO" hist \
	stacks -e sched:sched_wakeup snapshot --snapshot out.txt
says "nor another directory" 1 "'stacks' exists and is not empty" "$TACHO" hist \
	stacks -e sched:sched_wakeup snapshot --snapshot stacks
says "without a trigger" 2 'no TRIGGER takes one' "$TACHO" hist stacks \
	-e sched:sched_wakeup keys=comm --snapshot o
says "none was taken" 0 "no snapshot was taken: 'o' is not written" "$TACHO" hist \
	stacks -e sched:sched_wakeup 'snapshot if pid == 999' --snapshot o
ok "and none is there" test ! -e o
says "one that nobody wants" 0 '1 taken; --snapshot OUT writes' "$TACHO" hist \
	stacks -e sched:sched_wakeup 'snapshot if pid == 4'
says "too small" 2 'no size from 128K' "$TACHO" hist stacks \
	-e sched:sched_wakeup snapshot --snapshot o --snapshot-size 1K
says "text and JSON" 2 'does not go with --json' "$TACHO" hist stacks --json \
	-e sched:sched_wakeup snapshot --snapshot -

# As much of the past as there is room for.
"$MAKE_TRACE" many many
"$TACHO" hist -q many -e app:open 'snapshot if fd == 19999' --snapshot small \
	--snapshot-size 128K
"$TACHO" report -q small >got
n=$(wc -l <got)
ok "a part of it" test "$n" -gt 800 -a "$n" -lt 3000
"$TACHO" report -q many | tail -n "$n" >want
same "the newest" want cat got
finish
