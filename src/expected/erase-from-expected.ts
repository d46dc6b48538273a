import type { Context } from '../context.ts';
import { type FreeTextColumns, redactRows } from '../database/redact-rows.ts';
import { transact } from '../database/transact.ts';
import type { Erase } from '../domain/person/person.ts';

/** Texts in which another's expected payment, or a note, may mention the person. */
const FREE_TEXTS: FreeTextColumns[] = [
  { table: 'expected_texts', key: 'version_seq', columns: ['document', 'name', 'description', 'extra'] },
  { table: 'expected_notes', key: 'seq', columns: ['note'] },
];

/**
 * Clears the texts of a person's expected payments, in all versions, and redacts what mentions the person elsewhere. Keyed hashes of
 * document and extra stay, so that no match is undone.
 */
export function eraseFromExpected(context: Context): Erase {
  return async ({ hash, redact, onSkipped }, { write }) => {
    const theirs = await context.db
      .selectFrom('expected_versions')
      .innerJoin('expected_texts', 'expected_texts.version_seq', 'expected_versions.seq')
      .select('version_seq')
      .where('document_hash', '=', hash)
      .where((eb) =>
        eb.or((['document', 'name', 'description', 'extra'] as const).map((one) => eb(one, 'is not', null))),
      )
      .execute();
    const seqs = theirs.map((row) => row.version_seq);
    if (write && seqs.length > 0)
      await transact(context.db, (trx) =>
        trx
          .updateTable('expected_texts')
          .set({ document: null, name: null, description: null, extra: null, name_folded: null })
          .where('version_seq', 'in', seqs)
          .execute(),
      );
    let changed = seqs.length;
    for (const place of FREE_TEXTS)
      changed += await redactRows(context.db, place, redact, {
        ...{ write, now: context.clock.now(), signal: context.signal, onSkipped },
        // their names change: they are found by them no more
        beforeWrite: async (keys) => {
          if (write && place.table === 'expected_texts') await clearNames(context, keys);
        },
      });
    return changed;
  };
}

async function clearNames({ db }: Context, versionSeqs: number[]): Promise<void> {
  await db.updateTable('expected_texts').set({ name_folded: null }).where('version_seq', 'in', versionSeqs).execute();
}
