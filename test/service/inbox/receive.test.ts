import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { writeArrivals } from '../../../src/inbox/receive/write-arrivals.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { loseCommit } from '../../support/failing-database.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction, readMismatchRows } from '../../support/read-ledger-state.ts';

const env = closeAfterAll(await openInboxEnvironment());

const PAID = ['pending@0', 'paid@1'];

/** A transaction that the provider knows. */
function paid(more: Partial<ShownTransaction> = {}): ShownTransaction {
  return env.provider.put(makeShownTransaction(PAID, { id: randomUUID(), ...more }));
}

/** The body that public clients of the live service read. */
const flat = (row: ShownTransaction, more: object = {}) => ({
  id: 30,
  transaction_id: row.id,
  status: row.status,
  ...more,
});

const heldOf = (id: string) =>
  env.context.db.selectFrom('transactions').selectAll().where('id', '=', id).executeTakeFirst();
const askedFor = (id: string) => env.provider.countShows(id);

/** Puts a transaction into the ledger by a run, as it was before its webhook comes. */
async function know(row: ShownTransaction): Promise<void> {
  await applyObservations(env.context, [observe(row, env.context.clock.now())]);
}

describe('receiving', () => {
  test('the same bytes twice at once are one webhook and one duplicate, by the hash of the bytes', async () => {
    const body = JSON.stringify(flat(paid()));
    const answers = await Promise.all([env.receive(body), env.receive(body)]);
    const id = `wh_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
    expect(answers.map((answer) => answer.id)).toEqual([id, id]);
    expect(answers.filter((answer) => answer.duplicate)).toHaveLength(1);
    expect(await env.webhook(id)).toMatchObject({ repeats: 1 });
    expect(await env.receive(body)).toEqual({ id, duplicate: true, defect: undefined });
    expect(await env.webhook(id)).toMatchObject({ repeats: 2 });
  });

  test('five hundred concurrent webhooks of all kinds are each stored once', async () => {
    const row = paid();
    const bodies = Array.from({ length: 500 }, (_, index) => JSON.stringify(flat(row, { id: index % 400 })));
    const answers = await Promise.all(bodies.map((body) => env.receive(body)));
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(400);
    expect(answers.filter((answer) => answer.duplicate)).toHaveLength(100);
    for (const { id } of answers.slice(0, 5)) await env.waitForState(id, 'applied');
    const { waiting } = await eventually('all are worked off', async () => {
      const rows = await env.context.db
        .selectFrom('webhooks')
        .select('seq')
        .where('state', 'in', ['received', 'pending'])
        .execute();
      return rows.length === 0 ? { waiting: 0 } : undefined;
    });
    expect(waiting).toBe(0);
    expect((await heldOf(row.id))?.event_count).toBe(2);
  });

  test('an arrival whose commit answer was lost is answered correctly, and counted once', async () => {
    const arrive = (body: string) => ({
      hash: createHash('sha256').update(body).digest(),
      body: Buffer.from(body),
      address: '127.0.0.1',
      headers: {},
      receivedAt: new Date(),
      defect: undefined,
    });
    const [old, fresh] = [JSON.stringify(flat(paid())), JSON.stringify(flat(paid()))];
    const { id } = await env.receive(old);
    const arrivals = [arrive(old), arrive(fresh)];
    // one that came before has the batch written in a transaction, whose commit is not heard of
    const kept = await writeArrivals(loseCommit(env.context, 'webhooks'), arrivals);
    expect(kept).toEqual([{ duplicate: true }, { duplicate: false }]);
    expect(await env.webhook(id)).toMatchObject({ repeats: 1 });
    const hash = createHash('sha256').update(fresh).digest('hex');
    expect(await env.webhook(`wh_${hash.slice(0, 32)}`)).toMatchObject({ repeats: 0 });
  });

  test('many webhooks of one transaction need few shows', async () => {
    const row = paid();
    env.provider.switches.beforeResponse = () => sleep(30);
    const answers = await Promise.all(Array.from({ length: 64 }, (_, id) => env.receive(flat(row, { id }))));
    for (const { id } of answers) await env.waitForState(id, 'applied');
    env.provider.switches.beforeResponse = () => undefined;
    expect(askedFor(row.id)).toBeLessThanOrEqual(8);
  });

  test.each([
    ['', 'empty'],
    ['hello', 'not_json'],
    ['7', 'not_an_object'],
    [`${'['.repeat(40)}{}${']'.repeat(40)}`, 'too_deep'],
    ['{}', 'no_key'],
    ['[[]]', 'no_key'],
    ['{"id":30,"status":"paid"}', 'no_key'],
    [JSON.stringify(Array.from({ length: 1001 }, () => ({ reference: 'r' }))), 'too_many_items'],
  ])('a body like %s is stored, quarantined as %s, reported, and blocks nothing', async (body, reason) => {
    const { id } = await env.receive(body.slice(0, 200_000));
    expect(await env.waitForState(id, 'quarantined')).toMatchObject({ reason });
    const reported = (await readMismatchRows(env.context, 'webhook_quarantined')).map((one) => one.actual);
    expect(reported).toContainEqual({ reason });
    const next = await env.receive(flat(paid()));
    await env.waitForState(next.id, 'applied');
  });
});

describe('whose it is', () => {
  test('by its id, from the show, with the webhook as the source', async () => {
    const row = paid();
    const { id } = await env.receive(flat(row));
    await env.waitForState(id, 'applied');
    expect(await heldOf(row.id)).toMatchObject({ status: 'paid', amount_cents: 1000n });
    const events = await env.context.db
      .selectFrom('events')
      .innerJoin('transactions', 'transactions.seq', 'transaction_seq')
      .select('source_kind')
      .where('transactions.id', '=', row.id)
      .execute();
    expect(events).toEqual([{ source_kind: 'webhook' }, { source_kind: 'webhook' }]);
  });

  test('by its reference: ours first, then the list, and only where it is equal to the byte', async () => {
    const ours = paid({ reference: 'ours' });
    await know(ours);
    const theirs = paid({ reference: 'Theirs' });
    for (const reference of ['ours', 'Theirs']) {
      const { id } = await env.receive({ transaction_reference: reference, status: 'paid' });
      await env.waitForState(id, 'applied');
    }
    expect(env.provider.requests.some((one) => one.query.get('reference') === 'ours')).toBe(false);
    expect(askedFor(ours.id)).toBe(1);
    expect(await heldOf(theirs.id)).toMatchObject({ status: 'paid' });
    const { id } = await env.receive({ transaction_reference: 'theirs', status: 'paid' });
    expect(await env.waitForState(id, 'quarantined')).toMatchObject({ reason: 'unknown_at_provider' });
  });

  test('by its extra, from our ledger alone', async () => {
    const row = paid({ extra: 'loja 7' });
    await know(row);
    await env.waitForState((await env.receive({ extra: 'loja 7', status: 'paid' })).id, 'applied');
    const { id } = await env.receive({ extra: 'Loja 7', status: 'paid' });
    expect(await env.waitForState(id, 'quarantined')).toMatchObject({ reason: 'unknown_at_provider' });
  });

  test('never guessed: two of one reference, theirs or ours, are ambiguous', async () => {
    paid({ reference: 'two' });
    paid({ reference: 'two' });
    const { id } = await env.receive({ transaction_reference: 'two', status: 'paid' });
    expect(await env.waitForState(id, 'quarantined')).toMatchObject({ reason: 'ambiguous' });
    await know(paid({ extra: 'same' }));
    await know(paid({ extra: 'same' }));
    const other = await env.receive({ extra: 'same', status: 'paid' });
    expect(await env.waitForState(other.id, 'quarantined')).toMatchObject({ reason: 'ambiguous' });
  });

  test('an id that the provider does not know is asked for until the grace is over, then quarantined', async () => {
    const id = randomUUID();
    const webhook = await env.receive({ transaction_id: id, status: 'paid' });
    expect(await env.waitForState(webhook.id, 'quarantined')).toMatchObject({ reason: 'unknown_at_provider' });
    expect(askedFor(id)).toBe(2);
    expect(await heldOf(id)).toBeUndefined();
  });

  test('an unreadable row is stored and reported; its webhook has the reason in the end', async () => {
    const row = paid();
    env.provider.putRaw(row.id, { ...row, amount: '1.001' });
    const { id } = await env.receive(flat(row));
    expect(await env.waitForState(id, 'quarantined')).toMatchObject({ reason: 'unreadable_at_provider' });
    expect(await heldOf(row.id)).toBeUndefined();
    expect((await readMismatchRows(env.context, 'row_refused')).map((one) => one.transaction_id)).toContain(row.id);
  });
});
