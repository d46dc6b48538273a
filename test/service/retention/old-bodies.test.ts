import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { webhookIdOf } from '../../../src/domain/ids.ts';
import { readStoredBody } from '../../../src/inbox/manage/read-stored-body.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { loseCommit } from '../../support/failing-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const DAY_MS = 86_400_000;
const ADDRESS = '203.0.113.7';

const stack = new AsyncDisposableStack();
let environment: TestEnvironment;
let context: Context;

beforeAll(async () => {
  environment = stack.use(await openEnvironment());
  ({ context } = environment);
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  await context.db.deleteFrom('webhooks').execute();
});

async function addWebhook(body: string, days: number, state = 'applied'): Promise<number> {
  const bytes = Buffer.from(body);
  const hash = createHash('sha256').update(bytes).digest();
  const received = new Date(context.clock.now().getTime() - days * DAY_MS);
  const row = { hash, body: bytes, received_at: received, source_address: ADDRESS, headers: '{}', state };
  const { insertId } = await context.db.insertInto('webhooks').values(row).executeTakeFirstOrThrow();
  return Number(insertId);
}

const listBodies = async (): Promise<string[]> =>
  (await context.db.selectFrom('webhooks').select('body').orderBy('seq').execute()).map(({ body }) => body.toString());
const dropBodies = async (by = context, write = true): Promise<number | undefined> =>
  (await applyRetention(by, { write })).find(({ name }) => name === 'webhook_bodies')?.rows;

it('bodies older than RETAIN_BODIES are deleted; their rows and hashes stay, and the same bytes are a repeat', async () => {
  const seq = await addWebhook('{"id":1}', 402);
  await addWebhook('{"id":2}', 401, 'quarantined');
  await addWebhook('{"id":3}', 401);
  await addWebhook('{"id":4}', 399);
  const before = await listBodies();
  expect(await dropBodies(context, false)).toBe(2);
  expect(await listBodies()).toEqual(before);
  expect(await dropBodies()).toBe(2);
  expect(await listBodies()).toEqual(['', '{"id":2}', '', '{"id":4}']);
  expect(await dropBodies()).toBe(0);
  expect(await readStoredBody(context, seq)).toEqual({ body: undefined, sourceAddress: ADDRESS });

  const id = webhookIdOf(createHash('sha256').update('{"id":1}').digest());
  const shown = await runCommandInProcess(['webhooks', 'show', id, '--json'], environment.env);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(shown.out)).toMatchObject({ id, source_address: ADDRESS, body: null });
  const receive = createReceiver(context, undefined);
  expect(await receive({ body: Buffer.from('{"id":1}'), address: ADDRESS, headers: {} })).toMatchObject({
    id,
    duplicate: true,
  });
});

it('a run continues above the rows of the run before it, also of one whose answer to the commit was lost', async () => {
  for (let number = 0; number < 2_100; number++) await addWebhook(`{"many":${number}}`, 401);
  const young = await addWebhook('{"young":1}', 399);
  expect(await dropBodies(loseCommit(context, 'settings'))).toBe(2_100);
  await environment.timers.advance(2 * DAY_MS);
  expect(await dropBodies()).toBe(1);
  expect((await readStoredBody(context, young))?.body).toBeUndefined();
});

it('two processes at once delete each body, and off deletes none', async () => {
  for (let number = 0; number < 20; number++) await addWebhook(`{"both":${number}}`, 410);
  const off = await environment.replica({ RETAIN_BODIES: 'off' });
  expect(await dropBodies(off)).toBe(0);
  await Promise.all([dropBodies(), dropBodies(await environment.replica())]);
  expect(new Set(await listBodies())).toEqual(new Set(['']));
});
