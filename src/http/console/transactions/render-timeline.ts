import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import type { PresentedSource, TransactionTimeline } from '../../../ledger/read/describe-transaction.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { formatDuration, moment, shortId } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { badge } from '../parts/page-components.ts';
import type { PlatformNames } from '../parts/read-platform-names.ts';
import { renderPostings } from '../parts/render-postings.ts';
import { ENTRY_KIND_WORDS, STATUS_WORDS } from '../parts/words.ts';

type Event = TransactionTimeline['events'][number];
type Entry = TransactionTimeline['entries'][number];

/** A transaction's events, newest first, each with its source, when it was learnt, and its entries. */
export function renderTimeline(
  context: Context,
  names: PlatformNames,
  timeline: Pick<TransactionTimeline, 'events' | 'entries'>,
): Html {
  const show = (entry: Entry): Html => renderEntry(context, names, entry);
  const byEvent = Map.groupBy(timeline.entries, (entry) => entry.sequence);
  const withoutEvent = byEvent.get(null) ?? [];
  return html`<ol class="story">${timeline.events.map((event) => renderEvent(context, event, (byEvent.get(event.sequence) ?? []).map(show)))}</ol>
${withoutEvent.length > 0 && html`<h3>${t('Lançamentos sem evento')}</h3>${withoutEvent.map(show)}`}`;
}

/** Names the source of an event or entry, with a link to its run or webhook. */
export function renderSource(source: PresentedSource): Html {
  const { kind, run_id: runId, webhook_id: webhookId, page } = source;
  const run = runId && html`<a href="/reconciliations/${runId}">${t('conferência')} ${shortId(runId)}</a>`;
  if (kind === 'list' && run)
    return page === undefined
      ? tHtml('lido na lista, {run}', { run })
      : tHtml('lido na lista, {run}, página {page}', { run, page });
  if (webhookId) {
    const webhook = html`<a href="/inbox/${webhookId}">webhook ${shortId(webhookId)}</a>`;
    return tHtml('consultado por causa do {webhook}', { webhook });
  }
  if (kind === 'show')
    return run ? tHtml('consultado no provedor pela {run}', { run }) : html`${t('consultado no provedor')}`;
  return html`${t('por uma pessoa')} (${kind})`;
}

function renderEvent(context: Context, event: Event, entries: Html[]): Html {
  const lateS = Math.round((Date.parse(event.seen_at) - Date.parse(event.at)) / 1000);
  const delay = lateS > 1 ? t('{duration} depois', { duration: formatDuration(lateS) }) : t('na hora');
  return html`<li><div class="head">${badge(STATUS_WORDS, event.status)} ${moment(context.calendar, event.at)}</div>
<p class="hint">${tHtml('Soubemos {delay}, em {at}: {source}. Sequência {sequence}.', { delay, at: moment(context.calendar, event.seen_at), source: renderSource(event.source), sequence: event.sequence })}</p>
${!event.in_force && html`<p class="hint">${tHtml('<b>Fora de vigor:</b> o provedor não o mostra mais, e uma pessoa aceitou isso.')}</p>`}
${entries}
${entries.length === 0 && html`<p class="hint">${t('Não move dinheiro: nada foi lançado.')}</p>`}</li>`;
}

function renderEntry(context: Context, names: PlatformNames, entry: Entry): Html {
  return html`<div class="entry" id="${entry.id}"><p><b>${describeCode(ENTRY_KIND_WORDS, entry.kind)}</b> <span class="id">${entry.id}</span>${
    entry.reverses && html` ${t('estorna')} <a class="id" href="#${entry.reverses}">${entry.reverses}</a>`
  } <span class="hint">${tHtml('conhecido em {at}', { at: moment(context.calendar, entry.recorded_at) })}</span></p>
${renderPostings(
  names,
  t('Partidas de {id}', { id: entry.id }),
  entry.postings.map(({ account, amount }) => ({ account, cents: parseSum(amount) ?? 0n })),
)}</div>`;
}
