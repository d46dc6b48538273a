import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { reprocessWebhook } from '../../../src/inbox/items/quarantine.ts';
import {
  DROPPABLE,
  type Droppable,
  dropBodies,
  selectLargestSenders,
  selectOldestBodies,
} from '../../../src/inbox/receive/drop-bodies.ts';
import { selectSizes } from '../../../src/inbox/receive/measure-quarantine.ts';
import { SENDER_SHOWS_PER_HOUR } from '../../../src/inbox/receive/plan-shows.ts';
import { createReceiver, createSpoolReceiver, type Receiver } from '../../../src/inbox/receive/receive.ts';
import { openSpool, SPOOL_BYTES_MAX } from '../../../src/inbox/spool/spool.ts';
import { retryLearntItems } from '../../../src/inbox/verify/retry-learnt-items.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { eventually } from '../../support/eventually.ts';
import { observe } from '../../support/make-observations.ts';
import { openTestContext, TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { type InboxEnvironment, openInboxEnvironment } from '../../support/open-inbox-environment.ts';
import { makeShownTransaction } from '../../support/read-ledger-state.ts';
import { readRows } from '../../support/read-rows.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const PAID = ['pending@0', 'paid@1'];
const STRANGER = '203.0.113.66';
const PROVIDER = '198.51.100.7';
const KIB = 1024;

type Asked = { compile(): CompiledQuery };
type Step = { table: string; key: string; Extra: string };

const garbage = (kib: number): string => `${randomUUID()} ${'x'.repeat(kib * KIB)}`;
const keyed = (kib: number) => ({ transaction_id: randomUUID(), status: 'paid', pad: 'x'.repeat(kib * KIB) });

async function takesGenuine(env: InboxEnvironment, address = PROVIDER): Promise<void> {
  const row = env.provider.put(makeShownTransaction(PAID, { id: randomUUID() }));
  const { id } = await env.receive({ transaction_id: row.id, status: 'paid' }, address);
  await env.waitForState(id, 'applied');
}

/** The stored part of each webhook of a sender, the oldest first. */
async function kept(env: InboxEnvironment, address: string) {
  const rows = await readRows(
    env.context.db,
    'webhooks',
    ['seq', 'state', 'reason', 'dropped_at', 'body'],
    { source_address: address },
    ['seq'],
  );
  return rows.map(({ body, dropped_at, ...row }) => ({ ...row, bytes: body.length, isDropped: dropped_at !== null }));
}

/** Has the quarantine measured until what is asked for is so. */
async function measured<T>(env: InboxEnvironment, what: string, ask: () => Promise<T | undefined | false>) {
  return await eventually(what, async () => {
    await env.timers.advance(1_000);
    await env.receive({ transaction_id: randomUUID(), status: 'paid' }, PROVIDER);
    return await ask();
  });
}

describe('a quarantine that is full', () => {
  let env: InboxEnvironment;
  beforeAll(async () => {
    env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '64KiB' });
    await env.receive(garbage(4), PROVIDER);
    await env.receive(garbage(20), STRANGER);
    await env.receive(garbage(20), STRANGER);
  });
  afterAll(() => env[Symbol.asyncDispose]());

  test('takes a genuine webhook, of a stranger-filled address too, and refuses what names no transaction', async () => {
    await env.receive(garbage(30), STRANGER);
    await expect(env.receive(garbage(1), STRANGER)).rejects.toMatchObject({ reason: 'quarantine_full' });
    await expect(env.receive({ hello: 'no key' }, PROVIDER)).rejects.toMatchObject({ reason: 'quarantine_full' });
    await takesGenuine(env);
    await takesGenuine(env, STRANGER);
  });

  test('drops the oldest garbage of the heaviest sender; a repeat of that is still a repeat', async () => {
    const before = await kept(env, STRANGER);
    const dropped = await measured(env, 'room', async () => {
      const rows = (await kept(env, STRANGER)).filter(({ isDropped }) => isDropped);
      return rows.length > 0 && rows;
    });
    expect(dropped).toMatchObject([{ seq: before[0]?.seq, bytes: 0, state: 'quarantined', reason: 'not_json' }]);
    expect((await kept(env, PROVIDER))[0]).toMatchObject({ isDropped: false, reason: 'not_json' });
    await expect(reprocessWebhook(env.context, before[0]?.seq ?? 0)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('takes garbage again once there is room', async () => {
    const again = await measured(env, 'taken', () => env.receive(garbage(1), STRANGER).catch(() => undefined));
    expect(again).toMatchObject({ defect: 'not_json' });
  });
});

test('the same bytes are a repeat after their body was dropped', async () => {
  await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '64KiB' });
  const body = garbage(40);
  const { id } = await env.receive(body, STRANGER);
  await env.receive(garbage(30), STRANGER);
  await measured(env, 'dropped', async () => (await kept(env, STRANGER))[0]?.isDropped);
  const again = await measured(env, 'taken', () => env.receive(body, STRANGER).catch(() => undefined));
  expect(again).toMatchObject({ id, duplicate: true });
  expect((await kept(env, STRANGER))[0]).toMatchObject({ bytes: 0, isDropped: true });
});

