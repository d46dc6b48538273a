import { OPERATIONS } from '../../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../../expected/decide/decide-state.ts';
import { splitAmount } from '../../../expected/decide/split-amount.ts';
import type { sumExpected } from '../../../expected/read/filter-expected.ts';
import type { PresentedExpected } from '../../../expected/read/list-expected.ts';
import { t } from '../../../texts/translate.ts';
import type { Filters } from '../parts/encrypt-filters.ts';
import { formatCount, moneyOf } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { type TableColumn, table } from '../parts/page-components.ts';
import { isFiltered } from '../parts/parse-filters.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { OPERATION_CHOICES } from '../parts/words.ts';
import { addAmounts, amountColumns, centsOf, dueDay, EXPECTED, stateBadge, stateBadges } from './describe-expected.ts';

type Row = PresentedExpected;

/** A table of expected payments, each linked to its page; with their platforms where one names it. */
export function expectedTable(rows: Row[], names: PlatformNames): Html {
  const platform: TableColumn<Row> = { title: 'Plataforma', cell: (row) => showPlatform(names, row.platform) };
  return table({
    caption: 'Pedidos, os mais novos primeiro',
    rows,
    empty: 'Nenhum pedido: tire um filtro, ou crie um com Novo pedido.',
    columns: [
      { title: 'Número', cell: (row) => html`<a href="${EXPECTED.address}/${row.id}">${row.number}</a>` },
      { title: 'Nome', cell: (row) => row.name },
      ...(rows.some((row) => row.platform !== null) ? [platform] : []),
      { title: 'Vencimento', cell: dueDay },
      { title: 'Estado', cell: stateBadges },
      ...amountColumns(centsOf).map((column) =>
        column.title === 'Pago' ? { ...column, cell: paidCell(column) } : column,
      ),
    ],
  });
}

/** Shows the paid amount of an order, and how much went back: a refunded one is not as one that was never paid. */
function paidCell({ cell }: TableColumn<Row>): (row: Row) => Html {
  return (row) =>
    html`${cell(row)}${row.refunded !== '0.00' && html`<br><small>${tHtml('devolvido {amount}', { amount: moneyOf(row.refunded) })}</small>`}`;
}

/** How many orders are added up, the newest of those that the filters find; and of all, as these grow with the years. */
const SUMMED_MAX = 100_000;
const SUMMED_UNFILTERED_MAX = 10_000;

/** How many orders a page adds up. @param filters those that its reader chose. */
export function summedMax(filters: Filters): number {
  return isFiltered(filters) ? SUMMED_MAX : SUMMED_UNFILTERED_MAX;
}

type Totals = { newestMax: number; addressOf: (more: Filters) => string };

/**
 * The totals of orders by state, each linked to its orders, and of all states: what is received and what is paid make no sum.
 * @param of.addressOf the address of the reader's list with the page's own filters, and more.
 */
export function totals(sums: Awaited<ReturnType<typeof sumExpected>>, { newestMax, addressOf }: Totals): Html {
  const rows = OPERATIONS.flatMap((operation) => {
    const shown = EXPECTED_STATES.flatMap((state) => {
      const found = sums.find((one) => one.state === state && one.operation === operation);
      return found ? [{ ...found, ...splitAmount(found) }] : [];
    });
    const all = { operation, state: null, count: countAll(shown), ...addAmounts(shown) };
    return shown.length > 1 ? [...shown, all] : shown;
  });
  const sheet = table({
    caption: 'Totais por estado',
    rows,
    empty: 'Nenhum pedido.',
    columns: [
      {
        title: 'Estado',
        cell: ({ state, operation }) =>
          state === null
            ? html`<b>${t('Todos os estados')}</b>`
            : html`<a href="${addressOf({ state, operation })}">${stateBadge(state)}</a>`,
      },
      { title: 'Operação', cell: (row) => OPERATION_CHOICES[row.operation] },
      { title: 'Quantos', cell: (row) => formatCount(row.count), align: 'end' },
      ...amountColumns<(typeof rows)[number]>((row) => row),
    ],
  });
  return html`${sheet}${countAll(sums) === newestMax && html`<p class="hint">${t('Somam os {count} mais novos: filtre para somar outros.', { count: formatCount(newestMax) })}</p>`}`;
}

function countAll(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
