import { beforeAll, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { findContract } from '../../../src/ledger/journal/read-contracts.ts';
import { completeFilter, matchesFilter } from '../../../src/merchants/match-filter.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { PLATFORM } from '../../support/make-provider-rows.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const env = closeAfterAll(await openApiEnvironment());
const unnamed = [
  makeShownTransaction(['paid']),
  makeShownTransaction(['pending']),
  makeShownTransaction(['paid'], { platform: '' }),
];
const other = makeShownTransaction(['paid'], { platform: PLATFORM });
beforeAll(async () => {
  await applyObservations(
    env.context,
    [...unnamed, other].map((row) => observeNow(env.context, row)),
  );
});

async function find(query: string): Promise<unknown[]> {
  const { status, json } = await env.call('GET', `/transactions?${query}`);
  expect(status).toBe(200);
  return (json.transactions as { id: string }[]).map((one) => one.id).sort();
}
const idsOf = (rows: { id: string }[]): string[] => rows.map((row) => row.id).sort();

test('platform=none finds transactions without a platform, alone and with every other filter', async () => {
  expect(await find('platform=none')).toEqual(idsOf(unnamed));
  expect(await find('platform=none&status=pending')).toEqual(idsOf(unnamed.slice(1, 2)));
  expect(await find('platform=none&operation=cashin&from=2026-11-20&to=2026-11-20')).toEqual(idsOf(unnamed));
  expect(await find('platform=none&by=status')).toEqual(idsOf(unnamed));
  expect(await find('platform=none&to=2026-11-19')).toEqual([]);
  expect(await find(`platform=${PLATFORM}`)).toEqual([other.id]);
});

test('platform=none is read page by page, each transaction once', async () => {
  const met: string[] = [];
  let cursor = '';
  do {
    const { json } = await env.call('GET', `/transactions?platform=none&limit=1${cursor}`);
    met.push(...(json.transactions as { id: string }[]).map((one) => one.id));
    cursor = typeof json.next_cursor === 'string' ? `&cursor=${json.next_cursor}` : '';
  } while (cursor !== '');
  expect(met.toSorted()).toEqual(idsOf(unnamed));
});

test('a run of platform none is refused: the provider cannot be asked for it', async () => {
  const { status, json } = await env.call('POST', '/reconciliations', {
    from: '2026-11-20',
    to: '2026-11-20',
    platform: 'none',
  });
  expect([status, json.errors]).toEqual([422, { platform: [expect.stringContaining('leave it out')] }]);
});

test("a merchant's filter of platform none is for events without a platform", () => {
  const filter = completeFilter({ platforms: ['none'] });
  const facts = { operation: 'cashin', status: 'paid', reference: null, extra: null } as const;
  expect(matchesFilter(filter, { ...facts, platform: null })).toBe(true);
  expect(matchesFilter(filter, { ...facts, platform: PLATFORM })).toBe(false);
  expect(matchesFilter(completeFilter({ platforms: [PLATFORM] }), { ...facts, platform: null })).toBe(false);
});

test('a commission contract of platform none is for payments without a platform, and precedes the one for all platforms', () => {
  const of = (platform: string | null) =>
    ({
      id: String(platform),
      platform,
      operation: 'cashin',
      fixedCents: 1n,
      basisPoints: 0,
      from: '2026-01-01',
      to: null,
    }) as const;
  const contracts = [of(null), of('none')];
  const payment = { operation: 'cashin', day: '2026-11-20' } as const;
  expect(findContract(contracts, { ...payment, platform: null })?.id).toBe('none');
  expect(findContract(contracts, { ...payment, platform: PLATFORM })?.id).toBe('null');
});

test('a platform that is literally named none shares its accounts, and is found with them', async () => {
  const literal = makeShownTransaction(['paid'], { platform: 'none' });
  await applyObservations(env.context, [observeNow(env.context, literal)]);
  expect(await find('platform=none')).toEqual(idsOf([...unnamed, literal]));
  expect(await find('platform=none&from=2026-11-20&to=2026-11-20&limit=200')).toEqual(idsOf([...unnamed, literal]));
});
