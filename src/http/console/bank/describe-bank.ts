import type { Response } from 'express';
import type { listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import type { listOpenBankEntries } from '../../../ledger/bank/list-bank-matches.ts';
import type { BankSummary, Sum } from '../../../ledger/bank/summarize-bank.ts';
import { matchBankLine } from '../../../operations/books/bank.ts';
import { type Label, t, translate, words } from '../../../texts/translate.ts';
import { type AccountNames, BANK, LISTS, showAccount } from '../balances/describe-stated.ts';
import { EMPTY_VALUE, formatCount, formatDay, formatMoney, money, moneyOf, shortId } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { table, transactionLink } from '../parts/page-components.ts';
import { type PlatformNames, platformLink } from '../parts/read-platform-names.ts';
import { hasRole } from '../parts/send-page.ts';

export const BANK_LISTS = {
  lines: { address: `${BANK.address}/lines`, title: 'Linhas do extrato' },
  matches: { address: `${BANK.address}/matches`, title: 'Pares' },
} as const;

export const RULE_WORDS: Record<string, string> = words({
  reference: 'pela referência',
  amount: 'pelo valor, em datas próximas',
  person: 'por uma pessoa',
  undo: 'desfeito por uma pessoa',
});

export function sumPart(sum: Sum): Html {
  return html`${money(sum.cents)} <span class="hint">(${formatCount(sum.count)})</span>`;
}

export type BankLine = Awaited<ReturnType<typeof listBankLines>>[number];
export type BankEntry = Awaited<ReturnType<typeof listOpenBankEntries>>[number];
type Paired = { adjustment_id: string | null; transaction_id: string | null };

/**
 * Lines of the bank's statements, as the caller may see them: each with its match, or its candidates and a link to the form that chooses one.
 * @param response undefined: without these links, for lines that are not stored yet.
 */
export function lineTable(response: Response | undefined, rows: BankLine[], names: AccountNames, caption: Label): Html {
  const mayMatch = response !== undefined && hasRole(response, ...matchBankLine.roles);
  const linkTo = (row: BankLine, verb: string, text: Label) =>
    html`<a href="${BANK_LISTS.lines.address}/${row.id}/${verb}">${translate(text)}</a>`;
  return table({
    caption,
    rows,
    empty: 'Nenhuma linha.',
    columns: [
      { title: 'Dia', cell: (row) => formatDay(row.day) },
      { title: 'Conta', cell: (row) => showAccount(names, row.account) },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Texto', cell: (row) => html`<span class="long">${describeTexts(row)}</span>` },
      {
        title: 'Situação',
        cell: (row) => {
          if (row.match)
            return html`${describePaired(row.match)} <span class="hint">${RULE_WORDS[row.match.rule]}</span>`;
          if (row.not_pix) {
            const why = row.not_pix.by_rule ? t('por um texto da conta') : row.not_pix.note;
            return html`${t('Não é do PIX')} <span class="hint long">${why}</span>${mayMatch && html`<br>${linkTo(row, 'unmark', 'Desfazer')}`}`;
          }
          if (row.amount === '0.00') return EMPTY_VALUE;
          const open = html`${describeCandidates(row)}`;
          return mayMatch
            ? html`${open}<br>${linkTo(row, 'match', 'Casar')} · ${linkTo(row, 'mark', 'Não é do PIX')}`
            : open;
        },
      },
    ],
  });
}

/** The texts that the bank wrote into a line. */
export function describeTexts({
  name,
  memo,
  check_number: number,
}: Pick<BankLine, 'name' | 'memo' | 'check_number'>): string {
  return [name, memo, number].filter(Boolean).join(' · ');
}

function describeCandidates({ candidates }: BankLine): Html {
  if (candidates.length === 0) return html`${t('sem candidato')}`;
  const each = candidates.map(
    (one) =>
      html`<br>${describePaired(one)}, ${formatDay(one.day)}${one.named && html` <b>${t('nomeado na linha')}</b>`}`,
  );
  return html`${candidates.length > 1 ? t('mais de um candidato') : t('um candidato')}${each}`;
}

/** The adjustment or the transaction that a line is, or may be. */
export function describePaired({ adjustment_id: adjustment, transaction_id: transaction }: Paired): Html {
  return adjustment === null
    ? html`${t('Saque por PIX')} ${transactionLink(transaction)}`
    : html`${t('Ajuste')} ${shortId(adjustment)}`;
}

/** Entries of Assets:Bank without a line, as the caller may see them. */
export function entryTable(rows: BankEntry[], names: PlatformNames, accounts: AccountNames): Html {
  return table({
    caption: 'Lançamentos do banco sem linha no extrato',
    rows,
    empty: 'Nenhum: cada ajuste do tipo banco tem a sua linha no extrato.',
    columns: [
      { title: 'Dia', cell: (row) => formatDay(row.day) },
      {
        title: 'Ajuste',
        cell: (row) => html`<a href="${LISTS.adjustments.address}">${shortId(row.adjustment_id)}</a>`,
      },
      { title: 'Plataforma', cell: (row) => platformLink(names, row.platform) },
      {
        title: 'Conta no banco',
        cell: (row) => (row.bank_account === null ? EMPTY_VALUE : showAccount(accounts, row.bank_account)),
      },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Por quê', cell: (row) => html`<span class="long">${row.note}</span>` },
      { title: 'Candidatas', cell: (row) => listCandidateLines(row) },
    ],
  });
}

function listCandidateLines({ candidates }: BankEntry): Part {
  if (candidates.length === 0) return t('nenhuma');
  return candidates.map(({ day }) => html`${formatDay(day)}<br>`);
}

/**
 * Says that the bank account agrees only where no side has anything open, no lines are missing and its balance is known and the
 * ledger's: then it is settled.
 */
export function sayAgreement({ accounts, openLines, openEntries, bankCents, ledgerCents }: BankSummary) {
  if (!accounts.some(({ lines, balance }) => lines.count > 0 || balance !== null))
    return { said: t('Sem um extrato não se sabe se a conta no banco confere: importe um.'), isSettled: false };
  const gaps = accounts.reduce((count, one) => count + one.gaps.length, 0);
  const lacks = [
    openLines.count > 0 && t('Linhas do extrato: {sum}', { sum: describeOpen(openLines) }),
    openEntries.count > 0 && t('Lançamentos do banco: {sum}', { sum: describeOpen(openEntries) }),
    gaps > 0 && t('Faltam linhas entre dois saldos: veja as lacunas.'),
    bankCents === null && t('O saldo não foi comparado: o extrato de uma conta não traz o saldo final.'),
  ].filter((one) => one !== false);
  const differs = bankCents !== null && bankCents !== ledgerCents;
  const until = sayUntil(accounts);
  const pairs = t('Cada linha do extrato tem o seu par, ou não é do PIX; cada ajuste do tipo banco tem o seu.');
  if (lacks.length > 0)
    return {
      said: [t('Ainda não se pode dizer que a conta no banco confere.'), ...until, ...lacks].join(' '),
      isSettled: false,
    };
  const said = differs
    ? [
        pairs,
        t('O saldo do banco e o do razão diferem em {sum}, pelas parcelas abaixo.', {
          sum: formatMoney(bankCents - ledgerCents),
        }),
      ]
    : [t('A conta no banco confere.'), pairs];
  const calculated = t('O saldo antes da primeira linha é calculado: compare-o com o do extrato anterior.');
  return { said: [...said, ...until, calculated].join(' '), isSettled: !differs };
}

/** Says to which day the statements of each account go. */
function sayUntil(accounts: BankSummary['accounts']): string[] {
  const compared = accounts.flatMap(({ account, name, lastDay, balance }) => {
    const day = lastDay ?? balance?.day;
    if (day === undefined) return [];
    const said = formatDay(day);
    const isBehind = balance !== null && balance.day < day;
    const until = isBehind
      ? t('{day}, com o saldo de {balance}', { day: said, balance: formatDay(balance.day) })
      : said;
    return [{ name: name ?? account, day: until }];
  });
  const days = new Set(compared.map(({ day }) => day));
  if (days.size === 0) return [];
  const said = days.size === 1 ? [...days] : compared.map(({ name, day }) => `${day} (${name})`);
  return [t('Comparado até {days}.', { days: said.join(', ') })];
}

/** Says how many are open, and the sum. */
export function describeOpen({ count, cents }: Sum): string {
  return t('{n} em aberto, que somam {sum}.', { n: formatCount(count), sum: formatMoney(cents) });
}
