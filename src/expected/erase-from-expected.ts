import type { Context } from '../context.ts';
import { type FreeTextColumns, redactRows } from '../database/redact-rows.ts';
import { transact } from '../database/transact.ts';
import type { Erase } from '../domain/person/person.ts';

/** Texts in which another's expected payment, or a note, may mention the person. */
const FREE_TEXTS: FreeTextColumns[] = [
  { table: 'expected_texts', key: 'version_seq', columns: ['document', 'name', 'description', 'extra'] },
  { table: 'expected_notes', key: 'seq', columns: ['note'] },
];

/** Columns that name a person. */
const NAMES = { document: null, name: null, description: null, name_folded: null };

/**
 * Clears the texts of a person's expected payments, in all versions, and redacts what mentions the person elsewhere. As of a transaction,
 * an extra stays unless it holds a value of the person: payments are found by it. Keyed hashes of document and extra stay, so that no
 * match is undone.
 */
export function eraseFromExpected(context: Context): Erase {
  return async ({ hash, holdsValue, redact, onSkipped, recordExpected }, { write }) => {
    const { db } = context;
    const rows = await db
      .selectFrom('expected_versions')
      .innerJoin('expected_texts', 'expected_texts.version_seq', 'expected_versions.seq')
      .select(['version_seq', 'extra'])
      .select((eb) =>
        eb
          .or([eb('document', 'is not', null), eb('name', 'is not', null), eb('description', 'is not', null)])
          .as('isNamed'),
      )
      // a source may leave the document out of another version
      .where((eb) => eb.or([eb('document_hash', '=', hash), eb('document_hash', 'is', null)]))
      .where('expected_id', 'in', (eb) =>
        eb.selectFrom('expected_versions').select('expected_id').where('document_hash', '=', hash),
      )
      .execute();
    await recordExpected(rows.map((row) => row.version_seq));
    const holding = rows.filter(({ extra }) => extra !== null && holdsValue(extra)).map((row) => row.version_seq);
    const named = rows.filter(({ isNamed }) => Boolean(isNamed)).map((row) => row.version_seq);
    const clear = (seqs: number[], values: { extra: null } | typeof NAMES) =>
      seqs.length === 0
        ? undefined
        : transact(db, (trx) =>
            trx.updateTable('expected_texts').set(values).where('version_seq', 'in', seqs).execute(),
          );
    if (write) await clear(holding, { extra: null });
    if (write) await clear(named, NAMES);
    let changed = new Set([...holding, ...named]).size;
    for (const place of FREE_TEXTS)
      changed += await redactRows(db, place, redact, {
        ...{ write, now: context.clock.now(), signal: context.signal, onSkipped },
        // their names change: they are found by them no more
        beforeWrite: async (keys) => {
          if (place.table !== 'expected_texts') return;
          await recordExpected(keys);
          if (write) await clearNames(context, keys);
        },
      });
    return changed;
  };
}

async function clearNames({ db }: Context, versionSeqs: number[]): Promise<void> {
  await db.updateTable('expected_texts').set({ name_folded: null }).where('version_seq', 'in', versionSeqs).execute();
}
