import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import { readSetting } from '../database/keys/settings.ts';
import { ConfereError } from '../domain/errors.ts';
import type { Role } from './roles.ts';

/** Who calls: a token's id and what it may do. */
export type Caller = { id: string; role: Role };

/** What a caller with the token of the environment, or of DATA_DIR/admin-token, is called in the audit. */
export const ADMIN_CALLER: Caller = { id: 'admin', role: 'admin' };

export const ADMIN_SETTING = 'admin_token_hash';
/** `last_used_at` is to the minute: a write for each request would cost more than the request. */
const USED_EVERY_MS = 60_000;
/** A token's text as createToken draws it; ADMIN_TOKEN alone may be any other. */
const TOKEN_FORM = /^cft_[A-Za-z0-9_-]{43}$/;

export type NewToken = { name: string; role: Role; expiresAt?: Date | undefined };
/** `expires_at` stands in it only where it expires. */
export type CreatedToken = { id: string; role: Role; token: string; expires_at?: string };

/**
 * Makes a token. Its text is shown this once; only its hash is kept.
 * @throws ConfereError `invalid_request` for one that would have ended already.
 */
export async function createToken(context: Pick<Context, 'db' | 'clock'>, request: NewToken): Promise<CreatedToken> {
  const now = context.clock.now();
  const { name, role, expiresAt } = request;
  if (expiresAt !== undefined && expiresAt <= now) {
    throw new ConfereError('invalid_request', 'expires_at is not in the future', {
      fields: { expires_at: ['must be in the future'] },
    });
  }
  const id = `tok_${randomUUID().replaceAll('-', '')}`;
  const token = `cft_${randomBytes(32).toString('base64url')}`;
  await context.db
    .insertInto('tokens')
    .values({ id, name, role, token_hash: hashToken(token), created_at: now, expires_at: expiresAt ?? null })
    .execute();
  return { id, role, token, ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }) };
}

/** The caller whose token this is: undefined where there is none, or it was revoked, or has expired. */
export async function findCaller(context: Context, token: string): Promise<Caller | undefined> {
  const hash = hashToken(token);
  if (await isAdminHash(context, hash)) return ADMIN_CALLER;
  if (!TOKEN_FORM.test(token)) return undefined;
  const now = context.clock.now();
  const row = await selectLiveTokens(context, now)
    .select(['tokens.seq', 'tokens.id', 'tokens.role', 'tokens.last_used_at'])
    .where('token_hash', '=', hash)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() >= USED_EVERY_MS) {
    await context.db.updateTable('tokens').set({ last_used_at: now }).where('seq', '=', row.seq).execute();
  }
  return { id: row.id, role: row.role as Role };
}

/** Tokens that open something now. */
export function selectLiveTokens(context: Pick<Context, 'db'>, now: Date) {
  return context.db
    .selectFrom('tokens')
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>', now)]));
}

/** Whether this is the hash of ADMIN_TOKEN, or of the generated one where ADMIN_TOKEN is not set. */
export async function isAdminHash(context: Pick<Context, 'config' | 'db'>, hash: Buffer): Promise<boolean> {
  const { ADMIN_TOKEN } = context.config;
  const admin = ADMIN_TOKEN ? hashToken(ADMIN_TOKEN) : await readSetting(context.db, ADMIN_SETTING);
  return admin !== undefined && timingSafeEqual(hash, admin);
}

/** Tokens as our API shows them, the newest first. @param after the row number to go on below. */
export async function listTokens(context: Context, limit: number, after: number | undefined) {
  let query = context.db.selectFrom('tokens').selectAll().orderBy('seq', 'desc').limit(limit);
  if (after !== undefined) query = query.where('seq', '<', after);
  const now = context.clock.now();
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    name: row.name,
    role: row.role as Role,
    state: row.revoked_at !== null ? 'revoked' : row.expires_at !== null && row.expires_at <= now ? 'expired' : 'live',
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }));
}

/** Ends a token, and every session that it opened. @throws ConfereError `not_found` for none, or one that is revoked. */
export async function revokeToken(context: Pick<Context, 'db' | 'clock'>, id: string): Promise<void> {
  const result = await context.db
    .updateTable('tokens')
    .set({ revoked_at: context.clock.now() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw new ConfereError('not_found', 'there is no such token');
}

/** Tokens are 256 random bits: a plain hash of one can't be guessed back. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
