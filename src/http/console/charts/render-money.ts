import type { Day } from '../../../domain/calendar.ts';
import type { MoneyPoint, MoneySums } from '../../../ledger/read/read-money-series.ts';
import { type Label, t } from '../../../texts/translate.ts';
import { EMPTY_VALUE, money } from '../parts/format.ts';
import type { Html } from '../parts/html.ts';
import type { TableColumn } from '../parts/page-components.ts';
import type { Chart, Slot } from './chart.ts';
import { type Place, placeDay, placeHour } from './place-slots.ts';
import { renderChart } from './render-chart.ts';

/** A day or an hour of a series of money, with its place on the axis. */
export type PlacedMoney = Place & MoneyPoint;

/** Gives each point of a series its place: days lead to their report. */
export function placeMoney(points: readonly MoneyPoint[], today: Day): PlacedMoney[] {
  return points.map((point) => {
    const [day = '', hour] = point.span.split(' ');
    const place = hour === undefined ? placeDay(day, today) : placeHour(day, hour, point.isNow);
    return { ...point, ...place };
  });
}

/** Renders receipts and payments, with the other figures of each day or hour as columns. @param more marks and columns. */
export function renderMoved<S extends PlacedMoney>(
  points: readonly S[],
  { slotTitle, ...more }: Pick<Chart<S & Slot>, 'slotTitle' | 'marks' | 'columns'>,
): Html {
  return renderChart<S & Slot>({
    ...more,
    id: 'moved',
    title: slotTitle === 'Dia' ? t('Recebimentos e pagamentos por dia') : t('Recebimentos e pagamentos por hora'),
    form: 'bars',
    unit: 'cents',
    series: [t('Recebimentos'), t('Pagamentos')],
    slotTitle,
    slots: withValues(points, ({ receipts, payments }) => [receipts, payments]),
    columns: [...FIGURES.map(figureColumn<S & Slot>), ...(more.columns ?? [])],
  });
}

/** Beside the bars, by the names of Resumo. */
const FIGURES = [
  ['Tarifas', 'commissions'],
  ['Devoluções feitas', 'refundsMade'],
  ['Devoluções recebidas', 'refundsReceived'],
  ['Líquido', 'net'],
] as const satisfies [Label, keyof MoneySums][];

function figureColumn<S extends PlacedMoney>([title, name]: (typeof FIGURES)[number]): TableColumn<S> {
  return { title, cell: ({ sums }) => (sums ? money(sums[name]) : EMPTY_VALUE), align: 'end' };
}

/** Renders the balance at the end of each hour or day. */
export function renderBalance(points: readonly PlacedMoney[], slotTitle: 'Dia' | 'Hora'): Html {
  return renderChart({
    id: 'balance',
    title: slotTitle === 'Dia' ? t('Saldo no fim de cada dia') : t('Saldo no fim de cada hora'),
    form: 'lines',
    unit: 'cents',
    series: [t('Saldo')],
    slotTitle,
    slots: withValues(points, ({ balance }) => [balance]),
  });
}

function withValues<S extends PlacedMoney>(points: readonly S[], of: (sums: MoneySums) => bigint[]): (S & Slot)[] {
  return points.map((point) => ({ ...point, values: point.sums ? of(point.sums) : [undefined, undefined] }));
}
