import { formatAmount } from '../../domain/money.ts';
import type { BankAccount, BankSummary, Sum } from './summarize-bank.ts';

/** The summary as the API and the command line show it: amounts as decimal texts. */
export function presentBankSummary(summary: BankSummary) {
  const { bankCents, ledgerCents } = summary;
  return {
    bank: bankCents === null ? null : formatAmount(bankCents),
    ledger: formatAmount(ledgerCents),
    difference: bankCents === null ? null : formatAmount(bankCents - ledgerCents),
    before_first_line: formatAmount(summary.beforeCents),
    withdrawals: presentSum(summary.withdrawals),
    open_lines: presentSum(summary.openLines),
    not_pix: presentSum(summary.notPix),
    open_entries: presentSum(summary.openEntries),
    after_balance: formatAmount(summary.afterCents),
    matched: presentSum(summary.matched),
    /** Whether each entry of `Assets:Bank` has its line. */
    closed: summary.openEntries.count === 0,
    accounts: summary.accounts.map(presentAccount),
  };
}

function presentAccount(one: BankAccount) {
  const { account, name, firstDay, lastDay, balance, gaps } = one;
  return {
    ...{ account, name },
    lines: presentSum(one.lines),
    received: presentSum(one.received),
    matched: presentSum(one.matched),
    withdrawals: presentSum(one.withdrawals),
    open_lines: presentSum(one.openLines),
    not_pix: presentSum(one.notPix),
    open_entries: presentSum(one.openEntries),
    first_day: firstDay,
    last_day: lastDay,
    balance: balance && formatAmount(balance.cents),
    balance_day: balance?.day ?? null,
    gaps: gaps.map(({ from, to, cents }) => ({ from, to, amount: formatAmount(cents) })),
  };
}

function presentSum({ count, cents }: Sum) {
  return { count, amount: formatAmount(cents) };
}
