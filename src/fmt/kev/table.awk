# SPDX-License-Identifier: MIT
# table.awk - events.table as C: arrays of rows.h's structs.
function die(text) {
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	failed = 1
	exit 1
}

# Bits of the releases "A-B"; all of them when there is no such range.
function releases(range,   ends, i, bits) {
	if (range == "")
		return 31
	if (split(range, ends, "-") != 2 || !(ends[1] in release) || !(ends[2] in release))
		die("no range of releases: " range)
	bits = 0
	for (i = release[ends[1]]; i <= release[ends[2]]; i++)
		bits += 2 ^ i
	return bits
}

# Enters fields; returns "first, number, words, open".
function fields(from,   i, first, nr, words, open, code, name, label, filler) {
	first = nr_fields + 0
	nr = words = open = 0
	for (i = from; i <= NF; i++) {
		if ($i ~ /^!/ || $i == "-")
			continue
		code = substr($i, 1, 1)
		name = label = substr($i, 3)
		sub(/[=<].*/, "", name)
		sub(/<.*/, "", label)
		if (!sub(/^[^=]*=/, "", label))
			label = name
		if ($i !~ /^[DHPSsEXQNW]:[a-z]/ || open)
			die("no field: " $i)
		filler = name ~ /^(empty(_[0-9])?|pad|null)$/
		if (code ~ /[NW]/)
			open = 1
		else
			words += code ~ /[EXQ]/ ? 2 : 1
		field[nr_fields++] = "\t{ \"" name "\", \"" label "\", '" code "', " filler " },"
		nr++
	}
	return "{ " first ", " nr ", " words ", " open " }"
}

function flush() {
	if (row == "")
		return
	if (wide == "")
		die("a row without its lists")
	rows[nr_rows++] = "\t{ " row ", " label ", { " fast ", " wide ", " alt[1] ", " alt[2] " }, " print_fmt " },"
	row = ""
}

BEGIN {
	split("640 650 660 710 800", list)
	for (i = 1; i <= 5; i++)
		release[list[i]] = i - 1
	none = "{ 0, 0, 0, 0 }"
}
/^#/ || /^$/ { next }
$1 == "call" || $1 == "state" {
	named[nr_named++] = "\t{ " ($1 == "call" ? "TACHO_KEV_CALL" : "TACHO_KEV_STATE") \
		", " releases($4) ", " $2 ", \"" tolower($3) "\" },"
	next
}
$1 == "name" {
	named[nr_named++] = "\t{ TACHO_KEV_NAME_" toupper($2) ", 31, " $3 ", \"" $4 "\" },"
	next
}
$1 == "row" {
	flush()
	number = -1
	flag = 0
	range = ""
	for (i = 5; i <= NF; i++) {
		if ($i == "64")
			flag = 1
		else if ($i ~ /-/)
			range = $i
		else
			number = $i
	}
	row = $2 ", TACHO_KEV_ROW_" toupper($3) ", " flag ", " releases(range) ", " number ", \"" $4 "\""
	wide = ""
	nr_alts = 0
	alt[1] = alt[2] = none
	label = "NULL"
	print_fmt = "NULL"
	next
}
$1 == "fast" { fast = fields(2); next }
$1 == "wide" { wide = $2 == "=" ? fast : fields(2); next }
$1 == "alt" {
	if (++nr_alts > 2)
		die("a third other form")
	alt[nr_alts] = fields(2)
	next
}
$1 == "label" { label = "\"" $2 "\""; next }
$1 == "print" {
	text = $0
	sub(/^[ \t]*print /, "", text)
	gsub(/"/, "\\\"", text)
	print_fmt = "\"" text "\""
	next
}
$1 == "from" { next }
{ die("no line of the table: " $0) }
END {
	if (failed)
		exit 1
	flush()
	print "/* made of events.table by table.awk */"
	print "const struct tacho_kev_field tacho_kev_fields[] = {"
	for (i = 0; i < nr_fields; i++)
		print field[i]
	print "};\n\nconst struct tacho_kev_row tacho_kev_rows[] = {"
	for (i = 0; i < nr_rows; i++)
		print rows[i]
	print "};\n\nconst struct tacho_kev_named tacho_kev_names[] = {"
	for (i = 0; i < nr_named; i++)
		print named[i]
	print "};"
}
