#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho check: every kind of damage is named with its file and byte.
. "$SOURCE/lib.sh"
"$MAKE_TRACE" small small
"$MAKE_TRACE" rotated rotated
"$MAKE_TRACE" many many

# poke FILE OFFSET OCTAL...: overwrites bytes
poke()
{
	f=$1 at=$2
	shift 2
	printf "$@" | dd of="$f" bs=1 seek="$at" conv=notrunc 2>/dev/null
}

# A fresh copy to spoil.
fresh()
{
	rm -rf t
	cp -r "${1:-small}" t
}

says "good" 0 '^many: good; 20000 events in [0-9]+ packets of 2 files, 0 lost$' "$TACHO" check many
says "good, with loss" 0 '^small/program_0: remark: 5 events were lost' "$TACHO" check small
says "good, rotated" 0 '^rotated: good; 20 events in 2 packets of 2 files' "$TACHO" check rotated
"$TACHO" check -q small >out
ok "quiet leaves out remarks" test "$(wc -l <out)" = 1

size=$(wc -c <many/program_0)
fresh many; truncate -s $((size - 1000)) t/program_0
says "torn" 1 'program_0: byte [0-9]+: the packet has [0-9]+ bytes, but the file ends after' "$TACHO" check t
fresh many; truncate -s $((size + 40)) t/program_0
says "too short a tail" 1 "program_0: byte $size: the last 40 bytes are too few" "$TACHO" check t
fresh many; truncate -s $((size + 4096)) t/program_0
says "zeros at the end" 1 "program_0: byte $size: there should be a packet here; 4096 bytes are lost until the end" "$TACHO" check t

fresh; poke t/program_0 0 'X'
says "magic" 1 't/program_0: byte 0: there should be a packet here' "$TACHO" check t
fresh; poke t/program_0 5 'X'
says "uuid" 1 't/program_0: byte 0: the packet belongs to another trace' "$TACHO" check t
fresh; poke t/program_0 20 '\1'
says "stream" 1 'byte 0: the packet is of stream 1' "$TACHO" check t
fresh; poke t/program_0 24 '\7'
says "instance" 1 'byte 0: the packet is of instance 7' "$TACHO" check t
fresh; poke t/program_0 44 '\0\0\0\177'
says "end before" 1 "program_0: byte [0-9]+: time goes back" "$TACHO" check t
fresh; poke t/program_0 40 '\0\0\0\0\0\0\0\0'
says "begin after end" 1 'byte 0: the packet ends before it begins' "$TACHO" check t
fresh; poke t/program_0 48 '\1'
says "content" 1 "byte 0: the packet's content is [0-9]+ bits" "$TACHO" check t
fresh; poke t/program_0 56 '\0\1\0'
says "packet size" 1 "byte 0: the packet's size is 256 bits" "$TACHO" check t
fresh; poke t/program_0 84 '\11'
says "events" 1 'byte 0: the packet has 2 events, its header says 9' "$TACHO" check t
fresh; poke t/program_0 72 '\11'
says "lost goes back" 1 'byte [0-9]+: the count of lost events goes back from 9 to 5' "$TACHO" check t
fresh; poke t/program_0 64 '\11'
says "numbers go back" 1 "byte [0-9]+: the packets' numbers go back from 9 to 1" "$TACHO" check t
second=$(od -An -tu8 -j56 -N8 small/program_0)
second=$((second / 8))
fresh; poke t/program_0 $((second + 88)) '\1'
says "first event" 1 "byte $second: the packet's first event has number 1, but 1 was there" "$TACHO" check t
fresh; poke t/program_0 $((second + 88)) '\31'
says "overwritten" 0 "byte $second: remark: 18 events were overwritten" "$TACHO" check t

# the first record: word at 96, type at 104, __data_loc at 116
fresh; poke t/program_0 102 '\3\0'
says "record size" 1 "program_0: byte 96: the record's size is 3" "$TACHO" check t
fresh; poke t/program_0 102 '\0\377'
says "record too long" 1 "program_0: byte 96: the record's size is 65280, with [0-9]+ bytes left" "$TACHO" check t
fresh; poke t/program_0 101 '\177'
says "record time" 1 "program_0: byte 96: the record's time [0-9]+ is not between" "$TACHO" check t
fresh; poke t/program_0 104 '\143'
says "record type" 1 'program_0: byte 96: the record is of type 99, which types.program does not have' "$TACHO" check t
fresh; poke t/program_0 116 '\50'
says "record layout" 1 "program_0: byte 96: the record of [0-9]+ bytes is not laid out as 'app:open'" "$TACHO" check t

