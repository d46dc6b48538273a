import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import { createRouter } from '../../create-router.ts';
import { nameVersion, serveConstant } from '../../serve-constant.ts';

const FILES = {
  'console.css': 'text/css',
  'console.js': 'text/javascript',
  'openapi.js': 'text/javascript',
  'icon.svg': 'image/svg+xml',
} as const;
type FileName = keyof typeof FILES;

const assets = new Map(
  (Object.keys(FILES) as FileName[]).map((name) => {
    const content = readFileSync(new URL(`../assets/${name}`, import.meta.url));
    return [name, { version: nameVersion(content), serve: serveConstant(FILES[name], () => content) }];
  }),
);

/** Serves the console's style, script and icon. Their addresses change with their content: browsers cache them forever. */
export function assetRoutes(): Router {
  const router = createRouter();
  for (const [name, { version, serve }] of assets) {
    router.get(`/console/${name}`, async (request, response) => {
      const fresh = request.query.v === version;
      response.setHeader('cache-control', fresh ? 'public, max-age=31536000, immutable' : 'no-cache');
      await serve(request, response);
    });
  }
  return router;
}

export function assetAddress(name: FileName): string {
  return `/console/${name}?v=${assets.get(name)?.version}`;
}
