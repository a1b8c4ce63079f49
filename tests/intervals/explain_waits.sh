#!/bin/sh
# SPDX-License-Identifier: MIT
# tacho explain, of a trace of which every record is known: all causes and times, to the digit.
set -u
nr=0
dir=$(mktemp -d "$PWD/explain-waits.XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$MAKE_TRACE" waits "$dir/t" || exit 1

# NAME: stdin is what $dir/out must be
is() {
	nr=$((nr + 1))
	cat >"$dir/want"
	if cmp -s "$dir/want" "$dir/out"; then
		echo "ok $nr - $1"
	else
		echo "not ok $nr - $1"
		diff -u "$dir/want" "$dir/out" | sed 's/^/# /'
	fi
}

"$TACHO" explain --span order --timeline "$dir/t" >"$dir/out" 2>&1
is 'a span' <<'END'
order (span), server (1000):    4.300 ms, 0.000000 s after the first record
  running 4.4%, waiting for a CPU 0.5%, blocked 92.8%, unknown 2.3%
   41.6%     1.790 ms      1x  futex <- wor"ker x (1001): sleeping in clock_nanosleep (a timer)
   23.5%     1.009 ms      2x  futex <- wor"ker x (1001): waiting for a CPU, which ran ? (2000) 99% of that time
   20.7%   891.000 us      1x  futex <- wor"ker x (1001): waiting for a device (device 8,0)
    4.4%   190.000 us      2x  futex <- wor"ker x (1001): running: user code
    4.0%   170.000 us      1x  running: user code
    2.3%   100.000 us      1x  unknown
    2.1%    90.000 us      1x  futex <- wor"ker x (1001): unknown
    0.5%    20.000 us      2x  futex <- wor"ker x (1001): running: clock_nanosleep
    0.5%    20.000 us      2x  running: futex
    0.5%    20.000 us      1x  waiting for a CPU, which was idle

       after         for
      0.000 us  100.000 us  unknown
    100.000 us   10.000 us  running on CPU 0
    100.000 us   10.000 us    futex
    110.000 us    3.990 ms  sleeping in futex, woken by wor"ker x (1001)
    110.000 us   90.000 us    unknown
    200.000 us   10.000 us    running on CPU 1
    200.000 us   10.000 us      clock_nanosleep
    210.000 us    1.790 ms    sleeping in clock_nanosleep, a timer
      2.000 ms    1.000 ms    waiting for a CPU (woken): CPU 1 ran ? (2000)
      3.000 ms  110.000 us    running on CPU 1
      3.000 ms   10.000 us      clock_nanosleep
      3.010 ms  100.000 us      user code
      3.110 ms  891.000 us    waiting for a device, device 8,0: block
      4.001 ms    9.000 us    waiting for a CPU (woken): CPU 1 was idle
      4.010 ms   90.000 us    running on CPU 1
      4.010 ms   90.000 us      user code
      4.100 ms   20.000 us  waiting for a CPU (woken): CPU 0 was idle
      4.120 ms  180.000 us  running on CPU 0
      4.120 ms   10.000 us    futex
      4.130 ms  170.000 us    user code
END

"$TACHO" explain --thread 1000 --from 0.1 --to 0.11 "$dir/t" >"$dir/out" 2>&1
is 'a thread, from a time on' <<'END'
server (thread), server (1000):   10.000 ms, 0.100000 s after the first record
  running 59.9%, waiting for a CPU 0.2%, blocked 39.9%
   57.0%     5.700 ms      1x  running: user code
   17.9%     1.790 ms      1x  futex <- wor"ker x (1001): sleeping in clock_nanosleep (a timer)
   10.1%     1.009 ms      2x  futex <- wor"ker x (1001): waiting for a CPU, which ran ? (2001) 99% of that time
    8.9%   891.000 us      1x  futex <- wor"ker x (1001): waiting for a device (device 8,0)
    2.8%   280.000 us      3x  futex <- wor"ker x (1001): running: user code
    2.7%   270.000 us      2x  running: order (span)
    0.2%    20.000 us      2x  futex <- wor"ker x (1001): running: clock_nanosleep
    0.2%    20.000 us      2x  running: futex
    0.2%    20.000 us      1x  waiting for a CPU, which was idle
END

"$TACHO" explain --span order --all "$dir/t" >"$dir/out" 2>&1
is 'the slowest and the median' <<'END'
20 slices; the mean of the slowest 1 next to that of 4 around the median

     slowest      median  difference  cause
    4.300 ms    4.300 ms   +0.000 ms  the whole
    0.100 ms    0.000 ms   +0.100 ms  unknown
    0.090 ms    0.000 ms   +0.090 ms  futex <- wor"ker x (1001): unknown
    0.020 ms    0.020 ms   +0.000 ms  futex <- wor"ker x (1001): running: clock_nanosleep
    1.790 ms    1.790 ms   +0.000 ms  futex <- wor"ker x (1001): sleeping in clock_nanosleep (a timer)
    1.009 ms    1.009 ms   +0.000 ms  futex <- wor"ker x (1001): waiting for a CPU, which ran ? (2000) 99% of that time
    0.891 ms    0.891 ms   +0.000 ms  futex <- wor"ker x (1001): waiting for a device (device 8,0)
    0.020 ms    0.020 ms   +0.000 ms  running: futex
    0.020 ms    0.020 ms   +0.000 ms  waiting for a CPU, which was idle
    0.190 ms    0.280 ms   -0.090 ms  futex <- wor"ker x (1001): running: user code
    0.170 ms    0.270 ms   -0.100 ms  running: user code
END

"$TACHO" explain --span clock_nanosleep "$dir/t" >"$dir/out" 2>&1
is 'a system call of a thread that waits for a disk' <<'END'
clock_nanosleep (syscall), wor"ker x (1001):    2.810 ms, 0.000200 s after the first record
  running 0.7%, waiting for a CPU 35.6%, blocked 63.7%
   63.7%     1.790 ms      1x  sleeping (an interrupt: a timer or device)
   35.6%     1.000 ms      1x  waiting for a CPU, which ran ? (2000)
    0.7%    20.000 us      2x  running: user code
END

# as above: all orders are of one thread, which is found by number and by name
"$TACHO" explain --span order "$dir/t" >"$dir/whole" 2>&1
for thread in 1000 'serv*'; do
	"$TACHO" explain --span order --thread "$thread" "$dir/t" >"$dir/out" 2>&1
	is "a span of the thread $thread" <"$dir/whole"
done
# 20 orders in 200 ms, of which these begin in the time
"$TACHO" explain --json --span order --worst 256 --thread server --from 0.1 --to 0.15 "$dir/t" |
	tr ',{' '\n\n' | grep -c '"thread":"server (1000)"' >"$dir/out"
is 'spans of a thread that begin from a time on' <<'END'
5
END
"$TACHO" explain --span order --thread 1001 "$dir/t" >"$dir/out" 2>&1
is 'no span of that thread' <<'END'
tacho: the trace has no slice 'order' of a thread '1001' at that time; 'tacho model --items' lists them
END

echo "1..$nr"
