import type { Context } from '../../context.ts';
import type { Day } from '../../domain/calendar.ts';
import type { BankLine } from './identify-lines.ts';

const ROWS_AT_ONCE = 500;

/** A line of a file that cannot be stored. */
export type LineFault = { line: number; kind: 'changed' | 'partial' };

type Compared = {
  /** Those that the account has already. */
  known: Set<BankLine>;
  faults: LineFault[];
};

/** Compares the lines of a file with those that its account has. */
export async function compareWithStored(
  { db }: Pick<Context, 'db'>,
  account: string,
  lines: readonly BankLine[],
): Promise<Compared> {
  const { known, changed } = await findKnown(db, account, lines);
  const added = lines.filter((line) => !known.has(line));
  const partial = await findPartial(db, account, { lines, added });
  const faults: LineFault[] = [
    ...changed.map(({ line }) => ({ line, kind: 'changed' as const })),
    ...partial.map(({ line }) => ({ line, kind: 'partial' as const })),
  ];
  return { known, faults: faults.sort((a, b) => a.line - b.line) };
}

/** @returns lines that are stored, and those among them that have another day or amount there. */
async function findKnown(db: Context['db'], account: string, lines: readonly BankLine[]) {
  const known = new Set<BankLine>();
  const changed: BankLine[] = [];
  for (let start = 0; start < lines.length; start += ROWS_AT_ONCE) {
    const some = new Map(lines.slice(start, start + ROWS_AT_ONCE).map((line) => [line.hash.toString('hex'), line]));
    const rows = await db
      .selectFrom('bank_lines')
      .select(['fitid_hash', 'day', 'amount_cents'])
      .where('account', '=', account)
      .where(
        'fitid_hash',
        'in',
        [...some.values()].map(({ hash }) => hash),
      )
      .execute();
    for (const { fitid_hash, day, amount_cents } of rows) {
      const line = some.get(fitid_hash.toString('hex'));
      if (!line) continue;
      known.add(line);
      if (line.day !== day || line.cents !== amount_cents) changed.push(line);
    }
  }
  return { known, changed };
}

/**
 * Finds the days that the file may not extend. Without FITID, a line of a day that has other lines may be one of these: the
 * file must then have all lines that are stored of the day. The same holds for lines with FITID of a day that was stored
 * without, such as by a spreadsheet before an OFX.
 * @returns the first new line of each such day.
 */
async function findPartial(
  db: Context['db'],
  account: string,
  { lines, added }: { lines: readonly BankLine[]; added: readonly BankLine[] },
): Promise<BankLine[]> {
  const days = [...new Set(added.map(({ day }) => day))].sort();
  const [from, to] = [days[0], days.at(-1)];
  if (from === undefined || to === undefined) return [];
  const stored = await db
    .selectFrom('bank_lines')
    .select(['day', 'fitid_hash', 'occurrence'])
    .where('account', '=', account)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .execute();
  const storedOf = Map.groupBy(stored, ({ day }) => day);
  const hashes = new Set(lines.map(({ hash }) => hash.toString('hex')));
  const unnumbered = new Set<Day>(lines.filter(({ occurrence }) => occurrence !== null).map(({ day }) => day));
  return days.flatMap((day) => {
    const own = storedOf.get(day) ?? [];
    const hasUnnumbered = unnumbered.has(day) || own.some(({ occurrence }) => occurrence !== null);
    const isWhole = own.every(({ fitid_hash }) => hashes.has(fitid_hash.toString('hex')));
    return hasUnnumbered && !isWhole ? (added.find((line) => line.day === day) ?? []) : [];
  });
}
