import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { parseMembers } from '../../../src/seal/format-members.ts';
import { hashSeal } from '../../../src/seal/hash-seal.ts';
import { loadSealedEntries } from '../../../src/seal/load-sealed-entries.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { createCheckpointer } from '../../../src/tlog/checkpoints.ts';
import { openBooks } from '../../support/open-books.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';
import { referenceChain } from '../../support/reference-chain.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await openEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;

const write = (target: string) => audit(environment.context, { actor: 'command', action: 'test', target });
const rows = () => environment.context.db.selectFrom('audit').select(['seq', 'target']).orderBy('seq').execute();

async function sealed(): Promise<(string | null)[]> {
  const seals = await environment.context.db.selectFrom('seals').select('audit_members').orderBy('position').execute();
  return seals.map((seal) => seal.audit_members);
}

async function breaks(): Promise<string[]> {
  const check = await checkBooks(environment.context, { leaseGivenMs: 0 });
  return check.breaks.map(({ scope, says }) => `${scope}: ${says}`);
}

test('rows of the audit stand in the hash chain, as a program of anybody else works it out', async () => {
  const { context } = environment;
  for (const target of ['a', 'b']) await write(target);
  await sealNow(context);
  await openBooks(context, { platform: 'p', day: '2026-01-02', balanceCents: 5n, actor: 'command', newPlatform: true });
  for (const target of ['c', 'é "quoted"']) await write(target);
  await sealNow(context);
  const [first, , , last] = await rows();
  expect(await sealed()).toEqual([`${first?.seq}-${(first?.seq ?? 0) + 1}`, `${(last?.seq ?? 0) - 1}-${last?.seq}`]);
  expect(await referenceChain(context.db)).toMatchObject({ wrong: [] });
  expect(await breaks()).toEqual([]);
});

test('the audit can be added to alone', async () => {
  await write('a');
  const { db } = environment.context;
  await expect(sql`UPDATE audit SET target = 'b'`.execute(db)).rejects.toThrow('audit is append-only');
  await expect(sql`DELETE FROM audit`.execute(db)).rejects.toThrow('audit is append-only');
});

