import type { Router } from 'express';
import { assertDelivers } from '../../../callbacks/manage/redeliver.ts';
import type { MerchantScope, OwnRange, PortalContext } from '../../../portal/open-scope.ts';
import { replayParts } from '../merchants/replay-form.ts';
import type { CreatePortalForm } from './portal-form.ts';

/** The form that sends the merchant's callbacks of a range again; its preview counts them. */
export function replayForm(context: PortalContext, form: CreatePortalForm): Router {
  return form<OwnRange>({
    ...replayParts<MerchantScope>(context, (range, { merchant, countReplay }) => ({
      merchant,
      count: () => countReplay(range),
    })),
    address: '/portal/replay',
    action: 'callbacks.replay_requested',
    async change(_own, _range, { merchant }) {
      assertDelivers(merchant);
      return merchant.id;
    },
    async finish(range, { item, isRepeated }) {
      if (!isRepeated) await item.replay(range);
    },
  });
}
