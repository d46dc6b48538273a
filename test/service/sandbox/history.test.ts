import { describe, expect, it } from 'vitest';
import { isCnpj, isCpf } from '../../../sandbox/pix/check-document.ts';
import {
  CASHIN,
  type Shown,
  startTestSandbox,
  startWebhookReceiver,
  type TestSandbox,
} from '../../support/start-test-sandbox.ts';

const HISTORY = ['--history', '2d', '--per-day', '150'];

async function readAll(sandbox: TestSandbox, query = ''): Promise<Shown[]> {
  const read: Shown[] = [];
  for (let page = 1; ; page++) {
    const { json } = await sandbox.request('GET', `/api/v1/transactions?page=${page}${query}`);
    read.push(...json.transactions);
    if (json.next_page_url === false) return read;
  }
}

/** Without the fields that contain the sandbox's address. */
function withoutLinks(rows: Shown[]): unknown[] {
  return rows.map(({ payment_link: _, ...rest }) => rest);
}

describe('history', () => {
  it('has the requested number on each day, finished or open, without webhooks', async () => {
    await using receiver = await startWebhookReceiver();
    await using sandbox = await startTestSandbox([...HISTORY, '--webhook-url', receiver.url]);
    const all = await readAll(sandbox);
    expect(sandbox.history).toBe(all.length);
    const days = Map.groupBy(all, ({ date_created }) => date_created.slice(0, 10));
    const today = sandbox.sandbox.clock.toWall(Date.now()).slice(0, 10);
    const [first, second] = [...days.keys()].sort();
    expect([first, second].map((day) => days.get(day ?? '')?.length)).toEqual([150, 150]);
    expect([...days.keys()].every((day) => day <= today)).toBe(true);
    expect(receiver.received).toEqual([]);
    const now = sandbox.sandbox.clock.toWall(Date.now());
    for (const { events, status } of all) {
      expect(events[0]?.status).toBe(status);
      expect(events.every(({ date_created }) => date_created <= now)).toBe(true);
      const dates = events.map(({ date_created }) => date_created);
      expect(dates).toEqual(dates.toSorted().reverse());
    }
  });

  it('is realistic: valid documents, end-to-end ids where paid, refunds, a long tail of amounts', async () => {
    await using sandbox = await startTestSandbox(['--history', '1d', '--per-day', '1500']);
    const all = await readAll(sandbox);
    expect(all.every(({ document }) => isCpf(document) || isCnpj(document))).toBe(true);
    const cashins = all.filter(({ operation }) => operation === 'cashin');
    for (const { events, e2e_id } of cashins)
      expect(e2e_id !== '').toBe(events.some(({ status }) => status === 'paid'));
    const statuses = new Set(all.map(({ status }) => status));
    for (const status of ['paid', 'refund', 'expired', 'denied', 'canceled']) expect(statuses).toContain(status);
    const amounts = all.map(({ amount }) => Number(amount)).sort((a, b) => a - b);
    expect(amounts.at(-1)).toBeGreaterThan(20 * (amounts[Math.floor(amounts.length / 2)] ?? 0));
  });

  it('is the same for the same seed, and not generated twice on one database', async () => {
    const first = await startTestSandbox([...HISTORY, '--seed', 'same']);
    const yesterday = `&final_date=${first.sandbox.clock.toWall(Date.now() - 86_400_000).slice(0, 10)}`;
    const days = withoutLinks(await readAll(first, yesterday));
    await using second = await startTestSandbox([...HISTORY, '--seed', 'same']);
    expect(withoutLinks(await readAll(second, yesterday))).toEqual(days);
    await using third = await startTestSandbox([...HISTORY, '--seed', 'other']);
    expect(withoutLinks(await readAll(third, yesterday))).not.toEqual(days);
    await first[Symbol.asyncDispose]();
    await using again = await startTestSandbox([...HISTORY, '--seed', 'same'], first);
    expect(again.history).toBe(0);
    expect(withoutLinks(await readAll(again, yesterday))).toEqual(days);
  });
});

describe('a seed', () => {
  it('also decides the ids and fates of transactions that clients create', async () => {
    const describeRun = async (seed: string): Promise<unknown[]> => {
      await using receiver = await startWebhookReceiver();
      await using sandbox = await startTestSandbox(['--seed', seed, '--webhook-url', receiver.url]);
      await sandbox.request('PATCH', '/sandbox/switches', { webhooks: { lose: 0.5, repeat: 0.3 } });
      const described: unknown[] = [];
      for (let i = 0; i < 12; i++) {
        const { json } = await sandbox.request('POST', '/api/v1/transaction/pix/cashin', CASHIN);
        const { id } = json.transaction[0];
        await sandbox.request('GET', `/checkout/transaction/${id}/change/paid`);
        const { text } = await sandbox.request('GET', `/sandbox/webhooks?transaction_id=${id}`);
        described.push([id, JSON.parse(text).webhooks.map(({ fate }: { fate: string }) => fate)]);
      }
      return described;
    };
    expect(await describeRun('s1')).toEqual(await describeRun('s1'));
    expect(await describeRun('s1')).not.toEqual(await describeRun('s2'));
  });
});

describe('a restart', () => {
  it('keeps all transactions unchanged', async () => {
    const first = await startTestSandbox();
    const ids: string[] = [];
    for (let i = 0; i < 120; i++) {
      const { json } = await first.request('POST', '/api/v1/transaction/pix/cashin', {
        ...CASHIN,
        reference: `r-${i}`,
      });
      ids.push(json.transaction[0].id);
    }
    const before = withoutLinks(await readAll(first));
    await first[Symbol.asyncDispose]();
    await using second = await startTestSandbox([], first);
    expect(withoutLinks(await readAll(second))).toEqual(before);
    const { status, json } = await second.request('POST', '/api/v1/transaction/pix/cashin', {
      ...CASHIN,
      reference: 'r-7',
    });
    expect([status, json.error]).toEqual([422, 25]);
    const fresh = await second.request('POST', '/api/v1/transaction/pix/cashin', CASHIN);
    expect(ids).not.toContain(fresh.json.transaction[0].id);
  });
});
