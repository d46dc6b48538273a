import type { Response } from 'express';
import { monthOf } from '../../../domain/calendar.ts';
import { makeOneReport } from '../../../operations/books/reports.ts';
import { type ListedFigures, listFigures } from '../../../reports/read/report-figures.ts';
import type { ReportDay } from '../../../reports/serve/list-report-days.ts';
import { plural, t, words } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatDay, formatMoney } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { badge, dayLink } from '../parts/page-components.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { DAY_STATE_WORDS, explainDay, sayNoFigures } from './explain-day.ts';
import { sayOutdated } from './render-outdated.ts';

/** The columns in their order. */
const TITLES = words({
  opening: 'Saldo inicial',
  receipts: 'Recebimentos',
  commissions: 'Tarifas',
  payments: 'Pagamentos',
  refundsMade: 'Devoluções feitas',
  refundsReceived: 'Devoluções recebidas',
  adjustments: 'Ajustes',
  closing: 'Saldo final',
});
type Column = keyof typeof TITLES;
const COLUMNS = Object.keys(TITLES) as Column[];
const MOVEMENTS = ['receipts', 'commissions', 'payments', 'refundsMade', 'refundsReceived', 'adjustments'] as const;

/**
 * The days as rows: the figures of each newest revision, and below them the day's state in one sentence; that of a usual day
 * stands above the rows. Those who make reports choose days.
 * @param query of the links to the days' pages.
 */
export function renderDayList(response: Response, days: ReportDay[], { query }: { query: string }): Html {
  const [first] = days;
  if (!first) return html`<p class="empty">${t('Nada foi lançado até o fim deste mês.')}</p>`;
  const mayMake = hasRole(response, ...makeOneReport.roles);
  const heads = COLUMNS.map((name) => TITLES[name]);
  const usual = days.map(explainDay).find(({ isUsual }) => isUsual);
  const list = html`${usual && html`<p class="hint">${usual.sentence}</p>`}<div class="sheet"><table role="table" class="ledger"><caption class="unseen">${t('Os dias do mês, em reais')}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${t('Dia')}</th>${heads.map(
    (title) => html`<th role="columnheader" scope="col" class="end">${title}</th>`,
  )}</tr></thead>
${days.map((day) => renderDay(day, { mayMake, query }))}
${renderSums(days)}</table></div>`;
  if (!mayMake) return list;
  return postForm(
    response,
    '/reports',
    html`${list}<input type="hidden" name="month" value="${monthOf(first.day)}"><div class="actions"><button>${t('Fazer os relatórios dos dias escolhidos')}</button><span class="hint">${t('Um dia em que nada mudou não ganha revisão.')}</span></div>`,
  );
}

function renderDay(day: ReportDay, { mayMake, query }: { mayMake: boolean; query: string }): Html {
  const { day: date, state, revisions } = day;
  const figures = day.figures && listFigures(day.figures);
  const newest = revisions[0]?.revision;
  const { sentence, isUsual = false } = explainDay(day);
  const isExplained = !isUsual || !figures;
  const label = t('Escolher {day}', { day: formatDay(date) });
  const chosen = mayMake && html`<input type="checkbox" name="day" value="${date}" aria-label="${label}">`;
  return html`<tbody role="rowgroup"><tr role="row"><th role="rowheader" scope="row" rowspan="${isExplained ? 2 : 1}">${chosen}<span>${dayLink(date, query)}${
    newest !== undefined && html` <span class="hint">${`r${newest}`}</span>`
  }<br>${badge(DAY_STATE_WORDS, state)}</span></th>
${figures ? COLUMNS.map((name) => cell(TITLES[name], figureOf(figures, name))) : renderUnmade(day)}</tr>
${isExplained && html`<tr role="row" class="why"><td role="cell" colspan="${COLUMNS.length}">${sentence}${!figures && html` ${revisions.length > 0 && sayNoFigures()} ${t('O saldo é o do razão agora.')}`}</td></tr>`}</tbody>`;
}

function figureOf(figures: ListedFigures, name: Column): Part {
  if (name === 'adjustments') return withBank(plainMoney(figures.adjustments), figures.bank);
  return name === 'closing' ? withHeld(figures) : plainMoney(figures[name]);
}

/** Adjustments, and how much of them went to the bank or came from it; 0 and the unknown of earlier versions are not said. */
function withBank(adjustments: Html, bank: bigint | undefined): Html {
  return html`${adjustments}${!!bank && html`<br><span class="hint">${t('saques e depósitos')} ${plainMoney(bank)}</span>`}`;
}

/** A closing balance, and how much of it is held. */
function withHeld({ closing, held }: { closing: bigint; held: bigint }): Html {
  return html`${plainMoney(closing)}${held !== 0n && html`<br><span class="hint">${t('do qual retido')} ${plainMoney(held)}</span>`}`;
}

/** Without figures, the ledger's own balance: it is known for each day. */
function renderUnmade({ ledger, revisions }: ReportDay): Html {
  const text = revisions.length > 0 ? EMPTY_VALUE : html`<span class="hint">${t('ainda não gerado')}</span>`;
  return html`<td role="cell" class="end" colspan="${COLUMNS.indexOf('closing')}"><div>${text}</div></td>
${cell(TITLES.closing, withHeld(ledger))}`;
}

/** The sum of the month, if no day between the first and the last with figures lacks them, and each begins as the one before ends. */
function renderSums(days: ReportDay[]): Html | undefined {
  const found = days.flatMap((day) => (day.figures ? [listFigures(day.figures)] : []));
  const [first, last] = [days.findIndex((day) => day.figures), days.findLastIndex((day) => day.figures)];
  const [start, end] = [found[0], found.at(-1)];
  if (!start || !end || found.length < 2 || last - first + 1 !== found.length) return undefined;
  // a revision made since one of the day before knows more than that one
  if (found.some(({ opening }, index) => opening !== (found[index - 1]?.closing ?? opening)))
    return html`<tfoot role="rowgroup"><tr role="row"><td role="cell" colspan="${COLUMNS.length + 1}"><span class="hint">${t('Sem soma: as revisões dos dias não são do mesmo momento. Faça os relatórios dos dias que mudaram.')}</span></td></tr></tfoot>`;
  const outdated = sayOutdated(days);
  const sum = (name: (typeof MOVEMENTS)[number]): bigint => found.reduce((total, one) => total + one[name], 0n);
  const values = [start.opening, ...MOVEMENTS.map(sum), end.closing];
  const bank = found.reduce((total, one) => total + (one.bank ?? 0n), 0n);
  return html`<tfoot role="rowgroup"><tr role="row"><th role="rowheader" scope="row">${plural(found.length, 'um dia', '{n} dias')}</th>${COLUMNS.map(
    (name, index) => {
      const amount = html`<b>${plainMoney(values[index] ?? 0n)}</b>`;
      const isWhole = found.every((one) => one.bank !== undefined);
      return cell(TITLES[name], name === 'adjustments' && isWhole ? withBank(amount, bank) : amount);
    },
  )}</tr>${outdated && html`<tr role="row"><td role="cell" colspan="${COLUMNS.length + 1}">${outdated}</td></tr>`}</tfoot>`;
}

function cell(title: string, value: Part): Html {
  return html`<td role="cell" class="end" data-label="${title}"><div>${value}</div></td>`;
}

/** `1.234,56`: the table says that it is money. */
function plainMoney(cents: bigint): Html {
  const text = formatMoney(cents);
  return html`<span class="money${cents < 0n && ' negative'}" title="${text}">${text.replace('R$ ', '')}</span>`;
}
