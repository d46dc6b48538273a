import { compileOnce } from '../../database/compile-once.ts';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Operation } from '../../domain/statuses.ts';

/** A contract's price of a payment: fixed cents, and basis points (hundredths of a percent) of the amount. */
export type CommissionContract = Awaited<ReturnType<typeof readContracts>>[number];

const selectContracts = compileOnce((db) =>
  db
    .selectFrom('commission_contracts')
    // without a platform: every one without a contract of its own
    .select(['id', 'platform', 'operation', 'fixed_cents as fixedCents', 'basis_points as basisPoints'])
    // both days included; without `to`, until another contract is stated
    .select(['from_day as from', 'to_day as to'])
    .where('withdrawn_at', 'is', null)
    .orderBy('seq', 'desc'),
);

/** Returns contracts that are not withdrawn, newest first: the newest matching one applies. */
export async function readContracts(db: Reader) {
  const { rows } = await selectContracts(db, {});
  return rows.map((row) => ({ ...row, operation: row.operation as Operation }));
}

/**
 * Returns the contract of a payment: one for its platform (`none`: without a platform), else one for all platforms.
 * Pure.
 * @param contracts newest first.
 */
export function findContract(
  contracts: CommissionContract[],
  payment: { platform: string | null; operation: Operation; day: Day },
): CommissionContract | undefined {
  const fitting = contracts.filter(
    (one) =>
      one.operation === payment.operation && one.from <= payment.day && (one.to === null || one.to >= payment.day),
  );
  return (
    fitting.find((one) => one.platform !== null && one.platform === (payment.platform ?? NO_PLATFORM)) ??
    fitting.find((one) => one.platform === null)
  );
}
