import type { Calendar, Day, Wall } from '../domain/calendar.ts';

export type Locale = 'pt-BR' | 'en';
export const FORMATS = ['xlsx', 'csv', 'journal'] as const;
export type Format = (typeof FORMATS)[number];

/** Until that day's changes can no longer be late (`closed`), or the day is still running (`partial`). */
export type ReportState = 'partial' | 'provisional' | 'closed';

/** What of the append-only tables a revision saw: a sealed position. The same cut gives the same rows. */
export type Cut = {
  /** Null for a revision that was made before there were seals. */
  position: number | null;
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  /** Later changes of facts are put back. */
  factChangeSeq: number;
};

/** The run that read the whole day at the provider, and when its proving pass began. */
export type Proof = { runSeq: number; runId: string; askedAt: Date };

/** Everything that decides the content of one revision's files, apart from the ledger itself. */
export type ReportPlan = {
  day: Day;
  revision: number;
  cut: Cut;
  previous: { revision: number; cut: Cut; state: ReportState; madeAt: Date } | undefined;
  state: ReportState;
  proof: Proof | undefined;
  madeAt: Date;
  locale: Locale;
  fullDocuments: boolean;
  /** For whoever may not see personal data. */
  masked: boolean;
  /** Only this platform's movements; undefined: all. */
  platform: string | undefined;
  version: string;
  /** Excel's limit, or less in a test. */
  rowsPerSheetMax: number;
  calendar: Calendar;
  /** A person in it was forgotten since it was first made. */
  isRedacted: boolean;
};

/** Excel's own limit is 1,048,576, of which a title, a note, a header and a total take four. */
export const ROWS_PER_SHEET_MAX = 1_048_570;

/** The first wall clock of a day, and the first of the next: what lies from one to before the other is the day's. */
export function boundsOf(day: Day, next: Day): { start: Wall; end: Wall } {
  return { start: `${day} 00:00:00`, end: `${next} 00:00:00` };
}
