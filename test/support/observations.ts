import fc from 'fast-check';
import type { Observation, Source } from '../../src/domain/observation.ts';
import { readTransaction } from '../../src/provider/read-transaction.ts';

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
  const read = readTransaction(shown);
  if (!read.ok) throw new Error(`this row can't be read: ${read.reason}`);
  return { transaction: read.transaction, digest: read.digest, askedAt, source };
}

/** How one transaction came to be, and what each look at it may know: a history only grows, and facts come later. */
export type Life = {
  id: string;
  operation: 'cashin' | 'cashout';
  cents: number;
  commissionCents: number;
  platform: string | null;
  /** Oldest first; each so many seconds after the one before. */
  history: { status: string; after: number }[];
  /** The look from which on the commission, and the platform, are shown. */
  commissionFrom: number;
  platformFrom: number;
};

const BEGINS = Date.parse('2026-11-20T22:00:00Z');
const ASKED = Date.parse('2026-11-21T12:00:00Z');

/** The wall clock of each event of a life. */
export function wallsOf(life: Life): string[] {
  let at = BEGINS;
  return life.history.map((event) => {
    at += event.after * 1000;
    return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  });
}

/** What the provider shows once so many of a life's events have happened. */
export function showLife(life: Life, events: number): ShownTransaction {
  const walls = wallsOf(life);
  const history = life.history
    .slice(0, events)
    .map(({ status }, index) => ({ status, date_created: walls[index] ?? '' }));
  return {
    id: life.id,
    operation: life.operation,
    status: history.at(-1)?.status ?? 'pending',
    amount: (life.cents / 100).toFixed(2),
    ...(events >= life.commissionFrom ? { commission: (life.commissionCents / 100).toFixed(2) } : {}),
    ...(life.platform !== null && events >= life.platformFrom ? { platform: life.platform } : {}),
    date_created: walls[0] ?? '',
    events: history.toReversed(),
  };
}

/** A look at a life, asked for after so many of its events. */
export function lookAt(life: Life, events: number, source: Source = { kind: 'show' }): Observation {
  return observe(showLife(life, events), new Date(ASKED + events * 1000), source);
}

const LIVELY = ['pending', 'in_process', 'in_analysis', 'paid', 'denied', 'canceled', 'expired', 'refund'];
const LIKELY = [...LIVELY, 'pending', 'paid', 'paid', 'refund', 'partially_paid'];

/** Any life at all: most of them illegal, many with several events of one second. */
export const anyLife: fc.Arbitrary<Life> = fc.record({
  id: fc.uuid(),
  operation: fc.constantFrom('cashin' as const, 'cashout' as const),
  cents: fc.integer({ min: 0, max: 1_000_000 }),
  commissionCents: fc.integer({ min: 0, max: 500 }),
  platform: fc.constantFrom(null, 'p', 'P', 'p '),
  history: fc.array(
    fc.record({ status: fc.constantFrom(...LIKELY), after: fc.constantFrom(0, 0, 1, 60, 7200, 90_000) }),
    { minLength: 1, maxLength: 7 },
  ),
  commissionFrom: fc.integer({ min: 1, max: 7 }),
  platformFrom: fc.integer({ min: 1, max: 7 }),
});
