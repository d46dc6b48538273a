import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../demo/start-programs.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { API_KEY, SECRET_KEY, type Served, startServe, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

const KILLS = numRuns(2, 20);
const KILLED_WITHIN_MS = 250;
const SENDERS = 12;
/** Number of answered webhooks before each kill, also on a slow machine. */
const ANSWERED_EACH_MIN = 25;

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let sandbox: { api: Api; url: string };

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  const { url } = stack.use(await startTestSandbox());
  sandbox = { url, api: createApi(url, '', API_KEY) };
});
afterAll(() => stack.disposeAsync());

type Answered = { webhook: string; transaction: string };

/** Sends webhooks from several senders until stopped, and records those answered 200. */
function fire(served: Served, ids: string[]): { answered: Answered[]; stop: () => Promise<Answered[]> } {
  let going = true;
  const answered: Answered[] = [];
  const senders = Array.from({ length: SENDERS }, async (_, sender) => {
    for (let n = 0; going; n++) {
      const transaction_id = ids[(n * SENDERS + sender) % ids.length] ?? '';
      const body = { id: n, transaction_id, status: 'paid', nonce: randomUUID() };
      const answer = await served.webhook(body).catch(() => undefined);
      if (answer?.status === 200) answered.push({ webhook: String(answer.json.id), transaction: transaction_id });
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
    const database = await createTestDatabase();
    const databaseUrl = urlOf(database);
    const answered: Answered[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const served = await startServe({ home: home.path, databaseUrl, providerUrl: sandbox.url });
      const load = fire(served, ids);
      await eventually(async () => load.answered.length > ANSWERED_EACH_MIN);
      await sleep(Math.random() * KILLED_WITHIN_MS);
      await served.kill();
      answered.push(...(await load.stop()));
    }
    expect(answered.length).toBeGreaterThan(KILLS * ANSWERED_EACH_MIN);

    const env = { SECRET_KEY };
    await using served = await openServedEnvironment({ providerUrl: sandbox.url, env, on: database });
    // the leases of killed processes expire
    const applied = eventually(async () => {
      const pending = await served.api.call<{ webhooks: unknown[] }>('GET', '/webhooks?state=pending');
      return pending.webhooks.length === 0;
    });
    await advanceUntilDone(served, applied);
    const kept = new Map<string, string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { webhooks: { id: string; state: string }[]; next_cursor: string | null } = await served.api.call(
        'GET',
        `/webhooks?limit=200${cursor ? `&cursor=${cursor}` : ''}`,
      );
      for (const webhook of page.webhooks) kept.set(webhook.id, webhook.state);
      cursor = page.next_cursor;
    }
    expect(answered.filter((one) => kept.get(one.webhook) !== 'applied')).toEqual([]);
    const paid = await served.api.call<{ transactions: { id: string }[] }>(
      'GET',
      '/transactions?status=paid&limit=200',
    );
    const known = new Set(paid.transactions.map((one) => one.id));
    expect(answered.filter((one) => !known.has(one.transaction))).toEqual([]);
  });
});