test('the newest rows and their seal, cut off together, are found by the checkpoint that the sealer recorded', async () => {
  const { context } = environment;
  const { db } = context;
  for (const target of ['a', 'b']) {
    await write(target);
    await sealNow(context);
  }
  await createCheckpointer(context)();
  expect(await breaks()).toEqual([]);
  await dropTriggers(db);
  await sql`DELETE FROM audit WHERE target = 'b'`.execute(db);
  await sql`DELETE FROM seals WHERE position = 2`.execute(db);
  expect(await breaks()).toEqual(['log 1: seal 2 is gone']);
  await sql`DELETE FROM log_hashes WHERE position = 1`.execute(db);
  await sql`DELETE FROM log_checkpoints`.execute(db);
  const [cut] = await breaks();
  expect(cut).toMatch(/^manifests\/checkpoints-.*: it names 2 leaves, and the log has fewer$/);
  // the chain grows again: as many leaves, and another root
  await write('c');
  await sealNow(context);
  expect((await breaks())[0]).toMatch(/: its root of 2 leaves is not the log's$/);
});

test('an altered, missing or inserted row is found, and its place is reported', async () => {
  const { context } = environment;
  const { db } = context;
  for (const target of ['a', 'b', 'c']) await write(target);
  await sealNow(context);
  await write('d');
  await sealNow(context);
  await dropTriggers(db);
  const [, second] = await rows();
  const at = new Date(context.clock.now().getTime() - HOUR_MS);
  for (const [change, undo, found] of [
    [
      sql`UPDATE audit SET actor = 'tok_other' WHERE target = 'b'`,
      sql`UPDATE audit SET actor = 'command' WHERE target = 'b'`,
      /^seal 1: its hash is not that/,
    ],
    [
      sql`UPDATE audit SET detail = 'x' WHERE target = 'd'`,
      sql`UPDATE audit SET detail = NULL WHERE target = 'd'`,
      /^seal 2: its hash is not that/,
    ],
    [
      sql`UPDATE seals SET audit_seq = NULL, audit_members = NULL WHERE position = 2`,
      sql`SELECT 1`,
      /^seal 2: its hash is not that/,
    ],
  ] as const) {
    const kept = await db.selectFrom('seals').selectAll().where('position', '=', 2).executeTakeFirstOrThrow();
    await change.execute(db);
    expect((await breaks()).some((one) => found.test(one))).toBe(true);
    await undo.execute(db);
    const { audit_seq, audit_members } = kept;
    await db.updateTable('seals').set({ audit_seq, audit_members }).where('position', '=', 2).execute();
    expect(await breaks()).toEqual([]);
  }
  await db.insertInto('audit').values({ at, actor: 'admin', action: 'forged', target: 't', id: 'forged' }).execute();
  // the check seals it, reads it again, and then knows what it is
  expect(await breaks()).toEqual([
    expect.stringMatching(/^audit au_\d+: sealed at position 3, and dated long before it/),
  ]);
  await db
    .deleteFrom('audit')
    .where('seq', '=', second?.seq ?? 0)
    .execute();
  expect(await breaks()).toContain(`audit au_${second?.seq}: sealed at position 1, and gone`);
});

test('a row that is dated back, and sealed as any other, is found', async () => {
  const { context } = environment;
  await write('a');
  await sealNow(context);
  expect(await breaks()).toEqual([]);
  const at = new Date(context.clock.now().getTime() - 48 * HOUR_MS);
  const forged = { id: 'forged', at, actor: 'tok_colleague', action: 'tokens.create', target: 'x' };
  await context.db.insertInto('audit').values(forged).execute();
  await write('b');
  await sealNow(context);
  const [, row] = await rows();
  expect(await breaks()).toEqual([`audit au_${row?.seq}: sealed at position 2, and dated long before it`]);
});

test('a row that was slipped in below what is sealed long ago is in no position', async () => {
  const { context } = environment;
  for (const target of ['a', 'b']) await write(target);
  const [first, second] = await rows();
  await sql`ALTER TABLE audit AUTO_INCREMENT = 1000`.execute(context.db);
  await write('c');
  await sealNow(context);
  const at = new Date(context.clock.now().getTime() - HOUR_MS);
  const forged = { seq: 500, at, actor: 'admin', action: 'forged', target: 't', id: 'forged' };
  await context.db.insertInto('audit').values(forged).execute();
  await sealNow(context, 'far');
  expect([first, second].every(Boolean)).toBe(true);
  expect(await breaks()).toEqual(['audit au_500: it is in no sealed position']);
});

test('a row that is committed late is sealed by a later position, and none stands in two', async () => {
  const { context } = environment;
  await write('a');
  await sql`ALTER TABLE audit AUTO_INCREMENT = 1000`.execute(context.db);
  await write('c');
  await sealNow(context);
  const at = context.clock.now();
  await context.db.insertInto('audit').values({ seq: 500, at, actor: 'x', action: 'late', target: 't' }).execute();
  await sealNow(context);
  expect(await sealed()).toHaveLength(1);
  await sealNow(context, 'far');
  await sealNow(context, 'far');
  expect((await sealed())[1]).toBe('500');
  expect(await sealed()).toHaveLength(2);
  expect(await referenceChain(context.db)).toMatchObject({ wrong: [] });
  expect(await breaks()).toEqual([]);
});

test('positions of a version that sealed no audit stay as they are, and those after them hold its rows', async () => {
  const { context } = environment;
  const { db } = context;
  await openBooks(context, { platform: 'p', day: '2026-01-02', balanceCents: 5n, actor: 'command', newPlatform: true });
  await write('old');
  await sealNow(context);
  await sealAsBefore();
  expect(await referenceChain(db)).toMatchObject({ wrong: [] });
  await write('new');
  await sealNow(context);
  expect(await sealed()).toEqual([null, expect.stringMatching(/^\d+-\d+$/)]);
  expect(await referenceChain(db)).toMatchObject({ wrong: [] });
  expect(await breaks()).toEqual([]);
});

test('rows unsealed for ten minutes are sealed by the check, and doctor reports an altered one', async () => {
  const { context } = environment;
  const at = new Date(context.clock.now().getTime() - HOUR_MS);
  await context.db.insertInto('audit').values({ at, actor: 'command', action: 'test', target: 't' }).execute();
  expect(await breaks()).toEqual([]);
  expect(await sealed()).toHaveLength(1);
  await dropTriggers(context.db);
  await sql`UPDATE audit SET actor = 'other'`.execute(context.db);
  const { code, out } = await runCommandInProcess(['doctor', '--books', '--json'], environment.env);
  expect(code).toBe(1);
  expect(out).toContain('its hash is not that');
});

test('a replica of an older version that seals again seals no row twice', async () => {
  const { context } = environment;
  await write('a');
  await sealNow(context);
  await openBooks(context, { platform: 'p', day: '2026-01-02', balanceCents: 5n, actor: 'command', newPlatform: true });
  await sealNow(context);
  await sealAsBefore();
  await write('b');
  await sealNow(context);
  const [a, b] = await rows();
  expect(await sealed()).toEqual([`${a?.seq}`, null, `${b?.seq}`]);
  expect(await breaks()).toEqual([]);
});

/** Makes of the newest position what a version before this one would have sealed. */
async function sealAsBefore(): Promise<void> {
  const { db } = environment.context;
  await dropTriggers(db);
  const row = await db.selectFrom('seals').selectAll().orderBy('position', 'desc').limit(1).executeTakeFirstOrThrow();
  const { position, entry_seq: entrySeq, event_seq: eventSeq, mismatch_change_seq: mismatchChangeSeq } = row;
  const { members, sealed_at: sealedAt } = row;
  const header = { position, entrySeq, eventSeq, mismatchChangeSeq, members, sealedAt, audit: null };
  const entries = await loadSealedEntries(db, { seqs: parseMembers(members, 10) });
  const hash = hashSeal(row.previous_hash, header, entries);
  const old = { audit_seq: null, audit_members: null, hash };
  await db.updateTable('seals').set(old).where('position', '=', position).execute();
  await db.deleteFrom('log_hashes').where('ref', '=', position).execute();
}
