import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import type { HeldTransaction } from './decide.ts';

/** Transactions in these statuses no longer stand for a payment of their reference. */
const OVER = ['canceled', 'denied', 'expired', 'refund'];

/** References of these transactions that two or more live ones share. */
export async function findDuplicateReferences(
  context: Context,
  trx: Transaction<Database>,
  changes: { held: HeldTransaction; added: { seq: number | undefined }[] }[],
): Promise<FoundMismatch[]> {
  const references = changes
    .filter((change) => change.added.length > 0)
    .map((change) => change.held.reference)
    .filter((reference) => reference !== null);
  if (references.length === 0) return [];
  const rows = await trx
    .selectFrom('transactions')
    .select(['id', 'reference', 'amount_cents', 'created_wall'])
    .where('reference', 'in', references)
    .where('status', 'not in', OVER)
    .orderBy('created_wall')
    .orderBy('id')
    .execute();
  const groups = [...Map.groupBy(rows, (row) => row.reference ?? '')].filter(([, group]) => group.length > 1);
  return groups.map(([reference, group]) => ({
    kind: 'duplicate_reference',
    scope: `reference:${reference}`.slice(0, SCOPE_CHARS_MAX),
    reference,
    amountCents: group.reduce((sum, row) => sum + row.amount_cents, 0n),
    expected: { transactions: 1 },
    actual: { ids: group.map((row) => row.id) },
    baseline: group.every((row) => context.calendar.toInstant(row.created_wall) < context.webhooksSince),
  }));
}

const SCOPE_CHARS_MAX = 150;
