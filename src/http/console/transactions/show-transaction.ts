import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { oneTransaction } from '../../../operations/books/transactions.ts';
import { matchOne } from '../../../operations/expected/expected.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { addressOfMatch, EXPECTED, stateBadge } from '../expected/describe-expected.ts';
import { findOrder, offerMatch, type WrongOrder } from '../expected/match-payment.ts';
import { callbackTable } from '../merchants/list-callbacks.ts';
import { readMerchantWords } from '../merchants/list-merchants.ts';
import { mismatchTable } from '../mismatches/list-mismatches.ts';
import { formatDuration, moment, moneyOf } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { badge, facts, idText } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { type PlatformNames, readPlatformNames, spellPlatform } from '../parts/read-platform-names.ts';
import { sendPage } from '../parts/send-page.ts';
import { OPERATION_WORDS, STATUS_WORDS } from '../parts/words.ts';
import { renderTimeline } from './render-timeline.ts';
import { PROOF, proofPages } from './show-proof.ts';

type Shown = Awaited<ReturnType<typeof oneTransaction.read>>;

/** The page of a transaction: its facts, and the timeline of its events and entries; and the proof of a payment. */
export function transactionPages(context: Context): Router {
  const router = createRouter();
  router.use(proofPages(context));
  const read = (request: Request<Params>, response: Response) =>
    oneTransaction.read(context, { caller: getCaller(response), id: request.params.id, via: 'console' });
  router.get('/transactions/:id', async (request: Request<Params>, response) => {
    await sendTransaction(context, request, response, await read(request, response));
  });
  router.post('/transactions/:id/match', requireRole(...matchOne.roles), async (request: Request<Params>, response) => {
    const shown = await read(request, response);
    const found = await findOrder(context, readFormField(request, 'number') ?? '', shown);
    if (typeof found === 'string') response.redirect(303, addressOfMatch(found, shown.id));
    else await sendTransaction(context, request, response, shown, found);
  });
  return router;
}

type Params = { id: string };

/** @param wrong what was typed into the form of a match, where it names no order. */
async function sendTransaction(
  context: Context,
  request: Request<Params>,
  response: Response,
  shown: Shown,
  wrong?: WrongOrder,
): Promise<void> {
  const { mismatches, callbacks } = shown;
  const names = await readPlatformNames(context, response);
  const body = html`<p class="crumb"><a href="/transactions">${t('Transações')}</a></p>
<div class="head"><h1>${tHtml('{operation} de {amount}', { operation: describeCode(OPERATION_WORDS, shown.operation), amount: moneyOf(shown.amount) })}</h1> ${badge(STATUS_WORDS, shown.status)}</div>
<p class="sub">${idText(shown.id)}${shown.e2e_id && html` <a href="${PROOF.address}?e2e_id=${encodeURIComponent(shown.e2e_id)}">${t(PROOF.title)}</a>`}</p>
${mismatches.length > 0 && html`<section><h2>${t('Divergências')}</h2>${await mismatchTable(context, response, mismatches)}</section>`}
${renderOrders(shown)}${await offerMatch(context, response, shown, wrong)}
<section><h2>${t('Fatos')}</h2>${renderFacts(context, shown, names)}
${!canSeePersonalData(response) && html`<p class="hint">${t('Os dados pessoais aparecem mascarados para o papel de leitura.')}</p>`}</section>
<section><h2>${t('História')}</h2>${renderTimeline(context, names, shown)}</section>
<section><h2>${t('Callbacks')}</h2>${callbackTable(context, callbacks, 'Nenhum lojista é avisado desta transação.', { on: 'transaction', merchants: await readMerchantWords(context, response) })}</section>`;
  sendPage(request, response, { title: `${t('Transação')} ${shown.id}`, body, status: wrong ? 422 : 200 });
}

/** The orders that this payment pays, or may pay. */
function renderOrders(orders: Pick<Shown, 'expected_payments' | 'expected_candidates'>): Html | undefined {
  const { expected_payments: matched, expected_candidates: candidates } = orders;
  if (matched.length + candidates.length === 0) return undefined;
  const link = ({ id, number }: { id: string; number: string }) =>
    html`<a href="${EXPECTED.address}/${id}">${number}</a>`;
  return html`<section><h2>${t('Pedidos')}</h2>${facts([
    ...matched.map((one) => [t('Paga'), html`${link(one)} ${stateBadge(one.state)} ${moneyOf(one.amount)}`] as const),
    ...candidates.map((one) => [t('Pode ser de'), html`${link(one)} ${stateBadge(one.state)}`] as const),
  ])}</section>`;
}

function renderFacts(context: Context, shown: Shown, names: PlatformNames) {
  const spanS = Math.round((Date.parse(shown.status_at) - Date.parse(shown.created_at)) / 1000);
  return facts([
    ['Valor', moneyOf(shown.amount)],
    ['Tarifa', shown.commission === null ? t('ainda desconhecida') : moneyOf(shown.commission)],
    [shown.operation === 'cashin' ? 'Líquido' : 'Total debitado', moneyOf(shown.net)],
    ['Criada em', moment(context.calendar, shown.created_at)],
    [
      'Nesta situação desde',
      html`${moment(context.calendar, shown.status_at)}${spanS > 0 && html` <span class="hint">(${t('{duration} depois', { duration: formatDuration(spanS) })})</span>`}`,
    ],
    ['Referência', shown.reference && idText(shown.reference)],
    ['Extra', shown.extra],
    ['Plataforma', shown.platform && spellPlatform(names, shown.platform)],
    ['Id E2E', shown.e2e_id && idText(shown.e2e_id)],
    ['Nome', shown.name],
    ['Documento', shown.document],
    ['E-mail', shown.email],
    ['Telefone', shown.phone],
    ['Chave PIX', shown.pix_key],
    ['Descrição', shown.description],
  ]);
}
