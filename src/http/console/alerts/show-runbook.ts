/**
 * The runbooks at `/runbooks/<kind>`, which every alert links to, and guides beside them. They need no login: they hold no
 * data, and people on call read them on a phone before they log in. Their source is our own documents, read once at the start: it is trusted,
 * so the rendered markup is not sanitised.
 */
import type { Request, Response, Router } from 'express';
import type { Language } from '../../../domain/language/language.ts';
import type { AlertText } from '../../../texts/alerts/alert-facts.ts';
import { ALERT_KINDS } from '../../../texts/alerts/alert-kinds.ts';
import { ALERT_TEXTS } from '../../../texts/alerts/describe-alert.ts';
import { language, runInLanguage } from '../../../texts/language.ts';
import { refuse } from '../../../texts/refuse.ts';
import { type PlainText, t, translate } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { type Html, html } from '../parts/html.ts';
import { NAVIGATION, sendPage } from '../parts/send-page.ts';
import { readDocument, renderDocument } from '../system/render-document.ts';

const FILES = { 'pt-BR': 'runbooks.pt-BR.md', en: 'runbooks.md' } as const;
/** The guides that are of no alert. */
const GUIDES = new Map<string, { title: PlainText } & Record<Language, string>>([
  ['accounting', { title: 'Guia do contador', 'pt-BR': 'accounting.pt-BR.md', en: 'months.md' }],
  ['spreadsheet', { title: 'As planilhas, coluna por coluna', 'pt-BR': 'planilha.pt-BR.md', en: 'sheets.md' }],
]);
/** Pages that the documents name in italics. */
const PAGES: readonly (readonly [address: string, name: PlainText])[] = [
  ...NAVIGATION,
  ['/balances/bank', 'Banco'],
  ['/balances/fees', 'Tarifas'],
  ['/balances/fees/new', 'Informar um contrato'],
  ['/balances/statements/new', 'Informar um saldo'],
  ['/balances/adjustments/new', 'Lançar um ajuste'],
  ['/balances/imports', 'Importar um arquivo'],
  ['/expected/undecided', 'A casar'],
  ['/reports/accounts', 'Plano de contas'],
  ['/transactions/proof', 'Prova de um pagamento'],
];

/** The pages of the runbooks. */
export function runbookPages(): Router {
  const router = createRouter();
  const runbooks = { 'pt-BR': render('pt-BR'), en: render('en') };
  router.get('/runbooks', (request, response) => {
    const list = ALERT_KINDS.map((kind) => [kind, ALERT_TEXTS[language()][kind].title] as const);
    const title = t('Guias');
    const body = html`<h1>${title}</h1><ul class="plain">${[...GUIDES].map(([name, guide]) => html`<li><a href="${addressOf(name, language())}">${translate(guide.title)}</a></li>`)}</ul>
<h2>${t('O que fazer em cada alerta')}</h2>
<ul class="plain">${list.map(([kind, name]) => html`<li><a href="${addressOf(kind, language())}">${name}</a> <code>${kind}</code></li>`)}</ul>`;
    sendRunbook(request, response, { kind: undefined, title, body });
  });
  router.get('/runbooks/:kind', (request: Request<{ kind: string }>, response) => {
    const { kind } = request.params;
    const section = runbooks[language()].get(kind);
    if (!section) throw refuse('runbook_unknown');
    const { title = kind, todo } = (ALERT_TEXTS[language()] as Partial<Record<string, AlertText>>)[kind] ?? {};
    const guide = GUIDES.get(kind);
    if (guide) {
      const name = translate(guide.title);
      sendRunbook(request, response, {
        kind,
        title: name,
        body: html`<h1>${name}</h1><div class="prose">${section}</div>`,
      });
      return;
    }
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

function render(lang: Language): Map<string, Html> {
  return runInLanguage(lang, () => renderSections(lang));
}

/** Renders the guides, and each section that is named like an alert, from its heading to the next one. */
function renderSections(lang: Language): Map<string, Html> {
  const sections = readDocument(FILES[lang])
    .split(/^#{1,2} /m)
    .flatMap((section) => {
      const [, name, content] = /^([a-z_0-9]+)\n(.*)$/s.exec(section) ?? [];
      return name === undefined || content === undefined ? [] : [[name, content] as const];
    });
  const names = new Set(sections.map(([name]) => name));
  const pages = new Map(PAGES.map(([address, name]) => [String(translate(name)), address]));
  // other documents are not served: their links stay text
  const findIn = (own: ReadonlySet<string>) => (href: string) => {
    const [file = '', anchor = ''] = href.split('#');
    const guide = [...GUIDES].find(([, guide]) => guide[lang] === file)?.[0];
    if (guide !== undefined) return `${addressOf(guide, lang)}${anchor && `#${anchor}`}`;
    if (file === FILES[lang]) return addressOf(names.has(anchor) ? anchor : undefined, lang);
    if (file !== '') return undefined;
    return own.has(anchor) ? addressOf(anchor, lang) : own.size === 0 ? href : undefined;
  };
  const renderOne = (text: string, own: ReadonlySet<string>) =>
    renderDocument(text, findIn(own), (name) => pages.get(name));
  return new Map([
    ...sections.map(([name, content]) => [name, renderOne(content, names)] as const),
    ...[...GUIDES].map(
      ([name, guide]) => [name, renderOne(readDocument(guide[lang]).replace(/^# .*\n/, ''), new Set())] as const,
    ),
  ]);
}
