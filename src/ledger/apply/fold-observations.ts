import type { Context } from '../../context.ts';
import type { FoundMismatch, MismatchKind } from '../../domain/mismatch.ts';
import type { Observation, Source } from '../../domain/observation.ts';
import { isFinal, nameStatus } from '../../domain/statuses.ts';
import type { Over } from '../../mismatches/resolve-mismatches.ts';
import { judgeDates } from '../decide/check-e2e-date.ts';
import { weighFields } from '../decide/compare-fields.ts';
import { type Agreement, type Decision, decide, type HeldTransaction, type Standing } from '../decide/decide.ts';
import { eventKey, type HeldEvent } from '../decide/history.ts';
import type { Loaded } from './load-known.ts';

/** What any later look ends, whatever it shows. */
export const ENDED_BY_A_LOOK = ['missing_at_provider', 'row_refused'] as const;
/** What a look says something of though it brings nothing new: those, and those of which it may show the books' fact. */
export const AWAITING_A_LOOK = [...ENDED_BY_A_LOOK, 'amount_differs', 'reference_differs'] as const;

/** What a batch's looks at one transaction come to, all together. */
export type Change = {
  loaded: Loaded | undefined;
  held: HeldTransaction;
  added: HeldEvent[];
  /** Where the last look that changed anything came from. */
  source: Source;
  /** Which look brought each of the new events. */
  sources: Map<HeldEvent, Source>;
  /** When the newest of these looks was asked. */
  askedAt: Date;
  changed: boolean;
  decisions: Decision[];
  /** Each look by itself, in the order of the batch. */
  looks: LookAtEvents[];
};

/** What a look said of events that we held before. */
export type LookAtEvents = Standing & { askedAt: Date; isShow: boolean };

/**
 * Several looks at one transaction in a batch are taken one after another. The transactions are put in the order of
 * their ids: appliers that write the same new ones then wait for each other in one order.
 */
export function foldObservations(batch: Observation[], loaded: Map<string, Loaded>): Change[] {
  const changes = new Map<string, Change>();
  for (const { transaction, askedAt, digest, unreadable, source } of batch) {
    const before = changes.get(transaction.id);
    const decision = decide(before?.held ?? loaded.get(transaction.id)?.held, {
      transaction,
      askedAt,
      digest,
      unreadable,
    });
    const { added, sources } = carryOver(before, decision);
    changes.set(transaction.id, {
      loaded: loaded.get(transaction.id),
      held: decision.held,
      added: [...added, ...decision.added],
      source: before && !decision.changed ? before.source : source,
      sources: new Map([...sources, ...decision.added.map((event) => [event, source] as const)]),
      askedAt: before && before.askedAt > askedAt ? before.askedAt : askedAt,
      changed: decision.changed || (before?.changed ?? false),
      decisions: [...(before?.decisions ?? []), decision],
      looks: [...(before?.looks ?? []), { ...decision.standing, askedAt, isShow: source.kind === 'show' }],
    });
  }
  return [...changes.values()].sort((a, b) => (a.held.id < b.held.id ? -1 : 1));
}

/** Events that earlier looks of the batch added, as the history has them now: at other places, or no more. */
function carryOver(before: Change | undefined, { held }: Decision): Pick<Change, 'added' | 'sources'> {
  if (!before) return { added: [], sources: new Map() };
  const now = new Map([...held.events, ...held.struck].map((event) => [eventKey(event), event]));
  const carried = before.added.flatMap((event) => {
    const current = now.get(eventKey(event));
    const source = before.sources.get(event);
    return current && source ? [[current, source] as const] : [];
  });
  return { added: carried.map(([event]) => event), sources: new Map(carried) };
}

/** What compares a look with what we held before: so it happened since, however old the transaction is. */
const COMPARED: readonly MismatchKind[] = [
  'status_differs',
  'amount_differs',
  'commission_differs',
  'reference_differs',
];

