/**
 * Reads the audit. A filter by target finds rows on that target. If it is a transaction's id, it also finds the lists and
 * pages that showed its person, which name the id in their detail.
 */
import { sql } from 'kysely';
import { isStatementTimeout } from '../database/limit-statement-time.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { faultOf, refuseFields } from '../texts/refuse.ts';
import { SHOWING_ACTIONS } from './audit.ts';
import { readActorNames } from './users.ts';

export type AuditFilter = {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  from?: Date | undefined;
  /** Excluded. */
  to?: Date | undefined;
};
type Page = { limit: number; before: number | undefined };
type Row = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number];

/**
 * Returns rows, newest first.
 * @param page.before only rows below this row number.
 * @throws ConfereError `invalid_request` if `db` limits the statement's time, and a search by target takes longer.
 */
export async function listAudit(db: Reader, filter: AuditFilter, page: Page) {
  const rows =
    filter.target === undefined
      ? await select(db, filter, page).execute()
      : await readAbout(db, filter.target, filter, page);
  return await presentAudit(db, rows);
}

/** Rows as the API shows them. */
export async function presentAudit(db: Reader, rows: Row[]) {
  const names = await readActorNames(
    db,
    rows.map(({ actor }) => actor),
  );
  return rows.map((row) => present(row, names));
}

async function readAbout(db: Reader, target: string, filter: AuditFilter, page: Page): Promise<Row[]> {
  try {
    const onTarget = await select(db, filter, page).where('target', '=', target).execute();
    const showing = await readShowing(db, target, filter, page);
    return [...onTarget, ...showing].sort((a, b) => b.seq - a.seq).slice(0, page.limit);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw refuseFields([faultOf('from', 'narrower_days'), faultOf('to', 'narrower_days')], { cause: error });
  }
}

/**
 * Reads rows whose detail names this transaction. No index has the ids, so this reads each row of the filter's days, from
 * the instant on that the ledger has the transaction: nobody was shown it before.
 */
async function readShowing(db: Reader, id: string, filter: AuditFilter, page: Page): Promise<Row[]> {
  const known = await db.selectFrom('transactions').select('first_seen_at').where('id', '=', id).executeTakeFirst();
  if (!known) return [];
  // by time: in the order of `seq` the server would read all rows, however few the days
  return await select(db, filter, page, sql`FORCE INDEX (audit_at)`)
    .where('action', 'in', SHOWING_ACTIONS)
    .where('at', '>=', known.first_seen_at)
    .where('target', '!=', id)
    // compared by bytes, as ids are
    .where(sql<number>`LOCATE(CAST(${JSON.stringify(id)} AS BINARY), detail)`, '>', 0)
    .execute();
}

/** @param hint an index hint. */
function select(db: Reader, filter: AuditFilter, page: Page, hint = sql``) {
  const audit = sql<Database['audit']>`audit`.as<'audit'>(sql`audit ${hint}`);
  let query = db.selectFrom(audit).selectAll().orderBy('seq', 'desc').limit(page.limit);
  for (const name of ['actor', 'action'] as const) {
    const value = filter[name];
    if (value !== undefined) query = query.where(name, '=', value);
  }
  if (filter.from !== undefined) query = query.where('at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('at', '<', filter.to);
  if (page.before !== undefined) query = query.where('seq', '<', page.before);
  return query;
}

function present(row: Row, names: Map<string, string>) {
  return {
    seq: row.seq,
    id: `au_${row.seq}`,
    at: row.at.toISOString(),
    actor: row.actor,
    actor_name: names.get(row.actor) ?? null,
    action: row.action,
    target: row.target,
    detail: row.detail,
  };
}
