import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { readWebhookDays } from '../../../src/reconciliation/numbers/count-webhook-days.ts';
import { checkExpectedWebhooks } from '../../../src/reconciliation/runs/check-expected-webhooks.ts';
import { makeRow, type ProviderRow, wallAgo } from '../../support/make-provider-rows.ts';
import {
  openReconciliationEnvironment,
  type ReconciliationEnvironment,
} from '../../support/open-reconciliation-environment.ts';

const MINUTE = 60_000;
const GRACE = { WEBHOOK_GRACE: '10m', WEBHOOKS_SINCE: new Date(Date.now() - 86_400_000).toISOString() };
const TODAY = wallAgo(0).slice(0, 10);
// a history that reaches over midnight would stand in two days
const FROM = wallAgo(2 * 3_600_000).slice(0, 10);

/** A payment, created and paid this long ago. */
function paidAgo(ms: number, facts: Partial<ProviderRow> = {}): ProviderRow {
  const [created, paid] = [wallAgo(ms + MINUTE), wallAgo(ms)];
  const events = [
    { status: 'paid', date_created: paid },
    { status: 'pending', date_created: created },
  ];
  return makeRow({ created, status: 'paid', events, ...facts });
}

/** A split webhook, received this long ago, with its key and its claim. */
async function arrive(
  environment: ReconciliationEnvironment,
  msAgo: number,
  item: { id?: string; reference?: string; extra?: string; status?: string; repeats?: number[] },
) {
  const received_at = new Date(environment.context.clock.now().getTime() - msAgo);
  const { insertId } = await environment.context.db
    .insertInto('webhooks')
    .values({
      hash: createHash('sha256').update(randomBytes(8)).digest(),
      body: Buffer.from('{}'),
      received_at,
      source_address: '127.0.0.1',
      headers: '{}',
      state: 'pending',
      items: 1,
    })
    .executeTakeFirstOrThrow();
  const webhook_seq = Number(insertId);
  await environment.context.db
    .insertInto('webhook_items')
    .values({
      webhook_seq,
      position: 0,
      received_at,
      transaction_id: item.id ?? null,
      reference: item.reference ?? null,
      extra_hash: item.extra === undefined ? null : createHash('sha256').update(item.extra).digest(),
      claimed_status: item.status ?? 'paid',
      state: 'pending',
    })
    .execute();
  for (const repeat of item.repeats ?? []) {
    const at = new Date(environment.context.clock.now().getTime() - repeat);
    await environment.context.db
      .insertInto('webhook_repeats')
      .values({ webhook_seq, received_at: at, source_address: '127.0.0.1' })
      .execute();
  }
}

/** Applies the provider's current row as the fetch that the newest webhook caused. */
async function fetchForWebhook(environment: ReconciliationEnvironment, row: ProviderRow): Promise<void> {
  const { seq } = await environment.context.db
    .selectFrom('webhooks')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const shown = await environment.client.show(row.id);
  if (!shown?.ok) throw new Error('no row');
  await applyObservations(environment.context, [
    { ...shown, source: { kind: 'webhook', webhook: { seq, id: 'wh_1' } } },
  ]);
}

const reconcile = (environment: ReconciliationEnvironment) => environment.reconcile(FROM, TODAY);

test('the webhook of an unannounced change is lost: raised by the run that saw it, as resolved', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const row = paidAgo(30 * MINUTE);
  environment.provider.add(row);
  expect(await reconcile(environment)).toMatchObject({ applied: 1, mismatches: 1, by_kind: { webhook_lost: 1 } });
  expect(await environment.mismatches()).toMatchObject([
    { kind: 'webhook_lost', severity: 'medium', state: 'resolved', resolution: 'applied', transaction_id: row.id },
  ]);
  expect((await reconcile(environment)).mismatches).toBe(0);
});

test('a change whose grace is not over is raised later by the watch, and counted in the run that saw it', async () => {
  await using environment = await openReconciliationEnvironment({ ...GRACE, WEBHOOK_GRACE: '4s' });
  environment.provider.add(paidAgo(0));
  const run = await reconcile(environment);
  expect(run.mismatches).toBe(0);
  await environment.timers.advance(11_000);
  expect(await checkExpectedWebhooks(environment.context)).toBe(1);
  expect(await checkExpectedWebhooks(environment.context)).toBe(0);
  const seq = await environment.context.db.selectFrom('runs').select('seq').where('id', '=', run.id).executeTakeFirst();
  expect(await environment.mismatches()).toMatchObject([{ kind: 'webhook_lost', run_seq: seq?.seq }]);
});

