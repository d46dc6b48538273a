import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { compileOnce } from '../../database/compile-once.ts';
import type { Observation } from '../../domain/observation.ts';
import { mismatchKey } from '../../mismatches/resolve-mismatches.ts';
import { createKeyedDigest } from '../../privacy/redact-forgotten.ts';
import { UPDATED_BY_OBSERVATION } from './fold-observations.ts';

/**
 * Drops observations that change nothing. Most observations repeat the last one: an equal digest means an equal answer,
 * which needs no lock. An observation is always applied where a mismatch or a doubt of its transaction awaits one.
 */
export async function dropUnchanged(context: Context, observations: Observation[]): Promise<Observation[]> {
  const rows = await readStoredDigests(
    context,
    observations.map((one) => one.transaction.id),
  );
  const digests = new Map(rows.map(({ id, digest }) => [id, digest]));
  const isNew = ({ transaction: { id }, digest }: Observation): boolean => {
    const known = digests.get(id);
    return !known || (!known.equals(digest) && !known.equals(createKeyedDigest(context.keys, digest)));
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

/** Whether a row of `transactions` awaits an observation. */
const AWAITS_OBSERVATION = [
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
