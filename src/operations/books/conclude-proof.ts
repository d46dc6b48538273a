import type { Context } from '../../context.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';
import { listUnpaidCharges } from '../../ledger/read/list-unpaid-charges.ts';
import type { ListProof } from '../../reports/serve/read-list-proof.ts';
import { findNextReading } from '../../timetable/find-next-reading.ts';
import type { PaymentProof } from '../rows/payment-proof.ts';

const CHARGES_SHOWN_MAX = 20;

/** Doubts that a new reading of the day ends. */
const ENDED_BY_READING: readonly PaymentProof['list']['reason'][] = [
  ...(['not_read', 'only_counted', 'reopened', 'late_entry', 'before_books'] as const),
];

/** Whether a reading of the day that is whole, begun after its end, ends this doubt. */
function isEndedByReading(reason: PaymentProof['list']['reason']): boolean {
  return reason === 'not_over' || ENDED_BY_READING.includes(reason);
}

/** The days that a run must read before anything is concluded; undefined if a reading decides nothing. */
export function daysToRead({ conclusion, list, older }: PaymentProof): { from: Day; to: Day } | undefined {
  const isListWanted = ENDED_BY_READING.includes(list.reason);
  const { charges, charges_count: count } = older;
  const isOlderWanted = charges ? charges.length > 0 : older.unread > 0;
  if (conclusion !== 'unknown' || list.reason === 'not_over' || !(isListWanted || isOlderWanted)) return undefined;
  // the days of the charges that are in doubt are enough
  const first = isOlderWanted ? (charges?.[0]?.day ?? addDays(list.day, -older.days)) : list.day;
  const last = (charges?.length === count && charges?.at(-1)?.day) || addDays(list.day, -1);
  return { from: first, to: isListWanted ? list.day : last };
}

/**
 * The charges that may have been paid on the day without our knowing: each charge of the days before is known, and these are
 * all that were not seen since. Undefined where that is not so, or without an amount.
 */
export async function listDoubted(context: Context, list: ListProof, amountCents: bigint | undefined) {
  const since = context.calendar.provableFrom(list.day);
  if (amountCents === undefined || list.olderUnlisted > 0 || since > context.clock.now()) return undefined;
  const days = { from: addDays(list.day, -LATE_DAYS), to: addDays(list.day, -1) };
  const unread = new Set(list.olderDays);
  const found = await listUnpaidCharges(context.db, { amountCents, ...days, since });
  return found?.filter(({ day: of }) => unread.has(of));
}

type Conclusion = PaymentProof['conclusion'];
export type Reason = PaymentProof['list']['reason'];
type Charges = { id: string; day: Day }[] | undefined;
type Known = { doubt: Reason; lacks: Reason; own: number; older: number; charges: Charges };

/** Decides what the list, and those of the days before, say. An absence is concluded only from what was read. */
export function conclude(context: Context, list: ListProof, { doubt, lacks, own, older, charges }: Known) {
  const {
    day: of,
    whole,
    early,
    refusedRows,
    olderRefused,
    olderDays,
    olderUnlisted,
    olderCounted,
    olderEarlyAt,
  } = list;
  const hidden: Reason = refusedRows > 0 ? 'rows_refused' : lacks;
  const reason = doubt ?? (lacks === 'names_left' ? lacks : own > 0 ? null : hidden);
  const ofList: Conclusion = reason !== null ? 'unknown' : own > 0 ? 'has' : 'none';
  const isOlderKnown = olderDays.length === 0 || charges?.length === 0;
  const isOlderRead = isOlderKnown && olderRefused === 0 && !hidden && doubt !== 'time_zone' && older === 0;
  const ofOlder: Conclusion = older > 0 && doubt !== 'not_listed' ? 'has' : isOlderRead ? 'none' : 'unknown';
  const order: Conclusion[] = ['has', 'unknown', 'none'];
  const after = new Date(Math.max(context.clock.now().getTime(), context.calendar.provableFrom(of).getTime()));
  const nextOf = (from: Day | undefined) => (from && findNextReading(context, from, after)?.toISOString()) || null;
  return {
    conclusion: order.find((one) => one === ofList || one === ofOlder) ?? 'unknown',
    list: {
      ...{ day: of, conclusion: ofList, reason, next_at: reason && isEndedByReading(reason) ? nextOf(of) : null },
      ...{ reading: presentReading(whole), early: presentReading(early) },
    },
    older: {
      ...{ conclusion: ofOlder, days: LATE_DAYS, unread: olderDays.length, unlisted: olderUnlisted },
      ...{
        charges: charges?.slice(0, CHARGES_SHOWN_MAX) ?? null,
        charges_count: charges?.length ?? null,
      },
      ...{
        counted: olderCounted,
        next_at: ofOlder === 'unknown' ? nextOf((charges ?? [])[0]?.day ?? olderDays[0]) : null,
      },
      early_at: olderEarlyAt?.toISOString() ?? null,
    },
  };
}

function presentReading(of: ListProof['whole']): PaymentProof['list']['reading'] {
  return of?.asked_at
    ? {
        ...{ read_at: of.asked_at.toISOString(), run_id: of.id, from: of.from_day, to: of.to_day },
        ...{ announced: of.total, listed: of.seen },
      }
    : null;
}
