import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { addDays, countDays } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { OF_EXPECTED_PAYMENTS } from '../../../domain/mismatch.ts';
import { parseSum } from '../../../domain/money.ts';
import { normalizeDocument } from '../../../domain/person/fold-person.ts';
import type { PresentedTransaction } from '../../../domain/present-transaction.ts';
import { decideOne } from '../../../expected/follow/follow-payments.ts';
import { describeLeft } from '../../../expected/match-by-hand.ts';
import { usesOrders } from '../../../expected/read/count-orders.ts';
import { listExpected, type PresentedExpected } from '../../../expected/read/list-expected.ts';
import { previewChange } from '../../../ledger/read/preview-change.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { matchOne, unmatchOne } from '../../../operations/expected/expected.ts';
import { describeCode } from '../../../texts/fill.ts';
import { refuse, refuseField } from '../../../texts/refuse.ts';
import { sayRefusal } from '../../../texts/say-refusal.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, type TwoStepForm } from '../forms/two-step-form.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { choiceField, type Draft, formatMoneyInput, inputField, noteField, readNote } from '../parts/fields.ts';
import { formatMoney, moment, money, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { buttonLink, facts, table, transactionLink } from '../parts/page-components.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { type Order, ofOrder, readBasis } from './cancel-order.ts';
import { addressOfMatch, amountFacts, dueDay, EXPECTED, readOrderPayments, stateBadge } from './describe-expected.ts';

const UNTYPED = { values: {}, faults: {} };
/** Orders that are offered for a payment whose order was not found. */
const ORDERS_OFFERED_MAX = 10;
/** Orders compared for it: the newest of the amount that are due at most NEAR_DAYS before or after the payment. */
const ORDERS_COMPARED_MAX = 100;
const NEAR_DAYS = 30;

const NAMES = ['transaction_id', 'note'];
type Given = GivenOf<typeof unmatchOne>;

/** The forms that match a payment with an order, and undo a pair. */
export function matchForms(context: Context): Router {
  const router = createRouter();
  const form: TwoStepForm<Given, Order> = {
    ...{ ...ofChange(matchOne), ...ofOrder(context) },
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
    basis: async (inner, order, { transaction_id: payment }) =>
      `${await readBasis(inner, order)} ${await describeLeft(inner.db, payment)}`,
    preview: (given, order, response) => previewPair(context, matchOne, { given, order, response }),
  };
  const undoing: TwoStepForm<Given, Order> = {
    ...{ ...form, ...ofChange(unmatchOne) },
    address: `${EXPECTED.address}/:id/unmatch`,
    title: 'Separar do pedido',
    lead: 'O pagamento deixa de contar para este pedido, e nenhuma regra casa este par de novo. Dá para casá-lo à mão outra vez.',
    isOpen: async (order) => order.matches.length > 0,
    fields: async (draft, { matches, ...order }) =>
      matches.length === 0
        ? html`<p>${t('Nenhum pagamento até agora.')}</p>`
        : html`${describeSums({ ...order, matches })}<div class="fields">
${choiceField(draft, { name: 'transaction_id', label: 'Pagamento', words: Object.fromEntries(matches.map((one) => [one.transaction_id, `${formatMoney(parseSum(one.amount) ?? 0n)} · ${one.transaction_id}`])) })}</div>${noteField(draft)}`,
    read: (draft) => ({ transaction_id: draft.values.transaction_id ?? '', note: readNote(draft) }),
    preview: (given, order, response) => previewPair(context, unmatchOne, { given, order, response }),
  };
  router.use([serveTwoStepForm(context, form), serveTwoStepForm(context, undoing)]);
  return router;
}

/** The amounts of an order. @param before what was paid before stands beside what is paid now. */
function describeSums(order: PresentedExpected, before?: PresentedExpected): Html {
  const amounts = amountFacts(order).map(([title, part]) =>
    title === 'Pago' && before ? ([title, html`${moneyOf(before.paid)} → ${part}`] as const) : ([title, part] as const),
  );
  return facts([['Pedido', order.number], ...amounts]);
}

type Asked = { given: Given; order: PresentedExpected; response: Response };

/** Makes or undoes the match and decides the order, both rolled back: the preview has the state and mismatches that follow. */
async function previewPair(
  context: Context,
  change: typeof matchOne | typeof unmatchOne,
  { given, order: { id }, response }: Asked,
): Promise<Html> {
  const since = context.clock.now();
  const shown: { before?: PresentedExpected; after?: PresentedExpected; begun: string[]; ended: string[] } = {
    ...{ begun: [], ended: [] },
  };
  const by = { caller: getCaller(response), id };
  await previewChange(context, async (inner) => {
    const [order] = await listExpected(inner, 1, undefined, { id });
    if (!order) throw refuse('expected_unknown');
    await change.change(inner, given, by).catch(asFieldFault);
    const had = order.matches.map((one) => one.transaction_id);
    await decideOne(inner, order.seq);
    const [after = order] = await listExpected(inner, 1, undefined, { id });
    const scopes = [id, ...had, ...after.matches.map((one) => one.transaction_id)];
    Object.assign(shown, { before: order, after, ...(await listMoved(inner, since, scopes)) });
  });
  const { before, after, begun, ended } = shown;
  if (!before || !after) throw refuse('expected_unknown');
  const isUndo = change === unmatchOne;
  const payments = await readOrderPayments(context, response, [before, after]);
  const [made, ...more] = isUndo
    ? before.matches.filter((one) => one.transaction_id === given.transaction_id)
    : after.matches.slice(-1);
  const counted = [made, ...more].reduce((cents, one) => cents + (parseSum(one?.amount ?? '') ?? 0n), 0n);
  const payment = payments.get(made?.transaction_id ?? '');
  const titles = (kinds: string[]): string =>
    kinds.map((kind) => `“${describeCode(MISMATCH_TITLES, kind)}”`).join(', ');
  return html`${facts([
    ['Pagamento', made && transactionLink(made.transaction_id)],
    [isUndo ? 'Deixa de contar para o pedido' : 'Conta para o pedido', money(counted)],
    ['Valor do pagamento', moneyOf(payment?.amount)],
    ['Criada em', moment(context.calendar, payment?.created_at)],
    ['Nome', payment?.name],
    ['Documento do pagamento', payment?.document],
    ['Documento do pedido', after.document],
    ['Observação', given.note],
  ])}${isOther(payment?.document, after.document) && html`<p class="explain bad">${t('Os documentos são diferentes: confira se quem pagou pagou este pedido.')}</p>`}${describeSums(after, before)}<p class="explain${begun.length > 0 && ' bad'}">${t('O pedido fica:')} ${stateBadge(after.state)}. ${
    ended.length > 0 && `${t('Resolve a divergência {titles}.', { titles: titles(ended) })} `
  }${begun.length > 0 ? t('Abre a divergência {titles}.', { titles: titles(begun) }) : ended.length === 0 && t('Nenhuma divergência muda.')}</p>`;
}

function isOther(paid: string | null | undefined, asked: string | null): boolean {
  return Boolean(paid && asked) && normalizeDocument(paid ?? '') !== normalizeDocument(asked ?? '');
}

/** The form says beside its field that there is no such payment. */
function asFieldFault(error: unknown): never {
  if (error instanceof ConfereError && error.reason === 'transaction_unknown')
    throw refuseField('transaction_id', 'payment_unknown');
  throw error;
}

/** The kinds of the mismatches of these that began since, also those of before anything was expected, and that ended. */
async function listMoved({ db }: Context, since: Date, scopes: string[]) {
  const rows = await db
    .selectFrom('mismatches')
    .select(['kind', 'state'])
    .where('kind', 'in', [...OF_EXPECTED_PAYMENTS, 'receipt_unidentified'])
    .where('scope', 'in', scopes)
    .where((eb) => eb.or([eb('resolved_at', '>=', since), eb('opened_at', '>=', since)]))
    .execute();
  const [ended = [], begun = []] = [true, false].map((isEnd) =>
    rows.filter(({ state }) => (state === 'resolved') === isEnd).map(({ kind }) => kind),
  );
  return { begun, ended };
}

/** A payment as its page shows it. */
type Payment = PresentedTransaction & {
  expected_payments: unknown[];
  expected_candidates: { id: string }[];
};
/** Answer to a number of no order: the form as it was typed, and the orders that may be meant. */
export type WrongOrder = { draft: Draft; offered: PresentedExpected[] };

/** Finds the order of a number. @returns its id, or what the form says. */
export async function findOrder(context: Context, number: string, payment: Payment): Promise<string | WrongOrder> {
  const named = await listExpected(context, ORDERS_OFFERED_MAX, undefined, { number });
  if (named[0] && named.length === 1) return named[0].id;
  const fault = sayRefusal(refuse(named.length > 1 ? 'expected_number_shared' : 'expected_unknown'));
  const offered = named.length > 1 ? named : await listOffered(context, payment);
  return { draft: { values: { number }, faults: { number: fault ?? '' } }, offered };
}

/** Lists the orders that have a payment as their candidate; else those to be paid of its amount, the nearest in days first. */
async function listOffered(context: Context, payment: Payment): Promise<PresentedExpected[]> {
  const ids = payment.expected_candidates.slice(0, ORDERS_OFFERED_MAX).map(({ id }) => id);
  if (ids.length > 0) return (await Promise.all(ids.map((id) => listExpected(context, 1, undefined, { id })))).flat();
  const day = context.calendar.dayOf(new Date(payment.status_at));
  const near = { due_from: addDays(day, -NEAR_DAYS), due_to: addDays(day, NEAR_DAYS) };
  const equal = { operation: payment.operation, amount: parseSum(payment.amount), ...near, payable: true };
  const found = await listExpected(context, ORDERS_COMPARED_MAX, undefined, equal);
  const distance = (of: PresentedExpected): number => Math.abs(countDays(day, of.due_day));
  return found.sort((a, b) => distance(a) - distance(b)).slice(0, ORDERS_OFFERED_MAX);
}

/** Orders without names: their pages audit who sees those. */
function offeredTable(payment: Payment, rows: PresentedExpected[]): Html {
  return html`<h3>${t('Pode ser um destes pedidos')}</h3>${table({
    caption: 'Pode ser um destes pedidos',
    rows,
    empty: 'Nenhum pedido por pagar deste valor vence até 30 dias antes ou depois do pagamento.',
    columns: [
      { title: 'Número', cell: (row) => html`<a href="${EXPECTED.address}/${row.id}">${row.number}</a>` },
      { title: 'Origem', cell: (row) => row.source },
      { title: 'Vencimento', cell: dueDay },
      { title: 'Estado', cell: (row) => stateBadge(row.state) },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Ações', cell: (row) => buttonLink(addressOfMatch(row.id, payment.id), t('É este')) },
    ],
  })}`;
}

/** Forms for a payment that is no order's: one matches it, one opens a new order, filled in with its facts. */
export async function offerMatch(
  context: Context,
  response: Response,
  payment: Payment,
  wrong?: WrongOrder,
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
  const offered = wrong?.offered ?? (await listOffered(context, payment));
  const match = html`<div class="fields">${inputField(wrong?.draft ?? UNTYPED, { name: 'number', label: 'Número do pedido' }, html` required maxlength="120"`)}</div>
<div class="actions"><button>${t('Casar com o pedido')}</button></div>`;
  return html`<section class="act" id="match"><h2>${t('Este pagamento não é de pedido nenhum')}</h2>
${postForm(response, `/transactions/${encodeURIComponent(payment.id)}/match#match`, match)}
${(wrong || offered.length > 0) && offeredTable(payment, offered)}
${postForm(response, `${EXPECTED.address}/new`, html`${hidden}<div class="actions"><button class="secondary">${t('Novo pedido deste pagamento')}</button></div>`)}</section>`;
}
