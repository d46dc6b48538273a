import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import type { Reader } from '../../database/reader.ts';
import { addDays } from '../../domain/calendar.ts';
import { toWallTimeBounds } from '../plan/report-plan.ts';
import { createTally } from '../read/create-tally.ts';
import { readAccountBalances } from '../read/read-accounts.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';
import { readFactsAtCut } from '../read/read-facts-at-cut.ts';
import { readMovements } from '../read/read-movements.ts';
import { collectFigures } from '../read/report-figures.ts';
import { type ReportRow, selectReports, toCut } from './present-report.ts';

/** Two months of days in one tick: each reads all movements of its day. */
const FILLED_MAX = 62;

/** Adds the figures of Resumo to revisions of earlier versions, which stored none: the newest days first. */
export async function fillFigures(context: Context): Promise<void> {
  const rows = await selectReports(context.db)
    .where('figures', 'is', null)
    .orderBy('day', 'desc')
    .orderBy('revision', 'desc')
    .limit(FILLED_MAX)
    .execute();
  for (const row of rows) {
    if (context.signal.aborted) return;
    const figures = await inSnapshot(context.db, (snapshot) => readAtCut(snapshot, row));
    await context.db.updateTable('reports').set({ figures }).where('seq', '=', row.seq).execute();
  }
}

/** Adds up the movements of a revision's day again, at its cut. */
async function readAtCut(db: Reader, row: ReportRow): Promise<string> {
  const cut = toCut(row);
  const entries = await readCutEntries(db, cut);
  const scope = { ...toWallTimeBounds(row.day, addDays(row.day, 1)), ...entries, platform: undefined };
  const tally = createTally(await readAccountBalances(db, scope), undefined);
  const factsAtCut = await readFactsAtCut(db, { ...cut, ...entries });
  for await (const movements of readMovements(db, scope, factsAtCut)) {
    // the opening balance holds these already
    for (const movement of movements) if (movement.kind !== 'opening') tally.add(movement);
  }
  return await collectFigures(db, tally.platforms, cut.mismatchChangeSeq);
}
