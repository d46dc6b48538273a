import type { Reader } from '../../../database/reader.ts';
import { listBankAccounts } from '../../stated/bank-accounts.ts';
import type { BankStatement } from './bank-statement.ts';
import type { BankAnswers, StatementFault } from './statement-faults.ts';

/** A shorter number occurs in another one by chance. */
const DIGITS_MIN = 4;
/** A shorter number ends another one by chance. */
const PART_DIGITS_MIN = 6;

/** Accounts that statements show or people named, and other spellings of them that a person named. */
export type KnownAccounts = { names: string[]; spelled: Map<string, string> };

export async function readKnownAccounts(db: Reader): Promise<KnownAccounts> {
  const rows = await db.selectFrom('bank_statements').select(['account', 'spelled']).distinct().execute();
  const spelled = rows.flatMap(({ account, spelled: one }) => (one === null ? [] : [[one, account] as const]));
  return { names: await listBankAccounts(db), spelled: new Map(spelled) };
}

type Resolved = {
  account: string;
  /** The file's name of it, where that is another one. */
  spelled: string | null;
  fault?: StatementFault;
};

/** Returns the account of a statement, or what a person must say of it. Pure. */
export function resolveAccount(
  { account: name, missing, source, line, isNewAccount }: BankStatement,
  { names, spelled }: KnownAccounts,
  answers: BankAnswers,
): Resolved {
  const own = { account: name, spelled: null };
  const isWhole = missing.length === 0;
  if (isWhole && names.includes(name)) return own;
  const before = spelled.get(name);
  if (before !== undefined) return { account: before, spelled: name };
  if (answers.account !== undefined) {
    const isOther = answers.account !== name && name !== '';
    return { account: answers.account, spelled: isOther ? name : null };
  }
  if (!isWhole) return { ...own, fault: { line, kind: 'no_account', value: missing.join(', ') } };
  if (isNewAccount || answers.new_account !== undefined) return own;
  const similar = findSpelledAccount(name, names);
  if (similar !== undefined) return { ...own, fault: { line, kind: 'spelled', value: similar } };
  return source === 'table' && names.length > 0 ? { ...own, fault: { line, kind: 'new_account' } } : own;
}

/**
 * Finds the known account that a name may be another spelling of: with zeros in front, without its check digit, with the branch
 * in its number. Pure. Banks write one account in several ways over the years, and its lines would be there twice.
 * @returns undefined for a known name, and for one that none resembles.
 */
function findSpelledAccount(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  const own = listNumbers(name);
  return known.find((other) => listNumbers(other).some((one) => own.some((two) => isSameNumber(one, two))));
}

/** The number of an account alone, and with its branch before it. */
function listNumbers(name: string): string[] {
  const parts = name.split('/').map((part) => part.toUpperCase().replace(/[^A-Z0-9]/g, ''));
  const number = parts.at(-1) ?? '';
  const branch = parts.length > 2 ? (parts.at(-2) ?? '') : '';
  const withBranch = branch === '' ? [] : [branch + number, branch + number.replace(/^0+/, '')];
  return [number, ...withBranch].map((one) => one.replace(/^0+/, '')).filter((one) => one.length >= DIGITS_MIN);
}

/** Equal, or equal but for a check digit at the end of one. */
function isSameNumber(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long === short || (long.length === short.length + 1 && long.startsWith(short))) return true;
  // a branch or a kind of account stands before the number, or a check digit X is a 0
  const [plain, whole] = [short, long].map((text) => text.replace(/X$/, '0')) as [string, string];
  return plain === whole || (short.length >= PART_DIGITS_MIN && whole.endsWith(plain));
}
