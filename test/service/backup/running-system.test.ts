import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { watch } from '../../../jobs/watch.ts';
import type { Database } from '../../../src/database/tables.ts';
import { webhookIdOf } from '../../../src/domain/ids.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { createCheckpointer, makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow } from '../../support/make-provider-rows.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { readLedgerState } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY, SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

/** Transactions before the backup begins, and after it has ended; during it as many as there is time for. */
const BEFORE = numRuns(25, 1_500);
const AFTER = numRuns(15, 500);
/** After the backup, the webhook of every fifth transaction is left out. */
const UNANNOUNCED_EACH = 5;

type Finding = { check: string; ok: boolean; says: string };
type Feed = { events: { id: string }[]; next_cursor: string };

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const to = path.join(home.path, 'backup');
const LONG_AGO = '2020-01-01T00:00:00Z';
const ENV = { SECRET_KEY, WEBHOOK_GRACE: '1m', CALLBACK_RETRY_SCHEDULE: '1s,1s,1s' };

let provider: TestProvider;
let shop: MerchantServer;
let restored: ServedEnvironment;
let restoredEnv: Record<string, string>;
let lostDataDir: string;
/** Of the machine that is lost, at its end. */
let lost: Awaited<ReturnType<typeof describeSystem>> & { cursor: string; pulled: string[]; calls: number };
let answeredBefore: string[];
let backup: { started_at: string; head: { position: number; hash: string } };
/** Ids of callbacks in the restored database before anything ran on it. */
let inBackup: Set<string>;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  provider = stack.use(await new TestProvider(API_KEY).listen());
  shop = stack.use(await openMerchantServer());
  ({ lost, answeredBefore, backup, lostDataDir } = await loseRunningSystem());

  const target = await createTestDatabase('empty');
  restoredEnv = { ...ENV, DATABASE_URL: urlOf(target), DATA_DIR: path.join(home.path, 'restored') };
  const { code, out, err } = await runCommandInProcess(['restore', '--from', to], restoredEnv);
  expect(out).toMatch(
    /\nthe log goes on with its \d+ leaves as \S+\/log\/\d{14}, another name than before; no witness was there/,
  );
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^confere: without --sum[^\n]*\n$/) });
  {
    await using opened = openDatabase<Database>(target);
    inBackup = new Set(await readCallbackIds(opened.db));
  }
  // another replica's directory, which outlived the machine: it names seals that the backup lacks
  cpSync(path.join(lostDataDir, 'manifests'), path.join(restoredEnv.DATA_DIR ?? '', 'manifests'), { recursive: true });
  restored = stack.use(await openServedEnvironment({ providerUrl: provider.url, env: restoredEnv, on: target }));
});
afterAll(() => stack.disposeAsync());

/** Serves under load, backs up meanwhile, and stops. */
async function loseRunningSystem() {
  const env = { ...ENV, DATA_DIR: path.join(home.path, 'lost') };
  await using source = await openServedEnvironment({ providerUrl: provider.url, env });
  await source.api.call('POST', '/merchants', { name: 'Loja', url: `${shop.url}/shop`, events_since: LONG_AGO });
  const pulling = await source.api.call<{ id: string }>('POST', '/merchants', { name: 'B', events_since: LONG_AGO });
  const { token } = await source.api.call<{ token: string }>('POST', `/merchants/${pulling.id}/pull-token`, {});
  pullToken = token;
  const answered: string[] = [];
  const pay = async (number: number, unannounced = false): Promise<void> => {
    const { id } = provider.put(makeRow());
    provider.addEvent(id, 'paid');
    if (unannounced) return;
    const { status, json } = await source.webhook({ id: number, transaction_id: id, status: 'paid' });
    if (status === 200) answered.push(String(json.id));
  };
  for (let number = 0; number < BEFORE; number++) await pay(number);
  await pull(source);
  const before = [...answered];
  await sealNow(source.context);
  // the log's first checkpoint names it, in the backup too
  await makeCheckpoint(source.context);
  let isBackedUp = false;
  const backingUp = runCommandInProcess(['backup', '--to', to, '--json'], source.env).finally(() => {
    isBackedUp = true;
  });
  for (let number = 0; !isBackedUp; number++) {
    await pay(number);
    await sleep(5);
  }
  const { code, out, err } = await backingUp;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (let number = 0; number < AFTER; number++) await pay(number, number % UNANNOUNCED_EACH === 0);
  await source.api.call('POST', '/reconciliations', runOfToday(source));
  await settle(source);
  await awaitDelivered(source);
  const events = await pull(source);
  await sealNow(source.context);
  await createCheckpointer(source.context)();
  const described = await describeSystem(source);
  return {
    lost: { ...described, cursor: events.cursor, pulled: events.ids, calls: shop.calls.length },
    answeredBefore: before,
    backup: JSON.parse(out) as typeof backup,
    lostDataDir: env.DATA_DIR,
  };
}

