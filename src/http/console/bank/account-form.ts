import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { summarizeBank } from '../../../ledger/bank/summarize-bank.ts';
import { previewChange } from '../../../ledger/read/preview-change.ts';
import {
  BANK_ACCOUNT_CHARS_MAX,
  NOT_PIX_CHARS_MAX,
  NOT_PIX_CHARS_MIN,
  NOT_PIX_TEXTS_MAX,
  readBankAccounts,
} from '../../../ledger/stated/bank-accounts.ts';
import { checkDayBegun } from '../../../ledger/stated/check-stated.ts';
import { PLATFORM_NAME_CHARS_MAX } from '../../../ledger/stated/platform-names.ts';
import { stateBankAccount } from '../../../operations/books/bank.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { t } from '../../../texts/translate.ts';
import { auditPersonalAccess } from '../../access/authorize.ts';
import { IMPORT_ADDRESS } from '../../read-upload.ts';
import { BANK } from '../balances/describe-stated.ts';
import { moneyField, readMoney } from '../balances/form-fields.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, type TwoStepForm } from '../forms/two-step-form.ts';
import { type Draft, dayField, formatMoneyInput, inputField, labelled, noteRefusals } from '../parts/fields.ts';
import { formatDay, money } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { sumPart } from './describe-bank.ts';

type Item = Record<'account' | 'name' | 'begins' | 'inside' | 'balance' | 'balance_day', string> & {
  isNew: boolean;
  hasColumns: boolean;
};
type Stated = GivenOf<typeof stateBankAccount>;
/** In the address in place of an account. */
export const NEW_ACCOUNT = 'new';
const ROWS = 6;

/** The form of a bank account: its name, and the texts of its lines that are nothing of PIX. */
export function accountForm(context: Context): Router {
  const form: TwoStepForm<Stated, Item> = {
    ...ofChange(stateBankAccount),
    address: `${BANK.address}/accounts/:id`,
    title: 'Conta no banco',
    lead: 'O nome aparece no lugar do número. As linhas que não são do PIX, como tarifas e salários, saem do que está em aberto e continuam na lista.',
    list: BANK,
    names: ['account', 'name', 'begins', 'inside', 'balance', 'balance_day', 'not_pix'],
    async find({ params: { id } }, response) {
      await auditPersonalAccess(context, response, 'bank.lines', 'accounts');
      const known = (await readBankAccounts(context.db)).get(id);
      const { begins = [], contains = [] } = known?.notPix ?? {};
      const isNew = id === NEW_ACCOUNT;
      return {
        account: isNew ? '' : id,
        isNew,
        hasColumns: Boolean(known?.csv),
        name: known?.name ?? '',
        begins: begins.join('\n'),
        inside: contains.join('\n'),
        balance: known?.balance ? formatMoneyInput(known.balance.cents) : '',
        balance_day: known?.balance?.day ?? '',
      };
    },
    initial: ({ isNew: _, hasColumns: _columns, ...values }) => values,
    fields: async (draft, { account, isNew, hasColumns }) => html`${
      isNew
        ? html`<div class="fields">${inputField(draft, { name: 'account', label: 'Banco, agência e número', hint: t('Como {example}.', { example: '341/1234/56789-0' }) }, html` required maxlength="${BANK_ACCOUNT_CHARS_MAX}"`)}</div>`
        : facts([
            ['Conta', account],
            [
              'Colunas do CSV do banco',
              hasColumns &&
                html`<a href="${IMPORT_ADDRESS}?kind=bank">${t('Mudar as colunas')}</a> <span class="hint">${t('Depois de enviar um CSV desta conta.')}</span>`,
            ],
          ])
    }<div class="fields">${inputField(draft, { name: 'name', label: 'Nome' }, html` maxlength="${PLATFORM_NAME_CHARS_MAX}"`)}</div>
${textsField(draft, { name: 'begins', label: 'Não é do PIX a linha cujo texto começa com' })}
${textsField(draft, { name: 'inside', label: 'Não é do PIX a linha cujo texto contém' })}
<div class="fields">${moneyField(draft, { name: 'balance', label: 'Saldo final', hint: 'Só se o extrato não o traz.' })}${dayField(draft, { name: 'balance_day', label: 'No fim do dia' })}</div>
${draft.faults.not_pix && html`<p class="fault" role="alert">${draft.faults.not_pix}</p>`}`,
    read(draft, { account, isNew }) {
      const { values } = draft;
      const list = (name: string): string[] => (values[name] ?? '').split('\n').map((text) => text.trim());
      const [begins, contains] = [list('begins'), list('inside')].map((texts) => texts.filter(Boolean));
      return {
        ...{ account: isNew ? (values.account ?? '') : account, name: values.name === '' ? null : values.name },
        ...{ not_pix: { begins: begins ?? [], contains: contains ?? [] }, new_account: isNew },
        balance: readBalance(context, draft),
      };
    },
    preview: (stated) => preview(context, stated),
    done: 'bank_saved',
  };
  return serveTwoStepForm(context, form);
}

function readBalance(context: Context, draft: Draft): Stated['balance'] {
  const { balance = '', balance_day: day = '' } = draft.values;
  if (balance === '' && day === '') return null;
  const amount = readMoney(draft, 'balance');
  const faults: Draft['faults'] = {};
  noteRefusals({ faults }, () => checkDayBegun(context, day));
  if (faults.day !== undefined) draft.faults.balance_day = faults.day;
  return { day, amount };
}

function textsField(draft: Draft, field: { name: string; label: Parameters<typeof labelled>[1]['label'] }): Html {
  const hint = t(
    'Um texto por linha, sem distinção de maiúsculas e acentos: até {n}, cada um com {min} a {max} caracteres.',
    {
      ...{ n: NOT_PIX_TEXTS_MAX, min: NOT_PIX_CHARS_MIN, max: NOT_PIX_CHARS_MAX },
    },
  );
  return labelled(
    draft,
    { ...field, hint },
    (attributes) =>
      html`<textarea rows="${ROWS}" spellcheck="false"${attributes}>${draft.values[field.name] ?? ''}</textarea>`,
  );
}

/** Shows what the account's lines would be. */
async function preview(context: Context, stated: Stated): Promise<Html> {
  const read = async (inner: Context) =>
    (await summarizeBank(inner.db)).accounts.find((one) => one.account === stated.account);
  const before = await read(context);
  let after: typeof before;
  await previewChange(context, async (inner) => {
    await stateBankAccount.change(inner, stated, { caller: { id: 'preview', role: 'admin' }, id: '' });
    after = await read(inner);
  });
  const rows = (one: typeof before) =>
    facts([
      ['Saldo final', one?.balance && html`${money(one.balance.cents)} (${formatDay(one.balance.day)})`],
      ['Saldo antes da primeira linha', one?.balance && money(one.beforeCents)],
      ['Em aberto', one && sumPart(one.openLines)],
      ['Não é do PIX', one && sumPart(one.notPix)],
      ['Casadas', one && sumPart(addSums(one.matched, one.withdrawals))],
    ]);
  return html`${facts([
    ['Conta', stated.account],
    ['Nome', stated.name],
  ])}<h2>${t('Antes')}</h2>${rows(before)}<h2>${t('Depois')}</h2>${rows(after)}`;
}

type Sum = Parameters<typeof sumPart>[0];

function addSums(a: Sum, b: Sum): Sum {
  return { count: a.count + b.count, cents: a.cents + b.cents };
}
