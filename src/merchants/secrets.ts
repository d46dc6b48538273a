import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { encryptForStorage } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { findMerchant } from './read-merchants.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
/** How long the previous secret keeps signing after a rotation. */
export const ROTATION_MS = 24 * 3_600_000;

/** A secret before it is stored. It is generated outside of the transaction, which may be retried. */
export type NewSecret = { key: Buffer; createdAt: Date };

export function generateSecret(context: Context): NewSecret {
  return { key: randomBytes(SECRET_BYTES), createdAt: context.clock.now() };
}

/** @returns the secret as shown to the merchant, once: `whsec_` and base64. */
export function formatSecret({ key }: NewSecret): string {
  return PREFIX + key.toString('base64');
}

/** Adds a merchant's first or next secret. It is stored encrypted and can't be shown again. */
export async function addSecret(
  context: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  { key, createdAt }: NewSecret,
): Promise<void> {
  const { vault } = context;
  const ciphertext = await encryptForStorage(trx, vault, key);
  const row = { merchant_seq: merchantSeq, ciphertext, key_id: vault.keyId, created_at: createdAt };
  await trx.insertInto('merchant_secrets').values(row).execute();
}

/**
 * Gives a merchant a new secret. The previous one keeps signing for 24 hours; older ones end at once. So a header never has
 * more than two signatures.
 */
export async function rotateSecret(context: Context, id: string): Promise<{ secret: string; oldUntil: Date }> {
  const made = generateSecret(context);
  const now = made.createdAt;
  const oldUntil = new Date(now.getTime() + ROTATION_MS);
  const merchant = await findMerchant(context.db, id);
  await transact(context.db, async (trx, mayBeDone) => {
    // two concurrent rotations would leave three live secrets
    await trx.selectFrom('merchants').select('seq').where('seq', '=', merchant.seq).forUpdate().execute();
    // a second run would end the secret that the merchant knows, and add one that nobody has seen
    if (mayBeDone && (await isStored(context, trx, merchant.seq, made))) return;
    await trx
      .updateTable('merchant_secrets')
      .set((eb) => ({ expires_at: eb.case().when('expires_at', 'is', null).then(oldUntil).else(now).end() }))
      .where('merchant_seq', '=', merchant.seq)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .execute();
    await addSecret(context, trx, merchant.seq, made);
  });
  return { secret: formatSecret(made), oldUntil };
}

/** Whether this secret is stored already; another rotation may have followed. */
async function isStored(
  { vault }: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  { key, createdAt }: NewSecret,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('merchant_secrets')
    .select('ciphertext')
    .where('merchant_seq', '=', merchantSeq)
    .where('created_at', '=', createdAt)
    .execute();
  return rows.some((row) => vault.decrypt(row.ciphertext).equals(key));
}

/** @returns the row number of a merchant's newest secret, which signs first. */
export async function findNewestSecret(db: Reader, merchantSeq: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('merchant_secrets')
    .select('seq')
    .where('merchant_seq', '=', merchantSeq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq;
}

/** @returns the keys that sign for each merchant now, newest first. */
export async function readLiveKeys(
  context: Context,
  db: Reader,
  merchantSeqs: number[],
): Promise<Map<number, KeyObject[]>> {
  const keys = new Map<number, KeyObject[]>();
  if (merchantSeqs.length === 0) return keys;
  const rows = await db
    .selectFrom('merchant_secrets')
    .select(['merchant_seq', 'ciphertext'])
    .where('merchant_seq', 'in', merchantSeqs)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', context.clock.now())]))
    .orderBy('seq', 'desc')
    .execute();
  for (const row of rows) {
    const list = keys.get(row.merchant_seq) ?? [];
    list.push(createSecretKey(context.vault.decrypt(row.ciphertext)));
    keys.set(row.merchant_seq, list);
  }
  return keys;
}
