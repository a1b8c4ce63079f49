#!/bin/sh
# SPDX-License-Identifier: MIT
# golden-filter.sh - asks a real kernel what it says to the filters of tests/golden/filter.
#
# usage: ORACLE='command' tools/golden-filter.sh
#
# The command boots a kernel, runs the script that is its last argument as root with
# tracefs at /sys/kernel/tracing, and prints what that prints.
#
#	cases.txt	"@system/event", then filters for it, one a line
#	answers.txt	for each filter: "= filter", then what the kernel put into
#			error_log; nothing if it took the filter
#	SYSTEM-EVENT.format	the events' formats
#	match-cases.txt	"@system/event", "- sample" for each event that is made, then filters
#	match.txt	the same; behind each filter "+ sample" for each that passed
set -e
dir=$(dirname "$0")/../tests/golden/filter
[ -n "$ORACLE" ] || { echo "usage: ORACLE='command' $0" >&2; exit 2; }
script=$(mktemp)
trap 'rm -f "$script" "$script.out"' EXIT

cat > "$script" <<'EOF'
#!/bin/bash
# One filter after another into the event's file; what is in the error log then.
cd /sys/kernel/tracing || exit 1
while IFS= read -r line; do
	case $line in
	@*)
		event=${line#@}
		echo "$line"
		echo "[format"
		cat "events/$event/format" || exit 1
		echo "format]"
		continue ;;
	esac
	echo > error_log
	echo "= $line"
	printf '%s' "$line" > "events/$event/filter" 2> /dev/null || cat error_log
	echo 0 > "events/$event/filter"
done <<'CASES'
EOF
cat "$dir/cases.txt" >> "$script"
echo CASES >> "$script"

cat >> "$script" <<'EOF'
# What passes: each sample makes one event that has it in it.
echo on > /proc/sys/kernel/printk_devkmsg
echo 0 > /proc/sys/kernel/printk
taskset -p 2 $$ > /dev/null || exit 1
target=$(grep -m 1 -o ' comm_write$' /proc/kallsyms | tr -d ' ')
echo "p:kprobes/all $target u8=\\0x80:u8 s8=\\-128:s8 u16=\\0x8000:u16 s16=\\-2:s16 u32=\\0x80000000:u32 s32=\\-3:s32 u64=\\0x8000000000000000:u64 s64=\\-4:s64 str=\\\"kernel\" arr=+0(\$stack):u8[3] sym=\\0:symbol c=\\65:char dyn4=+0(\$stack):u8[4]" > kprobe_events
samples=()
make() {
	case $event in
	task/*) printf '%s' "$1" > /proc/self/comm ;;
	printk/*) printf '<7>%s\n' "$1" > /dev/kmsg ;;
	oom/*) echo "$1" > /proc/self/oom_score_adj ;;
	kprobes/*) printf x > /proc/self/comm ;;
	esac
}
shown() {
	case $event in
	task/*) sed -n 's/.* newcomm=\(.*\) oom_score_adj=.*/+ \1/p' trace ;;
	printk/*) sed -n 's/.*: console: /+ /p' trace ;;
	oom/*) sed -n 's/.* oom_score_adj=\(.*\)/+ \1/p' trace ;;
	kprobes/*) grep -v '^#' trace | sed -n 's/.*/+ all/p' ;;
	esac
}
while IFS= read -r line; do
	case $line in
	@*)
		[ -z "$event" ] || echo 0 > "events/$event/enable"
		event=${line#@}
		samples=()
		echo "[match"
		echo "$line"
		echo "[format"
		cat "events/$event/format" || exit 1
		echo "format]"
		echo "[match"
		echo 1 > "events/$event/enable"
		continue ;;
	-\ *)
		samples+=("${line#- }")
		echo "$line"
		continue ;;
	esac
	echo "= $line"
	printf '%s' "$line" 2> /dev/null > "events/$event/filter" || echo "refused"
	# what COMM is when the first sample is made
	printf 'bash' > /proc/self/comm
	echo > trace
	for sample in "${samples[@]}"; do make "$sample"; done
	echo 0 > tracing_on
	shown
	echo 1 > tracing_on
done <<'CASES'
EOF
cat "$dir/match-cases.txt" >> "$script"
echo CASES >> "$script"

$ORACLE "$script" > "$script.out"
rm -f "$dir/answers.txt" "$dir/match.txt" "$dir"/*.format
tr -d '\r' < "$script.out" | awk -v dir="$dir" '
BEGIN { to = dir "/answers.txt" }
$0 == "[match" { to = dir "/match.txt"; next }
/^@/ { name = substr($0, 2); sub("/", "-", name) }
$0 == "[format" { file = dir "/" name ".format"; next }
$0 == "format]" { close(file); file = ""; next }
{ print > (file ? file : to) }
'
