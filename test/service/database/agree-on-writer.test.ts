import { expect, test } from 'vitest';
import type { HostChoice } from '../../../embedded/fail-over.ts';
import type { Context } from '../../../src/context.ts';
import {
  agreeOnWriter,
  CHANGE_WRITER_EVERY_MS,
  READ_WRITER_EVERY_MS,
  readWriter,
} from '../../../src/database/open/agree-on-writer.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';

/** Names of hosts in the order in which a process uses them, and those of them that it can't reach. */
type View = { order: string[]; unreachable: Set<string> };

/** A process on the environment's database that sees hosts as `view` says. */
async function startProcess(environment: TestEnvironment, view: View, mayName = true) {
  const { db, clock, timers, log } = environment.context;
  const choice: HostChoice = { agreed: undefined };
  const hostInUse = () => {
    const known = view.order.filter((name) => !view.unreachable.has(name));
    return known.find((name) => name === choice.agreed) ?? known[0];
  };
  const canUse = async (name: string) => view.order.includes(name) && !view.unreachable.has(name);
  const hosts = { hostInUse, canUse };
  const agreement = await agreeOnWriter({ db, hosts, choice, clock, timers, log, mayName });
  environment.use({ [Symbol.asyncDispose]: async () => agreement[Symbol.dispose]() });
  return hostInUse;
}

const view = (...order: string[]): View => ({ order, unreachable: new Set() });

/** Lets every process read the name once. */
const read = ({ timers }: TestEnvironment) => timers.advance(READ_WRITER_EVERY_MS);

test('processes that see different hosts agree on one that all of them reach, and stay on it', async () => {
  await using environment = await openEnvironment();
  const [one, other, reader] = [view('a', 'b'), view('b', 'a'), view('b', 'a')];
  const uses = [await startProcess(environment, one), await startProcess(environment, other)];
  const readOnly = await startProcess(environment, reader, false);
  expect([...uses, readOnly].map((use) => use())).toEqual(['a', 'a', 'a']);
  // the first process alone loses its way to a
  await environment.timers.advance(CHANGE_WRITER_EVERY_MS);
  one.unreachable.add('a');
  reader.unreachable.add('b');
  await eventually('all that can use b', async () => {
    await read(environment);
    return uses.every((use) => use() === 'b');
  });
  // a reader never names a writer, though it reaches a alone
  await environment.timers.advance(CHANGE_WRITER_EVERY_MS);
  await read(environment);
  expect([readOnly(), (await readWriter(environment.context.db))?.host]).toEqual(['a', 'b']);
  // a is back, and first in the order of the first process
  one.unreachable.clear();
  await read(environment);
  expect(uses.map((use) => use())).toEqual(['b', 'b']);
});

test('two processes that reach no common host keep to theirs, and change the name once in 15 s', async () => {
  await using environment = await openEnvironment();
  const { timers } = environment;
  const { db } = environment.context;
  timers.freeze();
  const one = await startProcess(environment, { order: ['a', 'b'], unreachable: new Set('b') });
  const other = await startProcess(environment, { order: ['a', 'b'], unreachable: new Set('a') });
  const first = await readWriter(db);
  for (let passedMs = 0; passedMs + READ_WRITER_EVERY_MS < CHANGE_WRITER_EVERY_MS; passedMs += READ_WRITER_EVERY_MS)
    await read(environment);
  expect([first?.host, await readWriter(db)]).toEqual(['a', first]);
  await eventually('the change', async () => {
    await timers.advance(READ_WRITER_EVERY_MS);
    return (await readWriter(db))?.host === 'b';
  });
  expect([one(), other()]).toEqual(['a', 'b']);
});

const writerOf = async ({ db }: Context) => (await readWriter(db))?.host;

test('two processes with opposite orders of hosts write to one, and to the next when it refuses', async () => {
  const { socketPath, database } = await createTestDatabase();
  const ways = [await openTcpProxy(socketPath), await openTcpProxy(socketPath)] as const;
  using _first = ways[0];
  using _second = ways[1];
  const [a, b] = ways.map((way) => `127.0.0.1:${way.port}`);
  await using environment = await openEnvironment({ DATABASE_URL: `mysql://root@${a}/${database}?hosts=${b}` });
  const other = await environment.replica({ DATABASE_URL: `mysql://root@${b}/${database}?hosts=${a}` });
  const contexts = [environment.context, other];
  expect(await Promise.all(contexts.map(writerOf))).toEqual([a, a]);
  const taken = ways[1].taken();
  await Promise.all([1, 2, 3].map(() => writerOf(other)));
  expect(ways[1].taken()).toBe(taken);
  await environment.timers.advance(CHANGE_WRITER_EVERY_MS);
  ways[0].become('not ready');
  await eventually('b is the writer', async () => {
    await environment.timers.advance(READ_WRITER_EVERY_MS);
    // a statement that is refused leads to the next host
    return (await writerOf(other).catch(() => undefined)) === b;
  });
  ways[0].become('well');
  // a check of the former writer may be on its way
  await read(environment);
  await read(environment);
  const before = ways[0].taken();
  await environment.timers.advance(CHANGE_WRITER_EVERY_MS);
  expect(await Promise.all(contexts.map(writerOf))).toEqual([b, b]);
  expect(ways[0].taken()).toBe(before);
});
