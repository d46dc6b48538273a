/**
 * The figures of Resumo, stored with their revision: lists of days show them without reading the ledger. They are those of
 * the cut, so they equal the workbook to the cent for as long as the revision exists.
 */
import type { Reader } from '../../database/reader.ts';
import { formatAmount } from '../../domain/money.ts';
import { splitAccount } from '../../ledger/journal/plan-entries.ts';
import { ADJUSTED, LINES, type PlatformTotals } from './create-tally.ts';
import { countMismatchesByPlatform } from './read-mismatches.ts';

/** The lines of Resumo's balance, in its order. */
export const FIGURE_LINES = ['opening', ...LINES, 'closing', 'held'] as const;
export type FigureLine = (typeof FIGURE_LINES)[number];

type Adjusted = (typeof ADJUSTED)[number];

/**
 * In cents, each line with the sign by which it moves the balance; `openMismatches` counts those open at the cut. Revisions
 * of earlier versions do not have the parts of the adjustments.
 */
export type Figures = Record<FigureLine, bigint> & Record<Adjusted, bigint | undefined> & { openMismatches: number };

/** As stored: cents as text. `shared` counts the open mismatches that concern all platforms: each platform's Resumo has them. */
type Stored = {
  mismatches: number;
  shared: number;
  platforms: Record<string, Record<FigureLine, string> & Partial<Record<Adjusted, string>> & { mismatches: number }>;
};

/**
 * Collects the figures of a revision, as the column `figures` stores them.
 * @param tallied totals of a day by the platform's segment of account names.
 */
export async function collectFigures(
  db: Reader,
  tallied: ReadonlyMap<string, PlatformTotals>,
  changeSeq: number,
): Promise<string> {
  const counts = await countMismatchesByPlatform(db, changeSeq);
  const totals = new Map([...tallied].map(([segment, one]) => [splitAccount(`:${segment}`).platform, one]));
  const countOf = (platform: string | null): number => counts.find((one) => one.platform === platform)?.count ?? 0;
  const platforms = [...new Set([...totals.keys(), ...counts.flatMap((one) => one.platform ?? [])])].sort();
  const stored: Stored = {
    mismatches: counts.reduce((sum, one) => sum + one.count, 0),
    shared: countOf(null),
    platforms: Object.fromEntries(
      platforms.map((platform) => {
        const lines = [...FIGURE_LINES, ...ADJUSTED].map((line) => [line, String(totals.get(platform)?.[line] ?? 0n)]);
        // one text for each line
        const cents = Object.fromEntries(lines) as Record<FigureLine | Adjusted, string>;
        return [platform, { ...cents, mismatches: countOf(platform) }];
      }),
    ),
  };
  return JSON.stringify(stored);
}

/** The figures of one platform, or of all for `undefined`; undefined where the revision stores none yet. */
export function parseFigures(text: string | null, platform: string | undefined): Figures | undefined {
  if (text === null) return undefined;
  const stored = JSON.parse(text) as Stored;
  const all = Object.entries(stored.platforms).filter(([id]) => platform === undefined || id === platform);
  const sum = (line: FigureLine): bigint => all.reduce((total, [, one]) => total + BigInt(one[line]), 0n);
  const lines = Object.fromEntries(FIGURE_LINES.map((line) => [line, sum(line)])) as Record<FigureLine, bigint>;
  const parts = Object.fromEntries(
    ADJUSTED.map((part) => [
      part,
      all.reduce<bigint | undefined>((total, [, { [part]: text }]) => {
        return total === undefined || text === undefined ? undefined : total + BigInt(text);
      }, 0n),
    ]),
    // one value for each part
  ) as Record<Adjusted, bigint | undefined>;
  const own = all.reduce((total, [, one]) => total + one.mismatches, 0);
  return { ...lines, ...parts, openMismatches: platform === undefined ? stored.mismatches : stored.shared + own };
}

/** The columns of a list of days, in cents. */
export type ListedFigures = Record<
  | 'opening'
  | 'receipts'
  | 'commissions'
  | 'payments'
  | 'refundsMade'
  | 'refundsReceived'
  | 'adjustments'
  | 'closing'
  | 'held',
  bigint
> &
  Pick<Figures, Adjusted | 'openMismatches'>;

/** Adds up the lines that a list of days shows as one. */
export function listFigures(figures: Figures): ListedFigures {
  const { commissionIn, commissionOut, ...listed } = figures;
  return { ...listed, commissions: commissionIn + commissionOut };
}

/** Presents them as our API does, with decimal texts; null where a revision stores none yet. */
export function presentFigures(figures: Figures | undefined) {
  if (!figures) return null;
  const listed = listFigures(figures);
  return {
    opening: formatAmount(listed.opening),
    receipts: formatAmount(listed.receipts),
    commissions: formatAmount(listed.commissions),
    payments: formatAmount(listed.payments),
    refunds_made: formatAmount(listed.refundsMade),
    refunds_received: formatAmount(listed.refundsReceived),
    refunds: formatAmount(listed.refundsMade + listed.refundsReceived),
    adjustments: formatAmount(listed.adjustments),
    bank: listed.bank === undefined ? null : formatAmount(listed.bank),
    fees: listed.fees === undefined ? null : formatAmount(listed.fees),
    closing: formatAmount(listed.closing),
    held: formatAmount(listed.held),
    open_mismatches: listed.openMismatches,
  };
}
