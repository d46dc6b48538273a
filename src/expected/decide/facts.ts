import type { Day } from '../../domain/calendar.ts';
import type { Operation } from '../../domain/statuses.ts';

/** The rules that match a payment with an expected payment, in the order in which they are applied. */
export type Rule = 'person' | 'reference' | 'e2e_id' | 'extra' | 'document';
/** Rules of keys: each takes any amount and any day, and several payments for one expected payment. */
export type KeyRule = 'reference' | 'e2e_id';

/** The facts by which an expected payment is matched. Hashes are keyed, in hex. */
export type ExpectedFacts = {
  seq: number;
  source: string;
  operation: Operation;
  amountCents: bigint;
  /** Null: any. */
  platform: string | null;
  references: ReadonlySet<string>;
  e2eIds: ReadonlySet<string>;
  extraHash: string | null;
  documentHash: string | null;
  issuedDay: Day;
  dueDay: Day;
  isCancelled: boolean;
};

/** The state of a payment's history, posted or not. `none`: neither paid nor to be paid. */
export type Standing = 'pending' | 'settled' | 'returned' | 'none';

/** The facts by which a payment is matched. Hashes are keyed, in hex. */
export type PaymentFacts = {
  seq: number;
  operation: Operation;
  amountCents: bigint;
  platform: string | null;
  reference: string | null;
  e2eId: string | null;
  extraHash: string | null;
  documentHash: string | null;
  /** The day of its first paid event; of its creation while it is pending. */
  day: Day;
  standing: Standing;
};

/** Whether a payment counts: its history has been settled or returned. */
export function counts({ standing }: PaymentFacts): boolean {
  return standing === 'settled' || standing === 'returned';
}
