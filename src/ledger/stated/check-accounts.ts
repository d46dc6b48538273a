import { describeSaid, type MessagesOf } from '../../texts/messages.ts';

/** A row of the account map. A row without a platform holds for each platform that has no row of its own. */
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

/** The bank, whose rows may name a bank account in place of a platform. */
export const BANK = 'Assets:Bank';

/** The accounts of the ledger, without their platforms. A test compares them with the code that posts. */
export const LEDGER_ACCOUNTS = [
  'Assets:Provider:Available',
  'Assets:Provider:Held',
  'Assets:Provider:Blocked',
  BANK,
  'Expenses:Commission:Cashin',
  'Expenses:Commission:Cashout',
  'Expenses:Fees',
  'Liabilities:Receipts',
  'Liabilities:Payables',
  'Equity:Opening',
  'Equity:Adjustments',
] as const;

/** The accounts of refunds by the account of the ledger that they are posted to. The map alone has them: without a row of theirs that account's counts. */
export const REFUND_ACCOUNTS: ReadonlyMap<string, string> = new Map([
  ['Liabilities:Receipts', 'Liabilities:RefundsMade'],
  ['Liabilities:Payables', 'Liabilities:RefundsReceived'],
]);

/** The accounts that a map may name. */
export const CHART_ACCOUNTS = LEDGER_ACCOUNTS.flatMap((account) => {
  const refunds = REFUND_ACCOUNTS.get(account);
  return refunds === undefined ? [account] : [account, refunds];
});

export const ACCOUNT_ROWS_MAX = 2_000;
/** Characters of each field. `history` is a number. */
export const ACCOUNT_CHARS_MAX = { code: 40, category: 100, cost_center: 60, history: 10 } as const;
/** The first character keeps a spreadsheet from reading the text as a formula. */
const TEXT = /^[\p{L}\p{N}][^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;
const DIGITS = /^\d+$/;

/** A fault of a row, counted from 0, and of one of its fields, or `account` for the row as a whole. */
export type AccountFault = {
  row: number;
  field: keyof MappedAccount;
  kind: MessagesOf<'account'>;
  value?: string | number;
};

/**
 * Returns all faults of the rows of a map. Pure.
 * @param platforms those of the ledger; a map for an empty ledger may name any.
 * @param banks accounts that statements show, or that people named.
 */
export function checkAccounts(
  accounts: MappedAccount[],
  platforms: ReadonlySet<string>,
  banks: ReadonlySet<string> = new Set(),
): AccountFault[] {
  if (accounts.length === 0) return [{ row: 0, field: 'account', kind: 'no_rows' }];
  const faults: AccountFault[] = [];
  if (accounts.length > ACCOUNT_ROWS_MAX)
    faults.push({ row: ACCOUNT_ROWS_MAX, field: 'account', kind: 'too_many_rows', value: ACCOUNT_ROWS_MAX });
  const seen = new Set<string>();
  for (const [row, mapped] of accounts.entries()) {
    const { account, platform } = mapped;
    const key = JSON.stringify([account, platform]);
    if (!CHART_ACCOUNTS.includes(account))
      faults.push({ row, field: 'account', kind: 'unknown_account', value: CHART_ACCOUNTS.join(', ') });
    if (seen.has(key)) faults.push({ row, field: 'account', kind: 'repeated' });
    seen.add(key);
    const isOfBank = account === BANK && platform !== null && banks.has(platform);
    if (platform !== null && platforms.size > 0 && !platforms.has(platform) && !isOfBank)
      faults.push({ row, field: 'platform', kind: 'unknown_platform', value: platform });
    if (mapped.code === null && mapped.category === null) faults.push({ row, field: 'code', kind: 'empty' });
    for (const field of ['code', 'category', 'cost_center', 'history'] as const) {
      const fault = checkText(field, mapped[field]);
      if (fault) faults.push({ row, field, ...fault });
    }
  }
  return faults;
}

function checkText(
  field: keyof typeof ACCOUNT_CHARS_MAX,
  text: string | null,
): Pick<AccountFault, 'kind' | 'value'> | undefined {
  if (text === null) return undefined;
  if (text.length > ACCOUNT_CHARS_MAX[field]) return { kind: 'too_long', value: ACCOUNT_CHARS_MAX[field] };
  if (field === 'history') return DIGITS.test(text) ? undefined : { kind: 'no_number' };
  return TEXT.test(text) ? undefined : { kind: 'no_line' };
}

/** A fault in words. */
export function describeAccountFault({ kind, value = '' }: AccountFault): string {
  return describeSaid([{ name: `account.${kind}`, values: { value } }]);
}
