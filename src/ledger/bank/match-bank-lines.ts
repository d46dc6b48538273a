import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { addDays } from '../../domain/calendar.ts';
import { splitList } from '../../domain/lists.ts';
import { decideMatches, pairOf, type Rule } from './decide-matches.ts';
import { readNamedCashouts, readOpenAdjustments } from './read-open-entries.ts';
import { readOpenLines } from './read-open-lines.ts';

/** The rules match lines of the last days, counted from the newest line; a person matches older ones. */
const MATCHED_DAYS = 400;
const ROWS_AT_ONCE = 500;
/** The actor of matches that the rules make. */
const ACTOR = 'confere';
const LOCK = 'bank_matching';

/**
 * Matches lines of the bank's statements with entries by the rules of `decide-matches.ts`. A pair that a person undid stays
 * apart. Repeated, it finds nothing more until a line or an entry is new.
 * @returns how many it matched by each rule.
 */
export async function matchBankLines(context: Context): Promise<Record<Rule, number>> {
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const newest = await trx.selectFrom('bank_lines').select('day').orderBy('day', 'desc').limit(1).executeTakeFirst();
    const counts: Record<Rule, number> = { reference: 0, amount: 0 };
    if (!newest) return counts;
    const lines = await readOpenLines(trx, addDays(newest.day, -MATCHED_DAYS));
    const entries = [...(await readOpenAdjustments(trx)), ...(await readNamedCashouts(trx, lines))];
    const made = decideMatches(lines, entries, await readUndonePairs(trx));
    for (const { rule } of made) counts[rule]++;
    const about = { created_at: context.clock.now(), actor: ACTOR };
    const rows = made.map(({ lineSeq, entrySeq, rule }) => ({
      ...{ line_seq: lineSeq, entry_seq: entrySeq, rule },
      ...about,
    }));
    for (const some of splitList(rows, ROWS_AT_ONCE)) await trx.insertInto('bank_matches').values(some).execute();
    return counts;
  });
}

/** Locks the matches against other writers, so that no line and no entry gets two. */
export async function lockMatching(trx: Transaction<Database>): Promise<void> {
  const value = Buffer.from('1');
  await trx.insertInto('settings').values({ name: LOCK, value }).onDuplicateKeyUpdate({ value }).execute();
}

/** The pairs that people undid, as `pairOf` writes them. */
async function readUndonePairs(trx: Transaction<Database>): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('bank_matches')
    .select(['line_seq', 'entry_seq'])
    .where('undoes_seq', 'is not', null)
    .execute();
  return new Set(rows.map(({ line_seq, entry_seq }) => pairOf(line_seq, entry_seq)));
}
