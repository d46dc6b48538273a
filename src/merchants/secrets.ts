import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { encryptForStorage } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { findMerchant } from './read-merchants.ts';
import type { HeaderChange } from './request-headers.ts';

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

/**
 * Adds a merchant's first or next secret. It is stored encrypted and can't be shown again.
 * @param header the name of the header whose value it is; default: it signs.
 */
export async function addSecret(
  context: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  { key, createdAt }: NewSecret,
  header: string | null = null,
): Promise<void> {
  const { vault } = context;
  const ciphertext = await encryptForStorage(trx, vault, key);
  const row = { merchant_seq: merchantSeq, header, ciphertext, key_id: vault.keyId, created_at: createdAt };
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
      .where('header', 'is', null)
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
    .where('header', 'is', null)
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
    .where('header', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq;
}

/** Sets and removes headers of a merchant's requests. @param change by names in lower case. */
export async function writeHeaders(
  context: Context,
  trx: Transaction<Database>,
  merchantSeq: number,
  change: HeaderChange,
): Promise<void> {
  const names = Object.keys(change);
  if (names.length === 0) return;
  await trx
    .deleteFrom('merchant_secrets')
    .where('merchant_seq', '=', merchantSeq)
    .where('header', 'in', names)
    .execute();
  for (const [name, value] of Object.entries(change)) {
    if (value === null) continue;
    const made = { key: Buffer.from(value), createdAt: context.clock.now() };
    await addSecret(context, trx, merchantSeq, made, name);
  }
}

/** `keys` sign, newest first; `headers` are sent with each request. */
export type Credentials = { keys: KeyObject[]; headers: Record<string, string> };

/** @returns the live credentials of each merchant that has any, by row number. */
export async function readCredentials(
  context: Context,
  db: Reader,
  merchantSeqs: number[],
): Promise<Map<number, Credentials>> {
  const found = new Map<number, Credentials>();
  if (merchantSeqs.length === 0) return found;
  const rows = await db
    .selectFrom('merchant_secrets')
    .select(['merchant_seq', 'ciphertext', 'header'])
    .where('merchant_seq', 'in', merchantSeqs)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', context.clock.now())]))
    .orderBy('seq', 'desc')
    .execute();
  for (const row of rows) {
    const one: Credentials = found.get(row.merchant_seq) ?? { keys: [], headers: Object.create(null) };
    const plain = context.vault.decrypt(row.ciphertext);
    if (row.header === null) one.keys.push(createSecretKey(plain));
    else one.headers[row.header] = plain.toString();
    found.set(row.merchant_seq, one);
  }
  return found;
}
