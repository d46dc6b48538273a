import { expect, it } from 'vitest';
import { sayAgreement } from '../../../src/http/console/bank/describe-bank.ts';
import { type BankAccount, type BankSummary, summarizeDays } from '../../../src/ledger/bank/summarize-bank.ts';

const NONE = { count: 0, cents: 0n };
const SUMS = { matched: NONE, withdrawals: NONE, openLines: NONE, notPix: NONE, openEntries: NONE };
const day = '2026-11-20';
const balance = { account: '341/1', seq: 1, day, cents: 100n };
const days = summarizeDays([{ account: '341/1', day, statement: 1, count: 1, cents: 100n }], [balance]);
const ACCOUNT: BankAccount = { account: '341/1', name: null, ...SUMS, received: NONE, ...days };
const SUMMARY: BankSummary = {
  ...{ accounts: [ACCOUNT], ...SUMS, ledgerCents: 100n },
  ...{ beforeCents: 0n, afterCents: 0n, bankCents: 100n },
};

const agrees = 'A conta no banco confere.';
it.each<[what: string, given: Partial<BankSummary>, says: string]>([
  ['no statement', { accounts: [] }, 'Sem um extrato'],
  ['an account without a statement', { accounts: [{ ...ACCOUNT, lines: NONE, balance: null }] }, 'Sem um extrato'],
  ['an open line', { openLines: { count: 1, cents: -500_000n } }, '1 em aberto, que somam -R$ 5.000,00.'],
  ['lines that cancel out', { openLines: { count: 2, cents: 0n } }, '2 em aberto, que somam R$ 0,00.'],
  [
    'an open entry',
    { openEntries: { count: 1, cents: 900n } },
    'Lançamentos do banco: 1 em aberto, que somam R$ 9,00.',
  ],
  ['a gap', { accounts: [{ ...ACCOUNT, gaps: [{ from: day, to: day, cents: 1n }] }] }, 'Faltam linhas entre'],
  ['no balance', { bankCents: null }, 'O saldo não foi comparado'],
])('the bank account is not said to agree with %s', (_what, given, says) => {
  const { said, isSettled } = sayAgreement({ ...SUMMARY, ...given });
  expect(isSettled).toBe(false);
  expect(said).toContain(says);
  expect(said).not.toContain(agrees);
});

it('agrees where every line and entry has its match, none is missing and the balance is known', () => {
  expect(sayAgreement(SUMMARY)).toEqual({ said: expect.stringContaining(agrees), isSettled: true });
});

it('says until when it was compared, and not that it agrees while the balances differ', () => {
  const other = { ...ACCOUNT, account: '341/2', lastDay: '2026-10-12' };
  expect(sayAgreement({ ...SUMMARY, accounts: [{ ...ACCOUNT, lastDay: '2026-11-28' }] }).said).toContain(
    'Comparado até 28/11/2026, com o saldo de 20/11/2026.',
  );
  expect(sayAgreement(SUMMARY).said).toContain('Comparado até 20/11/2026.');
  expect(sayAgreement({ ...SUMMARY, accounts: [{ ...ACCOUNT, name: 'Banco Um' }, other] }).said).toContain(
    'Comparado até 20/11/2026 (Banco Um), 12/10/2026 (341/2).',
  );
  const { said, isSettled } = sayAgreement({ ...SUMMARY, bankCents: 350n });
  expect([said.includes(agrees), isSettled]).toEqual([false, false]);
  expect(said).toContain('diferem em R$ 2,50, pelas parcelas abaixo');
});
