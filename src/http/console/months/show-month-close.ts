import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { boundsOfMonth, isMonth } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { maskNote } from '../../../domain/person/mask-mismatch.ts';
import { closeOneMonth, reopenOneMonth } from '../../../operations/books/months.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { type MonthState, readMonth, type ShownMonth } from '../../../reports/months/list-months.ts';
import { FILE_FORMATS, type FileFormat } from '../../../reports/plan/report-plan.ts';
import { FORMAT_FACTS } from '../../../reports/render/formats/formats.ts';
import { t, words } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { nameActors } from '../access/name-actors.ts';
import { EMPTY_VALUE, moment } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { badge, buttonLink, facts, idText, table } from '../parts/page-components.ts';
import { readPlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { hasRole, sendPage } from '../parts/send-page.ts';
import { nameMonth } from '../reports/month.ts';
import { FORMAT_WORDS } from '../reports/period-form.ts';
import { blockersLink, leftOpenNotice, readRefused, refusalList } from './explain-refusal.ts';
import { notesList } from './list-notes.ts';
import { platformMonthTable, readPlatformMonths } from './render-balances.ts';

const MONTH_STATE_WORDS: Record<MonthState, string> = words({
  running: 'Em curso',
  open: 'Em aberto',
  closed: 'Fechado',
});
const ACTION_WORDS = words({ close: 'Fechado', reopen: 'Reaberto' });

/** The page of a month's closing: what keeps it open, or what it fixes, and how it was closed and reopened. */
export function monthClosePage(context: Context): Router {
  const router = createRouter();
  router.get('/reports/months/:id', async (request: Request<{ id: string }>, response) => {
    const month = await findMonth(context, request.params.id);
    const name = nameMonth(month.month);
    const body = html`<p class="crumb"><a href="/reports?month=${month.month}">${t('Relatórios de {month}', { month: name })}</a></p>
<div class="head"><h1>${t('Fechamento de {month}', { month: name })}</h1> ${badge(MONTH_STATE_WORDS, month.state)}</div>
${await renderMonth(context, response, month)}
<section><h2>${t('Fechamentos e reaberturas')}</h2>${historyTable(context, response, month, await nameActorsOf(context, response, month))}</section>`;
    sendPage(request, response, { title: t('Fechamento de {month}', { month: name }), body });
  });
  return router;
}

/** @throws ConfereError `not_found` for a text that is no month, and a month to come. */
export async function findMonth(context: Context, text: string): Promise<ShownMonth> {
  const month = isMonth(text) ? await readMonth(context, text) : undefined;
  if (!month) throw new ConfereError('not_found', 'there is no such month');
  return month;
}

async function renderMonth(context: Context, response: Response, month: ShownMonth): Promise<Html> {
  const names = await readPlatformNames(context, response);
  const shown = (platform: string) => showPlatform(names, presentPlatform(getCaller(response), { platform }).platform);
  const of = {
    calendar: context.calendar,
    showPlatform: shown,
    ...(await readRefused(context, response, month.refusals)),
  };
  const rows = await readPlatformMonths(context, month);
  const balances = html`<section><h2>${t('Saldos')}</h2>${platformMonthTable(response, names, { rows, isClosed: month.close !== undefined, isRunning: month.state === 'running' })}</section>`;
  if (month.close) {
    return html`<div class="explain"><p>${t('As cifras deste mês não mudam mais. O que o Confere ainda souber dele aparece na planilha do mês seguinte, em Ajustes de meses anteriores.')}</p>${
      month.laterCloses.length > 0
        ? html`<p>${t('Para reabri-lo é preciso reabrir antes:')}</p>${refusalList(of, month.laterCloses)}`
        : hasRole(response, ...reopenOneMonth.roles) &&
          html`<p><a href="${addressOf(month, 'reopen')}">${t('Reabrir o mês')}</a></p>`
    }</div>
${renderClose(context, response, month, await nameActorsOf(context, response, month))}${balances}`;
  }
  const isReady = month.refusals.length === 0;
  const lead = isReady
    ? t(
        'Nada impede o fechamento: os dias estão provados, nenhuma divergência crítica está em aberto e os saldos informados conferem.',
      )
    : t('O mês não pode ser fechado:');
  const mayClose = hasRole(response, ...closeOneMonth.roles);
  // a month that only has to end is no fault
  const isBad = month.refusals.some(({ code }) => code !== 'month_running');
  return html`<div class="explain${isBad && ' bad'}"><p>${lead}</p>${refusalList(of, month.refusals)}${blockersLink(month.month, month.refusals)}<p>${t('Um contador fecha o mês nesta página. Depois, as suas cifras não mudam mais: baixe daqui a planilha e os arquivos contábeis.')}</p>${
    mayClose &&
    html`<p>${isReady ? buttonLink(addressOf(month, 'close'), t('Fechar o mês')) : html`<a href="${addressOf(month, 'close')}">${t('Ver o passo do fechamento')}</a>`}</p>`
  }</div>${await notesList(context, month, rows)}${leftOpenNotice(month)}${balances}`;
}

function addressOf({ month }: ShownMonth, action: 'close' | 'reopen'): string {
  return `/reports/months/${month}/${action}`;
}

type NameOf = Awaited<ReturnType<typeof nameActors>>;

function nameActorsOf(context: Context, response: Response, { close, changes }: ShownMonth): Promise<NameOf> {
  return nameActors(context, response, [close?.actor, ...changes.map(({ actor }) => actor)]);
}

function renderClose({ calendar }: Context, response: Response, { month, close }: ShownMonth, nameOf: NameOf): Part {
  const { from, to } = boundsOfMonth(month);
  // without `download`: where the account map lacks accounts, the answer is a page that names them
  const files = (formats: readonly FileFormat[], group: Part): Html =>
    html`<span class="files">${formats.map(
      (format) =>
        html`<a href="/reports/period?from=${from}&amp;to=${to}&amp;format=${format}${group}">${FORMAT_WORDS[format]}</a> `,
    )}</span>`;
  const grouping = FILE_FORMATS.filter((format) => FORMAT_FACTS[format].canGroup);
  return facts([
    ['Baixar', files(FILE_FORMATS, undefined)],
    ['Somados por dia, plataforma e conta', files(grouping, html`&amp;group=day`)],
    ['Fechado em', moment(calendar, close?.at)],
    ['Quem', close && nameOf(close.actor)],
    ['Observação', showNote(response, close?.note ?? null)],
    ['Posição do razão', close?.position],
    ['Hash da cadeia nessa posição', close?.hash && idText(close.hash.toString('hex'))],
    ['Hash dos saldos', close?.digest && idText(close.digest.toString('hex'))],
  ]);
}

function historyTable(context: Context, response: Response, { changes }: ShownMonth, nameOf: NameOf): Html {
  return table({
    caption: 'Fechamentos e reaberturas',
    rows: changes,
    empty: 'O mês nunca foi fechado.',
    columns: [
      { title: 'Quando', cell: ({ at }) => moment(context.calendar, at) },
      { title: 'Ação', cell: ({ action }) => ACTION_WORDS[action] },
      { title: 'Quem', cell: ({ actor }) => nameOf(actor) },
      { title: 'Observação', cell: ({ note }) => showNote(response, note) ?? EMPTY_VALUE },
      { title: 'Posição do razão', cell: ({ position }) => position ?? EMPTY_VALUE, align: 'end' },
    ],
  });
}

/** A note may name anyone. */
function showNote(response: Response, note: string | null): Part {
  return note && html`<span class="long">${canSeePersonalData(response) ? note : maskNote(note)}</span>`;
}
