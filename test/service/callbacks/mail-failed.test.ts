import { expect, test } from 'vitest';
import { mailFailedCallbacks } from '../../../src/alerts/mail-failed-callbacks.ts';
import type { Context } from '../../../src/context.ts';
import { eventually } from '../../support/eventually.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMailSink } from '../../support/open-mail-sink.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';

test('a merchant is mailed that callbacks failed for good: one mail a cause and day', async () => {
  await using sink = await openMailSink();
  await using env = await openCallbackEnvironment({
    ...{
      CALLBACK_RETRY_SCHEDULE: '1s',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      ALERT_EMAIL_FROM: 'confere@example.com',
    },
  });
  await using shop = await openMerchantServer();
  // it refuses payments of one kind, and takes others: so these fail, and the merchant does not
  shop.behaviours['/a'] = ({ json }) => (json.type.startsWith('pix.cashout') ? 500 : 200);
  shop.behaviours['/b'] = shop.behaviours['/a'];
  await env.addMerchant(`${shop.url}/a`, { email: 'loja@example.com' });
  await env.addMerchant(`${shop.url}/b`);
  await env.deliver();
  const { context } = env;
  const mailing = mailFailedCallbacks(context);
  env.use({ [Symbol.asyncDispose]: () => mailing });
  const failed = async () =>
    (await context.db.selectFrom('callbacks').select('seq').where('state', '=', 'failed').execute()).length;
  const failTwo = async (count: number) => {
    await env.applyTransactions(2, ['pending'], { operation: 'cashout' });
    await env.advanceUntil('failed', async () => {
      await env.applyTransaction(['paid']);
      return (await failed()) === count;
    });
  };
  const isQuiet = async () =>
    (await context.db.selectFrom('merchant_mails').select('cause').where('next_attempt_at', 'is not', null).execute())
      .length === 0;
  await failTwo(4);
  await env.advanceUntil('the mail', async () => sink.mails.length > 0 && (await isQuiet()));
  await failTwo(8);
  await env.advanceUntil('nothing is due', isQuiet);
  expect(sink.mails.map((mail) => mail.to)).toEqual([['loja@example.com']]);
  expect(sink.mails[0]?.text).toMatch(/falhou em definitivo[\s\S]*failed for good[\s\S]*http_status/);
  expect(sink.mails[0]?.text).not.toContain(shop.url);
  const page = `${context.config.PUBLIC_URL}/portal/callbacks/${await firstFailed(context)}`;
  const facts = `HTTP 500 \\(http_status\\)\nCallbacks que aguardam: \\d+[\\s\\S]*HTTP 500 \\(http_status\\)\nCallbacks that wait: \\d+\nPortal: ${page}\n`;
  expect(sink.mails[0]?.text.replaceAll('\r', '')).toMatch(new RegExp(facts));
  // the merchant knows its messages by this id
  expect(sink.mails[0]?.text).toContain(await firstFailed(context));
  expect(sink.mails[0]?.text).not.toMatch(/cb_\d/);

  await env.timers.advance(24 * 3_600_000);
  await failTwo(12);
  await env.advanceUntil('the mail of the next day', async () => sink.mails.length === 2 && (await isQuiet()));
  await eventually(
    'each has an id of its own',
    () => new Set(sink.mails.map((mail) => mail.header('message-id'))).size === 2,
  );

  const mailed = context.db.selectFrom('merchant_mails').selectAll().limit(1);
  const next_attempt_at = context.clock.now();
  const correction = { ...(await mailed.executeTakeFirstOrThrow()), cause: 'no_provider_body', next_attempt_at };
  const { merchant_seq } = await context.db
    .selectFrom('merchants')
    .select('seq as merchant_seq')
    .where('email', 'is not', null)
    .executeTakeFirstOrThrow();
  await context.db
    .insertInto('merchant_mails')
    .values({ ...correction, merchant_seq, created_at: next_attempt_at })
    .execute();
  await env.advanceUntil('the mail about a correction', async () => sink.mails.length === 3 && (await isQuiet()));
  expect(sink.mails[2]?.text).toMatch(/não tem correções[\s\S]*has no corrections[\s\S]*Portal: /);
  expect(sink.mails[2]?.text).not.toMatch(/Última falha|Last failure/);
});

/** The webhook-id that a merchant's first mail names. */
async function firstFailed({ db }: Context): Promise<string> {
  const mails = db.selectFrom('merchant_mails').innerJoin('callbacks', 'callbacks.seq', 'callback_seq');
  const withAddress = mails.innerJoin('merchants', 'merchants.seq', 'merchant_mails.merchant_seq');
  const first = withAddress.select('webhook_id').where('email', 'is not', null).orderBy('day').limit(1);
  return (await first.executeTakeFirstOrThrow()).webhook_id;
}
