/** The names that people give to platforms. The newest row of a platform counts; a report shows those from before it was made. */
import type { Context } from '../../context.ts';
import { listPlatformNames } from '../../database/shared/list-platform-names.ts';
import { maskText, WITHHELD } from '../../domain/person/mask-person.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { checkPlatformKnown } from './check-stated.ts';

export const PLATFORM_NAME_CHARS_MAX = 60;
/** A name is shown on one line, in files that other programs read. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** A contact in it would be shown to viewers, who see no other one. */
const CONTACT = /\S@\S|\d{8}/;

export type PlatformName = { platform: string; name: string | null; actor: string };

/**
 * Names a platform, or takes its name back with `null`.
 * @returns whether it had another name.
 * @throws ConfereError `invalid_request` for a platform that no transaction shows, or a name that holds a document or a
 *   contact; `conflict` for the name of another platform: a reader must know which is meant.
 */
export async function setPlatformName(context: Context, { platform, name, actor }: PlatformName): Promise<boolean> {
  const text = name?.trim() ?? null;
  if (text !== null) checkName(text);
  await checkPlatformKnown(context.db, { platform });
  const others = await listPlatformNames(context.db);
  if (text !== null && others.some((one) => one.platform !== platform && foldName(one.name) === foldName(text)))
    throw refuse('platform_name_taken', { name: text });
  const now = others.find((one) => one.platform === platform)?.name ?? null;
  if (now === text) return false;
  const row = { platform, name: text, created_at: context.clock.now(), actor };
  await context.db.insertInto('platform_names').values(row).execute();
  return true;
}

/** @throws ConfereError `invalid_request` for a name that is no single line, or holds a document or a contact. */
export function checkName(name: string): void {
  if (name === '' || name.length > PLATFORM_NAME_CHARS_MAX)
    throw refuseField('name', 'name_length', { n: PLATFORM_NAME_CHARS_MAX });
  if (UNPRINTABLE.test(name)) throw refuseField('name', 'name_unprintable');
  if (maskText(name) === WITHHELD || CONTACT.test(name)) throw refuseField('name', 'name_personal');
}

/** Names that differ in case alone are one. */
export function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
