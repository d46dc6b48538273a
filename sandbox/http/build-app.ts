import express, { type Express, type RequestHandler } from 'express';
import type { Sandbox } from '../context.ts';
import type { FaultTallies } from '../faults/choose-fault.ts';
import { adminRouter } from './admin/admin-router.ts';
import type { AppState } from './app-state.ts';
import { checkoutRouter } from './checkout/checkout-router.ts';
import { describeApi } from './describe-api.ts';
import { driftList } from './drift-list.ts';
import { requireJson, requireKey } from './guard-requests.ts';
import { handleCreate } from './handle-create.ts';
import { ApiError, errorHandler } from './handle-error.ts';
import { handleList } from './handle-list.ts';
import { handleShow } from './handle-show.ts';
import { injectFaults, type Route } from './inject-faults.ts';

const BODY_BYTES_MAX = 256 * 1024;
const ADMIN_BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Builds the routes of the sandbox: the provider's interface, the payer's checkout, the admin's routes. */
export function buildApp(sandbox: Sandbox, parts: AppState): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.get('/healthz', (_request, response) => void response.json({ ok: true }));
  app.use('/sandbox', rawBody(ADMIN_BODY_BYTES_MAX), adminRouter(sandbox, parts));
  app.use('/checkout', checkoutRouter(sandbox));
  serveProvider(app, sandbox, parts.tallies);
  app.use(() => {
    throw new ApiError(404, 404, 'Not found.');
  });
  app.use(errorHandler(sandbox.log));
  return app;
}

function serveProvider(app: Express, sandbox: Sandbox, tallies: FaultTallies): void {
  const guards = (route: Route): RequestHandler[] => [
    requireKey(sandbox),
    requireJson(sandbox),
    injectFaults(sandbox, tallies, route),
  ];
  const list: RequestHandler = (request, response) => handleList(sandbox, request, response);
  const body = rawBody(BODY_BYTES_MAX);
  app.get('/api/v1/transactions', ...guards('list'), driftList(sandbox), list);
  app.get('/v1/transactions', onlyWhereServed(sandbox), ...guards('list'), driftList(sandbox), list);
  app.get('/api/v1/openapi.json', (_request, response) => void response.json(describeApi()));
  app.get('/api/v1/transaction/:id', ...guards('show'), (request, response) => handleShow(sandbox, request, response));
  for (const operation of ['cashin', 'cashout'] as const) {
    app.post(`/api/v1/transaction/pix/${operation}`, ...guards(operation), body, (request, response) =>
      handleCreate(sandbox, operation, request, response),
    );
  }
  // without a key every address is 401; with one, a wrong method is 405
  app.use('/api', requireKey(sandbox));
  for (const [address, method] of ADDRESSES) app.all(address, refuseMethod(method));
}

const ADDRESSES = [
  ['/api/v1/transactions', 'GET'],
  ['/api/v1/transaction/pix/cashin', 'POST'],
  ['/api/v1/transaction/pix/cashout', 'POST'],
  ['/api/v1/transaction/:id', 'GET'],
] as const;

function refuseMethod(allowed: string): RequestHandler {
  return (_request, response) => {
    response.set('allow', allowed);
    throw new ApiError(405, 405, `Use ${allowed}.`);
  };
}

function onlyWhereServed(sandbox: Sandbox): RequestHandler {
  return (_request, _response, next) =>
    next(sandbox.switches.current.list.without_api === 'served' ? undefined : 'route');
}

/** Reads any body as bytes, independent of its content type: our own checks report its errors. */
function rawBody(limitBytes: number): RequestHandler {
  return express.raw({ type: () => true, limit: limitBytes, inflate: false });
}
