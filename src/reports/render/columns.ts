import type { Day, WallTime } from '../../domain/calendar.ts';
import { nameKind } from '../../domain/mismatch.ts';
import { maskDocument } from '../../domain/person/mask-person.ts';
import { describeCode } from '../../texts/fill.ts';
import { describeSide } from '../../texts/reports/describe-evidence.ts';
import type { Texts } from '../../texts/reports/texts.ts';
import type { MismatchRow } from '../read/read-mismatches.ts';
import type { Movement } from '../read/read-movements.ts';
import type { PendingTransaction } from '../read/read-pending.ts';
import type { Cell } from '../xlsx/render-cell.ts';
import { nameMovement, namePerson } from './name-movement.ts';

/** The version of the columns below, which docs/sheets.md lists. A change of either is a new version. */
export const COLUMNS_VERSION = 11;

/** The input of a cell beside its row. */
export type RenderContext = {
  texts: Texts;
  fullDocuments: boolean;
  toWall: (instant: Date) => WallTime;
  /** Names that people gave to platforms, by id. */
  platformNames: ReadonlyMap<string, string>;
};

export type ReportColumn<Row> = {
  name: keyof Texts['columns'];
  /** In characters. */
  width: number;
  type: 'text' | 'money' | 'moment' | 'day' | 'count';
  /** Long text continues on more lines, so the next cell does not cut it. */
  wraps?: true;
  /** Whether the sheet's last row adds it up. */
  totals?: true;
  cell: (row: Row, rendering: RenderContext) => Cell;
};

/** A movement with the balances after it. */
export type StatementRow = { movement: Movement; platformBalanceCents: bigint; balanceCents: bigint };
/** A movement in force with the commission of its payment, learnt with it or later. */
export type PaymentRow = { movement: Movement; commissionCents: bigint };

type Get<Row, Value> = (row: Row, rendering: RenderContext) => Value;

export function text<Row>(
  name: ReportColumn<Row>['name'],
  width: number,
  get: Get<Row, string | null>,
): ReportColumn<Row> {
  return { name, width, type: 'text', cell: (row, rendering) => ({ text: get(row, rendering) }) };
}

function lines<Row>(name: ReportColumn<Row>['name'], width: number, get: Get<Row, string | null>): ReportColumn<Row> {
  const cell = (row: Row, rendering: RenderContext): Cell => ({ text: get(row, rendering), style: 'wrapped' });
  return { name, width, type: 'text', wraps: true, cell };
}

export function moment<Row>(name: ReportColumn<Row>['name'], get: Get<Row, WallTime | null>): ReportColumn<Row> {
  return { name, width: 20, type: 'moment', cell: (row, rendering) => ({ moment: get(row, rendering) }) };
}

export function money<Row>(
  name: ReportColumn<Row>['name'],
  get: (row: Row) => bigint | null,
  totals?: 'totals',
): ReportColumn<Row> {
  const column = { name, width: 15, type: 'money' as const, cell: (row: Row) => ({ cents: get(row) }) };
  return totals ? { ...column, totals: true } : column;
}

/**
 * The columns of a movement's origin, the same on every sheet. Each sheet has the time, the name and the amounts first, so
 * they share the first of two printed pages, and the ids last.
 */
export function locate<Row>(of: (row: Row) => Movement): ReportColumn<Row>[] {
  return [
    text('document', 18, (row, rendering) => showDocument(of(row), rendering)),
    text('platform', 38, (row, rendering) => showPlatform(of(row).platform, rendering)),
    text('reference', 24, (row) => of(row).reference),
  ];
}

export function identify<Row>(of: (row: Row) => Movement): ReportColumn<Row>[] {
  return [text('id', 38, (row) => of(row).transactionId), text('e2e', 38, (row) => of(row).e2eId)];
}

export const movementOf = (row: { movement: Movement }): Movement => row.movement;

