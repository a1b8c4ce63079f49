#!/bin/bash
# SPDX-License-Identifier: MIT
# capture.sh TRACEFS INSTANCE CASES OUT SET - events of a kernel, as its `trace` file
# prints them under each set of options, and as it keeps them.
#
# TRACEFS is where tracefs is mounted, INSTANCE the directory in it to trace in
# (TRACEFS itself for the top level), CASES the file of that name beside this
# script, OUT a directory that is made.  SET says what is traced:
#
#	events	a bit of everything, and a marker or two
#	small	less, in buffers that are too small for it
#	ticks	the same as small, by a clock that does not count nanoseconds
#	function	the function tracer
#
# OUT has then
#	text.CASE	the trace file
#	pages.N		sub-buffers of CPU N, as trace_pipe_raw gives them
#	formats		the format files, each behind a line "system NAME"
#	header_page saved_cmdlines saved_tgids printk_formats kallsyms
#	maps		"process PID" and its /proc/PID/maps, for all that are there before
#			and after the text is read; "gone PID" for one that ended meanwhile
#	facts		"name value" lines: release, clock, tracer, entries, overruns; and "steady 1"
#			when no name of a thread has changed while the text was read
# Whatever a kernel does not have is left out.
root=$1 dir=$2 cases=$3 out=$4 set=$5
mkdir -p "$out" || exit 1
group=output$$

note() { echo "capture: $*" >&2; }
put() { { echo "$1" > "$2"; } 2> /dev/null; }
add() { { echo "$1" >> "$2"; } 2> /dev/null; }

events="sched/sched_switch sched/sched_waking sched/sched_process_fork
	sched/sched_process_exec sched/sched_process_exit sched/sched_stat_runtime
	irq/softirq_entry irq/irq_handler_entry irq/irq_handler_exit raw_syscalls/sys_enter
	raw_syscalls/sys_exit syscalls/sys_enter_openat syscalls/sys_exit_openat
	syscalls/sys_enter_write syscalls/sys_exit_write syscalls/sys_enter_getpid
	timer/hrtimer_start timer/timer_start timer/hrtimer_expire_entry
	kmem/kmalloc workqueue/workqueue_queue_work
	workqueue/workqueue_execute_start printk/console task/task_newtask
	signal/signal_generate signal/signal_deliver block/block_rq_issue block/block_rq_complete
	mmap/vm_unmapped_area
	cgroup/cgroup_attach_task net/net_dev_queue
	net/netif_receive_skb skb/consume_skb sock/inet_sock_set_state tcp/tcp_probe
	power/cpu_idle"
# newer formats have constants of writeback without their values
case $(uname -r) in
6.1.*|6.12.*) events="$events writeback/writeback_mark_inode_dirty writeback/writeback_dirty_inode";;
esac
[ "$set" = small ] || [ "$set" = ticks ] && events="sched/sched_switch raw_syscalls/sys_enter raw_syscalls/sys_exit"
[ "$set" = function ] && events=sched/sched_waking

# Events made for this: what there is of uprobes, kprobes, fprobes, eprobes, synthetic ones.
dynamic()
{
	local entry program=/proc/self/exe
	program=$(readlink -f "$(type -P true)")
	entry=$(od -An -tx8 -j24 -N8 "$program" | tr -d ' ')
	local d="$root/dynamic_events"
	add "p:$group/up $program:0x$entry a=%ax:u32 b=%sp:x64 c=%di:s8 d=%si:u16 s=+0(%sp):x8[4]" "$d"
	add "p:$group/kp vfs_write f=%di:x64 n=%dx:u32 sym=\$stack0:symbol ch=%dx:char" "$d"
	add "r:$group/kr vfs_write ret=\$retval:s64" "$d"
	add "f:$group/fp vfs_read n=%dx" "$d"
	add "f:$group/fr vfs_read%return r=\$retval" "$d"
	add "e:$group/ep syscalls.sys_enter_openat file=+0(\$filename):ustring fl=\$flags:x32" "$d"
	put "${group}lat u64 lat; pid_t pid; char comm[16]; char var[]; unsigned long[] st" \
		"$root/synthetic_events"
}

