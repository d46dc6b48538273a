/**
 * A request with an idempotency key changes nothing twice: a form, a command or a call of the API that is sent again gets what the
 * first one was answered.
 *
 * - Each change that the request makes (`auditChange`) is a step (keyed-steps.ts). The first step's transaction also writes the key, and each one's
 *   writes its result: neither is there without the change.
 * - The answer is kept before anybody gets it, if a step was committed and the answer is no refusal. A repetition gets it.
 * - A request that ended between its steps and its answer (a killed process, an error) is continued by its repetition: the code runs
 *   again, its steps return the results that are kept, and only what was not done is done. So code between two steps must depend
 *   on the results of the steps before, not on what they changed; `takeResult` gives it a result before it would read.
 * - The request that works on a key holds a short lease. Another one waits for its answer, at most WAIT_MS. A request that lost its
 *   lease commits no further step.
 *
 * Only keyed hashes of the caller, the key and the request are stored; results and answers are sealed. Kept for KEPT_DAYS.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac, randomBytes } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { placeOf } from '../database/keys/sealed-columns.ts';
import { encryptForStorage } from '../database/keys/settings.ts';
import type { Database } from '../database/tables.ts';
import { isDuplicateKey, transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { refusal, refuse, refuseField } from '../texts/refuse.ts';
import type { Timer } from '../timers.ts';
import { deleteKeys, keptSince } from './kept-answers.ts';

export const KEY_CHARS_MAX = 255;
const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${KEY_CHARS_MAX}}$`);
/** How long a request waits for another one with its key. */
const WAIT_MS = 5_000;
/** Shorter than WAIT_MS: a repetition right after a crash continues instead of being refused. */
const LEASE_MS = 4_000;
const RENEW_MS = 1_000;
const POLL_MS = 50;
const RETRY_AFTER_S = 1;
const HOLDER_BYTES = 8;
const ANSWER = 0;

/** `caller`: the credential or the user that the key belongs to. `parts`: all that makes a request another one. */
export type AskedRequest = { caller: string; key: string; parts: readonly (string | Buffer)[] };

export type KeyedRequest = {
  context: Context;
  keyHash: Buffer;
  requestHash: Buffer;
  holder: Buffer;
  /** On the monotonic clock: until then it waits for another request. */
  waitsUntilMs: number;
  /** Results of steps that an earlier request committed, and that this one has not taken yet. */
  results: unknown[];
  /** Steps that are taken or committed. */
  steps: number;
  /** Whether the key is committed. */
  isStored: boolean;
  /** Whether an earlier request began it. */
  isContinued: boolean;
  /** Whether it was answered: while its database was silent, before its work ended. Its lease ends, and a repetition continues. */
  isClosed: boolean;
  renewal?: Timer;
};

/** Another request has just committed this key: its answer is to be awaited. */
export class KeyInUseError extends ConfereError {
  readonly request: KeyedRequest;

  constructor(request: KeyedRequest) {
    super(...refusal('idempotency_key_at_work', {}, { retryAfterS: RETRY_AFTER_S }));
    this.request = request;
  }
}

/** @param field its header or option. @throws ConfereError `invalid_request` for a key that cannot be used. */
export function checkKey(field: string, key: string): void {
  if (!PRINTABLE.test(key)) throw refuseField(field, 'idempotency_key_wrong', { n: KEY_CHARS_MAX });
}

/** The request that is at work; changes read it by keyed-steps.ts. */
export const current = new AsyncLocalStorage<KeyedRequest | undefined>();

/** Runs what a request does: the changes in it are its steps. */
export function runKeyed<T>(request: KeyedRequest, work: () => T): T {
  return current.run(request, work);
}

/**
 * Opens a request, or finds its answer; waits for another request with the same key that is at work.
 * @throws ConfereError `invalid_request` if the key was used for another request; `conflict` if its answer is erased;
 *   KeyInUseError after WAIT_MS.
 */
export async function openKeyedRequest<Answer>(
  context: Context,
  { caller, key, parts }: AskedRequest,
): Promise<{ answer: Answer } | { request: KeyedRequest }> {
  return await awaitAnswer<Answer>({
    context,
    keyHash: hash(context, 'key', [caller, key]),
    requestHash: hash(context, 'request', parts),
    holder: randomBytes(HOLDER_BYTES),
    waitsUntilMs: context.timers.monotonicMs() + WAIT_MS,
    ...{ results: [], steps: 0, isStored: false, isContinued: false, isClosed: false },
  });
}