let pullToken: string;

function runOfToday({ context }: ServedEnvironment) {
  const day = context.calendar.dayOf(context.clock.now());
  return { from: day, to: day };
}

/** Waits until everything that the provider shows is in the ledger. */
async function settle(served: ServedEnvironment): Promise<void> {
  await eventually('all transactions are paid', async () => {
    const { count } = await served.context.db
      .selectFrom('transactions')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('status', '=', 'paid')
      .executeTakeFirstOrThrow();
    return Number(count) === provider.rows.size;
  });
}

/** Fetches all events of the merchant without a URL, from a cursor. */
async function pull(served: ServedEnvironment, from = '0'): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = [];
  for (let cursor = from; ; ) {
    const response = await fetch(`${served.url}/api/v1/events?limit=200&after=${cursor}`, {
      headers: { authorization: `Bearer ${pullToken}` },
    });
    if (response.status === 429) {
      await sleep(100);
      continue;
    }
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const page = (await response.json()) as Feed;
    ids.push(...page.events.map((event) => event.id));
    if (page.events.length === 0) return { ids, cursor };
    cursor = page.next_cursor;
  }
}

/** Waits until the merchant with a URL has everything. */
async function awaitDelivered({ context }: ServedEnvironment, advance?: () => Promise<void>): Promise<void> {
  await eventually('all callbacks are delivered', async () => {
    await advance?.();
    const open = await context.db
      .selectFrom('callbacks')
      .innerJoin('merchants', 'merchants.seq', 'merchant_seq')
      .select('callbacks.seq')
      .where('merchants.url', 'is not', null)
      .where('callbacks.state', '!=', 'delivered')
      .execute();
    return open.length === 0;
  });
}

async function readCallbackIds(db: Kysely<Database>): Promise<string[]> {
  const rows = await db.selectFrom('callbacks').select('webhook_id').execute();
  return rows.map((row) => row.webhook_id).sort();
}

async function describeSystem(served: ServedEnvironment) {
  const seals = await served.context.db.selectFrom('seals').select(['position', 'hash']).orderBy('position').execute();
  return {
    books: await readLedgerState(served.context),
    ids: await readCallbackIds(served.context.db),
    seals: seals.map(({ position, hash }) => `${position} ${hash.toString('hex')}`),
  };
}

async function doctor(
  ...more: string[]
): Promise<{ code: number | null; findings: Map<string, Finding>; err: string }> {
  const { code, out, err } = await runCommandInProcess(['doctor', '--restored', '--json', ...more], restoredEnv);
  const { findings = [] } = (out === '' ? {} : JSON.parse(out)) as { findings?: Finding[] };
  return { code, err, findings: new Map(findings.map((one) => [one.check, one])) };
}

