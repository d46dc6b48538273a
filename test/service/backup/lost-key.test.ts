import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import mysql from 'mysql2/promise';
import { expect, test } from 'vitest';
import { indexParties } from '../../../src/privacy/index-parties.ts';
import { readSigningKeys } from '../../../src/tlog/keys.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const DOCUMENT = readFileSync(path.resolve(import.meta.dirname, '../../../docs/lost-key.md'), 'utf8');
const [, STATEMENTS = ''] = /```sql\n([\s\S]+?)```/.exec(DOCUMENT) ?? [];
const newKey = (): string => randomBytes(32).toString('base64');

test('a service that lost SECRET_KEY goes on with a new one, as docs/lost-key.md says', async () => {
  await using shop = await openMerchantServer();
  const target = await createTestDatabase();
  let merchantId: string;
  {
    await using before = await openCallbackEnvironment({ SECRET_KEY: newKey() }, target);
    ({ id: merchantId } = (await before.addMerchant(`${shop.url}/shop`)).merchant);
    await before.applyTransaction(['pending', 'paid'], { name: 'Maria' });
    await readSigningKeys(before.context);
  }
  const key = newKey();
  await expect(openCallbackEnvironment({ SECRET_KEY: key }, target)).rejects.toMatchObject({ code: 'config_invalid' });

  const connection = await mysql.createConnection({ ...target, multipleStatements: true });
  await connection.query(STATEMENTS);
  await connection.end();

  await using env = await openCallbackEnvironment({ SECRET_KEY: key }, target);
  await env.deliver();
  expect(await indexParties(env.context)).toBe(1);
  expect(await readSigningKeys(env.context), 'a new key for day manifests').toHaveLength(1);
  await env.applyTransaction(['paid']);
  await env.timers.advance(5_000);
  expect(shop.calls, 'no callback without a signature').toEqual([]);
  for (const command of ['rotate-secret', 'enable'])
    expect(await runCommandInProcess(['merchants', command, merchantId], env.env)).toMatchObject({ code: 0 });
  await env.advanceUntil('three callbacks', () => shop.acceptedCalls('/shop').length === 3);
  expect(shop.calls.map(({ headers }) => headers['webhook-signature'])).toEqual(
    shop.calls.map(() => expect.stringMatching(/^v1,\S{40,}$/)),
  );
});