undynamic()
{
	put '!hist:keys=pid:ts0=common_timestamp.usecs,s0=common_stacktrace' "$dir/events/sched/sched_waking/trigger"
	put 0 "$dir/events/enable"
	put "" "$dir/set_event"
	put "!${group}lat" "$root/synthetic_events"
	for e in up kp kr fp fr ep; do
		add "-:$group/$e" "$root/dynamic_events"
	done
}

hists()
{
	[ -e "$root/events/synthetic/${group}lat" ] || return
	put 'hist:keys=pid:ts0=common_timestamp.usecs,s0=common_stacktrace' \
		"$dir/events/sched/sched_waking/trigger"
	put "hist:keys=next_pid:l=common_timestamp.usecs-\$ts0,st=\$s0:onmatch(sched.sched_waking).${group}lat(\$l,next_pid,next_comm,prev_comm,\$st)" \
		"$dir/events/sched/sched_switch/trigger"
}

unhists()
{
	[ -e "$root/events/synthetic/${group}lat" ] || return
	put "!hist:keys=next_pid:l=common_timestamp.usecs-\$ts0,st=\$s0:onmatch(sched.sched_waking).${group}lat(\$l,next_pid,next_comm,prev_comm,\$st)" \
		"$dir/events/sched/sched_switch/trigger"
	put '!hist:keys=pid:ts0=common_timestamp.usecs,s0=common_stacktrace' \
		"$dir/events/sched/sched_waking/trigger"
}

# A process that stays, so that its stack can be told by object afterwards.
worker()
{
	echo "a line" > "$dir/trace_marker"
	printf 'no newline' > "$dir/trace_marker"
	printf '\001\000\000\000raw bytes, 23 of' > "$dir/trace_marker_raw"
	printf '\377\000\000\0001' > "$dir/trace_marker_raw"
	(exit 3)
	echo "output" > /dev/kmsg
	echo x > /tmp/$group; sync /tmp/$group
	kill -URG $BASHPID
	read -r -t 0.01 -u 9
	"$(type -P true)"
}

trace_some()
{
	put 0 "$dir/tracing_on"
	put 4096 "$dir/buffer_size_kb"
	[ "$set" = small ] && put 4 "$dir/buffer_size_kb"
	put nohash-ptr "$dir/trace_options"
	put record-tgid "$dir/trace_options"
	put stacktrace "$dir/trace_options"
	put userstacktrace "$dir/trace_options"
	[ "$set" = ticks ] && put x86-tsc "$dir/trace_clock"
	[ "$set" = ticks ] || put global "$dir/trace_clock"
	[ "$set" = small ] || [ "$set" = ticks ] && put nostacktrace "$dir/trace_options" && put nouserstacktrace "$dir/trace_options"
	if [ "$set" = function ]; then
		put 'vfs_*' "$dir/set_ftrace_filter"
		put function "$dir/current_tracer" || { note "no function tracer"; exit 77; }
		put nostacktrace "$dir/trace_options"
		put nouserstacktrace "$dir/trace_options"
		put func-no-repeats "$dir/trace_options"
	fi
	for e in $events; do
		[ -e "$dir/events/$e/enable" ] && put 1 "$dir/events/$e/enable"
	done
	printf %s "$group" > /proc/$$/comm
	# where others run, too: their names may change while the text is read
	ours='COMM ~ "*"'
	[ "$root" = "$dir" ] ||
		ours="COMM == '$group' || COMM == 'true' || COMM == 'sync' || COMM ~ 'swapper/*'"
	for e in $events; do
		[ "$root" = "$dir" ] || put "$ours" "$dir/events/$e/filter"
	done
	if [ "$set" = events ]; then
		# not too many of those that are many
		few="(id == 39 || id == 3 || id == 59) && ($ours)"
		put "$few" "$dir/events/raw_syscalls/sys_enter/filter"
		put "$few" "$dir/events/raw_syscalls/sys_exit/filter"
		put "bytes_req > 500 && ($ours)" "$dir/events/kmem/kmalloc/filter"
		for e in up kp kr fp fr ep; do put 1 "$dir/events/$group/$e/enable"; done
		put 1 "$dir/events/synthetic/${group}lat/enable"
	fi
	put $$ "$dir/set_event_pid"
	put $$ "$dir/set_ftrace_pid"
	put event-fork "$dir/trace_options"
	put function-fork "$dir/trace_options"
	: > "$dir/trace"
	[ "$set" = events ] && hists
	mkfifo "/tmp/$group.fifo"
	exec 9<> "/tmp/$group.fifo"
	put 1 "$dir/tracing_on"
	worker
	put 0 "$dir/tracing_on"
	rm "/tmp/$group" "/tmp/$group.fifo"
	[ "$set" = events ] && unhists
	for e in $events; do
		put 0 "$dir/events/$e/filter"
	done
	put "" "$dir/set_event_pid"
	put nostacktrace "$dir/trace_options"
	put nouserstacktrace "$dir/trace_options"
	put norecord-tgid "$dir/trace_options"
}

