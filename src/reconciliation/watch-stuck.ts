import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import { isFinal, STATUSES } from '../domain/statuses.ts';
import { raiseMismatches } from '../ledger/mismatches.ts';

const ROWS_MAX = 500;
/** All else is open, a status that nobody knows too. */
const ENDED = STATUSES.filter(isFinal);

/**
 * Raises `stuck` for transactions that have been open too long: every cashout, and cashins that left
 * pending (in process, in analysis). A cashin that was only ever pending is a charge that nobody paid.
 */
export async function watchStuck(context: Context): Promise<void> {
  const now = context.clock.now();
  const wallBefore = (ms: number): string => context.calendar.toWall(new Date(now.getTime() - ms));
  const [cashouts, cashins] = [
    await findOpen(context.db, 'cashout', ENDED, wallBefore(context.config.STUCK_CASHOUT)),
    await findOpen(context.db, 'cashin', [...ENDED, 'pending'], wallBefore(context.config.STUCK_CASHIN)),
  ];
  const found = [...cashouts, ...cashins].map(
    (row): FoundMismatch => ({
      kind: 'stuck',
      severity: row.operation === 'cashout' ? 'critical' : 'medium',
      scope: row.id,
      transactionSeq: row.seq,
      transactionId: row.id,
      reference: row.reference,
      amountCents: row.amount_cents,
      expected: {
        final_within_s:
          (row.operation === 'cashout' ? context.config.STUCK_CASHOUT : context.config.STUCK_CASHIN) / 1000,
      },
      actual: { status: row.status, since: context.calendar.toIso(row.created_wall) },
      baseline: context.calendar.toInstant(row.created_wall) < context.webhooksSince,
    }),
  );
  if (found.length === 0) return;
  await transact(context.db, (trx) => raiseMismatches(trx, found, now), { retryDuplicates: true });
  context.bells.alerts.ring();
}

/** Open ones that are not told yet. */
async function findOpen(db: Kysely<Database>, operation: string, except: string[], before: string) {
  return await db
    .selectFrom('transactions')
    .leftJoin('mismatches', (join) =>
      join.on('mismatches.open_scope', '=', sql<string>`CONCAT('stuck ', transactions.id)`),
    )
    .select(['transactions.seq', 'transactions.id', 'transactions.operation', 'transactions.status'])
    .select(['transactions.reference', 'transactions.amount_cents', 'transactions.created_wall'])
    .where('transactions.status', 'not in', except)
    .where('transactions.operation', '=', operation)
    .where('transactions.created_wall', '<=', before)
    .where('mismatches.seq', 'is', null)
    .orderBy('transactions.created_wall')
    .limit(ROWS_MAX)
    .execute();
}