describe('bodies of random ids', () => {
  test('that the provider denied are dropped too; what they name is kept, and found once the ledger learns it', async () => {
    await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '64KiB' });
    const row = makeShownTransaction(PAID, { id: randomUUID() });
    const { id } = await env.receive({ transaction_id: row.id, status: 'paid', pad: 'x'.repeat(20 * KIB) }, STRANGER);
    await env.waitForState(id, 'quarantined');
    for (let n = 0; n < 3; n++) await env.receive(keyed(20), STRANGER);
    await measured(env, 'dropped', async () => (await kept(env, STRANGER))[0]?.isDropped);
    env.provider.put(row);
    await applyObservations(env.context, [observe(row, env.context.clock.now())]);
    await retryLearntItems(env.context);
    await env.waitForState(id, 'applied');
  });

  test('are dropped while they wait, once the provider denied them; one that was never asked for is not', async () => {
    await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '64KiB', WEBHOOK_GRACE: '1h' });
    const late = makeShownTransaction(PAID, { id: randomUUID() });
    const { id } = await env.receive({ transaction_id: late.id, status: 'paid', pad: 'x'.repeat(20 * KIB) }, STRANGER);
    for (let n = 0; n < 3; n++) await env.receive(keyed(20), STRANGER);
    await measured(env, 'dropped', async () => (await kept(env, STRANGER))[0]?.isDropped);
    expect((await kept(env, STRANGER))[0]).toMatchObject({ state: 'pending', bytes: 0 });
    env.provider.put(late);
    await env.waitForState(id, 'applied');

    // those by which the measuring above was woken may have been denied
    const before = (await kept(env, PROVIDER)).at(-1)?.seq ?? 0;
    env.provider.switches.fault = () => ({ status: 503 });
    for (let n = 0; n < 4; n++) await env.receive(keyed(20), PROVIDER);
    for (let n = 0; n < 3; n++) await measured(env, 'measured', async () => true);
    expect((await kept(env, PROVIDER)).filter(({ seq, isDropped }) => isDropped && seq > before)).toEqual([]);
  });
});

describe('bodies that nobody asked the provider about', () => {
  let env: InboxEnvironment;
  beforeAll(async () => {
    env = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
  });
  afterAll(() => env[Symbol.asyncDispose]());
  const drops = async (what: Droppable): Promise<number> => await dropBodies(env.context, what, 1e9);

  test('are no garbage: with too many items, not split, unknown as their sender could pay for no show', async () => {
    const many = await env.receive(
      Array.from({ length: 1_001 }, () => ({ transaction_id: randomUUID() })),
      STRANGER,
    );
    await env.waitForState(many.id, 'quarantined');
    const apart = await env.receive({ hello: 'no key' }, STRANGER);
    await env.waitForState(apart.id, 'quarantined');
    await env.context.db.deleteFrom('webhook_items').execute();
    await env.context.db
      .updateTable('webhooks')
      .set({ reason: 'not_taken_apart', items: 0 })
      .where('seq', '=', (await env.webhook(apart.id)).seq)
      .execute();
    await env.context.db.updateTable('senders').set({ shows: SENDER_SHOWS_PER_HOUR }).execute();
    const never = keyed(1);
    const unasked = await env.receive(never, STRANGER);
    await eventually('fetched', async () => (await env.webhook(unasked.id)).items_detail[0]?.looks);
    expect(await drops('unproven')).toBe(0);
    const denied = await env.receive(keyed(1), PROVIDER);
    await eventually('the grace is over', async () => {
      await env.timers.advance(60_000);
      const states = [(await env.webhook(unasked.id)).state, (await env.webhook(denied.id)).state];
      return states.every((state) => state === 'quarantined');
    });
    expect(env.provider.countShows(never.transaction_id)).toBe(0);
    expect(await drops('garbage')).toBe(0);
    expect(await drops('denied')).toBeGreaterThan(0);
    expect((await kept(env, STRANGER)).map(({ reason, isDropped }) => [reason, isDropped])).toEqual([
      ['too_many_items', false],
      ['not_taken_apart', false],
      ['unknown_at_provider', false],
    ]);
    expect(await kept(env, PROVIDER)).toMatchObject([{ reason: 'unknown_at_provider', isDropped: true }]);
  });
});

