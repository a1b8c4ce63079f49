#!/bin/sh
# SPDX-License-Identifier: MIT
# <tacho/sink.h>: what the examples write, other tools read.
. "$SOURCE/../cli/lib.sh"

# ---- events of one's own
for out in ctf out.dat out.kev out.ltt out.txt out.json; do
	says "own events: $out" 0 '^102 events, [0-9]+ bytes$' "$OWN_EVENTS" $out
done
says "what a format has no place for is said" 0 \
	'^102 events have no counterpart in QNX' "$OWN_EVENTS" again.kev
says "not over a file" 1 "'out.dat' exists and is not empty" "$OWN_EVENTS" out.dat
says "no place" 1 'nowhere/x' "$OWN_EVENTS" nowhere/x
says "the CTF directory is good" 0 '^ctf: good; 102 events .*, 3 lost$' "$TACHO" check ctf
says "its host" 0 '^host +www1,' "$TACHO" stat ctf
cat >want <<'END'
             web-70      [000] .....     0.000000: message: <6> listening on :80
        worker-0-71      [000] .....     0.000250: request: latency=1000 status=404 worker=0 path=/
        worker-1-72      [001] .....     0.000500: request: latency=2000 status=200 worker=1 path=/cart
END
head3()
{
	"$@" >all 2>/dev/null || return
	grep -v '^#' all | head -3
}
for t in ctf out.dat; do
	same "tacho reads $t" want head3 "$TACHO" report -q --relative $t
done
"$TACHO" report -q ctf >want
same "text is that of a report" out.txt cat want
says "the loss is at its place" 0 '^CPU:0 \[LOST 3 EVENTS\]$' tail -n 2 out.txt
for t in out.dat out.ltt; do
	"$TACHO" report -q --json $t | sed 's/"cpus":.*//' >$t.json
	same "$t has the same records as the CTF trace" $t.json "$TACHO" report -q --json ctf
done
if have babeltrace2; then
	ok "babeltrace2 reads all" lines 102 babeltrace2 ctf
	says "babeltrace2 sees the fields" 0 \
		'www1 web:request: .*common_pid = 72 }, { latency = 2000, status = 200, worker = 1, path = "/cart" }$' \
		babeltrace2 ctf
	says "babeltrace2 sees the text" 0 'web:message: .*text = "shutting down" }$' babeltrace2 ctf
	says "babeltrace2 sees the loss" 0 'discarded 3 events' babeltrace2 ctf
else
	skip "babeltrace2" "babeltrace2 is not here"
fi
if have trace-cmd; then
	trace-cmd report -i out.dat >got 2>err
	ok "trace-cmd reads all" test "$(grep -c '\[00[01]\]' got)" = 102
	ok "trace-cmd has no complaint" test ! -s err
	says "trace-cmd sees the fields" 0 \
		'worker-1-72 +\[001\] +1795184000.000500: request: +latency=2000 status=200 worker=1 path=/cart$' cat got
	says "trace-cmd sees the text" 0 'web-70 .*: message: +<6> shutting down$' cat got
	says "trace-cmd sees the loss" 0 '^CPU:0 \[3 EVENTS DROPPED\]$' cat got
else
	skip "trace-cmd" "trace-cmd is not here"
fi

# ---- records of a trace, those that are chosen
for out in some some.dat some.json; do
	ok "a choice: $out" "$SLOW_REQUESTS" ctf $out request latency 90000
done
"$TACHO" report -q --json ctf --filter 'web:request/latency >= 90000' -e web:request |
	grep web >want
for t in some some.dat; do
	same "$t has the chosen records" want "$TACHO" report -q --json $t
done
says "and the losses before those that are left out" 0 '^LOST +3 events' "$TACHO" stat some
"$MAKE_TRACE" small small
ok "another trace" "$SLOW_REQUESTS" small fds open fd 0
says "is good" 0 'good; ' "$TACHO" check fds
says "with its losses" 0 '^LOST +5 events' "$TACHO" stat fds
says "no trace" 1 "nowhere" "$SLOW_REQUESTS" nowhere x open fd 0
ok "and nothing was made" test ! -e x
finish
