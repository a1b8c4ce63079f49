#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho convert: there and back, pieces, text.
. "$SOURCE/lib.sh"
"$MAKE_TRACE" small small
"$MAKE_TRACE" rotated rotated
"$MAKE_TRACE" many many

# What a trace says, without the number of its types.
text()
{
	"$TACHO" report -q --header --ns "$1"
}

for t in small many rotated; do
	says "convert $t" 0 "^tacho: [0-9]+ events, [0-9]+ bytes: '$t.out'" "$TACHO" convert $t -o $t.out
	text $t >want
	same "$t is the same" want text $t.out
	says "$t is good" 0 '^.*: good; ' "$TACHO" check $t.out
done
ok "one trace of two chunks" test -f rotated.out/program_0
says "one type of two ids" 0 '^ +20 .* app:open$' "$TACHO" stat rotated.out
says "loss stays" 0 '^LOST +5 events' "$TACHO" stat small.out
says "host stays" 0 '^host +box,' "$TACHO" stat small.out
says "command stays" 0 '^command +server' "$TACHO" stat small.out

"$TACHO" convert -q many -o slice --time 10us,20us --cpu 0
"$TACHO" report many --time 10us,20us --cpu 0 >want
same "a slice" want "$TACHO" report slice
says "a slice is good" 0 'good; 6 events' "$TACHO" check slice
"$TACHO" convert -q small -o some -e 'app:*' -p 1000
ok "some events" lines 3 "$TACHO" report some
"$TACHO" convert -q small -o kernel -e 'sched:*'
says "loss before events that are left out" 0 '^LOST +5 events' "$TACHO" stat kernel
"$TACHO" convert -q small -o none --time 9,
ok "no events" lines 0 "$TACHO" report none
says "no events is a trace" 0 'good; 0 events' "$TACHO" check none
for f in dat dat7 kev lkst ltt ltt32 lttswap ltt32swap lttfull; do
	"$TACHO" convert -q none -o none.$f --to $f
	# LTT's have a few events of their own
	case $f in ltt*) ;; *) ok "no events as $f" lines 0 "$TACHO" report none.$f ;; esac
	says "no events as $f is a trace" 0 'good' "$TACHO" check none.$f
done

"$TACHO" convert -q small -o out.txt
same "text by extension" out.txt "$TACHO" report small
"$TACHO" convert -q small -o out.json
same "JSON by extension" out.json "$TACHO" report --json small
"$TACHO" convert -q small -o out.bt --to text --format babeltrace
same "text by name" out.bt "$TACHO" report -F babeltrace small
"$TACHO" convert -q small -o ctf.txt --to ctf
ok "a name decides over an extension" test -f ctf.txt/metadata

says "not over a trace" 1 'small' "$TACHO" convert many -o small
says "not over itself" 1 'small' "$TACHO" convert small -o small
says "nothing happened to it" 0 'good' "$TACHO" check small
says "not over a file" 1 "'out.txt' exists and is not empty" "$TACHO" convert many -o out.txt
echo kept >file
mkdir full empty
echo kept >full/file
for f in dat dat7 kev lkst; do
	says "$f: not over a file" 1 "'file' exists and is not empty" "$TACHO" convert small -o file --to $f
	says "$f: not over a directory" 1 "'full' is not a file" "$TACHO" convert small -o full --to $f
	says "$f: not to stdout" 1 "'-' is not a file" "$TACHO" convert small -o - --to $f
	says "$f: not to a device" 1 "'/dev/full' is not a file" "$TACHO" convert small -o /dev/full --to $f
done
for f in ctf ltt ltt32 lttswap ltt32swap lttfull; do
	says "$f: not over a file" 1 "'file' is not a directory" "$TACHO" convert small -o file --to $f
	says "$f: not into a directory" 1 "'full' exists and is not empty" "$TACHO" convert small -o full --to $f
	says "$f: not to stdout" 1 "'-' is not a directory" "$TACHO" convert small -o - --to $f
done
for f in text json; do
	says "$f: not over a file" 1 "'file' exists and is not empty" "$TACHO" convert small -o file --to $f
done
ok "all is as it was" test "$(cat file full/file)" = "kept
kept" -a "$(ls full)" = file -a ! -e -
"$TACHO" convert -q small -o - --to text >out.stdout
same "but text goes to stdout" out.stdout "$TACHO" report small
says "into an empty directory" 0 "'empty'" "$TACHO" convert small -o empty
says "no place" 1 'nowhere/x' "$TACHO" convert small -o nowhere/x
says "no output" 2 'where to\?' "$TACHO" convert small
says "no trace" 2 'missing trace: tacho convert TRACE' "$TACHO" convert -o x
says "unknown format" 2 "'xml' is not one of" "$TACHO" convert small -o x --to xml
says "an event that is not there" 1 'near it are: app:open' "$TACHO" convert small -o x -e app:opem
ok "and nothing was made" test -e out.txt -a ! -e x

