/**
 * The map of our accounts to the customer's own chart of accounts, for files that accounting programs import. It is given
 * whole: the newest row of the table counts, and older ones stay.
 */
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { ConfereError, groupFaults } from '../../domain/errors.ts';
import { splitAccount } from '../journal/plan-entries.ts';
import { listBankAccounts } from './bank-accounts.ts';
import { type AccountFault, BANK, checkAccounts, describeAccountFault, type MappedAccount } from './check-accounts.ts';

export type AccountMap = { accounts: MappedAccount[]; changed_at: string | null; changed_by: string | null };

/** Returns all faults of a map, in the order of its rows. */
export async function findAccountFaults(db: Reader, accounts: MappedAccount[]): Promise<AccountFault[]> {
  const platforms = new Set((await listAccounts(db)).map((name) => splitAccount(name).platform));
  return checkAccounts(accounts, platforms, new Set(await listBankAccounts(db))).sort((a, b) => a.row - b.row);
}

/**
 * Replaces the map, unless it is the same.
 * @throws ConfereError `invalid_request` with all faults by row and field: then nothing is stored.
 */
export async function setAccountMap(
  context: Context,
  given: { accounts: MappedAccount[]; actor: string },
): Promise<{ rows: number; changed: boolean }> {
  const faults = await findAccountFaults(context.db, given.accounts);
  if (faults.length > 0) throw refuseAccounts(faults);
  const rows = given.accounts.length;
  const accounts = JSON.stringify(given.accounts);
  const newest = await readNewest(context.db);
  if (newest?.accounts === accounts) return { rows, changed: false };
  const { actor } = given;
  await context.db.insertInto('account_maps').values({ accounts, created_at: context.clock.now(), actor }).execute();
  return { rows, changed: true };
}

function refuseAccounts(faults: AccountFault[]): ConfereError {
  const fields = groupFaults(faults.map((one) => [`accounts.${one.row}.${one.field}`, describeAccountFault(one)]));
  const lines = Object.entries(fields).map(([name, texts]) => `${name}: ${texts.join(', ')}`);
  return new ConfereError('invalid_request', lines.join(';\n'), { fields });
}

/** The map in force; without rows if none was given. */
export async function readAccountMap(db: Reader): Promise<AccountMap> {
  const newest = await readNewest(db);
  if (!newest) return { accounts: [], changed_at: null, changed_by: null };
  // `setAccountMap` wrote it
  const accounts = JSON.parse(newest.accounts) as MappedAccount[];
  return { accounts, changed_at: newest.created_at.toISOString(), changed_by: newest.actor };
}

async function readNewest(db: Reader) {
  return await db.selectFrom('account_maps').selectAll().orderBy('seq', 'desc').limit(1).executeTakeFirst();
}

async function listAccounts(db: Reader): Promise<string[]> {
  return (await db.selectFrom('accounts').select('name').orderBy('name').execute()).map(({ name }) => name);
}

/** Returns a search for the row of an account by its full name, `Assets:Provider:Held:<platform>`; of the bank, first by the bank account. */
export function createAccountSearch(
  accounts: MappedAccount[],
): (name: string, bankAccount?: string) => MappedAccount | undefined {
  const rows = new Map(accounts.map((row) => [keyOf(row.account, row.platform), row]));
  const known = new Map<string, MappedAccount | undefined>();
  return (name, bankAccount) => {
    const { account, platform } = splitAccount(name);
    const ofBank = account === BANK && bankAccount !== undefined && rows.get(keyOf(account, bankAccount));
    if (ofBank) return ofBank;
    if (known.has(name)) return known.get(name);
    const found = rows.get(keyOf(account, platform)) ?? rows.get(keyOf(account, null));
    known.set(name, found);
    return found;
  };
}

function keyOf(account: string, platform: string | null): string {
  return JSON.stringify([account, platform]);
}

/** The accounts that have entries and no row in the map, without their platforms. */
export async function listUnmappedAccounts(db: Reader, accounts: MappedAccount[]): Promise<string[]> {
  const find = createAccountSearch(accounts);
  const unmapped = (await listAccounts(db)).filter((name) => find(name) === undefined);
  return [...new Set(unmapped.map((name) => splitAccount(name).account))];
}
