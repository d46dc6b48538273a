import type { Router } from 'express';
import type { Context } from '../../../context.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import { decideAddress } from '../../../operations/merchants/addresses.ts';
import { ADDRESS_DECISIONS, listWaiting, presentAddressChange } from '../../../portal/address-changes.ts';
import { t, words } from '../../../texts/translate.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { choiceField } from '../parts/fields.ts';
import { EMPTY_VALUE, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';
import { ofMerchant } from './merchant-forms.ts';

export const ADDRESS_WORDS = words({ url: 'Endereço', email: 'E-mail', test_url: 'Endereço de teste' });
const WAITS_WORDS = words({
  email_on_file: 'o link no e-mail cadastrado',
  admin: 'a operação',
  new_email: 'o link no e-mail novo',
});
const DECISION_WORDS = words({ confirm: 'Confirmar', refuse: 'Recusar' });

/** The form by which an admin confirms or refuses a change of address that a merchant asked for. */
export function addressForm(context: Context): Router {
  const read = async ({ id }: MerchantRow) => {
    const waiting = await listWaiting(context, context.db, { merchant: id });
    return new Map(waiting.map((one) => [one.id, presentAddressChange(one)]));
  };
  return serveTwoStepForm(context, {
    ...ofMerchant(context),
    ...ofChange(decideAddress),
    address: '/merchants/:id/decide-address',
    title: 'Decidir uma mudança de endereço',
    lead: 'Pedida no portal. Confirme só o que o lojista disse por outro meio: um token do portal pode ter vazado.',
    names: ['change', 'decision'],
    async fields(draft, item) {
      const waiting = [...(await read(item)).values()];
      const named = waiting.map(({ id, kind, value }) => [id, `${ADDRESS_WORDS[kind]}: ${value}`]);
      if (named.length === 0) return html`<p class="empty">${t('Nenhuma mudança pendente.')}</p>`;
      return html`${choiceField(draft, { name: 'change', label: 'Mudança pendente', words: Object.fromEntries(named) })}
${choiceField(draft, { name: 'decision', label: 'Decisão', words: DECISION_WORDS })}`;
    },
    read: ({ values }) => ({
      change: values.change ?? '',
      decision: ADDRESS_DECISIONS.find((one) => one === values.decision) ?? 'refuse',
    }),
    async preview({ change: id, decision }, item) {
      const change = (await read(item)).get(id);
      if (!change) return html`<p class="fault">${t('Nenhuma mudança pendente.')}</p>`;
      return html`${facts([['Decisão', DECISION_WORDS[decision]]])}${renderChange(context, change)}`;
    },
    done: 'address_decided',
  });
}

/** A change of address that waits. @param hidesOld from a reader of the new e-mail, who has not proven more. */
export function renderChange(
  { calendar }: Pick<Context, 'calendar'>,
  change: ReturnType<typeof presentAddressChange>,
  hidesOld = false,
): Html {
  const show = (value: string | null) => (value === null ? EMPTY_VALUE : idText(value));
  return facts([
    ['O que muda', ADDRESS_WORDS[change.kind]],
    ['Hoje', !hidesOld && show(change.old_value)],
    ['Depois', show(change.value)],
    ['Pedido por', html`${change.asked_by}, ${moment(calendar, change.asked_at)}`],
    ['Espera', change.waits_for.map((side) => WAITS_WORDS[side]).join(', ')],
    ['Vale até', moment(calendar, change.expires_at)],
  ]);
}
