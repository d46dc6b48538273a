import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { FIXED_DAYS } from '../../../src/retention/ended-rows.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { writeNightly } from '../../../src/tlog/recorded.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { readRow } from '../../support/read-rows.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const DAY_MS = 86_400_000;
/** The defaults. */
const DAYS = { attempts: 90, ticks: 30, alerts: 180, ...FIXED_DAYS };
const home = closeAfterAll(temporaryDirectory());
const environment = closeAfterAll(await openCallbackEnvironment({ DATA_DIR: home.path }));

/** @returns how many rows of each kind were deleted. */
async function retain(signal = environment.context.signal): Promise<Record<string, number>> {
  const results = await applyRetention({ ...environment.context, signal });
  return Object.fromEntries(results.map(({ name, rows }) => [name, rows]));
}
const ago = (days: number) => new Date(environment.context.clock.now().getTime() - days * DAY_MS);

async function addAttempts(callbackSeq: number, startedAt: Date, count: number): Promise<void> {
  const row = { callback_seq: callbackSeq, number: 1, started_at: startedAt, duration_ms: 1, request_headers: '{}' };
  await environment.context.db
    .insertInto('callback_attempts')
    .values(Array.from({ length: count }, () => row))
    .execute();
}

test('rows past their retention are deleted, in any number, and no row that is still needed', async () => {
  const { db } = environment.context;
  const { merchant } = await environment.addMerchant('http://127.0.0.1:1/');
  await environment.applyTransaction(['pending', 'paid']);
  const [over, open] = await db.selectFrom('callbacks').select('seq').orderBy('seq').execute();
  await db
    .updateTable('callbacks')
    .set({ state: 'delivered' })
    .where('seq', '=', over?.seq ?? 0)
    .execute();
  await addAttempts(open?.seq ?? 0, ago(DAYS.attempts + 30), 3);
  await addAttempts(over?.seq ?? 0, ago(DAYS.attempts + 1), 2_500);
  await addAttempts(over?.seq ?? 0, ago(DAYS.attempts - 1), 4);
  for (const days of [DAYS.ticks + 1, DAYS.ticks - 1]) {
    const tick = { job: 'watch', due_at: ago(days), holder: 'x', lease_until: ago(days) };
    await db.insertInto('job_ticks').values(tick).execute();
  }
  const alert = { name: 'stuck', severity: 'high', scope: 's', summary: 's', raised_at: ago(300) };
  const alerts = [
    { ...alert, id: 'al_over', ended_at: ago(DAYS.alerts + 1) },
    { ...alert, id: 'al_kept', ended_at: ago(DAYS.alerts - 1) },
    { ...alert, id: 'al_fires', firing_scope: 'stuck s' },
  ];
  await db.insertInto('alerts').values(alerts).execute();
  for (const { seq } of await db.selectFrom('alerts').select('seq').execute()) {
    await db.insertInto('alert_sends').values({ alert_seq: seq, channel: 'log' }).execute();
  }
  const old = { merchant_seq: merchant.seq, ciphertext: Buffer.from('x'), created_at: ago(300), expires_at: ago(8) };
  await db.insertInto('merchant_secrets').values(old).execute();

  const quiet = { hour_at: ago(DAYS.senders + 1) };
  await db
    .insertInto('senders')
    .values([
      { ...quiet, address: '192.0.2.1' },
      { ...quiet, address: '192.0.2.2', hit_at: ago(0) },
      { address: '192.0.2.3', hour_at: ago(0) },
    ])
    .execute();
  const beat = { part: 'inbox', host: 'a' };
  await db
    .insertInto('heartbeats')
    .values([
      { ...beat, holder: 'gone', seen_at: ago(DAYS.heartbeats + 1) },
      { ...beat, holder: 'alive', seen_at: ago(0) },
    ])
    .execute();
  const key = { request_hash: Buffer.alloc(32), holder: Buffer.alloc(8), lease_until: ago(0) };
  const hashes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
  await db
    .insertInto('idempotency_keys')
    .values(hashes.map((key_hash, index) => ({ ...key, key_hash, created_at: ago(index === 0 ? 8 : 6) })))
    .execute();
  await db
    .insertInto('idempotency_results')
    .values(hashes.map((key_hash) => ({ key_hash, number: 0 })))
    .execute();
  const dropped = await retain();
  expect(await db.selectFrom('idempotency_results').select('key_hash').execute()).toEqual([{ key_hash: hashes[1] }]);
  expect(dropped).toEqual({
    callback_attempts: 2_500,
    job_ticks: 1,
    alerts: 1,
    merchant_secrets: 1,
    merchant_address_changes: 0,
    sessions: 0,
    senders: 1,
    run_page_rows: 0,
    heartbeats: 1,
    size_days: 0,
    webhook_bodies: 0,
    webhook_repeats: 0,
    run_pages: 0,
    callbacks: 0,
    idempotency_keys: 1,
    report_files: 0,
  });
  const left = await db.selectFrom('callback_attempts').select('callback_seq').orderBy('seq').execute();
  expect(left.map((row) => row.callback_seq)).toEqual([...Array(3).fill(open?.seq), ...Array(4).fill(over?.seq)]);
  const kept = await db.selectFrom('alerts').select('id').orderBy('seq').execute();
  expect(kept.map((row) => row.id)).toEqual(['al_kept', 'al_fires']);
  expect(await db.selectFrom('alert_sends').select('alert_seq').execute()).toHaveLength(2);
  expect(await db.selectFrom('merchant_secrets').select('seq').execute()).toHaveLength(1);
  expect(Object.values(await retain()).every((count) => count === 0)).toBe(true);
});

