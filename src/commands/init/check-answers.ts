/** Checks of the answers to `confere init`, against the rules of each setting and the provider itself. */
import { randomUUID } from 'node:crypto';
import { type Config, readConfig } from '../../config.ts';
import { createCalendar, type Day, isDay } from '../../domain/calendar.ts';
import { ConfereError, wrongUse } from '../../domain/errors.ts';
import { parseSignedAmount } from '../../domain/money.ts';
import { createProviderClient, type ListPage } from '../../provider/client.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { describe } from '../../texts/refuse.ts';
import { SYSTEM_TIMERS } from '../../timers.ts';

/** Values of the settings that are known so far, by name. */
export type Values = Record<string, string>;

/** @throws ConfereError `wrong_use` with the faults of this setting. @returns the configuration with it. */
export function checkSetting(values: Values, name: string): Config {
  if (values[name] === '') throw refuse('an answer is needed');
  try {
    return readConfig(values);
  } catch (error) {
    const faults = (error as Error).message.split('\n').filter((line) => line.startsWith(`  ${name}: `));
    throw faults.length === 0 ? error : refuse(faults.map((line) => line.slice(name.length + 4)).join('; '));
  }
}

/** Checks that the provider answers at PROVIDER_URL. It gets a random key: the real one goes to the right address alone. */
export async function checkProviderUrl(values: Values): Promise<void> {
  checkSetting(values, 'PROVIDER_URL');
  await readPage({ ...values, PROVIDER_API_KEY: randomUUID() }).catch((error: unknown) => {
    const code = error instanceof ConfereError ? error.code : undefined;
    if (code !== 'provider_unauthorized' && code !== 'provider_rejected')
      throw refuse(`no provider answers there: ${describeFailure(error)}`, error);
  });
}

/** Checks that the provider takes the key. */
export async function checkProviderKey(values: Values): Promise<void> {
  checkSetting(values, 'PROVIDER_API_KEY');
  await readPage(values).catch((error: unknown) => {
    throw refuse(`the provider does not take it: ${describeFailure(error)}`, error);
  });
}

export function checkWebhookSecret(values: Values): void {
  checkSetting(values, 'WEBHOOK_SECRET');
  if (values.WEBHOOK_SECRET === values.PROVIDER_API_KEY)
    throw refuse('it is the key of the provider’s API: a webhook would show it to others');
  const [fault] = faultsOfWebhooks(values);
  if (fault) throw refuse(fault.replace(/^ *WEBHOOK_SECRET: /, ''));
}

export function checkPublicUrl(values: Values): void {
  const { PUBLIC_URL } = checkSetting(values, 'PUBLIC_URL');
  if (new URL(PUBLIC_URL).host === new URL(values.PROVIDER_URL ?? '').host)
    throw refuse('it is the address of the provider, not of this machine');
}

/** Checks the first day of the books. @returns the platforms of the first page of the provider's list since then. */
export async function listPlatforms(values: Values, day: string): Promise<string[]> {
  const today = createCalendar(checkSetting(values, 'PROVIDER_URL').PROVIDER_TIME_ZONE).dayOf(new Date());
  if (!isDay(day)) throw refuse(`it ${describe('day_wrong', {})}`);
  if (day > today) throw refuse(`it must not be after today, ${today}`);
  const page = await readPage(values, { initialDate: day, finalDate: today });
  if (page.total === 0) throw refuse(`the provider lists no transaction since ${day}`);
  const known = page.rows.flatMap((row) => (row.ok ? [row.transaction.platform ?? 'none'] : []));
  return [...new Set(known)].sort();
}

/** @returns cents. */
export function checkBalance(amount: string): bigint {
  const cents = parseSignedAmount(amount);
  if (cents === undefined) throw refuse('it must be an amount with a dot and two decimals: 1234.56, or -12.00');
  return cents;
}

export function refuse(says: string, cause?: unknown): ConfereError {
  return wrongUse(says, { cause });
}

function faultsOfWebhooks(values: Values): string[] {
  try {
    readConfig(values, { web: true });
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').filter((line) => /^ {2}WEBHOOK_/.test(line));
  }
}

/** Reads the first page of the provider's list, once. */
async function readPage(values: Values, days?: { initialDate: Day; finalDate: Day }): Promise<ListPage> {
  const { PROVIDER, PROVIDER_TIME_ZONE } = readConfig(values, { provider: true });
  const { url, apiKey } = PROVIDER as NonNullable<typeof PROVIDER>; // the provider is needed: readConfig refuses without it
  const today = createCalendar(PROVIDER_TIME_ZONE).dayOf(new Date());
  const signal = new AbortController().signal;
  await using client = createProviderClient({ url, apiKey, signal, timers: SYSTEM_TIMERS });
  const page = await client.listPage(days ?? { initialDate: today, finalDate: today }, 1, { triesMax: 1 });
  if (!page) throw refuse('the provider has no first page of its list');
  return page;
}
