import type { Day } from '../../domain/calendar.ts';
import type { ReportState } from '../plan/report-plan.ts';

/** A stored revision, as lists of days need it. */
export type DayRevision = {
  day: Day;
  revision: number;
  /** When it was made; the day's present state may be higher. */
  state: ReportState;
  madeAt: Date;
  proven: boolean;
  /** It was proven by a reading: not only counted. */
  isReadWhole: boolean;
  digest: string;
  /** A person in it was erased since. */
  isRedacted: boolean;
  /** When a later version of the program first rebuilt a file of it with other bytes; undefined if none was. */
  rebuilt?: { at: string; version: string } | undefined;
};

/**
 * - `before`, `future`: nothing to report.
 * - `running`: the day has not ended.
 * - `missing`: it ended, and no report has the whole day.
 * - `changed`: the ledger learnt something of it after its newest revision, or of an earlier day that moves its balance.
 * - `provisional`: changes can still arrive late.
 * - `revised`: closed, and a later revision has other rows than an earlier one.
 * - `closed`: nothing can change it any more.
 */
export type DayState = 'before' | 'future' | 'running' | 'missing' | 'changed' | 'provisional' | 'revised' | 'closed';

export type DecidedDay = ReturnType<typeof decideDay>;

type Facts = {
  day: Day;
  today: Day;
  /** The first day with an entry or a report. */
  firstDay: Day | undefined;
  /** The newest first. */
  revisions: DayRevision[];
  unread: Day[];
  isReadWhole: boolean;
  hasChanged: boolean;
  /** A doubt about the provider's time zone keeps the day from being closed. */
  isInDoubt: boolean;
};

/** Decides the state of a day from its revisions and readings, as of now. Pure. */
export function decideDay(facts: Facts) {
  const { day, unread, isInDoubt, revisions } = facts;
  const [first, last] = [unread[0], unread.at(-1)];
  const newest = revisions.find((one) => one.state !== 'partial');
  const revisedBy = findRevised(revisions);
  return {
    state: decideState(facts, newest, revisedBy),
    // whether the whole day was read after its end: not only counted
    isReadWhole: facts.isReadWhole || newest?.isReadWhole === true,
    // creation days that nobody has read or counted since the day's end; a closed day stays closed after its readings are deleted
    unread:
      first && last && newest?.state !== 'closed'
        ? { count: unread.length, from: first, to: last, hasDay: unread.includes(day) }
        : undefined,
    isInDoubt,
    revisedBy,
  };
}

function decideState(
  { day, today, firstDay, unread, hasChanged, isInDoubt }: Facts,
  newest: DayRevision | undefined,
  revisedBy: number | undefined,
): DayState {
  if (day > today) return 'future';
  if (day === today) return 'running';
  if (!newest) return firstDay === undefined || day < firstDay ? 'before' : 'missing';
  if (hasChanged) return 'changed';
  const isClosed = (newest.state === 'closed' || unread.length === 0) && !isInDoubt;
  if (!isClosed) return 'provisional';
  return revisedBy === undefined ? 'closed' : 'revised';
}

/** The newest revision whose rows differ from those before. One after that of the running day is no change: it is the first of the whole day. */
function findRevised(revisions: DayRevision[]): number | undefined {
  const whole = revisions.filter((one) => one.state !== 'partial');
  return whole.find((one, index) => {
    const before = whole[index + 1];
    return before !== undefined && before.digest !== one.digest;
  })?.revision;
}
