import type { Router } from 'express';
import { assertDelivers } from '../../../callbacks/manage/redeliver.ts';
import type { OwnRange, PortalContext } from '../../../portal/open-scope.ts';
import { describeYesterday, readRange, renderReplay, replayFields } from '../merchants/replay-form.ts';
import type { CreatePortalForm } from './portal-form.ts';

/** The form that sends the merchant's callbacks of a range again; its preview counts them. */
export function replayForm(context: PortalContext, form: CreatePortalForm): Router {
  return form<OwnRange>({
    address: '/portal/replay',
    title: 'Repetir um período',
    lead: 'Envia de novo os callbacks criados num período, com os mesmos webhook-ids e na ordem de cada transação. O que ainda espera não entra: será enviado de qualquer modo.',
    names: ['from', 'to', 'states'],
    initial: () => describeYesterday(context),
    fields: async (draft) => replayFields(draft),
    read: (draft) => readRange(context, draft),
    async preview(range, scope) {
      // refused here as by the change
      assertDelivers(scope.merchant);
      return renderReplay(context, range, { name: scope.merchant.name, count: await scope.countReplay(range) });
    },
    async change(_own, _range, { merchant }) {
      assertDelivers(merchant);
      return merchant.id;
    },
    async finish(range, { item, isRepeated }) {
      if (!isRepeated) await item.replay(range);
    },
    action: 'callbacks.replay_requested',
    done: 'replayed',
  });
}
