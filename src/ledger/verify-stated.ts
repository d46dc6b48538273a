import type { Context } from '../context.ts';
import { loadSealedEntries } from './load-sealed-entries.ts';
import { nameAccount } from './post.ts';
import type { TellBreak } from './tell-break.ts';

const ROWS_AT_ONCE = 500;

/** Whether each opening and adjustment that a person entered has an entry of its amount, on its platform and day. */
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
