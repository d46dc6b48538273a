import { createRequire } from 'node:module';
import type { Router } from 'express';
import { isMerchantToken } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { readBearer, requireRole } from '../access/authorize.ts';
import type { AuthGuard } from '../access/guard-auth-attempts.ts';
import { authenticateMerchant } from '../access/require-scope.ts';
import { createRouter } from '../create-router.ts';
import { serveConstant } from '../serve-constant.ts';
import { buildDocument } from './build-document.ts';
import { CALLBACK_MESSAGES } from './callback-messages.ts';
import { keepReachable } from './keep-reachable.ts';
import { API_OPERATIONS } from './operations.ts';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

const ADDRESS = '/openapi.json';

/** Serves the document of what merchants call, for the token of one. Mount it before the routes that need a token of ours. */
export function portalDocumentRoutes(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  const document = serveConstant('application/json', createPortalDocument(context.config.PUBLIC_URL));
  const admit = authenticateMerchant(context, guard);
  router.use(ADDRESS, async (request, response, next) => {
    if (request.method === 'GET' && isMerchantToken(readBearer(request) ?? ''))
      await admit(request, response, () => void document(request, response));
    else next();
  });
  return router;
}

/** Serves the OpenAPI document of this API, for any valid token of ours. */
export function openapiRoutes(context: Context): Router {
  const router = createRouter();
  const document = serveConstant('application/json', createApiDocument(context.config.PUBLIC_URL));
  router.get(ADDRESS, requireRole('viewer'), async (request, response) => {
    response.setHeader('cache-control', 'private, no-cache');
    await document(request, response);
  });
  return router;
}

/** Returns the OpenAPI document of the whole API as text. It is made when it is first asked for. @param url where the API is. */
export function createApiDocument(url: string): () => string {
  return once(() => buildDocument(API_OPERATIONS, CALLBACK_MESSAGES, { version, url }));
}

/** Creates the document of what merchants call and receive: their portal, their feed and their callbacks. */
export function createPortalDocument(url: string): () => string {
  const operations = API_OPERATIONS.filter(
    ({ access, isForSources, isForMerchantsToo, path }) =>
      access === 'portal' || access === 'merchant' || isForSources || isForMerchantsToo || path === MANIFEST_KEYS,
  );
  const about = { version, url, description: ABOUT_PORTAL, isForMerchants: true as const };
  return once(() => keepReachable(buildDocument(operations, CALLBACK_MESSAGES, about)));
}

const MANIFEST_KEYS = '/.well-known/confere-manifest-keys.json';
const ABOUT_PORTAL =
  'What a merchant calls and receives. /portal takes a token of the role merchant (cfm_…), /events a pull token (mpt_…), /manifests either. Amounts are decimal texts in BRL, instants ISO 8601 with an offset. Errors are RFC 9457 problem details. At most 10 requests a second. An order with `decided: false` has just changed: ask again after a second. To try an operation here, press Authorize and paste the token.';

function once(make: () => object): () => string {
  let text: string | undefined;
  return () => {
    text ??= JSON.stringify(make());
    return text;
  };
}
