import { isDeepStrictEqual } from 'node:util';
import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { lastDayBefore } from '../../../domain/calendar.ts';
import { parseSum } from '../../../domain/money.ts';
import { listBankLines } from '../../../ledger/bank/list-bank-lines.ts';
import { isAcceptableKind } from '../../../ledger/decide/correct-transaction.ts';
import { findMismatch, type PresentedMismatch } from '../../../mismatches/read-mismatches.ts';
import { MISMATCH_NOTE_CHARS_MAX } from '../../../mismatches/resolve-mismatch-by-hand.ts';
import { addAdjustment } from '../../../operations/books/adjustments.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { mismatchDecisions, showMismatch } from '../../../operations/mismatches.ts';
import { surplusIn } from '../../../reconciliation/windows/accept-surplus.ts';
import { refuse, refuseField } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { BANK_LISTS } from '../bank/describe-bank.ts';
import { previewOf } from '../forms/two-step-form.ts';
import { formatMoneyInput, labelled } from '../parts/fields.ts';
import { formatDay, moment, money } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { buttonLink } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { type PlatformNames, spellPlatform } from '../parts/read-platform-names.ts';
import { renderPreview } from '../parts/render-preview.ts';
import { hasRole, postForm, sendPage } from '../parts/send-page.ts';
import { assignManyForm } from './assign-many.ts';
import { assignForm } from './assign-mismatch.ts';
import { explainMismatch } from './explain-mismatch.ts';
import { renderEvidence } from './render-evidence.ts';

const DONE = { acknowledge: 'acknowledged', resolve: 'resolved', accept: 'accepted' } as const;
type Action = keyof typeof DONE;

/**
 * The forms that acknowledge, resolve or accept a mismatch. Accepting, and resolving a critical one, take a second page,
 * which shows what changes, and a note.
 */
export function mismatchForms(context: Context): Router {
  const router = createRouter();
  // its page before that of one, whose address has any id
  router.use([assignForm(context), assignManyForm(context)]);
  for (const action of Object.keys(DONE) as Action[]) {
    router.post(
      `/mismatches/:id/${action}`,
      requireRole(...mismatchDecisions[action].roles),
      async (request: Request<{ id: string }>, response) => {
        const { id } = request.params;
        const mismatch = await findMismatch(context, id);
        if (!mismatch) throw refuse('mismatch_unknown');
        const given = { note: readFormField(request, 'note'), actual: readSeen(request) };
        const isConfirmed = readFormField(request, 'step') === 'confirm';
        const isStale = action !== 'acknowledge' && hasChanged(mismatch, given.actual);
        if (isStale || (needsSecondStep(action, mismatch) && (!isConfirmed || given.note === undefined))) {
          const fault =
            isConfirmed && given.note === undefined ? t('Escreva o que você descobriu ou decidiu.') : undefined;
          const shown = isStale ? { ...given, actual: mismatch.actual } : given;
          await sendSecondStep(context, request, response, { action, mismatch, given: shown, fault, isStale });
          return;
        }
        const by = { caller: getCaller(response), id, via: 'console' } as const;
        await makeChange(context, mismatchDecisions[action], { given, by });
        response.redirect(303, `/mismatches/${encodeURIComponent(id)}?done=${DONE[action]}`);
      },
    );
  }
  return router;
}

function needsSecondStep(action: Action, { severity }: PresentedMismatch): boolean {
  return action === 'accept' || (action === 'resolve' && severity === 'critical');
}

/** Whether the evidence is another than the one that the page showed: the decision was about that one. */
function hasChanged({ actual }: PresentedMismatch, seen: unknown): boolean {
  return seen !== undefined && !isDeepStrictEqual(seen, actual);
}

/** The provider's version that the page showed, as its form returns it. @throws ConfereError `invalid_request`. */
function readSeen(request: Request): unknown {
  const text = readFormField(request, 'actual');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw refuseField('actual', 'evidence_not_json');
  }
}

/** The form of a mismatch's page. */
export function handleForm(response: Response, mismatch: PresentedMismatch): Html {
  const address = `/mismatches/${mismatch.id}`;
  const surplus = surplusIn(mismatch);
  const canAccept = isAcceptableKind(mismatch.kind) || surplus > 0;
  const hint =
    surplus > 0
      ? t(
          'Aceitar diz que o total anunciado conta linhas que não existem: o dia fica provado enquanto esse número não mudar, e o Resumo diz quem o aceitou.',
        )
      : t(
          'Aceitar estorna o lançamento em vigor na data dele, lança o que o provedor mostra e avisa os lojistas. A próxima página mostra o que muda antes de gravar.',
        );
  const content = html`${seenField(mismatch)}<label><span>${t('Observação')}</span><textarea name="note" rows="3" maxlength="${MISMATCH_NOTE_CHARS_MAX}" placeholder="${t('O que você descobriu ou decidiu')}"></textarea></label>
<div class="actions">${
    mismatch.state === 'open' &&
    html`<button formaction="${address}/acknowledge" class="secondary">${t('Estou tratando')}</button>`
  }<button formaction="${address}/resolve">${nameAction('resolve', mismatch)}</button>${
    canAccept &&
    html`<button formaction="${address}/accept" class="secondary">${nameAction('accept', mismatch)}</button>`
  }</div>${canAccept && html`<p class="hint">${hint}</p>`}`;
  return html`<section class="act" aria-label="${t('Tratar a divergência')}">${postForm(response, `${address}/resolve`, content)}</section>`;
}

function seenField(mismatch: PresentedMismatch): Html {
  return html`<input type="hidden" name="actual" value="${JSON.stringify(mismatch.actual)}">`;
}

