/**
 * Compares the chain with hashes that other tables store: a chain that was truncated or rebuilt is consistent in itself.
 * Reports store the hash of their cut, and earlier checks of the books that of their end.
 */

import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** More differences than this mean one rebuilt chain. */
const REPORTS_MAX = 100;

/** Compares the chain with reports. @param end the newest position, 0 while there is none. */
export async function verifyReports(context: Context, end: number, report: ReportBreak): Promise<void> {
  const rows = await context.db
    .selectFrom('reports')
    .leftJoin('seals', 'seals.position', 'reports.cut_seal_position')
    .select(['day', 'revision', 'cut_seal_position as position', 'seals.hash'])
    .where('cut_seal_position', 'is not', null)
    // a report from before the hash was stored proves only how far the chain went
    .where(sql<boolean>`(seals.position IS NULL OR seals.hash <> reports.cut_seal_hash)`)
    .orderBy('cut_seal_position', 'desc')
    .limit(REPORTS_MAX)
    .execute();
  for (const { day, revision, position, hash } of rows) {
    const cut = `the report of ${day}, revision ${revision},`;
    const says = hash
      ? `its hash is not the one that ${cut} was cut at`
      : `${cut} was cut there, and the chain ends at ${end}`;
    report({ scope: `seal ${position}`, says });
  }
}

/** Compares the chain with the positions up to which earlier checks found the books whole. */
export async function verifyProofs(context: Context, end: number, report: ReportBreak): Promise<void> {
  const rows = await context.db
    .selectFrom('books_checks as checks')
    .leftJoin('seals', 'seals.position', 'checks.position')
    .select(['checks.position', 'checks.finished_at as at', 'seals.hash'])
    .where('checks.finished_at', 'is not', null)
    .where('checks.broken', '=', 0)
    .where('checks.position', '>', 0)
    .where(sql<boolean>`(seals.position IS NULL OR seals.hash <> checks.hash)`)
    .orderBy('checks.position', 'desc')
    .orderBy('checks.seq')
    .limit(REPORTS_MAX)
    .execute();
  for (const [index, { position, at, hash }] of rows.entries()) {
    // while nothing is sealed, each night reaches the same position
    if (rows[index - 1]?.position === position) continue;
    const check = `the books check of ${at?.toISOString()}`;
    const says = hash ? `its hash is not the one that ${check} read` : `${check} read it, and the chain ends at ${end}`;
    report({ scope: `seal ${position}`, says });
  }
}
