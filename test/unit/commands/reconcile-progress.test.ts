import { expect, test } from 'vitest';
import { describeRun, formatProgress } from '../../../src/commands/reconcile.ts';

test('the bar shows progress, rate and remaining work of this process', () => {
  const line = formatProgress({ windows: 400, of: 700, seen: 100_000, waits: false, begunAt: 350, ms: 50_000 });
  expect(line.trimEnd()).toBe(
    `${'█'.repeat(17)}${'░'.repeat(13)} 400/700 parts, 100000 transactions, 2000/s, 5 min left`,
  );
  expect(formatProgress({ windows: 0, of: 0, seen: 0, waits: false, begunAt: 0, ms: 0 })).toMatch(/0\/0 parts/);
});

test('while it waits for days that another reconciliation reads, the line says so and shows no rate', () => {
  const line = formatProgress({ windows: 400, of: 700, seen: 100_000, waits: true, begunAt: 350, ms: 50_000 });
  expect(line.trimEnd()).toBe(`${'█'.repeat(17)}${'░'.repeat(13)} 400/700 parts, waits for another run of these days`);
});

const RUN = {
  ...{ id: 'run_1', from: '2026-11-01', to: '2026-11-03', platform: null, trigger: 'command', how: 'read' },
  ...{ requests: 53, days_counted: 0, days_recent: 0, pages: 52, passes: 0, total: null, seen: 5200, applied: 5187 },
  ...{ mismatches: 2, by_kind: { webhook_lost: 2 }, started_at: null, finished_at: null, error: null },
};

test('the summary of an interrupted run says what it read, and that it continues', () => {
  expect(describeRun({ ...RUN, state: 'queued' }).split('\n')).toEqual([
    'run_1: interrupted, 2026-11-01 to 2026-11-03',
    '  5200 transactions read so far, in 52 pages and 53 requests',
    '  5187 of them new or changed, 2 mismatches (2 webhook_lost)',
    '  what was read is stored: the same command continues from there',
  ]);
});

test('the summary of a complete run names counted days and repeated readings only where there were any', () => {
  const plain = describeRun({ ...RUN, state: 'complete', passes: 1 });
  expect(plain).not.toMatch(/window|pass|counting|continues/);
  const more = describeRun({ ...RUN, state: 'complete', passes: 3, days_counted: 2 });
  expect(more).toContain('2 days proven by counting');
  expect(more).toContain('the worst day was read 3 times');
});
