import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import { type BalanceAroundSecond, chooseLedgerBalance, sumSecond } from '../../ledger/stated/state-balance.ts';
import { sumAtCut } from '../../seal/read-balances.ts';
import { AVAILABLE, HELD, platformAccountSegment } from './read-accounts.ts';
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

/** Reads them without the ledger's side. */
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

/** Sums before the statement's second from the sealer's sums, and that second by an index. */
async function sumAround(db: Reader, { platform, atWall }: Stated, cut: CutEntries): Promise<BalanceAroundSecond> {
  const names = [AVAILABLE, HELD].map((root) => `${root}:${platformAccountSegment(platform)}`);
  const rows = await db.selectFrom('accounts').select('seq').where('name', 'in', names).execute();
  const accounts = rows.map((row) => row.seq);
  if (accounts.length === 0) return { before: 0n, after: 0n };
  const sums = await sumAtCut(db, cut, { at: atWall, accounts });
  const before = accounts.reduce((sum, seq) => sum + (sums.get(seq) ?? 0n), 0n);
  return {
    before,
    after: before + (await sumSecond(db, { accounts, at: atWall }, (column) => matchesCut(column, cut))),
  };
}
