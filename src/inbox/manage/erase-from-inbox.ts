import type { Context } from '../../context.ts';
import { redactRows } from '../../database/redact-rows.ts';
import type { Erase } from '../../domain/person/person.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';

const BODIES = { table: 'webhooks', key: 'seq', columns: ['body'], redactedAtColumn: 'redacted_at' } as const;

/**
 * Erases a person from webhooks' bodies, also quarantined ones. The hash of a body stays, so that the same bytes are still a
 * repeat. In items, a plain hash of the person's extra becomes a keyed one.
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
