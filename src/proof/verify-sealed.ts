import type { Context } from '../context.ts';
import { unsealedSeconds } from '../metrics/metrics.ts';
import { readNewestSeal } from '../seal/read-seals.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** What is newer may be on its way into a seal. */
export const SEALED_WITHIN_MS = 10 * 60_000;
export const UNSEALED_SCOPE = 'seals';

/**
 * Whether the newest entries are sealed: until they are, the chain says nothing of them.
 * @param end the number up to which the newest position settled them.
 */
export async function verifySealed(context: Context, end: number, tell: ReportBreak): Promise<void> {
  const since = new Date(context.clock.now().getTime() - SEALED_WITHIN_MS);
  const row = await context.db
    .selectFrom('entries')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('seq').as('first')])
    .where('seq', '>', end)
    .where('recorded_at', '<', since)
    .executeTakeFirst();
  const count = Number(row?.count ?? 0);
  if (count === 0) return;
  const minutes = SEALED_WITHIN_MS / 60_000;
  const says = `${count} entries, from en_${row?.first} on, are in no sealed position and older than ${minutes} minutes`;
  tell({ scope: UNSEALED_SCOPE, says });
}

/** Sets the gauge of how long the oldest of them has waited: a second or two, while the sealer is at work. */
export async function updateUnsealedGauge({ db, clock }: Context): Promise<void> {
  const head = await readNewestSeal(db);
  const oldest = await db
    .selectFrom('entries')
    .select('recorded_at')
    .where('seq', '>', head?.entrySeq ?? 0)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  unsealedSeconds.set(oldest ? Math.max(0, clock.now().getTime() - oldest.recorded_at.getTime()) / 1000 : 0);
}
