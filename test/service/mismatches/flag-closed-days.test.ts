import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../demo/start-programs.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

const stack = new AsyncDisposableStack();
const today = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
const day = addDays(today, -2);
let served: ServedEnvironment;
let sandbox: { api: Api };

beforeAll(async () => {
  const { url } = stack.use(await startTestSandbox());
  sandbox = { api: createApi(url, '', API_KEY) };
  served = stack.use(await openServedEnvironment({ providerUrl: url }));
});
afterAll(() => stack.disposeAsync());

async function make(paidAt: string): Promise<void> {
  await sandbox.api.call('POST', '/sandbox/transactions', {
    amount: '10.00',
    date_created: `${day} 10:00:00`,
    events: [
      { status: 'paid', date_created: paidAt },
      { status: 'pending', date_created: `${day} 10:00:00` },
    ],
  });
}

async function reconcile(): Promise<void> {
  const { id } = await served.api.call<{ id: string }>('POST', '/reconciliations', { from: day, to: today });
  await eventually(async () => {
    const run = await served.api.call<{ state: string }>('GET', `/reconciliations/${id}`);
    return run.state === 'complete';
  });
}

async function changes(): Promise<{ state: string; run_id: string | null }[]> {
  const found = await served.api.call<{ mismatches: { state: string; run_id: string | null }[] }>(
    'GET',
    '/mismatches?kind=closed_day_changed',
  );
  return found.mismatches;
}

async function report(of: string): Promise<{ revision: number }> {
  await served.api.call('POST', '/reports', { day: of });
  return await eventually(async () => {
    const { reports } = await served.api.call<{ reports: { day: string; revision: number }[] }>('GET', '/reports');
    return reports.find((one) => one.day === of);
  });
}

describe('a day with a report', () => {
  it('is reported once when it changes, with the run that found it, until the next revision', async () => {
    await make(`${day} 10:05:00`);
    await reconcile();
    expect(await report(day)).toMatchObject({ revision: 1 });
    expect(await changes()).toEqual([]);
    await make(`${day} 11:00:00`);
    await reconcile();
    await make(`${day} 12:00:00`);
    await reconcile();
    expect(await changes()).toMatchObject([{ state: 'open', run_id: expect.stringMatching(/^run_/) }]);
    expect(await report(day)).toMatchObject({ revision: 2 });
    expect(await changes()).toMatchObject([{ state: 'resolved' }]);
  });

  it('is not reported while it runs', async () => {
    await report(today);
    await make(`${today} 00:00:01`);
    await reconcile();
    expect((await changes()).filter((one) => one.state === 'open')).toHaveLength(1);
  });
});
