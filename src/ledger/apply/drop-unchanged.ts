import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { compileOnce } from '../../database/compile-once.ts';
import type { Keys } from '../../database/keys/settings.ts';
import type { Observation } from '../../domain/observation.ts';
import { mismatchKey } from '../../mismatches/resolve-mismatches.ts';
import { createKeyedDigest } from '../../privacy/redact-forgotten.ts';

/** Mismatch kinds that any later observation of the transaction resolves. */
export const RESOLVED_BY_OBSERVATION = ['missing_at_provider', 'row_refused'] as const;
/**
 * Mismatch kinds that even an unchanged observation can update: those above, and those whose booked fact it may
 * confirm.
 */
const UPDATED_BY_OBSERVATION = [...RESOLVED_BY_OBSERVATION, 'amount_differs', 'reference_differs'] as const;

/**
 * Drops observations that change nothing. Most of a list repeat the last one: an equal digest means an equal answer,
 * which needs no lock. An observation is always applied where a mismatch or a doubt of its transaction awaits one.
 */
export async function dropUnchanged(context: Context, observations: Observation[]): Promise<Observation[]> {
  const rows = await readStoredDigests(
    context,
    observations.map((one) => one.transaction.id),
  );
  return keepChanged(context.keys, observations, new Map(rows.map(({ id, digest }) => [id, digest])));
}

/** Returns the observations of transactions of which any is news. Pure. @param digests as `readStoredDigests` returns them. */
export function keepChanged(
  keys: Keys,
  observations: Observation[],
  digests: Map<string, Buffer | null>,
): Observation[] {
  const isNew = ({ transaction: { id }, digest }: Observation): boolean => {
    const known = digests.get(id);
    return !known || (!known.equals(digest) && !known.equals(createKeyedDigest(keys, digest)));
  };
  // of two observations of one transaction, the unchanged one may be the newer
  const changedIds = new Set(observations.filter(isNew).map((one) => one.transaction.id));
  return observations.filter(({ transaction }) => changedIds.has(transaction.id));
}

/**
 * Returns the stored digest of each known transaction. It is null where the transaction awaits an observation: it has a
 * mismatch that an observation can update, a doubted event or a doubted status. Mismatches are searched by their keys,
 * since a defect of the provider may leave 50,000 open; and not at all while none of a kind is open, as on most days.
 */
export async function readStoredDigests(
  { db }: Pick<Context, 'db'>,
  ids: string[],
): Promise<{ id: string; digest: Buffer | null }[]> {
  return (await selectDigests(db, { ids })).rows;
}

/** SQL for whether a row of `transactions` awaits an observation. */
export const AWAITS_OBSERVATION = [
  ...UPDATED_BY_OBSERVATION.map((kind) => {
    const key = mismatchKey({ kind, scope: '' });
    const any = `open_scope >= '${key}' AND open_scope < '${kind}!'`;
    return existsAnyAndOwn('mismatches', any, `open_scope = CONCAT('${key}', transactions.id)`);
  }),
  ...['doubted_events', 'doubted_statuses'].map((table) =>
    existsAnyAndOwn(table, 'TRUE', 'transaction_id = transactions.id'),
  ),
].join(' OR ');

function existsAnyAndOwn(table: string, any: string, own: string): string {
  return `(EXISTS (SELECT 1 FROM ${table} WHERE ${any}) AND EXISTS (SELECT 1 FROM ${table} WHERE ${own}))`;
}

const selectDigests = compileOnce((db, { ids }: { ids: string[] }) =>
  db
    .selectFrom('transactions')
    .select(['id', sql.raw<Buffer | null>(`IF(${AWAITS_OBSERVATION}, NULL, digest)`).as('digest')])
    .where('id', 'in', ids),
);
