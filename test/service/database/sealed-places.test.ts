import { createDecipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Request, Response } from 'express';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropOldNightly } from '../../../jobs/drop-old.ts';
import { up } from '../../../migrations/0110-add-heartbeat-version.ts';
import { readArchive } from '../../../src/archive/archive-files.ts';
import type { Context } from '../../../src/context.ts';
import { hashDocument } from '../../../src/database/keys/index-person.ts';
import { placeOf, SEALED_COLUMNS } from '../../../src/database/keys/sealed-columns.ts';
import { encryptForStorage } from '../../../src/database/keys/settings.ts';
import { createVault } from '../../../src/database/keys/vault.ts';
import { transact } from '../../../src/database/transact.ts';
import { setLoginAttempt, takeLoginAttempt } from '../../../src/http/console/access/login-attempt.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { readCredentials } from '../../../src/merchants/secrets.ts';
import { recordHeartbeat } from '../../../src/runtime/heartbeat.ts';
import { readProcesses } from '../../../src/runtime/read-processes.ts';
import { readSigningKeys } from '../../../src/tlog/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { findSealedColumns, readSealed } from '../../support/read-sealed.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { writeArchive } from '../../support/write-archive.ts';

const DOCUMENTS = ['52998224725', '11144477735'];

const stack = new AsyncDisposableStack();
let env: TestEnvironment;
let merchants: number[];

beforeAll(async () => {
  env = stack.use(await openEnvironment());
  merchants = await fill(env);
});
afterAll(() => stack.disposeAsync());

/** Stores at least two values in each column that holds sealed ones, in turn. @returns the merchants' row numbers. */
async function fill({ context, env: variables }: TestEnvironment): Promise<number[]> {
  for (const name of ['a', 'b'])
    await createMerchant(context, { name, url: `https://${name}.example/pix`, headers: { 'x-key': `key of ${name}` } });
  await readSigningKeys(context);
  expect((await runCommandInProcess(['manifests', 'rotate-key'], variables)).code).toBe(0);
  for (const document of DOCUMENTS) await rememberPerson(context, document);
  const create = ['tokens', 'create', '--role', 'viewer', '--idempotency-key', 'a key'];
  expect((await runCommandInProcess(create, variables)).code).toBe(0);
  const rows = await context.db.selectFrom('merchants').select('seq').orderBy('seq').execute();
  return rows.map(({ seq }) => seq);
}

/** As `confere forget` does before it has finished. */
async function rememberPerson(context: Context, document: string): Promise<void> {
  const row = { document_hash: hashDocument(context.keys, document), forgotten_at: new Date() };
  await transact(context.db, async (trx) => {
    const place = placeOf('forgotten_people', row);
    const sealed_values = await encryptForStorage(trx, context.vault, Buffer.from('{}'), place);
    await trx
      .insertInto('forgotten_people')
      .values({ ...row, sealed_values })
      .execute();
  });
}

const columns = () => SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort();

