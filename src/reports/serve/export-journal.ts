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
 * Exports the ledger's journal of a range of days, with assertions of the balances at the end of each day. It belongs to
 * no revision and masks nothing. `use` gets the finished file, which is deleted when it returns.
 * @throws ConfereError `invalid_request` for a range that ends in the future, or an unknown platform.
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
      const cutEntries = await readCutEntries(snapshot, cut);
      const scope = { ...bounds, ...cutEntries, platform: range.platform };
      const balances = filterPlatform(await readBalances(snapshot, scope), range.platform);
      const note = `Confere, ${range.from} to ${range.to}, cut ${cut.entrySeq}`;
      const journal = startJournal(file, { day: range.from, balances, note, masked: false });
      const factsAtCut = await readFactsAtCut(snapshot, { ...cut, ...cutEntries });
      for (const day of listDays(range.from, range.to)) {
        const ofDay = { ...scope, ...toWallTimeBounds(day, addDays(day, 1)) };
        for await (const movements of readMovements(snapshot, ofDay, factsAtCut)) {
          for (const movement of movements) {
            // the opening balances hold the openings of the first day already
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
