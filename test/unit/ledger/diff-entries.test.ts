import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlatform } from '../../../src/domain/platform.ts';
import { sortHistory } from '../../../src/domain/sort-history.ts';
import { type Decision, decide } from '../../../src/ledger/decide/decide-observation.ts';
import type { StoredTransaction } from '../../../src/ledger/decide/stored-transaction.ts';
import { diffEntries, type EntryInForce } from '../../../src/ledger/journal/diff-entries.ts';
import {
  mergePostings,
  nameAccount,
  type Policy,
  type Posting,
  planCommission,
  planEntries,
} from '../../../src/ledger/journal/plan-entries.ts';
import { LEDGER_ACCOUNTS } from '../../../src/ledger/stated/check-accounts.ts';
import {
  anyForm,
  anyTimeline,
  expectedFrom,
  type Form,
  observeTimeline,
  type Timeline,
  type TimelineObservation,
} from '../../support/make-observations.ts';
import { anyCharacter, propertyOptions } from '../../support/property.ts';
import { referenceHistory, referenceLedger } from '../../support/reference-ledger.ts';

type Entry = EntryInForce & { reverses: number | null };

/** A ledger of one transaction, kept in memory as the database keeps it: entries are only ever appended. */
function keepBooks(policy: Policy) {
  const entries: Entry[] = [];
  let stored: StoredTransaction | undefined;
  let events = 0;

  function inForce(): EntryInForce[] {
    const reversed = new Set(entries.map((entry) => entry.reverses));
    return entries.filter((entry) => entry.reverses === null && !reversed.has(entry.seq));
  }

  function append(entry: Omit<Entry, 'seq'>): void {
    entries.push({ ...entry, seq: entries.length + 1 });
  }

  return {
    entries,
    inForce,
    stored: () => stored as StoredTransaction,
    repost(now: Policy = policy): void {
      const booked = stored as StoredTransaction;
      const desired = planEntries(booked, booked.events, now);
      const { reverse, post } = diffEntries(desired, inForce(), (platform) => planCommission(booked, platform));
      for (const old of reverse) {
        append({ ...old, kind: 'reversal', reverses: old.seq, postings: negate(old.postings) });
      }
      for (const { event, ...entry } of post) append({ ...entry, eventSeq: event?.seq ?? null, reverses: null });
    },
    observe(timeline: Timeline, seen: number, form: Form = 'whole'): Decision {
      const { transaction, askedAt, digest } = observeTimeline(timeline, seen, form);
      const decision = decide(stored, { transaction, askedAt, digest });
      for (const event of decision.added) event.seq = ++events;
      stored = decision.after;
      this.repost();
      return decision;
    },
  };
}

function negate(postings: Posting[]): Posting[] {
  return postings.map(({ account, cents }) => ({ account, cents: -cents }));
}

function netOf(entries: Entry[]): Record<string, bigint> {
  const postings = entries.flatMap((entry) =>
    entry.postings.map(({ account, cents }) => ({ account: `${account} @ ${entry.atWall}`, cents })),
  );
  return Object.fromEntries(mergePostings(postings).map(({ account, cents }) => [account, cents]));
}

const NEVER_OPENED: Policy = { openingDay: undefined, returnsCommission: () => false };

/** The entries that the table requires once all these observations are known. */
function expected(
  timeline: Timeline,
  observations: TimelineObservation[],
  more: { opensAt?: string; returnsCommission?: boolean } = {},
) {
  const { real, bare, commission, platform } = expectedFrom(timeline, observations);
  return referenceLedger({
    operation: timeline.operation,
    amount: BigInt(timeline.cents),
    commission,
    platform: nameAccount('', platform ?? 'none').slice(1),
    history: referenceHistory(real, bare),
    ...more,
  });
}

const timelineWithObservations = anyTimeline.chain((timeline) =>
  fc.tuple(
    fc.constant(timeline),
    fc.array(fc.record({ seen: fc.integer({ min: 1, max: timeline.history.length }), form: anyForm }), {
      minLength: 1,
      maxLength: 9,
    }),
  ),
);

test('any observations of a growing history, in any order and with repeats, end as the reference ledger says', () => {
  fc.assert(
    fc.property(timelineWithObservations, ([timeline, observations]) => {
      const books = keepBooks(NEVER_OPENED);
      for (const { seen, form } of observations) books.observe(timeline, seen, form);
      expect(netOf(books.entries)).toEqual(expected(timeline, observations));
    }),
    propertyOptions(250, 10_000),
  );
});

