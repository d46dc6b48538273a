/** The filters by which one finds whom to ask for payment, in both consoles. */
import { t, words } from '../../../texts/translate.ts';
import { type Draft, filterField } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { filterChoice } from '../parts/parse-filters.ts';

export const CHARGING = { alike: filterChoice(['true']), chargeable: filterChoice(['true']) };

const ALIKE_WORDS = words({ true: 'há um' });
const CHARGEABLE_WORDS = words({ true: 'a cobrar' });

export function chargingFields(draft: Draft): Html[] {
  return [
    filterField(draft, { name: 'alike', label: 'Pagamento parecido', words: ALIKE_WORDS, any: 'Todos' }),
    filterField(draft, { name: 'chargeable', label: 'Cobrança', words: CHARGEABLE_WORDS, any: 'Todos' }),
  ];
}

/** Links to orders that may be charged again, and to those that may be paid though nothing ties them to their payment. @param alike where these are listed. */
export function chargingLinks(address: string, alike?: 'true'): Html {
  if (alike !== undefined)
    return html`<p class="hint">${t('Igual valor, ou igual referência em outra plataforma: abra cada pedido para compará-lo com o pagamento.')}</p>`;
  return html`<p class="hint"><a href="${address}?chargeable=true">${t('Para cobrar: os não pagos sem disputa, nem pagamento parecido')}</a> · <a href="${address}?alike=true">${t('Antes de cobrar: os não pagos que um pagamento que não é de pedido nenhum pode ter pago')}</a></p>`;
}
