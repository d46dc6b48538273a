/** Platforms by the names that people gave them, each with its id once beside it. */
import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { listPlatformNames } from '../../../database/shared/list-platform-names.ts';
import { isUuid } from '../../../domain/ids.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import { NO_PLATFORM } from '../../../domain/platform.ts';
import { listPlatforms } from '../../../ledger/read/list-platforms.ts';
import { listChoosablePlatforms, mayChoosePlatform } from '../../../operations/choose-platform.ts';
import { readPlatformNames as readNamesFor } from '../../../operations/mask-texts.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { EMPTY_VALUE, shortenId, shortId } from './format.ts';
import { type Html, html, type Part } from './html.ts';

export type PlatformNames = ReadonlyMap<string, string>;

/** Choices of a platform beyond these are left out; the field takes any id. */
const CHOICES_MAX = 1_000;

/** The names of platforms by id, as this caller may see them; without those that are withheld. */
export async function readPlatformNames(context: Context, response: Response): Promise<PlatformNames> {
  return await readNamesFor(context.db, getCaller(response));
}

/** The names of platforms for the roles that move money: they see all of them. */
export async function readNamesInFull(context: Context): Promise<PlatformNames> {
  return new Map((await listPlatformNames(context.db)).map(({ platform, name }) => [platform, name]));
}

/** The platforms that transactions show, for a select field, as this caller may see them. */
export async function readPlatformWords(context: Context, response: Response): Promise<Record<string, string>> {
  const platforms = await listPlatforms(context.db, CHOICES_MAX);
  return listPlatformWords(response, platforms, await readPlatformNames(context, response));
}

/** The platforms with entries, for a select field, as this caller may see them. */
export async function readBookedPlatformWords(context: Context, response: Response): Promise<Record<string, string>> {
  const platforms = await listChoosablePlatforms(context, getCaller(response));
  return listPlatformWords(response, platforms, await readPlatformNames(context, response));
}

/** Choices among given platforms: those that the caller may choose. */
export function listPlatformWords(
  response: Response,
  platforms: readonly string[],
  names: PlatformNames,
): Record<string, string> {
  const shown = platforms.filter((platform) => mayChoosePlatform(getCaller(response), platform));
  const words = shown.map((platform) => [platform, labelPlatform(names, platform)] as const);
  return Object.fromEntries(words.toSorted(([, a], [, b]) => a.localeCompare(b, language())));
}

/** `Loja do Centro · 6f9619ff…`: a platform in plain text. */
export function labelPlatform(names: PlatformNames, platform: string): string {
  if (platform === NO_PLATFORM) return t('Sem plataforma');
  const name = names.get(platform);
  return name === undefined ? platform : `${name} · ${shortenId(platform)}`;
}

/** A platform as markup: its name, and its id, shortened if it is a random one. @param platform as the caller may see it. */
export function showPlatform(names: PlatformNames, platform: string | null): Html {
  if (platform === null) return EMPTY_VALUE;
  const name = names.get(platform);
  return html`${name !== undefined && html`<b>${name}</b> `}${showId(platform)}`;
}

/** Shows a platform with its whole id, for a page of one item. */
export function spellPlatform(names: PlatformNames, platform: string): Html {
  const name = names.get(platform);
  return html`${name !== undefined && html`<b>${name}</b> `}<span class="id">${platform}</span>`;
}

/** Shows a platform as a link to its transactions; no link where it is withheld. */
export function platformLink(names: PlatformNames, platform: string | null): Html {
  if (platform === null || platform === WITHHELD) return showPlatform(names, platform);
  return html`<a href="/transactions?platform=${encodeURIComponent(platform)}">${showPlatform(names, platform)}</a>`;
}

function showId(platform: string): Part {
  if (platform === NO_PLATFORM) return t('Sem plataforma');
  return isUuid(platform) ? shortId(platform) : html`<span class="id">${platform}</span>`;
}
