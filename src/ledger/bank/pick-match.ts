/** A person matches a line with an entry that the rules do not choose, and undoes a match. */
import type { Transaction } from 'kysely';
import { checkNote } from '../../access/check-note.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { selectOpenAdjustments, selectPaidCashouts } from './read-open-entries.ts';
import { lockMatching, matchOfLine } from './standing-matches.ts';

/** A bank may take a month over a transfer. Further apart, one of the two is another movement. */
export const PICKED_DAYS_APART_MAX = 31;

/** A person's choice for a line: the id of an adjustment of kind bank, or of a paid cashout. */
export type PickedEntry = { adjustment: string } | { transaction: string };
export type PickedBy = { actor: string; note?: string | undefined };

type Line = { seq: number; account: string; day: Day; cents: bigint };
type Entry = { seq: number; account: string | null; day: Day; cents: bigint };

/**
 * Matches a line with an adjustment or a cashout. The amounts must be equal, and the days at most PICKED_DAYS_APART_MAX apart.
 * @param line its id, `bl_12`.
 * @returns the id of the match.
 * @throws ConfereError `not_found` for an unknown line; `conflict` for a line that is matched; `invalid_request` for an entry
 *   that is unknown, reversed or matched already, or has another amount or a day too far apart.
 */
export async function pickMatch(context: Context, line: string, picked: PickedEntry, by: PickedBy): Promise<string> {
  const note = by.note === undefined ? undefined : checkNote(by.note);
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const own = await findOpenLine(trx, line);
    const entry = await findOpenEntry(trx, picked);
    checkPair(own, entry, picked);
    return await writeMatch(context, trx, { line_seq: own.seq, entry_seq: entry.seq, rule: 'person' }, { ...by, note });
  });
}

/**
 * Undoes a match: the line and the entry are open again, and the rules keep this pair apart.
 * @param match its id, `bm_12`. @returns the id of the row that undoes it.
 * @throws ConfereError `not_found`; `conflict` where it is undone already, or undoes one itself.
 */
export async function undoMatch(context: Context, match: string, by: { actor: string; note: string }): Promise<string> {
  const note = checkNote(by.note);
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const row = await trx
      .selectFrom('bank_matches')
      .leftJoin('bank_matches as undone', 'undone.undoes_seq', 'bank_matches.seq')
      .select(['bank_matches.seq', 'bank_matches.line_seq', 'bank_matches.entry_seq', 'bank_matches.undoes_seq'])
      .select('undone.seq as undone_by')
      .where('bank_matches.seq', '=', parseNumbered('bm', match))
      .executeTakeFirst();
    if (!row || row.entry_seq === null) throw refuse('bank_match_unknown');
    if (row.undoes_seq !== null) throw refuse('bank_match_is_undoing');
    if (row.undone_by !== null) throw refuse('bank_match_undone');
    const { seq: undoes_seq, line_seq, entry_seq } = row;
    return await writeMatch(context, trx, { line_seq, entry_seq, rule: 'undo', undoes_seq }, { ...by, note });
  });
}

/** Parses `bl_12` to 12; 0, which no row has, for any other text. */
export function parseNumbered(prefix: 'bl' | 'bm' | 'bs', id: string): number {
  return Number(new RegExp(`^${prefix}_([1-9]\\d{0,14})$`).exec(id)?.[1] ?? 0);
}

/**
 * Finds a line without a match.
 * @throws ConfereError `not_found`; `conflict` for a line that is matched, or marked as nothing of PIX.
 */
export async function findOpenLine(trx: Transaction<Database>, id: string): Promise<Line> {
  const row = await trx
    .selectFrom('bank_lines')
    .leftJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
    .select(['bank_lines.seq', 'account', 'day', 'amount_cents'])
    .select(['bank_matches.seq as match_seq', 'entry_seq'])
    .where('bank_lines.seq', '=', parseNumbered('bl', id))
    .executeTakeFirst();
  if (!row) throw refuse('bank_line_unknown');
  if (row.match_seq !== null && row.entry_seq === null) throw refuse('bank_line_not_pix');
  if (row.match_seq !== null) throw refuse('bank_line_matched', { match: `bm_${row.match_seq}` });
  return { seq: row.seq, account: row.account, day: row.day, cents: row.amount_cents };
}

async function findOpenEntry(trx: Transaction<Database>, picked: PickedEntry): Promise<Entry> {
  if ('adjustment' in picked) {
    const row = await selectOpenAdjustments(trx)
      .select(['entries.seq', 'day', 'amount_cents', 'bank_account'])
      .where('adjustments.id', '=', picked.adjustment)
      .executeTakeFirst();
    if (!row) throw refuseField('adjustment', 'unmatched_adjustment');
    return { seq: row.seq, account: row.bank_account, day: row.day, cents: -row.amount_cents };
  }
  const row = await selectPaidCashouts(trx).where('transactions.id', '=', picked.transaction).executeTakeFirst();
  if (!row) throw refuseField('transaction', 'unmatched_transaction');
  const day = row.at_wall.slice(0, 'YYYY-MM-DD'.length);
  return { seq: row.entry_seq, account: null, day, cents: row.amount_cents };
}

function checkPair(line: Line, entry: Entry, picked: PickedEntry): void {
  const field = 'adjustment' in picked ? 'adjustment' : 'transaction';
  if (line.cents !== entry.cents)
    throw refuseField(field, 'amounts_differ', { amount: formatAmount(entry.cents), line: formatAmount(line.cents) });
  if (entry.account !== null && entry.account !== line.account)
    throw refuseField(field, 'other_bank_account', { account: entry.account });
  const isNear =
    addDays(line.day, -PICKED_DAYS_APART_MAX) <= entry.day && entry.day <= addDays(line.day, PICKED_DAYS_APART_MAX);
  if (!isNear) throw refuseField(field, 'pair_too_far', { day: entry.day, n: PICKED_DAYS_APART_MAX, line: line.day });
}

/** `entry_seq` null: the line is nothing of PIX. */
type NewMatch = {
  line_seq: number;
  entry_seq: number | null;
  rule: 'person' | 'not_pix' | 'undo';
  undoes_seq?: number;
};

/** Writes a match of a person, under the lock of `lockMatching`. @returns its id. */
export async function writeMatch(
  { clock }: Context,
  trx: Transaction<Database>,
  match: NewMatch,
  { actor, note }: PickedBy,
): Promise<string> {
  const { insertId } = await trx
    .insertInto('bank_matches')
    .values({ ...match, created_at: clock.now(), actor })
    .executeTakeFirstOrThrow();
  const seq = requireRowNumber(insertId, 'a match of the bank');
  if (note !== undefined) await trx.insertInto('bank_match_notes').values({ match_seq: seq, note }).execute();
  return `bm_${seq}`;
}
