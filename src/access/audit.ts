/**
 * The audit: who did what, and who saw whose data. Rows are append-only, and the hash chain over the journal seals them
 * too. A change and its row are one transaction. A read is recorded before the data is shown.
 */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { WakeSignal } from '../runtime/wake-signal.ts';
import { currentRequest, lockKey, noteStep, takeResult, unlockKey, withinStep, writeResult } from './keyed-steps.ts';

export type AuditedAction = {
  /** The id of a token or a user, `command`, or `SYSTEM_ACTOR`. */
  actor: string;
  action: string;
  target: string;
  /** Never personal data, never a secret: a row can't be changed afterwards. */
  detail?: string | undefined;
};

/** The actor of what the service does by itself. */
export const SYSTEM_ACTOR = 'confere';

const TARGET_CHARS_MAX = 120;
/** The column has 65,535 bytes. A page of 200 transactions takes 8 KB. */
const DETAIL_BYTES_MAX = 60_000;

/** Records an action. */
export async function audit(
  context: Pick<Context, 'db'> & { clock: Pick<Context['clock'], 'now'> },
  done: AuditedAction,
): Promise<void> {
  await insertAudit(context.db, { id: drawId(), at: context.clock.now(), ...done });
}

/** The reads whose `detail` names the transactions that they showed. */
export const SHOWING_ACTIONS = [
  'transactions.list',
  'transactions.export',
  'mismatches.list',
  'mismatches.show',
  'webhooks.show',
  'callbacks.show',
  'reports.changes',
] as const;
export type ShowingAction = (typeof SHOWING_ACTIONS)[number];

/**
 * Records that the persons of transactions are about to be shown. The detail is `{"transactions":["…"]}`, after the word
 * `via` where it is given. More ids than one row has room for take several rows.
 * @param shown.transactions ids. Those that the ledger does not know are left out: a webhook's sender may write anything
 *   there, and a row can't be changed afterwards. Without any, the detail is `via` alone.
 */
export async function auditShown(
  context: Pick<Context, 'db' | 'clock'>,
  done: { actor: string; action: ShowingAction; target: string },
  shown: { transactions: readonly string[]; via?: string | undefined },
): Promise<void> {
  const lists = splitIds(await selectKnownIds(context.db, shown.transactions));
  for (const ids of lists.length > 0 ? lists : [undefined]) {
    const parts = [shown.via, ids && JSON.stringify({ transactions: ids })].filter((part) => part !== undefined);
    await audit(context, { ...done, ...(parts.length > 0 ? { detail: parts.join(' ') } : {}) });
  }
}

async function selectKnownIds(db: Reader, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('transactions').select('id').where('id', 'in', ids).orderBy('seq', 'desc').execute();
  return rows.map(({ id }) => id);
}

/** Splits ids into lists whose JSON one row's detail has room for. */
function splitIds(ids: string[]): string[][] {
  const lists: string[][] = [];
  let bytes = DETAIL_BYTES_MAX;
  for (const id of ids) {
    const size = Buffer.byteLength(JSON.stringify(id)) + 1;
    bytes += size;
    if (bytes > DETAIL_BYTES_MAX) {
      lists.push([]);
      bytes = size;
    }
    lists.at(-1)?.push(id);
  }
  return lists;
}

/** The action that a change was, perhaps by its result; undefined: it changed nothing. */
type Describe<T> = AuditedAction | ((result: T) => AuditedAction | undefined);

/**
 * Makes a change and records it in one transaction, which is retried as a whole on transient errors. It is a step of the request
 * with an idempotency key that is at work, if one is (keyed-request.ts): a step that is done already returns its result.
 * @param change gets a context whose `db` is that transaction. It must be short and wait only for the database. Its wake-up
 *   signals are sent after the commit.
 * @returns the result of the change.
 */
export async function auditChange<T>(
  context: Context,
  change: (context: Context) => Promise<T>,
  describe: Describe<T>,
): Promise<T> {
  return (await changeOnce(context, { id: drawId(), mayBeUsed: false }, change, describe)) as T;
}

/**
 * Returns a function that makes one part of a long change, as `auditChange` does. A part that changes nothing is not recorded.
 * @param describe the action, by how much a part changed.
 */
