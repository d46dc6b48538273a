import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { findMerchant, type MerchantRow } from './read-merchants.ts';

const TOKEN_BYTES = 32;
const PREFIX = 'mpt_';

/** Gives a merchant a token to fetch its events with, in place of one it may have had. It is told here, once. */
export async function givePullToken(context: Context, id: string): Promise<string> {
  const merchant = await findMerchant(context.db, id);
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  const set = { pull_token_hash: hash(token) };
  await context.db.updateTable('merchants').set(set).where('seq', '=', merchant.seq).execute();
  return token;
}

/** @throws ConfereError `unauthorized` for no token, or one of no merchant. */
export async function findByPullToken(context: Context, token: string | undefined): Promise<MerchantRow> {
  const row = token?.startsWith(PREFIX)
    ? await context.db
        .selectFrom('merchants')
        .selectAll()
        .where('pull_token_hash', '=', hash(token))
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
    : undefined;
  if (!row) throw new ConfereError('unauthorized', 'send the token of a merchant: Authorization: Bearer mpt_…');
  return row;
}

// a random token of 256 bits needs no slow hash
function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
