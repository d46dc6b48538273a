import type { Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import { decideMatches, listLineNames, type OpenLine, pairOf, type Rule } from './decide-matches.ts';
import { markByTexts } from './mark-lines.ts';
import { readNamedCashouts, readOpenAdjustments } from './read-open-entries.ts';
import { lockMatching, matchOfLine } from './standing-matches.ts';
import { textOf } from './statement/identify-lines.ts';

/** The rules match lines of the last days, counted from the newest line; a person matches older ones. */
const MATCHED_DAYS = 400;
const ROWS_AT_ONCE = 500;
/** The actor of matches that the rules make. */

/** Lines that became no longer open: by each rule, and those that are nothing of PIX. */
export type Matched = Record<Rule | 'not_pix', number>;

/**
 * Matches lines of the bank's statements with entries by the rules of `decide-matches.ts`. A pair that a person undid stays
 * apart. Repeated, it finds nothing more until a line or an entry is new.
 * @returns how many it matched by each rule, and marked.
 */
export async function matchBankLines(context: Context): Promise<Matched> {
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const newest = await trx.selectFrom('bank_lines').select('day').orderBy('day', 'desc').limit(1).executeTakeFirst();
    const counts: Matched = { reference: 0, amount: 0, not_pix: 0 };
    if (!newest) return counts;
    const lines = await readOpenLines(trx, addDays(newest.day, -MATCHED_DAYS));
    const entries = [...(await readOpenAdjustments(trx)), ...(await readNamedCashouts(trx, lines))];
    const made = decideMatches(lines, entries, await readUndonePairs(trx));
    for (const { rule } of made) counts[rule]++;
    const about = { created_at: context.clock.now(), actor: SYSTEM_ACTOR };
    const rows = made.map(({ lineSeq, entrySeq, rule }) => ({
      ...{ line_seq: lineSeq, entry_seq: entrySeq, rule },
      ...about,
    }));
    for (const some of splitList(rows, ROWS_AT_ONCE)) await trx.insertInto('bank_matches').values(some).execute();
    const matched = new Set(made.map(({ lineSeq }) => lineSeq));
    const left = lines.filter(({ seq }) => !matched.has(seq));
    const taken = new Set(made.map(({ entrySeq }) => entrySeq));
    counts.not_pix = await markByTexts(
      context,
      trx,
      left,
      entries.filter(({ seq }) => !taken.has(seq)),
    );
    return counts;
  });
}

/** Reads the lines without a match. A line of zero moves nothing and needs none. @param since their first day. */
async function readOpenLines(trx: Transaction<Database>, since: Day): Promise<OpenLine[]> {
  const rows = await trx
    .selectFrom('bank_lines')
    .leftJoin('bank_line_texts', 'bank_line_texts.line_seq', 'bank_lines.seq')
    .select(['seq', 'account', 'day', 'amount_cents', 'fitid', 'name', 'memo', 'check_number', 'reference_number'])
    .where('day', '>=', since)
    .where('amount_cents', '!=', 0n)
    .where(matchOfLine('bank_lines.seq'), 'is', null)
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({
    ...{ seq: row.seq, account: row.account, day: row.day, cents: row.amount_cents },
    text: textOf({ name: row.name ?? '', memo: row.memo ?? '' }),
    ...listLineNames([row.fitid, row.check_number, row.reference_number], [row.name, row.memo]),
  }));
}

/** The pairs that people undid, as `pairOf` writes them. */
async function readUndonePairs(trx: Transaction<Database>): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('bank_matches')
    .select(['line_seq', 'entry_seq'])
    .where('undoes_seq', 'is not', null)
    .execute();
  return new Set(rows.flatMap(({ line_seq, entry_seq }) => (entry_seq === null ? [] : pairOf(line_seq, entry_seq))));
}
