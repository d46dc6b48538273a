import { type SqlBool, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import type { FoundMismatch } from '../domain/mismatch.ts';
import { loadHeld } from './load-held.ts';
import { mendJournal } from './mend-journal.ts';
import { raiseMismatches } from './mismatches.ts';
import { charge, listDesiredEntries } from './post.ts';
import { readPolicies } from './read-policies.ts';

const BATCH_ROWS = 200;

export type BooksCheck = { transactions: number; unbalanced: number; astray: string[] };

/**
 * Checks the books against themselves: every entry sums to zero, and every transaction's entries in force are those
 * that its events ask for. A difference is `books_broken`: it never resolves itself.
 */
export async function checkBooks(context: Context): Promise<BooksCheck> {
  const check: BooksCheck = { transactions: 0, unbalanced: await countUnbalanced(context.db), astray: [] };
  const policies = await readPolicies(context);
  let after = 0;
  while (!context.signal.aborted) {
    const rows = await context.db
      .selectFrom('transactions')
      .select(['seq', 'id'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(BATCH_ROWS)
      .execute();
    if (rows.length === 0) break;
    after = rows.at(-1)?.seq ?? after;
    const loaded = await transact(context.db, (trx) =>
      loadHeld(
        trx,
        rows.map((row) => row.id),
      ),
    );
    for (const { held, entries } of loaded.values()) {
      const desired = listDesiredEntries(held, held.events, policies.of(held.platform));
      const { reverse, post } = mendJournal(desired, entries, (platform) => charge(held, platform));
      if (reverse.length + post.length > 0) check.astray.push(held.id);
    }
    check.transactions += rows.length;
  }
  await raiseBroken(context, check);
  return check;
}

async function raiseBroken(context: Context, check: BooksCheck): Promise<void> {
  const found: FoundMismatch[] = check.astray.map((id) => ({
    kind: 'books_broken',
    scope: id,
    transactionId: id,
    expected: { entries: 'those that its events ask for' },
  }));
  if (check.unbalanced > 0) {
    found.push({ kind: 'books_broken', scope: 'unbalanced entries', actual: { entries: check.unbalanced } });
  }
  if (found.length === 0) return;
  await transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()), { retryDuplicates: true });
  context.bells.alerts.ring();
}

/** Entries whose postings do not sum to zero: there are none, or the books are broken. */
async function countUnbalanced(db: Reader): Promise<number> {
  const row = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('postings')
        .select('entry_seq')
        .groupBy('entry_seq')
        .having(sql<SqlBool>`SUM(amount_cents) <> 0`)
        .as('unbalanced'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
