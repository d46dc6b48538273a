import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import type { PresentedSource, TransactionTimeline } from '../../../ledger/read/describe-transaction.ts';
import { formatDuration, moment, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge } from '../parts/page-components.ts';
import { renderPostings } from '../parts/render-postings.ts';
import { describeCode, ENTRY_KIND_WORDS, STATUS_WORDS } from '../parts/words.ts';

type Event = TransactionTimeline['events'][number];
type Entry = TransactionTimeline['entries'][number];

/** A transaction's events, newest first, each with its source, when it was learnt, and its entries. */
export function renderTimeline(context: Context, timeline: TransactionTimeline): Html {
  const byEvent = Map.groupBy(timeline.entries, (entry) => entry.sequence);
  const withoutEvent = byEvent.get(null) ?? [];
  return html`<ol class="story">${timeline.events.map((event) => renderEvent(context, event, byEvent.get(event.sequence) ?? []))}</ol>
${withoutEvent.length > 0 && html`<h3>Lançamentos sem evento</h3>${withoutEvent.map((entry) => renderEntry(context, entry))}`}`;
}

/** Names the source of an event or entry, with a link to its run or webhook. */
export function renderSource(source: PresentedSource): Html {
  if (source.kind === 'list' && source.run_id) {
    return html`lido na lista, <a href="/reconciliations/${source.run_id}">conferência ${shortId(source.run_id)}</a>${
      source.page !== undefined && html`, página ${source.page}`
    }`;
  }
  if (source.webhook_id) {
    return html`consultado por causa do <a href="/inbox/${source.webhook_id}">webhook ${shortId(source.webhook_id)}</a>`;
  }
  if (source.kind === 'show') {
    return html`consultado no provedor${
      source.run_id && html` pela <a href="/reconciliations/${source.run_id}">conferência ${shortId(source.run_id)}</a>`
    }`;
  }
  return html`por uma pessoa (${source.kind})`;
}

function renderEvent(context: Context, event: Event, entries: Entry[]): Html {
  const lateS = Math.round((Date.parse(event.seen_at) - Date.parse(event.at)) / 1000);
  return html`<li><div class="head">${badge(STATUS_WORDS, event.status)} ${moment(context.calendar, event.at)}</div>
<p class="hint">Soubemos ${lateS > 1 ? html`${formatDuration(lateS)} depois` : 'na hora'}, em ${moment(context.calendar, event.seen_at)}: ${renderSource(event.source)}. Sequência ${event.sequence}.</p>
${!event.in_force && html`<p class="hint"><b>Fora de vigor:</b> o provedor não o mostra mais, e uma pessoa aceitou isso.</p>`}
${entries.map((entry) => renderEntry(context, entry))}
${entries.length === 0 && html`<p class="hint">Não move dinheiro: nada foi lançado.</p>`}</li>`;
}

function renderEntry(context: Context, entry: Entry): Html {
  return html`<div class="entry" id="${entry.id}"><p><b>${describeCode(ENTRY_KIND_WORDS, entry.kind)}</b> <span class="id">${entry.id}</span>${
    entry.reverses && html` estorna <a class="id" href="#${entry.reverses}">${entry.reverses}</a>`
  } <span class="hint">conhecido em ${moment(context.calendar, entry.recorded_at)}</span></p>
${renderPostings(
  `Partidas de ${entry.id}`,
  entry.postings.map(({ account, amount }) => ({ account, cents: parseSum(amount) ?? 0n })),
)}</div>`;
}
