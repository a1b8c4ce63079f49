#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes tests/golden/output/6.12.tar.xz: what a Linux 6.12 kernel's trace file prints
# under each set of output options, and the pages of the same events.
#
#	ORACLE='boot command' tools/golden-output.sh
#
# The boot command with -w DIR SCRIPT boots that kernel, runs SCRIPT in it as root
# with tracefs at /sys/kernel/tracing and the current directory at DIR of this
# machine, and returns its status.
#
# The archive has a directory for each set of tests/ftrace/capture.sh, which says what is
# in there; kallsyms is cut to the symbols that are printed, and what follows each.
set -eu
: "${ORACLE:?the command that boots the kernel}"
cd "$(dirname "$0")/.."
out=$PWD/tests/golden/output
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cp tests/ftrace/capture.sh tests/ftrace/cases "$dir/"
cat > "$dir/guest.sh" <<'END2'
#!/bin/bash
here=$PWD tracing=/sys/kernel/tracing
cd /
for set in events small function; do
	bash "$here/capture.sh" $tracing $tracing "$here/cases" "/tmp/$set" $set || exit 1
	cp -r "/tmp/$set" "$here/" || exit 1
done
END2
$ORACLE -w "$dir" "$dir/guest.sh"

for set in events small function; do
	cat "$dir/$set"/text.* | LC_ALL=C tr -c 'A-Za-z0-9_.' '\n' | sort -u > "$dir/words"
	sort -s -k1,1 "$dir/$set/kallsyms" | awk 'NR == FNR { want[$1] = 1; next }
		{ line = $1 " " $2 " " $3 ($4 ? "\t" $4 : "") }
		open && $1 != open { print line; open = $3 in want ? $1 : ""; next }
		$3 in want { print line; open = $1 }' "$dir/words" - > "$dir/symbols"
	mv "$dir/symbols" "$dir/$set/kallsyms"
done
mkdir -p "$out"
tar -C "$dir" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
	-cf - events small function | xz -9e > "$out/6.12.tar.xz"
ls -l "$out"
