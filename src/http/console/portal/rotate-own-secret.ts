import type { Router } from 'express';
import { rotateOwnSecret } from '../../../operations/merchants/portal.ts';
import type { PortalContext } from '../../../portal/open-scope.ts';
import { t, words } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { showSecret } from '../merchants/merchant-forms.ts';
import { choiceField } from '../parts/fields.ts';
import { moment } from '../parts/format.ts';
import { html, tHtml } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import type { CreatePortalForm } from './portal-form.ts';
import { HOME } from './site.ts';

const OF_WORDS = words({ url: 'Endereço', test_url: 'Endereço de teste' });

/** The form that gives the merchant a new secret, which is shown once. */
export function rotateForm({ calendar }: PortalContext, form: CreatePortalForm): Router {
  const follows = (): string => t('O segredo de hoje assina junto por mais 24 horas; até lá não há outra troca.');
  return form({
    ...ofChange(rotateOwnSecret),
    address: '/portal/rotate-secret',
    title: 'Trocar o segredo',
    lead: 'Um segredo novo confere a assinatura dos callbacks. Instale-o no seu sistema enquanto o de hoje ainda vale.',
    names: ['of'],
    fields: async (draft, { merchant }) =>
      html`${merchant.test_url !== null && choiceField(draft, { name: 'of', label: 'De que endereço', words: OF_WORDS })}<p>${follows()}</p>`,
    read: ({ values }) => ({ of: values.of === 'test_url' ? ('test_url' as const) : ('url' as const) }),
    preview: async ({ of }, { merchant }) =>
      html`${merchant.test_url !== null && facts([['De que endereço', OF_WORDS[of]]])}<p class="explain">${follows()} ${t('O novo aparece uma só vez.')}</p>`,
    shown({ secret, oldUntil }, { merchant }) {
      const until = tHtml('O segredo anterior assina junto até {at}.', { at: moment(calendar, oldUntil) });
      const onwards = { address: HOME.address, title: 'Já guardei' } as const;
      return showSecret(merchant, secret, until, onwards);
    },
    done: 'repeated',
  });
}
