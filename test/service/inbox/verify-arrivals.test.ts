import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { type ClaimedItem, LEASE_MS, newLease } from '../../../src/inbox/items/claim-items.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { offerVerification, type WrittenArrival } from '../../../src/inbox/receive/take-arrivals.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { createArrivalTaker } from '../../../src/inbox/verify/verify-arrivals.ts';
import { eventually } from '../../support/eventually.ts';
import { holdReads, LOST } from '../../support/failing-database.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';

const DOCUMENT = '12345678909';
let environment: InboxEnvironment;
beforeEach(async () => {
  environment = await openInboxEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

const paid = () => {
  const { id } = environment.provider.put(makeShownTransaction(['paid@1'], { id: randomUUID() }));
  return { transaction_id: id, status: 'paid' };
};

/** The provider answers no show before `release`. */
function holdShows(): { release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  environment.provider.switches.beforeResponse = ({ kind }) => (kind === 'show' ? promise : undefined);
  return { release: resolve };
}

async function readStored(id: string) {
  const { seq } = await environment.webhook(id);
  const { db } = environment.context;
  const webhook = await db
    .selectFrom('webhooks')
    .select(['state', 'items', 'body'])
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow();
  const items = await db.selectFrom('webhook_items').selectAll().where('webhook_seq', '=', seq).execute();
  return { ...webhook, rows: items };
}

/** The columns that come from the body. */
async function readItemColumns(id: string) {
  const [row] = (await readStored(id)).rows;
  if (!row) throw new Error(`${id} has no item`);
  const { position, transaction_id, reference, extra_hash, claimed_status, claimed_amount_cents } = row;
  return { position, transaction_id, reference, extra_hash, claimed_status, claimed_amount_cents };
}

/** From now on the loop of this process loses what it takes, as if the process was killed after the commit. */
function loseTaken(): void {
  const { context } = environment;
  offerVerification(context, { lease: () => newLease(context), take: () => undefined, track: () => undefined });
}

test('a webhook of one transaction is committed with its item, under a lease, and then verified without a split', async () => {
  const shows = holdShows();
  const body = paid();
  const { id } = await environment.receive(body);
  const stored = await readStored(id);
  expect(stored).toMatchObject({ state: 'pending', items: 1 });
  expect(stored.rows).toMatchObject([{ state: 'pending', position: 0, transaction_id: body.transaction_id }]);
  expect(stored.rows[0]?.lease_holder).toContain(environment.context.holder);
  await eventually('the show is sent', () => environment.provider.count('show') === 1);
  shows.release();
  await environment.waitForState(id, 'applied');
  expect(environment.provider.count('show')).toBe(1);
});

test('a webhook of two transactions, or without a usable key, is stored for the split', async () => {
  loseTaken();
  const several = await environment.receive({ transactions: [paid(), paid()] });
  const none = await environment.receive({ status: 'paid' });
  await environment.waitForState(several.id, 'applied');
  expect(await environment.waitForState(none.id, 'quarantined')).toMatchObject({ reason: 'no_key' });
});

const ID = '0190a1b2-0000-7000-8000-00000000000a';

test.each([
  { transaction_id: ID.toUpperCase(), status: 'paid', transaction_amount: '12.34' },
  { transaction_reference: "é?'\\ 😀 \ud800", status: 'pa?id' },
  { reference: 'ab'.repeat(200), status: 'x'.repeat(300), amount: '90071992547409.91' },
  { extra: '??', amount: 0.1 },
  { data: { id: ID, status: 'refund', amount: '-1' } },
  { path: `/api/v1/transaction/${ID}`, id: 30 },
])('the receiver writes the item of a body as the split does: %j', async (body) => {
  loseTaken();
  const other = await environment.replica();
  const receiveOnly = createReceiver(other, undefined);
  const { id } = await environment.receive({ ...body, via: 'receiver' });
  const split = Buffer.from(JSON.stringify({ ...body, via: 'split' }));
  const { id: splitId } = await receiveOnly({ body: split, address: '127.0.0.1', headers: {} });
  await eventually(
    'the body is split',
    async () => (await splitWebhooks(other, 0)) && (await readStored(splitId)).items,
  );
  const [taken, made] = await Promise.all([id, splitId].map(readItemColumns));
  expect(taken).toBeDefined();
  expect(taken).toEqual(made);
});

test('a webhook that a killed process had taken is verified once its lease ran out', async () => {
  loseTaken();
  const { id } = await environment.receive(paid());
  await environment.timers.advance(LEASE_MS - 1_000);
  expect(environment.provider.count('show')).toBe(0);
  expect((await environment.webhook(id)).state).toBe('pending');
  await environment.timers.advance(2_000);
  await environment.waitForState(id, 'applied');
});

test('a webhook whose commit was lost is stored once, answered as new, and verified once its lease ran out', async () => {
  const { context } = environment;
  let lost = 0;
  const transact: typeof context.preparedStatements.transact = async (...statements) => {
    await context.preparedStatements.transact(...statements);
    lost++;
    throw LOST;
  };
  const receive = createReceiver(
    { ...context, preparedStatements: { ...context.preparedStatements, transact } },
    undefined,
  );
  const body = Buffer.from(JSON.stringify(paid()));
  const { id, duplicate } = await receive({ body, address: '127.0.0.1', headers: {} });
  expect({ lost, duplicate }).toEqual({ lost: 1, duplicate: false });
  expect((await readStored(id)).rows).toHaveLength(1);
  await environment.timers.advance(LEASE_MS);
  await environment.waitForState(id, 'applied');
  expect((await environment.webhook(id)).repeats).toBe(0);
});

test('a webhook that names a forgotten person is redacted before the provider is asked', async () => {
  const { context, provider } = environment;
  await context.db
    .insertInto('forgotten_people')
    .values({ document_hash: hashDocument(context.keys, DOCUMENT), forgotten_at: new Date() })
    .execute();
  const shows = holdShows();
  const { id } = await environment.receive({ ...paid(), document: DOCUMENT });
  await eventually('the show is sent', () => provider.count('show') === 1);
  expect(String((await readStored(id)).body)).not.toContain(DOCUMENT);
  shows.release();
  await environment.waitForState(id, 'applied');
});

test('webhooks that are being redacted occupy slots, and are not verified after the signal', async () => {
  const held = holdReads(environment.context, 'webhooks');
  const stop = new AbortController();
  const started: number[] = [];
  const taker = createArrivalTaker(
    { ...held.context, signal: stop.signal },
    { slots: () => 2, start: (items) => started.push(...items.map(({ seq }) => seq)) },
  );
  const written = (itemSeq: number): WrittenArrival => ({
    arrival: {
      ...{ hash: Buffer.alloc(32), body: Buffer.from('{}'), address: '127.0.0.1', headers: {} },
      ...{ receivedAt: new Date(), defect: undefined },
    },
    item: { transactionId: randomUUID(), reference: null, extra: null, claimedStatus: null, claimedAmountCents: null },
    webhookSeq: itemSeq,
    itemSeq,
  });
  taker.take([written(1)], true);
  await eventually('it is redacted', () => started.length === 1);
  held.hold();
  taker.take([written(2)], true);
  await eventually('the redaction waits', () => held.held() === 1);
  expect(taker.lease(1)).toBeDefined();
  expect(taker.lease(2)).toBeUndefined();
  stop.abort();
  held.release();
  // the stop awaits the redaction
  await taker.ended();
  expect(environment.context.countConnections().inUse).toBe(0);
  expect(started).toEqual([1]);
});

test('a webhook whose commit is in flight at the signal is left without a lease, and the stop awaits it', async () => {
  const { context } = environment;
  const stop = new AbortController();
  const committed = Promise.withResolvers<void>();
  const transact: typeof context.preparedStatements.transact = async (...statements) => {
    const results = await context.preparedStatements.transact(...statements);
    await committed.promise;
    return results;
  };
  const stopping = {
    ...{ ...context, signal: stop.signal },
    preparedStatements: { ...context.preparedStatements, transact },
  };
  const started: ClaimedItem[] = [];
  const taker = createArrivalTaker(stopping, { slots: () => 10, start: (items) => started.push(...items) });
  offerVerification(context, taker);
  const shows = holdShows();
  const receiving = createReceiver(
    stopping,
    undefined,
  )({
    ...{ body: Buffer.from(JSON.stringify(paid())), address: '127.0.0.1', headers: {} },
  });
  await eventually('it is committed', async () =>
    context.db.selectFrom('webhook_items').select('seq').where('lease_until', 'is not', null).executeTakeFirst(),
  );
  stop.abort();
  const ended = taker.ended();
  committed.resolve();
  await ended;
  expect(started).toEqual([]);
  const { id } = await receiving;
  // the loop of the other process claims it at once: the clock does not move
  await eventually('the show is sent', () => environment.provider.count('show') === 1);
  shows.release();
  await environment.waitForState(id, 'applied');
});
