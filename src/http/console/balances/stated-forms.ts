import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { previewChange, previewRepost } from '../../../ledger/read/preview-change.ts';
import { ADJUSTMENT_KINDS, type AdjustmentKind, adjustBooks } from '../../../ledger/stated/adjust-books.ts';
import { findEqualAdjustments, readNewestAdjustment } from '../../../ledger/stated/find-equal-adjustments.ts';
import { compareStatements, readLedgerBalance, storeStatement } from '../../../ledger/stated/state-balance.ts';
import { finishReposts, stateOpening } from '../../../ledger/stated/state-opening.ts';
import { openBooks } from '../../../reconciliation/runs/open-books.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { choiceField, type Draft, inputField, noteField, parseWall, readNote } from '../parts/fields.ts';
import { formatDay, moment, money } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { readPlatformBalances } from '../parts/read-platform-balances.ts';
import { readNamesInFull, showPlatform } from '../parts/read-platform-names.ts';
import { renderEffects, renderPreview } from '../parts/render-preview.ts';
import { serveTwoStepForm } from '../two-step-form/serve-two-step-form.ts';
import type { TwoStepForm } from '../two-step-form/two-step-form.ts';
import { ADJUSTMENT_KIND_WORDS, LISTS } from './describe-stated.ts';
import { explainEarlyAdjustment, explainEarlyOpening } from './explain-early-day.ts';
import { moneyField, platformFields, readDay, readMoney, readStatedPlatform } from './form-fields.ts';

const nothing = async () => undefined;

/** The forms that state a balance, enter an adjustment, and state an opening. */
export function statedForms(context: Context): Router {
  const router = createRouter();
  router.use([
    serveTwoStepForm(context, statementForm(context)),
    serveTwoStepForm(context, adjustmentForm(context)),
    serveTwoStepForm(context, openingForm(context)),
  ]);
  return router;
}

type Stated = { platform: string; newPlatform: boolean; at: Date; balanceCents: bigint };

function statementForm(context: Context): TwoStepForm<Stated> {
  const { calendar, clock } = context;
  return {
    address: '/balances/statements/new',
    roles: ['accountant'],
    title: 'Informar um saldo',
    lead: 'O saldo (disponível mais retido) que o painel do provedor mostra num instante. O Confere o compara com o razão e abre uma divergência se não bate.',
    list: LISTS.statements,
    names: ['platform', 'other_platform', 'at', 'balance'],
    find: nothing,
    fields: async (draft) => html`<div class="fields">${await platformFields(context, draft)}
${inputField(draft, { name: 'at', label: 'Instante, no relógio do provedor' }, html` type="datetime-local" step="1" max="${calendar.toWallTime(clock.now()).replace(' ', 'T')}"`)}
${moneyField(draft, { name: 'balance', label: 'Saldo no painel, em R$' })}</div>`,
    read(draft) {
      const wall = parseWall(draft.values.at ?? '');
      const at = wall === undefined ? new Date(0) : calendar.toInstant(wall);
      if (wall === undefined) draft.faults.at = t('Escolha o dia e a hora.');
      else if (at > clock.now()) draft.faults.at = t('Este instante ainda não chegou.');
      return { ...readStatedPlatform(draft), at, balanceCents: readMoney(draft, 'balance') };
    },
    async preview(stated) {
      const preview = await previewChange(context, (inner) => storeStatement(inner, { ...stated, actor: 'preview' }));
      const ledger = await readLedgerBalance(context, { ...stated, balance_cents: stated.balanceCents });
      const difference = stated.balanceCents - ledger;
      return html`${facts([
        ['Plataforma', await describePlatform(context, stated)],
        ['Instante', moment(calendar, stated.at)],
        ['Saldo informado', money(stated.balanceCents)],
        ['No razão nesse instante', money(ledger)],
        ['Diferença', difference === 0n ? t('nenhuma: o saldo confere') : money(difference)],
      ])}
<p class="explain">${
        difference === 0n
          ? t('O saldo informado é o do razão. Uma divergência de saldo em aberto desta plataforma se resolve.')
          : t(
              'O saldo informado não é o do razão. A divergência “Saldo não bate” abre, ou continua aberta, assim que o dia estiver lido até esse instante; um ajuste que a explique a resolve.',
            )
      }</p>
${await renderPreview(context, preview)}`;
    },
    change: (inner, stated, { actor }) => storeStatement(inner, { ...stated, actor }),
    finish: () => compareStatements(context),
    action: 'statements.create',
    done: 'stated',
  };
}

type Adjusted = {
  platform: string;
  newPlatform: boolean;
  day: string;
  kind: AdjustmentKind;
  amountCents: bigint;
  note: string;
};

