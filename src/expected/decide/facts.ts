import type { Day } from '../../domain/calendar.ts';
import type { Operation } from '../../domain/statuses.ts';

/** The source of invoices (NF-e) that belong to no order: only their importer writes it. */
export const NFE_SOURCE = 'nfe';

/** The rules that match a payment with an expected payment, in the order in which they are applied. */
export type Rule = 'person' | KeyRule | 'extra' | 'document';
/** Rules of keys: each takes any amount and any day, and several payments for one expected payment. */
export const KEY_RULES = ['reference', 'e2e_id', 'invoice'] as const;
export type KeyRule = (typeof KEY_RULES)[number];

/** The facts by which an expected payment is matched. Hashes are keyed, in hex. */
export type ExpectedFacts = {
  seq: number;
  source: string;
  operation: Operation;
  amountCents: bigint;
  /** Null: any. */
  platform: string | null;
  /** By rule. Those of `invoice` are the authorization codes (cAut) of an NF-e: a payment's E2E id or its reference. */
  keys: Readonly<Record<KeyRule, ReadonlySet<string>>>;
  extraHash: string | null;
  documentHash: string | null;
  issuedDay: Day;
  dueDay: Day;
  isCancelled: boolean;
};

/** The values of a payment that a rule compares with keys. */
export function keysOf({ reference, e2eId }: Pick<PaymentFacts, 'reference' | 'e2eId'>, rule: KeyRule): string[] {
  const values = { reference: [reference], e2e_id: [e2eId], invoice: [e2eId, reference] }[rule];
  return values.filter((value) => value !== null);
}

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
