#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho diff names the change first: a good shop, and four that are slow for known reasons.
set -u
nr=0
dir=$(mktemp -d "$PWD/diff.XXXXXX")
trap 'rm -rf "$dir"' EXIT

ok() { nr=$((nr + 1)); echo "ok $nr - $1"; }
not_ok() { nr=$((nr + 1)); echo "not ok $nr - $1"; head -n 40 "$dir/out" | sed 's/^/# /'; }
events='sched:*,raw_syscalls:*,block:*,irq:*,exceptions:page_fault_user'

"$TACHO" record -q -o "$dir/probe" -k 'sched:sched_switch' -- true >"$dir/out" 2>&1 || {
	echo "1..0 # SKIP cannot record the kernel: $(tail -n 1 "$dir/out")"
	exit 0
}

record() {
	"$TACHO" record -q -o "$dir/$1" -e 'marker:*' -k "$events" -- "$SLOW_SHOP" "$1" "$dir" all >"$dir/out" 2>&1
}

# NAME PATTERN: the first difference, and where the time of the order went.
change() {
	record "$1" || { not_ok "$1: recorded"; return; }
	"$TACHO" diff -q "$dir/good" "$dir/$1" >"$dir/out" 2>&1
	if grep '^Most:' "$dir/out" | grep -Eq "^Most: span order: .*longer.*; $2"; then
		ok "$1: the change is first"
	else
		not_ok "$1: the change is first"
	fi
}

if record good; then ok 'good: recorded'; else not_ok 'good: recorded'; fi
change hog 'runnable \+'
change lock 'sleeping \+'
change fsync '(io|blocked|sleeping|running|runnable) \+'
# a worker that nothing interrupts is seen to run only if the kernel recorded that it began to
change faults '(running|runnable) \+'
echo "1..$nr"
