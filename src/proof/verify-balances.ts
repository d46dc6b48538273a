import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Database } from '../database/tables.ts';
import { ConfereError } from '../domain/errors.ts';
import { GRAINS } from '../seal/derive-balances.ts';
import { findLateEntries } from '../seal/find-late-entries.ts';
import { readAccountNames } from '../seal/load-sealed-entries.ts';
import { readNewestSeal } from '../seal/read-seals.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** Sorts after every text that begins with a month. */
const END = '~';

/**
 * Verifies that the derived balances are the sums of the sealed postings, month by month, each in a short snapshot,
 * since the sealer continues meanwhile.
 */
export async function verifyBalances(context: Context, report: ReportBreak): Promise<void> {
  try {
    await verifyMonths(context, report);
  } catch (error) {
    // without a readable seal, it is unknown which entries are sealed
    if (!(error instanceof ConfereError) || error.code !== 'books_broken') throw error;
    report({ scope: 'balances', says: `they can not be checked: of a sealed position, ${error.message}` });
  }
}

async function verifyMonths(context: Context, report: ReportBreak): Promise<void> {
  const accounts = [...(await readAccountNames(context.db)).keys()];
  for (const month of await listMonths(context, accounts)) {
    if (context.signal.aborted) return;
    const { folded, posted, names } = await inSnapshot(context.db, async (snapshot) => {
      // in the snapshot of the sums: an account may have been added since
      const names = await readAccountNames(snapshot);
      const posted = await sumPosted(snapshot, { month, accounts: [...names.keys()] });
      return { folded: await readFolded(snapshot, month), posted, names };
    });
    for (const key of new Set([...folded.keys(), ...posted.keys()])) {
      const [have = 0n, want = 0n] = [folded.get(key), posted.get(key)];
      if (have === want) continue;
      const [span = '', account = ''] = key.split('\n');
      const name = names.get(Number(account)) ?? account;
      report({ scope: `balance ${span} ${name}`, says: `${have} cents are folded, and the postings sum to ${want}` });
    }
  }
}

/** Returns every month in which an account moved or has a derived balance. */
async function listMonths(context: Context, accounts: number[]): Promise<string[]> {
  const folded = await context.db
    .selectFrom('balance_spans')
    .select('span')
    .distinct()
    .where('grain', '=', 'month')
    .execute();
  const months = new Set(folded.map((row) => row.span));
  for (const account of accounts) {
    let after = '';
    for (;;) {
      // from month to month through the index
      const next = await context.db
        .selectFrom('postings')
        .select('at_wall')
        .where('account_seq', '=', account)
        .where('at_wall', '>', after)
        .orderBy('at_wall')
        .limit(1)
        .executeTakeFirst();
      if (!next) break;
      const month = next.at_wall.slice(0, 7);
      months.add(month);
      after = `${month}${END}`;
    }
  }
  return [...months].sort();
}

type Sums = Map<string, bigint>;

async function readFolded(db: Transaction<Database>, month: string): Promise<Sums> {
  const rows = await db
    .selectFrom('balance_spans')
    .select(['span', 'account_seq', 'amount_cents'])
    .where(
      'grain',
      'in',
      GRAINS.map(({ grain }) => grain),
    )
    .where('span', '>=', month)
    .where('span', '<', `${month}${END}`)
    .execute();
  return new Map(rows.map((row) => [`${row.span}\n${row.account_seq}`, row.amount_cents]));
}

async function sumPosted(
  db: Transaction<Database>,
  { month, accounts }: { month: string; accounts: number[] },
): Promise<Sums> {
  const head = await readNewestSeal(db);
  const sums: Sums = new Map();
  if (!head || accounts.length === 0) return sums;
  const late = await findLateEntries(db, head, 'far');
  const rows = await db
    .selectFrom('postings')
    .select([
      'account_seq',
      sql<string>`LEFT(at_wall, 13)`.as('hour'),
      sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents'),
    ])
    .where('account_seq', 'in', accounts)
    .where('at_wall', '>=', month)
    .where('at_wall', '<', `${month}${END}`)
    .where('entry_seq', '<=', head.entrySeq)
    .where('entry_seq', 'not in', late.length > 0 ? late : [0])
    .groupBy(['account_seq', 'hour'])
    .execute();
  for (const row of rows) {
    for (const { chars } of GRAINS) {
      const key = `${row.hour.slice(0, chars)}\n${row.account_seq}`;
      sums.set(key, (sums.get(key) ?? 0n) + row.total_cents);
    }
  }
  return sums;
}
