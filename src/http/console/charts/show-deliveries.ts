import type { Router } from 'express';
import { sampleAttempts, sampleSizeOf } from '../../../callbacks/manage/sample-attempts.ts';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { type Day, listDays, listHours } from '../../../domain/calendar.ts';
import { readCountedDays } from '../../../reconciliation/numbers/count-webhook-days.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { sendCharts } from './chart-page.ts';
import { type Place, placeDay, placeHourOf } from './place-slots.ts';
import { chartForm, type Period, periodFields, readDraft, readPeriod, recentPeriod } from './read-period.ts';
import { renderAttemptChart } from './render-attempt-chart.ts';
import { renderWebhookDays } from './render-webhook-days.ts';

/** The charts of deliveries: webhooks to Confere, callbacks to merchants. */
export function deliveryCharts(context: Context): Router {
  const router = createRouter();
  const reading = limitReads(context);
  const todayOf = (): Day => context.calendar.dayOf(context.clock.now());
  for (const [address, render] of [
    ['/charts/webhooks', renderWebhooks],
    ['/charts/callbacks', renderCallbacks],
  ] as const) {
    router.get(address, async (request, response) => {
      const today = todayOf();
      const draft = readDraft(request, recentPeriod(today));
      const period = readPeriod(draft, today);
      const form = chartForm(request, periodFields(draft, today));
      sendCharts(request, response, { form, charts: period && (await render(reading, period)) });
    });
  }
  return router;
}

async function renderWebhooks(context: Context, period: Period): Promise<Html> {
  const counted = await readCountedDays(context.db, period);
  return html`<section><h2>${t('Webhooks do provedor')}</h2>${renderWebhookDays(context, counted, period)}</section>`;
}

/** One day is shown hour by hour. */
async function renderCallbacks(context: Context, { from, to }: Period): Promise<Html> {
  const { calendar, clock, db } = context;
  const [today, end] = [calendar.dayOf(clock.now()), calendar.endOfDay(to)];
  const slots: (Place & { start: Date })[] =
    from === to
      ? listHours(calendar, from).map((start) => ({ ...placeHourOf(calendar, start), start }))
      : listDays(from, to).map((day) => ({ ...placeDay(day, today), start: calendar.startOfDay(day) }));
  const starts = slots.map(({ start }) => start);
  const sampled = await sampleAttempts(db, starts, end);
  const points = slots.map((slot, index) => ({ ...slot, figures: sampled[index] ?? { attempts: 0, delivered: 0 } }));
  return html`<section><h2>${t('Callbacks aos lojistas')}</h2>${renderAttemptChart(points, { slotTitle: from === to ? 'Hora' : 'Dia', isEstimate: true })}
<p class="hint">${describeSample(sampleSizeOf(starts.length), from === to)}</p></section>`;
}

function describeSample(count: number, isHourly: boolean): string {
  const values = { n: formatCount(count) };
  return isHourly
    ? t('De uma amostra de até {n} tentativas em cada hora, de todos os lojistas.', values)
    : t('De uma amostra de até {n} tentativas em cada dia, de todos os lojistas. Um só dia aparece por hora.', values);
}
