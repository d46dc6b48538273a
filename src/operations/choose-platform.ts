/**
 * The platforms that a caller may choose as a filter. A viewer may choose platforms with a random id, and `none`: any other id
 * may be a document or repeat the name of somebody, and an answer that depends on it would confirm that they are known here.
 */
import { type Caller, seesPersons } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { isUuid } from '../domain/ids.ts';
import { maskPlatform } from '../domain/person/mask-person.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import { listBookedPlatforms } from '../ledger/read/read-money-series.ts';
import { assertPlatform, describeUnknownPlatform } from '../reports/read/assert-platform.ts';

/** Whether the caller may choose this platform. It depends on the id alone, not on whether the platform exists. */
export function mayChoosePlatform(caller: Caller, platform: string): boolean {
  return seesPersons(caller) || platform === NO_PLATFORM || isRandom(platform);
}

/** @throws ConfereError `invalid_request` for a platform that the caller may not choose, as for an unknown one. */
export function authorizePlatform(caller: Caller, platform: string | undefined): void {
  if (platform !== undefined && !mayChoosePlatform(caller, platform)) throw describeUnknownPlatform(platform);
}

/** @throws ConfereError `invalid_request` for a platform that is unknown, or that the caller may not choose. */
export async function checkPlatform({ db }: Context, caller: Caller, platform: string | undefined): Promise<void> {
  authorizePlatform(caller, platform);
  if (platform !== undefined) await assertPlatform(db, platform);
}

/** Lists the platforms with entries that the caller may choose. */
export async function listChoosablePlatforms(context: Context, caller: Caller): Promise<string[]> {
  return (await listBookedPlatforms(context)).filter((platform) => mayChoosePlatform(caller, platform));
}

/** A random id, without a document in it. */
function isRandom(platform: string): boolean {
  return isUuid(platform) && maskPlatform(platform) === platform;
}
