/** Balances that people read from the provider's panel. */
import { z } from 'zod';
import { compareStatements, listStatements, storeStatement } from '../../ledger/stated/state-balance.ts';
import { defineChange } from '../define-change.ts';
import { defineList } from '../define-list.ts';
import { created } from '../describe-operation.ts';
import { newPlatform, parsedInstant, platform, platformFilter, signedAmount } from '../fields.ts';
import { presentWritten } from '../present-row.ts';
import { statement } from '../rows/ledger.ts';

export const addStatement = defineChange({
  name: 'statements.add',
  audit: 'statements.create',
  roles: ['accountant'],
  route: 'POST /statements',
  summary: "State the balance that the provider's panel shows at an instant",
  input: z.object({
    platform,
    at: parsedInstant,
    balance: signedAmount,
    new_platform: newPlatform,
  }),
  answers: created('Stated', statement),
  change: (inner, { balance: balanceCents, new_platform, ...rest }, { caller }) =>
    storeStatement(inner, { ...rest, balanceCents, actor: caller.id, newPlatform: new_platform }),
  after: compareStatements,
  answer: async (context, id) => presentWritten((await listStatements(context, 1, undefined, id))[0]),
});

export const statements = defineList({
  name: 'statements',
  roles: ['viewer'],
  route: '/statements',
  row: statement,
  filters: platformFilter,
  search: (filter) => filter,
  read: (reading, { limit, after }, { platform: of }) => listStatements(reading, limit, after, undefined, of),
  withheld: ['platform'],
});
