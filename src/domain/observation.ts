import type { WallTime } from './calendar.ts';
import type { Operation, Status } from './statuses.ts';

/**
 * Where a stored fact came from: a webhook that made us look, a page of a run, or a show call. `seq` numbers are rows
 * of ours, `id` is what our API shows.
 */
export type Source =
  | { kind: 'webhook'; webhook: { seq: number; id: string } }
  | { kind: 'list'; run: { seq: number; id: string }; page: number }
  | { kind: 'show'; run?: { seq: number; id: string } };

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
  /** Oldest first. One that was inferred stands for a history that the provider left out. */
  events: ObservedEvent[];
  eventsInferred: boolean;
};

/** Side fields that could not be read: by name, the rule that they break. `raw` is the row as it came, with personal data. */
export type UnreadableFields = { fields: Record<string, string>; raw: string };

/** One look at one transaction. */
export type Observation = {
  transaction: ObservedTransaction;
  /** Fields that are null in it because their values could not be read. */
  unreadable?: UnreadableFields | undefined;
  /** The database's clock when the request was sent. */
  askedAt: Date;
  source: Source;
  /** SHA-256 over the whole content of what the provider showed: equal digests are equal answers. */
  digest: Buffer;
};
