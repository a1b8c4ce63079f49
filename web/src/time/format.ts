// SPDX-License-Identifier: MIT
/**
 * Times and durations as text.
 *
 * A time is a number of nanoseconds after the trace's base. It is exact to 2^53 ns, which is 104
 * days; the base itself is a bigint, and only here the two are added.
 */

export type Ns = number;

const units: readonly (readonly [string, number])[] = [
  ['ns', 1],
  ['µs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
];

/** Three digits and a unit: "1.24 ms", "12.4 s", "2 min 04 s", "3 h 12 min". */
export function duration(ns: Ns): string {
  const sign = ns < 0 ? '-' : '';
  const v = Math.abs(ns);

  if (v >= 3600e9) return sign + long(v, 3600e9, 60e9, 'h', 'min');
  if (v >= 59.95e9) return sign + long(v, 60e9, 1e9, 'min', 's');
  for (let i = 0; ; i++) {
    const [unit, size] = units[i]!;
    const n = v / size;
    const digits = i === 0 ? 0 : n < 9.995 ? 2 : n < 99.95 ? 1 : 0;

    // 999.6 µs is 1.00 ms
    if (i + 1 === units.length || Number(n.toFixed(digits)) < 1000)
      return `${sign}${n.toFixed(digits)} ${unit}`;
  }
}

function long(v: Ns, big: number, small: number, bigUnit: string, smallUnit: string): string {
  const n = Math.round(v / small);
  const perBig = big / small;

  return `${Math.floor(n / perBig)} ${bigUnit} ${String(n % perBig).padStart(2, '0')} ${smallUnit}`;
}

/** All digits, in groups: "12,345,678 ns". */
export function exact(ns: Ns): string {
  return `${count(Math.round(ns))} ns`;
}

/** "1,234,567" */
export function count(n: number | bigint): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "41 %", "0.3 %", "<0.1 %": never 0 for something, never 100 for less than all. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return '';
  const p = (100 * part) / whole;

  if (p === 0 || p === 100) return `${p} %`;
  if (p < 0.1) return '<0.1 %';
  if (p > 99.9) return '>99.9 %';
  return `${p < 10 || p > 99 ? p.toFixed(1) : Math.round(p)} %`;
}

/** Seconds after the base, with as many digits as the step needs: "+1.234 567". */
export function seconds(ns: Ns, digits = 9): string {
  const whole = Math.floor(Math.abs(ns) / 1e9);
  const part = Math.round(Math.abs(ns) - whole * 1e9);
  const text = String(part).padStart(9, '0').slice(0, digits);

  return `${ns < 0 ? '-' : ''}${whole}${digits ? `.${text}` : ''}`;
}

export interface Clock {
  /** ns since 1970 of the base */
  base: bigint;
  /** minutes east of UTC, as Date's -getTimezoneOffset() */
  zone: number;
}

export interface Day {
  date: string; // 2026-11-23
  time: string; // 14:05:20
  ns: number; // of the second
}

/** A time of the day in the clock's zone. */
export function day(clock: Clock, ns: Ns): Day {
  const whole = Math.floor(ns);
  const t = clock.base + BigInt(whole) + BigInt(clock.zone) * 60_000_000_000n;
  const s = t / 1_000_000_000n;
  const iso = new Date(Number(s) * 1000).toISOString();

  return { date: iso.slice(0, 10), time: iso.slice(11, 19), ns: Number(t % 1_000_000_000n) };
}

/** "UTC", "UTC+01:00" */
export function zone(minutes: number): string {
  if (!minutes) return 'UTC';
  const m = Math.abs(minutes);
  const two = (n: number) => String(n).padStart(2, '0');

  return `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(m / 60))}:${two(m % 60)}`;
}
