import { hash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Context } from '../../../src/context.ts';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import type { Database } from '../../../src/database/tables.ts';
import { drainSpool } from '../../../src/inbox/receive/drain-spool.ts';
import { createReceiver, type Receiver } from '../../../src/inbox/receive/receive.ts';
import { writeArrivals } from '../../../src/inbox/receive/write-arrivals.ts';
import { writeSpooled } from '../../../src/inbox/receive/write-spooled.ts';
import { openSpool, type Spool } from '../../../src/inbox/spool/spool.ts';
import { decodeSegment } from '../../../src/inbox/spool/spool-format.ts';
import { describeError } from '../../../src/log.ts';
import { spoolCutOff, spoolKeptFiles } from '../../../src/metrics/metrics.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const environment = closeAfterAll(await openEnvironment());
const context = environment.context;

const body = (): Buffer => Buffer.from(JSON.stringify({ transaction_id: randomUUID(), status: 'paid' }));
/** More than its column takes: what stands for a row that the database refuses for what it holds. */
const OVERSIZED = { 'x-request-id': 'x'.repeat(70_000) };

async function countKept(ids: string[]): Promise<number> {
  const rows = await context.db.selectFrom('webhooks').select(['hash', 'repeats']).execute();
  const kept = rows.filter((row) => ids.includes(`wh_${row.hash.toString('hex').slice(0, 32)}`));
  expect(kept.map((row) => row.repeats)).toEqual(kept.map(() => 0));
  return kept.length;
}

const send = (receive: Receiver, headers: Record<string, string> = {}) =>
  receive({ body: body(), address: '127.0.0.1', headers });

/** Drains until what is asked holds. */
async function drainUntil(spool: Spool, holds: () => Promise<boolean>, log = context.log): Promise<void> {
  const stop = new AbortController();
  const drained = drainSpool({ ...context, log, signal: stop.signal }, spool);
  await eventually(holds);
  stop.abort();
  await drained;
}

/** The figures in `/metrics` about files that nobody drains. */
async function readKept(): Promise<Record<string, number>> {
  const { values } = await spoolKeptFiles.get();
  return Object.fromEntries(values.map((one) => [one.labels.kind, one.value]));
}

const readCutOff = async () => (await spoolCutOff.get()).values[0]?.value ?? 0;

/** A log, and its lines at error. */
function listen(): { errors: unknown[]; log: Context['log'] } {
  const errors: unknown[] = [];
  return { errors, log: Object.assign(Object.create(context.log), { error: (of: unknown) => errors.push(of) }) };
}

describe('a batch with rows that the database refuses', () => {
  it('keeps all the others, and fails these alone', async () => {
    const receive = createReceiver(context, undefined);
    const answers = await Promise.allSettled(
      Array.from({ length: 150 }, (_, n) => send(receive, n % 50 === 7 ? OVERSIZED : {})),
    );
    const kept = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []));
    expect(answers.flatMap((answer, n) => (answer.status === 'rejected' ? [n] : []))).toEqual([7, 57, 107]);
    expect(await countKept(kept)).toBe(147);
  });

  it('is drained from the spool, and what is refused for good is kept in a file', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    spool.isDatabaseDown = true;
    const receive = createReceiver(context, spool);
    const answers = await Promise.all([send(receive), send(receive, OVERSIZED), send(receive)]);
    const [first, refused, last] = answers.map((answer) => answer.id);
    await drainUntil(spool, async () => {
      const said = await context.db.selectFrom('spools').selectAll().executeTakeFirst();
      return said?.is_waiting === 0 && readdirSync(home.path).every((name) => name.endsWith('.refused'));
    });
    // one that ends empty is waited for no more
    expect(await context.db.selectFrom('spools').selectAll().execute()).toEqual([]);
    expect(await countKept([first ?? '', last ?? ''])).toBe(2);
    expect(await countKept([refused ?? ''])).toBe(0);
    const [file = ''] = readdirSync(home.path);
    expect(decodeSegment(readFileSync(path.join(home.path, file))).records).toHaveLength(1);
    expect(spool.isDatabaseDown).toBe(false);
  });

  it('is kept without those who were forgotten while it waited', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    spool.isDatabaseDown = true;
    const document = '12345678909';
    const body = Buffer.from(JSON.stringify({ document, name: 'Ana' }));
    await createReceiver(context, spool)({ body, address: '127.0.0.1', headers: OVERSIZED });
    await context.db
      .insertInto('forgotten_people')
      .values({ document_hash: hashDocument(context.keys, document), forgotten_at: new Date() })
      .execute();
    await drainUntil(spool, () => Promise.resolve(spool.isEmpty()));
    const [file = ''] = readdirSync(home.path);
    const [kept] = decodeSegment(readFileSync(path.join(home.path, file))).records;
    expect(kept?.body.toString()).toBe('{"document":"[removido]","name":"[removido]"}');
  });
});

