# SPDX-License-Identifier: MIT
# bash completion for tacho(1): verbs, options, sessions, events, traces.
#
# Event names hold colons, which readline takes for the end of a word.  So the
# word is taken from the line itself, and what readline has already is cut off
# the answers again.

_tacho_verbs='check convert create destroy diff disable enable explain filter help hist index list mount
	model recipe recover probe record report snapshot sql start stat status stop synth
	trigger umount'

# Options of a verb, one per word; with '=' those that take a value.
_tacho_options()
{
	local filter='--events= --pid= --max= --cpu= --comm= --source= --time=
		--filter='
	local lines='--fields= --raw --relative --utc --ticks --ns --delta'
	local common='--help --quiet --json'
	local trace='--layout=' jobs='--jobs='

	case $1 in
	record)
		echo "$common --output= --events= --kernel= --pid= --follow
			--only --to= --rotate= --keep= --flight --on= --on-kernel=
			--keep-before= --keep-after= --dumps= --session=
			--buffer= --subbuf= --kernel-buffer= --clock=
			--duration= --no-kallsyms --filter= --trigger=
			--synth= --stack" ;;
	create)
		echo "$common --events= --pid= --follow --flight --buffer=
			--subbuf= --clock= --dir= --stopped" ;;
	enable|disable|synth)
		echo "$common --session=" ;;
	filter|trigger)
		echo "$common --session= --kernel" ;;
	snapshot)
		echo "$common --output=" ;;
	recover)
		echo "$common --output= --keep" ;;
	list)
		echo "$common --programs --kernel --format" ;;
	report)
		echo "$common $trace $jobs $filter $lines --format= --follow --consume --header
			--color= --no-pager" ;;
	convert)
		echo "$common $trace $jobs $filter $lines --output= --to= --format=" ;;
	stat)
		echo "$common $trace $jobs --sort=" ;;
	hist)
		echo "$common $trace $jobs --session= --event= --synth= --kernel --duration= --watch
			--all --chart --ascii --quantiles= --by= --snapshot=
			--snapshot-size= --span= --counter= --rule= --rules-file=" ;;
	sql)
		echo "$common --file= --csv --chart --stats --span= --counter= --rule=
			--rules-file=" ;;
	recipe)
		echo "$common $trace $jobs --kernel --duration= --watch --span= --counter=
			--rule= --rules-file=" ;;
	model)
		echo "$common $trace --items --top= --span= --counter= --rule= --rules-file=
			--rules --suggest --time=" ;;
	index)
		echo "$common $trace $jobs --again --remove --show --span= --counter= --rule=
			--rules-file=" ;;
	diff)
		echo "$common $trace --events= --time-a= --time-b= --top= --all --span= --counter=
			--rule= --rules-file=" ;;
	explain)
		echo "$common $trace --span= --worst= --all --slice= --thread= --from= --to=
			--timeline --counter= --rule= --rules-file=" ;;
	probe)
		echo "$common --exec= --kernel --args= --group= --name= --dry-run
			--raw --debug-dir=" ;;
	mount)
		echo "$common --session= --buffer= --options= --no-kernel --keep
			--foreground" ;;
	check)
		echo "$common $trace" ;;
	start|stop|status|destroy|umount)
		echo "$common" ;;
	esac
}

# The long name of the option that takes a value here, if any.
_tacho_long()
{
	local o

	case $1:$2 in
	list:-F) return ;;
	hist:-e) echo --event ;;
	*:-o) echo --output ;;
	*:-e) echo --events ;;
	record:-k) echo --kernel ;;
	probe:-x) echo --exec ;;
	*:-p) echo --pid ;;
	*:-s) echo --session ;;
	*:-b) echo --buffer ;;
	*:-m) echo --max ;;
	*:-F) echo --format ;;
	*:--*)
		for o in $(_tacho_options "$1"); do
			[[ $o == "$2=" ]] && echo "$2"
		done ;;
	esac
}

_tacho_sessions()
{
	"$_tacho_tool" status --json 2>/dev/null |
		sed -e 's/"processes":.*//' -e 's/"name":"/\n/g' |
		sed -n '2,$s/".*//p'
}

# Events; the kernel's are many and seldom change: kept for a minute.
_tacho_events()
{
	if [[ $1 == --programs ]]; then
		"$_tacho_tool" list -q --programs 2>/dev/null | sed 's/ .*//'
		return
	fi
	if [[ -z $_tacho_kernel || $SECONDS -gt $((_tacho_kernel_at + 60)) ]]; then
		_tacho_kernel=$("$_tacho_tool" list -q --kernel 2>/dev/null |
				sed 's/ .*//')
		_tacho_kernel_at=$SECONDS
	fi
	echo "$_tacho_kernel"
}

# Answers for the last item of a list "a,b,!c".
_tacho_list()
{
	local words=$1 cur=$2 before=

	[[ $cur == *,* ]] && before=${cur%,*},
	cur=${cur##*,}
	[[ $cur == !* ]] && before=$before! cur=${cur#!}
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "$cur")
	compopt -o nospace 2>/dev/null
}

_tacho_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_tacho_dirs()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -d -- "$1")
}

# Directories beside what is there already.
_tacho_more_dirs()
{
	local dirs

	mapfile -t dirs < <(compgen -d -- "$1")
	COMPREPLY+=("${dirs[@]}")
}

_tacho_recipes()
{
	"$_tacho_tool" recipe list 2>/dev/null | sed 's/ .*//'
}

