/**
 * Tracks how the provider answers shows and lists, and decides whether it fails. A process keeps its requests of two
 * minutes in slots of ten seconds, and reports them in a row that all processes read. A slot counts by its share of
 * requests that failed or were slow: while the provider fails, few requests are sent, and by their number an outage would
 * show once the good ones before it are two minutes old.
 */
import type { Timers } from '../timers.ts';

export const SLOT_MS = 10_000;
const SLOTS = 12;
/** The newest slots: once they are good, the provider has recovered. */
const RECENT_SLOTS = 6;
/** The share of failed and slow requests from which the provider fails. */
const BAD_SHARE_MIN = 0.4;
/** The least time between the first and the last bad request: shorter faults end by the retries of a request. */
const BAD_MS_MIN = 45_000;
/** The most frequent causes, which a report names. */
const CAUSES_MAX = 5;
/** A longer request is slow: it took many times the usual. */
const SLOW_MS = { show: 2_500, list: 5_000 };
/** A key that is accepted by one of the two operations was accepted within this time: the list is asked each ten seconds. */
const AUTHORIZED_MS_MAX = 30_000;

type Operation = 'show' | 'list';
const OPERATIONS: Operation[] = ['show', 'list'];

/** A request that ended. `status`: undefined without an answer; `result`: as `confere_provider_requests_total` names it. */
export type EndedRequest = {
  operation: Operation | 'create';
  status: number | undefined;
  result: string;
  askedAt: Date;
  tookMs: number;
  /** As the answer asked. While a long pause lasts, it counts as repeated: nothing is sent that could say otherwise. */
  retryAfterMs?: number | undefined;
};

/** `bad`: the sum of the slots' shares. Instants are ISO 8601, by the database's clock. */
type OperationHealth = {
  window: { slots: number; bad: number };
  recent: { slots: number; bad: number };
  badSince: string | undefined;
  badUntil: string | undefined;
  /** How many requests were bad, by status, `no_answer`, `unreadable` or `slow`. */
  causes: Record<string, number>;
  /** A run gave up reading: no more proof is needed that a fault lasts. */
  gaveUp: boolean;
  /** The newest answer to an accepted key. */
  authorizedAt: string | undefined;
};
/** Facts that a process reports. */
export type HealthReport = Record<Operation, OperationHealth>;

export type ProviderHealth = {
  /** The operation that fails most; undefined while the provider is well. */
  failing: { operation: Operation; cause: string; percent: number; since: string | undefined } | undefined;
  /** The failing operation is refused by the key, and so is the other one. */
  isKeyRefused: boolean;
  /** The operation whose recent requests fail, but not for long yet: the list is asked, for evidence either way. */
  suspect: { cause: string; percent: number } | undefined;
  /** The newest answer to an accepted key. */
  authorizedAt: Date | undefined;
};

export type HealthTracker = {
  record(request: EndedRequest): void;
  /** A run has given up reading the list. */
  giveUp(): void;
  report(): HealthReport;
  /** Whether shows are refused for the key, and none was accepted since. */
  isKeyRefused(): boolean;
};

/** `causes`: of the bad ones, how many by cause. */
type Slot = { number: number; requests: number; causes: Map<string, number>; badSince?: Date; badUntil?: Date };
type Kept = { slots: Slot[]; authorizedAt: Date | undefined };

/** A key that is accepted again makes earlier refusals of the operation void. */
const REFUSALS = ['401', '403'];

/** Tracks the requests of a process. */
export function createHealthTracker(timers: Timers): HealthTracker {
  const kept: Record<Operation, Kept> = {
    show: { slots: [], authorizedAt: undefined },
    list: { slots: [], authorizedAt: undefined },
  };
  let gaveUpMs = Number.NEGATIVE_INFINITY;
  let paused: { request: EndedRequest; fromMs: number } | undefined;
  const current = (): number => Math.floor(timers.monotonicMs() / SLOT_MS);
  const tracker: HealthTracker = {
    isKeyRefused: () => kept.show.slots.some(({ causes }) => causes.has('401')),
    record(request) {
      const { operation, askedAt, retryAfterMs } = request;
      if (operation === 'create') return;
      if (retryAfterMs !== undefined && retryAfterMs >= BAD_MS_MIN) paused = { request, fromMs: timers.monotonicMs() };
      const of = kept[operation];
      const cause = findCause({ ...request, operation });
      of.slots = of.slots.filter(({ number }) => number > current() - SLOTS);
      let slot = of.slots.at(-1);
      if (slot?.number !== current()) {
        slot = { number: current(), requests: 0, causes: new Map() };
        of.slots.push(slot);
      }
      slot.requests++;
      if (isAuthorized(cause, request)) {
        of.authorizedAt = askedAt;
        // accepted after a refusal: for both operations, since the other one may not be asked before a backlog is verified
        const isAgain = of.slots.some(({ causes }) => REFUSALS.some((refusal) => causes.has(refusal)));
        for (const one of isAgain ? [...kept.show.slots, ...kept.list.slots] : [])
          for (const refusal of REFUSALS) one.causes.delete(refusal);
      }
      if (cause === undefined) return;
      slot.badSince ??= askedAt;
      slot.badUntil = askedAt;
      slot.causes.set(cause, (slot.causes.get(cause) ?? 0) + 1);
    },
    giveUp() {
      gaveUpMs = timers.monotonicMs();
    },
    report() {
      const gaveUp = timers.monotonicMs() - gaveUpMs < SLOTS * SLOT_MS;
      const pausedMs = timers.monotonicMs() - (paused?.fromMs ?? 0);
      if (paused && pausedMs < (paused.request.retryAfterMs ?? 0)) {
        const askedAt = new Date(paused.request.askedAt.getTime() + pausedMs);
        tracker.record({ ...paused.request, askedAt, retryAfterMs: undefined });
      }
      const reportOf = (operation: Operation): OperationHealth => {
        const { slots, authorizedAt } = kept[operation];
        const of = slots.filter(({ number }) => number > current() - SLOTS);
        const about = { gaveUp: gaveUp && operation === 'list', authorizedAt: authorizedAt?.toISOString() };
        return { ...summarizeSlots(of, current()), ...about };
      };
      return { show: reportOf('show'), list: reportOf('list') };
    },
  };
  return tracker;
}

