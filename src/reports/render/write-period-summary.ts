import { boundsOfMonth, monthOf } from '../../domain/calendar.ts';
import { fill } from '../../texts/fill.ts';
import { formatLocalAmount, formatMoment, type Texts } from '../../texts/reports/texts.ts';
import { type ClosedMonth, type RangeDay, type RangePlan, spanOf } from '../plan/report-plan.ts';
import type { DayRow } from '../read/list-day-rows.ts';
import { platformAccountSegment } from '../read/read-accounts.ts';
import type { SheetWriter } from '../xlsx/open-sheet.ts';
import { type Cell, columnName } from '../xlsx/render-cell.ts';
import { formatPeriod } from './report-work.ts';
import { type Summary, startSection } from './start-section.ts';
import { type Fact, writeAbout, writeIdentity } from './write-about.ts';
import { type Carried, writeCarried } from './write-carried.ts';
import { drawCounts, drawDays, reserveCharts, type WrittenTable } from './write-charts.ts';
import { writeReceiptShares } from './write-receipt-shares.ts';
import { stateStyle, writeCounts, writeMismatches } from './write-summary.ts';
import { writeBalance } from './write-summary-balance.ts';

const AMOUNTS = ['receipts', 'commissions', 'payments', 'refundsMade', 'refundsReceived', 'adjustments'] as const;
/** A day, its amounts between opening and closing balance, held, difference, proof and state. */
const COLUMNS = AMOUNTS.length + 7;
/** The columns of the charts by day and by status. */
const CHARTS = { widths: [7, COLUMNS - 7], rows: 30 };
/** A month. */
const DAYS_A_PAGE = 31;
const LAST_AMOUNT = columnName(AMOUNTS.length + 1);
export const PERIOD_WIDTHS = { label: 46, number: 21, numbers: COLUMNS - 1 };

/** Writes Resumo do período: facts, charts, one row a day with the checks of their sum, then what Resumo of a day has. */
export function writePeriodSummary(
  sheet: SheetWriter,
  summary: Summary<RangePlan>,
  { days, carried }: { days: DayRow[]; carried: Carried | undefined },
): void {
  const { plan, texts } = summary;
  const words = texts.period;
  const period = formatPeriod(plan, texts);
  const columns = Math.max(COLUMNS, summary.platforms.size + 2);
  sheet.addRow([{ text: fill(words.title, { period }), style: 'title' }], { heightPoints: 28 });
  writeAbout(sheet, summary, columns, {
    span: [words.days, { text: fill(words.daysText, { period, count: days.length }) }],
    facts: listFacts(summary),
  });
  const placeCharts = reserveCharts(sheet, summary, CHARTS);
  sheet.breakPage();
  const byDay = writeDays(sheet, summary, days);
  if (carried) writeCarried(sheet, summary, carried);
  sheet.breakPage();
  writeReceiptShares(sheet, summary, writeBalance(sheet, summary));
  const counts = writeCounts(sheet, summary);
  writeMismatches(sheet, summary, columns);
  placeCharts([drawDays(summary, days, byDay), drawCounts(summary, counts)]);
  writeIdentity(sheet, summary, columns);
}

function listFacts(summary: Summary<RangePlan>): Fact[] {
  const { plan, texts } = summary;
  const words = texts.period;
  const ended = plan.days.filter((day) => day.state !== 'partial');
  const isWhole = ended.length > 0 && ended.every((day) => day.proven);
  const days: Fact[] = [
    [words.proven, { text: describeProven(plan.days, texts), style: isWhole ? 'good' : 'bad' }],
    ...listOpenMatters(summary),
  ];
  // a closed month is final: the state of its days says nothing more
  if (plan.close)
    return [
      [words.monthClosed, { text: describeClose(summary, plan.close, words.monthClosedText), style: 'good' }],
      ...days,
    ];
  const { from, to } = spanOf(plan);
  const month = boundsOfMonth(monthOf(from));
  // complete days and an open month are two things: one sentence says both
  const state: Fact[] =
    from === month.from && to === month.to
      ? [[words.monthClosed, { text: `${words[plan.state]} ${words.monthOpen}`, style: 'bad' }]]
      : [
          [words.state, { text: texts.states[plan.state].toUpperCase(), style: stateStyle(plan) }],
          ['', { text: words[plan.state], style: 'hint' }],
        ];
  return [...state, ...days, [words.notStored, { text: words.notStoredText }]];
}

/** Lists what is still open: mismatches, and platforms whose balance at the provider differs or was not stated. */
function listOpenMatters({ texts, platforms, statements, mismatches }: Summary<RangePlan>): Fact[] {
  const words = texts.period;
  const sum = (pick: (one: (typeof mismatches)[number]) => number): number =>
    mismatches.reduce((all, one) => all + pick(one), 0);
  const own = sum((one) => one.own);
  const stake = mismatches.reduce((cents, one) => cents + one.ownStakeCents, 0n);
  const critical = sum((one) => (one.severity === 'critical' ? one.own : 0));
  const values = { own, critical, stake: formatLocalAmount(stake, texts), all: sum((one) => one.count) };
  const open = fill(words.openText, values);
  const all = platforms.size;
  const stated = statements.filter(({ platform }) => platforms.has(platformAccountSegment(platform)));
  const count = {
    agreed: stated.filter((one) => one.statedCents === one.ledgerCents).length,
    differing: stated.filter((one) => one.statedCents !== one.ledgerCents).length,
    unstated: all - stated.length,
  };
  const said = (['differing', 'unstated', 'agreed'] as const)
    .filter((name) => count[name] > 0)
    .map((name) => fill(words[name], { count: count[name], all }));
  return [
    [words.open, { text: open, style: own === 0 ? 'good' : 'bad' }],
    ...(all === 0
      ? []
      : [
          [
            words.providerBalance,
            { text: said.join('; '), style: count.agreed === all ? 'good' : 'bad' },
          ] satisfies Fact,
        ]),
  ];
}

