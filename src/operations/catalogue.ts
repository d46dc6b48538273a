/** All that people may change and list, by subject. The API, its document and the tests read it whole. */
import { auditRows } from './access/audit.ts';
import { addToken, revokeOneToken, tokens } from './access/tokens.ts';
import { forgetOneUser, logOutOneUser, users } from './access/users.ts';
import { alerts } from './alerts.ts';
import { accounts, mapAccounts } from './books/accounts.ts';
import { addAdjustment, adjustments, undoAdjustment } from './books/adjustments.ts';
import {
  accountsOfBank,
  bank,
  bankEntries,
  bankLines,
  bankMatches,
  bankStatements,
  markLine,
  matchBank,
  matchBankLine,
  stateBankAccount,
  undoBankMatch,
  unmarkLine,
} from './books/bank.ts';
import { addCommission, commissions, fees, undoCommission } from './books/commissions.ts';
import { imports } from './books/imports.ts';
import { closeOneMonth, months, oneMonth, reopenOneMonth } from './books/months.ts';
import { addOpening, openings, undoOpening } from './books/openings.ts';
import { paymentProof } from './books/payment-proof.ts';
import { namePlatform, platforms } from './books/platforms.ts';
import { makeOneReport, reports } from './books/reports.ts';
import { addStatement, statements } from './books/statements.ts';
import { balances, oneTransaction, transactions } from './books/transactions.ts';
import type { AnyChange, Change } from './define-change.ts';
import type { Item } from './define-item.ts';
import type { List, Search } from './define-list.ts';
import { putMany } from './expected/expect-many.ts';
import { cancelOne, matchOne, putOne, reopenOne, unmatchOne } from './expected/expected.ts';
import { expectedPayments, oneExpected, oneExpectedByKey } from './expected/read-expected.ts';
import { numbers } from './figures/numbers.ts';
import { callbackSeries, moneySeries } from './figures/series.ts';
import { jobs, runOneJob } from './jobs.ts';
import { decideAddress, merchantAddressChanges } from './merchants/addresses.ts';
import { callbacks, oneCallback, redeliverCallback, replayCallbacks } from './merchants/callbacks.ts';
import { rotateManifestKeys } from './merchants/manifests.ts';
import {
  addMerchant,
  changeMerchant,
  enableMerchant,
  merchants,
  oneMerchant,
  pauseMerchant,
  removeOneMerchant,
  rotateMerchantSecret,
  testMerchant,
} from './merchants/merchants.ts';
import { endPullToken, givePullToken } from './merchants/pull-tokens.ts';
import {
  acknowledgeMismatches,
  assignOneMismatch,
  mismatchDecisions,
  mismatches,
  oneMismatch,
  resolveMismatches,
} from './mismatches.ts';
import { oneRun, runPages, runs, startOneRun } from './runs.ts';
import { oneWebhook, purgeManyWebhooks, reprocessOneWebhook, webhooks } from './webhooks.ts';

/** @property tag the section of the API's document. */
export type Subject<C = AnyChange> = {
  tag: string;
  changes?: readonly C[];
  lists?: readonly List[];
  searches?: readonly Search[];
  items?: readonly Item[];
};

export const SUBJECTS: readonly Subject<Change>[] = [
  { tag: 'Ledger', searches: [transactions], items: [paymentProof, oneTransaction, balances, moneySeries] },
  { tag: 'Ledger', changes: [addOpening, undoOpening], lists: [openings] },
  { tag: 'Ledger', changes: [addAdjustment, undoAdjustment], lists: [adjustments] },
  { tag: 'Ledger', changes: [addStatement], lists: [statements] },
  { tag: 'Ledger', changes: [addCommission, undoCommission], lists: [commissions], items: [fees] },
  {
    tag: 'Expected payments',
    changes: [putOne, putMany, cancelOne, reopenOne, matchOne, unmatchOne],
    lists: [expectedPayments],
    items: [oneExpected, oneExpectedByKey],
  },
  {
    tag: 'Bank',
    changes: [matchBank, matchBankLine, undoBankMatch, markLine, unmarkLine, stateBankAccount],
    lists: [bankStatements, bankLines, bankEntries, bankMatches],
    items: [bank, accountsOfBank],
  },
  { tag: 'Ledger', changes: [namePlatform], items: [platforms] },
  { tag: 'Ledger', changes: [mapAccounts], items: [accounts] },
  { tag: 'Reconciliations', changes: [startOneRun], lists: [runs, runPages], items: [oneRun] },
  { tag: 'Mismatches', lists: [alerts], items: [numbers] },
  {
    tag: 'Mismatches',
    changes: [resolveMismatches, acknowledgeMismatches, assignOneMismatch, ...Object.values(mismatchDecisions)],
    lists: [mismatches],
    items: [oneMismatch],
  },
  { tag: 'Webhooks', changes: [reprocessOneWebhook, purgeManyWebhooks], lists: [webhooks], items: [oneWebhook] },
  {
    tag: 'Reports',
    changes: [closeOneMonth, reopenOneMonth, makeOneReport],
    lists: [months],
    searches: [reports],
    items: [oneMonth],
  },
  { tag: 'Imports', lists: [imports] },
  { tag: 'Service', changes: [runOneJob], items: [jobs] },
  {
    tag: 'Merchants',
    changes: [
      ...[addMerchant, changeMerchant, removeOneMerchant, rotateMerchantSecret, enableMerchant, pauseMerchant],
      ...[testMerchant, decideAddress, givePullToken, endPullToken, rotateManifestKeys],
    ],
    lists: [merchants],
    items: [oneMerchant, merchantAddressChanges],
  },
  {
    tag: 'Callbacks',
    changes: [redeliverCallback, replayCallbacks],
    lists: [callbacks],
    items: [oneCallback, callbackSeries],
  },
  { tag: 'Access', changes: [addToken, revokeOneToken], lists: [tokens] },
  { tag: 'Access', changes: [logOutOneUser, forgetOneUser], lists: [users] },
  { tag: 'Access', lists: [auditRows] },
];
