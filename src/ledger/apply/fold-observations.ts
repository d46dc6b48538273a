import type { Context } from '../../context.ts';
import type { FoundMismatch, MismatchKind } from '../../domain/mismatch.ts';
import type { Observation, Source } from '../../domain/observation.ts';
import { eventKey, type StoredEvent } from '../../domain/sort-history.ts';
import { describeStatus, isFinal } from '../../domain/statuses.ts';
import type { ResolvedScope } from '../../mismatches/resolve-mismatches.ts';
import { checkDates } from '../decide/check-dates.ts';
import { evaluateFields } from '../decide/check-fields.ts';
import { type Decision, decide, type HistoryEvidence } from '../decide/decide-observation.ts';
import type { ConfirmedFacts } from '../decide/merge-facts.ts';
import type { StoredTransaction } from '../decide/stored-transaction.ts';
import { RESOLVED_BY_OBSERVATION } from './drop-unchanged.ts';
import type { LoadedTransaction } from './load-stored-transactions.ts';

/** The combined effect of a batch's observations on one transaction. */
export type TransactionChange = {
  loaded: LoadedTransaction | undefined;
  after: StoredTransaction;
  added: StoredEvent[];
  /** The source of the last observation that changed anything. */
  source: Source;
  /** The source of each new event. */
  sources: Map<StoredEvent, Source>;
  /** When the newest of these observations was requested. */
  askedAt: Date;
  isChanged: boolean;
  decisions: Decision[];
  /** The observations one by one, in the order of the batch. */
  observations: HistoryObservation[];
};

/** The evidence of one observation about events that were known before it. */
export type HistoryObservation = HistoryEvidence & { askedAt: Date; isShow: boolean };

/**
 * Folds the observations of a batch into one change per transaction. The changes are ordered by creation and id: concurrent
 * appliers of the same new transactions lock in one order, and rows in the order of their times fill the pages of indexes
 * over times. In another order InnoDB splits pages in the middle and leaves half of each empty.
 */
