/** The English of every text of the console, by its text in pt-BR. A text stands in the file of the room that uses it. */
import { ACCOUNTS_EN } from './accounts.ts';
import { BALANCES_EN } from './balances.ts';
import { BANK_EN } from './bank.ts';
import { CHARTS_EN } from './charts.ts';
import { EXPECTED_EN } from './expected.ts';
import { LABELS_EN } from './labels.ts';
import { LISTS_EN } from './lists.ts';
import { LOGIN_EN } from './login.ts';
import { MERCHANTS_EN } from './merchants.ts';
import { MONTHS_EN } from './months.ts';
import { OVERVIEW_EN } from './overview.ts';
import { PAGES_EN } from './pages.ts';
import { PARTS_EN } from './parts.ts';
import { PORTAL_EN } from './portal.ts';
import { PROOF_EN } from './proof.ts';
import { REPORTS_EN } from './reports.ts';
import { SEARCH_EN } from './search.ts';
import { WORDS_EN } from './words.ts';

export const EN = {
  ...LABELS_EN,
  ...PARTS_EN,
  ...WORDS_EN,
  ...PAGES_EN,
  ...BALANCES_EN,
  ...BANK_EN,
  ...LISTS_EN,
  ...MERCHANTS_EN,
  ...OVERVIEW_EN,
  ...CHARTS_EN,
  ...LOGIN_EN,
  ...REPORTS_EN,
  ...MONTHS_EN,
  ...ACCOUNTS_EN,
  ...SEARCH_EN,
  ...PROOF_EN,
  ...PORTAL_EN,
  ...EXPECTED_EN,
};
