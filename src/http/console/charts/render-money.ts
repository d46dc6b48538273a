import type { Day } from '../../../domain/calendar.ts';
import type { MoneyPoint, MoneySums } from '../../../ledger/read/read-money-series.ts';
import { t } from '../languages/translate.ts';
import { EMPTY_VALUE, money } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
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

/** Renders what was received and paid. @param more marks and columns beside the commissions. */
export function renderMoved<S extends PlacedMoney>(
  points: readonly S[],
  { slotTitle, ...more }: Pick<Chart<S & Slot>, 'slotTitle' | 'marks' | 'columns'>,
): Html {
  const commissions: TableColumn<S & Slot> = {
    title: 'Tarifas',
    cell: ({ sums }) => (sums ? money(sums.commissions) : EMPTY_VALUE),
    align: 'end',
  };
  const chart = renderChart<S & Slot>({
    ...more,
    id: 'moved',
    title: slotTitle === 'Dia' ? t('Recebido e pago por dia') : t('Recebido e pago por hora'),
    form: 'bars',
    unit: 'cents',
    series: [t('Recebido'), t('Pago')],
    slotTitle,
    slots: withValues(points, ({ receipts, payments }) => [receipts, payments]),
    columns: [commissions, ...(more.columns ?? [])],
  });
  return html`${chart}<p class="hint">${t('O que foi devolvido já está descontado.')}</p>`;
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
