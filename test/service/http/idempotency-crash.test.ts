import { type Kysely, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/tables.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import {
  ADMIN_TOKEN,
  SECRET_KEY,
  type Served,
  startServe,
  temporaryDirectory,
  urlOf,
} from '../../support/start-serve.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const BODY = { name: 'shop', url: 'http://127.0.0.1:9/' };

/** Locks a row of the settings until it is released. */
async function lockSetting(db: Kysely<Database>, name: string) {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = db.transaction().execute(async (trx) => {
    await trx.selectFrom('settings').select('value').where('name', '=', name).forUpdate().execute();
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  return async () => {
    released.resolve();
    await done;
  };
}

test('a process that is killed before or after the commit leaves the change with its key, or neither', async () => {
  using home = temporaryDirectory();
  const database = await createTestDatabase();
  await using env = await openEnvironment({ SECRET_KEY }, database);
  const { db } = env.context;
  const start = () => startServe({ home: home.path, databaseUrl: urlOf(database), providerUrl: 'http://127.0.0.1:9' });
  const send = async ({ url }: Served) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': 'crash' };
    const response = await fetch(`${url}/api/v1/merchants`, { method: 'POST', headers, body: JSON.stringify(BODY) });
    const { status } = response;
    return {
      status,
      replayed: response.headers.get('idempotency-replayed'),
      json: (await response.json()) as { secret: string },
    };
  };
  const count = async () => ({
    keys: (await db.selectFrom('idempotency_keys').select('key_hash').execute()).length,
    merchants: (await db.selectFrom('merchants').select('seq').execute()).length,
  });
  /** Kills the process while its request waits for a lock of the test. */
  const killAt = async (served: Served, setting: string): Promise<void> => {
    const release = await lockSetting(db, setting);
    const asked = send(served).catch(() => 'gone');
    await waitForLockWaits(env.context);
    await served.kill();
    expect(await asked).toBe('gone');
    await release();
  };

  // in the change: the secret's encryption waits for this row
  {
    await using served = await start();
    await killAt(served, 'secret_key_check');
  }
  expect(await count()).toEqual({ keys: 0, merchants: 0 });

  // after the commit of the change, where the answer is kept
  await db
    .insertInto('settings')
    .values({ name: 'test_gate', value: Buffer.from('') })
    .execute();
  await sql`CREATE TRIGGER hold_answer BEFORE INSERT ON idempotency_results FOR EACH ROW
    IF NEW.number = 0 THEN UPDATE settings SET value = 'x' WHERE name = 'test_gate'; END IF`.execute(db);
  {
    await using served = await start();
    await killAt(served, 'test_gate');
  }
  expect(await count()).toEqual({ keys: 1, merchants: 1 });

  await using served = await start();
  const again = await send(served);
  expect(again).toMatchObject({ status: 201, replayed: 'true', json: { secret: expect.stringMatching(/^whsec_/) } });
  expect(await send(served)).toEqual(again);
  expect(await count()).toEqual({ keys: 1, merchants: 1 });
  const listed = await served.api.call<{ merchants: { id: string }[] }>('GET', '/merchants');
  expect(listed.merchants).toMatchObject([{ id: (again.json as unknown as { id: string }).id }]);
}, 120_000);
