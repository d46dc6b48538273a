import type { Request, Router } from 'express';
import type { Context } from '../../../context.ts';
import { type Calendar, countDays } from '../../../domain/calendar.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import {
  findRun,
  type PageProgress,
  type PresentedRun,
  readPageProgress,
} from '../../../reconciliation/numbers/read-runs.ts';
import { describeCode } from '../../../texts/fill.ts';
import { readError } from '../../../texts/messages.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t, words } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { explainMismatch } from '../mismatches/explain-mismatch.ts';
import { EMPTY_VALUE, formatCount, formatDay, formatDuration, moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, facts, idText, say, table } from '../parts/page-components.ts';
import { type PlatformNames, readPlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { sendPage } from '../parts/send-page.ts';
import { RUN_STATE_WORDS, TRIGGER_WORDS } from '../parts/words.ts';
import { formatDayRange } from './list-runs.ts';

const REFRESH_S = 3;
const WINDOWS_SHOWN_MAX = 500;

const VERDICTS: Record<string, string> = words({
  queued: 'Espera por um worker livre.',
  running: 'Está lendo a lista do provedor.',
  complete: 'Provou que leu a lista inteira destes dias.',
  incomplete: 'Não conseguiu provar que leu tudo: nada conclui sobre o que falta.',
  failed: 'Parou no meio; os dias já provados continuam provados.',
});

const WINDOW_WORDS: Record<string, string> = words({
  planned: 'Por ler',
  complete: 'Provado',
  counted: 'Provado por contagem',
  recent: 'Lido o que é novo',
  incomplete: 'Não provado',
});

const unknown = (): Html => html`<span class="nothing">${t('desconhecido')}</span>`;

/** The page of a run: its state, its numbers, the mismatches it raised, its windows. */
export function runPages(context: Context): Router {
  return createRouter().get('/reconciliations/:id', async (request: Request<{ id: string }>, response) => {
    const found = await findRun(context.db, request.params.id);
    if (!found) throw refuse('run_unknown');
    const run = presentPlatform(getCaller(response), found);
    const isOpen = run.state === 'queued' || run.state === 'running';
    const windows = await readWindows(context, run.seq);
    const stored = context.db.selectFrom('runs').select(['error', 'error_says']).where('seq', '=', run.seq);
    const said = readError(await stored.executeTakeFirstOrThrow());
    const body = html`<p class="crumb"><a href="/reconciliations">${t('Conferências')}</a></p>
<div class="head"><h1>${formatDayRange(run)}</h1> ${badge(RUN_STATE_WORDS, run.state)}</div>
<p class="sub">${idText(run.id)}</p>
<p class="lead">${describeOutcome(context.calendar, run, windows)}</p>
${isOpen && renderProgress(windows, await readPageProgress(context.db, run.seq))}
${said && html`<p class="fault">${say(said)}</p>`}
<section><h2>${t('Números')}</h2>${renderNumbers(context, run, await readPlatformNames(context, response))}</section>
<section><h2>${t('Divergências que levantou')}</h2>${renderKinds(run)}</section>
<section><h2>${t('Janelas')}</h2>${renderWindows(context, windows)}</section>`;
    sendPage(request, response, {
      title: t('Conferência de {days}', { days: formatDayRange(run) }),
      body,
      ...(isOpen ? { refreshS: REFRESH_S } : {}),
    });
  });
}

/** Says what a run proved, and of that what the proof of a payment does not take: the two pages must agree. */
function describeOutcome(calendar: Calendar, run: PresentedRun, windows: Window[]): Part {
  const { state, days_counted: counted, days_recent: recent } = run;
  if (state !== 'complete') return VERDICTS[state];
  const days = countDays(run.from, run.to);
  const whole = counted === 0 && recent === 0 && VERDICTS.complete;
  const someCounted =
    counted > 0 &&
    (counted < days
      ? t(
          'Leu inteira a lista de {read} dos {days} dias e só contou {n}: isso prova os totais, não de quem é cada transação.',
          { read: days - counted - recent, days, n: counted },
        )
      : t('Contou estes dias, sem os ler: isso prova os totais, não de quem é cada transação.'));
  const someRecent =
    recent > 0 &&
    t('Nos dias em que leu só o que é novo, o total do provedor confere: sobre o que falta neles, nada conclui.');
  const early = windows.find(
    (one) => one.state === 'complete' && one.asked_at && one.asked_at < calendar.provableFrom(one.to_day),
  );
  const tooEarly =
    early &&
    tHtml(
      'A leitura de {day} começou em {at}, cedo demais para a prova de um pagamento desse dia: vale uma começada a partir de {since}.',
      {
        day: formatDay(early.to_day),
        at: moment(calendar, early.asked_at),
        since: moment(calendar, calendar.provableFrom(early.to_day)),
      },
    );
  const ofOne =
    run.platform !== null && t('Leu a lista de uma só plataforma; a prova de um pagamento pede a de todas.');
  return html`${[whole, someCounted, someRecent, tooEarly, ofOne].map((one) => one && html`${one} `)}`;
}

function renderNumbers(context: Context, run: PresentedRun, names: PlatformNames): Html {
  const tookS =
    run.started_at && run.finished_at
      ? Math.max(0, Math.round((Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000))
      : undefined;
  return facts([
    ['Anunciadas pelo provedor', run.total === null ? unknown() : formatCount(run.total)],
    ['Lidas, sem repetição', run.started_at === null ? unknown() : formatCount(run.seen)],
    ['Aplicadas ao razão', run.started_at === null ? unknown() : formatCount(run.applied)],
    ['Páginas', run.started_at === null ? unknown() : formatCount(run.pages)],
    ['Requisições ao provedor', run.started_at === null ? unknown() : formatCount(run.requests)],
    ['Dias provados por contagem', run.finished_at && formatCount(run.days_counted)],
    ['Dias em que leu só o que é novo', run.finished_at && formatCount(run.days_recent)],
    ['Passadas no pior dia', run.finished_at && run.passes],
    ['Plataforma', run.platform === null ? t('todas') : showPlatform(names, run.platform)],
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
        cell: ([kind]) => html`<a href="/mismatches?state=all&amp;kind=${kind}">${explainMismatch({ kind }).title}</a>`,
      },
      { title: 'Quantas', cell: ([, count]) => formatCount(count), align: 'end' },
    ],
  });
}

