import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { nameKind } from '../../../domain/mismatch.ts';
import { parseSum } from '../../../domain/money.ts';
import { maskNote } from '../../../domain/person/mask-mismatch.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import { describeTransaction } from '../../../ledger/read/describe-transaction.ts';
import { findMismatch, type PresentedMismatch, transactionAmountOf } from '../../../mismatches/read-mismatches.ts';
import { presentTransactionTo } from '../../../operations/books/transactions.ts';
import { matchOne } from '../../../operations/expected/expected.ts';
import { oneExpected } from '../../../operations/expected/read-expected.ts';
import { assignOneMismatch, mismatchDecisions, showMismatch } from '../../../operations/mismatches.ts';
import { describeCode } from '../../../texts/fill.ts';
import { readError, type Said } from '../../../texts/messages.ts';
import { refuse } from '../../../texts/refuse.ts';
import { plural, t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { nameActors } from '../access/name-actors.ts';
import { formatCount, moment, money, moneyOf, shortId } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { badge, buttonLink, facts, idText, table, transactionLink } from '../parts/page-components.ts';
import { type PlatformNames, readPlatformNames, spellPlatform } from '../parts/read-platform-names.ts';
import { hasRole, sendPage } from '../parts/send-page.ts';
import { MISMATCH_STATE_WORDS, RESOLUTION_WORDS, SEVERITY_WORDS } from '../parts/words.ts';
import { nameOwner, readOwnerNames, renderAssign } from './assign-mismatch.ts';
import { explainMismatch } from './explain-mismatch.ts';
import { handleForm, offerAdjustment } from './handle-mismatch.ts';
import { readOrderNumbers } from './list-mismatches.ts';
import { renderEvidence } from './render-evidence.ts';

const ASSIGNMENTS_SHOWN_MAX = 50;

/** The page of a mismatch: its meaning, what to do, and the forms of `handle-mismatch.ts`. */
export function mismatchPages(context: Context): Router {
  return createRouter().get('/mismatches/:id', async (request: Request<{ id: string }>, response) => {
    const found = await findMismatch(context, request.params.id);
    if (!found) throw refuse('mismatch_unknown');
    const mismatch = await showMismatch(context, found, { caller: getCaller(response), via: 'console' });
    const { title, meaning, todo } = explainMismatch(mismatch);
    const names = await readPlatformNames(context, response);
    const orders = await readOrderNumbers(context, response, [mismatch]);
    const order = await readOrder(context, response, mismatch);
    const owner = nameOwner(mismatch, await readOwnerNames(context, [mismatch]));
    const body = html`<p class="crumb"><a href="/mismatches">${t('Divergências')}</a></p>
<div class="head"><h1>${title}</h1> ${badge(SEVERITY_WORDS, mismatch.severity)} ${badge(MISMATCH_STATE_WORDS, mismatch.state)}</div>
<p class="sub">${idText(mismatch.id)}</p>
<p class="explain"><b>${meaning}.</b> ${todo} <a href="/runbooks/${nameKind(mismatch)}">${t('Guia')}</a></p>
${mismatch.state !== 'resolved' && (await offerAdjustment(context, response, mismatch, names))}
${mismatch.state !== 'resolved' && offerOrder(response, found)}
${mismatch.state !== 'resolved' && hasRole(response, ...mismatchDecisions.resolve.roles) && handleForm(response, mismatch)}
${mismatch.state !== 'resolved' && (await renderAssign(context, response, mismatch))}
<section><h2>${t('O que se viu')}</h2>${renderEvidence(context.calendar, order?.evidence ?? mismatch, names, await readLastPass(context, mismatch))}</section>
${order && html`<section><h2>${t('Pagamentos')}</h2>${order.payments}</section>`}
<section><h2>${t('Fatos')}</h2>${renderFacts(context, mismatch, { owner, order: orders.get(mismatch.expected_payment_id ?? '')?.number }, await describePayment(context, response, mismatch, names))}</section>
<section><h2>${t('O que aconteceu')}</h2>${await renderChanges(context, response, mismatch)}</section>`;
    sendPage(request, response, { title, body });
  });
}

/** Leads from a receipt that is nobody's to the form that matches it. */
function offerOrder(response: Response, { kind, transaction_id: id }: PresentedMismatch): Html | false {
  if (kind !== 'receipt_unidentified' || id === null || !hasRole(response, ...matchOne.roles)) return false;
  return html`<section class="act"><p class="actions">${buttonLink(`/transactions/${encodeURIComponent(id)}#match`, t('Casar com o pedido'))}</p></section>`;
}

function renderFacts(
  context: Context,
  mismatch: PresentedMismatch,
  named: { owner: string; order: string | undefined },
  payment: Parameters<typeof facts>[0],
): Html {
  const [stake, whole] = [mismatch.at_stake, transactionAmountOf(mismatch)].map((one) =>
    one === null ? undefined : parseSum(one),
  );
  const { transaction_id: transactionId, expected_payment_id: order, run_id: runId, webhook_id: webhookId } = mismatch;
  return facts([
    ['Em jogo', stake !== undefined && money(stake)],
    ['Valor da transação', whole !== undefined && money(whole)],
    [
      'Transação',
      transactionId &&
        html`<a class="id" href="/transactions/${encodeURIComponent(transactionId)}">${transactionId}</a>`,
    ],
    ...payment,
    ['Pedido', order && html`<a href="/expected/${order}">${named.order ?? order}</a>`],
    [
      'Referência',
      mismatch.reference === WITHHELD
        ? WITHHELD
        : mismatch.reference &&
          html`<a class="id" href="/transactions?reference=${encodeURIComponent(mismatch.reference)}">${mismatch.reference}</a>`,
    ],
    ['Conferência', runId && html`<a href="/reconciliations/${runId}">${shortId(runId)}</a>`],
    ['Webhook', webhookId && html`<a href="/inbox/${webhookId}">${shortId(webhookId)}</a>`],
    ['Aberta em', moment(context.calendar, mismatch.opened_at)],
    ['Dias em aberto', formatCount(mismatch.age_days)],
    ['Quem decide', named.owner],
    ['Em tratamento desde', mismatch.acknowledged_at && moment(context.calendar, mismatch.acknowledged_at)],
    ['Resolvida em', mismatch.resolved_at && moment(context.calendar, mismatch.resolved_at)],
    ['Como acabou', mismatch.resolution && describeCode(RESOLUTION_WORDS, mismatch.resolution)],
    ['Observação', mismatch.note],
    ['Reaberta', mismatch.reopened > 0 && plural(mismatch.reopened, '{n} vez', '{n} vezes')],
    [
      'Base inicial',
      mismatch.baseline &&
        (mismatch.kind === 'commission_not_agreed'
          ? t(
              'sim: compara um contrato informado com as tarifas de um dia de antes de o Confere receber os anúncios do provedor (webhooks)',
            )
          : t('sim: é sobre pagamentos ou dias de antes de o Confere receber os anúncios do provedor (webhooks)')),
    ],
  ]);
}

/** Reads the order of a mismatch, with its payments, and what its state and payments are now beside what was expected. */
async function readOrder(context: Context, response: Response, mismatch: PresentedMismatch) {
  const { expected_payment_id: id, state, kind, expected, actual } = mismatch;
  if (id === null) return undefined;
  const row = await oneExpected.read(context, { caller: getCaller(response), id, via: 'console' });
  const payments = table({
    caption: 'Pagamentos deste pedido',
    rows: row.matches,
    empty: 'Nenhum pagamento até agora.',
    columns: [
      { title: 'Pagamento', cell: (one) => transactionLink(one.transaction_id) },
      { title: 'Valor', cell: (one) => moneyOf(one.amount), align: 'end' },
    ],
  });
  const owed = kind === 'paid_after_cancel' ? { state: 'cancelled', amount: '0.00' } : { amount: row.amount };
  const now = {
    expected: { ...(expected as object), ...owed },
    actual: { ...(actual as object), state: row.state, amount: row.paid },
  };
  return { payments, evidence: state === 'resolved' ? undefined : now };
}

/** The transaction of a mismatch as this reader may see it: where, when and whose. */
async function describePayment(
  context: Context,
  response: Response,
  { transaction_id: id }: PresentedMismatch,
  names: PlatformNames,
): Promise<Parameters<typeof facts>[0]> {
  const found = id === null ? undefined : await describeTransaction(context.db, context.calendar, id);
  if (!found) return [];
  const shown = presentTransactionTo(context, getCaller(response), found.transaction);
  const paid = found.events.findLast(({ status }) => status === 'paid');
  return [
    ['Plataforma', shown.platform && spellPlatform(names, shown.platform)],
    ['Criada em', moment(context.calendar, shown.created_at)],
    ['Paga em', moment(context.calendar, paid?.at)],
    ['Nome', shown.name],
  ];
}

/** Reads what the last pass of an unstable list said: its window has the names of its messages, the evidence their text. */
async function readLastPass({ db }: Context, { run_id: id, actual }: PresentedMismatch): Promise<Said | undefined> {
  const { last } = (actual ?? {}) as { last?: unknown };
  if (id === null || typeof last !== 'string') return undefined;
  const window = await db
    .selectFrom('run_windows')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select(['run_windows.error', 'run_windows.error_says'])
    .where('runs.id', '=', id)
    .where('run_windows.error', '=', last)
    .limit(1)
    .executeTakeFirst();
  return window && readError(window);
}

async function renderChanges(context: Context, response: Response, mismatch: PresentedMismatch): Promise<Html> {
  const full = canSeePersonalData(response);
  const changes = await context.db
    .selectFrom('mismatch_changes')
    .select(['at', 'state', 'resolution', 'note', 'actor'])
    .where('mismatch_seq', '=', mismatch.seq)
    .orderBy('seq', 'desc')
    .execute();
  const assigned = await readAssignments(context, mismatch.id);
  const nameOf = await nameActors(context, response, [
    ...changes.map(({ actor }) => actor),
    ...assigned.flatMap(({ actor, owner }) => [actor, owner]),
  ]);
  const items = [
    ...changes.map((change, index) => ({
      at: change.at,
      shown: html`<li><div class="head">${badge(MISMATCH_STATE_WORDS, change.state)} ${moment(context.calendar, change.at)}</div>
<p class="hint">${tHtml('por {actor}', { actor: nameOf(change.actor) })}${change.resolution && html`: ${describeCode(RESOLUTION_WORDS, change.resolution)}`}${
        change.note === null && changes[index + 1]?.state === change.state && `: ${t('outra evidência')}`
      }</p>${change.note && html`<p class="note">${full ? change.note : maskNote(change.note)}</p>`}</li>`,
    })),
    ...assigned.map(({ at, actor, owner }) => ({
      at,
      shown: html`<li><div class="head">${t('Quem decide')}: ${owner === null ? t('Ninguém') : nameOf(owner)} ${moment(context.calendar, at)}</div>
<p class="hint">${tHtml('por {actor}', { actor: nameOf(actor) })}</p></li>`,
    })),
  ].toSorted((a, b) => b.at.getTime() - a.at.getTime());
  return html`<ol class="story">${items.map(({ shown }) => shown)}</ol>`;
}

/** Reads to whom a mismatch was given, the newest first: the audit has it. */
async function readAssignments({ db }: Context, id: string) {
  const rows = await db
    .selectFrom('audit')
    .select(['at', 'actor', 'detail'])
    .where('target', '=', id)
    .where('action', '=', assignOneMismatch.name)
    .orderBy('seq', 'desc')
    .limit(ASSIGNMENTS_SHOWN_MAX)
    .execute();
  return rows.map(({ at, actor, detail }) => {
    const { owner } = JSON.parse(detail?.slice(detail.indexOf('{')) ?? '{}') as { owner?: string | null };
    return { at, actor, owner: owner ?? null };
  });
}
