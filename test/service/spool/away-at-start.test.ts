import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import type { Database } from '../../../src/database/tables.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { API_KEY, startServe, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

describe('with a database that is away when it starts', () => {
  it('takes webhooks to the spool on the same port, and goes on once the database is there', async () => {
    using home = temporaryDirectory();
    await using provider = await new TestProvider(API_KEY).listen();
    const database = await createTestDatabase();
    const socketPath = path.join(home.path, 'late.sock');
    const env = { SPOOL_DIR: path.join(home.path, 'spool') };
    const databaseUrl = urlOf({ ...database, socketPath });
    await using late = await startServe({
      home: home.path,
      databaseUrl,
      providerUrl: provider.url,
      env,
      withoutDatabase: true,
    });
    const ready = async () => (await fetch(`${late.url}/readyz`)).json();
    expect(await ready()).toEqual({ ready: true, degraded: true });
    expect((await fetch(`${late.url}/api/v1/transactions`)).status).toBe(503);
    const bodies = Array.from({ length: 20 }, (_, n) => ({ transaction_id: randomUUID(), status: 'paid', n }));
    const answers = [];
    for (const body of bodies) answers.push(await late.webhook(body));
    expect(await late.webhook(bodies[0])).toMatchObject({ status: 200, json: { duplicate: true } });
    expect(await late.webhook('no json')).toMatchObject({ status: 400 });
    expect(await late.webhook(bodies[1], { authorization: 'Bearer no' })).toMatchObject({ status: 401 });

    symlinkSync(database.socketPath, socketPath);
    // webhooks that arrive while one app takes over from the other are stored too
    await eventually(async () => {
      answers.push(await late.webhook({ transaction_id: randomUUID(), status: 'paid' }));
      return !('degraded' in ((await ready()) as object));
    });
    expect([...new Set(answers.map((answer) => answer.status))]).toEqual([200]);
    const ids = answers.map((answer) => String(answer.json.id));
    const found = await eventually(async () => {
      const { webhooks } = await late.api.call<{ webhooks: { id: string; repeats: number; state: string }[] }>(
        'GET',
        '/webhooks?limit=200',
      );
      return ids.every((id) => webhooks.some((webhook) => webhook.id === id)) && webhooks;
    });
    expect(found.filter((webhook) => webhook.repeats === 1).map((webhook) => webhook.id)).toEqual([ids[0]]);
    expect(found.length).toBe(ids.length + 1);
    await late.kill();
  });

  it('takes webhooks to the spool while the tables are migrated, and drains them afterwards', async () => {
    using home = temporaryDirectory();
    const database = await createTestDatabase();
    const databaseUrl = urlOf(database);
    const providerUrl = 'http://127.0.0.1:1';
    await using opened = openDatabase<Database>(database);
    // as if another process were in the middle of one, which may run again
    await sql`DELETE FROM migrations ORDER BY name LIMIT 1`.execute(opened.db);
    const hold = (held: boolean) =>
      sql`UPDATE migration_lock SET holder = ${held ? 'another' : null}, held_until = '2100-01-01'`.execute(opened.db);
    await hold(true);
    const env = { SPOOL_DIR: path.join(home.path, 'spool') };
    await using late = await startServe({ home: home.path, databaseUrl, providerUrl, env, withoutDatabase: true });
    const answer = await late.webhook({ transaction_id: randomUUID(), status: 'paid' });
    expect(answer.status).toBe(200);
    expect(readdirSync(env.SPOOL_DIR)).toHaveLength(1);
    const headers = { expect: '100-continue', 'content-length': '10' };
    const asking = http.request(`${late.url}/api/v1/tokens`, { method: 'POST', headers });
    asking.flushHeaders();
    const [refused] = (await once(asking, 'response')) as [http.IncomingMessage];
    expect([refused.statusCode, refused.headers.connection]).toEqual([503, 'close']);
    asking.destroy();
    await hold(false);
    const kept = () => late.api.call<{ webhooks: { id: string }[] }>('GET', '/webhooks').catch(() => undefined);
    await eventually(async () => (await kept())?.webhooks.some(({ id }) => id === answer.json.id));
    await late.kill();
  });

  it('ends by SIGTERM while it waits', async () => {
    using home = temporaryDirectory();
    const env = { SPOOL_DIR: path.join(home.path, 'spool') };
    const databaseUrl = urlOf({ database: 'none', socketPath: path.join(home.path, 'never.sock') });
    await using late = await startServe({
      home: home.path,
      databaseUrl,
      providerUrl: 'http://127.0.0.1:1',
      env,
      withoutDatabase: true,
    });
    const ended = new Promise<number | null>((resolve) => late.program.child.once('exit', resolve));
    late.program.child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