describe('a backup of a running system, restored while its machine is gone', () => {
  it('has each webhook that was answered before it began', async () => {
    const rows = await restored.context.db.selectFrom('webhooks').select('hash').execute();
    const kept = new Set(rows.map((row) => webhookIdOf(row.hash)));
    expect(answeredBefore.length).toBeGreaterThan(BEFORE / 2);
    expect(answeredBefore.filter((id) => !kept.has(id))).toEqual([]);
  });

  it('is not the end: the system went on', () => {
    expect(lost.ids.filter((id) => !inBackup.has(id)).length).toBeGreaterThan(AFTER);
    expect(lost.seals.length).toBeGreaterThan(backup.head.position);
    expect(readdirSync(home.path).filter((name) => name.includes('draft'))).toEqual([]);
    expect(existsSync(path.join(to, 'database.sql.gz'))).toBe(true);
  });

  it('learns from the list what it lacks, in the same books and with the same webhook ids', async () => {
    await settle(restored);
    const { books, ids } = await describeSystem(restored);
    expect(books).toEqual(lost.books);
    expect(ids).toEqual(lost.ids);
    expect(await checkBooks(restored.context)).toMatchObject({ broken: 0, breaks: [] });
  });

  it('continues the chain at its newest seal', async () => {
    const { seals } = await describeSystem(restored);
    const { position, hash } = backup.head;
    expect(seals.slice(0, position)).toEqual(lost.seals.slice(0, position));
    expect(seals[position - 1]).toBe(`${position} ${hash}`);
  });

  it('says what is missing, and calls none of it broken', async () => {
    const { code, findings } = await eventually('the runs over the gap', async () => {
      const report = await doctor();
      const states = ['list', 'older'].map((check) => report.findings.get(check)?.says ?? '');
      return states.every((says) => says.includes(': complete')) && report;
    });
    expect(code).toBe(0);
    expect([...findings.values()].filter((one) => !one.ok)).toEqual([]);
    expect(findings.get('gap')?.says).toContain(new Date(backup.started_at).toISOString());
    expect(findings.get('chain')?.says).toMatch(
      /^the backup ends at position \d+; \d+ leaves of the log are missing: checkpoints-/,
    );
    expect(findings.get('log')?.says).toMatch(/^the log goes on with its \d+ leaves as .* no witness was there/);
    const elsewhere = await doctor('--manifests', path.join(lostDataDir, 'manifests'));
    expect(elsewhere.findings.get('chain')).toEqual(findings.get('chain'));
  });

  it('calls no webhook of the gap lost', async () => {
    await restored.timers.advance(70_000);
    await watch(restored.context);
    const { db } = restored.context;
    const learnt = await db.selectFrom('events').select('seq').where('source_kind', '=', 'list').execute();
    expect(learnt.length).toBeGreaterThan(AFTER);
    const open = await db.selectFrom('owed_webhooks').select('event_seq').where('settled_at', 'is', null).execute();
    expect(open).toEqual([]);
    expect(await db.selectFrom('mismatches').select('scope').where('kind', '=', 'webhook_lost').execute()).toEqual([]);
  });

  it('holds callbacks, and says so, until a person confirms; then merchants get the ids that they know', async () => {
    expect(shop.calls.length).toBe(lost.calls);
    await eventually('all callbacks are held', async () => {
      const rows = await restored.context.db
        .selectFrom('callbacks')
        .innerJoin('merchants', 'merchants.seq', 'merchant_seq')
        .select('callbacks.state')
        .where('merchants.url', 'is not', null)
        .execute();
      const states = new Set(rows.map((row) => row.state));
      return states.has('held') && !states.has('pending');
    });
    await expect(pull(restored)).rejects.toThrow(/^503 .*until operators confirm/);
    const alerts = await restored.context.db.selectFrom('alerts').select(['name', 'ended_at']).execute();
    expect(alerts.find(({ name }) => name === 'restore_unconfirmed')).toMatchObject({ ended_at: null });

    expect((await doctor('--confirm')).code).toBe(0);
    expect((await doctor('--confirm')).err).toContain('no restore waits for a confirmation');
    // held callbacks are resumed a few a second
    await awaitDelivered(restored, () => restored.timers.advance(1_000));
    const known = new Set(shop.calls.slice(0, lost.calls).map((call) => call.headers['webhook-id']));
    const again = shop.calls.slice(lost.calls).map((call) => call.headers['webhook-id']);
    expect(
      again.filter((id) => !known.has(id)),
      'nothing is sent under a new id',
    ).toEqual([]);
    expect(new Set(again).size, 'nothing is sent more than once again').toBe(again.length);
  });

  it('serves a cursor from before the loss all events that it learnt again', async () => {
    const { ids } = await pull(restored, lost.cursor);
    const lostIds = lost.pulled.filter((id) => !inBackup.has(id));
    expect(lostIds.length).toBeGreaterThan(AFTER);
    expect(lostIds.filter((id) => !ids.includes(id))).toEqual([]);
    expect((await pull(restored)).ids.sort()).toEqual([...lost.pulled].sort());
  });

  it('ends the gap, and records who restored it', async () => {
    const [restore] = await restored.context.db.selectFrom('restores').selectAll().execute();
    expect(restore?.gap_to?.getTime()).toBeGreaterThan(restore?.gap_from.getTime() ?? Number.NaN);
    const actions = await restored.context.db.selectFrom('audit').select('action').orderBy('seq').execute();
    const names = actions.map((row) => row.action).filter((name) => /^(backups|restores)\./.test(name));
    expect(names).toEqual(['backups.make', 'restores.record', 'restores.confirm']);
    const metrics = await (await fetch(`${restored.url}/metrics`)).text();
    expect(metrics).toContain(`\nconfere_backup_timestamp_seconds ${Date.parse(backup.started_at) / 1000}\n`);
    expect(readFileSync(path.join(to, 'SHA256SUMS'), 'utf8')).toMatch(/^[0-9a-f]{64} {2}backup\.json$/m);
  });
});
