import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import type { PresentedTransaction } from '../../../domain/present-transaction.ts';
import { usesOrders } from '../../../expected/count-orders.ts';
import { listExpected } from '../../../expected/list-expected.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { matchOne } from '../../../operations/expected.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { formatMoneyInput, inputField } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { EXPECTED } from './describe-expected.ts';

const UNTYPED = { values: {}, faults: {} };

/** The route of the form on a payment's own page: the order is named by its number. */
export function matchPaymentForm(context: Context): Router {
  return createRouter().post(
    '/transactions/:id/match',
    requireRole(...matchOne.roles),
    async (request: Request<{ id: string }>, response) => {
      const number = readFormField(request, 'number') ?? '';
      const [order, other] = await listExpected(context, 2, undefined, { number });
      if (!order) throw refuse('expected_unknown');
      if (other) throw refuse('expected_number_shared');
      const given = {
        transaction_id: request.params.id,
        note: readFormField(request, 'note') ?? t('Casado pelo número do pedido'),
      };
      await makeChange(context, matchOne, { given, by: { caller: getCaller(response), id: order.id, via: 'console' } });
      response.redirect(303, `${EXPECTED.address}/${order.id}`);
    },
  );
}

/** Forms for a payment that is no order's: one matches it, one opens a new order, filled in with its facts. */
export async function offerMatch(
  context: Context,
  response: Response,
  payment: PresentedTransaction & { expected_payments: unknown[] },
): Promise<Html | undefined> {
  if (payment.status !== 'paid' || payment.expected_payments.length > 0) return undefined;
  if (!hasRole(response, ...matchOne.roles) || !(await usesOrders(context.db))) return undefined;
  const { operation, amount, reference, document, name, status_at } = payment;
  const facts = {
    ...{ step: 'edit', operation, amount: formatMoneyInput(parseSum(amount) ?? 0n) },
    due_day: context.calendar.dayOf(new Date(status_at)),
    ...{ references: reference, document, name },
  };
  const hidden = Object.entries(facts).map(
    ([field, value]) => html`<input type="hidden" name="${field}" value="${value ?? ''}">`,
  );
  const match = html`<div class="fields">${inputField(UNTYPED, { name: 'number', label: 'Número do pedido' }, html` required maxlength="120"`)}
${inputField(UNTYPED, { name: 'note', label: 'Observação' }, html` maxlength="1000"`)}</div>
<div class="actions"><button>${t('Casar com o pedido')}</button></div>`;
  return html`<section class="act" id="match"><h2>${t('Este pagamento não é de pedido nenhum')}</h2>
${postForm(response, `/transactions/${encodeURIComponent(payment.id)}/match`, match)}
${postForm(response, `${EXPECTED.address}/new`, html`${hidden}<div class="actions"><button class="secondary">${t('Novo pedido deste pagamento')}</button></div>`)}</section>`;
}
