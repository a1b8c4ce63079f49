#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes tests/golden/hist/: what a Linux 6.12 kernel's histogram triggers say of
# the events that it recorded at the same time.
#
#	ORACLE='boot command' tools/golden-hist.sh
#
# The boot command with -w DIR SCRIPT boots that kernel, runs SCRIPT in it as root
# with tracefs at /sys/kernel/tracing and the current directory at DIR of this
# machine, and returns its status.
#
# One folder a set:
#	commands	what was done, a line each, in order; see apply() below
#	pages.N		sub-buffers of CPU N, as trace_pipe_raw gives them; each run ends
#			with a line "run" in the trace
#	formats		the format files of the recorded events, one behind the other
#	hist.S.E	the hist file of event S:E at the end
#	trigger.S.E	its trigger file
#	comms		names of the threads that there were at the beginning
#	symbols		lines of kallsyms: the functions named in hist files, and what follows each
# and for all of them header_page and syscalls (number and name).
set -eu
: "${ORACLE:?the command that boots the kernel}"
cd "$(dirname "$0")/.."
out=tests/golden/hist
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir -p "$dir/keys" "$dir/vars" "$dir/stack" "$dir/snapshot"

cat > "$dir/keys/commands" <<'END'
event task:task_newtask
event task:task_rename
event sched:sched_switch
event sched:sched_waking
event sched:sched_process_exec
event raw_syscalls:sys_enter
event raw_syscalls:sys_exit
event kmem:kmalloc
event timer:hrtimer_start
event irq:softirq_entry
event workqueue:workqueue_queue_work
event net:net_dev_queue
event sched:sched_process_fork
event syscalls:sys_enter_pread64
trigger sched:sched_switch hist:keys=next_pid if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=next_comm:vals=hitcount,next_prio:sort=next_comm if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=prev_pid,next_pid:sort=hitcount.descending,prev_pid if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=prev_state.hex:vals=prev_prio:sort=prev_prio.descending,prev_state if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=common_cpu,prev_prio:sort=common_cpu,prev_prio.descending if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=prev_comm,next_comm,next_prio:size=128:sort=prev_comm,next_comm.descending if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_waking hist:keys=common_pid.execname:sort=common_pid if pid >= 20000
trigger sched:sched_waking hist:keys=comm,pid:vals=prio,target_cpu:sort=pid if pid >= 20000
trigger sched:sched_waking hist:keys=prio:pause if pid >= 20000
trigger sched:sched_waking hist:keys=comm if (comm ~ "*sh*" || prio < 100) && pid >= 20000
trigger raw_syscalls:sys_enter hist:keys=id.syscall:sort=hitcount.descending if common_pid >= 20000
trigger raw_syscalls:sys_enter hist:keys=common_pid.execname,id.syscall:vals=hitcount:sort=id,hitcount:size=4096 if common_pid >= 20000
trigger raw_syscalls:sys_enter hist:keys=id:vals=hitcount.percent:nohitcount:sort=id.descending if common_pid >= 20000
trigger raw_syscalls:sys_enter hist:name=ids:keys=id if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:name=ids:keys=id if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=ret.hex,id if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=ret:sort=ret if (id != 0) && common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=common_timestamp.usecs,id:size=128:sort=common_timestamp if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=id.log2:vals=ret.hex:sort=id if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=id.buckets=16,common_cpu:sort=id,common_cpu if common_pid >= 20000
trigger kmem:kmalloc hist:keys=call_site.sym:vals=bytes_req,bytes_alloc:sort=bytes_req.descending if common_pid >= 20000
trigger kmem:kmalloc hist:keys=call_site.sym-offset:vals=bytes_req.percent,bytes_alloc.graph:sort=bytes_alloc.descending if common_pid >= 20000
trigger kmem:kmalloc hist:keys=bytes_req.log2:vals=bytes_req.percent,hitcount.graph:sort=bytes_req if common_pid >= 20000
trigger kmem:kmalloc hist:keys=bytes_req.buckets=32:vals=bytes_alloc:sort=bytes_req if common_pid >= 20000
trigger kmem:kmalloc hist:keys=call_site.hex,gfp_flags.hex:vals=bytes_alloc.hex:sort=bytes_alloc.descending,call_site if common_pid >= 20000
trigger kmem:kmalloc hist:keys=bytes_req.buckets=100,node if (bytes_req > 64 && bytes_alloc < 4096) && common_pid >= 20000
trigger kmem:kmalloc hist:keys=ptr:size=128 if common_pid >= 20000
trigger kmem:kmalloc hist:keys=common_preempt_count,common_flags.hex if common_pid >= 20000
trigger timer:hrtimer_start hist:keys=function.sym,mode if common_pid >= 20000
trigger timer:hrtimer_start hist:keys=function.sym-offset:vals=was_armed.percent:nohitcount if common_pid >= 20000
trigger irq:softirq_entry hist:keys=vec:vals=hitcount.percent,hitcount.graph:nohitcount:sort=vec if common_pid >= 20000
trigger sched:sched_process_exec hist:keys=filename,pid
trigger sched:sched_process_exec hist:keys=filename:vals=pid,old_pid:sort=filename.descending
trigger task:task_rename hist:keys=oldcomm,newcomm:vals=oom_score_adj
trigger task:task_newtask hist:keys=clone_flags.hex,oom_score_adj:vals=pid
trigger workqueue:workqueue_queue_work hist:keys=workqueue,function.sym:sort=workqueue,function if common_pid >= 20000
trigger workqueue:workqueue_queue_work hist:keys=req_cpu:vals=cpu if common_pid >= 20000
trigger net:net_dev_queue hist:keys=name,len.log2:vals=len
trigger sched:sched_process_fork hist:keys=parent_comm,child_comm
trigger sched:sched_process_fork hist:keys=common_pid.execname:vals=child_pid,parent_pid:sort=child_pid.descending
trigger syscalls:sys_enter_pread64 hist:keys=count,pos.hex:vals=fd,count:sort=count.descending,pos
run busy
trigger sched:sched_waking hist:keys=prio:cont if pid >= 20000
trigger sched:sched_switch hist:keys=next_pid:clear if prev_pid >= 20000 || next_pid >= 20000
trigger kmem:kmalloc hist:keys=ptr:size=128:pause if common_pid >= 20000
trigger irq:softirq_entry hist:keys=vec:vals=hitcount:sort=vec:size=256 if common_pid >= 20000
trigger sched:sched_process_exec !hist:keys=filename,pid
run small
END

