import { expect, test } from 'vitest';
import { formatProgress } from '../../../src/commands/reconcile.ts';

test('the bar shows progress, rate and remaining work of this process', () => {
  const line = formatProgress({ windows: 400, of: 700, seen: 100_000, waits: false, begunAt: 350, ms: 50_000 });
  expect(line.trimEnd()).toBe(
    `${'█'.repeat(17)}${'░'.repeat(13)} 400/700 windows, 100000 rows, 2000 transactions/s, 5 min left`,
  );
  expect(formatProgress({ windows: 0, of: 0, seen: 0, waits: false, begunAt: 0, ms: 0 })).toMatch(/0\/0 windows/);
});

test('while it waits for days that another run reads, the line says so and shows no rate', () => {
  const line = formatProgress({ windows: 400, of: 700, seen: 100_000, waits: true, begunAt: 350, ms: 50_000 });
  expect(line.trimEnd()).toBe(
    `${'█'.repeat(17)}${'░'.repeat(13)} 400/700 windows, waits for another run of these days`,
  );
});
