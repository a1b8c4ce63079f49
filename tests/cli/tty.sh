#!/bin/sh
# SPDX-License-Identifier: MIT
# What happens only when a person looks on: colour and a pager.
. "$SOURCE/lib.sh"
have script || { echo "1..0 # SKIP script is not here"; exit 77; }
"$MAKE_TRACE" small small
TERM=xterm
export TERM

# tty COMMAND: its output on a terminal
tty()
{
	script -qec "$1" /dev/null </dev/null | tr -d '\r'
}
esc=$(printf '\033')
cat >pager <<'END'
#!/bin/sh
echo PAGED LESS=$LESS
cat
END
chmod +x pager

tty "PAGER= $TACHO report -q small" >out
ok "colour on a terminal" grep -q "$esc\[36mserver$esc\[0m-1000" out
ok "event names in colour" grep -q "$esc\[1;33mopen$esc\[0m" out
ok "an event cannot write to the terminal" sh -c '! grep -q "$0\[1\$" out && grep -q server out' "$esc"
tty "PAGER=./pager $TACHO report -q small" >out
ok "pager on a terminal" grep -q '^PAGED LESS=FRSX' out
ok "all goes through it" test "$(grep -c CPU out)" = 1 -a "$(wc -l <out)" -ge 9
ok "colour through the pager" grep -q "$esc\[36m" out
tty "LESS=x PAGER=./pager $TACHO report -q small" >out
ok "LESS stays as it is" grep -q '^PAGED LESS=x' out
tty "PAGER=./pager $TACHO report -q --no-pager small" >out
ok "--no-pager" sh -c '! grep -q PAGED out && grep -q server out'
tty "NO_COLOR=1 PAGER=./pager $TACHO report -q small" >out
ok "NO_COLOR" sh -c '! grep -q "$0" out && grep -q server out' "$esc"
tty "TERM=dumb PAGER=cat $TACHO report -q small" >out
ok "a dumb terminal" sh -c '! grep -q "$0" out && grep -q server out' "$esc"
tty "PAGER= $TACHO report -q --color=never small" >out
ok "--color=never" sh -c '! grep -q "$0" out && grep -q server out' "$esc"
tty "PAGER=/nowhere/pager $TACHO report -q small; echo STATUS \$?" >out
ok "a pager that is not there is no pager" sh -c 'grep -q "STATUS 0" out && grep -q server out'
tty "PAGER='head -1' $TACHO report -q small; echo STATUS \$?" >out
ok "a pager that is left early" grep -q 'STATUS 0' out

PAGER=./pager "$TACHO" report -q small >out
ok "no pager in a pipe" sh -c '! grep -q PAGED out && grep -q server out'
ok "no colour in a pipe" sh -c '! grep -q "$0\[36m" out && grep -q server out' "$esc"
finish
