import type { Router } from 'express';
import { pauseOwn } from '../../../operations/merchants/portal.ts';
import { t } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { formatBounded } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import type { CreatePortalForm } from './portal-form.ts';

const LOSES_NOTHING = 'Nada se perde: o que acontecer é retido, e sai em ordem quando você retomar.';

/** The form that pauses deliveries: its preview says what waits, and how they are resumed. */
export function pauseForm(form: CreatePortalForm): Router {
  return form({
    ...ofChange(pauseOwn),
    address: '/portal/pause',
    title: 'Pausar os envios',
    lead: LOSES_NOTHING,
    names: [],
    fields: async () => html``,
    read: () => ({}),
    preview: async (_none, { readDelivery }) => {
      const { pending } = (await readDelivery()).counts;
      return html`${facts([['Espera agora', formatBounded(pending)]])}<p class="explain">${t(LOSES_NOTHING)} ${t('Enquanto estiver pausado, nada novo é enviado, e os seus sistemas não ficam sabendo de pagamentos por aqui. Testes e exemplos continuam saindo. Para voltar: Retomar os envios, na primeira página; só você ou a operação retoma.')}</p>`;
    },
    done: 'paused',
  });
}
