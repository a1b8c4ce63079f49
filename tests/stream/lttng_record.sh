#!/bin/sh
# SPDX-License-Identifier: MIT
# lttng_record.sh DIR PROGRAM [PROVIDER [ARG...]] - record the events of PROVIDER
# (tacho_test) that PROGRAM makes with LTTng into DIR/out, with a session daemon of
# its own whose home is DIR.
# Exit 77: LTTng is not here, or does not run here.
dir=$1 program=$(realpath "$2") provider=${3:-tacho_test}
shift $(($# < 3 ? $# : 3))
for tool in lttng lttng-sessiond; do
	command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done

# root's daemon is the machine's: run as nobody, whose daemon is our own
as=
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || { echo "no setpriv"; exit 77; }
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	cp "$program" "$dir/program" && chmod 755 "$dir/program"
	chown -R 65534:65534 "$dir"
	program=$dir/program
fi
cd "$dir" || exit 1
export HOME="$dir" LTTNG_HOME="$dir"
$as lttng-sessiond --background --no-kernel >log 2>&1 ||
	{ echo "lttng-sessiond does not start"; exit 77; }
stop() { kill "$(cat "$dir/.lttng/lttng-sessiond.pid")" 2>/dev/null; }
trap stop EXIT
{
	$as lttng create tacho-test --output="$dir/out" &&
	$as lttng enable-event --userspace "$provider:*" &&
	$as lttng add-context --userspace -t vpid -t vtid -t procname &&
	$as lttng start &&
	$as env LTTNG_UST_REGISTER_TIMEOUT=-1 "$program" "$@" &&
	$as lttng stop &&
	$as lttng destroy
} >>log 2>&1 || { cat log; exit 1; }
