import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import { addDays, type Day, listDays } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { toWallTimeBounds } from '../plan/report-plan.ts';
import { takeCut } from '../plan/take-cut.ts';
import { assertPlatform } from '../read/assert-platform.ts';
import { filterPlatform, readBalances } from '../read/read-balances.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';
import { readFactsAtCut } from '../read/read-facts-at-cut.ts';
import { readMovements } from '../read/read-movements.ts';
import { openTextFile } from '../render/open-text-file.ts';
import { addJournalEntry, endJournalDay, startJournal } from '../render/write-journal.ts';
import { reportsDirectory } from '../revisions/make-report.ts';
import { withDrafts } from '../revisions/publish-drafts.ts';

type Range = { from: Day; to: Day; platform: string | undefined };

/**
 * The ledger's journal over a range of days, with the balances asserted at the end of each; it belongs to no revision.
 * `use` gets the finished file, which is gone when it returns.
 * @throws ConfereError `invalid_request` for a range that has not begun, or a platform that nothing is known of.
 */
export async function exportJournal(context: Context, range: Range, use: (file: string) => Promise<void>) {
  if (range.to > context.calendar.dayOf(context.clock.now())) {
    throw new ConfereError('invalid_request', `${range.to} has not begun: there is nothing to export`);
  }
  if (range.platform !== undefined) await assertPlatform(context.db, range.platform, range);
  const cut = await takeCut(context);
  await withDrafts(reportsDirectory(context), randomUUID(), async (directory) => {
    const target = path.join(directory, 'range.journal');
    await inSnapshot(context.db, async (snapshot) => {
      const file = await openTextFile(target, context.signal);
      const bounds = toWallTimeBounds(range.from, addDays(range.to, 1));
      const ofCut = await readCutEntries(snapshot, cut);
      const scope = { ...bounds, ...ofCut, platform: range.platform };
      const balances = filterPlatform(await readBalances(snapshot, scope), range.platform);
      const note = `Confere, ${range.from} to ${range.to}, cut ${cut.entrySeq}`;
      const journal = startJournal(file, { day: range.from, balances, note, masked: false });
      const known = await readFactsAtCut(snapshot, { ...cut, ...ofCut });
      for (const day of listDays(range.from, range.to)) {
        const ofDay = { ...scope, ...toWallTimeBounds(day, addDays(day, 1)) };
        for await (const movements of readMovements(snapshot, ofDay, known)) {
          for (const movement of movements) {
            // what opens the books on the first day is in the opening balances already
            if (movement.kind !== 'opening' || day !== range.from) addJournalEntry(journal, movement);
          }
          await file.drain();
        }
        endJournalDay(journal, day);
      }
      await file.end();
    });
    await use(target);
  });
}
