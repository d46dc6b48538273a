/** The form that gives several mismatches to one person: each is changed by itself, and says what became of it. */
import { createHash } from 'node:crypto';
import type { Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import type { PresentedMismatch } from '../../../mismatches/read-mismatches.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { readList } from '../../../operations/define-list.ts';
import { assignOneMismatch, mismatches } from '../../../operations/mismatches.ts';
import { refuse } from '../../../texts/refuse.ts';
import { sayFaults, sayRefusal } from '../../../texts/say-refusal.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { type Confirmed, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { choiceField, noteField } from '../parts/fields.ts';
import { formatDay, moneyOf, shortenId } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { type TableColumn, table } from '../parts/page-components.ts';
import { readFormLines, readQuery } from '../parts/parse-filters.ts';
import { hasRole, postForm } from '../parts/send-page.ts';
import { NOBODY, nameOwner, readOwnerNames, readOwnerWords } from './assign-mismatch.ts';
import { explainMismatch } from './explain-mismatch.ts';

export const MISMATCH_LIST = { title: 'Divergências', address: '/mismatches' } as const;
const ADDRESS = `${MISMATCH_LIST.address}/assign`;
/** The field of the boxes. */
const CHOSEN = 'mismatch';
/** Mismatches that one form gives to a person: as many as a page of the list has at most. */
const ASSIGNED_MAX = 200;

type Row = Omit<PresentedMismatch, 'seq'>;
type Given = { ids: string[]; owner: string | null; note: string | undefined };
/** `ids`: as they were chosen; `rows`: those that exist. */
type Item = {
  ids: string[];
  rows: Row[];
  words: Record<string, string>;
  owners: Awaited<ReturnType<typeof readOwnerNames>>;
};

export function assignManyForm(context: Context): Router {
  const form: TwoStepForm<Given, Item, Map<string, string>> = {
    address: ADDRESS,
    roles: assignOneMismatch.roles,
    section: MISMATCH_LIST,
    list: MISMATCH_LIST,
    title: 'Atribuir divergências',
    lead: 'Cada uma é mudada por si: se uma não pode ser, as outras são.',
    names: [CHOSEN, 'owner', 'note'],
    async find(request, response) {
      const given = readFormLines(request, CHOSEN) || readQuery(request, CHOSEN);
      const ids = [...new Set(given.split('\n').filter(Boolean))];
      const rows = ids.length === 0 || ids.length > ASSIGNED_MAX ? [] : await readRows(context, response, ids);
      return { ids, rows, words: await readOwnerWords(context, response), owners: await readOwnerNames(context, rows) };
    },
    isOpen: ({ rows }) => Promise.resolve(rows.length > 0),
    fields: async (draft, { rows, words, owners }) =>
      rows.length === 0
        ? html`<p class="hint">${t('Escolha na lista as que uma pessoa vai decidir, até {n}.', { n: ASSIGNED_MAX })}</p>`
        : html`${chosenTable(rows, { title: 'Quem decide', cell: (row) => nameOwner(row, owners) })}<input type="hidden" name="${CHOSEN}" value="${draft.values[CHOSEN] ?? ''}">
<div class="fields">${choiceField(draft, { name: 'owner', label: 'Quem decide', words, any: 'Escolha' })}</div>${noteField(draft, 'Recado (opcional)')}`,
    read(draft, { ids, rows }) {
      const { owner = '', note } = draft.values;
      if (ids.length === 0) draft.faults.form = t('Escolha ao menos uma divergência.');
      if (ids.length > ASSIGNED_MAX) draft.faults.form = t('No máximo {n} de cada vez.', { n: ASSIGNED_MAX });
      else if (rows.length < ids.length)
        throw refuse('mismatches_unknown', { unknown: ids.length - rows.length, n: ids.length });
      if (owner === '') draft.faults.owner = t('Escolha quem decide.');
      return { ids, owner: owner === NOBODY ? null : owner, note };
    },
    async preview({ owner, note }, { rows, words }) {
      const changes = (row: Row): boolean => row.owner !== owner || Boolean(note?.trim());
      const [first] = rows.filter(changes);
      if (first) await previewOf(context, assignOneMismatch, { owner, note }, first.id);
      const cell = (row: Row): Part => (changes(row) ? words[owner ?? NOBODY] : t('nada muda'));
      return html`${chosenTable(rows, { title: 'Quem vai decidir', cell })}${note?.trim() && html`<p class="note">${note}</p>`}`;
    },
    async make(_context, { ids, ...given }, confirmed) {
      const outcomes = new Map<string, string>();
      for (const id of ids) outcomes.set(id, await assignOne(context, id, given, confirmed));
      return outcomes;
    },
    shown: (outcomes, { rows }) =>
      html`${chosenTable(rows, { title: 'Resultado', cell: ({ id }) => outcomes.get(id) })}<p><a href="${MISMATCH_LIST.address}">${t('Ver as divergências')}</a></p>`,
    done: 'assigned',
  };
  return serveTwoStepForm(context, form);
}

async function readRows(context: Context, response: Response, ids: string[]): Promise<Row[]> {
  const page = { limit: ASSIGNED_MAX, after: undefined };
  const by = { caller: getCaller(response), via: 'console' } as const;
  return (await readList(context, mismatches, { filter: { ids }, page, ...by })).rows;
}

/** Changes one, once for each key of the form. @returns what became of it. */
async function assignOne(
  context: Context,
  id: string,
  given: Omit<Given, 'ids'>,
  { by, once }: Confirmed<Item>,
): Promise<string> {
  const key = createHash('sha256').update(`${once.key} ${id}`).digest('hex').slice(0, once.key.length);
  try {
    const asked = { given, by: { ...by, id }, once: { ...once, key } };
    return (await makeChange(context, assignOneMismatch, asked)).made === false ? t('nada muda') : t('atribuída');
  } catch (error) {
    if (!(error instanceof ConfereError)) throw error;
    const faults = sayFaults(error).map(({ text }) => text);
    return t('não foi mudada: {why}', { why: sayRefusal(error) ?? faults.join(' ') });
  }
}

function chosenTable(rows: Row[], last: TableColumn<Row>): Html {
  return table({
    caption: 'Divergências',
    rows,
    empty: 'Nenhuma divergência.',
    columns: [
      {
        title: 'Divergência',
        cell: (row) => html`<a href="${MISMATCH_LIST.address}/${row.id}">${explainMismatch(row).title}</a>`,
      },
      { title: 'Dia', cell: ({ day }) => formatDay(day) },
      { title: 'Em jogo', cell: (row) => moneyOf(row.at_stake), align: 'end' },
      last,
    ],
  });
}

/**
 * Renders a list of mismatches in the form that gives those chosen to somebody.
 * @param render the list, with the columns before its own: the boxes, for those who may give mismatches.
 */
export async function offerAssign(
  context: Context,
  response: Response,
  rows: Row[],
  render: (more: TableColumn<Row>[]) => Promise<Html>,
): Promise<Html> {
  const isOpen = ({ state }: Row): boolean => state !== 'resolved';
  if (!hasRole(response, ...assignOneMismatch.roles) || !rows.some(isOpen)) return await render([]);
  const cell = (row: Row): Part =>
    isOpen(row) &&
    html`<input type="checkbox" name="${CHOSEN}" value="${row.id}" aria-label="${t('Escolher')} ${shortenId(row.id)}">`;
  const words = await readOwnerWords(context, response);
  const owner = choiceField({ values: {}, faults: {} }, { name: 'owner', label: 'Quem decide', words, any: 'Escolha' });
  const form = html`${await render([{ title: 'Escolher', cell }])}<div class="fields">${owner}</div>${noteField({ values: {}, faults: {} }, 'Recado (opcional)')}
<div class="actions"><button class="secondary">${t('Atribuir as escolhidas')}</button></div>`;
  return postForm(response, ADDRESS, form);
}
