import { type Kysely, sql, type Transaction } from 'kysely';
import { describeError, type Log } from '../../log.ts';
import type { Database } from '../tables.ts';
import { transact } from '../transact.ts';
import { placeOf, SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts';
import { requireKey } from './settings.ts';
import type { Place, Vault } from './vault.ts';

const BATCH_ROWS = 200;

/** Runs a batch in a transaction that keeps the key from being rotated meanwhile. */
type InTransaction = <T>(work: (trx: Transaction<Database>) => Promise<T>) => Promise<T>;
/** @returns what replaces a sealed value; undefined: it stays. */
type Reseal = (sealed: Buffer, place: Place) => Buffer | undefined;

/**
 * Seals all stored secrets again, in batches.
 * @param keyId of the key that seals them.
 * @returns how many secrets there are. Kept answers are not counted: they go after a week.
 */
export async function resealAll(inTransaction: InTransaction, reseal: Reseal, keyId: string): Promise<number> {
  let secrets = 0;
  for (const column of SEALED_COLUMNS) {
    for (let after: unknown, count = BATCH_ROWS; count === BATCH_ROWS; ) {
      const rows = await inTransaction((trx) => resealBatch(trx, column, after, { reseal, keyId }));
      count = rows.length;
      after = rows.at(-1)?.[column.key];
      if (column.table !== 'idempotency_results') secrets += count;
    }
  }
  return secrets;
}

/**
 * Binds what earlier versions sealed to its place, once none of their processes runs. A value that does not open stays, and is logged.
 * @throws ConfereError when the key was rotated since this process started.
 */
export async function bindSecrets({ db, vault, log }: { db: Kysely<Database>; vault: Vault; log: Log }): Promise<void> {
  if (!vault.binds()) return;
  let bound = 0;
  const reseal: Reseal = (sealed, place) => {
    if (vault.isPlaced(sealed)) return undefined;
    try {
      const replaced = vault.encrypt(vault.decrypt(sealed, place), place);
      bound++;
      return replaced;
    } catch (error) {
      const row = place.row.map((part) => (Buffer.isBuffer(part) ? part.toString('hex') : part));
      log.error({ error: describeError(error), column: place.purpose, row }, 'a stored secret cannot be opened');
      return undefined;
    }
  };
  const inTransaction: InTransaction = (work) =>
    transact(db, async (trx) => {
      await requireKey(trx, vault);
      return await work(trx);
    });
  await resealAll(inTransaction, reseal, vault.keyId);
  if (bound > 0) log.info({ bound }, 'bound stored secrets to their rows');
}

async function resealBatch(
  trx: Transaction<Database>,
  { table, column, row, key, keyId: namesKey }: SealedColumn,
  after: unknown,
  { reseal, keyId }: { reseal: Reseal; keyId: string },
): Promise<Record<string, unknown>[]> {
  const columns = [...new Set<string>([key, column, ...row])].map((name) => sql.ref(name));
  const { rows } = await sql<Record<string, never>>`SELECT ${sql.join(columns)} FROM ${sql.table(table)}
    WHERE ${sql.ref(column)} IS NOT NULL ${table === 'settings' ? sql`AND name LIKE 'key\\_%'` : sql``}
    ${after === undefined ? sql`` : sql`AND ${sql.ref(key)} > ${after}`}
    ORDER BY ${sql.ref(key)} LIMIT ${sql.lit(BATCH_ROWS)}`.execute(trx);
  for (const one of rows) {
    // cast: the table is known by its name alone, and a sealed column holds bytes
    const sealed = one[column] as unknown as Buffer;
    const replaced = reseal(sealed, placeOf(table, one));
    if (!replaced) continue;
    // one that was erased or replaced meanwhile stays so
    await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${replaced}
      ${namesKey ? sql`, key_id = ${keyId}` : sql``}
      WHERE ${sql.ref(key)} = ${one[key]} AND ${sql.ref(column)} = ${sealed}`.execute(trx);
  }
  return rows;
}
