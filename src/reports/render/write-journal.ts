import type { Day } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import type { AccountBalance } from '../read/read-balances.ts';
import type { Movement } from '../read/read-movements.ts';
import type { TextFile } from './open-text-file.ts';

const COMMODITY = 'BRL';

/** The balances that run with a journal, by account. */
export type JournalBalances = Map<string, bigint>;

/**
 * Starts an hledger journal: the commodity and every account declared, and the balances before the first day as one
 * entry. Nothing in it names a person: descriptions hold kinds, statuses and ids.
 */
export function startJournal(file: TextFile, day: Day, balances: AccountBalance[], note: string): JournalBalances {
  file.add(`; ${plain(note)}\n\ncommodity 1000.00 ${COMMODITY}\n\n`);
  for (const { account } of balances) file.add(`account ${account}\n`);
  const opening = balances
    .map(({ account, before, opened }) => ({ account, cents: before + opened }))
    .filter((posting) => posting.cents !== 0n);
  if (opening.length > 0) addEntry(file, day, 'opening balances', opening);
  return new Map(opening.map(({ account, cents }) => [account, cents]));
}

export function addJournalEntry(file: TextFile, movement: Movement, balances: JournalBalances): void {
  const { atWall, kind, status, transactionId, isReversal } = movement;
  const words = [isReversal ? 'reversal of' : '', kind.replaceAll('_', ' '), status, transactionId];
  const description = words.filter(Boolean).join(' ');
  addEntry(file, atWall.slice(0, 10), description, movement.postings, `${atWall.slice(11)} entry:${movement.entrySeq}`);
  for (const { account, cents } of movement.postings) balances.set(account, (balances.get(account) ?? 0n) + cents);
}

/** The balances at a day's end as assertions, which hledger checks against all that stands before. */
export function endJournalDay(file: TextFile, day: Day, balances: JournalBalances): void {
  if (balances.size === 0) return;
  file.add(`\n${day} * closing balances\n`);
  for (const [account, cents] of [...balances].sort(([a], [b]) => (a < b ? -1 : 1))) {
    file.add(`    ${account}  0.00 ${COMMODITY} = ${formatAmount(cents)} ${COMMODITY}\n`);
  }
}

function addEntry(
  file: TextFile,
  day: Day,
  description: string,
  postings: readonly { account: string; cents: bigint }[],
  comment = '',
): void {
  let text = `\n${day} * ${plain(description)}${comment === '' ? '' : `  ; ${comment}`}\n`;
  for (const { account, cents } of postings) text += `    ${account}  ${formatAmount(cents)} ${COMMODITY}\n`;
  file.add(text);
}

/** A provider's id or status is free text to us: what the format gives a meaning to is left out. */
function plain(text: string): string {
  return text.replace(/[;|\p{Cc}]/gu, ' ').trim();
}
