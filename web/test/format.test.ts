// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, day, duration, exact, percent, seconds, zone } from '../src/time/format.ts';

test('durations have three digits and one unit', () => {
  const cases: [number, string][] = [
    [0, '0 ns'],
    [999, '999 ns'],
    [1000, '1.00 µs'],
    [1240, '1.24 µs'],
    [999_400, '999 µs'],
    [999_600, '1.00 ms'],
    [12_400_000, '12.4 ms'],
    [1.5e9, '1.50 s'],
    [59.9e9, '59.9 s'],
    [59.96e9, '1 min 00 s'],
    [124e9, '2 min 04 s'],
    [3 * 3600e9 + 12 * 60e9, '3 h 12 min'],
    [-1240, '-1.24 µs'],
  ];

  for (const [ns, text] of cases) assert.equal(duration(ns), text);
});

test('exact numbers are grouped', () => {
  assert.equal(exact(12345678), '12,345,678 ns');
  assert.equal(count(123n), '123');
  assert.equal(count(1234567), '1,234,567');
});

test('percentages never say 0 for something', () => {
  assert.equal(percent(0, 10), '0 %');
  assert.equal(percent(1, 100000), '<0.1 %');
  assert.equal(percent(41, 100), '41 %');
  assert.equal(percent(99999, 100000), '>99.9 %');
  assert.equal(percent(1, 1), '100 %');
  assert.equal(percent(1, 0), '');
});

test('a time of the day is exact to the ns', () => {
  const clock = { base: 1764000000123456789n, zone: 60 };

  assert.deepEqual(day(clock, 1), { date: '2025-11-24', time: '17:00:00', ns: 123456790 });
  assert.equal(seconds(1_234_567_891, 6), '1.234567');
  assert.equal(zone(-330), 'UTC-05:30');
});
