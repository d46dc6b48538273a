/**
 * The runbooks at `/runbooks/<kind>`, which every alert links to. They need no login: they hold no data, and people on call
 * read them on a phone before they log in. Their source is our own documents, read once at the start: it is trusted,
 * so the rendered markup is not sanitised.
 */
import type { Request, Response, Router } from 'express';
import type { Language } from '../../../domain/language/language.ts';
import type { AlertText } from '../../../texts/alerts/alert-facts.ts';
import { ALERT_KINDS } from '../../../texts/alerts/alert-kinds.ts';
import { ALERT_TEXTS } from '../../../texts/alerts/describe-alert.ts';
import { language } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { type Html, html } from '../parts/html.ts';
import { sendPage } from '../parts/send-page.ts';
import { readDocument, renderDocument } from '../system/render-document.ts';

const FILES = { 'pt-BR': 'runbooks.pt-BR.md', en: 'runbooks.md' } as const;

/** The pages of the runbooks. */
export function runbookPages(): Router {
  const router = createRouter();
  const runbooks = { 'pt-BR': renderSections('pt-BR'), en: renderSections('en') };
  router.get('/runbooks', (request, response) => {
    const list = ALERT_KINDS.map((kind) => [kind, ALERT_TEXTS[language()][kind].title] as const);
    const title = t('Guias');
    const body = html`<h1>${title}</h1><p class="lead">${t('O que fazer em cada alerta')}</p>
<ul class="plain">${list.map(([kind, name]) => html`<li><a href="${addressOf(kind, language())}">${name}</a> <code>${kind}</code></li>`)}</ul>`;
    sendRunbook(request, response, { kind: undefined, title, body });
  });
  router.get('/runbooks/:kind', (request: Request<{ kind: string }>, response) => {
    const { kind } = request.params;
    const section = runbooks[language()].get(kind);
    if (!section) throw refuse('runbook_unknown');
    const { title = kind, todo } = (ALERT_TEXTS[language()] as Partial<Record<string, AlertText>>)[kind] ?? {};
    const body = html`<h1>${title}</h1><p class="sub"><code>${kind}</code></p>
${todo !== undefined && html`<p class="explain">${todo}</p>`}<div class="prose">${section}</div>`;
    sendRunbook(request, response, { kind, title, body });
  });
  return router;
}

function sendRunbook(
  request: Request,
  response: Response,
  page: { kind: string | undefined; title: string; body: Html },
): void {
  const { kind, title } = page;
  const body = html`<nav class="crumb" aria-label="${t('Guias')}"><a href="/">${t('Console')}</a>${
    kind !== undefined && html` · <a href="${addressOf(undefined, language())}">${t('Todos os guias')}</a>`
  }</nav>${page.body}`;
  sendPage(request, response, { title, body, wide: true });
}

function addressOf(kind: string | undefined, lang: Language): string {
  return `/runbooks${kind === undefined ? '' : `/${kind}`}?lang=${lang}`;
}

/** Renders each section that is named like an alert, from its heading to the next one. */
function renderSections(lang: Language): Map<string, Html> {
  const sections = readDocument(FILES[lang])
    .split(/^#{1,2} /m)
    .flatMap((section) => {
      const [, name, content] = /^([a-z_0-9]+)\n(.*)$/s.exec(section) ?? [];
      return name === undefined || content === undefined ? [] : [[name, content] as const];
    });
  const names = new Set(sections.map(([name]) => name));
  // other documents are not served: their links stay text
  const find = (href: string) => {
    const name = href.replace('#', '');
    return names.has(name) ? addressOf(name, lang) : undefined;
  };
  return new Map(sections.map(([name, content]) => [name, renderDocument(content, find)]));
}
