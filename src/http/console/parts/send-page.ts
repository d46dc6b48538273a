import type { Request, Response } from 'express';
import { mayActAs, type Role } from '../../../access/roles.ts';
import type { Caller } from '../../../access/tokens.ts';
import { SEARCH_CHARS_MAX } from '../../../ledger/read/classify-search.ts';
import { language } from '../../../texts/language.ts';
import { findNotice } from '../../../texts/notices.ts';
import { plural, t } from '../../../texts/translate.ts';
import { type Html, html, type Part } from './html.ts';
import { removePersonalFilters, SEARCH_BOX } from './parse-filters.ts';
import { restoreNotice } from './restored.ts';
import { assetAddress } from './serve-assets.ts';
import { ROLE_WORDS } from './words.ts';

export const NAVIGATION = [
  ['/', 'Visão geral'],
  ['/transactions', 'Transações'],
  ['/expected', 'Pedidos'],
  ['/balances', 'Saldos'],
  ['/charts', 'Gráficos'],
  ['/alerts', 'Alertas'],
  ['/mismatches', 'Divergências'],
  ['/inbox', 'Webhooks'],
  ['/reconciliations', 'Conferências'],
  ['/reports', 'Relatórios'],
  ['/merchants', 'Lojistas'],
  ['/callbacks', 'Callbacks'],
  ['/system', 'Sistema'],
] as const;
/** Pages of the machine: apart, below the others, for who keeps the books. */
const TECHNICAL: readonly string[] = ['/inbox', '/callbacks', '/system'];
/** Pages for admins. */
const ADMIN_NAVIGATION = [
  ['/tokens', 'Tokens'],
  ['/users', 'Pessoas'],
  ['/audit', 'Auditoria'],
] as const;

/** Without script the whole page is loaded again, so not as often. */
const PLAIN_REFRESH_S_MIN = 10;

export type Page = {
  title: string;
  body: Html;
  status?: number;
  /** A page without a session that needs the width of a text. */
  wide?: boolean;
  /** Reload the page each `refreshS` seconds, unless somebody is typing in it. */
  refreshS?: number;
  /** A page that people type in: without script it cannot know that, so it has a link instead of being reloaded. */
  isTypedIn?: boolean;
  /** Open this address at once, without script: a path of ours, or an address of the issuer. */
  onwardsTo?: string;
  /** The path that the choice of a language opens, where it is not the page's own. */
  address?: string;
};

/** The frame of the console's pages, or of the portal's. */
export type Site = {
  /** After the title of each page. */
  name: string;
  brand: Html;
  icon: string;
  /** The address of its first page. */
  home: string;
  /** The address of the page that describes its API. */
  api: string;
  /** The address of the guide for accountants. */
  guide?: string;
  /** The header of a page with a session; undefined without one. */
  frame(request: Request, response: Response): Html | undefined;
};

/** The site of a response: the console, unless a router has set another one. */
export function siteOf(response: Response): Site {
  return (response.locals.site as Site | undefined) ?? CONSOLE;
}

/** Answers with a page. Without a session it has no navigation. */
export function sendPage(request: Request, response: Response, page: Page): void {
  const site = siteOf(response);
  const header = site.frame(request, response);
  const document = html`<!doctype html>
<html lang="${language()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${page.onwardsTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${page.onwardsTo}">`}
<title>${page.title} · ${site.name}</title>
${page.refreshS !== undefined && !page.isTypedIn && html`<noscript><meta http-equiv="refresh" content="${Math.max(page.refreshS, PLAIN_REFRESH_S_MIN)}"></noscript>`}
<link rel="icon" href="${site.icon}">
<link rel="stylesheet" href="${assetAddress('console.css')}">
<script src="${assetAddress('console.js')}" type="module"></script>
</head>
<body data-text-copy="${t('copiar')}" data-text-copied="${t('copiado')}" data-text-failed="${t('não deu')}"${page.refreshS !== undefined && html` data-refresh-s="${page.refreshS}"`}${!header && html` class="alone${page.wide && ' wide'}"`}>
<a class="skip" href="#conteudo">${t('Ir para o conteúdo')}</a>
${header}
<main id="conteudo" tabindex="-1">${restoreNotice(response)}${notice(request)}${page.refreshS !== undefined && page.isTypedIn && reloadLink(request)}${page.body}</main>
${foot(request, page.address, header && site)}
</body>
</html>`;
  response
    .vary('Accept-Language, Cookie')
    .set('content-language', language())
    .status(page.status ?? 200)
    .type('html')
    .send(document.text);
}

/** Without script, what a page with a form has instead of renewing itself. */
function reloadLink(request: Request): Html {
  return html`<noscript><p class="hint"><a href="${addressOf(request)}">${t('Recarregar a página')}</a></p></noscript>`;
}

/** Whether the logged-in caller may act as one of these roles. */
export function hasRole(response: Response, ...roles: Role[]): boolean {
  const caller = response.locals.caller as Caller | undefined;
  return caller !== undefined && mayActAs(caller.role, ...roles);
}

/** A posted form, with the session's form token. */
export function postForm(response: Response, action: string, content: Part): Html {
  return html`<form method="post" action="${action}">
${formTokenField(response)}
${content}</form>`;
}

/** A posted form that sends a file: `readUpload` reads it. */
export function uploadForm(response: Response, action: string, content: Part): Html {
  return html`<form method="post" action="${action}" enctype="multipart/form-data">
