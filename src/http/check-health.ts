import { setTimeout as sleep } from 'node:timers/promises';
import type { Router } from 'express';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { SPOOL_BYTES_MAX, type Spool } from '../inbox/spool.ts';
import { registry } from '../metrics/metrics.ts';
import { createRouter } from './create-router.ts';
import { sendProblem } from './problem.ts';

const DATABASE_MS_MAX = 1_500;

/** Alive; able to take webhooks; what is counted. */
export function healthRoutes(context: Context, spool: Spool | undefined): Router {
  return offerHealth({ signal: context.signal, spool, databaseAnswers: () => answersInTime(context) });
}

export function offerHealth(of: {
  signal: AbortSignal;
  spool: Spool | undefined;
  databaseAnswers: () => Promise<boolean>;
}): Router {
  const { signal, spool } = of;
  const router = createRouter();
  router.get('/healthz', (_request, response) => {
    response.json({ alive: true });
  });
  router.get('/readyz', async (_request, response) => {
    if (signal.aborted) {
      sendProblem(response, { status: 503, detail: 'stopping' });
      return;
    }
    if (await of.databaseAnswers()) response.json({ ready: true });
    else if (spool && spool.bytes < SPOOL_BYTES_MAX) response.json({ ready: true, degraded: true });
    else sendProblem(response, { status: 503, detail: 'the database does not answer' });
  });
  router.get('/metrics', async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}

async function answersInTime(context: Context): Promise<boolean> {
  const asked = sql`SELECT 1`.execute(context.db).then(
    () => true,
    () => false,
  );
  return await Promise.race([asked, sleep(DATABASE_MS_MAX, false, { ref: false })]);
}
