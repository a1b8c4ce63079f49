// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axis, minTickPixels, stepFor } from '../src/time/axis.ts';

const clock = { base: 1764000000123456789n, zone: 0 };

test('steps are 1, 2, 5, then those of a clock', () => {
  assert.equal(stepFor(0.3), 1);
  assert.equal(stepFor(3), 5);
  assert.equal(stepFor(1001), 2000);
  assert.equal(stepFor(1e6), 1e6);
  assert.equal(stepFor(6e9), 10e9);
  assert.equal(stepFor(11e9), 30e9);
  assert.equal(stepFor(3601e9), 7200e9);
});

test('labels have the digits of the step, the prefix has the rest', () => {
  const ms = axis(clock, 0, 1e9, 1000);

  assert.equal(ms.step, 200e6);
  assert.equal(ms.prefix, '16:00:00');
  assert.equal(ms.ticks[0]?.label, '+200 ms');
  assert.equal(axis(clock, 0, 1000, 1000).prefix, '16:00:00.123 456');
  assert.equal(axis(clock, 0, 3600e9, 1000).ticks[0]?.label, '16:10');
});

test('ticks stand on round times, apart enough, and within the window', () => {
  for (let k = 0; k < 60; k++) {
    const from = k * 12345.678;
    const to = from + 1.7 ** k + 8;
    const a = axis(clock, from, to, 1440);
    const pixels = (a.step / (to - from)) * 1440;

    assert.ok(pixels >= minTickPixels * 0.999 || a.step === 1, `${k}: ${pixels}`);
    for (const t of a.ticks) {
      assert.ok(t.at >= from && t.at < to);
      if (a.step < 1e9) assert.equal((clock.base + BigInt(Math.round(t.at))) % BigInt(a.step), 0n);
    }
  }
});
