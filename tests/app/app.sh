#!/bin/sh
# SPDX-License-Identifier: MIT
# A format and a front end of somebody else's, each in one file.
. "$SOURCE/../cli/lib.sh"
"$MAKE_TRACE" small small
"$MAKE_TRACE" many many
"$MAKE_TRACE" rotated rotated

# ---- toy_sink: a format that the table does not have
says "a format of one's own" 0 '^7 events, [0-9]+ bytes$' "$TOY_SINK" small small.csv
ok "its size" test "$("$TOY_SINK" many many.csv)" = "20000 events, $(stat -c %s many.csv) bytes"
ok "a line for each record, one for each loss" lines 9 cat small.csv
says "its remark" 0 "^5 events are missing; lines 'lost' say where$" "$TOY_SINK" small again.csv
says "a loss at its place" 0 '^[0-9]+,0,,lost,5$' cat small.csv
"$TACHO" report -q --json small |
	sed 's/.*"time":\([0-9]*\).*"cpu":\([0-9]*\),"pid":\([0-9]*\).*"system":"\([^"]*\)","event":"\([^"]*\)".*/\1,\2,\3,\4,\5/' |
	grep -v '"lost"' >want
records()
{
	grep -v -e '^time' -e ',lost,' small.csv
}
same "the same records as in JSON" want records
says "not over a file" 1 "'small.csv' exists and is not empty" "$TOY_SINK" small small.csv
says "no trace" 1 "nowhere" "$TOY_SINK" nowhere x.csv
says "no place" 1 "cannot write 'nowhere/x.csv': No such file" "$TOY_SINK" small nowhere/x.csv
says "not to a device" 1 "is not a file" "$TOY_SINK" small /dev/full
ok "and nothing was made" test ! -e x.csv

# ---- top_events: a front end
cat >want <<'END'
     20000  app:open
END
same "the most frequent event" want "$TOP_EVENTS" many
"$TACHO" stat -q small | awk '/^ +[0-9]+ .*:/ { print $1, $NF }' | sort >want
top()
{
	"$TOP_EVENTS" "$@" 2>/dev/null | awk '{ print $1, $2 }' | sort
}
same "as 'tacho stat' counts" want top small
says "losses are said" 0 '^5 events were lost while recording$' "$TOP_EVENTS" small
"$TACHO" report -q --json small --filter 'app:open/fd > 3' | grep -c '"event":"open"' >want
filtered()
{
	"$TOP_EVENTS" small 'app:open/fd > 3' 2>/dev/null | awk '$2 == "app:open" { print $1 }'
}
same "of those that a filter lets pass" want filtered
says "a filter that is wrong" 1 'Field not found' "$TOP_EVENTS" small 'app:open/nothing == 1'
says "no trace" 1 'there is no tacho-trace in this directory' "$TOP_EVENTS"
cp -r many tacho-trace-1
says "the newest trace" 0 '^ +20000  app:open$' "$TOP_EVENTS"
finish
