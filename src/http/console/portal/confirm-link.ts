import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { presentAddressChange } from '../../../portal/address-changes.ts';
import { type AddressLink, findLink, useLink } from '../../../portal/address-links.ts';
import { t } from '../../../texts/translate.ts';
import type { AuthGuard } from '../../access/guard-auth-attempts.ts';
import { createRouter } from '../../create-router.ts';
import { renderChange } from '../merchants/decide-address.ts';
import { html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { checkOrigin } from '../parts/require-session.ts';
import { sendPage, siteOf } from '../parts/send-page.ts';

const ADDRESS = '/portal/confirm';

/** The page of a mailed link, without a log-in: it shows what changes. A GET changes nothing: scanners of mails open links. */
export function confirmLink(context: Context, guard: AuthGuard): Router {
  const router = createRouter();
  const find = (request: Request, token: string) =>
    guard.admit({ kind: 'login', address: request.ip, credential: token }, () => findLink(context, token));
  router.get(ADDRESS, async (request, response) => {
    if (request.query.done !== undefined) return send(request, response, 200, '');
    const token = typeof request.query.token === 'string' ? request.query.token : '';
    const link = await find(request, token);
    if (link) send(request, response, 200, show(context, link, token));
    else sendVoid(request, response);
  });
  router.post(ADDRESS, async (request, response) => {
    checkOrigin(context, request);
    const token = readFormField(request, 'token') ?? '';
    const decision = readFormField(request, 'decision') === 'confirm' ? 'confirm' : 'refuse';
    if (!(await find(request, token))) return sendVoid(request, response);
    const isApplied = await useLink(context, token, decision);
    const done = decision === 'refuse' ? 'address_refused' : isApplied ? 'address_changed' : 'address_agreed';
    response.redirect(303, `${ADDRESS}?done=${done}`);
  });
  return router;
}

function show(context: Context, { change, side }: AddressLink, token: string) {
  const isNew = side === 'prove';
  return html`<p>${
    isNew
      ? t('Este e-mail passa a receber os e-mails sobre este lojista e os links que confirmam mudanças.')
      : t('Foi pedido no portal. Se não foi você, recuse e avise a operação: um token do portal pode ter vazado.')
  }</p>
<h2 class="as-written">${change.merchant_name}</h2>${renderChange(context, presentAddressChange(change), isNew)}
<form method="post" action="${ADDRESS}"><input type="hidden" name="token" value="${token}">
<div class="actions"><button name="decision" value="confirm">${t('Confirmar')}</button><button name="decision" value="refuse" class="secondary">${t('Recusar')}</button></div></form>`;
}

function sendVoid(request: Request, response: Response): void {
  const text = t(
    'Este link não vale mais: já foi usado, expirou ou foi retirado, ou agora só a operação pode confirmar.',
  );
  send(request, response, 404, html`<p>${text}</p>`);
}

function send(request: Request, response: Response, status: number, content: ReturnType<typeof html> | ''): void {
  const title = t('Confirmar uma mudança');
  const body = html`<p class="brand">${siteOf(response).brand}</p><h1>${title}</h1>${content}`;
  // the choice of a language would lose the token
  sendPage(request, response, { title, body, status, wide: true, address: request.originalUrl });
}
