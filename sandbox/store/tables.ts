import type { Generated, Insertable, Kysely, Selectable, Transaction } from 'kysely';
import type { Operation } from '../domain/statuses.ts';

type TransactionsTable = {
  seq: Generated<number>;
  id: string;
  operation: Operation;
  status: string;
  amount_cents: bigint;
  commission_cents: bigint;
  created_wall: string;
  updated_wall: string;
  name: string;
  email: string;
  phone: string;
  document: string;
  description: string;
  platform: string;
  reference: string | null;
  claim: string | null;
  extra: string | null;
  e2e_id: string;
  pix_key: string | null;
  /** JSON object of fields that are shown instead of the stored ones */
  shown: string | null;
  listed: Generated<number>;
  visible: Generated<number>;
};

type EventsTable = { transaction_seq: number; position: number; status: string; at_wall: string };

type StepsTable = { id: Generated<number>; transaction_seq: number; status: string; due_at: Date };

type WebhooksTable = {
  id: Generated<number>;
  transaction_id: string;
  status: string;
  fate: Fate;
  state: 'due' | 'delivered' | 'failed' | 'lost';
  body: string;
  authorised: Generated<number>;
  attempts: Generated<number>;
  answer: Generated<string | null>;
  created_at: Date;
  due_at: Date;
  ended_at: Generated<Date | null>;
};

export const FATES = ['sent', 'lost', 'repeated', 'repeat', 'late', 'reordered', 'forged'] as const;
/** `repeated` is the first of two equal webhooks, `repeat` the second. */
export type Fate = (typeof FATES)[number];

export type HistoryDaysTable = { day: string; seed: string; transactions: number; finished: number };

type HourCountsTable = { hour: string; shard: number; transactions: number };

export type Tables = {
  transactions: TransactionsTable;
  events: EventsTable;
  steps: StepsTable;
  webhooks: WebhooksTable;
  history_days: HistoryDaysTable;
  hour_counts: HourCountsTable;
};

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;
export type TransactionRow = Selectable<TransactionsTable>;
export type NewTransactionRow = Insertable<TransactionsTable>;
export type NewWebhookRow = Insertable<WebhooksTable>;
/** newest first, as the provider shows them */
export type Event = { date_created: string; status: string };
export type StoredTransaction = TransactionRow & { events: Event[] };
