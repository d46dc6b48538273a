import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { addMonths, boundsOfMonth, type Day, isDay, type Month, monthOf } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { checkDayBegun } from '../../../ledger/stated/check-stated.ts';
import { makeOneReport } from '../../../operations/books/reports.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { startOneRun } from '../../../operations/runs.ts';
import { findMonthClose } from '../../../reports/plan/find-month-close.ts';
import { FORMATS } from '../../../reports/plan/report-plan.ts';
import { platformAccountSegment, splitAccount } from '../../../reports/read/read-accounts.ts';
import { RANGE_DAYS_MAX } from '../../../reports/serve/export-range.ts';
import { listReportDays, type ReportDay } from '../../../reports/serve/list-report-days.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t } from '../../../texts/translate.ts';
import { requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { byOf } from '../../mount-operations.ts';
import { sendRange } from '../../send-report.ts';
import { type Draft, noteRefusals } from '../parts/fields.ts';
import { formatDay } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { readFormField, readFormLines, readQuery } from '../parts/parse-filters.ts';
import { type PlatformNames, readPlatformNames } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { ACCOUNT_WORDS } from '../parts/words.ts';
import { makeDays } from './make-days.ts';
import { nameMonth, parseMonth } from './month.ts';
import { FORMAT_WORDS, findPeriodFault, isFormat, type Period, renderPeriodForm } from './period-form.ts';
import { renderCalendar } from './render-calendar.ts';
import { renderDayList } from './render-day-list.ts';
import { renderOutdated } from './render-outdated.ts';
import { platformQuery, readReportPlatform, renderReportPlatform } from './report-platform.ts';

type Faults = { days?: string; period?: string };

/** A month of reports: the calendar, the days with their figures, and the forms that make or download several. */
export function monthPages(context: Context): Router {
  const router = createRouter();
  router.get('/reports', async (request, response) => {
    const month = readMonth(context, request);
    await sendMonth(context, request, response, { month, faults: {} });
  });

  router.post('/reports', requireRole(...makeOneReport.roles), async (request, response) => {
    const today = context.calendar.dayOf(context.clock.now());
    const days = [...new Set(readFormLines(request, 'day').split('\n').filter(Boolean))].sort();
    const fault = findDaysFault(context, days);
    if (fault !== undefined) {
      const month = parseMonth(readFormField(request, 'month') ?? monthOf(today));
      await sendMonth(context, request, response, { month, faults: { days: fault } });
      return;
    }
    // several days are made together, below
    const noted = { ...makeOneReport, after: async () => undefined };
    const by = byOf(makeOneReport, request, response, true);
    for (const day of days) await makeChange(context, noted, { given: { day }, by });
    const done = await makeDays(context, days);
    const [first = today] = days;
    const path = days.length === 1 ? `/reports/${first}?` : `/reports?month=${monthOf(first)}&`;
    response.redirect(303, `${path}done=${done}`);
  });

  router.get('/reports/period', async (request, response) => {
    const [from, to] = [readQuery(request, 'from'), readQuery(request, 'to')];
    const named = readQuery(request, 'format');
    const format = isFormat(named) ? named : 'xlsx';
    const grouped = readQuery(request, 'group');
    const group = grouped === 'day' ? grouped : undefined;
    const period: Period = { from, to, platform: readQuery(request, 'platform'), format, group };
    const platform = period.platform === '' ? undefined : period.platform;
    const fault =
      (named === '' || named === format ? undefined : t('Este formato não existe.')) ??
      (grouped === (group ?? '') ? undefined : t('Escolha um da lista.')) ??
      findPeriodFault(context, period) ??
      (await findAccountFault(format, await readPlatformNames(context, response), () =>
        sendRange(context, response, { from, to, platform, format, group }),
      ));
    if (fault === undefined) return;
    const month = isDay(from) ? monthOf(from) : monthOf(context.calendar.dayOf(context.clock.now()));
    await sendMonth(context, request, response, { month, period, faults: { period: fault } });
  });
  return router;
}

/** `Recebimentos (Loja Centro)`: an account of the ledger that the map lacks, of all platforms or of one. */
function describeAccount(name: string, platforms: PlatformNames): string {
  if (Object.hasOwn(ACCOUNT_WORDS, name)) return describeCode(ACCOUNT_WORDS, name);
  const { root, platform } = splitAccount(name);
  const [, own] = [...platforms].find(([id]) => platformAccountSegment(id) === platform) ?? [];
  return `${describeCode(ACCOUNT_WORDS, root)} (${own ?? platform})`;
}

/** Sends a file. @returns what is wrong if the account map lacks accounts, and the file was not sent. */
async function findAccountFault(
  format: string,
  platforms: PlatformNames,
  send: () => Promise<void>,
): Promise<string | undefined> {
  try {
    await send();
    return undefined;
  } catch (error) {
    const accounts = error instanceof ConfereError ? error.fields?.accounts : undefined;
    if (!accounts) throw error;
    const named = { accounts: accounts.map((one) => describeAccount(one, platforms)).join(', ') };
    return format === 'conta-azul'
      ? t('Sem categoria no plano de contas: {accounts}.', named)
      : t('Sem código no plano de contas: {accounts}.', named);
  }
}

function readMonth(context: Context, request: Request): Month {
  const month = readQuery(request, 'month');
  return month === '' ? monthOf(context.calendar.dayOf(context.clock.now())) : parseMonth(month);
}

function findDaysFault(context: Context, days: string[]): string | undefined {
  if (days.length === 0) return t('Escolha ao menos um dia.');
  const faults: Draft['faults'] = {};
  for (const day of days) noteRefusals({ faults }, () => checkDayBegun(context, day));
  if (faults.day !== undefined) return faults.day;
  return days.length > RANGE_DAYS_MAX ? t('Escolha no máximo {max} dias.', { max: RANGE_DAYS_MAX }) : undefined;
}

type View = { month: Month; period?: Period; faults: Faults };

async function sendMonth(context: Context, request: Request, response: Response, view: View): Promise<void> {
  const { month, faults } = view;
  const reading = limitReads(context);
  const today = context.calendar.dayOf(context.clock.now());
  const bounds = boundsOfMonth(month);
  const platform = await readReportPlatform(reading, request, response);
  const days = await listReportDays(reading, { ...bounds, platform });
  const query = platformQuery(platform);
  const [last = today] = [bounds.to, today].sort();
  const period = view.period ?? { from: bounds.from, to: last, platform: platform ?? '' };
  const listed = days.filter(({ state }) => state !== 'future' && state !== 'before');
  const { field, label } = await renderReportPlatform(reading, response, platform);
  const isClosed = (await findMonthClose(reading.db, month)) !== undefined;
  const unclosed =
    !isClosed &&
    html`<p class="explain">${tHtml('{month} ainda não foi {closed}: um arquivo dele pode mudar depois de lançado no seu programa.', { month: nameMonth(month), closed: html`<a href="/reports/months/${month}">${t('fechado')}</a>` })}</p>`;
  const body = html`<h1>${t('Relatórios')}</h1>
<p class="lead">${t('Um por dia do calendário do provedor. Quando um dia muda depois de relatado, sai uma nova revisão; as anteriores ficam.')}</p>
${filters(month, field)}
<section aria-labelledby="month">${heading(month, { today, platform, isClosed })}
${label !== undefined && html`<p class="hint">${tHtml('Só a plataforma {platform}.', { platform: html`<b>${label}</b>` })}</p>`}
${renderCalendar(days, { today, query })}
${bounds.from <= today && downloads({ ...period, from: bounds.from, to: last })}${renderMissing(response, listed)}</section>
${renderOutdated(context, listed, query)}
<section><h2>${t('Dia a dia')}</h2><p class="hint">${t('Como no Resumo da última revisão de cada dia, em reais. A página do dia tem as suas divergências.')}</p>
${faults.days !== undefined && html`<p class="fault" role="alert">${faults.days}</p>`}
${renderDayList(response, listed, { query })}</section>
<section class="act" id="period"><h2>${t('Baixar um período')}</h2>${unclosed}${renderPeriodForm(context, period, faults.period)}</section>`;
  const isWrong = faults.days !== undefined || faults.period !== undefined;
  sendPage(request, response, {
    title: t('Relatórios de {month}', { month: nameMonth(month) }),
    body,
    status: isWrong ? 422 : 200,
  });
}

function filters(month: Month, platform: Html | undefined): Html {
  return html`<form class="filters" method="get" action="/reports"><label><span>${t('Mês')}</span><input type="month" name="month" value="${month}" pattern="[0-9]{4}-[0-9]{2}" placeholder="2026-11"></label>${platform}
<div class="actions"><button class="secondary">${t('Ver')}</button></div></form>`;
}

type Heading = { today: Day; platform: string | undefined; isClosed: boolean };

/** The month's name between links to its neighbours, with its closing. */
function heading(month: Month, { today, platform, isClosed }: Heading): Html {
  const link = (to: Month, rel: 'prev' | 'next'): Html => {
    const search = new URLSearchParams({ month: to, ...(platform === undefined ? {} : { platform }) });
    const name = nameMonth(to);
    return html`<a rel="${rel}" href="/reports?${search.toString()}">${rel === 'prev' ? `← ${name}` : `${name} →`}</a>`;
  };
  return html`<nav class="months" aria-label="${t('Meses')}">${link(addMonths(month, -1), 'prev')}
<h2 id="month">${nameMonth(month)}</h2>${
    month <= monthOf(today) &&
    html` <a href="/reports/months/${month}">${isClosed ? t('Mês fechado') : t('Fechamento do mês')}</a>`
  }
${month < monthOf(today) ? link(addMonths(month, 1), 'next') : html`<span></span>`}</nav>`;
}

function downloads({ from, to, platform }: Period): Html {
  const search = new URLSearchParams({ from, to, ...(platform === '' ? {} : { platform }) }).toString();
  return html`<p>${t('O mês num só arquivo, até {day}:', { day: formatDay(to) })} <span class="files">${FORMATS.map(
    (format) => html`<a href="/reports/period?${search}&amp;format=${format}" download>${FORMAT_WORDS[format]}</a> `,
  )}</span></p>`;
}

/** The buttons for what the month lacks: reports that are not made, and days that no run has read. */
function renderMissing(response: Response, days: ReportDay[]): Part {
  if (!hasRole(response, ...makeOneReport.roles)) return undefined;
  const unmade = days.filter(({ state }) => state === 'missing' || state === 'changed').map(({ day }) => day);
  const unread = days.flatMap((day) => (day.state === 'provisional' && day.unread ? [day.unread] : []));
  const [from] = unread.map((one) => one.from).sort();
  const to = unread
    .map((one) => one.to)
    .sort()
    .at(-1);
  const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`;
  const make = html`${unmade.map((day) => hidden('day', day))}<button class="secondary">${plural(
    unmade.length,
    'Fazer o relatório que falta',
    'Fazer os {n} relatórios que faltam',
  )}</button>`;
  return html`<div class="actions">${unmade.length > 0 && postForm(response, '/reports', make)}${
    from !== undefined &&
    to !== undefined &&
    hasRole(response, ...startOneRun.roles) &&
    postForm(
      response,
      '/reconciliations',
      html`${hidden('from', from)}${hidden('to', to)}<button class="secondary">${t('Conferir o que falta, de {from} a {to}', { from: formatDay(from), to: formatDay(to) })}</button>`,
    )
  }</div>`;
}
