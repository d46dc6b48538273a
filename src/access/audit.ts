import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';

export type AuditedAction = {
  /** A token's id, or `command`. */
  actor: string;
  action: string;
  target: string;
  /** Never personal data, never a secret. */
  detail?: string;
};

/** Writes down who did or saw what. */
export async function audit(context: Pick<Context, 'db' | 'clock'>, done: AuditedAction): Promise<void> {
  await context.db
    .insertInto('audit')
    .values({ at: context.clock.now(), ...done, target: done.target.slice(0, TARGET_CHARS_MAX) })
    .execute();
}

/**
 * Writes down what a token may do only so many times in so many ms, unless it was done as often. One after the other for
 * each token, on whichever replica: of many that come at once each is counted before the next.
 * @returns whether it may be done, and is written down.
 */
export async function auditAtMost(
  context: Context,
  done: AuditedAction,
  { times, ms }: { times: number; ms: number },
): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    await trx.selectFrom('tokens').select('seq').where('id', '=', done.actor).forUpdate().execute();
    const row = await trx
      .selectFrom('audit')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('actor', '=', done.actor)
      .where('action', '=', done.action)
      .where('at', '>', new Date(context.clock.now().getTime() - ms))
      .executeTakeFirst();
    if (Number(row?.count ?? 0) >= times) return false;
    await audit({ db: trx, clock: context.clock }, done);
    return true;
  });
}

const TARGET_CHARS_MAX = 120;
