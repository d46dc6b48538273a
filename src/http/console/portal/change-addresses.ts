import type { Response, Router } from 'express';
import { CHALLENGE_ANSWER } from '../../../callbacks/deliver/challenge-address.ts';
import { sendsInvented } from '../../../callbacks/render/render-examples.ts';
import { HOUR_MS } from '../../../domain/calendar.ts';
import { OLD_ADDRESS_MS } from '../../../merchants/old-address.ts';
import { askAddress } from '../../../operations/merchants/portal.ts';
import {
  ADDRESS_KINDS,
  type AddressKind,
  type AskedAddress,
  presentAddressChange,
} from '../../../portal/address-changes.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { ADDRESS_WORDS, renderChange } from '../merchants/decide-address.ts';
import { choiceField, inputField } from '../parts/fields.ts';
import { EMPTY_VALUE, formatBounded, moment } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
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
    lead: 'Um token que vazou não pode desviar os dados de quem paga: o URL e o e-mail só mudam depois da confirmação.',
    above: (scope, response) => renderAddresses(context, scope, response, true),
    names: ['kind', 'value'],
    fields: async (
      draft,
      scope,
    ) => html`${explain(context, scope)}${choiceField(draft, { name: 'kind', label: 'O que muda', words: ADDRESS_WORDS })}
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
      ])}${explain(context, scope, { kind, value })}${sayInFlight(scope, kind)}`;
    },
    done(made) {
      if (!made || presentAddressChange(made).waits_for.length > 0) return 'address_asked';
      return made.value === null ? 'address_removed' : 'address_counts';
    },
  });
}

/** Says where messages go that wait when the URL changes. */
function sayInFlight({ merchant }: MerchantScope, kind: AddressKind): Html | false {
  if (kind !== 'url' || merchant.url === null) return false;
  return html`<p class="explain">${t('Quando a mudança valer, o que já falhou no endereço de hoje ainda é tentado nele, por até {hours} horas ou até falhar mais uma vez (nada, se os envios estão suspensos por falhas). Tudo o mais vai logo ao novo, também o que está retido.', { hours: OLD_ADDRESS_MS / HOUR_MS })}</p>`;
}

/** Explains the challenge, and then the mailed link, or why the operators confirm. @param asked the change, once it is chosen. */
function explain(
  { config }: PortalContext,
  { isMailed, merchant, countsAtOnce }: MerchantScope,
  asked?: AskedAddress,
): Html {
  const isChallenged = asked === undefined || (asked.kind !== 'email' && asked.value !== null);
  const counts = asked !== undefined && countsAtOnce(asked);
  const byOperators =
    merchant.email === null
      ? t('Depois a operação confirma: não há e-mail cadastrado.')
      : t('Depois a operação confirma: este servidor não envia e-mails.');
  const mails = html`${t('Depois use o link que vai para o e-mail cadastrado, em até 48 horas.')} ${(asked?.kind ?? 'email') === 'email' && t('Um e-mail novo recebe então outro.')}`;
  const isRemoved = asked?.kind === 'test_url' && asked.value === null && !counts && merchant.url !== null;
  const confirms = html`${isMailed ? mails : !counts && byOperators} ${isRemoved && t('Sem endereço de teste, os testes vão para o endereço de produção.')}`;
  const comes = t(
    'Um endereço de teste vale na hora, sem confirmação, e recebe só exemplos fictícios. Para que repitam as suas mensagens, peça o mesmo endereço de novo: então a operação o confirma.',
  );
  const goes = t('Um endereço de teste não confirmado sai na hora: os testes vão então para o endereço de produção.');
  const atOnce = !isMailed && (asked ? counts && (asked.value === null ? goes : comes) : html`${comes} ${goes}`);
  const challenge = tHtml(
    'Ao confirmar, uma mensagem assinada (confere.challenge) vai para o endereço novo. Ele responde em 15 s com um status 2xx e o corpo <code>{body}</code>, onde … é o valor de data.challenge que chegou.',
    { body: CHALLENGE_ANSWER },
  );
  const taken = t(
    'Um endereço começa com https://, com qualquer porta, caminho e query, sem usuário nem senha. Um redirecionamento não é seguido: conta como falha.',
  );
  const outside = !config.CALLBACK_ALLOW_PRIVATE && t('Ele fica fora de redes internas.');
  return html`<p class="explain">${isChallenged && html`${taken} ${outside} ${challenge}`} ${confirms} ${atOnce}</p>`;
}

/** Says that no mail reaches the merchant, and what takes its place; nothing where one does. */
export function sayNoMail({ isMailed, merchant }: MerchantScope): Html | false {
  if (isMailed) return false;
  const why = merchant.email === null ? t('Não há e-mail cadastrado.') : t('Este servidor não envia e-mails.');
  return html`<span class="hint">${why} ${t('Onde se promete um e-mail, olhe o portal; onde um link confirma, a operação confirma.')}</span>`;
}

/** Says what still goes to the URL before; nothing where nothing does. */
async function sayOldAddress({ calendar }: PortalContext, scope: MerchantScope): Promise<Html | undefined> {
  const old = await scope.countToOldAddress();
  if (!old) return undefined;
  const at = moment(calendar, old.endsAt);
  const said =
    old.count.n === 1
      ? tHtml('1 mensagem em voo ainda vai ao endereço antigo até {at}.', { at })
      : tHtml('{n} mensagens em voo ainda vão ao endereço antigo até {at}.', { n: formatBounded(old.count), at });
  return html`<span class="hint">${said}</span>`;
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
  const unconfirmed =
    sendsInvented(merchant) &&
    html`<span class="hint">${t('Não confirmado: recebe só exemplos fictícios. Para confirmá-lo, peça o mesmo endereço de novo.')}</span>`;
  const secret = isOwnPage && testUrl !== null && (await scope.checkAddress({ kind: 'test_url', value: testUrl }));
  return html`<section><h2>${t('Endereços')}</h2>${facts([
    [
      'Endereço',
      url === null ? t('busca os eventos pela API') : html`${idText(url)} ${await sayOldAddress(context, scope)}`,
    ],
    ['E-mail', html`${email ?? EMPTY_VALUE} ${sayNoMail(scope)}`],
    ['Endereço de teste', testUrl && html`${idText(testUrl)} ${unconfirmed}`],
    ['Segredo de teste', secret && html`<details><summary>${t('Mostrar')}</summary>${idText(secret)}</details>`],
  ])}
${(await scope.listAddressChanges()).map(
  (one) => html`<h3>${t('Mudança pendente: {what}', { what: ADDRESS_WORDS[one.kind] })}</h3>
${renderChange(context, one)}
${postForm(response, `${ADDRESS}/${one.id}/withdraw`, html`<div class="actions"><button class="secondary">${t('Retirar')}</button></div>`)}`,
)}
${!isOwnPage && html`<p><a href="${ADDRESS}">${t('Mudar um endereço')}</a></p>`}</section>`;
}
