import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { listCandidates, listLineNames } from './decide-matches.ts';
import { parseNumbered } from './pick-match.ts';
import { readNamedCashouts, readOpenAdjustments } from './read-open-entries.ts';
import { matchOfLine } from './standing-matches.ts';
import { textOf } from './statement/identify-lines.ts';

export const LINE_STATES = ['open', 'matched', 'not_pix'] as const;

export type LineFilters = {
  state?: (typeof LINE_STATES)[number] | undefined;
  account?: string | undefined;
  from?: Day | undefined;
  to?: Day | undefined;
  /** One line, `bl_12`. */
  id?: string | undefined;
  /** Lines of exactly this amount, until this day. */
  amount?: { cents: bigint; until: Day } | undefined;
};

/** Candidates that a line lists. */
const CANDIDATES_MAX = 10;

/**
 * Lists lines of the bank's statements, the newest first: each with its match, its mark as nothing of PIX, or the candidates for a
 * match. A line of zero is neither open nor matched.
 * @param before list below this row number.
 */
export async function listBankLines(db: Reader, limit: number, before: number | undefined, filters: LineFilters = {}) {
  const rows = await selectLines(db, filters)
    .$if(before !== undefined, (query) => query.where('bank_lines.seq', '<', before ?? 0))
    .orderBy('bank_lines.seq', 'desc')
    .limit(limit)
    .execute();
  const candidates = await readCandidates(
    db,
    rows.filter((row) => row.match_seq === null && row.amount_cents !== 0n),
  );
  return rows.map((row) => ({
    seq: row.seq,
    id: `bl_${row.seq}`,
    account: row.account,
    day: row.day,
    amount: formatAmount(row.amount_cents),
    type: row.type,
    name: row.name,
    memo: row.memo,
    check_number: row.check_number,
    reference_number: row.reference_number,
    fitid: row.fitid,
    statement_id: `bs_${row.statement_seq}`,
    match: row.match_seq === null || row.entry_seq === null ? null : presentMatch({ ...row, seq: row.match_seq }),
    not_pix: row.match_seq === null || row.entry_seq !== null ? null : presentMark(row),
    candidates: candidates.get(row.seq) ?? [],
  }));
}

function selectLines(db: Reader, { state, account, from, to, id, amount }: LineFilters) {
  let query = db
    .selectFrom('bank_lines')
    .innerJoin('bank_line_texts', 'bank_line_texts.line_seq', 'bank_lines.seq')
    .leftJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
    .leftJoin('adjustments', 'adjustments.entry_seq', 'bank_matches.entry_seq')
    .leftJoin('entries', 'entries.seq', 'bank_matches.entry_seq')
    .leftJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .select(['bank_lines.seq', 'bank_lines.account', 'bank_lines.day', 'bank_lines.amount_cents', 'bank_lines.type'])
    .select(['fitid', 'bank_lines.statement_seq', 'name', 'memo', 'check_number', 'reference_number'])
    .select(['bank_matches.seq as match_seq', 'bank_matches.rule', 'bank_matches.entry_seq'])
    .leftJoin('bank_match_notes', 'bank_match_notes.match_seq', 'bank_matches.seq')
    .select(['bank_matches.created_at', 'bank_matches.actor', 'bank_match_notes.note'])
    .select(['adjustments.id as adjustment_id', 'transactions.id as transaction_id']);
  if (state === 'open') query = query.where('bank_matches.seq', 'is', null).where('bank_lines.amount_cents', '!=', 0n);
  if (state === 'matched') query = query.where('bank_matches.entry_seq', 'is not', null);
  if (state === 'not_pix')
    query = query.where('bank_matches.seq', 'is not', null).where('bank_matches.entry_seq', 'is', null);
  if (account !== undefined) query = query.where('bank_lines.account', '=', account);
  if (from !== undefined) query = query.where('bank_lines.day', '>=', from);
  if (to !== undefined) query = query.where('bank_lines.day', '<=', to);
  if (id !== undefined) query = query.where('bank_lines.seq', '=', parseNumbered('bl', id));
  if (amount)
    query = query.where('bank_lines.amount_cents', '=', amount.cents).where('bank_lines.day', '<=', amount.until);
  return query;
}

type Matched = {
  seq: number;
  rule: string | null;
  entry_seq: number | null;
  adjustment_id: string | null;
  transaction_id: string | null;
  created_at: Date | null;
  actor: string | null;
};

function presentMatch({ seq, rule, entry_seq, adjustment_id, transaction_id, created_at, actor }: Matched) {
  return {
    id: `bm_${seq}`,
    rule: rule ?? '',
    entry_id: `en_${entry_seq}`,
    adjustment_id,
    transaction_id,
    created_at: created_at?.toISOString() ?? '',
    created_by: actor ?? '',
  };
}

type Marked = Pick<Matched, 'rule' | 'created_at' | 'actor'> & { note: string | null };

function presentMark({ rule, note, created_at, actor }: Marked) {
  const at = created_at?.toISOString() ?? '';
  return { by_rule: rule === 'not_pix_rule', note, created_at: at, created_by: actor ?? '' };
}

export type PresentedCandidate = {
  adjustment_id: string | null;
  transaction_id: string | null;
  day: string;
  amount: string;
  /** Whether the line names it. */
  named: boolean;
};

type Row = Awaited<ReturnType<ReturnType<typeof selectLines>['execute']>>[number];

/** Returns the candidates of open lines, by the line's row number. */
async function readCandidates(db: Reader, rows: Row[]): Promise<Map<number, PresentedCandidate[]>> {
  const lines = rows.map((row) => ({
    ...{ seq: row.seq, account: row.account, day: row.day, cents: row.amount_cents, text: textOf(row) },
    ...listLineNames([row.fitid, row.check_number, row.reference_number], [row.name, row.memo]),
  }));
  if (lines.length === 0) return new Map();
  const [adjustments, cashouts] = [await readOpenAdjustments(db), await readNamedCashouts(db, lines)];
  const ids = new Map([...adjustments, ...cashouts].map(({ seq, id }) => [seq, id]));
  return new Map(
    lines.map((line) => {
      const found = listCandidates(line, [...adjustments, ...cashouts]).slice(0, CANDIDATES_MAX);
      const presented = found.map(({ entry, isNamed }) => {
        const [id, isAdjustment] = [ids.get(entry.seq) ?? null, entry.kind === 'adjustment'];
        return {
          adjustment_id: isAdjustment ? id : null,
          transaction_id: isAdjustment ? null : id,
          day: entry.day,
          amount: formatAmount(entry.cents),
          named: isNamed,
        };
      });
      return [line.seq, presented];
    }),
  );
}