text()
{
	local name options o
	while read -r name options; do
		[ -z "$name" ] || [ "${name#\#}" != "$name" ] && continue
		for o in $options; do
			put "$o" "$dir/trace_options" || { note "$name: no option $o"; continue 2; }
		done
		cat "$dir/trace" > "$out/text.$name"
		for o in $options; do
			case $o in
			no*) put "${o#no}" "$dir/trace_options";;
			*) put "no$o" "$dir/trace_options";;
			esac
		done
	done < "$cases"
}

# The processes of the trace that are alive.
processes()
{
	local tid key value
	put raw "$dir/trace_options"
	cut -d' ' -f1 "$dir/trace" | sort -u | while read -r tid; do
		while read -r key value; do
			[ "$key" = Tgid: ] && echo "$value"
		done < "/proc/$tid/status"
	done 2> /dev/null | sort -u
	put noraw "$dir/trace_options"
}

maps()
{
	local pid
	for pid in $1; do
		maps=$(cat "/proc/$pid/maps" 2> /dev/null)
		if [ -n "$maps" ]; then
			printf 'process %s\n%s\n' "$pid" "$maps"
		else
			echo "gone $pid"
		fi
	done
}

# The lines of a file of threads for those in the trace.
names()
{
	awk 'NR == FNR { seen[$1] = 1; next } $1 in seen' "$out/text.raw" "$root/$1" |
		sort > "$out/$1"
}

formats()
{
	for f in "$root"/events/ftrace/*/format; do
		echo "system ftrace"; cat "$f"
	done
	for e in $events $group/up $group/kp $group/kr $group/fp $group/fr $group/ep synthetic/${group}lat; do
		[ -e "$root/events/$e/format" ] || continue
		echo "system ${e%%/*}"; cat "$root/events/$e/format"
	done
}

facts()
{
	local o=0 e=0 n
	for s in "$dir"/per_cpu/cpu[0-9]*/stats; do
		n=$(sed -n 's/^overrun: //p' "$s"); o=$((o + n))
		n=$(sed -n 's/^entries: //p' "$s"); e=$((e + n))
	done
	echo "release $(uname -r)"
	echo "clock $(sed 's/.*\[\(.*\)\].*/\1/' "$dir/trace_clock")"
	echo "tracer $(cat "$dir/current_tracer")"
	echo "overruns $o"
	echo "entries $e"
}

[ "$set" = events ] && dynamic
trace_some
facts > "$out/facts"
alive=$(processes)
put raw "$dir/trace_options"
cat "$dir/trace" > "$out/text.raw"
put noraw "$dir/trace_options"
names saved_cmdlines
mv "$out/saved_cmdlines" "$out/before"
text
maps "$alive" > "$out/maps"
formats > "$out/formats"
cat "$root/events/header_page" > "$out/header_page"
names saved_tgids
names saved_cmdlines
cmp -s "$out/saved_cmdlines" "$out/before" && echo "steady 1" >> "$out/facts"
rm "$out/before"
cat "$root/printk_formats" > "$out/printk_formats"
for c in "$dir"/per_cpu/cpu[0-9]*; do
	timeout 1 cat "$c/trace_pipe_raw" > "$out/pages.${c##*cpu}"
done
cat /proc/kallsyms > "$out/kallsyms"
undynamic
[ "$set" = function ] && put nop "$dir/current_tracer"
: > "$dir/trace"
[ "$root" = "$dir" ] || exit 0
put hash-ptr "$dir/trace_options"
put noevent-fork "$dir/trace_options"
put nofunction-fork "$dir/trace_options"
exit 0
