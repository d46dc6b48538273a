import type { Request, Response, Router } from 'express';
import { toProviderBody } from '../../../callbacks/render/provider-body.ts';
import { type Example, REPEATED_MAX, sendsInvented } from '../../../callbacks/render/render-examples.ts';
import { CHALLENGE_TYPE, EXPECTED_TYPE, MANIFEST_TYPE, TEST_TYPE } from '../../../callbacks/render/renderable.ts';
import { presentMerchant } from '../../../merchants/present-merchant.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import { EXAMPLE_TYPES, MESSAGE_TYPES } from '../../../operations/merchants/message-types.ts';
import { sendExamples } from '../../../operations/merchants/portal.ts';
import { refuse } from '../../../texts/refuse.ts';
import { t } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { describeWhole } from '../../openapi/build-document.ts';
import { CALLBACK_MESSAGES } from '../../openapi/callback-messages.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { warnOfTest } from '../merchants/render-delivery.ts';
import { choiceField } from '../parts/fields.ts';
import { formatCount, shortId } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { facts, table } from '../parts/page-components.ts';
import { postForm, sendPage } from '../parts/send-page.ts';
import { OPERATION_WORDS, ORDER_STATE_WORDS, STATUS_WORDS } from '../parts/words.ts';
import type { CreatePortalForm } from './portal-form.ts';
import { SCHEMA_FILE } from './show-docs.ts';
import { CALLBACKS, DOCS, MESSAGES } from './site.ts';

/** The catalogue of messages: each type with its example and its schema, and buttons that send examples. */
export function messagePages(): Router {
  const router = createRouter();
  router.get(MESSAGES.address, (request, response) => {
    const body = html`<h1>${t(MESSAGES.title)}</h1>
<p class="lead">${t('O webhook de cada exemplo é assinado e leva "test": true; um manifesto fictício dentro dele não tem assinatura, de propósito, e não passa na conferência. O seu sistema confere o webhook, responde 2xx e não faz nada com ele.')}</p>
<p class="explain">${t('Um exemplo repete a sua mensagem mais recente do tipo; se não há nenhuma, é fictício. Um sistema que ainda não lê "test" trataria um exemplo como pagamento.')}</p>
${facts([['Destino', describeTarget(getScope(response).merchant)]])}
${sendForm(response, undefined)}
${table({
  caption: MESSAGES.title,
  rows: [...MESSAGE_TYPES],
  empty: 'Nenhum callback até agora: o primeiro sai com a próxima mudança que o filtro aceita.',
  columns: [
    { title: 'Tipo', cell: (type) => html`<a href="${MESSAGES.address}/${type}"><code>${type}</code></a>` },
    { title: 'Quando', cell: sayWhen },
  ],
})}`;
    sendPage(request, response, { title: t(MESSAGES.title), body });
  });
  router.get(`${MESSAGES.address}/:type`, async (request: Request<{ type: string }>, response) => {
    const { type } = request.params;
    const message = CALLBACK_MESSAGES.find((one) => one.type === type);
    if (!message || !MESSAGE_TYPES.includes(type)) throw refuse('address_unknown');
    const isExample = EXAMPLE_TYPES.includes(type);
    const { merchant } = getScope(response);
    const example = isExample ? await getScope(response).showExample(type) : undefined;
    const isFlat = merchant.format === 'provider';
    const sent = example && (isFlat ? toProviderBody(example.body, example.repeats ?? '') : example.body);
    const body = html`<p class="crumb"><a href="${MESSAGES.address}">${t(MESSAGES.title)}</a></p>
<h1><code>${type}</code></h1>
${example && !sent && html`<p class="explain">${t('O formato do provedor não tem esta mensagem: ela não é enviada.')}</p>`}
${
  example &&
  sent &&
  html`<p class="explain">${t(example.repeats === undefined ? 'Vai um exemplo fictício, como abaixo, para:' : 'Vai a sua mensagem mais recente deste tipo, como abaixo, para:')} ${describeTarget(merchant)}</p>${sendForm(response, type)}
<section><h2>${t('Exemplo')}</h2><p>${describeOrigin(merchant, type, example)} ${isFlat && t('O id é outro a cada envio.')}</p><pre>${JSON.stringify(sent, null, 2)}</pre></section>`
}
<section><h2>${t('Esquema')}</h2><p>${'JSON Schema 2020-12'} · <a href="${DOCS.address}/${SCHEMA_FILE}" download>${SCHEMA_FILE}</a></p><pre lang="en">${JSON.stringify(describeWhole(message.body), null, 2)}</pre></section>`;
    sendPage(request, response, { title: type, body });
  });
  return router;
}

