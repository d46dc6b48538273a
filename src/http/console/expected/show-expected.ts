import type { Request, Response, Router } from 'express';
import { NOTE_CHARS_MAX } from '../../../access/check-note.ts';
import type { Context } from '../../../context.ts';
import { OF_EXPECTED_PAYMENTS, UNRESOLVED_STATES } from '../../../domain/mismatch.ts';
import { parseSum } from '../../../domain/money.ts';
import { maskNote } from '../../../domain/person/mask-mismatch.ts';
import { readStateReason } from '../../../expected/read/describe-state.ts';
import type { PresentedExpected } from '../../../expected/read/list-expected.ts';
import { scopeOf } from '../../../expected/read/mask-expected.ts';
import { readStory } from '../../../expected/read/read-story.ts';
import { cancelOne, matchOne, reopenOne, unmatchOne } from '../../../operations/expected/expected.ts';
import { oneExpected } from '../../../operations/expected/read-expected.ts';
import { resolveMismatches } from '../../../operations/mismatches.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { nameActors, nameWhoMay } from '../access/name-actors.ts';
import { serveButton } from '../forms/serve-button.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { formatMoneyInput } from '../parts/fields.ts';
import { moment, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, buttonLink, facts, idText, say, table, transactionLink } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { readPlatformNames } from '../parts/read-platform-names.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { STATUS_WORDS } from '../parts/words.ts';
import { cancelForm } from './cancel-order.ts';
import {
  addressOfMatch,
  amountFacts,
  candidateTable,
  describeFacts,
  EXPECTED,
  isCancelled,
  type OrderPayments,
  RULE_WORDS,
  readOrderPayments,
  stateBadge,
  UNDECIDED,
  untilDecided,
} from './describe-expected.ts';
import { renderAlike } from './render-alike.ts';
import { storyTable } from './render-story.ts';

/** The page of one expected payment, and what people do with it. */
export function expectedPages(context: Context): Router {
  const router = createRouter();
  const to = (id: string): string => `${EXPECTED.address}/${id}`;
  const read = (request: Request) => ({ note: readFormField(request, 'note') });
  router.use([
    cancelForm(context),
    serveButton(context, reopenOne, { address: `${EXPECTED.address}/:id/reopen`, to, read }),
  ]);
  router.get(`${EXPECTED.address}/:id`, async (request: Request<{ id: string }>, response) => {
    const { id } = request.params;
    const row = await oneExpected.read(context, { caller: getCaller(response), id, via: 'console' });
    const payments = await readOrderPayments(context, response, [row]);
    const reason = await readStateReason(context.db, row);
    const story = await readStory(context.db, id, scopeOf(getCaller(response)));
    const nameOf = await nameActors(
      context,
      response,
      story.map(({ by }) => by),
    );
    const waiting = untilDecided(row);
    const names = await readPlatformNames(context, response);
    const body = html`<p class="crumb"><a href="${EXPECTED.address}">${t(EXPECTED.title)}</a></p>
<div class="head"><h1>${row.number}</h1> ${stateBadge(row.state)}</div><p class="sub">${idText(row.id)}</p>
${waiting.hint}
${reason.length > 0 && html`<p class="lead">${say(reason)}</p>`}${row.unfindable && linkAlike(row)}${await linkMismatches(context, response, id)}
${facts([
  ...amountFacts(row),
  ['Devolvido', row.refunded === '0.00' ? null : moneyOf(row.refunded)],
  ['Dias de atraso', row.late_days === 0 ? null : String(row.late_days)],
])}
<section><h2>${t('Pagamentos')}</h2>${matchTable(context, response, { row, payments })}</section>
${row.candidates.length > 0 && html`<section><h2>${t(UNDECIDED.title)}</h2>${candidateTable(context, response, { row, payments })}</section>`}
${renderAlike(
  row.alike,
  { payment: transactionLink, orders: EXPECTED.address },
  {
    names,
    explain: t('Se um é deste pedido, case-o.'),
    actions: [
      {
        title: 'Ações',
        cell: ({ matched, transaction_id: paid }) =>
          !matched && hasRole(response, ...matchOne.roles) && buttonLink(addressOfMatch(row.id, paid), t('É este')),
      },
    ],
  },
)}
${renderActions(response, row)}
<section><h2>${t('Fatos')}</h2>${describeFacts(row, names)}</section>
<section><h2>${t('História')}</h2>${storyTable(context, story, {
      linkTo: transactionLink,
      nameOf,
      noteOf: (note) => (canSeePersonalData(response) ? note : maskNote(note)),
    })}</section>`;
    sendPage(request, response, { title: row.number, body, ...waiting.page });
  });
  return router;
}

