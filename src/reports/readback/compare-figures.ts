import { formatAmount } from '../../domain/money.ts';
import { SHARE_LINES, sumShares } from '../orders/share-receipts.ts';
import { type CollectedSummary, MOVING_LINES } from './collect-summary.ts';
import type { BalanceChain, CollectedTable } from './collect-table.ts';
import type { ExpectedFigures, SheetFigures } from './read-expected.ts';

/** A difference between a sheet and the ledger, in one sentence in English, with figures and nothing personal. */
export type SheetFault = { sheet: string; text: string };

/** Returns the differences of a sheet of rows: of its data, of its total, and of what it says a filter shows. Pure. */
export function compareTable(sheet: string, found: CollectedTable, expected: SheetFigures): SheetFault[] {
  const faults = new Faults(sheet);
  faults.compareCount('rows', found.rows, expected.rows);
  faults.compareCount('rows above the header', found.shownRows, expected.rows);
  for (const [column, cents] of Object.entries(expected.sums)) {
    faults.compare(column, found.sums.get(column) ?? 0n, cents);
    const [total, shown] = [found.totals.get(column), found.shown.get(column)];
    if (total !== undefined) faults.compare(`total of ${column}`, total, cents);
    if (shown !== undefined) faults.compare(`${column} above the header`, shown, cents);
  }
  return faults.list;
}

/** Each running balance follows from the row before, and the last one is the closing balance of the ledger. Pure. */
export function compareChain(sheet: string, { cents, brokenAt }: BalanceChain, closing: bigint): SheetFault[] {
  if (brokenAt !== undefined)
    return [{ sheet, text: `the balance of row ${brokenAt} does not follow from the row before` }];
  const faults = new Faults(sheet);
  faults.compare('the last balance', cents, closing);
  return faults.list;
}

/**
 * Returns the differences of Resumo: the balances of each platform and of all, the lines between them, and each day of a
 * range. Pure. Adjustments and openings are what is left between the balances.
 */
export function compareSummary(sheet: string, found: CollectedSummary, expected: ExpectedFigures): SheetFault[] {
  const faults = new Faults(sheet);
  const names = [...expected.platforms.keys()].sort();
  const columns = [...names.flatMap((name) => expected.platforms.get(name) ?? []), expected.total];
  for (const line of ['opening', 'closing', 'held', 'ledger'] as const) {
    // a file of one platform has its column without a balance too
    const cells = names.length === 0 ? found.lines[line].slice(-1) : found.lines[line];
    faults.compareCount(`columns of ${line}`, cells.length, columns.length);
    for (const [index, column] of columns.entries())
      faults.compare(`${line}, column ${index + 1}`, cells[index] ?? 0n, column[line === 'ledger' ? 'closing' : line]);
  }
  const sumAt = (index: number) => MOVING_LINES.reduce((sum, line) => sum + (found.lines[line].at(index) ?? 0n), 0n);
  for (let index = -1; index >= -columns.length; index--) {
    const opening = found.lines.opening.at(index) ?? 0n;
    const column = `column ${columns.length + index + 1}`;
    faults.compare(`opening and lines, ${column}`, opening + sumAt(index), columns.at(index)?.closing ?? 0n);
  }
  const { receipts, commissionIn, commissionOut, payments, refundsMade, refundsReceived } = found.lines;
  const totalOf = (...lines: bigint[][]) => lines.reduce((sum, line) => sum + (line.at(-1) ?? 0n), 0n);
  faults.compare('total of receipts', totalOf(receipts), expected.moved.receipts);
  faults.compare('total of commissions', totalOf(commissionIn, commissionOut), expected.moved.commissions);
  faults.compare('total of payments', totalOf(payments), expected.moved.payments);
  faults.compare('total of refunds made', totalOf(refundsMade), expected.moved.refundsMade);
  faults.compare('total of refunds received', totalOf(refundsReceived), expected.moved.refundsReceived);
  compareShares(faults, found, expected);
  compareDays(faults, found.days, expected);
  return faults.list;
}

/** Each line of each platform, and of all; none of them where the file shows no orders. */
function compareShares(faults: Faults, { lines }: CollectedSummary, { platforms, shares }: ExpectedFigures): void {
  const nothing = sumShares(new Map());
  const names = [...platforms.keys()].sort();
  const columns = shares ? [...names.map((name) => shares.get(name) ?? nothing), sumShares(shares)] : [];
  for (const line of SHARE_LINES) {
    // as above
    const cells = shares && names.length === 0 ? lines[line].slice(-1) : lines[line];
    faults.compareCount(`columns of ${line}`, cells.length, columns.length);
    for (const [index, column] of columns.entries())
      faults.compare(`${line}, column ${index + 1}`, cells[index] ?? 0n, column[line]);
  }
}

const MOVED = ['receipts', 'commissions', 'payments', 'refundsMade', 'refundsReceived'] as const;

function compareDays(faults: Faults, found: CollectedSummary['days'], expected: ExpectedFigures): void {
  faults.compareCount('days', found.length, expected.days.length);
  for (const [index, day] of expected.days.entries()) {
    const own = found[index];
    faults.compare(`closing of day ${index + 1}`, own?.closing ?? 0n, day.closing);
    faults.compare(`held of day ${index + 1}`, own?.held ?? 0n, day.held);
    const moved = MOVED.reduce((sum, name) => sum + (own?.[name] ?? 0n), own?.adjustments ?? 0n);
    faults.compare(`opening and movements of day ${index + 1}`, (own?.opening ?? 0n) + moved, day.closing);
  }
  if (expected.days.length === 0) return;
  for (const name of MOVED) {
    const sum = found.reduce((all, day) => all + day[name], 0n);
    faults.compare(`${name} of all days`, sum, expected.moved[name]);
  }
}

class Faults {
  readonly list: SheetFault[] = [];
  readonly #sheet: string;

  constructor(sheet: string) {
    this.#sheet = sheet;
  }

  compare(figure: string, found: bigint, expected: bigint): void {
    if (found !== expected) this.#add(figure, formatAmount(found), formatAmount(expected));
  }

  compareCount(figure: string, found: number, expected: number): void {
    if (found !== expected) this.#add(figure, found, expected);
  }

  #add(figure: string, found: string | number, expected: string | number): void {
    this.list.push({ sheet: this.#sheet, text: `${figure}: ${found} in the file, ${expected} in the ledger` });
  }
}
