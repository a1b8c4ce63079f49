# SPDX-License-Identifier: MIT
# embed.awk - files of rules as one C string.
BEGIN {
	print "#include \"model/rules.h\"\n\nconst char model_builtin_rules[] ="
}
{
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	print "\t\"" $0 "\\n\""
}
END {
	print "\t;"
}
