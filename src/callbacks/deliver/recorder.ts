import type { Context } from '../../context.ts';
import { isDatabaseFault } from '../../database/open/explain-failure.ts';
import { append } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { type Recorded, recordAttempts } from './record-attempts.ts';
import type { Attempt } from './send-attempt.ts';

const BATCH_MAX = 500;
/** Attempts collect for this long: nothing waits for their record, and each batch costs statements. */
const GATHER_MS = 50;
const RETRY_MS = 500;
const TRIES_TOGETHER = 3;

export type Recorder = {
  add(attempt: Attempt): void;
  /** Resolves when everything added so far is recorded. */
  flushed(): Promise<void>;
};

/**
 * Records attempts in batches: while one batch commits, and for GATHER_MS after it, the next collects. While the database
 * is unavailable, it retries. If that takes too long, the leases run out and the callbacks are sent again.
 * @param onRecorded called after each commit.
 */
export function createRecorder(
  context: Context,
  onRecorded: (attempts: Attempt[], recorded: Recorded) => void,
  giveUp: AbortSignal,
): Recorder {
  const waiting: Attempt[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (waiting.length > 0 && !giveUp.aborted) {
      if (waiting.length < BATCH_MAX) await context.timers.sleep(GATHER_MS, { signal: giveUp }).catch(() => undefined);
      const batch = waiting.splice(0, BATCH_MAX);
      for (const { attempts, recorded } of await write(context, batch, giveUp)) onRecorded(attempts, recorded);
    }
    running = undefined;
  }

  return {
    add(attempt) {
      waiting.push(attempt);
      running ??= run();
    },
    async flushed() {
      await running;
    },
  };
}

type Written = { attempts: Attempt[]; recorded: Recorded };

/** @param isTriedAgain the attempts were in a batch that was refused. */
async function write(
  context: Context,
  batch: Attempt[],
  giveUp: AbortSignal,
  isTriedAgain = false,
): Promise<Written[]> {
  for (let tries = 1; !giveUp.aborted; tries++) {
    try {
      const recorded = await recordAttempts(context, batch, { mayBeWritten: isTriedAgain || tries > 1 });
      return [{ attempts: batch, recorded }];
    } catch (error) {
      context.log.error(
        { error: describeError(error), attempts: batch.length },
        'attempts could not be recorded; retrying',
      );
      if (!isDatabaseFault(error) && (isTriedAgain || tries >= TRIES_TOGETHER))
        return await leaveOut(context, batch, giveUp);
      await context.timers.sleep(RETRY_MS, { signal: giveUp }).catch(() => undefined);
    }
  }
  return [];
}

/** Records each attempt alone, so that a bad one does not block the others; one that is alone already is not recorded. */
async function leaveOut(context: Context, batch: Attempt[], giveUp: AbortSignal): Promise<Written[]> {
  const [only, second] = batch;
  if (only && !second) {
    // its lease runs out, and the callback is sent again
    context.log.error(
      { callback: only.callback.webhookId },
      'an attempt could not be recorded; the callback is sent again',
    );
    return [{ attempts: batch, recorded: { woken: 0 } }];
  }
  const written: Written[] = [];
  for (const attempt of batch) append(written, await write(context, [attempt], giveUp, true));
  return written;
}
