/** The log in the books check: leaves that never came, origins that no restore began, keys of witnesses that changed. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { recordRestore } from '../../../src/backup/record-restore.ts';
import type { Context } from '../../../src/context.ts';
import { type CheckState, continueState, startState } from '../../../src/proof/check-state.ts';
import { verifyLog } from '../../../src/proof/verify-log.ts';
import { SEALED_WITHIN_MS } from '../../../src/proof/verify-sealed.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { queueLeaf, writeMonthLeaf } from '../../../src/tlog/append.ts';
import { createCheckpointer, makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { hashLeaf } from '../../../src/tlog/merkle.ts';
import { readSize } from '../../../src/tlog/tree.ts';
import { submitNewest } from '../../../src/tlog/witnesses.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { openWitness, type TestWitness } from '../../support/open-witness.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';

let env: TestEnvironment;
let context: Context;
let witness: TestWitness;
beforeAll(async () => {
  witness = await openWitness('w1.example');
  env = await openEnvironment({ WITNESSES: witness.setting });
  env.use(witness);
  context = env.context;
  await dropTriggers(context.db);
});
afterAll(() => env[Symbol.asyncDispose]());

async function grow() {
  await audit(context, { actor: 'command', action: 'test', target: 't' });
  return await sealNow(context);
}

/** The log's part of a check, whole or since a proof. */
async function check(of = context, proof?: CheckState) {
  const found: string[] = [];
  const state = await (proof ? continueState(of.db, proof) : startState(of.db));
  const report = ({ scope, says }: { scope: string; says: string }) => found.push(`${scope}: ${says}`);
  while (await verifyLog({ context: of, state, proof, report, scratch: {} }));
  return { found, state };
}

/** A merchant's day and a close of a month, with their leaves in the queue. */
async function writeOthers(seq: number): Promise<void> {
  const { db, clock } = context;
  const [hash, at, payload] = [Buffer.alloc(32), clock.now(), JSON.stringify({ version: 2, seq })];
  const day = { merchant_seq: seq, day: '2026-11-01', revision: 1, facts_hash: hash, ids_digest: hash };
  const flags = { callback_cut: 0, is_proven: 0, is_closed: 0, signatures: '[]', made_at: at };
  await db
    .insertInto('day_manifests')
    .values({ seq, ...day, ...flags, payload })
    .execute();
  const { position } = await sealNow(context);
  const close = { seq, month: '2026-10', position, hash, digest: hash };
  await db
    .insertInto('month_closes')
    .values({
      ...{ seq, month: close.month, action: 'close', at, actor: 'a' },
      ...{ cut_seal_position: position, cut_seal_hash: hash, digest: hash },
    })
    .execute();
  await queueLeaf(db, { kind: 'day', ref: seq, hash: hashLeaf(payload) });
  await queueLeaf(db, { kind: 'month', ref: seq, hash: hashLeaf(writeMonthLeaf(close)) });
}

test('a day and a close of a month without a leaf are found after ten minutes, whole and since a proof', async () => {
  await grow();
  await writeOthers(7);
  await grow();
  expect(await readSize(context.db)).toBe(4);
  await env.timers.advance(SEALED_WITHIN_MS + 1_000);
  const { found, state } = await check();
  expect(found).toEqual([]);
  await writeOthers(8);
  await env.timers.advance(SEALED_WITHIN_MS + 1_000);
  // as in a restored database, before a worker runs
  expect((await check()).found).toEqual([]);
  await writeOthers(9);
  await sql`DELETE FROM log_queue`.execute(context.db);
  const missing = ['day manifest 8: it has no leaf in the log', 'month close 8: it has no leaf in the log'];
  expect((await check()).found).toEqual(missing);
  expect((await check(context, state)).found).toEqual(missing);
  await sql`DELETE FROM day_manifests WHERE seq > 7`.execute(context.db);
  await sql`DELETE FROM month_closes WHERE seq > 7`.execute(context.db);
});

test('lines of a witness that were signed with another key are counted, and not called broken', async () => {
  await makeCheckpoint(context);
  expect(await submitNewest(context)).toBe(true);
  expect(await check()).toMatchObject({ found: [], state: { log: { unverified: 0 } } });
  const renewed = env.use(await openWitness('w1.example'));
  const replica = await env.replica({ WITNESSES: renewed.setting });
  expect(await check(replica)).toMatchObject({ found: [], state: { log: { unverified: 1 } } });
  const rows = await context.db.selectFrom('log_cosignatures').selectAll().execute();
  const line = rows[0]?.line ?? '';
  // the signature alone: the key's id stays
  const forged = `${line.slice(0, -4)}AAA=`;
  await context.db.updateTable('log_cosignatures').set({ line: forged }).execute();
  expect((await check()).found).toEqual([expect.stringMatching(/^checkpoint \d+: w1.example did not countersign it$/)]);
  await context.db.updateTable('log_cosignatures').set({ line }).execute();
});

test('an origin excuses files of a lost log only as a recorded restore began it', async () => {
  const { db, clock, config } = context;
  await grow();
  await env.timers.advance(60_000);
  await createCheckpointer(context)();
  expect((await check()).found).toEqual([]);
  const size = await readSize(db);
  await sql`DELETE FROM log_hashes WHERE level = 0 AND position = ${size - 1}`.execute(db);
  await sql`DELETE FROM log_checkpoints WHERE size = ${size}`.execute(db);
  await sql`DELETE FROM seals ORDER BY position DESC LIMIT 1`.execute(db);
  const lost = expect.stringMatching(/^manifests\/checkpoints-.*: it names \d+ leaves, and the log has fewer$/);
  expect((await check()).found).toEqual([lost]);
  const inserted = { seq: 2, origin: 'other', from_size: size - 1, started_at: clock.now() };
  await db.insertInto('log_origins').values(inserted).execute();
  expect((await check()).found).toEqual([lost]);
  await sql`DELETE FROM log_origins WHERE seq = 2`.execute(db);
  await recordRestore(context, clock.now());
  expect((await check()).found).toEqual([]);
  // the restore explains the leaves that were there, and not fewer
  await sql`UPDATE log_origins SET from_size = 1 WHERE seq = 2`.execute(db);
  expect((await check()).found).toEqual([lost]);
  rmSync(path.join(config.DATA_DIR, 'manifests'), { recursive: true });
});
