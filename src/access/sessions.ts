import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { ADMIN_CALLER, type Caller, type Role } from './tokens.ts';

export const SESSION_MS = 12 * 3_600_000;

/** Opens a session of the console for a caller. @returns the cookie's text; only its hash is kept. */
export async function openSession(context: Context, caller: Caller): Promise<string> {
  const session = randomBytes(32).toString('base64url');
  const now = context.clock.now();
  const token = await context.db.selectFrom('tokens').select('seq').where('id', '=', caller.id).executeTakeFirst();
  await context.db.deleteFrom('sessions').where('expires_at', '<', now).execute();
  await context.db
    .insertInto('sessions')
    .values({
      session_hash: hashOf(session),
      token_seq: token?.seq ?? null,
      created_at: now,
      expires_at: new Date(now.getTime() + SESSION_MS),
    })
    .execute();
  return session;
}

/** Whose session this is: nobody's once it ran out or its token was revoked. */
export async function findSession(context: Context, session: string): Promise<Caller | undefined> {
  const row = await context.db
    .selectFrom('sessions')
    .leftJoin('tokens', 'tokens.seq', 'sessions.token_seq')
    .select(['sessions.token_seq', 'tokens.id', 'tokens.role', 'tokens.revoked_at'])
    .where('session_hash', '=', hashOf(session))
    .where('expires_at', '>', context.clock.now())
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.token_seq === null) return ADMIN_CALLER;
  return row.id === null || row.revoked_at !== null ? undefined : { id: row.id, role: row.role as Role };
}

export async function closeSession(context: Context, session: string): Promise<void> {
  await context.db.deleteFrom('sessions').where('session_hash', '=', hashOf(session)).execute();
}

function hashOf(session: string): Buffer {
  return createHash('sha256').update(session).digest();
}
