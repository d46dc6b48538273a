/** All that people may change and list, by subject. The API, its document and the tests read it whole. */
import { addAdjustment, adjustments, undoAdjustment } from './adjustments.ts';
import { auditRows } from './audit.ts';
import { callbacks, redeliverCallback, replayCallbacks } from './callbacks.ts';
import { addCommission, commissions, undoCommission } from './commissions.ts';
import type { AnyChange, Change } from './define-change.ts';
import type { List } from './define-list.ts';
import {
  addMerchant,
  changeMerchant,
  enableMerchant,
  endPullToken,
  givePullToken,
  merchants,
  pauseMerchant,
  removeOneMerchant,
  rotateMerchantSecret,
  testMerchant,
} from './merchants.ts';
import { addOpening, openings, undoOpening } from './openings.ts';
import { addStatement, statements } from './statements.ts';
import { addToken, revokeOneToken, tokens } from './tokens.ts';
import { forgetOneUser, logOutOneUser, users } from './users.ts';

/** @property tag the section of the API's document. */
export type Subject<C = AnyChange> = { tag: string; changes?: readonly C[]; lists?: readonly List[] };

export const SUBJECTS: readonly Subject<Change>[] = [
  { tag: 'Ledger', changes: [addOpening, undoOpening], lists: [openings] },
  { tag: 'Ledger', changes: [addAdjustment, undoAdjustment], lists: [adjustments] },
  { tag: 'Ledger', changes: [addStatement], lists: [statements] },
  { tag: 'Ledger', changes: [addCommission, undoCommission], lists: [commissions] },
  {
    tag: 'Merchants',
    changes: [
      ...[addMerchant, changeMerchant, removeOneMerchant, rotateMerchantSecret, enableMerchant, pauseMerchant],
      ...[testMerchant, givePullToken, endPullToken],
    ],
    lists: [merchants],
  },
  { tag: 'Callbacks', changes: [redeliverCallback, replayCallbacks], lists: [callbacks] },
  { tag: 'Access', changes: [addToken, revokeOneToken], lists: [tokens] },
  { tag: 'Access', changes: [logOutOneUser, forgetOneUser], lists: [users] },
  { tag: 'Access', lists: [auditRows] },
];
