import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveCorrectionId, deriveEventId } from '../../../src/callbacks/queue/derive-webhook-id.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createMerchant, removeMerchant } from '../../../src/merchants/change-merchants.ts';
import type { FilterInput } from '../../../src/merchants/match-filter.ts';
import type { MerchantRow } from '../../../src/merchants/read-merchants.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { anyForm, anyTimeline, observeTimeline } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { propertyOptions } from '../../support/property.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const env = closeAfterAll(await openEnvironment());

const ALWAYS = new Date('2020-01-01T00:00:00Z');
/** The timelines begin at 22:00 UTC; the second merchant receives what happens from an hour later on. */
const CASES: { eventsSince: Date; filter: FilterInput }[] = [
  { eventsSince: ALWAYS, filter: {} },
  { eventsSince: new Date('2026-11-20T23:00:00-03:00'), filter: { statuses: ['paid', 'refund'] } },
  { eventsSince: ALWAYS, filter: { platforms: ['p', 'none'] } },
];

const anyTraffic = fc
  .array(
    fc.record({
      timeline: anyTimeline,
      observations: fc.array(fc.record({ seen: fc.integer({ min: 1, max: 7 }), form: anyForm }), {
        minLength: 1,
        maxLength: 5,
      }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .chain((timelines) => {
    const all = timelines.flatMap(({ timeline, observations }) =>
      observations.map(({ seen, form }) => observeTimeline(timeline, Math.min(seen, timeline.history.length), form)),
    );
    return fc.record({
      observations: fc.shuffledSubarray(all, { minLength: all.length }),
      middle: fc.nat({ max: all.length }),
      /** After which observation the backfills work. */
      works: fc.nat({ max: all.length }),
    });
  });

test('a merchant that is added before, amid or after the traffic gets the same messages in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(anyTraffic, async ({ observations, middle, works }) => {
      const add = () =>
        Promise.all(CASES.map((one) => createMerchant(env.context, { name: 'shop', url: null, ...one }))).then((made) =>
          made.map(({ merchant }) => merchant),
        );
      const before = await add();
      let amid: MerchantRow[] = [];
      for (const [index, observation] of observations.entries()) {
        if (index === middle) amid = await add();
        await applyObservations(env.context, [observation]);
        if (works === index) await runBackfills(env.context);
      }
      if (amid.length === 0) amid = await add();
      const after = await add();
      await runBackfills(env.context);
      const ids = [...new Set(observations.map((one) => one.transaction.id))];
      for (const [index, merchant] of before.entries()) {
        const expected = await readMessages(merchant, ids);
        expect(await readMessages(amid[index], ids), `amid ${index}`).toEqual(expected);
        expect(await readMessages(after[index], ids), `after ${index}`).toEqual(expected);
      }
      for (const { id } of [...before, ...amid, ...after]) await removeMerchant(env.context, id);
    }),
    propertyOptions(8, 100),
  );
});

/** Returns the messages in the order of the feed, by transaction. Checks that their ids are derived from their content. */
async function readMessages(merchant: MerchantRow | undefined, ids: string[]) {
  const rows = await env.context.db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .leftJoin('events', 'events.seq', 'callbacks.event_seq')
    .select(['transactions.id', 'webhook_id', 'callbacks.sequence', 'type', 'previous_status', 'source'])
    .leftJoin('corrections', (join) =>
      join
        .onRef('corrections.transaction_seq', '=', 'callbacks.transaction_seq')
        .onRef('corrections.sequence', '=', 'callbacks.sequence'),
    )
    .select(['events.status', 'events.at_wall', 'occurrence', 'number', 'content_hash'])
    .where('merchant_seq', '=', merchant?.seq ?? 0)
    .where('transactions.id', 'in', ids)
    .orderBy('callbacks.seq')
    .execute();
  for (const row of rows) {
    const subject = { merchantId: merchant?.id ?? '', transactionId: row.id };
    const { status, at_wall: atWall, occurrence, number, content_hash: hash, sequence } = row;
    const same = rows.filter((one) => one.id === row.id && hash && one.content_hash?.equals(hash));
    const content = hash && { hash, number: same.indexOf(row) + 1 };
    expect(row.webhook_id).toBe(
      status === null
        ? deriveCorrectionId(env.context.keys.callbackIds, subject, { sequence, content })
        : deriveEventId(env.context.keys.callbackIds, subject, {
            ...{ status, number: number ?? 0, atWall: atWall ?? '', occurrence: occurrence ?? 0 },
          }),
    );
  }
  const texts = rows.map(({ id, webhook_id: _, content_hash: __, ...row }) => [id, JSON.stringify(row)] as const);
  return ids.map((id) => texts.filter(([one]) => one === id).map(([, text]) => text));
}