describe('bodies that name ids which nobody could ask the provider about', () => {
  /** The sender has no hit, and has used all its shows of this hour. */
  async function spendShows(env: InboxEnvironment): Promise<void> {
    const spent = { hour_at: env.context.clock.now(), shows: SENDER_SHOWS_PER_HOUR };
    const row = { address: STRANGER, ...spent };
    await env.context.db.insertInto('senders').values(row).onDuplicateKeyUpdate(spent).execute();
  }
  /** A minute passes. On a busy machine an hour may pass before the grace is over: it begins with no shows left too. */
  async function waitMinute(env: InboxEnvironment): Promise<void> {
    await spendShows(env);
    await env.timers.advance(60_000);
  }

  test('are dropped last, the oldest first; a repeat is still a repeat, and reprocessing still finds the key', async () => {
    await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '64KiB', WEBHOOK_GRACE: '10m' });
    await spendShows(env);
    for (let sent = 0; sent < 3; sent++) await env.receive(keyed(0), PROVIDER);
    await eventually('the denied bodies are quarantined', async () => {
      await env.timers.advance(60_000);
      return (await kept(env, PROVIDER)).every(({ state }) => state === 'quarantined');
    });
    const row = makeShownTransaction(PAID, { id: randomUUID() });
    const body = { transaction_id: row.id, status: 'paid', pad: 'x'.repeat(20 * KIB) };
    const { id } = await env.receive(body, STRANGER);
    const later = [keyed(20), keyed(20), keyed(20)];
    const last = await Promise.all(later.map((one) => env.receive(one, STRANGER)));
    await eventually('the grace is over', async () => {
      await waitMinute(env);
      const states = await Promise.all([id, ...last.map((one) => one.id)].map(async (one) => await env.webhook(one)));
      return states.every(({ reason }) => reason === 'unknown_at_provider');
    });
    expect(env.provider.countShows(row.id)).toBe(0);
    await measured(env, 'dropped', async () => (await kept(env, STRANGER))[0]?.isDropped);
    const left = await kept(env, STRANGER);
    expect(left[0]).toMatchObject({ bytes: 0, state: 'quarantined', reason: 'unknown_at_provider' });
    expect(left.at(-1)).toMatchObject({ isDropped: false });
    // bodies whose ids the provider denied go before them; those that it denies later wait for the next measurement
    const denied = (await kept(env, PROVIDER)).slice(0, 3);
    expect(denied.map(({ isDropped }) => isDropped)).toEqual([true, true, true]);

    expect(await env.receive(body, STRANGER)).toMatchObject({ id, duplicate: true });
    env.provider.put(row);
    await reprocessWebhook(env.context, left[0]?.seq ?? 0);
    await env.waitForState(id, 'applied');
  });

  test('keep their first ten keys, also where these stand behind items without a key', async () => {
    await using env = await openInboxEnvironment({ WEBHOOK_GRACE: '10m' });
    await spendShows(env);
    const many = await env.receive(
      Array.from({ length: 12 }, () => ({ transaction_id: randomUUID() })),
      STRANGER,
    );
    const behind = await env.receive([...Array.from({ length: 10 }, () => ({})), keyed(1)], STRANGER);
    await eventually('the grace is over', async () => {
      await waitMinute(env);
      const states = [(await env.webhook(many.id)).state, (await env.webhook(behind.id)).state];
      return states.every((state) => state === 'quarantined');
    });
    for (const what of ['garbage', 'denied'] as const) expect(await dropBodies(env.context, what, 1e9)).toBe(0);
    expect(await dropBodies(env.context, 'unasked', 1e9)).toBeGreaterThan(0);
    expect((await kept(env, STRANGER)).map(({ isDropped }) => isDropped)).toEqual([true, true]);
    expect((await env.webhook(many.id)).items_detail).toHaveLength(10);
  });

  test('with too many items are dropped only if their sender has no hit', async () => {
    await using env = await openInboxEnvironment();
    const tooMany = () => Array.from({ length: 1_001 }, () => ({ transaction_id: randomUUID() }));
    await takesGenuine(env);
    for (const address of [STRANGER, PROVIDER]) {
      const { id } = await env.receive(tooMany(), address);
      await env.waitForState(id, 'quarantined');
    }
    expect(await dropBodies(env.context, 'unasked', 1e9)).toBe(0);
    expect(await dropBodies(env.context, 'too_many_items', 1e9)).toBeGreaterThan(0);
    expect(await kept(env, STRANGER)).toMatchObject([{ reason: 'too_many_items', isDropped: true }]);
    expect((await kept(env, PROVIDER)).at(-1)).toMatchObject({ reason: 'too_many_items', isDropped: false });
  });
});