${formTokenField(response)}
${content}</form>`;
}

/** The hidden field that proves that a form belongs to this session. */
export function formTokenField(response: Response): Html {
  return html`<input type="hidden" name="form_token" value="${String(response.locals.formToken ?? '')}">`;
}

export const MARK = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8"></rect><path d="M8.5 16.8l4.9 4.9L23.8 10.6"></path></svg>`;
export const BRAND = html`${MARK}<span>Confere</span>`;

const CONSOLE: Site = {
  name: 'Confere',
  brand: BRAND,
  icon: assetAddress('icon.svg'),
  home: '/',
  api: '/openapi',
  guide: '/runbooks/accounting',
  frame(request, response) {
    const caller = response.locals.caller as Caller | undefined;
    return caller && frame(request, response, caller);
  },
};

function frame(request: Request, response: Response, caller: Caller): Html {
  const here = `/${request.path.split('/')[1] ?? ''}`;
  const all = [...NAVIGATION, ...(mayActAs(caller.role, 'admin') ? ADMIN_NAVIGATION : [])];
  const [technical, others] = [true, false].map((is) => all.filter(([address]) => TECHNICAL.includes(address) === is));
  const isApart = caller.role === 'accountant';
  const pages = isApart ? [...(others ?? []), ...(technical ?? [])] : all;
  return html`<header class="frame">
<a class="brand" href="/">${BRAND}</a>
${request.path !== '/transactions' && searchBox(response)}
<nav aria-label="${t('Principal')}"><ul>${pages.map(
    ([address, name]) =>
      html`<li${isApart && address === TECHNICAL[0] && html` class="apart"`}><a href="${address}"${here === address && html` aria-current="page"`}>${t(name)}</a></li>`,
  )}</ul></nav>
<div class="who"><p><span class="role">${ROLE_WORDS[caller.role]}</span> <span class="caller" title="${caller.id}">${caller.name ?? caller.id}</span></p>
${postForm(response, '/logout', html`<button class="quiet">${t('Sair')}</button>`)}</div>
</header>`;
}

/**
 * The button that shows the page in the other language, and keeps it. An answer to a form has none: it would lose what
 * was typed.
 * @param site where the API and the guide are; undefined without a session.
 */
function foot(request: Request, address = addressOf(request), site?: Site): Html | undefined {
  if (request.method === 'POST') return undefined;
  const { other, name } =
    language() === 'en' ? { other: 'pt-BR', name: 'Português' } : { other: 'en', name: 'English' };
  return html`<footer class="foot"><form method="post" action="/language"><input type="hidden" name="next" value="${address}"><button class="quiet" name="language" value="${other}" lang="${other}">${name}</button></form>${site?.guide !== undefined && html`<a href="${site.guide}?lang=${language()}">${t('Guia do contador')}</a><a href="/runbooks">${t('Guias')}</a>`}${site && html`<a href="${site.api}">${t('API')}</a>`}</footer>`;
}

/** The page's own address, without filters that may name a person, a notice, and the language of this one answer. */
function addressOf(request: Request): string {
  const [path = '/', query] = removePersonalFilters(request.originalUrl).split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  for (const name of ['done', 'lang']) search.delete(name);
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** The search for transactions on every other page. It is posted: the text may name a person. */
function searchBox(response: Response): Html {
  return html`<form class="find" method="post" action="/transactions" role="search" aria-label="${t('Transações')}">${formTokenField(response)}
<label><span class="unseen">${t('Buscar transações')}</span><input name="${SEARCH_BOX}" type="search" maxlength="${SEARCH_CHARS_MAX}" autocomplete="off" spellcheck="false" placeholder="${t('Buscar')}"></label>
<button class="quiet" aria-label="${t('Buscar')}"><svg class="lens" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><circle cx="6.5" cy="6.5" r="4.5"></circle><path d="M10 10l4.5 4.5"></path></svg></button></form>`;
}

const COUNTED = new Map<string, (n: number, following: number) => string>([
  [
    'sent_waiting',
    (n, following) =>
      [
        n === 0
          ? following === 0 && t('Nada espera: nada a enviar agora.')
          : plural(n, 'Enviando agora uma mensagem que esperava.', 'Enviando agora {n} mensagens que esperavam.'),
        ...(following > 0
          ? [
              plural(
                following,
                'Em seguida vai uma que aguarda uma mensagem anterior.',
                'Em seguida vão {n} que aguardam uma mensagem anterior.',
              ),
            ]
          : []),
      ]
        .filter((part) => part !== false)
        .join(' '),
  ],
  [
    'examples',
    (n) =>
      plural(
        n,
        'Um exemplo na fila: recarregue a página para ver o resultado.',
        '{n} exemplos na fila, abaixo: recarregue a página para ver o resultado de cada um.',
      ),
  ],
]);

function readCount(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

function notice(request: Request): Html | undefined {
  const { done, n, following } = request.query;
  if (typeof done !== 'string') return undefined;
  const count = readCount(n);
  const text = (count !== undefined && COUNTED.get(done)?.(count, readCount(following) ?? 0)) || findNotice(done);
  return text === undefined ? undefined : html`<p class="notice" role="status">${text}</p>`;
}