test('a change is not evaluated while a webhook that was received in time may still be committed', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const { clock } = environment.context;
  const since = clock.now().getTime();
  const row = paidAgo(10 * MINUTE + 1_000);
  environment.provider.add(row);
  expect((await reconcile(environment)).mismatches).toBe(0);
  expect(await checkExpectedWebhooks(environment.context)).toBe(0);
  // received within the grace, and committed now
  await arrive(environment, clock.now().getTime() - since + 2_000, { id: row.id });
  await environment.timers.advance(10_000);
  expect(await checkExpectedWebhooks(environment.context)).toBe(0);
  expect(await environment.mismatches()).toEqual([]);
});

test('no webhook is expected of an inferred event: it is dated by the creation, not by the change', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  environment.provider.add({ ...paidAgo(3_600_000), events: [] });
  expect(await reconcile(environment)).toMatchObject({ applied: 1 });
  await checkExpectedWebhooks(environment.context);
  expect(await environment.mismatches('webhook_lost')).toEqual([]);
});

describe('a change learnt from the fetch for another webhook', () => {
  test('is lost where that webhook came before it, and nothing since: raised by the next run, and counted there', async () => {
    await using environment = await openReconciliationEnvironment(GRACE);
    const row = paidAgo(30 * MINUTE);
    environment.provider.add(row);
    // of the creation, a minute before
    await arrive(environment, 31 * MINUTE, { id: row.id, status: 'pending' });
    await fetchForWebhook(environment, row);
    expect(await environment.mismatches()).toEqual([]);
    expect(await reconcile(environment)).toMatchObject({ applied: 0, mismatches: 1, by_kind: { webhook_lost: 1 } });
    expect(await environment.mismatches('webhook_lost')).toMatchObject([
      { transaction_id: row.id, resolution: 'applied' },
    ]);
  });

  test('is lost where that webhook came after its grace: raised by the watch where no run comes first', async () => {
    await using environment = await openReconciliationEnvironment(GRACE);
    const row = paidAgo(30 * MINUTE);
    environment.provider.add(row);
    await arrive(environment, 15 * MINUTE, { id: row.id });
    await fetchForWebhook(environment, row);
    expect(await checkExpectedWebhooks(environment.context)).toBe(1);
    expect(await environment.mismatches('webhook_lost')).toMatchObject([{ transaction_id: row.id, run_seq: null }]);
    expect((await reconcile(environment)).mismatches).toBe(0);
    const days = await readWebhookDays(environment.context, { from: FROM, to: TODAY });
    expect(days.reduce((sum, day) => sum + day.lost, 0)).toBe(1);
    expect(days.reduce((sum, day) => sum + day.announced, 0)).toBe(0);
  });

  test('is announced by its own webhook, by a later one in time, and by a repeat in time', async () => {
    await using environment = await openReconciliationEnvironment(GRACE);
    const rows = [0, 1, 2].map(() => paidAgo(30 * MINUTE));
    environment.provider.add(...rows);
    const [own, later, repeated] = rows as [ProviderRow, ProviderRow, ProviderRow];
    await arrive(environment, 29 * MINUTE, { id: own.id });
    await fetchForWebhook(environment, own);
    await arrive(environment, 25 * MINUTE, { id: later.id });
    await arrive(environment, 31 * MINUTE, { id: later.id, status: 'pending' });
    await fetchForWebhook(environment, later);
    await arrive(environment, 55 * MINUTE, { id: repeated.id, repeats: [21 * MINUTE] });
    await fetchForWebhook(environment, repeated);
    expect(await checkExpectedWebhooks(environment.context)).toBe(0);
    expect(await environment.mismatches()).toEqual([]);
    const days = await readWebhookDays(environment.context, { from: FROM, to: TODAY });
    expect(days.reduce((sum, day) => sum + day.announced, 0)).toBe(3);
  });
});

