#!/bin/bash
# SPDX-License-Identifier: MIT
# golden-trigger.sh FILE... - asks a running kernel what it makes of triggers.
#
# Each FILE is golden data: input lines, and the kernel's answers under each
# command.  The answers are thrown away and asked for again.  $ORACLE is a command
# that boots the kernel, runs the script that is its last argument as root
# with tracefs at /sys/kernel/tracing, and shows what the script prints:
#
#	ORACLE='boot.sh -k 6.12' tools/golden-trigger.sh tests/golden/trigger/*
#
# Input, one thing a line; \t and \xHH are what they are in C:
#	synth TEXT		a synthetic event, for the whole file
#	event SYSTEM/NAME	the event that the commands below are for
#	before EVENT TEXT	a trigger that is there before the next command
#	instead TEXT		what this project prints for the next command where the
#				kernel's text cannot be read back; the kernel is not asked
#	command TEXT		written to the event's trigger file
#	# and empty lines	kept
# Answer:
#	result N		0 or the negative errno
#	error COLUMN TEXT	each entry of error_log
#	in LOCATION		its location, "hist:sched:sched_switch"
#	shown TEXT		its command, as the log shows it
#	trigger TEXT		each line of the event's trigger file
#	also EVENT TEXT		each line of the trigger files of `before` events
# The events' `format` files go to the directory formats beside FILE.
set -eu
[ $# -gt 0 ] && [ -n "${ORACLE:-}" ] || { sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat > "$tmp/script" <<'GUEST'
#!/bin/bash
cd /sys/kernel/tracing || exit 1
ulimit -f unlimited
declare -A number=(["Invalid argument"]=-22 ["File exists"]=-17
	["No such file or directory"]=-2 ["Device or resource busy"]=-16
	["Numerical result out of range"]=-34 ["Cannot allocate memory"]=-12
	["Numerical argument out of domain"]=-33)
known=" "	# events that have been touched
mine=""		# those of this file
befores=()

quote()		# the argument in the form of the files, in $q
{
	q=${1//$'\t'/\\t}
	while [[ $q == *" " ]]; do
		q=${q% }; tail+='\x20'
	done
	q+=${tail:-}; tail=
}

put()		# writes text $2 to file $1; $err is 0 or the errno
{
	local say
	printf '%b' "$2" 2> /tmp/say >> "$1" && { err=0; return; }
	read -r say < /tmp/say
	say=${say##*: }
	err=${number[$say]:-"? $say"}
}

lines()		# the triggers of event $1, in lines[]
{
	mapfile -t lines < "events/$1/trigger"
	[[ ${lines[0]:-} == "# Available"* ]] && lines=()
}

clean()		# removes all triggers of all events that were touched
{
	local e l pass
	for pass in 1 2 3; do
		for e in $known; do
			lines "$e"
			for l in "${lines[@]}"; do
				l=${l% \[active\]}; l=${l% \[paused\]}
				# what a filter says about backslashes stays
				put "events/$e/trigger" "!${l//\\/\\\\}"
			done
			: > "events/$e/trigger"
		done
	done 2> /dev/null
	for e in $known; do
		lines "$e"
		[ ${#lines[@]} = 0 ] || echo "stuck $e ${lines[*]}"
	done
}

touch_event()
{
	[[ $known == *" $1 "* ]] || known+="$1 "
	[[ " $mine" == *" $1 "* ]] || mine+="$1 "
}

formats()	# of the events of the file that ends here
{
	local e
	for e in $mine; do
		echo "=== ${file%/*}/formats/${e/\//.}"
		cat "events/$e/format"
	done
}

errors()
{
	local head cmd caret
	while IFS= read -r head && IFS= read -r cmd && IFS= read -r caret; do
		head=${head#*] }
		echo "error $((${#caret} - 12)) ${head##*error: }"
		echo "in ${head%%: error:*}"
		quote "${cmd#  Command: }"
		echo "shown $q"
	done < error_log
}

ask()
{
	local b e l
	for b in "${befores[@]}"; do
		put "events/${b%% *}/trigger" "${b#* }"
		[ "$err" = 0 ] || echo "before failed: $b: $err"
	done
	: > error_log
	put "events/$event/trigger" "$1"
	echo "result $err"
	errors
	lines "$event"
	for l in "${lines[@]}"; do quote "$l"; echo "trigger $q"; done
	for e in $known; do
		[[ $e != "$event" && " ${befores[*]} " == *" $e "* ]] || continue
		lines "$e"
		for l in "${lines[@]}"; do quote "$l"; echo "also $e $q"; done
	done
	befores=()
	clean
}

while IFS= read -r line; do
	case $line in
	"=== "*) formats; file=${line#=== }; mine=; echo "$line" ;;
	""|"#"*|"instead "*) echo "$line" ;;
	"synth "*)
		put synthetic_events "${line#synth }"
		[ "$err" = 0 ] || [ "$err" = -17 ] || echo "synth failed: $err"
		echo "$line" ;;
	"event "*)
		event=${line#event }; touch_event "$event"; echo "$line" ;;
	"before "*)
		b=${line#before }; touch_event "${b%% *}"; befores+=("$b")
		echo "$line" ;;
	"command "*) echo "$line"; ask "${line#command }" ;;
	esac
done <<'INPUT'
GUEST
for f; do
	mkdir -p "$(dirname "$f")/formats"
	echo "=== $f"
	grep -E '^(#|$|synth |event |before |instead |command )' "$f"
done >> "$tmp/script"
printf 'INPUT\nformats\n' >> "$tmp/script"

$ORACLE "$tmp/script" > "$tmp/answer"
tr -d '\r' < "$tmp/answer" | awk '/^=== / { out = substr($0, 5); printf "" > out; next } out { print > out }'
grep -hE '^(stuck|before failed|synth failed|result \?)' "$@" >&2 && exit 1
exit 0
