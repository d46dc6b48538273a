import type { Router } from 'express';
import { language } from '../../../texts/language.ts';
import { translate } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { html } from '../parts/html.ts';
import { readDocument, renderDocument } from '../parts/render-document.ts';
import { sendPage } from '../parts/send-page.ts';
import { DOCS } from './site.ts';

const FILES = { 'pt-BR': 'callbacks.pt-BR.md', en: 'callbacks.md' } as const;

/** The document about callbacks, in the language of the request. */
export function documentPage(): Router {
  const router = createRouter();
  const find = (href: string) => (/^(?:#|https:)/.test(href) ? href : undefined);
  const documents = {
    'pt-BR': renderDocument(readDocument(FILES['pt-BR']), find),
    en: renderDocument(readDocument(FILES.en), find),
  };
  router.get(DOCS.address, (request, response) => {
    const body = html`<div class="prose">${documents[language()]}</div>`;
    sendPage(request, response, { title: translate(DOCS.title), body, wide: true });
  });
  return router;
}
