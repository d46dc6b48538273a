import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { parseSum } from '../../../domain/money.ts';
import { previewRepost } from '../../../ledger/read/preview-change.ts';
import { listAdjustments } from '../../../ledger/stated/list-adjustments.ts';
import { listOpenings, reverseOpeningEntry } from '../../../ledger/stated/state-opening.ts';
import { undoAdjustment } from '../../../operations/books/adjustments.ts';
import { undoOpening } from '../../../operations/books/openings.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { auditPersonalAccess } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { nameWriter } from '../access/name-actors.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { noteField, readNote } from '../parts/fields.ts';
import { formatDay, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { readNamesInFull, showPlatform } from '../parts/read-platform-names.ts';
import { renderPreview } from '../parts/render-preview.ts';
import { LISTS, nameAdjustment } from './describe-stated.ts';

type Adjustment = Awaited<ReturnType<typeof listAdjustments>>[number];
type Opening = Awaited<ReturnType<typeof listOpenings>>[number];

/** The forms that reverse an adjustment or an opening. */
export function reversalForms(context: Context): Router {
  const router = createRouter();
  router.use([
    serveTwoStepForm(context, adjustmentReversalForm(context)),
    serveTwoStepForm(context, openingReversalForm(context)),
  ]);
  return router;
}

function adjustmentReversalForm(context: Context): TwoStepForm<GivenOf<typeof undoAdjustment>, Adjustment> {
  return {
    ...ofChange(undoAdjustment),
    address: '/balances/adjustments/:id/reverse',
    title: 'Estornar um ajuste',
    lead: 'O estorno entra no mesmo dia, com o sinal trocado. O ajuste e o estorno continuam na lista.',
    list: LISTS.adjustments,
    names: ['note'],
    async find({ params }, response) {
      const [item] = await listAdjustments(context.db, 1, undefined, { id: params.id });
      if (!item) throw refuse('adjustment_unknown');
      await auditPersonalAccess(context, response, 'adjustments.list', item.id);
      return item;
    },
    fields: async (draft, item) =>
      html`${await describeAdjustment(context, item)}${noteField(draft, 'Por que estornar')}`,
    read: (draft, { id }) => ({ reverses: id, note: readNote(draft) }),
    async preview(undone, item) {
      const preview = await previewOf(context, undoAdjustment, undone);
      return html`${await describeAdjustment(context, item)}${facts([['Por que estornar', undone.note]])}${await renderPreview(context, preview)}`;
    },
    done: 'adjustment_reversed',
  };
}

function openingReversalForm(context: Context): TwoStepForm<GivenOf<typeof undoOpening>, Opening> {
  return {
    ...ofChange(undoOpening),
    address: '/balances/openings/:id/reverse',
    title: 'Estornar um saldo inicial',
    lead: 'Os livros da plataforma voltam a ter tudo o que o Confere conhece, também o de antes desse dia. Depois outro saldo inicial pode ser informado.',
    list: LISTS.openings,
    names: [],
    async find({ params }) {
      const [item] = await listOpenings(context.db, 1, undefined, params.id);
      if (!item) throw refuse('opening_unknown');
      return item;
    },
    fields: (_draft, item) => describeOpening(context, item),
    read: (_draft, { id }) => ({ reverses: id }),
    async preview(_value, item) {
      const preview = await previewRepost(context, item.platform, (inner) => reverseOpeningEntry(inner, item.id));
      const later = html`<p class="hint">${t('Esta plataforma tem muitas transações: abaixo está só o estorno do saldo inicial. O que aconteceu antes desse dia é lançado depois, em lotes; só então se conhece o saldo.')}</p>`;
      return html`${await describeOpening(context, item)}${await renderPreview(context, preview, preview.isWhole ? undefined : later)}`;
    },
    done: 'opening_reversed',
  };
}

async function describeAdjustment(context: Context, item: Adjustment): Promise<Html> {
  const { platform, day, kind, amount, note, created_by } = item;
  return facts([
    ['Plataforma', showPlatform(await readNamesInFull(context), platform)],
    ['Dia', formatDay(day)],
    ['Tipo', nameAdjustment({ kind, amount: parseSum(amount) ?? 0n })],
    ['Valor', moneyOf(amount)],
    ['Por quê', note],
    ['Lançado por', await nameWriter(context, created_by)],
  ]);
}

async function describeOpening(context: Context, item: Opening): Promise<Html> {
  const { platform, day, balance, created_by } = item;
  return facts([
    ['Plataforma', showPlatform(await readNamesInFull(context), platform)],
    ['Primeiro dia dos livros', formatDay(day)],
    ['Saldo inicial', moneyOf(balance)],
    ['Informado por', await nameWriter(context, created_by)],
  ]);
}
