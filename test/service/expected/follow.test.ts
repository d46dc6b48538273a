import { describe, expect, it } from 'vitest';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { formatAmount } from '../../../src/domain/money.ts';
import { cancelExpected, reopenExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected, unmatchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { findOldestUndecided } from '../../../src/expected/read-expected-metrics.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { expectOne, payOne } from '../../support/expect-orders.ts';
import { holdReads } from '../../support/failing-database.ts';
import type { ShownTransaction } from '../../support/make-observations.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readMismatchRows } from '../../support/read-ledger-state.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const CPF = '52998224725';
const by = { actor: 'test', note: 'visto no extrato' };

const environment = closeAfterAll(await openEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));

const put = (facts: Record<string, unknown>, number?: string) => expectOne(environment.context, facts, number);
const pay = (more: Partial<ShownTransaction>, history?: string[]) => payOne(environment.context, more, history);

async function stateOf(id: string) {
  const { context } = environment;
  await decideAll(context);
  const head = await context.db
    .selectFrom('expected_payments')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const matches = await context.db
    .selectFrom('expected_matches as made')
    .innerJoin('transactions', 'transactions.seq', 'made.transaction_seq')
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .select(['transactions.id', 'made.rule'])
    .where('made.expected_seq', '=', head.seq)
    .where('made.part', 'is not', null)
    .where('undone.seq', 'is', null)
    .orderBy('made.seq')
    .execute();
  const candidates = await context.db
    .selectFrom('expected_candidates')
    .innerJoin('transactions', 'transactions.seq', 'transaction_seq')
    .select(['transactions.id', 'rule', 'reason'])
    .where('expected_seq', '=', head.seq)
    .execute();
  return { state: head.state, reason: head.reason_code, matches, candidates };
}

// before any other test expects something
it('the first expected payment waits for payments that are being booked, which leave no work, and is matched with them', async () => {
  const { context } = environment;
  const countWork = async () => (await context.db.selectFrom('expected_work').select('seq').execute()).length;
  await pay({ reference: 'before' });
  expect(await countWork()).toBe(0);
  const reads = holdReads(context, 'merchants');
  reads.hold();
  const booking = payOne(reads.context, { reference: 'first' });
  await eventually('the payment is being booked', () => reads.held() === 1);
  const id = await put({ references: ['first'] });
  const decided = stateOf(id);
  await waitForLockWaits(context);
  reads.release();
  const { id: paid } = await booking;
  expect(await decided).toMatchObject({ state: 'paid', matches: [{ id: paid }] });
  await pay({ reference: 'later' });
  expect(await countWork()).toBe(1);
});

