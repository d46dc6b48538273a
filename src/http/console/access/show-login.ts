import type { Request, Response, Router } from 'express';
import { auditChange } from '../../../access/audit.ts';
import { closeSession, openSession } from '../../../access/sessions.ts';
import { findCaller, isMerchantToken } from '../../../access/tokens.ts';
import { isUser } from '../../../access/users.ts';
import type { Context } from '../../../context.ts';
import type { Issuer } from '../../../oidc/open-issuer.ts';
import { t } from '../../../texts/translate.ts';
import { getActor } from '../../access/authorize.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { createRouter } from '../../create-router.ts';
import { html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import {
  checkOrigin,
  clearSessionCookie,
  readSessionCookie,
  requireSession,
  setSessionCookie,
} from '../parts/require-session.ts';
import { BRAND, sendPage } from '../parts/send-page.ts';
import { sendOnwards } from './send-onwards.ts';

/** Log-in with a token, and log-out. @param issuer of the login by the company's account, if there is one. */
export function loginPages(context: Context, guard: AuthGuard, issuer: Issuer | undefined): Router {
  const router = createRouter();
  const hasIssuer = issuer !== undefined;
  router.get('/login', (request, response) => {
    sendLogin(request, response, { next: readNext(request.query.next), hasIssuer });
  });

  router.post('/login', async (request, response) => {
    checkOrigin(context, request);
    const next = readNext(readFormField(request, 'next'));
    const credential = readFormField(request, 'token') ?? '';
    if (isMerchantToken(credential)) {
      // the browser posts the same form there
      response.redirect(307, '/portal/login');
      return;
    }
    const attempt = { kind: 'login', address: request.ip, credential } as const;
    const caller = await guard.admit(attempt, () => findCaller(context, credential));
    if (!caller) {
      const fault = t('Este token não existe ou foi revogado, ou expirou.');
      sendLogin(request, response, { next, hasIssuer, fault, status: 401 });
      return;
    }
    const old = readSessionCookie(context, request);
    const done = { actor: caller.id, action: 'console.login', target: caller.id };
    const session = await auditChange(
      context,
      async (inner) => {
        if (old) await closeSession(inner, old);
        return await openSession(inner, credential);
      },
      done,
    );
    setSessionCookie(context, response, session);
    response.redirect(303, next);
  });

  router.post('/logout', requireSession(context, guard), async (request, response) => {
    const session = readSessionCookie(context, request);
    const done = { actor: getActor(response), action: 'console.logout', target: getActor(response) };
    await auditChange(
      context,
      async (inner) => {
        if (session) await closeSession(inner, session);
      },
      done,
    );
    clearSessionCookie(context, response);
    const onwards = isUser(getActor(response)) ? await issuer?.findLogout() : undefined;
    if (onwards) {
      const link = t('Sair também da conta da empresa');
      sendOnwards(request, response, { title: t('Você saiu do Confere'), address: onwards.href, link });
    } else response.redirect(303, '/login?done=left');
  });
  return router;
}

type Login = {
  /** The path that is opened after the login. */
  next: string;
  hasIssuer: boolean;
  /** The token's fault, as a sentence. */
  fault?: string;
  /** Why the login by the company's account did not succeed. */
  trouble?: string;
  status?: number;
};

/** Answers with the page of the login. */
export function sendLogin(request: Request, response: Response, login: Login): void {
  const { next, hasIssuer, fault, trouble, status = 200 } = login;
  const company = html`<a class="button" href="/login/oidc?next=${encodeURIComponent(next)}">${t('Entrar com a conta da empresa')}</a>
<h2>${t('Ou com um token')}</h2>`;
  const body = html`<div class="login"><p class="brand">${BRAND}</p>
<h1>${t('Entrar')}</h1>
${trouble && html`<p class="fault" role="alert">${trouble}</p>`}
${hasIssuer && company}
<p>${t('Cole o seu token de acesso. Quem administra o Confere lhe dá um.')}</p>
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label><span>${t('Token')}</span><input type="password" name="token" required${!hasIssuer && html` autofocus`} autocomplete="current-password" spellcheck="false"${
    fault && html` aria-invalid="true" aria-describedby="fault"`
  }></label>
${fault && html`<p class="fault" id="fault" role="alert">${fault}</p>`}
<button>${t('Entrar')}</button></form></div>`;
  // the address of the return from the issuer holds a used code
  const address = `/login?next=${encodeURIComponent(next)}`;
  sendPage(request, response, { title: t('Entrar'), body, status, address });
}

/** Accepts only a path of this console: otherwise a link to the login could redirect people to another site. */
export function readNext(value: unknown): string {
  const path = typeof value === 'string' ? value : '/';
  if (!path.startsWith('/') || !URL.canParse(path, 'http://here.invalid')) return '/';
  const { host, pathname, search } = new URL(path, 'http://here.invalid');
  return host === 'here.invalid' && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}
