#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes tests/golden/tracefs/6.12.xz: what tests/ftrace/files.sh writes on a Linux 6.12.
#
#	ORACLE='boot command' tools/golden-tracefs.sh
#
# The boot command with -w DIR SCRIPT boots that kernel, runs SCRIPT in it as root
# with tracefs at /sys/kernel/tracing and the current directory at DIR of this
# machine, and returns its status.
set -eu
: "${ORACLE:?the command that boots the kernel}"
cd "$(dirname "$0")/.."
out=$PWD/tests/golden/tracefs
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cp tests/ftrace/files.sh "$dir/"
cat > "$dir/guest.sh" <<'END2'
#!/bin/bash
cp files.sh /tmp/ && bash /tmp/files.sh /sys/kernel/tracing > /tmp/answers &&
	cp /tmp/answers .
END2
$ORACLE -w "$dir" "$dir/guest.sh"
tail -n 1 "$dir/answers" | grep -q '^1\.\.'
mkdir -p "$out"
xz -9e < "$dir/answers" > "$out/6.12.xz"
ls -l "$out"