describe('an expected payment', () => {
  it('is matched by a reference, in either order of arrival, with any amount', async () => {
    const before = await put({ references: ['a-1'] });
    expect(await stateOf(before)).toMatchObject({ matches: [] });
    const one = await pay({ reference: 'a-1' });
    expect(await stateOf(before)).toMatchObject({
      state: 'paid',
      reason: null,
      matches: [{ id: one.id, rule: 'reference' }],
    });
    const other = await pay({ reference: 'a-2', amount: '7.00' });
    const after = await put({ references: ['a-2'] }, 'corrected');
    expect(await stateOf(after)).toMatchObject({ state: 'underpaid', matches: [{ id: other.id, rule: 'reference' }] });
    const rows = await readMismatchRows(environment.context, 'amount_not_expected');
    expect(rows).toMatchObject([{ severity: 'high', state: 'open', amount: '-3.00' }]);
    // the source corrects the amount: the state is as before, the difference is not
    await put({ references: ['a-2'], amount: '9.00' }, 'corrected');
    expect(await stateOf(after)).toMatchObject({ state: 'underpaid' });
    expect(await readMismatchRows(environment.context, 'amount_not_expected')).toMatchObject([{ amount: '-2.00' }]);
    await pay({ reference: 'a-2', amount: '2.00' });
    expect(await stateOf(after)).toMatchObject({ state: 'paid' });
    expect(await readMismatchRows(environment.context, 'amount_not_expected')).toMatchObject([{ state: 'resolved' }]);
  });

  it('is matched by document and amount, until a second payment makes it a guess', async () => {
    const id = await put({ document: CPF, amount: '41.00' });
    const one = await pay({ document: '529.982.247-25', amount: '41.00' });
    expect(await stateOf(id)).toMatchObject({ state: 'paid', matches: [{ id: one.id, rule: 'document' }] });
    const two = await pay({ document: CPF, amount: '41.00' });
    const found = await stateOf(id);
    expect(found.matches).toEqual([]);
    expect(found.candidates.map((row) => row.id).sort()).toEqual([one.id, two.id].sort());
    await matchExpected(environment.context, { ...by, id, transactionId: two.id });
    expect(await stateOf(id)).toMatchObject({
      state: 'paid',
      matches: [{ id: two.id, rule: 'person' }],
      candidates: [],
    });
    await unmatchExpected(environment.context, { ...by, id, transactionId: two.id });
    // nobody is matched by elimination
    expect(await stateOf(id)).toMatchObject({ matches: [] });
  });

  it('is matched by the code by which its invoice names the payment: an E2E id or a reference', async () => {
    const { context } = environment;
    const e2eId = 'E12345678202611202302abcdefghijk';
    const given = { operation: 'cashin', amount: '20.00', due_day: '2026-11-20' };
    const arrival = { source: 'nfe', number: 'nota-1', facts: expectedFactsSchema.parse(given) };
    const arrive = (authorizations: string[]) =>
      putExpected(context, { arrivals: [{ ...arrival, authorizations }], actor: 'test' });
    const [first] = await arrive([e2eId, 'txid-1']);
    const [one, two] = [await pay({ e2e_id: e2eId }), await pay({ reference: 'txid-1' })];
    const id = first?.id ?? '';
    expect(await stateOf(id)).toMatchObject({
      ...{ state: 'paid', matches: [one, two].map((row) => ({ id: row.id, rule: 'invoice' })) },
    });
    // equal codes change nothing; fewer are a version
    expect(await arrive(['txid-1', e2eId])).toMatchObject([{ status: 'unchanged' }]);
    expect(await arrive([e2eId])).toMatchObject([{ status: 'changed', version: 2 }]);
    expect(await stateOf(id)).toMatchObject({ state: 'underpaid', matches: [{ id: one.id, rule: 'invoice' }] });
  });

  it('is paid after it was cancelled, and paid once it is reopened; paid twice raises a mismatch', async () => {
    const id = await put({ references: ['c-1'] });
    await cancelExpected(environment.context, { id, actor: 'test' });
    expect(await stateOf(id)).toMatchObject({ state: 'cancelled' });
    await pay({ reference: 'c-1' });
    expect(await stateOf(id)).toMatchObject({ state: 'paid_after_cancel' });
    // all that came in is at stake: nothing was owed any more
    const [{ amount_cents: cents } = { amount_cents: 0n }] = await environment.context.db
      .selectFrom('expected_payments')
      .select('amount_cents')
      .where('id', '=', id)
      .execute();
    expect(await readMismatchRows(environment.context, 'paid_after_cancel')).toMatchObject([
      { at_stake: formatAmount(cents) },
    ]);
    await reopenExpected(environment.context, { id, ...by });
    expect(await stateOf(id)).toMatchObject({ state: 'paid' });
    const second = await pay({ reference: 'c-1' });
    expect(await stateOf(id)).toMatchObject({ state: 'paid_twice' });
    // one alert a cause: the repeated reference was alerted when it was booked
    const firing = () =>
      environment.context.db.selectFrom('alerts').select('name').where('firing_scope', 'is not', null).execute();
    const names = (await firing()).map(({ name }) => name);
    expect([names.includes('duplicate_reference'), names.includes('paid_twice')]).toEqual([true, false]);
    await pay({ id: second.id, reference: 'c-1' }, ['pending@1', 'paid@2', 'refund@3']);
    expect(await stateOf(id)).toMatchObject({ state: 'paid' });
    expect(await readMismatchRows(environment.context, 'paid_twice')).toMatchObject([{ state: 'resolved' }]);
    expect(await readMismatchRows(environment.context, 'paid_after_cancel')).toMatchObject([{ state: 'resolved' }]);
  });

  it('is found by its extra in either order, also of a person who is forgotten', async () => {
    const { context } = environment;
    const hash = hashDocument(context.keys, '11144477735');
    await context.db.insertInto('forgotten_people').values({ document_hash: hash, forgotten_at: new Date() }).execute();
    const paid = await pay({ extra: 'cart-9' });
    const id = await put({ document: '11144477735', name: 'Ana Souza', extra: 'cart-9' });
    expect(await stateOf(id)).toMatchObject({ state: 'paid', matches: [{ id: paid.id, rule: 'extra' }] });
    await put({ document: '11144477735', name: 'Ana Souza', extra: 'de ana souza' });
    const texts = await context.db.selectFrom('expected_texts').select(['name', 'document', 'extra']).execute();
    const nobody = { name: null, document: null };
    expect(texts.slice(-2)).toEqual([
      { ...nobody, extra: 'cart-9' },
      { ...nobody, extra: null },
    ]);
  });

  it('fails alone, also at its end: its age stays in sight, and it is decided once it can be', async () => {
    const { context } = environment;
    const { db, clock } = context;
    const [bad, good] = [await put({ due_day: '2999-01-01' }), await put({}, 'good')];
    await decideAll(context);
    const head = db
      .selectFrom('expected_payments')
      .select(['seq', 'sequence', 'state', 'look_at'])
      .where('id', '=', bad);
    const { seq, sequence } = await head.executeTakeFirstOrThrow();
    // the number of its next change is taken
    const change = {
      version: 1,
      state: 'open',
      settled_cents: 0n,
      returned_cents: 0n,
      parts_settled: 0,
      at: clock.now(),
    };
    await db
      .insertInto('expected_changes')
      .values({ expected_seq: seq, sequence: sequence + 1, ...change })
      .execute();
    const endedAt = new Date(clock.now().getTime() - 60_000);
    await db
      .updateTable('expected_payments')
      .set({ end_day: '2026-11-20', look_at: endedAt })
      .where('seq', '=', seq)
      .execute();
    const paid = await pay({ reference: 'd-1' });
    await put({ references: ['d-1'] }, 'good');
    expect(await stateOf(good)).toMatchObject({ state: 'paid', matches: [{ id: paid.id }] });
    expect(await head.executeTakeFirst()).toMatchObject({ state: 'open', look_at: null });
    const since = await findOldestUndecided(db, clock.now());
    expect(since?.getTime()).toBeLessThanOrEqual(clock.now().getTime());
    const tryAgain = () => db.updateTable('expected_work').set({ due_at: clock.now() }).execute();
    await tryAgain();
    await decideAll(context);
    expect(await findOldestUndecided(db, clock.now())).toEqual(since);
    await db
      .updateTable('expected_payments')
      .set({ sequence: sequence + 1 })
      .where('seq', '=', seq)
      .execute();
    await tryAgain();
    expect(await stateOf(bad)).toMatchObject({ state: 'not_proven' });
    expect(await findOldestUndecided(db, clock.now())).toBeNull();
  });
});
