import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { addDays, type Day, isDay, monthOf } from '../../../domain/calendar.ts';
import { readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { listAdjustments } from '../../../ledger/stated/list-adjustments.ts';
import { adjustments } from '../../../operations/books/adjustments.ts';
import { makeOneReport } from '../../../operations/books/reports.ts';
import { readList, withhold } from '../../../operations/define-list.ts';
import { mismatches } from '../../../operations/mismatches.ts';
import { startOneRun } from '../../../operations/runs.ts';
import { FORMATS, type Format } from '../../../reports/plan/report-plan.ts';
import { ADJUSTED } from '../../../reports/read/create-tally.ts';
import { FIGURE_LINES, type FigureLine } from '../../../reports/read/report-figures.ts';
import { compareRevisions } from '../../../reports/serve/compare-revisions.ts';
import type { DayRevision } from '../../../reports/serve/decide-day.ts';
import { listReportDays, type ReportDay } from '../../../reports/serve/list-report-days.ts';
import { language } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { t, words } from '../../../texts/translate.ts';
import { auditPersonalAccess, auditShownTransactions, canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { sendReport } from '../../send-report.ts';
import { nameActors } from '../access/name-actors.ts';
import { LISTS } from '../balances/describe-stated.ts';
import { adjustmentTable } from '../balances/list-stated.ts';
import { mismatchTable } from '../mismatches/list-mismatches.ts';
import { EMPTY_VALUE, formatBounded, formatCount, formatDay, moment, money } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { readQuery } from '../parts/parse-filters.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { REPORT_STATE_WORDS } from '../parts/words.ts';
import { askReading } from '../runs/ask-reading.ts';
import { DAY_STATE_WORDS, type DayAction, explainDay, sayNoFigures } from './explain-day.ts';
import { nameMonth } from './month.ts';
import { FORMAT_WORDS, isFormat } from './period-form.ts';
import { type Chosen, compareForm, renderComparison } from './render-changes.ts';
import { platformQuery, readReportPlatform, renderReportPlatform } from './report-platform.ts';

const FILE = /^(\d{4}-\d\d-\d\d)-r([1-9]\d{0,6})\.([a-z-]+)$/;
const MISMATCHES_SHOWN_MAX = 50;
const ADJUSTMENTS_SHOWN_MAX = 200;
const YES_NO = words({ yes: 'Sim', no: 'Não' });

/** The page of a day: its figures, its state, its revisions with their files, its mismatches. And the files themselves. */
export function dayPages(context: Context): Router {
  const router = createRouter();
  router.get('/reports/:name', async (request: Request<{ name: string }>, response) => {
    const { name } = request.params;
    if (isDay(name)) {
      await sendDay(context, request, response, name);
      return;
    }
    const [, day, revision, format] = FILE.exec(name) ?? [];
    if (day === undefined || !isFormat(format)) throw refuse('file_unknown');
    const platform = readQuery(request, 'platform') || undefined;
    await sendReport(context, response, { day, format, revision: Number(revision), platform });
  });
  return router;
}

async function sendDay(context: Context, request: Request, response: Response, day: Day): Promise<void> {
  const reading = limitReads(context);
  const platform = await readReportPlatform(reading, request, response);
  const [shown] = await listReportDays(reading, { from: day, to: day, platform });
  if (!shown) throw new Error('a range of one day has one day');
  const { field, label } = await renderReportPlatform(reading, response, platform);
  const changes = await renderChanges(context, request, response, { shown, platform });
  const today = context.calendar.dayOf(context.clock.now());
  const link = (to: Day, rel: 'prev' | 'next'): Html =>
    html`<a rel="${rel}" href="/reports/${to}${platformQuery(platform)}">${rel === 'prev' ? `← ${formatDay(to)}` : `${formatDay(to)} →`}</a>`;
  const body = html`<p class="crumb"><a href="/reports?month=${monthOf(day)}">${t('Relatórios de {month}', { month: nameMonth(monthOf(day)) })}</a></p>
<div class="head"><h1>${formatDay(day)}</h1> ${badge(DAY_STATE_WORDS, shown.state)} <nav class="days-beside" aria-label="${t('Dias')}">${link(addDays(day, -1), 'prev')}${day < today && link(addDays(day, 1), 'next')}</nav></div>
${await renderState(context, response, shown)}
${field && html`<form class="filters" method="get" action="/reports/${day}">${field}<div class="actions"><button class="secondary">${t('Ver')}</button></div></form>`}
<section><h2${label !== undefined && html` class="as-written"`}>${label === undefined ? t('Números') : t('Números de {platform}', { platform: label })}</h2>${renderFigures(shown)}</section>
${await renderAdjustments(reading, response, day, platform)}
<section><h2>${t('Revisões')}</h2>${revisionTable(context, shown, platform)}</section>
${changes.html}
<section><h2>${t('Divergências deste dia')}</h2>${await renderMismatches(reading, response, day, platform)}</section>`;
  sendPage(request, response, {
    title: t('Relatório de {day}', { day: formatDay(day) }),
    body,
    status: changes.isWrong ? 422 : 200,
  });
}

async function renderState(context: Context, response: Response, day: ReportDay): Promise<Html> {
  const { sentence, action } = explainDay(day);
  return html`<div class="explain${['missing', 'changed', 'provisional'].includes(day.state) && ' open'}"><p>${sentence}</p>${action && (await renderAction(context, response, day.day, action))}</div>`;
}

async function renderAction(context: Context, response: Response, day: Day, action: DayAction): Promise<Part> {
  if (action.kind === 'link') return html`<p><a href="${action.path}">${action.text}</a></p>`;
  if (!hasRole(response, ...(action.kind === 'make' ? makeOneReport.roles : startOneRun.roles)))
    return action.kind === 'run' && (await askReading(context, response, action));
  const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`;
  return action.kind === 'make'
    ? postForm(
        response,
        '/reports',
        html`${hidden('day', day)}<div class="actions"><button>${action.text}</button></div>`,
      )
    : postForm(
        response,
        '/reconciliations',
        html`${hidden('from', action.from)}${hidden('to', action.to)}<div class="actions"><button>${action.text}</button></div>`,
      );
}

/** The lines of Resumo's balance; without a report, the ledger's own balance. */
function renderFigures({ figures, ledger, revisions, state }: ReportDay): Html {
  const line = (name: string, value: Part, isSum = false): Html =>
    html`<div${isSum && html` class="sum"`}><dt>${name}</dt><dd>${value}</dd></div>`;
  if (!figures) {
    const isEmpty = state === 'future' || state === 'before';
    const hint = revisions.length > 0 ? sayNoFigures() : t('Sem relatório, só o saldo do razão.');
    if (isEmpty) return html`<p class="empty">${t('Nada foi lançado neste dia.')}</p>`;
    return html`<p class="hint">${hint}</p><dl class="sums">${line(t('Saldo no razão agora'), money(ledger.closing), true)}${line(textsOf(language()).summary.held, money(ledger.held))}</dl>`;
  }
  const isSum = (name: FigureLine): boolean => name === 'opening' || name === 'closing';
  const moved = ledger.closing !== figures.closing;
  // the amounts have their signs
  const nameLine = (name: FigureLine): string => textsOf(language()).summary[name].replace(/^[−+±] /, '');
  return html`<dl class="sums">${FIGURE_LINES.map((name) => line(nameLine(name), money(figures[name]), isSum(name)))}
${ADJUSTED.map((name) => line(textsOf(language()).summary[name], moneyOr(figures[name])))}
${moved && line(t('Saldo final no razão agora'), money(ledger.closing))}
${line(textsOf(language()).summary.openMismatches, formatCount(figures.openMismatches))}</dl>`;
}

function moneyOr(cents: bigint | undefined): Html {
  return cents === undefined ? EMPTY_VALUE : money(cents);
}

function revisionTable(context: Context, { day, revisions }: ReportDay, platform: string | undefined): Html {
  const query = platformQuery(platform);
  return table({
    caption: 'Revisões, as mais novas primeiro',
    rows: revisions,
    empty: 'Nenhuma até agora.',
    columns: [
      { title: 'Revisão', cell: ({ revision }) => html`<b>${revision}</b>` },
      {
        title: 'Situação quando foi feita',
        cell: (row) =>
          html`${badge(REPORT_STATE_WORDS, row.state)}${row.isRedacted && html`<span class="hint">${t('dados de pessoas removidos')}</span>`}${row.rebuilt && describeRebuilt(context, row.rebuilt)}`,
      },
      { title: 'Provado', cell: (row) => badge(YES_NO, row.proven ? 'yes' : 'no') },
      { title: 'Feita em', cell: (row) => moment(context.calendar, row.madeAt) },
      {
        title: 'Saldo final',
        cell: ({ figures }) => (figures ? money(figures.closing) : EMPTY_VALUE),
        align: 'end',
      },
      {
        title: 'Baixar',
        cell: ({ revision }) =>
          html`<span class="files">${FORMATS.map(
            (format) =>
              html`<a href="/reports/${day}-r${revision}.${format}${query}" download aria-label="${nameFile(format, day, revision)}">${FORMAT_WORDS[format]}</a> `,
          )}</span>`,
      },
    ],
  });
}

/** A file that was lost, and has another hash than when the revision was made. */
function describeRebuilt({ calendar }: Context, { at, version }: { at: string; version: string }): Html {
  const values = { at: moment(calendar, at), version };
  return html`<span class="hint">${tHtml('arquivo perdido ou danificado, refeito em {at} pela versão {version}: as linhas são as mesmas, o SHA-256 é outro', values)}</span>`;
}

function nameFile(format: Format, day: Day, revision: number): string {
  return t('{format} de {day}, revisão {revision}', { format: FORMAT_WORDS[format], day: formatDay(day), revision });
}

/** The form that compares two revisions, and the comparison where two are chosen. */
async function renderChanges(
  context: Context,
  request: Request,
  response: Response,
  { shown, platform }: { shown: ReportDay; platform: string | undefined },
): Promise<{ html: Html | undefined; isWrong: boolean }> {
  const { day, revisions } = shown;
  const [newest, before] = revisions;
  if (!newest || !before) return { html: undefined, isWrong: false };
  const given = { from: Number(readQuery(request, 'from')), to: Number(readQuery(request, 'to')) };
  const isAsked = request.query.from !== undefined || request.query.to !== undefined;
  const chosen: Chosen = isAsked ? given : { from: before.revision, to: newest.revision };
  const fault = isAsked ? findFault(revisions, given) : undefined;
  const compared = isAsked && fault === undefined && (await compare(context, response, { day, platform, ...chosen }));
  const result = html`<section id="changes"><h2>${t('O que mudou entre duas revisões')}</h2>${compareForm(day, revisions, { chosen, platform, fault })}${compared}</section>`;
  return { html: result, isWrong: fault !== undefined };
}

function findFault(revisions: DayRevision[], { from, to }: Chosen): string | undefined {
  const isKnown = (one: number): boolean => revisions.some(({ revision }) => revision === one);
  if (!isKnown(from) || !isKnown(to)) return t('Escolha duas revisões do dia.');
  return from >= to ? t('A primeira tem de ser anterior à segunda.') : undefined;
}

async function compare(
  context: Context,
  response: Response,
  wanted: Chosen & { day: Day; platform: string | undefined },
): Promise<Html> {
  const masked = !canSeePersonalData(response);
  const comparison = await compareRevisions(context, { ...wanted, masked, locale: language() });
  await auditShownTransactions(context, response, 'reports.changes', {
    target: `${wanted.day} r${wanted.from} r${wanted.to}`,
    transactions: (comparison.rows ?? []).map(({ id }) => id),
    via: 'console',
  });
  return renderComparison(context, response, wanted, comparison, await readPlatformNames(context, response));
}

/** The adjustments of the day; nothing where there are none. */
async function renderAdjustments(
  context: Context,
  response: Response,
  day: Day,
  platform: string | undefined,
): Promise<Part> {
  const found = await listAdjustments(context.db, ADJUSTMENTS_SHOWN_MAX, undefined, { platform, from: day, to: day });
  if (found.length === 0) return undefined;
  await auditPersonalAccess(context, response, 'adjustments.list', 'notes');
  const rows = found.map((row) => withhold(adjustments, row, getCaller(response)));
  const nameOf = await nameActors(
    context,
    response,
    rows.map((row) => row.created_by),
  );
  const names = await readPlatformNames(context, response);
  const isCut = found.length === ADJUSTMENTS_SHOWN_MAX;
  return html`<section><h2>${t('Ajustes deste dia')}</h2>${adjustmentTable(context, rows, { names, nameOf, response, banks: await readBankAccounts(context.db) })}${isCut && html`<p class="hint"><a href="${LISTS.adjustments.address}?from=${day}&amp;to=${day}">${t('Aqui estão {count}.', { count: formatCount(rows.length) })}</a></p>`}</section>`;
}

/** The open mismatches that concern the day, with their number, which leads to just these in the list. */
async function renderMismatches(
  context: Context,
  response: Response,
  day: Day,
  platform: string | undefined,
): Promise<Html> {
  const filter = { state: 'unresolved', from: day, to: day, platform, named: day } as const;
  const page = { limit: MISMATCHES_SHOWN_MAX, after: undefined };
  const { rows, next } = await readList(context, mismatches, {
    filter,
    page,
    caller: getCaller(response),
    via: 'console',
  });
  const search = new URLSearchParams({ from: day, to: day, ...(platform === undefined ? {} : { platform }) });
  const n = formatBounded({ n: rows.length, isMore: next !== undefined });
  return html`${await mismatchTable(context, response, rows, 'Nenhuma está em aberto neste dia.')}
<p class="hint">${rows.length > 0 && html`<a href="/mismatches?${search.toString()}">${t('{n} em aberto neste dia', { n })}</a> · `}<a href="/mismatches?state=all&amp;${search.toString()}">${t('Também as resolvidas')}</a> · <a href="/mismatches">${t('Em aberto, de todos os dias')}</a></p>`;
}
