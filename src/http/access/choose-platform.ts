/**
 * The platforms that a caller may choose as a filter. A viewer may choose platforms with a random id, and `none`: any other id
 * may be a document or repeat the name of somebody, and an answer that depends on it would confirm that they are known here.
 */
import type { Response } from 'express';
import type { Context } from '../../context.ts';
import { isUuid } from '../../domain/ids.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import { listBookedPlatforms } from '../../ledger/read/read-money-series.ts';
import { assertPlatform, describeUnknownPlatform } from '../../reports/read/assert-platform.ts';
import { canSeePersonalData } from './authorize.ts';

/** Whether the caller may choose this platform. It depends on the id alone, not on whether the platform exists. */
export function mayChoosePlatform(response: Response, platform: string): boolean {
  return canSeePersonalData(response) || platform === NO_PLATFORM || isRandom(platform);
}

/** @throws ConfereError `invalid_request` for a platform that the caller may not choose, as for an unknown one. */
export function authorizePlatform(response: Response, platform: string | undefined): void {
  if (platform !== undefined && !mayChoosePlatform(response, platform)) throw describeUnknownPlatform(platform);
}

/** @throws ConfereError `invalid_request` for a platform that is unknown, or that the caller may not choose. */
export async function checkPlatform({ db }: Context, response: Response, platform: string | undefined): Promise<void> {
  authorizePlatform(response, platform);
  if (platform !== undefined) await assertPlatform(db, platform);
}

/** Lists the platforms with entries that the caller may choose. */
export async function listChoosablePlatforms(context: Context, response: Response): Promise<string[]> {
  return (await listBookedPlatforms(context)).filter((platform) => mayChoosePlatform(response, platform));
}

/** A random id, without a document in it. */
function isRandom(platform: string): boolean {
  return isUuid(platform) && maskPlatform(platform) === platform;
}
