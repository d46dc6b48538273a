import type { Reader } from '../../database/reader.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { DAYS_APART_MAX } from './decide-matches.ts';
import { parseNumbered } from './pick-match.ts';
import { selectOpenAdjustments } from './read-open-entries.ts';
import { matchOfLine } from './standing-matches.ts';

/** Lines that an entry lists. */
const CANDIDATES_MAX = 10;

/**
 * Lists matches and the rows that undo them, the newest first.
 * @param before list below this row number. @param id one match, `bm_12`.
 */
export async function listBankMatches(db: Reader, limit: number, before: number | undefined, id?: string) {
  let query = db
    .selectFrom('bank_matches')
    .innerJoin('bank_lines', 'bank_lines.seq', 'bank_matches.line_seq')
    .innerJoin('entries', 'entries.seq', 'bank_matches.entry_seq')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'bank_matches.entry_seq')
    .leftJoin('adjustments', 'adjustments.entry_seq', 'bank_matches.entry_seq')
    .leftJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .leftJoin('bank_matches as undone', 'undone.undoes_seq', 'bank_matches.seq')
    .leftJoin('bank_match_notes', 'bank_match_notes.match_seq', 'bank_matches.seq')
    .select(['bank_matches.seq', 'bank_matches.line_seq', 'bank_matches.entry_seq', 'bank_matches.rule'])
    .select(['bank_matches.undoes_seq', 'bank_matches.created_at', 'bank_matches.actor', 'bank_match_notes.note'])
    .select(['bank_lines.account', 'bank_lines.day', 'bank_lines.amount_cents', 'entries.platform'])
    .select(['entries.at_wall', 'adjustments.id as adjustment_id', 'transactions.id as transaction_id'])
    .select(['undone.seq as undone_by', 'reversal.seq as reversed_by'])
    .orderBy('bank_matches.seq', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('bank_matches.seq', '<', before);
  if (id !== undefined) query = query.where('bank_matches.seq', '=', parseNumbered('bm', id));
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: `bm_${row.seq}`,
    line_id: `bl_${row.line_seq}`,
    account: row.account,
    day: row.day,
    amount: formatAmount(row.amount_cents),
    entry_id: `en_${row.entry_seq}`,
    entry_day: row.at_wall.slice(0, 'YYYY-MM-DD'.length),
    platform: row.platform,
    adjustment_id: row.adjustment_id,
    transaction_id: row.transaction_id,
    rule: row.rule,
    /** `reversed`: its entry was reversed, so the line is open again. */
    state:
      row.undoes_seq !== null
        ? 'undo'
        : row.undone_by !== null
          ? 'undone'
          : row.reversed_by !== null
            ? 'reversed'
            : 'matched',
    undoes: row.undoes_seq === null ? null : `bm_${row.undoes_seq}`,
    undone_by: row.undone_by === null ? null : `bm_${row.undone_by}`,
    note: row.note,
    created_at: row.created_at.toISOString(),
    created_by: row.actor,
  }));
}

/** Reads what the bank wrote into lines, by the row number of each. */
export async function readLineTexts(db: Reader, lines: number[]) {
  if (lines.length === 0) return new Map<number, never>();
  const rows = await db
    .selectFrom('bank_line_texts')
    .select(['line_seq', 'name', 'memo', 'check_number'])
    .where('line_seq', 'in', lines)
    .execute();
  return new Map(rows.map((row) => [row.line_seq, row]));
}

/**
 * Lists the entries of `Assets:Bank` without a line, the newest first: each with the lines that it may be.
 * @param before list below this row number.
 */
export async function listOpenBankEntries(db: Reader, limit: number, before: number | undefined) {
  let query = selectOpenAdjustments(db)
    .select(['entries.seq', 'adjustments.id', 'adjustments.platform', 'day', 'amount_cents', 'note', 'bank_account'])
    .orderBy('entries.seq', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('entries.seq', '<', before);
  const rows = await query.execute();
  const lines = await readLinesOfAmounts(
    db,
    rows.map(({ amount_cents: cents }) => -cents),
  );
  return rows.map(({ seq, id, platform, day, amount_cents: cents, note, bank_account }) => ({
    seq,
    id: `en_${seq}`,
    adjustment_id: id,
    platform,
    day,
    amount: formatAmount(-cents),
    note,
    bank_account,
    candidates: lines
      .filter((line) => line.amount_cents === -cents && isNear(line.day, day))
      .filter((line) => bank_account === null || bank_account === line.account)
      .slice(0, CANDIDATES_MAX)
      .map((line) => ({ line_id: `bl_${line.seq}`, day: line.day })),
  }));
}

function isNear(day: Day, other: Day): boolean {
  return addDays(other, -DAYS_APART_MAX) <= day && day <= addDays(other, DAYS_APART_MAX);
}

async function readLinesOfAmounts(db: Reader, amounts: bigint[]) {
  if (amounts.length === 0) return [];
  return await db
    .selectFrom('bank_lines')
    .select(['seq', 'account', 'day', 'amount_cents'])
    .where('amount_cents', 'in', amounts)
    .where(matchOfLine('bank_lines.seq'), 'is', null)
    .orderBy('seq')
    .execute();
}

/** Lists the statements that were imported, the newest first. @param before list below this row number. */
export async function listBankStatements(db: Reader, limit: number, before: number | undefined) {
  let query = db.selectFrom('bank_statements').selectAll().orderBy('seq', 'desc').limit(limit);
  if (before !== undefined) query = query.where('seq', '<', before);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: `bs_${row.seq}`,
    sha256: row.sha256.toString('hex'),
    account: row.account,
    from: row.from_day,
    to: row.to_day,
    balance: row.balance_cents === null ? null : formatAmount(row.balance_cents),
    balance_day: row.balance_day,
    lines: row.line_count,
    created_at: row.created_at.toISOString(),
    created_by: row.actor,
  }));
}
