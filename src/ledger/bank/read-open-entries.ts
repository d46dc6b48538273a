/** The entries that a line of the bank's statement may be, and that no line is yet. */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { splitList } from '../../domain/lists.ts';
import { listAdjustmentNames, listCashoutNames, type OpenEntry, type OpenLine } from './decide-matches.ts';
import { isEntryMatched } from './standing-matches.ts';

/** Lines whose names are searched for with one statement. */
const LINES_AT_ONCE = 200;

/**
 * Selects the adjustments of kind bank whose entry is in force and has no match: they add up to what is open in
 * `Assets:Bank`.
 */
export function selectOpenAdjustments(db: Reader) {
  return db
    .selectFrom('adjustments')
    .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'entries.seq')
    .where('adjustments.kind', '=', 'bank')
    .where('entries.kind', '=', 'adjustment')
    .where('reversal.seq', 'is', null)
    .where(sql<boolean>`NOT ${isEntryMatched('entries.seq')}`);
}

/** Reads them, as the bank sees them: what left the provider came into the bank account. */
export async function readOpenAdjustments(db: Reader): Promise<(OpenEntry & { id: string })[]> {
  const rows = await selectOpenAdjustments(db)
    .select(['entries.seq as entry_seq', 'adjustments.id', 'day', 'amount_cents', 'note', 'bank_account'])
    .orderBy('entries.seq')
    .execute();
  return rows.map(({ entry_seq: seq, id, day, amount_cents: cents, note, bank_account: account }) => ({
    ...{ seq, id, kind: 'adjustment', day, account, cents: -cents },
    names: listAdjustmentNames(id, note),
  }));
}

export type OpenCashout = OpenEntry & { id: string };

/**
 * Reads the paid cashouts without a match that lines name by id, end-to-end id or reference, and of the same amount. The names
 * are searched for as they are written, and in lower and upper case: each search reads an index.
 */
export async function readNamedCashouts(db: Reader, lines: readonly OpenLine[]): Promise<OpenCashout[]> {
  const credits = lines.filter(({ cents, spelled }) => cents > 0n && spelled.size > 0);
  const found = new Map<number, OpenCashout>();
  for (const some of splitList(credits, LINES_AT_ONCE)) {
    for (const row of await findCashouts(db, some)) found.set(row.entry_seq, toOpenCashout(row));
  }
  return [...found.values()].sort((a, b) => a.seq - b.seq);
}

async function findCashouts(db: Reader, lines: readonly OpenLine[]): Promise<CashoutRow[]> {
  const amounts = [...new Set(lines.map(({ cents }) => cents))];
  const words = lines.flatMap(({ spelled }) => [...spelled]);
  const names = [...new Set(words.flatMap((word) => [word, word.toLowerCase(), word.toUpperCase()]))];
  return await selectPaidCashouts(db)
    .where('transactions.amount_cents', 'in', amounts)
    .where((eb) =>
      eb.or(
        (['transactions.id', 'transactions.e2e_id', 'transactions.reference'] as const).map((one) =>
          eb(one, 'in', names),
        ),
      ),
    )
    .execute();
}

/** Selects the entries in force by which cashouts were paid, without those that have a match. */
export function selectPaidCashouts(db: Reader) {
  return db
    .selectFrom('transactions')
    .innerJoin('entries', 'entries.transaction_seq', 'transactions.seq')
    .innerJoin('events', 'events.seq', 'entries.event_seq')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'entries.seq')
    .select(['entries.seq as entry_seq', 'entries.at_wall', 'transactions.id', 'transactions.amount_cents'])
    .select(['transactions.e2e_id', 'transactions.reference'])
    .where('transactions.operation', '=', 'cashout')
    .where('entries.kind', '=', 'event')
    .where('events.status', '=', 'paid')
    .where('reversal.seq', 'is', null)
    .where(sql<boolean>`NOT ${isEntryMatched('entries.seq')}`);
}

type CashoutRow = Awaited<ReturnType<ReturnType<typeof selectPaidCashouts>['execute']>>[number];

/** A cashout as the bank sees it: it came into the bank account. */
export function toOpenCashout(row: CashoutRow): OpenCashout {
  const { entry_seq: seq, id, amount_cents: cents, at_wall, e2e_id, reference } = row;
  const day = at_wall.slice(0, 'YYYY-MM-DD'.length);
  return { seq, id, kind: 'cashout', day, account: null, cents, names: listCashoutNames(id, e2e_id, reference) };
}
