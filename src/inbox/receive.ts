/**
 * Takes a webhook in: durable before it is answered. Requests that arrive while a commit is under way join the next
 * one, so that one flush to disk serves them all. The same bytes again are a repeat: told so, recorded as an arrival,
 * and a hint to look again. What can't be read is kept too, once, for quarantine. While the database is away or too
 * slow, the spool takes its place.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { createCoalescer } from '../database/coalesce.ts';
import { ConfereError } from '../domain/errors.ts';
import { webhookIdOf } from '../domain/webhook-id.ts';
import { describeError } from '../log.ts';
import { lastWebhookSeconds, spoolBytes, webhookCommitSeconds, webhooksSpooled } from '../metrics/metrics.ts';
import { type BodyFault, checkBody } from './check-body.ts';
import { createQuarantineMeter } from './measure-quarantine.ts';
import type { Spool } from './spool.ts';
import { type Arrival, writeArrivals } from './write-arrivals.ts';

const BATCH_ROWS_MAX = 512;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
/** A second commit runs beside the first: while one waits for the disk the other is filled. */
const COMMITS_IN_FLIGHT_MAX = 2;
/** Beyond so many that wait for a commit, the database counts as away: memory is no place to keep webhooks. */
const WAITING_MAX = 8_192;
/** A commit that takes longer is left to itself, and its webhook goes to the spool too: kept twice is kept once. */
const COMMIT_MS_MAX = 3_000;
/** After a failure the spool is taken at once for so long; then the next webhook tries the database again. */
const AWAY_MS = 1_000;

export type Received = { id: string; duplicate: boolean; fault: BodyFault | undefined };
export type Receiver = (arrival: Pick<Arrival, 'body' | 'address' | 'headers'>) => Promise<Received>;

/** @returns a function that resolves once its webhook is durable, and rejects when it could not be kept. */
export function createReceiver(context: Context, spool: Spool | undefined): Receiver {
  const commit = createCoalescer<Arrival, boolean>({
    itemsMax: BATCH_ROWS_MAX,
    bytesMax: BATCH_BYTES_MAX,
    sizeOf: (item) => item.body.length,
    work: (items) => writeArrivals(context, items),
    inFlightMax: COMMITS_IN_FLIGHT_MAX,
    waitingMax: WAITING_MAX,
  });
  const quarantine = createQuarantineMeter(context);
  let awayUntil = 0;

  async function keep(arrival: Arrival): Promise<boolean> {
    if (!spool) return await commit(arrival);
    if (Date.now() >= awayUntil) {
      // while it is away, one webhook at a time finds out whether it is back
      if (awayUntil > 0) awayUntil = Date.now() + COMMIT_MS_MAX;
      try {
        const duplicate = await within(commit(arrival), COMMIT_MS_MAX);
        awayUntil = 0;
        return duplicate;
      } catch (error) {
        awayUntil = Date.now() + AWAY_MS;
        context.log.warn({ error: describeError(error) }, 'the database did not take a webhook: it goes to the spool');
      }
    }
    const duplicate = await spool.append(arrival);
    webhooksSpooled.inc();
    spoolBytes.set(spool.bytes);
    return duplicate;
  }

  return async (given) => {
    if (quarantine.isFull()) {
      throw new ConfereError('unavailable', 'the quarantine holds QUARANTINE_MAX_BYTES: look into it, or raise it');
    }
    const hash = createHash('sha256').update(given.body).digest();
    const { fault } = checkBody(given.body);
    const done = webhookCommitSeconds.startTimer();
    const duplicate = await keep({ ...given, hash, fault, receivedAt: context.clock.now() });
    done();
    if (fault && !duplicate) quarantine.add(given.body.length);
    lastWebhookSeconds.setToCurrentTime();
    context.bells.inbox.ring();
    return { id: webhookIdOf(hash), duplicate, fault };
  };
}

/** A plain timer: what the request pays for it is next to nothing. */
function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the commit took longer than ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
