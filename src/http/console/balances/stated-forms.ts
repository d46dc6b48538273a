import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { previewRepost } from '../../../ledger/read/preview-change.ts';
import { ADJUSTMENT_KINDS } from '../../../ledger/stated/adjust-books.ts';
import { listBankAccounts, readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { checkInstantPassed } from '../../../ledger/stated/check-stated.ts';
import { findEqualAdjustments, readNewestAdjustment } from '../../../ledger/stated/find-equal-adjustments.ts';
import { readLedgerBalance } from '../../../ledger/stated/state-balance.ts';
import { stateOpening } from '../../../ledger/stated/state-opening.ts';
import { addAdjustment } from '../../../operations/books/adjustments.ts';
import { addOpening } from '../../../operations/books/openings.ts';
import { addStatement } from '../../../operations/books/statements.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { endOfNow } from '../../../seal/read-balances.ts';
import { describeCode } from '../../../texts/fill.ts';
import { codeAdjustment } from '../../../texts/reports/texts.ts';
import { t } from '../../../texts/translate.ts';
import { createRouter } from '../../create-router.ts';
import { nameWriter } from '../access/name-actors.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { choiceField, type Draft, inputField, noteField, noteRefusals, parseWall, readNote } from '../parts/fields.ts';
import { formatDay, moment, money } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { readPlatformBalances } from '../parts/read-platform-balances.ts';
import { readNamesInFull, showPlatform } from '../parts/read-platform-names.ts';
import { renderEffects, renderPreview } from '../parts/render-preview.ts';
import { ADJUSTMENT_WORDS } from '../parts/words.ts';
import { ADJUSTMENT_MEANINGS, BANK, LISTS, nameAdjustment } from './describe-stated.ts';
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

type Stated = GivenOf<typeof addStatement>;

function statementForm(context: Context): TwoStepForm<Stated> {
  const { calendar, clock } = context;
  return {
    ...ofChange(addStatement),
    address: '/balances/statements/new',
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
      if (wall === undefined) draft.faults.at = t('Escolha o dia e a hora.');
      const at = wall === undefined ? new Date(0) : calendar.toInstant(wall);
      noteRefusals(draft, () => checkInstantPassed(context, at));
      return { ...readStatedPlatform(draft), at, balance: readMoney(draft, 'balance') };
    },
    async preview(stated) {
      const preview = await previewOf(context, addStatement, stated);
      const { platform, at, balance } = stated;
      const ledger = await readLedgerBalance(context, { platform, at, balance_cents: balance });
      const difference = balance - ledger;
      return html`${facts([
        ['Plataforma', await describePlatform(context, stated)],
        ['Instante', moment(calendar, at)],
        ['Saldo informado', money(balance)],
        ['No razão nesse instante', money(ledger)],
        ['Diferença', difference === 0n ? t('nenhuma: o saldo confere') : money(difference)],
      ])}
<p class="explain${difference !== 0n && ' open'}">${
        difference === 0n
          ? t('O saldo informado é o do razão. Uma divergência de saldo em aberto desta plataforma se resolve.')
          : t(
              'O saldo informado não é o do razão. A divergência “Saldo não bate” abre, ou continua aberta, assim que o dia estiver lido até esse instante; um ajuste que a explique a resolve.',
            )
      }</p>
${await renderPreview(context, preview)}`;
    },
    done: 'stated',
  };
}

type Adjusted = GivenOf<typeof addAdjustment>;