# a packet that was never closed: content and end are 0
fresh; poke t/kernel_1 48 '\0\0\0\0\0\0\0\0'
says "open at the end" 0 'kernel_1: byte 0: remark: the packet was never closed' "$TACHO" check t
fresh; poke t/program_0 48 '\0\0\0\0\0\0\0\0'
says "open in the middle" 1 "program_0: byte $second: a packet follows one that was never closed" "$TACHO" check t

fresh; rm t/metadata
says "no metadata" 1 't/metadata: cannot be read' "$TACHO" check t
fresh; poke t/metadata 0 'XXXXX'
says "metadata" 1 't/metadata: byte 0: does not begin with' "$TACHO" check t
fresh; truncate -s -20 t/metadata
says "metadata cut" 1 'ends in the middle of a declaration' "$TACHO" check t
fresh; head -n -30 t/metadata > m; mv m t/metadata
says "metadata without its last events" 1 't/metadata: lacks event type' "$TACHO" check t
fresh; poke t/metadata 2000 '\001\002'
says "metadata with other bytes" 1 't/metadata: byte 2000: byte 0x01 is no text' "$TACHO" check t
fresh; rm t/tacho/info
says "no info" 1 't/tacho/info: cannot be read' "$TACHO" check t
says "help on a full disk" 1 'cannot write to stdout' sh -c '"$1" --help > /dev/full' - "$TACHO"
says "a verb's help on a full disk" 1 'cannot write to stdout' sh -c '"$1" check --help > /dev/full' - "$TACHO"
fresh; sed -i 's/^uuid: 01/uuid: zz/' t/tacho/info
says "uuid of info" 1 't/tacho/info: byte [0-9]+: the uuid is not' "$TACHO" check t
fresh; sed -i '/^freq:/d' t/tacho/info
says "frequency" 1 "t/tacho/info: has no line 'freq:'" "$TACHO" check t
fresh; sed -i 's/^state: closed/state: open/' t/tacho/info
says "not closed" 0 't/tacho/info: byte [0-9]+: remark: the trace was not closed' "$TACHO" check t
fresh; sed -i 's/offset:12;/offset:zz;/' t/tacho/types.program
says "format" 1 "t/tacho/types.program: byte [0-9]+: the format of 'app:open' is damaged" "$TACHO" check t
fresh; echo junk >>t/tacho/types.kernel
says "tail of types" 1 't/tacho/types.kernel: byte [0-9]+: what follows is no event type' "$TACHO" check t
fresh; echo '9 app:open =8' >>t/tacho/types.program
says "stand-in" 1 't/tacho/types.program: byte [0-9]+: type 9 stands in for type 8' "$TACHO" check t
fresh; echo x >t/notes.txt
says "a stranger" 0 't/notes.txt: remark: is not a part of the trace' "$TACHO" check t
fresh rotated; poke t/0002/program_0 102 '\3\0'
says "a chunk" 1 't/0002/program_0: byte 96' "$TACHO" check t
says "nothing there" 1 "cannot open 'nowhere'" "$TACHO" check nowhere

# many problems are counted, not all written
fresh many
n=0; while [ $n -lt 150 ]; do poke t/program_0 $((104 + n * 48)) '\143'; n=$((n + 1)); done
says "many problems" 1 'program_0: remark: [0-9]+ more problems are not listed' "$TACHO" check t

# bytes of the first packet, types and info replaced, one at a time: an answer, always
bits()
{
	for f in program_0 tacho/types.program tacho/info; do
		size=$(wc -c <small/$f)
		at=0
		fresh
		while [ $at -lt "$size" ]; do
			cp small/$f t/$f
			poke t/$f $at "\\$((at % 4))\\377"
			"$TACHO" check t >/dev/null 2>&1
			s=$?
			"$TACHO" report t >/dev/null 2>&1
			r=$?
			if [ $s -gt 1 ] || [ $r -gt 1 ]; then
				echo "$f $at: check $s, report $r"
				return 1
			fi
			at=$((at + 13))
		done
	done
}
ok "no byte makes it fall over" bits

if have python3; then
	fresh; poke t/program_0 104 '\143'
	"$TACHO" check --json t >bad.json
	status=$?
	ok "exit status with --json" test $status = 1
	ok "JSON" python3 -c 'import json
d = json.load(open("bad.json"))
assert not d["good"] and d["problems"] == 1
p = [f for f in d["found"] if f["kind"] == "problem"]
assert p[0]["file"] == "t/program_0" and p[0]["byte"] == 96, p
assert "type 99" in p[0]["text"]'
else
	skip "JSON" "python3 is not here"
fi
finish
