import type { Response } from 'express';
import type { PresentedMerchant } from '../../../merchants/present-merchant.ts';
import { type PlainText, t } from '../languages/translate.ts';
import { type Html, html } from '../parts/html.ts';
import { hasRole, postForm } from '../parts/send-page.ts';

/** What this caller may do with a merchant. @param hasToken whether it has a pull token. */
export function merchantActions(response: Response, merchant: PresentedMerchant, hasToken: boolean): Html | undefined {
  const [isAdmin, isOperator] = [hasRole(response, 'admin'), hasRole(response, 'operator')];
  if (!isAdmin && !isOperator) return undefined;
  const address = `/merchants/${merchant.id}`;
  const links: (false | [name: string, text: PlainText])[] = [
    isAdmin && ['edit', 'Editar'],
    isOperator && merchant.state === 'enabled' && ['replay', 'Repetir um período'],
    isAdmin && ['rotate-secret', 'Trocar o segredo'],
    isAdmin && ['pull-token', hasToken ? 'Trocar o token de busca' : 'Dar um token de busca'],
    isAdmin && hasToken && ['revoke-pull-token', 'Revogar o token'],
  ];
  return html`<section class="act bare" aria-label="${t('Ações')}">${isAdmin && postForm(response, `${address}/enable`, buttons(merchant))}
<p class="actions">${links.filter((one) => one !== false).map(([name, text]) => html`<a href="${address}/${name}">${t(text)}</a>`)}</p></section>`;
}

function buttons({ id, state, breaker }: PresentedMerchant): Html {
  const address = `/merchants/${id}`;
  const isEnabled = state === 'enabled';
  return html`<div class="actions"><button class="secondary" formaction="${address}/test">${t('Enviar um teste')}</button>${
    isEnabled
      ? html`<button class="secondary" formaction="${address}/pause">${t('Pausar')}</button>`
      : html`<button formaction="${address}/enable">${t('Ativar')}</button>`
  }${isEnabled && breaker === 'open' && html`<button class="secondary" formaction="${address}/enable">${t('Fechar o disjuntor')}</button>`}</div>`;
}
