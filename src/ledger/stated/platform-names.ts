/** The names that people give to platforms. The newest row of a platform counts; a report shows those from before it was made. */
import type { Context } from '../../context.ts';
import { listPlatformNames } from '../../database/list-platform-names.ts';
import { ConfereError } from '../../domain/errors.ts';
import { maskText, WITHHELD } from '../../domain/person/mask-person.ts';
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
  if (text !== null && others.some((one) => one.platform !== platform && fold(one.name) === fold(text)))
    throw new ConfereError('conflict', `another platform has the name ${text}`);
  const now = others.find((one) => one.platform === platform)?.name ?? null;
  if (now === text) return false;
  const row = { platform, name: text, created_at: context.clock.now(), actor };
  await context.db.insertInto('platform_names').values(row).execute();
  return true;
}

function checkName(name: string): void {
  const fault =
    name === '' || name.length > PLATFORM_NAME_CHARS_MAX
      ? `must have 1 to ${PLATFORM_NAME_CHARS_MAX} characters`
      : UNPRINTABLE.test(name)
        ? 'must be one line of printable characters'
        : maskText(name) === WITHHELD || CONTACT.test(name)
          ? 'must not hold a document, a phone or an e-mail'
          : undefined;
  if (fault !== undefined)
    throw new ConfereError('invalid_request', `name: it ${fault}`, { fields: { name: [fault] } });
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
