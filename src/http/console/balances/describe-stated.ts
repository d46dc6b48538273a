import type { Response } from 'express';
import { IMPORT_ROLES } from '../../../imports/import-kinds.ts';
import { addAdjustment } from '../../../operations/books/adjustments.ts';
import { addOpening } from '../../../operations/books/openings.ts';
import { addStatement } from '../../../operations/books/statements.ts';
import { describeCode } from '../../../texts/fill.ts';
import { codeAdjustment } from '../../../texts/reports/texts.ts';
import { t, words } from '../../../texts/translate.ts';
import { type Html, html } from '../parts/html.ts';
import { buttonLink } from '../parts/page-components.ts';
import { hasRole } from '../parts/send-page.ts';
import { ADJUSTMENT_WORDS } from '../parts/words.ts';

/** The names that people gave to bank accounts. */
export type AccountNames = ReadonlyMap<string, { name: string | null }>;

/** An account by its name, with its number, or by its number alone. */
export function showAccount(names: AccountNames, account: string): Html {
  const name = names.get(account)?.name;
  return name ? html`${name} <span class="hint">${account}</span>` : html`${account}`;
}

/** Where the money of an adjustment goes, by its code. */
export const ADJUSTMENT_MEANINGS: Record<string, string> = words({
  bank_out: 'O dinheiro sai do provedor e entra no banco.',
  bank_in: 'O dinheiro sai do banco e entra no provedor.',
  fee_out: 'O provedor fica com o dinheiro: é uma despesa.',
  fee_in: 'O provedor devolve o dinheiro de uma tarifa.',
  block_out: 'O provedor bloqueia o dinheiro: ele continua nosso, mas não está disponível.',
  block_in: 'O provedor desbloqueia o dinheiro: ele fica disponível de novo.',
  other_out: 'O dinheiro sai do disponível.',
  other_in: 'O dinheiro entra no disponível.',
});

/** The name of an adjustment: `Saque`. */
export function nameAdjustment({ kind, amount }: { kind: string; amount: bigint }, isReversal = false): string {
  return describeCode(ADJUSTMENT_WORDS, codeAdjustment(kind, amount, isReversal));
}

/** The lists of what people state. */
export const LISTS = {
  statements: { address: '/balances/statements', title: 'Saldos informados' },
  adjustments: { address: '/balances/adjustments', title: 'Ajustes' },
  openings: { address: '/balances/openings', title: 'Saldos iniciais' },
} as const;

/** The page of the company's bank account. */
export const BANK = { address: '/balances/bank', title: 'Banco' } as const;

/** The page of what the provider charged. */
export const FEES = { address: '/balances/fees', title: 'Tarifas' } as const;

/** Links to the pages about balances, and to the forms that this caller may use. */
export function balanceTabs(response: Response, here: string): Html {
  const tabs = [{ address: '/balances', title: 'Saldos' } as const, ...Object.values(LISTS), FEES, BANK];
  const forms = [
    { address: '/balances/statements/new', title: 'Informar um saldo', may: hasRole(response, ...addStatement.roles) },
    { address: '/balances/adjustments/new', title: 'Lançar um ajuste', may: hasRole(response, ...addAdjustment.roles) },
    { address: '/balances/imports', title: 'Importar um arquivo', may: hasRole(response, ...IMPORT_ROLES) },
    {
      address: '/balances/openings/new',
      title: 'Informar um saldo inicial',
      may: hasRole(response, ...addOpening.roles),
    },
  ] as const;
  const shown = forms.filter(({ address, may }) => may && (here === '/balances' || address.startsWith(here)));
  return html`<nav class="tabs" aria-label="${t('Saldos')}">${tabs.map(
    ({ address, title }) => html`<a href="${address}"${address === here && html` aria-current="page"`}>${t(title)}</a>`,
  )}</nav>
${shown.length > 0 && html`<p class="actions">${shown.map(({ address, title }) => buttonLink(address, t(title)))}</p>`}`;
}
