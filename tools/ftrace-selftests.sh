#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ftrace-selftests.sh - the kernel's own tests of tracefs, on a mounted tree.
#
#	tools/ftrace-selftests.sh [-kn] [-c RESULTS] [-l LOGS] [-t SECONDS] TACHO TESTS [CASE...]
#
# TESTS is tools/testing/selftests/ftrace of the source of some Linux; nothing is fetched,
# copied or changed there.  CASE is a file or a directory below its test.d; else all.
# A line is written for each: its result and name.  The tree is mounted for this run only,
# over /sys/kernel/tracing as these tests alone see it.  Needs root, tracefs and FUSE.
#
#	-k		not a mount, but the running kernel's own files, for comparison.  The
#			tests take the machine's tracing over: only where nobody else traces
#	-n		without the kernel's probes: else each test begins with removing all
#			that there are on the machine.  Cases that use dynamic_events fail
#	-c RESULTS	what an earlier run wrote: its results are a second column
#	-l LOGS		a directory where the tests' own logs are kept
#	-t SECONDS	of one case, which then has the result TIMEOUT; 300
#
# Exit status: 0; 1 when a case failed, or did otherwise than in RESULTS; 2 usage.
set -u
export LC_ALL=C

usage()
{
	sed -n '6s/^#	/usage: /p' "$0" >&2
	exit 2
}

kernel='' bare='' other='' logs='' limit=300
while getopts knc:l:t: o; do
	case $o in
	k) kernel=1;;
	n) bare=1;;
	c) other=$(readlink -e "$OPTARG") || { echo "no such file: $OPTARG" >&2; exit 2; };;
	l) logs=$OPTARG;;
	t) limit=$OPTARG;;
	*) usage;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
tacho=$(readlink -e "$1") tests=$(readlink -e "$2")
[ -x "$tacho" ] || { echo "$1: is no program; build tacho first" >&2; exit 2; }
[ -x "$tests/ftracetest" ] || { echo "$2: has no ftracetest in it" >&2; exit 2; }
shift 2

rt=/proc/sys/kernel/sched_rt_runtime_us		# the tests switch it off while they run
read -r old_rt < $rt
work=$(mktemp -d) || exit 1
export TACHO_DIR=$work/run
if [ "$logs" ]; then
	mkdir -p "$logs" && logs=$(readlink -e "$logs") || exit 1
else
	logs=$work/logs
	mkdir "$logs"
fi

finish()
{
	trap '' EXIT INT TERM
	cd / || exit 1
	[ "${mnt-}" ] && "$tacho" umount "$mnt"
	[ "$(< $rt)" = "$old_rt" ] || echo "$old_rt" > $rt
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# In a mount namespace of its own: the tree, or (-k) the kernel's files, at the only place
# that the tests could find.
inside()
{
	local tracing=/sys/kernel/tracing f
	if [ "$1" ]; then
		while umount -l $tracing 2> /dev/null; do :; done
		mount --bind "$1" $tracing || exit 1
	fi
	awk '/tracefs/ && $2 != "/sys/kernel/tracing" { print $2 }' /proc/mounts |
		while read -r f; do umount -l "$f"; done
	[ "$(grep -c tracefs /proc/mounts)" = 1 ] || { echo "another tracefs is in the way"; exit 1; }
	if [ "$2" ]; then
		for f in $tracing/{kprobe,uprobe,dynamic}_events; do
			[ -e "$f" ] && mount --bind /dev/null "$f"
		done
	fi
	shift 2
	exec "$@"
}
export -f inside

# one CASE: "RESULT CASE", and another line for it in an instance
one()
{
	local out=$logs/${1//\//_}
	local run=(timeout -k 10 "$limit" "$tests/ftracetest" -k -l "$out" "$tests/test.d/$1")
	(cd "$work" && unshare -m bash -c 'inside "$@"' - "$mnt" "$bare" "${run[@]}") \
		> "$out.txt" 2>&1 < /dev/null
	[ $? = 124 ] && echo "TIMEOUT $1"
	sed -nE -e "s#^\[[0-9]+\] \(instance\) .*\[([A-Z]+)\]\$#\1 $1 (instance)#p; t" \
		-e "s#^\[[0-9]+\].*\[([A-Z]+)\]\$#\1 $1#p" "$out.txt"
}

list()
{
	local c
	for c; do
		[ -e "$tests/test.d/$c" ] || { echo "no such case: $c" >&2; return 1; }
		(cd "$tests/test.d" && find "$c" -name '*.tc' | sed 's#^\./##' | sort)
	done
}

[ $# -gt 0 ] || set -- .
cases=$(list "$@") || exit 2
mnt=''
if [ ! "$kernel" ]; then
	mkdir "$work/mnt"
	"$tacho" mount -q -s "selftests-$$" "$work/mnt" || exit 1
	mnt=$work/mnt
fi

declare -A theirs=() count=()
if [ "$other" ]; then
	while read -r result name; do theirs[${name##*  }]=$result; done < "$other"
fi
bad=0
while read -r result name; do
	was=${theirs[$name]-}
	if [ "$other" ]; then
		printf '%-12s %-12s  %s\n' "$result" "${was:--}" "$name"
		[ "$result" = "${was:-$result}" ] || bad=1
	else
		printf '%-12s  %s\n' "$result" "$name"
		case $result in FAIL|TIMEOUT) bad=1;; esac
	fi
	count[$result]=$((${count[$result]-0} + 1))
done < <(for c in $cases; do one "$c"; done)
for result in "${!count[@]}"; do
	printf '# %s: %d\n' "$result" "${count[$result]}"
done | sort
exit $bad
