import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareLedger } from '../../../demo/compare-ledger.ts';
import { type Api, createApi } from '../../../demo/start-programs.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { API_KEY, temporaryDirectory, WEBHOOK_SECRET } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

type Run = { id: string; state: string; applied: number; seen: number; total: number; mismatches: number };
type Story = { from: string; to: string; webhooks: { forged: number } };
type Book = { day: string; platform: string; receipts: string; payments: string; counts: Record<string, number> };

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let sandbox: { api: Api };
let served: ServedEnvironment;
let story: Story;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  const { url } = stack.use(await startTestSandbox());
  sandbox = { api: createApi(url, '', API_KEY) };
  served = stack.use(await openServedEnvironment({ providerUrl: url }));
  await sandbox.api.call('PUT', '/sandbox/webhooks/target', {
    url: `${served.url}/webhooks/pix`,
    token: WEBHOOK_SECRET,
  });
});
afterAll(() => stack.disposeAsync());

async function reconcile(days: { from: string; to: string }): Promise<Run> {
  const { id } = await served.api.call<Run>('POST', '/reconciliations', { from: days.from, to: days.to });
  return await eventually(async () => {
    const run = await served.api.call<Run>('GET', `/reconciliations/${id}`);
    return ['queued', 'running'].includes(run.state) ? undefined : run;
  });
}

/** Enough for several pages per day. */
const COUNT = numRuns(300, 1_200);

describe(`${COUNT} transactions over three days, half of them announced`, () => {
  it('are applied, including repeated and reordered webhooks', async () => {
    story = await sandbox.api.call<Story>('POST', '/sandbox/stories', { count: COUNT, days: 3, forge: 0 });
    await sandbox.api.call('POST', '/sandbox/webhooks/flush', {});
    await eventually(async () => {
      const pending = await served.api.call<{ webhooks: unknown[] }>('GET', '/webhooks?state=pending');
      return pending.webhooks.length === 0;
    });
    const ledger = await compareLedger(served.api, sandbox.api, story);
    expect(ledger.theirs).toBe(COUNT);
    expect(ledger.ours).toBeGreaterThan(COUNT / 3);
    expect(ledger.ours).toBeLessThan((COUNT * 2) / 3);
    // the transactions in the ledger are right already; only unannounced ones are missing
    expect(ledger.differences.filter((text) => !text.endsWith('is not in the ledger'))).toEqual([]);
  });

  it('equal the list field by field after one reconciliation', async () => {
    const run = await reconcile(story);
    expect(run).toMatchObject({ state: 'complete', seen: COUNT, total: COUNT, mismatches: 0 });
    expect((await compareLedger(served.api, sandbox.api, story)).differences).toEqual([]);
  });

  it('are unchanged after a second one', async () => {
    expect(await reconcile(story)).toMatchObject({ state: 'complete', applied: 0, mismatches: 0 });
  });

  it("sum in a workbook that another program reads to the sandbox's own total, day by day", async () => {
    const { days } = await sandbox.api.call<{ days: Book[] }>(
      'GET',
      `/sandbox/books?from=${story.from}&to=${story.to}`,
    );
    for (const day of [story.from, addDays(story.from, 1)]) {
      await served.api.call('POST', '/reports', { day });
      const file = path.join(home.path, `${day}.xlsx`);
      writeFileSync(file, await eventually(() => served.api.fetch(`/reports/${day}.xlsx`).catch(() => undefined)));
      const book = days.find((one) => one.day === day && one.platform === 'all');
      const sums = await sumWithOpenpyxl(file);
      expect([day, sums.Recebimentos, sums.Pagamentos]).toEqual([day, book?.receipts, book?.payments]);
    }
  });

  it('are reported on their own day when paid at 23:30', async () => {
    const day = addDays(story.to, -1);
    const made = await sandbox.api.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
      operation: 'cashin',
      amount: '77.31',
      date_created: `${day} 23:28:00`,
      events: [
        { status: 'paid', date_created: `${day} 23:30:00` },
        { status: 'pending', date_created: `${day} 23:28:00` },
      ],
    });
    const id = made.transactions[0]?.id ?? '';
    await reconcile(story);
    expect((await csvOf(day)).includes(id)).toBe(true);
    expect((await csvOf(story.to)).includes(id)).toBe(false);
  });
});

async function csvOf(day: string): Promise<string> {
  await served.api.call('POST', '/reports', { day });
  return (await eventually(() => served.api.fetch(`/reports/${day}.csv`).catch(() => undefined))).toString();
}

/** Sums the amount column of each sheet with openpyxl. */
async function sumWithOpenpyxl(file: string): Promise<Record<string, string>> {
  const script = `
import sys, json, openpyxl
from decimal import Decimal
book = openpyxl.load_workbook(sys.argv[1], data_only=True)
sums = {}
for sheet in book.worksheets:
    column, total = None, Decimal('0.00')
    for row in sheet.iter_rows(values_only=True):
        if column is None:
            if 'Valor' in row: column = row.index('Valor')
        elif isinstance(row[column], (int, float)) and not any(isinstance(c, str) and c.lower().startswith('total') for c in row):
            total += Decimal(str(row[column]))
    sums[sheet.title] = str(total.quantize(Decimal('0.01')))
print(json.dumps(sums))`;
  const { stdout } = await promisify(execFile)('/usr/bin/python3', ['-c', script, file]);
  return JSON.parse(stdout) as Record<string, string>;
}
