#!/bin/bash
# SPDX-License-Identifier: MIT
#
# files.sh - what the files of a tracing directory do and say.
#
#	files.sh [-p RENAMER] [-h RENAMER] [-r ANSWERS] DIR
#
# Writes TAP.  Each step's answer (what was read, errors as text) follows it in
# lines "#  ...", without what is different each time: times, process ids, names.
#
#	-p RENAMER	with the renamer's events (renamer.c), not the kernel's task:*
#	-h RENAMER	does what a shell cannot (lseek); else these steps are left out
#	-r ANSWERS	what this script wrote for another directory: a step is ok when
#			its answer is the same there.  Without it, all are that answer.
#
# It works in an instance of its own, and in DIR itself with what is there only; there it
# changes no buffer and no setting.  All is taken away at the end.
#
# A step whose file is not there in DIR is left out, with "# SKIP".
set -u
LC_ALL=C
export LC_ALL

program='' answers='' helper=''
while getopts p:h:r: o; do
	case $o in
	p) program=$OPTARG;;
	h) helper=$OPTARG;;
	r) answers=$OPTARG;;
	*) exit 2;;
	esac
done
shift $((OPTIND - 1))
top=${1:?usage: files.sh [-p RENAMER] [-h RENAMER] [-r ANSWERS] DIR}
name=tfs$$
me=$top/instances/$name
nr=0 failed=0
declare -A known=() done=()

# ---- the one whose events are seen ----

if [ "$program" ]; then
	sys=prog
	coproc P { exec "$program"; }
	pid=$P_PID
	read -r _ <&"${P[0]}"
else
	sys=task
	pid=$$
	read -r old_score < /proc/$$/oom_score_adj
	read -r old_name < /proc/$$/comm
fi
E=events/$sys/task_rename
N=events/$sys/task_newtask

# fire VALUE NAME: one event.  Nothing else is started: its events would be seen, too.
fire()
{
	if [ "$program" ]; then
		echo "$1 $2" >&"${P[1]}"
		read -r _ <&"${P[0]}"
	else
		echo "$1" > /proc/$$/oom_score_adj
		printf %s "$2" > /proc/$$/comm
	fi
}

finish()
{
	trap '' EXIT INT TERM
	cd / || exit 1
	for i in "$top"/instances/"$name"*; do
		[ -d "$i" ] && { echo 0 > "$i/events/enable"; rmdir "$i"; }
	done
	for e in $synths; do echo "!$e" >> "$top/synthetic_events"; done 2> /dev/null
	for e in $eprobes; do echo "-:$e/" >> "$top/dynamic_events"; done 2> /dev/null
	if [ "$program" ]; then
		exec {P[1]}>&-
		wait "$pid"
	else
		echo "$old_score" > /proc/$$/oom_score_adj
		echo "$old_name" > /proc/$$/comm
	fi 2> /dev/null
}
synths='' eprobes=''
trap finish EXIT
trap 'exit 1' INT TERM

# ---- steps ----

tidy()
{
	sed -E -e 's/^\[ *[0-9]+\.[0-9]+\] /[TIME] /' \
		-e "s/^('[^']*': )?[^ ]*: line [0-9]+: /\1/" \
		-e "s/^('[^']*': )?(printf|echo|read|cat|dd|rm|ls|mkdir|rmdir|mv|ln|touch|truncate|chmod|chown|head): /\1/" \
		-e "s/^('[^']*': )?(write error|read error|error writing '[^']*'|error reading '[^']*'): /\1/" \
		-e "s#$top/instances/##g; s#$top/##g" \
		-e "s/\b(1?)tf([sde])_0*$$\b/\1tf\2_N/g; s/\btfd_0*$$b\b/tfd_Nb/g; s/\b$pid\b/PID/g; s/\b$$\b/PID/g" \
		-e "s/$name/NAME/g; s/\bprog\b/task/g"
}

# step NAME COMMAND...
step()
{
	local what=$1 answer state=ok skip=''
	shift
	answer=$("$@" 2>&1 | tidy)
	nr=$((nr + 1))
	[ "${done[$what]+is}" ] && { echo "Bail out! two steps are called $what"; exit 1; }
	done[$what]=1
	if [ ! "$answers" ]; then
		:
	elif [ ! "${known[$what]+is}" ]; then
		skip=' # SKIP no answer to compare with'
	elif [ "${known[$what]}" != "$answer" ]; then
		state='not ok' failed=1
	fi
	echo "$state $nr - $what$skip"
	echo "#  ${answer//$'\n'/$'\n'#  }"
	[ "$state" = ok ] || echo "# not  ${known[$what]//$'\n'/$'\n'# not  }"
}

# The answers of an earlier output.
learn()
{
	local what='' line
	while IFS= read -r line; do
		case $line in
		'ok '*) what=${line#ok * - } first=1;;
		'#  '*) [ "$first" ] && known[$what]=${line#\#  } ||
				known[$what]+=$'\n'${line#\#  }
			first='';;
		esac
	done < "$answers"
}

# need FILE...: whether they are there
need()
{
	local f
	for f; do [ -e "$f" ] || { echo "# no $f: ${FUNCNAME[1]} left out"; return 1; }; done
}

# ---- reading and writing ----

# One write; the file is opened as > and as >> do.
put() { printf '%s\n' "$2" > "$1" && echo ok; }
add() { printf '%s\n' "$2" >> "$1" && echo ok; }
put_end() { printf '%s' "$2" > "$1" && echo ok; }	# without the newline
empty() { : > "$1" && echo ok; }
get() { cat "$1"; }
bytewise() { dd if="$1" bs=1 2> /dev/null; }

put_get() { put "$1" "$2"; show "$1"; }
add_get() { add "$1" "$2"; show "$1"; }
# A trigger file that is empty says what could be in it: not the same everywhere.
show() { case $1 in */trigger) grep -v '^# ' "$1";; *) cat "$1";; esac; }
each() { local c=$1 f=$2 w; shift 2; for w; do echo "'$w': $($c "$f" "$w" 2>&1)"; done; }

# Our events in the trace, without times.
seen() { sed -nE "s/^.*[0-9]: (task_rename: pid=$pid .*)/\\1/p" "${1:-trace}"; }
seen_all() { sed -nE 's/^.{20,}[0-9]: //p' "${1:-trace}"; }
log() { cat error_log; }
# What is refused, and what is said of it.
refuse() { : > error_log; "$@"; cat error_log; }

# ---- what there is ----

FILES='available_tracers buffer_percent buffer_size_kb buffer_subbuf_size_kb
buffer_total_size_kb current_tracer error_log events free_buffer options per_cpu set_event
set_event_notrace_pid set_event_pid timestamp_mode trace trace_clock trace_marker
trace_marker_raw trace_options trace_pipe tracing_cpumask tracing_on events/enable
events/header_page events/header_event'
TOP_FILES='README available_events dynamic_events printk_formats saved_cmdlines
saved_cmdlines_size saved_tgids tracing_thresh uprobe_events uprobe_profile instances'
CPU_FILES='buffer_size_kb stats trace trace_pipe trace_pipe_raw'
EVENT_FILES='enable filter trigger format id'

# Those of the list that are there, with the owner's permissions.
list() { local f; for f; do stat -c '%n %A' "$f" | cut -c "1-$((${#f} + 5))"; done; }
is_not() { local f; for f; do [ -e "$f" ] && echo "$f"; done; echo .; }

