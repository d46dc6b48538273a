import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { nameAccount } from '../ledger/journal/plan-entries.ts';
import { selectAdjustmentsBeforeOpening } from '../ledger/stated/repost-adjustments.ts';
import { loadSealedEntries } from '../seal/load-sealed-entries.ts';
import type { Verification } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';

const ROWS_AT_ONCE = 500;

const BEFORE_OPENING_MAX = 1_000;

/**
 * Verifies that each opening and adjustment has an entry of its amount, platform and day, which is reversed if and only
 * if the opening or adjustment was; and that no adjustment before its platform's opening is in force. All of them, also
 * after a proof: people enter few, and change old ones.
 */
export async function verifyStated({ context, report }: Verification): Promise<boolean> {
  for (const readRows of [readOpenings, readAdjustments]) {
    let after = 0;
    while (!context.signal.aborted) {
      const rows = await readRows(context.db, after);
      if (rows.length === 0) break;
      await verifyRows(context, rows, report);
      after = rows.at(-1)?.seq ?? after;
    }
  }
  await verifyOpened(context, report);
  return false;
}

/** Reports adjustments before an opening; a platform that is being reposted is left to the next check. */
async function verifyOpened(context: Context, report: ReportBreak): Promise<void> {
  const rows = await selectAdjustmentsBeforeOpening(context.db)
    .select(['adjustments.id', 'openings.id as opening_id'])
    .where((eb) => {
      const reposting = eb
        .selectFrom('openings as other')
        .select('other.seq')
        .whereRef('other.platform', '=', 'adjustments.platform')
        .where('other.reposted_at', 'is', null);
      return eb.not(eb.exists(reposting));
    })
    .limit(BEFORE_OPENING_MAX)
    .execute();
  for (const { id, opening_id: opening } of rows) report({ scope: id, says: `it stands from before ${opening}` });
}

type Stated = {
  seq: number;
  id: string;
  platform: string;
  day: string;
  entry_seq: number;
  stated_cents: bigint;
  /** The entry that reverses its own. */
  reversed_by: number | null;
  /** Whether it was reversed, and by which entry, where that is known. */
  taken_back: number;
  taken_back_by: number | null;
};

async function readOpenings(db: Reader, after: number): Promise<Stated[]> {
  return await db
    .selectFrom('openings')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'openings.entry_seq')
    .select(['openings.seq', 'openings.id', 'openings.platform', 'openings.day', 'openings.entry_seq'])
    .select(['openings.balance_cents as stated_cents', 'reversal.seq as reversed_by'])
    .select(sql<number>`openings.in_force IS NULL`.as('taken_back'))
    .select(sql<null>`NULL`.as('taken_back_by'))
    .where('openings.seq', '>', after)
    .orderBy('openings.seq')
    .limit(ROWS_AT_ONCE)
    .execute();
}

async function readAdjustments(db: Reader, after: number): Promise<Stated[]> {
  return await db
    .selectFrom('adjustments')
    .leftJoin('entries as reversal', 'reversal.reverses_seq', 'adjustments.entry_seq')
    .leftJoin('adjustments as back', 'back.reverses_seq', 'adjustments.seq')
    .select(['adjustments.seq', 'adjustments.id', 'adjustments.platform', 'adjustments.day', 'adjustments.entry_seq'])
    .select(['adjustments.amount_cents as stated_cents', 'reversal.seq as reversed_by'])
    .select(sql<number>`back.seq IS NOT NULL`.as('taken_back'))
    .select('back.entry_seq as taken_back_by')
    .where('adjustments.seq', '>', after)
    .orderBy('adjustments.seq')
    .limit(ROWS_AT_ONCE)
    .execute();
}

async function verifyRows(context: Context, rows: Stated[], report: ReportBreak): Promise<void> {
  const seqs = rows.map((row) => row.entry_seq);
  const entries = await loadSealedEntries(context.db, { seqs });
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  for (const row of rows) {
    const entry = bySeq.get(row.entry_seq);
    const available = nameAccount('Assets:Provider:Available', row.platform);
    const cents = entry?.postings.find((posting) => posting.account === available)?.cents;
    const right =
      cents === row.stated_cents && entry?.atWall === `${row.day} 00:00:00` && entry.platform === row.platform;
    if (!right) report({ scope: row.id, says: `its entry en_${row.entry_seq} is not what was stated` });
    // an adjustment that undoes a reversal posts anew and reverses no entry
    const fault = entry?.kind === 'reversal' ? undefined : findReversalFault(row);
    if (fault) report({ scope: row.id, says: fault });
  }
}

function findReversalFault({ entry_seq: seq, ...row }: Stated): string | undefined {
  const isTakenBack = Number(row.taken_back) === 1;
  if (!isTakenBack && row.reversed_by !== null) return `its entry en_${seq} is reversed, and it was not taken back`;
  const by = row.taken_back_by ?? row.reversed_by;
  if (!isTakenBack || (by !== null && by === row.reversed_by)) return undefined;
  return `it was taken back, and its entry en_${seq} is not reversed by that`;
}