type Window = Awaited<ReturnType<typeof readWindows>>[number];

async function readWindows({ db }: Context, runSeq: number) {
  return await db
    .selectFrom('run_windows')
    .select(['from_day', 'to_day', 'state', 'passes', 'total', 'seen', 'applied', 'asked_at', 'folded_at'])
    .select(['error', 'error_says'])
    .select((eb) => [
      eb
        .selectFrom('run_pages')
        .whereRef('window_seq', '=', 'run_windows.seq')
        .select((pages) => pages.fn.countAll<number>().as('pages'))
        .as('stored'),
      'pages',
    ])
    .where('run_seq', '=', runSeq)
    .orderBy('from_day')
    .limit(WINDOWS_SHOWN_MAX)
    .execute();
}

/** How many of the windows are finished. A day that is being read counts when it is proven. */
function renderProgress(windows: Window[], reading: PageProgress | undefined): Html | undefined {
  if (windows.length === 0) return undefined;
  const done = windows.filter(({ state }) => state !== 'planned').length;
  const total = formatCount(windows.length);
  const label = t('{done} de {total} janelas terminadas', { done: formatCount(done), total });
  const pages =
    reading &&
    html`<p class="hint">${t('No que lê agora: {pages} de {known} páginas conhecidas até agora. Nada conclui antes de provar o dia.', { pages: formatCount(reading.pages), known: formatCount(reading.known) })}</p>`;
  return html`<p><label class="progress"><span>${label}</span><progress max="${windows.length}" value="${done}"></progress></label></p>${pages}`;
}

function renderWindows(context: Context, rows: Window[]): Html {
  const isRead = ({ state, stored }: Window): boolean => state !== 'planned' || Number(stored) > 0;
  // evidence is folded, and earlier versions stored no count beside it
  const pagesOf = ({ pages, stored, folded_at: foldedAt }: Window): Part => {
    const count = Math.max(pages, Number(stored));
    if (count === 0) return unknown();
    return foldedAt ? html`${formatCount(count)} <span class="hint">${t('resumidas')}</span>` : formatCount(count);
  };
  return table({
    caption: 'Janelas de dias',
    rows,
    empty: 'Ainda não foi dividida em janelas.',
    columns: [
      { title: 'Dias', cell: (row) => formatDayRange({ from: row.from_day, to: row.to_day }) },
      {
        title: 'Estado',
        cell: (row) =>
          html`${badge(WINDOW_WORDS, row.state)}${row.error && html` <span class="hint">${say(readError(row) ?? '')}</span>`}`,
      },
      { title: 'Páginas', cell: (row) => (isRead(row) ? pagesOf(row) : EMPTY_VALUE), align: 'end' },
      { title: 'Passadas', cell: (row) => (row.state === 'planned' ? EMPTY_VALUE : row.passes), align: 'end' },
      { title: 'Anunciadas', cell: (row) => countOr(row.total, row.state === 'planned'), align: 'end' },
      { title: 'Lidas', cell: (row) => countOr(row.seen, row.state === 'planned'), align: 'end' },
      { title: 'Aplicadas', cell: (row) => (isRead(row) ? formatCount(row.applied) : EMPTY_VALUE), align: 'end' },
      { title: 'Prova começou em', cell: (row) => moment(context.calendar, row.asked_at) },
    ],
  });
}

function countOr(count: number | null, isOpen: boolean): Part {
  if (isOpen) return EMPTY_VALUE;
  return count === null ? unknown() : formatCount(count);
}
