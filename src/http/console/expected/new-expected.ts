import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import { formatAmount } from '../../../domain/money.ts';
import { expectedFactsSchema, expectedKeySchema } from '../../../expected/expected-fields.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { putOne } from '../../../operations/expected.ts';
import { t } from '../../../texts/translate.ts';
import { moneyField, readMoney } from '../balances/form-fields.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { choiceField, type Draft, dayField, inputField } from '../parts/fields.ts';
import { formatDay, moneyOf } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { EXPECTED, OPERATION_CHOICES } from './describe-expected.ts';

/** The source of what people enter by hand. */
const SOURCE = 'console';
const NAMES = ['number', 'operation', 'amount', 'due_day', 'references', 'document', 'name', 'description'];

/** The form that expects a payment: its key is the number, in the source `console`. */
export function newExpectedForm(context: Context): Router {
  return serveTwoStepForm(context, {
    roles: putOne.roles,
    make: async (outer: Context, { number, ...facts }: Typed, { by, once }) => {
      const given = expectedFactsSchema.parse(facts);
      const params = { source: SOURCE, number };
      return (await makeChange(outer, putOne, { given, by: { ...by, params }, once })).made;
    },
    address: `${EXPECTED.address}/new`,
    title: 'Novo pedido',
    lead: 'O que alguém deve pagar, ou o que vamos pagar. O Confere diz quando foi pago, e por quem.',
    section: EXPECTED,
    list: EXPECTED,
    names: NAMES,
    find: async () => undefined,
    fields: async (draft) => html`<div class="fields">${inputField(draft, { name: 'number', label: 'Número' })}
${choiceField(draft, { name: 'operation', label: 'Operação', words: OPERATION_CHOICES })}
${moneyField(draft, { name: 'amount', label: 'Valor' })}
${dayField(draft, { name: 'due_day', label: 'Vencimento' })}
${inputField(draft, { name: 'references', label: 'Referência', hint: 'A que o pagamento terá, se você a escolhe.' })}
${inputField(draft, { name: 'document', label: 'Documento' })}
${inputField(draft, { name: 'name', label: 'Nome' })}
${inputField(draft, { name: 'description', label: 'Descrição' })}</div>`,
    read: readDraft,
    preview: async ({ number, operation, amount, due_day, references, document, name, description }) =>
      facts([
        ['Número', number],
        ['Operação', OPERATION_CHOICES[operation]],
        ['Valor', moneyOf(amount)],
        ['Vencimento', formatDay(due_day)],
        ['Referência', references?.join(', ')],
        ['Documento', document],
        ['Nome', name],
        ['Descrição', description],
      ]),
    done: 'expected_put',
  });
}

type Typed = {
  number: string;
  operation: string;
  amount: string;
  due_day: string;
  references: string[] | null;
  document: string | null;
  name: string | null;
  description: string | null;
};

function readDraft(draft: Draft): Typed {
  const { values, faults } = draft;
  const { number = '', operation = '', due_day = '' } = values;
  const cents = readMoney(draft, 'amount');
  const optional = (name: string): string | null => values[name] || null;
  const typed = {
    ...{ number, operation, due_day, amount: formatAmount(cents) },
    references: values.references ? [values.references] : null,
    ...{ document: optional('document'), name: optional('name'), description: optional('description') },
  };
  const { number: _, ...given } = typed;
  const key = expectedKeySchema.safeParse({ source: SOURCE, number });
  const parsed = expectedFactsSchema.safeParse(given);
  for (const { path } of [...(key.error?.issues ?? []), ...(parsed.error?.issues ?? [])])
    faults[String(path[0] ?? 'form')] ??= t(FAULTS[String(path[0])] ?? 'Confira este campo.');
  return typed;
}

const FAULTS: Record<
  string,
  'Escolha um dia.' | 'Escreva um CPF ou CNPJ, com os dígitos certos.' | 'De 1 a 120 caracteres.'
> = {
  number: 'De 1 a 120 caracteres.',
  due_day: 'Escolha um dia.',
  document: 'Escreva um CPF ou CNPJ, com os dígitos certos.',
};
