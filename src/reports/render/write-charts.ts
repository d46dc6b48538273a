import type { AnyPlan } from '../plan/report-plan.ts';
import type { DayRow } from '../read/list-day-rows.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { columnName } from '../xlsx/render-cell.ts';
import type { Chart, ChartSeries } from '../xlsx/render-chart.ts';
import { type Summary, startSection } from './start-section.ts';

/** A table on Resumo: the row and the texts of its header, and the first cell of each row below. */
export type WrittenTable = { headRow: number; heads: readonly string[]; names: readonly string[] };

/** A column of a table, counted from 0, with its values below the header. */
type Bars = { column: number; values: readonly (bigint | number)[]; color: string };

const COLORS = { in: '2E8B57', out: 'C8553D', count: '2E6DA4' };
/** The columns of receipts and payments in R$, by hour and by day alike. */
const FLOW_COLUMNS = { receipts: 2, payments: 4 };
const COUNT_COLUMN = 1;

/**
 * Reserves rows for charts of tables further down; none if nothing happened.
 * @param size the columns that each chart takes, from the left, and the rows of all.
 * @returns places the charts there, one for each width.
 */
export function reserveCharts(
  sheet: SheetWriter,
  { texts, counts }: Summary<AnyPlan>,
  { widths, rows }: { widths: readonly number[]; rows: number },
): (charts: readonly Chart[]) => void {
  if (counts.length === 0) return () => undefined;
  const all = widths.reduce((sum, one) => sum + one, 0);
  startSection(sheet, texts.charts.title, all);
  const row = sheet.nextRow();
  for (let index = 0; index < rows; index++) sheet.addRow([]);
  return (charts) => {
    let column = 0;
    for (const [index, chart] of charts.entries()) {
      const columns = widths[index] ?? 1;
      sheet.addChart({ chart, column, columns, row, rows });
      column += columns;
    }
  };
}

/** Receipts and payments by hour. */
export function drawHours({ texts, hours }: Summary, table: WrittenTable): Chart {
  const bars = [
    { column: FLOW_COLUMNS.receipts, values: hours.map((one) => one.receiptsCents), color: COLORS.in },
    { column: FLOW_COLUMNS.payments, values: hours.map((one) => one.paymentsCents), color: COLORS.out },
  ];
  return { title: texts.charts.byHour, kind: 'hours', unit: 'money', ...drawTable(table, bars) };
}

/** Receipts and payments by day: payments are negative, so their bars point down. */
export function drawDays({ texts }: Summary<AnyPlan>, days: readonly DayRow[], table: WrittenTable): Chart {
  const bars = [
    { column: FLOW_COLUMNS.receipts, values: days.map((one) => one.receipts), color: COLORS.in },
    { column: FLOW_COLUMNS.payments, values: days.map((one) => one.payments), color: COLORS.out },
  ];
  return { title: texts.charts.byDay, kind: 'days', unit: 'money', ...drawTable(table, bars) };
}

/** How many transactions reached each status. */
export function drawCounts({ texts, counts }: Summary<AnyPlan>, table: WrittenTable): Chart {
  const bars = [{ column: COUNT_COLUMN, values: counts.map((one) => one.count), color: COLORS.count }];
  return { title: texts.charts.byStatus, kind: 'list', unit: 'count', ...drawTable(table, bars) };
}

function drawTable({ headRow, heads, names }: WrittenTable, bars: Bars[]): Pick<Chart, 'categories' | 'series'> {
  const rangeOf = (column: number): string => {
    const letter = columnName(column);
    return `${letter}${headRow + 1}:${letter}${headRow + names.length}`;
  };
  return {
    categories: { range: rangeOf(0), values: names },
    series: bars.map(
      ({ column, values, color }): ChartSeries => ({
        name: { range: `${columnName(column)}${headRow}`, text: heads[column] ?? '' },
        values: { range: rangeOf(column), values },
        color,
      }),
    ),
  };
}