function adjustmentForm(context: Context): TwoStepForm<Adjusted> {
  return {
    address: '/balances/adjustments/new',
    roles: ['accountant'],
    title: 'Lançar um ajuste',
    lead: 'Um movimento que a lista do provedor não mostra. Positivo aumenta o disponível, negativo o diminui; entra no começo do dia.',
    list: LISTS.adjustments,
    names: ['platform', 'other_platform', 'day', 'kind', 'amount', 'note'],
    find: nothing,
    fields: async (draft) => html`<div class="fields">${await platformFields(context, draft)}
${dayField(context, draft)}
${choiceField(draft, { name: 'kind', label: 'Tipo', words: ADJUSTMENT_KIND_WORDS, any: 'Escolha' })}
${moneyField(draft, { name: 'amount', label: 'Valor, em R$', hint: 'Com - na frente se o dinheiro saiu do disponível.' })}</div>
${noteField(draft, 'Por quê')}`,
    read(draft) {
      const kind = ADJUSTMENT_KINDS.find((one) => one === draft.values.kind);
      if (kind === undefined) draft.faults.kind = t('Escolha o tipo.');
      const amountCents = readMoney(draft, 'amount');
      if (amountCents === 0n) draft.faults.amount ??= t('Um ajuste de zero não muda nada.');
      const note = readNote(draft);
      return { ...readStatedPlatform(draft), day: readDay(context, draft), kind: kind ?? 'other', amountCents, note };
    },
    async preview(adjustment) {
      const { day, kind, amountCents, note } = adjustment;
      const preview = await previewChange(context, (inner) => adjustBooks(inner, { ...adjustment, actor: 'preview' }));
      return html`${facts([
        ['Plataforma', await describePlatform(context, adjustment)],
        ['Dia', formatDay(day)],
        ['Tipo', ADJUSTMENT_KIND_WORDS[kind]],
        ['Valor', money(amountCents)],
        ['Por quê', note],
      ])}${await explainEqual(context, adjustment)}${await explainEarlyAdjustment(context, day)}${await renderPreview(context, preview)}`;
    },
    // an adjustment that somebody entered since the preview may be the same one
    basis: async (inner) => String(await readNewestAdjustment(inner.db)),
    change: (inner, adjustment, { actor }) => adjustBooks(inner, { ...adjustment, actor }),
    finish: () => compareStatements(context),
    action: 'adjustments.create',
    done: 'adjusted',
  };
}

/** Says that the same money is booked already, such as by the form sent again after a step back. */
async function explainEqual({ db, calendar }: Context, adjustment: Adjusted): Promise<Html | undefined> {
  const [equal] = await findEqualAdjustments(db, [adjustment]);
  if (!equal) return undefined;
  const { note, actor, created_at: at } = equal;
  return html`<p class="explain bad">${tHtml('Um ajuste deste dia e valor já está lançado: {note} ({who}, {when}). Confirme só se este é outro movimento.', { note, who: actor, when: moment(calendar, at) })}</p>`;
}

type Opened = { platform: string; newPlatform: boolean; day: string; balanceCents: bigint };

function openingForm(context: Context): TwoStepForm<Opened> {
  return {
    address: '/balances/openings/new',
    roles: ['admin'],
    title: 'Informar um saldo inicial',
    lead: 'O saldo (disponível mais retido) do painel do provedor no começo de um dia: ali começam os livros da plataforma. O que o razão tem de antes desse dia é estornado.',
    list: LISTS.openings,
    names: ['platform', 'other_platform', 'day', 'balance'],
    find: nothing,
    fields: async (draft) => html`<div class="fields">${await platformFields(context, draft)}
${dayField(context, draft)}
${moneyField(draft, { name: 'balance', label: 'Saldo no começo do dia, em R$' })}</div>`,
    read(draft) {
      return { ...readStatedPlatform(draft), day: readDay(context, draft), balanceCents: readMoney(draft, 'balance') };
    },
    preview: (opening) => previewOpening(context, opening),
    change: async (inner, opening, { actor }) => (await openBooks(inner, { ...opening, actor })).id,
    finish: () => finishReposts(context).then(() => compareStatements(context)),
    action: 'openings.create',
    done: 'opened',
  };
}

async function previewOpening(context: Context, opening: Opened): Promise<Html> {
  const { platform, day, balanceCents } = opening;
  const preview = await previewRepost(context, platform, (inner) =>
    stateOpening(inner, { ...opening, actor: 'preview' }),
  );
  const stated = html`${facts([
    ['Plataforma', await describePlatform(context, opening)],
    ['Primeiro dia dos livros', formatDay(day)],
    ['Saldo inicial', money(balanceCents)],
  ])}${await explainEarlyOpening(context, day)}`;
  if (preview.isWhole) return html`${stated}${await renderPreview(context, preview)}`;
  return html`${stated}${await renderPreview(context, preview, await describeLater(context, opening))}`;
}

/** The effect of an opening whose platform has too many transactions to repost them in a preview. */
async function describeLater(context: Context, { platform, day, balanceCents }: Opened): Promise<Html> {
  const find = (rows: Awaited<ReturnType<typeof readPlatformBalances>>): bigint => {
    const { availableCents = 0n, heldCents = 0n } = rows.find((row) => row.platform === platform) ?? {};
    return availableCents + heldCents;
  };
  const earlier = find(await readPlatformBalances(context, `${day} 00:00:00`));
  const before = find(await readPlatformBalances(context, endOfNow(context)));
  return html`<p class="hint">${tHtml('Esta plataforma tem muitas transações: abaixo está só o lançamento do saldo inicial. O que o razão tem de antes desse dia ({amount}) é estornado depois, em lotes, e os dias já relatados de antes dele ganham uma revisão. Ao fim:', { amount: money(earlier) })}</p>
${renderEffects(await readNamesInFull(context), [{ platform, before, change: balanceCents - earlier }])}`;
}

function dayField(context: Context, draft: Draft): Html {
  const today = context.calendar.dayOf(context.clock.now());
  return inputField(draft, { name: 'day', label: 'Dia' }, html` type="date" max="${today}"`);
}

async function describePlatform(context: Context, stated: { platform: string; newPlatform: boolean }): Promise<Html> {
  const { platform, newPlatform } = stated;
  return html`${showPlatform(await readNamesInFull(context), platform)}${newPlatform && html` <span class="hint">${t('nova na lista')}</span>`}`;
}
