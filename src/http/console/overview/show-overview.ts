import type { Response, Router } from 'express';
import { type CallbackCounts, readCallbackCounts } from '../../../callbacks/health/count-undelivered.ts';
import type { Context } from '../../../context.ts';
import { isStatementTimeout } from '../../../database/limit-statement-time.ts';
import { addDays, countDays, type Day } from '../../../domain/calendar.ts';
import { maskText } from '../../../domain/person/mask-person.ts';
import {
  listBookedPlatforms,
  type MoneyPoint,
  type MoneySums,
  readMoneySeries,
} from '../../../ledger/read/read-money-series.ts';
import {
  countOwnMismatches,
  type OpenMismatchCount,
  readOpenMismatches,
} from '../../../mismatches/read-open-mismatches.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { readCountedDays } from '../../../reconciliation/numbers/count-webhook-days.ts';
import { listRuns } from '../../../reconciliation/numbers/read-runs.ts';
import { readLostProcesses } from '../../../runtime/read-processes.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { placeMoney, renderMoved } from '../charts/render-money.ts';
import { renderWebhookDays } from '../charts/render-webhook-days.ts';
import { EXPECTED, OPERATION_CHOICES, orderMismatches, UNDECIDED } from '../expected/describe-expected.ts';
import { explainMismatch } from '../mismatches/explain-mismatch.ts';
import {
  formatAge,
  formatBounded,
  formatCount,
  formatDay,
  formatMoney,
  moment,
  money,
  moneyAtStake,
} from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { badge, table } from '../parts/page-components.ts';
import { type PlatformBalance, readPlatformBalances } from '../parts/read-platform-balances.ts';
import { type PlatformNames, platformLink, readPlatformNames } from '../parts/read-platform-names.ts';
import { restoredSince } from '../parts/restored.ts';
import { hasRole, sendPage } from '../parts/send-page.ts';
import { ORDER_STATE_WORDS, SEVERITY_WORDS } from '../parts/words.ts';
import { runTable } from '../runs/list-runs.ts';
import { decideVerdict, type VerdictFacts } from './decide-verdict.ts';
import {
  countPaidToday,
  type DayProof,
  describeProof,
  type Orders,
  type PaidCounts,
  readDayProofs,
  readInboxCounts,
  readOrders,
} from './read-overview.ts';
import { readVerdict } from './read-verdict.ts';
import { renderAlertStrip, renderLost, renderVerdict } from './render-verdict.ts';

const RUNS_SHOWN = 5;
const REFRESH_S = 60;
const DAYS_SHOWN = 14;

type Mismatches = OpenMismatchCount[];

/** The first page: whether all balances and days check out, and links to what does not. */
export function overviewPage(context: Context): Router {
  const router = createRouter();
  router.get('/', async (request, response) => {
    const { db } = context;
    const today = context.calendar.dayOf(context.clock.now());
    const shown = { from: addDays(today, 1 - DAYS_SHOWN), to: today };
    // as on the page of balances: what is dated later is no balance of now
    const { id: own } = getCaller(response);
    const [paid, days, proofs, balances, booked, mismatches, inbox, runs, callbacks, lately, lost, orders, mine] =
      await Promise.all([
        readPart(countPaidToday(context)),
        readPart(readMoneySeries(context, shown)),
        readPart(readDayProofs(context, shown)),
        readPart(readPlatformBalances(context, endOfNow(context))),
        listBookedPlatforms(context),
        readOpenMismatches(db),
        readPart(readInboxCounts(db)),
        readPart(listRuns(db, RUNS_SHOWN, undefined)),
        readCallbackCounts(db),
        readPart(readCountedDays(db, shown)),
        // while nobody can write, nobody's silence says anything
        context.writes.isSettled() ? readLostProcesses(db, context.clock.now(), restoredSince(response)) : [],
        readPart(readOrders(context, addDays(today, -1))),
        readPart(countOwnMismatches(db, own)),
      ]);
    const names = await readPlatformNames(context, response);
    const { facts, alerts, firing } = await readVerdict(context, response, {
      platforms: booked,
      open: mismatches,
      callbacks,
      names,
    });
    const body = html`${renderVerdict(response, decideVerdict(facts))}${renderAlertStrip(alerts, firing, facts.alertCount + facts.notices.length)}${renderLost(lost, facts.now)}
${renderPart(mine, (count) => ownMismatches(count, own))}${renderPart(orders, (read) => renderOrders(read, mismatches))}
<div class="figures">${renderPart(balances, (rows) => balanceCard(response, rows, names))}<div class="today">${renderPart(paid && days && { paid, days }, (read) => todayCards(read.paid, read.days.at(-1)?.sums))}</div></div>
<section><h2>${t('Últimos dias')}</h2>${renderPart(days && proofs && { days, proofs }, (read) => renderDays(read.days, read.proofs, today))}${renderCoverage(facts)}</section>
<div class="columns">
<section><h2>${t('Divergências em aberto')}</h2>${mismatchSummary(mismatches)}</section>
<section><h2>${t('Webhooks')}</h2>${renderPart(inbox, (counts) => inboxSummary(context, counts))}<h2>${t('Callbacks por lojista')}</h2>${callbackSummary(callbacks, hasRole(response, 'operator'))}</section>
</div>
<section><h2>${t('Como os webhooks chegam')}</h2>${renderPart(lately, (counted) => renderWebhookDays(context, counted, shown))}
<p><a href="/charts">${t('Todos os gráficos')}</a></p></section>
<section><h2>${t('Últimas conferências')}</h2>${renderPart(runs, (rows) => runTable(context, rows))}
<p><a href="/reconciliations">${t('Todas as conferências')}</a></p></section>`;
    sendPage(request, response, { title: t('Visão geral'), body, refreshS: REFRESH_S });
  });
  return router;
}

