import type { Router } from 'express';
import { language } from '../../../texts/language.ts';
import { translate } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { html, tHtml } from '../parts/html.ts';
import { sendPage } from '../parts/send-page.ts';
import { readDocument, renderDocument } from '../system/render-document.ts';
import { packTool } from './collect-tool.ts';
import { DOCS } from './site.ts';

const FILES = { 'pt-BR': 'callbacks.pt-BR.md', en: 'callbacks.md' } as const;

const FILE = 'confere-cli.tgz';
const TOOL = `/portal/${FILE}`;

/** The document about callbacks, in the language of the request, and the tool that it describes. */
export function documentPage(): Router {
  const router = createRouter();
  const find = (href: string) => (/^(?:#|https:)/.test(href) ? href : undefined);
  const documents = {
    'pt-BR': renderDocument(readDocument(FILES['pt-BR']), find),
    en: renderDocument(readDocument(FILES.en), find),
  };
  router.get(DOCS.address, (request, response) => {
    const body = html`<p class="actions">${tHtml('{tool} busca, verifica e dispara mensagens na sua máquina: npx ./confere-cli.tgz --help', { tool: html`<a href="${TOOL}" download="${FILE}">${FILE}</a>` })}</p><div class="prose">${documents[language()]}</div>`;
    sendPage(request, response, { title: translate(DOCS.title), body, wide: true });
  });
  let tool: Buffer | undefined;
  router.get(TOOL, (_request, response) => {
    tool ??= packTool();
    response.type('application/gzip').send(tool);
  });
  return router;
}
