import type { Request, Response, Router } from 'express';
import { auditChange } from '../../../access/audit.ts';
import { closeHashedSession, hashSession, openUserSession } from '../../../access/sessions.ts';
import { recordUser, userIdOf } from '../../../access/users.ts';
import type { Context } from '../../../context.ts';
import { LoginError, type LoginFailure } from '../../../oidc/describe-login-failure.ts';
import type { Issuer } from '../../../oidc/open-issuer.ts';
import type { KnownPerson } from '../../../oidc/read-person.ts';
import { type PlainText, t } from '../../../texts/translate.ts';
import { AUTH_ATTEMPT_LIMITS, createAuthGuard } from '../../access/guard-auth-attempts.ts';
import { createRouter } from '../../create-router.ts';
import { html, tHtml } from '../parts/html.ts';
import { readSessionCookie, setSessionCookie } from '../parts/require-session.ts';
import { BRAND, sendPage } from '../parts/send-page.ts';
import { setLoginAttempt, takeLoginAttempt } from './login-attempt.ts';
import { sendOnwards } from './send-onwards.ts';
import { readNext, sendLogin } from './show-login.ts';

/** A guard of its own: an issuer that answers slowly must not keep tokens waiting for a slot. */
const ISSUER_ATTEMPT_LIMITS = { ...AUTH_ATTEMPT_LIMITS, slots: 8 };

/** Text and status for a login that did not succeed. */
const TROUBLES: Record<LoginFailure | 'no_attempt', { status: number; text: PlainText }> = {
  denied: { status: 403, text: 'A conta da empresa não autorizou a entrada. Tente de novo, ou entre com um token.' },
  refused: {
    status: 401,
    text: 'A resposta da conta da empresa não vale para este login: pode ter expirado ou já ter sido usada. Comece de novo.',
  },
  no_attempt: {
    status: 401,
    text: 'Este login não começou neste navegador, ou demorou mais de dez minutos. Comece de novo.',
  },
  unavailable: {
    status: 503,
    text: 'A conta da empresa não está disponível agora: o emissor não respondeu. Tokens funcionam; tente de novo em um minuto.',
  },
  misconfigured: {
    status: 503,
    text: 'A conta da empresa não está disponível: a configuração do Confere não serve ao emissor. Avise quem opera; tokens funcionam.',
  },
};

/** Log-in by the company's account: to the issuer, and back. */
export function issuerLoginPages(context: Context, issuer: Issuer): Router {
  const router = createRouter();
  const guard = createAuthGuard(context, ISSUER_ATTEMPT_LIMITS);
  router.get('/login/oidc', async (request, response) => {
    const next = readNext(request.query.next);
    try {
      const { url, checks } = await issuer.begin();
      const session = readSessionCookie(context, request);
      const earlier = session === undefined ? undefined : hashSession(session).toString('hex');
      setLoginAttempt(context, response, { ...checks, next, earlier });
      response.redirect(303, url.href);
    } catch (error) {
      // logged where the issuer was asked
      if (!(error instanceof LoginError)) throw error;
      sendTrouble(request, response, next, error.reason);
    }
  });

  router.get('/login/oidc/callback', async (request, response) => {
    // the address holds the code
    response.setHeader('referrer-policy', 'no-referrer');
    const attempt = takeLoginAttempt(context, request, response);
    let failure: keyof typeof TROUBLES = 'no_attempt';
    const credential = request.originalUrl;
    const person = await guard.admit({ kind: 'oidc', address: request.ip, credential }, async () => {
      if (!attempt) return undefined;
      try {
        return await issuer.redeem(readSearch(request), attempt);
      } catch (error) {
        failure = logFailure(context, error);
        return undefined;
      }
    });
    if (!person) sendTrouble(request, response, attempt?.next ?? '/', failure);
    else await logIn(context, request, response, { person, ...(attempt ?? { next: '/' }) });
  });
  return router;
}

/** @returns the failure. The log has its codes, and nothing of the answer. @throws any other error. */
function logFailure({ log }: Context, error: unknown): LoginFailure {
  if (!(error instanceof LoginError)) throw error;
  const { reason, code } = error;
  const isOurs = reason === 'unavailable' || reason === 'misconfigured';
  log[isOurs ? 'error' : 'warn']({ reason, code }, 'a login by the company account did not succeed');
  return reason;
}

function readSearch(request: Request): string {
  const at = request.originalUrl.indexOf('?');
  return at < 0 ? '' : request.originalUrl.slice(at);
}

function sendTrouble(request: Request, response: Response, next: string, failure: keyof typeof TROUBLES): void {
  const { status, text } = TROUBLES[failure];
  sendLogin(request, response, { next, hasIssuer: true, trouble: t(text), status });
}

async function logIn(
  context: Context,
  request: Request,
  response: Response,
  { person, next, earlier }: { person: KnownPerson; next: string; earlier?: string | undefined },
): Promise<void> {
  const { role, lacksGroups } = person;
  const id = userIdOf(context.keys, person);
  if (lacksGroups) context.log.warn({ user: id, role: role ?? null }, GROUPS_ELSEWHERE);
  if (role === undefined) {
    const detail = `oidc: ${lacksGroups ? 'the issuer left the groups out' : 'no group has a role'}`;
    const denied = { actor: id, action: 'console.login_denied', target: id, detail };
    await auditChange(context, (inner) => recordUser(inner, person), denied);
    sendDenied(request, response, person);
    return;
  }
  const session = await auditChange(
    context,
    async (inner) => {
      if (earlier !== undefined) await closeHashedSession(inner, Buffer.from(earlier, 'hex'));
      return await openUserSession(inner, { seq: await recordUser(inner, person), role });
    },
    { actor: id, action: 'console.login', target: id, detail: `oidc ${role}` },
  );
  setSessionCookie(context, response, session);
  sendOnwards(request, response, { title: t('Entrando'), address: next, link: t('Continuar') });
}

/** The person must be given a role by another claim: Confere asks the issuer's directory for nothing. */
const GROUPS_ELSEWHERE =
  'the issuer left the groups of a person out and sent a reference: the person is in too many groups; use app roles and set OIDC_GROUPS_CLAIM';

function sendDenied(request: Request, response: Response, { name, lacksGroups }: KnownPerson): void {
  const text = tHtml(
    lacksGroups
      ? 'A conta da empresa reconheceu <b>{name}</b>, mas não enviou os seus grupos ao Confere: são muitos para o login, e sem eles não há papel. Avise quem opera o Confere; o acesso pode vir de um papel de aplicativo.'
      : 'A conta da empresa reconheceu <b>{name}</b>, mas nenhum dos seus grupos tem um papel no Confere. Peça o acesso a quem administra a conta da empresa e entre de novo.',
    { name },
  );
  const body = html`<div class="login"><p class="brand">${BRAND}</p>
<h1>${t('Sem acesso')}</h1>
<p>${text}</p>
<p><a href="/login">${t('Voltar ao login')}</a></p></div>`;
  sendPage(request, response, { title: t('Sem acesso'), body, status: 403, address: '/login' });
}
