/**
 * Building a report reads a whole day and writes its files: minutes, for a large one. Whoever asks for what is being built
 * waits for that; so many are built at once in this process, and so many wait; beyond that one is told to come again.
 */
import type { Kysely } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { ConfereError } from '../../domain/errors.ts';

export const BUILD_LIMITS = { atOnceMax: 2, waitingMax: 20 };
const RETRY_AFTER_S = 10;

type Builds = { underWay: Map<string, Promise<unknown>>; running: number; waiting: (() => void)[] };

const ofDatabase = new WeakMap<Kysely<Database>, Builds>();

/**
 * @param key what is built: two that name the same share one `work`.
 * @throws ConfereError `unavailable` where as many wait as may.
 */
export function buildOnce<T>(context: Pick<Context, 'db'>, key: string, work: () => Promise<T>): Promise<T> {
  const builds = ofDatabase.get(context.db) ?? { underWay: new Map(), running: 0, waiting: [] };
  ofDatabase.set(context.db, builds);
  const running = builds.underWay.get(key) as Promise<T> | undefined;
  if (running) return running;
  const built = inTurn(builds, work).finally(() => builds.underWay.delete(key));
  builds.underWay.set(key, built);
  return built;
}

async function inTurn<T>(builds: Builds, work: () => Promise<T>): Promise<T> {
  const { atOnceMax, waitingMax } = BUILD_LIMITS;
  if (builds.running < atOnceMax) builds.running++;
  else if (builds.waiting.length >= waitingMax) {
    throw new ConfereError('unavailable', 'too many reports are being made: try again', { retryAfterS: RETRY_AFTER_S });
  } else await new Promise<void>((resolve) => builds.waiting.push(resolve));
  try {
    return await work();
  } finally {
    // whoever leaves hands its place on
    const next = builds.waiting.shift();
    if (next) next();
    else builds.running--;
  }
}
