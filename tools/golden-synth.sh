#!/bin/bash
# SPDX-License-Identifier: MIT
# golden-synth.sh - asks a real kernel what tests/golden/{synth,engine}/cases should give.
#
#	ORACLE='boot -k 6.12' tools/golden-synth.sh
#
# $ORACLE -w DIR SCRIPT boots a kernel and runs SCRIPT there as root, with DIR as
# its working directory and tracefs at /sys/kernel/tracing.  Writes the files `kernel` and
# `formats` beside each `cases`.  A line of cases is one command:
#
#	D text		a line for synthetic_events
#	T sys/ev text	for the event's trigger file
#	F sys/ev text	for the event's filter file
#	S sys text	for the subsystem's filter file
#	E sys/ev 0|1	for the event's enable file
#	P sys/ev	prints the event's files
#	H n		n hits of syscalls:sys_enter_umask, with mask 0, 1, 2...
#	R		everything as at the start
#	# ...		a comment
#
# Each is answered by "> line", "= what write said", "| a line of the file
# concerned" and "! a line of error_log".
set -e
[ -n "$ORACLE" ] || { echo "golden-synth.sh: set ORACLE to the command that boots a kernel" >&2; exit 2; }
golden=$(cd "$(dirname "$0")/../tests/golden" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp "$golden/synth/cases" "$tmp/synth.cases"
cp "$golden/engine/cases" "$tmp/engine.cases"
cat > "$tmp/inner" <<'INNER'
#!/bin/bash
t=/sys/kernel/tracing
say() { sed "s/^/$1 /"; }
put() {		# file text: writes, says how it went
	local e
	if e=$( { printf '%s\n' "$2" >> "$1"; } 2>&1 ); then
		echo "= 0"
	else
		e=${e##*: }
		echo "= $e"
	fi
}
log() {
	sed 's/^\[ *[0-9.]*\]/[T]/' $t/error_log | say '!'
	echo > $t/error_log
}
event() {
	cat $t/events/$1/trigger 2>/dev/null | say '|'
	echo "| enable $(cat $t/events/$1/enable 2>/dev/null)"
}
define() {
	local name
	put $t/synthetic_events "$1"
	say '|' < $t/synthetic_events
	name=${1#"${1%%[! ]*}"}
	name=${name%%[; 	]*}
	[ -e "$t/events/synthetic/$name/format" ] && sed 's/^ID: .*/ID: 0/' "$t/events/synthetic/$name/format" | say '|'
}
reset() {
	local e i l
	for i in 1 2; do
		for e in $used $(cd $t/events && ls -d synthetic/*/ 2>/dev/null); do
			echo 0 > $t/events/$e/enable
			while IFS= read -r l; do
				case $l in ''|'#'*) continue;; esac
				l=${l% \[*\]} l=${l/:unlimited/} l=${l/:count=/:}
				echo "!$l" >> $t/events/$e/trigger
			done <<< "$(cat $t/events/$e/trigger)"
		done
		echo > $t/synthetic_events
	done 2>/dev/null
	for e in $used; do
		echo 0 > $t/events/$e/filter
	done 2>/dev/null
	echo 1 > $t/tracing_on
	echo > $t/error_log
	say '|' < $t/synthetic_events
}
run() {
	local line verb rest ev text i
	while IFS= read -r line; do
		case $line in ''|'#'*) continue;; esac
		echo "> $line"
		verb=${line%% *} rest=${line#* }
		ev=${rest%% *} text=${rest#* }
		case $verb in
		D) define "$rest";;
		T) put $t/events/$ev/trigger "$text"; event $ev;;
		F) put $t/events/$ev/filter "$text"; say '|' < $t/events/$ev/filter;;
		S) put $t/events/$ev/filter "$text"
		   for i in $used; do
			[ "${i%/*}" = $ev ] && echo "$i $(head -n 1 $t/events/$i/filter)"
		   done | say '|';;
		E) put $t/events/$ev/enable "$text"; event $ev;;
		P) event $ev; say '|' < $t/events/$ev/hist;;
		H) : > $t/trace; for ((i = 0; i < rest; i++)); do umask $i; done
		   grep -v '^#' $t/trace | sed 's/^[^:]*: //' | say '|'; echo "| tracing $(cat $t/tracing_on)";;
		R) reset;;
		esac
		log
	done
}
used=$(sed -n 's/^[TFEP] \([a-z_]*\/[a-z_]*\).*/\1/p' *.cases | grep -v synthetic | sort -u)
for c in synth engine; do
	run < $c.cases > $c.kernel
	reset > /dev/null
done
for e in $used; do
	echo "@ $e"
	cat $t/events/$e/format
done > engine.formats 2>/dev/null
exit 0
INNER
$ORACLE -w "$tmp" "$tmp/inner"
cp "$tmp/synth.kernel" "$golden/synth/kernel"
cp "$tmp/engine.kernel" "$golden/engine/kernel"
cp "$tmp/engine.formats" "$golden/engine/formats"
