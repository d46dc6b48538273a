import { sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';

const EVIDENCE = ['opened_at', 'expected', 'actual', 'amount_cents', 'run_seq'] as const;

/**
 * Records the state and evidence of mismatches, so that a later report can show them as they were. Call it after each
 * change of their rows, which the caller has locked.
 */
export async function recordMismatchChange(
  trx: Transaction<Database>,
  seqs: number[],
  by: { actor: string; note: string | null },
  now: Date,
): Promise<void> {
  if (seqs.length === 0) return;
  await trx
    .insertInto('mismatch_changes')
    .columns(['mismatch_seq', 'at', 'state', 'resolution', 'note', 'actor', ...EVIDENCE])
    .expression((eb) =>
      eb
        .selectFrom('mismatches')
        .select(['seq', sql<Date>`${now}`.as('at'), 'state', 'resolution'])
        .select([sql<string | null>`${by.note}`.as('change_note'), sql<string>`${by.actor}`.as('actor')])
        .select(EVIDENCE)
        .where('seq', 'in', seqs)
        .orderBy('seq'),
    )
    .execute();
}
