import type { Request, Response, Router } from 'express';
import { auditChange } from '../../../access/audit.ts';
import { closeSession, openMerchantSession } from '../../../access/sessions.ts';
import { findMerchantToken, isMerchantToken } from '../../../access/tokens.ts';
import type { Context } from '../../../context.ts';
import { t } from '../../../texts/translate.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { readNext } from '../access/show-login.ts';
import { html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { checkOrigin, clearSessionCookie, readSessionCookie, setSessionCookie } from '../parts/require-session.ts';
import { sendPage, siteOf } from '../parts/send-page.ts';
import { HOME } from './site.ts';

const ADDRESS = '/portal/login';

/** The log-in with a merchant's token. */
export function portalLogin(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  router.get(ADDRESS, (request, response) => sendLogin(request, response, { next: readPath(request.query.next) }));

  router.post(ADDRESS, async (request, response) => {
    checkOrigin(context, request);
    const next = readPath(readFormField(request, 'next'));
    const credential = readFormField(request, 'token') ?? '';
    const attempt = { kind: 'login', address: request.ip, credential } as const;
    const caller = isMerchantToken(credential)
      ? await guard.admit(attempt, () => findMerchantToken(context, credential))
      : undefined;
    if (!caller) {
      sendLogin(request, response, { next, fault: t('Este token não existe ou foi revogado, ou expirou.') });
      return;
    }
    const old = readSessionCookie(context, request);
    const done = { actor: caller.id, action: 'portal.login', target: caller.id };
    const session = await auditChange(
      context,
      async (inner) => {
        if (old) await closeSession(inner, old);
        return await openMerchantSession(inner, credential);
      },
      done,
    );
    setSessionCookie(context, response, session);
    response.redirect(303, next);
  });
  return router;
}

/** The log-out, for a router behind the login. */
export function portalLogout(context: Context): Router {
  const router = createRouter();
  router.post('/portal/logout', async (request, response) => {
    const session = readSessionCookie(context, request) ?? '';
    const { actor } = getScope(response);
    const done = { actor, action: 'portal.logout', target: actor };
    await auditChange(context, (inner) => closeSession(inner, session), done);
    clearSessionCookie(context, response);
    response.redirect(303, `${ADDRESS}?done=left`);
  });
  return router;
}

function sendLogin(request: Request, response: Response, { next, fault }: { next: string; fault?: string }): void {
  const body = html`<div class="login"><p class="brand">${siteOf(response).brand}</p>
<h1>${t('Entrar')}</h1>
<p>${t('Cole o token do portal, que a operação lhe deu. Ele começa com cfm_.')}</p>
<form method="post" action="${ADDRESS}">
<input type="hidden" name="next" value="${next}">
<label><span>${t('Token')}</span><input type="password" name="token" required autofocus autocomplete="current-password" spellcheck="false"${
    fault && html` aria-invalid="true" aria-describedby="fault"`
  }></label>
${fault && html`<p class="fault" id="fault" role="alert">${fault}</p>`}
<button>${t('Entrar')}</button></form></div>`;
  const address = `${ADDRESS}?next=${encodeURIComponent(next)}`;
  sendPage(request, response, { title: t('Entrar'), body, status: fault ? 401 : 200, address });
}

/** Accepts only a path of the portal. */
function readPath(value: unknown): string {
  const path = readNext(value);
  return /^\/portal(?:[/?]|$)/.test(path) ? path : HOME.address;
}
