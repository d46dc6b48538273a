import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { addDays, type Day, isDay } from '../../../domain/calendar.ts';
import { NO_PLATFORM } from '../../../domain/platform.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { runs, startOneRun } from '../../../operations/runs.ts';
import type { PresentedRun } from '../../../reconciliation/numbers/read-runs.ts';
import { checkRequest } from '../../../reconciliation/runs/start-run.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { type Draft, filterField, inputField, noteRefusals } from '../parts/fields.ts';
import { EMPTY_VALUE, formatCount, formatDay, moment, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { readFormField, readQuery } from '../parts/parse-filters.ts';
import { readPlatformWords } from '../parts/read-platform-names.ts';
import { sendList } from '../parts/send-list.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { RUN_STATE_WORDS, TRIGGER_WORDS } from '../parts/words.ts';

/** The list of runs, and the form that starts one for a range of days. */
export function runListPages(context: Context): Router {
  const router = createRouter();
  router.get('/reconciliations', async (request, response) => {
    const today = context.calendar.dayOf(context.clock.now());
    // a page that says which days to read leads here with them
    const [from, to] = [readQuery(request, 'from'), readQuery(request, 'to')];
    const values = isDay(from) && isDay(to) ? { from, to } : { from: addDays(today, -1), to: today };
    await sendRuns(context, request, response, { values, faults: {} });
  });

  router.post('/reconciliations', requireRole(...startOneRun.roles), async (request, response) => {
    const [from = '', to = '', platform = ''] = ['from', 'to', 'platform'].map((name) => readFormField(request, name));
    const given = { from, to, platform: platform || undefined };
    const draft: Draft = { values: { from, to, platform }, faults: {} };
    noteRefusals(draft, () => checkRequest(given, context.calendar.dayOf(context.clock.now())));
    if (Object.keys(draft.faults).length > 0) {
      await sendRuns(context, request, response, draft);
      return;
    }
    const by = { caller: getCaller(response), id: '', via: 'console' } as const;
    const { made } = await makeChange(context, startOneRun, { given, by });
    response.redirect(303, `/reconciliations/${made?.id}?done=started`);
  });
  return router;
}

/** A table of runs, each linked to its page. */
export function runTable(context: Context, rows: PresentedRun[]): Html {
  return table({
    caption: 'Conferências, as mais novas primeiro',
    rows,
    empty: 'Nenhuma conferência até agora: a agenda inicia a primeira, e a operação pode iniciar uma já.',
    columns: [
      {
        title: 'Conferência',
        cell: (row) => html`<a href="/reconciliations/${row.id}">${shortId(row.id)}</a>`,
      },
      { title: 'Dias', cell: formatDayRange },
      { title: 'Estado', cell: (row) => badge(RUN_STATE_WORDS, row.state) },
      {
        title: 'Transações',
        cell: (row) => (row.started_at === null ? EMPTY_VALUE : formatCount(row.seen)),
        align: 'end',
      },
      {
        title: 'Aplicadas',
        cell: (row) => (row.started_at === null ? EMPTY_VALUE : formatCount(row.applied)),
        align: 'end',
      },
      { title: 'Divergências', cell: (row) => formatCount(row.mismatches), align: 'end' },
      { title: 'Origem', cell: (row) => describeCode(TRIGGER_WORDS, row.trigger) },
      { title: 'Terminou', cell: (row) => (row.finished_at ? moment(context.calendar, row.finished_at) : EMPTY_VALUE) },
    ],
  });
}

/** `20/11/2026 a 21/11/2026`. */
export function formatDayRange(run: { from: Day; to: Day }): string {
  return run.from === run.to
    ? formatDay(run.from)
    : t('{from} a {to}', { from: formatDay(run.from), to: formatDay(run.to) });
}

async function sendRuns(context: Context, request: Request, response: Response, draft: Draft): Promise<void> {
  const { rows, next } = await readListPage(context, runs, request, response);
  const isWrong = Object.keys(draft.faults).length > 0;
  const lead = html`<p class="lead">${t('Uma conferência lê a lista do provedor, dia a dia, até provar que leu tudo, e aplica ao razão o que faltava.')}</p>
${hasRole(response, ...startOneRun.roles) && html`<section class="act"><h2>${t('Iniciar uma conferência')}</h2>${await startForm(context, response, draft)}</section>`}`;
  const status = isWrong ? 422 : 200;
  const address = '/reconciliations';
  sendList(request, response, { title: 'Conferências', address, lead, rows: runTable(context, rows), next, status });
}

async function startForm(context: Context, response: Response, draft: Draft): Promise<Html> {
  const today = context.calendar.dayOf(context.clock.now());
  // the provider cannot be asked for what has no platform
  const { [NO_PLATFORM]: _, ...words } = await readPlatformWords(context, response);
  const days = html` type="date" max="${today}"`;
  return postForm(
    response,
    '/reconciliations',
    html`<div class="fields">${inputField(draft, { name: 'from', label: 'De' }, days)}${inputField(draft, { name: 'to', label: 'Até' }, days)}
${filterField(draft, { name: 'platform', label: 'Plataforma (opcional)', words, any: 'Todas' })}
<div class="actions"><button>${t('Iniciar')}</button></div></div>`,
  );
}
