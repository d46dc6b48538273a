/**
 * Accepting a surplus. A total that is too high by the same number in every pass proves nothing by itself: the list may
 * omit that many rows. A person who knows better, from the provider's panel or support, accepts the number for the day.
 * The day then counts as proven while the number stays the same. An accepted surplus is never changed; a later one
 * replaces it.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { leaveExpectedWork } from '../../database/shared/leave-expected-work.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { type Day, isDay } from '../../domain/calendar.ts';
import { acceptMismatch } from '../../ledger/correct/accept-mismatch.ts';
import {
  type Decision,
  lockUnresolvedMismatch,
  noteOf,
  requireSeen,
} from '../../mismatches/resolve-mismatch-by-hand.ts';
import { setResolved } from '../../mismatches/resolve-mismatches.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { listEndedDays } from './plan-windows.ts';

/**
 * Accepts a mismatch: the surplus of a `list_unstable`, else what the provider shows.
 * @param by.actual the evidence that the person saw.
 * @throws ConfereError `invalid_request` without `by.actual`, else as acceptMismatch does.
 */
export async function acceptMismatchOrSurplus(context: Context, id: string, by: Decision): Promise<void> {
  if (by.actual === undefined) throw refuseField('actual', 'evidence_required');
  const named = await context.db.selectFrom('mismatches').select('kind').where('id', '=', id).executeTakeFirst();
  await (named?.kind === 'list_unstable' ? acceptSurplus : acceptMismatch)(context, id, by);
}

/** The surplus in a `list_unstable`; 0 where there is none to accept. */
export function surplusIn({ kind, actual }: { kind: string; actual: unknown }): number {
  const { surplus } = (actual ?? {}) as { surplus?: unknown };
  return kind === 'list_unstable' && typeof surplus === 'number' ? surplus : 0;
}

/** @throws ConfereError `conflict` where no surplus was found, or the evidence has changed. */
async function acceptSurplus(context: Context, id: string, by: Decision): Promise<void> {
  await transact(
    context.db,
    async (trx) => {
      const mismatch = await lockUnresolvedMismatch(trx, id);
      const actual: unknown = JSON.parse(mismatch.actual ?? 'null');
      const surplus = surplusIn({ kind: mismatch.kind, actual });
      requireSeen(mismatch, by);
      if (surplus === 0) throw refuse('surplus_not_acceptable');
      const { day, platform } = readScope(mismatch.scope);
      const now = context.clock.now();
      await trx
        .insertInto('accepted_surpluses')
        .values({
          ...{ day, platform, surplus, mismatch_seq: mismatch.seq },
          ...{ actor: by.actor, created_at: now },
        })
        .execute();
      await completeWindow(context, trx, { day, platform, surplus });
      await setResolved(trx, mismatch.seq, { resolution: 'accepted', note: noteOf(by), actor: by.actor }, now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

/** The scope of a `list_unstable`: a day, or a day and a platform. */
function readScope(scope: string): { day: Day; platform: string | null } {
  const [day, platform] = [scope.slice(0, 10), scope.slice(11)];
  if (!isDay(day)) throw new Error(`no day in the scope ${scope}`);
  return { day, platform: platform === '' ? null : platform };
}

/** Marks the newest reading of the day as complete, where it found this surplus and no other defect. */
async function completeWindow(
  context: Context,
  trx: Transaction<Database>,
  { day, platform, surplus }: { day: Day; platform: string | null; surplus: number },
): Promise<void> {
  const newest = await trx
    .selectFrom('run_windows')
    .select(['seq', 'state', 'surplus', 'from_day', 'to_day'])
    .where('from_day', '<=', day)
    .where('to_day', '>=', day)
    .where('platform', platform === null ? 'is' : '=', platform)
    .where('asked_at', 'is not', null)
    .orderBy('asked_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (newest?.state !== 'incomplete' || newest.surplus !== surplus) return;
  const range = { fromDay: newest.from_day, toDay: newest.to_day };
  const days = listEndedDays(range, context.calendar, context.clock.now());
  if ((await readAcceptedSurplus(trx, platform, days)) !== surplus) return;
  await trx.updateTable('run_windows').set({ state: 'complete', error: null }).where('seq', '=', newest.seq).execute();
  const [from, to] = [days[0], days.at(-1)];
  if (from && to && platform === null)
    await leaveExpectedWork(trx, [{ from_day: from, to_day: to }], context.clock.now());
}

/** The surplus accepted for all of these days; 0 where one day has none, or another number. */
export async function readAcceptedSurplus(db: Reader, platform: string | null, days: Day[]): Promise<number> {
  if (days.length === 0) return 0;
  const rows = await db
    .selectFrom('accepted_surpluses')
    .select(['day', 'surplus'])
    .where('day', 'in', days)
    .where('platform', platform === null ? 'is' : '=', platform)
    .orderBy('seq')
    .execute();
  const newest = new Map(rows.map((row) => [row.day, row.surplus]));
  const [first = 0] = newest.values();
  return days.every((day) => newest.get(day) === first) ? first : 0;
}