/** The mismatches that the reader is to decide; nothing where there are none. */
function ownMismatches(count: number, own: string): Html {
  if (count === 0) return html``;
  return html`<p class="strip"><a href="/mismatches?owner=${encodeURIComponent(own)}"><b>${plural(count, '{n} divergência sua', '{n} divergências suas')}</b></a>: ${t('é você quem decide.')}</p>`;
}

/** Says what became of each of yesterday's orders; nothing where nobody expects payments. */
function renderOrders({ day, isUsed, states, undecided }: Orders, open: Parameters<typeof orderMismatches>[0]): Html {
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

/** Reads a part of the page; undefined where the database takes too long for it: the other parts are shown all the same. */
async function readPart<T>(part: Promise<T>): Promise<T | undefined> {
  try {
    return await part;
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}

function renderPart<T>(part: T | undefined, render: (part: T) => Html): Html {
  return part === undefined
    ? html`<p class="fault">${t('O banco de dados demorou demais para ler esta parte: recarregue a página.')}</p>`
    : render(part);
}

function balanceCard(response: Response, balances: PlatformBalance[], names: PlatformNames): Html {
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
function todayCards(paid: PaidCounts, today: MoneySums | undefined): Html {
  const amount = (name: keyof MoneySums): string => formatMoney(today?.[name] ?? 0n);
  return html`<section class="figure"><h2>${t('Recebimentos de hoje')}</h2><p class="big">${money(today?.receipts ?? 0n)}</p>
<p class="hint">${plural(paid.receipts, '{n} recebimento', '{n} recebimentos')}</p>
<p class="hint">${t('{amount} de devoluções feitas', { amount: amount('refundsMade') })}</p></section>
<section class="figure"><h2>${t('Pagamentos de hoje')}</h2><p class="big">${money(today?.payments ?? 0n)}</p>
<p class="hint">${plural(paid.payments, '{n} pagamento', '{n} pagamentos')}</p>
<p class="hint">${t('{amount} de devoluções recebidas', { amount: amount('refundsReceived') })}</p>
<p class="hint">${t('{amount} de tarifas, sobre ambos', { amount: amount('commissions') })}</p></section>`;
}

function mismatchSummary(mismatches: Mismatches): Html {
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

function inboxSummary(context: Context, inbox: Awaited<ReturnType<typeof readInboxCounts>>): Html {
  const { lastAt, pending, quarantined } = inbox;
  return html`<ul class="tally">
<li><span>${t('Último')}</span> ${lastAt ? html`<b>${formatAge(lastAt, context.clock.now())}</b> <span class="hint">${moment(context.calendar, lastAt)}</span>` : html`<b>${t('nenhum ainda')}</b>`}</li>
<li><span>${t('Pendentes')}</span> <a href="/inbox?state=pending"><b>${formatCount(pending)}</b></a></li>
<li><span>${t('Em quarentena')}</span> <a href="/inbox?state=quarantined"><b>${formatCount(quarantined)}</b></a></li></ul>`;
}

/** Counts the days of the verdict that are proven. */
function renderCoverage({ today, booksFrom: from, unproven: { count, oldest } }: VerdictFacts): Html {
  const to = addDays(today, -1);
  const days = countDays(from, to);
  if (days === 0) return html``;
  const ageDays = oldest === undefined ? 0 : countDays(oldest, to);
  const since =
    oldest !== undefined &&
    tHtml(
      ageDays === 1
        ? 'O mais antigo destes sem prova é <b>{day}</b>, há {n} dia.'
        : 'O mais antigo destes sem prova é <b>{day}</b>, há {n} dias.',
      { day: formatDay(oldest), n: formatCount(ageDays) },
    );
  const read = tHtml(
    days === 1
      ? '<b>{proven} de {total}</b> dia terminado desde {from} lido ou contado por inteiro depois do seu fim.'
      : '<b>{proven} de {total}</b> dias terminados desde {from} lidos ou contados por inteiro depois do seu fim.',
    { proven: formatCount(days - count), total: formatCount(days), from: formatDay(from) },
  );
  return html`<p class="hint">${read} ${since}</p>`;
}

/** Receipts and payments, and under each day whether a run has proven it. */
function renderDays(days: MoneyPoint[], proofs: DayProof[], today: Day): Html {
  const known = new Map(proofs.map((proof) => [proof.day, proof]));
  const points = placeMoney(days, today).map((point) => {
    const proof = known.get(point.span);
    const text = proof ? describeProof(proof) : '';
    return { ...point, mark: { name: proof?.proven ? ('proven' as const) : ('open' as const), text } };
  });
  return renderMoved(points, {
    slotTitle: 'Dia',
    marks: { proven: t('provado'), open: t('ainda não provado') },
    columns: [{ title: 'Prova', cell: ({ mark }) => mark.text }],
  });
}

function callbackSummary(counts: CallbackCounts, showsNames: boolean): Html {
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
