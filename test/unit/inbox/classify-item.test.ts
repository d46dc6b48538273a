import { expect, test } from 'vitest';
import type { FetchResult } from '../../../src/inbox/items/fetch-transaction.ts';
import { classifyItem, type WebhookClaim } from '../../../src/inbox/verify/classify-item.ts';
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

/** At the late time all fetches but the last one were made. */
const classify: typeof classifyItem = (one, found, now, graceMs) =>
  classifyItem(now === late ? { ...one, fetches: 7 } : one, found, now, graceMs);

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
  return { kind: 'row', rows: [{ ...row, askedAt: early }] };
}

test('a claim that the history holds is applied, also where the history went on', () => {
  for (const statuses of [['paid'], ['pending', 'paid'], ['pending', 'paid', 'refund']]) {
    expect(classify(claim(), shown(statuses), early, GRACE_MS)).toEqual({
      kind: 'applied',
      id: 'tx',
      contradictions: [],
    });
  }
});

test('an item without a claim is applied with the first answer', () => {
  const nothing = claim({ claimedStatus: null, claimedAmountCents: null });
  expect(classify(nothing, shown(['pending']), early, GRACE_MS).kind).toBe('applied');
});

test('a claim ahead of the provider waits, and contradicts only once the grace is over', () => {
  expect(classify(claim(), shown(['pending']), early, GRACE_MS)).toEqual({
    kind: 'waiting',
    nextFetchAt: new Date(early.getTime() + 1000),
    id: 'tx',
  });
  expect(classify(claim(), shown(['pending']), late, GRACE_MS)).toMatchObject({
    kind: 'applied',
    contradictions: [{ scope: 'tx paid', expected: { status: 'paid' }, actual: { status: 'pending' } }],
  });
});

test('another amount than the provider shows is a contradiction that names both', () => {
  expect(classify(claim({ claimedAmountCents: 1001n }), shown(['paid']), late, GRACE_MS)).toMatchObject({
    contradictions: [{ scope: 'tx amount', expected: { amount: '10.01' }, actual: { amount: '10.00' } }],
  });
});

test('a status and an amount that the provider does not show are two contradictions, each with its scope', () => {
  expect(classify(claim({ claimedAmountCents: 1001n }), shown(['pending']), late, GRACE_MS)).toMatchObject({
    kind: 'applied',
    contradictions: [
      { scope: 'tx amount', expected: { amount: '10.01' }, actual: { amount: '10.00' } },
      { scope: 'tx paid', expected: { status: 'paid' }, actual: { status: 'pending', history: ['pending'] } },
    ],
  });
});

test('a status shown beside a history that lacks it is waited for, and contradicts once the grace is over', () => {
  const ahead = shown(['pending'], { status: 'paid' });
  expect(classify(claim(), ahead, early, GRACE_MS).kind).toBe('waiting');
  expect(classify(claim(), ahead, late, GRACE_MS)).toMatchObject({
    kind: 'applied',
    contradictions: [
      { scope: 'tx paid', expected: { status: 'paid' }, actual: { status: 'paid', history: ['pending'] } },
    ],
  });
});

test('an item unknown to the provider is fetched again until the grace is over, then quarantined', () => {
  expect(classify(claim({ fetches: 3 }), { kind: 'unknown' }, early, GRACE_MS)).toEqual({
    kind: 'waiting',
    nextFetchAt: new Date(early.getTime() + 30_000),
    id: undefined,
  });
  expect(classify(claim(), { kind: 'unknown' }, late, GRACE_MS)).toEqual({
    kind: 'quarantined',
    reason: 'unknown_at_provider',
  });
});

test('a row that can not be read may be readable later; in the end it says so', () => {
  const unreadable = shown(['paid'], { amount: '1.001' });
  expect(classify(claim(), unreadable, early, GRACE_MS).kind).toBe('waiting');
  expect(classify(claim(), unreadable, late, GRACE_MS)).toMatchObject({ reason: 'unreadable_at_provider' });
});

test('an ambiguous key is never guessed, nor fetched again', () => {
  expect(classify(claim(), { kind: 'ambiguous' }, early, GRACE_MS)).toEqual({
    kind: 'quarantined',
    reason: 'ambiguous',
  });
});

/** Several attempts, each with its statuses, created one after another. */
function attempts(...histories: string[][]): FetchResult {
  const rows = histories.flatMap((statuses, index) => {
    const found = shown(statuses, { id: `tx${index}`, date_created: `2026-11-20 0${index}:00:00` });
    return found.kind === 'row' ? found.rows : [];
  });
  return { kind: 'row', rows };
}

test('of several attempts the claim means the only one that it fits; fitting more it is ambiguous', () => {
  const one = attempts(['pending', 'expired'], ['pending', 'paid'], ['pending']);
  expect(classify(claim(), one, early, GRACE_MS)).toEqual({ kind: 'applied', id: 'tx1', contradictions: [] });
  expect(classify(claim(), attempts(['paid'], ['paid']), early, GRACE_MS)).toMatchObject({ reason: 'ambiguous' });
  const none = attempts(['expired'], ['pending'], ['canceled']);
  expect(classify(claim(), none, early, GRACE_MS)).toMatchObject({ kind: 'waiting', id: undefined });
  expect(classify(claim(), none, late, GRACE_MS)).toMatchObject({ id: 'tx2', contradictions: [{ scope: 'tx2 paid' }] });
});

test('a row found beside an unknown id ends the item at the second fetch, and only where the claim fits', () => {
  const beside = (statuses: string[]) => ({ ...attempts(statuses), isFallback: true }) as FetchResult;
  expect(classify(claim(), beside(['paid']), early, GRACE_MS).kind).toBe('waiting');
  expect(classify(claim({ fetches: 1 }), beside(['paid']), early, GRACE_MS)).toMatchObject({
    kind: 'applied',
    id: 'tx0',
  });
  expect(classify(claim({ fetches: 1 }), beside(['pending']), early, GRACE_MS).kind).toBe('waiting');
  expect(classify(claim(), beside(['pending']), late, GRACE_MS)).toMatchObject({ reason: 'unknown_at_provider' });
});
