import { describe, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import type { FoundMismatch, MismatchKind } from '../../../src/domain/mismatch.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { alertBaseline } from '../../../src/mismatches/alert-baseline.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { acknowledgeMismatch, resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';
import { readRows } from '../../support/read-rows.ts';

const environment = closeAfterAll(await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));
let seconds = 0;

/** Shows rows to the ledger, each observation later than the ones before. */
async function observe(...rows: ShownTransaction[]) {
  seconds++;
  const observations = rows.map((row) => observeNow(environment.context, row, seconds));
  return await applyObservations(environment.context, observations);
}

const about = async (id: string) =>
  (await readMismatchRows(environment.context)).filter((one) => one.transaction_id === id);
const heldOf = (id: string) =>
  environment.context.db.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

describe('what changed at the provider is reported, and the ledger keeps what it had', () => {
  const facts = { reference: 'pedido-k', extra: 'loja 7, Maria', platform: 'p', commission: '0.50' };
  const PAID = ['pending@0', 'paid@1'];

  test('the amount, and with it the operation', async () => {
    const row = makeShownTransaction(PAID, facts);
    await observe(row);
    expect((await observe({ ...row, amount: '12.00' })).raised).toMatchObject([{ kind: 'amount_differs' }]);
    expect(await about(row.id)).toMatchObject([
      {
        kind: 'amount_differs',
        severity: 'critical',
        state: 'open',
        amount: '10.00',
        expected: { amount: '10.00', operation: 'cashin' },
        actual: { amount: '12.00', operation: 'cashin' },
      },
    ]);
    await observe({ ...row, operation: 'cashout' });
    expect(await about(row.id)).toMatchObject([{ actual: { amount: '10.00', operation: 'cashout' } }]);
    expect(await heldOf(row.id)).toMatchObject({ amount_cents: 1000n, operation: 'cashin' });
  });

  test('reference, extra and platform, the extra by its hash alone', async () => {
    const row = makeShownTransaction(PAID, { ...facts, reference: 'pedido-l' });
    await observe(row);
    await observe({ ...row, reference: 'Pedido-l', extra: 'loja 8, Maria', platform: 'P' });
    const [reported] = await about(row.id);
    expect(reported).toMatchObject({
      kind: 'reference_differs',
      expected: { reference: 'pedido-l', platform: 'p' },
      actual: { reference: 'Pedido-l', platform: 'P' },
    });
    expect(JSON.stringify(reported)).not.toContain('Maria');
    expect(await heldOf(row.id)).toMatchObject({ reference: 'pedido-l', extra: 'loja 7, Maria', platform: 'p' });
  });

  test('the commission after the payment', async () => {
    const row = makeShownTransaction(PAID, { ...facts, reference: 'pedido-m' });
    await observe(row);
    await observe({ ...row, commission: '0.51' });
    expect(await about(row.id)).toMatchObject([
      { kind: 'commission_differs', expected: { commission: '0.50' }, actual: { commission: '0.51' } },
    ]);
    expect(await heldOf(row.id)).toMatchObject({ commission_cents: 50n });
  });
});

describe('an end-to-end id', () => {
  const PAID = ['pending@0', 'paid@1'];
  const report = async (e2e_id: string, history = PAID) => {
    const row = makeShownTransaction(history, { e2e_id });
    await observe(row);
    return await about(row.id);
  };

  test('of another day than the payment is reported, until a person has searched at it', async () => {
    const [reported] = await report('E12345678202611191201abcdefghijk');
    expect(reported).toMatchObject({
      kind: 'e2e_date_differs',
      severity: 'medium',
      state: 'open',
      expected: { status: 'paid', at: '2026-11-20T23:01:00-03:00' },
      actual: { e2e_minute: '2026-11-19T12:01:00.000Z' },
    });
  });

  test.each([
    ['within twelve hours', 'E12345678202611201401abcdefghijk', PAID],
    ['that is malformed', 'E1234567820261119120abcdefghijk', PAID],
    ['of a day that is none', 'E12345678202611319999abcdefghijk', PAID],
    ['before it is paid', 'E12345678202611191201abcdefghijk', ['pending@0']],
    ['of a refund, beside its refund', 'D12345678202611210201abcdefghijk', ['paid@1', 'refund@2']],
  ])('%s shows nothing', async (_, e2e_id, history) => {
    expect(await report(e2e_id, history)).toEqual([]);
  });
});

test('an unknown status is kept and reported, and over once a known one follows', async () => {
  const row = makeShownTransaction(['pending@0', 'partially_paid@1']);
  await observe(row);
  expect(await heldOf(row.id)).toMatchObject({ status: 'partially_paid', event_count: 2 });
  expect(await about(row.id)).toMatchObject([{ kind: 'unknown_status', state: 'open' }]);
  await observe({ ...makeShownTransaction(['pending@0', 'partially_paid@1', 'paid@2']), id: row.id });
  expect(await about(row.id)).toMatchObject([
    { kind: 'unknown_status', state: 'resolved', resolution: 'fresh_evidence' },
  ]);
});

test('a history that leaves a final status is reported, and booked all the same', async () => {
  const row = makeShownTransaction(['pending@0', 'denied@1', 'paid@2']);
  await observe(row);
  expect(await about(row.id)).toMatchObject([{ kind: 'illegal_transition', severity: 'high', state: 'open' }]);
  const entries = await readRows(environment.context.db, 'entries', ['at_wall'], {
    transaction_seq: (await heldOf(row.id)).seq,
  });
  expect(entries).toEqual([{ at_wall: '2026-11-20 23:02:00' }]);
});

describe('a reference that two transactions share', () => {
  const reported = async (reference: string) =>
    (await readMismatchRows(environment.context, 'duplicate_reference')).filter((one) => one.reference === reference);

  test('names every one of them, and is over once all but one are', async () => {
    const three = [0, 1, 2].map((minute) => makeShownTransaction([`paid@${minute}`], { reference: 'twice' }));
    await observe(...three.slice(0, 2));
    await observe(...three.slice(2));
    expect(await reported('twice')).toMatchObject([
      { state: 'open', amount: '30.00', actual: { ids: three.map((row) => row.id) } },
    ]);
    for (const [index, state] of [
      [0, 'open'],
      [1, 'resolved'],
    ] as const) {
      await observe({
        ...makeShownTransaction([`paid@${index}`, 'refund@9'], { reference: 'twice' }),
        id: three[index]?.id ?? '',
      });
      expect(await reported('twice')).toMatchObject([{ state }]);
    }
  });

  test('is none where one of them is over from the start, or the case differs', async () => {
    await observe(
      makeShownTransaction(['denied@1'], { reference: 'over' }),
      makeShownTransaction(['paid@1'], { reference: 'over' }),
    );
    await observe(
      makeShownTransaction(['paid@1'], { reference: 'Case' }),
      makeShownTransaction(['paid@1'], { reference: 'case' }),
    );
    expect([...(await reported('over')), ...(await reported('Case')), ...(await reported('case'))]).toEqual([]);
  });

  test('is found too when the reference comes to be known later', async () => {
    const [one, other] = [makeShownTransaction(['paid@1']), makeShownTransaction(['paid@1'], { reference: 'later' })];
    await observe(one, other);
    await observe({ ...one, reference: 'later' });
    expect(await reported('later')).toMatchObject([{ state: 'open' }]);
  });

  test('of the greatest length is reported apart from its like', async () => {
    for (const end of ['a', 'b']) {
      const reference = `${'é'.repeat(255)}${end}`;
      await observe(makeShownTransaction(['paid@1'], { reference }), makeShownTransaction(['paid@1'], { reference }));
      expect(await reported(reference)).toHaveLength(1);
    }
    expect(await readMismatchRows(environment.context, 'row_refused')).toEqual([]);
  });
});

describe('the life of a mismatch', () => {
  const find = (scope: string, actual: unknown, kind: MismatchKind = 'list_unstable'): FoundMismatch => ({
    kind,
    scope,
    actual,
  });
  const raise = (...found: FoundMismatch[]) =>
    transact(environment.context.db, (trx) => raiseMismatches(trx, found, environment.context.clock.now()), {
      retryDuplicates: true,
    });
  const end = (scope: string, askedAt?: Date, kind: MismatchKind = 'list_unstable') =>
    transact(environment.context.db, (trx) =>
      resolveMismatches(
        trx,
        [{ kind, scope, ...(askedAt ? { askedAt } : {}) }],
        'fresh_evidence',
        environment.context.clock.now(),
      ),
    );
  const rowsOf = (scope: string) =>
    environment.context.db.selectFrom('mismatches').selectAll().where('scope', '=', scope).orderBy('seq').execute();
  /** The alerts of the cause of a mismatch. */
  const alertsOf = (scope: string) =>
    environment.context.db
      .selectFrom('mismatches')
      .innerJoin('mismatch_causes', 'mismatch_seq', 'mismatches.seq')
      .innerJoin('alerts', (join) => join.onRef('name', '=', 'alert_name').onRef('alerts.scope', '=', 'alert_scope'))
      .selectAll('alerts')
      .where('mismatches.scope', '=', scope)
      .orderBy('alerts.seq')
      .execute();
  const baselineAlerts = () =>
    environment.context.db.selectFrom('alerts').selectAll().where('name', '=', 'baseline_mismatches').execute();
  const by = { actor: 'tok_1', note: 'seen' };

  test('found twice, together or apart, it is one, and one alert', async () => {
    expect(await raise(find('twice', 1), find('twice', 1))).toHaveLength(1);
    expect(await raise(find('twice', 1))).toEqual([]);
    expect(await rowsOf('twice')).toMatchObject([{ state: 'open', reopened: 0 }]);
    expect(await alertsOf('twice')).toMatchObject([{ ended_at: null }]);
  });

  test('found by two at once, it is one', async () => {
    const found = await Promise.all(Array.from({ length: 8 }, () => raise(find('race', 1))));
    expect(found.flat()).toHaveLength(1);
    expect(await rowsOf('race')).toHaveLength(1);
  });

  test('over by itself and found again, it reopens and counts that', async () => {
    await raise(find('again', 1, 'row_refused'));
    for (const reopened of [1, 2]) {
      expect(await end('again', undefined, 'row_refused')).toBe(1);
      expect(await rowsOf('again')).toMatchObject([
        { state: 'resolved', resolution: 'fresh_evidence', open_scope: null },
      ]);
      expect((await alertsOf('again')).filter((alert) => alert.ended_at === null)).toEqual([]);
      expect(await raise(find('again', 1, 'row_refused'))).toHaveLength(1);
      expect(await rowsOf('again')).toMatchObject([{ state: 'open', reopened, resolved_at: null, resolution: null }]);
    }
    const [{ seq } = { seq: 0 }] = await rowsOf('again');
    const changes = await readRows(environment.context.db, 'mismatch_changes', ['state'], { mismatch_seq: seq });
    expect(changes.map((change) => change.state)).toEqual(['open', 'resolved', 'open', 'resolved', 'open']);
  });

  test('closed by a person, it stays so for what they saw, and reopens for anything else', async () => {
    await raise(find('person', { ids: [1] }));
    const [row] = await rowsOf('person');
    await acknowledgeMismatch(environment.context, row?.id ?? '', by);
    expect(await raise(find('person', { ids: [1] }))).toEqual([]);
    expect(await rowsOf('person')).toMatchObject([{ state: 'acknowledged', note: 'seen' }]);
    await resolveMismatchByHand(environment.context, row?.id ?? '', { ...by, note: 'fine' });
    expect(await raise(find('person', { ids: [1] }))).toEqual([]);
    expect(await rowsOf('person')).toMatchObject([{ state: 'resolved', resolution: 'by_hand', note: 'fine' }]);
    expect(await raise(find('person', { ids: [1, 2] }))).toHaveLength(1);
    expect(await rowsOf('person')).toMatchObject([{ state: 'open', reopened: 1, acknowledged_at: null }]);
  });

  test('once over it can be neither acknowledged nor resolved, and what is not there is not found', async () => {
    await raise(find('done', 1));
    const id = (await rowsOf('done'))[0]?.id ?? '';
    await resolveMismatchByHand(environment.context, id, by);
    await expect(resolveMismatchByHand(environment.context, id, by)).rejects.toMatchObject({ code: 'conflict' });
    await expect(acknowledgeMismatch(environment.context, id, by)).rejects.toMatchObject({ code: 'conflict' });
    await expect(resolveMismatchByHand(environment.context, 'mm_none', by)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('evidence from before it was opened ends nothing', async () => {
    const before = new Date(environment.context.clock.now().getTime() - 1000);
    await raise(find('stale', 1));
    expect(await end('stale', before)).toBe(0);
    expect(await end('stale', new Date(environment.context.clock.now().getTime() + 1000))).toBe(1);
  });

  test('reported and over at once, it never was open, and its alert has ended', async () => {
    await raise({ ...find('applied', 1, 'webhook_lost'), resolution: 'applied' });
    expect(await rowsOf('applied')).toMatchObject([{ state: 'resolved', open_scope: null, resolution: 'applied' }]);
    expect(await alertsOf('applied')).toMatchObject([{ firing_scope: null }]);
  });

  test('of a scope that contains a document is named by its id in the alert', async () => {
    const scope = 'loja 529.982.247-25';
    await raise(find(scope, 1, 'balance_differs'));
    const [[mismatch], [alert]] = [await rowsOf(scope), await alertsOf(scope)];
    expect(alert?.summary).toContain(`balance_differs: mismatch ${mismatch?.id}`);
    expect(JSON.stringify(alert)).not.toContain('529.982');
  });

  test('of a time before webhooks were owed it is listed, and alerts nobody', async () => {
    const events = ['paid', 'denied', 'pending'].map((status, index) => ({
      status,
      date_created: `2025-06-01 10:0${3 - index}:00`,
    }));
    const row = makeShownTransaction([], { status: 'paid', date_created: '2025-06-01 10:00:00', events });
    await observe(row);
    expect(await about(row.id)).toMatchObject([{ baseline: true, state: 'open' }]);
    expect(await alertsOf(row.id)).toEqual([]);
    await alertBaseline(environment.context);
    const [reported] = await baselineAlerts();
    expect(reported).toMatchObject({ name: 'baseline_mismatches', severity: 'medium', ended_at: null });
    expect(reported?.summary).toContain('1 × Impossible transition');
    // a change that came since is news, however old the payment is
    await observe({ ...row, amount: '11.00' });
    expect(await about(row.id)).toMatchObject([{}, { kind: 'amount_differs', baseline: false }]);
    expect(await alertsOf(row.id)).toMatchObject([{ name: 'amount_differs' }]);
    await resolveMismatchByHand(environment.context, (await about(row.id))[0]?.id ?? '', by);
    await alertBaseline(environment.context);
    expect((await baselineAlerts())[0]?.ended_at).not.toBeNull();
  });
});
