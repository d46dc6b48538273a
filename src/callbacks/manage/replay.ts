import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { WallTime } from '../../domain/calendar.ts';
import type { Operation } from '../../domain/statuses.ts';
import { checkFilter } from '../../merchants/check-filter.ts';
import { countRequest } from '../../merchants/count-request.ts';
import {
  completeFilter,
  type FilterInput,
  type MerchantFilter,
  matchesExpected,
  matchesFilter,
} from '../../merchants/match-filter.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import { readExpectedCauses } from '../expected/enqueue-expected.ts';
import { IS_TEST, toSubject } from '../health/callback-sources.ts';
import { assertConfirmed, assertDelivers } from './redeliver.ts';

const ROWS_MAX = 1000;
/** How far the provider's clock may be ahead of ours: a message is made after its event. */
const AHEAD_MS = 86_400_000;

/** By which time a range chooses: when the message was made, or its event's at the provider. */
export const REPLAYED_BY = ['created', 'event'] as const;

export type ReplayRequest = {
  merchant: string;
  /** Range of the time that `by` chooses; `to` is excluded. A message without an event of the provider's has its creation alone. */
  from: Date;
  to: Date;
  /** Default: created. */
  by?: (typeof REPLAYED_BY)[number] | undefined;
  filter?: FilterInput | undefined;
  states?: Array<'delivered' | 'failed'> | undefined;
  /** Tests and examples alone; without it they are left out. */
  tests?: 'only' | undefined;
  dryRun: boolean;
};

/** Returns what the audit says of each part of one replay, by its count: the parts share an id. */
export function describeParts({
  from,
  to,
  by,
  tests,
}: Pick<ReplayRequest, 'from' | 'to' | 'by' | 'tests'>): (count: number) => string {
  const id = randomUUID();
  return (count) => JSON.stringify({ from, to, by, tests, count, replay: id });
}

/** A part of a replay: how many callbacks, which of a dry run, and the number of its last row; undefined in the last part. */
export type ReplayedPart = { count: number; rows: readonly ReplayedRow[]; last?: number | undefined };
/** `at_wall`: of its event, on the provider's clock. */
type ReplayedRow = { type: string; created_at: Date; at_wall: WallTime | null; webhook_id: string };

/** A replay before it is made: how many callbacks, of each type too, and the first and the last one. */
export type ReplayPreview = { count: number; types: Map<string, number>; ends: readonly ReplayedRow[] };

/** Says what a replay would send, and sends nothing. @throws ConfereError as `replay`. */
export async function previewReplay(context: Context, request: Omit<ReplayRequest, 'dryRun'>): Promise<ReplayPreview> {
  const types: ReplayPreview['types'] = new Map();
  let ends: readonly ReplayedRow[] = [];
  const count = await replay(context, { ...request, dryRun: true }, async (change) => {
    const part = await change(context);
    for (const { type } of part.rows) types.set(type, (types.get(type) ?? 0) + 1);
    ends = [...ends, ...part.rows].filter((_, place, all) => place === 0 || place === all.length - 1);
    return part;
  });
  return { count, types, ends };
}

/**
 * Makes delivered and failed callbacks of a range due once more, under their old webhook-ids, in order for each
 * transaction and expected payment; with a filter, those about expected payments only if it asks for them. Pending and held ones are left out: they will be sent anyway.
 * @param inPart makes the change of each part, of at most 1,000 callbacks, in a transaction of its own.
 * @returns how many callbacks; with `dryRun` how many it would be.
 * @throws ConfereError `not_found`; `conflict` while nothing would be sent; `invalid_request` for a filter beyond its limits;
 *   `too_many_requests`.
 */
export async function replay(
  context: Context,
  request: ReplayRequest,
  inPart: (change: (context: Context) => Promise<ReplayedPart>) => Promise<ReplayedPart> = (change) => change(context),
): Promise<number> {
  const { seq } = await findMerchant(context.db, request.merchant);
  countRequest(context, 'replay', request.merchant);
  checkFilter(request.filter ?? {});
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    const part: ReplayedPart = await inPart((inner) => replayPart(inner, seq, request, from));
    count += part.count;
    after = part.last;
  }
  if (!request.dryRun) context.wakeUps.callbacks.notify();
  return count;
}

/** @throws ConfereError `not_found`; `conflict` while nothing would be sent to the merchant. */
export async function assertReplays({ db }: Context, merchant: string): Promise<void> {
  assertDelivers(await findMerchant(db, merchant));
  await assertConfirmed(db);
}

