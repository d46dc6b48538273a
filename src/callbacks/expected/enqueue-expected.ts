/**
 * Writes the callbacks of changes of expected payments, to merchants whose filter asks for them.
 *
 * A change has a callback where `expected_changes.content_hash` is set: the follower (src/expected) decides that, once. What it says is
 * rendered from stored rows, so each merchant, now or in a backfill, is sent the same. Which ones a merchant has is known by the number of
 * the change, not by the webhook-id.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import { groupValues } from '../../domain/lists.ts';
import type { Operation } from '../../domain/statuses.ts';
import { asksForExpected } from '../../merchants/match-filter.ts';
import { toSubject } from '../health/callback-sources.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import {
  type CallbackInsert,
  type ExpectedCause,
  type Recipient,
  receivesExpected,
  toExpectedRow,
} from '../queue/callback-rows.ts';
import { insertCallbacks } from '../queue/enqueue-callbacks.ts';
import { isDropped, readSent } from '../queue/history/list-missing.ts';
import { readRecipients } from '../queue/read-recipients.ts';

/**
 * Writes the callbacks of new changes, in the database transaction that wrote the changes. Merchants with an open backfill get what they
 * lack of these expected payments first. The caller notifies `context.wakeUps.callbacks` after its commit.
 * @param changes whose expected payments are locked, each once. @returns how many callbacks were added.
 */
export async function enqueueExpected(
  context: Context,
  trx: Transaction<Database>,
  changes: { seq: number; sequence: number }[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const recipients = (await readRecipients(trx)).filter(({ filters }) => asksForExpected(filters));
  if (recipients.length === 0) return 0;
  const from = new Map(changes.map(({ seq, sequence }) => [seq, sequence]));
  const options = { dueAt: context.clock.now(), from };
  const rows = await listMissingExpected(context, trx, recipients, [...from.keys()], options);
  return await insertCallbacks(trx, rows);
}

/** Writes what a merchant lacks of these expected payments, at the lowest priority. @returns how many callbacks were added. */
export async function enqueueMissingExpected(
  context: Context,
  trx: Transaction<Database>,
  recipient: Recipient,
  expectedSeqs: number[],
): Promise<number> {
  const rows = await listMissingExpected(context, trx, [recipient], expectedSeqs, { dueAt: WHEN_IDLE });
  await insertCallbacks(trx, rows);
  return rows.length;
}

/**
 * Returns the callbacks that merchants lack of these expected payments, in order for each. It leaves out those that may have been
 * deleted after their delivery.
 * @param options.from of a merchant without an open backfill, only changes from this number on, by the expected payment's row number.
 */
export async function listMissingExpected(
  context: Context,
  db: Reader,
  recipients: Recipient[],
  expectedSeqs: number[],
  { dueAt, from }: { dueAt: Date; from?: Map<number, number> },
): Promise<CallbackInsert[]> {
  const causes = await readExpectedCauses(db, expectedSeqs);
  const sent = await readSent(db, recipients, expectedSeqs.map(toSubject));
  return causes.flatMap((cause) => {
    const lacks = (recipient: Recipient): boolean =>
      (recipient.isBackfilling || cause.sequence >= (from?.get(cause.seq) ?? 0)) &&
      !sent.get(`${recipient.seq} ${toSubject(cause.seq)}`)?.others.has(cause.sequence) &&
      !isDropped(recipient, cause.at) &&
      receivesExpected(recipient, cause);
    return recipients.filter(lacks).map((recipient) => toExpectedRow(context, recipient, cause, dueAt));
  });
}

/** Reads the changes that have callbacks, in order for each expected payment. */
export async function readExpectedCauses(db: Reader, expectedSeqs: number[]): Promise<ExpectedCause[]> {
  if (expectedSeqs.length === 0) return [];
  const rows = await db
    .selectFrom('expected_changes as change')
    .innerJoin('expected_payments as head', 'head.seq', 'change.expected_seq')
    .innerJoin('expected_versions as facts', (join) =>
      join.onRef('facts.expected_id', '=', 'head.id').onRef('facts.version', '=', 'change.version'),
    )
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'facts.seq')
    .select(['head.seq', 'head.id', 'head.number', 'head.operation', 'facts.seq as version_seq', 'facts.platform'])
    .select(['change.sequence', 'change.state', 'change.at', 'change.content_hash', 'texts.extra'])
    .select('head.merchant_seq')
    .where('change.expected_seq', 'in', expectedSeqs)
    .where('change.content_hash', 'is not', null)
    .orderBy('change.expected_seq')
    .orderBy('change.sequence')
    .execute();
  const references = await readReferences(db, [...new Set(rows.map((row) => row.version_seq))]);
  const times = new Map<string, number>();
  return rows.flatMap(({ seq, id, sequence, state, at, content_hash: hash, merchant_seq: merchantSeq, ...row }) => {
    if (hash === null) return [];
    const key = `${seq} ${hash.toString('hex')}`;
    const number = (times.get(key) ?? 0) + 1;
    times.set(key, number);
    const names = [row.number, ...(references.get(row.version_seq) ?? [])];
    const facts = { operation: row.operation as Operation, platform: row.platform, extra: row.extra, names };
    return { seq, id, sequence, state, at, merchantSeq, content: { hash, number }, facts };
  });
}

async function readReferences(db: Reader, versionSeqs: number[]): Promise<Map<number, string[]>> {
  if (versionSeqs.length === 0) return new Map();
  const rows = await db
    .selectFrom('expected_keys')
    .select(['version_seq', 'value'])
    .where('version_seq', 'in', versionSeqs)
    .where('kind', '=', 'reference')
    .execute();
  return groupValues(
    rows,
    (row) => row.version_seq,
    (row) => row.value,
  );
}
