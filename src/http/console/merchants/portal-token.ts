import type { Router } from 'express';
import { checkTokenName, TOKEN_NAME_CHARS_MAX } from '../../../access/tokens.ts';
import type { Context } from '../../../context.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import { addToken, tokenSources } from '../../../operations/access/tokens.ts';
import type { GivenOf, MadeOf } from '../../../operations/define-change.ts';
import { t } from '../../../texts/translate.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { type Draft, inputField } from '../parts/fields.ts';
import { html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { ofMerchant, showSecret } from './merchant-forms.ts';

/** The form that gives a merchant a token of its portal. Tokens are listed and revoked in the list of tokens. */
export function portalTokenForm(context: Context): Router {
  const address = `${context.config.PUBLIC_URL}/portal`;
  return serveTwoStepForm<GivenOf<typeof addToken>, MerchantRow, MadeOf<typeof addToken>>(context, {
    ...ofMerchant(context),
    ...ofChange(addToken),
    address: '/merchants/:id/portal-token',
    title: 'Dar acesso ao portal',
    lead: 'Um token por pessoa ou sistema: a auditoria guarda o nome dele.',
    names: ['name', 'sources'],
    fields: async (draft, item) => html`<p><b>${item.name}</b></p>
${inputField(draft, { name: 'name', label: 'Quem vai usar' }, html` maxlength="${TOKEN_NAME_CHARS_MAX}" required`)}
${inputField(draft, { name: 'sources', label: 'Origens de pedidos', hint: 'As que ele pode ler e escrever, separadas por espaços; nenhuma, se só usa o portal.' })}`,
    read: (draft, { id }) => ({
      name: draft.values.name ?? '',
      role: 'merchant',
      merchant: id,
      sources: readSources(draft),
    }),
    async preview({ name, sources }, item) {
      checkTokenName(name);
      return html`${facts([
        ['Lojista', item.name],
        ['Quem vai usar', name],
        ['Origens de pedidos', sources?.join(' ')],
      ])}<p>${t('O texto do token aparece uma só vez.')}</p>`;
    },
    shown({ token }, item) {
      const follows = t(
        'Com ele o lojista entra no portal, em {address}, e usa a API do portal. Ele abre só os dados deste lojista.',
        { address },
      );
      return showSecret(item, token, follows);
    },
    done: 'repeated',
  });
}

function readSources({ values, faults }: Draft): string[] {
  const sources = (values.sources ?? '').split(/[ ,;]+/).filter((one) => one !== '');
  if (!tokenSources.safeParse(sources).success)
    faults.sources = t('Até 20 origens, cada uma de letras minúsculas, algarismos, ponto, _ e -.');
  return sources;
}
