#!/bin/sh
# SPDX-License-Identifier: MIT
# Log files of LKST: read by every verb, written, and there and back.
. "$SOURCE/lib.sh"
"$MAKE_TRACE" lkst log
"$MAKE_TRACE" wakes wakes
"$MAKE_TRACE" small small

events()
{
	"$TACHO" report -q --json "$@"
}

# without what was lost
records()
{
	events "$@" | grep '"event":'
}

# ---- reading ----
says "stat" 0 '^ +667 .*lkst:SYSTEM_CALL$' "$TACHO" stat log
says "stat: the format" 0 '^trace +log \(lkst\)' "$TACHO" stat log
says "stat: what was lost" 0 '^LOST +4035 ' "$TACHO" stat log
says "a type that is not described" 0 '^ +121 .*lkst:ETYPE_0x123$' "$TACHO" stat log
says "text" 0 '-1001 .*NEW_EVENT: user added event: data1=0x1 data2=0xfffffffffffffffe$' "$TACHO" report log
says "a percent sign" 0 'SYSTEM_CALL: system_call_entry: number=0x3 100%: x=0x30000$' "$TACHO" report log
says "fields" 0 '"uid":1000,"gid":4294967295,"pid":1000,"pgrp":-1,"etype":64,"cpu":0,"flags":18,.*"recid":1000000,"buffer":-1' events log
records log >want
ok "as many as there are" lines 2000 cat want
records log --filter 'arg1 > 1996 && etype == 256' >want
ok "a filter" lines 2 cat want
# types that are only in the records
for how in "-e ETYPE_0x123" "-e lkst:ETYPE_*" "-e *:*_0x1?3" "--filter etype==0x123" \
	"--filter ETYPE_0x123/arg1>=0"; do
	# shellcheck disable=SC2086
	(set -f; records log $how >want)
	ok "$how" lines 121 cat want
done
records log -e '*:*,!ETYPE_*' >want
ok "all others" lines 1879 cat want
says "an expression of them" 0 'ETYPE_0x123' events log --filter 'ETYPE_0x123/etype == 0x123' -m 1
records log --filter 'etype == 0x123' --filter 'NEW_EVENT/arg1 == 1' >want
ok "and one of others" lines 122 cat want
says "what is not there is said" 1 "no event of the trace matches 'ETYPE_0x124'" "$TACHO" report log -e ETYPE_0x124
records log -p 1001 >want
ok "one thread" lines 1000 cat want
says "a histogram" 0 '\{ buffer: +2 \} hitcount: +303' "$TACHO" hist -e lkst:NEW_EVENT 'keys=buffer' log
says "check" 0 '^log: good; 2000 events in .* 4035 lost' "$TACHO" check log

# ---- there and back ----
ok "to CTF" "$TACHO" convert -q log -o ctf
says "its CTF is good" 0 'good; 2000 events' "$TACHO" check ctf
events log >want
same "the same in CTF" want events ctf
ok "to LKST" "$TACHO" convert -q ctf -o back.lkst
same "the same again" want events back.lkst
ok "the same clock, machine and uuid" cmp -n 512 log back.lkst
says "its clock is a clock" 0 '^clock +2000000000 ticks' "$TACHO" stat back.lkst
says "nothing more is lost" 0 '^LOST +4035 ' "$TACHO" stat back.lkst
dd if=log bs=1 skip=544 count=160 2>/dev/null | sort | tr -d '\0' >types
dd if=back.lkst bs=1 skip=544 count=160 2>/dev/null | sort | tr -d '\0' >types.back
ok "the same types, also one without a record" cmp types types.back
ok "which are some" grep -q 'NEVER	not one: of them' types
"$TACHO" convert -q log -o some.lkst -e 'lkst:NEW_EVENT' --cpu 1
records log -e 'lkst:NEW_EVENT' --cpu 1 >want
same "a piece" want records some.lkst
says "what was lost before it" 0 '^LOST +4035 ' "$TACHO" stat some.lkst

# ---- over traces of another clock: fields with times follow it ----
stamps()
{
	"$TACHO" report -q --utc --ns "$1" | grep -v 'LOST' | sed 's/: .*//; s/.* //'
}

# recid and field `time` of each record
field_stamps()
{
	records "$1" | sed 's/.*,"time":\([0-9]*\),"recid":\([0-9]*\),.*/\2 \1/' | sort -n
}

