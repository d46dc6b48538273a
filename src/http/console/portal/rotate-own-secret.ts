import type { Router } from 'express';
import { rotateOwnSecret } from '../../../operations/merchants/portal.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { refuse } from '../../../texts/refuse.ts';
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

/** The addresses that have a secret of their own, with the instant until which there is no rotation. */
async function listWaits(scope: MerchantScope) {
  const addresses = scope.merchant.test_url === null ? (['url'] as const) : (['url', 'test_url'] as const);
  return await Promise.all(addresses.map(async (of) => ({ of, until: await scope.readRotationWait(of) })));
}

/** The form that gives the merchant a new secret, which is shown once. */
export function rotateForm({ calendar }: PortalContext, form: CreatePortalForm): Router {
  const follows = (): string =>
    t('O segredo atual continua assinando por mais 24 horas; até lá não dá para trocar de novo.');
  return form({
    ...ofChange(rotateOwnSecret),
    address: '/portal/rotate-secret',
    title: 'Trocar o segredo',
    lead: 'O segredo confere a assinatura dos callbacks. Instale o novo no seu sistema enquanto o atual ainda vale.',
    names: ['of'],
    async fields(draft, scope) {
      const waits = await listWaits(scope);
      const said = waits.map(
        ({ of, until }) =>
          until &&
          html`<p class="explain">${tHtml('{address}: o segredo anterior ainda assina até {at}; até lá não dá para trocar. Se tem pressa, fale com a operação.', { address: OF_WORDS[of] ?? of, at: moment(calendar, until) })}</p>`,
      );
      const words = Object.fromEntries(waits.flatMap(({ of, until }) => (until ? [] : [[of, OF_WORDS[of] ?? of]])));
      const hasChoice = scope.merchant.test_url !== null && Object.keys(words).length > 0;
      return html`${said}${hasChoice && choiceField(draft, { name: 'of', label: 'De qual endereço', words })}${
        Object.keys(words).length > 0 && html`<p>${follows()}</p>`
      }`;
    },
    isOpen: async (scope) => (await listWaits(scope)).some(({ until }) => until === null),
    read: ({ values }) => ({ of: values.of === 'test_url' ? ('test_url' as const) : ('url' as const) }),
    async preview({ of }, scope) {
      const { merchant } = scope;
      const until = await scope.readRotationWait(of);
      if (until) throw refuse('secret_rotated_lately', { until: until.toISOString() });
      return html`${merchant.test_url !== null && facts([['De qual endereço', OF_WORDS[of]]])}<p class="explain">${follows()} ${of === 'url' ? t('O novo aparece uma só vez.') : t('O novo fica à mostra em Mudar um endereço.')}</p>`;
    },
    shown({ secret, oldUntil, of }, { merchant }) {
      const until = tHtml('O segredo anterior assina junto até {at}.', { at: moment(calendar, oldUntil) });
      const onwards = { address: HOME.address, title: 'Já guardei' } as const;
      return showSecret(merchant, secret, until, onwards, of === 'url');
    },
    done: 'repeated',
  });
}
