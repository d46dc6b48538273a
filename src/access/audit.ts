import type { Context } from '../context.ts';

export type AuditedAction = {
  /** A token's id, or `command`. */
  actor: string;
  action: string;
  target: string;
  /** Never personal data, never a secret. */
  detail?: string;
};

/** Writes down who did or saw what. */
export async function audit(context: Context, done: AuditedAction): Promise<void> {
  await context.db
    .insertInto('audit')
    .values({ at: context.clock.now(), ...done, target: done.target.slice(0, TARGET_CHARS_MAX) })
    .execute();
}

/** How often an actor did this in the last `ms`. */
export async function countRecent(context: Context, actor: string, action: string, ms: number): Promise<number> {
  const row = await context.db
    .selectFrom('audit')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('actor', '=', actor)
    .where('action', '=', action)
    .where('at', '>', new Date(context.clock.now().getTime() - ms))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

const TARGET_CHARS_MAX = 120;
