#!/bin/sh
# SPDX-License-Identifier: MIT
# examples.sh BUILD - the programs in examples/ do what their heads say.  TAP.
build=$1
work=$(mktemp -d) || exit 1
chmod 700 "$work"
trap 'rm -rf "$work"' EXIT
export TACHO_DIR=$work/run
n=0 failed=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/out" | head -20
	failed=1
}
"$build/examples/self" "$work/self" >"$work/out" 2>&1 &&
	[ "$(grep -c '^hello:greet: round=[0-4] whom=myself$' "$work/out")" = 4 ] &&
	! grep -q 'round=2' "$work/out" && grep -q '^attempted 4, written 4, discarded 0$' "$work/out"
ok $? "self: records its own events, but the one that the filter excludes"
"$build/examples/self" "$work/kernel" sched:sched_switch >"$work/out" 2>&1 &&
	grep -qE '^sched:sched_switch: prev_comm=|^self: without the kernel: ' "$work/out"
ok $? "self: and the kernel's, or says why not"
! "$build/examples/self" "$work/self" >"$work/out" 2>&1 && grep -q 'not empty' "$work/out"
ok $? "self: a directory that is not empty"
"$build/tacho" status >"$work/out" 2>&1 && ! grep -q '^self-' "$work/out"
ok $? "self: leaves no session"
"$build/examples/keep" "$work/keep" >"$work/out" 2>&1 && diff - "$work/out" <<END
hello:greet: 100 events
whom=kernel hitcount=34 round=1683
whom=world hitcount=66 round=3267
100 records written, 0 lost
END
ok $? "keep: writes its records, and counts them"
[ "$("$build/tacho" report --no-pager "$work/keep" 2>"$work/out" | grep -c ' greet: ')" = 100 ]
ok $? "keep: all are in its traces"
! "$build/examples/keep" "$work/keep" >"$work/out" 2>&1 && grep -q "$work/keep" "$work/out"
ok $? "keep: a directory that is not empty"
! "$build/tacho" status | grep -q '^record-'
ok $? "keep: leaves no session"
"$build/examples/fields" "$work/self" greet >"$work/out" 2>&1 && diff - "$work/out" <<END
hello:greet
	round: signed integer of 4 bytes
	whom: string of 1 bytes, any number
END
ok $? "fields"
"$build/examples/columns" "$work/self" hello:greet round >"$work/out" 2>&1 && diff - "$work/out" <<END
round: int32, 4 rows, 0 nulls, from 0 to 4
END
ok $? "columns"
"$build/examples/columns" "$work/self" hello:greet whom >"$work/out" 2>&1 &&
	[ "$(cat "$work/out")" = "whom: utf8, 4 rows, 0 nulls" ]
ok $? "columns: a text"
! "$build/examples/columns" "$work/self" hello:greet nothing >"$work/out" 2>&1 &&
	[ "$(cat "$work/out")" = "columns: no selected event has a column 'nothing'" ]
ok $? "columns: one that is not there"
"$build/examples/columns" "$work/self" model:track id >"$work/out" 2>&1 &&
	grep -q '^id: int64, [1-9][0-9]* rows, 0 nulls, from 0 to ' "$work/out"
ok $? "columns: a table of the model"
TACHO_SESSION=syn "$build/examples/synthetic" >"$work/out" 2>&1 &&
	"$build/tacho" report --no-pager session:syn >"$work/out" 2>&1 &&
	[ "$(grep -c 'job_done: worker=10[1-3], task=resize' "$work/out")" = 3 ]
ok $? "synthetic"
"$build/tacho" destroy syn >"$work/out" 2>&1
ok $? "destroy"
"$build/examples/hello" 2 >"$work/out" 2>&1 && [ "$(cat "$work/out")" = "hello, world
hello, kernel" ]
ok $? "hello"
echo "1..$n"
exit $failed
