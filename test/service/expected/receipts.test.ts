/** Receipts that are nobody's order: a payment received that no expected payment has. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/calendar.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected, unmatchExpected } from '../../../src/expected/match-by-hand.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOne, payOne } from '../../support/expect-orders.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readMismatchRows } from '../../support/read-ledger-state.ts';

const by = { actor: 'test', note: 'visto no extrato' };
/** The day on which makeShownTransaction pays. */
const PAID_DAY = '2026-11-20';

const environment = closeAfterAll(await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));

const put = (facts: Record<string, unknown>) => expectOne(environment.context, { due_day: '2026-11-25', ...facts });
const pay = (more: Partial<ShownTransaction>, history?: string[]) => payOne(environment.context, more, history);

/** A payment that was made this many minutes ago. */
function payAgo(minutes: number, more: Partial<ShownTransaction>): Promise<ShownTransaction> {
  const { calendar, clock } = environment.context;
  const at = calendar.toWallTime(new Date(clock.now().getTime() - minutes * MINUTE_MS));
  const events = ['paid', 'pending'].map((status) => ({ status, date_created: at }));
  return pay({ date_created: at, events, ...more });
}

/** The mismatches of these payments, in their order. */
async function found(...payments: { id: string }[]) {
  await decideAll(environment.context);
  const rows = await readMismatchRows(environment.context, 'receipt_unidentified');
  return payments.map(({ id }) => rows.find((row) => row.transaction_id === id)?.state ?? null);
}

describe('a receipt without an order', () => {
  it('is reported only where orders name its platform, from the first day of issue on', async () => {
    const platform = randomUUID();
    const [before, after] = [await pay({ platform }), await pay({ platform }, ['paid@2', 'refund@3'])];
    const elsewhere = await pay({ platform: randomUUID() });
    const out = await pay({ platform, operation: 'cashout' });
    expect(await found(before, after, elsewhere, out)).toEqual([null, null, null, null]);
    await put({ platform, issued_day: '2026-11-21' });
    expect(await found(before, after, elsewhere, out)).toEqual([null, null, null, null]);
    // an order of an earlier day arrives later: its earlier payments are searched
    await put({ platform, issued_day: PAID_DAY });
    expect(await found(before, after, elsewhere, out)).toEqual(['open', null, null, null]);
    const [row] = await readMismatchRows(environment.context, 'receipt_unidentified');
    expect(row).toMatchObject({
      ...{ severity: 'medium', baseline: true, amount: '10.00', transaction_id: before.id, reopened: 0 },
    });
    // one that is learnt late is reported at once
    expect(await found(await pay({ platform }))).toEqual(['open']);
    // orders that name no platform count only where none names one
    await put({ issued_day: '2026-11-01' });
    expect(await found(elsewhere)).toEqual([null]);
    // what we expect to pay says nothing of receipts
    await put({ platform: elsewhere.platform ?? '', operation: 'cashout' });
    expect(await found(elsewhere)).toEqual([null]);
  });

  it('is reported 24 hours after it was paid, with one alert for all of an hour', async () => {
    const platform = randomUUID();
    const id = await put({ platform, issued_day: PAID_DAY });
    await environment.timers.advance(2 * MINUTE_MS);
    const [first, second] = [await payAgo(1, { platform }), await payAgo(1, { platform })];
    const matched = await payAgo(1, { platform });
    await matchExpected(environment.context, { ...by, id, transactionId: matched.id });
    expect(await found(first, second, matched)).toEqual([null, null, null]);
    await environment.timers.advance(23 * HOUR_MS);
    expect(await found(first, second, matched)).toEqual([null, null, null]);
    await environment.timers.advance(HOUR_MS + 5 * MINUTE_MS);
    expect(await found(first, second, matched)).toEqual(['open', 'open', null]);
    const rows = await readMismatchRows(environment.context, 'receipt_unidentified');
    expect(rows.at(-1)?.baseline).toBe(false);
    const firing = await environment.context.db
      .selectFrom('alerts')
      .select('summary')
      .where('name', '=', 'receipt_unidentified')
      .where('firing_scope', 'is not', null)
      .execute();
    expect(firing.length).toBe(1);
  });

  it('is resolved once it is matched or returned, and reported again once the match is undone', async () => {
    const { context } = environment;
    const platform = randomUUID();
    const id = await put({ platform, issued_day: PAID_DAY });
    const [one, two] = [await pay({ platform, amount: '11.00' }), await pay({ platform, amount: '12.00' })];
    expect(await found(one, two)).toEqual(['open', 'open']);
    await matchExpected(context, { ...by, id, transactionId: one.id, amountCents: 100n });
    expect(await found(one, two)).toEqual(['resolved', 'open']);
    await unmatchExpected(context, { ...by, id, transactionId: one.id });
    expect(await found(one, two)).toEqual(['open', 'open']);
    await pay({ id: two.id, platform, amount: '12.00' }, ['pending@1', 'paid@2', 'refund@3']);
    expect(await found(one, two)).toEqual(['open', 'resolved']);
    // a person's resolution stands
    const [row] = (await readMismatchRows(context, 'receipt_unidentified')).filter(
      (each) => each.transaction_id === one.id,
    );
    await resolveMismatchByHand(context, row?.id ?? '', { note: 'doação', actor: 'test' });
    await put({ platform, issued_day: '2026-11-01' });
    expect(await found(one)).toEqual(['resolved']);
  });

  it('stays reported, and is again after an undone match, once the order that its day comes from begins later', async () => {
    const { context } = environment;
    const [platform, number] = [randomUUID(), randomUUID()];
    const expectFrom = (issued_day: string) =>
      expectOne(context, { platform, issued_day, due_day: '2026-11-25' }, number);
    const id = await expectFrom(PAID_DAY);
    const one = await pay({ platform, amount: '13.00' });
    expect(await found(one)).toEqual(['open']);
    await expectFrom('2026-11-25');
    expect(await found(one, await pay({ platform, amount: '14.00' }))).toEqual(['open', null]);
    await matchExpected(context, { ...by, id, transactionId: one.id });
    expect(await found(one)).toEqual(['resolved']);
    await unmatchExpected(context, { ...by, id, transactionId: one.id });
    expect(await found(one)).toEqual(['open']);
  });
});
