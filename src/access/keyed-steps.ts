/** Steps of a request with an idempotency key: its changes, each committed with the key and its result. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { hasErrno, isDuplicateKey, LOCK_WAIT_ERRNOS } from '../database/transact.ts';
import { current, type KeyedRequest, KeyInUseError, leaseEnd, noteStored, sealResult } from './keyed-request.ts';

/** The request that a change is made for. Within a change there is none. */
export function currentRequest(): KeyedRequest | undefined {
  return current.getStore();
}

/** Runs a step's own change: changes within it are no steps. */
export function withinStep<T>(work: () => Promise<T>): Promise<T> {
  return current.run(undefined, work);
}

/** The result of the next step if an earlier request with the same key committed it: the step is then taken. */
export function takeResult<T>(): { result: T } | undefined {
  const request = currentRequest();
  if (!request || request.results.length === 0) return undefined;
  request.steps++;
  return { result: request.results.shift() as T };
}

/**
 * Locks the key in a step's transaction, before the change: writes it if it is not there. Waits for a request that is just writing it.
 * @throws KeyInUseError if another request holds it.
 */
export async function lockKey(request: KeyedRequest, trx: Transaction<Database>): Promise<void> {
  const { context, keyHash, holder, requestHash } = request;
  if (request.isStored) {
    const row = await trx
      .selectFrom('idempotency_keys')
      .select('holder')
      .where('key_hash', '=', keyHash)
      .forUpdate()
      .executeTakeFirst();
    if (!row?.holder.equals(holder)) throw new KeyInUseError(request);
    return;
  }
  const waitS = Math.max(1, Math.ceil((request.waitsUntilMs - context.timers.monotonicMs()) / 1000));
  await sql`SET SESSION innodb_lock_wait_timeout = ${sql.lit(waitS)}`.execute(trx);
  try {
    const row = { key_hash: keyHash, request_hash: requestHash, holder, lease_until: leaseEnd(context) };
    await trx
      .insertInto('idempotency_keys')
      .values({ ...row, created_at: context.clock.now() })
      .execute();
  } catch (error) {
    throw isDuplicateKey(error) || hasErrno(error, LOCK_WAIT_ERRNOS) ? new KeyInUseError(request) : error;
  } finally {
    await sql`SET SESSION innodb_lock_wait_timeout = DEFAULT`.execute(trx).catch(() => undefined);
  }
}

/** Removes the key that a step wrote which changed nothing. */
export async function unlockKey({ isStored, keyHash }: KeyedRequest, trx: Transaction<Database>): Promise<void> {
  if (!isStored) await trx.deleteFrom('idempotency_keys').where('key_hash', '=', keyHash).execute();
}

/** Writes a step's result in its transaction, after the change. */
export async function writeResult(request: KeyedRequest, trx: Transaction<Database>, result: unknown): Promise<void> {
  await sealResult(request, trx, { number: request.steps + 1, result });
  const lease = { lease_until: leaseEnd(request.context) };
  await trx.updateTable('idempotency_keys').set(lease).where('key_hash', '=', request.keyHash).execute();
}

/** Notes that a step is committed. */
export function noteStep(request: KeyedRequest): void {
  request.steps++;
  noteStored(request);
}
