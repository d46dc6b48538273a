/** Where the books of a platform begin. */
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { compareStatements } from '../../ledger/stated/state-balance.ts';
import { finishReposts, listOpenings, reverseOpeningEntry } from '../../ledger/stated/state-opening.ts';
import { openBooks } from '../../reconciliation/runs/open-books.ts';
import { defineChange } from '../define-change.ts';
import { defineList } from '../define-list.ts';
import { created } from '../describe-operation.ts';
import { day, newPlatform, platform, platformFilter, signedAmount } from '../fields.ts';
import { presentWritten } from '../present-row.ts';
import { opening } from '../rows/ledger.ts';

async function settle(context: Context): Promise<void> {
  await finishReposts(context);
  await compareStatements(context);
}

const answerOpening = async ({ db }: Context, id: string) =>
  presentWritten((await listOpenings(db, 1, undefined, id))[0]);

export const addOpening = defineChange({
  name: 'openings.add',
  audit: 'openings.create',
  roles: ['admin'],
  route: 'POST /openings',
  summary: "State a platform's balance at the start of a day, where its books begin",
  input: z.object({ platform, day, balance: signedAmount, new_platform: newPlatform }),
  answers: created('Opened', opening),
  refuses: ['opening_in_force'],
  change: (inner, { balance: balanceCents, new_platform, ...rest }, { caller }) =>
    openBooks(inner, { ...rest, balanceCents, actor: caller.id, newPlatform: new_platform }),
  target: ({ id }) => id,
  after: settle,
  answer: (context, { id }) => answerOpening(context, id),
});

export const undoOpening = defineChange({
  name: 'openings.undo',
  audit: 'openings.reverse',
  roles: ['admin'],
  route: 'POST /openings',
  chosenBy: 'reverses',
  summary: 'Take one back, so that another can be stated',
  input: z.object({ reverses: z.string().min(1) }),
  answers: created('Opened', opening),
  refuses: ['opening_unknown', 'opening_reversed'],
  async change(inner, { reverses }) {
    await reverseOpeningEntry(inner, reverses);
    return reverses;
  },
  after: settle,
  answer: answerOpening,
});

export const openings = defineList({
  name: 'openings',
  roles: ['viewer'],
  route: '/openings',
  row: opening,
  filters: platformFilter,
  search: (filter) => filter,
  read: ({ db }, { limit, after }, { platform: of }) => listOpenings(db, limit, after, undefined, of),
  withheld: ['platform'],
});
