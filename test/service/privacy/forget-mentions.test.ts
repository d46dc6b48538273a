import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Observation, ObservedTransaction } from '../../../src/domain/observation.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { transactionOf, withLaterEvents } from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const PLAIN = '31415926535';
const DOTTED = '314.159.265-35';
/** Another one's, who is not forgotten. */
const OTHER = '11144477735';
const DAY = '2026-03-05';

const paid = (facts: Partial<ObservedTransaction>) =>
  transactionOf('cashout', 900n, [['paid', `${DAY} 10:00:00`]], { document: OTHER, ...facts });
const refunded = (one: ObservedTransaction) => withLaterEvents(one, [['refund', `${DAY} 11:00:00`]]);

/** The digest of an observation is what the provider shows, hashed: with all of it but one field, that field is soon found. */
function observe({ clock }: TestEnvironment['context'], transaction: ObservedTransaction): Observation {
  const text = JSON.stringify(transaction, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  const digest = createHash('sha256').update(text).digest();
  return { transaction, askedAt: clock.now(), source: { kind: 'show' }, digest };
}

async function see({ context }: TestEnvironment, transactions: ObservedTransaction[]) {
  const observations = transactions.map((one) => observe(context, one));
  const { changed } = await applyObservations(context, observations);
  return { observations, changed };
}

async function read({ context }: TestEnvironment, { id }: ObservedTransaction) {
  return await context.db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['digest', 'asked_at', 'status', 'extra', 'pix_key', 'document', 'name'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

async function forget(books: TestEnvironment) {
  const { context, dataDir, timers } = books;
  const { DATABASE_URL = '' } = context.config;
  const env = { DATABASE_URL, SECRET_KEY, DATA_DIR: dataDir };
  const { out } = await advanceUntilDone(
    books,
    runCommandInProcess(['forget', '--document', PLAIN, '--json'], env, timers),
  );
  return JSON.parse(out) as { finished: boolean; transactions: number; erased: Record<string, number> };
}

test('a document that is the PIX key of another’s transaction goes, and stays gone; all else of it stays', async () => {
  await using books = await openEnvironment({ SECRET_KEY });
  const keyed = paid({ pixKey: PLAIN });
  const dotted = paid({ pixKey: DOTTED, document: '12ABC34501DE35' });
  const own = paid({ pixKey: '111.444.777-35' });
  const phone = paid({ pixKey: '+5511987654321' });
  await see(books, [keyed, dotted, own, phone]);
  expect(await forget(books)).toMatchObject({ finished: true, transactions: 0 });
  const readKeys = async () => {
    const rows = await Promise.all([keyed, dotted, own, phone].map((one) => read(books, one)));
    return rows.map((row) => row.pix_key);
  };
  const kept = [null, null, '111.444.777-35', '+5511987654321'];
  expect(await readKeys()).toEqual(kept);
  expect(await read(books, keyed)).toMatchObject({ document: OTHER, name: keyed.name });
  // an equal observation is known, one that brings something is applied without the key
  expect((await see(books, [keyed, dotted])).changed).toEqual([]);
  expect((await see(books, [keyed, dotted].map(refunded))).changed).toHaveLength(2);
  const after = await see(books, [paid({ pixKey: DOTTED }), paid({ pixKey: OTHER })]);
  const [later, others] = await Promise.all(after.observations.map((one) => read(books, one.transaction)));
  expect([later?.pix_key, later?.document, others?.pix_key]).toEqual([null, OTHER, OTHER]);
  expect(await readKeys()).toEqual(kept);
  expect((await forget(books)).erased.transactions).toBe(0);
});

test('a document that was written as another’s PIX key beside its forgetting goes with the next change', async () => {
  await using books = await openEnvironment({ SECRET_KEY });
  const keyed = paid({ pixKey: PLAIN });
  await see(books, [keyed]);
  expect((await forget(books)).finished).toBe(true);
  // a writer that had not read of the forgetting yet
  await books.context.db.updateTable('parties').set({ pix_key: PLAIN }).execute();
  await see(books, [refunded(keyed)]);
  expect(await read(books, keyed)).toMatchObject({ status: 'refund', pix_key: null, document: OTHER });
});

test('a person who was stored beside the forgetting goes with the next change, which names nobody', async () => {
  await using books = await openEnvironment({ SECRET_KEY });
  const one = paid({ name: 'Maria' });
  await see(books, [one]);
  expect((await forget(books)).finished).toBe(true);
  // a writer that had not read of the forgetting yet
  await books.context.db.updateTable('parties').set({ document: PLAIN }).execute();
  await see(books, [refunded({ ...one, name: null, document: null })]);
  expect(await read(books, one)).toMatchObject({ status: 'refund', document: null, name: null });
});

test.each([
  ['extra', { extra: `cliente ${PLAIN}` }],
  ['PIX key', { pixKey: PLAIN }],
  ['both', { extra: PLAIN, pixKey: PLAIN }],
])('of another’s transaction that held it as %s no digest is left to try documents against', async (_, facts) => {
  await using books = await openEnvironment({ SECRET_KEY });
  const one = paid(facts);
  const first = await see(books, [one]);
  await forget(books);
  const withheld = await read(books, one);
  expect(withheld.digest).not.toEqual(first.observations[0]?.digest);
  expect([withheld.extra, withheld.pix_key]).toEqual([null, null]);
  // an equal observation is still known for one, and read no further
  await see(books, [one]);
  expect(await read(books, one)).toEqual(withheld);
  const later = await see(books, [refunded(one)]);
  const changed = await read(books, one);
  expect([changed.status, changed.extra, changed.pix_key]).toEqual(['refund', null, null]);
  expect(changed.digest).not.toEqual(later.observations[0]?.digest);
  await see(books, [refunded(one)]);
  expect(await read(books, one)).toEqual(changed);
});
