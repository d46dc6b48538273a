import { splitAmount } from '../../expected/decide/split-amount.ts';
import { describeCode } from '../../texts/fill.ts';
import type { Receivable } from '../orders/read-receivables.ts';
import type { ReceiptShare } from '../orders/share-receipts.ts';
import type { Movement } from '../read/read-movements.ts';
import {
  identify,
  locate,
  moment,
  money,
  movementOf,
  type ReportColumn,
  showDocument,
  showName,
  showPlatform,
  text,
} from './columns.ts';

export const RECEIVABLE_COLUMNS: ReportColumn<Receivable>[] = [
  { name: 'dueDay', width: 20, type: 'day', cell: ({ dueDay }) => ({ day: dueDay }) },
  text('number', 24, (row) => row.number),
  text('status', 20, (row, { texts }) => describeCode(texts.orderStates, row.state)),
  text('name', 36, showName),
  money('amount', (row) => row.amountCents, 'totals'),
  money('paid', (row) => row.settledCents, 'totals'),
  money('returned', (row) => row.returnedCents, 'totals'),
  money('owed', (row) => splitAmount(row).owedCents, 'totals'),
  money('surplus', (row) => splitAmount(row).surplusCents, 'totals'),
  money('notOwed', (row) => splitAmount(row).notOwedCents, 'totals'),
  text('document', 18, showDocument),
  text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
  text('source', 16, (row) => row.source),
  moment('since', (row, { toWall }) => toWall(row.stateAt)),
  text('order', 38, (row) => row.id),
];

/** A receipt that is not, or not wholly, of orders. */
export type UnidentifiedRow = { movement: Movement; share: ReceiptShare };

export const UNIDENTIFIED_COLUMNS: ReportColumn<UnidentifiedRow>[] = [
  moment('paidAt', (row) => row.movement.atWall),
  text('name', 36, (row, rendering) => showName(row.movement, rendering)),
  money('amount', (row) => row.movement.amountCents, 'totals'),
  money('ofOrders', (row) => row.share.ofOrders, 'totals'),
  money('unidentified', (row) => row.share.unidentified, 'totals'),
  ...locate<UnidentifiedRow>(movementOf),
  text('extra', 36, (row) => row.movement.extra),
  ...identify<UnidentifiedRow>(movementOf),
];
