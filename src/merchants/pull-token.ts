import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { hashText } from '../domain/hash-text.ts';
import { refuse, refuseField } from '../texts/refuse.ts';
import { findMerchant, type MerchantRow, selectMerchants } from './read-merchants.ts';

const TOKEN_BYTES = 32;
const PREFIX = 'mpt_';
const FORM = /^mpt_[A-Za-z0-9_-]{43}$/;

/**
 * Issues a merchant's token for pulling its events, and replaces an earlier one. The text is returned only here.
 * @param expiresAt when it ends; undefined: not by itself.
 * @throws ConfereError `invalid_request` for a time that has passed.
 */
export async function issuePullToken(context: Context, id: string, expiresAt?: Date): Promise<string> {
  if (expiresAt && expiresAt <= context.clock.now()) {
    throw refuseField('expires_at', 'not_in_future');
  }
  const merchant = await findMerchant(context.db, id);
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  const set = { pull_token_hash: hashText(token), pull_token_expires_at: expiresAt ?? null };
  await context.db.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
  return token;
}

/** Revokes a merchant's token. @throws ConfereError `not_found` if it has none. */
export async function revokePullToken(context: Context, id: string): Promise<void> {
  const merchant = await findMerchant(context.db, id);
  const result = await context.db
    .updateTable('merchants')
    .set({ pull_token_hash: null, pull_token_expires_at: null })
    .where('seq', '=', merchant.seq)
    .where('pull_token_hash', 'is not', null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw refuse('pull_token_unknown');
}

export function isPullToken(text: string): boolean {
  return FORM.test(text);
}

/** @returns the merchant with this token; undefined also if the token has expired, or the merchant is paused or disabled. */
export async function findMerchantByPullToken(context: Context, token: string): Promise<MerchantRow | undefined> {
  if (!isPullToken(token)) return undefined;
  return await selectMerchants(context.db)
    .where('pull_token_hash', '=', hashText(token))
    .where('merchants.state', '=', 'enabled')
    .where((eb) =>
      eb.or([eb('pull_token_expires_at', 'is', null), eb('pull_token_expires_at', '>', context.clock.now())]),
    )
    .executeTakeFirst();
}
