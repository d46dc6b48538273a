import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { isFinal, type Operation } from '../../domain/statuses.ts';
import { readEventsInForce } from '../../ledger/apply/load-stored-transactions.ts';
import { stateOf } from '../../ledger/journal/plan-entries.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';
import type { PaymentFacts, Standing } from '../decide/facts.ts';

/** `paidWall`: of the first paid event; null without one. `extra`, `statuses`: which merchants see it; an erased extra is null. */
export type LoadedPayment = {
  facts: PaymentFacts;
  id: string;
  paidWall: WallTime | null;
  extra: string | null;
  statuses: string[];
};

/** Reads what payments are matched by, without a lock. @param seqs row numbers of transactions. */
export async function readPayments(
  { keys }: Pick<Context, 'keys'>,
  db: Reader,
  seqs: number[],
): Promise<LoadedPayment[]> {
  if (seqs.length === 0) return [];
  const rows = await db
    .selectFrom('transactions')
    .leftJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['transactions.seq', 'id', 'operation', 'amount_cents', 'platform', 'reference', 'e2e_id'])
    .select(['extra', 'extra_hash', 'document_hash', 'transactions.created_wall'])
    .where('transactions.seq', 'in', seqs)
    .execute();
  const histories = await readEventsInForce(db, seqs);
  return rows.map(({ seq, id, platform, reference, ...row }) => {
    const events = histories.get(seq) ?? [];
    const operation = row.operation as Operation;
    // the hash of an extra that is withheld is keyed already
    const extraHash =
      row.extra_hash && (row.extra === null ? row.extra_hash : createKeyedExtraHash(keys, row.extra_hash));
    const paidWall = events.find(({ status }) => status === 'paid')?.atWall ?? null;
    const facts = {
      ...{ seq, operation, amountCents: row.amount_cents, platform, reference, e2eId: row.e2e_id },
      extraHash: extraHash?.toString('hex') ?? null,
      documentHash: row.document_hash?.toString('hex') ?? null,
      day: (paidWall ?? row.created_wall).slice(0, 10),
      standing: standingOf(operation, events),
    };
    return { facts, id, paidWall, extra: row.extra, statuses: events.map(({ status }) => status) };
  });
}

function standingOf(operation: Operation, events: { status: string; atWall: WallTime }[]): Standing {
  const state = stateOf(operation, events);
  if (state === 'settled' || state === 'returned') return state;
  const last = events.at(-1);
  return last && !isFinal(last.status) ? 'pending' : 'none';
}
