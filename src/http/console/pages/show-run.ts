import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { findRun, type PresentedRun } from '../../../reconciliation/numbers/read-runs.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { createRouter } from '../../create-router.ts';
import { formatDayRange } from '../lists/list-runs.ts';
import { explainMismatch } from '../parts/explain-mismatch.ts';
import { formatCount, formatDuration, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, facts, idText, table } from '../parts/page-components.ts';
import { sendPage } from '../parts/send-page.ts';
import { describeCode, RUN_STATE_WORDS, TRIGGER_WORDS } from '../parts/words.ts';

const REFRESH_S = 3;
const WINDOWS_SHOWN_MAX = 500;

const VERDICTS: Record<string, string> = {
  queued: 'Espera por um trabalhador livre.',
  running: 'Está lendo a lista do provedor.',
  complete: 'Provou que leu a lista inteira destes dias.',
  incomplete: 'Não conseguiu provar que leu tudo: nada conclui sobre o que falta.',
  failed: 'Parou no meio; os dias já provados continuam provados.',
};

const WINDOW_WORDS: Record<string, string> = {
  planned: 'Por ler',
  complete: 'Provado',
  counted: 'Provado por contagem',
  incomplete: 'Não provado',
};

/** The page of a run: its state, its numbers, the mismatches it raised, its windows. */
export function runPages(context: Context): Router {
  const router = createRouter();
  router.get('/reconciliations/:id', async (request: Request<{ id: string }>, response) => {
    const found = await findRun(context.db, request.params.id);
    if (!found) throw new ConfereError('not_found', 'there is no such reconciliation');
    const run = presentPlatform(response, found);
    const isOpen = run.state === 'queued' || run.state === 'running';
    const body = html`<p class="crumb"><a href="/reconciliations">Conferências</a></p>
<div class="head"><h1>${formatDayRange(run)}</h1> ${badge(RUN_STATE_WORDS, run.state)}</div>
<p class="sub">${idText(run.id)}</p>
<p class="lead">${VERDICTS[run.state]}</p>
${run.error && html`<p class="fault">${run.error}</p>`}
<section><h2>Números</h2>${renderNumbers(context, run)}</section>
<section><h2>Divergências que levantou</h2>${renderKinds(run)}</section>
<section><h2>Janelas</h2>${await renderWindows(context, run.seq)}</section>`;
    sendPage(request, response, {
      title: `Conferência de ${formatDayRange(run)}`,
      body,
      ...(isOpen ? { refreshS: REFRESH_S } : {}),
    });
  });
  return router;
}

function renderNumbers(context: Context, run: PresentedRun): Html {
  const tookS =
    run.started_at && run.finished_at
      ? Math.max(0, Math.round((Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000))
      : undefined;
  return facts([
    ['Anunciadas pelo provedor', run.total === null ? null : formatCount(run.total)],
    ['Lidas, sem repetição', formatCount(run.seen)],
    ['Aplicadas ao razão', formatCount(run.applied)],
    ['Páginas', formatCount(run.pages)],
    ['Pedidos ao provedor', formatCount(run.requests)],
    ['Dias provados por contagem', formatCount(run.days_counted)],
    ['Passadas no pior dia', run.passes],
    ['Plataforma', run.platform ?? 'todas'],
    ['Origem', describeCode(TRIGGER_WORDS, run.trigger)],
    ['Começou', run.started_at && moment(context.calendar, run.started_at)],
    ['Terminou', run.finished_at && moment(context.calendar, run.finished_at)],
    ['Levou', tookS !== undefined && formatDuration(tookS)],
  ]);
}

function renderKinds(run: PresentedRun): Html {
  return table({
    caption: 'Divergências por tipo',
    rows: Object.entries(run.by_kind),
    empty: 'Nenhuma.',
    columns: [
      {
        title: 'Tipo',
        cell: ([kind]) => html`<a href="/mismatches?state=all&amp;kind=${kind}">${explainMismatch(kind).title}</a>`,
      },
      { title: 'Quantas', cell: ([, count]) => formatCount(count), align: 'end' },
    ],
  });
}

async function renderWindows(context: Context, runSeq: number): Promise<Html> {
  const rows = await context.db
    .selectFrom('run_windows')
    .select(['from_day', 'to_day', 'state', 'pages', 'passes', 'seen', 'applied', 'asked_at', 'error'])
    .where('run_seq', '=', runSeq)
    .orderBy('from_day')
    .limit(WINDOWS_SHOWN_MAX)
    .execute();
  return table({
    caption: 'Janelas de dias',
    rows,
    empty: 'Ainda não foi dividida em janelas.',
    columns: [
      { title: 'Dias', cell: (row) => formatDayRange({ from: row.from_day, to: row.to_day }) },
      {
        title: 'Estado',
        cell: (row) =>
          html`${badge(WINDOW_WORDS, row.state)}${row.error && html` <span class="hint">${row.error}</span>`}`,
      },
      { title: 'Páginas', cell: (row) => formatCount(row.pages), align: 'end' },
      { title: 'Passadas', cell: (row) => row.passes, align: 'end' },
      { title: 'Lidas', cell: (row) => formatCount(row.seen), align: 'end' },
      { title: 'Aplicadas', cell: (row) => formatCount(row.applied), align: 'end' },
      { title: 'Prova começou em', cell: (row) => moment(context.calendar, row.asked_at) },
    ],
  });
}
