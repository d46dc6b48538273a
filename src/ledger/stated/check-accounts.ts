/** A row of the map. A row without a platform holds for each platform that has no row of its own. */
export type MappedAccount = {
  account: string;
  platform: string | null;
  /** The account's code in the customer's chart. */
  code: string | null;
  /** Its category, for programs that know categories instead of accounts. */
  category: string | null;
  cost_center: string | null;
  /** The number of the standard text of its entries. */
  history: string | null;
};

/** The accounts of the ledger, without their platforms. A test compares them with the code that posts. */
export const LEDGER_ACCOUNTS = [
  'Assets:Provider:Available',
  'Assets:Provider:Held',
  'Assets:Provider:Blocked',
  'Assets:Bank',
  'Expenses:Commission:Cashin',
  'Expenses:Commission:Cashout',
  'Expenses:Fees',
  'Liabilities:Receipts',
  'Liabilities:Payables',
  'Equity:Opening',
  'Equity:Adjustments',
] as const;

export const ACCOUNT_ROWS_MAX = 2_000;
/** In characters. */
const LENGTHS_MAX = { code: 40, category: 100, cost_center: 60, history: 10 } as const;
/** The first character keeps a spreadsheet from reading the text as a formula. */
const TEXT = /^[\p{L}\p{N}][^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;
const DIGITS = /^\d+$/;

/** A fault of a row, counted from 0, and of one of its fields, or `account` for the row as a whole. */
export type AccountFault = { row: number; field: keyof MappedAccount; fault: string };

/**
 * Returns all faults of the rows of a map. Pure.
 * @param platforms those of the ledger; a map for an empty ledger may name any.
 */
export function checkAccounts(accounts: MappedAccount[], platforms: ReadonlySet<string>): AccountFault[] {
  const faults: AccountFault[] = [];
  if (accounts.length === 0) faults.push({ row: 0, field: 'account', fault: 'the map has no rows' });
  if (accounts.length > ACCOUNT_ROWS_MAX)
    faults.push({ row: ACCOUNT_ROWS_MAX, field: 'account', fault: `at most ${ACCOUNT_ROWS_MAX} rows are allowed` });
  const seen = new Set<string>();
  for (const [row, mapped] of accounts.entries()) {
    const note = (field: AccountFault['field'], fault: string | undefined): void => {
      if (fault !== undefined) faults.push({ row, field, fault });
    };
    const { account, platform } = mapped;
    const key = JSON.stringify([account, platform]);
    note('account', describeAccountFault(account, seen.has(key)));
    seen.add(key);
    if (platform !== null && platforms.size > 0 && !platforms.has(platform))
      note('platform', `nothing is known of a platform ${platform}`);
    if (mapped.code === null && mapped.category === null) note('code', 'a code or a category is required');
    for (const field of ['code', 'category', 'cost_center', 'history'] as const)
      note(field, describeTextFault(field, mapped[field]));
  }
  return faults;
}

function describeAccountFault(account: string, isRepeated: boolean): string | undefined {
  if (!(LEDGER_ACCOUNTS as readonly string[]).includes(account))
    return `no account of the ledger: it is one of ${LEDGER_ACCOUNTS.join(', ')}`;
  return isRepeated ? 'the same account and platform are in an earlier row' : undefined;
}

function describeTextFault(field: keyof typeof LENGTHS_MAX, text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text.length > LENGTHS_MAX[field]) return `must have at most ${LENGTHS_MAX[field]} characters`;
  if (field === 'history') return DIGITS.test(text) ? undefined : 'must be a number';
  return TEXT.test(text) ? undefined : 'must be one line that begins with a letter or a digit';
}
