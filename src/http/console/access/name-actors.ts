import type { Response } from 'express';
import { labelActors } from '../../../access/label-actors.ts';
import type { Role } from '../../../access/roles.ts';
import { listLogins } from '../../../access/users.ts';
import type { Context } from '../../../context.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData } from '../../access/authorize.ts';
import { EMPTY_VALUE, formatCount } from '../parts/format.ts';
import { html, type Part } from '../parts/html.ts';
import { hasRole } from '../parts/send-page.ts';

/** Reads how this reader knows actors: by name, or a viewer by role. Nobody made a row without an actor. */
export async function nameActors(
  { db }: Pick<Context, 'db'>,
  response: Response,
  actors: readonly (string | null | undefined)[],
): Promise<(actor: string | null | undefined) => Part> {
  const ids = actors.filter((one) => typeof one === 'string');
  const { roles } = textsOf(language());
  const label = await labelActors(db, ids, { full: canSeePersonalData(response), roles });
  return (actor) => (actor ? label(actor) : EMPTY_VALUE);
}

/** Names one actor, in a form whose readers see persons. */
export async function nameWriter({ db }: Pick<Context, 'db'>, actor: string): Promise<string> {
  return (await labelActors(db, [actor], { full: true, roles: textsOf(language()).roles }))(actor);
}

/** People who are named of those that may do something. */
const NAMED_MAX = 5;

/** Names whom to ask for what this reader may not do; nobody to a reader who sees no persons. */
export async function nameWhoMay(
  context: Pick<Context, 'db' | 'clock'>,
  response: Response,
  roles: readonly Role[],
): Promise<Part> {
  if (hasRole(response, ...roles) || !canSeePersonalData(response)) return undefined;
  const names = [...new Set((await listLogins(context, roles)).values())];
  const more = names.length - NAMED_MAX;
  const shown = [...names.slice(0, NAMED_MAX), ...(more > 0 ? [t('e mais {n}', { n: formatCount(more) })] : [])];
  return names.length > 0 && html` <span class="hint">${t('Quem pode: {names}.', { names: shown.join(', ') })}</span>`;
}
