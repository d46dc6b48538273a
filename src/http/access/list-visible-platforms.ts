import type { Response } from 'express';
import type { Context } from '../../context.ts';
import { listBookedPlatforms } from '../../ledger/read/read-money-series.ts';
import { presentPlatform } from './mask-texts.ts';

/** Lists the platforms with entries that this caller may know: one that is a document is withheld from a viewer. */
export async function listVisiblePlatforms(context: Context, response: Response): Promise<string[]> {
  const booked = await listBookedPlatforms(context);
  return booked.filter((platform) => presentPlatform(response, { platform }).platform === platform);
}
