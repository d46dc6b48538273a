import type { IncomingMessage, ServerResponse } from 'node:http';
import { closeAfterResponse } from '../connections/close-after-response.ts';
import { createBodyTracker, type TrackedBody } from '../connections/track-bodies.ts';
import { type Problem, sendProblem, writeProblem } from '../send-problem.ts';

/** Bytes of a refused request that are read and discarded before its connection is closed. */
const DISCARD_BYTES_MAX = 1024 * 1024;
export const DISCARD_MS = 2_000;

/** Bodies of one source that are read at once; beyond, the oldest that stalls is aborted. */
export const BODIES_PER_SOURCE_MAX = 64;
/** The share of one source in the bytes that all bodies may hold. */
export const SOURCE_BYTES_SHARE = 1 / 8;
/** A body that is incomplete after this time stalls: others may replace it. */
export const BODY_STALLED_MS = 1_000;

type Read = Buffer | 'too_large' | 'too_many' | 'stalled' | undefined;

/**
 * Creates a reader of bodies that limits each body, each source and all together. A source is the sender of the request,
 * also behind a proxy. Beyond the limit of a source, its oldest body that stalls is aborted; beyond the limit of all, the
 * oldest of all.
 * @param limits `bytesMax` of one body; `togetherMax` bytes of all bodies that are being read.
 */
export function createBodyReader({ bytesMax, togetherMax }: { bytesMax: number; togetherMax: number }) {
  const tracker = createBodyTracker();
  const sourceBytesMax = Math.max(bytesMax, togetherMax * SOURCE_BYTES_SHARE);

  /** Aborts stalled bodies until the limits hold again. @returns whether they do. */
  function makeRoom(reading: TrackedBody): boolean {
    const { source } = reading;
    while (source.count > 1 && source.bytes > sourceBytesMax)
      if (!tracker.abortOldest(BODY_STALLED_MS, reading, source)) return false;
    while (tracker.all.bytes > togetherMax) if (!tracker.abortOldest(BODY_STALLED_MS, reading)) return false;
    return true;
  }

  /**
   * Reads a whole body. Sends 100-continue first where the sender expects it.
   * @returns the body; with the rest unread, `too_large` beyond `bytesMax`, `too_many` where all bodies exceed their limit
   * and none stalls, `stalled` where this body was aborted for others; undefined when the sender disconnected.
   */
  return (request: IncomingMessage, response: ServerResponse, source: string): Promise<Read> => {
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve('too_large');
    if (expectsContinue(request)) response.writeContinue();
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const finish = (result: Read): void => {
        tracker.leave(reading);
        request.off('data', collect).off('end', end).off('close', abandon);
        resolve(result);
      };
      const reading = tracker.enter(source, () => finish('stalled'));
      if (reading.source.count > BODIES_PER_SOURCE_MAX) tracker.abortOldest(BODY_STALLED_MS, reading, reading.source);
      const collect = (chunk: Buffer): void => {
        chunks.push(chunk);
        tracker.grow(reading, chunk.length);
        if (reading.bytes > bytesMax) finish('too_large');
        else if (!makeRoom(reading)) finish('too_many');
      };
      const end = (): void => finish(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, reading.bytes));
      const abandon = (): void => finish(undefined);
      request.on('data', collect).on('end', end).on('close', abandon);
    });
  };
}

/**
 * Answers a request whose body was not read. A rest of known, bounded length is discarded, and the connection stays open.
 * Otherwise the response says `connection: close`, and ends once the rest has arrived: if it ended earlier, the sender
 * would lose the response. A sender of more than 1 MiB, or of a rest that takes longer, is disconnected.
 * @param discardMs how long the rest may take.
 */
export function respondWithoutReading(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  discardMs = DISCARD_MS,
): void {
  if (expectsContinue(request)) {
    // the sender may send the body or not: on this connection it could be mistaken for the next request
    closeAfterResponse(response);
    sendProblem(response, problem);
    return;
  }
  const length = Number(request.headers['content-length'] ?? 0);
  if (!request.headers['transfer-encoding'] && length <= DISCARD_BYTES_MAX) {
    discard(request, discardMs, () => undefined);
    sendProblem(response, problem);
    return;
  }
  closeAfterResponse(response);
  discard(request, discardMs, writeProblem(response, problem));
}

function discard(request: IncomingMessage, discardMs: number, onEnd: () => void): void {
  if (request.readableEnded) {
    onEnd();
    return;
  }
  const disconnect = (): void => void request.socket.destroy();
  const timer = setTimeout(disconnect, discardMs).unref();
  let left = DISCARD_BYTES_MAX;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) disconnect();
  });
  request.once('end', onEnd);
  for (const ended of ['end', 'close']) request.once(ended, () => clearTimeout(timer));
  request.resume();
}

export function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}
