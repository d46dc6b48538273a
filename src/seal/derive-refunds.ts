/**
 * Sums refunds by day and hour. The sums of postings hold payments less refunds; with these sums, what was paid on a
 * day is known without reading its entries. A posting to what was received or paid is a refund unless its event is `paid`;
 * its reversal is one with the other sign. The reports classify their movements by the same rule.
 *
 * `sealing.refunds_position` says up to which seal the refunds are counted. A seal counts its own if all before it are
 * counted. Others, from before this table or by a process that does not know it, are caught up: by the entries that each
 * seal names, so each entry counts once.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { addToSpans, GRAINS } from './derive-balances.ts';
import { SEAL_ENTRIES_MAX } from './find-late-entries.ts';
import { parseMembers } from './format-members.ts';
import type { SealedEntry } from './hash-seal.ts';
import { loadSealedEntries } from './load-sealed-entries.ts';
import type { Seal } from './read-seals.ts';

/** Accounts whose postings are payments and refunds. */
const PAID_ACCOUNT = /^Liabilities:(Receipts|Payables):/;
const REFUND_GRAINS = GRAINS.filter(({ grain }) => grain !== 'month');
/** Seals that one transaction catches up at most. */
const SEALS_AT_ONCE = 200;

/** Locks the sealers' row. @returns the position up to which the refunds are counted. */
export async function lockSealing(trx: Transaction<Database>): Promise<number> {
  const row = await trx
    .selectFrom('sealing')
    .select('refunds_position')
    .where('id', '=', 1)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return row.refunds_position;
}

/** Adds the refunds among sealed entries, and says that they are counted up to a position. Under the lock of `lockSealing`. */
export async function advanceRefunds(
  trx: Transaction<Database>,
  { to, entries }: { to: number; entries: SealedEntry[] },
): Promise<void> {
  const postings = entries
    .filter(({ event }) => event !== null && event.status !== 'paid')
    .flatMap((entry) => entry.postings.filter(({ account }) => PAID_ACCOUNT.test(account)));
  await addToSpans(trx, 'refund_spans', { grains: REFUND_GRAINS, postings });
  await trx.updateTable('sealing').set({ refunds_position: to }).where('id', '=', 1).execute();
}

/** Counts the refunds of the next seals that lack them, some 2,000 entries. @returns whether others still lack them. */
export async function catchUpRefunds(context: Context): Promise<boolean> {
  return await transact(context.db, async (trx) => {
    const seals = await trx
      .selectFrom('seals')
      .select(['position', 'entries', 'members'])
      .where('position', '>', await lockSealing(trx))
      .orderBy('position')
      .limit(SEALS_AT_ONCE)
      .execute();
    const chosen: typeof seals = [];
    let count = 0;
    for (const seal of seals) {
      count += seal.entries;
      if (chosen.length > 0 && count > SEAL_ENTRIES_MAX) break;
      chosen.push(seal);
    }
    const last = chosen.at(-1);
    if (!last) return false;
    const seqs = chosen.flatMap(({ members }) => parseMembers(members, SEAL_ENTRIES_MAX));
    await advanceRefunds(trx, { to: last.position, entries: await loadSealedEntries(trx, { seqs }, 'error') });
    return chosen.length < seals.length || seals.length === SEALS_AT_ONCE;
  });
}

/** Entries whose refunds are not in `refund_spans`: those above a number, and single ones at or below it. */
export type UncountedEntries = { after: number; late: number[] };

/**
 * Finds the entries that the sums lack: a second's worth while the sealer runs, more after an upgrade until it has caught up.
 * @param unsealed late entries below the newest seal, which no seal contains.
 */
export async function findUncountedRefunds(
  snapshot: Reader,
  head: Seal | undefined,
  unsealed: number[],
): Promise<UncountedEntries> {
  const row = await snapshot.selectFrom('sealing').select('refunds_position').where('id', '=', 1).executeTakeFirst();
  const position = row?.refunds_position ?? 0;
  if (!head || position === head.position) return { after: head?.entrySeq ?? 0, late: unsealed };
  const bound = await snapshot
    .selectFrom('seals')
    .select('entry_seq')
    .where('position', '=', position)
    .executeTakeFirst();
  const after = bound?.entry_seq ?? 0;
  const sealedLate = await snapshot
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('position', '>', position)
    .where('entry_seq', '<=', after)
    .execute();
  const late = [...sealedLate.map((one) => one.entry_seq), ...unsealed.filter((seq) => seq <= after)];
  return { after, late };
}