# trace.dat; what trace-cmd makes of it is in tests/record/dat.py, too
for to in dat dat7; do
	for t in small many rotated; do
		says "$to of $t" 0 "^tacho: [0-9]+ events, [0-9]+ bytes: '$t.$to'" \
			"$TACHO" convert $t --to $to -o $t.$to
		if have trace-cmd; then
			"$TACHO" report -q $t | grep -c '^ .*-[0-9]* *\[' >want
			trace-cmd report -i $t.$to >out 2>err
			same "$to of $t: as many events" want \
				grep -c '^ .*-[0-9]* *\[' out
			ok "$to of $t: no complaint" test ! -s err
		fi
	done
	if have trace-cmd; then
		says "$to: loss stays at its place" 0 'CPU:0 \[5 EVENTS DROPPED\]' \
			trace-cmd report -i small.$to
		says "$to: loss is counted" 0 'overrun: 5$' \
			trace-cmd report --stat -i small.$to
	fi
done
says "dat by extension, as JSON" 0 '"format":"dat","events":7' \
	"$TACHO" convert small -o by.dat --json
ok "it is one" grep -q tracing by.dat

if have babeltrace2; then
	babeltrace2 small.out >bt.out 2>/dev/null
	babeltrace2 small >bt.in 2>/dev/null
	strip()
	{
		sed 's/events = [0-9]*, event_first = [0-9]*//' "$1"
	}
	strip bt.in >want
	same "babeltrace2 sees the same" want strip bt.out
	ok "babeltrace2 sees all" lines 20000 babeltrace2 many.out
	# our babeltrace format against the original: all but the contexts
	payload()
	{
		grep sched_wakeup "$1" | sed 's/{ cpu_id.*}, {/{/'
	}
	"$TACHO" report -q -F babeltrace small >bt.ours
	payload bt.in >want
	same "babeltrace2 writes such lines" want payload bt.ours
	# a trace that tacho did not write: the same events, by babeltrace2
	if [ -n "${TACHO_MODULE_DIR:-}" ]; then
		babeltrace2 many -o ctf -w foreign >/dev/null 2>&1
		says "a foreign trace" 0 "20000 events, .*: 'native'" "$TACHO" convert foreign -o native
		says "is native now" 0 'native: good; 20000 events' "$TACHO" check native
		babeltrace2 foreign 2>/dev/null | sed 's/^\[\([^]]*\).* fd = \([^,]*\),.*/\1 \2/' >want
		inside()
		{
			babeltrace2 native | sed 's/^\[\([^]]*\).* fd = \([^,]*\),.*/\1 \2/'
		}
		same "each event at its time" want inside
		# in the directory that it was built in, the tool finds its module by itself
		says "the module beside the tool" 0 '^events +20000' \
			env -u TACHO_MODULE_DIR "$TACHO" stat foreign
		cp "$TACHO" alone
		says "without the module" 1 \
			'the module that reads those, libtacho-bt2.so, is neither in .* nor in \$TACHO_MODULE_DIR: .* libbabeltrace2-dev' \
			env TACHO_MODULE_DIR=/nowhere ./alone report foreign
		mkdir torn
		echo nonsense >torn/libtacho-bt2.so
		says "a module that cannot be loaded" 1 'cannot be loaded: .*torn/libtacho-bt2.so' \
			env TACHO_MODULE_DIR=torn ./alone report foreign
		babeltrace2 small -o ctf -w strange >/dev/null 2>&1
		says "a foreign trace's loss" 0 '^LOST +5 events' "$TACHO" stat strange
		says "a foreign trace's span" 0 '^span +2\.999999900 s' "$TACHO" stat strange
		"$TACHO" convert -q strange -o strange.out
		says "loss comes along" 0 '^LOST +5 events' "$TACHO" stat strange.out
		says "a foreign trace is checked" 0 'strange: good; 7 events' "$TACHO" check strange
	fi
else
	skip "babeltrace2" "babeltrace2 is not here"
fi
if have python3; then
	"$TACHO" convert --json small -o j >j.json
	ok "JSON" python3 -c 'import json
d = json.load(open("j.json"))
assert d["events"] == 7 and d["format"] == "ctf" and d["output"] == "j"'
else
	skip "JSON" "python3 is not here"
fi
finish