describe('a sealed value', () => {
  it("opens in its own row, and in no other row or column; in the next row of its merchant's neither", async () => {
    const values = await readSealed(env.context);
    for (const column of columns())
      expect(values.filter((one) => one.column === column).length, column).toBeGreaterThan(1);
    for (const { sealed, place, column } of values) {
      expect(env.context.vault.decrypt(sealed, place), column).toBeInstanceOf(Buffer);
      for (const other of values) {
        if (other.place === place) continue;
        expect(() => env.context.vault.decrypt(sealed, other.place), `${column} in ${other.column}`).toThrow(
          'was sealed in another row',
        );
      }
    }
  });

  it('is in a listed column: no other column of any table holds one', async () => {
    expect(await findSealedColumns(env.context)).toEqual(columns());
  });

  it('of one merchant does not sign for another, nor does a header', async () => {
    const { context } = env;
    const [own = 0, other = 0] = merchants;
    const pick = async (seq: number, isHeader: boolean) =>
      await context.db
        .selectFrom('merchant_secrets')
        .selectAll()
        .where('merchant_seq', '=', seq)
        .where('header', isHeader ? 'is not' : 'is', null)
        .executeTakeFirstOrThrow();
    const signs = await pick(own, false);
    for (const from of [await pick(other, false), await pick(own, true)]) {
      const put = (ciphertext: Buffer) =>
        context.db.updateTable('merchant_secrets').set({ ciphertext }).where('seq', '=', signs.seq).execute();
      await put(from.ciphertext);
      await expect(readCredentials(context, context.db, [own])).rejects.toThrow('merchant_secrets.ciphertext');
      await put(signs.ciphertext);
    }
    expect((await readCredentials(context, context.db, [own])).get(own)?.keys).toHaveLength(1);
  });

  it('of another purpose is no attempt to log in', async () => {
    const { context } = env;
    let cookie = '';
    const response = {
      cookie: (name: string, value: string) => {
        cookie = `${name}=${value}`;
      },
      clearCookie: () => undefined,
    } as unknown as Response;
    const take = (text: string) =>
      takeLoginAttempt(context, { headers: { cookie: text } } as unknown as Request, response);
    setLoginAttempt(context, response, { state: 's', nonce: 'n', verifier: 'v', next: '/' });
    const attempt = take(cookie);
    expect(attempt).toMatchObject({ state: 's', verifier: 'v' });
    const place = placeOf('idempotency_results', { key_hash: Buffer.alloc(32), number: 0 });
    const sealed = context.vault.encrypt(Buffer.from(JSON.stringify(attempt)), place).toString('base64url');
    expect(take(cookie.replace(/=.*/, `=${sealed}`))).toBeUndefined();
  });

  it('of the archive opens under the name of its file alone', async () => {
    const { keys } = env.context;
    const [name, other] = ['2025-10/000000000001-00000001.bodies', '2025-10/000000000002-00000002.bodies'];
    writeArchive(keys, env.dataDir, name, [{ seq: 1 }]);
    writeArchive(keys, env.dataDir, other, [{ seq: 2 }]);
    expect(await readArchive(keys, env.dataDir, name)).toEqual([{ seq: 1 }]);
    const { rename } = await import('node:fs/promises');
    await rename(path.join(env.dataDir, other), path.join(env.dataDir, name));
    await expect(readArchive(keys, env.dataDir, name)).rejects.toThrow('cannot be read');
  });

  it('of an earlier version opens, also one that lacks the id of its key', () => {
    const secretKey = Buffer.alloc(32, 7);
    const place = { purpose: 'merchant_secrets.ciphertext', row: [1] };
    const sealed = createVault(secretKey, () => false).encrypt(Buffer.from('secret'), place);
    expect(createVault(secretKey).decrypt(sealed, place).toString()).toBe('secret');
    expect(createVault(secretKey).decrypt(sealed.subarray(9), place).toString()).toBe('secret');
  });
});

