import { expect, test } from 'vitest';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';
import { runBackfills } from '../../support/work-backfills.ts';

test('the page of a merchant shows how far its backfill is, and that it fetches its events', async () => {
  await using env = await openConsoleEnvironment();
  const { merchant } = await createMerchant(env.context, {
    ...{ name: 'Loja', url: null, eventsSince: new Date('2020-01-01T00:00:00Z') },
  });
  const cookie = await logIn(env.url, env.tokens.viewer);
  const show = async () => await (await fetch(`${env.url}/merchants/${merchant.id}`, { headers: { cookie } })).text();
  expect(await show()).toMatch(/Eventos anteriores.*na fila: 0 callbacks de 0 transações/s);
  await runBackfills(env.context, async () => {
    const row = await env.context.db
      .selectFrom('backfills')
      .select('state')
      .where('merchant_seq', '=', merchant.seq)
      .executeTakeFirst();
    return row?.state === 'done';
  });
  const page = await show();
  expect(page).toMatch(/Eventos anteriores.*concluído: [1-9][\d.]* callbacks de [1-9][\d.]* transações/s);
  expect(page).toMatch(/busca os eventos pela API.*Última busca.*nunca/s);
});
