import express, { type Router } from 'express';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { registry } from '../metrics/metrics.ts';
import { sendProblem } from './problem.ts';

/** Alive; able to take webhooks; what is counted. */
export function healthRoutes(context: Context): Router {
  const router = express.Router();
  router.get('/healthz', (_request, response) => {
    response.json({ alive: true });
  });
  router.get('/readyz', async (_request, response) => {
    if (context.signal.aborted) {
      sendProblem(response, { status: 503, detail: 'stopping' });
      return;
    }
    try {
      await sql`SELECT 1`.execute(context.db);
      response.json({ ready: true });
    } catch {
      sendProblem(response, { status: 503, detail: 'the database does not answer' });
    }
  });
  router.get('/metrics', async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}