describe('while a webhook may still come out of a spool', () => {
  type Said = { seenAgo: number; steadyFor: number; isWaiting?: boolean };
  async function report(environment: ReconciliationEnvironment, name: string, said: Said): Promise<void> {
    const now = environment.context.clock.now().getTime();
    const row = {
      ...{ name, is_waiting: said.isWaiting ? 1 : 0 },
      ...{ seen_at: new Date(now - said.seenAgo), since: new Date(now - said.seenAgo - said.steadyFor) },
    };
    await environment.context.db.replaceInto('spools').values(row).execute();
  }

  test('no change is checked; drained webhooks count by their receive time', async () => {
    await using environment = await openReconciliationEnvironment(GRACE);
    const [announced, lost] = [paidAgo(30 * MINUTE), paidAgo(30 * MINUTE)];
    environment.provider.add(announced, lost);
    await report(environment, 'a', { seenAgo: 0, steadyFor: 0, isWaiting: true });
    expect(await reconcile(environment)).toMatchObject({ applied: 2, mismatches: 0 });
    await arrive(environment, 29 * MINUTE, { id: announced.id });
    await report(environment, 'a', { seenAgo: 0, steadyFor: 0 });
    expect(await checkExpectedWebhooks(environment.context)).toBe(1);
    expect(await environment.mismatches('webhook_lost')).toMatchObject([{ transaction_id: lost.id }]);
  });

  test.each<[string, Record<string, Said>, number]>([
    ['one that has not been heard of since', { a: { seenAgo: 25 * MINUTE, steadyFor: 60 * MINUTE } }, 0],
    ['one of two', { a: { seenAgo: 25 * MINUTE, steadyFor: 0 }, b: { seenAgo: 0, steadyFor: MINUTE } }, 0],
    ['one that is gone', { a: { seenAgo: 25 * MINUTE, steadyFor: 0 }, b: { seenAgo: 0, steadyFor: 11 * MINUTE } }, 1],
    ['one that was heard of in time', { a: { seenAgo: MINUTE, steadyFor: 0 } }, 1],
    ['one that is gone, alone', { a: { seenAgo: 25 * 60 * MINUTE, steadyFor: 0, isWaiting: true } }, 1],
  ])('it is waited for %s', async (_, spools, lost) => {
    await using environment = await openReconciliationEnvironment(GRACE);
    environment.provider.add(paidAgo(30 * MINUTE));
    for (const [name, said] of Object.entries(spools)) await report(environment, name, said);
    expect((await reconcile(environment)).mismatches).toBe(lost);
  });

  test('no change is checked while a webhook in the inbox is not split', async () => {
    await using environment = await openReconciliationEnvironment(GRACE);
    environment.provider.add(paidAgo(30 * MINUTE));
    await arrive(environment, 25 * MINUTE, {});
    await environment.context.db.updateTable('webhooks').set({ state: 'received' }).execute();
    expect((await reconcile(environment)).mismatches).toBe(0);
    await environment.context.db.updateTable('webhooks').set({ state: 'pending' }).execute();
    expect(await checkExpectedWebhooks(environment.context)).toBe(1);
  });
});

test('one of two concurrent watches reports it', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  environment.provider.add(...Array.from({ length: 30 }, () => paidAgo(0)));
  await reconcile(environment);
  // as if the grace had passed since
  const now = environment.context.clock.now().getTime();
  const [event_at, due_at] = [new Date(now - 11 * MINUTE), new Date(now - MINUTE)];
  await environment.context.db.updateTable('owed_webhooks').set({ event_at, due_at }).execute();
  const other = await environment.replica();
  const lost = await Promise.all([checkExpectedWebhooks(environment.context), checkExpectedWebhooks(other)]);
  expect(lost[0] + lost[1]).toBe(30);
  expect(await environment.mismatches('webhook_lost')).toHaveLength(30);
});

test.each<[string, Partial<ProviderRow>, number]>([
  ['a creation', { status: 'pending', events: [{ status: 'pending', date_created: wallAgo(30 * MINUTE) }] }, 30],
  ['an expired cashin', { status: 'expired', events: [{ status: 'expired', date_created: wallAgo(30 * MINUTE) }] }, 30],
  ['a change before WEBHOOKS_SINCE', {}, 90],
])('%s owes no webhook', async (_, facts, minutes) => {
  const since = new Date(Date.now() - 60 * MINUTE).toISOString();
  await using environment = await openReconciliationEnvironment({ ...GRACE, WEBHOOKS_SINCE: since });
  environment.provider.add(paidAgo(minutes * MINUTE, facts));
  expect(await reconcile(environment)).toMatchObject({ applied: 1, mismatches: 0 });
});

