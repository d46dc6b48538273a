import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../../../src/context.ts';
import type { ClaimedItem } from '../../../src/inbox/items/claim-items.ts';
import { createDeferredWebhooks } from '../../../src/inbox/split/defer-webhooks.ts';
import { isolateWebhooks, type SplitTogether } from '../../../src/inbox/split/isolate-webhooks.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction, readMismatchRows } from '../../support/read-ledger-state.ts';

const UNREADABLE = 'cannot be read';
const reads = vi.hoisted(() => ({ broken: true }));
vi.mock('../../../src/inbox/receive/parse-items.ts', async (original) => {
  const real = await original<typeof import('../../../src/inbox/receive/parse-items.ts')>();
  const parseItems: typeof real.parseItems = (body) => {
    if (reads.broken && JSON.stringify(body).includes(UNREADABLE)) throw new RangeError('Invalid string length');
    return real.parseItems(body);
  };
  return { ...real, parseItems };
});

/** Called at each claim of due items. */
const claims = vi.hoisted(() => ({ onClaim: (_context: Context): void => undefined }));
vi.mock('../../../src/inbox/items/claim-items.ts', async (original) => {
  const real = await original<typeof import('../../../src/inbox/items/claim-items.ts')>();
  const claimItems: typeof real.claimItems = (context, itemsMax) => {
    claims.onClaim(context);
    return real.claimItems(context, itemsMax);
  };
  return { ...real, claimItems };
});

const environment = closeAfterAll(await openInboxEnvironment());
afterEach(async () => {
  reads.broken = true;
  await sql`DROP TRIGGER IF EXISTS refuse_items`.execute(environment.context.db);
});

/** An environment of one test. vitest's loader finds no mock in a file that says `await using`. */
async function openOwn(env?: Record<string, string>): Promise<InboxEnvironment> {
  const own = await openInboxEnvironment(env);
  onTestFinished(() => own[Symbol.asyncDispose]());
  return own;
}

/** From now on the database fails every statement that writes such an item. */
async function failItems(when: string, errno: number): Promise<void> {
  await sql`CREATE TRIGGER refuse_items BEFORE INSERT ON webhook_items FOR EACH ROW
    IF ${sql.raw(when)} THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${sql.lit(errno)}; END IF`.execute(
    environment.context.db,
  );
}

/** Repeats until this call, not the inbox's own loop, selected the webhooks. @returns the error. */
const failToSplit = () =>
  eventually('the split fails', async () => (await splitWebhooks(environment.context, 0)).failure?.error);

const goodOf = ({ provider }: InboxEnvironment) => {
  const { id } = provider.put(makeShownTransaction(['paid@1'], { id: randomUUID() }));
  return { transaction_id: id, status: 'paid' };
};
const good = () => goodOf(environment);
const poisoned = () => ({ transaction_reference: `poison ${randomUUID()}`, status: 'paid' });

test.each([
  ['which nobody foresaw', 1644],
  ['for what it holds', 1366],
])('bodies that the database fails on, %s, are quarantined and raised; the others are applied', async (_, errno) => {
  await failItems("NEW.reference LIKE 'poison%'", errno);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_unused, index) => environment.receive(index % 25 === 7 ? poisoned() : good())),
  );
  for (const [index, { id }] of answers.entries()) {
    const state = index % 25 === 7 ? 'quarantined' : 'applied';
    expect(await environment.waitForState(id, state)).toMatchObject(
      state === 'applied' ? { items: 1 } : { items: 0, reason: 'not_taken_apart' },
    );
  }
  const actual = (await readMismatchRows(environment.context, 'webhook_quarantined')).map((one) => one.actual);
  expect(actual).toContainEqual({ reason: 'not_taken_apart' });
});

test.each([
  ['was interrupted', 1317],
  ['ran out of time', 1969],
  ['has no room left', 1114],
])(
  'a body with which the server %s is not blamed, though others are split: it waits and is applied',
  async (_, errno) => {
    await failItems("NEW.reference LIKE 'waits%'", errno);
    const reference = `waits ${randomUUID()}`;
    environment.provider.put(makeShownTransaction(['paid@1'], { id: randomUUID(), reference }));
    const [bad, ...others] = await Promise.all([
      environment.receive({ transaction_reference: reference, status: 'paid' }),
      ...Array.from({ length: 9 }, () => environment.receive(good())),
    ]);
    for (const { id } of others) await environment.waitForState(id, 'applied');
    expect(await failToSplit()).toMatchObject({ errno });
    expect((await environment.webhook(bad?.id ?? '')).state).toBe('pending');
    await sql`DROP TRIGGER refuse_items`.execute(environment.context.db);
    environment.context.wakeUps.inbox.notify();
    await environment.waitForState(bad?.id ?? '', 'applied');
  },
);

