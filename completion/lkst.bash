# SPDX-License-Identifier: MIT
# bash completion of LKST's commands.  tests/docs checks it against their help.

# TOOL:COMMAND OPTION...; without COMMAND: of a tool that has none.
_lkst_table='
lkst:all
lkst:status
lkst:stat
lkst:start
lkst:stop
lkst:destroy
lkstm:all
lkstm:list
lkstm:ls
lkstm:read -m -n -A -a -d -E
lkstm:set -m -n
lkstm:write -m -f -n -S
lkstm:config -m -n
lkstm:conf -m -n
lkstm:delete -m -n
lkstm:del -m -n
lkstm:find -n
lkstbuf:link -b -n -c
lkstbuf:ln -b -n -c
lkstbuf:shift -c
lkstbuf:jump -b -c
lkstbuf:create -s -b -n -c
lkstbuf:delete -b -c
lkstbuf:del -b -c
lkstbuf:list -c -v
lkstbuf:ls -c -v
lkstbuf:read -c -b -S -f -n -E
lkstbuf:print -f -c -b -e -h -n -r -C -S -V -E
lksteh:control -e -f
lksteh:ctrl -e -f
lksteh:c -e -f
lksteh:list
lksteh:ls
lkstlogger:version
lkstlogger:ver
lkstlogger:help
lkstlogger: -ev -a1 -a2 -a3 -a4
lkstlogd: -a -b -l -n -f -F -p -C -h -v
logformat: -c -e -n -r -h -v
'

_lkst_commands()
{
	local line found=

	while read -r line; do
		[[ $line == "$1:"[a-z]* ]] && line=${line#*:} found+=" ${line%% *}"
	done <<<"$_lkst_table"
	[[ $1 == lkst || $1 == lkstm || $1 == lkstbuf || $1 == lksteh ]] &&
		found+=' version ver help'
	printf '%s' "$found"
}

# Options of TOOL COMMAND
_lkst_options()
{
	local line

	while read -r line; do
		[[ $line == "$1:$2 "* ]] && printf '%s' "${line#* }"
	done <<<"$_lkst_table"
}

# What is in a column of a list: names of masksets, ids of handlers
_lkst_names()
{
	case $1 in
	maskset) lkstm list 2>/dev/null | sed -n 's/^. *[0-9]*  \([^ ]*\).*/\1/p' | tail -n +2 ;;
	handler) lksteh list 2>/dev/null | sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' ;;
	esac
}

_lkst()
{
	local tool=${COMP_WORDS[0]##*/} cur=${COMP_WORDS[COMP_CWORD]} prev= command= words

	((COMP_CWORD > 1)) && prev=${COMP_WORDS[COMP_CWORD - 1]}
	[[ $tool == lkst || $tool == lkstm || $tool == lkstbuf || $tool == lksteh ||
	   ${COMP_WORDS[1]} == [a-z]* ]] && command=${COMP_WORDS[1]}
	case $tool:$prev in
	*:-[fEpC])
		if [[ $prev != -C || $tool == lkstlogd ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
		fi ;;
	lkstm:-n) words=$(_lkst_names maskset) ;;
	lksteh:-e) words=$(_lkst_names handler) ;;
	esac
	if [[ -z $words ]]; then
		if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then
			words=$(_lkst_commands "$tool")
		fi
		[[ -n $words ]] || words=$(_lkst_options "$tool" "$command")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	if [[ $tool == logformat && $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _lkst lkst lkstm lkstbuf lksteh lkstlogger lkstlogd logformat
