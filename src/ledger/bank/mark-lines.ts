/**
 * Lines that are nothing of PIX, such as a salary: a person marks them, or the texts that people gave for the account do. A mark is
 * a match without an entry. Texts mark only lines without a candidate, and none whose mark a person undid; lines that
 * no text of their account fits any more are open again.
 */
import type { Transaction } from 'kysely';
import { SYSTEM_ACTOR } from '../../access/audit.ts';
import { checkNote } from '../../access/check-note.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { splitList } from '../../domain/lists.ts';
import { REMOVED } from '../../domain/person/redact-text.ts';
import { refuse } from '../../texts/refuse.ts';
import { type BankAccountFacts, isNotPix, readBankAccounts } from '../stated/bank-accounts.ts';
import { listCandidates, type OpenEntry, type OpenLine } from './decide-matches.ts';
import { findOpenLine, parseNumbered, writeMatch } from './pick-match.ts';
import { lockMatching, matchOfLine } from './standing-matches.ts';
import { textOf } from './statement/identify-lines.ts';

const ROWS_AT_ONCE = 500;
const BY_RULE = 'not_pix_rule';
/** Undoes a mark that no text explains any more; texts may mark the line again. */
const UNDO_BY_RULE = 'undo_rule';

type By = { actor: string; note: string };

/**
 * Marks an open line as nothing of PIX.
 * @param line its id, `bl_12`. @returns it.
 * @throws ConfereError `not_found`; `conflict` for a line that is matched or marked.
 */
export async function markBankLine(context: Context, line: string, { actor, note: why }: By): Promise<string> {
  const note = checkNote(why);
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const { seq } = await findOpenLine(trx, line);
    await writeMatch(context, trx, { line_seq: seq, entry_seq: null, rule: 'not_pix' }, { actor, note });
    return line;
  });
}

/** Undoes a mark: the line is open again. @throws ConfereError `not_found`; `conflict` for a line without a mark. */
export async function unmarkBankLine(context: Context, line: string, { actor, note: why }: By): Promise<string> {
  const note = checkNote(why);
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const row = await trx
      .selectFrom('bank_lines')
      .leftJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
      .select(['bank_lines.seq', 'bank_matches.seq as match_seq', 'entry_seq'])
      .where('bank_lines.seq', '=', parseNumbered('bl', line))
      .executeTakeFirst();
    if (!row) throw refuse('bank_line_unknown');
    if (row.match_seq === null || row.entry_seq !== null) throw refuse('bank_line_unmarked');
    const undoing = { line_seq: row.seq, entry_seq: null, rule: 'undo', undoes_seq: row.match_seq } as const;
    await writeMatch(context, trx, undoing, { actor, note });
    return line;
  });
}

/**
 * Marks the open lines that texts of their account name. It needs the lock of the matches.
 * @param lines open ones. @param entries those without a match.
 * @returns how many it marked.
 */
export async function markByTexts(
  context: Context,
  trx: Transaction<Database>,
  lines: readonly OpenLine[],
  entries: readonly OpenEntry[],
): Promise<number> {
  const accounts = await readBankAccounts(trx);
  const named = lines.filter(({ account, text }) => fits(accounts, account, text));
  if (named.length === 0) return 0;
  const byAmount = Map.groupBy(entries, ({ cents }) => cents);
  const undone = await trx
    .selectFrom('bank_matches')
    .select('line_seq')
    .where('undoes_seq', 'is not', null)
    .where('entry_seq', 'is', null)
    .where('rule', '!=', UNDO_BY_RULE)
    .execute();
  const kept = new Set(undone.map((row) => row.line_seq));
  const marked = named.filter(
    (line) => !kept.has(line.seq) && listCandidates(line, byAmount.get(line.cents) ?? []).length === 0,
  );
  await write(
    context,
    trx,
    marked.map(({ seq }) => ({ line_seq: seq, rule: BY_RULE })),
  );
  return marked.length;
}

/** Opens the lines of an account that texts marked, and that none fits any more. It comes after the texts changed. */
export async function openUnnamed(context: Context, account: string): Promise<void> {
  await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const rows = await trx
      .selectFrom('bank_lines')
      .innerJoin('bank_line_texts', 'bank_line_texts.line_seq', 'bank_lines.seq')
      .innerJoin('bank_matches', (join) => join.on('bank_matches.seq', '=', matchOfLine('bank_lines.seq')))
      .select(['bank_lines.seq', 'bank_matches.seq as match_seq', 'bank_line_texts.name', 'memo'])
      .where('bank_lines.account', '=', account)
      .where('bank_matches.rule', '=', BY_RULE)
      .execute();
    const accounts = await readBankAccounts(trx);
    const isErased = (text: string): boolean => text === '' || text.includes(REMOVED);
    const open = rows.filter((row) => !isErased(textOf(row)) && !fits(accounts, account, textOf(row)));
    await write(
      context,
      trx,
      open.map(({ seq, match_seq }) => ({ line_seq: seq, rule: UNDO_BY_RULE, undoes_seq: match_seq })),
    );
  });
}

function fits(accounts: ReadonlyMap<string, BankAccountFacts>, account: string, text: string): boolean {
  const { notPix } = accounts.get(account) ?? {};
  return notPix !== undefined && !text.includes(REMOVED) && isNotPix(text, notPix);
}

type Written = { line_seq: number; rule: string; undoes_seq?: number };

async function write({ clock }: Context, trx: Transaction<Database>, rows: Written[]): Promise<void> {
  const about = { entry_seq: null, created_at: clock.now(), actor: SYSTEM_ACTOR };
  for (const some of splitList(rows, ROWS_AT_ONCE))
    await trx
      .insertInto('bank_matches')
      .values(some.map((row) => ({ ...row, ...about })))
      .execute();
}
