import express, { type Express } from 'express';
import type { Config } from '../config.ts';

/** Creates an app without routes, with the settings that all apps share. */
export function createBareApp({ TRUST_PROXY }: Config): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  if (TRUST_PROXY !== undefined) app.set('trust proxy', TRUST_PROXY);
  return app;
}
