import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { addDays, type Day } from '../../../domain/calendar.ts';
import { type MoneyPoint, type MoneyQuery, readMoneySeries } from '../../../ledger/read/read-money-series.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { inputField, platformField } from '../parts/fields.ts';
import { formatDay } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { readBookedPlatformWords } from '../parts/read-platform-names.ts';
import { sendCharts } from './chart-page.ts';
import {
  chartForm,
  hasFaults,
  periodFields,
  readDraft,
  readOneDay,
  readPeriod,
  readPlatform,
  recentPeriod,
} from './read-period.ts';
import { placeMoney, renderBalance, renderMoved } from './render-money.ts';

/** The charts of money: receipts, payments and the balance, by day and by hour. */
export function moneyCharts(context: Context): Router {
  const router = createRouter();
  const reading = limitReads(context);
  router.get('/charts', async (request, response) => {
    const today = context.calendar.dayOf(context.clock.now());
    const draft = readDraft(request, { ...recentPeriod(today), platform: '' });
    const platforms = await readBookedPlatformWords(reading, response);
    const period = readPeriod(draft, today);
    const platform = readPlatform(draft, platforms);
    const form = chartForm(request, html`${periodFields(draft, today)}${platformField(draft, platforms)}`);
    const query = period && !hasFaults(draft) ? { ...period, platform } : undefined;
    await send(reading, request, response, { form, query, today });
  });

  router.get('/charts/hours', async (request, response) => {
    const today = context.calendar.dayOf(context.clock.now());
    const draft = readDraft(request, { day: today, platform: '' });
    const platforms = await readBookedPlatformWords(reading, response);
    const day = readOneDay(draft, today);
    const platform = readPlatform(draft, platforms);
    const field = inputField(draft, { name: 'day', label: t('Dia') }, html` type="date" max="${today}"`);
    const form = chartForm(request, html`${field}${platformField(draft, platforms)}`);
    const query = day !== undefined && !hasFaults(draft) ? { day, platform } : undefined;
    await send(reading, request, response, { form, query, today });
  });
  return router;
}

async function send(
  context: Context,
  request: Request,
  response: Response,
  { form, query, today }: { form: Html; query: MoneyQuery | undefined; today: Day },
): Promise<void> {
  const charts = query && renderMoney(await readMoneySeries(context, query), query, today);
  sendCharts(request, response, { form, charts });
}

function renderMoney(points: MoneyPoint[], query: MoneyQuery, today: Day): Html {
  const slotTitle = 'day' in query ? 'Hora' : 'Dia';
  const places = placeMoney(points, today);
  const byHour = {
    title: 'Por hora' as const,
    cell: ({ span, title }: (typeof places)[number]): Html =>
      html`<a href="${addressOf(span, query.platform)}" aria-label="${title}: ${t('por hora')}">${t('por hora')}</a>`,
  };
  return html`${'day' in query && neighbours(query, today)}
<section><h2>${t('Recebimentos e pagamentos')}</h2>${renderMoved(places, { slotTitle, columns: slotTitle === 'Dia' ? [byHour] : [] })}</section>
<section><h2>${t('Saldo')}</h2>${renderBalance(places, slotTitle)}
<p class="hint">${t('Disponível e retido. Sem valor antes do primeiro lançamento, e no que ainda não começou.')}</p></section>`;
}

/** Links to the day before and after, and to the report of this one. */
function neighbours({ day, platform }: { day: Day; platform?: string | undefined }, today: Day): Html {
  const [before, after] = [addDays(day, -1), addDays(day, 1)];
  return html`<nav class="pager" aria-label="${t('Dias')}"><a href="${addressOf(before, platform)}" rel="prev">${formatDay(before)}</a>
${after <= today && html`<a href="${addressOf(after, platform)}" rel="next">${formatDay(after)}</a>`}
<a href="/reports/${day}">${t('Relatório de {day}', { day: formatDay(day) })}</a></nav>`;
}

function addressOf(day: Day, platform: string | undefined): string {
  return `/charts/hours?${new URLSearchParams({ day, ...(platform === undefined ? {} : { platform }) }).toString()}`;
}
