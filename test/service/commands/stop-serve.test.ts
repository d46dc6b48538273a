import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PresentedRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { copyEmbeddedData } from '../../support/copy-embedded-data.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay, makeRow } from '../../support/make-provider-rows.ts';
import { API_KEY, type Served, startServe, temporaryDirectory } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

/** A response of one byte at a time, which takes longer than serve may take to stop. */
const DRIPS = 60;
const DRIP_MS = 1_000;
const [D3, D2] = [dayAgo(3), dayAgo(2)];

let home: ReturnType<typeof temporaryDirectory>;
let provider: TestProvider;
let served: Served;

/** `serve` on the embedded database, as `npm start` runs it. */
const start = () => startServe({ home: home.path, providerUrl: provider.url });

beforeAll(async () => {
  home = temporaryDirectory();
  await copyEmbeddedData(path.join(home.path, 'data'));
  provider = await new TestProvider(API_KEY).listen();
  provider.add(...makeDay(D3, 130), ...makeDay(D2, 20));
  served = await start();
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

/**
 * Sends SIGTERM to the process, or to its whole group. Its exit code is 0 only where it ended by itself: a shutdown that
 * takes over 18 s exits 1.
 */
function stop(target: 'process' | 'group'): Promise<number | null> {
  const { child } = served.program;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  process.kill(target === 'group' ? -(child.pid ?? 0) : (child.pid ?? 0), 'SIGTERM');
  return ended;
}

const logOf = () => readFileSync(served.program.logFile, 'utf8');

async function countTransactions(): Promise<number> {
  const list = await served.api.call<{ transactions: unknown[] }>('GET', '/transactions?limit=200');
  return list.transactions.length;
}

describe.each(['process', 'group'] as const)('SIGTERM to the %s', (target) => {
  test('finishes work under way, exits 0 within 20 s, and a restart finds everything', async () => {
    const before = await countTransactions();
    // a show is under way when the signal comes, and is answered only then
    const [row] = [makeRow({ history: ['paid'] })];
    provider.add(row);
    let asked = 0;
    const signalled = Promise.withResolvers<void>();
    provider.switches.beforeResponse = async (seen) => {
      if (seen.kind !== 'show') return;
      asked++;
      await signalled.promise;
    };
    const answer = await served.webhook({ transaction_id: row.id, status: 'paid', transaction_amount: '10.00' });
    expect(answer.status).toBe(200);
    await eventually(async () => asked > 0);
    const ended = stop(target);
    await eventually(() => logOf().includes('stopping'));
    signalled.resolve();
    expect(await ended).toBe(0);
    expect(logOf()).not.toMatch(/PROTOCOL_CONNECTION_LOST|ECONNREFUSED|ENOENT/);
    expect(existsSync(path.join(home.path, 'data/serve.lock'))).toBe(false);
    provider.switches.beforeResponse = () => undefined;
    served = await start();
    await eventually(async () => (await countTransactions()) === before + 1);
  });
});

test('with a provider that hangs, or drips its answer for a minute, SIGTERM still ends it in time', async () => {
  const listed = provider.count('list');
  provider.switches.fault = (seen) =>
    seen.nth === listed + 1 ? { hang: true } : { drip: ' '.repeat(DRIPS), everyMs: DRIP_MS };
  await served.api.call('POST', '/reconciliations', { from: D3, to: D3 });
  await eventually(async () => provider.count('list') === listed + 1);
  await served.api.call('POST', '/reconciliations', { from: D2, to: D2 });
  await eventually(async () => provider.count('list') === listed + 2);
  const code = await stop('process');
  provider.switches.fault = () => undefined;
  expect(code).toBe(0);
  served = await start();
  await eventually(async () => {
    const { reconciliations } = await served.api.call<{ reconciliations: PresentedRun[] }>(
      'GET',
      '/reconciliations?limit=1',
    );
    return reconciliations[0]?.state === 'complete';
  });
});