export const STATEMENT_COLUMNS: ReportColumn<StatementRow>[] = [
  moment('at', (row) => row.movement.atWall),
  text('kind', 20, (row, { texts }) => nameMovement(row.movement, texts)),
  text('status', 15, (row, { texts }) => row.movement.status && describeCode(texts.statuses, row.movement.status)),
  text('name', 36, (row, rendering) => showName(row.movement, rendering)),
  money('amount', (row) => row.movement.amountCents, 'totals'),
  money('commission', (row) => row.movement.commissionCents, 'totals'),
  money('net', (row) => row.movement.netCents, 'totals'),
  money('heldChange', (row) => row.movement.heldCents, 'totals'),
  money('platformBalance', (row) => row.platformBalanceCents),
  money('balance', (row) => row.balanceCents),
  ...locate<StatementRow>(movementOf),
  text('source', 22, (row, { texts }) => nameSource(row.movement, texts)),
  moment('recordedAt', (row, { toWall }) => toWall(row.movement.recordedAt)),
  ...identify<StatementRow>(movementOf),
];

export const RECEIPT_COLUMNS: ReportColumn<PaymentRow>[] = [
  moment('paidAt', (row) => row.movement.atWall),
  text('name', 36, (row, rendering) => showName(row.movement, rendering)),
  money('amount', (row) => row.movement.amountCents, 'totals'),
  money('commission', (row) => row.commissionCents, 'totals'),
  money('net', (row) => row.movement.amountCents - row.commissionCents, 'totals'),
  ...locate<PaymentRow>(movementOf),
  moment('createdAt', (row) => row.movement.createdWall),
  text('extra', 36, (row) => row.movement.extra),
  ...identify<PaymentRow>(movementOf),
];

export const PAYMENT_COLUMNS: ReportColumn<PaymentRow>[] = [
  moment('paidAt', (row) => row.movement.atWall),
  text('name', 36, (row, rendering) => showName(row.movement, rendering)),
  money('amount', (row) => -row.movement.amountCents, 'totals'),
  money('commission', (row) => row.commissionCents, 'totals'),
  money('cost', (row) => row.commissionCents - row.movement.amountCents, 'totals'),
  ...locate<PaymentRow>(movementOf),
  moment('createdAt', (row) => row.movement.createdWall),
  text('extra', 36, (row) => row.movement.extra),
  ...identify<PaymentRow>(movementOf),
];

export const REFUND_COLUMNS: ReportColumn<PaymentRow>[] = [
  moment('refundedAt', (row) => row.movement.atWall),
  text('direction', 20, (row, { texts }) => describeCode(texts.kinds, row.movement.kind)),
  text('status', 15, (row, { texts }) => row.movement.status && describeCode(texts.statuses, row.movement.status)),
  text('name', 36, (row, rendering) => showName(row.movement, rendering)),
  money('amount', ({ movement: { amountCents: cents } }) => (cents < 0n ? -cents : cents)),
  money('refundMade', ({ movement: one }) => (one.kind === 'refund_made' ? -one.amountCents : null), 'totals'),
  money('refundReceived', ({ movement: one }) => (one.kind === 'refund_made' ? null : one.amountCents), 'totals'),
  money('commissionReturned', (row) => -row.commissionCents, 'totals'),
  money('effect', (row) => row.movement.netCents, 'totals'),
  ...locate<PaymentRow>(movementOf),
  moment('createdAt', (row) => row.movement.createdWall),
  text('extra', 36, (row) => row.movement.extra),
  ...identify<PaymentRow>(movementOf),
];

export const PENDING_COLUMNS: ReportColumn<PendingTransaction>[] = [
  moment('createdAt', (row) => row.createdWall),
  text('operation', 11, (row, { texts }) => describeCode(texts.operations, row.operation)),
  text('status', 17, (row, { texts }) => describeCode(texts.statuses, row.status)),
  moment('since', (row) => row.sinceWall),
  text('name', 36, showName),
  money('amount', (row) => row.amountCents),
  money('toReceive', (row) => (row.operation === 'cashin' ? row.amountCents : null), 'totals'),
  money('toPay', (row) => (row.operation === 'cashin' ? null : row.amountCents), 'totals'),
  money('held', (row) => row.heldCents, 'totals'),
  text('document', 18, showDocument),
  text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
  text('reference', 24, (row) => row.reference),
  text('id', 38, (row) => row.id),
];