tree()
{
	step 'tree: of an instance' list $FILES
	step 'tree: of the top only' is_not $TOP_FILES
	step 'tree: of a CPU' eval "cd per_cpu/cpu0; list $CPU_FILES"
	step 'tree: of an event' eval "cd $E; list $EVENT_FILES"
	step 'tree: of a system' eval "cd ${E%/*}; list enable filter"
	step 'tree: per_cpu has the CPUs' eval 'ls -d per_cpu/cpu[0-9]* | wc -l | grep -v "^0"; is_not per_cpu/cpu99999'
	cd "$top" || exit 1
	step 'tree: of the top' list $TOP_FILES
	cd "$me" || exit 1
	step 'tree: no such file' eval 'cat nosuch; cat events/nosuch/enable; cat events/task/nosuch/enable'
	step 'tree: nothing is made' eval 'echo > nosuch; mkdir nosuch; ln -s trace nosuch; mv trace nosuch; echo > events/nosuch'
	step 'tree: nothing is removed' eval "rm -f trace; rmdir events; rmdir $E; rmdir per_cpu; [ -e trace ] && echo there"
	step 'tree: a directory is no file' eval 'cat events; echo > events; cat trace/x'
	step 'tree: truncate, touch' eval "truncate -s 0 trace && echo ok; touch trace && echo ok; truncate -s 5 $E/filter && echo ok"
	step 'tree: chmod, chown' eval "chmod 600 $E/filter && stat -c %a $E/filter; chown 1:2 $E/filter && stat -c %u:%g $E/filter
		chmod 710 $E && stat -c %a $E; chown 3:4 $E && stat -c %u:%g $E; chown 0:0 $E $E/filter"
	step 'tree: read only' eval "each put timestamp_mode x; each put $E/id 1; each put $E/format 1; each put available_tracers nop"
	step 'tree: write only' eval 'cat trace_marker; cat trace_marker_raw; dd if=trace_marker count=0 2> /dev/null && echo opened'
}

# ---- enable ----

enabled() { echo "$(< $E/enable) $(< $N/enable) $(< ${E%/*}/enable) $(< events/enable)"; }

