/** Contracts of what the provider may charge. A newer contract takes precedence over older ones; one can be taken back. */
import { z } from 'zod';
import { centsOf } from '../../domain/cents-of.ts';
import { parseAmount } from '../../domain/money.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { listContracts, stateContract, withdrawContract } from '../../ledger/stated/commission-contracts.ts';
import { type Change, defineChange } from '../define-change.ts';
import { defineList } from '../define-list.ts';
import { created } from '../describe-operation.ts';
import { day, NO_AMOUNT, platform } from '../fields.ts';
import { presentPlatform } from '../mask-texts.ts';
import { presentWritten } from '../present-row.ts';
import { commissionContract } from '../rows/ledger.ts';

const BASIS_POINTS_MAX = 10_000;
const NO_BASIS_POINTS = 'must be a whole number of hundredths of a percent';

const changed = {
  roles: ['admin'],
  route: 'POST /commissions',
  answers: created('Stated', commissionContract),
  answer: async ({ db }, id) => presentWritten((await listContracts(db, 1, undefined, id))[0], 'the contract'),
} as const satisfies Partial<Change<unknown, string>>;

export const addCommission = defineChange({
  ...changed,
  name: 'commissions.add',
  audit: 'commissions.create',
  summary: 'State what the provider may charge',
  input: z
    .object({
      platform: platform.nullable().default(null).describe('null: every platform without one of its own'),
      operation: z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`),
      fixed: z.string('must be a decimal text: "0.10"').transform(centsOf(parseAmount, NO_AMOUNT)),
      basis_points: z.int(NO_BASIS_POINTS).min(0).max(BASIS_POINTS_MAX),
      from: day,
      to: day.nullable().default(null),
    })
    .refine(({ from, to }) => to === null || to >= from, { path: ['to'], error: 'is before from' }),
  change: (inner, { fixed: fixedCents, basis_points: basisPoints, ...rest }, { caller }) =>
    stateContract(inner, { ...rest, fixedCents, basisPoints, actor: caller.id }),
});

export const undoCommission = defineChange({
  ...changed,
  name: 'commissions.undo',
  audit: 'commissions.withdraw',
  chosenBy: 'withdraws',
  summary: 'Take such a contract back',
  input: z.object({ withdraws: z.string().min(1) }),
  refuses: ['contract_unknown', 'contract_withdrawn'],
  async change(inner, { withdraws }) {
    await withdrawContract(inner, withdraws);
    return withdraws;
  },
});

export const commissions = defineList({
  name: 'commissions',
  roles: ['viewer'],
  route: '/commissions',
  row: commissionContract,
  read: ({ db }, { limit, after }) => listContracts(db, limit, after),
  mask: (_context, rows, caller) => rows.map((row) => presentPlatform(caller, row)),
});