async function replayPart(
  context: Context,
  merchantSeq: number,
  request: ReplayRequest,
  after: number,
): Promise<ReplayedPart> {
  if (!request.dryRun && after === 0) await assertReplays(context, request.merchant);
  const rows = await readChunk(context.db, merchantSeq, request, after);
  const dated = request.by === 'event' ? rows.filter((row) => isInRange(context, row, request)) : rows;
  const chosen = request.filter ? await filterRows(context.db, dated, completeFilter(request.filter)) : dated;
  const seqs = chosen.map((row) => row.seq);
  if (!request.dryRun && seqs.length > 0) await makeDue(context, seqs);
  return {
    count: seqs.length,
    rows: request.dryRun ? chosen : [],
    last: rows.length < ROWS_MAX ? undefined : rows.at(-1)?.seq,
  };
}

type Row = Awaited<ReturnType<typeof readChunk>>[number];

function isInRange({ calendar }: Pick<Context, 'calendar'>, row: Row, { from, to }: ReplayRequest): boolean {
  const at = row.at_wall === null ? row.created_at : calendar.toInstant(row.at_wall);
  return at >= from && at < to;
}

async function filterRows(db: Reader, rows: Row[], filter: MerchantFilter): Promise<Row[]> {
  const orders = rows.flatMap((row) => (row.current_status === null ? [toSubject(row.transaction_seq ?? 0)] : []));
  const causes = filter.expected ? await readExpectedCauses(db, [...new Set(orders)]) : [];
  const matched = new Set(
    causes
      .filter(({ facts }) => matchesExpected([filter], facts))
      .map(({ seq, sequence }) => `${toSubject(seq)} ${sequence}`),
  );
  return rows.filter((row) => {
    // a correction has no event: the filter uses the transaction's status
    const status = row.status ?? row.current_status;
    return status === null
      ? matched.has(`${row.transaction_seq} ${row.sequence}`)
      : matchesFilter(filter, { ...row, operation: row.operation as Operation, status });
  });
}

/** Leaves out manifests and tests. */
const IS_REPLAYED = sql<boolean>`callbacks.transaction_seq IS NOT NULL`;

/** Returns when a merchant's first callback that failed for good was created; undefined: none failed. Tests are left out. */
export async function findFirstFailed(db: Reader, merchantSeq: number): Promise<Date | undefined> {
  // by callbacks_due, whose entries of one state and time are in the order of the rows
  const row = await db
    .selectFrom('callbacks')
    .select('created_at')
    .where('merchant_seq', '=', merchantSeq)
    .where('state', '=', 'failed')
    .where('next_attempt_at', 'is', null)
    .where(IS_REPLAYED)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

function readChunk(db: Reader, merchantSeq: number, request: ReplayRequest, after: number) {
  const { from, to, by } = request;
  return (
    db
      .selectFrom('callbacks')
      .leftJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
      // an example keeps there the row number of a callback, and has no transaction
      .leftJoin('events', (join) =>
        join
          .onRef('events.seq', '=', 'callbacks.event_seq')
          .onRef('events.transaction_seq', '=', 'callbacks.transaction_seq'),
      )
      .select([
        'callbacks.seq',
        'callbacks.transaction_seq',
        ...(['callbacks.sequence', 'callbacks.type', 'callbacks.created_at', 'callbacks.webhook_id'] as const),
        ...(['events.status', 'events.at_wall', 'transactions.operation'] as const),
        'transactions.platform',
      ])
      .select(['transactions.reference', 'transactions.extra', 'transactions.status as current_status'])
      .where('callbacks.merchant_seq', '=', merchantSeq)
      .where(request.tests === 'only' ? IS_TEST : IS_REPLAYED)
      .where('callbacks.created_at', '>=', by === 'event' ? new Date(from.getTime() - AHEAD_MS) : from)
      .$if(by !== 'event', (query) => query.where('callbacks.created_at', '<', to))
      .where('callbacks.state', 'in', request.states ?? ['delivered', 'failed'])
      .where('callbacks.seq', '>', after)
      .orderBy('callbacks.seq')
      .limit(ROWS_MAX)
      .execute()
  );
}

async function makeDue(context: Context, seqs: number[]): Promise<void> {
  await context.db
    .updateTable('callbacks')
    .set({ state: 'pending', step: 0, first_failed_at: null, next_attempt_at: context.clock.now() })
    .where('seq', 'in', seqs)
    .where('state', 'in', ['delivered', 'failed'])
    .execute();
}
