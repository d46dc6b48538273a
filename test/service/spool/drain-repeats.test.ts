import { hash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type Arrival, insertArrivals, insertMissingArrivals } from '../../../src/inbox/receive/insert-arrivals.ts';
import { writeSpooled } from '../../../src/inbox/receive/write-spooled.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { countReadsOn } from '../../support/count-reads.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const context = closeAfterAll(await openTestContext());

/** One body's arrivals, by how many milliseconds they came after the first. */
function arriveAt(...ms: number[]): Arrival[] {
  const body = Buffer.from(JSON.stringify({ transaction_id: randomUUID(), status: 'paid' }));
  return ms.map((at) => ({
    ...{ body, hash: hash('sha256', body, 'buffer'), address: '127.0.0.1', headers: {}, defect: undefined },
    receivedAt: new Date(Date.UTC(2026, 9, 1, 12, 0, 0, at)),
  }));
}

const keep = (arrivals: Arrival[]) => context.db.transaction().execute((trx) => insertArrivals(trx, arrivals));

/** The webhook's own count of its repeats, and the number that is recorded. */
async function countRepeats(of: Buffer): Promise<{ counted: number; recorded: number } | undefined> {
  return await context.db
    .selectFrom('webhooks')
    .leftJoin('webhook_repeats', 'webhook_repeats.webhook_seq', 'webhooks.seq')
    .select(['repeats as counted', (eb) => eb.fn.count<number>('webhook_repeats.seq').as('recorded')])
    .where('hash', '=', of)
    .groupBy(['webhooks.seq', 'repeats'])
    .executeTakeFirst();
}

test.each([
  ['the first arrival', [], 0, 0],
  ['a repeat', [0], 1, 1],
])('%s whose commit stands still until the drain meets it is counted once', async (_, before, at, repeats) => {
  const all = arriveAt(...before, at);
  const late = all.slice(-1);
  if (before.length > 0) await keep(all.slice(0, -1));
  const written = Promise.withResolvers<void>();
  const committing = Promise.withResolvers<void>();
  const writing = context.db.transaction().execute(async (trx) => {
    await insertArrivals(trx, late);
    written.resolve();
    await committing.promise;
  });
  await written.promise;
  // given up by then, and spooled
  const drained = writeSpooled(context, late);
  await waitForLockWaits(context);
  committing.resolve();
  await writing;
  expect(await drained).toEqual([]);
  expect(await countRepeats(late[0]?.hash ?? Buffer.alloc(0))).toEqual({ counted: repeats, recorded: repeats });
});

test('of thousands of repeats the drain reads those of its own instants', async () => {
  const ms = Array.from({ length: 3_000 }, (_, index) => index);
  const all = arriveAt(...ms);
  const others = Array.from({ length: 100 }, () => arriveAt(0, 1, 2)).flat();
  await keep([...all, ...others]);
  await sql`ANALYZE TABLE webhook_repeats`.execute(context.db);
  const again = all[0] as Arrival;
  const drained = [
    ...all.slice(-99),
    ...others.filter((_, index) => index % 3 === 2),
    { ...again, receivedAt: new Date(again.receivedAt.getTime() + 60_000) },
  ];
  const read = await context.db
    .transaction()
    .execute((trx) => countReadsOn(trx, () => insertMissingArrivals(trx, drained)));
  expect(await countRepeats(again.hash)).toEqual({ counted: 3_000, recorded: 3_000 });
  // each by its hash, by its key and by its instant, and what is written
  expect(read).toBeLessThan(6 * drained.length);
});