export const MISMATCH_COLUMNS: ReportColumn<MismatchRow>[] = [
  moment('openedAt', (row, { toWall }) => toWall(row.openedAt)),
  text('mismatch', 30, (row, { texts }) => describeCode(texts.mismatchTitles, row.kind)),
  lines('meaning', 46, (row, { texts }) => describeCode(texts.mismatchKinds, nameKind(readEvidence(row)))),
  text('severity', 11, (row, { texts }) => describeCode(texts.severities, row.severity)),
  text('state', 15, (row, { texts }) => describeCode(texts.mismatchStates, row.state)),
  money('atStake', (row) => row.stakeCents, 'totals'),
  money('transactionAmount', (row) => row.transactionCents),
  lines('expected', 34, (row, as) => describeSide(readEvidence(row), 'expected', as.texts, as.platformNames)),
  lines('actual', 34, (row, as) => describeSide(readEvidence(row), 'actual', as.texts, as.platformNames)),
  moment('resolvedAt', (row, { toWall }) => row.resolvedAt && toWall(row.resolvedAt)),
  text('resolution', 30, (row, { texts }) => row.resolution && describeCode(texts.resolutions, row.resolution)),
  lines('note', 30, (row) => row.note),
  { name: 'day', width: 20, type: 'day', cell: (row, rendering) => ({ day: dayOf(row, rendering) }) },
  text('ofPeriod', 14, (row, as) => as.texts.evidence[row.days.has(dayOf(row, as)) ? 'yes' : 'no']),
  text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
  text('number', 24, (row) => row.number),
  text('reference', 24, (row) => row.reference),
  text('id', 38, (row) => row.transactionId),
  text('run', 38, (row) => row.runId),
];

const dayOf = ({ day, openedAt }: MismatchRow, { toWall }: RenderContext) => day ?? toWall(openedAt).slice(0, 10);

function readEvidence({ kind, expected, actual }: MismatchRow) {
  const [one, other] = [expected, actual].map((json): unknown => (json === null ? null : JSON.parse(json)));
  return { kind, expected: one, actual: other };
}

/** A row of Alterações. An effect is the cents by which the day moves the balance. */
export type ChangeRow = {
  recordedAt: Date;
  id: string | null;
  reference: string | null;
  platform: string | null;
  what: string;
  before: string;
  after: string;
  effectBefore: bigint | null;
  effectAfter: bigint | null;
  why: string;
  source: string;
};

/** Null for a row without effects, such as a state or a statement. */
function differenceOf({ effectBefore, effectAfter }: ChangeRow): bigint | null {
  if (effectBefore === null && effectAfter === null) return null;
  return (effectAfter ?? 0n) - (effectBefore ?? 0n);
}

export const CHANGE_COLUMNS: ReportColumn<ChangeRow>[] = [
  moment('recordedAt', (row, { toWall }) => toWall(row.recordedAt)),
  text('what', 18, (row) => row.what),
  lines('before', 28, (row) => row.before),
  lines('after', 28, (row) => row.after),
  money('effectBefore', (row) => row.effectBefore, 'totals'),
  money('effectAfter', (row) => row.effectAfter, 'totals'),
  money('difference', differenceOf, 'totals'),
  lines('why', 40, (row) => row.why),
  text('platform', 38, (row, rendering) => showPlatform(row.platform, rendering)),
  lines('source', 44, (row) => row.source),
  text('reference', 24, (row) => row.reference),
  text('id', 38, (row) => row.id),
];

/** A row of Ajustes de meses anteriores: a change of a day in a month that was closed before. */
export type AdjustmentRow = ChangeRow & { day: Day };

export const ADJUSTMENT_COLUMNS: ReportColumn<AdjustmentRow>[] = [
  { name: 'day', width: 20, type: 'day', cell: ({ day }) => ({ day }) },
  ...CHANGE_COLUMNS,
];

/** Only people enter movements without a transaction. */
function nameSource({ transactionId, adjustment, source }: Movement, texts: Texts): string {
  return transactionId === null ? namePerson(adjustment, texts) : describeCode(texts.sources, source);
}

type Party = Pick<Movement, 'name' | 'document' | 'forgotten'>;

export function showPlatform(platform: string | null, { platformNames }: RenderContext): string | null {
  return platformNames.get(platform ?? '') ?? platform;
}

export function showName({ name, forgotten }: Party, { texts }: RenderContext): string | null {
  return forgotten ? texts.forgotten : name;
}

export function showDocument({ document, forgotten }: Party, { texts, fullDocuments }: RenderContext): string | null {
  if (forgotten) return texts.forgotten;
  return fullDocuments ? document : maskDocument(document);
}
