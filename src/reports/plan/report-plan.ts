import type { Calendar, Day, Month, WallTime } from '../../domain/calendar.ts';
import type { Language } from '../../domain/language/language.ts';
import type { MonthBalance } from '../../seal/digest-month.ts';
import type { OrdersCut } from './orders-cut.ts';
import type { EventWindow } from './read-event-window.ts';

/** The formats whose files each revision keeps. */
export const FORMATS = ['xlsx', 'csv', 'journal'] as const;
export type Format = (typeof FORMATS)[number];
/** All formats: those of other programs are made on request. `render/formats/formats.ts` has the facts of each. */
export const FILE_FORMATS = [
  ...FORMATS,
  ...(['ofx', 'lancamentos', 'conta-azul', 'calima', 'journal-continued', 'a-receber', 'nao-identificados'] as const),
] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** `partial` while the day is running, `closed` once no late change can follow, else `provisional`. */
export type ReportState = 'partial' | 'provisional' | 'closed';

/** The order of states: later readings only raise it. */
export const STATE_RANK: Record<ReportState, number> = { partial: 0, provisional: 1, closed: 2 };

/** The part of the append-only tables that a revision shows, up to a sealed position. Equal cuts give equal rows. */
export type Cut = {
  /** Null for a revision from before there were seals. */
  position: number | null;
  /** The chain's hash at that position when the revision was made. A rebuilt chain has another one. */
  sealHash: Buffer | null;
  entrySeq: number;
  eventSeq: number;
  mismatchChangeSeq: number;
  /** Later changes of facts are undone for the rows. */
  factChangeSeq: number;
  /** Null for a new cut, or one from before there were windows: no late events are known. */
  eventWindow: EventWindow | null;
  /** Null: the files show no orders, because none was expected, or they are of before. */
  orders: OrdersCut | null;
};

/** The run that read the whole day at the provider; its clean pass began at `askedAt`. A day that was only counted has none. */
export type WholeReading = { runSeq: number; runId: string; askedAt: Date; surplus?: AcceptedSurplus | undefined };

/** The number of rows that the provider announced beyond those it listed, and the person who accepted it for the day. */
export type AcceptedSurplus = { count: number; actor: string; at: Date };

export type PreviousRevision = {
  revision: number;
  cut: Cut;
  state: ReportState;
  proven: boolean;
  madeAt: Date;
  digest: Buffer;
  /** Digest over whose its receipts are; null where it shows no orders. */
  ordersDigest: Buffer | null;
};

/** The part that a day's files and a range's share. */
type FilePlan = {
  cut: Cut;
  state: ReportState;
  madeAt: Date;
  locale: Language;
  fullDocuments: boolean;
  /** For a reader without the right to see personal data. */
  masked: boolean;
  /** Only this platform's movements; undefined: all. */
  platform: string | undefined;
  version: string;
  /** Excel's limit, or less in a test. */
  rowsPerSheetMax: number;
  calendar: Calendar;
  /** A person in it was erased after it was made. */
  isRedacted: boolean;
  /** `day`: one posting of each day, platform and account, in a format whose facts say that it can. */
  group?: 'day' | undefined;
};

/** Everything that decides the content of one revision's files, apart from the ledger itself. */
export type ReportPlan = FilePlan & {
  day: Day;
  revision: number;
  previous: PreviousRevision | undefined;
  reading: WholeReading | undefined;
  /** When the day was counted at the provider, where no run read it whole after its end. */
  countedAt: Date | undefined;
};

/** The only rule for the word *proven*: the whole day was read or counted at the provider after its end. */
export function isProven({ state, reading, countedAt }: Pick<ReportPlan, 'state' | 'reading' | 'countedAt'>): boolean {
  return state !== 'partial' && (reading ?? countedAt) !== undefined;
}

/** A day of a range when the file was made. `counted`: it was proven by counts, and no run read it whole. */
export type RangeDay = { day: Day; state: ReportState; proven: boolean; counted?: boolean };

/** The close of a month. Its files show the cut at which it was closed, also after the ledger learnt more. */
export type ClosedMonth = { month: Month; at: Date; actor: string; cut: Cut; balances: MonthBalance[] };

/** Plans a file over several days. It is made on request: it is no revision and is not stored. */
export type RangePlan = FilePlan & {
  days: RangeDay[];
  /** The close of a closed month. */
  close?: ClosedMonth | undefined;
  /** The close of the last closed month before: from its cut on, changes of earlier months are listed. */
  base?: ClosedMonth | undefined;
};

export type AnyPlan = ReportPlan | RangePlan;

/** The first and the last day of a file. */
export function spanOf(plan: AnyPlan): { from: Day; to: Day } {
  if (!('days' in plan)) return { from: plan.day, to: plan.day };
  const [first, last] = [plan.days[0], plan.days.at(-1)];
  if (!first || !last) throw new Error('a range has at least one day');
  return { from: first.day, to: last.day };
}

/** Excel's own limit is 1,048,576, of which a title, a note, a header and a total take four. */
export const ROWS_PER_SHEET_MAX = 1_048_570;

/** The bounds of a day: from `start` to before `end`. */
export function toWallTimeBounds(day: Day, next: Day): { start: WallTime; end: WallTime } {
  return { start: `${day} 00:00:00`, end: `${next} 00:00:00` };
}
