import type { Context } from '../../../context.ts';
import type { presentAddressChange } from '../../../portal/address-changes.ts';
import { words } from '../../../texts/translate.ts';
import { EMPTY_VALUE, moment } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';

export const ADDRESS_WORDS = words({ url: 'Endereço', email: 'E-mail', test_url: 'Endereço de teste' });
const WAITS_WORDS = words({
  email_on_file: 'o link no e-mail cadastrado',
  admin: 'a operação',
  new_email: 'o link no e-mail novo',
});

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
