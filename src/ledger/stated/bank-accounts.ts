/** Facts about the company's bank accounts, which people state. The newest row of an account counts. */
import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { REMOVED } from '../../domain/person/redact-text.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { type BankCsv, checkBankCsv } from './check-bank-csv.ts';
import { checkDayBegun } from './check-stated.ts';
import { checkName, foldName } from './platform-names.ts';

/** Bank, branch and number with `/` between, as the database's columns. */
export const BANK_ACCOUNT_CHARS_MAX = 100;
/** A part of an account. */
export const ACCOUNT_PART = /^[A-Za-z0-9][A-Za-z0-9 ./-]*$/;
/** The bank of files that Confere writes. */
export const OWN_BANK = 'CONFERE';
/** Texts for an account. */
export const NOT_PIX_TEXTS_MAX = 50;
/** A shorter text is in most lines by chance. */
export const NOT_PIX_CHARS_MIN = 3;
export const NOT_PIX_CHARS_MAX = 100;

/** Lines whose text begins so, or contains it, without regard to case and accents, are nothing of PIX. */
export type NotPix = { begins: string[]; contains: string[] };

export type BankAccountFacts = {
  account: string;
  name: string | null;
  notPix: NotPix;
  /** How to read the bank's own CSV; null: nobody has said it. */
  csv: BankCsv | null;
  /** At the end of the day, as a person read it at the bank. */
  balance: StatedBankBalance | null;
};

/** In cents. */
export type StatedBankBalance = { day: Day; cents: bigint };

/** Facts left out stay as they are. */
export type StatedBankAccount = {
  account: string;
  name?: string | null | undefined;
  notPix?: NotPix | undefined;
  csv?: BankCsv | null | undefined;
  balance?: StatedBankBalance | null | undefined;
  /** Confirms an account that no statement shows. */
  isNew?: boolean | undefined;
  actor: string;
};

/** Whether a text is an account as a statement names it, of another bank than Confere's own files. */
export function isBankAccount(text: string): boolean {
  const parts = text.split('/');
  return parts.length > 1 && parts.every((part) => ACCOUNT_PART.test(part)) && parts[0] !== OWN_BANK;
}

/** Reads the accounts that people said something of, by the account. */
export async function readBankAccounts(db: Reader): Promise<Map<string, BankAccountFacts>> {
  const rows = await db.selectFrom('bank_accounts').selectAll().orderBy('seq').execute();
  return new Map(
    rows.map(({ account, name, not_pix, csv, balance_cents: cents, balance_day: day }) => [
      account,
      {
        // `setBankAccount` alone writes them
        ...{
          account,
          name,
          notPix: JSON.parse(not_pix) as NotPix,
          csv: csv === null ? null : (JSON.parse(csv) as BankCsv),
        },
        balance: cents === null || day === null ? null : { day, cents },
      },
    ]),
  );
}

/** Returns the account that people gave this name; a text that is no name stays as it is. */
export async function findNamedAccount(db: Reader, text: string): Promise<string> {
  const folded = foldName(text);
  const named = [...(await readBankAccounts(db)).values()].find(
    ({ name }) => name !== null && foldName(name) === folded,
  );
  return named?.account ?? text;
}

/** Lists the accounts that statements show, or that people named. */
export async function listBankAccounts(db: Reader): Promise<string[]> {
  const shown = await db.selectFrom('bank_statements').select('account').distinct().execute();
  return [...new Set([...shown.map(({ account }) => account), ...(await readBankAccounts(db)).keys()])].sort();
}

/**
 * Says something of an account.
 * @returns whether that is new.
 * @throws ConfereError `invalid_request` for an account that is not known, unless `isNew`, and for wrong facts; `conflict` for the
 *   name of another account.
 */
export async function setBankAccount(context: Context, { account, actor, isNew, ...given }: StatedBankAccount) {
  const known = await readBankAccounts(context.db);
  if (!isBankAccount(account)) throw refuseField('account', 'bank_account_wrong');
  if (!isNew && !(await listBankAccounts(context.db)).includes(account))
    throw refuseField('account', 'bank_account_unknown');
  const before = known.get(account) ?? { name: null, notPix: { begins: [], contains: [] }, csv: null, balance: null };
  const name = given.name === undefined ? before.name : (given.name?.trim() ?? null);
  if (name !== null && name !== before.name) {
    checkName(name);
    const others = [...known.values()].filter((one) => one.account !== account);
    if (others.some((one) => one.name !== null && foldName(one.name) === foldName(name)))
      throw refuse('bank_account_name_taken', { name });
  }
  const notPix = given.notPix ? checkNotPix(given.notPix) : before.notPix;
  const csv = given.csv === undefined ? before.csv : given.csv;
  if (csv !== null) checkBankCsv(csv);
  const balance = given.balance === undefined ? before.balance : given.balance;
  if (balance !== null && balance.day !== before.balance?.day) checkDayBegun(context, balance.day);
  const row = toColumns({ name, notPix, csv, balance });
  if (known.has(account) && isDeepStrictEqual(row, toColumns(before))) return false;
  await context.db
    .insertInto('bank_accounts')
    .values({ account, ...row, created_at: context.clock.now(), actor })
    .execute();
  return true;
}

function toColumns({ name, notPix, csv, balance }: Omit<BankAccountFacts, 'account'>) {
  return {
    ...{ name, not_pix: JSON.stringify(notPix), csv: csv && JSON.stringify(csv) },
    ...{ balance_cents: balance?.cents ?? null, balance_day: balance?.day ?? null },
  };
}

function checkNotPix({ begins, contains }: NotPix): NotPix {
  const [starts, parts] = [begins, contains].map((texts) => [...new Set(texts.map((text) => text.trim()))]);
  const texts = [...(starts ?? []), ...(parts ?? [])];
  const isWrong = texts.some((text) => text.length < NOT_PIX_CHARS_MIN || text.length > NOT_PIX_CHARS_MAX);
  if (isWrong || texts.length > NOT_PIX_TEXTS_MAX)
    throw refuseField('not_pix', 'not_pix_texts', {
      ...{ n: NOT_PIX_TEXTS_MAX, min: NOT_PIX_CHARS_MIN, max: NOT_PIX_CHARS_MAX },
    });
  return { begins: starts ?? [], contains: parts ?? [] };
}

/** Whether the text of a line is one of those. A text of a forgotten person is none. */
export function isNotPix(text: string, { begins, contains }: NotPix): boolean {
  const folded = foldBlanks(text);
  const fits = (part: string, is: (one: string) => boolean): boolean => !part.includes(REMOVED) && is(foldBlanks(part));
  return (
    begins.some((part) => fits(part, (one) => folded.startsWith(one))) ||
    contains.some((part) => fits(part, (one) => folded.includes(one)))
  );
}

function foldBlanks(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
