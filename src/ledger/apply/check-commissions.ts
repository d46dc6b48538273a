import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import type { Day } from '../../domain/calendar.ts';
import { type FoundMismatch, isOfContract } from '../../domain/mismatch.ts';
import { formatAmount } from '../../domain/money.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { lockOpenMismatches, type OpenMismatch } from '../../mismatches/resolve-mismatches.ts';
import { refuse } from '../../texts/refuse.ts';
import type { Difference } from '../decide/merge-facts.ts';
import type { StoredTransaction } from '../decide/stored-transaction.ts';
import { type CommissionContract, computeCommission, findContract, readContracts } from '../journal/read-contracts.ts';
import type { Policies } from '../journal/read-policies.ts';
import { describeSubject, type TransactionChange } from './fold-observations.ts';
import { type LoadedTransaction, loadStoredTransactions } from './load-stored-transactions.ts';

const BATCH_ROWS = 200;

/**
 * Returns commissions that differ from the contract, where a change brought the payment or its commission.
 * @param given.policies as read under the lock of the transactions.
 */
export async function compareNewCommissions(
  context: Context,
  trx: Transaction<Database>,
  changes: TransactionChange[],
  { seqs, policies }: { seqs: Map<string, number>; policies: Policies },
): Promise<FoundMismatch[]> {
  const charged = policies.hasContracts ? changes.filter((change) => isNewlyCharged(change)) : [];
  if (charged.length === 0) return [];
  const contracts = await readContracts(trx);
  return charged.flatMap((change) => {
    const difference = compareCommission(context, change.after, contracts);
    return difference
      ? [
          {
            ...difference,
            ...describeSubject(change, requireRowNumber(seqs.get(change.after.id), `transaction ${change.after.id}`)),
          },
        ]
      : [];
  });
}

/** A commission that changed after the payment is excluded: it is raised as that change. */
function isNewlyCharged({ loaded, after, added, decisions }: TransactionChange): boolean {
  if (after.commissionCents === null) return false;
  if (decisions.some(({ found }) => found.some(({ kind }) => kind === 'commission_differs'))) return false;
  return added.some((event) => event.status === 'paid') || loaded?.stored.commissionCents !== after.commissionCents;
}

/**
 * Compares the commission with the contract again after a person accepted a mismatch: another amount, operation or
 * platform has another price, and the commission that the provider shows may differ from the contract's.
 * @returns `resolved`: a mismatch raised by a contract that no longer applies.
 */
export async function compareAcceptedCommission(
  context: Context,
  trx: Transaction<Database>,
  { seq, stored: before }: LoadedTransaction,
  after: StoredTransaction,
): Promise<{ found: FoundMismatch[]; resolved: { kind: 'commission_differs'; scope: string }[] }> {
  const same = PRICED.every((name) => before[name] === after[name]) && isPaid(before) === isPaid(after);
  if (same) return { found: [], resolved: [] };
  const difference = compareCommission(context, after, await readContracts(trx));
  if (difference)
    return { found: await dropUndecided(trx, [{ ...difference, ...describeStored(seq, after) }]), resolved: [] };
  const key = { kind: 'commission_differs', scope: after.id } as const;
  return { found: [], resolved: (await lockOpenMismatches(trx, [key])).some(isRaisedByContract) ? [key] : [] };
}

/**
 * Drops changed commissions that await a decision: their open mismatch keeps its evidence, which a person can
 * accept.
 */
async function dropUndecided(trx: Transaction<Database>, found: FoundMismatch[]): Promise<FoundMismatch[]> {
  if (found.length === 0) return [];
  const open = new Map((await lockOpenMismatches(trx, found)).map((row) => [row.scope, row]));
  return found.filter((one) => {
    const row = open.get(one.scope);
    // where the provider shows the booked value again, there is nothing to decide
    return !row || isRaisedByContract(row) || row.actual === JSON.stringify(one.actual);
  });
}

/** Whether a contract raised the mismatch, and not a change after the payment. */
function isRaisedByContract({ expected }: OpenMismatch): boolean {
  return expected !== null && isOfContract(JSON.parse(expected));
}

