import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import { readSetting, settle } from '../database/settings.ts';

export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who calls: a token's id and what it may do. */
export type Caller = { id: string; role: Role };

/** What a caller with the token of the environment is called in the audit. */
export const ADMIN_CALLER: Caller = { id: 'admin', role: 'admin' };

const ADMIN_SETTING = 'admin_token_hash';

/** Whether a role may do what another one may. */
export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Makes a token. Its text is shown this once; only its hash is kept. */
export async function createToken(
  context: Context,
  request: { name: string; role: Role },
): Promise<{ id: string; role: Role; token: string }> {
  const id = `tok_${randomUUID().replaceAll('-', '')}`;
  const token = `cft_${randomBytes(32).toString('base64url')}`;
  await context.db
    .insertInto('tokens')
    .values({ id, name: request.name, role: request.role, token_hash: hashOf(token), created_at: context.clock.now() })
    .execute();
  return { id, role: request.role, token };
}

/** The caller whose token this is, or undefined. */
export async function findCaller(context: Context, token: string): Promise<Caller | undefined> {
  const hash = hashOf(token);
  const admin = context.config.ADMIN_TOKEN
    ? hashOf(context.config.ADMIN_TOKEN)
    : await readSetting(context.db, ADMIN_SETTING);
  if (admin && timingSafeEqual(hash, admin)) return ADMIN_CALLER;
  const row = await context.db
    .selectFrom('tokens')
    .select(['id', 'role'])
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && { id: row.id, role: row.role as Role };
}

/**
 * Without ADMIN_TOKEN one is made on the first start.
 * @returns its text, that once; undefined when there is one already.
 */
export async function makeAdminToken(context: Context): Promise<string | undefined> {
  if (context.config.ADMIN_TOKEN) return undefined;
  const token = `cfa_${randomBytes(32).toString('base64url')}`;
  const stored = await settle(context.db, ADMIN_SETTING, () => hashOf(token));
  return stored.equals(hashOf(token)) ? token : undefined;
}

export async function listTokens(context: Context, limit: number, after: number | undefined) {
  let query = context.db
    .selectFrom('tokens')
    .select(['seq', 'id', 'name', 'role', 'created_at', 'revoked_at'])
    .orderBy('seq', 'desc')
    .limit(limit);
  if (after !== undefined) query = query.where('seq', '<', after);
  return await query.execute();
}

/** @returns whether there was such a token, not yet revoked. */
export async function revokeToken(context: Context, id: string): Promise<boolean> {
  const result = await context.db
    .updateTable('tokens')
    .set({ revoked_at: context.clock.now() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Tokens are 256 random bits: a plain hash of one can't be guessed back. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
