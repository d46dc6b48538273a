/** Each event of the provider's history reaches each merchant in one message, in any pieces in which the history is learnt. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callbackRetention } from '../../../src/callbacks/manage/drop-delivered.ts';
import { deriveEventId } from '../../../src/callbacks/queue/derive-webhook-id.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createMerchant, removeMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import type { MerchantRow } from '../../../src/merchants/read-merchants.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { propertyOptions } from '../../support/property.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const env = closeAfterAll(await openEnvironment());

const CREATED = '2026-11-20 22:00:00';
const ALWAYS = new Date('2020-01-01T00:00:00Z');

const addMerchant = async (more: Partial<Parameters<typeof createMerchant>[1]> = {}): Promise<MerchantRow> =>
  (await createMerchant(env.context, { name: 'shop', url: null, eventsSince: ALWAYS, ...more })).merchant;

let asked = Date.parse('2026-11-21T12:00:00Z');
const apply = async (shown: ShownTransaction): Promise<void> => {
  asked += 1000;
  await applyObservations(env.context, [observe(shown, new Date(asked))]);
};

/** The messages of a merchant: those that it has, and those that retention deleted since. */
async function readMessages({ seq }: MerchantRow, deleted: Message[] = []): Promise<Message[]> {
  const rows = await env.context.db
    .selectFrom('callbacks')
    .select(['webhook_id', 'type', 'merchant_seq'])
    .where('merchant_seq', '=', seq)
    .orderBy('seq')
    .execute();
  return [...deleted.filter((one) => one.merchant_seq === seq), ...rows];
}

type Message = { webhook_id: string; type: string; merchant_seq: number };

/** Delivers all messages, and lets RETAIN_CALLBACKS delete them. @returns the deleted ones. */
async function deleteMessages(): Promise<Message[]> {
  const { db, clock } = env.context;
  const messages = await db.selectFrom('callbacks').select(['webhook_id', 'type', 'merchant_seq']).execute();
  await db.updateTable('callbacks').set({ state: 'delivered', delivered_at: clock.now() }).execute();
  const before = new Date(clock.now().getTime() + 1000);
  for await (const _ of callbackRetention(env.context).run({ before, write: true }));
  expect(await db.selectFrom('callbacks').select('seq').execute()).toEqual([]);
  return messages;
}

const typesOf = (messages: Message[]): string[] =>
  messages.flatMap(({ type }) => (type.endsWith('.corrected') ? [] : [type.split('.').at(-1) ?? ''])).sort();

/** A payment that is created before its first event: an inferred event of it has a time of its own. */
function makePayment(...events: string[]): ShownTransaction {
  return { ...makeShownTransaction(events), date_created: CREATED };
}

/** The row as the provider shows it with some of its events alone, oldest first: none is a row without a history. */
const showing = (row: ShownTransaction, ...kept: number[]): ShownTransaction => ({
  ...row,
  events: row.events
    .toReversed()
    .filter((_, index) => kept.includes(index))
    .toReversed(),
});

test('a payment without history, then with a shorter one, then with the whole, is announced once', async () => {
  const notified = await addMerchant();
  const row = makePayment('pending@0', 'in_process@3', 'paid@5');
  await apply(showing(row));
  await apply(showing(row, 0));
  await apply(row);
  const late = await addMerchant();
  await runBackfills(env.context);
  for (const merchant of [notified, late])
    expect(typesOf(await readMessages(merchant))).toEqual(['in_process', 'paid', 'pending']);
  for (const { id } of [notified, late]) await removeMerchant(env.context, id);
});

test('a payment whose message was deleted after RETAIN_CALLBACKS is not announced again with its history', async () => {
  const notified = await addMerchant();
  const since = await addMerchant({ eventsSince: new Date('2026-11-20T22:30:00-03:00') });
  const row = makePayment('pending@0', 'paid@5');
  await apply(showing(row));
  const deleted = await deleteMessages();
  await apply(showing(row, 0));
  await apply(row);
  expect(typesOf(await readMessages(notified, deleted))).toEqual(['paid', 'pending']);
  expect(typesOf(await readMessages(since, deleted)), 'the inferred one is of before its events').toEqual([
    'paid',
    'pending',
  ]);
  await updateMerchant(env.context, notified.id, { eventsSince: new Date(0) });
  await runBackfills(env.context);
  expect(typesOf(await readMessages(notified, deleted)), 'nor by a backfill').toEqual(['paid', 'pending']);
  for (const { id } of [notified, since]) await removeMerchant(env.context, id);
});

