import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { type FreeTextColumns, redactRows } from '../../../src/database/redact-rows.ts';
import { createRedact, type Redact } from '../../../src/domain/person/redact-text.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const DOCUMENT = '12345678909';
const ID = '0f0e0d0c-0000-4000-8000-000000000001';
const redact = createRedact({ documents: [DOCUMENT], ids: [ID], own: ['a@b.c'], shared: [] });
const env = closeAfterAll(await openEnvironment());
beforeAll(async () => {
  await sql`CREATE TABLE texts (seq INT AUTO_INCREMENT PRIMARY KEY, wide VARCHAR(40), narrow VARBINARY(8))`.execute(
    env.context.db,
  );
});

// a table of the test's own: the type lists ours alone
const place = { table: 'texts', key: 'seq', columns: ['wide', 'narrow'] } as unknown as FreeTextColumns;
const missed: string[] = [];
const run = (by: Redact = redact) =>
  redactRows(env.context.db, place, by, {
    write: true,
    now: env.context.clock.now(),
    signal: new AbortController().signal,
    onSkipped: (row) => missed.push(row),
  });
async function plant(wide: string, narrow: string | null = null): Promise<number> {
  const { insertId } = await sql`INSERT INTO texts (wide, narrow) VALUES (${wide}, ${narrow})`.execute(env.context.db);
  return Number(insertId);
}
async function read(at: number): Promise<[string, string | undefined]> {
  const { rows } = await sql<{ wide: string; narrow: Buffer | null }>`SELECT * FROM texts WHERE seq = ${at}`.execute(
    env.context.db,
  );
  return [rows[0]?.wide ?? '', rows[0]?.narrow?.toString()];
}

test('what stands for a value fits into its column, or the whole goes', async () => {
  const long = await plant('a@b.c '.repeat(6));
  const narrow = await plant(`veja ${DOCUMENT}`, 'a@b.c');
  expect(await run()).toBe(2);
  expect(await read(long)).toEqual(['[removido]', undefined]);
  expect(await read(narrow)).toEqual(['veja [removido]', '']);
  expect(await run()).toBe(0);
});

test('what was written meanwhile is not undone', async () => {
  const { db } = env.context;
  const at = await plant(`falei com ${DOCUMENT}`);
  const { promise: hasRead, resolve } = Promise.withResolvers<void>();
  const running = db.transaction().execute(async (trx) => {
    await sql`UPDATE texts SET wide = ${`resolvido, era ${DOCUMENT}`} WHERE seq = ${at}`.execute(trx);
    const done = run((text) => {
      resolve();
      return redact(text);
    });
    await hasRead;
    return { done };
  });
  await (await running).done;
  expect(await read(at)).toEqual(['resolvido, era [removido]', undefined]);
});

test('a row that cannot be parsed is reported, and the others are processed', async () => {
  const bad = await plant(`broken ${DOCUMENT}`);
  const good = await plant(`CPF ${DOCUMENT}`);
  await run((text) => {
    if (text.startsWith('broken')) throw new RangeError('Maximum call stack size exceeded');
    return redact(text);
  });
  expect(missed).toEqual([`texts ${bad}`]);
  expect(await read(good)).toEqual(['CPF [removido]', undefined]);
});

test('an audit target stays: an id alone reveals nothing of the person', async () => {
  const at = await plant(ID);
  const mention = await plant(`${ID} a@b.c`.slice(0, 40));
  await run();
  expect(await read(at)).toEqual([ID, undefined]);
  expect((await read(mention))[0]).toBe('[removido]');
});
