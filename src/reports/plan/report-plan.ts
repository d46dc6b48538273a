import type { Calendar, Day, WallTime } from '../../domain/calendar.ts';
import type { EventWindow } from './read-event-window.ts';

export type Locale = 'pt-BR' | 'en';
export const FORMATS = ['xlsx', 'csv', 'journal'] as const;
export type Format = (typeof FORMATS)[number];

/** Until that day's changes can no longer be late (`closed`), or the day is still running (`partial`). */
export type ReportState = 'partial' | 'provisional' | 'closed';

/** How far a state has come: what is later learnt of a day at rest only takes it on. */
export const STATE_RANK: Record<ReportState, number> = { partial: 0, provisional: 1, closed: 2 };

/** What of the append-only tables a revision saw: a sealed position. The same cut gives the same rows. */
export type Cut = {
  /** Null for a revision that was made before there were seals. */
  position: number | null;
  /** The chain's hash there, as it was when it was made: the one of now may have been built anew. */
  sealHash: Buffer | null;
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  /** Later changes of facts are put back. */
  factChangeSeq: number;
  /** Null for a cut that is new, or was made before there were windows: no event of it is known to have come late. */
  eventWindow: EventWindow | null;
};

/** The run that read the whole day at the provider, and when its proving pass began. */
export type Proof = { runSeq: number; runId: string; askedAt: Date; surplus?: AcceptedSurplus | undefined };

/** How many more rows the provider announced than it listed, and who accepted that for the day. */
export type AcceptedSurplus = { count: number; actor: string; at: Date };

/** The revision before. */
export type PreviousRevision = {
  revision: number;
  cut: Cut;
  state: ReportState;
  proven: boolean;
  madeAt: Date;
  digest: Buffer;
};

/** Everything that decides the content of one revision's files, apart from the ledger itself. */
export type ReportPlan = {
  day: Day;
  revision: number;
  cut: Cut;
  previous: PreviousRevision | undefined;
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
export function toWallTimeBounds(day: Day, next: Day): { start: WallTime; end: WallTime } {
  return { start: `${day} 00:00:00`, end: `${next} 00:00:00` };
}
