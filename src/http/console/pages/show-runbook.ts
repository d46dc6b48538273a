/**
 * The runbooks at `/runbooks/<kind>`, which every alert links to. They need no login: they hold no data, and people on call
 * read them on a phone before they log in. Their source is our own documents, read once at the start: it is trusted,
 * so the rendered markup is not sanitised.
 */
import { readFileSync } from 'node:fs';
import type { Request, Response, Router } from 'express';
import { Marked, Renderer } from 'marked';
import { ALERT_KINDS } from '../../../alerts/alert-kinds.ts';
import type { AlertText } from '../../../alerts/texts/alert-facts.ts';
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
    const { kind } = request.params;
    // the rules of Prometheus have theirs in English alone
    const section = runbooks[lang].get(kind) ?? runbooks.en.get(kind);
    if (!section) throw new ConfereError('not_found', 'there is no such runbook');
    const { title = kind, todo } = (ALERT_TEXTS[lang] as Partial<Record<string, AlertText>>)[kind] ?? {};
    const body = html`<h1>${title}</h1><p class="sub"><code>${kind}</code></p>
${todo !== undefined && html`<p class="explain">${todo}</p>`}<div class="prose">${section}</div>`;
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

/** Renders each section that is named like an alert, from its heading to the next one. */
function renderSections(lang: AlertLocale): Map<string, Html> {
  const text = readFileSync(new URL(`../../../../docs/${FILES[lang]}`, import.meta.url), 'utf8');
  const sections = text.split(/^#{1,2} /m).flatMap((section) => {
    const [, name, content] = /^([a-z_0-9]+)\n(.*)$/s.exec(section) ?? [];
    return name === undefined || content === undefined ? [] : [[name, content] as const];
  });
  const names = new Set(sections.map(([name]) => name));
  const marked = new Marked({
    async: false,
    renderer: {
      // other documents are not served: their links stay text
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const name = href.replace('#', '');
        return names.has(name) ? `<a href="${addressOf(name, lang)}">${words}</a>` : words;
      },
      table(token) {
        return `<div class="scroll" tabindex="0" role="group">${Renderer.prototype.table.call(this, token)}</div>`;
      },
    },
  });
  return new Map(sections.map(([name, content]) => [name, trustedHtml(marked.parse(content, { async: false }))]));
}
