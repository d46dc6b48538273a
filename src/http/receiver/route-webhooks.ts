import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, Request, Response } from 'express';
import type { Receiver } from '../../inbox/receive/receive.ts';
import { createRouter } from '../create-router.ts';
import { handleErrors } from '../send-problem.ts';
import { createWebhookHandler, type ReceiverContext } from './receive-webhook.ts';

/** The listener to serve, and the Express app behind it, which knows all routes. */
export type FrontedApp = RequestListener & { app: Express };

const ROUTE = '/webhooks/pix';
const TOKEN_ROUTE = `${ROUTE}/:token`;
/** A path that Express matches with one of these routes, and whose token it does not decode. */
const PLAIN_PATH = /^\/webhooks\/pix(?:\/([\w.~-]+))?$/;

/**
 * Mounts `POST /webhooks/pix` and `/webhooks/pix/:token` on an app; call it before other routes are mounted.
 * @returns the listener to serve in place of the app. It passes a POST of a plain path to the handler without Express, which
 * takes 6 of 38 µs of CPU time a webhook. Everything else goes through the app: another method, a query, a trailing slash, a
 * token with other characters. Both ways answer the same.
 */
export function routeWebhooks(
  app: Express,
  context: ReceiverContext,
  receive: Receiver,
  limits?: Parameters<typeof createWebhookHandler>[2],
): FrontedApp {
  const handle = createWebhookHandler(context, receive, limits);
  const handleRouted = (request: Request<{ token?: string }>, response: Response): Promise<void> =>
    handle(request, response, { address: request.ip, token: request.params.token });
  // async: an error is answered, also one of reading the address
  const handlePlain = async (request: IncomingMessage, response: ServerResponse, token?: string): Promise<void> =>
    await handle(request, response, { address: readAddress(app, request), token });
  const answerError = handleErrors(context.log);
  app.use(createRouter().post(ROUTE, handleRouted).post(TOKEN_ROUTE, handleRouted));
  const listener: RequestListener = (request, response) => {
    const plain = request.method === 'POST' && PLAIN_PATH.exec(request.url ?? '');
    if (!plain) return void app(request, response);
    const [, token] = plain;
    handlePlain(request, response, token).catch((error: unknown) => {
      const route = { path: token === undefined ? ROUTE : TOKEN_ROUTE };
      answerError(error, Object.assign(request, { route }), response, () => undefined);
    });
  };
  return Object.assign(listener, { app });
}

/** Reads `request.ip` as Express would: its getter runs on a stand-in for its request. */
function readAddress(app: Express, { socket, headers }: IncomingMessage): string | undefined {
  return Reflect.get(app.request, 'ip', { app, socket, headers }) as string | undefined;
}
