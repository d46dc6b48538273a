import type { Response } from 'express';
import type { AdjustmentKind } from '../../../ledger/stated/adjust-books.ts';
import { t, words } from '../../../texts/translate.ts';
import { type Html, html } from '../parts/html.ts';
import { buttonLink } from '../parts/page-components.ts';
import { hasRole } from '../parts/send-page.ts';

export const ADJUSTMENT_KIND_WORDS: Record<AdjustmentKind, string> = words({
  bank: 'Banco (saque ou depósito)',
  fee: 'Tarifa',
  block: 'Bloqueio',
  other: 'Outro',
});

/** The lists of what people state. */
export const LISTS = {
  statements: { address: '/balances/statements', title: 'Saldos informados' },
  adjustments: { address: '/balances/adjustments', title: 'Ajustes' },
  openings: { address: '/balances/openings', title: 'Saldos iniciais' },
} as const;

/** The page of the company's bank account. */
export const BANK = { address: '/balances/bank', title: 'Banco' } as const;

/** Links to the pages about balances, and to the forms that this caller may use. */
export function balanceTabs(response: Response, here: string): Html {
  const tabs = [{ address: '/balances', title: 'Saldos' } as const, ...Object.values(LISTS), BANK];
  const forms = [
    { address: '/balances/statements/new', title: 'Informar um saldo', may: hasRole(response, 'accountant') },
    { address: '/balances/adjustments/new', title: 'Lançar um ajuste', may: hasRole(response, 'accountant') },
    { address: '/balances/imports', title: 'Importar um arquivo', may: hasRole(response, 'accountant', 'operator') },
    { address: '/balances/openings/new', title: 'Informar um saldo inicial', may: hasRole(response, 'admin') },
  ] as const;
  const shown = forms.filter(({ address, may }) => may && (here === '/balances' || address.startsWith(here)));
  return html`<nav class="tabs" aria-label="${t('Saldos')}">${tabs.map(
    ({ address, title }) => html`<a href="${address}"${address === here && html` aria-current="page"`}>${t(title)}</a>`,
  )}</nav>
${shown.length > 0 && html`<p class="actions">${shown.map(({ address, title }) => buttonLink(address, t(title)))}</p>`}`;
}
