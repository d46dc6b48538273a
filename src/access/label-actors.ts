/** How people read who did something: a person or a token by its name, for readers who see no persons by its role. */
import type { Reader } from '../database/reader.ts';
import type { Texts } from '../texts/reports/texts.ts';
import { readActors } from './users.ts';

/** @returns what names an actor; of one without a name its role, and of one that is not known its id. */
export async function labelActors(
  db: Reader,
  actors: readonly string[],
  { full, roles }: { full: boolean; roles: Texts['roles'] },
): Promise<(actor: string) => string> {
  const known = await readActors(db, actors);
  const words: Record<string, string> = roles;
  return (actor) => {
    const { name = null, role = null } = known.get(actor) ?? {};
    return (full ? name : null) ?? words[role ?? actor] ?? actor;
  };
}
