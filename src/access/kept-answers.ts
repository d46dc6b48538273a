/** Answers and results that are kept for idempotency keys: when they go, and what a forgotten person changes in them. */

import { deserialize } from 'node:v8';
import type { Context } from '../context.ts';
import { placeOf } from '../database/keys/sealed-columns.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep } from '../database/retention-step.ts';
import { transact } from '../database/transact.ts';
import { DAY_MS } from '../domain/calendar.ts';
import { append } from '../domain/lists.ts';
import type { Erase } from '../domain/person/person.ts';

export const KEPT_DAYS = 7;
const BATCH_ROWS = 200;

/** Keys of before are over, deleted or not. */
export function keptSince({ clock }: Pick<Context, 'clock'>): Date {
  return new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
}

/** A key goes with all its results in one transaction: without them, a repetition would begin anew. */
export function keyRetention({ db }: Context): RetentionStep {
  return {
    name: 'idempotency_keys',
    keepMs: KEPT_DAYS * DAY_MS,
    async *run({ before, write }) {
      if (!write) {
        const count = db.selectFrom('idempotency_keys').select((eb) => eb.fn.countAll<number>().as('count'));
        yield Number((await count.where('created_at', '<', before).executeTakeFirst())?.count ?? 0);
        return;
      }
      for (let count = RETENTION_BATCH_ROWS; count === RETENTION_BATCH_ROWS; ) {
        count = await deleteKeys(db, { before });
        yield count;
      }
    },
  };
}

/** Deletes keys that were written before an instant, or one of them if it was, with their results. @returns how many. */
export async function deleteKeys(
  db: Context['db'],
  { before, keyHash }: { before: Date; keyHash?: Buffer },
): Promise<number> {
  return await transact(db, async (trx) => {
    let query = trx.selectFrom('idempotency_keys').select('key_hash').where('created_at', '<', before);
    if (keyHash) query = query.where('key_hash', '=', keyHash);
    // locked: another request may have deleted the key and written it anew
    const rows = await query.orderBy('created_at').limit(RETENTION_BATCH_ROWS).forUpdate().execute();
    const hashes = rows.map(({ key_hash }) => key_hash);
    if (hashes.length === 0) return 0;
    await trx.deleteFrom('idempotency_results').where('key_hash', 'in', hashes).execute();
    await trx.deleteFrom('idempotency_keys').where('key_hash', 'in', hashes).execute();
    return hashes.length;
  });
}

/**
 * Erases answers and results that name a person. Their keys stay: a repetition is refused then, and changes nothing.
 * An answer that cannot be read is skipped.
 */
export function eraseFromAnswers({ db, vault, signal }: Context): Erase {
  return async ({ redact, onSkipped }, { write }) => {
    let erased = 0;
    for (let last = 0; ; ) {
      signal.throwIfAborted();
      const rows = await selectSealed(db, last).execute();
      for (const { seq, sealed, ...row } of rows) {
        try {
          const place = placeOf('idempotency_results', row);
          if (!sealed || redact(listTexts(deserialize(vault.decrypt(sealed, place))).join('\n')) === undefined)
            continue;
        } catch {
          onSkipped(`idempotency_results ${seq}`);
          continue;
        }
        erased++;
        if (write) await db.updateTable('idempotency_results').set({ sealed: null }).where('seq', '=', seq).execute();
      }
      if (rows.length < BATCH_ROWS) return erased;
      last = rows.at(-1)?.seq ?? last;
    }
  };
}

/** All texts in a value: no person is named by anything else. Bytes are the body of an answer. */
function listTexts(value: unknown): string[] {
  const texts: string[] = [];
  // no recursion: an answer may be nested deeply
  const left: unknown[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') texts.push(one);
    else if (Buffer.isBuffer(one)) texts.push(one.toString());
    else if (typeof one === 'object' && one !== null) append(left, Object.entries(one).flat());
  }
  return texts;
}

function selectSealed(db: Context['db'], after: number) {
  return db
    .selectFrom('idempotency_results')
    .select(['seq', 'sealed', 'key_hash', 'number'])
    .where('sealed', 'is not', null)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(BATCH_ROWS);
}
