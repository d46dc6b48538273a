import net, { type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { mailFailedCallbacks } from '../../../src/alerts/mail-failed-callbacks.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { openMailSink } from '../../support/open-mail-sink.ts';

/** A server that answers each request with these bytes, on connections that it keeps or closes. `count`: of requests. */
async function openOddServer(answer: (count: number) => string, end = (socket: Socket): unknown => socket.end()) {
  const sockets = new Set<Socket>();
  const odd = { url: '', count: 0 };
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      if (!chunk.includes('\r\n\r\n')) return;
      odd.count++;
      socket.write(answer(odd.count), 'latin1');
      end(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  odd.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return Object.assign(odd, {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const LF = 'HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok';

test.each([
  ['lines without CR', LF],
  [
    'a Content-Length beside a Transfer-Encoding',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
  ['two lengths', 'HTTP/1.1 202 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
  ['a blank before a colon', 'HTTP/1.0 204 Done\r\nX-Powered-By : a\r\n\r\n'],
  ['a control character', 'HTTP/1.1 200 OK\r\nX-Trace: \x01\r\n\r\n'],
])('a 2xx answer with %s is delivered, and is not sent again', async (_, answer) => {
  await using env = await openCallbackEnvironment();
  await using odd = await openOddServer(() => answer);
  await env.addMerchant(odd.url);
  await env.deliver();
  await env.applyTransaction(['paid']);
  const { state } = await env.advanceUntil('its end', async () => {
    const row = await env.context.db.selectFrom('callbacks').select('state').executeTakeFirst();
    return row && row.state !== 'pending' ? row : undefined;
  });
  expect([state, odd.count]).toEqual(['delivered', 1]);
  const attempts = await env.context.db.selectFrom('callback_attempts').selectAll().execute();
  expect(attempts).toMatchObject([{ response_status: Number(answer.slice(9, 12)), error_class: null }]);
  expect(String(attempts[0]?.response_body)).toMatch(/^Response[\s\S]*:\nHTTP\/1\./);
});

test.each([
  ['says 500', 'HTTP/1.1 500 No\nX: y\n\n', { response_status: 500, error_class: 'http_status' }],
  ['has no status', 'ok\n', { response_status: null, error_class: 'bad_response' }],
  ['has an interim status', 'HTTP/1.1 102 Wait\nX: y\n\n', { response_status: null, error_class: 'bad_response' }],
  ['has a longer status', 'HTTP/1.1 2000 OK\n\n', { response_status: null, error_class: 'bad_response' }],
])('an answer that is no HTTP and %s is repeated: nothing says that it was handled', async (_, answer, attempt) => {
  await using env = await openCallbackEnvironment();
  await using odd = await openOddServer((count) =>
    count === 1 ? answer : 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  );
  await env.addMerchant(odd.url);
  await env.deliver();
  await env.applyTransaction(['paid']);
  await env.advanceUntil('its delivery', async () => {
    const row = await env.context.db.selectFrom('callbacks').select('state').executeTakeFirst();
    return row?.state === 'delivered';
  });
  const attempts = await env.context.db.selectFrom('callback_attempts').selectAll().orderBy('number').execute();
  expect(attempts).toMatchObject([attempt, { response_status: 200, error_class: null }]);
  expect(String(attempts[0]?.response_body)).toContain(answer);
});

test('the status of an answer before it, on the same connection, does not count', async () => {
  await using env = await openCallbackEnvironment();
  const answers = ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok\n'];
  await using odd = await openOddServer(
    (count) => answers[count - 1] ?? answers[0] ?? '',
    () => undefined,
  );
  await env.addMerchant(odd.url);
  await env.deliver();
  const { id } = await env.applyTransaction(['pending', 'paid']);
  expect(id).toBeDefined();
  await env.advanceUntil('both deliveries', async () => {
    const rows = await env.context.db.selectFrom('callbacks').select('state').execute();
    return rows.length === 2 && rows.every(({ state }) => state === 'delivered');
  });
  const attempts = await env.context.db.selectFrom('callback_attempts').selectAll().orderBy('seq').execute();
  expect(attempts.map((one) => one.response_status)).toEqual([200, null, 200]);
});

test('a merchant is mailed once that its answers are no HTTP, on later days too', async () => {
  await using sink = await openMailSink();
  await using env = await openCallbackEnvironment({
    ...{ SMTP_URL: `smtp://127.0.0.1:${sink.port}`, ALERT_EMAIL_FROM: 'confere@example.com' },
  });
  await using odd = await openOddServer(() => LF);
  await env.addMerchant(odd.url, { email: 'loja@example.com' });
  await env.deliver();
  const { context } = env;
  const mailing = mailFailedCallbacks(context);
  env.use({ [Symbol.asyncDispose]: () => mailing });
  const payTwo = async (count: number) => {
    await env.applyTransactions(2, ['paid']);
    await env.advanceUntil('both are delivered', async () => {
      const rows = await context.db.selectFrom('callbacks').select('seq').where('state', '=', 'delivered').execute();
      return rows.length === count;
    });
  };
  await payTwo(2);
  await env.advanceUntil('the mail', async () => sink.mails.length > 0);
  await env.timers.advance(24 * 3_600_000);
  await payTwo(4);
  const mails = await context.db.selectFrom('merchant_mails').select('cause').execute();
  expect(mails).toEqual([{ cause: 'no_http' }]);
  expect(sink.mails.map((mail) => mail.to)).toEqual([['loja@example.com']]);
  expect(sink.mails[0]?.text).toMatch(/não é HTTP válido[\s\S]*not valid HTTP/);
});
