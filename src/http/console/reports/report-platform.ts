import type { Request, Response } from 'express';
import type { Context } from '../../../context.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { checkPlatform } from '../../../operations/choose-platform.ts';
import { getCaller } from '../../access/authorize.ts';
import { platformField } from '../parts/fields.ts';
import type { Html } from '../parts/html.ts';
import { readQuery } from '../parts/parse-filters.ts';
import { labelPlatform, readBookedPlatformWords, readPlatformNames } from '../parts/read-platform-names.ts';

/** Reads the platform in a page's address. @throws ConfereError `invalid_request` for one that the caller may not choose. */
export async function readReportPlatform(
  context: Context,
  request: Request,
  response: Response,
): Promise<string | undefined> {
  const platform = readQuery(request, 'platform').slice(0, PLATFORM_CHARS_MAX);
  if (platform === '') return undefined;
  await checkPlatform(context, getCaller(response), platform);
  return platform;
}

/** A select field of the platforms with entries, if there are several, and the name of the chosen one. */
export async function renderReportPlatform(
  context: Context,
  response: Response,
  platform: string | undefined,
): Promise<{ field: Html | undefined; label: string | undefined }> {
  const words = await readBookedPlatformWords(context, response);
  const isShown = Object.keys(words).length > 1 || platform !== undefined;
  const field = isShown ? platformField({ values: { platform: platform ?? '' }, faults: {} }, words) : undefined;
  if (platform === undefined) return { field, label: undefined };
  return { field, label: labelPlatform(await readPlatformNames(context, response), platform) };
}

/** The query that keeps the platform from page to page. */
export function platformQuery(platform: string | undefined): string {
  return platform === undefined ? '' : `?platform=${encodeURIComponent(platform)}`;
}
