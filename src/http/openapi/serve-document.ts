import { createRequire } from 'node:module';
import type { Router } from 'express';
import type { Context } from '../../context.ts';
import { requireRole } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { buildDocument } from './build-document.ts';
import { CALLBACK_MESSAGES } from './callback-messages.ts';
import { API_OPERATIONS } from './operations.ts';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

/** Serves the OpenAPI document of this API, for any valid token. */
export function openapiRoutes(context: Context): Router {
  const router = createRouter();
  let document: string | undefined;
  router.get('/openapi.json', requireRole('viewer'), (_request, response) => {
    document ??= JSON.stringify(
      buildDocument(API_OPERATIONS, CALLBACK_MESSAGES, { version, url: context.config.PUBLIC_URL }),
    );
    response.type('application/json').send(document);
  });
  return router;
}
