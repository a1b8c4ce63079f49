#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho explain names the true cause of a slow order: four programs that are slow for known reasons.
set -u
nr=0
dir=$(mktemp -d "$PWD/explain.XXXXXX")
trap 'rm -rf "$dir"' EXIT

ok() { nr=$((nr + 1)); echo "ok $nr - $1"; }
not_ok() { nr=$((nr + 1)); echo "not ok $nr - $1"; sed 's/^/# /' "$dir/out"; }
events='sched:*,raw_syscalls:*,block:*,irq:*,exceptions:page_fault_user'

"$TACHO" record -q -o "$dir/probe" -k 'sched:sched_switch' -- true >"$dir/out" 2>&1 || {
	echo "1..0 # SKIP cannot record the kernel: $(tail -n 1 "$dir/out")"
	exit 0
}

# NAME PATTERN: the first cause of the longest order.
cause() {
	"$TACHO" record -q -o "$dir/$1" -e 'marker:*' -k "$events" -- "$SLOW_SHOP" "$1" "$dir" >"$dir/out" 2>&1 ||
		{ not_ok "$1: recorded"; return; }
	"$TACHO" explain -q "$dir/$1" --span order --worst 1 --timeline >"$dir/out" 2>&1
	if sed -n 3p "$dir/out" | grep -Eq "$2"; then
		ok "$1: the cause"
	else
		not_ok "$1: the cause"
	fi
	# the causes and the path add up to the order
	"$TACHO" explain -q "$dir/$1" --span order --json >"$dir/out" 2>&1
	if python3 "$SOURCE/explain_sums.py" "$dir/out" >"$dir/sums" 2>&1; then
		ok "$1: times add up"
	else
		cat "$dir/sums" >>"$dir/out"
		not_ok "$1: times add up"
	fi
}

cause hog 'waiting for a CPU, which ran hog \('
cause lock 'futex <- owner \([0-9]+\): sleeping in clock_nanosleep \(a timer\)$'
# its device; or, where the file system has none, itself
cause fsync '(in |running: )fsync|fsync <- '
cause faults 'running: .*with page faults'

# outside of calls, the thread runs its own code, not the span that is explained
"$TACHO" explain -q "$dir/faults" --span order >"$dir/out" 2>&1
if grep -q 'running: user code' "$dir/out" && ! grep -q 'running: order' "$dir/out"; then
	ok 'the span is not its own cause'
else
	not_ok 'the span is not its own cause'
fi

# the items count time from the same record
"$TACHO" model -q "$dir/hog" --items=slices | sed -n 's/^slice *\([0-9.]*\)[0-9][0-9][0-9] +.*: order (span).*/\1/p' |
	sort >"$dir/items"
"$TACHO" explain -q "$dir/hog" --span order --worst 256 |
	sed -n 's/^order (span).*, \([0-9.]*\) s after the first record.*/\1/p' | sort >"$dir/times"
"$TACHO" explain -q "$dir/hog" --span order >"$dir/out" 2>&1
if [ -s "$dir/times" ] && [ -z "$(awk 'FNR == NR { t[NR] = $1; next }
	t[FNR] - $1 > 2e-6 || $1 - t[FNR] > 2e-6' "$dir/items" "$dir/times")" ]; then
	ok 'times of model --items'
else
	not_ok 'times of model --items'
fi

# a thread, to the end of the trace
"$TACHO" explain -q "$dir/hog" --thread worker --json >"$dir/out" 2>&1
if python3 "$SOURCE/explain_sums.py" "$dir/out" >>"$dir/out" 2>&1; then
	ok 'a thread: times add up'
else
	not_ok 'a thread: times add up'
fi

# the slowest beside the median
"$TACHO" explain -q "$dir/hog" --span order --all >"$dir/out" 2>&1
if sed -n 5p "$dir/out" | grep -q 'waiting for a CPU, which ran hog'; then
	ok 'the slowest differ by the hog'
else
	not_ok 'the slowest differ by the hog'
fi

# errors
fails() {
	want=$1; shift
	if "$TACHO" explain "$@" >"$dir/out" 2>&1; then
		not_ok "explain $*: fails"
	elif grep -q "$want" "$dir/out" && [ "$(grep -c . "$dir/out")" -le 3 ]; then
		ok "explain: $want"
	else
		not_ok "explain: $want"
	fi
}
fails "no slice 'nothing'" "$dir/hog" --span nothing
fails "no slice begins with record 999999999" "$dir/hog" --slice 999999999
fails "no thread 'nobody'" "$dir/hog" --thread nobody
fails 'give --span' "$dir/hog"
fails "no slice 'order' of a thread 'hog'" "$dir/hog" --span order --thread hog
fails 'the trace ends' "$dir/hog" --thread worker --from 1000
fails 'must be after' "$dir/hog" --thread worker --from 2 --to 1
fails 'not an event' "$dir/hog" --span 'x: a:b -> c'

# a session has events of programs only, and says so
mkdir -m 700 "$dir/run"
if TACHO_DIR=$dir/run "$TACHO" create shop -b 1M -e 'marker:*' >"$dir/out" 2>&1 &&
	TACHO_DIR=$dir/run "$SLOW_SHOP" lock &&
	TACHO_DIR=$dir/run "$TACHO" explain -q session:shop --span order >"$dir/out" 2>&1 &&
	grep -q '^order (span), worker' "$dir/out" &&
	grep -q "A session is read without the kernel's events" "$dir/out" &&
	TACHO_DIR=$dir/run "$TACHO" explain -q session:shop --span order --thread worker >"$dir/again" 2>&1 &&
	cmp -s "$dir/out" "$dir/again"
then
	ok 'a session'
else
	not_ok 'a session'
fi
TACHO_DIR=$dir/run "$TACHO" destroy shop

# rules that fit no event of the trace
notes() {
	want=$1; shift
	if "$TACHO" model "$dir/hog" "$@" >/dev/null 2>"$dir/out" && grep -q "$want" "$dir/out"; then
		ok "model: $want"
	else
		not_ok "model: $want"
	fi
}
notes "no event 'marker:begni'" --span 'x: marker:begni -> marker:end'
notes "event 'marker:begin' has no field 'id'" --span 'x: marker:begin -> marker:end by id'
notes "no event 'a:b'" --items --counter 'x: a:b.c'
echo "1..$nr"
