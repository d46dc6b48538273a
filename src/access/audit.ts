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

const TARGET_CHARS_MAX = 120;
