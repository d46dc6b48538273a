import type { Express, Router } from 'express';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Log } from '../log.ts';
import { refuse } from '../texts/refuse.ts';
import { createAuthGuard } from './access/guard-auth-attempts.ts';
import { createHealthRoutes, healthRoutes } from './check-health.ts';
import { createBareApp } from './create-bare-app.ts';
import { createMetricsPage, type MetricReaders } from './expose-metrics.ts';
import { handleErrors } from './send-problem.ts';

/** The app of a process without the web side: `/healthz`, `/readyz` and `/metrics` alone. */
export function createWorkerApp(context: Context, readers: MetricReaders): Express {
  const metrics = createMetricsPage(context, readers);
  return serveAlone(context.config, context.log, healthRoutes(context, createAuthGuard(context), { metrics }));
}

/** The worker's app before the database was first reached: alive, and not ready. */
export function createWaitingApp(config: Config, log: Log, signal: AbortSignal): Express {
  return serveAlone(config, log, createHealthRoutes({ config, signal, isWritable: async () => false }));
}

function serveAlone(config: Config, log: Log, routes: Router): Express {
  const app = createBareApp(config);
  app.use((_request, response, next) => {
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('cache-control', 'no-store');
    next();
  });
  app.use(routes);
  app.use(() => {
    throw refuse('worker_address_unknown');
  });
  app.use(handleErrors(log));
  return app;
}
