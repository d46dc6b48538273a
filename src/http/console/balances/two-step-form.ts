/**
 * A form in two steps. The first answer to a posted form is a preview: what the change would do, computed by the change
 * itself and rolled back. The preview's own form repeats the fields and carries a key of these values; with it the change is
 * made and audited, once however often it is sent. Without the key of just these values, or once what the preview showed has
 * changed, the answer is a preview again. What a field or the change refuses leads back to the form, filled in as typed.
 * A change may answer with a page that is shown once, such as a secret; else it leads to the form's list.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { auditChangeOnce } from '../../../access/audit.ts';
import type { Role } from '../../../access/roles.ts';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { getActor, requireRole } from '../../access/authorize.ts';
import { getScope, requireScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { type PlainText, t } from '../languages/translate.ts';
import type { Draft } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { readFormField, readFormLines } from '../parts/parse-filters.ts';
import { postForm, sendPage } from '../parts/send-page.ts';

/** Of an item that the address names, such as the adjustment that is reversed. */
type Params = { id: string };

/** @template Title a text of the catalogue, or the name of an item. */
type Place<Title extends string = PlainText> = { address: string; title: Title };

export type TwoStepForm<Value, Item = undefined> = {
  /** The address of the page; the form is posted there too. It may have `:id`. */
  address: string;
  /** Who may use it: roles of ours, or the merchant whose scope the request has. */
  roles: [Role, ...Role[]] | 'merchant';
  title: PlainText;
  lead: PlainText;
  /** The section of the console; default: the balances. */
  section?: Place;
  /** The page that the form belongs to, and where a change leads to. */
  list: Place | ((item: Item) => Place<string>);
  names: readonly string[];
  /** The values of the fields at first. */
  initial?(item: Item): Record<string, string>;
  /** The item that `:id` names. @throws ConfereError `not_found`. */
  find(request: Request<Params>, response: Response): Promise<Item>;
  fields(draft: Draft, item: Item): Promise<Html>;
  /** Reads the fields, and notes in the draft what is wrong with them. */
  read(draft: Draft, item: Item): Value;
  /** What the change would do. @throws ConfereError as the change. */
  preview(value: Value, item: Item, response: Response): Promise<Html>;
  /** What the change needs that no transaction may wait for; it runs before the change. @throws ConfereError as the change. */
  prepare?(value: Value, by: { actor: string; item: Item }): Promise<Value>;
  /** @returns the target for the audit, perhaps with its detail, and perhaps a page to show once. */
  change(inner: Context, value: Value, by: { actor: string; item: Item }): Promise<string | Made>;
  /** What follows the commit. @param by.isRepeated whether the form was sent before. */
  finish?(value: Value, by: { actor: string; item: Item; isRepeated: boolean }): Promise<void>;
  /** What the change replaces, as a text: once it is another than at the preview, the preview is shown again. */
  basis?(context: Context, item: Item): Promise<string>;
  /** What is wrong, by field, where the change refuses a field; of a conflict, by the name `conflict`. */
  refusals: Record<string, { field: string; text: PlainText }>;
  action: string;
  /** The notice's name on the list; of a form that shows a page once: the notice where it was sent before. */
  done: string;
};

type Made = { target: string; detail?: string | undefined; shown?: Html };

/** A key is a random half, and a half that only this session can compute from it, the form and the values. */
const HALF_BYTES = 8;

function keyOf(
  request: Request,
  response: Response,
  { values, seen }: { values: Draft['values']; seen: string },
  half = randomBytes(HALF_BYTES).toString('hex'),
) {
  const text = JSON.stringify([half, request.path, values, seen]);
  return half + hashOf(response, text);
}

/** A hash that only this session can compute. */
function hashOf(response: Response, text: string): string {
  const hash = createHmac('sha256', String(response.locals.formToken ?? '')).update(text);
  return hash.digest('hex').slice(0, 2 * HALF_BYTES);
}

