import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  assignSlots,
  planProbes,
  type SampledAttempt,
  sampleSizeOf,
  spread,
  summarizeAttempts,
} from '../../../src/callbacks/manage/sample-attempts.ts';
import { propertyOptions } from '../../support/property.ts';

const HOUR_MS = 3_600_000;

test('numbers are spread evenly over a range, without a repetition, from its first to its last', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(10_000), fc.integer({ min: 1, max: 500 }), (first, size, count) => {
      const last = first + size;
      const seqs = spread(first, last, count);
      expect(new Set(seqs).size).toBe(Math.min(count, size + 1));
      expect(seqs.every((seq) => seq >= first && seq <= last)).toBe(true);
      expect(seqs[0]).toBe(first);
      if (count > 1) expect(seqs.at(-1)).toBe(last);
    }),
    propertyOptions(100, 5_000),
  );
  expect(spread(5, 4, 10)).toEqual([]);
});

test('each slot with too few attempts is probed between its neighbours, and no other one', () => {
  const at = (hour: number): Date => new Date(hour * HOUR_MS + 1);
  const row = (seq: number, hour: number): SampledAttempt => ({
    ...{ seq, started_at: at(hour), duration_ms: 1, error_class: null },
  });
  const limits = [0, 1, 2, 3].map((hour) => hour * HOUR_MS);
  const wanted = sampleSizeOf(3);
  // the middle hour has its sample
  const middle = Array.from({ length: wanted }, (_, index) => row(500_000 + index, 1));
  const probes = planProbes(assignSlots([row(1, -5), row(400_000, 0), ...middle, row(900_000, 2)], limits), {
    first: 1,
    last: 1_000_000,
  });
  expect(probes.length).toBe(2 * wanted);
  const [before, after] = [probes.filter((seq) => seq <= 500_000), probes.filter((seq) => seq >= 500_000 + wanted - 1)];
  expect([before.length, after.length]).toEqual([wanted, wanted]);
  expect([before[0], after.at(-1)]).toEqual([1, 1_000_000]);
});

test('an attempt that was stored late belongs to the slot in which it began', () => {
  const at = (seq: number, minute: number): SampledAttempt => ({
    ...{ seq, started_at: new Date(minute * 60_000), duration_ms: 1, error_class: null },
  });
  // the fourth began at 59 min and was stored after one that began at 61 min
  const rows = [at(1, -3), at(2, 10), at(3, 61), at(4, 59), at(5, 65), at(6, 130)];
  const slots = assignSlots(rows, [0, HOUR_MS, 2 * HOUR_MS]);
  expect(slots.map(({ own, before, after }) => [before, own.map(({ seq }) => seq), after])).toEqual([
    [1, [2, 4], 5],
    [2, [3, 5], 6],
  ]);
});

test('percentiles are of all attempts, and no attempts have none', () => {
  const durations = Array.from({ length: 100 }, (_, index) => ({
    ...{ duration_ms: 100 - index, error_class: index % 10 === 0 ? 'timeout' : null },
  }));
  expect(summarizeAttempts(durations)).toEqual({ attempts: 100, delivered: 90, p50: 50, p95: 95 });
  expect(summarizeAttempts([])).toEqual({ attempts: 0, delivered: 0 });
});
