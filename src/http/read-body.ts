import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import { type Problem, sendProblem, sendProblemHead } from './problem.ts';

/** What a refused request may still send, unread and unkept, before its connection is cut off. */
const DISCARD_BYTES_MAX = 1024 * 1024;
export const DISCARD_MS = 2_000;

type Read = Buffer | 'too_large' | 'too_many' | undefined;

/** Reads bodies of at most so many bytes each, and so many of all that are being read at once. */
export function createBodyReader(limits: { bytesMax: number; togetherMax: number }) {
  const together = { bytes: 0, max: limits.togetherMax };
  return (request: IncomingMessage, response: ServerResponse) => readBody(request, response, limits.bytesMax, together);
}

/**
 * Reads a body whole, inviting it first where the sender waits to be asked (100-continue).
 * @returns `too_large` as soon as it is, `too_many` as soon as all bodies together are, with the rest unread; undefined
 * when the sender went away in its middle.
 */
function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
  together: { bytes: number; max: number },
): Promise<Read> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve('too_large');
  if (waitsToBeAsked(request)) response.writeContinue();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (result: Read): void => {
      together.bytes -= bytes;
      request.off('data', collect).off('end', end).off('close', goAway);
      resolve(result);
    };
    const collect = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      together.bytes += chunk.length;
      if (bytes > bytesMax) settle('too_large');
      else if (together.bytes > together.max) settle('too_many');
    };
    const end = (): void => settle(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, bytes));
    const goAway = (): void => settle(undefined);
    request.on('data', collect).on('end', end).on('close', goAway);
  });
}

/**
 * Answers a request whose body was not read. A rest of bounded length is thrown away as it comes, and the connection
 * goes on. Where its length is not known, or too much, the answer says that it is the last one, and ends once the rest
 * has come: closed before that, the sender would lose the answer. One that sends too much, or takes its time, is cut off.
 * @param discardMs how long the rest may take.
 */
export function answerUnread(
  request: IncomingMessage,
  response: Response,
  problem: Problem,
  discardMs = DISCARD_MS,
): void {
  if (waitsToBeAsked(request)) {
    // he may send the body or not: only a new connection tells his next request from it
    response.setHeader('connection', 'close');
    sendProblem(response, problem);
    return;
  }
  const length = Number(request.headers['content-length'] ?? 0);
  if (!request.headers['transfer-encoding'] && length <= DISCARD_BYTES_MAX) {
    discard(request, discardMs, () => undefined);
    sendProblem(response, problem);
    return;
  }
  response.setHeader('connection', 'close');
  discard(request, discardMs, sendProblemHead(response, problem));
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

export function waitsToBeAsked(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}