cat > "$dir/vars/commands" <<'END'
event task:task_newtask
event task:task_rename
event sched:sched_switch
event sched:sched_waking
event raw_syscalls:sys_enter
event raw_syscalls:sys_exit
event kmem:kmalloc
synth wakeup_latency u64 lat; pid_t pid; int prio
synth switched char prev[16]; char next[16]; u64 delta; unsigned int cpu
synth slow_call long id; u64 ns; u64 low
synth execd char file[]; pid_t pid; u64 age
event synthetic:wakeup_latency
event synthetic:switched
event synthetic:slow_call
event synthetic:execd
event sched:sched_process_fork
event sched:sched_process_exec
trigger sched:sched_waking hist:keys=pid:ts0=common_timestamp.usecs,ts1=common_timestamp,wprio=prio,wcomm=comm if pid >= 20000
trigger sched:sched_switch hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,next_pid,next_prio) if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=next_pid,next_comm:vals=prev_prio:lat1=common_timestamp.usecs:onmax($lat1).save(next_prio,prev_comm,prev_pid):sort=next_pid if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=next_pid:ns=common_timestamp-$ts1:onmax($ns).save(next_comm,prev_pid,prev_prio,prev_comm) if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=common_cpu:np=next_prio:onchange($np).save(next_comm,prev_comm,prev_state) if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=common_cpu:sts=common_timestamp.usecs if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=prev_prio:zero=common_cpu-common_cpu:onmax($zero).save(prev_comm,prev_pid) if prev_pid >= 20000 || next_pid >= 20000
trigger sched:sched_switch hist:keys=prev_pid:since=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(switched,prev_comm,next_comm,$since,common_cpu) if prev_pid >= 20000 || next_pid >= 20000
trigger synthetic:wakeup_latency hist:keys=pid,prio:vals=lat:sort=lat
trigger synthetic:wakeup_latency hist:keys=lat.log2:sort=lat
trigger synthetic:wakeup_latency hist:keys=lat.buckets=50:vals=prio:sort=lat if prio < 130
trigger synthetic:switched hist:keys=prev,next:vals=delta
trigger synthetic:slow_call hist:keys=id.syscall:vals=ns:sort=ns.descending
trigger synthetic:slow_call hist:keys=low.buckets=100,id:vals=ns:sort=low,id
trigger sched:sched_process_fork hist:keys=child_pid:forked=common_timestamp.usecs
trigger sched:sched_process_exec hist:keys=pid:age=common_timestamp.usecs-$forked:onmatch(sched.sched_process_fork).trace(execd,filename,pid,$age)
trigger synthetic:execd hist:keys=file,pid:vals=age
trigger raw_syscalls:sys_enter hist:keys=common_pid:start=common_timestamp,nr=id if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=common_pid:took=common_timestamp-$start,low=common_timestamp/256:onmatch(raw_syscalls.sys_enter).slow_call(id,$took,$low) if common_pid >= 20000
trigger raw_syscalls:sys_exit hist:keys=common_pid.execname:vals=ret:prod=ret*4,sum=ret+id:onmax($prod).save(id,ret):sort=common_pid if common_pid >= 20000
trigger kmem:kmalloc hist:keys=call_site.sym:vals=bytes_req:waste=bytes_alloc-bytes_req:onchange($waste).save(bytes_req,bytes_alloc) if common_pid >= 20000
trigger kmem:kmalloc hist:keys=bytes_req.log2:req=bytes_req,half=$req/2,third=$req/3,neg=bytes_req-bytes_alloc:vals=bytes_alloc:onmax($third).save(bytes_req,gfp_flags):sort=bytes_req if common_pid >= 20000
trigger kmem:kmalloc hist:keys=common_timestamp.usecs,bytes_req:size=256:sort=common_timestamp.descending if common_pid >= 20000
trigger kmem:kmalloc hist:keys=common_cpu:vals=bytes_req*2,bytes_alloc:sort=common_cpu if common_pid >= 20000
run small
END