describe('large bodies that name a transaction', () => {
  const outcome = async (answer: Promise<unknown>): Promise<string> =>
    await answer.then(
      () => 'taken',
      (error: { reason?: string }) => error.reason ?? 'failed',
    );

  test('without credentials cost their sender its hourly quota until it has a hit; small ones never do', async () => {
    await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '1MiB', WEBHOOK_AUTH: 'none' });
    await takesGenuine(env);
    const answers: string[] = [];
    for (let n = 0; n < 7; n++) answers.push(await outcome(env.receive(keyed(200), STRANGER)));
    // 1 MiB an hour
    expect(answers.filter((answer) => answer === 'taken')).toHaveLength(5);
    expect(answers.at(-1)).toBe('large_over_quota');
    expect(await outcome(env.receive(keyed(4), STRANGER))).toBe('taken');
    for (let n = 0; n < 7; n++) expect(await outcome(env.receive(keyed(200), PROVIDER))).toBe('taken');
    await takesGenuine(env, STRANGER);
    expect(await outcome(env.receive(keyed(200), STRANGER))).toBe('taken');
  });

  test('with credentials are always taken', async () => {
    await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '1MiB' });
    for (let n = 0; n < 7; n++) expect(await outcome(env.receive(keyed(200), STRANGER))).toBe('taken');
  });

  test('are taken while the database cannot say whether their sender had a hit', async () => {
    const home = temporaryDirectory();
    await using spool = openSpool(home.path);
    await using context = await openTestContext({ QUARANTINE_MAX_BYTES: '1MiB', WEBHOOK_AUTH: 'none' });
    spool.isDatabaseDown = true;
    const receive = createReceiver(context, spool);
    const send = () => receive({ body: Buffer.from(JSON.stringify(keyed(200))), address: STRANGER, headers: {} });
    for (let n = 0; n < 7; n++) expect(await outcome(send())).toBe('taken');
    home[Symbol.dispose]();
  });
});

