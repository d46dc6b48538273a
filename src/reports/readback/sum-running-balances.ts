import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { platformAccountSegment } from '../read/read-accounts.ts';

/** Entries that *Extrato* shows: `isShown` says which of the table `entries`, whose reversed entry is `origin`. */
type Shown = { isShown: RawBuilder<SqlBool>; balanceAccounts: readonly number[] };

/**
 * Adds up *Saldo da plataforma* over all rows of *Extrato*: after each row, the platform's opening balance and what its rows
 * moved so far.
 * @param openings in cents, by the platform's segment of account names.
 */
export async function sumRunningBalances(
  db: Reader,
  { isShown, balanceAccounts }: Shown,
  openings: ReadonlyMap<string, { opening: bigint }>,
): Promise<bigint> {
  if (balanceAccounts.length === 0) return 0n;
  const { rows } = await sql<{ platform: string; rows: number; sum: string }>`
    SELECT platform, COUNT(*) AS \`rows\`, SUM(balance) AS \`sum\` FROM (
      SELECT platform, SUM(net) OVER (PARTITION BY platform ORDER BY at_wall, seq ROWS UNBOUNDED PRECEDING) AS balance FROM (
        SELECT entries.seq, entries.at_wall, entries.platform, COALESCE(SUM(postings.amount_cents), 0) AS net
        FROM entries
        LEFT JOIN entries AS origin ON origin.seq = entries.reverses_seq
        LEFT JOIN postings ON postings.entry_seq = entries.seq AND postings.account_seq IN (${sql.join(balanceAccounts)})
        WHERE ${isShown}
        GROUP BY entries.seq
      ) AS moved
    ) AS running
    GROUP BY platform`.execute(db);
  return rows.reduce((sum, row) => {
    const { opening = 0n } = openings.get(platformAccountSegment(row.platform)) ?? {};
    return sum + BigInt(row.sum) + BigInt(row.rows) * opening;
  }, 0n);
}
