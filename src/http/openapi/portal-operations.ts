import { z } from 'zod';
import { accepted, describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import {
  feedEvent,
  manifestKeys,
  ownMerchant,
  rotatedSecret,
  signedManifest,
} from '../../operations/rows/merchants.ts';
import { ownCallback, ownCallbackWithAttempts, ownFilterPreview, ownHealth } from '../../operations/rows/portal.ts';
import { feedQuerySchema } from '../api/merchants/events.ts';
import { manifestQuerySchema } from '../api/merchants/manifests.ts';
import { ownCallbackQuerySchema, ownFilterSchema, ownReplaySchema } from '../api/merchants/portal.ts';

const Merchants = describeTag('Merchants');
const Portal = describeTag('Portal');
const read = (operation: Operation): Operation => ({ ...operation, access: 'portal' });
const feedPage = z.object({ events: z.array(feedEvent), next_cursor: z.string() });
const replayed = z.object({ count: z.int(), dry_run: z.boolean() });

/** `merchant` is for tokens of ours: a merchant's own token has no such parameter. */
const manifestQuery = manifestQuerySchema.partial();
const ids = { 200: { description: 'Sorted, each on a line', schema: z.string(), contentType: 'text/plain' } };

/** What merchants call: their feed by a pull token, and their portal. */
export const PORTAL_OPERATIONS: readonly Operation[] = [
  {
    ...Merchants.get('/events', 'List the events of the merchant that calls', ok('A page', feedPage), feedQuerySchema),
    access: 'merchant',
  },
  {
    ...Merchants.get('/manifests/{day}', 'The signed manifest of a day’s messages', signedManifest, manifestQuery),
    isForMerchantsToo: true,
  },
  {
    ...Merchants.get('/manifests/{day}/ids', 'The webhook-ids that it is about', ids, manifestQuery),
    isForMerchantsToo: true,
  },
  {
    ...{ method: 'get', path: '/.well-known/confere-manifest-keys.json', tag: 'Merchants', access: 'nothing' },
    ...{ summary: 'The public keys that verify manifests: a JSON Web Key Set', responses: ok('All', manifestKeys) },
  },
  read(Portal.get('/portal', 'The merchant whose token it is', ownMerchant)),
  read(Portal.get('/portal/health', 'How callbacks reach it', ownHealth)),
  Portal.list('/portal/callbacks', ownCallback, ownCallbackQuerySchema, 'portal'),
  read(Portal.get('/portal/callbacks/{id}', 'One callback: its message, and each attempt', ownCallbackWithAttempts)),
  Portal.post(
    '/portal/callbacks/{id}/redeliver',
    'portal',
    'Deliver it once more, under its webhook-id; 409 while nothing would be sent',
    accepted('Queued', ownCallback),
  ),
  Portal.post(
    '/portal/callbacks/replay',
    'portal',
    'Deliver a range once more, or count it; 409 while nothing would be sent',
    { ...ok('Counted: it was a dry run', replayed), ...accepted('Queued', replayed) },
    ownReplaySchema,
  ),
  Portal.post(
    '/portal/rotate-secret',
    'portal',
    'Get a new secret; the old one stays valid for 24 hours',
    ok('Shown this once', rotatedSecret),
  ),
  Portal.post('/portal/test', 'portal', 'Get a signed test', accepted('Queued', ownCallback)),
  Portal.post('/portal/pause', 'portal', 'Pause: callbacks are held', ok('Paused', ownMerchant)),
  Portal.post(
    '/portal/resume',
    'portal',
    'Resume, and close the circuit breaker: what was held is sent; 409 if operators paused it',
    ok('Enabled', ownMerchant),
  ),
  Portal.put(
    '/portal/filter',
    'portal',
    'Choose a filter within what operators allow, or preview it',
    ok('Chosen, or previewed: it was a dry run', z.union([ownMerchant, ownFilterPreview])),
    ownFilterSchema,
  ),
];