describe('an index finds what is kept among what was dropped', () => {
  let context: Awaited<ReturnType<typeof openTestContext>>;
  beforeAll(async () => {
    context = await openTestContext();
    const now = context.clock.now();
    const row = (n: number) => ({
      ...{ hash: Buffer.from(String(n).padStart(32)), body: Buffer.alloc(n < 1_900 ? 0 : 20_000), received_at: now },
      ...{ source_address: n % 2 ? STRANGER : PROVIDER, headers: '{}', state: 'quarantined', reason: 'not_json' },
      dropped_at: n < 1_900 ? now : null,
    });
    for (let from = 0; from < 2_000; from += 100) {
      const rows = Array.from({ length: 100 }, (_, n) => row(from + n));
      await context.db.insertInto('webhooks').values(rows).execute();
    }
    await sql`ANALYZE TABLE webhooks`.execute(context.db);
  });
  afterAll(() => context[Symbol.asyncDispose]());

  test.each([
    ['measuring', () => selectSizes(context.db)],
    ...DROPPABLE.flatMap((what): [string, () => Asked][] => [
      [`the heaviest senders of ${what} bodies`, () => selectLargestSenders(context.db, what)],
      [`the oldest ${what} bodies of a sender`, () => selectOldestBodies(context.db, what, STRANGER)],
    ]),
  ] satisfies [string, () => Asked][])('%s reads that index alone', async (_, ask) => {
    const { sql: text, parameters } = ask().compile();
    // MySQL prints a tree by default; MariaDB has no such option
    const { rows: servers } = await sql<{ version: string }>`SELECT VERSION() AS version`.execute(context.db);
    const format = servers[0]?.version.includes('MariaDB') ? '' : 'FORMAT=TRADITIONAL';
    const query: CompiledQuery<Step> = { ...CompiledQuery.raw(`EXPLAIN ${format} ${text}`, [...parameters]) };
    const { rows } = await context.db.executeQuery(query);
    const plan = rows.find(({ table }) => table === 'webhooks');
    expect(plan).toMatchObject({ key: 'webhooks_kept', Extra: expect.stringContaining('Using index') });
  });

  test('bytes are those that are kept', async () => {
    expect(await selectSizes(context.db).execute()).toEqual([{ state: 'quarantined', bytes: '2000000' }]);
    const sender = await selectLargestSenders(context.db, 'garbage').execute();
    expect(sender).toHaveLength(2);
  });
});

test('a sender has an hourly quota of garbage over replicas and restarts; other senders are not affected', async () => {
  await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '32MiB' });
  const replica = createReceiver(await env.replica(), undefined);
  const own: InboxEnvironment['receive'] = (body, address) => env.receive(body, address);
  const take = async (receive = own, address = STRANGER): Promise<string> =>
    await receive(garbage(200), address).then(
      () => 'taken',
      (error: { reason?: string }) => error.reason ?? 'failed',
    );
  const other: InboxEnvironment['receive'] = (body, address = '') =>
    replica({ body: Buffer.from(String(body)), address, headers: {} });
  const answers: string[] = [];
  for (let n = 0; n < 12; n++) answers.push(await take(n % 2 === 0 ? own : other));
  // 2 MiB an hour: a sixteenth
  expect(answers.filter((answer) => answer === 'taken').length).toBeGreaterThanOrEqual(8);
  expect(answers.filter((answer) => answer === 'taken').length).toBeLessThanOrEqual(10);
  expect(answers.at(-1)).toBe('sender_over_quota');
  expect(await take(other)).toBe('sender_over_quota');
  expect(await take(own, PROVIDER)).toBe('taken');
  await takesGenuine(env, STRANGER);
  await env.timers.advance(3_600_000);
  expect(await take()).toBe('taken');
});

test('while the database is away a sender has its hour too, and garbage leaves half of the spool to the rest', async () => {
  using home = temporaryDirectory();
  await using spool = openSpool(home.path);
  const ask = async (receive: Receiver, body: string, address: string): Promise<string> =>
    await receive({ body: Buffer.from(body), address, headers: {} }).then(
      () => 'taken',
      (error: { reason?: string }) => error.reason ?? 'failed',
    );
  const receive = createSpoolReceiver(spool, 1024);
  const answers: string[] = [];
  for (let n = 0; n < 8; n++) answers.push(await ask(receive, garbage(200), STRANGER));
  // 1 MiB an hour at least
  expect(answers.filter((answer) => answer === 'taken')).toHaveLength(5);
  expect(answers.at(-1)).toBe('sender_over_quota');
  expect(await ask(receive, garbage(200), PROVIDER)).toBe('taken');
  expect(await ask(receive, JSON.stringify(keyed(200)), STRANGER)).toBe('taken');
  const halfFull: typeof spool = Object.create(spool, { bytes: { value: SPOOL_BYTES_MAX / 2 } });
  expect(await ask(createSpoolReceiver(halfFull, 1024), garbage(1), PROVIDER)).toBe('quarantine_full');
  expect(await ask(createSpoolReceiver(halfFull, 1024), JSON.stringify(keyed(1)), PROVIDER)).toBe('taken');
});

