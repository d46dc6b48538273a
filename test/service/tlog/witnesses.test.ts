/** Witnesses: what they countersign, and what they refuse. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { recordRestore } from '../../../src/backup/record-restore.ts';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { hashLeaf } from '../../../src/tlog/merkle.ts';
import { parseCheckpoint } from '../../../src/tlog/note.ts';
import { describeRestoredLog } from '../../../src/tlog/origins.ts';
import { proveLeaf, readPublished } from '../../../src/tlog/prove.ts';
import { appendLeaves, readSize } from '../../../src/tlog/tree.ts';
import { askWitnesses, submitNewest } from '../../../src/tlog/witnesses.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { openWitness, type TestWitness } from '../../support/open-witness.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';

let env: TestEnvironment;
let context: Context;
const witnesses: TestWitness[] = [];
beforeAll(async () => {
  for (const name of ['w1.example', 'w2.example', 'w3.example']) witnesses.push(await openWitness(name));
  env = await openEnvironment({ WITNESSES: `2 of ${witnesses.map(({ setting }) => setting).join(',')}` });
  context = env.context;
  for (const witness of witnesses) env.use(witness);
  await dropTriggers(context.db);
});
afterAll(() => env[Symbol.asyncDispose]());
beforeEach(() => {
  for (const witness of witnesses) witness.status = undefined;
});

async function grow(leaves = 1): Promise<number> {
  for (let leaf = 0; leaf < leaves; leaf++) {
    await audit(context, { actor: 'command', action: 'test', target: 't' });
    await sealNow(context);
  }
  return (await makeCheckpoint(context))?.size ?? 0;
}
const cosignersOf = (note: string | undefined): string[] =>
  parseCheckpoint(note ?? '')?.signatures.flatMap(({ name }) => (/^w\d/.test(name) ? [name] : [])) ?? [];
const alerts = async () => {
  const rows = context.db.selectFrom('alerts').select(['name', 'severity', 'scope', 'ended_at']).orderBy('seq');
  return (await rows.execute()).map(
    (row) => `${row.name} ${row.severity} ${row.scope} ${row.ended_at ? 'over' : 'on'}`,
  );
};

test('each checkpoint is countersigned with its proof; enough witnesses publish it, and a proof carries them', async () => {
  await grow();
  expect(await submitNewest(context)).toBe(true);
  const [first, second] = witnesses;
  if (first) first.status = 503;
  if (second) second.status = 503;
  expect(await grow(4)).toBe(5);
  expect(await submitNewest(context)).toBe(false);
  // one of three is not enough: what two countersigned is published, a proof of what is newer has what there is
  expect(await readPublished(context)).toMatchObject({ size: 1 });
  expect(
    cosignersOf((await proveLeaf(context, { kind: 'seal', ref: 5 }))?.split('\n\n').slice(1).join('\n\n')),
  ).toEqual(['w3.example']);
  if (first) first.status = undefined;
  expect(await submitNewest(context)).toBe(true);
  const published = await readPublished(context);
  expect(published?.size).toBe(5);
  expect(cosignersOf(published?.note)).toEqual(['w1.example', 'w3.example']);
  expect(await proveLeaf(context, { kind: 'seal', ref: 9 })).toBeUndefined();
  const before = witnesses.map(({ requests }) => requests);
  await submitNewest(context);
  // asked again: the one that has not countersigned it alone
  expect(witnesses.map(({ requests }, index) => requests - (before[index] ?? 0))).toEqual([0, 1, 0]);
  await context.db.deleteFrom('log_cosignatures').where('witness', '=', 'w3.example').execute();
  const others = Array.from({ length: 299 }, (_, ref) => ({ kind: 'month' as const, ref, hash: hashLeaf(`${ref}`) }));
  await transact(context.db, (trx) => appendLeaves(trx, others));
  await grow();
  // a database that forgot what was countersigned asks the witness
  expect(await submitNewest(context)).toBe(true);
  expect(witnesses[2]?.seen.map(({ size }) => size)).toEqual([1, 5, 305]);
  expect(await alerts()).toEqual([]);
});

test('a witness that is away or refuses is one alert, which its next cosignature ends', async () => {
  const [first] = witnesses;
  if (!first) throw new Error('no witness');
  first.status = 404;
  await grow();
  await submitNewest(context);
  expect(await alerts()).toEqual([]);
  const since = new Date(context.clock.now().getTime() - 3_600_000);
  await context.db
    .updateTable('log_witnesses')
    .set({ failing_since: since })
    .where('name', '=', 'w1.example')
    .execute();
  for (const _ of [1, 2]) await submitNewest(context);
  expect(await alerts()).toEqual(['witness_away medium w1.example on']);
  first.status = 422;
  await submitNewest(context);
  const refused = ['witness_away medium w1.example over', 'witness_refused critical w1.example on'];
  expect(await alerts()).toEqual(refused);
  first.status = undefined;
  await submitNewest(context);
  expect(await alerts()).toEqual([refused[0], 'witness_refused critical w1.example over']);
});

test('a rewritten leaf, a cut log and a fork are refused by those that saw the log', async () => {
  const { db } = context;
  const size = await grow();
  await submitNewest(context);
  const states = async () =>
    (await db.selectFrom('log_witnesses').select('refused').where('name', '=', 'w2.example').execute())[0]?.refused;
  expect(await states()).toBeNull();
  // cut off
  await sql`CREATE TABLE kept AS SELECT * FROM log_hashes`.execute(db);
  await sql`DELETE FROM log_hashes WHERE level = 0 AND position >= ${size - 2}`.execute(db);
  await sql`DELETE FROM log_checkpoints WHERE size > ${size - 2}`.execute(db);
  await sql`DELETE FROM seals WHERE position > (SELECT MAX(ref) FROM log_hashes WHERE kind = 'seal')`.execute(db);
  expect(await grow()).toBe(size - 1);
  expect(await submitNewest(context)).toBe(false);
  expect(await states()).toBe(`it saw ${size} leaves, and the log has ${size - 1}`);
  // grown again by others
  await grow(3);
  await submitNewest(context);
  expect(await states()).toContain('is no beginning of ours');
  await sql`DELETE FROM log_hashes`.execute(db);
  await sql`INSERT INTO log_hashes SELECT * FROM kept`.execute(db);
  await sql`DELETE FROM log_checkpoints WHERE size > ${size - 2}`.execute(db);
  await grow();
  expect(await submitNewest(context)).toBe(true);
  expect(await states()).toBeNull();
});

test('a restore goes on under another name unless enough witnesses still accept the newest checkpoint', async () => {
  const { db, clock } = context;
  await submitNewest(context);
  expect(await askWitnesses(context)).toBe('accepted');
  const stranger = env.use(await openWitness('w4.example'));
  expect(await askWitnesses(await env.replica({ WITNESSES: stranger.setting }))).toBe('away');
  expect(stranger.seen).toEqual([]);
  expect(await askWitnesses(await env.replica({ WITNESSES: '' }))).toBe('none');
  const [first] = witnesses;
  if (first) first.status = 422;
  expect(await askWitnesses(context)).toBe('refused');
  for (const witness of witnesses) witness.status = 503;
  const size = await readSize(db);
  const { log } = await recordRestore(context, clock.now());
  expect(log).toEqual({ origin: expect.stringMatching(/\/log\/\d{14}$/), leaves: size, verdict: 'away' });
  expect(describeRestoredLog(log)).toBe(
    `the log goes on with its ${size} leaves as ${log.origin}, another name than before; too few witnesses answered: nobody said whether the backup lacks leaves`,
  );
  const { detail } = await db.selectFrom('audit').select('detail').orderBy('seq', 'desc').executeTakeFirstOrThrow();
  expect(JSON.parse(detail ?? '')).toMatchObject({ log });
  // nothing is lost, and those that come back countersign it
  for (const witness of witnesses) witness.status = undefined;
  await grow();
  expect(await submitNewest(context)).toBe(true);
  expect(await proveLeaf(context, { kind: 'seal', ref: 1 })).toContain(`\n${log.origin}\n`);
});
