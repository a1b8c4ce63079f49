#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh INCLUDE - <tacho/events.h> compiles alone, strictly, in C and C++; what is wrong
# does not.  TAP.
include=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0 failed=0 tried=0

cat > "$dir/all.c" <<'END'
#include <tacho/events.h>

int check(void *data);
int run(struct dynevent_cmd *cmd);
int all(struct dynevent_cmd *cmd, struct trace_event_file *file, int number);

int all(struct dynevent_cmd *cmd, struct trace_event_file *file, int number)
{
	struct dynevent_arg arg;
	struct dynevent_arg_pair pair;
	struct synth_event_trace_state state;

	dynevent_arg_init(&arg, 0);
	dynevent_arg_init(&arg, NULL, 0);
	dynevent_arg_init(&arg, check, ',');
	dynevent_arg_pair_init(&pair, '=', ';');
	dynevent_arg_pair_init(&pair, check, '=', ';');
	if (dynevent_arg_add(cmd, &arg) || dynevent_arg_add(cmd, &arg, check) ||
	    dynevent_arg_pair_add(cmd, &pair) ||
	    dynevent_arg_pair_add(cmd, &pair, NULL))
		return 1;
	if (synth_event_gen_cmd_start(cmd, "a", THIS_MODULE) ||
	    synth_event_gen_cmd_start(cmd, "a", NULL, "int", "b") ||
	    kprobe_event_gen_cmd_start(cmd, "a", "b") ||
	    kretprobe_event_gen_cmd_start(cmd, "a", "b", "c") ||
	    kprobe_event_add_fields(cmd, "a") ||
	    kprobe_event_add_fields(cmd, "a", "b") ||
	    kprobe_event_add_field(cmd, "a") || synth_event_gen_cmd_end(cmd))
		return PTR_ERR_OR_ZERO(file);
#ifdef WRONG_TYPE
	return synth_event_trace(cmd, 1, 1);
#endif
#ifdef WRONG_COUNT
	dynevent_arg_init(&arg);
#endif
#ifdef WRONG_FIELD
	return synth_event_add_val(1, 1, &state);
#endif
	return synth_event_trace(file, 0) || synth_event_trace(file, 1, 2) ||
	       synth_event_trace(file, 2, (u64)number, (u64)(uintptr_t)"text") ||
	       synth_event_add_val("x", 1, &state) || run(cmd);
}
END
cp "$dir/all.c" "$dir/all.cc"

result() {	# 0 or 1, text
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	sed 's/^/# /' "$dir/out" | head -15
	failed=1
}

try() {		# compiler, source, standard
	tried=1
	for opt in -O0 -O2; do
		"$1" "-std=$3" -I"$include" $opt -Wall -Wextra -Wpedantic -Wconversion \
			-Wshadow -Werror -c "$dir/$2" -o "$dir/all.o" > "$dir/out" 2>&1
		result $? "$1 -std=$3 $opt"
	done
	for wrong in TYPE COUNT FIELD; do
		! "$1" "-std=$3" -I"$include" -DWRONG_$wrong -Werror -c "$dir/$2" \
			-o "$dir/all.o" > "$dir/out" 2>&1
		result $? "$1 refuses a wrong $wrong"
	done
}

for cc in gcc clang; do
	command -v $cc > /dev/null && try $cc all.c c11
done
for cc in g++ clang++; do
	command -v $cc > /dev/null && try $cc all.cc c++17
done
[ $tried = 1 ] || { echo "1..0 # SKIP no compiler"; exit 0; }
echo "1..$n"
exit $failed
