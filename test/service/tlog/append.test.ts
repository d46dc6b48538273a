/** The log's leaves and tree as the sealer writes them. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { transact } from '../../../src/database/transact.ts';
import { sealLedger, sealNow } from '../../../src/seal/seal-ledger.ts';
import { LEAVES_MAX, queueLeaf, writeSealLeaf } from '../../../src/tlog/append.ts';
import { hashLeaf, hashRange, pushLeaf, type Range, rootOf } from '../../../src/tlog/merkle.ts';
import { appendLeaves, findLeaf, openTree, readHashes, readRoot, readSize } from '../../../src/tlog/tree.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { dropTriggers } from '../../support/read-ledger-state.ts';

const context = closeAfterAll(await openTestContext());

const write = (target: string) => audit(context, { actor: 'command', action: 'test', target });
const leaves = () =>
  context.db
    .selectFrom('log_hashes')
    .select(['kind', 'ref', 'hash'])
    .where('level', '=', 0)
    .orderBy('position')
    .execute();

test('each seal is a leaf, and what waits is appended once, with a seal or without', async () => {
  const { db } = context;
  await write('a');
  await sealNow(context);
  await write('b');
  const { position, hash } = await sealNow(context);
  expect((await leaves()).map(({ kind, ref }) => `${kind} ${ref}`)).toEqual(['seal 1', 'seal 2']);
  expect((await leaves())[1]?.hash).toEqual(hashLeaf(writeSealLeaf({ position, hash })));
  const stop = new AbortController();
  const loop = sealLedger({ ...context, signal: stop.signal });
  try {
    await transact(db, (trx) => queueLeaf(trx, { kind: 'day', ref: 7, hash: hashLeaf('seven') }));
    await eventually('the leaf that waits', async () => (await readSize(db)) === 3);
  } finally {
    stop.abort();
    await loop;
  }
  expect(await findLeaf(db, { kind: 'day', ref: 7 })).toBe(2);
  expect(await db.selectFrom('log_queue').selectAll().execute()).toEqual([]);
  await expect(sql`DELETE FROM log_hashes`.execute(db)).rejects.toThrow('log_hashes is append-only');
});

test('a log that begins later begins with the newest seal before, and takes up the seals of an older process', async () => {
  const { db } = context;
  await dropTriggers(db);
  await sql`DELETE FROM log_hashes`.execute(db);
  await write('c');
  await sealNow(context);
  expect((await leaves()).map(({ ref }) => ref)).toEqual([2, 3]);
  for (const target of ['d', 'e']) {
    await write(target);
    await sealNow(context);
  }
  await sql`DELETE FROM log_hashes WHERE position >= 2`.execute(db);
  await write('f');
  await sealNow(context);
  expect((await leaves()).map(({ ref }) => ref)).toEqual([2, 3, 4, 5, 6]);
});

test('the sealer appends more leaves than one transaction takes by itself, of the queue and of seals', async () => {
  const { db } = context;
  const { position } = await sealNow(context);
  const many = Array.from({ length: 2 * LEAVES_MAX + 1 }, (_, index) => index + 1);
  const waiting = many.map((ref) => ({ kind: 'day' as const, ref: 10_000 + ref, hash: hashLeaf(`${ref}`) }));
  await db
    .insertInto('log_queue')
    .values(waiting.slice(0, LEAVES_MAX + 1))
    .execute();
  const seal = await db.selectFrom('seals').selectAll().where('position', '=', position).executeTakeFirstOrThrow();
  // of a process that does not know the log
  await db
    .insertInto('seals')
    .values(many.map((number) => ({ ...seal, position: position + number })))
    .execute();
  const before = await readSize(db);
  const stop = new AbortController();
  const loop = sealLedger({ ...context, signal: stop.signal });
  try {
    await eventually('all leaves', async () => (await readSize(db)) === before + many.length + LEAVES_MAX + 1);
  } finally {
    stop.abort();
    await loop;
  }
  expect((await sealNow(context)).position).toBe(position + many.length);
  await db.deleteFrom('seals').where('position', '>', position).execute();
});

test('a tree that grows in parts of any size is the tree of its leaves', async () => {
  const { db } = context;
  const range: Range = { size: 0, nodes: [] };
  for (const hash of await readHashes(db, 0, 0, await readSize(db))) pushLeaf(range, hash);
  for (const count of [1, 249, 2, 260, 700, 1]) {
    const some = Array.from({ length: count }, (_, index) => {
      const ref = 1_000 + range.size + index;
      return { kind: 'month' as const, ref, hash: hashLeaf(`leaf ${ref}`) };
    });
    await transact(db, (trx) => appendLeaves(trx, some));
    for (const { hash } of some) pushLeaf(range, hash);
    expect(await readSize(db)).toBe(range.size);
    expect(await readRoot(db, range.size)).toEqual(rootOf(range));
  }
  // each smaller tree too, from its own tiles
  const node = await openTree(db, 512, [3]);
  expect(hashRange(0, 512, node)).toEqual(await readRoot(db, 512));
});
