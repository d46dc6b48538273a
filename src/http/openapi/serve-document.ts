import { createRequire } from 'node:module';
import type { Router } from 'express';
import type { Context } from '../../context.ts';
import { allow } from '../access/authorize.ts';
import { createRouter } from '../create-router.ts';
import { buildDocument } from './build-document.ts';
import { OPERATIONS } from './operations.ts';
import { WEBHOOKS } from './webhooks.ts';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

/** The description of this API, for any valid token. */
export function openapiRoutes(context: Context): Router {
  const router = createRouter();
  let document: string | undefined;
  router.get('/openapi.json', allow('viewer'), (_request, response) => {
    document ??= JSON.stringify(buildDocument(OPERATIONS, WEBHOOKS, { version, url: context.config.PUBLIC_URL }));
    response.type('application/json').send(document);
  });
  return router;
}
