/**
 * Openings of a platform's books, since Confere starts in the middle of an account's life. The journal starts at the
 * opening day. Entries posted before it are reversed at their own time, adjustments included, and cashouts held at that
 * time are moved from Available to Held. A platform has one opening in force; a wrong one is reversed first.
 */

import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import type { Day } from '../../domain/calendar.ts';
import { createId } from '../../domain/ids.ts';
import { formatAmount } from '../../domain/money.ts';
import { flagClosedDays, transactWithAlerts } from '../../mismatches/flag-closed-days.ts';
import { refuse } from '../../texts/refuse.ts';
import { nameAccount, type Posting } from '../journal/plan-entries.ts';
import { lockPolicies } from '../journal/read-policies.ts';
import { type EntrySource, writeEntries } from '../journal/write-entries.ts';
import { checkDayBegun, checkPlatformKnown } from './check-stated.ts';
import { repostAdjustments } from './repost-adjustments.ts';
import { repostTransactions } from './repost-transactions.ts';

export type Opening = {
  platform: string;
  day: Day;
  balanceCents: bigint;
  actor: string;
  /** Confirms a platform that no transaction shows yet. */
  newPlatform?: boolean | undefined;
};

const STATED: EntrySource = { kind: 'person' };

/**
 * States a platform's balance (Available + Held) in cents at a day's start. The caller calls `finishReposts` next,
 * which reposts the platform's history under it.
 * @returns the opening's id.
 * @throws ConfereError `conflict` when one is in force, `invalid_request` for a future day or an unseen platform.
 */
export async function stateOpening(context: Context, opening: Opening): Promise<string> {
  const id = createId('op');
  checkDayBegun(context, opening.day);
  await checkPlatformKnown(context.db, opening);
  await transactWithAlerts(context, async (trx) => {
    await lockPolicies(trx);
    const current = await trx
      .selectFrom('openings')
      .select('id')
      .where('platform', '=', opening.platform)
      .where('in_force', '=', 1)
      .executeTakeFirst();
    // an earlier attempt committed it before its connection was lost
    if (current?.id === id) return;
    if (current) {
      throw refuse('opening_in_force', { platform: opening.platform, opening: current.id });
    }
    await writeOpening(context, trx, opening, id);
  });
  return id;
}

/**
 * Reverses an opening and its entry. `finishReposts` then reposts the platform's whole history, with the adjustments
 * that the opening had reversed.
 * @throws ConfereError `not_found`, `conflict` when it is reversed already.
 */
export async function reverseOpeningEntry(context: Context, id: string): Promise<void> {
  await transactWithAlerts(context, async (trx, mayBeDone) => {
    await lockPolicies(trx);
    const row = await trx.selectFrom('openings').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
    if (!row) throw refuse('opening_unknown');
    // an earlier attempt committed it before its connection was lost
    if (row.in_force === null && mayBeDone) return;
    if (row.in_force === null) throw refuse('opening_reversed');
    const reverse = [
      {
        seq: row.entry_seq,
        kind: 'opening',
        eventSeq: null,
        atWall: `${row.day} 00:00:00`,
        platform: row.platform,
        postings: listPostings(row.platform, row.balance_cents),
      },
    ];
    const now = context.clock.now();
    await writeEntries(context, trx, [{ transactionSeq: null, source: STATED, reverse, post: [] }], now);
    await flagClosedDays(context, trx, reverse, now);
    await trx.updateTable('openings').set({ in_force: null, reposted_at: null }).where('seq', '=', row.seq).execute();
  });
}

/** Reposts the histories of platforms whose opening changed. After a kill, the watch completes it. */
export async function finishReposts(context: Context): Promise<void> {
  const rows = await context.db
    .selectFrom('openings')
    .select(['seq', 'platform', 'in_force'])
    .where('reposted_at', 'is', null)
    .orderBy('seq')
    .execute();
  for (const row of rows) {
    await repostAdjustments(context, row.platform);
    await repostTransactions(context, row.platform);
    // appliers share the openings' locks
    await transact(context.db, (trx) =>
      trx
        .updateTable('openings')
        .set({ reposted_at: context.clock.now() })
        .where('seq', '=', row.seq)
        // an opening that was reversed meanwhile needs another repost
        .where('in_force', row.in_force === null ? 'is' : '=', row.in_force)
        .execute(),
    );
  }
}

async function writeOpening(context: Context, trx: Transaction<Database>, opening: Opening, id: string): Promise<void> {
  const now = context.clock.now();
  const { platform, balanceCents } = opening;
  const postings = listPostings(platform, balanceCents);
  const entry = { kind: 'opening', event: undefined, atWall: `${opening.day} 00:00:00`, platform, postings };
  const change = { transactionSeq: null, source: STATED, reverse: [], post: [entry] };
  const [entrySeq] = await writeEntries(context, trx, [change], now);
  await flagClosedDays(context, trx, [entry], now);
  await trx
    .insertInto('openings')
    .values({
      id,
      platform,
      day: opening.day,
      balance_cents: balanceCents,
      entry_seq: requireRowNumber(entrySeq, `the entry of opening ${id}`),
      in_force: 1,
      created_at: now,
      actor: opening.actor,
    })
    .execute();
}

function listPostings(platform: string, balanceCents: bigint): Posting[] {
  return [
    { account: nameAccount('Assets:Provider:Available', platform), cents: balanceCents },
    { account: nameAccount('Equity:Opening', platform), cents: -balanceCents },
  ];
}

/** Lists openings as the API shows them, newest first, of one platform or all. @param before list below this row number. */
export async function listOpenings(
  db: Reader,
  limit: number,
  before: number | undefined,
  id?: string,
  platform?: string,
) {
  let query = db.selectFrom('openings').selectAll().orderBy('seq', 'desc').limit(limit);
  if (before !== undefined) query = query.where('seq', '<', before);
  if (id !== undefined) query = query.where('id', '=', id);
  if (platform !== undefined) query = query.where('platform', '=', platform);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    platform: row.platform,
    day: row.day,
    balance: formatAmount(row.balance_cents),
    reversed: row.in_force === null,
    created_at: row.created_at.toISOString(),
    created_by: row.actor,
  }));
}
