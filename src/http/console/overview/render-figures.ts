/** Renders the figures of the overview: balances, today, orders, mismatches, webhooks and callbacks. */
import type { Response } from 'express';
import type { CallbackCounts } from '../../../callbacks/health/count-undelivered.ts';
import type { Context } from '../../../context.ts';
import { maskText } from '../../../domain/person/mask-person.ts';
import type { MoneySums } from '../../../ledger/read/read-money-series.ts';
import type { OpenMismatchCount } from '../../../mismatches/read-open-mismatches.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { EXPECTED, orderMismatches, UNDECIDED } from '../expected/describe-expected.ts';
import { explainMismatch } from '../mismatches/explain-mismatch.ts';
import { formatAge, formatBounded, formatCount, formatMoney, moment, money, moneyAtStake } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import type { PlatformBalance } from '../parts/read-platform-balances.ts';
import { type PlatformNames, platformLink } from '../parts/read-platform-names.ts';
import { OPERATION_CHOICES, ORDER_STATE_WORDS, SEVERITY_WORDS } from '../parts/words.ts';
import type { Orders, PaidCounts, readInboxCounts } from './read-overview.ts';

/** The mismatches that the reader is to decide; nothing where there are none. */
export function ownMismatches(count: number, own: string): Html {
  if (count === 0) return html``;
  return html`<p class="strip"><a href="/mismatches?owner=${encodeURIComponent(own)}"><b>${plural(count, '{n} divergência sua', '{n} divergências suas')}</b></a>: ${t('é você quem decide.')}</p>`;
}

/** Says what became of each of yesterday's orders; nothing where nobody expects payments. */
export function renderOrders(
  { day, isUsed, states, undecided }: Orders,
  open: Parameters<typeof orderMismatches>[0],
): Html {
  if (!isUsed) return html``;
  const due = `due_from=${day}&due_to=${day}`;
  const figures = states.map(
    ({ state, count, cents }, index) =>
      html`${index > 0 && ', '}<a href="${EXPECTED.address}?${due}&state=${state}">${describeCode(ORDER_STATE_WORDS, state)} ${formatCount(count)}</a> (${describeSums(cents)})`,
  );
  return html`<p class="strip">${tHtml('Pedidos de ontem: {states}; com pagamento a casar: {undecided}.', {
    states: figures.length === 0 ? t('nenhum') : figures,
    undecided: html`<a href="${UNDECIDED.address}?${due}">${formatCount(undecided)}</a>`,
  })}</p>${orderMismatches(open)}`;
}

/** Amounts to receive and to pay, each with its word where there are both. */
function describeSums(sums: Orders['states'][number]['cents']): Html {
  const one = ({ operation, cents }: (typeof sums)[number], index: number): Html =>
    html`${index > 0 && ', '}${money(cents)}${sums.length > 1 && html` ${describeCode(OPERATION_CHOICES, operation)}`}`;
  return html`${sums.map(one)}`;
}

export function balanceCard(response: Response, balances: PlatformBalance[], names: PlatformNames): Html {
  const total = balances.reduce((sum, one) => sum + one.availableCents + one.heldCents, 0n);
  return html`<section class="figure wide"><h2>${t('Saldo agora')}</h2><p class="big">${money(total)}</p>
${table({
  caption: 'Saldo por plataforma',
  rows: balances,
  empty: 'Nada foi lançado ainda.',
  columns: [
    {
      title: 'Plataforma',
      cell: (row) => platformLink(names, presentPlatform(getCaller(response), row).platform),
    },
    { title: 'Disponível', cell: (row) => money(row.availableCents), align: 'end' },
    { title: 'Retido', cell: (row) => money(row.heldCents), align: 'end' },
    { title: 'Saldo', cell: (row) => money(row.availableCents + row.heldCents), align: 'end' },
  ],
})}</section>`;
}

/** @param today the last point of the chart below. */
export function todayCards(paid: PaidCounts, today: MoneySums | undefined): Html {
  const amount = (name: keyof MoneySums): string => formatMoney(today?.[name] ?? 0n);
  return html`<section class="figure"><h2>${t('Recebimentos de hoje')}</h2><p class="big">${money(today?.receipts ?? 0n)}</p>
<p class="hint">${plural(paid.receipts, '{n} recebimento', '{n} recebimentos')}</p>
<p class="hint">${t('{amount} de devoluções feitas', { amount: amount('refundsMade') })}</p></section>
<section class="figure"><h2>${t('Pagamentos de hoje')}</h2><p class="big">${money(today?.payments ?? 0n)}</p>
<p class="hint">${plural(paid.payments, '{n} pagamento', '{n} pagamentos')}</p>
<p class="hint">${t('{amount} de devoluções recebidas', { amount: amount('refundsReceived') })}</p>
<p class="hint">${t('{amount} de tarifas, sobre ambos', { amount: amount('commissions') })}</p></section>`;
}

export function mismatchSummary(mismatches: OpenMismatchCount[]): Html {
  return table({
    caption: 'Divergências em aberto por tipo',
    rows: mismatches,
    empty: 'Nenhuma divergência.',
    columns: [
      {
        title: 'Tipo',
        cell: (row) => html`<a href="/mismatches?kind=${row.kind}">${explainMismatch(row).title}</a>`,
      },
      { title: 'Gravidade', cell: (row) => badge(SEVERITY_WORDS, row.severity) },
      { title: 'Quantas', cell: (row) => formatCount(row.count), align: 'end' },
      { title: 'Em jogo', cell: (row) => moneyAtStake(row.stakeCents), align: 'end' },
    ],
  });
}

export function inboxSummary(context: Context, inbox: Awaited<ReturnType<typeof readInboxCounts>>): Html {
  const { lastAt, pending, quarantined } = inbox;
  return html`<ul class="tally">
<li><span>${t('Último')}</span> ${lastAt ? html`<b>${formatAge(lastAt, context.clock.now())}</b> <span class="hint">${moment(context.calendar, lastAt)}</span>` : html`<b>${t('nenhum ainda')}</b>`}</li>
<li><span>${t('Pendentes')}</span> <a href="/inbox?state=pending"><b>${formatCount(pending)}</b></a></li>
<li><span>${t('Em quarentena')}</span> <a href="/inbox?state=quarantined"><b>${formatCount(quarantined)}</b></a></li></ul>`;
}

export function callbackSummary(counts: CallbackCounts, showsNames: boolean): Html {
  return table({
    caption: 'Callbacks por entregar, por lojista',
    rows: [...counts],
    empty: 'Tudo entregue.',
    columns: [
      {
        title: 'Lojista',
        cell: ([id, row]) => html`<a href="/merchants/${id}">${showsNames ? row.name : maskText(row.name)}</a>`,
      },
      { title: 'Pendentes', cell: ([, row]) => formatBounded(row.pending), align: 'end' },
      { title: 'Retidos', cell: ([, row]) => formatBounded(row.held), align: 'end' },
      { title: 'Com falha', cell: ([, row]) => formatBounded(row.failed), align: 'end' },
    ],
  });
}
