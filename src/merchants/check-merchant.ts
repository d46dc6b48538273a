import { z } from 'zod';
import type { Context } from '../context.ts';
import type { FieldFault } from '../domain/errors.ts';
import { append } from '../domain/lists.ts';
import { faultOf, refuseFields } from '../texts/refuse.ts';
import { findFilterFaults } from './check-filter.ts';
import { type FilterInput, parseFilter } from './match-filter.ts';
import { headerNamesOf, type MerchantRow } from './read-merchants.ts';
import { checkRequest, type RequestChange } from './request-headers.ts';
import { validateUrl } from './validate-url.ts';

type Configured = Pick<Context, 'config'>;

export type NewMerchant = RequestChange & {
  name: string;
  /** Null: the merchant fetches its events. */
  url: string | null;
  email?: string | null | undefined;
  filter?: FilterInput | undefined;
  rate?: number | null | undefined;
  /** Whether its day manifests are sent to it; default: they are. It can fetch them anyway. */
  manifests?: boolean | undefined;
  eventsSince?: Date | undefined;
};

export type MerchantChange = { [Name in keyof NewMerchant]?: NewMerchant[Name] | undefined } & {
  state?: 'enabled' | 'paused' | undefined;
};

export const MERCHANT_LIMITS = { nameCharsMax: 200, emailCharsMax: 320, rateMax: 1_000 } as const;

const email = z.email().max(MERCHANT_LIMITS.emailCharsMax);

/** Finds what is wrong with a merchant, for every door. @param before the merchant that changes; default: a new one. */
export function findMerchantFaults({ config }: Configured, change: MerchantChange, before?: MerchantRow): FieldFault[] {
  const { nameCharsMax, rateMax } = MERCHANT_LIMITS;
  const { name, rate, url, filter } = change;
  const faults: FieldFault[] = [];
  if (name !== undefined && (name.trim() === '' || name.length > nameCharsMax))
    faults.push(faultOf('name', 'name_length', { n: nameCharsMax }));
  if (change.email && !email.safeParse(change.email).success) faults.push(faultOf('email', 'email_wrong'));
  if (typeof rate === 'number' && !(Number.isInteger(rate) && rate >= 1 && rate <= rateMax))
    faults.push(faultOf('rate', 'rate_wrong', { n: rateMax }));
  if (typeof url === 'string') {
    const { CALLBACK_ALLOW_PRIVATE: allowPrivate, ALLOW_PLAIN_HTTP: allowPlain } = config;
    const fault = validateUrl(url, { allowPrivate, allowPlain });
    if (fault) faults.push(fault);
  }
  const facts = before && { format: before.format, headerNames: headerNamesOf(before) };
  append(faults, checkRequest(change, facts));
  const asks = filter?.expected ?? (before !== undefined && parseFilter(before.filter).expected);
  if (asks && (change.format ?? before?.format) === 'provider')
    faults.push(faultOf('filter.expected', 'expected_format'));
  if (filter !== undefined)
    append(
      faults,
      findFilterFaults(filter).map((fault) => ({ ...fault, field: `filter.${fault.field}` })),
    );
  return faults;
}

/** @throws ConfereError `invalid_request` with what `findMerchantFaults` finds. */
export function checkMerchant(context: Configured, change: MerchantChange, before?: MerchantRow): void {
  const faults = findMerchantFaults(context, change, before);
  if (faults.length > 0) throw refuseFields(faults);
}