test('they end in the same events, positions and entries in every order of learning', () => {
  const shuffled = timelineWithObservations.chain(([timeline, observations]) =>
    fc.tuple(
      fc.constant(timeline),
      fc.constant(observations),
      fc.shuffledSubarray(observations, { minLength: observations.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([timeline, observations, others]) => {
      const [books, again] = [keepBooks(NEVER_OPENED), keepBooks(NEVER_OPENED)];
      for (const { seen, form } of observations) books.observe(timeline, seen, form);
      for (const { seen, form } of others) again.observe(timeline, seen, form);
      // without `occurrence`: it also counts an inferred event of the same time that gave way, which one order learns alone
      const facts = ({ events }: StoredTransaction) =>
        events.map(({ status, atWall, position, inferred }) => ({ status, atWall, position, inferred }));
      expect(facts(books.stored())).toEqual(facts(again.stored()));
      const { real, bare } = expectedFrom(timeline, observations);
      expect(books.stored().events.map(({ status, atWall: at }) => ({ status, at }))).toEqual(
        referenceHistory(real, bare),
      );
      const { events, outOfForce } = books.stored();
      const sequences = [...events, ...outOfForce].map((event) => event.sequence);
      expect(new Set(sequences)).toEqual(new Set(sequences.map((_, index) => index + 1)));
      expect(netOf(again.entries)).toEqual(netOf(books.entries));
      expect(books.stored()).toMatchObject({
        commissionCents: again.stored().commissionCents,
        platform: again.stored().platform,
      });
    }),
    propertyOptions(100, 10_000),
  );
});

test('after every observation each entry sums to zero, and an event has at most one main entry in force', () => {
  fc.assert(
    fc.property(timelineWithObservations, ([timeline, observations]) => {
      const books = keepBooks(NEVER_OPENED);
      for (const { seen, form } of observations) {
        books.observe(timeline, seen, form);
        for (const { postings } of books.entries) expect(postings.reduce((sum, one) => sum + one.cents, 0n)).toBe(0n);
        const main = books.inForce().filter((entry) => entry.kind === 'event');
        expect(new Set(main.map((entry) => entry.eventSeq)).size).toBe(main.length);
        const length = books.entries.length;
        books.observe(timeline, seen, form);
        expect(books.entries).toHaveLength(length);
      }
    }),
    propertyOptions(100, 10_000),
  );
});

test('an opening anywhere in a timeline, stated before, between or after the observations, ends as the reference ledger says', () => {
  const days = fc.constantFrom('2026-11-20', '2026-11-21', '2026-11-22', '2026-11-24', '2026-12-31');
  fc.assert(
    fc.property(
      timelineWithObservations,
      days,
      fc.nat(9),
      fc.boolean(),
      ([timeline, observations], openingDay, when, returns) => {
        const before: Policy = { openingDay: undefined, returnsCommission: () => returns };
        const after: Policy = { openingDay, returnsCommission: () => returns };
        const books = keepBooks(before);
        for (const [index, { seen, form }] of observations.entries()) {
          books.observe(timeline, seen, form);
          books.repost(index >= when ? after : before);
        }
        books.repost(after);
        const asked = { opensAt: `${openingDay} 00:00:00`, returnsCommission: returns };
        expect(netOf(books.entries)).toEqual(expected(timeline, observations, asked));
      },
    ),
    propertyOptions(200, 10_000),
  );
});

test('a refund gives the commission back by the rule of its own day', () => {
  fc.assert(
    fc.property(timelineWithObservations, fc.boolean(), ([timeline, observations], returnsCommission) => {
      const books = keepBooks({ openingDay: undefined, returnsCommission: () => returnsCommission });
      for (const { seen, form } of observations) books.observe(timeline, seen, form);
      expect(netOf(books.entries)).toEqual(expected(timeline, observations, { returnsCommission }));
    }),
    propertyOptions(100, 10_000),
  );
});

describe('diffing', () => {
  const timeline: Timeline = {
    id: 'x',
    operation: 'cashin',
    cents: 10_000,
    commissionCents: 150,
    platform: 'p',
    history: [
      { status: 'pending', after: 0 },
      { status: 'paid', after: 60 },
      { status: 'paid', after: 60 },
    ],
    commissionFrom: 3,
    platformFrom: 1,
  };

  test('a commission that comes to be known is posted alone, at the time of the payment', () => {
    const books = keepBooks(NEVER_OPENED);
    books.observe(timeline, 2);
    books.observe(timeline, 3);
    expect(books.entries.map((entry) => [entry.kind, entry.atWall])).toEqual([
      ['event', '2026-11-20 22:01:00'],
      ['commission', '2026-11-20 22:01:00'],
    ]);
  });

  test('a platform that comes to be known moves what was booked under none, by reversal', () => {
    const books = keepBooks(NEVER_OPENED);
    books.observe({ ...timeline, commissionFrom: 1, platformFrom: 3 }, 2);
    books.observe({ ...timeline, commissionFrom: 1, platformFrom: 3 }, 3);
    expect(books.entries.map((entry) => [entry.kind, entry.platform])).toEqual([
      ['event', 'none'],
      ['reversal', 'none'],
      ['event', 'p'],
    ]);
  });
});

test('an opening that is stated anew for another day moves what was held with it', () => {
  const days = fc.constantFrom('2026-11-20', '2026-11-21', '2026-11-22', '2026-11-24', '2026-12-31');
  fc.assert(
    fc.property(anyTimeline, fc.array(days, { minLength: 2, maxLength: 4 }), (timeline, openings) => {
      const books = keepBooks(NEVER_OPENED);
      books.observe(timeline, timeline.history.length);
      for (const openingDay of openings) books.repost({ openingDay, returnsCommission: () => false });
      const asked = { opensAt: `${openings.at(-1)} 00:00:00` };
      expect(netOf(books.entries)).toEqual(
        expected(timeline, [{ seen: timeline.history.length, form: 'whole' }], asked),
      );
    }),
    propertyOptions(60, 10_000),
  );
});

test('no two platforms share an account, and each account is one that hledger takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (one, other) => {
      fc.pre(one !== other);
      expect(nameAccount('A', one)).not.toBe(nameAccount('A', other));
      expect(nameAccount('A', one)).toMatch(/^A:[A-Za-z0-9_.~-]*$/);
    }),
    propertyOptions(30, 10_000),
  );
  expect(nameAccount('A', 'é1')).not.toBe(nameAccount('A', '\u0e91'));
});

