import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { findMerchant, type MerchantRow } from './read-merchants.ts';

const TOKEN_BYTES = 32;
const PREFIX = 'mpt_';
const FORM = /^mpt_[A-Za-z0-9_-]{43}$/;

/** Issues a merchant's token for pulling its events, and replaces an earlier one. The text is returned only here. */
export async function issuePullToken(context: Context, id: string): Promise<string> {
  const merchant = await findMerchant(context.db, id);
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  const set = { pull_token_hash: hash(token) };
  await context.db.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
  return token;
}

/** Revokes a merchant's token. @throws ConfereError `not_found` if it has none. */
export async function revokePullToken(context: Context, id: string): Promise<void> {
  const merchant = await findMerchant(context.db, id);
  const result = await context.db
    .updateTable('merchants')
    .set({ pull_token_hash: null })
    .where('seq', '=', merchant.seq)
    .where('pull_token_hash', 'is not', null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw new ConfereError('not_found', 'the merchant has no token');
}

export function isPullToken(text: string): boolean {
  return FORM.test(text);
}

/** @returns the merchant with this token; undefined also if it is paused or disabled. */
export async function findMerchantByPullToken(context: Context, token: string): Promise<MerchantRow | undefined> {
  if (!isPullToken(token)) return undefined;
  return await context.db
    .selectFrom('merchants')
    .selectAll()
    .where('pull_token_hash', '=', hash(token))
    .where('state', '=', 'enabled')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

// a random token of 256 bits needs no slow hash
function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
