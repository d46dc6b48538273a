import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import { closeAfterResponse } from '../connections/close-after-response.ts';
import { createBodyTracker, type TrackedBody } from '../connections/track-bodies.ts';
import { type Problem, sendProblem, writeProblem } from '../send-problem.ts';

/** What a refused request may still send, unread and unkept, before its connection is cut off. */
const DISCARD_BYTES_MAX = 1024 * 1024;
export const DISCARD_MS = 2_000;

/** Of bodies of one source that are being read: beyond so many, the oldest that stalls is cut off. */
export const BODIES_PER_SOURCE_MAX = 64;
/** Of what all bodies together may hold: the share of one source, */
export const SOURCE_BYTES_SHARE = 1 / 8;
/** A body that is not whole after so long stalls: it gives way to others. */
export const BODY_STALLED_MS = 1_000;

type Read = Buffer | 'too_large' | 'too_many' | 'stalled' | undefined;

/**
 * Reads bodies of at most so many bytes each, and so many of all that are being read at once. A source is whoever sends
 * the request, also behind a proxy: of one that has too many under way, or of all where there is no room, the oldest that
 * stalls is cut off.
 */
export function createBodyReader({ bytesMax, togetherMax }: { bytesMax: number; togetherMax: number }) {
  const tracker = createBodyTracker();
  const sourceBytesMax = Math.max(bytesMax, togetherMax * SOURCE_BYTES_SHARE);

  /** Makes room for what a body has grown to. @returns whether there is. */
  function makeRoom(reading: TrackedBody): boolean {
    const { source } = reading;
    while (source.count > 1 && source.bytes > sourceBytesMax)
      if (!tracker.cutOldest(BODY_STALLED_MS, reading, source)) return false;
    while (tracker.all.bytes > togetherMax) if (!tracker.cutOldest(BODY_STALLED_MS, reading)) return false;
    return true;
  }

  /**
   * Reads a body whole, inviting it first where the sender waits to be asked (100-continue).
   * @returns `too_large` as soon as it is, `too_many` where all bodies together are and none stalls, `stalled` where it
   * had to give way, with the rest unread; undefined when the sender went away in its middle.
   */
  return (request: IncomingMessage, response: ServerResponse, source: string): Promise<Read> => {
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve('too_large');
    if (expectsContinue(request)) response.writeContinue();
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const settle = (result: Read): void => {
        tracker.leave(reading);
        request.off('data', collect).off('end', end).off('close', goAway);
        resolve(result);
      };
      const reading = tracker.enter(source, () => settle('stalled'));
      if (reading.source.count > BODIES_PER_SOURCE_MAX) tracker.cutOldest(BODY_STALLED_MS, reading, reading.source);
      const collect = (chunk: Buffer): void => {
        chunks.push(chunk);
        tracker.grow(reading, chunk.length);
        if (reading.bytes > bytesMax) settle('too_large');
        else if (!makeRoom(reading)) settle('too_many');
      };
      const end = (): void => settle(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, reading.bytes));
      const goAway = (): void => settle(undefined);
      request.on('data', collect).on('end', end).on('close', goAway);
    });
  };
}

/**
 * Answers a request whose body was not read. A rest of bounded length is thrown away as it comes, and the connection
 * goes on. Where its length is not known, or too much, the answer says that it is the last one, and ends once the rest
 * has come: closed before that, the sender would lose the answer. One that sends too much, or takes its time, is cut off.
 * @param discardMs how long the rest may take.
 */
export function respondWithoutReading(
  request: IncomingMessage,
  response: Response,
  problem: Problem,
  discardMs = DISCARD_MS,
): void {
  if (expectsContinue(request)) {
    // he may send the body or not: only a new connection tells his next request from it
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
  const cut = (): void => void request.socket.destroy();
  const late = setTimeout(cut, discardMs).unref();
  let left = DISCARD_BYTES_MAX;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  request.once('end', onEnd);
  for (const ended of ['end', 'close']) request.once(ended, () => clearTimeout(late));
  request.resume();
}

export function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}