test('a body that can not be parsed is quarantined at once; reprocessed once it can, it is applied', async () => {
  const body = { ...good(), x: UNREADABLE };
  const [bad, next] = await Promise.all([environment.receive(body), environment.receive(good())]);
  await environment.waitForState(next.id, 'applied');
  expect(await environment.waitForState(bad.id, 'quarantined')).toMatchObject({ reason: 'not_taken_apart', items: 0 });
  reads.broken = false;
  await environment.receive(body);
  expect(await environment.webhook(bad.id)).toMatchObject({ state: 'quarantined', repeats: 1 });
  const { reprocessWebhook } = await import('../../../src/inbox/items/quarantine.ts');
  await reprocessWebhook(environment.context, (await environment.webhook(bad.id)).seq);
  await environment.waitForState(bad.id, 'applied');
});

test('a database that accepts no item quarantines nothing; once it does, all are applied', async () => {
  await failItems('TRUE', 1644);
  const answers = await Promise.all(Array.from({ length: 30 }, () => environment.receive(good())));
  expect(await failToSplit()).toMatchObject({ errno: 1644 });
  const states = await Promise.all(answers.map(async ({ id }) => (await environment.webhook(id)).state));
  expect(new Set(states)).toEqual(new Set(['pending']));
  await sql`DROP TRIGGER refuse_items`.execute(environment.context.db);
  environment.context.wakeUps.inbox.notify();
  for (const { id } of answers) await environment.waitForState(id, 'applied');
});

test('a webhook that fails alone, maybe not by its own fault, waits until another one is split', async () => {
  await failItems("NEW.reference LIKE 'poison%'", 1644);
  const bad = await environment.receive(poisoned());
  expect(await failToSplit()).toMatchObject({ errno: 1644 });
  expect((await environment.webhook(bad.id)).state).toBe('pending');
  const others: string[] = [];
  // the loop may not have met the bad one before the first of these, which is then verified without a split
  await eventually('another one is split with it', async () => {
    others.push((await environment.receive(good())).id);
    return (await environment.webhook(bad.id)).state === 'quarantined';
  });
  for (const id of others) await environment.waitForState(id, 'applied');
});

test.each([
  ['the server runs out of time with', 1969],
  ['fails alone, for any reason,', 1644],
])('a webhook that %s delays neither due items nor later webhooks', async (_, errno) => {
  const own = await openOwn({ WEBHOOK_GRACE: '10m' });
  const tries = { count: 0 };
  const error = (details: { loop?: string }) => void (details.loop === 'inbox' && tries.count++);
  Object.assign(own.context.log, { error });
  await sql`CREATE TRIGGER refuse_items BEFORE INSERT ON webhook_items FOR EACH ROW
    IF NEW.reference LIKE 'poison%' THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${sql.lit(errno)}; END IF`.execute(
    own.context.db,
  );
  const row = own.provider.put(makeShownTransaction(['pending@0'], { id: randomUUID() }));
  const ahead = await own.receive({ transaction_id: row.id, status: 'paid' });
  await eventually('a first fetch', async () =>
    (await own.webhook(ahead.id)).items_detail[0]?.looks === 1 ? true : undefined,
  );
  const bad = await own.receive(poisoned());
  await eventually('a second fetch, due after it', async () =>
    (await own.webhook(ahead.id)).items_detail[0]?.looks === 2 ? true : undefined,
  );
  expect((await own.webhook(bad.id)).state).toBe('pending');
  expect(tries.count).toBe(0);
  const fine = own.provider.put(makeShownTransaction(['paid@1'], { id: randomUUID() }));
  const next = await own.receive({ transaction_id: fine.id, status: 'paid' });
  await own.waitForState(next.id, 'applied');
  if (errno === 1644) await own.waitForState(bad.id, 'quarantined');
  else expect((await own.webhook(bad.id)).state).toBe('pending');
  expect(tries.count).toBe(0);
  await sql`DROP TRIGGER refuse_items`.execute(own.context.db);
});

