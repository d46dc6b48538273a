import type { Request, Response } from 'express';
import { mayActAs, type Role } from '../../../access/roles.ts';
import type { Caller } from '../../../access/tokens.ts';
import { type Html, html, type Part } from './html.ts';
import { assetAddress } from './serve-assets.ts';
import { ROLE_WORDS } from './words.ts';

const NAVIGATION = [
  ['/', 'Visão geral'],
  ['/transactions', 'Transações'],
  ['/balances', 'Saldos'],
  ['/alerts', 'Alertas'],
  ['/mismatches', 'Divergências'],
  ['/inbox', 'Webhooks'],
  ['/reconciliations', 'Conferências'],
  ['/reports', 'Relatórios'],
  ['/merchants', 'Lojistas'],
  ['/callbacks', 'Callbacks'],
  ['/system', 'Sistema'],
] as const;
/** Pages for admins. */
const ADMIN_NAVIGATION = [
  ['/tokens', 'Tokens'],
  ['/audit', 'Auditoria'],
] as const;

export type Page = {
  title: string;
  body: Html;
  status?: number;
  /** The language of the page, where it is not pt-BR. */
  lang?: string;
  /** A page without a session that needs the width of a text. */
  wide?: boolean;
  /** Reload the page each `refreshS` seconds, unless somebody is typing in it. */
  refreshS?: number;
};

/** Answers with a page. Without a session it has no navigation. */
export function sendPage(request: Request, response: Response, page: Page): void {
  const caller = response.locals.caller as Caller | undefined;
  const document = html`<!doctype html>
<html lang="${page.lang ?? 'pt-BR'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${page.title} · Confere</title>
<link rel="icon" href="${assetAddress('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetAddress('console.css')}">
<script src="${assetAddress('console.js')}" type="module"></script>
</head>
<body${page.refreshS && html` data-refresh-s="${page.refreshS}"`}${!caller && html` class="alone${page.wide && ' wide'}"`}>
<a class="skip" href="#conteudo">Ir para o conteúdo</a>
${caller && frame(request, response, caller)}
<main id="conteudo" tabindex="-1">${notice(request)}${page.body}</main>
</body>
</html>`;
  response
    .status(page.status ?? 200)
    .type('html')
    .send(document.text);
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

/** The hidden field that proves that a form belongs to this session. */
export function formTokenField(response: Response): Html {
  return html`<input type="hidden" name="form_token" value="${String(response.locals.formToken ?? '')}">`;
}

export const BRAND = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8"></rect><path d="M8.5 16.8l4.9 4.9L23.8 10.6"></path></svg><span>Confere</span>`;

function frame(request: Request, response: Response, caller: Caller): Html {
  const here = `/${request.path.split('/')[1] ?? ''}`;
  const pages = [...NAVIGATION, ...(mayActAs(caller.role, 'admin') ? ADMIN_NAVIGATION : [])];
  return html`<header class="frame">
<a class="brand" href="/">${BRAND}</a>
<nav aria-label="Principal"><ul>${pages.map(
    ([address, name]) =>
      html`<li><a href="${address}"${here === address && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>
<div class="who"><p><span class="role">${ROLE_WORDS[caller.role]}</span> <span class="caller" title="${caller.id}">${caller.id}</span></p>
${postForm(response, '/logout', html`<button class="quiet">Sair</button>`)}</div>
</header>`;
}

/** Notices by the name in `?done=`, on the page that a form redirects to. */
const DONE: Record<string, string> = {
  accepted: 'Versão do provedor aceita: o lançamento foi estornado e refeito, e os lojistas são avisados.',
  acknowledged: 'Divergência em tratamento: está registrado quem e quando.',
  resolved: 'Divergência resolvida.',
  named: 'Nome da plataforma guardado.',
  stated: 'Saldo informado e comparado com o razão.',
  adjusted: 'Ajuste lançado.',
  adjustment_reversed: 'Ajuste estornado.',
  opened: 'Saldo inicial lançado: os livros da plataforma começam nesse dia.',
  opening_reversed: 'Saldo inicial estornado: os livros da plataforma foram refeitos sem ele.',
  acknowledged_many: 'Divergências em tratamento: está registrado quem e quando.',
  resolved_many: 'Divergências resolvidas, cada uma com a observação.',
  settled_some: 'Feito com as 500 mais antigas: repita para as outras.',
  purged: 'Quarentena esvaziada: os corpos foram apagados, os hashes ficam.',
  reprocessed: 'O webhook voltou para a fila e será verificado de novo.',
  redelivered: 'O callback voltou para a fila, com o mesmo webhook-id.',
  started: 'Conferência na fila: esta página se atualiza sozinha.',
  made: 'Relatório feito: uma nova revisão.',
  unchanged: 'Nada mudou desde a última revisão: não há uma nova.',
  enabled: 'Lojista ativo: o que estava retido será entregue, do mais antigo ao mais novo.',
  paused: 'Lojista em pausa: os callbacks ficam retidos até que seja reativado.',
  tested: 'Callback de teste na fila: esta página se atualiza até o resultado.',
  merchant_changed: 'Lojista gravado.',
  token_revoked: 'Token de busca revogado: não abre mais os eventos.',
  replayed: 'Os callbacks voltaram para a fila, com os mesmos webhook-ids.',
  repeated:
    'Já tinha sido gravado: nada mudou desta vez. Um segredo só aparece uma vez; se ninguém o guardou, troque-o.',
  revoked: 'Token revogado: as sessões que ele abriu terminaram.',
  left: 'Você saiu.',
};

function notice(request: Request): Html | undefined {
  const text = typeof request.query.done === 'string' ? DONE[request.query.done] : undefined;
  return text === undefined ? undefined : html`<p class="notice" role="status">${text}</p>`;
}
