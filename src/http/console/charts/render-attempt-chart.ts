import type { AttemptFigures } from '../../../callbacks/manage/sample-attempts.ts';
import { t } from '../../../texts/translate.ts';
import { formatCount } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { Slot } from './chart.ts';
import type { Place } from './place-slots.ts';
import { renderChart } from './render-chart.ts';

/** An hour or a day, and its attempts. */
export type AttemptPoint = Place & { figures: AttemptFigures };

const WHOLE = 10_000n;

/** Renders how merchants answered: the share of accepted attempts, and the time until the answer. @param isEstimate whether the attempts are a sample. */
export function renderAttemptChart(
  points: readonly AttemptPoint[],
  { slotTitle, isEstimate }: { slotTitle: 'Dia' | 'Hora'; isEstimate: boolean },
): Html {
  const isDaily = slotTitle === 'Dia';
  const places = points.map((point) => ({ ...point, unknown: t('sem tentativas') }));
  const share = renderChart<AttemptPoint & Slot>({
    id: 'accepted',
    title: isDaily ? t('Tentativas aceitas por dia') : t('Tentativas aceitas por hora'),
    form: 'bars',
    unit: isEstimate ? 'estimate' : 'share',
    series: [t('Aceitas')],
    slotTitle,
    slots: places.map((point) => ({ ...point, values: [shareOf(point.figures)] })),
    includes: [WHOLE],
    columns: [{ title: 'Tentativas na amostra', cell: ({ figures }) => formatCount(figures.attempts), align: 'end' }],
  });
  const latency = renderChart<AttemptPoint & Slot>({
    id: 'latency',
    title: isDaily ? t('Tempo até a resposta por dia') : t('Tempo até a resposta por hora'),
    form: 'lines',
    unit: 'ms',
    series: [t('Metade até'), t('95 % até')],
    slotTitle,
    slots: places.map((point) => {
      const { p50, p95 } = point.figures;
      return { ...point, values: [toInteger(p50), toInteger(p95)] };
    }),
    includes: [0n],
  });
  return html`<h3>${t('Taxa de sucesso')}</h3>${share}<h3>${t('Tempo até a resposta')}</h3>${latency}`;
}

/** Hundredths of a percent. Rounded down: 100 % means all. */
function shareOf({ attempts, delivered }: AttemptFigures): bigint | undefined {
  return attempts === 0 ? undefined : (BigInt(delivered) * WHOLE) / BigInt(attempts);
}

function toInteger(ms: number | undefined): bigint | undefined {
  return ms === undefined ? undefined : BigInt(Math.round(ms));
}
