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

/** A look at a transaction, read from what the provider shows as the program reads it. */
export function observe(shown: ShownTransaction, askedAt: Date, source: Source = { kind: 'show' }): Observation {
  const read = parseTransaction(shown);
  if (!read.ok) throw new Error(`this row can't be read: ${read.reason}`);
  return { ...read, askedAt, source };
}

/** How one transaction came to be, and what each look at it may know: a history only grows, and facts come later. */
export type Timeline = {
  id: string;
  operation: 'cashin' | 'cashout';
  cents: number;
  commissionCents: number;
  platform: string | null;
  /**
   * Oldest first, as the provider orders it; each so many seconds after the one before, or before it where two of the
   * provider's servers disagree. `from`: the look that is the first to show it, where it was inserted later.
   */
  history: { status: string; after: number; from?: number }[];
  /** The look from which on the commission, and the platform, are shown. */
  commissionFrom: number;
  platformFrom: number;
};

/**
 * How a look shows a life: with its history newest first, or oldest first where the row's own status tells that; without
 * it; with a status of its own that its history lacks; with side fields that can't be read; or with neither a status nor
 * a history that can be.
 */
export const FORMS = ['whole', 'reversed', 'bare', 'ahead', 'odd', 'garbled'] as const;
export type Form = (typeof FORMS)[number];

/** A look after so many of a life's events. */
export type TimelineObservation = { seen: number; form: Form };

const BEGINS = Date.parse('2026-11-20T22:00:00Z');
const ASKED = Date.parse('2026-11-21T12:00:00Z');
const NO_STATUS_OF_A_LIFE = 'chargeback';

/** The wall clock of each event of a life. */
export function wallsOf(life: Timeline): string[] {
  let at = BEGINS;
  return life.history.map((event) => {
    at += event.after * 1000;
    return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  });
}

/** The history that a look may show: the first event, and those of the others that were inserted by then. */
export function historyOf(life: Timeline, seen: number): { status: string; at: string }[] {
  const walls = wallsOf(life);
  return life.history
    .map(({ status, from = 0 }, index) => ({ status, at: walls[index] ?? '', from }))
    .slice(0, seen)
    .filter(({ from }, index) => index === 0 || from <= seen)
    .map(({ status, at }) => ({ status, at }));
}

/** Side fields that can't be read, or only with care. */
const ODD = {
  commission: '0.9950',
  name: ['Maria'],
  e2e_id: {},
  email: 7,
  description: 'x'.repeat(5000),
  finished: [],
};
const GARBLED = { status: [], events: {} };

/** What the provider shows once so many of a life's events have happened. */
export function showTimeline(life: Timeline, seen: number, form: Form = 'whole'): ShownTransaction {
  const history = historyOf(life, seen).map(({ status, at }) => ({ status, date_created: at }));
  const own = history.at(-1)?.status ?? 'pending';
  const isTold = history[0]?.status !== own;
  return {
    id: life.id,
    operation: life.operation,
    status: form === 'ahead' ? NO_STATUS_OF_A_LIFE : own,
    amount: (life.cents / 100).toFixed(2),
    ...(seen >= life.commissionFrom ? { commission: (life.commissionCents / 100).toFixed(2) } : {}),
    ...(life.platform !== null && seen >= life.platformFrom ? { platform: life.platform } : {}),
    date_created: wallsOf(life)[0] ?? '',
    events: form === 'bare' ? [] : form === 'reversed' && isTold ? history : history.toReversed(),
    ...(form === 'odd' ? (ODD as object) : form === 'garbled' ? (GARBLED as object) : {}),
  };
}

/** A look at a life, asked for after so many of its events. */
export function observeTimeline(
  life: Timeline,
  seen: number,
  form: Form = 'whole',
  source: Source = { kind: 'show' },
): Observation {
  return observe(showTimeline(life, seen, form), new Date(ASKED + seen * 1000), source);
}

/** What these looks at a life teach: the longest history, and the statuses that came without one. */
export function expectedFrom(life: Timeline, looks: TimelineObservation[]) {
  const seenBy = (...forms: Form[]): number[] =>
    looks.filter(({ form }) => forms.includes(form)).map(({ seen }) => seen);
  const whole = seenBy('whole', 'reversed', 'ahead', 'odd');
  const bare = seenBy('bare').map((seen) => historyOf(life, seen).at(-1)?.status ?? '');
  const isRead = whole.length + bare.length > 0;
  const seen = Math.max(...looks.map((look) => look.seen));
  const paysCommission = looks.some((look) => look.form !== 'odd' && look.seen >= life.commissionFrom);
  return {
    real: whole.length === 0 ? [] : historyOf(life, Math.max(...whole)),
    bare: { statuses: isRead ? bare : [STATUS_UNREADABLE], at: wallsOf(life)[0] ?? '' },
    commission: paysCommission ? BigInt(life.commissionCents) : 0n,
    platform: life.platform !== null && seen >= life.platformFrom ? life.platform : null,
  };
}

const LIVELY = ['pending', 'in_process', 'in_analysis', 'paid', 'denied', 'canceled', 'expired', 'refund'];
const LIKELY = [...LIVELY, 'pending', 'paid', 'paid', 'refund', 'partially_paid'];
const LATE = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined, freq: 4 });

/** Any life at all: most of them illegal, many with several events of one second, or of a second earlier. */
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
