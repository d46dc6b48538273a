import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { parseE2eId } from '../../../domain/e2e-id.ts';
import { formatAmount, parseTypedAmount } from '../../../domain/money.ts';
import { daysToRead } from '../../../operations/books/conclude-proof.ts';
import { type AskedPayment, PAYMENTS_SHOWN_MAX, paymentProof } from '../../../operations/books/payment-proof.ts';
import { listVerdicts, sayPaymentProof, sayQuestion } from '../../../operations/books/say-payment-proof.ts';
import type { PaymentProof } from '../../../operations/rows/payment-proof.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { explainMismatch } from '../mismatches/explain-mismatch.ts';
import { encryptAddress, encryptFilters, type Filters, readSealedFilters } from '../parts/encrypt-filters.ts';
import { choiceField, type Draft, dayField, inputField } from '../parts/fields.ts';
import { formatCount, formatDay, moment, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, facts, filterForm, idText, technical, transactionLink } from '../parts/page-components.ts';
import { filterChoice, isFiltered } from '../parts/parse-filters.ts';
import { formTokenField, sendPage } from '../parts/send-page.ts';
import { OPERATION_WORDS, SEVERITY_WORDS, STATUS_WORDS } from '../parts/words.ts';
import { askReading } from '../runs/ask-reading.ts';
import { explainE2eId, searchSchema } from './read-search.ts';
import { renderSource } from './render-timeline.ts';

export const PROOF = { title: 'Prova de um pagamento', address: '/transactions/proof' } as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour));
const { amount, name, e2e_id, from: day } = searchSchema.shape;

const schema = z
  .object({ day, hour: filterChoice(HOURS), amount, name, e2e_id, masked: filterChoice(['true', 'false']) })
  .superRefine((given, issues) => {
    const refuse = (field: string, message: string) => issues.addIssue({ code: 'custom', path: [field], message });
    if (!isFiltered(given)) return;
    if ((given.amount ?? given.name ?? given.e2e_id) === undefined)
      refuse('amount', t('Escreva o valor, o nome ou o id E2E.'));
    if (!given.day && given.e2e_id && !parseE2eId(given.e2e_id))
      refuse('e2e_id', `${explainE2eId(given.e2e_id)} ${t('Confira-o, ou escolha também um dia.')}`);
    else if (!given.day && !given.e2e_id) refuse('day', t('Escolha um dia.'));
    if (given.hour && given.e2e_id) refuse('hour', t('O id E2E já diz o minuto.'));
  });

/** The page that proves what the provider's list of a day says of a payment; it prints without the form. */
export function proofPages(context: Context): Router {
  const router = createRouter();
  const refuse = (request: Request, response: Response, draft: Draft) => send(request, response, draft, undefined);
  const list = { schema, field: 'amount', refuse };
  router.all(PROOF.address, encryptFilters(context, list));
  router.get(PROOF.address, async (request, response) => {
    const { filters, draft, given } = readSealedFilters(context, request, list);
    if (!filters || !isFiltered(filters)) {
      send(request, response, draft, undefined);
      return;
    }
    const { amount: typed, hour, ...rest } = filters;
    const cents = typed === undefined ? undefined : parseTypedAmount(typed);
    const asked: AskedPayment = {
      ...rest,
      ...(hour === undefined ? {} : { hour: Number(hour) }),
      ...(cents === undefined ? {} : { amount: formatAmount(cents) }),
    };
    const proof = await paymentProof.read(context, { caller: getCaller(response), id: '', via: 'console' }, asked);
    const masked = asked.masked === 'true';
    const link = (changes: Filters, text: string): Html =>
      html`<p class="act-hint"><a href="${encryptAddress(context, request, PROOF.address, { ...given, ...changes })}">${text}</a></p>`;
    const days = daysToRead(proof);
    send(
      request,
      response,
      // the form has the name as it was typed
      masked ? undefined : draft,
      html`${renderProof(context, proof)}${renderMismatches(proof)}
${!!proof.other_hours?.length && link({ hour: '' }, t('Ver, a qualquer hora'))}${!!proof.other_names && link({ name: '', hour: '' }, t('Ver, com qualquer nome'))}${proof.other_days.map((one) => link({ day: one, hour: '' }, t('Ver {day}', { day: formatDay(one) })))}
${days && (await askReading(context, response, days))}
${canSeePersonalData(response) && link({ masked: masked ? '' : 'true' }, masked ? t('Mostrar os dados pessoais') : t('Mascarar os dados pessoais, para enviar'))}
<p class="hint act-hint">${t('Imprima a página, ou salve-a em PDF. A API dá o mesmo em JSON: GET /api/v1/transactions/proof.')}</p>`,
    );
  });
  return router;
}

function send(request: Request, response: Response, draft: Draft | undefined, proof: Html | undefined): void {
  const fields =
    draft &&
    html`${dayField(draft, { name: 'day', label: 'Dia do pagamento' })}
${choiceField(draft, { name: 'hour', label: 'Hora', words: Object.fromEntries(HOURS.map((hour) => [hour, `${hour} h`])), any: 'Qualquer' })}
${inputField(draft, { name: 'amount', label: 'Valor' })}
${canSeePersonalData(response) && inputField(draft, { name: 'name', label: 'Nome', hint: 'Palavras dele, ou o começo delas.' })}
${inputField(draft, { name: 'e2e_id', label: 'Id E2E', hint: 'Basta ele: sem dia.' })}`;
  const isWrong = draft !== undefined && Object.keys(draft.faults).length > 0;
  const body = html`<p class="crumb"><a href="/transactions">${t('Transações')}</a></p><h1>${t(PROOF.title)}</h1>
${!proof && html`<p class="lead">${t('O que a lista do provedor diz de um pagamento, e como o sabemos: para responder a quem pergunta por ele.')}</p>`}
${fields && filterForm(PROOF.address, fields, proof !== undefined, formTokenField(response))}
${proof}`;
  sendPage(request, response, { title: t(PROOF.title), body, status: isWrong ? 422 : 200 });
}

