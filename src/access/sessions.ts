import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { hashText } from '../domain/hash-text.ts';
import { refuse } from '../texts/refuse.ts';
import { isRole, type Role } from './roles.ts';
import {
  ADMIN_CALLER,
  type Caller,
  hashToken,
  isAdminHash,
  type MerchantCaller,
  selectLiveMerchantTokens,
  selectLiveTokens,
  toMerchantCaller,
} from './tokens.ts';
import { issuerName } from './users.ts';

/** The form of a cookie from storeSession. Any other asks no database. */
const SESSION_FORM = /^[A-Za-z0-9_-]{43}$/;
export const SESSION_MS = 12 * 3_600_000;
/** A session ends after this time without a request of its person. */
const IDLE_MS = 8 * 3_600_000;
/** A request within this time after another one writes nothing. */
const EXTEND_EVERY_MS = 5 * 60_000;

/**
 * Opens a session of the console for a token. It stores the token's hash: a changed ADMIN_TOKEN, or a revoked or expired
 * token, ends the session.
 * @returns the cookie's text; only its hash is stored.
 * @throws ConfereError `unauthorized` if the token is not valid any more.
 */
export async function openSession(context: Pick<Context, 'db' | 'clock' | 'config'>, token: string): Promise<string> {
  const now = context.clock.now();
  const hash = hashToken(token);
  const isAdmin = await isAdminHash(context, hash);
  const row = isAdmin
    ? undefined
    : await selectLiveTokens(context, now).select('tokens.seq').where('token_hash', '=', hash).executeTakeFirst();
  if (!isAdmin && !row) throw refuse('token_ended');
  return await storeSession(context, { token_seq: row?.seq ?? null, opened_with: hash });
}

/**
 * Opens a session of the console for a user. The role is fixed until the session ends: a group that the user joined or left
 * counts at the next login.
 * @param user.seq the user's row number. @returns the cookie's text; only its hash is stored.
 */
export async function openUserSession(
  context: Pick<Context, 'db' | 'clock'>,
  user: { seq: number; role: Role },
): Promise<string> {
  return await storeSession(context, { user_seq: user.seq, role: user.role });
}

/** Opens a session of the portal for a merchant's token, as `openSession` does. @throws ConfereError `unauthorized`. */
export async function openMerchantSession(context: Pick<Context, 'db' | 'clock'>, token: string): Promise<string> {
  const hash = hashToken(token);
  const row = await selectLiveMerchantTokens(context, context.clock.now())
    .where('token_hash', '=', hash)
    .executeTakeFirst();
  if (!row) throw refuse('token_ended');
  return await storeSession(context, { token_seq: row.seq, opened_with: hash });
}

type Opened = { token_seq: number | null; opened_with: Buffer } | { user_seq: number; role: Role };

async function storeSession({ db, clock }: Pick<Context, 'db' | 'clock'>, opened: Opened): Promise<string> {
  const session = randomBytes(32).toString('base64url');
  const now = clock.now();
  await db.deleteFrom('sessions').where('expires_at', '<', now).execute();
  await db
    .insertInto('sessions')
    .values({
      ...opened,
      session_hash: hashSession(session),
      created_at: now,
      expires_at: new Date(now.getTime() + IDLE_MS),
    })
    .execute();
  return session;
}

/**
 * @param isActive whether a person sent the request: a page that refreshes itself keeps no session open.
 * @returns the caller of a session; undefined once it has expired, its token is not valid any more, or people log in by
 * another issuer than the one that named its user.
 */
export async function findSession(context: Context, session: string, isActive = true): Promise<Caller | undefined> {
  const now = context.clock.now();
  const row = await readSession(context, session, isActive);
  if (row?.user_seq) return await findUser(context, row.user_seq, row.role ?? '');
  // opened before sessions stored the hash
  if (!row?.opened_with) return undefined;
  if (row.token_seq === null) return (await isAdminHash(context, row.opened_with)) ? ADMIN_CALLER : undefined;
  const token = await selectLiveTokens(context, now)
    .select(['tokens.id', 'tokens.name', 'tokens.role'])
    .where('tokens.seq', '=', row.token_seq)
    .where('token_hash', '=', row.opened_with)
    .executeTakeFirst();
  return token && { id: token.id, name: token.name, role: token.role as Role };
}

/** @returns the merchant's login of a session of the portal, as `findSession`; undefined once it or its token has ended. */
export async function findMerchantSession(
  context: Context,
  session: string,
  isActive: boolean,
): Promise<MerchantCaller | undefined> {
  const now = context.clock.now();
  const row = await readSession(context, session, isActive);
  if (!row?.opened_with || row.token_seq === null) return undefined;
  const token = await selectLiveMerchantTokens(context, now)
    .where('tokens.seq', '=', row.token_seq)
    .where('token_hash', '=', row.opened_with)
    .executeTakeFirst();
  return token && toMerchantCaller(token);
}

/** Reads a session that is open. A request of its person extends it, up to SESSION_MS after the login. */
async function readSession({ db, clock }: Pick<Context, 'db' | 'clock'>, session: string, isActive: boolean) {
  if (!SESSION_FORM.test(session)) return undefined;
  const now = clock.now();
  const row = await db
    .selectFrom('sessions')
    .select(['token_seq', 'opened_with', 'user_seq', 'role', 'created_at', 'expires_at'])
    .where('session_hash', '=', hashSession(session))
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (!row || !isActive) return row;
  const expires_at = new Date(Math.min(row.created_at.getTime() + SESSION_MS, now.getTime() + IDLE_MS));
  if (expires_at.getTime() - row.expires_at.getTime() >= EXTEND_EVERY_MS) {
    const extended = db.updateTable('sessions').set({ expires_at }).where('session_hash', '=', hashSession(session));
    // a database that takes no writes still shows its pages; the session only ends earlier
    await extended.execute().catch(() => undefined);
  }
  return row;
}

async function findUser({ db, config }: Context, seq: number, role: string): Promise<Caller | undefined> {
  const user = await db.selectFrom('users').select(['id', 'name', 'issuer']).where('seq', '=', seq).executeTakeFirst();
  if (!user || !isRole(role) || user.issuer !== issuerName(config.OIDC_ISSUER)) return undefined;
  return { id: user.id, role, ...(user.name === null ? {} : { name: user.name }) };
}

export async function closeSession(context: Pick<Context, 'db'>, session: string): Promise<void> {
  await closeHashedSession(context, hashSession(session));
}

/** @param hash as `hashSession` returns it. */
export async function closeHashedSession(context: Pick<Context, 'db'>, hash: Buffer): Promise<void> {
  await context.db.deleteFrom('sessions').where('session_hash', '=', hash).execute();
}

/** Returns the hash by which a session is stored. */
export function hashSession(session: string): Buffer {
  return hashText(session);
}