export function auditParts(context: Context, describe: (count: number) => AuditedAction) {
  return <Part extends { count: number }>(change: (inner: Context) => Promise<Part>): Promise<Part> =>
    auditChange(context, change, ({ count }) => (count === 0 ? undefined : describe(count)));
}

/**
 * Makes a change as `auditChange` does, but once for each key: a form that is sent twice changes nothing the second time.
 * @param key 32 hexadecimal digits, the id of the audit row.
 * @returns the result of the change; undefined if the key is used already.
 */
export async function auditChangeOnce<T>(
  context: Context,
  key: string,
  change: (context: Context) => Promise<T>,
  describe: Describe<T>,
): Promise<T | undefined> {
  try {
    return await changeOnce(context, { id: key, mayBeUsed: true }, change, describe);
  } catch (error) {
    // another attempt with the key was committed after this one had asked for it
    if (await findWritten(context.db, key)) return undefined;
    throw error;
  }
}

async function changeOnce<T>(
  context: Context,
  { id, mayBeUsed }: { id: string; mayBeUsed: boolean },
  change: (context: Context) => Promise<T>,
  describe: Describe<T>,
): Promise<T | undefined> {
  const request = currentRequest();
  const done = takeResult<T>();
  if (done) return done.result;
  let isStep = false;
  // one id for all attempts: if two are committed, the second is a duplicate key. Results by the time in the audit row: an attempt may have been committed without an answer, and another made since
  const results = new Map<number, T>();
  const { wakeUps, notified } = deferWakeUps(context.wakeUps);
  const result = await transact(
    context.db,
    async (trx, mayBeDone) => {
      // a COMMIT whose answer was lost may have succeeded
      const writtenAt = mayBeDone || mayBeUsed ? await findWritten(trx, id) : undefined;
      if (writtenAt && (mayBeUsed || results.has(writtenAt.getTime()))) return results.get(writtenAt.getTime());
      if (request) await lockKey(request, trx);
      const result = await withinStep(() => change({ ...context, db: trx, wakeUps }));
      const action = typeof describe === 'function' ? describe(result) : describe;
      isStep = request !== undefined && action !== undefined;
      if (!action) {
        if (request) await unlockKey(request, trx);
        return result;
      }
      const at = context.clock.now();
      await insertAudit(trx, { id, at, ...action });
      if (request) await writeResult(request, trx, result);
      // only now: the row of another process may be of the same millisecond
      results.set(at.getTime(), result);
      return result;
    },
    { retryDuplicates: true },
  );
  if (request && isStep) noteStep(request);
  for (const wakeUp of notified) wakeUp.notify();
  return result;
}

/**
 * Records an action that a caller may do at most `times` within `ms`, unless the limit is reached. The row of the token or
 * the user is locked, so concurrent actions on all replicas are counted one after another.
 * @returns whether the action is allowed, and so recorded.
 */
export async function auditWithinLimit(
  context: Context,
  done: AuditedAction,
  { times, ms }: { times: number; ms: number },
): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    await trx.selectFrom('tokens').select('seq').where('id', '=', done.actor).forUpdate().execute();
    await trx.selectFrom('users').select('seq').where('id', '=', done.actor).forUpdate().execute();
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

async function insertAudit(db: Kysely<Database>, row: AuditedAction & { id: string; at: Date }): Promise<void> {
  await db
    .insertInto('audit')
    .values({ ...row, target: row.target.slice(0, TARGET_CHARS_MAX) })
    .execute();
}

/** @returns the time in the row with this id. */
async function findWritten(db: Kysely<Database>, id: string): Promise<Date | undefined> {
  return (await db.selectFrom('audit').select('at').where('id', '=', id).executeTakeFirst())?.at;
}

function drawId(): string {
  return randomUUID().replaceAll('-', '');
}

/** Collects notifications until the commit: a loop that is woken before it would find nothing, and wait again. */
function deferWakeUps({ inbox, callbacks, alerts, runs }: Context['wakeUps']) {
  const notified = new Set<WakeSignal>();
  const defer = (wakeUp: WakeSignal): WakeSignal => ({ ...wakeUp, notify: () => void notified.add(wakeUp) });
  return {
    wakeUps: { inbox: defer(inbox), callbacks: defer(callbacks), alerts: defer(alerts), runs: defer(runs) },
    notified,
  };
}