/** Leads to payments of its amount, of an order for which none can be found. */
function linkAlike({ operation, amount, issued_day: from }: PresentedExpected): Html {
  const typed = formatMoneyInput(parseSum(amount) ?? 0n);
  const search = new URLSearchParams({ operation, status: 'paid', amount_from: typed, amount_to: typed, from });
  return html`<p class="actions"><a href="/transactions?${search.toString()}">${t('Pagamentos deste valor desde a emissão')}</a></p>`;
}

/** The unresolved mismatches of an order, and who may accept one. */
async function linkMismatches(context: Context, response: Response, id: string): Promise<Part> {
  const rows = await context.db
    .selectFrom('mismatches')
    .select(['id', 'kind'])
    .where('kind', 'in', OF_EXPECTED_PAYMENTS)
    .where('scope', '=', id)
    .where('state', 'in', UNRESOLVED_STATES)
    .execute();
  const who = rows.length > 0 && (await nameWhoMay(context, response, resolveMismatches.roles));
  return rows.map(
    (row) =>
      html`<p class="explain">${tHtml('Divergência em aberto: {link}. Um operador pode aceitá-la ali, dizendo por quê.', { link: html`<a href="/mismatches/${row.id}">${describeCode(MISMATCH_TITLES, row.kind)}</a>` })}${who}</p>`,
  );
}

function matchTable(
  context: Context,
  response: Response,
  { row, payments }: { row: PresentedExpected; payments: OrderPayments },
): Html {
  const mayUndo = hasRole(response, ...unmatchOne.roles);
  return table({
    caption: 'Pagamentos deste pedido',
    rows: row.matches,
    empty: 'Nenhum pagamento até agora.',
    columns: [
      { title: 'Pagamento', cell: (one) => transactionLink(one.transaction_id) },
      { title: 'Valor', cell: (one) => moneyOf(one.amount), align: 'end' },
      { title: 'Nome', cell: (one) => payments.get(one.transaction_id)?.name ?? null },
      {
        title: 'Situação',
        cell: (one) => {
          const paid = payments.get(one.transaction_id);
          return paid && html`${badge(STATUS_WORDS, paid.status)} ${moment(context.calendar, paid.status_at)}`;
        },
      },
      { title: 'Como', cell: (one) => describeCode(RULE_WORDS, one.rule) },
      { title: 'Observação', cell: (one) => one.note },
      {
        title: 'Ações',
        cell: (one) =>
          mayUndo && html`<a href="${addressOfMatch(row.id, one.transaction_id, 'unmatch')}">${t('Desfazer')}</a>`,
      },
    ],
  });
}

function renderActions(response: Response, row: PresentedExpected): Part {
  const { id } = row;
  if (!hasRole(response, ...cancelOne.roles)) return undefined;
  if (isCancelled(row))
    return html`<section class="act">${postForm(
      response,
      `${EXPECTED.address}/${id}/reopen`,
      html`<input name="note" required maxlength="${NOTE_CHARS_MAX}" aria-label="${t('Por quê')}" placeholder="${t('Por quê')}"> <button class="secondary">${t('Reabrir')}</button>`,
    )}</section>`;
  return html`<section class="act"><p class="actions">${buttonLink(addressOfMatch(id), t('Casar um pagamento'))} ${buttonLink(`${EXPECTED.address}/${id}/cancel`, t('Cancelar o pedido'))}</p></section>`;
}
