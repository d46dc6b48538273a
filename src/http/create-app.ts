import express from 'express';
import type { Context } from '../context.ts';
import { createReceiver, type Receiver } from '../inbox/receive/receive.ts';
import type { Spool } from '../inbox/spool/spool.ts';
import { SUBJECTS } from '../operations/catalogue.ts';
import { EXPECTED_BODY_BYTES_MAX } from '../operations/expected/expect-many.ts';
import { PORTAL } from '../operations/merchants/portal.ts';
import { refuse } from '../texts/refuse.ts';
import { answerAfterOther, answerOnce } from './access/answer-once.ts';
import { authenticate } from './access/authorize.ts';
import { checkHost } from './access/check-host.ts';
import { createAuthGuard } from './access/guard-auth-attempts.ts';
import { authenticateMerchant, authenticateSources } from './access/require-scope.ts';
import { answerWithoutDatabase } from './answer-without-database.ts';
import { expectedRoutes } from './api/expected.ts';
import { importRoutes } from './api/imports/imports.ts';
import { logProofRoutes, logRoutes } from './api/log.ts';
import { eventRoutes } from './api/merchants/events.ts';
import { manifestKeyRoutes, manifestRoutes } from './api/merchants/manifests.ts';
import { portalRoutes } from './api/merchants/portal.ts';
import { mismatchRoutes } from './api/mismatches.ts';
import { reportRoutes } from './api/reports.ts';
import { healthRoutes } from './check-health.ts';
import { checkQuery } from './check-query.ts';
import { portalPages } from './console/portal/routes.ts';
import { consoleRoutes, unknownAddressPage } from './console/routes.ts';
import { createBareApp } from './create-bare-app.ts';
import { createMetricsPage, type MetricReaders } from './expose-metrics.ts';
import { mountOperations } from './mount-operations.ts';
import { openapiRoutes, portalDocumentRoutes } from './openapi/create-documents.ts';
import { API_OPERATIONS } from './openapi/operations.ts';
import { expectsContinue } from './receiver/read-body.ts';
import { type FrontedApp, routeWebhooks } from './receiver/route-webhooks.ts';
import { handleErrors } from './send-problem.ts';

/** A year. Other names of the domain are not ours to decide on. */
const HSTS = `max-age=${365 * 86_400}`;
const API_BODY_BYTES_MAX = 256 * 1024;

/** The app with all routes. Middleware stands in the order in which a request passes it. */
export function createApp(
  context: Context,
  spool?: Spool,
  receive: Receiver = createReceiver(context, spool),
  readers: MetricReaders = {},
): FrontedApp {
  const app = createBareApp(context.config);
  const guard = createAuthGuard(context);
  const isHttps = context.config.PUBLIC_URL.startsWith('https:');
  // webhooks first: no later middleware slows them down
  const listener = routeWebhooks(app, context, receive);
  app.use((request, response, next) => {
    if (expectsContinue(request)) response.writeContinue();
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('cache-control', 'no-store');
    if (isHttps) response.setHeader('strict-transport-security', HSTS);
    next();
  });
  const metrics = createMetricsPage(context, readers);
  app.use(healthRoutes(context, guard, { web: true, spool, metrics }));
  app.use(['/api/v1', '/.well-known', '/log'], answerWithoutDatabase(context, handleErrors(context.log)));
  app.use(manifestKeyRoutes(context), logRoutes(context, [authenticate(context, guard)]), checkHost(context.config));
  const [checked, json] = [checkQuery(API_OPERATIONS), express.json({ limit: API_BODY_BYTES_MAX, type: () => true })];
  const once = answerOnce(context);
  // before `authenticate`: merchants send tokens of their own
  app.use('/api/v1', eventRoutes(context, guard), portalDocumentRoutes(context, guard));
  app.use('/api/v1', manifestRoutes(context, guard, [authenticate(context, guard), checked]));
  app.use('/api/v1/portal', authenticateMerchant(context, guard), checked, json, once);
  app.use('/api/v1', mountOperations(context, PORTAL), portalRoutes());
  app.use('/api/v1/expected-payments', authenticateSources(context, guard));
  app.use('/api/v1/expected-payments.csv', authenticateSources(context, guard));
  app.use('/api/v1', authenticate(context, guard), checked);
  // before JSON: the body is a file
  app.use('/api/v1', importRoutes(context, once));
  // a thousand in one body: the next parser skips what is parsed
  app.use('/api/v1/expected-payments', express.json({ limit: EXPECTED_BODY_BYTES_MAX, type: () => true }));
  app.use('/api/v1', json, once, [
    reportRoutes(context),
    logProofRoutes(context),
    expectedRoutes(context),
    mismatchRoutes(context),
    ...SUBJECTS.map((subject) => mountOperations(context, subject)),
    openapiRoutes(context),
  ]);
  app.use('/api/v1', answerAfterOther);
  app.use(portalPages(context, guard), consoleRoutes(context, guard));
  app.use(unknownAddressPage(context), () => {
    throw refuse('address_unknown');
  });
  app.use(handleErrors(context.log));
  return listener;
}
