import fc from 'fast-check';
import type { Observation, Source } from '../../src/domain/observation.ts';
import { STATUS_UNREADABLE } from '../../src/domain/statuses.ts';
import { parseTransaction } from '../../src/provider/parse-transaction.ts';

/** A transaction as the provider shows it; its history is the newest first. */
export type ShownTransaction = {
  id: string;
  operation: 'cashin' | 'cashout';
  status: string;
  amount: string;
  commission?: string;
  date_created: string;
  events: { status: string; date_created: string }[];
} & Partial<
  Record<
    'reference' | 'extra' | 'platform' | 'e2e_id' | 'name' | 'email' | 'phone' | 'document' | 'description' | 'pix_key',
    string
  >
>;

/** Parses what the provider shows as the program does. @returns the observation. */
export function observe(shown: ShownTransaction, askedAt: Date, source: Source = { kind: 'show' }): Observation {
  const read = parseTransaction(shown);
  if (!read.ok) throw new Error(`this row can't be read: ${read.reason}`);
  return { ...read, askedAt, source };
}

/** The timeline of one transaction and what each observation of it shows: the history only grows, facts come later. */
export type Timeline = {
  id: string;
  operation: 'cashin' | 'cashout';
  cents: number;
  commissionCents: number;
  platform: string | null;
  /**
   * Oldest first, as the provider orders it. `after`: seconds after the previous event; negative where two of the provider's
   * servers disagree. `from`: the first observation that shows an event inserted later.
   */
  history: { status: string; after: number; from?: number }[];
  /** The first observation that shows the commission, and the platform. */
  commissionFrom: number;
  platformFrom: number;
};

/**
 * How an observation shows a timeline: `whole`, history newest first; `reversed`, oldest first where the row's own status
 * proves that; `bare`, without history; `ahead`, with a status that its history lacks; `odd`, with unreadable side fields;
 * `garbled`, with neither a readable status nor a readable history.
 */
export const FORMS = ['whole', 'reversed', 'bare', 'ahead', 'odd', 'garbled'] as const;
export type Form = (typeof FORMS)[number];

/** An observation after `seen` events of a timeline. */
export type TimelineObservation = { seen: number; form: Form };

const BEGINS = Date.parse('2026-11-20T22:00:00Z');
const ASKED = Date.parse('2026-11-21T12:00:00Z');
const STATUS_OF_NO_TIMELINE = 'chargeback';

/** Returns the wall clock of each event. */
export function wallsOf(timeline: Timeline): string[] {
  let at = BEGINS;
  return timeline.history.map((event) => {
    at += event.after * 1000;
    return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  });
}

/** Returns the history that an observation can show: the first event, and the others that were inserted by then. */
export function historyOf(timeline: Timeline, seen: number): { status: string; at: string }[] {
  const walls = wallsOf(timeline);
  return timeline.history
    .map(({ status, from = 0 }, index) => ({ status, at: walls[index] ?? '', from }))
    .slice(0, seen)
    .filter(({ from }, index) => index === 0 || from <= seen)
    .map(({ status, at }) => ({ status, at }));
}

/** Side fields that can't be read, or only partly. */
const ODD = {
  commission: '0.9950',
  name: ['Maria'],
  e2e_id: {},
  email: 7,
  description: 'x'.repeat(5000),
  finished: [],
};
const GARBLED = { status: [], events: {} };

/** Returns what the provider shows after `seen` events. */
export function showTimeline(timeline: Timeline, seen: number, form: Form = 'whole'): ShownTransaction {
  const history = historyOf(timeline, seen).map(({ status, at }) => ({ status, date_created: at }));
  const own = history.at(-1)?.status ?? 'pending';
  const isReversible = history[0]?.status !== own;
  return {
    id: timeline.id,
    operation: timeline.operation,
    status: form === 'ahead' ? STATUS_OF_NO_TIMELINE : own,
    amount: (timeline.cents / 100).toFixed(2),
    ...(seen >= timeline.commissionFrom ? { commission: (timeline.commissionCents / 100).toFixed(2) } : {}),
    ...(timeline.platform !== null && seen >= timeline.platformFrom ? { platform: timeline.platform } : {}),
    date_created: wallsOf(timeline)[0] ?? '',
    events: form === 'bare' ? [] : form === 'reversed' && isReversible ? history : history.toReversed(),
    ...(form === 'odd' ? (ODD as object) : form === 'garbled' ? (GARBLED as object) : {}),
  };
}

/** Returns the observation of a timeline after `seen` events. */
export function observeTimeline(
  timeline: Timeline,
  seen: number,
  form: Form = 'whole',
  source: Source = { kind: 'show' },
): Observation {
  return observe(showTimeline(timeline, seen, form), new Date(ASKED + seen * 1000), source);
}

/** Returns what these observations teach: the longest history, and the statuses that came without one. */
export function expectedFrom(timeline: Timeline, observations: TimelineObservation[]) {
  const seenBy = (...forms: Form[]): number[] =>
    observations.filter(({ form }) => forms.includes(form)).map(({ seen }) => seen);
  const whole = seenBy('whole', 'reversed', 'ahead', 'odd');
  const bare = seenBy('bare').map((seen) => historyOf(timeline, seen).at(-1)?.status ?? '');
  const isRead = whole.length + bare.length > 0;
  const seen = Math.max(...observations.map((observation) => observation.seen));
  const paysCommission = observations.some(
    (observation) => observation.form !== 'odd' && observation.seen >= timeline.commissionFrom,
  );
  return {
    real: whole.length === 0 ? [] : historyOf(timeline, Math.max(...whole)),
    bare: { statuses: isRead ? bare : [STATUS_UNREADABLE], at: wallsOf(timeline)[0] ?? '' },
    commission: paysCommission ? BigInt(timeline.commissionCents) : 0n,
    platform: timeline.platform !== null && seen >= timeline.platformFrom ? timeline.platform : null,
  };
}

const STATUSES = ['pending', 'in_process', 'in_analysis', 'paid', 'denied', 'canceled', 'expired', 'refund'];
const LIKELY = [...STATUSES, 'pending', 'paid', 'paid', 'refund', 'partially_paid'];
const LATE = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined, freq: 4 });

/** Any timeline: most are illegal, many have several events in one second or an event before its predecessor. */
export const anyTimeline: fc.Arbitrary<Timeline> = fc.record({
  id: fc.uuid(),
  operation: fc.constantFrom('cashin' as const, 'cashout' as const),
  cents: fc.integer({ min: 0, max: 1_000_000 }),
  commissionCents: fc.integer({ min: 0, max: 500 }),
  platform: fc.constantFrom(null, 'p', 'P', 'p '),
  history: fc.array(
    fc
      .record({
        status: fc.constantFrom(...LIKELY),
        after: fc.constantFrom(0, 0, 1, 60, 7200, 90_000, -1, -1, -7200),
        from: LATE,
      })
      .map(({ from, ...event }) => (from === undefined ? event : { ...event, from })),
    { minLength: 1, maxLength: 7 },
  ),
  commissionFrom: fc.integer({ min: 1, max: 7 }),
  platformFrom: fc.integer({ min: 1, max: 7 }),
});

export const anyForm: fc.Arbitrary<Form> = fc.constantFrom('whole', 'bare', 'bare', ...FORMS);
