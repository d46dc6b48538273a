/**
 * Changes of address that a merchant asks for in its portal: of its URL, its e-mail, and its address for tests. The token of a
 * portal may have leaked, and must not redirect payers' data: a change waits until the link mailed to the e-mail on file is
 * used, or an admin confirms it. An e-mail is also proven by a link mailed to it; an address answers a signed challenge first.
 *
 * A test address waits for nobody where no link can be mailed: it is marked as unconfirmed, and gets invented examples alone, so
 * that a token that leaked sends nobody's data there, also once it is revoked. Asked for again, it waits as others do, and is
 * confirmed. Unconfirmed, it is also taken away at once: tests and examples go to the URL on file, as before. A confirmed one
 * that is taken away waits: examples would then reach the system that handles payments.
 *
 * A change that waits is void once it is 48 hours old, what it replaces has changed, the token that asked is revoked, the
 * merchant is removed, or the database was restored since. While it waits, no other of its kind is asked for: the link that the
 * merchant expects would confirm another address. The table also has notices (note-own-changes.ts), and what
 * operators changed (note-addresses.ts), which are applied from the start.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { HOUR_MS } from '../domain/calendar.ts';
import { HEALTHY, lockMerchant } from '../merchants/change-merchants.ts';
import { findMerchantFaults } from '../merchants/check-merchant.ts';
import { BY_OPERATORS, makeChangeId } from '../merchants/note-addresses.ts';
import { findMerchant, type MerchantRow } from '../merchants/read-merchants.ts';
import { refuse, refuseField, refuseFields } from '../texts/refuse.ts';

export const ADDRESS_KINDS = ['url', 'email', 'test_url'] as const;
export type AddressKind = (typeof ADDRESS_KINDS)[number];
export const ADDRESS_DECISIONS = ['confirm', 'refuse'] as const;
export type AddressDecision = (typeof ADDRESS_DECISIONS)[number];

/** How long a change waits, and its links are valid. */
export const CHANGE_HOURS_MAX = 48;
/** Each change sends a mail. */
const ASKED_A_DAY_MAX = 10;

export type AddressChange = Awaited<ReturnType<typeof listWaiting>>[number];
/** `value` null: no test address any more. */
export type AskedAddress = { kind: AddressKind; value: string | null };

/** Whether a link can be mailed to a merchant's e-mail on file; else an admin confirms. */
export function isMailed({ config }: Pick<Context, 'config'>, { email }: Pick<MerchantRow, 'email'>): boolean {
  return email !== null && config.SMTP_URL !== undefined;
}

/** @throws ConfereError `invalid_request`; `conflict` for an address of a merchant that fetches. */
export function checkAddress(context: Context, merchant: MerchantRow, { kind, value }: AskedAddress): void {
  const given = kind === 'test_url' ? value : (value ?? '');
  const faults = findMerchantFaults(context, kind === 'email' ? { email: given } : { url: given });
  if (faults.length > 0) throw refuseFields(faults.map((fault) => ({ ...fault, field: 'value' })));
  if (kind === 'email' && !value) throw refuseField('value', 'email_wrong');
  // asked for again, an unconfirmed test address waits for its confirmation
  const isAgain = kind === 'test_url' && value !== null && merchant.test_unconfirmed === 1;
  if (merchant[kind] === value && !isAgain) throw refuseField('value', 'address_same');
  if (kind !== 'email' && merchant.url === null) throw refuse('merchant_fetches');
}

/** Whether a change waits for nobody: a test address that nobody confirms, where no link can be mailed. */
export function countsAtOnce(context: Context, merchant: MerchantRow, { kind, value }: AskedAddress): boolean {
  if (kind !== 'test_url' || isMailed(context, merchant)) return false;
  return value === null ? merchant.test_unconfirmed === 1 : value !== merchant.test_url;
}

/** @throws ConfereError `conflict` while a change of this kind waits. */
export async function assertNoneWaits(context: Context, db: Reader, id: string, kind: AddressKind): Promise<void> {
  const waiting = (await listWaiting(context, db, { merchant: id })).find((one) => one.kind === kind);
  if (waiting) throw refuse('address_change_waits', { id: waiting.id });
}