/** Who a mismatch is about, and where it was found. @param seq the transaction's row number. */
export function nameFound({ held, source }: Change, seq: number): Omit<FoundMismatch, 'kind'> {
  return {
    scope: held.id,
    transactionSeq: seq,
    transactionId: held.id,
    reference: held.reference,
    amountCents: held.amountCents,
    ...(source.kind === 'webhook' ? { webhookSeq: source.webhook.seq } : {}),
    ...(source.kind !== 'webhook' && source.run ? { runSeq: source.run.seq } : {}),
  };
}

/** The mismatches that these looks show. @param seq the transaction's row number. */
export function listFound(context: Context, change: Change, seq: number): FoundMismatch[] {
  const { held } = change;
  const lastAt = context.calendar.toInstant(held.events.at(-1)?.atWall ?? held.createdWall);
  const differences = change.decisions.flatMap((decision) =>
    decision.found.filter(({ kind }) => kind !== 'field_unreadable'),
  );
  return [...differences, ...weighFields(joinLooks(change)).found, judgeDates(context, held) ?? []]
    .flat()
    .map((difference) => ({
      ...difference,
      ...nameFound(change, seq),
      baseline: lastAt < context.webhooksSince && !COMPARED.includes(difference.kind),
    }));
}

/** Facts that the newest of these looks shows as the books hold them, though another was shown before. */
export function listAgreed({ loaded, held, decisions }: Change): (Agreement & { scope: string })[] {
  if (!loaded) return [];
  const agreed = decisions.findLast((decision) => decision.agreed !== undefined)?.agreed ?? [];
  return agreed.map((one) => ({ ...one, scope: held.id }));
}

/** The amounts that these looks show, by the scope of a claim that a webhook may have made of one. */
export function listShownAmounts({ held, decisions }: Change): { scope: string; amounts: Set<string> } {
  const shown: unknown[] = decisions.flatMap(({ found, agreed = [] }) => [
    ...found.flatMap(({ kind, actual }) => (kind === 'amount_differs' ? [actual] : [])),
    ...agreed.flatMap((one) => (one.kind === 'amount_differs' ? [one.shown] : [])),
  ]);
  const amounts = new Set(shown.map((one) => (one as { amount: string }).amount));
  return { scope: `${held.id} amount`, amounts };
}

function joinLooks({ decisions, looks }: Change) {
  return decisions.map(({ found, over }, index) => ({ found, over, isShow: looks[index]?.isShow ?? false }));
}

/** What these looks show to be over: fresh evidence, whatever the mismatch was opened by. */
export function listOver(change: Change): Over[] {
  const { held, decisions, askedAt } = change;
  const last = decisions.at(-1);
  const found = new Set(last?.found.map((difference) => difference.kind));
  const kinds = (last?.over ?? []).filter((kind) => kind !== 'field_unreadable');
  const { isOver: isReadable, leaves } = weighFields(joinLooks(change));
  if (isFinal(held.events.at(-1)?.status ?? '')) kinds.push('stuck');
  return [
    // that it was shown at all says something only where it was asked for afterwards
    ...ENDED_BY_A_LOOK.map((kind) => ({ kind, scope: held.id, askedAt })),
    ...kinds.filter((kind) => !found.has(kind)).map((kind) => ({ kind, scope: held.id })),
    ...(isReadable ? [{ kind: 'field_unreadable' as const, scope: held.id, leaves }] : []),
    ...listShown(change).map((event) => ({
      kind: 'webhook_contradiction' as const,
      scope: `${held.id} ${nameStatus(event.status)}`,
    })),
  ];
}

/**
 * Events that the provider has come to show. One that a row without a history tells counts only where no history was ever
 * shown: else the history decides.
 */
function listShown({ loaded, held, added }: Change): HeldEvent[] {
  const guessed = new Set(loaded?.held.events.filter((event) => event.inferred).map((event) => event.seq));
  return held.events.filter((event) =>
    event.inferred
      ? added.includes(event) && held.orderedAt === undefined
      : added.includes(event) || guessed.has(event.seq),
  );
}
