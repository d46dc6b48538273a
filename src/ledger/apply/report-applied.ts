import type { EnqueuedCallback } from '../../callbacks/queue/enqueue-callbacks.ts';
import type { Context } from '../../context.ts';
import type { Observation, Source } from '../../domain/observation.ts';
import { isTracing, recordSpan } from '../../tracing/in-span.ts';

/**
 * Reports what a batch committed: at `debug` a line for each observation of a webhook and each other that changed something,
 * and one for each callback; while tracing is on, a span for each callback in the trace of its cause.
 */
export function reportApplied(
  { log }: Context,
  observations: Observation[],
  { changed, enqueued }: { changed: string[]; enqueued: EnqueuedCallback[] },
  startMs: number,
): void {
  if (isTracing()) {
    for (const { callback, merchant, transaction, origin } of enqueued) {
      const ids = { 'confere.callback': callback, 'confere.merchant': merchant, 'confere.transaction': transaction };
      recordSpan('callback.enqueue', ids, origin?.traceparent, startMs);
    }
  }
  if (!log.isLevelEnabled('debug')) return;
  const changedIds = new Set(changed);
  for (const { transaction, source } of observations) {
    const isChanged = changedIds.has(transaction.id);
    if (!isChanged && source.kind !== 'webhook') continue;
    const line = { stage: 'applied', ...originIds(source), transaction: transaction.id, changed: isChanged };
    log.debug(line, 'observation applied');
  }
  for (const { origin, ...ids } of enqueued)
    log.debug({ stage: 'enqueued', ...originIds(origin), ...ids }, 'callback enqueued');
}

function originIds(source: Source | undefined): { webhook?: string; run?: string | undefined } {
  if (source?.kind === 'webhook') return { webhook: source.webhook.id };
  return source?.run ? { run: source.run.id } : {};
}
