import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import { listPlatformNames } from '../../../ledger/stated/platform-names.ts';
import { presentPlatformName } from '../../access/mask-texts.ts';

/** The names of platforms by id, as this caller may see them; without those that are withheld. */
export async function readPlatformNames(context: Context, response: Response): Promise<ReadonlyMap<string, string>> {
  const named = await listPlatformNames(context.db);
  const shown = named.map((one) => [one.platform, presentPlatformName(response, one).name] as const);
  return new Map(shown.filter(([, name]) => name !== WITHHELD));
}
