import type { Context } from '../../context.ts';
import { redactRows } from '../../database/redact-rows.ts';
import type { Erase } from '../../domain/person/person.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';

const BODIES = { table: 'webhooks', key: 'seq', columns: ['body'], redactedAtColumn: 'redacted_at' } as const;

/**
 * Webhooks' bodies, quarantined ones too. A body's hash stays as it came, so that the same bytes are still a repeat; an
 * item's plain hash of an extra that is withheld becomes the keyed one.
 */
export function eraseFromInbox(context: Context): Erase {
  return async (person, { write }) => {
    const { db, clock, signal } = context;
    const options = { write, now: clock.now(), signal, onSkipped: person.onSkipped };
    const changed = await redactRows(db, { ...BODIES, columns: [...BODIES.columns] }, person.redact, options);
    if (!write) return changed;
    for (const hash of person.hashes) {
      await db
        .updateTable('webhook_items')
        .set({ extra_hash: createKeyedExtraHash(context.keys, hash) })
        .where('extra_hash', '=', hash)
        .execute();
    }
    return changed;
  };
}
