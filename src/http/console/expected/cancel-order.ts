import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import { chooseState } from '../../../expected/decide/decide-state.ts';
import { listExpected, type PresentedExpected } from '../../../expected/read/list-expected.ts';
import { cancelOne } from '../../../operations/expected/expected.ts';
import { oneExpected } from '../../../operations/expected/read-expected.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { moneyOf } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { type PlatformNames, readPlatformNames } from '../parts/read-platform-names.ts';
import { describeFacts, EXPECTED, isCancelled, stateBadge } from './describe-expected.ts';

export type Order = PresentedExpected & { names: PlatformNames };

/** The parts of a form that changes one order. */
export function ofOrder(context: Context) {
  return {
    section: EXPECTED,
    list: ({ id, number }: Order) => ({ address: `${EXPECTED.address}/${id}`, title: number }),
    find: async ({ params: { id } }: { params: { id: string } }, response: Response): Promise<Order> => ({
      ...(await oneExpected.read(context, { caller: getCaller(response), id, via: 'console' })),
      names: await readPlatformNames(context, response),
    }),
    basis: readBasis,
    done: 'expected_put' as const,
  };
}

/** Reads the facts of an order and what is paid of it, as a text: what a change of it comes to depends on them. */
export async function readBasis(inner: Context, { id }: Pick<Order, 'id'>): Promise<string> {
  const [order] = await listExpected(inner, 1, undefined, { id });
  return order ? `${order.version} ${order.state} ${order.paid} ${order.refunded}` : '';
}

/** The form that cancels an order. Its preview says the state that follows: cancelling returns no payment. */
export function cancelForm(context: Context): Router {
  const form: TwoStepForm<undefined, Order> = {
    ...ofChange(cancelOne),
    ...ofOrder(context),
    address: `${EXPECTED.address}/:id/cancel`,
    title: 'Cancelar o pedido',
    lead: 'O pedido deixa de ser esperado. Cancelar não devolve nada do que já foi pago; dá para reabrir.',
    names: [],
    isOpen: async (order) => !isCancelled(order),
    fields: async (_draft, order) => describeFacts(order, order.names),
    read: () => undefined,
    async preview(_given, order) {
      await previewOf(context, cancelOne, undefined, order.id);
      const ended = { amountCents: 0n, isCancelled: true, isOver: false, lacks: 0 };
      const state = chooseState(ended, { settledCents: parseSum(order.paid) ?? 0n, returnedCents: 0n, parts: 0 });
      const title = MISMATCH_TITLES.paid_after_cancel ?? '';
      const follows =
        state === 'cancelled'
          ? t('Um pagamento que ainda chegar abre uma divergência.')
          : t('Abre a divergência “{title}”: devolva o pagamento, ou reabra o pedido.', { title });
      return html`${facts([
        ['Número', order.number],
        ['Pago', moneyOf(order.paid)],
        ['Estado depois', stateBadge(state)],
      ])}<p class="explain${state !== 'cancelled' && ' bad'}">${follows}</p>`;
    },
  };
  return serveTwoStepForm(context, form);
}
