/** All that people may change and list, by subject. The API, its document and the tests read it whole. */
import { addAdjustment, adjustments, undoAdjustment } from './adjustments.ts';
import { addCommission, commissions, undoCommission } from './commissions.ts';
import type { Change } from './define-change.ts';
import type { Item } from './define-item.ts';
import type { List } from './define-list.ts';
import { acknowledgeMismatches, mismatchDecisions, mismatches, oneMismatch, resolveMismatches } from './mismatches.ts';
import { addOpening, openings, undoOpening } from './openings.ts';
import { addStatement, statements } from './statements.ts';
import { addToken, revokeOneToken, tokens } from './tokens.ts';

/** @property tag the section of the API's document. */
export type Subject = { tag: string; changes?: readonly Change[]; lists?: readonly List[]; items?: readonly Item[] };

export const SUBJECTS: readonly Subject[] = [
  { tag: 'Ledger', changes: [addOpening, undoOpening], lists: [openings] },
  { tag: 'Ledger', changes: [addAdjustment, undoAdjustment], lists: [adjustments] },
  { tag: 'Ledger', changes: [addStatement], lists: [statements] },
  { tag: 'Ledger', changes: [addCommission, undoCommission], lists: [commissions] },
  {
    tag: 'Mismatches',
    changes: [resolveMismatches, acknowledgeMismatches, ...Object.values(mismatchDecisions)],
    lists: [mismatches],
    items: [oneMismatch],
  },
  { tag: 'Access', changes: [addToken, revokeOneToken], lists: [tokens] },
];
