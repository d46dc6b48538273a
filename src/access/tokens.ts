import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import { readSetting } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import { hashText } from '../domain/hash-text.ts';
import { createId } from '../domain/ids.ts';
import { refuse, refuseField } from '../texts/refuse.ts';
import { maySeePersons, type Role, type TokenRole } from './roles.ts';

/**
 * The caller of a request: the id of a token or a user, and its role. `name`: a token's, or a user's if it is known. `sources`: of a merchant's token,
 * the merchant `merchantSeq`, which reads and writes the expected payments of these, and is a viewer of nothing else.
 */
export type Caller = { id: string; role: Role; name?: string; sources?: readonly string[]; merchantSeq?: number };

/** Whether the caller sees persons unmasked; a merchant sees those of its own sources. */
export function seesPersons({ role, sources }: Caller): boolean {
  return sources !== undefined || maySeePersons(role);
}

/** The caller with ADMIN_TOKEN or the token in DATA_DIR/admin-token, as the audit names it. */
export const ADMIN_CALLER: Caller = { id: 'admin', role: 'admin' };

export const ADMIN_SETTING = 'admin_token_hash';
/** `last_used_at` is written at most once a minute: a write for each request would cost more than the request. */
const USED_EVERY_MS = 60_000;
/** The form of a token from createToken. Only ADMIN_TOKEN may differ. */
const TOKEN_FORM = /^cft_[A-Za-z0-9_-]{43}$/;
/** The form of the token from createAdminToken, which is generated where ADMIN_TOKEN is not set. */
const GENERATED_ADMIN_FORM = /^cfa_[A-Za-z0-9_-]{43}$/;
/** No source has a blank. */
const SEPARATOR = ' ';
const MERCHANT_TOKEN_FORM = /^cfm_[A-Za-z0-9_-]{43}$/;

export type NewToken = {
  name: string;
  role: TokenRole;
  /** The id of the merchant, of a token with the role `merchant` alone. */
  merchant?: string | undefined;
  /** Sources of expected payments that it reads and writes, likewise. */
  sources?: readonly string[] | undefined;
  expiresAt?: Date | undefined;
};
/** `merchant` is present only in a merchant's token, `expires_at` only if the token expires. */
export const TOKEN_NAME_CHARS_MAX = 200;

export type CreatedToken = Pick<NewToken, 'merchant' | 'sources'> & {
  id: string;
  role: TokenRole;
  token: string;
  expires_at?: string;
};

/**
 * Creates a token. Its text is returned only here; only its hash is stored.
 * @throws ConfereError `invalid_request` if `expiresAt` is not in the future, or if `merchant` does not fit the role.
 */
