import type { Response, Router } from 'express';
import { askAddress } from '../../../operations/merchants/portal.ts';
import { ADDRESS_KINDS, type AddressKind, presentAddressChange } from '../../../portal/address-changes.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { ADDRESS_WORDS, renderChange } from '../merchants/decide-address.ts';
import { choiceField, inputField } from '../parts/fields.ts';
import { EMPTY_VALUE } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { facts, idText } from '../parts/page-components.ts';
import { postForm } from '../parts/send-page.ts';
import type { CreatePortalForm } from './portal-form.ts';

const ADDRESS = '/portal/addresses';

/** The form that asks for another URL, e-mail or test address. */
export function addressForm(context: PortalContext, form: CreatePortalForm): Router {
  return form({
    ...ofChange(askAddress),
    address: ADDRESS,
    title: 'Mudar um endereço',
    lead: 'Um token que vazou não pode desviar os dados de quem paga: nada muda até a confirmação.',
    above: (scope, response) => renderAddresses(context, scope, response, true),
    names: ['kind', 'value'],
    fields: async (
      draft,
      scope,
    ) => html`${explain(scope)}${choiceField(draft, { name: 'kind', label: 'O que muda', words: ADDRESS_WORDS })}
${inputField(draft, {
  name: 'value',
  label: 'Novo valor',
  hint: 'O endereço de teste recebe só os testes e os exemplos, com um segredo próprio, que a prévia mostra; outra query, como ?v=2, dá outro segredo. Vazio: nenhum.',
})}`,
    read: ({ values }) => {
      const kind = ADDRESS_KINDS.find((one) => one === values.kind) ?? 'url';
      const value = (values.value ?? '').trim();
      return { kind, value: kind === 'test_url' && value === '' ? null : value, dry_run: false };
    },
    preview: async ({ kind, value }, scope) => {
      const secret = await scope.checkAddress({ kind, value });
      return html`${facts([
        ['O que muda', ADDRESS_WORDS[kind]],
        ['Hoje', scope.merchant[kind] ?? EMPTY_VALUE],
        ['Depois', value ?? EMPTY_VALUE],
        ['Segredo de teste', secret && idText(secret)],
      ])}${explain(scope, kind !== 'email' && value !== null, value === null ? 'url' : kind)}`;
    },
    done: (made) => (made && presentAddressChange(made).waits_for.length === 0 ? 'address_counts' : 'address_asked'),
  });
}

/** Explains the challenge, and then the mailed link, or why the operators confirm. @param kind of the change, once it is chosen. */
function explain({ isMailed, merchant }: MerchantScope, isChallenged = true, kind?: AddressKind): Html {
  const byOperators =
    merchant.email === null
      ? t('Depois a operação confirma: não há e-mail cadastrado.')
      : t('Depois a operação confirma: este servidor não envia e-mails.');
  const confirms = isMailed
    ? t('Depois use o link que vai para o e-mail cadastrado, em até 48 horas; então um e-mail novo recebe outro.')
    : kind !== 'test_url' && byOperators;
  const atOnce =
    !isMailed &&
    (kind ?? 'test_url') === 'test_url' &&
    t('Um endereço de teste vale na hora: sem confirmação por e-mail, ele recebe só exemplos fictícios.');
  const challenge = t(
    'Ao confirmar, uma mensagem assinada vai para o endereço novo, que responde ao desafio como a documentação diz.',
  );
  return html`<p class="explain">${isChallenged && challenge} ${confirms} ${atOnce}</p>`;
}

/** Says that the server sends no mail; nothing where it does. */
export function sayNoMail({ SMTP_URL: smtp }: PortalContext['config']): Html | false {
  return (
    smtp === undefined &&
    html`<span class="hint">${t('Este servidor não envia e-mails: onde se promete um, olhe o portal ou fale com a operação.')}</span>`
  );
}

/** The merchant's addresses, and the changes of them that wait. @param isOwnPage it also shows the secret of tests. */
export async function renderAddresses(
  context: PortalContext,
  scope: MerchantScope,
  response: Response,
  isOwnPage = false,
): Promise<Html> {
  const { merchant } = scope;
  const { url, email, test_url: testUrl } = merchant;
  const secret = isOwnPage && testUrl !== null && (await scope.checkAddress({ kind: 'test_url', value: testUrl }));
  return html`<section><h2>${t('Endereços')}</h2>${facts([
    ['Endereço', url === null ? t('busca os eventos pela API') : idText(url)],
    ['E-mail', html`${email ?? EMPTY_VALUE} ${sayNoMail(context.config)}`],
    ['Endereço de teste', testUrl && idText(testUrl)],
    ['Segredo de teste', secret && html`<details><summary>${t('Mostrar')}</summary>${idText(secret)}</details>`],
  ])}
${(await scope.listAddressChanges()).map(
  (one) => html`<h3>${t('Mudança pendente: {what}', { what: ADDRESS_WORDS[one.kind] })}</h3>
${renderChange(context, one)}
${postForm(response, `${ADDRESS}/${one.id}/withdraw`, html`<div class="actions"><button class="secondary">${t('Retirar')}</button></div>`)}`,
)}
${!isOwnPage && html`<p><a href="${ADDRESS}">${t('Mudar um endereço')}</a></p>`}</section>`;
}
