import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import type { Erase } from '../domain/person/person.ts';
import { REMOVED } from '../domain/person/redact-text.ts';
import { filtersOf } from './match-filter.ts';

const REMOVED_URL = 'https://removed.invalid/';

/**
 * Erases a person from removed merchants, and from changes of address. A merchant in use is not changed, but reported: without a value of its filter it
 * would receive other events, also those of other people, and an address or a name is for its operator to choose.
 */
export function eraseFromMerchants({ db, signal }: Context): Erase {
  return async ({ redact, onLeft }, { write }) => {
    const rows = await db
      .selectFrom('merchants')
      .select(['seq', 'id', 'name', 'url', 'old_url', 'test_url', 'email', 'filter', 'own_filter', 'deleted_at'])
      .orderBy('seq')
      .execute();
    let changed = 0;
    const isNamed = (texts: object): boolean =>
      Object.values(texts).some((text) => typeof text === 'string' && redact(text) !== undefined);
    for (const { seq, id, deleted_at, old_url, test_url, ...texts } of rows) {
      signal.throwIfAborted();
      if (isNamed({ old_url, test_url })) {
        changed++;
        const none = { old_url: null, test_url: null };
        if (write) await transact(db, (trx) => trx.updateTable('merchants').set(none).where('seq', '=', seq).execute());
      }
      // each text by itself: a prefix that equals a reference of the person names nobody
      if (listTexts(texts).every((text) => redact(text) === undefined)) continue;
      if (deleted_at === null) {
        onLeft(`merchants ${id}`);
        continue;
      }
      changed++;
      if (!write) continue;
      const set = { name: REMOVED, url: REMOVED_URL, email: null, filter: '{}', own_filter: null };
      await transact(db, (trx) => trx.updateTable('merchants').set(set).where('seq', '=', seq).execute());
    }
    const changes = await db.selectFrom('merchant_address_changes').select(['seq', 'value', 'old_value']).execute();
    for (const { seq, ...texts } of changes) {
      if (!isNamed(texts)) continue;
      changed++;
      if (write)
        await transact(db, (trx) => trx.deleteFrom('merchant_address_changes').where('seq', '=', seq).execute());
    }
    return changed;
  };
}

function listTexts({
  filter,
  own_filter,
  ...texts
}: {
  name: string;
  url: string | null;
  email: string | null;
  filter: string;
  own_filter: string | null;
}): string[] {
  const filters = filtersOf({ filter, own_filter }).flatMap(({ extra_match, ...lists }) => [
    ...Object.values(lists).flat(),
    ...Object.entries(extra_match).flat(),
  ]);
  const values = [...filters, ...Object.values(texts)];
  return values.filter((value) => value !== null && value !== '').map(String);
}