test('a payment that the version without numbers announced is not announced again when it is dated anew', async () => {
  const filter = { platforms: ['upgraded'] };
  const notified = await addMerchant({ filter });
  const row = { ...makePayment('pending@0', 'paid@5'), platform: 'upgraded' };
  await apply(showing(row));
  // the table is append-only
  await sql`DROP TRIGGER events_no_update`.execute(env.context.db);
  await env.context.db.updateTable('events').set({ number: null }).execute();
  await apply(showing(row, 0));
  await apply(row);
  const late = await addMerchant({ filter });
  await runBackfills(env.context);
  for (const merchant of [notified, late]) expect(typesOf(await readMessages(merchant))).toEqual(['paid', 'pending']);
  for (const { id } of [notified, late]) await removeMerchant(env.context, id);
});

test('a second payment at the time at which the first one was inferred is announced too', async () => {
  const notified = await addMerchant();
  const row = { ...makePayment('paid@0', 'refund@3', 'paid@5'), date_created: '2026-11-20 23:00:00' };
  await apply(showing(row));
  await apply(showing(row, 1, 2));
  await apply(row);
  await apply(row);
  expect(typesOf(await readMessages(notified))).toEqual(['paid', 'paid', 'refund']);
  await removeMerchant(env.context, notified.id);
});

const STATUSES = ['pending', 'in_process', 'paid', 'paid', 'refund', 'partially_paid'];

const anyTruth = fc.array(
  fc.record({ status: fc.constantFrom(...STATUSES), after: fc.constantFrom(0, 0, 1, 60, 3600) }),
  { minLength: 1, maxLength: 5 },
);

/** Observations of a growing history: after `seen` events, with those that `lacks` does not name; `bare`: without its history. */
const anyObservations = fc.array(
  fc.record({
    seen: fc.integer({ min: 1, max: 5 }),
    lacks: fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 3 }),
    form: fc.constantFrom('bare', 'bare', 'shortened', 'shortened', 'whole'),
  }),
  { minLength: 1, maxLength: 6 },
);

/** The ids that a merchant knows these statuses by, in any order of learning. */
function listIds({ id }: MerchantRow, transactionId: string, statuses: string[]): string[] {
  const { callbackIds } = env.context.keys;
  return statuses
    .map((status, index) => {
      const number = statuses.slice(0, index + 1).filter((one) => one === status).length;
      const event = { status, number, atWall: '', occurrence: 0 };
      return deriveEventId(callbackIds, { merchantId: id, transactionId }, event);
    })
    .sort();
}

let cases = 0;

test('shortened, lagging and bare histories in any order give each merchant each event of the whole one once', async () => {
  const anyCase = fc.record({
    truth: anyTruth,
    observations: anyObservations,
    deletes: fc.nat({ max: 8 }),
    adds: fc.nat({ max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(anyCase, async ({ truth, observations, deletes, adds }) => {
      let at = Date.parse(`${CREATED.replace(' ', 'T')}Z`);
      const history = truth.map(({ status, after }) => {
        at += after * 1000;
        return { status, date_created: new Date(at).toISOString().slice(0, 19).replace('T', ' ') };
      });
      const platform = `case ${++cases}`;
      const base = { ...makePayment('pending@0'), platform };
      const filter = { platforms: [platform] };
      const show = (seen: number, isKept: (index: number) => boolean): ShownTransaction => ({
        ...base,
        status: history[Math.min(seen, history.length) - 1]?.status ?? '',
        events: history
          .slice(0, seen)
          .filter((_, index) => isKept(index))
          .toReversed(),
      });
      const merchants = [await addMerchant({ filter })];
      let deleted: Message[] = [];
      for (const [index, { seen, lacks, form }] of observations.entries()) {
        if (index === adds) merchants.push(await addMerchant({ filter }));
        await apply(show(seen, (one) => form === 'whole' || (form === 'shortened' && !lacks.includes(one))));
        if (index === deletes) {
          await runBackfills(env.context);
          deleted = await deleteMessages();
        }
      }
      await apply(show(history.length, () => true));
      merchants.push(await addMerchant({ filter }));
      await runBackfills(env.context);
      const expected = history.map(({ status }) => status).sort();
      for (const [index, merchant] of merchants.entries()) {
        const messages = await readMessages(merchant, deleted);
        expect(typesOf(messages), `merchant ${index}`).toEqual(expected);
        const ids = messages.filter(({ type }) => !type.endsWith('.corrected')).map((one) => one.webhook_id);
        expect(ids.sort(), `merchant ${index}`).toEqual(listIds(merchant, base.id, expected));
      }
      for (const { id } of merchants) await removeMerchant(env.context, id);
    }),
    propertyOptions(12, 200),
  );
});
