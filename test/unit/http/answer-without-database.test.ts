import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { expect, test } from 'vitest';
import { answerWithoutDatabase, isGivenUp, SILENCE_MS_MAX } from '../../../src/http/answer-without-database.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestTimers } from '../../support/test-timers.ts';

/** Serves one slow handler. @param greets whether the database greets, probe by probe; the last one repeats. */
async function serve(greets: boolean[], handler: RequestHandler) {
  const timers = createTestTimers();
  timers.freeze();
  let probes = 0;
  const isDatabaseGreeting = async (): Promise<boolean> => greets[Math.min(probes++, greets.length - 1)] ?? true;
  const errors: unknown[] = [];
  const answer: ErrorRequestHandler = (error, _request, response, _next) => {
    if (isGivenUp(response) && response.headersSent) errors.push(error);
    else response.status(503).send(String(error.code));
  };
  const app = express();
  app.use(answerWithoutDatabase({ timers, isDatabaseGreeting }, answer));
  app.get('/', handler);
  app.use(answer);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  return {
    timers,
    errors,
    probes: () => probes,
    get: () => fetch(`http://127.0.0.1:${port}/`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a request is answered 503 while the database misses two greetings, and what its handler does later is void', async () => {
  const [begun, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using served = await serve([false], async (_request, response) => {
    begun.resolve();
    await back.promise;
    response.json({ late: true });
  });
  const asked = served.get();
  await begun.promise;
  await served.timers.advance(SILENCE_MS_MAX);
  const response = await asked;
  expect([response.status, await response.text(), served.probes()]).toEqual([503, 'ETIMEDOUT', 2]);
  back.resolve();
  await eventually('the handler failed', () => served.errors.length > 0);
  expect(served.errors).toMatchObject([{ code: 'ERR_HTTP_HEADERS_SENT' }]);
});

test('a slow request goes on while the database greets, and misses one greeting at most', async () => {
  const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using served = await serve([true, false, true], async (_request, response) => {
    begun.resolve();
    await done.promise;
    response.json({ slow: true });
  });
  const asked = served.get();
  await begun.promise;
  for (let waited = 0; waited < 5; waited++) await served.timers.advance(SILENCE_MS_MAX);
  expect(served.probes()).toBeGreaterThan(3);
  done.resolve();
  expect(await (await asked).json()).toEqual({ slow: true });
});
