import type { Reader } from '../../../database/reader.ts';
import type { WallTime } from '../../../domain/calendar.ts';
import { readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { refuse } from '../../../texts/refuse.ts';

/** Entries with a bank account that are kept in memory for a file, of each way to know it. */
const ENTRIES_MAX = 200_000;

export type EntryBankAccount = { account: string; name: string };

/**
 * Reads to which bank account the entries before `end` went, or from which they came, by their row numbers: that of the
 * line that an entry is matched with, else the one that its adjustment names. `name`: the one that people gave it.
 * @throws ConfereError `invalid_request` for more than `max` entries.
 */
export async function readEntryAccounts(
  db: Reader,
  end: WallTime,
  max = ENTRIES_MAX,
): Promise<Map<number, EntryBankAccount>> {
  const stated = await db
    .selectFrom('adjustments')
    .innerJoin('entries', 'entries.seq', 'adjustments.entry_seq')
    .select(['entries.seq', 'bank_account as account'])
    .where('bank_account', 'is not', null)
    .where('entries.at_wall', '<', end)
    .limit(max + 1)
    .execute();
  const matched = await db
    .selectFrom('bank_matches')
    .innerJoin('bank_lines', 'bank_lines.seq', 'bank_matches.line_seq')
    .innerJoin('entries', 'entries.seq', 'bank_matches.entry_seq')
    .leftJoin('bank_matches as undone', 'undone.undoes_seq', 'bank_matches.seq')
    .select(['entries.seq', 'bank_lines.account'])
    .where('bank_matches.undoes_seq', 'is', null)
    .where('undone.seq', 'is', null)
    .where('entries.at_wall', '<', end)
    .limit(max + 1)
    .execute();
  if (stated.length > max || matched.length > max) throw refuse('entries_of_banks_too_many', { n: max });
  const facts = await readBankAccounts(db);
  return new Map(
    [...stated, ...matched].flatMap(({ seq, account }) =>
      account === null ? [] : [[seq, { account, name: facts.get(account)?.name ?? account }]],
    ),
  );
}
