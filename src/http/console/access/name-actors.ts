import type { Response } from 'express';
import { labelActors } from '../../../access/label-actors.ts';
import type { Context } from '../../../context.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { canSeePersonalData } from '../../access/authorize.ts';
import { EMPTY_VALUE } from '../parts/format.ts';
import type { Part } from '../parts/html.ts';

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
