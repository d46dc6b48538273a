import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { ROTATION_MS, readCredentials, rotateSecret } from '../../../src/merchants/secrets.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { loseCommit } from '../../support/failing-database.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { readRows } from '../../support/read-rows.ts';

const env = closeAfterAll(await openCallbackEnvironment());

/** The secrets that sign for a merchant, newest first, as shown to it. */
async function readLive(seq: number): Promise<string[]> {
  const { keys = [] } = (await readCredentials(env.context, env.context.db, [seq])).get(seq) ?? {};
  return keys.map((key) => `whsec_${key.export().toString('base64')}`);
}

test('a rotation with a lost commit answer is done once: the old and the returned secret sign', async () => {
  const { merchant, secret: known } = await env.addMerchant('https://loja.example/pix');
  const { secret, oldUntil } = await rotateSecret(loseCommit(env.context, 'merchant_secrets'), merchant.id);
  expect(await readLive(merchant.seq)).toEqual([secret, known]);
  const rows = await readRows(
    env.context.db,
    'merchant_secrets',
    ['created_at', 'expires_at'],
    { merchant_seq: merchant.seq },
    ['seq'],
  );
  expect(rows.map((row) => row.expires_at)).toEqual([oldUntil, null]);
  expect(oldUntil.getTime() - (rows[1]?.created_at.getTime() ?? 0)).toBe(ROTATION_MS);
});

test('a merchant with a lost commit answer is added once, and the returned secret signs', async () => {
  const input = { name: 'Loja', url: 'https://loja.example/pix' };
  const { merchant, secret } = await createMerchant(loseCommit(env.context, 'merchants'), input);
  expect(merchant).toMatchObject({ name: 'Loja', state: 'enabled' });
  expect(await readLive(merchant.seq)).toEqual([secret]);
});

test('two changes at once: the later one enqueues what a merchant lacks since the earlier one', async () => {
  const { db } = env.context;
  const { merchant } = await env.addMerchant('https://loja.example/pix', { filter: { statuses: ['paid'] } });
  const back = new Date('2019-01-01T00:00:00Z');
  const widened = await db.transaction().execute(async (trx) => {
    await updateMerchant({ ...env.context, db: trx }, merchant.id, { eventsSince: back });
    const other = updateMerchant(env.context, merchant.id, { filter: {} });
    await eventually('the other waits', async () => {
      const { rows } = await sql`SELECT 1 FROM information_schema.PROCESSLIST WHERE DB = DATABASE()
        AND INFO LIKE '%merchants%' AND (INFO LIKE 'update%' OR INFO LIKE '%for update')`.execute(db);
      return rows.length > 0;
    });
    return { other };
  });
  await widened.other;
  const backfill = db.selectFrom('backfills').select('events_since').where('merchant_seq', '=', merchant.seq);
  expect(await backfill.execute()).toEqual([{ events_since: back }]);
});