# Values of an option.
_tacho_value()
{
	local verb=$1 option=$2 cur=$3

	case $verb:$option in
	report:--events|convert:--events|diff:--events|hist:--event)
		_tacho_list "$(_tacho_events --programs; _tacho_events --kernel)" \
			"$cur" ;;
	*:--events)
		_tacho_list "$(_tacho_events --programs)" "$cur" ;;
	*:--kernel)
		# in this shell, so that they are kept
		_tacho_events --kernel >/dev/null
		_tacho_list "$_tacho_kernel" "$cur" ;;
	*:--on)
		_tacho_words "$(_tacho_events --programs)" "$cur" ;;
	*:--on-kernel)
		_tacho_events --kernel >/dev/null
		_tacho_words "$_tacho_kernel" "$cur" ;;
	*:--pid)
		_tacho_list "$(cd /proc && echo [0-9]*)" "$cur" ;;
	enable:--session|disable:--session)
		_tacho_words "$(_tacho_sessions)" "$cur" ;;
	convert:--output|hist:--snapshot|probe:--exec)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	*:--output|*:--dir|*:--debug-dir)
		_tacho_dirs "$cur" ;;
	*:--clock)
		_tacho_words 'x86-tsc mono boot' "$cur" ;;
	report:--format)
		_tacho_words 'ftrace babeltrace json' "$cur" ;;
	convert:--format)
		_tacho_words 'ftrace babeltrace' "$cur" ;;
	*:--to)
		_tacho_words 'ctf dat dat7 kev lkst ltt ltt32 lttswap ltt32swap lttfull text json' "$cur" ;;
	*:--color)
		_tacho_words 'auto always never' "$cur" ;;
	*:--source)
		_tacho_words 'program kernel' "$cur" ;;
	*:--sort)
		_tacho_words 'count bytes name' "$cur" ;;
	esac
}

# What is neither an option nor its value.
_tacho_argument()
{
	local verb=$1 cur=$2

	case $verb in
	start|stop|destroy|snapshot|status)
		_tacho_words "$(_tacho_sessions)" "$cur" ;;
	enable|disable|filter|trigger)
		_tacho_words "$(_tacho_events --programs)" "$cur" ;;
	list)
		_tacho_events --kernel >/dev/null
		_tacho_words "$(_tacho_events --programs) $_tacho_kernel" "$cur" ;;
	probe)
		case ${words[2]} in
		list|del)
			_tacho_words "$("$_tacho_tool" probe list -q 2>/dev/null |
					sed 's/ .*//')" "$cur" ;;
		add) ;;
		*)
			_tacho_words 'add list del' "$cur" ;;
		esac ;;
	mount|umount)
		COMPREPLY=($(compgen -d -- "$cur")) ;;
	recover)
		_tacho_dirs "$cur"
		COMPREPLY+=($(compgen -W "$(_tacho_sessions)" -- "$cur")) ;;
	recipe)
		_tacho_words 'list show run' "$cur"
		COMPREPLY+=($(compgen -W "$(_tacho_recipes)" -- "$cur"))
		_tacho_more_dirs "$cur" ;;
	report|stat|check|convert|hist|index|model|explain|sql|diff)
		_tacho_dirs "$cur"
		COMPREPLY+=($(compgen -W "$(_tacho_sessions | sed s/^/session:/)" \
			      -- "$cur")) ;;
	record)
		mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	help)
		_tacho_words "$_tacho_verbs" "$cur" ;;
	esac
}

# Cuts off what readline holds for complete: up to the last colon or '='.
_tacho_trim()
{
	local cur=$1 rest=$1

	[[ $COMP_WORDBREAKS == *:* ]] && rest=${rest##*:}
	[[ $COMP_WORDBREAKS == *=* ]] && rest=${rest##*=}
	cur=${cur%"$rest"}
	[[ -n $cur ]] && COMPREPLY=("${COMPREPLY[@]#"$cur"}")
}

_tacho()
{
	local line=${COMP_LINE:0:COMP_POINT} cur prev verb option i
	local -a words

	COMPREPLY=()
	read -ra words <<<"$line"
	_tacho_tool=${words[0]}
	cur=
	if [[ $line != *[[:space:]] ]]; then
		cur=${words[-1]}
		unset 'words[-1]'
	fi
	verb=${words[1]}
	prev=${words[-1]}
	if [[ ${#words[@]} -le 1 ]]; then
		_tacho_words "$_tacho_verbs --help --version" "$cur"
		return
	fi
	# behind "--" stands a command with options of its own
	for ((i = 2; i < ${#words[@]}; i++)); do
		if [[ $verb == record && ${words[i]} == -- ]]; then
			compopt -o filenames 2>/dev/null
			if ((i == ${#words[@]} - 1)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			fi
			return
		fi
	done
	option=$(_tacho_long "$verb" "$prev")
	if [[ -n $option && ! ($verb == report && $option == --color) ]]; then
		_tacho_value "$verb" "$option" "$cur"
	elif [[ $cur == --*=* ]]; then
		_tacho_value "$verb" "${cur%%=*}" "${cur#*=}"
		COMPREPLY=("${COMPREPLY[@]/#/${cur%%=*}=}")
	elif [[ $cur == -* ]]; then
		_tacho_words "$(_tacho_options "$verb")" "$cur"
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	else
		_tacho_argument "$verb" "$cur"
	fi
	_tacho_trim "$cur"
}

complete -F _tacho tacho
