/**
 * A form in two steps. The first answer to a posted form is a preview: what the change would do, computed by the change
 * itself and rolled back. The preview's own form repeats the fields and carries a key of these values; with it the change is
 * made and audited, once however often it is sent. Without the key of just these values, or once what the preview showed has
 * changed, the answer is a preview again. What a field or the change refuses leads back to the form, filled in as typed.
 * A change may answer with a page that is shown once, such as a secret; else it leads to the form's list.
 */
import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { sayFaults, sayRefusal } from '../../../texts/say-refusal.ts';
import { createRouter } from '../../create-router.ts';
import { admit, byOf } from '../../mount-operations.ts';
import type { Draft } from '../parts/fields.ts';
import { readFormField, readFormLines } from '../parts/parse-filters.ts';
import { halfOf, hashOf, keyOf } from './preview-key.ts';
import { type Params, placeOf, type TwoStepForm } from './two-step-form.ts';
import { sendForm, sendMade, sendPreview } from './two-step-pages.ts';

/** The change would replace another state than its preview showed. */
class ChangedSinceError extends Error {
  override readonly name = 'ChangedSinceError';
}

/** The routes of a form in two steps. */
export function serveTwoStepForm<Value, Item, Made = unknown>(
  context: Context,
  form: TwoStepForm<Value, Item, Made>,
): Router {
  const router = createRouter();
  const passes = admit([form]);
  router.get(form.address, passes, async (request: Request<Params>, response) => {
    const item = await form.find(request, response);
    const initial = (await form.initial?.(item)) ?? {};
    const given = (name: string): string =>
      typeof request.query[name] === 'string' ? request.query[name] : (initial[name] ?? '');
    const values = Object.fromEntries(form.names.map((name) => [name, given(name)]));
    await sendForm(request, response, form, { values, faults: {} }, item);
  });

  router.post(form.address, passes, async (request: Request<Params>, response) => {
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
async function answerRead<Value, Item, Made>(
  context: Context,
  request: Request,
  response: Response,
  form: TwoStepForm<Value, Item, Made>,
  { draft, item, value }: { draft: Draft; item: Item; value: Value },
): Promise<void> {
  const [key, seen] = [readFormField(request, 'key') ?? '', readFormField(request, 'seen') ?? ''];
  const { values } = draft;
  const isKey = key === keyOf(request, response, { values, seen }, halfOf(key));
  const hashBasis = async (inner: Context) => hashOf(response, (await form.basis?.(inner, item, value)) ?? '');
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
    const confirmed = { item, by: byOf(form, request, response, true), once: { key, check: assertSame } };
    const made = await form.make(context, value, confirmed);
    const shown = made === undefined ? undefined : form.shown?.(made, item);
    context.wakeUps.alerts.notify();
    if (shown) sendMade(request, response, form, item, shown);
    else {
      const filters = form.landing ? `${form.landing(value, item)}&` : '';
      const done = typeof form.done === 'function' ? form.done(made) : form.done;
      response.redirect(303, `${placeOf(form, item).address}?${filters}done=${done}`);
    }
  } catch (error) {
    if (error instanceof ChangedSinceError) {
      await preview(true);
      return;
    }
    if (!(error instanceof ConfereError)) throw error;
    const faults = listFaults(context, form, error);
    if (faults.length === 0) throw error;
    draft.faults = Object.fromEntries(faults);
    await sendForm(request, response, form, draft, item);
  }
}

/** Lists the change's refusals by the field of the form, or by `form` for one of no field. */
function listFaults(
  { calendar }: Context,
  { names }: Pick<TwoStepForm<never>, 'names'>,
  error: ConfereError,
): [string, string][] {
  const said = error.code === 'conflict' ? sayRefusal(error, calendar) : undefined;
  if (said !== undefined) return [['form', said]];
  return sayFaults(error).map(({ field, text }) => [names.includes(field) ? field : 'form', text]);
}