test('the alert fires at 80 %, and ends below', async () => {
  await using env = await openInboxEnvironment({ QUARANTINE_MAX_BYTES: '100KiB' });
  const alerts = () => env.context.db.selectFrom('alerts').select(['name', 'severity', 'ended_at']).execute();
  const full = async () => (await alerts()).filter(({ name }) => name === 'quarantine_full');
  await env.receive(garbage(70), STRANGER);
  for (let n = 0; n < 3; n++) await measured(env, 'measured', async () => true);
  expect(await full()).toEqual([]);
  await env.receive(garbage(11), STRANGER);
  await measured(env, 'the alert', async () => (await full()).length > 0);
  expect(await full()).toEqual([{ name: 'quarantine_full', severity: 'high', ended_at: null }]);
  await env.context.db.updateTable('webhooks').set({ state: 'applied' }).where('state', '=', 'quarantined').execute();
  await measured(env, 'over', async () => (await full())[0]?.ended_at);
});

test('/readyz goes on after a deadlock with another replica', async () => {
  await using context = await openTestContext();
  const { db } = context;
  // not rolled back with what it ends
  await sql`CREATE TABLE deadlocks_left (n INT) ENGINE = MyISAM`.execute(db);
  await sql`INSERT INTO deadlocks_left VALUES (2)`.execute(db);
  await sql`CREATE TRIGGER deadlock BEFORE INSERT ON webhooks FOR EACH ROW
    BEGIN
      IF NEW.state = 'probe' THEN
        UPDATE deadlocks_left SET n = n - 1;
        IF (SELECT n FROM deadlocks_left) >= 0 THEN
          SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found when trying to get lock';
        END IF;
      END IF;
    END`.execute(db);
  await using server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  expect((await fetch(`http://127.0.0.1:${server.port}/readyz`)).status).toBe(200);
  const { rows } = await sql<{ n: number }>`SELECT n FROM deadlocks_left`.execute(db);
  expect(rows).toEqual([{ n: -1 }]);
});

test('/readyz says whether a webhook would be committed, not only whether the database answers, and leaves no row', async () => {
  await using context = await openTestContext();
  const server = await serveHttp(context, createApp(context), TEST_HTTP_LIMITS);
  const ready = async (): Promise<number> => (await fetch(`http://127.0.0.1:${server.port}/readyz`)).status;
  expect(await ready()).toBe(200);
  expect(await context.db.selectFrom('webhooks').select('seq').execute()).toEqual([]);
  await context.db.schema.alterTable('webhooks').renameTo('webhooks_away').execute();
  await eventually('not ready', async () => (await ready()) === 503);
  await context.db.schema.alterTable('webhooks_away').renameTo('webhooks').execute();
  await eventually('ready again', async () => (await ready()) === 200);
  await server[Symbol.asyncDispose]();
});

test('/readyz says that nothing is stored where neither the database nor the spool can be written to', async () => {
  using home = temporaryDirectory();
  const directory = path.join(home.path, 'spool');
  await using context = await openTestContext();
  await using spool = openSpool(directory);
  await using server = await serveHttp(context, createApp(context, spool), TEST_HTTP_LIMITS);
  const ready = async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/readyz`);
    return `${response.status} ${await response.text()}`;
  };
  await context.db.schema.alterTable('webhooks').renameTo('webhooks_away').execute();
  expect(await ready()).toBe('200 {"ready":true,"degraded":true}');
  // a file in its place, as a disk that is full: no record can be written
  rmSync(directory, { recursive: true });
  writeFileSync(directory, '');
  const refused = await eventually('not ready', async () => [await ready()].find((text) => text.startsWith('503')));
  expect(refused).toContain('the database is not writable, and the spool is full, or cannot be written to');
  rmSync(directory);
  await eventually('degraded', async () => (await ready()).startsWith('200'));
  expect(readdirSync(directory)).toEqual([]);
});
