import { sql } from 'kysely';
import type { Context } from '../../context.ts';
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
  const digests = new Map(rows.flatMap(({ id, digest }) => (digest ? [[id, digest]] : [])));
  const awaited = new Set(rows.flatMap(({ id, digest }) => (digest ? [] : [id])));
  const isNew = ({ transaction: { id }, digest }: Observation): boolean => {
    const known = digests.get(id);
    if (known === undefined || awaited.has(id)) return true;
    return known !== toHex(digest) && known !== toHex(createKeyedDigest(context.keys, digest));
  };
  // of two observations of one transaction, the unchanged one may be the newer
  const changedIds = new Set(observations.filter(isNew).map((one) => one.transaction.id));
  return observations.filter(({ transaction }) => changedIds.has(transaction.id));
}

/**
 * Returns the stored digest of each transaction, and a row with a null digest for each transaction that awaits an
 * observation: it has a mismatch that an observation can update, a doubted event or a doubted status. The mismatches
 * are selected by their keys, since a defect of the provider may leave 50,000 open.
 */
export async function readStoredDigests(
  context: Pick<Context, 'db'>,
  ids: string[],
): Promise<{ id: string; digest: string | null }[]> {
  // as text: MySQL changes the type of binary columns in a union
  const none = sql<string | null>`NULL`.as('digest');
  const awaited = context.db
    .selectFrom('mismatches')
    .select(['scope as id', none])
    .where(
      'open_scope',
      'in',
      ids.flatMap((id) => UPDATED_BY_OBSERVATION.map((kind) => mismatchKey({ kind, scope: id }))),
    );
  const doubted = context.db
    .selectFrom('doubted_events')
    .select(['transaction_id as id', none])
    .where('transaction_id', 'in', ids)
    .unionAll(
      context.db
        .selectFrom('doubted_statuses')
        .select(['transaction_id as id', none])
        .where('transaction_id', 'in', ids),
    );
  return await context.db
    .selectFrom('transactions')
    .select(['id', sql<string | null>`HEX(digest)`.as('digest')])
    .where('id', 'in', ids)
    .unionAll(awaited)
    .unionAll(doubted)
    .execute();
}

/** Upper-case hex, as HEX() in the database. */
function toHex(digest: Buffer): string {
  return digest.toString('hex').toUpperCase();
}
