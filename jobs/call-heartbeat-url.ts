import { request } from 'undici';
import type { Context } from '../src/context.ts';
import { describeError } from '../src/log.ts';
import { recordHeartbeat } from '../src/runtime/heartbeat.ts';
import { listDeadParts } from './watch-workers.ts';

const TIMEOUT_MS = 5_000;

/**
 * The dead man's switch: GETs JOB_WATCH_URL after a watch without a failure, while every worker loop shows life and the
 * database takes a write. A failure is a warning: the service behind the URL alerts when the requests stay away.
 * @throws the database's error.
 */
export async function callHeartbeatUrl(context: Context): Promise<void> {
  const { JOB_WATCH_URL } = context.config;
  if (JOB_WATCH_URL === undefined) return;
  await recordHeartbeat(context, 'watch');
  const dead = await listDeadParts(context);
  if (dead.length > 0) {
    context.log.warn({ dead }, 'parts of the worker show no life; JOB_WATCH_URL is not called');
    return;
  }
  try {
    const { statusCode, body } = await request(JOB_WATCH_URL, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await body.dump();
    if (statusCode >= 300)
      context.log.warn({ status: statusCode }, 'JOB_WATCH_URL answered with an error; the next call is in a minute');
  } catch (error) {
    context.log.warn({ error: describeError(error) }, 'JOB_WATCH_URL did not answer; the next call is in a minute');
  }
}
