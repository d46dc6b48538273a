/**
 * Starts requests in turns. One thread serves everybody, and hundreds of connections may each bring several requests in one
 * read: started as they come, they would keep all else waiting for seconds. In one turn of the event loop, requests start
 * for a slice of time; those that come later wait for the next turns, in order.
 *
 * Four kinds have a slice each, in this order:
 * - health;
 * - webhooks;
 * - both where an earlier request of their connection is not answered yet;
 * - the rest. Of it, a connection has one request started at a time: who pipelines waits for the answers, as others do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const SLICE_MS = 5;
/**
 * libuv accepts one connection in a turn. So after a turn that accepted one, up to this many turns start nothing, and others
 * that wait to be accepted need not wait for slices. Then a short slice is due.
 */
const TURNS_TO_ACCEPT_MAX = 32;
const SHORT_SLICE_MS = 1;
const HEALTH = /^\/(?:healthz|readyz)(?![\w-])/;
const WEBHOOK = /^\/webhooks(?![\w-])/;

/** In the order in which they start. */
type Kind = 'health' | 'webhooks' | 'pipelined' | 'rest';
type Waiting = { request: IncomingMessage; response: ServerResponse; start: () => void };

export function createRequestTurns() {
  const queues: Record<Kind, Waiting[]> = { health: [], webhooks: [], pipelined: [], rest: [] };
  /** Connections with a started request of the rest, and their later ones. */
  const busy = new WeakMap<Socket, Waiting[]>();
  /** The end of this turn's slice; undefined before the turn's first request. */
  let endsAtMs: number | undefined;
  let sliceMs = SLICE_MS;
  let isScheduled = false;
  let hasAccepted = false;
  let turnsWithoutStart = 0;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => void runTurn());
  }

  async function runTurn(): Promise<void> {
    endsAtMs = undefined;
    sliceMs = chooseSlice();
    hasAccepted = false;
    if (sliceMs > 0) for (const queue of Object.values(queues)) await startSlice(queue, sliceMs);
    isScheduled = false;
    if (Object.values(queues).some(({ length }) => length > 0)) schedule();
  }

  function chooseSlice(): number {
    turnsWithoutStart = hasAccepted ? (turnsWithoutStart + 1) % TURNS_TO_ACCEPT_MAX : 0;
    if (turnsWithoutStart > 0) return 0;
    return hasAccepted ? SHORT_SLICE_MS : SLICE_MS;
  }

  function enter(queue: Waiting[], waiting: Waiting): void {
    const nowMs = performance.now();
    endsAtMs ??= nowMs + sliceMs;
    schedule();
    if (queue.length === 0 && nowMs < endsAtMs) waiting.start();
    else queue.push(waiting);
  }

  function enterRest(waiting: Waiting): void {
    const { socket } = waiting.request;
    const later = busy.get(socket);
    if (later) {
      later.push(waiting);
      return;
    }
    const own: Waiting[] = [];
    busy.set(socket, own);
    waiting.response.once('close', () => {
      busy.delete(socket);
      if (!socket.destroyed) for (const one of own) enterRest(one);
    });
    enter(queues.rest, waiting);
  }

  return {
    /** Notes that a connection was accepted in this turn. */
    accepted: (): void => {
      hasAccepted = true;
      schedule();
    },
    /**
     * Calls `start` in this turn or in a later one; never if the connection closes before.
     * @param isAlone whether no earlier request of its connection is unanswered.
     */
    start(waiting: Waiting, isAlone: boolean): void {
      const kind = chooseKind(waiting.request.url ?? '', isAlone);
      if (kind === 'rest') enterRest(waiting);
      else enter(queues[kind], waiting);
    },
  };
}

function chooseKind(url: string, isAlone: boolean): Kind {
  const isHealth = HEALTH.test(url);
  if (!isHealth && !WEBHOOK.test(url)) return 'rest';
  if (!isAlone) return 'pipelined';
  return isHealth ? 'health' : 'webhooks';
}

/** Starts at least one request, if one waits. */
async function startSlice(queue: Waiting[], sliceMs: number): Promise<void> {
  const endsAtMs = performance.now() + sliceMs;
  for (let next = queue.shift(); next; next = performance.now() < endsAtMs ? queue.shift() : undefined) {
    if (next.request.socket.destroyed) continue;
    next.start();
    await settle();
  }
}

/** Resolves after the promises that a request has resolved by now: their time belongs to the slice. */
function settle(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
