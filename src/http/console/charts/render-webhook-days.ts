import type { Context } from '../../../context.ts';
import { type Day, listDays } from '../../../domain/calendar.ts';
import type { CountedWebhookDay } from '../../../reconciliation/numbers/count-webhook-days.ts';
import { type Label, t } from '../../../texts/translate.ts';
import { EMPTY_VALUE, formatCount, moment } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import type { TableColumn } from '../parts/page-components.ts';
import type { Slot } from './chart.ts';
import { formatValue } from './format-value.ts';
import { type Place, placeDay } from './place-slots.ts';
import { renderChart } from './render-chart.ts';

type Point = Place & { counted: CountedWebhookDay | undefined };

const WHOLE = 10_000n;

/** Renders the share of webhooks that were lost, and how late the others were, by the day of the change. */
export function renderWebhookDays(
  { calendar, clock }: Context,
  counted: readonly CountedWebhookDay[],
  { from, to }: { from: Day; to: Day },
): Html {
  const today = calendar.dayOf(clock.now());
  const known = new Map(counted.map((day) => [day.day, day]));
  const points = listDays(from, to).map((day): Point => {
    const own = known.get(day);
    return { ...placeDay(day, today), counted: own, unknown: own ? t('nenhum devido') : t('ainda não contado') };
  });
  const last = counted.at(-1)?.countedAt;
  return html`<h3>${t('Perdidos')}</h3>${renderLost(points)}<h3>${t('Atraso')}</h3>${renderLate(points)}
<p class="hint">${t('Dos anúncios do provedor (webhooks) que as mudanças de cada dia deviam. Um está perdido se não chega no prazo; a mudança é aplicada assim mesmo.')}${
    last && html` ${tHtml('O vigia contou o último dia em {at}.', { at: moment(calendar, last) })}`
  }</p>`;
}

function renderLost(points: Point[]): Html {
  const number = (title: Label, of: (day: CountedWebhookDay) => number): TableColumn<Point & Slot> => ({
    title,
    cell: ({ counted }): Part => (counted ? formatCount(of(counted)) : EMPTY_VALUE),
    align: 'end',
  });
  return renderChart<Point & Slot>({
    id: 'lost',
    title: t('Webhooks perdidos por dia'),
    form: 'bars',
    unit: 'share',
    series: [t('Perdidos')],
    slotTitle: 'Dia',
    slots: points.map((point) => ({ ...point, values: [shareLost(point.counted)] })),
    columns: [
      number('Chegaram', (day) => day.announced),
      number('Não chegaram', (day) => day.lost),
      number('No prazo ainda', (day) => day.waiting),
    ],
  });
}

function renderLate(points: Point[]): Html {
  const seconds = (value: number | undefined): bigint | undefined => (value === undefined ? undefined : BigInt(value));
  return renderChart<Point & Slot>({
    id: 'late',
    title: t('Atraso dos webhooks por dia'),
    form: 'lines',
    unit: 'seconds',
    series: [t('Metade até'), t('95 % até')],
    slotTitle: 'Dia',
    slots: points.map((point) => {
      const late = point.counted?.lateS;
      return { ...point, values: [seconds(late?.p50), seconds(late?.p95)] };
    }),
    includes: [0n],
    columns: [
      {
        title: 'O maior',
        cell: ({ counted }) => (counted?.lateS ? formatValue(BigInt(counted.lateS.max), 'seconds') : EMPTY_VALUE),
        align: 'end',
      },
    ],
  });
}

/** Hundredths of a percent of those whose grace is over; rounded up, so that one lost webhook is never 0 %. */
function shareLost(day: CountedWebhookDay | undefined): bigint | undefined {
  if (day === undefined || day.announced + day.lost === 0) return undefined;
  const over = BigInt(day.announced + day.lost);
  return (BigInt(day.lost) * WHOLE + over - 1n) / over;
}
