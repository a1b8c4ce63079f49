#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho stat: counts, order, loss.
. "$SOURCE/lib.sh"
"$MAKE_TRACE" small small
"$MAKE_TRACE" rotated rotated
"$MAKE_TRACE" many many

says "counts" 0 '^ +3 +1\.0 +136 +42\.86%  app:open$' "$TACHO" stat small
says "all" 0 '^events +7, ' "$TACHO" stat small
says "loss" 0 '^LOST +5 events, 41\.667 % of all$' "$TACHO" stat small
says "whose loss" 0 '^ +5 of program_0$' "$TACHO" stat small
says "no loss" 0 '^lost +none$' "$TACHO" stat many
says "span" 0 '^span +2\.999999900 s$' "$TACHO" stat small
says "host" 0 '^host +box, ' "$TACHO" stat small
says "command" 0 '^command +server --port 80$' "$TACHO" stat small
says "clock" 0 '^clock +mono, 1000000000 ticks a second$' "$TACHO" stat small
says "begin" 0 '^begin +2026-11-20 14:13:20\.000000100 UTC$' "$TACHO" stat small
says "size" 0 ' bytes, 3 packets, 2 parts$' "$TACHO" stat small
says "the same event of two chunks is one line" 0 '^ +20 .* app:open$' "$TACHO" stat rotated

order()
{
	"$TACHO" stat "$@" small | sed -n 's/^ .*%  //p' | tr '\n' ' '
}
ok "by count" test "$(order | cut -d' ' -f3)" = app:kinds
ok "by name" test "$(order --sort name)" = "app:kinds app:open sched:sched_wakeup "
ok "by bytes" test "$(order --sort bytes)" = "app:open sched:sched_wakeup app:kinds "
says "bad order" 2 "'x' is not one of" "$TACHO" stat --sort x small
says "no trace" 1 "cannot open 'nowhere'" "$TACHO" stat nowhere

if have python3; then
	"$TACHO" stat --json small >small.json
	ok "JSON" python3 -c 'import json
d = json.load(open("small.json"))
assert d["events"] == 7 and d["lost"] == 5 and d["damaged"] == 0
assert d["loss"] == [{"part": "program_0", "events": 5}]
assert sum(e["events"] for e in d["by_event"]) == 7
assert {e["event"]: e["events"] for e in d["by_event"]} == \
    {"open": 3, "kinds": 1, "sched_wakeup": 3}
assert d["hostname"] == "box" and d["command"] == "server --port 80"'
else
	skip "JSON" "python3 is not here"
fi
n=$("$TACHO" report many | wc -l)
says "counts what report prints" 0 "^ +$n .*app:open\$" "$TACHO" stat many
finish
