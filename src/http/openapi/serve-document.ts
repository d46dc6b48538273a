import type { Router } from 'express';
import type { Context } from '../../context.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { serveConstant } from '../serve-constant.ts';
import { createApiDocument } from './create-documents.ts';

/** Serves the OpenAPI document of this API, for any valid token. */
export function openapiRoutes(context: Context): Router {
  const router = createRouter();
  const document = serveConstant('application/json', createApiDocument(context.config.PUBLIC_URL));
  router.get('/openapi.json', requireRole('viewer'), async (request, response) => {
    response.setHeader('cache-control', 'private, no-cache');
    await document(request, response);
  });
  return router;
}
