/** All that people may change and list, by subject. The API, its document and the tests read it whole. */

import { alerts } from './alerts.ts';
import { accounts, mapAccounts } from './books/accounts.ts';
import { addAdjustment, adjustments, undoAdjustment } from './books/adjustments.ts';
import {
  bank,
  bankEntries,
  bankLines,
  bankMatches,
  bankStatements,
  matchBank,
  matchBankLine,
  undoBankMatch,
} from './books/bank.ts';
import { addCommission, commissions, undoCommission } from './books/commissions.ts';
import { closeOneMonth, months, oneMonth, reopenOneMonth } from './books/months.ts';
import { addOpening, openings, undoOpening } from './books/openings.ts';
import { namePlatform, platforms } from './books/platforms.ts';
import { addStatement, statements } from './books/statements.ts';
import type { Change } from './define-change.ts';
import type { Item } from './define-item.ts';
import type { List } from './define-list.ts';
import { cancelOne, expectedPayments, matchOne, putMany, putOne, reopenOne, unmatchOne } from './expected.ts';
import { jobs } from './jobs.ts';
import { acknowledgeMismatches, mismatchDecisions, mismatches, oneMismatch, resolveMismatches } from './mismatches.ts';
import { oneRun, runPages, runs, startOneRun } from './runs.ts';
import { addToken, revokeOneToken, tokens } from './tokens.ts';
import { oneWebhook, purgeManyWebhooks, reprocessOneWebhook, webhooks } from './webhooks.ts';

/** @property tag the section of the API's document. */
export type Subject = { tag: string; changes?: readonly Change[]; lists?: readonly List[]; items?: readonly Item[] };

export const SUBJECTS: readonly Subject[] = [
  { tag: 'Ledger', changes: [addOpening, undoOpening], lists: [openings] },
  { tag: 'Ledger', changes: [addAdjustment, undoAdjustment], lists: [adjustments] },
  { tag: 'Ledger', changes: [addStatement], lists: [statements] },
  { tag: 'Ledger', changes: [addCommission, undoCommission], lists: [commissions] },
  {
    tag: 'Expected payments',
    changes: [putOne, putMany, cancelOne, reopenOne, matchOne, unmatchOne],
    lists: [expectedPayments],
  },
  {
    tag: 'Bank',
    changes: [matchBank, matchBankLine, undoBankMatch],
    lists: [bankStatements, bankLines, bankEntries, bankMatches],
    items: [bank],
  },
  { tag: 'Ledger', changes: [namePlatform], items: [platforms] },
  { tag: 'Ledger', changes: [mapAccounts], items: [accounts] },
  { tag: 'Reconciliations', changes: [startOneRun], lists: [runs, runPages], items: [oneRun] },
  { tag: 'Mismatches', lists: [alerts] },
  {
    tag: 'Mismatches',
    changes: [resolveMismatches, acknowledgeMismatches, ...Object.values(mismatchDecisions)],
    lists: [mismatches],
    items: [oneMismatch],
  },
  { tag: 'Webhooks', changes: [reprocessOneWebhook, purgeManyWebhooks], lists: [webhooks], items: [oneWebhook] },
  { tag: 'Reports', changes: [closeOneMonth, reopenOneMonth], lists: [months], items: [oneMonth] },
  { tag: 'Service', items: [jobs] },
  { tag: 'Access', changes: [addToken, revokeOneToken], lists: [tokens] },
];
