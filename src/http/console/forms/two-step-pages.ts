import type { Request, Response } from 'express';
import { t } from '../../../texts/translate.ts';
import type { Draft } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { postForm, sendPage } from '../parts/send-page.ts';
import { keyOf } from './preview-key.ts';
import { placeOf, type TwoStepForm } from './two-step-form.ts';

type PageParts = 'title' | 'lead' | 'above' | 'names' | 'list' | 'section' | 'fields' | 'isOpen';

/** The form, with what is wrong in it. */
export async function sendForm<Item>(
  request: Request,
  response: Response,
  form: Pick<TwoStepForm<never, Item>, PageParts>,
  draft: Draft,
  item: Item,
): Promise<void> {
  const isWrong = Object.keys(draft.faults).length > 0;
  const isOpen = (await form.isOpen?.(item)) ?? true;
  const content = html`${await form.fields(draft, item, response)}
${draft.faults.form && html`<p class="fault" role="alert">${draft.faults.form}</p>`}
<div class="actions">${isOpen && html`<button>${t('Ver o que muda')}</button>`}<a href="${placeOf(form, item).address}">${t('Cancelar')}</a></div>
${isOpen && html`<p class="hint">${t('Nada é gravado antes de você confirmar na próxima página.')}</p>`}`;
  const body = html`${crumb(form, item)}<h1>${t(form.title)}</h1><p class="lead">${t(form.lead)}</p>
${await form.above?.(item, response)}<section class="act">${isOpen ? postForm(response, request.path, content) : content}</section>`;
  sendPage(request, response, { title: t(form.title), body, status: isWrong ? 422 : 200 });
}

/** The preview of a change, whose form repeats the fields. */
export function sendPreview<Item>(
  request: Request,
  response: Response,
  form: Pick<TwoStepForm<never, Item>, PageParts>,
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

/** Sends the page that shows a change's result once. */
export function sendMade<Item>(
  request: Request,
  response: Response,
  form: Pick<TwoStepForm<never, Item>, PageParts>,
  item: Item,
  shown: Html,
): void {
  const title = t(form.title);
  sendPage(request, response, { title, body: html`${crumb(form, item)}<h1>${title}</h1>${shown}` });
}

function crumb<Item>(form: Pick<TwoStepForm<never, Item>, PageParts>, item: Item): Html {
  const { section = { address: '/balances', title: 'Saldos' } as const } = form;
  const list = placeOf(form, item);
  const isSection = list.address === section.address;
  return html`<p class="crumb"><a href="${section.address}">${t(section.title)}</a>${
    !isSection && html` · <a href="${list.address}">${list.title}</a>`
  }</p>`;
}
