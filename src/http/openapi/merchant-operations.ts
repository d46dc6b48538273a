import { z } from 'zod';
import { callbackQuerySchema, replaySchema } from '../api/callbacks.ts';
import { feedQuerySchema } from '../api/events.ts';
import { merchantChangeSchema, newMerchantSchema } from '../api/merchants.ts';
import * as c from './components.ts';
import {
  acceptedResponse,
  createdResponse,
  getOperation,
  listOperation,
  type Operation,
  okResponse,
  postOperation,
} from './describe-operation.ts';
import * as m from './merchant-components.ts';

const MERCHANTS = 'Merchants';
const CALLBACKS = 'Callbacks';

/** The routes of merchants, and the one that is theirs. */
export function merchantOperations(): Operation[] {
  const one = '/merchants/{id}';
  const act = (name: string, summary: string, answers: Operation['answers']): Operation =>
    postOperation(`${one}/${name}`, 'admin', { tag: MERCHANTS, summary, answers });
  return [
    listOperation('/merchants', { tag: MERCHANTS, items: m.merchant }),
    postOperation('/merchants', 'admin', {
      tag: MERCHANTS,
      summary: 'Add a merchant',
      body: newMerchantSchema,
      answers: createdResponse('Its secret is shown this once', m.newMerchant),
    }),
    getOperation(one, { tag: MERCHANTS, summary: 'One merchant', answer: m.merchant }),
    {
      method: 'patch',
      path: `/api/v1${one}`,
      tag: MERCHANTS,
      summary: 'Change a merchant',
      takes: 'admin',
      body: merchantChangeSchema,
      answers: okResponse('Changed', m.merchant),
    },
    {
      method: 'delete',
      path: `/api/v1${one}`,
      tag: MERCHANTS,
      summary: 'Remove a merchant',
      takes: 'admin',
      answers: { 204: { description: 'Removed' } },
    },
    act(
      'rotate-secret',
      'Give it a new secret; the old one goes on for a while',
      okResponse('Rotated', m.rotatedMerchant),
    ),
    act('enable', 'Enable it: what was held drains', okResponse('Enabled', m.merchant)),
    act('pause', 'Pause it: its callbacks are held', okResponse('Paused', m.merchant)),
    act('test', 'Send it a signed test', acceptedResponse('Queued', c.callback)),
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
      takes: 'admin',
      answers: { 204: { description: 'Ended' } },
    },
    {
      method: 'get',
      path: '/api/v1/events',
      tag: MERCHANTS,
      summary: 'What a merchant would be sent, for it to fetch',
      takes: 'merchant',
      query: feedQuerySchema,
      answers: okResponse('A page', z.object({ events: z.array(m.feedEvent), next_cursor: z.string() })),
    },
  ];
}

/** The routes of callbacks. */
export function callbackOperations(): Operation[] {
  const replayed = z.object({ merchant: z.string(), count: z.int(), dry_run: z.boolean() });
  return [
    listOperation('/callbacks', { tag: CALLBACKS, items: c.callback, query: callbackQuerySchema }),
    getOperation('/callbacks/{id}', {
      tag: CALLBACKS,
      summary: 'One callback, try by try',
      answer: c.callbackWithAttempts,
    }),
    postOperation('/callbacks/{id}/redeliver', 'operator', {
      tag: CALLBACKS,
      summary: 'Deliver it once more, under its webhook-id',
      answers: acceptedResponse('Queued', c.callback),
    }),
    postOperation('/callbacks/replay', 'operator', {
      tag: CALLBACKS,
      summary: 'Deliver a range once more, or count it',
      body: replaySchema,
      answers: { ...okResponse('Counted: it was a dry run', replayed), ...acceptedResponse('Queued', replayed) },
    }),
  ];
}
