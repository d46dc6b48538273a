import type { Context } from '../../context.ts';
import { redactRows } from '../../database/redact-rows.ts';
import { seqsOf, splitList } from '../../domain/lists.ts';
import type { Erase } from '../../domain/person/person.ts';
import { REMOVED } from '../../domain/person/redact-text.ts';
import { toSubject } from '../health/callback-sources.ts';

const CHUNK_ROWS = 500;

/**
 * Erases a person from merchants' responses to callbacks. Responses to callbacks about the person's transactions and orders are
 * removed as a whole: they may name the person in the merchant's own words. Elsewhere the person's values are redacted.
 * Callbacks themselves have no stored body.
 */
export function eraseFromAttempts(context: Context): Erase {
  return async ({ transactions, hash, redact, onSkipped }, { write }) => {
    const { db, clock, signal } = context;
    const orders = await db
      .selectFrom('expected_versions')
      .innerJoin('expected_payments as head', 'head.id', 'expected_versions.expected_id')
      .select('head.seq')
      .distinct()
      .where('expected_versions.document_hash', '=', hash)
      .execute();
    const subjects = [...transactions.map(({ seq }) => seq), ...orders.map(({ seq }) => toSubject(seq))];
    let changed = 0;
    for (const seqs of splitList(subjects, CHUNK_ROWS)) {
      const rows = await db
        .selectFrom('callback_attempts')
        .innerJoin('callbacks', 'callbacks.seq', 'callback_attempts.callback_seq')
        .select('callback_attempts.seq')
        .where('callbacks.transaction_seq', 'in', seqs)
        .where('response_body', 'is not', null)
        .where('response_body', '<>', Buffer.from(REMOVED))
        .execute();
      changed += rows.length;
      if (!write || rows.length === 0) continue;
      await db
        .updateTable('callback_attempts')
        .set({ response_body: Buffer.from(REMOVED) })
        .where('seq', 'in', seqsOf(rows))
        .execute();
    }
    const place = { table: 'callback_attempts', key: 'seq', columns: ['response_body'] } as const;
    const others = await redactRows(db, { ...place, columns: [...place.columns] }, redact, {
      write,
      now: clock.now(),
      signal,
      onSkipped,
    });
    return changed + others;
  };
}
