#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh SOURCE BUILD - `meson install` puts everything where it belongs, and a
# program builds against what was installed.
src=$1 build=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0 failed=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet >"$work/log" 2>&1
ok $? "meson install"
root=$work/root$(sed -n 's/^prefix=//p' "$build/meson-private/tacho.pc" | head -1)
lib=$(dirname "$(find "$root" -name libtacho.so.0)")
for f in bin/tacho include/tacho/tracepoint.h include/tacho/define_trace.h \
	 include/tacho/columns.h include/tacho/sink.h include/tacho/stream.h include/tacho/error.h \
	 include/tacho/session.h include/tacho/events.h include/tacho/abi/shm.h \
	 include/lkst/linux/lkst.h include/lkst/linux/lkst_hook.h \
	 share/man/man1/tacho.1 share/man/man1/tacho-record.1 share/bash-completion/completions/tacho \
	 share/zsh/site-functions/_tacho share/zsh/site-functions/_lkst; do
	[ -f "$root/$f" ]
	ok $? "$f"
done
for f in lkst lkstbuf lksteh lkstlogd lkstlogger lkstm logformat; do
	[ -x "$root/bin/$f" ] && [ -f "$root/share/bash-completion/completions/$f" ] &&
		ls "$root"/share/man/man[18]/$f.[18] >"$work/log" 2>&1
	ok $? "$f, with its page and completion"
done
for f in libtacho.so libtacho.so.0 libtacho.a libtacho-stream.so.0 \
	 libtacho-events.so.0 libtacho-session.so.0 pkgconfig/tacho-session.pc pkgconfig/tacho.pc pkgconfig/tacho-stream.pc \
	 pkgconfig/tacho-events.pc libtacho-qnx.so.0 pkgconfig/tacho-qnx.pc liblkst.so liblkst.so.2 pkgconfig/lkst.pc \
	 tacho/libtacho-bt2.so; do
	[ -e "$lib/$f" ]
	ok $? "$f"
done
# only the C library behind it, only versioned symbols out of it
readelf -d "$lib/libtacho.so.0" | grep NEEDED | grep -vqE 'libc\.so|ld-linux'
[ $? = 1 ]
ok $? "libtacho needs nothing but the C library"
nm -D --defined-only "$lib/libtacho.so.0" | awk '$2 != "A" {print $3}' | sort >"$work/have"
printf '%s\n' 'tacho_object_register@@TACHO_1.0' 'tacho_object_unregister@@TACHO_1.0' >"$work/want"
diff "$work/want" "$work/have" >"$work/diff"
ok $? "libtacho exports its two calls"
sed 's/^/# /' "$work/diff"
cat >"$work/state.c" <<'END'
#include <linux/lkst.h>
LKST_ETYPE_DEF(0x100, NORMAL, STATE, "a state", "n", "", "", "")
int main(void)
{
	struct lkst_trc_status s;
	LKST_HOOK(STATE, LKST_ARG(1), 0, 0, 0);
	return lkst_trc_status(&s) || lkst_evhandler_get_id("LOG") != LKST_EVHANDLER_ID_LOG;
}
END
flags=$(PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root \
	pkg-config --cflags --libs lkst 2>"$work/log") &&
	cc -O2 -o "$work/state" "$work/state.c" $flags 2>>"$work/log" &&
	LD_LIBRARY_PATH=$lib TACHO_DIR=$work/run LKST_SESSION=lkst-$$ timeout 60 "$work/state"
ok $? "a program with liblkst builds and runs"
sed 's/^/# /' "$work/log" | head -5
LD_LIBRARY_PATH=$lib TACHO_DIR=$work/run "$root/bin/tacho" destroy lkst-$$ >/dev/null
ok $? "and its session goes"
cp "$src/examples/hello.c" "$src/examples/hello_trace.h" "$work"
for how in shared static; do
	l="-L$lib -ltacho"
	[ $how = static ] && l="$lib/libtacho.a"
	cc -O2 -I"$root/include" -I"$work" -o "$work/hello" "$work/hello.c" $l \
		-lpthread 2>"$work/log" &&
		LD_LIBRARY_PATH=$lib TACHO_DIR=$work/run timeout 60 "$work/hello" >/dev/null
	ok $? "the example builds and runs, $how"
	sed 's/^/# /' "$work/log" | head -5
done
echo "1..$n"
exit $failed
