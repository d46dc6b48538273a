/** Movements that the provider's list does not show, as people enter them. */
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import { NOTE_CHARS_MAX } from '../../access/check-note.ts';
import { pickMatch } from '../../ledger/bank/pick-match.ts';
import { ADJUSTMENT_KINDS, adjustBooks, reverseAdjustment } from '../../ledger/stated/adjust-books.ts';
import { listAdjustments } from '../../ledger/stated/list-adjustments.ts';
import { compareStatements } from '../../ledger/stated/state-balance.ts';
import { type Change, defineChange } from '../define-change.ts';
import { auditShowing, defineList } from '../define-list.ts';
import { created } from '../describe-operation.ts';
import {
  amount,
  bankAccount,
  day,
  newPlatform,
  note,
  platform,
  platformFilter,
  signedAmount,
  text,
} from '../fields.ts';
import { presentWritten } from '../present-row.ts';
import { adjustment } from '../rows/ledger.ts';

const KIND_WRONG = `must be one of ${ADJUSTMENT_KINDS.join(', ')}`;

const changed = {
  audit: 'adjustments.create',
  roles: ['accountant'],
  route: 'POST /adjustments',
  answers: created('Entered', adjustment),
  after: compareStatements,
  answer: async ({ db }, id) => presentWritten((await listAdjustments(db, 1, undefined, { id }))[0]),
} as const satisfies Partial<Change<unknown, string>>;

export const addAdjustment = defineChange({
  ...changed,
  name: 'adjustments.add',
  summary: "Enter what the provider's list does not show, from the opening's day on",
  input: z.object({
    platform,
    day,
    kind: z.enum(ADJUSTMENT_KINDS, KIND_WRONG),
    amount: signedAmount.refine((cents) => cents !== 0n, 'must not be zero'),
    note,
    bank_account: bankAccount.optional().describe('of kind bank: the account that the money went to, or came from'),
    bank_line: z.string().min(1).optional().describe('a line of the bank’s statement that it is: they are matched'),
    new_platform: newPlatform,
  }),
  refuses: ['bank_line_unknown', 'bank_line_matched', 'bank_line_not_pix'],
  async change(inner, { amount: amountCents, new_platform: newPlatform, bank_line: line, ...rest }, { caller, via }) {
    const { bank_account: bankAccount, ...stated } = rest;
    const id = await adjustBooks(inner, { ...stated, amountCents, bankAccount, newPlatform, actor: caller.id });
    if (line !== undefined) {
      const match = await pickMatch(inner, line, { adjustment: id }, { actor: caller.id });
      await audit(inner, { actor: caller.id, action: 'bank.match', target: match, ...(via && { detail: via }) });
    }
    return id;
  },
});

export const undoAdjustment = defineChange({
  ...changed,
  name: 'adjustments.undo',
  audit: 'adjustments.reverse',
  chosenBy: 'reverses',
  summary: 'Reverse such an entry',
  input: z.object({ reverses: z.string().min(1), note }),
  refuses: ['adjustment_unknown', 'adjustment_is_reversal', 'adjustment_reversed'],
  change: (inner, { reverses, note: why }, { caller }) =>
    reverseAdjustment(inner, reverses, { note: why, actor: caller.id }),
});

export const adjustments = defineList({
  name: 'adjustments',
  roles: ['viewer'],
  route: '/adjustments',
  row: adjustment,
  filters: platformFilter.extend({
    from: day.optional().describe('whose day is this or later: YYYY-MM-DD'),
    to: day.optional().describe('whose day is this or earlier'),
    kind: z.enum(ADJUSTMENT_KINDS, KIND_WRONG).optional(),
    amount: amount.optional().describe('of this amount, into the account or out of it'),
    amount_from: amount.optional().describe('at least'),
    amount_to: amount.optional().describe('at most; both bounds are included'),
    inside: text(NOTE_CHARS_MAX).optional().describe('text inside of the note, in any case; not for viewers'),
    actor: z.string().min(1).optional().describe('entered by this token or user, by its id; command: without one'),
  }),
  search: ({ platform: of, inside }) => ({ platform: of, inside }),
  read: ({ db }, { limit, after }, filter) => listAdjustments(db, limit, after, filter),
  personal: auditShowing('adjustments.list', 'notes'),
  withheld: ['platform', 'note'],
});
