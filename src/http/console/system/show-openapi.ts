/**
 * The page that shows an OpenAPI document, by Swagger UI, which draws the page's main region itself. Its files come from the
 * package, are read when they are asked for, and need a session, as the document does. It has no frame: the console's style
 * would change Swagger UI.
 *
 * Chosen in November 2026: the only viewer without a tree of packages and without inline scripts or styles. It takes 13 MB
 * on disk and sends 1.9 MB. Its one dependency reports installations, so package.json replaces it with a package that is
 * there anyway. Redoc 3 reports how it is used; RapiDoc, Redoc 2 and Scalar install 85 to 240 MB and scripts.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Router } from 'express';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { serveConstant } from '../../serve-constant.ts';
import { html } from '../parts/html.ts';
import { siteOf } from '../parts/send-page.ts';
import { assetAddress } from '../parts/serve-assets.ts';
import { allowContainedPictures } from '../parts/set-security-headers.ts';

const require = createRequire(import.meta.url);
const PACKAGE = 'swagger-ui-dist/package.json';
/** The document's name as a file. */
const FILE = 'openapi.json';
const [SCRIPT, STYLE] = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const;

/** Routes of the page and of what it loads. @param document returns the document as text. */
export function openapiPages(address: string, document: () => string): Router {
  const router = createRouter();
  const place = { json: `${address}/document.json`, script: `${address}/${SCRIPT}`, style: `${address}/${STYLE}` };
  router.get(address, (_request, response) => {
    const site = siteOf(response);
    const { version } = require(PACKAGE) as { version: string };
    const page = html`<!doctype html>
<html lang="${language()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${t('API')} · ${site.name}</title>
<link rel="icon" href="${site.icon}">
<link rel="stylesheet" href="${place.style}?v=${version}">
<script src="${place.script}?v=${version}" defer></script>
<script src="${assetAddress('openapi.js')}" defer></script>
</head>
<body>
<nav aria-label="${t('Principal')}"><a href="${site.home}">${site.name}</a> · <a href="${place.json}" download="${FILE}">${FILE}</a></nav>
<noscript><p>${t('Esta página precisa de scripts. O documento acima não.')}</p></noscript>
<div id="api" lang="en" data-document="${place.json}"></div>
</body>
</html>`;
    allowContainedPictures(response);
    response.vary('Accept-Language, Cookie').type('html').send(page.text);
  });
  router.get(place.json, serveConstant('application/json', document));
  for (const [name, type] of [
    [SCRIPT, 'text/javascript'],
    [STYLE, 'text/css'],
  ] as const) {
    const file = serveConstant(type, () => readFile(path.join(path.dirname(require.resolve(PACKAGE)), name)));
    router.get(`${address}/${name}`, async (request, response) => {
      // its address has the package's version
      response.setHeader('cache-control', 'private, max-age=31536000, immutable');
      await file(request, response);
    });
  }
  return router;
}
