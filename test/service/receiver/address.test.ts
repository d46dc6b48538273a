import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { createApp } from '../../../src/http/app.ts';
import { serveHttp } from '../../../src/http/serve-http.ts';
import { createSpoolApp } from '../../../src/http/spool-app.ts';
import { openSpool } from '../../../src/inbox/spool.ts';
import { writeSpooled } from '../../../src/inbox/write-spooled.ts';
import { temporaryDirectory, WEBHOOK_SECRET } from '../../support/programs.ts';
import { openWorld } from './world.ts';

/** Posts a body from this machine, by way of proxies that name those before them. */
function post(
  port: number,
  forwardedFor?: string,
  body: object = { transaction_id: randomUUID() },
  host = '127.0.0.1',
) {
  // as bytes: with a text after them the headers would go out in UTF-8
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    authorization: `Bearer ${WEBHOOK_SECRET}`,
    ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
  };
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const request = http.request({ host, port, method: 'POST', path: '/webhooks/pix', headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        answer += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text: answer }));
    });
    request.on('error', reject).end(bytes);
  });
}

/** The addresses that were kept, in the order of arrival: of the first ones, and of repeats. */
async function readKept({ db }: Context): Promise<string[][]> {
  const read = async (table: 'webhooks' | 'webhook_repeats') =>
    (await db.selectFrom(table).select('source_address').orderBy('seq').execute()).map((row) => row.source_address);
  return [await read('webhooks'), await read('webhook_repeats')];
}

/** More than the column takes, in characters or only in bytes; the last ends in the middle of a character. */
const LONG = ['a'.repeat(100), 'é'.repeat(64), `${'b'.repeat(63)}é`];
const CUT = ['a'.repeat(64), 'é'.repeat(32), 'b'.repeat(63)];

test('an address that a proxy made up is cut to what fits, and its webhook is taken, repeats too', async () => {
  await using context = await openWorld({ TRUST_PROXY: '1' });
  await using server = await serveHttp(context, createApp(context));
  for (const address of LONG) {
    const body = { transaction_id: randomUUID() };
    const answers = [await post(server.port, address, body), await post(server.port, address, body)];
    expect(answers.map(({ text }) => JSON.parse(text))).toMatchObject([{ duplicate: false }, { duplicate: true }]);
  }
  expect(await readKept(context)).toEqual([CUT, CUT]);
});

test('it is cut before it goes to the spool', async () => {
  using home = temporaryDirectory();
  await using context = await openWorld({ TRUST_PROXY: '1' });
  await using spool = openSpool(home.path);
  await using server = await serveHttp(context, createSpoolApp(context.config, context.log, spool, context.signal));
  for (const address of LONG) expect((await post(server.port, address)).status).toBe(200);
  const [name = ''] = readdirSync(home.path);
  const records = spool.readSegment(name)?.records ?? [];
  expect(await writeSpooled(context, records)).toEqual([]);
  expect(await readKept(context)).toEqual([CUT, []]);
});
