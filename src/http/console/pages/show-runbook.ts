/**
 * The runbooks at `/runbooks/<kind>`, which every alert links to. They need no login: they hold no data, and people on call
 * read them on a phone before they log in. Their source is our own documents, read once at the start: it is trusted,
 * so the rendered markup is not sanitised.
 */
import { readFileSync } from 'node:fs';
import type { Request, Response, Router } from 'express';
import { Marked, Renderer } from 'marked';
import { ALERT_KINDS, type AlertKind } from '../../../alerts/alert-kinds.ts';
import { ALERT_TEXTS, type AlertLocale } from '../../../alerts/texts/describe-alert.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { createRouter } from '../../create-router.ts';
import { type Html, html, trustedHtml } from '../parts/html.ts';
import { sendPage } from '../parts/send-page.ts';

const FILES = { 'pt-BR': 'runbooks.pt-BR.md', en: 'runbooks.md' } as const;
const WORDS = {
  'pt-BR': {
    title: 'Guias',
    what: 'O que fazer em cada alerta',
    all: 'Todos os guias',
    console: 'Console',
    other: 'English',
  },
  en: {
    title: 'Runbooks',
    what: 'What to do about each alert',
    all: 'All runbooks',
    console: 'Console',
    other: 'Português',
  },
};

/** The pages of the runbooks, in pt-BR or, by `?lang=` or the browser's language, in English. */
export function runbookPages(): Router {
  const router = createRouter();
  const runbooks = { 'pt-BR': renderSections('pt-BR'), en: renderSections('en') };
  router.get('/runbooks', (request, response) => {
    const lang = chooseLocale(request);
    const list = ALERT_KINDS.map((kind) => [kind, ALERT_TEXTS[lang][kind].title] as const);
    const body = html`<h1>${WORDS[lang].title}</h1><p class="lead">${WORDS[lang].what}</p>
<ul class="plain">${list.map(([kind, title]) => html`<li><a href="${addressOf(kind, lang)}">${title}</a> <code>${kind}</code></li>`)}</ul>`;
    sendRunbook(request, response, { lang, kind: undefined, title: WORDS[lang].title, body });
  });
  router.get('/runbooks/:kind', (request: Request<{ kind: string }>, response) => {
    const lang = chooseLocale(request);
    const kind = request.params.kind as AlertKind;
    const section = runbooks[lang].get(kind);
    if (!section) throw new ConfereError('not_found', 'there is no such runbook');
    const { title, todo } = ALERT_TEXTS[lang][kind];
    const body = html`<h1>${title}</h1><p class="sub"><code>${kind}</code></p>
<p class="explain">${todo}</p><div class="prose">${section}</div>`;
    sendRunbook(request, response, { lang, kind, title, body });
  });
  return router;
}

function sendRunbook(
  request: Request,
  response: Response,
  page: { lang: AlertLocale; kind: string | undefined; title: string; body: Html },
): void {
  const { lang, kind, title } = page;
  const words = WORDS[lang];
  const other = lang === 'en' ? 'pt-BR' : 'en';
  const body = html`<nav class="crumb" aria-label="${words.title}"><a href="/">${words.console}</a>${
    kind !== undefined && html` · <a href="${addressOf(undefined, lang)}">${words.all}</a>`
  } · <a href="${addressOf(kind, other)}" lang="${other}" hreflang="${other}">${words.other}</a></nav>${page.body}`;
  response.setHeader('vary', 'Accept-Language');
  sendPage(request, response, { title, body, lang, wide: true });
}

function addressOf(kind: string | undefined, lang: AlertLocale): string {
  return `/runbooks${kind === undefined ? '' : `/${kind}`}?lang=${lang}`;
}

function chooseLocale(request: Request): AlertLocale {
  const { lang } = request.query;
  if (lang === 'en' || lang === 'pt-BR') return lang;
  return request.acceptsLanguages('pt-BR', 'pt', 'en') === 'en' ? 'en' : 'pt-BR';
}

/** Renders the section of each kind: from its heading to the next one. */
function renderSections(lang: AlertLocale): Map<string, Html> {
  const text = readFileSync(new URL(`../../../../docs/${FILES[lang]}`, import.meta.url), 'utf8');
  const kinds = new Set<string>(ALERT_KINDS);
  const marked = new Marked({
    async: false,
    renderer: {
      // other documents are not served: their links stay text
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const kind = href.replace('#', '');
        return kinds.has(kind) ? `<a href="${addressOf(kind, lang)}">${words}</a>` : words;
      },
      table(token) {
        return `<div class="scroll" tabindex="0" role="group">${Renderer.prototype.table.call(this, token)}</div>`;
      },
    },
  });
  return new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section): [string, Html] => {
        const end = section.indexOf('\n');
        return [section.slice(0, end).trim(), trustedHtml(marked.parse(section.slice(end), { async: false }))];
      })
      .filter(([kind]) => kinds.has(kind)),
  );
}