describe('a commit whose answer is lost', () => {
  it('is no earlier arrival of the same bytes', async () => {
    const execute: Context['preparedStatements']['execute'] = async (...statement) => {
      await context.preparedStatements.execute(...statement);
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', fatal: true });
    };
    const receive = createReceiver(
      { ...context, preparedStatements: { ...context.preparedStatements, execute } },
      undefined,
    );
    const same = { body: body(), address: '127.0.0.1', headers: {} };
    const first = await receive(same);
    expect(first.duplicate).toBe(false);
    expect(await countKept([first.id])).toBe(1);
  });
});

describe('a segment with a changed byte', () => {
  it('is drained except for the damaged record, logged at error, and retained', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    spool.isDatabaseDown = true;
    const receive = createReceiver(context, spool);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await send(receive)).id);
    const [name = ''] = readdirSync(home.path);
    const bytes = readFileSync(path.join(home.path, name));
    const third = Math.floor(bytes.length / 3) + 20;
    bytes[third] = (bytes[third] ?? 0) ^ 1;
    writeFileSync(path.join(home.path, name), bytes);
    const { errors, log } = listen();
    await drainUntil(spool, async () => spool.isEmpty(), log);
    expect(await countKept(ids)).toBe(5);
    const retained = name.replace('.spool', '.torn');
    expect(readdirSync(home.path)).toEqual([retained]);
    expect(readFileSync(path.join(home.path, retained))).toEqual(bytes);
    expect(errors).toMatchObject([{ file: path.join(home.path, retained) }]);
    expect(await readKept()).toEqual({ torn: 1, refused: 0 });
  });
});

describe('what the spool keeps', () => {
  it('is counted while the file exists, by any process', async () => {
    using home = temporaryDirectory();
    for (const name of ['1.torn', '2.refused', '3.refused', '4.refused.redacted']) {
      writeFileSync(path.join(home.path, name), 'kept by a process that is gone');
    }
    await using spool = openSpool(home.path);
    await drainUntil(spool, async () => (await readKept()).torn === 1);
    expect(await readKept()).toEqual({ torn: 1, refused: 2 });
    for (const name of ['1.torn', '2.refused', '3.refused']) unlinkSync(path.join(home.path, name));
    await drainUntil(spool, async () => (await readKept()).torn === 0);
    expect(await readKept()).toEqual({ torn: 0, refused: 0 });
  });

  it('is not the record that a crash cut off: that one is counted, and all before it drained', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    spool.isDatabaseDown = true;
    const receive = createReceiver(context, spool);
    const ids = [(await send(receive)).id, (await send(receive)).id];
    const [name = ''] = readdirSync(home.path);
    const file = path.join(home.path, name);
    writeFileSync(file, readFileSync(file).subarray(0, -3));
    const before = await readCutOff();
    await drainUntil(spool, async () => spool.isEmpty() && !spool.isDatabaseDown);
    expect(await countKept(ids)).toBe(1);
    expect(await readCutOff()).toBe(before + 1);
    expect(readdirSync(home.path)).toEqual([]);
  });
});

describe('a database that answers, but takes nothing of the spool', () => {
  it('is logged at error', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    spool.isDatabaseDown = true;
    const { id } = await send(createReceiver(context, spool));
    const { errors, log } = listen();
    await sql`RENAME TABLE webhooks TO webhooks_aside`.execute(context.db);
    await drainUntil(spool, async () => errors.length > 0, log);
    expect(errors[0]).toMatchObject({ loop: 'spool' });
    expect(spool.isDatabaseDown).toBe(true);
    await sql`RENAME TABLE webhooks_aside TO webhooks`.execute(context.db);
    await drainUntil(spool, async () => spool.isEmpty());
    expect(await countKept([id])).toBe(1);
  });
});

describe('a database that is away', () => {
  it('is asked again and again, and the spool goes on in one file', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    // nothing listens there
    await using dead = openDatabase<Database>({ host: '127.0.0.1', port: 1, user: 'root' });
    spool.isDatabaseDown = true;
    const receive = createReceiver(context, spool);
    const ids: string[] = [];
    let asked = 0;
    const debug = () => asked++;
    const log: Context['log'] = Object.assign(Object.create(context.log), { debug });
    const stop = new AbortController();
    const drained = drainSpool({ ...context, db: dead.db, log, signal: stop.signal }, spool);
    for (let round = 1; round <= 3; round++) {
      ids.push((await send(receive)).id);
      const askedAgain = eventually(async () => asked >= round);
      await advanceUntilDone(environment, askedAgain);
    }
    stop.abort();
    await drained;
    expect(readdirSync(home.path)).toHaveLength(1);
    await drainUntil(spool, async () => spool.isEmpty() && !spool.isDatabaseDown);
    expect(await countKept(ids)).toBe(3);
  });
});