/** What the change would replace is not what its preview showed. */
class ChangedSinceError extends Error {
  override readonly name = 'ChangedSinceError';
}

/** The routes of a form in two steps. */
export function twoStepForm<Value, Item>(context: Context, form: TwoStepForm<Value, Item>): Router {
  const router = createRouter();
  const admit = form.roles === 'merchant' ? requireScope : requireRole(...form.roles);
  router.get(form.address, admit, async (request: Request<Params>, response) => {
    const item = await form.find(request, response);
    const initial = form.initial?.(item) ?? {};
    const given = (name: string): string =>
      typeof request.query[name] === 'string' ? request.query[name] : (initial[name] ?? '');
    const values = Object.fromEntries(form.names.map((name) => [name, given(name)]));
    await sendForm(request, response, form, { values, faults: {} }, item);
  });

  router.post(form.address, admit, async (request: Request<Params>, response) => {
    const item = await form.find(request, response);
    const values = Object.fromEntries(form.names.map((name) => [name, readFormLines(request, name)]));
    const draft: Draft = { values, faults: {} };
    const step = readFormField(request, 'step');
    const value = form.read(draft, item);
    if (step === 'edit') draft.faults = {};
    if (step === 'edit' || Object.keys(draft.faults).length > 0) {
      await sendForm(request, response, form, draft, item);
      return;
    }
    await answerRead(context, request, response, form, { draft, item, value });
  });
  return router;
}

/** Answers a form without faults: makes what its preview showed, or shows the preview. */
async function answerRead<Value, Item>(
  context: Context,
  request: Request,
  response: Response,
  form: TwoStepForm<Value, Item>,
  { draft, item, value }: { draft: Draft; item: Item; value: Value },
): Promise<void> {
  const [key, seen] = [readFormField(request, 'key') ?? '', readFormField(request, 'seen') ?? ''];
  const { values } = draft;
  const isKey = key === keyOf(request, response, { values, seen }, key.slice(0, 2 * HALF_BYTES));
  const hashBasis = async (inner: Context) => hashOf(response, (await form.basis?.(inner, item)) ?? '');
  const preview = async (isStale: boolean): Promise<void> => {
    // hashed first: every later change is one since the preview
    const shown = { draft, item, seen: await hashBasis(context), isStale };
    sendPreview(request, response, form, shown, await form.preview(value, item, response));
  };
  const assertSame = async (inner: Context): Promise<void> => {
    if ((await hashBasis(inner)) !== seen) throw new ChangedSinceError('it changed after its preview');
  };
  try {
    if (readFormField(request, 'step') !== 'confirm' || !isKey) {
      await preview(false);
      return;
    }
    const made = await make(context, form, { key, value, item, actor: actorOf(form, response), assertSame });
    if (typeof made === 'object' && made.shown) sendMade(request, response, form, item, made.shown);
    else response.redirect(303, `${placeOf(form, item).address}?done=${form.done}`);
  } catch (error) {
    if (error instanceof ChangedSinceError) {
      await preview(true);
      return;
    }
    const refused = error instanceof ConfereError ? findRefusal(form, error) : undefined;
    if (!refused) throw error;
    draft.faults[refused.field] = t(refused.text);
    await sendForm(request, response, form, draft, item);
  }
}

type Confirmed<Value, Item> = {
  key: string;
  value: Value;
  item: Item;
  actor: string;
  /** @throws ChangedSinceError. */
  assertSame: (inner: Context) => Promise<void>;
};

function actorOf<Value, Item>({ roles }: TwoStepForm<Value, Item>, response: Response): string {
  return roles === 'merchant' ? getScope(response).actor : getActor(response);
}

