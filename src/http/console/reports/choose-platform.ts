import type { Request, Response } from 'express';
import type { Context } from '../../../context.ts';
import { splitAccount } from '../../../ledger/journal/plan-entries.ts';
import { assertPlatform } from '../../../reports/read/assert-platform.ts';
import { presentPlatform } from '../../access/mask-texts.ts';
import { t } from '../languages/translate.ts';
import { filterField } from '../parts/fields.ts';
import type { Html } from '../parts/html.ts';
import { labelPlatform, readPlatformNames } from '../parts/read-platform-names.ts';
import { readQuery } from './period-form.ts';

/** Reads the platform in a page's address. @throws ConfereError `invalid_request` for an unknown one. */
export async function readPlatform({ db }: Context, request: Request): Promise<string | undefined> {
  const platform = readQuery(request, 'platform').slice(0, 64);
  if (platform === '') return undefined;
  await assertPlatform(db, platform);
  return platform;
}

/** A select field of the platforms with entries, by their names. Those withheld from the caller are left out. */
export async function platformField(
  context: Context,
  response: Response,
  platform: string | undefined,
): Promise<{ field: Html | undefined; label: string | undefined }> {
  const accounts = await context.db.selectFrom('accounts').select('name').orderBy('name').execute();
  const names = await readPlatformNames(context, response);
  const platforms = new Set(accounts.map(({ name }) => splitAccount(name).platform));
  const shown = [...platforms].filter((one) => presentPlatform(response, { platform: one }).platform === one);
  const words = Object.fromEntries(shown.map((one) => [one, labelPlatform(names, one)]));
  const draft = { values: { platform: platform ?? '' }, faults: {} };
  const field =
    shown.length > 1 || platform !== undefined
      ? filterField(draft, { name: 'platform', label: 'Plataforma', words, any: 'Todas' })
      : undefined;
  return { field, label: platform === undefined ? undefined : (words[platform] ?? t('uma plataforma')) };
}

/** The query that keeps the platform from page to page. */
export function platformQuery(platform: string | undefined): string {
  return platform === undefined ? '' : `?platform=${encodeURIComponent(platform)}`;
}