/**
 * Asks for a change. A new address has answered the challenge already.
 * @param tokenId of the portal. @throws as `checkAddress` and `assertNoneWaits`; `too_many_requests` beyond ten a day.
 */
export async function askAddressChange(
  context: Context,
  merchantId: string,
  { kind, value, tokenId }: AskedAddress & { tokenId: string },
): Promise<AddressChange> {
  const id = makeChangeId();
  const now = context.clock.now();
  return await transact(context.db, async (trx) => {
    const { seq } = await lockMerchant(trx, merchantId);
    const merchant = await findMerchant(trx, merchantId);
    checkAddress(context, merchant, { kind, value });
    await assertNoneWaits(context, trx, merchantId, kind);
    const asked = await trx
      .selectFrom('merchant_address_changes')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('merchant_seq', '=', seq)
      .where('asked_at', '>', new Date(now.getTime() - 24 * HOUR_MS))
      .where('kind', 'in', ADDRESS_KINDS)
      .where('asked_by', '<>', BY_OPERATORS)
      .executeTakeFirst();
    if (Number(asked?.count) >= ASKED_A_DAY_MAX) throw refuse('address_changes_spent', { n: ASKED_A_DAY_MAX });
    // one that is void must not wait again beside this one, such as once the address is what it was
    await trx
      .updateTable('merchant_address_changes')
      .set({ ended_at: now })
      .where('merchant_seq', '=', seq)
      .where('kind', '=', kind)
      .where('applied_at', 'is', null)
      .where('ended_at', 'is', null)
      .execute();
    const mail = isMailed(context, merchant) ? { mail: 'agree', next_attempt_at: now } : {};
    const row = { id, merchant_seq: seq, kind, value, old_value: merchant[kind], asked_at: now, asked_by: tokenId };
    const proven_at = kind === 'email' ? null : now;
    await trx
      .insertInto('merchant_address_changes')
      .values({ ...row, ...mail, proven_at })
      .execute();
    const change = await findWaiting(context, trx, id, merchantId);
    if (!countsAtOnce(context, merchant, { kind, value })) return change;
    const set = { test_url: value, test_unconfirmed: value === null ? 0 : 1 };
    await trx.updateTable('merchants').set(set).where('seq', '=', seq).execute();
    await mark(trx, change, { applied_at: now });
    return { ...change, agreed_at: now, isMailed: true };
  });
}

/** Decides a change: an admin does both, the merchant refuses alone. @throws ConfereError `not_found` if it does not wait. */
export async function decideAddressChange(
  context: Context,
  merchantId: string,
  { id, decision }: { id: string; decision: AddressDecision },
): Promise<AddressChange> {
  return await transact(context.db, async (trx) => {
    await lockMerchant(trx, merchantId);
    const change = await findWaiting(context, trx, id, merchantId);
    if (decision === 'confirm') await apply(context, trx, change);
    else await mark(trx, change, { ended_at: context.clock.now() });
    return change;
  });
}

/**
 * Notes that a side has used its link, and applies the change once both sides have. A new e-mail gets its link only now: Confere mails
 * no stranger for a token that leaked. @returns whether it is applied.
 */
export async function agreeByLink(
  context: Context,
  { id, merchant, side }: { id: string; merchant: string; side: 'agree' | 'prove' },
): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    await lockMerchant(trx, merchant);
    const change = await findWaiting(context, trx, id, merchant);
    const other = side === 'agree' ? change.proven_at : change.agreed_at;
    const now = context.clock.now();
    const next = { agreed_at: now, ...(other ? {} : { mail: 'prove', next_attempt_at: now }) };
    await mark(trx, change, side === 'agree' ? next : { proven_at: now });
    if (other) await apply(context, trx, change);
    return other !== null;
  });
}

