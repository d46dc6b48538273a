import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import { FINAL_STATUSES, type Operation } from '../../domain/statuses.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';

/** Ids that are read at once, and mismatches that are raised in one transaction. */
const READ_MAX = 20_000;
const RAISED_MAX = 500;
const START_OF_TIME = '0000-01-01 00:00:00';
/** All other statuses are open, unknown ones too. */

type Limit = { operation: Operation; ended: readonly string[]; withinMs: number };
type Range = { from: string; to: string };
type Candidate = { id: string; created_wall: string };

/**
 * Raises `stuck` for transactions that have been open too long: every cashout, and cashins that left pending (in
 * process, in analysis). A cashin that was only ever pending is a charge that nobody paid. Transactions from before
 * WEBHOOKS_SINCE come last: a first installation may import years of them.
 */
export async function watchStuck(context: Context): Promise<void> {
  const { STUCK_CASHOUT, STUCK_CASHIN } = context.config;
  const limits: Limit[] = [
    { operation: 'cashout', ended: FINAL_STATUSES, withinMs: STUCK_CASHOUT },
    { operation: 'cashin', ended: [...FINAL_STATUSES, 'pending'], withinMs: STUCK_CASHIN },
  ];
  const since = context.calendar.toWallTime(context.webhooksSince);
  const now = context.clock.now();
  for (const isFresh of [true, false]) {
    for (const limit of limits) {
      const to = context.calendar.toWallTime(new Date(now.getTime() - limit.withinMs));
      await watchRange(context, limit, isFresh ? { from: since, to } : { from: START_OF_TIME, to: min(to, since) });
    }
  }
}

/** Reads on to the end of the range: resolved and already raised transactions must not hide later ones. */
async function watchRange(context: Context, limit: Limit, range: Range): Promise<void> {
  let after: Candidate = { created_wall: range.from, id: '' };
  while (!context.signal.aborted) {
    const rows = await findOpen(context, limit, after, range.to);
    for (let start = 0; start < rows.length && !context.signal.aborted; start += RAISED_MAX) {
      const ids = rows.slice(start, start + RAISED_MAX).map((row) => row.id);
      const raised = await transact(context.db, (trx) => raiseOpen(context, trx, limit, ids), {
        retryDuplicates: true,
      });
      if (raised > 0) context.wakeUps.alerts.notify();
    }
    const last = rows.at(-1);
    if (!last || rows.length < READ_MAX) return;
    after = last;
  }
}

/** Open transactions without a mismatch, oldest first; not those that a person resolved in their current status. */
async function findOpen(context: Context, limit: Limit, after: Candidate, to: string): Promise<Candidate[]> {
  return await context.db
    .selectFrom('transactions')
    .leftJoin('mismatches', (join) =>
      join.onRef('mismatches.scope', '=', 'transactions.id').on('mismatches.kind', '=', 'stuck'),
    )
    .select(['transactions.id', 'transactions.created_wall'])
    .where('transactions.status', 'not in', limit.ended)
    .where('transactions.operation', '=', limit.operation)
    .where('transactions.created_wall', '<=', to)
    .where(sql<boolean>`(transactions.created_wall, transactions.id) > (${after.created_wall}, ${after.id})`)
    .where((eb) =>
      eb.or([
        eb('mismatches.seq', 'is', null),
        eb.and([
          eb('mismatches.state', '=', 'resolved'),
          eb.or([
            eb('mismatches.kept_scope', 'is', null),
            sql<boolean>`JSON_UNQUOTE(JSON_EXTRACT(mismatches.actual, '$.status')) <> transactions.status`,
          ]),
        ]),
      ]),
    )
    .orderBy('transactions.created_wall')
    .orderBy('transactions.id')
    .limit(READ_MAX)
    .execute();
}

/**
 * Raises the transactions that are still open once they are locked, in the lock order of every writer. Without the lock
 * a transaction that ends meanwhile would find nothing to resolve, nor would any later observation.
 * @returns how many mismatches were raised.
 */
async function raiseOpen(context: Context, trx: Transaction<Database>, limit: Limit, ids: string[]): Promise<number> {
  const { rows } = await sql<Open>`
    SELECT seq, id, status, reference, amount_cents, created_wall
    FROM transactions FORCE INDEX (transactions_id)
    WHERE id IN (${sql.join(ids)}) AND operation = ${limit.operation} AND status NOT IN (${sql.join(limit.ended)})
    ORDER BY id FOR UPDATE`.execute(trx);
  const found = rows.map((row) => toMismatch(context, limit, row));
  return (await raiseMismatches(trx, found, context.clock.now())).length;
}

type Open = Pick<Database['transactions'], 'status' | 'created_wall'> & {
  seq: number;
  id: string;
  reference: string | null;
  amount_cents: bigint;
};

function toMismatch(context: Context, { operation, withinMs }: Limit, row: Open): FoundMismatch {
  return {
    kind: 'stuck',
    severity: operation === 'cashout' ? 'critical' : 'medium',
    scope: row.id,
    transactionSeq: row.seq,
    transactionId: row.id,
    reference: row.reference,
    amountCents: row.amount_cents,
    expected: { final_within_s: withinMs / 1000 },
    actual: { status: row.status, since: context.calendar.toIso(row.created_wall) },
    baseline: context.calendar.toInstant(row.created_wall) < context.webhooksSince,
  };
}

function min(a: string, b: string): string {
  return a < b ? a : b;
}
