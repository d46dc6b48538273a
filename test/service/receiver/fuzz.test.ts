import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhookIdOf } from '../../../src/domain/ids.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { workInbox } from '../../../src/inbox/verify/work-inbox.ts';
import { createProviderClient } from '../../../src/provider/client.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { chooseSeed, numRuns } from '../../support/property.ts';
import { API_KEY, WEBHOOK_SECRET } from '../../support/start-serve.ts';
import { fuzzReceiver } from './fuzz-receiver.ts';

const REQUESTS = numRuns(400, 4_000);

describe('bodies made to break a reader', () => {
  it('are answered 200, 400, 401, 413 or 415; what was answered 200, or 400 with the secret, is in the inbox', async () => {
    await using context = await openTestContext();
    const stop = new AbortController();
    const server = await serveHttp(context, createApp(context));
    // the provider is down: readable bodies are split, and their items wait
    await using client = createProviderClient({ url: 'http://127.0.0.1:1', apiKey: API_KEY, signal: stop.signal });
    const worker = workInbox({ ...context, signal: stop.signal }, client);
    const url = `http://127.0.0.1:${server.port}`;
    const fuzzed = await fuzzReceiver(
      url,
      WEBHOOK_SECRET,
      chooseSeed(randomInt(2 ** 31)),
      (requests) => requests < REQUESTS,
    );
    expect(fuzzed.wrong).toEqual([]);
    expect(Object.keys(fuzzed.byStatus)).toEqual(['200', '400', '401', '413', '415']);
    const rows = await context.db.selectFrom('webhooks').select('hash').execute();
    const kept = new Set(rows.map((row) => webhookIdOf(row.hash)));
    expect(fuzzed.kept.difference(kept)).toEqual(new Set());
    // a body that could not be split would keep its first state
    await eventually(async () => {
      const left = await context.db.selectFrom('webhooks').select('seq').where('state', '=', 'received').execute();
      return left.length === 0;
    });
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
    stop.abort();
    await worker;
    await server[Symbol.asyncDispose]();
  });
});