/** The form that sends examples: its preview names the address that they go to. */
export function exampleForm(form: CreatePortalForm): Router {
  return form({
    ...ofChange(sendExamples),
    address: '/portal/examples',
    title: 'Enviar exemplos',
    lead: 'Cada um sai uma vez, assinado.',
    names: ['type'],
    fields: async (draft) => choiceField(draft, { name: 'type', label: 'Tipo', words: EXAMPLE_WORDS, any: 'Todos' }),
    read({ values: { type = '' }, faults }) {
      if (type !== '' && !EXAMPLE_TYPES.includes(type)) faults.type = t('Escolha um tipo da lista.');
      return type === '' ? {} : { types: [type] };
    },
    preview: async ({ types = EXAMPLE_TYPES }, { merchant }) => {
      const isProduction = merchant.url !== null && merchant.test_url === null;
      return html`${facts([
        ['Mensagens', types.length === 1 ? html`<code>${types[0]}</code>` : String(types.length)],
        ['Destino', describeTarget(merchant)],
      ])}${isProduction && html`<p class="explain">${t('Sem um endereço de teste, exemplos chegam ao sistema que trata pagamentos.')} ${warnOfTest(presentMerchant(merchant))}</p>`}`;
    },
    list: CALLBACKS,
    landing: ({ types = EXAMPLE_TYPES }) => `tests=only&n=${types.length}`,
    done: 'examples',
  });
}

const EXAMPLE_WORDS = Object.fromEntries(EXAMPLE_TYPES.map((type) => [type, type]));

/** Says in words when a message of this type is sent. */
function sayWhen(type: string): string {
  if (type === MANIFEST_TYPE) return t('Depois de cada dia: as mensagens dele, entregues ou não, assinadas');
  if (type === TEST_TYPE) return t('Um teste, pedido no portal ou pela operação');
  if (type === CHALLENGE_TYPE) return t('O desafio de um endereço novo');
  const [, subject = '', state = ''] = type.split('.');
  if (type.startsWith(EXPECTED_TYPE)) return `${t('Pedido')}: ${ORDER_STATE_WORDS[state]}`;
  return `${OPERATION_WORDS[subject]}: ${state === 'corrected' ? t('fatos corrigidos') : STATUS_WORDS[state]}`;
}

/** Says which message an example repeats, or why it is invented. */
function describeOrigin(merchant: MerchantRow, type: string, { repeats }: Example): Html {
  if (repeats !== undefined)
    return html`${t('A sua mensagem mais recente deste tipo:')} <a href="${CALLBACKS.address}/${repeats}">${shortId(repeats)}</a>.`;
  if (sendsInvented(merchant)) return html`${t('Fictício: ninguém confirmou o endereço de teste.')}`;
  if (type === MANIFEST_TYPE) return html`${t('Fictício: nenhum manifesto lhe foi enviado até agora.')}`;
  return html`${t('Fictício: entre as suas {n} mensagens mais novas não há deste tipo.', { n: formatCount(REPEATED_MAX) })}`;
}

function describeTarget(merchant: MerchantRow): Part {
  const { url, test_url: testUrl } = merchant;
  const to = testUrl ?? url;
  if (to === null) return t('o seu feed de eventos');
  return html`<code>${new URL(to).host}</code> <span class="hint">${testUrl === null ? t('endereço de produção') : sendsInvented(merchant) ? t('endereço de teste não confirmado: só exemplos fictícios') : t('endereço de teste')}</span>`;
}

function sendForm(response: Response, type: string | undefined) {
  const field = type !== undefined && html`<input type="hidden" name="type" value="${type}">`;
  const words = type === undefined ? t('Enviar um exemplo de cada tipo') : t('Enviar este exemplo');
  return html`<section class="act bare" aria-label="${t('Ações')}">${postForm(response, '/portal/examples', html`${field}<div class="actions"><button>${words}</button></div>`)}</section>`;
}
