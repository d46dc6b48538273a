import type { NextFunction, Request, Response } from 'express';
import type { Context } from '../../../context.ts';
import { isStatementTimeout } from '../../../database/limit-statement-time.ts';
import { isDatabaseAway, isReadOnly } from '../../../database/open/explain-failure.ts';
import { ConfereError, type ErrorCode } from '../../../domain/errors.ts';
import { describeError } from '../../../log.ts';
import { sayFaults, sayRefusal } from '../../../texts/say-refusal.ts';
import { type PlainText, plural, t } from '../../../texts/translate.ts';
import { html } from './html.ts';
import { sendPage, siteOf } from './send-page.ts';

type ErrorPage = { status: number; title: PlainText; text: PlainText };

const UNEXPECTED: ErrorPage = {
  status: 500,
  title: 'Algo deu errado',
  text: 'Uma falha inesperada; ela está no log. Tente de novo e, se continuar, avise quem opera o Confere.',
};

const TOO_LONG: ErrorPage = {
  status: 503,
  title: 'Demora demais',
  text: 'O banco de dados encerrou a leitura desta página no limite de tempo. Escolha menos dias ou uma plataforma, ou tente de novo.',
};

const DATABASE_AWAY: ErrorPage = {
  status: 503,
  title: 'O banco de dados não responde',
  text: 'Nada do que esta página mostra pode ser lido agora. Recarregue-a em um minuto; se continuar, avise quem opera o Confere.',
};
const READ_ONLY: ErrorPage = {
  status: 503,
  title: 'O banco de dados não aceita gravações',
  text: 'Ele só pode ser lido agora, e nada foi gravado. Tente de novo mais tarde; se continuar, avise quem opera o Confere.',
};
const PERHAPS_MADE = 'O que você enviou pode ter sido gravado: confira antes de enviar de novo.';
/** Pages that need no database. */
const RUNBOOKS = new Map([
  [DATABASE_AWAY, '/runbooks/database_unreadable'],
  [READ_ONLY, '/runbooks/database_read_only'],
]);

const LIMITED: ErrorPage = {
  status: 429,
  title: 'Muitas requisições',
  text: 'Foram muitas requisições em pouco tempo.',
};

const ERROR_PAGES: Partial<Record<ErrorCode, ErrorPage>> = {
  not_found: { status: 404, title: 'Não encontrado', text: 'Não há nada neste endereço, ou o id não é de nada nosso.' },
  invalid_request: { status: 422, title: 'Requisição inválida', text: 'Um campo não pôde ser lido. Volte e corrija.' },
  conflict: {
    status: 409,
    title: 'Mudou no meio do caminho',
    text: 'O estado já não permite isto; alguém pode ter agido antes. Volte, recarregue a página e confira.',
  },
  unauthorized: { status: 401, title: 'Sem sessão', text: 'Entre com o seu token.' },
  forbidden: {
    status: 403,
    title: 'Não permitido',
    text: 'O seu papel não permite isto, ou o formulário veio de outra sessão. Recarregue a página e tente de novo.',
  },
  too_many_requests: {
    status: 429,
    title: 'Buscas demais',
    text: 'O papel de leitura busca poucos documentos por hora. Tente mais tarde, ou peça à operação.',
  },
  unavailable: {
    status: 503,
    title: 'Indisponível',
    text: 'Um serviço de que isto precisa não responde. Tente de novo.',
  },
};

/** The error handler of the console: it answers with a page. */
export function showErrors(context: Context) {
  // Express recognizes an error handler by its four parameters
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const shown = describe(error);
    if (shown.status >= 500) {
      context.log.error({ error: describeError(error), route: request.route?.path }, 'a page of the console failed');
    }
    const retryS = error instanceof ConfereError ? error.retryAfterS : undefined;
    if (retryS !== undefined) response.set('Retry-After', String(retryS));
    const faults = error instanceof ConfereError ? sayFaults(error) : [];
    const said = error instanceof ConfereError ? sayRefusal(error, context.calendar) : undefined;
    const body = html`<div class="error"><p class="code">${shown.status}</p><h1>${t(shown.title)}</h1>${(said === undefined || shown.status !== 404) && html`<p>${t(shown.text)}</p>`}
${faults.length > 0 && html`<ul>${faults.map(({ field, text }) => html`<li><b>${field}</b>: ${text}</li>`)}</ul>`}
${said !== undefined && html`<p>${said}</p>`}
${error instanceof ConfereError && said === undefined && faults.length === 0 && html`<p class="technical" lang="en">${error.message}</p>`}
${retryS !== undefined && html`<p>${plural(retryS, 'Recarregue a página em 1 segundo.', 'Recarregue a página em {n} segundos.')}</p>`}
${shown === DATABASE_AWAY && request.method === 'POST' && html`<p>${t(PERHAPS_MADE)}</p>`}
${RUNBOOKS.has(shown) && siteOf(response).home === '/' && html`<p><a href="${RUNBOOKS.get(shown)}">${t('O que fazer')}</a></p>`}
<p><a href="${siteOf(response).home}">${t('Ir para a visão geral')}</a></p></div>`;
    sendPage(request, response, { title: t(shown.title), body, status: shown.status });
  };
}

function describe(error: unknown): ErrorPage {
  if (isStatementTimeout(error)) return TOO_LONG;
  if (isReadOnly(error)) return READ_ONLY;
  if (isDatabaseAway(error)) return DATABASE_AWAY;
  if (error instanceof ConfereError) {
    // a limit of requests ends by itself; that of a viewer's searches names no time
    if (error.code === 'too_many_requests' && error.retryAfterS !== undefined) return LIMITED;
    return ERROR_PAGES[error.code] ?? UNEXPECTED;
  }
  const { status } = (error ?? {}) as { status?: number };
  if (error instanceof URIError || (status !== undefined && status >= 400 && status < 500)) {
    return { status: 400, title: 'Requisição inválida', text: 'O endereço ou o formulário não pôde ser lido.' };
  }
  return UNEXPECTED;
}
