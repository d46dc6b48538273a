import type { Router } from 'express';
import { askAddress } from '../../../operations/merchants/portal.ts';
import { ADDRESS_KINDS } from '../../../portal/address-changes.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { ADDRESS_WORDS, renderChange } from '../merchants/decide-address.ts';
import { choiceField, inputField } from '../parts/fields.ts';
import { EMPTY_VALUE } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';
import type { CreatePortalForm } from './portal-form.ts';

const ADDRESS = '/portal/addresses';

/** The form that asks for another URL, e-mail or test address. */
export function addressForm(form: CreatePortalForm): Router {
  return form({
    ...ofChange(askAddress),
    address: ADDRESS,
    title: 'Mudar um endereço',
    lead: 'Um token que vazou não pode desviar os dados de quem paga: nada muda até a confirmação.',
    names: ['kind', 'value'],
    fields: async (draft) => html`${choiceField(draft, { name: 'kind', label: 'O que muda', words: ADDRESS_WORDS })}
${inputField(draft, {
  name: 'value',
  label: 'Depois',
  hint: 'O endereço de teste recebe só os testes e os exemplos, com um segredo próprio, que a prévia mostra. Vazio: nenhum.',
})}`,
    read: ({ values }) => {
      const kind = ADDRESS_KINDS.find((one) => one === values.kind) ?? 'url';
      const value = (values.value ?? '').trim();
      return { kind, value: kind === 'test_url' && value === '' ? null : value, dry_run: false };
    },
    preview: async ({ kind, value }, scope) => {
      const secret = scope.checkAddress({ kind, value });
      return html`${facts([
        ['O que muda', ADDRESS_WORDS[kind]],
        ['Hoje', scope.merchant[kind] ?? EMPTY_VALUE],
        ['Depois', value ?? EMPTY_VALUE],
        ['Segredo de teste', secret && idText(secret)],
      ])}<p class="explain">${
        kind !== 'email' &&
        value !== null &&
        t(
          'Ao confirmar, uma mensagem assinada vai para o endereço novo, que responde ao desafio como a documentação diz.',
        )
      } ${
        scope.isMailed
          ? t('Depois use o link que vai para o e-mail cadastrado, em até 48 horas; então um e-mail novo recebe outro.')
          : t('Depois a operação confirma: não há e-mail cadastrado.')
      }</p>`;
    },
    done: 'address_asked',
  });
}

/** The merchant's addresses, and the changes of them that wait. */
export async function renderAddresses(
  context: PortalContext,
  { merchant, listAddressChanges }: MerchantScope,
): Promise<Html> {
  const { url, email, test_url: testUrl } = merchant;
  return html`<section><h2>${t('Endereços')}</h2>${facts([
    ['Endereço', url === null ? t('busca os eventos pela API') : idText(url)],
    ['E-mail', email ?? EMPTY_VALUE],
    ['Endereço de teste', testUrl && idText(testUrl)],
  ])}
${(await listAddressChanges()).map((one) => html`<h3>${t('Mudança que espera')}</h3>${renderChange(context, one)}`)}
<p><a href="${ADDRESS}">${t('Mudar um endereço')}</a></p></section>`;
}
