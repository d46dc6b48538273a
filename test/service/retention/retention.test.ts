import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { KyselyPlugin, Transaction } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { countBackfill } from '../../../src/callbacks/backfill/count-backfill.ts';
import type { Context } from '../../../src/context.ts';
import type { Database } from '../../../src/database/tables.ts';
import { checkSizes } from '../../../src/doctor/check-storage.ts';
import { insertDue } from '../../../src/manifests/find-due-days.ts';
import { makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { readManifestIds } from '../../../src/manifests/read-manifests.ts';
import { pageRetention } from '../../../src/reconciliation/numbers/fold-pages.ts';
import { listPages } from '../../../src/reconciliation/numbers/read-pages.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { readDiskSizes, readTableSizes, recordSizes } from '../../../src/retention/measure-sizes.ts';
import { describeSaid } from '../../../src/texts/messages.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const DAY_MS = 86_400_000;
const environment = closeAfterAll(await openCallbackEnvironment());
let context: Context;

beforeAll(async () => {
  ({ context } = environment);
});

const ago = (days: number) => new Date(context.clock.now().getTime() - days * DAY_MS);
const dayAgo = (days: number) => context.calendar.dayOf(ago(days));
async function retain(write = true): Promise<Record<string, number>> {
  return Object.fromEntries((await applyRetention(context, { write })).map(({ name, rows }) => [name, rows]));
}

it('repeats older than RETAIN_REPEATS are deleted in batches; the webhook keeps their number', async () => {
  const { db } = context;
  const row = { hash: Buffer.alloc(32, 1), body: Buffer.from('{}'), received_at: ago(402), source_address: '::1' };
  const webhook = { ...row, headers: '{}', state: 'applied', repeats: 2_102 };
  const { insertId } = await db.insertInto('webhooks').values(webhook).executeTakeFirstOrThrow();
  const repeat = { webhook_seq: Number(insertId), source_address: '::1' };
  const old = Array.from({ length: 2_100 }, () => ({ ...repeat, received_at: ago(401) }));
  await db.insertInto('webhook_repeats').values(old).execute();
  const young = [399, 1].map((days) => ({ ...repeat, received_at: ago(days) }));
  await db.insertInto('webhook_repeats').values(young).execute();
  expect((await retain(false)).webhook_repeats).toBe(2_100);
  const { out } = await runCommandInProcess(['retention', '--dry-run'], environment.env);
  expect(out).toMatch(/^webhook_repeats +2100 {2}kept for 400 days \(RETAIN_REPEATS\)$/m);
  expect((await retain()).webhook_repeats).toBe(2_100);
  expect(await db.selectFrom('webhook_repeats').select('seq').execute()).toHaveLength(2);
  expect(await db.selectFrom('webhooks').select('repeats').execute()).toEqual([{ repeats: 2_102 }]);
});

it('a batch of ticks that deadlocks with a claim runs again', async () => {
  const tick = { holder: 'a', lease_until: ago(40), finished_at: ago(40) };
  const due = [ago(41), ago(40)].map((due_at) => ({ job: 'deadlocks', due_at, ...tick }));
  await context.db.insertInto('job_ticks').values(due).execute();
  let deadlocks = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const isDelete = node.kind === 'RawNode' && node.sqlFragments[0]?.startsWith('DELETE FROM');
      if (isDelete && deadlocks++ === 0)
        throw Object.assign(new Error('deadlock'), { errno: 1213, code: 'ER_LOCK_DEADLOCK' });
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const results = await applyRetention({ ...context, db: context.db.withPlugin(plugin) });
  expect(results.find(({ name }) => name === 'job_ticks')?.rows).toBe(1);
  const left = await context.db.selectFrom('job_ticks').select('due_at').where('job', '=', 'deadlocks').execute();
  expect(left).toEqual([{ due_at: due[1]?.due_at }]);
});

/** Adds a run of one window with pages. @param ends when the run ended; null: it still runs. @returns the window's number. */
async function addReading(read: { day: string; state: string; askedAt: Date; ends?: Date | null; pages?: number }) {
  const { day, state, askedAt, ends = askedAt, pages = 1 } = read;
  const { db } = context;
  const id = `run_${day}_${state}_${askedAt.getTime()}`;
  const run = { id, state: ends ? 'complete' : 'running', finished_at: ends };
  const range = { from_day: day, to_day: day };
  const { insertId } = await db
    .insertInto('runs')
    .values({ ...run, ...range, trigger: 'test', created_at: ago(50), created_by: 'test' })
    .executeTakeFirstOrThrow();
  const window = { run_seq: Number(insertId), ...range, state, asked_at: askedAt, pages };
  const { insertId: windowSeq } = await db.insertInto('run_windows').values(window).executeTakeFirstOrThrow();
  const keys = { run_seq: Number(insertId), window_seq: Number(windowSeq), asked_at: askedAt };
  const rows = Array.from({ length: pages }, (_, index) => ({
    ...{ pass: 1, page: index + 1, total: pages * 100, row_count: 100 },
    ...{ body_hash: Buffer.alloc(32, index), ids_digest: Buffer.alloc(32, ~index) },
  }));
  await db
    .insertInto('run_pages')
    .values(rows.map((row) => ({ ...keys, ...row })))
    .execute();
  return { window: Number(windowSeq), run: Number(insertId) };
}

async function listWindowsWithPages(): Promise<number[]> {
  const rows = await context.db.selectFrom('run_pages').select('window_seq').distinct().orderBy('window_seq').execute();
  return rows.map((row) => row.window_seq);
}

it('pages are folded once their days are proven, and the evidence of other days stays', async () => {
  const { db } = context;
  // read while the day ran, then proven after its end; a day that no run proved; proven, but younger; still running
  const gone = [
    await addReading({ day: dayAgo(40), state: 'incomplete', askedAt: ago(40) }),
    await addReading({ day: dayAgo(40), state: 'complete', askedAt: ago(38) }),
  ].map(({ window }) => window);
  const kept = [
    await addReading({ day: dayAgo(41), state: 'incomplete', askedAt: ago(40) }),
    await addReading({ day: dayAgo(36), state: 'complete', askedAt: ago(34) }),
    await addReading({ day: dayAgo(42), state: 'complete', askedAt: ago(40), ends: null }),
  ].map(({ window }) => window);
  expect((await retain(false)).run_pages).toBe(gone.length);
  expect((await retain()).run_pages).toBe(gone.length);
  expect(await listWindowsWithPages()).toEqual(kept);
  const windows = await db.selectFrom('run_windows').select('pages').where('seq', 'in', gone).execute();
  expect(windows).toEqual([{ pages: 1 }, { pages: 1 }]);
  await db.deleteFrom('run_pages').execute();
});

it('pages of a reading that a later complete one superseded are folded a day later, into the digest of what the API listed', async () => {
  const { db } = context;
  const day = dayAgo(3);
  const old = await addReading({ day, state: 'complete', askedAt: ago(3), pages: 2_100 });
  const recent = await addReading({ day, state: 'recent', askedAt: ago(2.5) });
  const incomplete = await addReading({ day, state: 'incomplete', askedAt: ago(2.4) });
  const newest = await addReading({ day, state: 'complete', askedAt: ago(1.5), ends: ago(1.4) });
  const counted = await addReading({ day, state: 'counted', askedAt: ago(1.2) });
  const today = await addReading({ day: dayAgo(0), state: 'complete', askedAt: ago(0.2) });
  const later = await addReading({ day: dayAgo(0), state: 'complete', askedAt: ago(0.1) });
  const listed = await listPages(db, old.run, 5_000, undefined);
  expect(listed).toHaveLength(2_100);

  expect((await retain(false)).run_pages).toBe(2_101);
  // interrupted after its first batch: the next night deletes the rest, and the digest stays
  const [first] = await foldOnce();
  expect(first).toBe(1_000);
  expect((await retain()).run_pages).toBe(1_101);
  const left = [incomplete, newest, counted, today, later].map(({ window }) => window);
  expect(await listWindowsWithPages()).toEqual(left);

  const lines = listed.map(({ seq: _, ...page }) => `${JSON.stringify(Object.values(page))}\n`).join('');
  const folded = await db
    .selectFrom('run_windows')
    .select(['seq', 'pages', 'folded_at', 'pages_digest'])
    .where('pages_digest', 'is not', null)
    .where('seq', 'in', [...left, old.window, recent.window])
    .orderBy('seq')
    .execute();
  expect(folded.map(({ seq }) => seq)).toEqual([old.window, recent.window]);
  expect(folded[0]).toMatchObject({ pages: 2_100, folded_at: expect.any(Date) });
  expect(folded[0]?.pages_digest?.toString('hex')).toBe(createHash('sha256').update(lines).digest('hex'));
});

/** Folds one batch and stops, as a process that ends. */
async function foldOnce(): Promise<number[]> {
  const batches: number[] = [];
  for await (const count of pageRetention(context).run({ before: ago(35), write: true })) {
    batches.push(count);
    break;
  }
  return batches;
}

it('delivered callbacks are deleted once all of their transaction is old, and no backfill makes them again', async () => {
  const { db } = context;
  const { merchant } = await environment.addMerchant('http://127.0.0.1:1/');
  await db.updateTable('backfills').set({ state: 'done' }).execute();
  // the first call only begins
  await makeDayManifests(context);
  const [over, continued, failed] = await environment.applyTransactions(3, ['pending', 'paid']);
  if (!over || !continued || !failed) throw new Error('nothing was applied');
  const seqsOf = async (id: string) => {
    const rows = db.selectFrom('callbacks').innerJoin('transactions', 'transactions.seq', 'transaction_seq');
    return (
      await rows.select('callbacks.seq').where('transactions.id', '=', id).orderBy('callbacks.seq').execute()
    ).map(({ seq }) => seq);
  };
  const now = context.clock.now();
  await db.updateTable('callbacks').set({ state: 'delivered', delivered_at: now, next_attempt_at: null }).execute();
  const manifest = { day: dayAgo(0) };
  await environment.timers.advance(DAY_MS);
  await makeDayManifests(context);
  expect((await readManifestIds(context, merchant.seq, manifest)).trim().split('\n')).toHaveLength(6);
  await environment.timers.advance(400 * DAY_MS);
  await environment.appendEvents(continued, ['refund']);
  const [, lastFailed = 0] = await seqsOf(failed.id);
  await db
    .updateTable('callbacks')
    .set({ state: 'failed', delivered_at: null })
    .where('seq', '=', lastFailed)
    .execute();
  const [first = 0] = await seqsOf(over.id);
  const attempt = { callback_seq: first, number: 1, started_at: ago(1), duration_ms: 1, request_headers: '{}' };
  await db.insertInto('callback_attempts').values(attempt).execute();

  const widened = { filters: [], eventsSince: new Date('2020-01-01T00:00:00Z') };
  expect((await retain(false)).callbacks).toBe(2);
  expect((await retain()).callbacks).toBe(2);
  expect(await seqsOf(over.id)).toEqual([]);
  expect(await seqsOf(continued.id)).toHaveLength(3);
  expect(await seqsOf(failed.id)).toHaveLength(2);
  expect(await db.selectFrom('callback_attempts').select('seq').execute()).toEqual([]);
  expect(await countBackfill(context, merchant, widened)).toMatchObject({ complete: true, callbacks: 0 });
  await environment.appendEvents(over, ['refund']);
  expect(await seqsOf(over.id)).toHaveLength(1);
  expect((await retain()).callbacks).toBe(0);
  await insertDue(context.db as Transaction<Database>, [{ merchant_seq: merchant.seq, ...manifest }]);
  await makeDayManifests(context);
  const ofDay = db.selectFrom('day_manifests').select('revision').where('day', '=', manifest.day);
  expect(await ofDay.execute()).toEqual([{ revision: 1 }]);
  await expect(readManifestIds(context, merchant.seq, manifest)).rejects.toThrow('RETAIN_CALLBACKS');
});

it('sizes are recorded once a day; growth is their mean over 30 days, and doctor fails where a disk is full soon', async () => {
  const { db } = context;
  await recordSizes(context);
  await recordSizes(context);
  const recorded = await db.selectFrom('size_days').select(['name', 'host', 'day']).execute();
  expect(new Set(recorded.map(({ name }) => name)).size).toBe(recorded.length);
  expect(recorded).toContainEqual({ name: 'DATA_DIR', host: hostname(), day: dayAgo(0) });
  expect(recorded).toContainEqual({ name: 'webhooks', host: '', day: dayAgo(0) });
  expect((await readTableSizes(context)).find(({ name }) => name === 'webhooks')).toMatchObject({ growth: undefined });

  const [now] = (await readTableSizes(context)).filter(({ name }) => name === 'webhooks');
  const [disk] = await readDiskSizes(context);
  const old = { day: dayAgo(10), measured_at: ago(10) };
  await db
    .insertInto('size_days')
    .values([
      { ...old, name: 'webhooks', host: '', bytes: (now?.bytes ?? 0) - 153_600 },
      { ...old, name: 'DATA_DIR', host: hostname(), bytes: Math.max(0, (disk?.usedBytes ?? 0) - 10 * 1024) },
      { ...old, name: 'DATA_DIR', host: 'another', bytes: 0 },
      { ...old, day: dayAgo(31), name: 'webhooks', host: '', bytes: 0 },
    ])
    .execute();
  const [grown] = (await readTableSizes(context)).filter(({ name }) => name === 'webhooks');
  expect(grown?.growth).toBeCloseTo(15_360, -1);
  expect(describeSaid(await checkSizes(context))).toMatch(
    /^the database \([\d.]+ MiB, growing by 15\.0 KiB a day\); .*; the disk of DATA_DIR has [\d.]+ GiB free$/,
  );

  // as much as is free, each day
  const free = disk?.freeBytes ?? 0;
  await db
    .updateTable('size_days')
    .set({ bytes: (disk?.usedBytes ?? 0) - 10 * free })
    .where('day', '=', dayAgo(10))
    .where('host', '=', hostname())
    .execute();
  await expect(checkSizes(context)).rejects.toThrow(/the disk of DATA_DIR has .* free, and is full in [01] days/);
});
