import { createHmac } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { compileOnce } from '../../database/compile-once.ts';
import type { Keys } from '../../database/keys/settings.ts';
import type { Database } from '../../database/tables.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import type { StoredTransaction } from '../decide/stored-transaction.ts';

/** Transactions in these statuses no longer count as a payment of their reference. */
const NOT_LIVE = ['canceled', 'denied', 'expired', 'refund'];

export type ReferenceChange = {
  /** The transaction before the change; undefined when it is new. */
  before: StoredTransaction | undefined;
  after: StoredTransaction;
  added: { seq: number | undefined }[];
};

type Live = { id: string; reference: string; amount_cents: bigint; created_wall: string };

/** Returns references that two or more live transactions share, and references that a change made unique again. */
export async function compareReferences(
  context: Context,
  trx: Transaction<Database>,
  changes: ReferenceChange[],
): Promise<{ found: FoundMismatch[]; resolved: { kind: 'duplicate_reference'; scope: string }[] }> {
  const touched = changes.filter(
    ({ before, after, added }) =>
      after.reference !== null && (added.length > 0 || before?.reference !== after.reference),
  );
  const previous = touched.flatMap(({ before, after }) =>
    before?.reference && before.reference !== after.reference ? [before.reference] : [],
  );
  const references = [...new Set([...touched.flatMap(({ after }) => after.reference ?? []), ...previous])];
  if (references.length === 0) return { found: [], resolved: [] };
  const groups = Map.groupBy(await findLive(trx, references), (row) => row.reference);
  const found = [...groups]
    .filter(([, group]) => group.length > 1)
    .map(([reference, group]) => describeDuplicate(context, reference, group));
  const ended = touched.filter(({ after }) => NOT_LIVE.includes(after.events.at(-1)?.status ?? ''));
  const resolved = [...ended.flatMap(({ after }) => after.reference ?? []), ...previous]
    .filter((reference) => (groups.get(reference)?.length ?? 0) <= 1)
    .map((reference) => ({ kind: 'duplicate_reference' as const, scope: scopeOfReference(context.keys, reference) }));
  return { found, resolved };
}

/**
 * Locks the live transactions of these references: of two appliers that write the same reference, the later one sees
 * the other's row. FORCE INDEX, so that rows of other references are not locked.
 */
async function findLive(trx: Transaction<Database>, references: string[]): Promise<Live[]> {
  return (await lockLive(trx, { references })).rows;
}

const lockLive = compileOnce(
  (_, { references }: { references: string[] }) => sql<Live>`
    SELECT id, reference, amount_cents, created_wall
    FROM transactions FORCE INDEX (transactions_reference_day)
    WHERE reference IN ${references} AND status NOT IN (${sql.join(NOT_LIVE)})
    ORDER BY created_wall, id
    FOR UPDATE`,
);

function describeDuplicate(context: Context, reference: string, group: Live[]): FoundMismatch {
  return {
    kind: 'duplicate_reference',
    scope: scopeOfReference(context.keys, reference),
    reference,
    amountCents: group.reduce((sum, row) => sum + row.amount_cents, 0n),
    expected: { transactions: 1 },
    actual: { ids: group.map((row) => row.id) },
    baseline: group.every((row) => context.calendar.toInstant(row.created_wall) < context.webhooksSince),
  };
}

/**
 * Returns the scope of a `duplicate_reference`: a keyed hash, because a reference may contain a document or a name. A
 * hash has one length, so two long references are not truncated to one scope.
 */
export function scopeOfReference(keys: Keys, reference: string): string {
  return `hmac:${createHmac('sha256', keys.search).update('reference ').update(reference).digest('hex')}`;
}
