import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { issuedDayOf } from '../../../domain/calendar.ts';
import { formatAmount } from '../../../domain/money.ts';
import { expectedFactsSchema, expectedKeySchema } from '../../../expected/expected-fields.ts';
import { listExpected, type PresentedExpected } from '../../../expected/read/list-expected.ts';
import { countUnseenPlatforms, findPlatformIds } from '../../../imports/find-platforms.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { putOne } from '../../../operations/expected/expected.ts';
import { oneExpected } from '../../../operations/expected/read-expected.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { moneyField, readMoney } from '../balances/form-fields.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { choiceField, type Draft, dayField, filterField, inputField } from '../parts/fields.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { type PlatformNames, readPlatformNames, readPlatformWords } from '../parts/read-platform-names.ts';
import { OPERATION_CHOICES } from '../parts/words.ts';
import { describeFacts, EXPECTED, listFacts, orderLink } from './describe-expected.ts';

/** The source of what people enter by hand. */
const SOURCE = 'console';
const NAMES = ['number', 'operation', 'amount', 'due_day', 'platform', 'references', 'document', 'name', 'description'];

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
    find: async (request, response) => {
      const number = readFormField(request, 'number') ?? '';
      const platform = (readFormField(request, 'platform') ?? '').trim();
      const ids = await findPlatformIds(context.db, new Set([platform]));
      const platforms = await readPlatformWords(context, response);
      const named = await readPlatformNames(context, response);
      return { number, before: await findBefore(context, number, response), ids, platforms, named };
    },
    basis: async (inner, { number }) => {
      const [order] = await listExpected(inner, 1, undefined, { source: SOURCE, number });
      return order ? `${order.id} ${order.version}` : '';
    },
    fields: async (
      draft,
      { platforms },
    ) => html`<div class="fields">${inputField(draft, { name: 'number', label: 'Número' })}
${choiceField(draft, { name: 'operation', label: 'Operação', words: OPERATION_CHOICES })}
${moneyField(draft, { name: 'amount', label: 'Valor' })}
${dayField(draft, { name: 'due_day', label: 'Vencimento' })}
${filterField(draft, { name: 'platform', label: 'Plataforma', words: platforms, any: 'Qualquer' })}
${inputField(draft, { name: 'references', label: 'Referência', hint: 'A que o pagamento terá, se você a escolhe.' })}
${inputField(draft, { name: 'document', label: 'Documento' })}
${inputField(draft, { name: 'name', label: 'Nome' })}
${inputField(draft, { name: 'description', label: 'Descrição' })}</div>`,
    read: readDraft,
    preview: async (typed, { before, named }) => {
      const given = { ...NOTHING, ...typed, source: SOURCE, references: typed.references ?? [] };
      const facts = describeFacts(given, named);
      const unseen = await countUnseenPlatforms(context.db, typed.platform === null ? [] : [typed.platform]);
      const after = html`${unseen.length > 0 && html`<div class="explain bad"><p>${t('Nenhuma transação tem esta plataforma: enquanto for assim, nenhum pagamento é achado para o pedido.')}</p></div>`}${facts}`;
      if (!before) return after;
      return html`<p class="lead">${t('Este número já é de um pedido: o que está abaixo o substitui por inteiro.')} ${orderLink(before.id)}</p>${changesTable(listChanges(context, { before, typed, named }))}${after}`;
    },
    done: 'expected_put',
  });
}

/** The facts for which the form has no field. */
const NOTHING = {
  ...{ issued_day: null, valid_until: null, e2e_ids: [] as string[], extra: null },
  invoice_key: null,
};

/** The order that has the number, as the caller may see it, audited; undefined for a new one. */
async function findBefore(context: Context, number: string, response: Response) {
  const [known] = await listExpected(context, 1, undefined, { source: SOURCE, number });
  return known && (await oneExpected.read(context, { caller: getCaller(response), id: known.id, via: 'console' }));
}

type Item = {
  number: string;
  before: PresentedExpected | undefined;
  /** The platform that is typed by its name. */
  ids: ReadonlyMap<string, string>;
  platforms: Record<string, string>;
  named: PlatformNames;
};
type Change = { label: Label; before: Part; after: Part };

/** The facts that the typed ones replace by others. */
function listChanges(
  { calendar }: Context,
  { before, typed, named }: { before: PresentedExpected; typed: Typed; named: PlatformNames },
): Change[] {
  const createdDay = calendar.dayOf(new Date(before.created_at));
  const issued_day = issuedDayOf(null, { dueDay: typed.due_day, createdDay });
  const after = { ...before, ...NOTHING, ...typed, references: typed.references ?? [], issued_day };
  const shown = listFacts(after, named);
  return listFacts(before, named).flatMap(([label, own], index) => {
    const other = shown[index]?.[1];
    return String(own ?? '') === String(other ?? '') ? [] : [{ label, before: own, after: other }];
  });
}

function changesTable(rows: Change[]): Html {
  return table({
    caption: 'O que muda',
    rows,
    empty: 'Nada muda: o pedido já é assim.',
    columns: [
      { title: 'Campo', cell: (row) => translate(row.label) },
      { title: 'Antes', cell: (row) => row.before ?? '–' },
      { title: 'Depois', cell: (row) => row.after ?? '–' },
    ],
  });
}

type Typed = {
  number: string;
  operation: string;
  amount: string;
  due_day: string;
  platform: string | null;
  references: string[] | null;
  document: string | null;
  name: string | null;
  description: string | null;
};

function readDraft(draft: Draft, { ids }: Item): Typed {
  const { values, faults } = draft;
  const { number = '', operation = '', due_day = '' } = values;
  const cents = readMoney(draft, 'amount');
  const optional = (name: string): string | null => values[name] || null;
  const platform = values.platform?.trim() || null;
  const typed = {
    ...{ number, operation, due_day, amount: formatAmount(cents) },
    platform: ids.get(platform ?? '') ?? platform,
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
