import { z } from 'zod';
import { OLDER_MAX, UNPLANNED } from '../../callbacks/manage/read-delivery.ts';
import { REPLAYED_BY } from '../../callbacks/manage/replay.ts';
import { STOPS } from '../../merchants/change-merchants.ts';
import { MERCHANT_STATES } from '../../merchants/read-merchants.ts';
import { ADDRESS_KINDS } from '../../portal/address-changes.ts';
import { ADDRESS_EFFECTS, DISABLED_FOR, OWN_ACTIONS } from '../../portal/read-own-history.ts';
import { attempt, deliveryFields } from './callbacks.ts';
import { amount, component, instant, nullableInstant, nullableText } from './row-fields.ts';

const ownCallbackFields = {
  id: z.string().describe('the webhook-id'),
  reference: nullableText,
  number: nullableText.describe('of the expected payment'),
  platform: nullableText,
  transaction_id: nullableText,
  expected_payment_id: nullableText,
  ...deliveryFields,
};

export const ownCallback = component('OwnCallback', ownCallbackFields);

export const ownCallbackWithAttempts = component('OwnCallbackWithAttempts', {
  ...ownCallbackFields,
  message: z.record(z.string(), z.unknown()).nullable().describe('the body as it would be sent now'),
  attempt_list: z.array(attempt),
});

const filterSummary = z.record(z.string(), z.union([z.array(z.string()), z.int()]));

export const ownChange = component('OwnChange', {
  ...{ id: z.string(), at: instant, action: z.enum(OWN_ACTIONS) },
  by: z
    .enum(['token', 'mailed_link', 'operators', 'confere'])
    .describe('confere: the service, by what the address answered'),
  token_name: nullableText.describe('of a token of the merchant'),
  kind: z.enum(ADDRESS_KINDS).nullable().describe('of a change of address; of a secret: the address that it signs for'),
  effects: z
    .array(z.enum(ADDRESS_EFFECTS))
    .describe(
      'of a change of address; unconfirmed: it counts, and gets invented examples alone; at_once: it waited for nobody; removed: tests go to url',
    ),
  value: nullableText.describe('of a change of address, for a week; of one that did not answer, its host'),
  fields: z.array(z.string()).describe('that operators changed, without values'),
  addresses: z
    .array(z.object({ kind: z.string(), value: nullableText, old_value: nullableText }))
    .describe('that operators changed, with values for a week'),
  range: z
    .object({ from: instant, to: instant, by: z.enum(REPLAYED_BY), tests: z.boolean() })
    .nullable()
    .describe('that was sent again; by: the time that from and to are; tests: tests and examples alone'),
  old_value: nullableText,
  filter: z
    .object({ before: filterSummary, after: filterSummary })
    .nullable()
    .describe(
      'of a filter that was chosen, and for a week of one that operators changed: its lists; of prefixes and extra_match after a week only how many',
    ),
  expected_payment_id: nullableText,
  ...{ source: nullableText, number: nullableText },
  version: z.int().nullable().describe('of the order that was sent'),
  ...{ amount: amount.nullable(), old_amount: amount.nullable() },
  count: z
    .int()
    .nullable()
    .describe('orders that one request sent, of which the first is named; or callbacks that were sent again'),
  note: nullableText.describe('why the merchant reopened it'),
  callback: nullableText.describe('the webhook-id'),
  types: z.array(z.string()).nullable().describe('of the tests and examples that were sent'),
  was: z.enum(STOPS).nullable().describe('what had stopped deliveries that were resumed; enabled: nothing'),
  disabled_for: z.enum(DISABLED_FOR).nullable().describe('gone: a 410; failing: five days of failures'),
});

export const ownHealth = component('OwnHealth', {
  state: z.enum(MERCHANT_STATES),
  held_because: z
    .enum(['fetches', 'state', 'breaker'])
    .nullable()
    .describe('why nothing is sent now: it fetches its events, it is not enabled, or its circuit breaker is open'),
  failing_since: nullableInstant,
  next_attempt_at: nullableInstant.describe(
    'the earliest that is planned; null: nothing is pending, or held_because or unplanned_because says why',
  ),
  unplanned_because: z
    .enum(UNPLANNED)
    .nullable()
    .describe(
      'why what is pending has no time; sending: one is sent at this moment; backfill: past events are sent when nothing else is; earlier: they wait for held ones of their transactions or orders',
    ),
  undelivered: z
    .object({ pending: z.int(), held: z.int(), failed: z.int() })
    .describe('here, and in all below, without tests and examples; 10001 stands for more than 10000'),
  last_success_at: nullableInstant.describe('in the last 24 hours; there may be a later one, of a replayed callback'),
  last_failure: z
    .object({
      ...{ at: instant, callback: z.string(), response_status: z.int().nullable(), error_class: z.string() },
      response_body: nullableText.describe('its first 300 characters'),
    })
    .nullable()
    .describe('the last failed attempt, in the last 24 hours'),
  all_since: nullableInstant.describe(
    `hours have all attempts of the callbacks created since then, and of up to ${OLDER_MAX} older undelivered ones; null: an estimate`,
  ),
  hours: z
    .array(
      z.object({
        start: instant,
        attempts: z.int(),
        delivered: z.int(),
        p50_ms: z.int().nullable(),
        p95_ms: z.int().nullable(),
      }),
    )
    .describe('the last 24; as an estimate, of a sample of the attempts of each hour'),
});

const valuesByList = z.record(z.string(), z.array(z.string()));

export const ownFilterPreview = component('OwnFilterPreview', {
  dry_run: z.literal(true),
  days: z.int(),
  events: z.int().describe('that operators let the merchant receive, in these days'),
  complete: z.boolean().describe('false: there are more; these are the newest'),
  matched: z.int(),
  unseen: valuesByList.describe('values of the filter that none of these events has, such as a misspelt status'),
  seen: valuesByList.describe('of those lists, values that the events have'),
  before: z
    .object({ matched: z.int(), gained: z.int(), lost: z.int(), had: z.int() })
    .describe('by the filter of now; had: of gained, those whose message was sent already, or waits: none follows'),
  past: z
    .object({ callbacks: z.int(), complete: z.boolean().describe('false: there are more') })
    .nullable()
    .describe('callbacks of past events that would be sent, since events_since; null: it accepts no more than now'),
  examples: z.array(
    z.object({
      transaction_id: z.string(),
      operation: z.string(),
      status: z.string(),
      at: instant,
      amount,
      matched: z.boolean(),
    }),
  ),
});