enable()
{
	step 'enable: at first' enabled
	step 'enable: one' put_get $E/enable 1
	step 'enable: X above' enabled
	step 'enable: set_event says so' get set_event
	step 'enable: refused' each put $E/enable 2 x -1 '' '1 0' 0x1 '1 x' 10
	step 'enable: as written by others' each put_end $E/enable 1 01 +1 ' 1' '1 ' 0 1
	step 'enable: appended' add_get $E/enable 0
	step 'enable: a byte at a time' bytewise $E/enable
	step 'enable: a system' eval "put ${E%/*}/enable 1; enabled"
	step 'enable: a system, refused' each put ${E%/*}/enable 2 x ''
	step 'enable: one of it off' eval "put $E/enable 0; enabled"
	step 'enable: a system off' eval "put ${E%/*}/enable 0; enabled"
	step 'enable: all, refused' each put events/enable 2 x '' -1
	step 'enable: an empty file' eval "empty $E/enable; cat $E/enable"
	step 'enable: several readers' eval "exec 5< $E/enable 6< $E/enable; put $E/enable 1; cat <&5; cat <&6; put $E/enable 0; cat <&5"
}

# ---- set_event ----

add_set() { add set_event "$1"; grep "^$sys:task_[nr]e" set_event | sort; }

set_event()
{
	step 'set_event: system:event' add_set $sys:task_rename
	step 'set_event: another' add_set $sys:task_newtask
	step 'set_event: one less' add_set "!$sys:task_newtask"
	step 'set_event: of a system' add_set $sys:
	step 'set_event: without it' add_set "!$sys:"
	step 'set_event: a system by its name' add_set $sys
	step 'set_event: without its name' add_set "!$sys"
	step 'set_event: any system' add_set "*:task_rename"
	step 'set_event: not in any' add_set "!*:task_rename"
	step 'set_event: an event by its name' add_set task_rename
	step 'set_event: without the name' add_set "!task_rename"
	step 'set_event: a star' add_set "$sys:task_re*"
	step 'set_event: not the star' add_set "!$sys:task_*"
	step 'set_event: a question mark' add_set "$sys:task_rena?e"
	step 'set_event: a class' add_set "$sys:task_[n]*"
	step 'set_event: off again' add_set "!$sys:*"
	step 'set_event: two at once' add_set "$sys:task_newtask $sys:task_rename"
	step 'set_event: > empties first' eval "put set_event $sys:task_rename; cat set_event"
	step 'set_event: white space' add_set "  $sys:task_newtask   "
	step 'set_event: unknown' each add set_event nosuch nosuch:ev $sys:nosuch '!nosuch' '!' ':' '::'
	step 'set_event: known, then unknown' eval "empty set_event; add set_event '$sys:task_rename nosuch:ev'; cat set_event"
	step 'set_event: on twice, off twice' eval "add_set $sys:task_rename; add_set '!$sys:task_rename'; add_set '!$sys:task_rename'"
	step 'set_event: > empties' eval "add set_event $sys:task_rename; empty set_event; cat set_event"
	step 'set_event: all' eval "add set_event '*:*'; enabled; put set_event ''; enabled"
	step 'set_event: not all' eval "add set_event $sys:; add set_event '!*:*'; enabled"
	step 'set_event: several lines' eval "put set_event '$sys:task_newtask
$sys:task_rename'; cat set_event | sort; empty set_event"
}

# ---- pids ----

pids_of()
{
	local f=$1
	step "$f: at first" get $f
	step "$f: two" eval "put $f '77 5'; cat $f"
	step "$f: one more" eval "add $f 6; cat $f"
	step "$f: the same again" eval "add $f 6; cat $f"
	step "$f: > is a new list" eval "put $f 9; cat $f"
	step "$f: refused" each add $f x -1 99999999999 '5 x' 1.5
	step "$f: what is left" get $f
	step "$f: nothing" eval "add $f ''; cat $f"
	step "$f: emptied" eval "empty $f; cat $f"
	step "$f: a byte at a time" eval "put $f '1 2 3'; bytewise $f; put $f ''; cat $f"
}

pids()
{
	pids_of set_event_pid
	pids_of set_event_notrace_pid
	echo > trace; echo $sys:task_rename >> set_event
	echo 1 > set_event_pid; fire 2 one
	echo $pid > set_event_pid; fire 2 two
	step 'set_event_pid: only these' eval "seen | sed 's/oldcomm=[^ ]*/oldcomm=-/'"
	echo > set_event_pid
	echo > trace
	echo $pid > set_event_notrace_pid; fire 2 one
	echo 1 > set_event_notrace_pid; fire 2 two
	step 'set_event_notrace_pid: not these' seen
	echo > set_event_notrace_pid; echo > set_event; echo > trace
}

# ---- trace, trace_pipe, tracing_on ----

pipe_seen() { dd if="${1:-trace_pipe}" iflag=nonblock bs=65536 count=1 2>&1 | sed -nE "s/^.*[0-9]: (task_rename: pid=$pid .*)/\1/p; /dd: /p"; }

recording()
{
	step 'tracing_on: values' each put_end tracing_on 0 1 2 x -1 '' ' 1' 18446744073709551616 1
	step 'tracing_on: read' eval 'cat tracing_on; put_get tracing_on 0; put_get tracing_on 5; bytewise tracing_on'
	echo "common_pid == $pid" > $E/filter
	echo 1 > $E/enable; echo > trace
	fire 1 first
	fire 2 second
	step 'trace: two' seen
	step 'trace: again' seen
	step 'trace: its head' eval "sed -E '/^#/!d; s/[0-9]+/N/g' trace"
	echo 0 > tracing_on; fire 3 third; echo 1 > tracing_on; fire 4 fourth
	step 'trace: not what came while off' seen
	[ "$helper" ] && step 'trace: from its beginning' eval "echo 0 > tracing_on; '$helper' reread trace; echo 1 > tracing_on"
	step 'trace: a byte at a time' eval 'echo 0 > tracing_on; [ "$(bytewise trace)" = "$(< trace)" ] && echo same; echo 1 > tracing_on'
	step 'trace: several readers' eval "echo 0 > tracing_on; exec 5< trace 6< trace; head -c 100 <&5 > /dev/null; [ \"\$(cat <&6)\" = \"\$(cat trace)\" ] && echo same; cat <&5 | grep -c task_rename; echo 1 > tracing_on"
	step 'trace: >> does not empty' eval 'add trace x; seen'
	step 'trace: < > does not empty' eval 'exec 5<> trace; seen; echo y >&5; exec 5>&-; seen'
	step 'trace_pipe: consumes' pipe_seen
	step 'trace_pipe: there is no more' pipe_seen
	step 'trace_pipe: trace is without it' seen
	fire 5 fifth
	step 'trace: > empties' eval 'empty trace; seen'
	step 'trace: its head when empty' get trace
	fire 6 sixth
	step 'trace_pipe: of what came later' pipe_seen
	step 'trace_pipe: one reader' eval 'exec 5< trace_pipe; timeout 1 cat trace_pipe; timeout 1 cat per_cpu/cpu0/trace_pipe; exec 5<&-; exec 5< per_cpu/cpu0/trace_pipe; timeout 1 cat trace_pipe; timeout 1 cat per_cpu/cpu0/trace_pipe'
	step 'trace_pipe: is no file to write' each put trace_pipe x
	fire 7 seventh
	step 'trace_pipe: small reads' eval "dd if=trace_pipe iflag=nonblock bs=1 2> /dev/null | sed 's/.*: task/task/'; pipe_seen"
	step 'trace_pipe: waits' eval "(timeout 5 dd if=trace_pipe bs=4096 count=1 2> /dev/null | sed 's/.*: //') & sleep 0.3; echo waited > trace_marker; wait"
	fire 8 eighth
	step 'per_cpu: trace' seen per_cpu/cpu0/trace
	step 'per_cpu: trace_pipe' pipe_seen per_cpu/cpu0/trace_pipe
	step 'per_cpu: consumed' eval 'seen; seen per_cpu/cpu0/trace'
	fire 9 ninth
	step 'per_cpu: > empties' eval 'empty per_cpu/cpu0/trace; seen'
	fire 10 tenth
	step 'per_cpu: stats' eval "sed -E 's/[0-9.]+$/N/; s/: +/: /' per_cpu/cpu0/stats"
	step 'per_cpu: refused' each put per_cpu/cpu0/stats x
	echo 0 > $E/enable; echo 0 > $E/filter; echo > trace
}

# ---- markers ----

# A marker that is written on a CPU; false: nobody may be there.
on_cpu()
{
	(taskset -pc "$1" "$BASHPID" > /dev/null 2>&1 && echo "on $1" > trace_marker)
}

markers()
{
	echo > trace
	step 'trace_marker: a line' eval 'put trace_marker hello; seen_all'
	step 'trace_marker: without its end' eval 'put_end trace_marker "no end"; seen_all'
	step 'trace_marker: appended' eval 'add trace_marker more; seen_all'
	step 'trace_marker: two lines' eval 'put_end trace_marker "one
two"; grep -A1 one trace | sed "s/.*: //"'
	step 'trace_marker: a page' eval 'head -c 800 /dev/zero | tr "\0" x | dd of=trace_marker bs=800 2> /dev/null; seen_all | tail -n 1 | wc -c'
	step 'trace_marker: nothing' eval 'empty trace_marker; : | dd of=trace_marker 2> /dev/null && echo ok'
	step 'trace_marker: on its CPU' eval 'for c in per_cpu/cpu[0-9]*; do
			on_cpu "${c##*cpu}" && ! seen_all $c/trace | grep -qx "tracing_mark_write: on ${c##*cpu}" && echo "not $c"
		done; seen_all per_cpu/cpu0/trace | tail -n 1'
	step 'trace_marker: opened for reading and writing' eval 'exec 5<> trace_marker && echo both >&5; seen_all | tail -n 1'
	echo > trace
	step 'trace_marker_raw: id and bytes' eval 'printf "\1\0\0\0abcd" > trace_marker_raw && echo ok; seen_all'
	step 'trace_marker_raw: too short' eval 'printf "\1\0\0" > trace_marker_raw && echo ok; seen_all | wc -l'
	step 'trace_marker_raw: an id alone' eval 'printf "\2\0\0\0" > trace_marker_raw && echo ok'
	echo > trace
	step 'markers: while off' eval 'echo 0 > tracing_on; put trace_marker x; put_end trace_marker_raw abcdef; echo 1 > tracing_on; seen_all'
	step 'markers: without the option' eval 'echo 0 > options/markers; put trace_marker x; put_end trace_marker_raw abcdef; echo 1 > options/markers; seen_all'
	step 'markers: as binary' eval 'printf "a\0b\377c\n" > trace_marker && echo ok; seen_all | od -c | head -n 3'
	echo > trace
}

# ---- options ----

OPTIONS='print-parent sym-offset sym-addr verbose raw hex bin block fields annotate userstacktrace
sym-userobj context-info latency-format record-tgid overwrite disable_on_free irq-info markers
event-fork pause-on-trace hash-ptr stacktrace test_nop_accept test_nop_refuse'

options_read() { local o; for o in $OPTIONS; do echo "$o $(< options/$o) $(grep -xE "(no)?$o" trace_options)"; done; }

options()
{
	local o
	step 'options: at first' options_read
	for o in $OPTIONS; do
		step "options: $o" eval "old=\$(< options/$o); each put options/$o 1 0; put trace_options $o; cat options/$o; put trace_options no$o; cat options/$o; put options/$o \$old; grep -xE '(no)?$o' trace_options"
	done
	step 'options: refused' each put options/fields 2 x -1 '' '1 0'
	step 'options: words refused' each put trace_options nosuch nonosuch '' 'fields raw' nono-raw
	step 'options: with white space' each put trace_options ' nofields ' 'noraw	'
	step 'options: appended' eval 'add trace_options fields; cat options/fields; add trace_options nofields; cat options/fields'
	echo > trace
	step 'options: what fields prints' eval 'echo shown > trace_marker; echo 1 > options/fields; seen_all | sed "s/ip=[^ ]* *([^)]*)/ip=N/; s/ip=0x[0-9a-f]*/ip=N/"; echo 0 > options/fields; grep -c "tracing_mark_write: shown" trace'
	step 'options: what context-info leaves' eval 'echo 0 > options/context-info; grep -v "^#" trace; echo 1 > options/context-info'
	step 'options: overwrite is kept' eval 'echo 0 > options/overwrite; cat options/overwrite; echo 1 > options/overwrite; cat options/overwrite'
	echo > trace
}

# ---- clocks, tracers ----

clocks()
{
	step 'trace_clock: at first' get trace_clock
	local c
	for c in global counter uptime perf mono mono_raw boot tai x86-tsc local; do
		step "trace_clock: $c" put_get trace_clock $c
	done
	step 'trace_clock: refused' each put trace_clock nosuch '' mon 'mono boot' "$(printf '%070d' 1)"
	step 'trace_clock: white space' each put_end trace_clock ' mono ' local
	echo before > trace_marker
	step 'trace_clock: another empties' eval 'put trace_clock mono; seen_all; echo 1 > tracing_on'
	echo before > trace_marker
	step 'trace_clock: the same' eval 'put trace_clock mono; seen_all'
	step 'trace_clock: back' put_get trace_clock local
	step 'timestamp_mode' get timestamp_mode
	step 'current_tracer' put_get current_tracer nop
	step 'current_tracer: refused' each put current_tracer nosuch '' 'nop x'
	step 'available_tracers' eval 'grep -ow nop available_tracers'
}

# ---- sizes ----

# A buffer's size is what so many pages hold: about what was asked for.
near() { local n; read -r n < "$1"; [ "$n" = X ] || n=$(((n + 8) / 16 * 16)); echo "$n"; }
total() { echo $((($(< buffer_total_size_kb) / $(ls -d per_cpu/cpu* | wc -l) + 8) / 16 * 16)); }
set_size() { put "$1" "$2"; near "$1"; }

sizes()
{
	step 'buffer_size_kb: set' eval 'set_size buffer_size_kb 512; total; near per_cpu/cpu0/buffer_size_kb'
	step 'buffer_size_kb: larger' eval 'set_size buffer_size_kb 1024; total; [ "$(bytewise buffer_size_kb)" = "$(< buffer_size_kb)" ] && echo same'
	step 'buffer_size_kb: of one CPU' eval 'set_size per_cpu/cpu0/buffer_size_kb 512; near buffer_size_kb'
	step 'buffer_size_kb: all alike again' eval 'set_size buffer_size_kb 512; near per_cpu/cpu0/buffer_size_kb'
	step 'buffer_size_kb: refused' each put buffer_size_kb 0 x -1 '' '5 6' 1k
	step 'buffer_size_kb: of one CPU, refused' each put per_cpu/cpu0/buffer_size_kb 0 x -1 ''
	step 'buffer_size_kb: what is left' near buffer_size_kb
	echo kept > trace_marker
	step 'buffer_size_kb: still records' seen_all
	step 'buffer_total_size_kb: refused' each put buffer_total_size_kb 5
	step 'buffer_percent: at first' get buffer_percent
	step 'buffer_percent: values' each put buffer_percent 0 100 101 -1 x '' 25
	step 'buffer_percent: read' eval 'cat buffer_percent; put buffer_percent 50'
	step 'buffer_subbuf_size_kb: at first' get buffer_subbuf_size_kb
	step 'buffer_subbuf_size_kb: values' each put buffer_subbuf_size_kb 0 x -1 '' 1000000
	step 'buffer_subbuf_size_kb: set' eval 'put_get buffer_subbuf_size_kb 8; put_get buffer_subbuf_size_kb 5; put_get buffer_subbuf_size_kb 4'
	step 'tracing_cpumask' eval 'old=$(< tracing_cpumask); each put tracing_cpumask 1 zz ""; tr -d 0, < tracing_cpumask; put tracing_cpumask $old; [ $(< tracing_cpumask) = $old ] && echo same'
	echo > trace
	echo 1 > options/disable_on_free
	step 'free_buffer: writing' eval 'put free_buffer x; cat tracing_on; put tracing_on 1'
	echo 0 > options/disable_on_free
	step 'free_buffer: reading' eval 'cat free_buffer'
	step 'free_buffer: without the option' eval 'empty free_buffer; cat tracing_on'
	echo 512 > buffer_size_kb
}

# ---- filters ----

filters()
{
	local f=$E/filter bad
	step 'filter: at first' get $f
	step 'filter: one' put_get $f 'oom_score_adj == 5'
	step 'filter: another' put_get $f 'oom_score_adj > 3 && newcomm ~ "x*" || pid != 5'
	step 'filter: appended' add_get $f 'pid&1'
	step 'filter: white space' put_get $f '  pid  ==  1  '
	step 'filter: none' put_get $f 0
	step 'filter: emptied by nothing' eval "put $f pid==1; empty $f; cat $f; put $f ''; cat $f"
	step 'filter: parentheses' put_get $f '!(pid == 1 || (pid == 2 && !(common_pid < 7)))'
	step 'filter: hex and negative' put_get $f 'pid == 0x1f || oom_score_adj >= -1000'
	step 'filter: a string' put_get $f 'newcomm == "a b"'
	step "filter: a string in '" put_get $f "newcomm != 'a b'"
	step 'filter: cpu' put_get $f 'CPU == 1 || cpu > 5'
	step 'filter: cpus' put_get $f 'CPU & CPUS{0-1}'
	step 'filter: comm' put_get $f 'COMM ~ "ba*" && comm != "x"'
	for bad in 'nosuch == 1' 'pid' 'pid ==' 'pid == x' 'pid = 1' 'pid ~ "x"' 'newcomm == 5' \
		'newcomm > "x"' '(pid == 1' 'pid == 1)' 'pid == 1 &&' '&& pid == 1' 'pid == "x"' \
		'pid == 1 pid == 2' 'newcomm == "x' 'pid == 99999999999999999999' '()' '!' \
		'pid == 1 & pid == 2' 'pid == 1 | pid == 2' 'newcomm & 1' 'pid == 1 && nosuch > 3' \
		'CPU & CPUS{0-' 'CPU & CPUS{}' 'newcomm.ustring == 5' 'pid.function == nosuch_symbol' \
		'pid == 12x' 'pid <=> 3' 'newcomm ~ x'; do
		step "filter: $bad" refuse put $f "$bad"
		step "filter: after $bad" get $f
	done
	step 'filter: 0 after an error' put_get $f 0
	step 'filter: too long' eval "printf '%5000s' x > $f && echo ok"
	step 'filter: as long as may be' eval "printf '%-4094s\n' 'pid == 1' > $f && echo ok; cat $f; put $f 0"
	step 'filter: junk' eval "printf '\377\376\1 == 1\n' > $f; put $f 0"
	step 'filter: of a system, at first' get ${f%/*/*}/filter
	step 'filter: of a system' eval "put ${f%/*/*}/filter 'pid > 0'; cat ${f%/*/*}/filter $f $N/filter"
	step 'filter: of a system, some events' eval "put ${f%/*/*}/filter 'oom_score_adj > 0'; cat ${f%/*/*}/filter $f"
	step 'filter: of a system, no event' eval ": > error_log; put ${f%/*/*}/filter 'nosuch > 0'; cat ${f%/*/*}/filter $f; tail -n 3 error_log"
	step 'filter: of a system, nonsense' eval ": > error_log; put ${f%/*/*}/filter 'pid >'; cat ${f%/*/*}/filter $f; tail -n 3 error_log"
	step 'filter: of a system, gone' eval "put ${f%/*/*}/filter 0; cat ${f%/*/*}/filter $f $N/filter"
	echo > trace; : > error_log
	echo "oom_score_adj >= 500 && newcomm ~ \"n*\" && common_pid == $pid" > $f; echo 1 > $E/enable
	fire 500 none; fire 499 nil; fire 501 two; fire 999 nine
	step 'filter: what passes' seen
	echo 0 > $f; fire 1 last
	step 'filter: without' eval "seen | grep newcomm=last"
	echo 0 > $E/enable; echo > trace
}

# ---- error_log ----

errors()
{
	: > error_log
	step 'error_log: at first' log
	step 'error_log: one' eval "put $E/filter 'nosuch == 1'; log"
	step 'error_log: two' eval "put $E/filter 'pid == x'; log"
	step 'error_log: a byte at a time' bytewise error_log
	step 'error_log: >> keeps' eval 'add error_log x; log | grep -c Command'
	step 'error_log: > empties' eval 'empty error_log; log'
	step 'error_log: no more than 8' eval "for i in 1 2 3 4 5 6 7 8 9 10; do put $E/filter nosuch\$i==1; done > /dev/null 2>&1; grep Command error_log"
	step 'error_log: a bad trigger' refuse put $E/trigger nosuch
	[ "$helper" ] && step 'error_log: from its beginning' "$helper" reread error_log
	: > error_log
	put $E/filter 0 > /dev/null
}

# ---- triggers ----

triggers()
{
	# process 1 changes no name: nothing is counted while we look
	local t=$E/trigger bad no='if pid == 1'
	step 'trigger: one' put_get $t "traceoff $no"
	step 'trigger: there already' put_get $t "traceoff $no"
	step 'trigger: the same with a count' put_get $t "traceoff:3 $no"
	step 'trigger: another' put_get $t "traceon:5 $no"
	step 'trigger: appended' add_get $t "stacktrace:2 $no"
	step 'trigger: a byte at a time' bytewise $t
	step 'trigger: soft' enabled
	step 'trigger: > takes none away' eval "empty $t; cat $t"
	step 'trigger: removed' eval "put_get $t '!traceoff'; put_get $t '!traceon'; put_get $t '!stacktrace'; enabled"
	step 'trigger: removed, and is not there' put_get $t '!traceoff'
	for bad in nosuch "traceoff:0 $no" traceoff:x traceoff:-1 'traceoff if' 'traceoff if nosuch == 1' \
		'traceoff pid == 1' "traceoff:1:2 $no" 'traceon:unlimited' '!nosuch' '!' ':' '' ' ' \
		enable_event enable_event:$sys enable_event:$sys:nosuch enable_event:nosuch:x \
		enable_event:$sys:task_newtask:x "enable_event:$sys:task_newtask:1:2 $no" "stacktrace:0 $no" \
		'stacktrace if pid ==' "enable_event:$sys:task_newtask if nosuch > 1" 'traceoffx' 'traceoff if 0' \
		'enable_hist:x:y' 'if pid == 1' 'traceoff  if  pid==1' "	traceoff	$no" "!traceoff $no"; do
		step "trigger: ${bad/$sys/task}" refuse put $t "$bad"
		step "trigger: after ${bad/$sys/task}" grep -v ^# $t
		for i in traceoff traceon stacktrace enable_event:$sys:task_newtask; do
			echo "!$i" >> $t
		done 2> /dev/null
	done
	: > error_log
	step 'trigger: too long' eval "printf '%5000s' x > $t && echo ok"
	step 'trigger: enable_event is soft' eval "put_get $t 'enable_event:$sys:task_newtask $no'; enabled"
	step 'trigger: enable_event, enabled' eval "put_get $N/enable 1; put_get $N/enable 0"
	step 'trigger: enable_event, again' put_get $t "enable_event:$sys:task_newtask:1 $no"
	step 'trigger: disable_event of the same' put_get $t "disable_event:$sys:task_newtask $no"
	step 'trigger: both gone' eval "put_get $t !enable_event:$sys:task_newtask; put_get $t !disable_event:$sys:task_newtask; enabled"
	step 'trigger: disable_event' eval "put $N/enable 1; put_get $t 'disable_event:$sys:task_newtask:4 $no'; enabled; put_get $t !disable_event:$sys:task_newtask; enabled; put $N/enable 0"
	step 'trigger: enabled and soft' eval "put $t 'traceoff:1 $no'; put $E/enable 1; enabled; put $t !traceoff; enabled; put $E/enable 0"

	echo > trace; echo 1 > $E/enable
	echo "traceoff:1 if common_pid == $pid && oom_score_adj == 77" > $t
	fire 1 before; fire 77 stop; fire 2 behind
	step 'trigger: traceoff' eval "cat tracing_on; seen; sed 's/common_pid == [0-9]*/P/' $t"
	echo 1 > tracing_on; fire 77 again
	step 'trigger: only once' eval "cat tracing_on; seen | tail -n 1; put $t !traceoff"
	echo 0 > tracing_on
	echo "traceon:2 if common_pid == $pid && oom_score_adj == 78" > $t
	fire 78 go; fire 3 gone
	step 'trigger: traceon' eval "cat tracing_on; seen | tail -n 1; sed 's/common_pid == [0-9]*/P/' $t; put_get $t !traceon; cat tracing_on"
	echo 0 > $E/enable; echo > trace
	echo "enable_event:$sys:task_rename:1 if common_pid == $pid && oom_score_adj == 79" > $t
	fire 79 on; fire 4 after
	step 'trigger: enable_event of itself' eval "seen; enabled; cat $t | sed 's/common_pid == [0-9]*/P/'"
	echo "!enable_event:$sys:task_rename" > $t
	step 'trigger: gone again' eval "show $t; enabled"
	echo 0 > $E/enable; echo > trace
	echo "stacktrace:1 if common_pid == $pid && oom_score_adj == 80" > $t
	echo 1 > $E/enable
	fire 80 stack; fire 80 stack
	step 'trigger: stacktrace' eval "grep -c 'stack trace>' trace; put_get $t '!stacktrace'"
	echo 0 > $E/enable; echo > trace
	step 'trigger: all is off' eval 'enabled; cat tracing_on error_log'
}

# ---- histograms ----

table() { sed -E 's/, ts[0-9]: *[0-9]+//' "${1:-$E/hist}"; }

hists()
{
	need $E/hist || return
	local t=$E/trigger h=$E/hist bad c="if common_pid == $pid"
	step 'hist: trigger at first' get $t
	step 'hist: at first' get $h
	step 'hist: made' put_get $t 'hist:keys=oom_score_adj if pid > 0'
	echo "!hist:keys=oom_score_adj if pid > 0" > $t
	step 'hist: gone' eval "show $t; cat $h; enabled"
	echo "hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj $c" > $t
	fire 5 a; fire 6 b; fire 5 c
	step 'hist: trigger' get $t
	step 'hist: table' eval "table | sed -E 's/pid: *[0-9]+/pid: N/'"
	step 'hist: a byte at a time' eval "[ \"\$(bytewise $h)\" = \"\$(< $h)\" ] && echo same"
	step 'hist: soft' enabled
	echo "hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj:pause $c" >> $t
	fire 5 d
	step 'hist: paused' eval "cat $t; grep -c . $h; grep -E 'Hits|adj: *5' $h | sed -E 's/pid: *[0-9]+/pid: N/'"
	echo "hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj:cont $c" >> $t
	fire 5 e
	step 'hist: goes on' eval "cat $t; grep -E 'Hits|adj: *5' $h | sed -E 's/pid: *[0-9]+/pid: N/'"
	echo "hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj:clear $c" >> $t
	step 'hist: cleared' eval "cat $t $h"
	fire 7 f
	step 'hist: and counts again' eval "grep -E 'Hits|adj: *7' $h | sed -E 's/pid: *[0-9]+/pid: N/'"
	step 'hist: there already' eval "put_get $t 'hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj $c'"
	step 'hist: removed with another filter' eval "put_get $t '!hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj'"
	step 'hist: removed' eval "put_get $t '!hist:keys=oom_score_adj:vals=pid:sort=oom_score_adj $c'; enabled"
	echo "hist:keys=newcomm,oom_score_adj.log2:size=128:sort=newcomm.descending,oom_score_adj $c" > $t
	fire 5 aa; fire 7 aa; fire 9 bb
	step 'hist: two keys, a modifier' eval "cat $t; table"
	echo "hist:name=tfs_$$:keys=oom_score_adj $c" >> $t
	fire 12 cc
	step 'hist: two on an event' eval "cat $t; table"
	step 'hist: > takes them away' eval "empty $t; cat $t $h; enabled"
	echo "hist:keys=common_pid.execname:vals=hitcount:size=128 $c && oom_score_adj == 11" > $t
	fire 11 one
	step 'hist: execname' eval "cat $t; table | sed -E 's/common_pid: .*\] /common_pid: NAME/'"
	: > $t
	echo "hist:keys=oom_score_adj.buckets=10,pid.hex:sort=oom_score_adj $c" > $t
	fire 11 one; fire 15 two; fire 25 three
	step 'hist: buckets, hex' eval "cat $t; table | sed -E 's/pid: *[0-9a-f]+/pid: N/'"
	: > $t
	for bad in hist hist: hist:keys= hist:keys=nosuch hist:vals=pid hist:keys=pid:vals=nosuch \
		hist:keys=pid:sort=nosuch hist:keys=pid:size=0 hist:keys=pid:size=x hist:keys=pid:nosuch \
		hist:keys=pid.nosuch hist:keys=newcomm.log2 'hist:keys=pid if nosuch == 1' \
		hist:keys=pid,oom_score_adj,newcomm,common_pid hist:keys=pid:vals=newcomm \
		'hist:keys=pid:x=$nosuch' 'hist:keys=pid:onmax($x).save(pid)' hist:keys=pid:pause \
		hist:keys=pid:cont 'hist:keys=pid:onmatch(nosuch.x).y(pid)' '!hist:keys=pid' \
		'hist:keys=pid:x=pid+' 'hist:keys=pid:onmax(pid).save(pid)' hist:keys=pid:sort=pid.foo \
		'hist:keys=pid:onmatch('$sys'.task_newtask).nosuch(pid)' hist:keys=pid,pid \
		hist:keys=pid:keys=oom_score_adj 'hist:keys=pid.buckets' 'hist:keys=pid.buckets=0' \
		hist:keys=stacktrace hist:keys=pid:nohitcount 'hist:keys=pid:x=pid/0' enable_hist:$sys:task_newtask; do
		: > $t
		step "hist: ${bad/$sys/task}" refuse add $t "$bad"
		step "hist: after ${bad/$sys/task}" show $t
	done
	for i in enable_hist disable_hist; do echo "!$i:$sys:task_newtask" >> $t; done 2> /dev/null
	: > $t; : > error_log
	step 'hist: all is off' eval "cat $t; enabled"
}

# ---- synthetic events ----

# Of all there is in the log $e only what is of this command.
errors_of()
{
	local old
	old=$(tail -n 3 "$e")
	"$@"
	[ "$(tail -n 3 "$e")" = "$old" ] || tail -n 3 "$e"
}

synthetic()
{
	need "$top/synthetic_events" || return
	# in a mount they are an instance's, in the kernel everybody's
	local f=$top/synthetic_events e=$top/error_log s=tfs_$(printf %07d $$) bad t=$E/trigger
	mine() { grep "$s" "$f"; }
	[ -e synthetic_events ] && f=$me/synthetic_events e=$me/error_log
	synths=$s
	for bad in "$s.x u64 a" "$s u64" "$s nosuch a" "$s u64 a b" "!$s" "$s u64 a[x]" "$s u64 1a" "$s" "1$s u64 a" "$s u64 a; u64 a" "!$s"; do
		step "synthetic: ${bad/$s/S}${done["synthetic: ${bad/$s/S}"]:+ again}" errors_of eval "add $f '$bad'; mine"
	done
	step 'synthetic: made' eval "add $f '$s pid_t who; char name[16]'; mine"
	step 'synthetic: its directory' eval "ls -d events/synthetic/$s; cat events/synthetic/$s/enable"
	step 'synthetic: format' eval "grep -E '^name|^print|who;|name\[' events/synthetic/$s/format"
	step 'synthetic: the same again' eval "add $f '$s pid_t who; char name[16]'; mine"
	step 'synthetic: another of that name' errors_of eval "add $f '$s u64 x'; mine"
	echo > trace
	echo 1 > events/synthetic/$s/enable
	bad="hist:keys=pid:v=oom_score_adj:onchange(\$v).trace($s,pid,newcomm) if common_pid == $pid && oom_score_adj > 40"
	echo "$bad" >> $t
	step 'synthetic: the trigger' get $t
	step 'synthetic: a trigger on it, with the other one'"'"'s variable' put_get events/synthetic/$s/trigger 'hist:keys=who:d=$v'
	fire 40 one; fire 41 two; fire 41 three; fire 42 four
	step 'synthetic: is generated' eval "grep -oE 'tfs_[0-9]+: .*' trace"
	step 'synthetic: in use' errors_of eval "add $f '!$s'; mine"
	step 'synthetic: its trigger has counted' eval "sed -E 's/who: *[0-9]+/who: N/' events/synthetic/$s/hist"
	step 'synthetic: its trigger gone' put_get events/synthetic/$s/trigger '!hist:keys=who:d=$v'
	echo "!$bad" >> $t
	step 'synthetic: no trigger' show $t
	step 'synthetic: enabled, cannot go' eval "add $f '!$s'; mine"
	echo 0 > events/synthetic/$s/enable
	step 'synthetic: removed' eval "add $f '!$s'; mine; ls -d events/synthetic/$s"
	synths=''
	: > error_log; echo > trace
}

# The same in dynamic_events, which the top only has.
dynamic()
{
	need "$top/synthetic_events" || return
	local f=$top/dynamic_events e=$top/error_log s=tfd_$(printf %07d $$) bad
	mine() { grep "$s" "$f" "$top/synthetic_events"; }
	for bad in "s:junk/$s u64 a" "s:$s" "s:$s u64" 's: u64 a' 's:' "s:synthetic/$s u64 a[x]" \
		"s:synthetic/1$s u64 a" "-:synthetic/$s" "-:junk/$s" '-:' "-$s" "!$s" "# $s u64 a"; do
		step "dynamic: ${bad/$s/S}" errors_of eval "add $f '$bad'; mine"
	done
	step 'dynamic: made' eval "add $f 's:$s pid_t who; char name[]'; mine; ls -d $top/events/synthetic/$s"
	step 'dynamic: the same again' errors_of eval "add $f 's:synthetic/$s pid_t who; char name[]'; mine"
	step 'dynamic: another group' errors_of eval "add $f '-:junk/$s'; mine"
	step 'dynamic: removed' eval "add $f '-:$s'; mine"
	step 'dynamic: made in its group' eval "add $f '  s:synthetic/$s u64 a # b'; mine"
	step 'dynamic: enabled, cannot go' eval "echo 1 > $top/events/synthetic/$s/enable; add $f '-:synthetic/$s'; mine; echo 0 > $top/events/synthetic/$s/enable"
	step 'dynamic: removed as it was made' eval "add $f '!s:synthetic/$s u64 a'; mine; ls -d $top/events/synthetic/$s"
	step 'dynamic: two lines' eval "printf 's:$s u64 a\ns:${s}b u64 b\n' >> $f; mine; printf -- '-:$s\n-:${s}b\n' >> $f; mine"
}

# ---- event probes ----

# Made at the top; there none is recorded, but for the one that cannot go.
eprobes()
{
	local f=$top/dynamic_events e=$top/error_log g=tfe_$(printf %07d $$) s=$sys.task_rename i=0 bad
	need "$f" || return
	# a kernel may be built without them, though its README tells of them
	if [ "$top" = /sys/kernel/tracing ] && ! echo "e:$g/try $s" >> "$f"; then
		echo "# no event probes: ${FUNCNAME[0]} left out"
		return
	fi 2> /dev/null
	[ "$top" != /sys/kernel/tracing ] || echo "-:$g/try" >> "$f"
	mine() { grep "$g/" "$f"; }
	format() { grep -E '^name|^print|offset:([89]|..+);' "$top/events/$g/$1/format"; }
	eprobes=$g
	for bad in "e:$g/e" 'e' "e:$g/e $s a=\$nosuch" "e:$g/e $sys.nosuch a=\$pid" "e:$g/e nosuch.nosuch" \
		"e:$g/e task_rename" "e:$g/e .task_rename" "e:$g/e $sys. a=\$pid" "e:$g/e $s/x" "e:$g/e ftrace.print" \
		"e:$g/e $s a=pid" "e:$g/e $s a=\$" "e:$g/e $s a=" "e:$g/e $s =\$pid" "e:$g/e $s a-b=\$pid" \
		"e:$g/e $s a=\$pid:foo" "e:$g/e $s a=\$pid:" "e:$g/e $s a=\$pid:b3" "e:$g/e $s a=\$pid:b3@30/32" \
		"e:$g/e $s a=\$pid:u8[2]" "e:$g/e $s a=\$COMM:u8" "e:$g/e $s a=\$COMM:symstr" "e:$g/e $s a=\$common_pid" \
		"e:$g/e $s a=\$pid a=\$pid" "e:$g/e $s \$pid arg1=\$pid" "e:$g/e $s common_pid=\$pid" \
		"e:$g/e $s a=%ax" "e:$g/e $s a=\$retval" "e:$g/e $s a=+0(\$nosuch):u8" "e:$g/e $s a=+0(\$newcomm" \
		"e:$g/e $s a=\\abc" "e:$g/e $s if" "e:$g/e $s if nosuch > 3" "e:$g/e $s a=\$nosuch if pid >" \
		"e:$g/1e $s" "e:$g/e-e $s" "e:$g/e/e $s" "e:/e $s" "e: $s" "e:$g/e: $s" \
		"e:$g/e$(printf %070d 0) $s" "-:$g/e" "-:$g/" "!e:$g/e" "-:" "-$g"; do
		step "eprobes: $((i++))" errors_of eval "printf '%s\n' '${bad//\$g/G}'; add $f '$bad'; mine"
	done
	step 'eprobes: made' errors_of eval "add $f 'e:$g/one $s pid=\$pid c=\$newcomm:string o=\$oom_score_adj:s16'; mine; format one"
	step 'eprobes: its directory' eval "ls $top/events/$g; cat $top/events/$g/one/{enable,filter}; grep $g $top/available_events"
	step 'eprobes: the same again' errors_of eval "add $f 'e:$g/one $s pid=\$pid c=\$newcomm:string o=\$oom_score_adj:s16'; mine"
	step 'eprobes: another of that name' errors_of eval "add $f 'e:$g/one $s'; mine"
	step 'eprobes: on a probe' errors_of eval "add $f 'e:$g/two $g.one a=\$pid'; mine"
	step 'eprobes: without a name' eval "add $f 'e:$g/ $s'; mine; format task_rename"
	step 'eprobes: without names of arguments' eval "add $f 'e:$g/two $sys/task_rename \$pid \$newcomm:ustring b=\$oom_score_adj:x8'; mine; format two"
	step 'eprobes: types' eval "add $f 'e:$g/types $s a=\$pid:u8 b=\$pid:u16 c=\$pid:u32 d=\$pid:u64 e=\$pid:s8 f=\$pid:s16 g=\$pid:s32 h=\$pid:s64 i=\$pid:x8 j=\$pid:x16 k=\$pid:x32 l=\$pid:x64 m=\$pid:char n=\$newcomm:u32 q=\$pid:symbol r=\$pid:b3@1/16 s=\$COMM t=+2(\$newcomm):string u=\\5:u8 v=\\\"hi\":string'; grep types $f; format types"
	step 'eprobes: with a filter' eval "add $f 'e:$g/some $s a=\$comm:u16  if  pid  >  3 # comment'; grep some $f; format some"
	step 'eprobes: what is behind the letter' eval "add $f 'e10:$g/ten $s'; add $f 'ee:$g/ee $s'; grep -E 'ten|ee' $f"
	step 'eprobes: enabled, cannot go' errors_of eval "put $top/events/$g/some/enable 1; cat $top/events/$g/some/enable $top/events/$sys/task_rename/enable; add $f '-:$g/some'; add $f '-:$g/some'; empty $f; put $top/events/$g/some/enable 0; cat $top/events/$sys/task_rename/enable"
	step 'eprobes: its filter' eval "put $top/events/$g/one/filter 'pid > 4 && c ~ \"a*\"'; cat $top/events/$g/one/filter"
	step 'eprobes: a wrong filter' errors_of eval "put $top/events/$g/one/filter 'newcomm == 3'; cat $top/events/$g/one/filter"
	step 'eprobes: goes' eval "add $f '-:$g/one'; grep one $f; ls -d $top/events/$g/one"
	step 'eprobes: goes by its event' eval "add $f '-:$g/two $sys.nosuch'; add $f '-:$g/two $s'; grep two $f"
	step 'eprobes: goes as it was made' eval "add $f '-:$g/some $s a=\$pid'; add $f '!e:$g/some $s a=\$comm:u16'; grep some $f"
	step 'eprobes: all of a group go' eval "add $f '-:$g/'; mine; ls -d $top/events/$g"
	eprobes=''
}

# ---- snapshots ----

snapshots()
{
	need snapshot || return
	step 'snapshot: at first' get snapshot
	step 'snapshot: of a CPU, at first' get per_cpu/cpu0/snapshot
	echo > trace; echo one > trace_marker
	step 'snapshot: taken' eval 'put snapshot 1; seen_all snapshot; echo -; seen_all'
	echo two > trace_marker
	step 'snapshot: both' eval 'seen_all snapshot; echo -; seen_all'
	step 'snapshot: of the CPUs' eval 'for c in per_cpu/cpu[0-9]*; do seen_all $c/snapshot; done'
	step 'snapshot: its head' eval "sed -E '/^#/!d; s/[0-9]+/N/g' snapshot"
	step 'snapshot: swapped' eval 'put snapshot 1; seen_all snapshot; echo -; seen_all'
	step 'snapshot: cleared' eval 'put snapshot 2; seen_all snapshot; head -n 3 snapshot'
	step 'snapshot: freed' eval 'put snapshot 0; head -n 4 snapshot'
	step 'snapshot: values' each put_end snapshot x '' -1 3 '1 0'
	step 'snapshot: of a CPU, values' each put per_cpu/cpu0/snapshot 0 x 2
	echo 0 > snapshot; echo > trace
	echo 1 > $E/enable
	step 'snapshot: trigger' put_get $E/trigger "snapshot:1 if common_pid == $pid && oom_score_adj == 33"
	fire 33 snap; fire 34 later
	step 'snapshot: by a trigger' eval 'seen snapshot; echo -; seen'
	step 'snapshot: the trigger has counted' get $E/trigger
	step 'snapshot: trigger again' put_get $E/trigger snapshot
	step 'snapshot: trigger gone' put_get $E/trigger '!snapshot'
	echo 0 > $E/enable; echo 0 > snapshot; echo > trace
}

# ---- formats, ids, the top's files ----

tops()
{
	step 'format' eval "sed 's/^ID: .*/ID: N/' $E/format"
	step 'format: a byte at a time' eval "[ \"\$(bytewise $E/format)\" = \"\$(< $E/format)\" ] && echo same"
	step 'id: is that of the format' eval "grep -qx \"ID: \$(cat $E/id)\" $E/format && echo same"
	[ "$helper" ] && step 'format: from its beginning' "$helper" reread $E/format
	step 'header_page' get events/header_page
	step 'header_event' get events/header_event
	step 'available_events' eval "grep '^$sys:task_[nr]e' $top/available_events | sort; grep -c '^ftrace:' $top/available_events"
	step 'available_events: refused' each add "$top/available_events" x
	echo 1 > $E/enable; fire 1 known; echo 0 > $E/enable
	step 'saved_cmdlines' eval "grep -cE '^$pid [a-z]+' $top/saved_cmdlines"
	step 'saved_tgids: read' eval "dd if=$top/saved_tgids bs=1 count=0 2> /dev/null && echo ok"
	step 'saved_cmdlines_size: refused' each put "$top/saved_cmdlines_size" 0 x -1 ''
	step 'saved_cmdlines_size: read' eval "grep -cxE '[0-9]+' $top/saved_cmdlines_size"
	step 'saved_tgids: refused' each put "$top/saved_tgids" x
	step 'tracing_thresh: read' get "$top/tracing_thresh"
	step 'tracing_thresh: refused' each put "$top/tracing_thresh" x ''
	step 'printk_formats' eval "dd if=$top/printk_formats bs=1 count=1 2> /dev/null | wc -c | tr 1 0"
	step 'uprobe_events: refused' each add "$top/uprobe_events" "p:tfs_$$/x /nosuch:0x10" "nosuch" "p:" "-:tfs_$$/no" "p:tfs_$$/x /bin/bash:zz"
	step 'dynamic_events: refused' each add "$top/dynamic_events" "nosuch" "-:tfs_$$/no"
	step 'README' eval "head -n 1 $top/README"
}

# A probe at the beginning of a program: it is there, it is enabled, it goes.  The program is a
# copy that nobody else runs or probes.
probes()
{
	local f=$top/uprobe_events g=tfs_$$ b
	need "$f" || return
	b=$(mktemp "${TMPDIR:-/tmp}/tfs.XXXXXX") && cp /bin/bash "$b" || exit 1
	probe() { grep "$g/" "$1" | sed "s|$b:0x[0-9a-f]*|/bin/bash:OFFSET|"; }
	step 'uprobe_events: made' eval "add $f 'p:$g/start $b:0x100 a=%ax'; probe $f"
	step 'uprobe_events: is dynamic' probe "$top/dynamic_events"
	step 'uprobe_events: the same' eval "add $f 'p:$g/start $b:0x100 a=%ax'"
	step 'uprobe_events: an event' eval "ls events/$g; sed 's/^ID: .*/ID: N/' events/$g/start/format; cat events/$g/start/enable"
	step 'uprobe_events: enabled, cannot go' eval "put events/$g/start/enable 1; add $f '-:$g/start'; put events/$g/start/enable 0"
	step 'uprobe_profile' eval "grep -c '^ *$b  *start ' $top/uprobe_profile"
	step 'uprobe_events: goes' eval "add $f '-:$g/start'; probe $f; ls -d events/$g"
	rm "$b"
	: > error_log; echo > trace
}

# ---- triggers of markers ----

# One write for each.
mark() { local m; for m; do echo "$m" > trace_marker; done; }
mark_end() { local m; for m; do printf %s "$m" > trace_marker; done; }
# Both sides of a snapshot.
sides() { seen_all; echo -; seen_all snapshot; }

marked_hists()
{
	local t=$1 h=${1%trigger}hist bad
	need $h || return
	echo 'hist:keys=common_pid.execname' > $t
	mark a b c
	step 'marked: hist' eval "cat $t; sed -E 's/common_pid: .*\] /common_pid: NAME/' $h"
	: > $t
	echo 'hist:keys=common_pid.execname if buf == "start"' > $t
	echo 'hist:keys=common_cpu.log2,ip.log2 if buf ~ "*t*" && buf != "start"' >> $t
	mark_end start stop start; mark start
	step 'marked: hists with filters' eval "cat $t; grep -E 'info|Hits' $h"
	: > $t
	step 'marked: hist by a text' eval "refuse put_get $t hist:keys=buf; show $t"
	: > $t
	for bad in hist:keys=nosuch hist:keys=ip:vals=buf 'hist:keys=ip if buf == 1'; do
		step "marked: $bad" refuse put_get $t "$bad"
	done
	step 'marked: hists of others' eval 'cat events/ftrace/raw_data/hist events/ftrace/function/hist'
}

# From one marker to the next, and its latency.
marked_synthetic()
{
	need "$top/synthetic_events" || return
	local t=$1 h=${1%trigger}hist f=$top/synthetic_events s=tfs_$(printf %07d $$)
	[ -e synthetic_events ] && f=$me/synthetic_events
	synths=$s
	echo "$s u64 lat" >> $f
	echo 'hist:keys=common_pid:t0=common_timestamp if buf == "start"' > $t
	echo "hist:keys=common_pid:d=common_timestamp-\$t0:onmatch(ftrace.print).trace($s,\$d) if buf == \"end\"" >> $t
	echo 'hist:keys=lat.log2 if lat > 0' > events/synthetic/$s/trigger
	echo 1 > events/synthetic/$s/enable
	echo > trace
	mark_end end start other end end
	step 'marked: synthetic event, triggers' get $t
	step 'marked: synthetic event' eval "seen_all | sed 's/lat=[0-9]*/lat=N/'; grep Hits events/synthetic/$s/hist"
	step 'marked: synthetic event, tables' eval "grep -E 'hitcount: *[0-9]' $h | sed 's/.*hitcount/hitcount/'"
	echo 0 > events/synthetic/$s/enable
	echo '!hist:keys=lat.log2 if lat > 0' > events/synthetic/$s/trigger
	echo "!hist:keys=common_pid:d=common_timestamp-\$t0:onmatch(ftrace.print).trace($s,\$d) if buf == \"end\"" >> $t
	: > $t
	echo "!$s" >> $f
	synths=''
	echo > trace
}

marked_snapshots()
{
	local t=$1 i
	need snapshot || return
	echo 0 > snapshot
	step 'marked: snapshot' eval "put_get $t snapshot:3; sed -n 4p snapshot"
	for i in 1 2 3 4; do
		mark "m $i"
		step "marked: snapshot $i" sides
	done
	step 'marked: snapshots are counted' get $t
	echo '!snapshot' > $t; echo 0 > snapshot; echo > trace
	echo 'snapshot if buf == "now"' > $t
	mark_end 1 2 now 4 now 5 now now 6
	step 'marked: snapshots with a filter' sides
	echo '!snapshot' > $t
	step 'marked: snapshot gone' eval "show $t; mark now; sides"
	echo 0 > snapshot; echo > trace
}

marked()
{
	local t=events/ftrace/print/trigger bad
	need $t || return
	echo > trace
	step 'marked: at first' show $t
	step 'marked: no file to switch it' eval 'cat events/ftrace/enable events/ftrace/print/enable events/ftrace/print/filter events/ftrace/raw_data/trigger'
	step 'marked: it is no event to be set' eval 'grep ftrace: $top/available_events; add set_event ftrace:print; cat set_event'
	step 'marked: traceoff' put_get $t 'traceoff if buf ~ "*stop*"'
	mark go; step 'marked: traceoff not yet' get tracing_on
	mark 'stop it'; step 'marked: traceoff now' get tracing_on
	step 'marked: while off' eval 'mark after; seen_all'
	echo 1 > tracing_on; mark on
	step 'marked: on again' eval "cat tracing_on; put_get $t '!traceoff'; seen_all"
	echo > trace
	step 'marked: stacktrace' put_get $t stacktrace:1
	mark a b
	step 'marked: stacktrace, once' eval "seen_all; sed -n 's/^ => //p' trace | grep -x vfs_write; show $t; put_get $t '!stacktrace'"
	echo > trace
	echo "common_pid == $pid" > $E/filter
	step 'marked: enable_event' eval "put_get $t enable_event:$sys:task_rename:1; enabled"
	fire 1 one; mark a
	step 'marked: enable_event, done' enabled
	fire 2 two
	step 'marked: enable_event, gone' eval "show $t; put_get $t '!enable_event:$sys:task_rename'; enabled; seen | sed 's/.* oom/oom/'"
	echo 0 > $E/enable
	step 'marked: disable_event' put_get $t "disable_event:$sys:task_rename if buf == \"off\""
	echo 1 > $E/enable; fire 1 one; mark_end on; fire 2 two; mark_end off; fire 3 three
	step 'marked: disable_event, done' eval "enabled; seen | sed 's/.* oom/oom/'"
	echo "!disable_event:$sys:task_rename" > $t
	step 'marked: disable_event, gone' eval "show $t; enabled"
	echo 0 > $E/enable; echo 0 > $E/filter; echo > trace
	for bad in bad 'traceoff if nosuch == 1' 'traceoff if buf == 1' enable_event:ftrace:print \
		enable_event:nosuch:x 'traceoff if 0' traceoff:0 ''; do
		step "marked: '$bad'" eval "refuse put $t '$bad'; show $t"
	done
	echo '!traceoff' > $t
	step 'marked: not a target of others' refuse put $E/trigger enable_event:ftrace:print
	marked_hists $t
	marked_synthetic $t
	marked_snapshots $t
	step 'marked: all is off' eval "show $t; enabled"
}

# ---- instances ----

instances()
{
	local i=$top/instances/${name}b
	step 'instances: made' eval "mkdir $i && ls $i | grep -xE 'trace|events'"
	step 'instances: there already' mkdir "$i"
	step 'instances: are apart' eval "echo here > $i/trace_marker; seen_all $i/trace; seen_all; put $i/$N/enable 1; cat $N/enable; cat $i/set_event"
	step 'instances: none inside' eval "ls $i/instances; mkdir $i/instances; mkdir $i/x; mkdir $top/x; mkdir $top/instances/$name/events/x"
	step 'instances: busy' eval "exec 5< $i/trace; rmdir $i; exec 5<&-; ls -d $i"
	step 'instances: busy, written' eval "exec 5> $i/trace_marker; rmdir $i; echo still >&5; exec 5>&-; seen_all $i/trace | grep still"
	step 'instances: busy, trace_pipe' eval "exec 5< $i/trace_pipe; rmdir $i; exec 5<&-; ls -d $i"
	step 'instances: busy, an event' eval "exec 5< $i/$E/enable; rmdir $i; exec 5<&-; ls -d $i"
	step 'instances: removed' eval "rmdir $i; ls -d $i; cat $i/trace"
	step 'instances: is not there' rmdir "$i"
	step 'instances: anew' eval "mkdir $i; cat $i/$E/enable; seen_all $i/trace; rmdir $i"
	step 'instances: long names' eval "mkdir $top/instances/$(printf '%0300d' 1)"
	step 'instances: are not removed as files' eval "rm -f $top/instances/$name; ls -d $top/instances/$name"
}

# ---- all of them ----

[ "$answers" ] && learn
taskset -pc 0 "$pid" > /dev/null
mkdir "$me" || exit 1
cd "$me" || exit 1
echo 1024 > buffer_size_kb
echo 1 > tracing_on
for part in ${PARTS:-tree enable set_event pids recording markers options clocks sizes filters errors
	triggers hists synthetic dynamic eprobes snapshots marked tops probes instances}; do
	$part
done
echo "1..$nr"
exit $failed
