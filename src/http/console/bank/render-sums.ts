/** The sums of the bank's page and of its file: each adds up line by line to its last one. */
import type { Response } from 'express';
import type { BankAccount, BankSummary, Sum } from '../../../ledger/bank/summarize-bank.ts';
import { stateBankAccount } from '../../../operations/books/bank.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { type AccountNames, BANK, showAccount } from '../balances/describe-stated.ts';
import { formatCount, formatDay, formatMoney, money } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { hasRole } from '../parts/send-page.ts';
import { BANK_LISTS, sumPart } from './describe-bank.ts';

/** A part of a sum. `state`: of the account's lines that it counts. `account`: whose part it is. */
type Term = { name: string; cents: bigint; count?: number; state?: string; account?: string; isTotal?: boolean };

/** A sum and its parts: of a bank account, or of the ledger. */
export type BankSum = { title: Label; account: BankAccount | null; terms: Term[] };

/** The address of an account's form. */
export function addressOfAccount(account: string): string {
  return `${BANK.address}/accounts/${encodeURIComponent(account)}`;
}

/** Lists what the balance of each account is made of, then what the ledger's is, then their difference. */
export function listBankSums(summary: BankSummary): BankSum[] {
  const { bankCents, ledgerCents } = summary;
  return [
    ...summary.accounts.map((account) => ({
      ...{ title: 'O banco e o razão' as const, account },
      terms: account.firstDay === null ? [] : listAccount(account),
    })),
    { title: 'Conta no banco, no razão', account: null, terms: listLedger(summary) },
    ...(bankCents === null
      ? []
      : [
          {
            ...{ title: 'De que é feita a diferença' as const, account: null },
            terms: explainDifference(summary, bankCents - ledgerCents),
          },
        ]),
  ];
}

/** Renders them. */
export function renderSums(response: Response, summary: BankSummary, names: AccountNames): Html {
  const mayState = hasRole(response, ...stateBankAccount.roles);
  return html`${listBankSums(summary).map((one) => {
    if (one.account === null) return html`<h3>${translate(one.title)}</h3>${sumTable(one, names)}`;
    const { account } = one.account;
    const name = showAccount(names, account);
    return html`<h3>${mayState ? html`<a href="${addressOfAccount(account)}">${name}</a>` : name}</h3>${renderAccount(one.account, sumTable(one, names))}`;
  })}`;
}

function renderAccount({ balance, firstDay, lastDay, gaps, received }: BankAccount, sums: Html): Html {
  if (firstDay === null || lastDay === null)
    return html`<p class="hint">${t('Nenhum extrato desta conta foi importado.')}</p>`;
  return html`<p class="hint">${t('Linhas de {from} a {to}', { from: formatDay(firstDay), to: formatDay(lastDay) })}. ${tHtml('Veio do provedor: {sum}.', { sum: sumPart(received) })}${
    balance === null && html` ${t('O extrato não traz o saldo final: informe-o na página da conta.')}`
  }${balance && balance.day < lastDay && html` ${t('Depois de {day} há linhas, e nenhum saldo que conte: informe-o na página da conta.', { day: formatDay(balance.day) })}`}</p>${sums}${gaps.map(
    ({ from, to, cents }) =>
      html`<p class="explain bad">${t('Entre {from} e {to} faltam linhas que somam {sum}.', { from: formatDay(from), to: formatDay(to), sum: formatMoney(cents) })}</p>`,
  )}`;
}

function listAccount(one: BankAccount): Term[] {
  const { lines, balance } = one;
  return [
    balance && { name: t('Saldo antes da primeira linha'), cents: one.beforeCents },
    term('+ Casado com ajustes', one.matched, 'matched'),
    term('+ Saques por PIX casados', one.withdrawals, 'matched'),
    term('+ Linhas em aberto', one.openLines, 'open'),
    term('+ Linhas que não são do PIX', one.notPix, 'not_pix'),
    one.afterCents !== 0n && { name: t('Descontadas as linhas depois do saldo'), cents: -one.afterCents },
    balance
      ? {
          name: balance.isStated
            ? t('= Saldo informado, em {day}', { day: formatDay(balance.day) })
            : t('= Saldo final do extrato em {day}', { day: formatDay(balance.day) }),
          cents: balance.cents,
          isTotal: true,
        }
      : { ...term('= Soma das linhas', lines), isTotal: true },
  ].filter((row) => row !== false && row !== null);
}

function term(name: Label, { cents, count }: Sum, state?: string): Term {
  return { name: translate(name), cents, count, ...(state === undefined ? {} : { state }) };
}

/** The ledger's balance, its adjustments without a line by the account that they name. */
function listLedger({ accounts, matched, openEntries, ledgerCents }: BankSummary): Term[] {
  const named = accounts.filter((one) => one.openEntries.count > 0);
  const rest = named.reduce(
    (left, { openEntries: own }) => ({ count: left.count - own.count, cents: left.cents - own.cents }),
    openEntries,
  );
  return [
    term('Casado com ajustes', matched),
    ...named.map(({ account, openEntries: own }) => ({ ...term('+ Ajustes sem linha no extrato', own), account })),
    ...(rest.count > 0 || named.length === 0 ? [term('+ Ajustes sem linha no extrato', rest)] : []),
    { name: t('= Conta no banco, no razão'), cents: ledgerCents, isTotal: true },
  ];
}

/** The difference of both balances, and what it is made of. */
function explainDifference(all: Omit<BankSummary, 'accounts'>, cents: bigint): Term[] {
  const parts: Term[] = [
    { name: t('Saldo antes da primeira linha'), cents: all.beforeCents },
    { name: t('+ Saques por PIX casados'), cents: all.withdrawals.cents },
    { name: t('+ Linhas em aberto'), cents: all.openLines.cents },
    { name: t('+ Linhas que não são do PIX'), cents: all.notPix.cents },
    { name: t('Descontadas as linhas depois do saldo'), cents: -all.afterCents },
    { name: t('Descontados os ajustes sem linha no extrato'), cents: -all.openEntries.cents },
  ];
  const rest = cents - parts.reduce((sum, part) => sum + part.cents, 0n);
  return [
    ...[...parts, { name: t('Pares que não são deste razão'), cents: rest }].filter((part) => part.cents !== 0n),
    { name: t('= Saldo final dos extratos, menos o do razão'), cents, isTotal: true },
  ];
}

/** A table on a phone too: as cards its rows are not seen to add up. */
function sumTable({ title, account, terms }: BankSum, names: AccountNames): Html {
  const countOf = ({ count, state }: Term): Part => {
    if (account === null || count === undefined || state === undefined)
      return count === undefined ? '' : formatCount(count);
    const query = new URLSearchParams({ account: account.account, state }).toString();
    return html`<a href="${BANK_LISTS.lines.address}?${query}">${formatCount(count)}</a>`;
  };
  return html`<div class="prose"><table><caption class="unseen">${translate(title)}</caption>
<thead><tr><th scope="col">${t('Parcela')}</th><th scope="col" class="end">${t('Valor')}</th><th scope="col" class="end">${t('Linhas')}</th></tr></thead>
<tbody>${terms.map((one) => {
    const strong = (part: Part): Part => (one.isTotal ? html`<b>${part}</b>` : part);
    const name = one.account === undefined ? one.name : html`${one.name}: ${showAccount(names, one.account)}`;
    return html`<tr><td>${strong(name)}</td><td class="end">${strong(money(one.cents))}</td><td class="end">${countOf(one)}</td></tr>`;
  })}</tbody></table></div>`;
}