cat > "$dir/stack/commands" <<'END'
option stacktrace
event task:task_newtask
event task:task_rename
event sched:sched_waking
event sched:sched_switch
event kmem:kmalloc
synth woken u64 lat; pid_t pid; unsigned long[] stack
trigger sched:sched_waking hist:keys=pid:ts=common_timestamp.usecs,st=common_stacktrace if pid >= 20000
trigger sched:sched_switch hist:keys=next_pid:delta=common_timestamp.usecs-$ts,s=$st:onmatch(sched.sched_waking).trace(woken,$delta,next_pid,$s) if next_pid >= 20000
trigger synthetic:woken hist:keys=pid,stack.stacktrace:vals=lat:sort=pid
trigger synthetic:woken hist:keys=stack.stacktrace:sort=hitcount
trigger sched:sched_waking hist:keys=common_stacktrace:vals=prio:sort=prio if pid >= 20000
trigger sched:sched_waking hist:keys=comm,common_stacktrace if pid >= 20000
trigger kmem:kmalloc hist:keys=common_stacktrace:vals=bytes_req,bytes_alloc:sort=bytes_alloc.descending if common_pid >= 20000
trigger kmem:kmalloc hist:keys=common_stacktrace,bytes_req:sort=bytes_req if common_pid >= 20000
trigger kmem:kmalloc hist:keys=stacktrace,call_site.sym,bytes_req.log2:size=256:sort=call_site if (bytes_req > 200) && common_pid >= 20000
run tiny
END

cat > "$dir/snapshot/commands" <<'END'
snapshot
event task:task_newtask
event task:task_rename
event kmem:kmalloc
trigger kmem:kmalloc hist:keys=common_pid.execname,call_site.sym:req=bytes_req:onmax($req).snapshot() if common_pid >= 20000
run tiny
END

cat > "$dir/guest.sh" <<'END'
#!/bin/bash
# A histogram counts while tracing is off, too.  So all histograms are of events
# that only the workload causes, by their kind or by a filter: its processes
# have numbers from 20000.  Whatever else is done while there are histograms is
# done with what bash can do by itself, without a process.
here=$PWD
cd /sys/kernel/tracing
mkfifo /tmp/nothing; exec 9<> /tmp/nothing
pause() { read -r -t 0.4 -u 9; }

busy()
{
	ls /sys/class > /dev/null
	cat /proc/meminfo | grep Mem > /dev/null
	sleep 0.01 & sleep 0.02; wait
	ping -c 1 127.0.0.1 > /dev/null
	echo x > /tmp/x; sync; rm /tmp/x
}
small()
{
	taskset -p 1 $BASHPID > /dev/null
	cat /proc/version | cat | cat > /dev/null
	sleep 0.01 & sleep 0.02; wait
}
tiny() { cat /proc/version > /dev/null; }

# one line of a commands file: its first word, the rest
apply()
{
	local at=${2%% *}
	case $1 in
	synth)	echo "$2" >> synthetic_events;;
	trigger) echo "${2#* }" >> "events/${at/://}/trigger";;
	option)	echo 1 > "options/$at";;
	snapshot) echo 1 > snapshot;;
	run)	for e in $events; do echo "$e" >> set_event; done
		echo 19999 > /proc/sys/kernel/ns_last_pid
		echo 1 > tracing_on
		( $2 )
		pause
		echo "run" > trace_marker
		echo 0 > tracing_on
		echo 1000 > /proc/sys/kernel/ns_last_pid;;
	esac || { echo "refused: $*"; bad=1; }
}