test('the accounts of what may be a platform have names that the database takes', () => {
  const longest = LEDGER_ACCOUNTS.reduce((one, other) => (other.length > one.length ? other : one));
  for (const char of [';', '\n', 'é', '漢', '😀', 'x']) {
    const platforms = Array.from({ length: 65 }, (_, count) => char.repeat(count)).filter(isPlatform);
    // the column of names
    expect(nameAccount(longest, platforms.at(-1) ?? '').length).toBeLessThanOrEqual(255);
  }
  expect([';', 'x'].map((char) => isPlatform(char.repeat(64)))).toEqual([false, true]);
});

test('no entry is dated before the opening, also of an event that has no time of its own', () => {
  const event = fc.record({
    status: fc.constantFrom('pending', 'in_process', 'paid', 'denied', 'refund'),
    atWall: fc.constantFrom('2026-11-09 10:00:00', '2026-11-10 00:00:00', '2026-11-12 09:00:00', '2026-11-13 08:00:00'),
    inferred: fc.boolean(),
  });
  const place = { seq: undefined, occurrence: 0 };
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), fc.constantFrom('cashin', 'cashout'), (events, operation) => {
      const all = events.map((one, index) => ({ ...place, ...one, position: index, sequence: index + 1 }));
      const history = sortHistory(all);
      const booked = { operation, amountCents: 1_000n, commissionCents: 10n, platform: 'p' } as const;
      const policy = { openingDay: '2026-11-10', returnsCommission: () => false };
      const entries = planEntries(booked, history, policy);
      expect(entries.filter(({ atWall }) => atWall < '2026-11-10 00:00:00')).toEqual([]);
      const net = mergePostings(
        entries.flatMap(({ postings, atWall }) =>
          postings.map(({ account, cents }) => ({
            account: `${account} @ ${atWall}`,
            cents,
          })),
        ),
      );
      const reported = history.map(({ status, atWall: at }) => ({ status, at }));
      const asked = { operation, amount: 1_000n, commission: 10n, platform: 'p', opensAt: '2026-11-10 00:00:00' };
      expect(Object.fromEntries(net.map(({ account, cents }) => [account, cents]))).toEqual(
        referenceLedger({ ...asked, history: reported }),
      );
    }),
    propertyOptions(200, 10_000),
  );
});

test('a refund that came without a history is booked when the payment was, where its creation is before the opening', () => {
  const place = { seq: undefined, occurrence: 0, position: 0 };
  const history = sortHistory([
    { ...place, status: 'refund', atWall: '2026-07-09 10:00:00', sequence: 2, inferred: true },
    { ...place, status: 'paid', atWall: '2026-07-12 10:00:00', sequence: 1, inferred: false },
  ]);
  const booked = { operation: 'cashin', amountCents: 1_000n, commissionCents: 10n, platform: 'p' } as const;
  const list = (openingDay: string | undefined) =>
    planEntries(booked, history, { openingDay, returnsCommission: () => false }).map((entry) => [
      entry.event?.status,
      entry.atWall,
    ]);
  const paid = ['paid', '2026-07-12 10:00:00'];
  expect(list('2026-07-10')).toEqual([paid, ['refund', '2026-07-12 10:00:00']]);
  expect(list('2026-07-09')).toEqual([paid, ['refund', '2026-07-09 10:00:00']]);
});
