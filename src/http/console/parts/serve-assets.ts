import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import { createRouter } from '../../create-router.ts';

const FILES = {
  'console.css': 'text/css',
  'console.js': 'text/javascript',
  'openapi.js': 'text/javascript',
  'icon.svg': 'image/svg+xml',
} as const;
type FileName = keyof typeof FILES;

const contents = new Map(
  (Object.keys(FILES) as FileName[]).map((name) => [name, readFileSync(new URL(`../assets/${name}`, import.meta.url))]),
);

/** Serves the console's style, script and icon. Their addresses change with their content: browsers cache them forever. */
export function assetRoutes(): Router {
  const router = createRouter();
  for (const [name, content] of contents) {
    router.get(`/console/${name}`, (request, response) => {
      const fresh = request.query.v === versionOf(content);
      response.setHeader('cache-control', fresh ? 'public, max-age=31536000, immutable' : 'no-cache');
      response.type(FILES[name]).send(content);
    });
  }
  return router;
}

export function assetAddress(name: FileName): string {
  return `/console/${name}?v=${versionOf(contents.get(name) ?? Buffer.alloc(0))}`;
}

function versionOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