describe('a database that hangs', () => {
  it('is given up after a while, for all that wait at once; what went to the spool is kept once', async () => {
    using home = temporaryDirectory();
    await using spool = openSpool(home.path);
    let asked = 0;
    const execute: Context['preparedStatements']['execute'] = (...statement) => {
      asked++;
      return context.preparedStatements.execute(...statement);
    };
    const receive = createReceiver(
      { ...context, preparedStatements: { ...context.preparedStatements, execute } },
      spool,
    );
    await send(receive);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const locked = Promise.withResolvers<void>();
    const locking = context.db.connection().execute(async (connection) => {
      await sql`LOCK TABLES webhooks WRITE`.execute(connection);
      locked.resolve();
      await held;
      await sql`UNLOCK TABLES`.execute(connection);
    });
    await locked.promise;
    const first = await Promise.all(Array.from({ length: 200 }, () => send(receive)));
    expect(spool.isDatabaseDown).toBe(true);
    const before = asked;
    const second = await Promise.all(Array.from({ length: 50 }, () => send(receive)));
    // none of them waited for the database again
    expect(asked).toBe(before);
    release();
    await locking;
    const ids = [...first, ...second].map((answer) => answer.id);
    await drainUntil(spool, async () => !spool.isDatabaseDown && readdirSync(home.path).length === 0);
    expect(await countKept(ids)).toBe(250);
    await send(receive);
    expect(readdirSync(home.path)).toEqual([]);
  });
});

describe('a commit that is given up', () => {
  it('without a spool is refused, holds up no others, and does not come late', async () => {
    const receive = createReceiver(context, undefined);
    const known = { body: body(), address: '127.0.0.1', headers: {} };
    const { id } = await receive(known);
    const digest = hash('sha256', known.body, 'buffer');
    const repeatsOf = () =>
      context.db.selectFrom('webhooks').select('repeats').where('hash', '=', digest).executeTakeFirstOrThrow();
    const refused = await context.db.transaction().execute(async (trx) => {
      await trx.selectFrom('webhooks').select('seq').where('hash', '=', digest).forUpdate().execute();
      const stuck = Promise.allSettled([
        receive(known),
        receive(known),
        ...Array.from({ length: 20 }, () => send(receive)),
      ]);
      await new Promise((resolve) => setImmediate(resolve));
      const others = await Promise.all(Array.from({ length: 8 }, () => send(receive)));
      expect(await countKept(others.map((answer) => answer.id))).toBe(8);
      return await stuck;
    });
    const reasons = refused.map((answer) => answer.status === 'rejected' && describeError(answer.reason).message);
    for (const reason of reasons)
      expect(reason).toMatch(/^the commit of \d+ webhooks took longer than 3000 ms \(user root at .+\.sock\)$/);
    // it waits for the lock behind those that were given up
    expect(await receive(known)).toMatchObject({ id, duplicate: true });
    expect(await repeatsOf()).toEqual({ repeats: 1 });
  });

  it('takes nothing that the drain wrote meanwhile for an earlier arrival', async () => {
    const asked = Promise.withResolvers<void>();
    const drained = Promise.withResolvers<void>();
    const slow = context.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        asked.resolve();
        await drained.promise;
        return result;
      },
    });
    const [twice, once] = [body(), body()];
    const arrive = (one: Buffer, at: number) => ({
      ...{ body: one, hash: hash('sha256', one, 'buffer'), address: '127.0.0.1', headers: {}, defect: undefined },
      receivedAt: new Date(Date.UTC(2026, 9, 1, 12, 0, 0, at)),
    });
    const arrivals = [arrive(twice, 1), arrive(twice, 2), arrive(once, 3)];
    const givenUp = new AbortController();
    const late = writeArrivals({ ...context, db: slow }, arrivals, givenUp.signal);
    const failed = expect(late).rejects.toThrow('given up');
    await asked.promise;
    givenUp.abort(new Error('given up'));
    expect(await writeSpooled(context, arrivals)).toEqual([]);
    drained.resolve();
    await failed;
    const rows = await context.db
      .selectFrom('webhooks')
      .select('repeats')
      .where('hash', 'in', [arrive(twice, 1).hash, arrive(once, 3).hash])
      .orderBy('seq')
      .execute();
    expect(rows).toEqual([{ repeats: 1 }, { repeats: 0 }]);
  });
});