test('WEBHOOKS_OWED says which changes are announced', async () => {
  await using environment = await openReconciliationEnvironment({ ...GRACE, WEBHOOKS_OWED: 'cashin.expired' });
  const expired = { status: 'expired', events: [{ status: 'expired', date_created: wallAgo(30 * MINUTE) }] };
  environment.provider.add(paidAgo(30 * MINUTE), paidAgo(30 * MINUTE, expired));
  expect((await reconcile(environment)).by_kind).toEqual({ webhook_lost: 1 });
});

test('any webhook that names the transaction in time announced it, with any status', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const [byId, byReference, byRepeat] = [paidAgo(30 * MINUTE), paidAgo(30 * MINUTE), paidAgo(30 * MINUTE)];
  environment.provider.add(byId, byReference, byRepeat);
  await arrive(environment, 25 * MINUTE, { id: byId.id, status: 'pending' });
  await arrive(environment, 29 * MINUTE, { reference: byReference.reference });
  await arrive(environment, 55 * MINUTE, { id: byRepeat.id, repeats: [50 * MINUTE, 21 * MINUTE] });
  expect((await reconcile(environment)).by_kind).toEqual({});
});

test('a webhook with only the extra, received before the transaction was known, announced it', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const [row, byRepeat, late] = ['caixa 1', 'caixa 2', 'caixa 3'].map((extra) => paidAgo(30 * MINUTE, { extra }));
  environment.provider.add(...[row, byRepeat, late].flatMap((one) => one ?? []));
  await arrive(environment, 25 * MINUTE, { extra: 'caixa 1' });
  await arrive(environment, 55 * MINUTE, { extra: 'caixa 2', repeats: [21 * MINUTE] });
  await arrive(environment, 19 * MINUTE, { extra: 'caixa 3' });
  await environment.context.db.updateTable('webhook_items').set({ state: 'quarantined' }).execute();
  expect((await reconcile(environment)).by_kind).toEqual({ webhook_lost: 1 });
  expect(await environment.mismatches('webhook_lost')).toMatchObject([{ transaction_id: late?.id }]);
});

test('an extra that several transactions share, or with the key of another one, announces none of them', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const extras = ['loja 7', 'loja 7', 'caixa 4', 'caixa 5'];
  environment.provider.add(...extras.map((extra) => paidAgo(30 * MINUTE, { extra })));
  await arrive(environment, 25 * MINUTE, { extra: 'loja 7' });
  await arrive(environment, 25 * MINUTE, { extra: 'caixa 4', id: randomUUID() });
  await arrive(environment, 25 * MINUTE, { extra: 'caixa 5', reference: 'of another' });
  expect((await reconcile(environment)).by_kind).toEqual({ webhook_lost: 4 });
});

test('a webhook that is too early, too late, or names another transaction announces nothing', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const rows = [0, 1, 2, 3].map(() => paidAgo(30 * MINUTE));
  const [early, late, repeated, other] = rows;
  environment.provider.add(...rows);
  await arrive(environment, 31 * MINUTE, { id: early?.id ?? '' });
  await arrive(environment, 19 * MINUTE, { id: late?.id ?? '' });
  await arrive(environment, 40 * MINUTE, { id: repeated?.id ?? '', repeats: [35 * MINUTE, 10 * MINUTE] });
  await arrive(environment, 25 * MINUTE, { reference: `${other?.reference} ` });
  expect((await reconcile(environment)).by_kind).toEqual({ webhook_lost: 4 });
});

test('the webhook of the change a second before does not announce the one after it', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const [created, paid, refund] = [wallAgo(31 * MINUTE), wallAgo(30 * MINUTE), wallAgo(30 * MINUTE - 3000)];
  const events = [
    { status: 'refund', date_created: refund },
    { status: 'paid', date_created: paid },
    { status: 'pending', date_created: created },
  ];
  const row = makeRow({ created, status: 'refund', events });
  environment.provider.add(row);
  await arrive(environment, 30 * MINUTE - 1500, { id: row.id, status: 'paid' });
  expect((await reconcile(environment)).by_kind).toEqual({ webhook_lost: 1 });
  expect(await environment.mismatches()).toMatchObject([{ actual: expect.stringContaining('"refund"') }]);
});

test('a provider whose clock is slightly ahead of ours announces its change', async () => {
  await using environment = await openReconciliationEnvironment(GRACE);
  const row = paidAgo(30 * MINUTE);
  environment.provider.add(row);
  await arrive(environment, 30 * MINUTE + 3000, { id: row.id, status: 'paid' });
  expect((await reconcile(environment)).by_kind).toEqual({});
});
