/** Explains why a month can't be closed or reopened: a sentence, with a link to the page that ends it. */
import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import { type Calendar, type Month, monthOf } from '../../../domain/calendar.ts';
import { resolveMismatches } from '../../../operations/mismatches.ts';
import { linkBlockers, linkRefusal, type Refusal } from '../../../reports/months/refusal.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t } from '../../../texts/translate.ts';
import { nameWhoMay } from '../access/name-actors.ts';
import { nameOwner, readOwnerNames } from '../mismatches/assign-mismatch.ts';
import { linkWorkbook } from '../mismatches/download-decisions.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { formatCount, formatDay, moment, money, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { MISMATCH_MEANINGS } from '../parts/words.ts';
import { nameMonth } from '../reports/month.ts';

/** `showPlatform` shows one as the reader may see it; `transactions`: those of the refusals, by id; `owners`: by name. */
export type Explaining = {
  calendar: Calendar;
  showPlatform: (platform: string) => Html;
} & Awaited<ReturnType<typeof readRefused>>;

/** Reads the transactions that refusals name, who decides each mismatch, and whom to ask. */
export async function readRefused(context: Context, response: Response, refusals: Refusal[]) {
  const open = refusals.filter((one) => one.code === 'mismatch_open');
  return {
    transactions: await readTransactions(context.db, open),
    owners: await readOwnerNames(context, open),
    who: open.length > 0 && (await nameWhoMay(context, response, resolveMismatches.roles)),
  };
}

