import type { Router } from 'express';
import { readCallbackCounts } from '../../../callbacks/health/count-undelivered.ts';
import type { Context } from '../../../context.ts';
import { isStatementTimeout } from '../../../database/limit-statement-time.ts';
import { addDays } from '../../../domain/calendar.ts';
import { listBookedPlatforms, readMoneySeries } from '../../../ledger/read/read-money-series.ts';
import { countOwnMismatches, readOpenMismatches } from '../../../mismatches/read-open-mismatches.ts';
import { readCountedDays } from '../../../reconciliation/numbers/count-webhook-days.ts';
import { listRuns } from '../../../reconciliation/numbers/read-runs.ts';
import { readLostProcesses } from '../../../runtime/read-processes.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { renderWebhookDays } from '../charts/render-webhook-days.ts';
import { sayUncompared } from '../mismatches/say-uncompared.ts';
import { type Html, html } from '../parts/html.ts';
import { readPlatformBalances } from '../parts/read-platform-balances.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { restoredSince } from '../parts/restored.ts';
import { hasRole, sendPage } from '../parts/send-page.ts';
import { runTable } from '../runs/list-runs.ts';
import { decideVerdict } from './decide-verdict.ts';
import { countPaidToday, readDayProofs, readInboxCounts, readOrders } from './read-overview.ts';
import { readVerdict } from './read-verdict.ts';
import { renderCoverage, renderDays } from './render-days.ts';
import {
  balanceCard,
  callbackSummary,
  inboxSummary,
  mismatchSummary,
  ownMismatches,
  renderOrders,
  todayCards,
} from './render-figures.ts';
import { renderAlertStrip, renderLost, renderVerdict } from './render-verdict.ts';

const RUNS_SHOWN = 5;
const REFRESH_S = 60;
const DAYS_SHOWN = 14;

/** The first page: whether all balances and days check out, and links to what does not. */
export function overviewPage(context: Context): Router {
  const router = createRouter();
  router.get('/', async (request, response) => {
    const { db } = context;
    const today = context.calendar.dayOf(context.clock.now());
    const shown = { from: addDays(today, 1 - DAYS_SHOWN), to: today };
    // as on the page of balances: what is dated later is no balance of now
    const { id: own } = getCaller(response);
    const [
      paid,
      days,
      proofs,
      balances,
      booked,
      mismatches,
      inbox,
      runs,
      callbacks,
      lately,
      lost,
      orders,
      mine,
      uncompared,
    ] = await Promise.all([
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
      readPart(sayUncompared(context).then((said) => html`${said}`)),
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
<section><h2>${t('Divergências em aberto')}</h2>${mismatchSummary(mismatches)}${renderPart(uncompared, (said) => said)}</section>
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
