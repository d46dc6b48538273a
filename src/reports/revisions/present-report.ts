import type { Selectable } from 'kysely';

import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';
import type { Day } from '../../domain/calendar.ts';
import { parseOrdersCut } from '../plan/orders-cut.ts';
import type { Cut, ReportState } from '../plan/report-plan.ts';
import { parseFigures, presentFigures } from '../read/report-figures.ts';
import type { ReportFile } from './publish-drafts.ts';

/** `state`, `locale` and `files` hold only the values that insert-revision.ts writes, so readers cast them. */
export type ReportRow = Selectable<Database['reports']>;

/** A revision as our API and `confere export --json` show it. */
export type Report = ReturnType<typeof presentReport>;

/**
 * @param now state and proof, if they may have changed since it was made. The next revision will hold them.
 * @param platform limits the figures to one platform.
 */
export function presentReport(row: ReportRow, now?: { state: ReportState; proven: boolean }, platform?: string) {
  return {
    day: row.day,
    revision: row.revision,
    state: now?.state ?? (row.state as ReportState),
    made_at: row.made_at.toISOString(),
    proven: now?.proven ?? row.proven === 1,
    digest: row.digest.toString('hex'),
    // of the workbook
    sha256: row.sha256.toString('hex'),
    files: JSON.parse(row.files) as ReportFile[],
    // of its cut in the journal's hash chain, with the chain's hash there when it was made
    position: row.cut_seal_position,
    chain_hash: row.cut_seal_hash?.toString('hex') ?? null,
    // a person in it was erased since: its files were rebuilt, with *removido* instead of the name
    redacted: row.redacted_at !== null,
    // Resumo's; null in a revision of an earlier version, until the job daily_report has added them
    figures: presentFigures(parseFigures(row.figures, platform)),
  };
}

/** The newest revision of a day, or an older one by its number. */
export async function findRevision(db: Reader, day: Day, revision?: number): Promise<ReportRow | undefined> {
  return await selectReports(db)
    .where('day', '=', day)
    .$if(revision !== undefined, (query) => query.where('revision', '=', revision ?? 0))
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function selectReports(db: Reader) {
  return db.selectFrom('reports').selectAll();
}

export function toCut(row: ReportRow): Cut {
  return {
    entrySeq: row.cut_entry_seq,
    eventSeq: row.cut_event_seq,
    mismatchChangeSeq: row.cut_mismatch_change_seq,
    position: row.cut_seal_position,
    sealHash: row.cut_seal_hash,
    factChangeSeq: row.cut_fact_change_seq,
    eventWindow: row.cut_event_window,
    orders: parseOrdersCut(row.cut_orders),
  };
}

/** `2026-11-20-r3`, as in the console's addresses. */
export function nameRevision({ day, revision }: { day: Day; revision: number }): string {
  return `${day}-r${revision}`;
}
