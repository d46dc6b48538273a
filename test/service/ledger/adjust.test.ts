import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

const PLATFORM = '0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01';
const stack = new AsyncDisposableStack();
let served: ServedEnvironment;
const today = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
const day = addDays(today, -2);

beforeAll(async () => {
  const sandbox = stack.use(await startTestSandbox());
  served = stack.use(await openServedEnvironment({ providerUrl: sandbox.url }));
});
afterAll(() => stack.disposeAsync());

async function balances(): Promise<Record<string, string>> {
  const answer = await served.api.call<{ balances: { account: string; amount: string }[] }>('GET', '/balances');
  const own = answer.balances.filter((one) => one.account.endsWith(`:${PLATFORM}`));
  return Object.fromEntries(own.map((one) => [one.account.replace(`:${PLATFORM}`, ''), one.amount]));
}

async function differs(): Promise<{ state: string; actual: unknown }[]> {
  return (
    await served.api.call<{ mismatches: { state: string; actual: unknown }[] }>(
      'GET',
      '/mismatches?kind=balance_differs',
    )
  ).mismatches;
}

describe('adjustments', () => {
  it('opens the books with a balance, once', async () => {
    const opening = { platform: PLATFORM, day, balance: '-1000.50' };
    expect(await served.api.call('POST', '/openings', opening)).toMatchObject(opening);
    await expect(served.api.call('POST', '/openings', opening)).rejects.toThrow(/409/);
    expect(await balances()).toEqual({ 'Assets:Provider:Available': '-1000.50', 'Equity:Opening': '1000.50' });
  });

  it('refuses an adjustment from before the opening, by its day', async () => {
    const early = { platform: PLATFORM, day: addDays(day, -1), kind: 'fee', amount: '-1.00', note: 'n' };
    await expect(served.api.call('POST', '/adjustments', early)).rejects.toThrow(
      new RegExp(`422.*is before ${day}, on which the books`, 's'),
    );
    expect(await balances()).toMatchObject({ 'Assets:Provider:Available': '-1000.50' });
  });

  it('refuses amounts above the largest that is taken', async () => {
    const balance = '10000000000000.01';
    const note = 'n';
    for (const [route, body] of [
      ['/openings', { platform: PLATFORM, day, balance }],
      ['/adjustments', { platform: PLATFORM, day, kind: 'fee', amount: `-${balance}`, note }],
      ['/statements', { platform: PLATFORM, at: new Date().toISOString(), balance }],
    ] as const) {
      await expect(served.api.call('POST', route, body), route).rejects.toThrow(/422.*up to 10000000000000\.00/s);
    }
  });

  it('can be asked for as it was known at a sealed position, by the hash that stands in reports', async () => {
    type Answer = { known: string; sealed: { position: number; hash: string } | null; balances: unknown[] };
    const ask = (known: string) => served.api.call<Answer>('GET', `/balances?known=${encodeURIComponent(known)}`);
    const { position, hash } = await eventually(async () => {
      const { sealed } = await served.api.call<Answer>('GET', '/balances');
      return sealed && (await ask(`seal:${sealed.position}`)).balances.length > 0 ? sealed : undefined;
    });
    expect(await ask(`seal:${position}`)).toMatchObject({ known: `seal:${position}`, sealed: { position, hash } });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await ask('2020-01-01T00:00:00Z')).toMatchObject({ sealed: null, balances: [] });
    await expect(ask('seal:1000000')).rejects.toThrow(/422/);
    await expect(ask('yesterday')).rejects.toThrow(/422/);
  });

  it('takes an opening back, once, so that the right one can be stated', async () => {
    const other = { platform: 'outra', day, balance: '5.00' };
    const { id } = await served.api.call<{ id: string }>('POST', '/openings', other);
    expect(await served.api.call('POST', '/openings', { reverses: id })).toMatchObject({ id, reversed: true });
    expect(await served.api.call('POST', '/openings', { ...other, balance: '7.00' })).toMatchObject({
      balance: '7.00',
    });
    await expect(served.api.call('POST', '/openings', { reverses: id })).rejects.toThrow(/409/);
    const all = await served.api.call<{ balances: { account: string; amount: string }[] }>('GET', '/balances');
    const available = all.balances.find((one) => one.account === 'Assets:Provider:Available:outra');
    expect(available?.amount).toBe('7.00');
    await served.api.call('POST', '/openings', {
      reverses: (await served.api.call<{ openings: { id: string }[] }>('GET', '/openings')).openings[0]?.id,
    });
  });

  it('books each kind of adjustment against its own account', async () => {
    for (const [kind, amount] of [
      ['bank', '-200.00'],
      ['fee', '-1.99'],
      ['block', '-50.00'],
      ['other', '10.00'],
    ]) {
      const made = await served.api.call('POST', '/adjustments', {
        platform: PLATFORM,
        day,
        kind,
        amount,
        note: 'why',
      });
      expect(made).toMatchObject({ id: expect.stringMatching(/^adj_/), kind, amount, reverses: null });
    }
    expect(await balances()).toEqual({
      'Assets:Bank': '200.00',
      'Assets:Provider:Available': '-1242.49',
      'Assets:Provider:Blocked': '50.00',
      'Equity:Adjustments': '-10.00',
      'Equity:Opening': '1000.50',
      'Expenses:Fees': '1.99',
    });
  });

  it('takes an adjustment back once, and never a reversal', async () => {
    const { id } = await served.api.call<{ id: string }>('POST', '/adjustments', {
      platform: PLATFORM,
      day,
      kind: 'bank',
      amount: '77.00',
      note: 'typed wrong',
    });
    const back = await served.api.call<{ id: string }>('POST', '/adjustments', { reverses: id, note: 'it was' });
    expect(back).toMatchObject({ reverses: id, amount: '-77.00' });
    expect(await balances()).toMatchObject({ 'Assets:Bank': '200.00', 'Assets:Provider:Available': '-1242.49' });
    await expect(served.api.call('POST', '/adjustments', { reverses: id, note: 'again' })).rejects.toThrow(/409/);
    await expect(served.api.call('POST', '/adjustments', { reverses: back.id, note: 'no' })).rejects.toThrow(/409/);
    await expect(served.api.call('POST', '/adjustments', { reverses: 'adj_none', note: 'x' })).rejects.toThrow(/404/);
  });

  it.each([
    [{ amount: '1.234' }, /amount/],
    [{ amount: '0.00' }, /zero/],
    [{ kind: 'gift' }, /kind/],
    [{ day: '2026-02-30' }, /day/],
    [{ note: ' ' }, /why/],
  ])('refuses %j by its field', async (wrong, fault) => {
    const body = { platform: PLATFORM, day, kind: 'bank', amount: '1.00', note: 'n', ...wrong };
    await expect(served.api.call('POST', '/adjustments', body)).rejects.toThrow(fault);
  });

  it('compares a stated balance only once its day was read past it, and ends the difference when one explains it', async () => {
    // the opening has the days before it and since read by itself
    await eventually('its run has ended', async () => {
      const { reconciliations: runs } = await served.api.call<{ reconciliations: { state: string }[] }>(
        'GET',
        '/reconciliations',
      );
      return runs.length > 0 && runs.every(({ state }) => state === 'complete');
    });
    const at = new Date().toISOString();
    const stated = await served.api.call('POST', '/statements', { platform: PLATFORM, at, balance: '-1200.00' });
    expect(stated).toMatchObject({ balance: '-1200.00', ledger: '-1242.49', difference: '42.49' });
    expect(await differs()).toEqual([]);
    const { id } = await served.api.call<{ id: string }>('POST', '/reconciliations', {
      from: day,
      to: today,
    });
    await eventually(async () => {
      const run = await served.api.call<{ state: string }>('GET', `/reconciliations/${id}`);
      return run.state === 'complete';
    });
    const adjustment = { platform: PLATFORM, day, kind: 'other', note: 'found' };
    await served.api.call('POST', '/adjustments', { ...adjustment, amount: '2.49' });
    expect(await differs()).toMatchObject([{ state: 'open', actual: { ledger: '-1240.00', difference: '40.00' } }]);
    await served.api.call('POST', '/adjustments', { ...adjustment, amount: '40.00' });
    expect(await differs()).toMatchObject([{ state: 'resolved' }]);
  });
});
