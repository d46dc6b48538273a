import type { Request, Response, Router } from 'express';
import { audit } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { addDays, isDay } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { FORMATS, type Format } from '../../../reports/plan/report-plan.ts';
import { makeReport } from '../../../reports/revisions/make-report.ts';
import type { Report } from '../../../reports/revisions/present-report.ts';
import { buildOnce } from '../../../reports/serve/build-once.ts';
import { RANGE_DAYS_MAX } from '../../../reports/serve/export-range.ts';
import { listReports } from '../../../reports/serve/list-reports.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage } from '../../parse-page.ts';
import { sendRange, sendReport } from '../../send-report.ts';
import { formatDay, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { sendList } from '../parts/send-list.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { REPORT_STATE_WORDS } from '../parts/words.ts';

const FILE = /^(\d{4}-\d\d-\d\d)-r([1-9]\d{0,6})\.([a-z]+)$/;
const FORMAT_WORDS: Record<Format, string> = { xlsx: 'Planilha', csv: 'CSV', journal: 'Diário hledger' };

/** The list of report revisions with their files, and the form that makes the next one. */
export function reportPages(context: Context): Router {
  const router = createRouter();
  router.get('/reports', (request, response) => sendReports(context, request, response, {}));

  router.post('/reports', requireRole('operator'), async (request, response) => {
    const day = readFormField(request, 'day') ?? '';
    const today = context.calendar.dayOf(context.clock.now());
    const fault = !isDay(day) ? 'Escolha um dia.' : day > today ? 'Este dia ainda não começou.' : undefined;
    if (fault !== undefined) {
      await sendReports(context, request, response, { day: fault });
      return;
    }
    // audited first: a report takes long, and the timetable makes the same one
    await audit(context, { actor: getActor(response), action: 'reports.make', target: day, detail: 'console' });
    const { changed } = await buildOnce(context, `day ${day}`, () => makeReport(context, day));
    response.redirect(303, `/reports?done=${changed ? 'made' : 'unchanged'}`);
  });

  router.get('/reports/period', async (request, response) => {
    const range = { from: readQuery(request, 'from'), to: readQuery(request, 'to') };
    const { format } = request.query;
    const fault = findRangeFault(context, range);
    if (fault !== undefined) await sendReports(context, request, response, { range: fault });
    else await sendRange(context, response, { ...range, format: isFormat(format) ? format : 'xlsx' });
  });

  router.get('/reports/:file', async (request: Request<{ file: string }>, response) => {
    const [, day, revision, format] = FILE.exec(request.params.file) ?? [];
    if (day === undefined || !isFormat(format)) throw new ConfereError('not_found', 'there is no such file');
    await sendReport(context, response, { day, format, revision: Number(revision) });
  });
  return router;
}

async function sendReports(context: Context, request: Request, response: Response, faults: Faults): Promise<void> {
  const { reports, next } = await listReports({ ...context, db: limitStatementTime(context.db) }, parsePage(request));
  const lead = html`<p class="lead">Um por dia do calendário do provedor. Quando um dia muda depois de relatado, sai uma nova revisão; as anteriores ficam.</p>
${hasRole(response, 'operator') && html`<section class="act"><h2>Fazer um relatório</h2>${makeForm(context, response, faults.day)}</section>`}
<section class="act"><h2>Baixar um período</h2>${rangeForm(context, request, faults.range)}</section>`;
  sendList(request, response, {
    title: 'Relatórios',
    address: '/reports',
    lead,
    rows: reportTable(context, reports),
    next: next ?? undefined,
    status: faults.day === undefined && faults.range === undefined ? 200 : 422,
  });
}

function readQuery(request: Request, name: string): string {
  const value = request.query[name];
  return typeof value === 'string' ? value : '';
}

type Faults = { day?: string; range?: string };

function findRangeFault(context: Context, { from, to }: { from: string; to: string }): string | undefined {
  if (!isDay(from) || !isDay(to)) return 'Escolha o primeiro e o último dia.';
  if (from > to) return 'O primeiro dia vem depois do último.';
  if (to > context.calendar.dayOf(context.clock.now())) return 'O último dia ainda não começou.';
  return addDays(from, RANGE_DAYS_MAX) <= to ? `Escolha no máximo ${RANGE_DAYS_MAX} dias.` : undefined;
}

/** One file over several days, at first of the month before. It is made on request and not stored. */
function rangeForm(context: Context, request: Request, fault: string | undefined): Html {
  const today = context.calendar.dayOf(context.clock.now());
  const last = addDays(`${today.slice(0, 7)}-01`, -1);
  const given = (name: 'from' | 'to', otherwise: string): string =>
    fault === undefined ? otherwise : readQuery(request, name);
  const wrong = fault !== undefined && html` aria-invalid="true" aria-describedby="range-fault"`;
  const field = (title: string, name: 'from' | 'to', value: string): Html =>
    html`<label><span>${title}</span><input type="date" name="${name}" value="${value}" max="${today}"${wrong}></label>`;
  return html`<p class="hint">Um arquivo de até ${RANGE_DAYS_MAX} dias, feito a pedido num só corte do razão. Não é uma revisão e não fica guardado.</p>
<form method="get" action="/reports/period"><div class="fields">${field('De', 'from', given('from', `${last.slice(0, 7)}-01`))}${field('Até', 'to', given('to', last))}
<label><span>Formato</span><select name="format">${FORMATS.map((format) => html`<option value="${format}">${FORMAT_WORDS[format]}</option>`)}</select></label>
<div class="actions"><button>Baixar</button></div></div>${
    fault !== undefined && html`<p class="fault" id="range-fault" role="alert">${fault}</p>`
  }</form>`;
}

function makeForm(context: Context, response: Response, fault: string | undefined): Html {
  const today = context.calendar.dayOf(context.clock.now());
  const wrong = fault !== undefined && html` aria-invalid="true" aria-describedby="day-fault"`;
  return postForm(
    response,
    '/reports',
    html`<div class="fields"><label><span>Dia</span><input type="date" name="day" value="${addDays(today, -1)}" max="${today}"${wrong}>${
      fault !== undefined && html`<span class="fault" id="day-fault" role="alert">${fault}</span>`
    }</label><div class="actions"><button>Fazer</button></div></div>`,
  );
}

function reportTable(context: Context, reports: Report[]): Html {
  return table({
    caption: 'Relatórios, os mais novos primeiro',
    rows: reports,
    empty: 'Nenhum relatório até agora.',
    columns: [
      { title: 'Dia', cell: (report) => html`<b>${formatDay(report.day)}</b>` },
      { title: 'Revisão', cell: (report) => report.revision, align: 'end' },
      {
        title: 'Situação',
        cell: (report) =>
          html`${badge(REPORT_STATE_WORDS, report.state)}${report.redacted && html`<span class="hint">dados de pessoas removidos</span>`}`,
      },
      {
        title: 'Provado',
        cell: (report) => badge({ yes: 'Sim', no: 'Não' }, report.proven ? 'yes' : 'no'),
      },
      { title: 'Feito em', cell: (report) => moment(context.calendar, report.made_at) },
      {
        title: 'Baixar',
        cell: (report) =>
          html`<span class="files">${FORMATS.map(
            (format) =>
              html`<a href="/reports/${report.day}-r${report.revision}.${format}" download aria-label="${FORMAT_WORDS[format]} de ${formatDay(report.day)}, revisão ${report.revision}">${FORMAT_WORDS[format]}</a> `,
          )}</span>`,
      },
    ],
  });
}

function isFormat(value: unknown): value is Format {
  return (FORMATS as readonly unknown[]).includes(value);
}