export async function createToken(context: Pick<Context, 'db' | 'clock'>, request: NewToken): Promise<CreatedToken> {
  const now = context.clock.now();
  const { name, role, merchant, sources = [], expiresAt } = request;
  checkTokenName(name);
  if (expiresAt !== undefined && expiresAt <= now) {
    throw refuseField('expires_at', 'not_in_future');
  }
  if (role !== 'merchant' && sources.length > 0) throw refuseField('sources', 'merchant_of_other_role');
  const merchant_seq = await findMerchantSeq(context.db, role, merchant);
  const id = createId('tok');
  const token = `${merchant_seq === null ? 'cft' : 'cfm'}_${randomBytes(32).toString('base64url')}`;
  await context.db
    .insertInto('tokens')
    .values({
      id,
      name,
      role,
      merchant_seq,
      token_hash: hashToken(token),
      created_at: now,
      expires_at: expiresAt ?? null,
      sources: sources.length > 0 ? sources.join(SEPARATOR) : null,
    })
    .execute();
  const more = {
    ...(merchant && { merchant }),
    ...(sources.length > 0 && { sources }),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
  return { id, role, token, ...more };
}

/** @throws ConfereError `invalid_request` for a name that is empty or too long. */
export function checkTokenName(name: string): void {
  if (name.trim() === '' || name.length > TOKEN_NAME_CHARS_MAX)
    throw refuseField('name', 'name_length', { n: TOKEN_NAME_CHARS_MAX });
}

/** @returns the merchant's row number; null for a role of ours. @throws ConfereError `invalid_request`. */
async function findMerchantSeq(db: Reader, role: TokenRole, merchant: string | undefined): Promise<number | null> {
  if (role !== 'merchant' && merchant !== undefined) throw refuseField('merchant', 'merchant_of_other_role');
  if (role !== 'merchant') return null;
  if (merchant === undefined) throw refuseField('merchant', 'merchant_required');
  const query = db.selectFrom('merchants').select('seq').where('id', '=', merchant).where('deleted_at', 'is', null);
  const row = await query.executeTakeFirst();
  if (!row) throw refuseField('merchant', 'merchant_wrong');
  return row.seq;
}

/** @returns the caller with this token; undefined if it is unknown, revoked or expired. A form of no token asks no database. */
export async function findCaller(context: Context, token: string): Promise<Caller | undefined> {
  const hash = hashToken(token);
  const mayBeAdmin = context.config.ADMIN_TOKEN !== undefined || GENERATED_ADMIN_FORM.test(token);
  if (mayBeAdmin && (await isAdminHash(context, hash))) return ADMIN_CALLER;
  if (!TOKEN_FORM.test(token)) return undefined;
  const now = context.clock.now();
  const row = await selectLiveTokens(context, now)
    .select(['tokens.seq', 'tokens.id', 'tokens.name', 'tokens.role', 'tokens.last_used_at'])
    .where('token_hash', '=', hash)
    .executeTakeFirst();
  if (!row) return undefined;
  await recordUse(context, row, now);
  // only createToken writes roles
  return { id: row.id, name: row.name, role: row.role as Role };
}

async function recordUse(
  { db }: Pick<Context, 'db'>,
  row: { seq: number; last_used_at: Date | null },
  now: Date,
): Promise<void> {
  if (row.last_used_at !== null && now.getTime() - row.last_used_at.getTime() < USED_EVERY_MS) return;
  await db.updateTable('tokens').set({ last_used_at: now }).where('seq', '=', row.seq).execute();
}

/** Query of tokens of ours that are neither revoked nor expired. A merchant's token is never among them. */
export function selectLiveTokens(context: Pick<Context, 'db'>, now: Date) {
  return selectLive(context, now).where('tokens.merchant_seq', 'is', null).where('tokens.role', '<>', 'merchant');
}

function selectLive(context: Pick<Context, 'db'>, now: Date) {
  return context.db
    .selectFrom('tokens')
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>', now)]));
}

/** A token of a merchant: its id and name, and the merchant that it belongs to. It is no `Caller`. */
export type MerchantCaller = { id: string; name: string; merchantSeq: number; sources: readonly string[] };

/** Whether a text has the form of a merchant's token. */
export function isMerchantToken(text: string): boolean {
  return MERCHANT_TOKEN_FORM.test(text);
}

/** @returns the merchant's login with this token; undefined if it is unknown, revoked or expired. */
export async function findMerchantToken(context: Context, token: string): Promise<MerchantCaller | undefined> {
  if (!isMerchantToken(token)) return undefined;
  const now = context.clock.now();
  const row = await selectLiveMerchantTokens(context, now)
    .select('tokens.last_used_at')
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst();
  if (!row) return undefined;
  await recordUse(context, row, now);
  return toMerchantCaller(row);
}

/** Query of merchants' tokens that are neither revoked nor expired. */
export function selectLiveMerchantTokens(context: Pick<Context, 'db'>, now: Date) {
  return selectLive(context, now)
    .where('tokens.role', '=', 'merchant')
    .where('tokens.merchant_seq', 'is not', null)
    .select(['tokens.seq', 'tokens.id', 'tokens.name', 'tokens.merchant_seq', 'tokens.sources']);
}

type MerchantToken = { id: string; name: string; merchant_seq: number | null; sources: string | null };

export function toMerchantCaller({ id, name, merchant_seq, sources }: MerchantToken): MerchantCaller {
  return { id, name, merchantSeq: requireRowNumber(merchant_seq, 'a merchant token'), sources: splitSources(sources) };
}

function splitSources(sources: string | null): string[] {
  return sources?.split(SEPARATOR) ?? [];
}

/** Whether this is the hash of ADMIN_TOKEN or, if that is not set, of the generated token. */
export async function isAdminHash(context: Pick<Context, 'config' | 'db'>, hash: Buffer): Promise<boolean> {
  const { ADMIN_TOKEN } = context.config;
  const admin = ADMIN_TOKEN ? hashToken(ADMIN_TOKEN) : await readSetting(context.db, ADMIN_SETTING);
  return admin !== undefined && timingSafeEqual(hash, admin);
}

/** @returns tokens as the API shows them, newest first. @param after only tokens below this row number. */
export async function listTokens(context: Context, limit: number, after: number | undefined) {
  let query = context.db
    .selectFrom('tokens')
    .leftJoin('merchants', 'merchants.seq', 'tokens.merchant_seq')
    .selectAll('tokens')
    .select('merchants.id as merchant')
    .orderBy('tokens.seq', 'desc')
    .limit(limit);
  if (after !== undefined) query = query.where('tokens.seq', '<', after);
  const now = context.clock.now();
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    name: row.name,
    role: row.role as TokenRole,
    merchant: row.merchant,
    sources: splitSources(row.sources),
    state: row.revoked_at !== null ? 'revoked' : row.expires_at !== null && row.expires_at <= now ? 'expired' : 'live',
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }));
}

/** Revokes a token and ends its sessions. @throws ConfereError `not_found` if it is unknown or revoked already. */
export async function revokeToken(context: Pick<Context, 'db' | 'clock'>, id: string): Promise<void> {
  const result = await context.db
    .updateTable('tokens')
    .set({ revoked_at: context.clock.now() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw refuse('token_unknown');
}

/** A plain hash suffices: tokens have 256 random bits. */
export function hashToken(token: string): Buffer {
  return hashText(token);
}