/** As on the first page of the console: of the days that ended, those that were read or counted after their end. */
function describeProven(days: RangeDay[], { period: words }: Texts): string {
  const ended = days.filter((day) => day.state !== 'partial');
  const values = {
    proven: ended.filter((day) => day.proven).length,
    ended: ended.length,
    counted: ended.filter((day) => day.counted).length,
  };
  return fill(values.counted > 0 ? words.provenCounted : words.provenText, values);
}

function describeClose({ plan, actorOf }: Summary<RangePlan>, { at, actor }: ClosedMonth, text: string): string {
  return fill(text, { at: formatMoment(plan.calendar.toWallTime(at)), actor: actorOf(actor) });
}

function writeDays(sheet: SheetWriter, { texts }: Summary<RangePlan>, days: DayRow[]): WrittenTable {
  const words = texts.period;
  startSection(sheet, words.byDay, COLUMNS);
  const { opening, closing, day } = texts.summary;
  const heads = [day, opening, ...AMOUNTS.map((name) => words[name]), closing, words.held, words.difference];
  const headRow = sheet.nextRow();
  sheet.addRow(
    [...heads, words.isProven, words.state].map((text, index) => ({
      text,
      style: index === 0 || index >= heads.length ? 'header' : 'headerRight',
    })),
    { heightPoints: 34 },
  );
  const first = sheet.nextRow();
  for (const [index, one] of days.entries()) {
    if (index > 0 && index % DAYS_A_PAGE === 0) sheet.breakPage();
    const row = sheet.nextRow();
    sheet.addRow([
      { day: one.day },
      { cents: one.opening },
      ...AMOUNTS.map((name) => ({ cents: one[name] })),
      { cents: one.closing, formula: `SUM(B${row}:${LAST_AMOUNT}${row})` },
      { cents: one.held },
      { cents: one.difference, style: one.difference === 0n ? 'moneyGood' : 'moneyBad' },
      {
        text: one.counted
          ? words.counted
          : one.proven
            ? words.read
            : one.state === 'partial'
              ? words.running
              : words.no,
        style: one.proven ? 'good' : 'bad',
      },
      { text: texts.states[one.state], style: stateStyle(one) },
    ]);
  }
  writeTotals(sheet, texts, days, { first, last: sheet.nextRow() - 1 });
  return { headRow, heads, names: days.map((one) => one.day) };
}

/** Adds the total row, and below it the sum of the days beside the ledger's own difference. */
function writeTotals(sheet: SheetWriter, texts: Texts, days: DayRow[], { first, last }: Rows): void {
  const words = texts.period;
  const total = sheet.nextRow();
  const sum = (pick: (one: DayRow) => bigint): bigint => days.reduce((all, one) => all + pick(one), 0n);
  const closing = columnName(AMOUNTS.length + 2);
  const money = (cents: bigint, formula: string): Cell => ({ cents, style: 'moneyTotal', formula });
  const [start, end] = [days[0], days.at(-1)];
  if (!start || !end) return;
  const sumColumn = (index: number): string => {
    const letter = columnName(index);
    return `SUM(${letter}${first}:${letter}${last})`;
  };
  sheet.addRow([
    { text: texts.summary.total, style: 'labelBold' },
    money(start.opening, `B${first}`),
    ...AMOUNTS.map((name, index) =>
      money(
        sum((one) => one[name]),
        sumColumn(index + 2),
      ),
    ),
    money(end.closing, `${closing}${last}`),
    money(end.held, `${columnName(AMOUNTS.length + 3)}${last}`),
    money(
      sum((one) => one.difference),
      sumColumn(AMOUNTS.length + 4),
    ),
    { text: describeProven(days, texts), style: 'textTotal' },
    { text: null, style: 'textTotal' },
  ]);
  const moved = AMOUNTS.reduce((all, name) => all + sum((one) => one[name]), 0n);
  const opened = sum((one) => one.opened);
  const ledger = end.closing - end.difference - start.opening;
  const difference = moved + opened - ledger;
  const add = (label: string, cell: Cell): void => sheet.addRow([{ text: label, style: 'label' }, cell]);
  sheet.addRow([]);
  const row = sheet.nextRow();
  add(words.sumOfDays, { cents: moved, formula: `SUM(C${total}:${LAST_AMOUNT}${total})` });
  add(words.openings, { cents: opened });
  add(words.moved, { cents: ledger });
  add(texts.summary.difference, {
    ...{ cents: difference, formula: `ROUND(B${row}+B${row + 1}-B${row + 2},2)` },
    style: difference === 0n ? 'moneyGood' : 'moneyBad',
  });
}

type Rows = { first: number; last: number };
