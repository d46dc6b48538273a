import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { type BalanceAroundSecond, chooseLedgerBalance } from '../../ledger/stated/state-balance.ts';
import { AVAILABLE, HELD, platformAccountSegment } from './read-balances.ts';
import { type CutEntries, matchesCut } from './read-cut-entries.ts';

/** A balance that a person read off the provider's panel, and the ledger's at that instant. */
export type StatedBalance = { platform: string; at: Date; atWall: WallTime; statedCents: bigint; ledgerCents: bigint };

/** The newest statement of each platform in the day, its end included, of those made before `madeAt`. */
export async function readStatements(db: Reader, scope: Scope & CutEntries): Promise<StatedBalance[]> {
  const stated: StatedBalance[] = [];
  for (const one of await readNewestStatements(db, scope)) {
    const around = await sumAround(db, one, scope);
    const ledgerCents = chooseLedgerBalance({ at: one.at, balance_cents: one.statedCents }, around);
    stated.push({ ...one, ledgerCents });
  }
  return stated;
}

type Scope = { start: WallTime; end: WallTime; madeAt: Date };
type Stated = Omit<StatedBalance, 'ledgerCents'>;

/** The same without the ledger's side. */
export async function readNewestStatements(db: Reader, scope: Scope): Promise<Stated[]> {
  const rows = await db
    .selectFrom('statements')
    .select(['platform', 'at', 'at_wall', 'balance_cents'])
    .where('at_wall', '>', scope.start)
    .where('at_wall', '<=', scope.end)
    .where('created_at', '<=', scope.madeAt)
    .orderBy('at_wall')
    .orderBy('seq')
    .execute();
  const newest = new Map(rows.map((row) => [row.platform, row]));
  return [...newest.values()].map((row) => ({
    platform: row.platform,
    at: row.at,
    atWall: row.at_wall,
    statedCents: row.balance_cents,
  }));
}

/** Statements that are new or changed, with the platform's one before. Pure. */
export function listChangedStatements(then: Stated[], now: Stated[]): { before: Stated | undefined; after: Stated }[] {
  const old = new Map(then.map((one) => [one.platform, one]));
  return now
    .map((after) => ({ before: old.get(after.platform), after }))
    .filter(({ before, after }) => before?.atWall !== after.atWall || before.statedCents !== after.statedCents);
}

async function sumAround(db: Reader, { platform, atWall }: Stated, cut: CutEntries): Promise<BalanceAroundSecond> {
  const names = [AVAILABLE, HELD].map((root) => `${root}:${platformAccountSegment(platform)}`);
  const row = await db
    .selectFrom('postings')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .select(sql<string | null>`SUM(postings.amount_cents)`.as('after'))
    .select(
      sql<string | null>`SUM(CASE WHEN postings.at_wall < ${atWall} THEN postings.amount_cents ELSE 0 END)`.as(
        'before',
      ),
    )
    .where('accounts.name', 'in', names)
    .where('postings.at_wall', '<=', atWall)
    .where(matchesCut('postings.entry_seq', cut))
    .executeTakeFirst();
  return { before: BigInt(row?.before ?? 0), after: BigInt(row?.after ?? 0) };
}