/** Applies a change. A new URL begins healthy; the one before is tried with what it failed to take, unless its breaker was open (readCredentials). */
async function apply(context: Context, trx: Transaction<Database>, change: AddressChange): Promise<void> {
  const now = context.clock.now();
  const { kind, value, old_value: old, breaker_opened_at: brokenAt } = change;
  const set =
    kind === 'url'
      ? { url: value, old_url: brokenAt === null ? old : null, url_changed_at: now, ...HEALTHY }
      : { [kind]: value, ...(kind === 'test_url' ? { test_unconfirmed: 0 } : {}) };
  await trx.updateTable('merchants').set(set).where('seq', '=', change.merchant_seq).execute();
  const by = { proven_at: change.proven_at ?? now, agreed_at: change.agreed_at ?? now };
  await mark(trx, change, { ...by, applied_at: now, mail: 'applied', next_attempt_at: now });
  context.wakeUps.callbacks.notify();
}

type Mark = Partial<Record<'proven_at' | 'agreed_at' | 'applied_at' | 'ended_at' | 'next_attempt_at', Date>>;

async function mark(trx: Transaction<Database>, { seq }: AddressChange, set: Mark & { mail?: string }): Promise<void> {
  await trx.updateTable('merchant_address_changes').set(set).where('seq', '=', seq).execute();
}

async function findWaiting(context: Context, db: Reader, id: string, merchant: string): Promise<AddressChange> {
  const found = (await listWaiting(context, db, { merchant })).find((one) => one.id === id);
  if (!found) throw refuse('address_change_unknown');
  return found;
}

/** Lists the changes that wait, the oldest first: of a merchant, by id, or all. */
export async function listWaiting(
  context: Pick<Context, 'clock' | 'config'>,
  db: Reader,
  of: { merchant?: string; id?: string },
) {
  const rows = await db
    .selectFrom('merchant_address_changes as change')
    .innerJoin('merchants', 'merchants.seq', 'change.merchant_seq')
    .innerJoin('tokens', 'tokens.id', 'change.asked_by')
    .selectAll('change')
    .select(['merchants.id as merchant', 'merchants.name as merchant_name', 'url', 'email', 'test_url'])
    .select(['breaker_opened_at', 'state', 'paused_by', 'tokens.name as asked_by_name'])
    .$if(of.merchant !== undefined, (query) => query.where('merchants.id', '=', of.merchant ?? ''))
    .$if(of.id !== undefined, (query) => query.where('change.id', '=', of.id ?? ''))
    .where('change.applied_at', 'is', null)
    .where('change.ended_at', 'is', null)
    .where('change.asked_at', '>', new Date(context.clock.now().getTime() - CHANGE_HOURS_MAX * HOUR_MS))
    .where('deleted_at', 'is', null)
    .where('tokens.revoked_at', 'is', null)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('restores').select('seq').whereRef('restored_at', '>=', 'change.asked_at'))),
    )
    .orderBy('change.seq')
    .execute();
  // cast: only these kinds are stored
  return rows
    .map((row) => ({ ...row, kind: row.kind as AddressKind, isMailed: isMailed(context, row) }))
    .filter((row) => row.old_value === row[row.kind]);
}

/** Names a change in the audit: no value, an address may hold a secret, an e-mail names a person. */
export function nameChange({ kind, value }: Pick<AddressChange, 'kind' | 'value'>): string[] {
  return value === null ? [kind, 'removed'] : [kind];
}

/** A change that waits, as the merchant and admins see it. */
export function presentAddressChange(change: AddressChange) {
  return {
    id: change.id,
    kind: change.kind,
    value: change.value,
    old_value: change.old_value,
    asked_at: change.asked_at.toISOString(),
    asked_by: change.asked_by_name,
    expires_at: new Date(change.asked_at.getTime() + CHANGE_HOURS_MAX * HOUR_MS).toISOString(),
    /** The confirmations that are missing. An admin stands for both. */
    waits_for: [
      ...(change.agreed_at ? [] : [change.isMailed ? ('email_on_file' as const) : ('admin' as const)]),
      ...(change.proven_at || !change.isMailed ? [] : ['new_email' as const]),
    ],
  };
}
