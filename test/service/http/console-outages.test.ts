/** The console while something is wrong: a backlog of callbacks, a process that is gone, a restored database. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { confirmRestore } from '../../../src/backup/confirm-restore.ts';
import { recordRestore } from '../../../src/backup/record-restore.ts';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { recordHeartbeat } from '../../../src/runtime/heartbeat.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { startSide } from '../../support/start-side.ts';

const BACKLOG = 60_000;

const env = closeAfterAll(await openConsoleEnvironment());

const ops = await openConsoleSession(env, 'operator');

/** The line of the processes that are gone. */
async function readLost(): Promise<string | undefined> {
  const { html } = await ops.get('/');
  const line = [...html.matchAll(/<p class="strip">(.*?)<\/p>/gs)].find(([, one]) => one?.includes('/system'));
  return line?.[1]?.replaceAll(/<[^>]+>/g, '');
}

test('a process that was killed stands on the first page within a minute, until another one starts in its place', async () => {
  const start = async (...parts: Parameters<typeof recordHeartbeat>[1][]): Promise<Context> => {
    const context = await env.replica();
    for (const part of parts) await recordHeartbeat(context, part);
    return context;
  };
  const webs = [await start('database'), await start('database')] as const;
  const worker = await start('database', 'inbox');
  expect(await readLost()).toBeUndefined();
  await env.timers.advance(46_000);
  await recordHeartbeat(webs[0], 'database');
  await recordHeartbeat(worker, 'database');
  expect(await readLost()).toMatch(new RegExp(`^1 processo em silêncio: \\S+ ${webs[1].holder} \\(há 4\\d s\\)\\.$`));
  const { text } = await ops.get('/system');
  expect(text).toMatch(new RegExp(`${webs[1].holder} \\S+ Calado`));

  await start('database', 'inbox');
  expect(await readLost(), 'a worker is no web process').toContain(webs[1].holder);
  await start('database');
  expect(await readLost()).toBeUndefined();

  await env.timers.advance(3_600_000);
  expect(await readLost(), 'nobody started them again for an hour: they were taken away').toBeUndefined();
});

test('a process that stops by itself is none that is gone', async () => {
  const side = await startSide(env, 'web');
  const { holder } = side.context;
  const read = async () => (await ops.get('/system')).text;
  await eventually('it is alive', async () => (await read()).includes(holder));
  await side.stop();
  expect(await read()).toMatch(new RegExp(`${holder} \\S+ Encerrado`));
  await env.timers.advance(60_000);
  expect((await readLost()) ?? '').not.toContain(holder);
});

test('a backlog of callbacks is counted up to a limit, and the pages that show it answer', async () => {
  const { db } = env.context;
  const { seq } = await db.selectFrom('merchants').select('seq').orderBy('seq').limit(1).executeTakeFirstOrThrow();
  const digits = [...'0123456789'].map((digit) => `SELECT ${digit} d`).join(' UNION ALL ');
  const place = (name: string, ten: number): string => `${ten} * ${name}.d`;
  const number = [...'abcef'].map((name, index) => place(name, 10 ** index)).join(' + ');
  const numbers = `SELECT ${number} AS n FROM ${[...'abcef'].map((name) => `(${digits}) ${name}`).join()}`;
  for (const [state, source] of [
    ['held', 'webhook'],
    ['failed', 'webhook'],
    ['failed', 'test'],
  ])
    await sql
      .raw(`INSERT INTO callbacks (webhook_id, merchant_seq, type, source, state, created_at)
        SELECT CONCAT('${state}-${source}-', n), ${seq}, 'pix.cashin.paid', '${source}', '${state}', UTC_TIMESTAMP(3)
        FROM (${numbers}) numbers WHERE n < ${source === 'test' ? 5 : BACKLOG}`)
      .execute(db);
  for (const address of ['/', '/merchants']) {
    const { status, text } = await ops.get(address);
    expect(status, address).toBe(200);
    expect(text.match(/mais de \d+\.\d{3}/g)?.length, address).toBeGreaterThanOrEqual(2);
  }
  expect((await ops.get('/')).text).toMatch(/mais de \d+\.\d{3} callbacks falharam de vez/);

  // with fewer, each is counted, and failed tests are not
  await sql`DELETE FROM callbacks WHERE merchant_seq = ${seq} AND source = 'webhook' AND webhook_id NOT LIKE '%9999'`.execute(
    db,
  );
  const { text } = await ops.get('/');
  expect(text).toMatch(/ 6 callbacks falharam de vez/);
  expect(text).not.toContain('mais de');
});

test('a part that the database is too slow for is said to be missing, and the verdict and the others are shown', async () => {
  await env.context.db.connection().execute(async (db) => {
    await sql`LOCK TABLES postings WRITE`.execute(db);
    try {
      const page = await ops.get('/');
      expect(page.status).toBe(200);
      expect(page.text).toContain('O banco de dados demorou demais para ler esta parte');
      expect(page.text).toContain('Divergências em aberto por tipo');
    } finally {
      await sql`UNLOCK TABLES`.execute(db);
    }
  });
  expect((await ops.get('/')).text).not.toContain('demorou demais');
});

test('a restored database says so on each page, and shows no alert of before as of now, until it is confirmed', async () => {
  const { context } = env;
  const raise = (scope: string) =>
    transact(context.db, (trx) =>
      raiseAlerts(trx, [{ name: 'worker_dead', severity: 'critical', scope, summary: scope }], context.clock.now()),
    );
  await context.db.updateTable('alerts').set({ firing_scope: null, ended_at: context.clock.now() }).execute();
  await raise('old machine');
  await env.timers.advance(1_000);
  await recordRestore(context, new Date(context.clock.now().getTime() - 3_600_000));
  const notice = /Banco de dados restaurado, e ainda não confirmado\./;
  for (const address of ['/', '/transactions', '/alerts', '/balances', '/reports', '/system', '/transactions/none'])
    expect((await ops.get(address)).text, address).toMatch(notice);
  const before = await ops.get('/');
  expect(before.text).toContain('1 alerta é de antes da restauração, e nada diz que ainda vale.');
  expect(before.html).not.toContain('<a href="/alerts"><b>');
  expect((await ops.get('/alerts')).text).toContain('De antes da restauração');

  await raise('this machine');
  const both = await ops.get('/');
  expect(both.text).toContain('1 alerta ativo');
  expect((await ops.get('/alerts')).html.match(/De antes da restauração/g)).toHaveLength(1);

  await confirmRestore(context);
  const after = await ops.get('/');
  expect(after.text).not.toMatch(notice);
  expect(after.text).toContain('2 alertas ativos');
  expect(after.text).not.toContain('antes da restauração');
});
