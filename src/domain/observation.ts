import type { WallTime } from './calendar.ts';
import type { Operation, Status } from './statuses.ts';

/**
 * Source of a stored fact: a webhook that caused a fetch, a page of a run, or a show call. `seq` is our row number, `id` is
 * what our API shows.
 */
export type Source = (
  | { kind: 'webhook'; webhook: { seq: number; id: string } }
  | { kind: 'list'; run: { seq: number; id: string }; page: number }
  | { kind: 'show'; run?: { seq: number; id: string } }
) & {
  /** The span that applies it, while tracing is on. Callbacks that it causes continue this trace. */
  traceparent?: string | undefined;
};

export type ObservedEvent = { status: Status; atWall: WallTime };

/** A transaction as the provider showed it. Absent, null and empty fields are all `null`. */
export type ObservedTransaction = {
  id: string;
  operation: Operation;
  status: Status;
  amountCents: bigint;
  commissionCents: bigint | null;
  createdWall: WallTime;
  reference: string | null;
  extra: string | null;
  platform: string | null;
  e2eId: string | null;
  name: string | null;
  email: string | null;
  phone: string | null;
  document: string | null;
  description: string | null;
  pixKey: string | null;
  /** Oldest first. If `eventsInferred`, one event that is inferred because the provider sent no history. */
  events: ObservedEvent[];
  eventsInferred: boolean;
};

/** Optional fields that could not be read: name and violated rule. `raw` is the row as received, with personal data. */
export type UnreadableFields = { fields: Record<string, string>; raw: string };

/** One reading of one transaction at the provider. */
export type Observation = {
  transaction: ObservedTransaction;
  /** Fields of `transaction` that are null because their values could not be read. */
  unreadable?: UnreadableFields | undefined;
  /** The provider wrote `extra` as an object or a list: `transaction` has its canonical JSON. */
  isExtraJson?: boolean;
  /** The database's clock when the request was sent. */
  askedAt: Date;
  source: Source;
  /** SHA-256 over the whole answer of the provider: equal digests mean equal answers. */
  digest: Buffer;
};

/** Facts that a correction may change, as merchants get them before and after it. Amounts are decimal texts. */
export type CorrectedFacts = {
  operation: Operation;
  status: string;
  /** ISO 8601 with offset. */
  status_at: string;
  amount: string;
  commission: string | null;
  reference: string | null;
  platform: string | null;
};
