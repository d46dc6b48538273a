import { formatAmount } from '../../../domain/money.ts';
import type { JournalDialect } from './write-journal.ts';

const COMMODITY = 'BRL';

/** Balance assertions check the order of the file: each day ends with an entry of zeros that has them. */
export const HLEDGER: JournalDialect = {
  nameAccount: (account) => account,
  renderHead({ note, accounts }) {
    const declared = accounts.map((account) => `account ${account}\n`).join('');
    return `; ${plain(note)}\n\ncommodity 1000.00 ${COMMODITY}\n\n${declared}`;
  },
  renderEntry({ day, description, source, legs }) {
    const comment = source ? `  ; ${source.time} entry:${source.entrySeq}` : '';
    let text = `\n${day} * ${plain(description)}${comment}\n`;
    for (const { account, cents } of legs) text += `    ${account}  ${formatAmount(cents)} ${COMMODITY}\n`;
    return text;
  },
  renderClosing(day, balances) {
    const asserted = balances.map(
      ({ account, cents }) => `    ${account}  0.00 ${COMMODITY} = ${formatAmount(cents)} ${COMMODITY}\n`,
    );
    return `\n${day} * closing balances\n${asserted.join('')}`;
  },
};

/** A provider's id or status is free text for Confere: characters with a meaning in the format become blanks. */
function plain(text: string): string {
  return text.replace(/[;|\p{Cc}]/gu, ' ').trim();
}
