import type { Context } from '../context.ts';
import { loadSealedEntries } from './load-sealed-entries.ts';
import { nameAccount } from './post.ts';
import { selectBeforeOpening } from './repost-adjustments.ts';
import type { TellBreak } from './tell-break.ts';

const ROWS_AT_ONCE = 500;

const BEFORE_OPENING_MAX = 1_000;

/**
 * Whether each opening and adjustment that a person entered has an entry of its amount, on its platform and day, and no
 * adjustment stands from before its platform's opening.
 */
export async function verifyStated(context: Context, tell: TellBreak): Promise<void> {
  for (const table of ['openings', 'adjustments'] as const) {
    let after = 0;
    while (!context.signal.aborted) {
      const rows = await readRows(context, table, after);
      if (rows.length === 0) break;
      await verifyRows(context, rows, tell);
      after = rows.at(-1)?.seq ?? after;
    }
  }
  await verifyOpened(context, tell);
}

/** An adjustment of a platform that is being booked by its opening is left to the next check. */
async function verifyOpened(context: Context, tell: TellBreak): Promise<void> {
  const rows = await selectBeforeOpening(context.db)
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
  for (const { id, opening_id: opening } of rows) tell({ scope: id, says: `it stands from before ${opening}` });
}

type Stated = Awaited<ReturnType<typeof readRows>>[number];

async function readRows(context: Context, table: 'openings' | 'adjustments', after: number) {
  const amount = table === 'openings' ? ('balance_cents' as const) : ('amount_cents' as const);
  return await context.db
    .selectFrom(table)
    .select(['seq', 'id', 'platform', 'day', 'entry_seq', `${amount} as stated_cents`])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(ROWS_AT_ONCE)
    .execute();
}

async function verifyRows(context: Context, rows: Stated[], tell: TellBreak): Promise<void> {
  const seqs = rows.map((row) => row.entry_seq);
  const entries = await loadSealedEntries(context.db, { seqs });
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  for (const row of rows) {
    const entry = bySeq.get(row.entry_seq);
    const available = nameAccount('Assets:Provider:Available', row.platform);
    const cents = entry?.postings.find((posting) => posting.account === available)?.cents;
    const right =
      cents === row.stated_cents && entry?.atWall === `${row.day} 00:00:00` && entry.platform === row.platform;
    if (!right) tell({ scope: row.id, says: `its entry en_${row.entry_seq} is not what was stated` });
  }
}
