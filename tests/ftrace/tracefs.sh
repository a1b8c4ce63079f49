#!/bin/sh
# SPDX-License-Identifier: MIT
# A program with libtracefs on the mounted tree, and on the kernel's own files.
#   tracefs.sh kernel|mounted TACHO TRACEFS_TEST STEPS
set -u
what=$1 tacho=$2 test=$3 steps=$4

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

[ "$(id -u)" = 0 ] || skip 'needs root'
[ -e /sys/kernel/tracing/events ] || skip 'needs tracefs at /sys/kernel/tracing'
[ "$what" = mounted ] || exec "$test" /sys/kernel/tracing

[ -c /dev/fuse ] || skip 'needs /dev/fuse'
work=$(mktemp -d "${TMPDIR:-/tmp}/tacho-tracefs-XXXXXX") || exit 1
session=tracefs$$
TACHO_DIR=$work/run
export TACHO_DIR
mkdir -m 700 "$work/run" "$work/mnt" || exit 1
trap '"$tacho" umount -q "$work/mnt" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$tacho" mount -q --session "$session" "$work/mnt" || {
	echo 'not ok 1 - tacho mount'
	echo '1..1'
	exit 1
}
"$test" "$work/mnt" "$steps" || exit 1
"$tacho" umount "$work/mnt" || exit 1
# nothing is left in the kernel
[ ! -e "/sys/kernel/tracing/instances/tacho.$session" ] || {
	echo "# instances/tacho.$session is still there"
	exit 1
}