export function foldObservations(batch: Observation[], loaded: Map<string, LoadedTransaction>): TransactionChange[] {
  const changes = new Map<string, TransactionChange>();
  for (const { transaction, askedAt, digest, unreadable, source } of batch) {
    const before = changes.get(transaction.id);
    const decision = decide(before?.after ?? loaded.get(transaction.id)?.stored, {
      transaction,
      askedAt,
      digest,
      unreadable,
    });
    const { added, sources } = carryOver(before, decision);
    changes.set(transaction.id, {
      loaded: loaded.get(transaction.id),
      after: decision.after,
      added: [...added, ...decision.added],
      source: before && !decision.isChanged ? before.source : source,
      sources: new Map([...sources, ...decision.added.map((event) => [event, source] as const)]),
      askedAt: before && before.askedAt > askedAt ? before.askedAt : askedAt,
      isChanged: decision.isChanged || (before?.isChanged ?? false),
      decisions: [...(before?.decisions ?? []), decision],
      observations: [
        ...(before?.observations ?? []),
        { ...decision.historyEvidence, askedAt, isShow: source.kind === 'show' },
      ],
    });
  }
  return [...changes.values()].sort(({ after: a }, { after: b }) =>
    a.createdWall === b.createdWall ? compare(a.id, b.id) : compare(a.createdWall, b.createdWall),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/** Returns the events that earlier observations of the batch added, as the history has them now. */
function carryOver(
  before: TransactionChange | undefined,
  { after }: Decision,
): Pick<TransactionChange, 'added' | 'sources'> {
  if (!before) return { added: [], sources: new Map() };
  const now = new Map([...after.events, ...after.outOfForce].map((event) => [eventKey(event), event]));
  const carried = before.added.flatMap((event) => {
    const current = now.get(eventKey(event));
    const source = before.sources.get(event);
    return current && source ? [[current, source] as const] : [];
  });
  return { added: carried.map(([event]) => event), sources: new Map(carried) };
}

/**
 * Kinds that compare an observation with stored facts. The difference is recent, however old the transaction is, so
 * these never belong to the baseline.
 */
const COMPARED: readonly MismatchKind[] = [
  'status_differs',
  'amount_differs',
  'commission_differs',
  'reference_differs',
];

/** Returns which transaction a mismatch concerns and where it was found. @param seq the transaction's row number. */
export function describeSubject({ after, source }: TransactionChange, seq: number): Omit<FoundMismatch, 'kind'> {
  return {
    scope: after.id,
    transactionSeq: seq,
    transactionId: after.id,
    reference: after.reference,
    amountCents: after.amountCents,
    ...(source.kind === 'webhook' ? { webhookSeq: source.webhook.seq } : {}),
    ...(source.kind !== 'webhook' && source.run ? { runSeq: source.run.seq } : {}),
  };
}

/** Returns the mismatches that these observations show. @param seq the transaction's row number. */
export function listFoundMismatches(context: Context, change: TransactionChange, seq: number): FoundMismatch[] {
  const { after } = change;
  const lastAt = context.calendar.toInstant(after.events.at(-1)?.atWall ?? after.createdWall);
  const differences = change.decisions.flatMap((decision) =>
    decision.found.filter(({ kind }) => kind !== 'field_unreadable'),
  );
  return [...differences, ...evaluateFields(joinFieldEvidence(change)).found, checkDates(context, after) ?? []]
    .flat()
    .map((difference) => ({
      ...difference,
      ...describeSubject(change, seq),
      baseline: lastAt < context.webhooksSince && !COMPARED.includes(difference.kind),
    }));
}

/** Returns facts that the newest observation shows as the books have them, though another value was shown before. */
export function listConfirmed({ loaded, after, decisions }: TransactionChange): (ConfirmedFacts & { scope: string })[] {
  if (!loaded) return [];
  const confirmed = decisions.findLast((decision) => decision.confirmed !== undefined)?.confirmed ?? [];
  return confirmed.map((one) => ({ ...one, scope: after.id }));
}

/** Returns the amounts that these observations show, under the scope that a webhook's claim of an amount has. */
export function listObservedAmounts({ after, decisions }: TransactionChange): {
  scope: string;
  amounts: Set<string>;
} {
  const shown: unknown[] = decisions.flatMap(({ found, confirmed = [] }) => [
    ...found.flatMap(({ kind, actual }) => (kind === 'amount_differs' ? [actual] : [])),
    ...confirmed.flatMap((one) => (one.kind === 'amount_differs' ? [one.shown] : [])),
  ]);
  const amounts = new Set(shown.map((one) => (one as { amount: string }).amount));
  return { scope: `${after.id} amount`, amounts };
}

function joinFieldEvidence({ decisions, observations }: TransactionChange) {
  return decisions.map(({ found, resolved }, index) => ({
    found,
    resolved,
    isShow: observations[index]?.isShow ?? false,
  }));
}

/** Returns what these observations resolve. Any fresh evidence counts, whichever source opened the mismatch. */
export function listResolved(change: TransactionChange): ResolvedScope[] {
  const { after, decisions, askedAt } = change;
  const last = decisions.at(-1);
  const found = new Set(last?.found.map((difference) => difference.kind));
  const kinds = (last?.resolved ?? []).filter((kind) => kind !== 'field_unreadable');
  const { isResolved: isReadable, ignores } = evaluateFields(joinFieldEvidence(change));
  if (isFinal(after.events.at(-1)?.status ?? '')) kinds.push('stuck');
  return [
    // the mere presence of the transaction counts only if it was requested after the mismatch was opened
    ...RESOLVED_BY_OBSERVATION.map((kind) => ({ kind, scope: after.id, askedAt })),
    ...kinds.filter((kind) => !found.has(kind)).map((kind) => ({ kind, scope: after.id })),
    ...(isReadable ? [{ kind: 'field_unreadable' as const, scope: after.id, ignores }] : []),
    ...listShown(change).map((event) => ({
      kind: 'webhook_contradiction' as const,
      scope: `${after.id} ${describeStatus(event.status)}`,
    })),
  ];
}

/**
 * Returns events that the provider now shows. An inferred event counts only where no history was ever shown; otherwise
 * the history decides.
 */
function listShown({ loaded, after, added }: TransactionChange): StoredEvent[] {
  const inferred = new Set(loaded?.stored.events.filter((event) => event.inferred).map((event) => event.seq));
  return after.events.filter((event) =>
    event.inferred
      ? added.includes(event) && after.orderedAt === undefined
      : added.includes(event) || inferred.has(event.seq),
  );
}
