import type { Config } from '../../config.ts';
import { createSpoolReceiver } from '../../inbox/receive/receive.ts';
import type { Spool } from '../../inbox/spool/spool.ts';
import type { Log } from '../../log.ts';
import { refuse } from '../../texts/refuse.ts';
import { createHealthRoutes } from '../check-health.ts';
import { createBareApp } from '../create-bare-app.ts';
import { handleErrors, problemOf } from '../send-problem.ts';
import { respondWithoutReading } from './read-body.ts';
import { RETRY_AFTER_S } from './receive-webhook.ts';
import { type FrontedApp, routeWebhooks } from './route-webhooks.ts';

/** The app before the database was reached for the first time: webhooks go to the spool, other requests get 503. */
export function createSpoolApp(config: Config, log: Log, spool: Spool, signal: AbortSignal): FrontedApp {
  const app = createBareApp(config);
  const clock = { now: () => new Date() };
  const receive = createSpoolReceiver(spool, config.QUARANTINE_MAX_BYTES);
  const listener = routeWebhooks(app, { config, log, clock }, receive);
  app.use(createHealthRoutes({ config, signal, spool, isWritable: async () => false }));
  app.use((request, response) => {
    response.setHeader('retry-after', String(RETRY_AFTER_S));
    respondWithoutReading(request, response, problemOf(refuse('webhooks_alone')));
  });
  app.use(handleErrors(log));
  return listener;
}
