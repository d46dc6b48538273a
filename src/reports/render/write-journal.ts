import type { Day } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { maskAccount } from '../../domain/person/mask-person.ts';
import type { AccountBalance } from '../read/read-balances.ts';
import type { Movement } from '../read/read-movements.ts';
import type { TextFile } from './open-text-file.ts';

const COMMODITY = 'BRL';

/** A journal that is being written. */
export type Journal = {
  file: TextFile;
  /** The name of an account as the file shows it. */
  nameAccount: (account: string) => string;
  /** The running balance in cents, by that name. */
  balances: Map<string, bigint>;
};

type Posting = { account: string; cents: bigint };

/**
 * Starts an hledger journal: declares the commodity and every account, and posts the balances before the first day as one
 * entry. Descriptions hold kinds, statuses and ids, and no names.
 * @param head.masked for a reader without the right to see people: a platform that holds a document shows as `***`.
 *   Accounts that share a masked name add up.
 */
export function startJournal(
  file: TextFile,
  head: { day: Day; balances: AccountBalance[]; note: string; masked: boolean },
): Journal {
  const nameAccount = head.masked ? memoize(maskAccount) : (account: string) => account;
  const journal: Journal = { file, nameAccount, balances: new Map() };
  file.add(`; ${plain(head.note)}\n\ncommodity 1000.00 ${COMMODITY}\n\n`);
  const accounts = new Set(head.balances.map(({ account }) => nameAccount(account)));
  for (const account of accounts) file.add(`account ${account}\n`);
  const opening = head.balances
    .map(({ account, before, opened }) => ({ account, cents: before + opened }))
    .filter((posting) => posting.cents !== 0n);
  if (opening.length > 0) addEntry(journal, head.day, 'opening balances', opening);
  return journal;
}

export function addJournalEntry(journal: Journal, movement: Movement): void {
  const { atWall, kind, status, transactionId, isReversal, postings, entrySeq } = movement;
  const words = [isReversal ? 'reversal of' : '', kind.replaceAll('_', ' '), status, transactionId];
  const description = words.filter(Boolean).join(' ');
  addEntry(journal, atWall.slice(0, 10), description, postings, `  ; ${atWall.slice(11)} entry:${entrySeq}`);
}

/** Writes the balances at a day's end as assertions, which hledger checks against all entries before. */
export function endJournalDay({ file, balances }: Journal, day: Day): void {
  if (balances.size === 0) return;
  file.add(`\n${day} * closing balances\n`);
  for (const [account, cents] of [...balances].sort(([a], [b]) => (a < b ? -1 : 1))) {
    file.add(`    ${account}  0.00 ${COMMODITY} = ${formatAmount(cents)} ${COMMODITY}\n`);
  }
}

function addEntry(
  { file, nameAccount, balances }: Journal,
  day: Day,
  description: string,
  postings: readonly Posting[],
  comment = '',
): void {
  let text = `\n${day} * ${plain(description)}${comment}\n`;
  for (const { account: name, cents } of postings) {
    const account = nameAccount(name);
    text += `    ${account}  ${formatAmount(cents)} ${COMMODITY}\n`;
    balances.set(account, (balances.get(account) ?? 0n) + cents);
  }
  file.add(text);
}

/** A journal names a few accounts in every entry; masking reads each name in several spellings. */
function memoize(name: (account: string) => string): (account: string) => string {
  const names = new Map<string, string>();
  return (account) => {
    const known = names.get(account) ?? name(account);
    names.set(account, known);
    return known;
  };
}

/** A provider's id or status is free text for Confere: characters with a meaning in the format become blanks. */
function plain(text: string): string {
  return text.replace(/[;|\p{Cc}]/gu, ' ').trim();
}
