#!/bin/bash
# demo.sh BUILD: records a small shop with the kernel underneath, kills the shop,
# and shows what was going on.
set -u
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
tacho=$build/tacho
shop=$build/examples/shop
dir=$(mktemp -d /tmp/tacho-demo.XXXXXX)
trace=$dir/trace
bold= plain=
[ -t 1 ] && { bold=$(printf '\033[1m'); plain=$(printf '\033[0m'); }
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

kernel=()
if [ "$(id -u)" = 0 ] && { [ -d /sys/kernel/tracing/events ] ||
   mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; }; then
	# what this kernel has of these: scheduler, system calls, block and fs
	for e in 'sched:sched_switch' 'sched:sched_wakeup' \
		 'syscalls:sys_*_write' 'syscalls:sys_*_openat' \
		 'syscalls:sys_*_f*sync' 'block:*' 'ext4:ext4_sync_file*' \
		 'writeback:writeback_dirty_page'; do
		"$tacho" list -q --kernel "$e" >/dev/null 2>&1 && kernel+=(-k "$e")
	done
else
	echo "no kernel events: that takes root and tracefs"
fi

say "1. Record a program and the kernel; after two seconds the program is killed."
cd "$dir"
("$tacho" record -o "$trace" -e '*' "${kernel[@]}" -- "$shop" --seconds 60) &
recorder=$!
# (a busy machine takes its time)
for i in $(seq 400); do
	kill -0 $recorder 2>/dev/null || break
	pid=$(pgrep -P $recorder -f 'shop --seconds' | head -1)
	[ -n "$pid" ] && break
	# the recorder may be the shell's grandchild
	pid=$(pgrep -f "^$shop --seconds" | head -1)
	[ -n "$pid" ] && break
	sleep 0.05
done
[ -n "$pid" ] || { wait $recorder; echo "the recording did not start" >&2; exit 1; }
sleep 2
kill -9 "$pid"
wait $recorder

say "2. What came, how often, what was lost."
"$tacho" stat "$trace"

say "3. The last moments of the shop, with the kernel underneath."
"$tacho" report --no-pager --ns "$trace" | grep -E 'shop|order' | tail -n 25

say "4. The same trace, read by another tool."
command -v babeltrace2 >/dev/null || "$top/tools/install-deps.sh" demo
if command -v babeltrace2 >/dev/null; then
	babeltrace2 "$trace" | wc -l | sed 's/$/ events by babeltrace2/'
else
	echo "babeltrace2 is not installed. Once it is: babeltrace2 $trace | wc -l"
fi
printf '\nThe trace is in %s\n' "$trace"
printf 'Look at it: %s report %s\n' "$tacho" "$trace"
