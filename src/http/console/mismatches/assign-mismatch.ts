/** The owner of a mismatch: the form on its page, and the names. */
import type { Request, Response, Router } from 'express';
import { listLogins, readActorNames } from '../../../access/users.ts';
import type { Context } from '../../../context.ts';
import type { PresentedMismatch } from '../../../mismatches/read-mismatches.ts';
import { makeChange } from '../../../operations/define-change.ts';
import { assignOneMismatch } from '../../../operations/mismatches.ts';
import { type Translated, t, untranslated } from '../../../texts/translate.ts';
import { getCaller, requireRole } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { choiceField, noteField } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { readFormField } from '../parts/parse-filters.ts';
import { hasRole, postForm } from '../parts/send-page.ts';

/** In the place of an owner: nobody. */
export const NOBODY = 'none';

type Owned = Pick<PresentedMismatch, 'owner'>;
type Names = ReadonlyMap<string, string>;

/** The form that gives a mismatch to somebody. */
export function assignForm(context: Context): Router {
  return createRouter().post(
    '/mismatches/:id/assign',
    requireRole(...assignOneMismatch.roles),
    async (request: Request<{ id: string }>, response) => {
      const { id } = request.params;
      const [owner = NOBODY, note] = [readFormField(request, 'owner'), readFormField(request, 'note')];
      const by = { caller: getCaller(response), id, via: 'console' } as const;
      await makeChange(context, assignOneMismatch, { given: { owner: owner === NOBODY ? null : owner, note }, by });
      response.redirect(303, `/mismatches/${encodeURIComponent(id)}?done=assigned`);
    },
  );
}

/** The words for those who may own a mismatch: the reader first, nobody last. @param chosen somebody who may not be among them. */
export async function readOwnerWords(
  context: Pick<Context, 'db' | 'clock'>,
  response: Response,
  chosen?: string | null,
): Promise<Record<string, string>> {
  const { id: own } = getCaller(response);
  const { [own]: _, ...others } = Object.fromEntries(await listLogins(context));
  const former = chosen && chosen !== own && chosen !== NOBODY && !(chosen in others) ? [chosen] : [];
  const names = await readActorNames(context.db, former);
  const ended = former.map((id) => [id, names.get(id) ?? id]);
  return { [own]: t('Eu'), ...others, ...Object.fromEntries(ended), [NOBODY]: t('Ninguém') };
}

/** The names of the owners of mismatches, by id; a forgotten one has none. */
export function readOwnerNames({ db }: Pick<Context, 'db'>, rows: readonly Owned[]): Promise<Names> {
  return readActorNames(
    db,
    rows.flatMap(({ owner }) => owner ?? []),
  );
}

/** An owner by name, or by the id of one without a name. */
export function nameOwner({ owner }: Owned, names: Names): Translated {
  return owner === null ? t('Ninguém') : untranslated(names.get(owner) ?? owner);
}

/** The form on the page of a mismatch; undefined for a reader who may not use it. */
export async function renderAssign(
  context: Context,
  response: Response,
  { id, owner }: PresentedMismatch,
): Promise<Html | undefined> {
  if (!hasRole(response, ...assignOneMismatch.roles)) return undefined;
  const words = await readOwnerWords(context, response, owner);
  const draft = { values: { owner: owner ?? NOBODY }, faults: {} };
  const content = html`<div class="fields">${choiceField(draft, { name: 'owner', label: 'Quem decide', words })}</div>${noteField(draft, 'Recado (opcional)')}
<div class="actions"><button class="secondary">${t('Salvar')}</button></div>
<p class="hint">${t('Quem se escolhe vê na Visão geral quantas são suas, e o recado na lista delas; e-mail não sai.')}</p>`;
  return html`<section class="act" aria-label="${t('Quem decide')}">${postForm(response, `/mismatches/${id}/assign`, content)}</section>`;
}
