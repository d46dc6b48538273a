import type { Request, Response, Router } from 'express';
import { language } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import { translate } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { sendPage } from '../parts/send-page.ts';
import { readDocument, renderDocument } from '../system/render-document.ts';
import { sayNoMail } from './change-addresses.ts';
import { packTool } from './collect-tool.ts';
import { DOCS } from './site.ts';

const FILE = 'confere-cli.tgz';
const TOOL = `/portal/${FILE}`;
const FIRST = 'callbacks';
/** The documents for merchants, each in both languages. */
const NAMES = [FIRST, 'callback-types', 'fetch-events', 'day-manifests', 'provider-format', 'expected', 'portal'];
export const SCHEMA_FILE = 'callbacks.schema.json';
/** Files that the documents name, by their types. */
const FILES = new Map([
  ['verify-day.mjs', 'text/javascript'],
  ['verify-day.php', 'text/plain'],
  [SCHEMA_FILE, 'application/schema+json'],
]);
const ENDS = { 'pt-BR': '.pt-BR.md', en: '.md' } as const;

/** The documents for merchants, in the language of the request, and the tool that they describe. */
export function documentPages(): Router {
  const router = createRouter();
  const documents = { 'pt-BR': renderAll('pt-BR'), en: renderAll('en') };
  const show = (request: Request<{ name?: string }>, response: Response): void => {
    const { name = FIRST } = request.params;
    const file = FILES.get(name);
    if (file) {
      response.attachment(name).type(file).send(readDocument(name));
      return;
    }
    const document = documents[language()].get(name);
    if (!document) throw refuse('address_unknown');
    const tool = html`<a href="${TOOL}" download="${FILE}">${FILE}</a>`;
    const pages = [...documents[language()]].map(([one, { title }]) => {
      const isHere = one === name && html` aria-current="page"`;
      return html`<a href="${DOCS.address}/${one}"${isHere}>${title}</a>`;
    });
    const body = html`<nav class="tabs" aria-label="${translate(DOCS.title)}">${pages}</nav>
<p class="actions">${tHtml('{tool} busca, verifica e dispara mensagens na sua máquina: npx ./confere-cli.tgz --help', { tool })} ${sayNoMail(getScope(response))}</p><div class="prose">${document.text}</div>`;
    sendPage(request, response, { title: translate(DOCS.title), body, wide: true });
  };
  router.get(DOCS.address, show);
  router.get(`${DOCS.address}/:name`, show);
  let packed: Buffer | undefined;
  router.get(TOOL, (_request, response) => {
    packed ??= packTool();
    response.type('application/gzip').send(packed);
  });
  return router;
}

type Shown = { title: string; text: Html };

function renderAll(lang: keyof typeof ENDS): Map<string, Shown> {
  return new Map(
    NAMES.map((name) => {
      const document = readDocument(`${name}${ENDS[lang]}`);
      const [title = ''] = document.slice('# '.length).split(/[:\n]/, 1);
      return [name, { title, text: renderDocument(leaveOutOperators(document), findAddress) }];
    }),
  );
}

/** Leaves out the section for operators, which ends a document. */
function leaveOutOperators(text: string): string {
  return text.split(/^## (?:For operators|Para operadores)$/m, 1).join();
}

/** Links lead to headings, to the files, to other documents for merchants, and elsewhere by https. */
function findAddress(href: string): string | undefined {
  if (href.startsWith('#') || href.startsWith('https:')) return href;
  const [file = '', anchor] = href.split('#');
  if (FILES.has(file)) return `${DOCS.address}/${file}`;
  const name = file.replace('.pt-BR', '').replace('.md', '');
  return NAMES.includes(name) ? `${DOCS.address}/${name}${anchor === undefined ? '' : `#${anchor}`}` : undefined;
}
