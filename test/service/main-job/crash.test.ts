import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshDatabase } from '../../support/database.ts';
import { type Served, startSandbox, startServe, temporaryDirectory, urlOf } from '../../support/programs.ts';
import { eventually } from '../../support/wait.ts';

const KILLS = 4;
const SENDERS = 12;
/** So many are answered before each kill, however slow the machine. */
const ANSWERED_EACH_MIN = 25;

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let sandbox: Awaited<ReturnType<typeof startSandbox>>;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  sandbox = stack.use(await startSandbox(home.path));
});
afterAll(() => stack.disposeAsync());

/** Fires webhooks from several senders until told to stop; remembers which were answered 200. */
function fire(served: Served, ids: string[]): { answered: string[]; stop: () => Promise<string[]> } {
  let going = true;
  const answered: string[] = [];
  const senders = Array.from({ length: SENDERS }, async (_, sender) => {
    for (let n = 0; going; n++) {
      const transaction_id = ids[(n * SENDERS + sender) % ids.length] ?? '';
      const body = { id: n, transaction_id, status: 'paid', nonce: randomUUID() };
      const answer = await served.webhook(body).catch(() => undefined);
      if (answer?.status === 200) answered.push(String(answer.json.id));
      else await sleep(20);
    }
  });
  return {
    answered,
    async stop() {
      going = false;
      await Promise.all(senders);
      return answered;
    },
  };
}

describe('SIGKILL at random points under load', () => {
  it('loses no webhook that was answered, and applies each after the restart', async () => {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const made = await sandbox.api.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
      transactions: Array.from({ length: 60 }, () => ({ status: 'paid', date_created: `${day} 12:00:00` })),
    });
    const ids = made.transactions.map((transaction) => transaction.id);
    const databaseUrl = urlOf(await freshDatabase());
    const answered: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const served = await startServe({ home: home.path, databaseUrl, providerUrl: sandbox.url });
      const load = fire(served, ids);
      await eventually(async () => load.answered.length > ANSWERED_EACH_MIN);
      await sleep(Math.random() * 900);
      await served.kill();
      answered.push(...(await load.stop()));
    }
    expect(answered.length).toBeGreaterThan(KILLS * ANSWERED_EACH_MIN);

    await using served = await startServe({ home: home.path, databaseUrl, providerUrl: sandbox.url });
    // leases of the killed ones run out by themselves
    await eventually(async () => {
      const pending = await served.api.call<{ webhooks: unknown[] }>('GET', '/webhooks?state=pending');
      return pending.webhooks.length === 0;
    });
    const kept = new Map<string, string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { webhooks: { id: string; state: string }[]; next_cursor: string | null } = await served.api.call(
        'GET',
        `/webhooks?limit=200${cursor ? `&cursor=${cursor}` : ''}`,
      );
      for (const webhook of page.webhooks) kept.set(webhook.id, webhook.state);
      cursor = page.next_cursor;
    }
    expect(answered.filter((id) => kept.get(id) !== 'applied')).toEqual([]);
    const paid = await served.api.call<{ transactions: unknown[] }>('GET', '/transactions?status=paid&limit=200');
    expect(paid.transactions.length).toBe(ids.length);
  }, 120_000);
});
