/**
 * The opening of a platform's books: Confere starts in the middle of an account's life. From the day's start on the
 * journal is kept; what was posted before it is reversed at its own time, and cashouts that were held then are moved
 * from what is available. One opening a platform stands at a time.
 */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { isDuplicate, transact } from '../database/transact.ts';
import type { Day } from '../domain/calendar.ts';
import { ConfereError } from '../domain/errors.ts';
import type { Source } from '../domain/observation.ts';
import { nameAccount } from './post.ts';
import { repostTransactions } from './repost.ts';
import { writeEntries } from './write-entries.ts';

export type Opening = { platform: string; day: Day; balanceCents: bigint; actor: string };

const STATED: Source = { kind: 'show' };

/**
 * States that a platform's balance (available and held) was so many cents when a day began.
 * @returns the opening's id.
 * @throws ConfereError `conflict` when one stands already.
 */
export async function openBooks(context: Context, opening: Opening): Promise<string> {
  const id = `op_${randomUUID().replaceAll('-', '')}`;
  try {
    await transact(context.db, (trx) => writeOpening(context, trx, opening, id));
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new ConfereError('conflict', `platform ${opening.platform} has an opening already: reverse it first`, {
      cause: error,
    });
  }
  await repostTransactions(context, opening.platform);
  return id;
}

async function writeOpening(context: Context, trx: Transaction<Database>, opening: Opening, id: string): Promise<void> {
  const now = context.clock.now();
  const { platform, balanceCents } = opening;
  const postings = [
    { account: nameAccount('Assets:Provider:Available', platform), cents: balanceCents },
    { account: nameAccount('Equity:Opening', platform), cents: -balanceCents },
  ];
  const entry = { kind: 'opening', event: undefined, atWall: `${opening.day} 00:00:00`, platform, postings };
  const [entrySeq] = await writeEntries(
    context,
    trx,
    [{ transactionSeq: null, source: STATED, reverse: [], post: [entry] }],
    now,
  );
  await trx
    .insertInto('openings')
    .values({
      id,
      platform,
      day: opening.day,
      balance_cents: balanceCents,
      entry_seq: entrySeq ?? 0,
      in_force: 1,
      created_at: now,
      actor: opening.actor,
    })
    .execute();
}
