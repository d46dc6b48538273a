/**
 * A large report takes minutes to build. Requests for the same report share one build. `BUILD_LIMITS` bounds the builds of
 * this process and the requests that wait for one; further requests are refused, with `Retry-After`.
 */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { refuse } from '../../texts/refuse.ts';
import { reportsDirectory } from '../revisions/make-report.ts';
import { withDrafts } from '../revisions/publish-drafts.ts';

export const BUILD_LIMITS = { atOnceMax: 2, waitingMax: 20 };
const RETRY_AFTER_S = 10;

type Builds = { inProgress: Map<string, Promise<unknown>>; running: number; waiting: (() => void)[] };

const buildsByDatabase = new WeakMap<Kysely<Database>, Builds>();

/**
 * @param key requests with the same key share one `work`.
 * @throws ConfereError `unavailable` if the queue is full.
 */
export function buildOnce<T>(context: Pick<Context, 'db'>, key: string, work: () => Promise<T>): Promise<T> {
  const builds = buildsByDatabase.get(context.db) ?? { inProgress: new Map(), running: 0, waiting: [] };
  buildsByDatabase.set(context.db, builds);
  // the same key names the same work, so it gives the same type
  const running = builds.inProgress.get(key) as Promise<T> | undefined;
  if (running) return running;
  const built = runInTurn(builds, work).finally(() => builds.inProgress.delete(key));
  builds.inProgress.set(key, built);
  return built;
}

/**
 * Builds a file that is not kept, in a directory of drafts, and passes it to `use`; then the directory is deleted.
 * @param client ends the work when the client has left.
 * @throws ConfereError `unavailable` if the queue is full.
 */
export async function useDraft<T>(
  context: Context,
  client: AbortSignal | undefined,
  build: (directory: string, signal: AbortSignal) => Promise<T>,
  use: (built: T) => Promise<void>,
): Promise<void> {
  const id = randomUUID();
  await withDrafts(reportsDirectory(context), id, async (directory) => {
    const signal = AbortSignal.any([context.signal, ...(client ? [client] : [])]);
    const built = await buildOnce(context, `draft ${id}`, async () => {
      signal.throwIfAborted();
      return await build(directory, signal);
    });
    await use(built);
  });
}

async function runInTurn<T>(builds: Builds, work: () => Promise<T>): Promise<T> {
  const { atOnceMax, waitingMax } = BUILD_LIMITS;
  if (builds.running < atOnceMax) builds.running++;
  else if (builds.waiting.length >= waitingMax) {
    throw refuse('reports_busy', {}, { retryAfterS: RETRY_AFTER_S });
  } else await new Promise<void>((resolve) => builds.waiting.push(resolve));
  try {
    return await work();
  } finally {
    // pass the slot to the next waiting build
    const next = builds.waiting.shift();
    if (next) next();
    else builds.running--;
  }
}
