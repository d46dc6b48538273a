import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { eventually } from '../../support/eventually.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Call, openMerchantServer } from '../../support/open-merchant-server.ts';
import { numRuns } from '../../support/property.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

/** The states of each order: half is paid, then the rest; each half is returned. */
const STATES = ['underpaid', 'paid', 'partly_refunded', 'refunded'];
const ORDERS = numRuns(75, 2500);
/** Applied at once. */
const SOME = 250;

async function startChild({ env }: CallbackEnvironment): Promise<ChildProcess> {
  const path = fileURLToPath(new URL('follow-child.ts', import.meta.url));
  const child = fork(path, { env: { ...process.env, ...env } });
  await once(child, 'message');
  return child;
}

/** Kills it, and ends what it had leased, as if a minute had passed. */
async function kill(child: ChildProcess, { context }: CallbackEnvironment): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  const now = context.clock.now();
  await context.db.updateTable('expected_following').set({ lease_until: null }).execute();
  await context.db
    .updateTable('callbacks')
    .set({ lease_until: now, next_attempt_at: now })
    .where('lease_holder', 'is not', null)
    .where('state', '=', 'pending')
    .execute();
}

async function countHeads({ context }: CallbackEnvironment, state: string): Promise<number> {
  const row = await context.db
    .selectFrom('expected_payments')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '=', state)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The states of each order under their ids, in the order in which an id first came. */
function readStates(calls: Call[]): Map<string, string[]> {
  const seen = new Set<string>();
  const fresh = calls.filter(({ headers: { 'webhook-id': id = '' } }) => !seen.has(id) && seen.add(id));
  const bodies = fresh.map(({ body }) => JSON.parse(body).data.expected_payment as { id: string; state: string });
  return new Map(
    [...Map.groupBy(bodies, ({ id }) => id)].map(([id, list]) => [id, list.map(({ state }) => state)] as const),
  );
}

test('a merchant is sent every state of every order, in order, each once by its id, through a kill', async () => {
  await using environment = await openCallbackEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' });
  await using shop = await openMerchantServer();
  const { context } = environment;
  await environment.addMerchant(`${shop.url}/a`, { filter: { expected: true, statuses: ['none'] } });
  const names = Array.from({ length: ORDERS }, (_, index) => `order-${index}`);
  const facts = { operation: 'cashin', amount: '20.00', due_day: '2031-11-20', issued_day: '2026-11-10' };
  for (let from = 0; from < ORDERS; from += SOME) {
    const arrivals = names.slice(from, from + SOME).map((number) => ({
      ...{ source: 'shop', number, facts: expectedFactsSchema.parse({ ...facts, references: [number] }) },
    }));
    await putExpected(context, { arrivals, actor: 'test' });
  }
  const apply = async (rows: ShownTransaction[]): Promise<void> => {
    for (let from = 0; from < ORDERS; from += SOME)
      await applyObservations(
        context,
        rows.slice(from, from + SOME).map((row) => observeNow(context, row)),
      );
  };
  const halves = [0, 1].map(() =>
    names.map((reference) => makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), reference })),
  );
  const returned = (rows: ShownTransaction[] = []): ShownTransaction[] =>
    rows.map((row) => ({
      ...{ ...row, status: 'refund' },
      events: [{ status: 'refund', date_created: '2026-11-20 23:05:00' }, ...row.events],
    }));
  const stages = [halves[0] ?? [], halves[1] ?? [], returned(halves[0]), returned(halves[1])];
  let child = await startChild(environment);
  for (const [index, rows] of stages.entries()) {
    const before = shop.calls.length;
    await apply(rows);
    await eventually('some of them', () => shop.calls.length > before + ORDERS / 5);
    if (index % 2 === 0) {
      await kill(child, environment);
      child = await startChild(environment);
    }
    await eventually('all decided', async () => (await countHeads(environment, STATES[index] ?? '')) === ORDERS);
  }
  await eventually('all sent', () => [...readStates(shop.calls).values()].flat().length >= ORDERS * STATES.length);
  await kill(child, environment);
  const sent = readStates(shop.calls);
  expect(sent.size).toBe(ORDERS);
  for (const states of sent.values()) expect(states).toEqual(STATES);
});
