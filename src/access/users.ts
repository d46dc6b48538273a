/**
 * Users: people who log in by the company's account. The audit names a user by an id that is the keyed hash of issuer and
 * subject, so it stays provable and holds no personal data; the name stands only here, where it can be removed.
 */
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Keys } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import { refuse } from '../texts/refuse.ts';
import { mayActAs, type Role } from './roles.ts';
import { ADMIN_CALLER, selectLiveTokens } from './tokens.ts';

const PREFIX = 'usr_';
const ID_HEX_CHARS = 32;

/** A person as the issuer named them. `issuer`: an `issuerName`. `role`: undefined if no group of theirs has one. */
export type Person = { issuer: string; subject: string; name: string; role: Role | undefined };

/** Normalizes an issuer's address: two spellings of one address are one issuer. */
export function issuerName(address: string | undefined): string | undefined {
  return address === undefined ? undefined : new URL(address).href;
}

/** The id of a person: the same at each login, on every replica. */
export function userIdOf(keys: Keys, { issuer, subject }: Pick<Person, 'issuer' | 'subject'>): string {
  const hash = createHmac('sha256', keys.search)
    .update('user ')
    .update(JSON.stringify([issuer, subject]));
  return `${PREFIX}${hash.digest('hex').slice(0, ID_HEX_CHARS)}`;
}

/** Whether an actor of the audit is a user. */
export function isUser(actor: string): boolean {
  return actor.startsWith(PREFIX);
}

/** Records a login, also a denied one, with the current name and role. @returns the user's row number. */
export async function recordUser(context: Pick<Context, 'db' | 'clock' | 'keys'>, person: Person): Promise<number> {
  const { issuer, subject, name } = person;
  const now = context.clock.now();
  const latest = { subject, name, role: person.role ?? null, last_login_at: now };
  const id = userIdOf(context.keys, person);
  await context.db
    .insertInto('users')
    .values({ id, issuer, ...latest, created_at: now })
    .onDuplicateKeyUpdate(latest)
    .execute();
  const row = await context.db.selectFrom('users').select('seq').where('id', '=', id).executeTakeFirstOrThrow();
  return row.seq;
}

/**
 * @returns users as commands and the console show them, with the number of their open sessions; the newest first.
 * @param after only users below this row number.
 */
export async function listUsers({ db, clock }: Pick<Context, 'db' | 'clock'>, limit: number, after?: number) {
  const open = sql<number>`(SELECT COUNT(*) FROM sessions WHERE user_seq = users.seq AND expires_at > ${clock.now()})`;
  let query = db.selectFrom('users').selectAll().select(open.as('sessions')).orderBy('seq', 'desc').limit(limit);
  if (after !== undefined) query = query.where('seq', '<', after);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    name: row.name,
    issuer: row.issuer,
    subject: row.subject,
    role: row.role as Role | null,
    sessions: Number(row.sessions),
    created_at: row.created_at.toISOString(),
    last_login_at: row.last_login_at.toISOString(),
  }));
}

/** Ends all sessions of a user at once. @throws ConfereError `not_found`. */
export async function logOutUser({ db }: Pick<Context, 'db'>, id: string): Promise<void> {
  const user = await db.selectFrom('users').select('seq').where('id', '=', id).executeTakeFirst();
  if (!user) throw refuse('user_unknown');
  await db.deleteFrom('sessions').where('user_seq', '=', user.seq).execute();
}

/** Removes a user's name and subject, and ends their sessions. The audit keeps the id. @throws ConfereError `not_found`. */
export async function forgetUser(context: Pick<Context, 'db'>, id: string): Promise<void> {
  await logOutUser(context, id);
  await context.db.updateTable('users').set({ name: null, subject: null }).where('id', '=', id).execute();
}

/** Whether this is the id of somebody of ours who can log in: a user with a role, a token, or ADMIN_TOKEN. No merchant is. */
export async function mayLogIn(context: Pick<Context, 'db' | 'clock'>, id: string): Promise<boolean> {
  if (id === ADMIN_CALLER.id) return true;
  const found = isUser(id)
    ? await selectKnownUsers(context.db).where('id', '=', id).executeTakeFirst()
    : await selectTokenNames(context).where('tokens.id', '=', id).executeTakeFirst();
  return found !== undefined;
}

/** Lists those who can log in and have one of these roles, by id, with their names: users, then tokens, at most 500 of each. */
export async function listLogins(
  context: Pick<Context, 'db' | 'clock'>,
  roles: readonly Role[] = ['viewer'],
): Promise<Map<string, string>> {
  const [users, tokens] = [selectKnownUsers(context.db), selectTokenNames(context)];
  const rows = [
    ...(await users.orderBy('name').limit(LOGINS_MAX).execute()),
    ...(await tokens.orderBy('name').limit(LOGINS_MAX).execute()),
  ];
  // cast: no token of a merchant is selected
  const may = rows.filter(({ role }) => mayActAs(role as Role, ...roles));
  return new Map(may.map(({ id, name }) => [id, name ?? id]));
}

/** People of a company; beyond them an owner is named by its id. */
const LOGINS_MAX = 500;

function selectKnownUsers(db: Reader) {
  return db
    .selectFrom('users')
    .select(['id', 'name', 'role'])
    .where('name', 'is not', null)
    .where('role', 'is not', null);
}

function selectTokenNames({ db, clock }: Pick<Context, 'db' | 'clock'>) {
  return selectLiveTokens({ db }, clock.now()).select(['tokens.id', 'tokens.name', 'tokens.role']);
}

/** Reads the names of actors of the audit, by id: of users, and of tokens. Others have none. */
export async function readActorNames(db: Reader, actors: readonly string[]): Promise<Map<string, string>> {
  const rows = [...(await readActors(db, actors))];
  return new Map(rows.flatMap(([id, { name }]) => (name === null ? [] : [[id, name] as const])));
}

type Actor = { name: string | null; role: string | null };

/** Reads the names and roles of actors, by id: of users, and of tokens. */
export async function readActors(db: Reader, actors: readonly string[]): Promise<Map<string, Actor>> {
  const ids = [...new Set(actors)];
  const of = (prefix: string) => ids.filter((id) => id.startsWith(prefix));
  const [users, tokens] = [of(PREFIX), of('tok_')];
  const rows = [
    ...(users.length === 0
      ? []
      : await db.selectFrom('users').select(['id', 'name', 'role']).where('id', 'in', users).execute()),
    ...(tokens.length === 0
      ? []
      : await db.selectFrom('tokens').select(['id', 'name', 'role']).where('id', 'in', tokens).execute()),
  ];
  return new Map(rows.map(({ id, ...actor }) => [id, actor]));
}