function adjustmentForm(context: Context): TwoStepForm<Adjusted, { isOfLine: boolean }> {
  return {
    ...ofChange(addAdjustment),
    address: '/balances/adjustments/new',
    title: 'Lançar um ajuste',
    lead: 'Um movimento que a lista do provedor não mostra. Entra no começo do dia.',
    list: ({ isOfLine }) => {
      const { address, title } = isOfLine ? BANK : LISTS.adjustments;
      return { address, title: t(title) };
    },
    names: ['platform', 'other_platform', 'day', 'direction', 'kind', 'amount', 'bank_account', 'bank_line', 'note'],
    find: async (request) => ({ isOfLine: readFormField(request, 'bank_line') !== undefined }),
    fields: async (draft) => html`<div class="fields">${await platformFields(context, draft)}
${dayField(context, draft)}
${choiceField(draft, { name: 'kind', label: 'Tipo', words: wordsOf(draft.values.direction), any: 'Escolha' })}
${moneyField(draft, { name: 'amount', label: 'Valor, em R$' })}${await bankAccountField(context, draft)}</div>${['direction', 'bank_line'].map((name) => html`<input type="hidden" name="${name}" value="${draft.values[name] ?? ''}">`)}
${noteField(draft, 'Por quê')}`,
    read(draft) {
      const code = Object.keys(wordsOf(draft.values.direction)).find((one) => one === draft.values.kind);
      const kind = ADJUSTMENT_KINDS.find((one) => code?.startsWith(`${one}_`));
      if (kind === undefined) draft.faults.kind = t('Escolha o tipo.');
      const size = readMoney(draft, 'amount');
      const amount = code?.endsWith('_out') ? -size : size;
      if (size < 0n) draft.faults.amount ??= t('Escreva o valor sem sinal: o tipo diz para onde o dinheiro vai.');
      if (amount === 0n) draft.faults.amount ??= t('Um ajuste de zero não muda nada.');
      const note = readNote(draft);
      const to = draft.values.bank_account || undefined;
      const line = draft.values.bank_line || undefined;
      const stated = { kind: kind ?? 'other', amount, note, bank_account: to, bank_line: line } as const;
      return { ...readStatedPlatform(draft), day: readDay(context, draft), ...stated };
    },
    async preview(adjustment) {
      const { day, kind, amount, note, bank_account: to, bank_line: line } = adjustment;
      const preview = await previewOf(context, addAdjustment, adjustment);
      return html`${facts([
        ['Plataforma', await describePlatform(context, adjustment)],
        ['Dia', formatDay(day)],
        ['Tipo', nameAdjustment(adjustment)],
        ['Valor', money(amount)],
        ['Conta no banco', to && ((await readBankAccounts(context.db)).get(to)?.name ?? to)],
        ['Por quê', note],
      ])}<p class="explain">${describeCode(ADJUSTMENT_MEANINGS, codeAdjustment(kind, amount))}</p>${line && html`<p class="explain">${t('A linha do extrato casa com este ajuste e sai do que está em aberto.')}</p>`}${await explainEqual(context, adjustment)}${await explainEarlyAdjustment(context, day)}${await renderPreview(context, preview)}`;
    },
    // an adjustment that somebody entered since the preview may be the same one
    basis: async (inner) => String(await readNewestAdjustment(inner.db)),
    done: 'adjusted',
  };
}

/** The kinds to choose from. @param direction `out` or `in`: those whose money goes there alone; else all. */
function wordsOf(direction = ''): Record<string, string> {
  return Object.fromEntries(Object.entries(ADJUSTMENT_WORDS).filter(([code]) => code.endsWith(direction)));
}

/** The bank account on the other side of a withdrawal or a deposit, once one is known. */
async function bankAccountField(context: Context, draft: Draft): Promise<Html | undefined> {
  const accounts = await listBankAccounts(context.db);
  if (accounts.length === 0) return undefined;
  const names = await readBankAccounts(context.db);
  const words = Object.fromEntries(accounts.map((one) => [one, names.get(one)?.name ?? one]));
  return choiceField(draft, {
    name: 'bank_account',
    label: 'Conta no banco',
    hint: t('Só para Saque ou Depósito.'),
    words,
    any: 'Não diz',
  });
}

/** Says that the same money is booked already, such as by the form sent again after a step back. */
async function explainEqual(context: Context, adjustment: Adjusted): Promise<Html | undefined> {
  const { db, calendar } = context;
  const [equal] = await findEqualAdjustments(db, [{ ...adjustment, amountCents: adjustment.amount }]);
  if (!equal) return undefined;
  const { note, actor, created_at: at } = equal;
  return html`<p class="explain bad">${tHtml('Um ajuste deste dia e valor já está lançado: {note} ({who}, {when}). Confirme só se este é outro movimento.', { note, who: await nameWriter(context, actor), when: moment(calendar, at) })}</p>`;
}

type Opened = GivenOf<typeof addOpening>;

function openingForm(context: Context): TwoStepForm<Opened> {
  return {
    ...ofChange(addOpening),
    address: '/balances/openings/new',
    title: 'Informar um saldo inicial',
    lead: 'O saldo (disponível mais retido) do painel do provedor no começo de um dia: ali começam os livros da plataforma. O que o razão tem de antes desse dia é estornado.',
    list: LISTS.openings,
    names: ['platform', 'other_platform', 'day', 'balance'],
    find: nothing,
    fields: async (draft) => html`<div class="fields">${await platformFields(context, draft)}
${dayField(context, draft)}
${moneyField(draft, { name: 'balance', label: 'Saldo no começo do dia, em R$' })}</div>`,
    read(draft) {
      return { ...readStatedPlatform(draft), day: readDay(context, draft), balance: readMoney(draft, 'balance') };
    },
    preview: (opening) => previewOpening(context, opening),
    done: 'opened',
  };
}

async function previewOpening(context: Context, opening: Opened): Promise<Html> {
  const { platform, day, balance: balanceCents } = opening;
  const preview = await previewRepost(context, platform, (inner) =>
    stateOpening(inner, { platform, day, balanceCents, newPlatform: opening.new_platform, actor: 'preview' }),
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
async function describeLater(context: Context, { platform, day, balance: balanceCents }: Opened): Promise<Html> {
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

async function describePlatform(context: Context, stated: { platform: string; new_platform: boolean }): Promise<Html> {
  const { platform, new_platform: newPlatform } = stated;
  return html`${showPlatform(await readNamesInFull(context), platform)}${newPlatform && html` <span class="hint">${t('nova na lista')}</span>`}`;
}