test('the newest successful and the newest failed tick of each job are kept', async () => {
  const { db } = environment.context;
  const tick = (days: number, error: string | null) => {
    const due = ago(DAYS.ticks + days);
    return { job: 'reconcile_quarter', due_at: due, holder: 'x', lease_until: due, finished_at: due, error };
  };
  const kept = [tick(1, null), tick(8, '{}')];
  await db
    .insertInto('job_ticks')
    .values([...kept, tick(15, null), tick(22, '{}')])
    .execute();
  expect((await retain()).job_ticks).toBe(2);
  const ofJob = db.selectFrom('job_ticks').select('due_at').where('job', '=', 'reconcile_quarter');
  expect(await ofJob.orderBy('due_at', 'desc').execute()).toEqual(kept.map(({ due_at }) => ({ due_at })));
});

test('pages of a failed run are kept while the run can be resumed', async () => {
  const { db } = environment.context;
  const days = { from_day: '2026-01-01', to_day: '2026-01-01' };
  const runs = [
    { id: 'run_old', state: 'failed', finished_at: ago(DAYS.pages + 1) },
    { id: 'run_new', state: 'failed', finished_at: ago(DAYS.pages - 1) },
    { id: 'run_works', state: 'running', finished_at: null },
  ];
  const windows = new Map<string, number>();
  for (const run of runs) {
    const row = { ...run, ...days, trigger: 'test', created_at: ago(30), created_by: 'test' };
    const { insertId: seq } = await db.insertInto('runs').values(row).executeTakeFirstOrThrow();
    const window = { run_seq: Number(seq), ...days, state: 'planned' };
    const { insertId } = await db.insertInto('run_windows').values(window).executeTakeFirstOrThrow();
    windows.set(run.id, Number(insertId));
    const page = { window_seq: Number(insertId), pass: 1, page: 1, place: 1, query: 'q', total: 1, last_page: 1 };
    await db
      .insertInto('run_page_rows')
      .values({ ...page, asked_at: ago(9), page_rows: '[]' })
      .execute();
  }
  expect((await retain()).run_page_rows).toBe(1);
  const kept = await db.selectFrom('run_page_rows').select('window_seq').orderBy('window_seq').execute();
  expect(kept.map((row) => row.window_seq)).toEqual([windows.get('run_new'), windows.get('run_works')]);
});

test('an aborted deletion stops, and the next one continues', async () => {
  const { db } = environment.context;
  const stopped = AbortSignal.abort();
  const { seq } = await readRow(db, 'callbacks', ['seq'], { state: 'delivered' });
  await addAttempts(seq, ago(DAYS.attempts + 1), 5);
  expect((await retain(stopped)).callback_attempts).toBe(0);
  expect((await retain()).callback_attempts).toBe(5);
});

test('the nightly file is the published checkpoint, and is written whole or not at all', async () => {
  const { context } = environment;
  expect(await writeNightly(context)).toBeUndefined();
  await applyObservations(context, [observeNow(context, makeShownTransaction(['pending', 'paid@1']))]);
  await sealNow(context);
  const checkpoint = await makeCheckpoint(context);
  const file = (await writeNightly(context)) ?? '';
  expect(readFileSync(file, 'utf8')).toBe(checkpoint?.note);
  expect(path.basename(file)).toMatch(/^\d{4}-\d{2}-\d{2}\.checkpoint$/);
  await writeNightly(context);
  expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
});
