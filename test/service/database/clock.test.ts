import { afterEach, expect, test, vi } from 'vitest';
import { openClock } from '../../../src/database/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';

afterEach(() => vi.restoreAllMocks());

test.each([-3_600_000, 3_600_000])(
  'a local clock that is set by %d ms is compared with the database at once',
  async (setMs) => {
    await using environment = await openEnvironment();
    const clock = await openClock(environment.context.db);
    const real = Date.now.bind(Date);
    const differenceMs = (): number => Math.abs(clock.now().getTime() - real());
    expect(differenceMs()).toBeLessThan(1_000);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + setMs);
    // the first reading finds the step
    clock.now();
    await eventually('the new offset', async () => differenceMs() < 1_000);
  },
);

test('a measurement that waited long for a connection changes nothing', async () => {
  await using environment = await openEnvironment();
  let [waitedMs, waits] = [0, false];
  const [wall, monotonic] = [Date.now.bind(Date), performance.now.bind(performance)];
  vi.spyOn(Date, 'now').mockImplementation(() => wall() + waitedMs);
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + waitedMs);
  const db = environment.context.db.withPlugin({
    transformQuery: ({ node }) => node,
    // a database whose clock agrees with this machine's
    async transformResult({ result }) {
      if (waits) waitedMs += 24_000;
      return { ...result, rows: [{ at: new Date(wall() + waitedMs) }] };
    },
  });
  const clock = await openClock(db);
  waits = true;
  await clock.measureOffset();
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1_000);
});
