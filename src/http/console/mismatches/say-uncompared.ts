import type { Context } from '../../../context.ts';
import { findUncompared } from '../../../ledger/stated/compare-charges.ts';
import { t } from '../../../texts/translate.ts';
import { formatDay } from '../parts/format.ts';
import { html, type Part } from '../parts/html.ts';
import { MISMATCH_TITLES } from './explain-mismatch.ts';

/** Says beside a count of mismatches of contracts that some of their days are still being compared; nothing once all are. */
export async function sayUncompared(context: Context): Promise<Part> {
  const span = await findUncompared(context);
  if (!span) return undefined;
  const days = {
    from: formatDay(span.from),
    to: formatDay(span.to),
    title: MISMATCH_TITLES.commission_not_agreed ?? '',
  };
  return html`<p class="hint">${t('As tarifas de {from} a {to} ainda estão sendo comparadas com os contratos: até terminar, o número e a soma de “{title}” podem mudar.', days)}</p>`;
}