describe('while a process of an earlier version may run', () => {
  const beat = (context: Context, hoursAgo: number) =>
    sql`INSERT INTO heartbeats (part, holder, host, seen_at)
      VALUES ('inbox', '1.old', 'h', UTC_TIMESTAMP(3) - INTERVAL ${sql.lit(hoursAgo)} HOUR)
      ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at)`.execute(context.db);

  /** As 0.1.0 opens a value. */
  function openAsBefore(secretKey: Buffer, sealed: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', secretKey, sealed.subarray(9, 21));
    decipher.setAuthTag(sealed.subarray(21, 37));
    return Buffer.concat([decipher.update(sealed.subarray(37)), decipher.final()]);
  }

  it('seals as that version does, until a day after its last heartbeat; the next night binds what was sealed so', async () => {
    await using own = await openEnvironment();
    const secretKey = Buffer.from(own.env.SECRET_KEY ?? '', 'base64');
    await recordHeartbeat(own.context, 'inbox');
    await beat(own.context, 23);
    const replica = await own.replica();
    const seqs = await fill({ ...own, context: replica });
    const before = (await readSealed(replica)).filter(({ column }) => column !== 'settings.value');
    expect(before.map(({ isPlaced }) => isPlaced)).toEqual(before.map(() => false));
    for (const { sealed } of before) expect(openAsBefore(secretKey, sealed)).toBeInstanceOf(Buffer);
    // the archive's too
    const name = '2025-10/000000000001-00000001.bodies';
    writeArchive(replica.keys, own.dataDir, name, [{ seq: 1 }]);
    expect(readFileSync(path.join(own.dataDir, name))[0]).toBe(1);
    // nothing is bound while it may run
    await dropOldNightly(replica);
    expect((await readSealed(replica)).filter(({ isPlaced }) => isPlaced).map(({ column }) => column)).toEqual(
      new Array(3).fill('settings.value'),
    );
    const opened = await readCredentials(replica, replica.db, seqs);

    await beat(own.context, 25);
    expect(replica.vault.binds()).toBe(false);
    await own.timers.advance(60_000);
    await eventually(() => Promise.resolve(replica.vault.binds()));
    await createMerchant(replica, { name: 'c', url: 'https://c.example/pix' });
    expect((await readSealed(replica)).filter(({ isPlaced }) => isPlaced)).toHaveLength(4);

    await dropOldNightly(replica);
    const after = await readSealed(replica);
    expect(after.length).toBe(before.length + 4);
    expect(after.map(({ isPlaced }) => isPlaced)).toEqual(after.map(() => true));
    for (const { sealed, place } of after) expect(replica.vault.decrypt(sealed, place)).toBeInstanceOf(Buffer);
    expect(await readCredentials(replica, replica.db, seqs)).toEqual(opened);
    expect(await readArchive(replica.keys, own.dataDir, name)).toEqual([{ seq: 1 }]);
    // a heartbeat that comes late changes nothing: an earlier version cannot start again
    await beat(own.context, 0);
    await own.timers.advance(60_000);
    expect(replica.vault.binds()).toBe(true);
  });

  it('has the migration stand for processes without heartbeats, where the database is in use', async () => {
    await using own = await openEnvironment();
    const { db } = own.context;
    expect(own.context.vault.binds()).toBe(true);
    await up(db as never);
    await up(db as never);
    const replica = await own.replica();
    expect(replica.vault.binds()).toBe(false);
    expect(await readProcesses(db, new Date(0))).toEqual([]);
    await db.deleteFrom('heartbeats').execute();
    await sql`DELETE FROM settings WHERE name = 'secret_key_check'`.execute(db);
    await up(db as never);
    expect(await db.selectFrom('heartbeats').selectAll().execute()).toEqual([]);
  });

  it('goes on where a value does not open: the others are bound', async () => {
    await using own = await openEnvironment();
    const { context } = own;
    await fill(own);
    await context.db
      .updateTable('merchant_secrets')
      .set({ ciphertext: Buffer.from('damaged') })
      .where('seq', '=', 1)
      .execute();
    const { sealed, place } = (await readSealed(context)).find(
      ({ column }) => column === 'manifest_keys.ciphertext',
    ) ?? {
      sealed: Buffer.alloc(0),
      place: { purpose: '', row: [] },
    };
    const earlier = createVault(Buffer.from(own.env.SECRET_KEY ?? '', 'base64'), () => false);
    const ciphertext = earlier.encrypt(context.vault.decrypt(sealed, place), place);
    await context.db.updateTable('manifest_keys').set({ ciphertext }).where('ciphertext', '=', sealed).execute();
    await dropOldNightly(context);
    const after = await readSealed(context);
    expect(after.filter(({ isPlaced }) => !isPlaced).map(({ column }) => column)).toEqual([
      'merchant_secrets.ciphertext',
    ]);
  });
});