test('items claimed before the database went away are returned with the failure', async () => {
  const refused = Object.assign(new Error('x'), { errno: 1644, sqlState: '45000' });
  const away = new Error('the connection is lost');
  const item = { seq: -1 } as ClaimedItem;
  const split: SplitTogether = async (seqs) => {
    if (seqs.includes(-1)) return { claimed: [item], items: 1 };
    throw away;
  };
  const failing = { seqs: [-1, -2], slots: 2, error: refused };
  expect(await isolateWebhooks(environment.context, failing, split)).toEqual({
    claimed: [item],
    failure: { error: away },
  });
});

test.each([
  ['a connection that is killed', 1927],
  ['a server that stops', 1053],
  ['a server with too many connections', 1040],
])('%s is no webhook’s fault, though others were split before it', async (_, errno) => {
  const [refused, away] = [1644, errno].map((one) =>
    Object.assign(new Error('x'), {
      ...{ errno: one, sqlState: '70100' },
      ...(one === 1040 ? { code: 'ER_CON_COUNT_ERROR' } : {}),
    }),
  );
  const split: SplitTogether = async (seqs) => {
    if (seqs.includes(-1)) return { claimed: [], items: 1 };
    throw away;
  };
  const failing = { seqs: [-1, -2], slots: 2, error: refused };
  expect(await isolateWebhooks(environment.context, failing, split)).toEqual({ claimed: [], failure: { error: away } });
});

test('due items are claimed as often as ever while no webhook can be split', async () => {
  const own = await openOwn({ WEBHOOK_GRACE: '10m' });
  await sql`CREATE TRIGGER refuse_items BEFORE INSERT ON webhook_items FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1644`.execute(own.context.db);
  const happened: ('failure' | 'claim')[] = [];
  const error = (details: { loop?: string }) => void (details.loop === 'inbox' && happened.push('failure'));
  Object.assign(own.context.log, { error });
  claims.onClaim = (context) => void (context === own.context && happened.push('claim'));
  const answers = await Promise.all(Array.from({ length: 30 }, () => own.receive(goodOf(own))));
  await eventually(
    'two claims between failures',
    async () => /failure.*claim claim/.test(happened.join(' ')) || undefined,
  );
  const states = await Promise.all(answers.map(async ({ id }) => (await own.webhook(id)).state));
  expect(new Set(states)).toEqual(new Set(['pending']));
  await sql`DROP TRIGGER refuse_items`.execute(own.context.db);
  for (const { id } of answers) await own.waitForState(id, 'applied');
});

test('webhooks that failed before others were split, and would not fail now, are not blamed', async () => {
  const errors = [1644, 1644].map((errno) => Object.assign(new Error('x'), { errno, sqlState: '45000' }));
  const landed: number[][] = [];
  const split: SplitTogether = async (seqs) => {
    // the trouble is over once the first two were tried alone
    const error = seqs.length === 1 ? errors.pop() : errors[0];
    if (error) throw error;
    landed.push(seqs);
    return { claimed: [], items: seqs.length };
  };
  const seqs = [-1, -2, -3, -4];
  const { failure } = await isolateWebhooks(
    environment.context,
    { seqs, slots: 0, error: errors[0], deferred: createDeferredWebhooks(environment.context.timers) },
    split,
  );
  expect(failure).toBeUndefined();
  expect(landed.flat().toSorted((a, b) => b - a)).toEqual(seqs);
});

test.each([
  ['since it came', 0],
  ['since the hour after it came', 3_600_000],
])(
  'the mismatch of two webhooks that could not be split %s passes to the second once the first is reprocessed',
  async (_, waitedMs) => {
    const own = await openOwn();
    const bodies = [0, 1].map(() => ({
      transaction_id: own.provider.put(makeShownTransaction(['paid@1'], { id: randomUUID() })).id,
      x: UNREADABLE,
    }));
    const ids: string[] = [];
    for (const body of bodies) {
      const { id } = await own.receive(body);
      const { seq, received_at } = await own.waitForState(id, 'quarantined');
      const before = new Date(new Date(received_at).getTime() - waitedMs);
      await own.context.db.updateTable('webhooks').set({ received_at: before }).where('seq', '=', seq).execute();
      ids.push(id);
    }
    reads.broken = false;
    const { reprocessWebhook } = await import('../../../src/inbox/items/quarantine.ts');
    const statesAfter: string[] = [];
    for (const id of ids) {
      await reprocessWebhook(own.context, (await own.webhook(id)).seq);
      await own.waitForState(id, 'applied');
      statesAfter.push(...(await readMismatchRows(own.context, 'webhook_quarantined')).map((one) => one.state));
    }
    expect(statesAfter).toEqual(['open', 'resolved']);
  },
);
