import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { ROTATION_MS, readLiveKeys, rotateSecret } from '../../../src/merchants/secrets.ts';
import { loseCommit } from '../../support/failing-database.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';

let world: CallbackEnvironment;
beforeAll(async () => {
  world = await openCallbackEnvironment();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

/** What signs for a merchant, newest first, as it was told. */
async function readLive(seq: number): Promise<string[]> {
  const keys = (await readLiveKeys(world.context, world.context.db, [seq])).get(seq) ?? [];
  return keys.map((key) => `whsec_${key.export().toString('base64')}`);
}

test('a rotation whose commit was answered to nobody is done once: what was known and what was told sign', async () => {
  const { merchant, secret: known } = await world.addMerchant('https://loja.example/pix');
  const { secret, oldUntil } = await rotateSecret(loseCommit(world.context, 'merchant_secrets'), merchant.id);
  expect(await readLive(merchant.seq)).toEqual([secret, known]);
  const rows = await world.context.db
    .selectFrom('merchant_secrets')
    .select(['created_at', 'expires_at'])
    .where('merchant_seq', '=', merchant.seq)
    .orderBy('seq')
    .execute();
  expect(rows.map((row) => row.expires_at)).toEqual([oldUntil, null]);
  expect(oldUntil.getTime() - (rows[1]?.created_at.getTime() ?? 0)).toBe(ROTATION_MS);
});

test('a merchant whose commit was answered to nobody is added once, and told the secret that signs', async () => {
  const input = { name: 'Loja', url: 'https://loja.example/pix' };
  const { merchant, secret } = await createMerchant(loseCommit(world.context, 'merchants'), input);
  expect(merchant).toMatchObject({ name: 'Loja', state: 'enabled' });
  expect(await readLive(merchant.seq)).toEqual([secret]);
});
