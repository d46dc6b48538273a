/** Which leaves are next: the seals, each once, and what others left in `log_queue`. */
import type { Kysely, Transaction } from 'kysely';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { hashLeaf } from './merkle.ts';
import { appendLeaves, type Leaf } from './tree.ts';

/** Leaves of one kind that one transaction appends at most. */
export const LEAVES_MAX = 1_000;

/** The text of a seal's leaf. */
export function writeSealLeaf({ position, hash }: { position: number; hash: Buffer }): string {
  return `confere.seal/v1\n${position}\n${hash.toString('hex')}\n`;
}

/** The content of the leaf of a closed month: the position and the balances that the close fixes. */
export type MonthLeaf = { seq: number; month: string; position: number; hash: Buffer; digest: Buffer };

/** The text of the leaf of a closed month. */
export function writeMonthLeaf({ seq, month, position, hash, digest }: MonthLeaf): string {
  return `confere.month/v1\n${month}\n${seq}\n${position}\n${hash.toString('hex')}\n${digest.toString('hex')}\n`;
}

/** Leaves a row for the sealer, in the transaction that the leaf is about. */
export async function queueLeaf(db: Pick<Kysely<Database>, 'insertInto'>, leaf: Leaf): Promise<void> {
  await db.insertInto('log_queue').values(leaf).execute();
}

/** Queries of which one finds a row if leaves wait: of the queue, or of seals up to this one, once the log has begun. */
export function selectUnlogged(db: Reader, position: number) {
  const newest = db
    .selectFrom('log_hashes')
    .select((eb) => eb.fn.max('ref').as('ref'))
    .where('kind', '=', 'seal');
  return [
    db.selectFrom('log_queue').select('seq'),
    db.selectFrom(newest.as('newest')).select('ref').where('ref', '<', position),
  ];
}

/**
 * Appends the seals that the log lacks, also those of a process that does not know the log, and then what waits. The log begins
 * with the seal before the newest one. Under the lock of the sealers.
 * @param newest the newest position.
 */
export async function appendToLog(trx: Transaction<Database>, newest: number): Promise<void> {
  const last = await trx
    .selectFrom('log_hashes')
    .select((eb) => eb.fn.max<number | null>('ref').as('position'))
    .where('kind', '=', 'seal')
    .executeTakeFirst();
  const seals = await trx
    .selectFrom('seals')
    .select(['position', 'hash'])
    .where('position', '>=', last?.position ? last.position + 1 : newest - 1)
    .where('position', '<=', newest)
    .orderBy('position')
    .limit(LEAVES_MAX)
    .execute();
  const queued = await trx.selectFrom('log_queue').selectAll().orderBy('seq').limit(LEAVES_MAX).execute();
  const leaves: Leaf[] = [
    ...seals.map((seal) => ({ kind: 'seal' as const, ref: seal.position, hash: hashLeaf(writeSealLeaf(seal)) })),
    ...queued.map(({ kind, ref, hash }) => ({ kind, ref, hash })),
  ];
  if (leaves.length === 0) return;
  await appendLeaves(trx, leaves);
  if (queued.length === 0) return;
  const seqs = queued.map(({ seq }) => seq);
  await trx.deleteFrom('log_queue').where('seq', 'in', seqs).execute();
}