function hash({ keys }: Context, use: string, parts: readonly (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', keys.search).update(`idempotency ${use}`);
  for (const part of parts) hmac.update(`\n${Buffer.byteLength(part)} `).update(part);
  return hmac.digest();
}

/** Waits for the answer of the request that holds the key; takes the key once nobody holds it. @throws as openKeyedRequest. */
export async function awaitAnswer<Answer>(
  request: KeyedRequest,
): Promise<{ answer: Answer } | { request: KeyedRequest }> {
  const { db, clock, timers } = request.context;
  const { keyHash } = request;
  for (;;) {
    const row = await db
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'lease_until', 'created_at'])
      .where('key_hash', '=', keyHash)
      .executeTakeFirst();
    const before = keptSince(request.context);
    if (row && row.created_at < before && (await deleteKeys(db, { before, keyHash })) === 0) continue;
    if (!row || row.created_at < before) return { request };
    if (!row.request_hash.equals(request.requestHash)) throw refuseField('Idempotency-Key', 'idempotency_key_reused');
    const answer = await readAnswer<Answer>(request);
    if (answer) return answer;
    if (row.lease_until <= clock.now() && (await take(request, row.lease_until))) return { request };
    if (timers.monotonicMs() >= request.waitsUntilMs) throw new KeyInUseError(request);
    await timers.sleep(POLL_MS);
  }
}

async function readAnswer<Answer>(request: KeyedRequest): Promise<{ answer: Answer } | undefined> {
  const row = await request.context.db
    .selectFrom('idempotency_results')
    .select(['sealed', 'key_hash', 'number'])
    .where('key_hash', '=', request.keyHash)
    .where('number', '=', ANSWER)
    .executeTakeFirst();
  return row && { answer: open(request.context, row) as Answer };
}

/** Takes a key whose lease has ended, with the results of its steps. @returns whether no other request was faster. */
async function take(request: KeyedRequest, leaseUntil: Date): Promise<boolean> {
  const { context, keyHash, holder } = request;
  const { numUpdatedRows } = await context.db
    .updateTable('idempotency_keys')
    .set({ holder, lease_until: leaseEnd(context) })
    .where('key_hash', '=', keyHash)
    .where('lease_until', '=', leaseUntil)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const rows = await context.db
    .selectFrom('idempotency_results')
    .select(['sealed', 'key_hash', 'number'])
    .where('key_hash', '=', keyHash)
    .where('number', '>', ANSWER)
    .orderBy('number')
    .execute();
  request.results = rows.map((row) => open(context, row));
  request.isContinued = true;
  noteStored(request);
  return true;
}

export function leaseEnd({ clock }: Context): Date {
  return new Date(clock.now().getTime() + LEASE_MS);
}

type Kept = { sealed: Buffer | null; key_hash: Buffer; number: number };

function open({ vault }: Context, { sealed, ...row }: Kept): unknown {
  if (sealed) return deserialize(vault.decrypt(sealed, placeOf('idempotency_results', row)));
  throw refuse('idempotent_answer_erased');
}

/** Seals and stores the answer (number 0), or the result of a step. */
export async function sealResult(
  { context, keyHash }: KeyedRequest,
  trx: Transaction<Database>,
  { number, result }: { number: number; result: unknown },
): Promise<void> {
  const row = { key_hash: keyHash, number };
  const place = placeOf('idempotency_results', row);
  const sealed = await encryptForStorage(trx, context.vault, serialize(result), place);
  await trx
    .insertInto('idempotency_results')
    .values({ ...row, sealed })
    .execute();
}

/** From here on the lease is renewed until the request is closed. */
export function noteStored(request: KeyedRequest): void {
  request.isStored = true;
  if (request.isClosed) return;
  request.renewal ??= request.context.timers.every(RENEW_MS, () => {
    // a lease that is not renewed ends, and another request continues
    setLease(request, leaseEnd(request.context)).catch(() => undefined);
  });
}

async function setLease({ context, keyHash, holder }: KeyedRequest, until: Date): Promise<void> {
  await context.db
    .updateTable('idempotency_keys')
    .set({ lease_until: until })
    .where('key_hash', '=', keyHash)
    .where('holder', '=', holder)
    .execute();
}

/**
 * Keeps the answer of a request whose steps are committed.
 * @returns the answer that is kept: another request that took over may have been faster.
 */
export async function keepAnswer<Answer>(request: KeyedRequest, answer: Answer): Promise<Answer> {
  request.renewal?.cancel();
  if (!request.isStored) return answer;
  try {
    await transact(request.context.db, async (trx) => {
      await sealResult(request, trx, { number: ANSWER, result: answer });
    });
    return answer;
  } catch (error) {
    const kept = isDuplicateKey(error) ? await readAnswer<Answer>(request) : undefined;
    if (!kept) throw error;
    return kept.answer;
  }
}

/** Ends a request without an answer to keep: its repetition may continue it at once. */
export async function closeKeyedRequest(request: KeyedRequest): Promise<void> {
  request.isClosed = true;
  request.renewal?.cancel();
  if (request.isStored) await setLease(request, request.context.clock.now());
}
