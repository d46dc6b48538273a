import { z } from 'zod';
import { callbackQuerySchema, replaySchema } from '../api/callbacks.ts';
import { feedQuerySchema } from '../api/events.ts';
import { merchantChangeSchema, newMerchantSchema } from '../api/merchants.ts';
import * as callbacks from './components/callbacks.ts';
import * as merchants from './components/merchants.ts';
import {
  acceptedResponse,
  createdResponse,
  getOperation,
  listOperation,
  type Operation,
  okResponse,
  postOperation,
} from './describe-operation.ts';

const MERCHANTS = 'Merchants';
const CALLBACKS = 'Callbacks';

/** The routes about merchants, and `/events`, which merchants call. */
export function merchantOperations(): Operation[] {
  const one = '/merchants/{id}';
  const act = (name: string, summary: string, responses: Operation['responses']): Operation =>
    postOperation(`${one}/${name}`, 'admin', { tag: MERCHANTS, summary, responses });
  return [
    listOperation('/merchants', { tag: MERCHANTS, items: merchants.merchant }),
    postOperation('/merchants', 'admin', {
      tag: MERCHANTS,
      summary: 'Add a merchant',
      body: newMerchantSchema,
      responses: createdResponse('Its secret is shown this once', merchants.newMerchant),
    }),
    getOperation(one, { tag: MERCHANTS, summary: 'One merchant', item: merchants.merchant }),
    {
      method: 'patch',
      path: `/api/v1${one}`,
      tag: MERCHANTS,
      summary: 'Change a merchant',
      access: 'admin',
      body: merchantChangeSchema,
      responses: okResponse('Changed', merchants.merchant),
    },
    {
      method: 'delete',
      path: `/api/v1${one}`,
      tag: MERCHANTS,
      summary: 'Remove a merchant',
      access: 'admin',
      responses: { 204: { description: 'Removed' } },
    },
    act(
      'rotate-secret',
      'Give it a new secret; the old one stays valid for a while',
      okResponse('Rotated', merchants.rotatedMerchant),
    ),
    act('enable', 'Enable it: what was held drains', okResponse('Enabled', merchants.merchant)),
    act('pause', 'Pause it: its callbacks are held', okResponse('Paused', merchants.merchant)),
    act('test', 'Send it a signed test', acceptedResponse('Queued', callbacks.callback)),
    act(
      'pull-token',
      'Give it a token for /events',
      okResponse('Shown this once', z.object({ id: z.string(), token: z.string() })),
    ),
    {
      method: 'delete',
      path: `/api/v1${one}/pull-token`,
      tag: MERCHANTS,
      summary: 'End its token for /events',
      access: 'admin',
      responses: { 204: { description: 'Ended' } },
    },
    {
      method: 'get',
      path: '/api/v1/events',
      tag: MERCHANTS,
      summary: 'List the events of the merchant that calls',
      access: 'merchant',
      query: feedQuerySchema,
      responses: okResponse('A page', z.object({ events: z.array(merchants.feedEvent), next_cursor: z.string() })),
    },
  ];
}

/** The routes about callbacks. */
export function callbackOperations(): Operation[] {
  const replayed = z.object({ merchant: z.string(), count: z.int(), dry_run: z.boolean() });
  return [
    listOperation('/callbacks', { tag: CALLBACKS, items: callbacks.callback, query: callbackQuerySchema }),
    getOperation('/callbacks/{id}', {
      tag: CALLBACKS,
      summary: 'One callback, try by try',
      item: callbacks.callbackWithAttempts,
    }),
    postOperation('/callbacks/{id}/redeliver', 'operator', {
      tag: CALLBACKS,
      summary: 'Deliver it once more, under its webhook-id',
      responses: acceptedResponse('Queued', callbacks.callback),
    }),
    postOperation('/callbacks/replay', 'operator', {
      tag: CALLBACKS,
      summary: 'Deliver a range once more, or count it',
      body: replaySchema,
      responses: { ...okResponse('Counted: it was a dry run', replayed), ...acceptedResponse('Queued', replayed) },
    }),
  ];
}