stamps log >want
records log | sed 's/^{"time":\([0-9]*\),.*"recid":\([0-9]*\),.*/\2 \1/' | sort -n >want.field
"$TACHO" convert -q log -o ns.ltt
same "LTT: the same times" want stamps ns.ltt
same "and in fields" want.field field_stamps ns.ltt
"$TACHO" convert -q ns.ltt -o ns.lkst
same "LTT to LKST" want stamps ns.lkst
same "its fields" want.field field_stamps ns.lkst
"$TACHO" convert -q ctf -o chain.dat
"$TACHO" convert -q chain.dat --to lttfull -o chain
"$TACHO" convert -q chain -o chain.ctf
"$TACHO" convert -q chain.ctf -o chain.lkst
same "over four formats" want stamps chain.lkst
same "its fields, too" want.field field_stamps chain.lkst
# two clocks in one trace: the output has none of them
mkdir two
"$TACHO" convert -q log -o two/0001 -e lkst:NEW_EVENT
"$TACHO" convert -q ns.lkst -o two/0002 -e '*:*,!NEW_EVENT'
for to in lkst ctf dat ltt; do
	"$TACHO" convert -q two -o "both.$to"
	same "two clocks, to $to" want stamps "both.$to"
	same "fields of two clocks, to $to" want.field field_stamps "both.$to"
done

# ---- the kernel's ----
says "others are counted" 0 '^tacho: 1 events have no number in LKST' "$TACHO" convert wakes -o wakes.lkst
says "and not written" 0 '^events +300,' "$TACHO" stat wakes.lkst
says "the kernel's have LKST's type" 0 '^ +300 .*lkst:PROCESS_WAKEUP$' "$TACHO" stat wakes.lkst
says "arguments, process, thread, flags" 0 \
	'"pid":1001,.*"event":"PROCESS_WAKEUP".*"arg1":1001,"arg2":120,"arg3":1,"arg4":0,.*"pid":1000,"pgrp":-1,.*"flags":18' \
	events wakes.lkst
says "text" 0 'PROCESS_WAKEUP: ' "$TACHO" report wakes.lkst
says "lost before the kernel's" 0 '^LOST +6 ' "$TACHO" stat wakes.lkst
"$TACHO" report -q wakes --ns -e 'sched:*' | sed 's/: .*//; s/.* //' >want
"$TACHO" report -q wakes.lkst --ns | sed 's/: .*//; s/.* //' >have
same "the same times" want cat have
# all but the ticks
no_ticks()
{
	events "$1" | sed 's/"time":[0-9]*,"recid"/"recid"/'
}
no_ticks wakes.lkst >want
for to in dat dat7 lttfull; do
	"$TACHO" convert -q wakes --to $to -o "wakes.$to"
	"$TACHO" convert -q "wakes.$to" -o "wakes-$to.lkst"
	same "over $to: whose thread it was" want no_ticks "wakes-$to.lkst"
done
says "a tracepoint of other fields is left out" 0 '^tacho: 7 events have no number' "$TACHO" convert small -o small.lkst
ok "nothing is left" lines 0 events small.lkst

# ---- what is wrong ----
says "a device" 1 "^tacho: '/dev/full' is not a file" "$TACHO" convert log --to lkst -o /dev/full
ok "which is still there" test -c /dev/full
says "no room" 1 "^tacho: .*'full.lkst'.*: File too large" sh -c "trap '' XFSZ; ulimit -f 20; '$TACHO' convert log -o full.lkst"
ok "nothing half is left" test ! -e full.lkst
says "no room in the middle" 1 "^tacho: .*'full.lkst'.*: File too large" sh -c "trap '' XFSZ; ulimit -f 100; '$TACHO' convert log -o full.lkst"
ok "nor then" test ! -e full.lkst
cp log torn
printf 'x' | dd of=torn bs=1 seek=17000 conv=notrunc 2>/dev/null
says "check: a wrong sum, and where" 1 "^torn: byte 16896: 'torn' is damaged: a block is torn or has a wrong sum" "$TACHO" check torn
says "the rest is read" 0 '^DAMAGED +1 ' "$TACHO" stat torn
head -c 33500 log >cut
says "check: a file that is cut off" 1 '^cut: 1 places hold no records' "$TACHO" check cut
head -c 100 log >head
says "a file that ends in its head" 1 "'head' ends in its head" "$TACHO" report head
finish
