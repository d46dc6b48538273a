import type { Selectable } from 'kysely';

import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { Day } from '../domain/calendar.ts';
import type { ReportState } from './plan.ts';
import type { FileFacts } from './publish-files.ts';

export type ReportRow = Selectable<Database['reports']>;

/** A revision as our API and `confere export --json` show it. */
export type Report = {
  day: Day;
  revision: number;
  /** For the newest revision of a day as it is now: a day is closed by later readings, without a new revision. */
  state: ReportState;
  made_at: string;
  proven: boolean;
  digest: string;
  /** Of the workbook. */
  sha256: string;
  files: FileFacts[];
};

export function presentReport(row: ReportRow, state: ReportState = row.state as ReportState): Report {
  return {
    day: row.day,
    revision: row.revision,
    state,
    made_at: row.made_at.toISOString(),
    proven: row.proven === 1,
    digest: row.digest.toString('hex'),
    sha256: row.sha256.toString('hex'),
    files: JSON.parse(row.files) as FileFacts[],
  };
}

/** The newest revision of a day, or an older one by its number. */
export async function findRevision(db: Reader, day: Day, revision?: number): Promise<ReportRow | undefined> {
  return await db
    .selectFrom('reports')
    .selectAll()
    .where('day', '=', day)
    .$if(revision !== undefined, (query) => query.where('revision', '=', revision ?? 0))
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
}
