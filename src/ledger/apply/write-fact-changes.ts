import type { Transaction } from 'kysely';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import type { StoredTransaction } from '../decide/decide-observation.ts';
import { sourceColumns } from '../journal/source-columns.ts';

/** The facts that may still change once a transaction is known, and that a report shows. */
const FACTS = [
  ['reference', (held: StoredTransaction) => held.reference],
  ['extra', (held: StoredTransaction) => held.extra],
  ['platform', (held: StoredTransaction) => held.platform],
  ['e2e_id', (held: StoredTransaction) => held.e2eId],
  ['operation', (held: StoredTransaction) => held.operation],
  ['amount_cents', (held: StoredTransaction) => String(held.amountCents)],
  // the numbers of events that are no more
  ['struck', listStruck],
] as const;

export type ChangedFacts = { seq: number; before: StoredTransaction; after: StoredTransaction; source: Source };

/** Keeps what facts were until now, so that a report of what was known then can be made again. */
export async function writeFactChanges(trx: Transaction<Database>, changes: ChangedFacts[], now: Date): Promise<void> {
  const rows = changes.flatMap(({ seq, before, after: held, source }) =>
    FACTS.filter(([name, read]) => read(before) !== read(held) && isShown(name, before)).map(([name, read]) => ({
      transaction_seq: seq,
      name,
      before_value: read(before),
      at: now,
      ...sourceColumns(source),
    })),
  );
  if (rows.length > 0) await trx.insertInto('fact_changes').values(rows).execute();
}

/** The end-to-end id stands beside movements alone: that most payments get theirs with their first one is no change. */
function isShown(name: string, { operation, events }: StoredTransaction): boolean {
  return name !== 'e2e_id' || operation === 'cashout' || events.some((event) => event.status === 'paid');
}

function listStruck({ outOfForce: struck }: StoredTransaction): string {
  return struck
    .map((event) => event.seq ?? 0)
    .sort((a, b) => a - b)
    .join();
}