copy() { mapfile lines < "$1"; printf %s "${lines[@]}" > "$2"; }

dump()
{
	local e t
	for e in $hists; do
		t=events/${e/://}
		copy "$t/trigger" "$set/trigger.${e/:/.}"
		copy "$t/hist" "$set/hist.${e/:/.}"
	done
	for c in per_cpu/cpu[0-9]*; do
		timeout 1 cat $c/trace_pipe_raw > "$set/pages.${c##*cpu}"
		[ $1 != snapshot ] ||
			timeout 1 cat $c/snapshot_raw >> "$set/pages.${c##*cpu}"
		grep -E '^(overrun|dropped|commit overrun)' $c/stats | grep -v ': 0$' &&
			{ echo "lost events in $set"; bad=1; }
	done
	grep . error_log && { echo "errors in $set"; bad=1; }
}

# Backwards, for triggers refer to one another.  As they were written: what a
# trigger file says cannot always be read back ("sort=id.syscall").
reset()
{
	echo > set_event
	sed -n 's/^trigger //p' "$set/commands" | tac | while read -r e line; do
		echo "!$line" >> "events/${e/://}/trigger"
	done 2> /dev/null
	for e in $hists; do
		grep ^hist: "events/${e/://}/trigger" && { echo "left in $set"; bad=1; }
	done
	echo > synthetic_events
	echo 0 > options/stacktrace; echo 0 > snapshot; echo > trace; echo > error_log
}

one_set()
{
	set=$here/$1
	events=$(sed -n 's/^event //p' "$set/commands")
	hists=$(sed -n 's/^trigger \([^ ]*\) .*/\1/p' "$set/commands" | sort -u)
	echo 0 > tracing_on; echo 16384 > buffer_size_kb; echo global > trace_clock
	for e in $events ftrace:print ftrace:kernel_stack; do
		[ "${e%%:*}" = synthetic ] || cat "events/${e/://}/format"
	done > "$set/formats"
	for p in /proc/[0-9]*/task/[0-9]*; do
		echo "${p##*/} $(cat $p/comm 2>/dev/null)"
	done > "$set/comms"
	pause
	while IFS= read -r line; do
		apply "${line%% *}" "${line#* }"
	done < "$set/commands"
	dump $1
	reset
}

cat events/header_page > $here/header_page
for s in keys vars stack snapshot; do one_set $s; done

# numbers and names of system calls: raw_syscalls tells one, syscalls the other
echo 1 > events/raw_syscalls/sys_enter/enable
echo 1 > events/syscalls/enable
echo 1 > tracing_on; busy; small; tiny; echo 0 > tracing_on
cat trace > $here/syscalls.txt
cat /proc/kallsyms > $here/kallsyms
exit ${bad:-0}
END
$ORACLE -w "$dir" "$dir/guest.sh"

# "sys_read(fd: 3, ...)" follows "NR 0 (3, ...)" of the same thread
awk '/sys_enter: NR / { nr[$1] = $0; sub(/.*NR /, "", nr[$1]); sub(/ .*/, "", nr[$1]) }
	/: sys_[a-z0-9_]+\(/ { n = $0; sub(/.*: sys_/, "", n); sub(/\(.*/, "", n)
		if ($1 in nr) print nr[$1], n; delete nr[$1] }' \
	"$dir/syscalls.txt" | sort -un > "$dir/syscalls"

for set in keys vars stack snapshot; do
	grep -ohE '(\] |^ +)[A-Za-z_][A-Za-z0-9_.]*(\+0x[0-9a-f]+/0x[0-9a-f]+)?( \[[a-z0-9_]+\])? *(\}|,|$)' \
		"$dir/$set"/hist.* | sed 's/^\] //; s/^ *//; s/[+ ,}].*//' | sort -u > "$dir/names"
	# a symbol ends where the next one of another address begins
	sort -s -k1,1 "$dir/kallsyms" | awk 'NR == FNR { want[$1] = 1; next }
		{ line = $1 " " $2 " " $3 ($4 ? "\t" $4 : "") }
		open && $1 != open { print line; open = $3 in want ? $1 : ""; next }
		$3 in want { print line; open = $1 }' \
		"$dir/names" - > "$dir/$set/symbols"
	rm -rf "${out:?}/$set"
	mkdir -p "$out/$set"
	cp "$dir/$set"/* "$out/$set/"
done
cp "$dir/header_page" "$dir/syscalls" "$out/"
du -sk "$out"
