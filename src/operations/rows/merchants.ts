import { z } from 'zod';
import { signedManifestSchema } from '../../callbacks/render/event-schema.ts';
import { CALLBACK_FORMATS } from '../../merchants/callback-formats.ts';
import { MERCHANT_STATES } from '../../merchants/read-merchants.ts';
import { ADDRESS_KINDS } from '../../portal/address-changes.ts';
import { component, components, instant, nullableInstant, nullableText } from './row-fields.ts';

const ownFilter = z.object({
  platforms: z.array(z.string()),
  operations: z.array(z.string()),
  statuses: z.array(z.string()),
  reference_prefixes: z.array(z.string()),
  extra_prefixes: z.array(z.string()),
  extra_match: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
const filter = ownFilter.extend({ expected: z.boolean().describe('whether it receives changes of expected payments') });

const ownBackfill = {
  state: z.enum(['waiting', 'running', 'done']),
  from: instant,
  enqueued: z.int().describe('callbacks'),
  started_at: nullableInstant,
  finished_at: nullableInstant,
};

const merchantFields = {
  id: z.string(),
  name: z.string(),
  url: nullableText,
  test_url: nullableText.describe('where its tests and examples go; null: to url'),
  format: z.enum(CALLBACK_FORMATS).describe('provider: the flat body and the bearer token of the provider'),
  has_bearer_token: z.boolean(),
  header_names: z.array(z.string()).describe('static headers of each message; their values are never shown'),
  email: nullableText,
  state: z.enum(MERCHANT_STATES),
  disabled_reason: nullableText,
  paused_by: z.enum(['operator', 'merchant']).nullable(),
  filter,
  own_filter: ownFilter.describe('what the merchant itself chose within `filter`'),
  rate: z.int().nullable(),
  manifests: z.boolean().describe('whether day manifests are sent to it'),
  events_since: instant,
  created_at: instant,
  failing_since: nullableInstant,
  breaker: z.enum(['closed', 'open']),
  backfill: z
    .object({
      ...ownBackfill,
      reached: nullableText.describe("the provider's wall time up to which events were read"),
      done: z.int().describe('transactions'),
    })
    .nullable()
    .describe('callbacks of events that the ledger knew before'),
  pulled_at: nullableInstant,
  pull_token_expires_at: nullableInstant,
};
export const backfillCount = component('BackfillCount', {
  dry_run: z.literal(true),
  events_since: instant,
  callbacks: z.int(),
  transactions: z.int(),
  complete: z.boolean().describe('false: counted up to counted_to, as the time was up'),
  counted_to: nullableInstant,
});
export const merchant = component('Merchant', merchantFields);
export const ownMerchant = component('OwnMerchant', { ...merchantFields, backfill: z.object(ownBackfill).nullable() });
const secret = z.string().describe('whsec_…');
export const newMerchant = component('NewMerchant', { ...merchantFields, secret });
export const checkedAddress = z.object({ dry_run: z.literal(true), secret: secret.nullable() });
export const rotatedSecret = z.object({ secret, old_secret_until: instant });
export const addressChange = component('AddressChange', {
  id: z.string(),
  kind: z.enum(ADDRESS_KINDS),
  value: nullableText.describe('null for a viewer, and for no test_url any more'),
  old_value: nullableText,
  asked_at: instant,
  asked_by: z.string().describe('the name of the token'),
  expires_at: instant,
  waits_for: z.array(z.enum(['email_on_file', 'admin', 'new_email'])),
});
export const addressChanges = z.object({ address_changes: z.array(addressChange) });
export const rotatedMerchant = component('RotatedMerchant', { ...merchantFields, ...rotatedSecret.shape });

export const feedEvent = component('FeedEvent', {
  id: z.string(),
  type: z.string(),
  timestamp: instant,
  test: z.literal(true).optional().describe('a test or an example: do nothing with it'),
  data: z.record(z.string(), z.unknown()),
});

export const pullToken = z.object({ id: z.string(), token: z.string(), expires_at: nullableInstant });

export const signedManifest = signedManifestSchema.register(components, { id: 'SignedManifest' });

export const manifestKeys = component('ManifestKeys', {
  keys: z.array(
    z.object({
      ...{ kty: z.literal('OKP'), crv: z.literal('Ed25519'), alg: z.literal('EdDSA'), use: z.literal('sig') },
      kid: z.string().describe('the thumbprint of the key (RFC 7638)'),
      x: z.string().describe('the public key'),
      pem: z.string().describe('the same, for openssl'),
      vkey: z.string().describe('the same, for programs of C2SP: it verifies the log under its origin now'),
      earlier_vkeys: z.array(z.string()).describe('… and under its earlier origins, the newest first'),
      created_at: instant,
      signs_until: nullableInstant.describe('null: it is not replaced'),
    }),
  ),
});
