/** Contracts of what the provider may charge. A newer contract takes precedence over older ones; one can be taken back. */
import { z } from 'zod';
import type { Caller } from '../../access/tokens.ts';
import { formatAmount } from '../../domain/money.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { listContracts, stateContract, withdrawContract } from '../../ledger/stated/commission-contracts.ts';
import { type FeeRow, type Fees, readFees } from '../../ledger/stated/read-fees.ts';
import { type Change, defineChange } from '../define-change.ts';
import { defineItem } from '../define-item.ts';
import { defineList } from '../define-list.ts';
import { created } from '../describe-operation.ts';
import { amount, day, month, platform } from '../fields.ts';
import { presentPlatform } from '../mask-texts.ts';
import { presentWritten } from '../present-row.ts';
import { commissionContract, feesOfMonth } from '../rows/ledger.ts';

/** The whole amount of a payment. */
export const BASIS_POINTS_MAX = 10_000;
const NO_BASIS_POINTS = 'must be a whole number of hundredths of a percent';

const changed = {
  roles: ['accountant'],
  route: 'POST /commissions',
  answers: created('Stated', commissionContract),
  answer: async ({ db }, id) => presentWritten((await listContracts(db, 1, undefined, id))[0]),
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
      fixed: amount,
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
  withheld: ['platform'],
});

/** The answer of `fees`. */
export type PresentedFees = Awaited<ReturnType<typeof fees.read>>;

export const fees = defineItem({
  route: '/fees',
  summary: 'What the provider charged for the transactions paid in a month, and what the contracts say',
  query: z.object({ month }),
  item: feesOfMonth,
  async read({ db }, { caller }, { month }) {
    const { rows, byHand, payments } = await readFees(db, month);
    const sum = (name: 'charged' | 'covered' | 'agreed' | 'difference') =>
      rows.reduce((total, row) => total + row[name], 0n);
    const count = (name: 'payments' | 'differing' | 'uncovered') => rows.reduce((total, row) => total + row[name], 0);
    const total = {
      ...{ charged: sum('charged'), covered: sum('covered'), agreed: sum('agreed'), difference: sum('difference') },
      ...{ payments: count('payments'), differing: count('differing'), uncovered: count('uncovered') },
    };
    return {
      month,
      rows: rows.map((row) => {
        const { platform: of, operation } = presentPlatform(caller, row);
        return { platform: of, operation, ...presentFees(row) };
      }),
      total: presentFees(total),
      by_hand: byHand.map(({ cents, ...row }) => ({ ...presentPlatform(caller, row), amount: formatAmount(cents) })),
      payments: presentDiffering(caller, payments),
    };
  },
});

/** Payments whose commission is not the contract's, as the API shows them. */
export function presentDiffering(caller: Caller, payments: Fees['payments']) {
  return payments.map(({ id, platform, operation, at, amount, charged, agreed }) => ({
    ...presentPlatform(caller, { platform }),
    ...{ transaction_id: id, operation, at, amount: formatAmount(amount), charged: formatAmount(charged) },
    ...{ agreed: formatAmount(agreed), difference: formatAmount(charged - agreed) },
  }));
}

function presentFees({
  payments,
  charged,
  covered,
  agreed,
  difference,
  differing,
  uncovered,
}: Omit<FeeRow, 'platform' | 'operation'>) {
  return {
    ...{ payments, charged: formatAmount(charged), covered: formatAmount(covered), agreed: formatAmount(agreed) },
    ...{ difference: formatAmount(difference), differing, uncovered },
  };
}