function nameAction(action: Action, mismatch: PresentedMismatch): string {
  const surplus = surplusIn(mismatch);
  if (action === 'accept') return surplus > 0 ? t('Aceitar {n} a mais', { n: surplus }) : t('Aceitar a do provedor');
  return isAcceptableKind(mismatch.kind) ? t('Manter a nossa versão') : t('Resolver');
}

type Second = {
  action: Action;
  mismatch: PresentedMismatch;
  given: { note: string | undefined; actual: unknown };
  fault: string | undefined;
  isStale: boolean;
};

/** Answers with what the decision changes, computed by the decision itself, and with the form that confirms it. */
async function sendSecondStep(
  context: Context,
  request: Request,
  response: Response,
  { action, mismatch, given, fault, isStale }: Second,
): Promise<void> {
  const address = `/mismatches/${mismatch.id}`;
  if (isStale) await showMismatch(context, mismatch, { caller: getCaller(response), via: 'console' });
  const noted = { ...given, note: given.note ?? '?' };
  const preview = await previewOf(context, mismatchDecisions[action], noted, mismatch.id);
  const name = nameAction(action, mismatch);
  const title = t('{name}: confira', { name });
  const { title: kind, meaning } = explainMismatch(mismatch);
  const follows =
    action === 'resolve'
      ? t('A diferença fica como está: só a pergunta se encerra.')
      : surplusIn(mismatch) > 0
        ? t('O dia fica provado enquanto esse número não mudar, e o Resumo diz quem o aceitou.')
        : t('O lançamento em vigor é estornado na data dele, e os lojistas são avisados.');
  const draft = { values: { note: given.note ?? '' }, faults: fault === undefined ? {} : { note: fault } };
  const note = labelled(
    draft,
    { name: 'note', label: 'Observação (obrigatória)' },
    (attributes) =>
      html`<textarea rows="3" maxlength="${MISMATCH_NOTE_CHARS_MAX}" required${attributes}>${draft.values.note}</textarea>`,
  );
  const content = html`${seenField({ ...mismatch, actual: given.actual ?? mismatch.actual })}${note}
<div class="actions"><button name="step" value="confirm">${name}</button><a href="${address}">${t('Cancelar')}</a></div>`;
  const body = html`<p class="crumb"><a href="/mismatches">${t('Divergências')}</a> · <a href="${address}">${kind}</a></p>
<h1>${title}</h1><p class="lead">${t('Nada foi gravado ainda.')}</p>
${isStale && html`<p class="fault" role="alert">${t('Mudou depois da página que você viu: agora é isto.')}</p>${renderEvidence(context.calendar, mismatch)}`}
<p class="explain"><b>${meaning}.</b> ${follows}</p>
${await renderPreview(context, preview)}
<section class="act">${postForm(response, `${address}/${action}`, content)}</section>`;
  sendPage(request, response, { title, body, status: isStale ? 409 : fault === undefined ? 200 : 422 });
}

/**
 * Offers the adjustment that would explain a `balance_differs`, on the last day that began before its instant. Before the
 * opening nothing is adjusted: then the opening is what differs. A line of the bank's statement that is open with this amount may
 * be the very money: its own form makes the adjustment and the pair at once.
 */
export async function offerAdjustment(
  context: Context,
  response: Response,
  mismatch: PresentedMismatch,
  names: PlatformNames,
): Promise<Html | undefined> {
  if (mismatch.kind !== 'balance_differs') return undefined;
  const { platform, at } = mismatch.expected as { platform: string; at: string };
  const { difference } = mismatch.actual as { difference: string };
  const cents = parseSum(difference) ?? 0n;
  const day = lastDayBefore(at.slice(0, 19).replace('T', ' '));
  const opening = await context.db
    .selectFrom('openings')
    .select('day')
    .where('platform', '=', platform)
    .where('in_force', '=', 1)
    .executeTakeFirst();
  const values = {
    platform: spellPlatform(names, platform),
    amount: money(cents < 0n ? -cents : cents),
    at: moment(context.calendar, at),
  };
  if (opening && opening.day > day)
    return html`<section class="act"><p>${tHtml('O saldo informado de {platform} em {at} é do começo dos livros ou de antes: nenhum ajuste o explica. Se está certo, estorne o saldo inicial e informe outro.', values)}</p>
<p class="actions"><a href="/balances/openings">${t('Saldos iniciais')}</a></p></section>`;
  const direction = cents < 0n ? 'out' : 'in';
  const amount = formatMoneyInput(cents < 0n ? -cents : cents);
  const search = new URLSearchParams({ platform, day, direction, amount });
  const restate = new URLSearchParams({ platform });
  const mayAdjust = hasRole(response, ...addAdjustment.roles);
  const open = { state: 'open', amount: { cents: -cents, until: day } } as const;
  const [line] = mayAdjust ? await listBankLines(context.db, 1, undefined, open) : [];
  return html`<section class="act"><h2>${t('O ajuste que a explicaria')}</h2><p>${tHtml(cents < 0n ? 'Na plataforma {platform}, o painel do provedor tinha {amount} a menos que o razão em {at}.' : 'Na plataforma {platform}, o painel do provedor tinha {amount} a mais que o razão em {at}.', values)}</p>
${line && html`<p class="explain">${t('O extrato do banco tem uma linha em aberto deste valor, em {day}.', { day: formatDay(line.day) })} <a href="${`${BANK_LISTS.lines.address}/${line.id}/match`}">${t('Se é este dinheiro, lance-o por ela')}</a></p>`}${mayAdjust && html`<p class="actions">${buttonLink(`/balances/adjustments/new?${search.toString()}`, tHtml('Lançar um ajuste de {amount}', { amount: money(cents) }))}<a href="/balances/statements/new?${restate.toString()}">${t('Informar outro saldo')}</a></p>`}</section>`;
}
