import type { Transaction } from 'kysely';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import type { StoredTransaction } from '../decide/stored-transaction.ts';
import { sourceColumns } from '../journal/source-columns.ts';

/** Facts of a known transaction that may still change and that reports show. */
const FACTS = [
  ['reference', (after: StoredTransaction) => after.reference],
  ['extra', (after: StoredTransaction) => after.extra],
  ['platform', (after: StoredTransaction) => after.platform],
  ['e2e_id', (after: StoredTransaction) => after.e2eId],
  ['operation', (after: StoredTransaction) => after.operation],
  ['amount_cents', (after: StoredTransaction) => String(after.amountCents)],
  // the row numbers of events out of force; `struck` is the stored name
  ['struck', listOutOfForce],
] as const;

export type ChangedFacts = { seq: number; before: StoredTransaction; after: StoredTransaction; source: Source };

/** Stores the previous values of changed facts, so that a report of an earlier cut can be reproduced. */
export async function writeFactChanges(trx: Transaction<Database>, changes: ChangedFacts[], now: Date): Promise<void> {
  const rows = changes.flatMap(({ seq, before, after, source }) =>
    FACTS.filter(([name, read]) => read(before) !== read(after) && isShown(name, before)).map(([name, read]) => ({
      transaction_seq: seq,
      name,
      before_value: read(before),
      at: now,
      ...sourceColumns(source),
    })),
  );
  if (rows.length > 0) await trx.insertInto('fact_changes').values(rows).execute();
}

/** An end-to-end id is shown beside movements only: receiving it together with the first movement is no change. */
function isShown(name: string, { operation, events }: StoredTransaction): boolean {
  return name !== 'e2e_id' || operation === 'cashout' || events.some((event) => event.status === 'paid');
}

function listOutOfForce({ outOfForce }: StoredTransaction): string {
  return outOfForce
    .map((event) => requireRowNumber(event.seq, 'an event out of force'))
    .sort((a, b) => a - b)
    .join();
}
