import type { Response, Router } from 'express';
import { type CallbackCounts, NO_CALLBACKS, readCallbackCounts } from '../../../callbacks/health/count-undelivered.ts';
import type { Context } from '../../../context.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import type { PresentedMerchant } from '../../../merchants/present-merchant.ts';
import { listMerchants } from '../../../merchants/read-merchants.ts';
import { presentMerchantName } from '../../../operations/mask-texts.ts';
import { addMerchant, merchants } from '../../../operations/merchants/merchants.ts';
import { mapInTurns } from '../../../runtime/take-turns.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { EMPTY_VALUE, formatBounded, moment, shortenId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, buttonLink, table } from '../parts/page-components.ts';
import { sendList } from '../parts/send-list.ts';
import { hasRole } from '../parts/send-page.ts';
import { MERCHANT_STATE_WORDS } from '../parts/words.ts';

/** The list of merchants, with the counts of their undelivered callbacks. */
export function merchantListPages(context: Context): Router {
  return createRouter().get('/merchants', async (request, response) => {
    const { rows, next } = await readListPage(context, merchants, request, response);
    const counts = await readCallbackCounts(context.db);
    const list = table({
      caption: 'Lojistas, na ordem em que entraram',
      rows,
      empty: 'Nenhum lojista recebe callbacks até agora: a operação cria o primeiro com Novo lojista.',
      columns: [
        { title: 'Lojista', cell: (row) => html`<a href="/merchants/${row.id}">${row.name}</a>` },
        { title: 'Estado', cell: (row) => merchantBadges(row) },
        { title: 'Pendentes', cell: (row) => countCell(counts, row.id, 'pending'), align: 'end' },
        { title: 'Retidos', cell: (row) => countCell(counts, row.id, 'held'), align: 'end' },
        { title: 'Com falha', cell: (row) => countCell(counts, row.id, 'failed'), align: 'end' },
        { title: 'Falhando desde', cell: (row) => moment(context.calendar, row.failing_since) },
      ],
    });
    const lead =
      hasRole(response, ...addMerchant.roles) &&
      html`<p class="actions">${buttonLink('/merchants/new', t('Novo lojista'))}</p>`;
    sendList(request, response, { title: 'Lojistas', address: '/merchants', lead, rows: list, next });
  });
}

/** Choices of a merchant beyond these are left out; the field takes any id. */
const CHOICES_MAX = 1_000;

export type MerchantWords = Readonly<Record<string, string>>;

/** The merchants by id, with their names as the caller may see them: for a select field, and for links. */
export async function readMerchantWords(context: Context, response: Response): Promise<Record<string, string>> {
  const rows = await listMerchants(context.db, { limit: CHOICES_MAX, after: 0 });
  const words = await mapInTurns(rows, (row) => [row.id, presentMerchantName(getCaller(response), row.name)] as const);
  return Object.fromEntries(words.map(([id, name]) => [id, name === WITHHELD ? shortenId(id) : name]));
}

/** A link to a merchant, by its name; by its id, shortened, if the name is withheld or the merchant was removed. */
export function merchantLink(words: MerchantWords, id: string): Html {
  return html`<a href="/merchants/${id}" title="${id}">${words[id] ?? shortenId(id)}</a>`;
}

/** Badges for a merchant's state, whether it fails, and for an open circuit breaker, which holds its callbacks. */
export function merchantBadges(merchant: PresentedMerchant): Html {
  const isSeenFailing = merchant.state === 'enabled' && merchant.failing_since !== null;
  return html`${isSeenFailing ? badge({ failing: t('Falhando') }, 'failing') : badge(MERCHANT_STATE_WORDS, merchant.state)}${
    merchant.breaker === 'open' && html` ${badge({ held: t('Disjuntor aberto') }, 'held')}`
  }`;
}

function countCell(counts: CallbackCounts, merchant: string, state: 'pending' | 'held' | 'failed'): Html {
  const count = counts.get(merchant)?.[state] ?? NO_CALLBACKS;
  return count.n === 0
    ? EMPTY_VALUE
    : html`<a href="/callbacks?merchant=${merchant}&amp;state=${state}">${formatBounded(count)}</a>`;
}
