import type { Router } from 'express';
import type { Context } from '../../context.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { createApiDocument } from './create-documents.ts';

/** Serves the OpenAPI document of this API, for any valid token. */
export function openapiRoutes(context: Context): Router {
  const router = createRouter();
  const document = createApiDocument(context.config.PUBLIC_URL);
  router.get('/openapi.json', requireRole('viewer'), (_request, response) => {
    response.type('application/json').send(document());
  });
  return router;
}
