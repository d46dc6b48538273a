import { z } from 'zod';
import { describeTag, type Operation, ok } from '../../operations/describe-operation.ts';
import { PORTAL } from '../../operations/merchants/portal.ts';
import {
  addressChanges,
  feedEvent,
  manifestKeys,
  ownMerchant,
  signedManifest,
} from '../../operations/rows/merchants.ts';
import { ownCallback, ownCallbackWithAttempts, ownChange, ownHealth } from '../../operations/rows/portal.ts';
import { feedQuerySchema } from '../api/merchants/events.ts';
import { manifestQuerySchema } from '../api/merchants/manifests.ts';
import { ownCallbackQuerySchema, ownChangeQuerySchema } from '../api/merchants/portal.ts';
import { describeDeclared } from './describe-declared.ts';

const Merchants = describeTag('Merchants');
const Portal = describeTag('Portal');
const read = (operation: Operation): Operation => ({ ...operation, access: 'portal' });
const feedPage = z.object({
  events: z.array(feedEvent),
  next_cursor: z.string(),
  newest_cursor: z
    .string()
    .describe(
      'the last one given so far: each read gives up to 1000 more, and events may follow; an `after` beyond it gets none',
    ),
});

/** `merchant` is for tokens of ours: a merchant's own token has no such parameter. */
const manifestQuery = manifestQuerySchema.partial();
const ids = { 200: { description: 'Sorted, each on a line', schema: z.string(), contentType: 'text/plain' } };

/** Operations that merchants call: their feed by a pull token, and their portal. */
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
    refuses: ['manifest_outdated', 'manifest_dropped'],
  },
  {
    ...{ method: 'get', path: '/.well-known/confere-manifest-keys.json', tag: 'Merchants', access: 'nothing' },
    ...{ summary: 'The public keys that verify manifests: a JSON Web Key Set', responses: ok('All', manifestKeys) },
  },
  read(Portal.get('/portal', 'The merchant whose token it is', ownMerchant)),
  read(Portal.get('/portal/health', 'How callbacks reach it', ownHealth)),
  read(Portal.get('/portal/address-changes', 'Its changes of address that wait', addressChanges)),
  Portal.list('/portal/changes', ownChange, ownChangeQuerySchema, 'portal'),
  Portal.list('/portal/callbacks', ownCallback, ownCallbackQuerySchema, 'portal'),
  read(Portal.get('/portal/callbacks/{id}', 'One callback: its message, and each attempt', ownCallbackWithAttempts)),
  ...describeDeclared(PORTAL),
];
