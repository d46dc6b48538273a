import type { Context } from '../context.ts';
import { type Reading, secondsSince } from '../metrics/reading.ts';
import { readNewestSeal } from '../seal/read-seals.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** Newer entries may not be sealed yet. */
export const SEALED_WITHIN_MS = 10 * 60_000;
export const UNSEALED_SCOPE = 'seals';

/**
 * Verifies that the newest entries are sealed: the chain does not prove unsealed ones.
 * @param end the entry number up to which the newest seal reaches.
 */
export async function verifySealed(context: Context, end: number, report: ReportBreak): Promise<void> {
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
  report({ scope: UNSEALED_SCOPE, says });
}

/** The age of the oldest unsealed entry: one or two seconds while the sealer works. */
export async function readSealMetrics({ db, clock }: Context): Promise<Reading[]> {
  const head = await readNewestSeal(db);
  const oldest = await db
    .selectFrom('entries')
    .select('recorded_at')
    .where('seq', '>', head?.entrySeq ?? 0)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return [
    {
      name: 'confere_ledger_unsealed_seconds',
      help: 'Age of the oldest entry that is not in the hash chain yet.',
      values: secondsSince(oldest?.recorded_at, clock.now()),
    },
  ];
}