const PRICED = ['amountCents', 'commissionCents', 'operation', 'platform'] as const;

function isPaid({ events }: StoredTransaction): boolean {
  return events.some((event) => event.status === 'paid');
}

function describeStored(seq: number, { id, reference, amountCents }: StoredTransaction): Omit<FoundMismatch, 'kind'> {
  return { scope: id, transactionSeq: seq, transactionId: id, reference, amountCents };
}

function compareCommission(
  context: Context,
  stored: StoredTransaction,
  contracts: CommissionContract[],
): (Difference & { kind: 'commission_differs'; baseline: boolean }) | undefined {
  const paid = stored.events.find((event) => event.status === 'paid');
  if (!paid || stored.commissionCents === null) return undefined;
  const contract = findOwnContract(stored, contracts);
  if (!contract) return undefined;
  const { low, high, cents } = computeCommission(contract, stored.amountCents);
  if (stored.commissionCents >= low && stored.commissionCents <= high) return undefined;
  return {
    kind: 'commission_differs',
    expected: { commission: formatAmount(cents), contract: contract.id },
    actual: { commission: formatAmount(stored.commissionCents) },
    baseline: context.calendar.toInstant(paid.atWall) < context.webhooksSince,
  };
}

type CommissionCheck = { payments: number; uncovered: number; raised: number };

/**
 * Compares the booked payments of a range of days with the contracts, after a contract was stated for past days.
 * @returns `payments`: how many were compared; `uncovered`: how many have no contract; `raised`: how many mismatches were
 *   opened.
 * @throws ConfereError `conflict` if no contract covers any of the days.
 */
export async function checkCommissions(context: Context, range: { from: Day; to: Day }): Promise<CommissionCheck> {
  const { from, to } = range;
  const contracts = await readContracts(context.db);
  if (!contracts.some((one) => one.from <= to && (one.to === null || one.to >= from))) {
    throw refuse('contract_missing', { from, to });
  }
  const total = { payments: 0, uncovered: 0, raised: 0 };
  for (let after = 0; !context.signal.aborted; ) {
    const rows = await context.db
      .selectFrom('events')
      .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
      .select(['transactions.seq', 'transactions.id'])
      .where('events.at_wall', '>=', `${range.from} 00:00:00`)
      .where('events.at_wall', '<=', `${range.to} 23:59:59`)
      .where('events.status', '=', 'paid')
      .where('transactions.seq', '>', after)
      .groupBy(['transactions.seq', 'transactions.id'])
      .orderBy('transactions.seq')
      .limit(BATCH_ROWS)
      .execute();
    if (rows.length === 0) break;
    after = rows.at(-1)?.seq ?? after;
    const ids = rows.map((row) => row.id);
    const checked = await transact(context.db, (trx) => checkBatch(context, trx, ids), {
      retryDuplicates: true,
    });
    total.payments += checked.payments;
    total.uncovered += checked.uncovered;
    total.raised += checked.raised;
  }
  if (total.raised > 0) context.wakeUps.alerts.notify();
  return total;
}

async function checkBatch(context: Context, trx: Transaction<Database>, ids: string[]): Promise<CommissionCheck> {
  const loaded = [...(await loadStoredTransactions(trx, ids)).values()];
  // under the lock: a contract that was stated since decides
  const contracts = await readContracts(trx);
  const found = loaded.flatMap(({ seq, stored }): FoundMismatch[] => {
    const difference = compareCommission(context, stored, contracts);
    return difference ? [{ ...difference, ...describeStored(seq, stored) }] : [];
  });
  const uncovered = loaded.filter(({ stored }) => !findOwnContract(stored, contracts)).length;
  const raised = await raiseMismatches(trx, await dropUndecided(trx, found), context.clock.now());
  return { payments: loaded.length - uncovered, uncovered, raised: raised.length };
}

/** The contract of a payment on its day; undefined where none covers it, or it is not paid. */
function findOwnContract(stored: StoredTransaction, contracts: CommissionContract[]): CommissionContract | undefined {
  const paid = stored.events.find((event) => event.status === 'paid');
  return paid && findContract(contracts, { ...stored, day: paid.atWall.slice(0, 10) });
}
