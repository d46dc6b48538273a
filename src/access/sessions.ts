import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import type { Role } from './roles.ts';
import { ADMIN_CALLER, type Caller, hashToken, isAdminHash, selectLiveTokens } from './tokens.ts';

export const SESSION_MS = 12 * 3_600_000;

/**
 * Opens a session of the console for a token. It stores the token's hash: a changed ADMIN_TOKEN, or a revoked or expired
 * token, ends the session.
 * @returns the cookie's text; only its hash is stored.
 * @throws ConfereError `unauthorized` if the token is not valid any more.
 */
export async function openSession(context: Pick<Context, 'db' | 'clock' | 'config'>, token: string): Promise<string> {
  const session = randomBytes(32).toString('base64url');
  const now = context.clock.now();
  const hash = hashToken(token);
  const isAdmin = await isAdminHash(context, hash);
  const row = isAdmin
    ? undefined
    : await selectLiveTokens(context, now).select('tokens.seq').where('token_hash', '=', hash).executeTakeFirst();
  if (!isAdmin && !row) throw new ConfereError('unauthorized', 'this token is revoked or has expired');
  await context.db.deleteFrom('sessions').where('expires_at', '<', now).execute();
  await context.db
    .insertInto('sessions')
    .values({
      session_hash: hashOf(session),
      token_seq: row?.seq ?? null,
      opened_with: hash,
      created_at: now,
      expires_at: new Date(now.getTime() + SESSION_MS),
    })
    .execute();
  return session;
}

/** @returns the caller of a session; undefined once it has expired, or its token is not valid any more. */
export async function findSession(context: Context, session: string): Promise<Caller | undefined> {
  const now = context.clock.now();
  const row = await context.db
    .selectFrom('sessions')
    .select(['token_seq', 'opened_with'])
    .where('session_hash', '=', hashOf(session))
    .where('expires_at', '>', now)
    .executeTakeFirst();
  // opened before sessions stored the hash
  if (!row?.opened_with) return undefined;
  if (row.token_seq === null) return (await isAdminHash(context, row.opened_with)) ? ADMIN_CALLER : undefined;
  const token = await selectLiveTokens(context, now)
    .select(['tokens.id', 'tokens.role'])
    .where('tokens.seq', '=', row.token_seq)
    .where('token_hash', '=', row.opened_with)
    .executeTakeFirst();
  return token && { id: token.id, role: token.role as Role };
}

export async function closeSession(context: Pick<Context, 'db'>, session: string): Promise<void> {
  await context.db.deleteFrom('sessions').where('session_hash', '=', hashOf(session)).execute();
}

function hashOf(session: string): Buffer {
  return createHash('sha256').update(session).digest();
}