/** Any other answer below 500 is about one id, or one page. */
function findCause({ operation, status, result, tookMs }: EndedRequest & { operation: Operation }): string | undefined {
  if (['unavailable', 'rate_limited'].includes(result) || status === 401 || (operation === 'list' && status === 403))
    return String(status);
  if (result === 'no_answer' || result === 'unreadable') return result;
  return tookMs >= SLOW_MS[operation] ? 'slow' : undefined;
}

/** An answer of a server that fails says nothing of the key. */
function isAuthorized(cause: string | undefined, { status }: EndedRequest): boolean {
  return status !== undefined && (cause === undefined || cause === 'slow');
}

function summarizeSlots(slots: Slot[], current: number) {
  const add = (some: Slot[]) => ({
    slots: some.length,
    bad: some.reduce((sum, { causes, requests }) => sum + sumOf(causes) / requests, 0),
  });
  const bad = slots.filter(({ causes }) => causes.size > 0);
  return {
    window: add(slots),
    recent: add(slots.filter(({ number }) => number > current - RECENT_SLOTS)),
    causes: Object.fromEntries(addCauses(bad.map(({ causes }) => [...causes])).slice(0, CAUSES_MAX)),
    badSince: bad[0]?.badSince?.toISOString(),
    badUntil: bad.at(-1)?.badUntil?.toISOString(),
  };
}

const sumOf = (causes: Map<string, number>): number => causes.values().reduce((sum, count) => sum + count, 0);

/** @returns the counts by cause, the most frequent first. */
function addCauses(lists: [string, number][][]): [string, number][] {
  const sums = new Map<string, number>();
  for (const [cause, count] of lists.flat()) sums.set(cause, (sums.get(cause) ?? 0) + count);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/**
 * Decides from the reports of all processes whether the provider fails. Pure.
 * @param isFiring whether that is known already: then it fails until the newest minute is good.
 */
export function decideHealth(reports: HealthReport[], isFiring: boolean, now: Date): ProviderHealth {
  const states = OPERATIONS.map((operation) =>
    evaluate(
      operation,
      reports.map((report) => report[operation]),
    ),
  );
  const lasting = states.filter((one) => one.isBad && (isFiring || one.lasts));
  const [failing] = lasting.toSorted((a, b) => b.percent - a.percent);
  const authorizedAt = newest(states.map((one) => one.authorizedAt));
  const isAccepted = authorizedAt !== undefined && now.getTime() - Date.parse(authorizedAt) <= AUTHORIZED_MS_MAX;
  return {
    failing,
    isKeyRefused: failing !== undefined && REFUSALS.includes(failing.cause) && !isAccepted,
    suspect: states.find(({ isBad }) => isBad),
    authorizedAt: authorizedAt === undefined ? undefined : new Date(authorizedAt),
  };
}

const newest = (instants: (string | undefined)[]): string | undefined =>
  instants
    .flatMap((one) => one ?? [])
    .sort()
    .at(-1);

function evaluate(operation: Operation, all: OperationHealth[]) {
  const authorizedAt = newest(all.map((one) => one.authorizedAt));
  // refusals of a process that has not asked since another one was accepted
  const isVoid = ({ causes, badUntil }: OperationHealth): boolean =>
    authorizedAt !== undefined &&
    badUntil !== undefined &&
    badUntil < authorizedAt &&
    Object.keys(causes).every((one) => REFUSALS.includes(one));
  const reports = all.filter((report) => !isVoid(report));
  const share = (name: 'window' | 'recent'): number => {
    const slots = reports.reduce((sum, one) => sum + one[name].slots, 0);
    return slots === 0 ? 0 : reports.reduce((sum, one) => sum + one[name].bad, 0) / slots;
  };
  const isQuiet = reports.every(({ recent }) => recent.slots === 0);
  const [[cause] = ['']] = addCauses(reports.map(({ causes }) => Object.entries(causes)));
  const [since] = reports.flatMap(({ badSince }) => badSince ?? []).sort();
  const until = newest(reports.map(({ badUntil }) => badUntil));
  const badMs = since && until ? Date.parse(until) - Date.parse(since) : 0;
  const percent = Math.round(share(isQuiet ? 'window' : 'recent') * 100);
  return {
    ...{ operation, cause, percent, since, authorizedAt },
    isBad: share('window') >= BAD_SHARE_MIN && percent >= BAD_SHARE_MIN * 100,
    lasts: badMs >= BAD_MS_MIN || reports.some(({ gaveUp }) => gaveUp),
  };
}
