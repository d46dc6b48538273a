import type { Response } from 'express';
import { isFailing } from '../../../callbacks/health/merchant-health.ts';
import type { Delivery } from '../../../callbacks/manage/read-delivery.ts';
import type { Context } from '../../../context.ts';
import type { PresentedMerchant } from '../../../merchants/present-merchant.ts';
import { type PlainText, t } from '../../../texts/translate.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { ROLE_WORDS } from '../parts/words.ts';
import { describeHeld } from './render-delivery.ts';

/** Renders the actions that this caller may take with a merchant. @param has a pull token, a change of address that waits, what waits to be sent. */
export function merchantActions(
  response: Response,
  merchant: PresentedMerchant,
  { hasToken, isAsking, delivery }: { hasToken: boolean; isAsking: boolean; delivery: Delivery },
): Html | undefined {
  const [isAdmin, isOperator] = [hasRole(response, 'admin'), hasRole(response, 'operator')];
  if (!isAdmin && !isOperator) return undefined;
  const address = `/merchants/${merchant.id}`;
  const links: (false | [name: string, text: PlainText])[] = [
    isAdmin && ['edit', 'Editar'],
    isOperator && merchant.state === 'enabled' && ['replay', 'Reenviar um período'],
    isAdmin && ['rotate-secret', 'Trocar o segredo'],
    isAdmin && ['pull-token', hasToken ? 'Trocar o token de busca' : 'Dar um token de busca'],
    isAdmin && hasToken && ['revoke-pull-token', 'Revogar o token'],
    isAdmin && isAsking && ['decide-address', 'Decidir uma mudança de endereço'],
    isAdmin && ['portal-token', 'Dar acesso ao portal'],
  ];
  const held = describeHeld(merchant, delivery);
  return html`<section class="act bare" aria-label="${t('Ações')}">${isAdmin && html`${postForm(response, `${address}/enable`, buttons(merchant, held !== false))}${held}`}
<p class="actions">${links.filter((one) => one !== false).map(([name, text]) => html`<a href="${address}/${name}">${t(text)}</a>`)}</p></section>`;
}

/**
 * Says to a caller who may not change a merchant that receives nothing who may, and what they may do themselves; undefined
 * for an admin, and of a merchant that receives.
 */
export function explainWhoMayChange(
  { clock }: Context,
  response: Response,
  { id, state, breaker, failing_since }: PresentedMerchant,
): Html | undefined {
  const receives = state === 'enabled' && breaker !== 'open' && !isFailing(failing_since, clock.now());
  if (receives || hasRole(response, 'admin')) return undefined;
  const callbacks = html`<a href="/callbacks?merchant=${id}">${t('ver os callbacks e os seus erros')}</a>`;
  const replay = html`<a href="/merchants/${id}/replay">${t('repetir um período')}</a>`;
  const own = !hasRole(response, 'operator')
    ? tHtml('Você pode {callbacks}.', { callbacks })
    : state === 'enabled'
      ? tHtml('Você pode {callbacks}, falar com o lojista e, quando o endereço voltar, {replay}.', {
          callbacks,
          replay,
        })
      : tHtml('Você pode {callbacks}, falar com o lojista e, retomados os envios, repetir um período.', { callbacks });
  return html`<p class="explain">${t('Só quem tem o papel {role} corrige o endereço, envia um teste, pausa ou retoma os envios a este lojista.', { role: ROLE_WORDS.admin })} ${own}</p>`;
}

/** @param holds whether something waits until deliveries are resumed. */
function buttons({ id, state, breaker }: PresentedMerchant, holds: boolean): Html {
  const address = `/merchants/${id}`;
  const isEnabled = state === 'enabled';
  return html`<div class="actions"><button class="secondary" formaction="${address}/test">${t('Enviar um teste')}</button>${
    isEnabled
      ? html`<button class="secondary" formaction="${address}/pause">${t('Pausar')}</button>`
      : html`<button formaction="${address}/enable">${t('Retomar os envios')}</button>`
  }${isEnabled && (breaker === 'open' || holds) && html`<button class="secondary" formaction="${address}/enable">${t(breaker === 'open' ? 'Fechar o disjuntor' : 'Enviar agora tudo o que espera')}</button>`}</div>`;
}
