import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { OF_EXPECTED_PAYMENTS } from '../../../domain/mismatch.ts';
import { parseSum } from '../../../domain/money.ts';
import type { PresentedTransaction } from '../../../domain/present-transaction.ts';
import { usesOrders } from '../../../expected/count-orders.ts';
import { decideOne } from '../../../expected/follow/follow-payments.ts';
import { listExpected, type PresentedExpected } from '../../../expected/list-expected.ts';
import { previewChange } from '../../../ledger/read/preview-change.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { matchOne } from '../../../operations/expected/expected.ts';
import { describeCode } from '../../../texts/fill.ts';
import { refuse, refuseField } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, type TwoStepForm } from '../forms/two-step-form.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { formatMoneyInput, inputField, noteField } from '../parts/fields.ts';
import { moment, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, transactionLink } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { type Order, ofOrder } from './cancel-order.ts';
import { addressOfMatch, amountFacts, EXPECTED, readOrderPayments, stateBadge } from './describe-expected.ts';

const UNTYPED = { values: {}, faults: {} };

const NAMES = ['transaction_id', 'note'];
type Given = GivenOf<typeof matchOne>;

/** The form that matches a payment with an order, and the route that leads to it from a payment: there the order is named by its number. */
export function matchForms(context: Context): Router {
  const router = createRouter();
  router.post(
    '/transactions/:id/match',
    requireRole(...matchOne.roles),
    async (request: Request<{ id: string }>, response) => {
      const [order, other] = await listExpected(context, 2, undefined, {
        number: readFormField(request, 'number') ?? '',
      });
      if (!order) throw refuse('expected_unknown');
      if (other) throw refuse('expected_number_shared');
      response.redirect(303, addressOfMatch(order.id, request.params.id));
    },
  );
  const own = ofChange(matchOne);
  const form: TwoStepForm<Given, Order> = {
    ...{ ...own, ...ofOrder(context) },
    address: `${EXPECTED.address}/:id/match`,
    title: 'Casar com o pedido',
    lead: 'O pagamento passa a contar para este pedido. Dá para desfazer na página do pedido.',
    names: NAMES,
    fields: async (draft, order) => html`${describeSums(order)}<div class="fields">
${inputField(draft, { name: 'transaction_id', label: 'Pagamento', hint: 'O id da transação, ou o seu id E2E.' }, html` maxlength="64"`)}</div>${noteField(draft, 'Observação (opcional)')}`,
    read({ values: { transaction_id: id = '', note = '' }, faults }) {
      if (id.trim() === '') faults.transaction_id = t('Escreva o id de um pagamento.');
      return { transaction_id: id.trim(), note: note || t('Casado à mão, sem observação') };
    },
    preview: (given, order, response) => previewMatch(context, given, order, response),
  };
  router.use(serveTwoStepForm(context, form));
  return router;
}

/** The amounts of an order. @param before what was paid before stands beside what is paid now. */
function describeSums(order: PresentedExpected, before?: PresentedExpected): Html {
  const amounts = amountFacts(order).map(([title, part]) =>
    title === 'Pago' && before ? ([title, html`${moneyOf(before.paid)} → ${part}`] as const) : ([title, part] as const),
  );
  return facts([['Pedido', order.number], ...amounts]);
}

/** Makes the match and decides the order, both rolled back: the preview has the state and mismatches that follow. */
async function previewMatch(
  context: Context,
  given: Given,
  { id }: PresentedExpected,
  response: Response,
): Promise<Html> {
  const since = context.clock.now();
  const shown: { before?: PresentedExpected; after?: PresentedExpected; ended: string[] } = { ended: [] };
  const by = { caller: getCaller(response), id };
  const { opened } = await previewChange(context, async (inner) => {
    const [order] = await listExpected(inner, 1, undefined, { id });
    if (!order) throw refuse('expected_unknown');
    await matchOne.change(inner, given, by).catch(asFieldFault);
    await decideOne(inner, order.seq);
    const [after = order] = await listExpected(inner, 1, undefined, { id });
    const scopes = [id, ...after.matches.map((one) => one.transaction_id)];
    Object.assign(shown, { before: order, after, ended: await listEnded(inner, since, scopes) });
  });
  const { before, after, ended } = shown;
  if (!before || !after) throw refuse('expected_unknown');
  const payments = await readOrderPayments(context, response, [after]);
  const made = after.matches.at(-1);
  const payment = payments.get(made?.transaction_id ?? '');
  const scopes = new Set([id, ...payments.keys()]);
  const titles = (kinds: string[]): string =>
    kinds.map((kind) => `“${describeCode(MISMATCH_TITLES, kind)}”`).join(', ');
  const begun = opened.filter(({ scope }) => scopes.has(scope)).map(({ kind }) => kind);
  return html`${facts([
    ['Pagamento', made && transactionLink(made.transaction_id)],
    ['Conta para o pedido', moneyOf(made?.amount)],
    ['Valor do pagamento', moneyOf(payment?.amount)],
    ['Criada em', moment(context.calendar, payment?.created_at)],
    ['Nome', payment?.name],
    ['Observação', given.note],
  ])}${describeSums(after, before)}<p class="explain${begun.length > 0 && ' bad'}">${t('O pedido fica:')} ${stateBadge(after.state)}. ${
    ended.length > 0 && `${t('Resolve a divergência {titles}.', { titles: titles(ended) })} `
  }${begun.length > 0 ? t('Abre a divergência {titles}.', { titles: titles(begun) }) : ended.length === 0 && t('Nenhuma divergência muda.')}</p>`;
}

/** The form says beside its field that there is no such payment. */
function asFieldFault(error: unknown): never {
  if (error instanceof ConfereError && error.reason === 'transaction_unknown')
    throw refuseField('transaction_id', 'payment_unknown');
  throw error;
}

/** The kinds of the mismatches of these that were resolved since. */
async function listEnded({ db }: Context, since: Date, scopes: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('mismatches')
    .select('kind')
    .where('kind', 'in', [...OF_EXPECTED_PAYMENTS, 'receipt_unidentified'])
    .where('scope', 'in', scopes)
    .where('resolved_at', '>=', since)
    .execute();
  return rows.map(({ kind }) => kind);
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
  const match = html`<div class="fields">${inputField(UNTYPED, { name: 'number', label: 'Número do pedido' }, html` required maxlength="120"`)}</div>
<div class="actions"><button>${t('Casar com o pedido')}</button></div>`;
  return html`<section class="act" id="match"><h2>${t('Este pagamento não é de pedido nenhum')}</h2>
${postForm(response, `/transactions/${encodeURIComponent(payment.id)}/match`, match)}
${postForm(response, `${EXPECTED.address}/new`, html`${hidden}<div class="actions"><button class="secondary">${t('Novo pedido deste pagamento')}</button></div>`)}</section>`;
}
