import type { Calendar, WallTime } from './calendar.ts';
import { formatAmount } from './money.ts';
import { maskE2eId, maskParty, maskPlatform, maskText } from './person/mask-person.ts';
import type { Operation, Status } from './statuses.ts';

/** A transaction as the ledger stores it, with its personal fields. */
export type LedgerTransaction = {
  id: string;
  operation: Operation;
  status: Status;
  statusWall: WallTime;
  sequence: number;
  amountCents: bigint;
  commissionCents: bigint | null;
  reference: string | null;
  extra: string | null;
  platform: string | null;
  e2eId: string | null;
  createdWall: WallTime;
  name: string | null;
  email: string | null;
  phone: string | null;
  document: string | null;
  pixKey: string | null;
  description: string | null;
  /** The person was forgotten. */
  forgotten: boolean;
};

/** A transaction in the API and in callbacks: amounts are decimal strings, instants ISO 8601 with the zone's offset. */
export type PresentedTransaction = ReturnType<typeof presentTransaction>;

export function presentTransaction(transaction: LedgerTransaction, calendar: Calendar) {
  const { operation, amountCents, commissionCents } = transaction;
  const commission = commissionCents ?? 0n;
  return {
    id: transaction.id,
    operation,
    status: transaction.status,
    amount: formatAmount(amountCents),
    commission: commissionCents === null ? null : formatAmount(commissionCents),
    // the change of the merchant's balance: a cashin brings less, a cashout costs more
    net: formatAmount(operation === 'cashin' ? amountCents - commission : amountCents + commission),
    currency: 'BRL' as const,
    reference: transaction.reference,
    extra: transaction.extra,
    platform: transaction.platform,
    e2e_id: transaction.e2eId,
    pix_key: transaction.pixKey,
    name: transaction.name,
    email: transaction.email,
    phone: transaction.phone,
    document: transaction.document,
    description: transaction.description,
    created_at: calendar.toIso(transaction.createdWall),
    status_at: calendar.toIso(transaction.statusWall),
    sequence: transaction.sequence,
  };
}

/** The transaction for roles that don't see personal data. @param of the transaction as the ledger stores it. */
export function maskTransaction<T extends PresentedTransaction>(
  transaction: T,
  of: Pick<LedgerTransaction, 'forgotten'>,
): T {
  const { description, e2e_id: e2eId, extra, platform, reference } = transaction;
  const party = { ...transaction, forgotten: of.forgotten };
  return {
    ...transaction,
    ...maskParty(transaction),
    description: maskText(description, party),
    extra: maskText(extra, party),
    reference: maskText(reference, party),
    platform: maskPlatform(platform, party),
    e2e_id: maskE2eId(e2eId, party),
  };
}
