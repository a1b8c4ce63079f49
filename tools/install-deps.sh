#!/bin/sh
# install-deps.sh SET...: installs what is missing of these sets.
#   build   to build tacho
#   demo    for `make demo`
#   check   for `make check`
#   test    and for what else `make check-all` runs
#   bench   for `make bench`
# Only what is missing is asked for; without the right to install, says what to do.
set -u

build="gcc g++ make procps meson ninja-build pkg-config libbabeltrace2-dev
libdw-dev libzstd-dev zlib1g-dev libfuse3-dev fuse3 libsqlite3-dev libedit-dev"
demo="babeltrace2"
check="python3 sqlite3 babeltrace2 trace-cmd binutils util-linux procps"
test="abigail-tools clang llvm libclang-rt-14-dev python3 babeltrace2 libtraceevent-dev
libtracefs-dev spin lttng-tools liblttng-ust-dev binutils gdb man-db
bash-completion zsh util-linux procps gcc-aarch64-linux-gnu
libc6-dev-arm64-cross qemu-user-static trace-cmd"
bench="sqlite3 lttng-tools liblttng-ust-dev linux-perf babeltrace2 bpftrace util-linux"

want=
for set in "$@"; do
	case $set in
	build) want="$want $build" ;;
	demo) want="$want $demo" ;;
	check) want="$want $check" ;;
	test) want="$want $test" ;;
	bench) want="$want $bench" ;;
	*) echo "usage: install-deps.sh build|demo|check|test|bench ..." >&2; exit 2 ;;
	esac
done

missing=
for p in $want; do
	case " $missing " in *" $p "*) continue ;; esac
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q 'install ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0

echo "installing:$missing" >&2
as=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "missing:$missing; as root: apt-get install$missing" >&2
		exit 1
	fi
	as=sudo
fi
export DEBIAN_FRONTEND=noninteractive
try() { $as apt-get install -y -qq --no-install-recommends $missing >/tmp/tacho-deps.$$ 2>&1; }
try || { $as apt-get update -qq && try; } || {
	tail -5 /tmp/tacho-deps.$$ >&2
	echo "cannot install:$missing" >&2
	exit 1
}
rm -f /tmp/tacho-deps.$$