async function make<Value, Item>(
  context: Context,
  form: TwoStepForm<Value, Item>,
  { key, value, item, actor, assertSame }: Confirmed<Value, Item>,
): Promise<string | Made | undefined> {
  const { action, roles } = form;
  const via = roles === 'merchant' ? 'portal' : 'console';
  const prepared = form.prepare ? await form.prepare(value, { actor, item }) : value;
  const made = await auditChangeOnce(
    context,
    key,
    async (inner) => {
      await assertSame(inner);
      return await form.change(inner, prepared, { actor, item });
    },
    (done) => {
      const { target, detail = via } = typeof done === 'string' ? { target: done } : done;
      return { actor, action, target, detail };
    },
  );
  await form.finish?.(value, { actor, item, isRepeated: made === undefined });
  context.wakeUps.alerts.notify();
  return made;
}

function placeOf<Value, Item>({ list }: TwoStepForm<Value, Item>, item: Item): Place<string> {
  return typeof list === 'function' ? list(item) : { ...list, title: t(list.title) };
}

function findRefusal<Value, Item>(form: TwoStepForm<Value, Item>, error: ConfereError) {
  const name = error.code === 'conflict' ? 'conflict' : Object.keys(error.fields ?? {})[0];
  return name === undefined ? undefined : form.refusals[name];
}

async function sendForm<Value, Item>(
  request: Request,
  response: Response,
  form: TwoStepForm<Value, Item>,
  draft: Draft,
  item: Item,
): Promise<void> {
  const isWrong = Object.keys(draft.faults).length > 0;
  const content = html`${await form.fields(draft, item)}
${draft.faults.form && html`<p class="fault" role="alert">${draft.faults.form}</p>`}
<div class="actions"><button>${t('Ver o que muda')}</button><a href="${placeOf(form, item).address}">${t('Cancelar')}</a></div>
<p class="hint">${t('Nada é gravado antes de você confirmar na próxima página.')}</p>`;
  const body = html`${crumb(form, item)}<h1>${t(form.title)}</h1><p class="lead">${t(form.lead)}</p>
<section class="act">${postForm(response, request.path, content)}</section>`;
  sendPage(request, response, { title: t(form.title), body, status: isWrong ? 422 : 200 });
}

function sendPreview<Value, Item>(
  request: Request,
  response: Response,
  form: TwoStepForm<Value, Item>,
  { draft, item, seen, isStale }: { draft: Draft; item: Item; seen: string; isStale: boolean },
  preview: Html,
): void {
  const content = html`${form.names.map((name) => html`<input type="hidden" name="${name}" value="${draft.values[name] ?? ''}">`)}
<input type="hidden" name="seen" value="${seen}"><input type="hidden" name="key" value="${keyOf(request, response, { values: draft.values, seen })}">
<div class="actions"><button name="step" value="confirm">${t('Confirmar')}</button><button name="step" value="edit" class="secondary">${t('Voltar e corrigir')}</button></div>`;
  const title = t('{name}: confira', { name: t(form.title) });
  const body = html`${crumb(form, item)}<h1>${title}</h1><p class="lead">${t('Nada foi gravado ainda.')}</p>${
    isStale &&
    html`<p class="fault" role="alert">${t('Mudou depois da prévia que você viu: confira de novo o que muda.')}</p>`
  }${preview}
<section class="act bare">${postForm(response, request.path, content)}</section>`;
  sendPage(request, response, { title, body, status: isStale ? 409 : 200 });
}

function sendMade<Value, Item>(
  request: Request,
  response: Response,
  form: TwoStepForm<Value, Item>,
  item: Item,
  shown: Html,
): void {
  const title = t(form.title);
  sendPage(request, response, { title, body: html`${crumb(form, item)}<h1>${title}</h1>${shown}` });
}

function crumb<Value, Item>(form: TwoStepForm<Value, Item>, item: Item): Html {
  const { section = { address: '/balances', title: 'Saldos' } as const } = form;
  const list = placeOf(form, item);
  const isSection = list.address === section.address;
  return html`<p class="crumb"><a href="${section.address}">${t(section.title)}</a>${
    !isSection && html` · <a href="${list.address}">${list.title}</a>`
  }</p>`;
}