function renderProof(context: Context, proof: PaymentProof): Html {
  const { list, payments, issuer } = proof;
  const at = moment(context.calendar, proof.made_at);
  const bad = (list.conclusion === 'unknown' || proof.conclusion === 'unknown') && ' bad';
  return html`<section><h2 class="as-written">${sayQuestion(proof)}${listVerdicts(proof).map(({ code, text }) => html` ${badge({ [code]: text }, code)}`)}</h2>
<p class="hint">${issuer ? tHtml('Emitida por {issuer} em {at}.', { issuer, at }) : tHtml('Feita em {at}.', { at })}</p>
<p class="hint act-hint">${issuer ? t('O nome da empresa é o dos e-mails do Confere: um administrador do servidor o muda.') : t('Falta o nome da empresa: um administrador do servidor o define na configuração dos e-mails.')}</p>
<div class="explain${bad}">${sayPaymentProof(context.calendar, proof).map((one) => html`<p>${one}</p>`)}
${proof.more && html`<p>${t('Aqui estão {count}.', { count: formatCount(PAYMENTS_SHOWN_MAX) })}</p>`}</div>
${payments.map((one) => renderPayment(context, one))}</section>
<section><h2>${t('Como sabemos')}</h2>${renderHow(context, proof)}</section>`;
}

function renderPayment({ calendar }: Context, row: PaymentProof['payments'][number]): Html {
  const { paid, webhook, platform } = row;
  return html`<article class="payment"><h3>${tHtml('{operation} de {amount}', { operation: describeCode(OPERATION_WORDS, row.operation), amount: moneyOf(row.amount) })} ${badge(STATUS_WORDS, row.status)}</h3>${facts(
    [
      ['Criada em', moment(calendar, row.created_at)],
      ['Paga em', paid ? moment(calendar, paid.at) : t('não foi paga')],
      ['Devolvida em', row.refunded_at && moment(calendar, row.refunded_at)],
      ['Nome', row.name],
      ['Plataforma', row.platform_name ?? (platform && idText(platform))],
      ['Referência', row.reference && idText(row.reference)],
      ['Id E2E', row.e2e_id && idText(row.e2e_id)],
    ],
  )}${technical([
    ['Transação', html`<a class="id" href="/transactions/${row.id}">${row.id}</a>`],
    ['Plataforma', row.platform_name !== null && platform && idText(platform)],
    [
      'Soubemos em',
      html`${moment(calendar, paid?.seen_at ?? row.first_seen_at)}${paid && html`, ${renderSource(paid.source)}`}`,
    ],
    [
      'Anúncio do provedor (webhook)',
      webhook ? html`<a href="/inbox/${webhook.id}">${moment(calendar, webhook.received_at)}</a>` : t('nenhum'),
    ],
  ])}</article>`;
}

/** Shows what is open of the payments to who answers: the customer gets what is printed. */
function renderMismatches({ payments }: PaymentProof): Part {
  const open = payments.flatMap(({ mismatches }) => mismatches);
  if (open.length === 0) return undefined;
  const items = open.map(
    ({ id, ...one }) =>
      html`<li><a href="/mismatches/${id}">${explainMismatch(one).title}</a> ${badge(SEVERITY_WORDS, one.severity)}</li>`,
  );
  return html`<section class="act-hint"><h2>${t('Divergências em aberto')}</h2><p class="hint">${t('Só nesta tela: a impressão e o texto da prova não têm isto.')}</p><ul class="reasons">${items}</ul></section>`;
}

function renderHow(
  { calendar }: Context,
  { list: { reading, early, conclusion }, older, log, zone, without_e2e: unnamed }: PaymentProof,
): Html {
  const count = reading && {
    ...{ listed: formatCount(reading.listed), from: formatDay(reading.from), to: formatDay(reading.to) },
    announced: reading.announced === null ? '–' : formatCount(reading.announced),
  };
  const run = (reading ?? early)?.run_id;
  return html`${facts([
    ['Lida inteira em', reading && moment(calendar, reading.read_at)],
    ['Lida inteira cedo demais', early && moment(calendar, early.read_at)],
    ['Contagem', count && t('{listed} transações, de {from} a {to}; o provedor anunciou {announced}', count)],
    // what the list has leaves no question about older ones
    [
      'Dias antes, não lidos inteiros desde então',
      conclusion !== 'has' && older.conclusion === 'unknown' && formatCount(older.unread),
    ],
    [
      'Cobranças em dúvida',
      older.conclusion === 'unknown' &&
        !!older.charges?.length &&
        older.charges.map(({ id, day }) => html`${formatDay(day)} ${transactionLink(id)} `),
    ],
    [
      'Sem este id E2E, em dúvida',
      unnamed.length > 0 &&
        unnamed.map((one) => html`${formatDay(one.day)} ${moneyOf(one.amount)} ${transactionLink(one.id)} `),
    ],
    ['Fuso horário do provedor', zone],
  ])}${technical([
    ['Conferência', run && html`<a href="/reconciliations/${run}">${idText(run)}</a>`],
    ['Posição do razão', log?.position],
    ['Hash da cadeia nessa posição', log && idText(log.hash)],
    ['Checkpoint publicado', log?.checkpoint && html`<pre>${log.checkpoint}</pre>`],
  ])}`;
}
