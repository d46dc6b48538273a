import { createHash } from 'node:crypto';
import { addDays } from '../../../domain/calendar.ts';
import { formatAmount } from '../../../domain/money.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import { splitAccount } from '../../../ledger/journal/plan-entries.ts';
import type { JournalDialect } from './write-journal.ts';

const COMMODITY = 'BRL';
/** A platform's part of an account: it must begin with a capital letter or a digit. */
const PREFIX = 'P-';
const MASKED = 'Masked';
const PART = /^[A-Za-z0-9-]+$/;
const HASH_CHARS = 12;

/**
 * Assertions hold at the start of a day: the balances of a day's end are those of the next morning. Without a tolerance of
 * zero a difference of a cent would pass.
 */
export const BEANCOUNT: JournalDialect = {
  nameAccount: nameBeancountAccount,
  renderHead({ day, note, accounts }) {
    const opened = accounts.map((account) => `${day} open ${account} ${COMMODITY}\n`).join('');
    return `option "title" ${quote(note)}\noption "operating_currency" "${COMMODITY}"\n\n${day} commodity ${COMMODITY}\n${opened}`;
  },
  renderEntry({ day, description, source, legs }) {
    let text = `\n${day} * ${quote(description)}\n`;
    if (source) text += `  entry: "${source.entrySeq}"\n  time: "${source.time}"\n`;
    for (const { account, cents } of legs) text += `  ${account}  ${formatAmount(cents)} ${COMMODITY}\n`;
    return text;
  },
  renderClosing(day, balances) {
    const next = addDays(day, 1);
    const asserted = balances.map(
      ({ account, cents }) => `${next} balance ${account}  ${formatAmount(cents)} ~ 0.00 ${COMMODITY}\n`,
    );
    return `\n${asserted.join('')}`;
  },
};

/**
 * `Assets:Provider:Held:P-<platform>`. Other characters than letters, digits and hyphens become hyphens, and a part of the
 * name's hash keeps two such platforms apart.
 */
function nameBeancountAccount(name: string): string {
  const { account, platform } = splitAccount(name);
  if (platform === WITHHELD) return `${account}:${MASKED}`;
  if (PART.test(platform)) return `${account}:${PREFIX}${platform}`;
  const hash = createHash('sha256').update(platform).digest('hex').slice(0, HASH_CHARS);
  return `${account}:${PREFIX}${platform.replace(/[^A-Za-z0-9]/g, '-')}-${hash}`;
}

function quote(text: string): string {
  return `"${text.replace(/\p{Cc}/gu, ' ').replace(/["\\]/g, '\\$&')}"`;
}
