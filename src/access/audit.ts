/**
 * The audit: who did what, and who saw whose data. Its rows are only ever added, and the hash chain over the journal
 * seals them too. A change and its row are one transaction: neither is there without the other. What is only read is
 * written down before it is shown.
 */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { WakeSignal } from '../runtime/wake-signal.ts';

export type AuditedAction = {
  /** A token's id, or `command`. */
  actor: string;
  action: string;
  target: string;
  /** Never personal data, never a secret: a row can't be changed afterwards. */
  detail?: string;
};

const TARGET_CHARS_MAX = 120;

/** Writes down who did or saw what. */
export async function audit(context: Pick<Context, 'db' | 'clock'>, done: AuditedAction): Promise<void> {
  await insertAudit(context.db, { id: drawId(), at: context.clock.now(), ...done });
}

/**
 * Makes a change and writes it down, in one transaction. Run again as a whole where the database asks for it.
 * @param change is handed a context whose `db` is that transaction: it must neither wait for anything but the database,
 *   nor take long. Its wake-up signals are given after the commit.
 * @param describe what was done, by what the change returned.
 * @returns what the change returned.
 */
export async function auditChange<T>(
  context: Context,
  change: (context: Context) => Promise<T>,
  describe: AuditedAction | ((result: T) => AuditedAction),
): Promise<T> {
  // one id for all tries: of two that are committed, the second is a duplicate
  const id = drawId();
  // by the time in its row: a try may have been committed without an answer, and another made since
  const tried = new Map<number, T>();
  const { bells, rung } = deferBells(context.wakeUps);
  const result = await transact(
    context.db,
    async (trx, mayBeDone) => {
      // the COMMIT whose answer was lost went through
      const writtenAt = mayBeDone ? await findWritten(trx, id) : undefined;
      if (writtenAt && tried.has(writtenAt.getTime())) return tried.get(writtenAt.getTime()) as T;
      const result = await change({ ...context, db: trx, wakeUps: bells });
      const done = typeof describe === 'function' ? describe(result) : describe;
      const at = context.clock.now();
      tried.set(at.getTime(), result);
      await insertAudit(trx, { id, at, ...done });
      return result;
    },
    { retryDuplicates: true },
  );
  for (const bell of rung) bell.notify();
  return result;
}

/**
 * Writes down what a token may do only so many times in so many ms, unless it was done as often. One after the other for
 * each token, on whichever replica: of many that come at once each is counted before the next.
 * @returns whether it may be done, and is written down.
 */
export async function auditWithinLimit(
  context: Context,
  done: AuditedAction,
  { times, ms }: { times: number; ms: number },
): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    await trx.selectFrom('tokens').select('seq').where('id', '=', done.actor).forUpdate().execute();
    const row = await trx
      .selectFrom('audit')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('actor', '=', done.actor)
      .where('action', '=', done.action)
      .where('at', '>', new Date(context.clock.now().getTime() - ms))
      .executeTakeFirst();
    if (Number(row?.count ?? 0) >= times) return false;
    await audit({ db: trx, clock: context.clock }, done);
    return true;
  });
}

export type AuditFilter = {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  from?: Date | undefined;
  /** Excluded. */
  to?: Date | undefined;
};

/** The newest rows first. @param before the row number to go on below. */
export async function listAudit(db: Reader, filter: AuditFilter, page: { limit: number; before: number | undefined }) {
  let query = db.selectFrom('audit').selectAll().orderBy('seq', 'desc').limit(page.limit);
  for (const name of ['actor', 'action', 'target'] as const) {
    const value = filter[name];
    if (value !== undefined) query = query.where(name, '=', value);
  }
  if (filter.from !== undefined) query = query.where('at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('at', '<', filter.to);
  if (page.before !== undefined) query = query.where('seq', '<', page.before);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: `au_${row.seq}`,
    at: row.at.toISOString(),
    actor: row.actor,
    action: row.action,
    target: row.target,
    detail: row.detail,
  }));
}

async function insertAudit(db: Kysely<Database>, row: AuditedAction & { id: string; at: Date }): Promise<void> {
  await db
    .insertInto('audit')
    .values({ ...row, target: row.target.slice(0, TARGET_CHARS_MAX) })
    .execute();
}

/** When the row of this id was written. */
async function findWritten(db: Kysely<Database>, id: string): Promise<Date | undefined> {
  return (await db.selectFrom('audit').select('at').where('id', '=', id).executeTakeFirst())?.at;
}

function drawId(): string {
  return randomUUID().replaceAll('-', '');
}

/** Loops that are woken before the commit would find nothing, and sleep on. */
function deferBells(bells: Context['wakeUps']): { bells: Context['wakeUps']; rung: Set<WakeSignal> } {
  const rung = new Set<WakeSignal>();
  const defer = (bell: WakeSignal): WakeSignal => ({ ...bell, notify: () => void rung.add(bell) });
  const { inbox, callbacks, alerts, runs } = bells;
  return {
    bells: { inbox: defer(inbox), callbacks: defer(callbacks), alerts: defer(alerts), runs: defer(runs) },
    rung,
  };
}