async function readTransactions(db: Reader, refusals: MismatchOpen[]) {
  const ids = refusals.flatMap(({ transactionId }) => transactionId ?? []);
  const select = db.selectFrom('transactions').select(['id', 'amount_cents', 'platform', 'created_wall']);
  const rows = ids.length === 0 ? [] : await select.where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

type MismatchOpen = Extract<Refusal, { code: 'mismatch_open' }>;

/** A list of refusals; nothing without one. */
export function refusalList(of: Explaining, refusals: Refusal[]): Part {
  if (refusals.length === 0) return undefined;
  const groups = Map.groupBy(refusals, (one) => (one.code === 'mismatch_open' ? one.kind : one));
  return html`<ul class="reasons">${[...groups.values()].map(
    (alike) =>
      html`<li>${alike.length > 1 ? explainMismatches(of, alike) : alike.map((one) => html`<a href="${linkRefusal(one)}">${explainRefusal(of, one)}</a> ${describePayment(of, one)}${describeOwner(of, one)}${one.code === 'mismatch_open' && of.who}`)}</li>`,
  )}</ul>`;
}

/** Several open mismatches of a kind. */
function explainMismatches(of: Explaining, alike: Refusal[]): Part {
  const [one] = alike;
  if (one?.code !== 'mismatch_open') return undefined;
  const said = t('{n} divergências críticas estão em aberto: {meaning}. Um operador as resolve:', {
    n: formatCount(alike.length),
    meaning: describeCode(MISMATCH_MEANINGS, one.kind),
  });
  // exactly those of the month: a filter by kind has others too
  return html`${said}<ul>${alike.map((each) => each.code === 'mismatch_open' && html`<li><a href="${linkRefusal(each)}">${describePayment(of, each) ?? describeCode(MISMATCH_TITLES, each.kind)}</a>${describeOwner(of, each)}</li>`)}</ul>${of.who}`;
}

/** The payment of a mismatch: its day, as lists of mismatches have it, amount and platform. */
function describePayment({ transactions, showPlatform }: Explaining, refusal: Refusal): Html | undefined {
  if (refusal.code !== 'mismatch_open') return undefined;
  const found = transactions.get(refusal.transactionId ?? '');
  const created = found?.created_wall.slice(0, 10);
  return (
    found &&
    html`${formatDay(refusal.day)}${created !== undefined && monthOf(created) !== monthOf(refusal.day) && ` (${t('criada em {day}', { day: formatDay(created) })})`} · ${money(found.amount_cents)}${found.platform && html` · ${showPlatform(found.platform)}`}`
  );
}

function describeOwner({ owners }: Explaining, refusal: Refusal): Part {
  if (refusal.code !== 'mismatch_open') return undefined;
  return html` · ${t('Quem decide')}: <b>${nameOwner(refusal, owners)}</b>`;
}

/** Links to just the mismatches that keep a month open, in the list and as a workbook; nothing without one. */
export function blockersLink(month: Month, refusals: Refusal[]): Part {
  let [count, earlier] = [0, 0];
  for (const one of refusals) {
    if (one.code === 'mismatch_open') [count, earlier] = [count + 1, earlier + Number(one.isEarlier)];
    if (one.code === 'more_mismatches_open') [count, earlier] = [count + one.count, earlier + one.earlier];
  }
  if (count === 0) return undefined;
  const text = plural(count, 'A divergência que impede fechar', 'As {n} divergências que impedem fechar');
  return html`<p><a href="${linkBlockers(month)}">${text}</a>${earlier > 0 && `, ${plural(earlier, '{n} delas de um mês anterior', '{n} delas de meses anteriores')}`} · <a href="${linkWorkbook({ blocks: month })}">${t('Só estas numa planilha (XLSX)')}</a></p>`;
}

/** Says which earlier months the first close of all leaves open; nothing where there are none. */
export function leftOpenNotice({ leavesOpen }: { leavesOpen: Month | undefined }): Part {
  if (leavesOpen === undefined) return undefined;
  return html`<p class="explain open">${t('Os meses anteriores, desde {month}, ficam em aberto: depois deste fechamento não podem ser fechados.', { month: nameMonth(leavesOpen) })}</p>`;
}

function explainRefusal({ calendar, showPlatform }: Explaining, refusal: Refusal): Html | string {
  switch (refusal.code) {
    case 'before_books':
      return t('O mês terminou antes do primeiro lançamento dos livros: não há o que fechar.');
    case 'month_running':
      return t('O mês ainda não terminou no provedor.');
    case 'earlier_month_open':
      return t('Antes é preciso fechar {month}: os meses se fecham em ordem.', { month: nameMonth(refusal.month) });
    case 'later_month_closed':
      return t('Um mês posterior já está fechado: {month}.', { month: nameMonth(refusal.month) });
    case 'day_unproven':
      return t('{day} não foi lido nem contado no provedor depois do seu fim.', { day: formatDay(refusal.day) });
    case 'days_before_unread':
      return t(
        '{from} a {to}, antes do começo dos livros, não foi lido nem contado no provedor, e o que começou ali pode mexer no mês: a conferência do saldo inicial o lê.',
        { from: formatDay(refusal.from), to: formatDay(refusal.to) },
      );
    case 'mismatch_open':
      return t('Uma divergência crítica está em aberto: {meaning}. Um operador a resolve.', {
        meaning: describeCode(MISMATCH_MEANINGS, refusal.kind),
      });
    case 'more_mismatches_open':
      return plural(
        refusal.count,
        'Mais uma divergência crítica está em aberto.',
        'Mais {n} divergências críticas estão em aberto.',
      );
    case 'balance_differs':
      return tHtml(
        'O saldo informado de {platform} em {at} é {balance}, e o do razão {ledger}: uma diferença de {difference}.',
        {
          platform: showPlatform(refusal.platform),
          at: refusal.at === '' ? '' : moment(calendar, refusal.at),
          balance: moneyOf(refusal.balance),
          ledger: moneyOf(refusal.ledger),
          difference: moneyOf(refusal.difference),
        },
      );
    case 'opening_unfinished':
      return tHtml('Os livros de {platform} ainda estão sendo lançados a partir do saldo inicial.', {
        platform: showPlatform(refusal.platform),
      });
  }
}
