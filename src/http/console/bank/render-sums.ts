/** The sums of the bank's page: each adds up line by line to its last one. */
import type { Response } from 'express';
import type { BankAccount, BankSummary, Sum } from '../../../ledger/bank/summarize-bank.ts';
import { stateBankAccount } from '../../../operations/books/bank.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { type AccountNames, BANK, showAccount } from '../balances/describe-stated.ts';
import { formatCount, formatDay, formatMoney, money } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { hasRole } from '../parts/send-page.ts';
import { BANK_LISTS, sumPart } from './describe-bank.ts';

type Term = { name: Part; cents: bigint; count?: Part; isTotal?: boolean };

/** The address of an account's form. */
export function addressOfAccount(account: string): string {
  return `${BANK.address}/accounts/${encodeURIComponent(account)}`;
}

/** Renders what the balance of each account is made of, then what the ledger's is. */
export function renderSums(response: Response, summary: BankSummary, names: AccountNames): Html {
  const mayState = hasRole(response, ...stateBankAccount.roles);
  const nameOf = (account: string): Html => showAccount(names, account);
  return html`${summary.accounts.map((one) => {
    const name = nameOf(one.account);
    return html`<h3>${mayState ? html`<a href="${addressOfAccount(one.account)}">${name}</a>` : name}</h3>${renderAccount(one)}`;
  })}<h3>${t('Conta no banco, no razão')}</h3>${sumTable('Conta no banco, no razão', listLedger(summary, nameOf))}`;
}

function renderAccount(one: BankAccount): Html {
  const { lines, balance, firstDay, lastDay, gaps, received } = one;
  if (firstDay === null || lastDay === null)
    return html`<p class="hint">${t('Nenhum extrato desta conta foi importado.')}</p>`;
  const linked = (sum: Sum, state: string): Sum & { link: Html } => {
    const query = new URLSearchParams({ account: one.account, state }).toString();
    return { ...sum, link: html`<a href="${BANK_LISTS.lines.address}?${query}">${formatCount(sum.count)}</a>` };
  };
  const terms = [
    balance && { name: t('Saldo antes da primeira linha'), cents: one.beforeCents },
    term('+ Casado com ajustes', linked(one.matched, 'matched')),
    term('+ Saques por PIX casados', linked(one.withdrawals, 'matched')),
    term('+ Linhas em aberto', linked(one.openLines, 'open')),
    term('+ Linhas que não são do PIX', linked(one.notPix, 'not_pix')),
    one.afterCents !== 0n && { name: t('− Linhas depois do saldo'), cents: -one.afterCents },
    balance
      ? {
          name: balance.isStated
            ? t('= Saldo informado, em {day}', { day: formatDay(balance.day) })
            : t('= Saldo final do extrato em {day}', { day: formatDay(balance.day) }),
          cents: balance.cents,
          isTotal: true,
        }
      : { ...term('= Soma das linhas', lines), isTotal: true },
  ].filter((one) => one !== false && one !== null);
  return html`<p class="hint">${t('Linhas de {from} a {to}', { from: formatDay(firstDay), to: formatDay(lastDay) })}. ${tHtml('Veio do provedor: {sum}.', { sum: sumPart(received) })}${
    balance === null && html` ${t('O extrato não traz o saldo final: informe-o na página da conta.')}`
  }</p>${sumTable('O banco e o razão', terms)}${gaps.map(
    ({ from, to, cents }) =>
      html`<p class="explain bad">${t('Entre {from} e {to} faltam linhas que somam {sum}.', { from: formatDay(from), to: formatDay(to), sum: formatMoney(cents) })}</p>`,
  )}`;
}

function term(name: Label, { cents, count, link }: Sum & { link?: Html }): Term {
  return { name: translate(name), cents, count: link ?? formatCount(count) };
}

/** The ledger's balance, its adjustments without a line by the account that they name. */
function listLedger({ accounts, ...all }: BankSummary, nameOf: (account: string) => Html): Term[] {
  const { matched, openEntries, ledgerCents, bankCents } = all;
  const named = accounts.filter((one) => one.openEntries.count > 0);
  const rest = named.reduce(
    (left, { openEntries: own }) => ({ count: left.count - own.count, cents: left.cents - own.cents }),
    openEntries,
  );
  return [
    term('Casado com ajustes', matched),
    ...named.map((one) => ({
      ...term('', one.openEntries),
      name: html`${t('+ Ajustes sem linha no extrato')}: ${nameOf(one.account)}`,
    })),
    ...(rest.count > 0 || named.length === 0 ? [term('+ Ajustes sem linha no extrato', rest)] : []),
    { name: t('= Conta no banco, no razão'), cents: ledgerCents, isTotal: true },
    ...(bankCents === null ? [] : explainDifference(all, bankCents - ledgerCents)),
  ];
}

/** The difference of both balances, and what it is made of. */
function explainDifference(all: Omit<BankSummary, 'accounts'>, cents: bigint): Term[] {
  const parts: Term[] = [
    { name: t('Saldo antes da primeira linha'), cents: all.beforeCents },
    { name: t('+ Saques por PIX casados'), cents: all.withdrawals.cents },
    { name: t('+ Linhas em aberto'), cents: all.openLines.cents },
    { name: t('+ Linhas que não são do PIX'), cents: all.notPix.cents },
    { name: t('− Linhas depois do saldo'), cents: -all.afterCents },
    { name: t('− Ajustes sem linha no extrato'), cents: -all.openEntries.cents },
  ];
  const rest = cents - parts.reduce((sum, part) => sum + part.cents, 0n);
  return [
    ...[...parts, { name: t('Pares que não são deste razão'), cents: rest }].filter((part) => part.cents !== 0n),
    { name: t('= Saldo final dos extratos, menos o do razão'), cents, isTotal: true },
  ];
}

/** A table on a phone too: as cards its rows are not seen to add up. */
function sumTable(caption: Label, terms: Term[]): Html {
  return html`<div class="prose"><table><caption class="unseen">${translate(caption)}</caption>
<thead><tr><th scope="col">${t('Parcela')}</th><th scope="col" class="end">${t('Valor')}</th><th scope="col" class="end">${t('Linhas')}</th></tr></thead>
<tbody>${terms.map(({ name, cents, count, isTotal }) => {
    const strong = (part: Part): Part => (isTotal ? html`<b>${part}</b>` : part);
    return html`<tr><td>${strong(name)}</td><td class="end">${strong(money(cents))}</td><td class="end">${count}</td></tr>`;
  })}</tbody></table></div>`;
}
