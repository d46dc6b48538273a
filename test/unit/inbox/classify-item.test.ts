import { expect, test } from 'vitest';
import type { FetchResult } from '../../../src/inbox/items/fetch-transaction.ts';
import { classifyItem as judge, type WebhookClaim } from '../../../src/inbox/verify/classify-item.ts';
import { parseTransaction } from '../../../src/provider/parse-transaction.ts';

const RECEIVED = new Date('2026-11-20T12:00:00Z');
const GRACE_MS = 600_000;
const early = new Date(RECEIVED.getTime() + 10);
const late = new Date(RECEIVED.getTime() + GRACE_MS);

const claim = (more: Partial<WebhookClaim> = {}): WebhookClaim => ({
  receivedAt: RECEIVED,
  fetches: 0,
  claimedStatus: 'paid',
  claimedAmountCents: 1000n,
  ...more,
});

/** By the time that is late, all looks but the last one were made. */
const judgeItem: typeof judge = (one, found, now, graceMs) =>
  judge(now === late ? { ...one, fetches: 7 } : one, found, now, graceMs);

function shown(statuses: string[], more: object = {}): FetchResult {
  const events = statuses.map((status, index) => ({ status, date_created: `2026-11-20 09:00:0${index}` })).reverse();
  const row = parseTransaction({
    id: 'tx',
    operation: 'cashin',
    status: statuses.at(-1),
    amount: '10.00',
    date_created: '2026-11-20 09:00:00',
    events,
    ...more,
  });
  return { kind: 'row', row: { ...row, askedAt: early } };
}

test('a claim that the history holds is applied, also where the history went on', () => {
  for (const statuses of [['paid'], ['pending', 'paid'], ['pending', 'paid', 'refund']]) {
    expect(judgeItem(claim(), shown(statuses), early, GRACE_MS)).toEqual({
      kind: 'applied',
      id: 'tx',
      contradiction: undefined,
    });
  }
});

test('what claims nothing is applied with the first answer', () => {
  const nothing = claim({ claimedStatus: null, claimedAmountCents: null });
  expect(judgeItem(nothing, shown(['pending']), early, GRACE_MS).kind).toBe('applied');
});

test('a claim ahead of the provider waits, and contradicts only once the grace is over', () => {
  expect(judgeItem(claim(), shown(['pending']), early, GRACE_MS)).toEqual({
    kind: 'waiting',
    nextFetchAt: new Date(early.getTime() + 1000),
    id: 'tx',
  });
  expect(judgeItem(claim(), shown(['pending']), late, GRACE_MS)).toMatchObject({
    kind: 'applied',
    contradiction: { scope: 'tx paid', expected: { status: 'paid' }, actual: { status: 'pending' } },
  });
});

test('another amount than the provider shows is a contradiction that names both', () => {
  expect(judgeItem(claim({ claimedAmountCents: 1001n }), shown(['paid']), late, GRACE_MS)).toMatchObject({
    contradiction: { scope: 'tx amount', expected: { amount: '10.01' }, actual: { amount: '10.00' } },
  });
});

test('a status shown beside a history that lacks it is waited for, and contradicts once the grace is over', () => {
  const ahead = shown(['pending'], { status: 'paid' });
  expect(judgeItem(claim(), ahead, early, GRACE_MS).kind).toBe('waiting');
  expect(judgeItem(claim(), ahead, late, GRACE_MS)).toMatchObject({
    kind: 'applied',
    contradiction: { scope: 'tx paid', expected: { status: 'paid' }, actual: { status: 'paid', history: ['pending'] } },
  });
});

test('what the provider does not know is asked for again until the grace is over, then quarantined', () => {
  expect(judgeItem(claim({ fetches: 3 }), { kind: 'unknown' }, early, GRACE_MS)).toEqual({
    kind: 'waiting',
    nextFetchAt: new Date(early.getTime() + 30_000),
    id: undefined,
  });
  expect(judgeItem(claim(), { kind: 'unknown' }, late, GRACE_MS)).toEqual({
    kind: 'quarantined',
    reason: 'unknown_at_provider',
  });
});

test('a row that can not be read may be readable later; in the end it says so', () => {
  const unreadable = shown(['paid'], { amount: '1.001' });
  expect(judgeItem(claim(), unreadable, early, GRACE_MS).kind).toBe('waiting');
  expect(judgeItem(claim(), unreadable, late, GRACE_MS)).toMatchObject({ reason: 'unreadable_at_provider' });
});

test('more than one hit is never guessed, nor looked at again', () => {
  expect(judgeItem(claim(), { kind: 'ambiguous' }, early, GRACE_MS)).toEqual({
    kind: 'quarantined',
    reason: 'ambiguous',
  });
});
