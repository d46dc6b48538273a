import type { Context } from '../../context.ts';
import { inSpan, type SpanWork } from '../../tracing/in-span.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import { isDelivered } from './decide-outcome.ts';
import type { AttemptResponse } from './send-attempt.ts';

/** Sends an attempt within a span of its cause's trace, and logs its outcome at `debug`. The merchant's URL may hold a secret: it is in neither. */
export async function traceAttempt(
  { log }: Context,
  callback: ClaimedCallback,
  merchant: string | undefined,
  send: () => Promise<AttemptResponse | undefined>,
): Promise<AttemptResponse | undefined> {
  const attempt = callback.attempts + 1;
  const ids = { 'confere.callback': callback.webhookId, 'confere.merchant': merchant, 'confere.attempt': attempt };
  const work: SpanWork<AttemptResponse | undefined> = async (span) => {
    const response = await send();
    if (!response) return undefined;
    const { status, errorClass, durationMs } = response;
    if (status !== null) span?.setAttribute('http.response.status_code', status);
    if (errorClass !== null) span?.setAttribute('error.type', errorClass);
    if (log.isLevelEnabled('debug')) {
      const line = { callback: callback.webhookId, merchant, attempt, status, error: errorClass, ms: durationMs };
      if (isDelivered(response)) log.debug({ stage: 'delivered', ...line }, 'callback delivered');
      else log.debug({ stage: 'attempted', ...line }, 'callback attempt failed');
    }
    return response;
  };
  return await inSpan('callback.attempt', ids, work, { kind: 'client', parent: callback.traceparent });
}
